// Large pastes. A text field would take seconds to lay them out, so they are caught before the browser
// inserts them, and Python opens them as it opens a file.

import { halfCharacter } from "../shared/characters.js";
import { grouped } from "../shared/numbers.js";

/** `pasted` and `edited` are in UTF-16 units: a paste with more than `pasted` is opened, and so is any
    that makes the field's text longer than `edited`. Of a text with at most `bytes`, the first `sent`
    characters are sent.
    @typedef {{ pasted: number, edited: number, bytes: number, sent: number }} PasteLimits */

/** What is pasted or dropped into a field, and the part of the field's text that it replaces.
    @typedef {{ text: string, start: number, end: number }} Insertion */

/** A paste as Python receives it; `before` is the text that the field held.
    @typedef {{ text: string, n_characters: number, n_bytes: number, before: string }} SentPaste */

/** Return whether a paste is opened rather than inserted.
    @param {string} pasted
    @param {number} length Of the text that the field would hold.
    @param {PasteLimits} limits */
export function isLarge(pasted, length, { pasted: most, edited }) {
  return pasted.length > most || (pasted.length > 0 && length > edited);
}

/** Return a text with an insertion made.
    @param {string} text
    @param {Insertion} insertion */
export function withInsertion(text, { text: added, start, end }) {
  return text.slice(0, start) + added + text.slice(end);
}

/** Count a text's characters and its bytes in UTF-8, and find where its first `most` characters end.
    @param {string} text
    @param {number} most */
export function measure(text, most = Infinity) {
  let [nCharacters, nBytes, end] = [0, 0, text.length];
  for (let i = 0; i < text.length; i++) {
    if (nCharacters === most) end = Math.min(end, i);
    const unit = text.charCodeAt(i);
    nCharacters++;
    if (unit < 0x80) nBytes++;
    else if (unit < 0x800) nBytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      nBytes += 4;
      i++;
    } else nBytes += 3;
  }
  return { nCharacters, nBytes, end };
}

/** Return the message that opens a text, or why it cannot be opened.
    @param {string} text
    @param {string} before
    @param {PasteLimits} limits
    @returns {{ problem: string } | { paste: SentPaste }} */
export function describeOpening(text, before, { bytes, sent }) {
  const { nCharacters, nBytes, end } = measure(text, sent);
  if (nBytes > bytes) {
    return { problem: `With this paste the text would have ${sizeText(nBytes)}. Up to ${sizeText(bytes)} can be opened. Nothing was pasted.` };
  }
  const half = halfCharacter(text);
  if (half) return { problem: `${half}, which UTF-8 cannot encode. Nothing was pasted.` };
  return { paste: { text: text.slice(0, end), n_characters: nCharacters, n_bytes: nBytes, before } };
}

/** "1.2 MB", "466 kB".
    @param {number} nBytes */
export function sizeText(nBytes) {
  for (const [unit, size] of /** @type {[string, number][]} */ ([["MB", 1e6], ["kB", 1e3]])) {
    if (nBytes >= size) return `${nBytes < 10 * size ? (nBytes / size).toFixed(1) : grouped(Math.round(nBytes / size))} ${unit}`;
  }
  return `${nBytes} B`;
}
