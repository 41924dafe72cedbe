// Keeps a visible page up to date. Without this file every page works the same, but has to be
// reloaded by hand.

const QUIET_MS = 1000;
const SPREAD_MS = 1500; // so that not all browsers ask at the same moment
const AGAIN_MS = 5000; // before something that failed is tried again; with a spread as long
const SECOND_MS = 1000;
const GLIDE_MS = 900;

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

const FAR_S = 30 * 86400;

/** Writes a time as the server does; a date stays as it is. */
function relativeTime(one) {
  const s = (Date.now() - Date.parse(one.dateTime)) / SECOND_MS;
  const away = Math.abs(s);
  if (!(away < FAR_S)) return one.textContent;
  if (away < 60) return s >= 0 ? "just now" : "in a moment";
  const [size, unit] = away >= 86400 ? [86400, "day"] : away >= 3600 ? [3600, "hour"] : [60, "minute"];
  const count = Math.floor(away / size);
  const written = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return s >= 0 ? `${written} ago` : `in ${written}`;
}

function tick() {
  for (const one of document.querySelectorAll("time.ago")) {
    const text = relativeTime(one);
    if (one.textContent !== text) one.textContent = text;
  }
  for (const one of document.querySelectorAll("[data-copy]")) one.hidden = !navigator.clipboard;
  for (const one of document.querySelectorAll("[data-until]")) {
    one.textContent = duration(Number(one.dataset.until) - Date.now());
  }
  for (const one of document.querySelectorAll("progress[data-to]")) {
    one.value = Math.min(Math.max(Date.now() - Number(one.dataset.from), 0), one.max);
  }
}

/** The visitor's system, as the download buttons name it; empty for any other, such as a phone. */
function ownSystem() {
  const agent = navigator.userAgent;
  if (/Android|iPhone|iPad/.test(agent)) return "";
  return /Windows/.test(agent) ? "Windows" : /Mac OS/.test(agent) ? "macOS" : /Linux/.test(agent) ? "Linux" : "";
}

/** Puts the button for the visitor's own system before the others. */
function orderSystems() {
  for (const own of document.querySelectorAll(`[data-system="${ownSystem()}"]`)) {
    own.classList.add("own");
    own.parentElement.querySelector("[data-system]").before(own);
  }
}

/** Shows the slider through the rounds' texts in place of the links to some of them. */
function prepareSamples() {
  for (const nav of document.querySelectorAll("[data-samples]")) {
    nav.querySelector("ul").hidden = true;
    nav.querySelector("label").hidden = false;
  }
}

const sampleRound = (slider) => slider.closest("[data-samples]").dataset.samples.split(" ")[slider.value];

document.addEventListener("input", (event) => {
  if (!event.target.closest("[data-samples]")) return;
  event.target.nextElementSibling.textContent = Number(sampleRound(event.target)).toLocaleString("en");
});

document.addEventListener("change", (event) => {
  if (!event.target.closest("[data-samples]")) return;
  const address = new URL(location.href);
  address.searchParams.set("sample", sampleRound(event.target));
  history.replaceState(null, "", address);
  if (region) refresh(region).catch(() => {});
});

/** Replaces the region, and preserves open details, scrolling, input and focus. */
function replace(region, fresh) {
  const openOnes = new Set([...region.querySelectorAll("details")].map((one, at) => one.open ? at : -1));
  const scrolled = [...region.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  const focused = focusPath(region);
  const written = new Map([...region.querySelectorAll("input[id]")].map((one) => [one.id, one.value]));
  const former = new Map([...region.querySelectorAll("[data-mark]")].map((one) => [one.dataset.mark, placeOf(one)]));
  region.replaceChildren(...fresh.childNodes);
  if (former.size && !matchMedia("(prefers-reduced-motion: reduce)").matches) glide(region, former);
  region.querySelectorAll("details").forEach((one, at) => { one.open = openOnes.has(at); });
  region.querySelectorAll(".scroll").forEach((one, at) => { one.scrollLeft = scrolled[at] ?? 0; });
  region.querySelectorAll("input[id]").forEach((one) => { one.value = written.get(one.id) ?? one.value; });
  orderSystems();
  prepareSamples();
  focused?.(region)?.focus({ preventScroll: true });
  tick();
}

const placeOf = (one) => ({ station: one.dataset.station, at: one.getBoundingClientRect() });

/** Moves each mark that has come to another station there from where it was. */
function glide(region, former) {
  for (const one of region.querySelectorAll("[data-mark]")) {
    const before = former.get(one.dataset.mark);
    if (!before || before.station === one.dataset.station) continue;
    const now = one.getBoundingClientRect();
    const from = `translate(${before.at.x - now.x}px, ${before.at.y - now.y}px)`;
    one.animate([{ transform: from }, { transform: "none" }], { duration: GLIDE_MS, easing: "ease-in-out" });
  }
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

/** Tells whether the reader has selected something in the region, or a pointer is down there. */
function isInUse(region) {
  const selection = getSelection();
  return region.matches(":active") || (!selection.isCollapsed && selection.containsNode(region, true));
}

/** Shows the page as it is now, or throws; calls `later` instead, if given, while the region is in use. */
async function refresh(region, later = null) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-cache" });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  const foot = page.querySelector("footer");
  if (later && isInUse(region)) return later();
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
  let broken = null;
  const quiet = Number(region.dataset.pause ?? QUIET_MS);
  let stream = null;
  const afterFailure = () => AGAIN_MS * (1 + Math.random());
  const later = (ms = quiet + Math.random() * SPREAD_MS) => { waiting ??= setTimeout(ask, ms); };
  const ask = () => {
    waiting = null;
    if (isInUse(region)) later();
    else refresh(region, later).catch(() => later(afterFailure()));
  };
  const grown = (event) => {
    if (event.data === shown) return;
    shown = event.data;
    later();
  };
  // The browser connects again by itself after a broken connection, but not after an answer such as
  // a proxy's 502 while the ledger restarts.
  const failed = (event) => {
    if (event.target.readyState === EventSource.CLOSED) broken = setTimeout(listen, afterFailure());
  };
  const listen = () => {
    clearTimeout(broken);
    stream?.close();
    stream = null;
    if (document.hidden) return;
    stream = new EventSource("/live");
    stream.addEventListener("size", grown);
    stream.addEventListener("error", failed);
  };
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => stream?.close());
  listen();
}

/**
 * Copies what stands before the button, or selects it where the browser forbids that, and explains
 * what to do if a link opened no app.
 */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    const text = button.previousElementSibling;
    navigator.clipboard.writeText(text.textContent).then(() => {
      button.textContent = "Copied";
    }, () => getSelection().selectAllChildren(text));
  }
  const opens = event.target.closest("a[href^='tequio:']")?.closest(".opens");
  if (opens) opens.querySelector("details").open = true;
});

const region = document.querySelector("[data-live]");
if (region && "EventSource" in window) follow(region);
orderSystems();
prepareSamples();
tick();
setInterval(tick, SECOND_MS);
