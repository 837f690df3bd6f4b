// The panel beside the text: one token, how it was made, and a character that boundaries cut apart.

import { codePointName, hexByte, utf8 } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { grouped, times } from "../shared/numbers.js";
import { drawToken, makeTile } from "../shared/token_drawing.js";

const MOST_TREE_ROWS = 48;
const MOST_BYTES_SHOWN = 48;
const MOST_CODE_POINTS_SHOWN = 24;
const MOST_LETTERS_IN_TILE = 64;
const NUMBER_WORDS = ["none", "one", "two", "three", "four"];

function tokenBytes(token) {
  return typeof token === "string" ? [...utf8(token)] : token;
}

function isSymbol(known) {
  return known.rank < 0 && !known.special;
}

function tileOf(known, options = {}) {
  const { token } = known;
  const long = typeof token === "string" && token.length > MOST_LETTERS_IN_TILE;
  const shown = long ? [...token].slice(0, MOST_LETTERS_IN_TILE).join("") : token;
  const tile = makeTile(shown, known.id, { symbol: isSymbol(known), ...options });
  if (known.special) tile.className = `tile special${options.small ? " small" : ""}`;
  if (long) tile.append("…");
  return tile;
}

function charactersOf({ token, special, marker, ends }, tokens) {
  if (typeof token !== "string") return "no whole one: it cuts a character apart";
  const n = [...token].length;
  if (ends && !marker && tokens.marker) return `${grouped(n - [...tokens.marker].length)}, and the end-of-word marker`;
  if (special) return `${grouped(n)}, read as one token`;
  if (token.length > 1 && token.startsWith(" ") && token.trim()) return `${grouped(n)}, with the leading space`;
  return grouped(n);
}

/** U+0020 U+0069 …, where the token is whole characters. */
function codePointsOf({ token }) {
  const characters = [...token];
  const names = characters.slice(0, MOST_CODE_POINTS_SHOWN).map(codePointName).join(" ");
  return characters.length > MOST_CODE_POINTS_SHOWN ? `${names} …` : names;
}

function originOf(known, tokens) {
  if (known.special) return ["kind", "special token, never merged"];
  if (known.marker) return ["kind", "end-of-word marker"];
  if (known.rank < 0) return ["kind", "base symbol, there before any merge"];
  return ["made by merge", `${grouped(known.rank + 1)} of ${grouped(tokens.nMerges)}`];
}

export function drawDetails(panel, tokens, cuts, index) {
  panel.textContent = "";
  if (index === null || tokens.n === 0) {
    addPart(panel, "p", "aside", "Point at a token to learn what it is and how it was made.");
    return;
  }
  const known = tokens.about.get(tokens.ids[index]);
  if (!known) {
    addPart(panel, "p", "label", "In no token");
    addPart(panel, "p", "aside", unknownReason(tokens, index));
  } else {
    addPart(panel, "p", "label", `Token ${grouped(tokens.order[index])}`);
    const big = tileOf(known);
    big.classList.add("big");
    panel.append(big);
    drawFacts(panel, tokens, known);
    if (known.rank >= 0) {
      addPart(panel, "h2", "", "How it was made");
      drawTree(panel, tokens, known);
    }
  }
  const cut = cutToShow(cuts, index);
  if (cut) drawCut(panel, tokens, cut);
}

export function unknownReason(tokens, index) {
  const piece = tokens.text.slice(tokens.at[index], tokens.at[index + 1]);
  return /\S/.test(piece)
    ? "The alphabet of this tokenizer lacks this character, so it has no id for it."
    : "The pre-tokenizer leaves this white space out, so it is in no token.";
}

function drawFacts(panel, tokens, known) {
  const bytes = tokenBytes(known.token);
  const shown = bytes.slice(0, MOST_BYTES_SHOWN).map(hexByte).join(" ");
  const n = tokens.ids.filter((id) => id === known.id).length;
  const facts = [
    ["id", grouped(known.id)],
    originOf(known, tokens),
    ...(known.rank < 0 ? [] : [["rank", `${grouped(known.rank)}, counted from 0`]]),
    ["bytes", bytes.length > MOST_BYTES_SHOWN ? `${shown} … ${grouped(bytes.length)} in all` : shown],
    ["characters", charactersOf(known, tokens)],
    ...(typeof known.token === "string" ? [["code points", codePointsOf(known)]] : []),
    ["in this text", times(n)],
  ];
  const list = addPart(panel, "dl", "facts");
  for (const [name, value] of facts) {
    addPart(list, "dt", "", name);
    addPart(list, "dd", name === "bytes" || name === "code points" ? "hex" : "", value);
  }
}

/** The merges that a token was built by, as a tree; two symbols side by side stand on one line. */
export function drawTree(panel, tokens, known) {
  let rows = 0;
  let left = 0;
  const add = (parent, node) => {
    if (rows >= MOST_TREE_ROWS) {
      left++;
      return;
    }
    rows++;
    const item = addPart(parent, "li", "");
    item.append(tileOf(node, { small: true }));
    if (node.rank < 0) return;
    const parts = [tokens.about.get(node.left), tokens.about.get(node.right)];
    if (parts.every((part) => part.rank < 0)) {
      addPart(item, "span", "from", "from");
      for (const part of parts) item.append(tileOf(part, { small: true }));
      return;
    }
    const list = addPart(item, "ul", "");
    for (const part of parts) add(list, part);
  };
  add(addPart(panel, "ul", "tree"), known);
  if (left) addPart(panel, "p", "aside", `and ${grouped(left)} more ${left === 1 ? "part" : "parts"}`);
}

/** The cut character that the token takes part in; else the one cut into most pieces. */
function cutToShow(cuts, index) {
  let most = null;
  for (const cut of cuts) {
    if (cut.start <= index && index < cut.end) return cut;
    if (!most || cut.end - cut.start > most.end - most.start) most = cut;
  }
  return most;
}

function drawCut(panel, tokens, cut) {
  const codePoint = tokens.text.codePointAt(cut.at);
  const character = String.fromCodePoint(codePoint);
  const values = utf8(character);
  const section = addPart(panel, "section", "cut-character");
  addPart(section, "h2", "", `A character cut in ${NUMBER_WORDS[cut.end - cut.start]}`);
  const row = addPart(section, "div", "cut-row");
  drawToken(addPart(row, "span", "picture"), character);
  const strip = addPart(row, "div", "strip");
  for (let i = cut.start; i < cut.end; i++) {
    const from = tokens.at[i] < cut.at ? 0 : tokens.into[i];
    const to = tokens.at[i + 1] > cut.at ? values.length : tokens.into[i + 1];
    const owner = addPart(strip, "div", `slot-${tokens.slots[i]}`);
    addPart(owner, "span", "hex", [...values.slice(from, to)].map(hexByte).join(" "));
    addPart(owner, "span", "owner", `id ${tokens.ids[i]}`);
  }
  addPart(section, "p", "aside", cutSentence(tokens, cut, character, values.length));
}

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
