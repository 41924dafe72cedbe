// Checks the entry on this page, from the content of the page alone: the statement in the leaf, its
// signers, the path to the root (RFC 6962), the checkpoint that signs the root (C2SP signed-note,
// Ed25519), and its cosigners (C2SP cosignature/v1).
//
// Ed25519 is the browser's own. It accepts some keys of small order, under which one signature fits
// every message; the ledger admits none, and people should compare the key of the log with a second
// source in any case.

const encoder = new TextEncoder();
const STATEMENT_PREFIX = encoder.encode("tequio/v1/statement\0");
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const HEAD_BYTES = 2;
const LOG_KEY = 0x01;
const COSIGNER_KEY = 0x04;
const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;
const LAST_MOMENT_S = 8_640_000_000_000n; // of ECMAScript's Date

export class Wrong extends Error {}
export class Unable extends Error {}

// --- bytes

export function fromBase64(text) {
  let raw;
  try {
    raw = atob(text.trim());
  } catch {
    throw new Wrong(`not base64: ${text.slice(0, 60)}`);
  }
  return Uint8Array.from(raw, (char) => char.charCodeAt(0));
}

function toBase64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

function fromBase64Url(text) {
  return fromBase64(text.trim().replaceAll("-", "+").replaceAll("_", "/"));
}

function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function same(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

async function sha256(...parts) {
  if (!globalThis.crypto?.subtle) {
    throw new Unable("this browser offers no cryptography to pages without HTTPS");
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}

async function ed25519(key, signature, message) {
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch (error) {
    if (error.name === "DataError") throw new Wrong("not a public key");
    throw new Unable("this browser does not know Ed25519");
  }
  if (!(await crypto.subtle.verify("Ed25519", imported, signature, message))) {
    throw new Wrong("the signature does not hold");
  }
}

// --- the entry

/** Parses a leaf: version, count, keys and signatures, statement. */
export function parseLeaf(leaf) {
  if (leaf.length < HEAD_BYTES || leaf[0] !== 1) throw new Wrong("a leaf of another version");
  const signers = [];
  let at = HEAD_BYTES;
  for (let left = leaf[1]; left > 0; left -= 1) {
    const key = leaf.slice(at, at + KEY_BYTES);
    const signature = leaf.slice(at + KEY_BYTES, at + KEY_BYTES + SIGNATURE_BYTES);
    if (signature.length !== SIGNATURE_BYTES) throw new Wrong("the leaf ends inside a signature");
    signers.push({ key, signature });
    at += KEY_BYTES + SIGNATURE_BYTES;
  }
  if (signers.length === 0) throw new Wrong("nobody signed the entry");
  return { signers, statement: leaf.slice(at) };
}

export async function checkAuthors(parsed, network) {
  const author = fromBase64Url(JSON.parse(new TextDecoder().decode(parsed.statement)).author);
  if (!same(author, parsed.signers[0].key)) throw new Wrong("the first signer is not the author");
  const message = join(STATEMENT_PREFIX, network, parsed.statement);
  for (const { key, signature } of parsed.signers) await ed25519(key, signature, message);
}

// --- the tree (RFC 6962)

export function leafHash(leaf) {
  return sha256(Uint8Array.of(0), leaf);
}

function nodeHash(left, right) {
  return sha256(Uint8Array.of(1), left, right);
}

/** The root that a path leads to; sizes are BigInt, so that no log is too large. */
export async function rootOf(hash, index, size, path) {
  if (index < 0n || index >= size) throw new Wrong(`entry ${index} of a log of ${size}`);
  if (path.some((node) => node.length !== 32)) throw new Wrong("a hash that is not 32 bytes long");
  let node = hash;
  let at = index;
  let last = size - 1n;
  for (const sibling of path) {
    if (last === 0n) throw new Wrong("the path is too long");
    if (at % 2n === 1n || at === last) {
      node = await nodeHash(sibling, node);
      while (at % 2n === 0n && at !== 0n) {
        at /= 2n;
        last /= 2n;
      }
    } else {
      node = await nodeHash(node, sibling);
    }
    at /= 2n;
    last /= 2n;
  }
  if (last !== 0n) throw new Wrong("the path is too short");
  return node;
}

// --- the checkpoint

/** Reads a note: text and signature lines split at the last empty line. */
export function parseNote(note) {
  const middle = note.lastIndexOf("\n\n");
  if (middle < 0) throw new Wrong("a checkpoint without signatures");
  const text = note.slice(0, middle + 1);
  const [origin, size, root, ...rest] = text.split("\n");
  if (rest.length !== 1 || !/^(0|[1-9][0-9]*)$/.test(size ?? "")) {
    throw new Wrong("a checkpoint has three lines");
  }
  const lines = note.slice(middle + 2).split("\n").filter((line) => line !== "");
  const signatures = lines.map((line) => {
    const parts = /^— (\S+) (\S+)$/u.exec(line);
    if (!parts) throw new Wrong(`not a signature line: ${line.slice(0, 60)}`);
    const payload = fromBase64(parts[2]);
    return { name: parts[1], id: payload.slice(0, KEY_ID_BYTES), signature: payload.slice(KEY_ID_BYTES) };
  });
  return { text, origin, size: BigInt(size), root: fromBase64(root), signatures };
}

/** Parses a verifier key `name+id+base64`, and checks its id. */
export async function parseKey(text) {
  const [name, id, ...rest] = text.trim().split("+");
  const raw = fromBase64(rest.join("+"));
  const named = await sha256(encoder.encode(name), Uint8Array.of(0x0a), raw);
  const found = [...named.slice(0, KEY_ID_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"));
  if (raw.length !== KEY_BYTES + 1 || found.join("") !== id) throw new Wrong("not a key of a log");
  return { name, kind: raw[0], key: raw.slice(1), id: named.slice(0, KEY_ID_BYTES) };
}

function lineOf(note, key) {
  return note.signatures.find((one) => one.name === key.name && same(one.id, key.id));
}

export async function checkLogSignature(note, key) {
  const line = lineOf(note, key);
  if (key.kind !== LOG_KEY || key.name !== note.origin || !line) {
    throw new Wrong("the key of the log did not sign this checkpoint");
  }
  await ed25519(key.key, line.signature, encoder.encode(note.text));
}

/** Checks a cosignature and gives its time in seconds since 1970, as the witness states it. */
export async function checkCosignature(note, key) {
  const line = lineOf(note, key);
  if (key.kind !== COSIGNER_KEY || !line) throw new Wrong("this witness did not sign");
  const time = new DataView(line.signature.buffer, line.signature.byteOffset).getBigUint64(0);
  const message = encoder.encode(`cosignature/v1\ntime ${time}\n${note.text}`);
  await ed25519(key.key, line.signature.slice(TIME_BYTES), message);
  return time;
}

/** Writes a time, if a calendar has it: a witness may sign any number. */
export function moment(time) {
  if (time > LAST_MOMENT_S) return `at second ${time}, which no calendar has`;
  return `at ${new Date(Number(time) * 1000).toISOString()}`;
}

// --- the log that this browser saw before at this address, whatever its name

const MEMORY = "checkpoint";

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY));
  } catch {
    return null;
  }
}

