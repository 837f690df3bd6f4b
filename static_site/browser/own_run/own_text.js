// The visitor's texts: read from files, and divided into what is trained on and what is held out.

import { counted, grouped } from "../../../ui/components/shared/numbers.js";

/** @import { OwnDocument } from "./kept.js" */

/** @typedef {object} HeldOut Text that training does not see.
    @property {string[]} texts
    @property {number} nBytes
    @property {"documents" | "ends" | ""} how Whole documents, or the last part of each; "" if there is none.
    @property {number} nDocuments From how many documents it is. */

export const MAX_BYTES = 200e6;
const SHARE = 0.08;
const MIN_DOCUMENTS = 20;
const MIN_END = 16; // bytes
const MAX_REACH = 2000;
const [LINE_FEED, SPACE] = [10, 32];
const MAX_CONTROLS = 0.05;
const FEW_CONTROLS = 4;
const TEXT_CONTROLS = new Set([9, 10, 11, 12, 13, 27]);
/** The first bytes of files that are not text although most of them have no NUL. */
const OTHER_KINDS = [["%PDF-", "a PDF document"], ["PK\x03\x04", "a zip archive or an Office document"], ["\x1f\x8b", "a gzip file"]];
/** @type {[number[], string][]} */
const MARKS = [[[0xef, 0xbb, 0xbf], "utf-8"], [[0xff, 0xfe], "utf-16-le"], [[0xfe, 0xff], "utf-16-be"]];
const REPLACEMENT = [0xef, 0xbf, 0xbd];
const MEGABYTE = 1e6;
// What a tab grew by: see "Training in the tab" in `docs/site.md`.
const NEEDED = { always: 125 * MEGABYTE, perByte: 4, most: 300 * MEGABYTE };

const utf8 = new TextEncoder();

/** Return a file's text as UTF-8, with a remark if it had to be changed. Throws an Error if it is not text.
    @param {Uint8Array} bytes
    @param {string} name
    @returns {{ bytes: Uint8Array, remark: string }} */
export function readText(bytes, name) {
  const [mark, encoding] = MARKS.find(([found]) => found.every((byte, i) => bytes[i] === byte)) ?? [[], "utf-8"];
  if (!mark.length) refuseOtherKinds(bytes, name);
  const rest = bytes.subarray(mark.length);
  const label = encoding.replace("16-", "16");
  try {
    const text = new TextDecoder(label, { fatal: true, ignoreBOM: true });
    if (encoding !== "utf-8") {
      const read = utf8.encode(text.decode(rest));
      return { bytes: read, remark: `${name}: read as ${encoding}, as its byte order mark says.` };
    }
    text.decode(rest);
    return { bytes: rest.slice(), remark: mark.length ? `${name}: removed the byte order mark.` : "" };
  } catch {
    const read = utf8.encode(new TextDecoder(label, { ignoreBOM: true }).decode(rest));
    let remark = `${name}: replaced what is not valid ${encoding} with U+FFFD.`;
    if (encoding === "utf-8") {
      const n = countReplacements(read) - countReplacements(rest);
      let first = read.findIndex((byte, i) => byte !== rest[i]);
      while (read[first] !== REPLACEMENT[0]) first -= 1; // What was replaced can begin as U+FFFD does.
      const hex = rest[first].toString(16).toUpperCase().padStart(2, "0");
      remark =
        `${name}: replaced bytes that are not valid utf-8 with U+FFFD in ${counted(n, "place")}; the first is 0x${hex} ` +
        `at byte ${grouped(first + mark.length)}.`;
    }
    return { bytes: read, remark };
  }
}

/** @param {Uint8Array} bytes
    @param {string} name */
function refuseOtherKinds(bytes, name) {
  const begin = String.fromCharCode(...bytes.subarray(0, 8));
  const kind = OTHER_KINDS.find(([mark]) => begin.startsWith(mark));
  if (kind) throw new Error(`${name} is ${kind[1]}, not text. Give a text file.`);
  let [nuls, controls] = [0, 0];
  for (const byte of bytes) {
    if (byte === 0) nuls += 1;
    if (byte === 127 || (byte < 32 && !TEXT_CONTROLS.has(byte))) controls += 1;
  }
  if (nuls && controls > Math.max(MAX_CONTROLS * bytes.length, FEW_CONTROLS)) {
    throw new Error(`${name} is not text: ${grouped(nuls)} of its ${grouped(bytes.length)} bytes are NUL. Give a text file.`);
  }
}

/** @param {Uint8Array} bytes */
function countReplacements(bytes) {
  let n = 0;
  for (let at = bytes.indexOf(REPLACEMENT[0]); at >= 0; at = bytes.indexOf(REPLACEMENT[0], at + 1)) {
    n += Number(bytes[at + 1] === REPLACEMENT[1] && bytes[at + 2] === REPLACEMENT[2]);
  }
  return n;
}

/** Return about how many bytes of memory training on a text takes, and whether a phone may lack them.
    @param {number} nBytes */
export function neededMemory(nBytes) {
  const needed = NEEDED.always + NEEDED.perByte * nBytes;
  return { needed, isMuch: needed > NEEDED.most };
}

/** Hold out about 8 % of the texts: whole documents if there are enough, and else the end of each.
    @param {OwnDocument[]} documents
    @returns {{ training: Uint8Array[], heldOut: HeldOut }} The training text is a copy. */
export function divide(documents) {
  /** @type {Uint8Array[]} */
  const training = [];
  /** @type {Uint8Array[]} */
  const kept = [];
  const isWhole = documents.length >= MIN_DOCUMENTS;
  let owed = 0;
  for (const { bytes } of documents) {
    owed += SHARE * bytes.length;
    const from = !isWhole ? startOfEnd(bytes) : bytes.length && bytes.length <= 2 * owed ? 0 : bytes.length;
    owed -= bytes.length - from;
    if (from < bytes.length) kept.push(bytes.subarray(from));
    if (from > 0) training.push(bytes.slice(0, from));
  }
  const texts = kept.map((bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  const nBytes = kept.reduce((n, bytes) => n + bytes.length, 0);
  const how = !nBytes ? "" : isWhole ? "documents" : "ends";
  return { training, heldOut: { texts, nBytes, how, nDocuments: texts.length } };
}

/** Return where the held-out end of a text begins: at the line nearest to its share, or else at a word.
    @param {Uint8Array} bytes */
function startOfEnd(bytes) {
  const size = Math.round(SHARE * bytes.length);
  if (size < MIN_END) return bytes.length;
  const near = bytes.length - size;
  for (const [border, after] of [[LINE_FEED, 1], [SPACE, 0]]) {
    const before = bytes.lastIndexOf(border, near) + after;
    if (before > after && near - before <= Math.min(MAX_REACH, size)) return before;
    const next = bytes.indexOf(border, near) + after;
    if (next > after && next - near <= Math.min(MAX_REACH, size / 2)) return next;
  }
  return bytes.length;
}
