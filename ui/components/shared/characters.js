// How characters are drawn and spoken: white space as glyphs, control characters by code point, and the
// bytes of a partial character in hex.

/** @import { Token } from "./component.js" */

const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]/u;
const OTHER_SPACE = /[\p{Zs}]/u;
const MARK = /^\p{M}/u;
const NOT_PLAIN = /[\p{Z}\p{Cc}\p{Cf}\p{Co}\p{Cn}\u00ad\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]|^\p{M}/u;
/** Any character but a digit, in the blocks of right-to-left scripts. */
const RIGHT_TO_LEFT = /(?!\p{Nd})[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const BIDI_CONTROL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** @type {Map<string, "space" | "tab" | "newline">} */
const GLYPHS = new Map([[" ", "space"], ["\t", "tab"], ["\n", "newline"]]);
export const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const LETTER = /\p{L}/u;
/** Two words with white space between them; as `is_superword` in the library. */
const SUPERWORD = /[\p{L}\p{N}][^ \t\r\n]*[ \t\r\n]+[^ \t\r\n]*[\p{L}\p{N}]/u;
export const SUPERWORD_LEGEND = "A double line below marks a superword: a token that joins words.";
const DIGIT = /\p{N}/u;
const UTF8 = new TextEncoder();
const FROM_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** @typedef {object} Piece
    @property {"space" | "tab" | "newline" | "code" | "mark" | "text"} kind
    @property {string} text */

/** Return the code point of a character as text: "U+202E".
    @param {string} character */
export function codePointName(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

/** @param {number} value */
export function hexByte(value) {
  return value.toString(16).toUpperCase().padStart(2, "0");
}

/** Return the bytes of a text in UTF-8.
    @param {string} text */
export function utf8(text) {
  return UTF8.encode(text);
}

/** Return whether all characters of a text are drawn unchanged.
    @param {string} text */
export function isPlain(text) {
  return !NOT_PLAIN.test(text);
}

/** @param {string} text */
export function hasBidiControl(text) {
  return BIDI_CONTROL.test(text);
}

/** Return whether a character belongs to a text that runs from right to left; digits do not.
    @param {string} character */
export function isRightToLeft(character) {
  return RIGHT_TO_LEFT.test(character);
}

/** @param {string} character */
function hasNoPicture(character) {
  return CONTROL.test(character) || OTHER_SPACE.test(character);
}

/** Return where a text has half a character, which UTF-8 cannot encode, as the start of a message:
    "Half a character at position 3 (U+D83E, a lone surrogate)". Empty if there is none.
    @param {string} text */
export function halfCharacter(text) {
  const at = text.search(/\p{Surrogate}/u);
  if (at < 0) return "";
  const name = codePointName(text[at]);
  return `Half a character at position ${(at + 1).toLocaleString("en-US")} (${name}, a lone surrogate)`;
}

/** Split a text into pieces that are drawn differently.

    A kind is "space", "tab", "newline", "code" for one character without a picture, "mark" for text
    that begins with a combining mark, and "text" for all else. The pieces together are the text.
    @param {string} text
    @returns {Generator<Piece>} */
export function* splitPieces(text) {
  let run = "";
  const plain = () => {
    /** @type {Piece} */
    const piece = { kind: MARK.test(run) ? "mark" : "text", text: run };
    run = "";
    return piece;
  };
  // A joiner inside an emoji belongs to its picture; alone it would be invisible.
  for (const { segment } of GRAPHEMES.segment(text)) {
    const characters = [...segment];
    if (!characters.every(hasNoPicture)) {
      run += segment;
      continue;
    }
    if (run) yield plain();
    // "\r\n" is one grapheme.
    for (const character of characters) yield { kind: GLYPHS.get(character) ?? "code", text: character };
  }
  if (run) yield plain();
}

/** Return the bytes of a token.
    @param {Token} token
    @returns {number[]} */
export function tokenBytes(token) {
  return typeof token === "string" ? [...utf8(token)] : token;
}

/** Return how many bytes a character has that starts with this byte; 0 if none starts with it.
    @param {number} byte */
export function sizeOfCharacter(byte) {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** Split bytes into text of whole characters, and the bytes of each character that is not whole.
    @param {number[]} bytes
    @returns {Token[]} */
export function wholeAndPartial(bytes) {
  /** @type {Token[]} */
  const pieces = [];
  for (let i = 0; i < bytes.length; ) {
    const size = sizeOfCharacter(bytes[i]);
    const isWhole = size > 0 && i + size <= bytes.length && bytes.slice(i + 1, i + size).every(isContinuation);
    const part = bytes.slice(i, isWhole ? i + size : i + 1);
    const last = pieces.at(-1);
    if (isWhole) {
      const text = FROM_UTF8.decode(Uint8Array.from(part));
      if (typeof last === "string") pieces[pieces.length - 1] = last + text;
      else pieces.push(text);
    } else if (last === undefined || typeof last === "string" || size > 0) pieces.push(part);
    else last.push(...part);
    i += part.length;
  }
  return pieces;
}

/** @param {number} byte */
function isContinuation(byte) {
  return byte >= 0x80 && byte < 0xc0;
}

/** Return the direction of a token: that of its first letter, also if only the first bytes of the letter
    are there. Without a letter, digits run from left to right, and anything else has no direction.
    @param {Token} token
    @returns {"ltr" | "rtl" | ""} */
export function findDirection(token) {
  const pieces = typeof token === "string" ? [token] : wholeAndPartial(token);
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      if (directionOfPartial(piece)) return "rtl";
      continue;
    }
    for (const character of piece) {
      if (isRightToLeft(character)) return "rtl";
      if (LETTER.test(character)) return "ltr";
    }
  }
  return pieces.some((piece) => typeof piece === "string" && DIGIT.test(piece)) ? "ltr" : "";
}

/** Return "rtl" if the first bytes of a character leave no other direction.
    @param {number[]} bytes
    @returns {"rtl" | ""} */
function directionOfPartial(bytes) {
  const missing = sizeOfCharacter(bytes[0]) - bytes.length;
  if (missing < 0) return "";
  const [least, most] = [0x80, 0xbf].map((byte) =>
    FROM_UTF8.decode(Uint8Array.from([...bytes, ...new Array(missing).fill(byte)])));
  return isRightToLeft(least) && isRightToLeft(most) ? "rtl" : "";
}

/** Return what a screen reader says for a token: white space and control characters by name.
    @param {Token} token
    @returns {string} */
export function spokenToken(token) {
  if (typeof token !== "string") {
    const spoken = (/** @type {Token} */ piece) =>
      typeof piece === "string" ? spokenToken(piece) : "bytes " + piece.map(hexByte).join(" ");
    return wholeAndPartial(token).map(spoken).join(", ");
  }
  const characters = [...token];
  const names = characters.map((c) => GLYPHS.get(c) ?? (hasNoPicture(c) ? codePointName(c) : c));
  const areGlyphs = characters.every((c) => GLYPHS.has(c));
  return names.join(areGlyphs ? " " : "").replace(/^space(?=.)/, "space ");
}

/** Return whether a token joins words: superwords have a mark of their own wherever tokens are drawn.
    @param {Token} token */
export function isSuperword(token) {
  const pieces = typeof token === "string" ? [token] : wholeAndPartial(token);
  return SUPERWORD.test(pieces.filter((piece) => typeof piece === "string").join(""));
}