function checkIdentity(before, now) {
  if (before.origin !== now.origin) {
    throw new Wrong(`this browser saw the log ${before.origin} here before, now it is ${now.origin}`);
  }
  if (before.key !== now.key) {
    throw new Wrong(`this browser saw the key ${before.key} of this log before, now it is ${now.key}`);
  }
}

async function checkMemory(note, logKey, proven) {
  const before = remembered();
  const key = logKey.trim();
  const now = { origin: note.origin, key, size: String(note.size), root: toBase64(note.root) };
  if (before) checkIdentity(before, now);
  if (before && BigInt(before.size) > note.size) {
    throw new Wrong(`this browser saw ${before.size} entries before, now there are ${note.size}`);
  }
  if (before && before.size === now.size && before.root !== now.root) {
    throw new Wrong(`this browser saw another root for ${now.size} entries before`);
  }
  if (before && before.size !== now.size) await checkGrowth(before, note);
  if (!proven()) return "not stored, because another check failed";
  try {
    localStorage.setItem(MEMORY, JSON.stringify(now));
  } catch {
    return "this browser stores nothing, so the next check cannot compare";
  }
  return before ? `it continues the ${before.size} entries of last time` : "stored for next time";
}

/** Proves from the tiles that the log of last time is the beginning of this one. */
async function checkGrowth(before, note) {
  const tiles = new Tiles(note.size);
  const [old, grown] = await bothRoots(tiles, BigInt(before.size), 0n, note.size);
  if (!same(grown, note.root)) throw new Wrong("the log's tiles lead to another root");
  if (toBase64(old) !== before.root) {
    throw new Wrong(`the ${before.size} entries that this browser saw before were changed`);
  }
}

/** The roots of the part of [first, end) below `size` and of all of it, from the same hashes. */
async function bothRoots(tiles, size, first, end) {
  if (end <= size || first >= size) {
    const hash = await tiles.range(first, end);
    return [end <= size ? hash : null, hash];
  }
  const middle = first + split(end - first);
  const [oldLeft, left] = await bothRoots(tiles, size, first, middle);
  const [oldRight, right] = await bothRoots(tiles, size, middle, end);
  return [oldRight ? await nodeHash(oldLeft, oldRight) : oldLeft, await nodeHash(left, right)];
}

/** The hashes of a log of some size, from its tiles (c2sp.org/tlog-tiles). */
class Tiles {
  constructor(size) {
    this.size = size;
    this.held = new Map();
  }

  /** Hashes entries [first, end), where first is a multiple of the next power of two. */
  async range(first, end) {
    const size = end - first;
    if ((size & (size - 1n)) === 0n) return this.node(BigInt(size.toString(2).length - 1), first);
    const middle = first + split(size);
    return nodeHash(await this.range(first, middle), await this.range(middle, end));
  }

