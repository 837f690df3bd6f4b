// The panel next to the text: one token, how it was made, and a character split by boundaries.

import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { drawToken } from "../shared/token_drawing.js";
import { WRITTEN, cutToShow, listFacts, factsOfCut, unknownReason } from "./facts.js";
import { markNote } from "./marks.js";
import { drawTree, makeKnownTile } from "./merge_tree.js";
import { isEmpty } from "./reading.js";

/** @import { CutCharacter, Known, Tokens } from "./reading.js" */

/** @param {HTMLElement} panel
    @param {Tokens} tokens
    @param {CutCharacter[]} cuts
    @param {number | null} index The token that is pointed at or chosen. */
export function drawDetails(panel, tokens, cuts, index) {
  panel.textContent = "";
  if (index === null || tokens.n === 0) {
    addPart(panel, "p", "aside", "Point at a token to see what it is and how it was made.");
    return;
  }
  const known = tokens.about.get(tokens.ids[index]);
  if (known) {
    const piece = isEmpty(tokens, index) ? null : tokens.text.slice(tokens.at[index], tokens.at[index + 1]);
    drawKnown(panel, tokens, known, { number: tokens.order[index], slot: tokens.slots[index] }, piece);
  }
  else {
    addPart(panel, "p", "label", "In no token");
    addPart(panel, "p", "aside", unknownReason(tokens, index));
  }
  const cut = cutToShow(cuts, index);
  if (cut) drawCut(panel, tokens, cut);
}

/** @param {HTMLElement} panel
    @param {Tokens} tokens
    @param {Known} known
    @param {{ number: number, slot: number }} place Its place among the tokens of the text, from 1, and
    its colour there.
    @param {string | null} piece What stands in the text; null where it stands for no character. */
function drawKnown(panel, tokens, known, { number, slot }, piece) {
  addPart(panel, "p", "label", `Token ${grouped(number)}`);
  const big = makeKnownTile(known, { slot });
  big.classList.add("big");
  panel.append(big);
  const list = addPart(panel, "dl", "facts");
  for (const [name, value] of listFacts(tokens, known, piece)) {
    addPart(list, "dt", "", name);
    const cell = addPart(list, "dd", name === "bytes" || name === "code points" ? "hex" : "", value);
    if (name === WRITTEN) drawToken(cell, value);
  }
  const note = markNote(known, piece);
  if (note) addPart(panel, "p", "aside mark-note", note);
  if (known.rank < 0) return;
  addPart(panel, "h2", "", "How it was made");
  drawTree(panel, tokens, known);
}

/** @param {HTMLElement} panel
    @param {Tokens} tokens
    @param {CutCharacter} cut */
function drawCut(panel, tokens, cut) {
  const { title, character, owners, sentence } = factsOfCut(tokens, cut);
  const section = addPart(panel, "section", "cut-character");
  addPart(section, "h2", "", title);
  const row = addPart(section, "div", "cut-row");
  drawToken(addPart(row, "span", "picture"), character);
  const strip = addPart(row, "div", "strip");
  for (const { token, hex } of owners) {
    const owner = addPart(strip, "div", `slot-${tokens.slots[token]}`);
    addPart(owner, "span", "hex", hex);
    addPart(owner, "span", "owner", `id ${tokens.ids[token]}`);
  }
  addPart(section, "p", "aside", sentence);
}
