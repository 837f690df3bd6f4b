// Facts about a token, and figures for the whole text.

import { codePointName, hexByte, SUPERWORD_LEGEND, utf8 } from "../shared/characters.js";
import { counted, grouped, times } from "../shared/numbers.js";

/** @import { Token } from "../shared/component.js"
    @import { CutCharacter, Known, Tokens } from "./reading.js" */

const MAX_BYTES_SHOWN = 48;
const MAX_CODE_POINTS_SHOWN = 24;
/** The name of the fact that a token's file writes it with marks, such as ▁; may hold any characters. */
export const WRITTEN = "written";
const MAX_UNITS_SEARCHED = 4000;
const NUMBER_WORDS = ["none", "one", "two", "three", "four"];

/** Return the facts of a token, each a name and a value; bytes and code points are in hex.
    @param {Tokens} tokens
    @param {Known} known
    @param {string | null} [piece] What stands in the text.
    @returns {[string, string][]} */
export function listFacts(tokens, known, piece = null) {
  const n = tokens.ids.filter((id) => id === known.id).length;
  return [
    ["id", grouped(known.id)],
    describeOrigin(known, tokens),
    ...(known.written === null || known.written === known.token ? [] : [/** @type {[string, string]} */ ([WRITTEN, known.written])]),
    ["bytes", formatBytes(known.token)],
    ["characters", describeCharacters(known, tokens, piece)],
    ...(typeof known.token === "string" ? [/** @type {[string, string]} */ (["in Unicode", listCodePoints(known.token)])] : []),
    ["in this text", times(n)],
  ];
}

/** @param {Token} token */
function formatBytes(token) {
  const bytes = typeof token === "string" ? [...utf8(token)] : token;
  const shown = bytes.slice(0, MAX_BYTES_SHOWN).map(hexByte).join(" ");
  return bytes.length > MAX_BYTES_SHOWN ? `${shown} … ${grouped(bytes.length)} in all` : shown;
}

/** @param {Known} known
    @param {Pick<Tokens, "marker">} tokens
    @param {string | null} piece */
function describeCharacters({ token, special, marker, ends }, tokens, piece) {
  if (typeof token !== "string") return "none whole: it splits a character";
  const n = [...token].length;
  if (ends && !marker && tokens.marker) return `${grouped(n - [...tokens.marker].length)}, and the end-of-word marker`;
  if (special) return `${grouped(n)}, read as one token`;
  if (token.length > 1 && token.startsWith(" ") && token.trim()) return `${grouped(n)}, with the leading space`;
  if (token === piece) return grouped(n);
  if (token.length > 1 && token.startsWith("▁")) return `${grouped(n)}, the first a mark of white space`;
  if (token.length > 2 && token.startsWith("##")) return `${grouped(n)}, the ## a mark that the word continues`;
  return grouped(n);
}

/** "U+0020 U+0069 …".
    @param {string} token */
function listCodePoints(token) {
  const characters = [...token];
  const names = characters.slice(0, MAX_CODE_POINTS_SHOWN).map(codePointName).join(" ");
  return characters.length > MAX_CODE_POINTS_SHOWN ? `${names} …` : names;
}

/** @param {Known} known
    @param {Pick<Tokens, "nMerges">} tokens
    @returns {[string, string]} */
function describeOrigin(known, tokens) {
  if (known.special) return ["kind", "special token, never merged"];
  if (known.marker) return ["kind", "end-of-word marker"];
  if (tokens.nMerges === null) return ["kind", "token of another library, which doesn’t report how it was made"];
  if (known.rank < 0 && [...known.token].length > 1) return ["kind", "found whole in the text, made by no merge"];
  if (known.rank < 0) return ["kind", "base symbol, made by no merge"];
  return ["made by merge", `${grouped(known.rank + 1)} of ${grouped(tokens.nMerges ?? 0)}`];
}

/** Return why a piece of text is in no token.
    @param {Pick<Tokens, "text" | "at">} tokens
    @param {number} index */
export function unknownReason(tokens, index) {
  const piece = tokens.text.slice(tokens.at[index], tokens.at[index + 1]);
  return /\S/.test(piece)
    ? "This character is not in the tokenizer’s alphabet, so it has no id."
    : "The pre-tokenizer drops this white space, so it is in no token.";
}

/** Return the split character that the token shares; else the one split into most pieces.
    @param {CutCharacter[]} cuts
    @param {number} index
    @returns {CutCharacter | null} */
export function cutToShow(cuts, index) {
  let most = null;
  for (const cut of cuts) {
    if (cut.start <= index && index < cut.end) return cut;
    if (!most || cut.end - cut.start > most.end - most.start) most = cut;
  }
  return most;
}

/** Return the facts of a split character: the character, how many pieces it has, which token holds which
    of its bytes, and what else those tokens hold.
    @param {Tokens} tokens
    @param {CutCharacter} cut */