  /** Hashes the full subtree of 2^level entries from `first` on. */
  async node(level, first) {
    const index = first >> (8n * (level / 8n));
    const tile = await this.tile(level / 8n, index / 256n);
    const at = Number(index % 256n);
    let row = tile.slice(at, at + 2 ** Number(level % 8n));
    while (row.length > 1) {
      const pairs = row.filter((_, place) => place % 2 === 0);
      row = await Promise.all(pairs.map((left, place) => nodeHash(left, row[2 * place + 1])));
    }
    return row[0];
  }

  async tile(level, number) {
    const left = (this.size >> (8n * level)) - 256n * number;
    const name = `${level}/${grouped(number)}${left < 256n ? `.p/${left}` : ""}`;
    if (!this.held.has(name)) this.held.set(name, await fetchTile(name));
    return this.held.get(name);
  }
}

async function fetchTile(name) {
  const answer = await fetch(`/log/tile/${name}`);
  if (!answer.ok) throw new Unable(`the tile ${name} of the log could not be fetched`);
  const raw = new Uint8Array(await answer.arrayBuffer());
  return Array.from({ length: raw.length / 32 }, (_, at) => raw.slice(32 * at, 32 * at + 32));
}

/** The largest power of two below a size (RFC 6962 section 2.1). */
function split(size) {
  return 1n << BigInt((size - 1n).toString(2).length - 1);
}

/** A tile's number in groups of three digits, each but the last after an x. */
function grouped(number) {
  const groups = [String(number % 1000n).padStart(3, "0")];
  for (let rest = number / 1000n; rest > 0n; rest /= 1000n) {
    groups.unshift(`x${String(rest % 1000n).padStart(3, "0")}`);
  }
  return groups.join("/");
}

// --- the page

function shown(id) {
  return document.getElementById(id).textContent;
}

function read() {
  return {
    index: BigInt(document.getElementById("place").dataset.index),
    leaf: fromBase64(shown("leaf")),
    statement: shown("statement"),
    network: fromBase64Url(shown("network")),
    path: [...document.querySelectorAll("#path li")].map((one) => fromBase64(one.textContent)),
    note: parseNote(shown("note")),
    logKey: shown("log-key"),
    shownHash: fromBase64(shown("leaf-hash")),
    witnesses: [...document.querySelectorAll("[data-witness-key]")].map((one) => one.dataset.witnessKey),
  };
}

function steps(page, proven) {
  const parsed = parseLeaf(page.leaf);
  return [
    ["The statement shown is the one in the leaf", async () => {
      if (!same(encoder.encode(page.statement), parsed.statement)) throw new Wrong("they differ");
    }],
    [`Signed by its author${parsed.signers.length > 1 ? ` and ${parsed.signers.length - 1} more` : ""}`,
      () => checkAuthors(parsed, page.network)],
    ["The leaf has the hash shown", async () => {
      if (!same(await leafHash(page.leaf), page.shownHash)) throw new Wrong("it has another one");
    }],
    [`The path leads from the leaf to the root of ${page.note.size} entries`, async () => {
      const root = await rootOf(await leafHash(page.leaf), page.index, page.note.size, page.path);
      if (!same(root, page.note.root)) throw new Wrong("it leads to another root");
    }],
    ["The log signed this root", async () => checkLogSignature(page.note, await parseKey(page.logKey))],
    ...page.witnesses.map((text) => [`Witness ${text.split("+")[0]} cosigned it`, async () => {
      return moment(await checkCosignature(page.note, await parseKey(text)));
    }]),
    ["The log continues the one that this browser saw last time", () => checkMemory(page.note, page.logKey, proven)],
  ];
}

async function judged(step) {
  try {
    return ["good", (await step()) ?? ""];
  } catch (error) {
    if (error instanceof Unable) return ["unknown", error.message];
    return ["bad", error.message];
  }
}

function addStep(list, kind, name, detail) {
  const item = document.createElement("li");
  item.className = kind;
  const what = document.createElement("span");
  const how = { good: "", bad: " – failed", unknown: " – could not be checked" }[kind];
  what.textContent = name + how;
  item.append(what);
  if (detail) {
    const more = document.createElement("span");
    more.className = "sub";
    more.textContent = detail;
    item.append(more);
  }
  list.append(item);
}

const RESULTS = {
  good: "Verified: this entry is in the signed log, as its author wrote it.",
  unknown: "This browser found no error, but it could not check everything.",
  bad: "Verification failed. Save this page: it is evidence against the ledger.",
};

export async function verifyPage(list) {
  list.replaceChildren();
  const kinds = new Set();
  let all;
  try {
    all = steps(read(), () => kinds.size === 1 && kinds.has("good"));
  } catch (error) {
    all = [["This page can be read", async () => { throw error; }]];
  }
  for (const [name, step] of all) {
    const [kind, detail] = await judged(step);
    kinds.add(kind);
    addStep(list, kind, name, detail);
  }
  return ["bad", "unknown", "good"].find((kind) => kinds.has(kind));
}

function begin() {
  const button = document.getElementById("check-start");
  if (!button) return;
  const says = document.getElementById("check-says");
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const result = await verifyPage(document.getElementById("check-steps"));
    says.textContent = RESULTS[result];
    says.className = `verdict ${result}`;
    button.disabled = false;
    button.textContent = "Verify again";
  });
}

if (globalThis.document) begin();
