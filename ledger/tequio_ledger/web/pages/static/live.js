// Keeps a visible page up to date. Without this file every page works the same, but has to be
// reloaded by hand.

const QUIET_MS = 1000;
const SPREAD_MS = 1500; // so that not all browsers ask at the same moment
const SECOND_MS = 1000;

/** Writes a duration as the server does. */
function duration(ms) {
  const s = Math.max(0, Math.floor(ms / SECOND_MS));
  const units = [[86400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]];
  for (const [size, unit, next, nextUnit] of units) {
    if (s >= size) {
      const more = Math.floor((s % size) / next);
      return `${Math.floor(s / size)} ${unit}` + (more ? ` ${more} ${nextUnit}` : "");
    }
  }
  return `${s} s`;
}

function tick() {
  for (const one of document.querySelectorAll("[data-until]")) {
    one.textContent = duration(Number(one.dataset.until) - Date.now());
  }
  for (const one of document.querySelectorAll("progress[data-to]")) {
    one.value = Math.min(Math.max(Date.now() - Number(one.dataset.from), 0), one.max);
  }
}

/** Replaces the region, and preserves open details, scrolling, input and focus. */
function replace(region, fresh) {
  const openOnes = new Set([...region.querySelectorAll("details")].map((one, at) => one.open ? at : -1));
  const scrolled = [...region.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const focused = focusPath(region);
  const written = new Map([...region.querySelectorAll("input[id]")].map((one) => [one.id, one.value]));
  region.replaceChildren(...fresh.childNodes);
  region.querySelectorAll("details").forEach((one, at) => { one.open = openOnes.has(at); });
  region.querySelectorAll(".scroll").forEach((one, at) => { one.scrollLeft = scrolled[at] ?? 0; });
  region.querySelectorAll("input[id]").forEach((one) => { one.value = written.get(one.id) ?? one.value; });
  focused?.(region)?.focus({ preventScroll: true });
  tick();
}

/** Gives a function that finds the focused element again, by its place among its kind. */
function focusPath(region) {
  const active = document.activeElement;
  if (!active || active === document.body || !region.contains(active)) return null;
  const kind = active.tagName;
  const href = active.getAttribute("href");
  const at = [...region.querySelectorAll(kind)].indexOf(active);
  return (later) => {
    const all = [...later.querySelectorAll(kind)];
    return (href && all.find((one) => one.getAttribute("href") === href)) || all[at];
  };
}

async function refresh(region) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-cache" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  const foot = page.querySelector("footer");
  if (fresh && fresh.innerHTML !== region.dataset.shown) {
    region.dataset.shown = fresh.innerHTML;
    replace(region, fresh);
  }
  if (foot) document.querySelector("footer")?.replaceWith(foot);
}

/** Listens only while the page is visible: a browser has few connections for all its tabs. */
function follow(region) {
  let shown = region.dataset.live;
  let waiting = null;
  let stream = null;
  const ask = () => { waiting = null; refresh(region).catch(() => {}); };
  const grown = (event) => {
    if (event.data === shown) return;
    shown = event.data;
    waiting ??= setTimeout(ask, QUIET_MS + Math.random() * SPREAD_MS);
  };
  const listen = () => {
    stream?.close();
    stream = null;
    if (document.hidden) return;
    stream = new EventSource("/live");
    stream.addEventListener("size", grown);
  };
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => stream?.close());
  listen();
}

const region = document.querySelector("[data-live]");
if (region && "EventSource" in window) follow(region);
if (document.querySelector("[data-until]") || region) setInterval(tick, SECOND_MS);