export function factsOfCut(tokens, cut) {
  const character = String.fromCodePoint(/** @type {number} */ (tokens.text.codePointAt(cut.at)));
  const values = utf8(character);
  const owners = [];
  for (let i = cut.start; i < cut.end; i++) {
    const from = tokens.at[i] < cut.at ? 0 : tokens.into[i];
    const to = tokens.at[i + 1] > cut.at ? values.length : tokens.into[i + 1];
    owners.push({ token: i, hex: [...values.slice(from, to)].map(hexByte).join(" ") });
  }
  const title = `A character split in ${NUMBER_WORDS[cut.end - cut.start]}`;
  return { title, character, owners, sentence: cutSentence(tokens, cut, character, values.length) };
}

/** @param {Tokens} tokens
    @param {CutCharacter} cut
    @param {string} character
    @param {number} nBytes */
function cutSentence(tokens, cut, character, nBytes) {
  const sentences = [`${codePointName(character)} is ${NUMBER_WORDS[nBytes]} bytes.`];
  if (tokens.at[cut.start] < cut.at) {
    const before = tokens.text.slice(tokens.at[cut.start], cut.at);
    sentences.push(before === " " ? "The first token also holds the space before it." : "The first token also holds text before it.");
  }
  const next = cut.at + character.length;
  if (tokens.at[cut.end] > next || tokens.into[cut.end] > 0) sentences.push("The last token also holds bytes after it.");
  return sentences.join(" ");
}

/** Count the tokens and bytes of a text, and how much of it is in no token.
    @param {Tokens} tokens */
export function countTokens(tokens) {
  const counts = { tokens: 0, bytes: tokens.byteAt[tokens.n], uncovered: 0, unknown: 0, dropped: 0 };
  for (let i = 0; i < tokens.n; i++) {
    if (tokens.ids[i] >= 0) {
      counts.tokens++;
      continue;
    }
    const piece = tokens.text.slice(tokens.at[i], tokens.at[i + 1]);
    counts.uncovered += tokens.byteAt[i + 1] - tokens.byteAt[i];
    if (/\S/.test(piece)) counts.unknown += [...piece].length;
    else counts.dropped++;
  }
  return counts;
}

/** Return a word of the text that takes the most tokens, and how many; null without a word. Of a long text, only
    the beginning is searched.
    @param {Pick<Tokens, "text" | "n" | "ids" | "at" | "into">} tokens */
export function costliestWord({ text, n, ids, at, into }) {
  const words = [...new Intl.Segmenter("en", { granularity: "word" }).segment(text.slice(0, MAX_UNITS_SEARCHED))]
    // The last one may go on after the part that is searched.
    .filter(({ index, segment }) => segment.trim() && (text.length <= MAX_UNITS_SEARCHED || index + segment.length < MAX_UNITS_SEARCHED));
  const spelled = words.filter(({ isWordLike }) => isWordLike);
  let most = null;
  let first = 0;
  for (const { segment, index } of spelled.length ? spelled : words) {
    const end = index + segment.length;
    const endOf = (/** @type {number} */ i) => at[i + 1] + (into[i + 1] ? 1 : 0);
    while (first < n && endOf(first) <= index) first++;
    let cost = 0;
    for (let i = first; i < n && at[i] < end; i++) if (ids[i] >= 0 && endOf(i) > index) cost++;
    if (!most || cost > most.cost) most = { word: segment, cost };
  }
  return most;
}

/** Return the figures above a text, each a number and what it counts.
    @param {ReturnType<typeof countTokens>} counts
    @returns {[string, string][]} */
export function listFigures({ tokens, bytes, uncovered }) {
  /** @type {[string, string][]} */
  const figures = [
    [grouped(tokens), tokens === 1 ? "token" : "tokens"],
    [grouped(bytes), bytes === 1 ? "byte" : "bytes"],
  ];
  if (tokens) {
    const unit = uncovered ? "covered bytes per token" : "bytes per token";
    figures.push([((bytes - uncovered) / tokens).toFixed(2), unit]);
  }
  if (uncovered) figures.push([grouped(uncovered), `${uncovered === 1 ? "byte is" : "bytes are"} in no token`]);
  return figures;
}

/** Return the remarks under a text.
    @param {ReturnType<typeof countTokens>} counts
    @param {number} nCuts
    @param {string} specialNote
    @param {Pick<Tokens, "nMerges" | "normalizes" | "superwords">} tokens
    @param {string} legend What the marks of the tokenizer's file mean. */
export function listRemarks({ unknown, dropped }, nCuts, specialNote, { nMerges, normalizes, superwords }, legend = "") {
  const remarks = [];
  if (superwords.size) remarks.push(SUPERWORD_LEGEND);
  if (legend) remarks.push(legend);
  if (nMerges === null) remarks.push("Another library encodes, so pre-token borders are not known.");
  if (normalizes) remarks.push("The text is changed before it is cut, so pre-token borders are not shown.");
  if (nCuts) remarks.push(`${counted(nCuts, "character is", "characters are")} split by a token boundary.`);
  if (unknown) remarks.push(`${counted(unknown, "character is", "characters are")} not in the alphabet: struck out, and in no token.`);
  if (dropped) remarks.push("White space between words is in no token.");
  if (specialNote) remarks.push(specialNote);
  return remarks.join(" ");
}
