// "Why this pair?": its count, its rivals and the rule, the words that gave most, what rose and fell.
// While the visitor guesses, what would tell the next winner is left out: the rivals' names and
// what rises.

import { spokenToken } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { grouped, times } from "../shared/numbers.js";
import { tieRule } from "./guess.js";
import { blockAt, tableRow, traced } from "./run.js";
import { touchedIn } from "./scenes.js";
import { chosenIn, symbolsAt } from "./symbols.js";
import { append, bold, couple, muted, smallTile } from "./tiles.js";

const SYMBOLS_GIVEN = 12; // symbols shown of a word in the card
const SYMBOLS_BEFORE = 4; // of them before the pair, where the word is longer

/** Why the next pair is next: its count, its rivals, and the rule where they tie. */
export function writeReason(element, run, step, pairs, guessing) {
  element.textContent = "";
  const tied = traced(run, "n_tied", step);
  const others = traced(run, "n_pairs", step) - tied;
  const [winner, second] = pairs;
  const rest = others === 0 ? "" : others === 1 ? ", more than the one other pair" : `, more than any of the other ${grouped(others)} pairs`;
  const name = couple(run, winner.left, winner.right);
  if (tied < 2) {
    if (others === 0) append(element, name, ` occurs ${times(winner.count)}. It is the only pair left.`);
    else append(element, name, ` occurs ${times(winner.count)}${rest}.`);
    return;
  }
  const unnamed = (n) => (n === 1 ? "one other pair" : `${grouped(n)} other pairs`);
  const all = tied === 2 ? "both" : "all";
  if (guessing) append(element, name, ` and ${unnamed(tied - 1)} ${all} occur ${times(winner.count)}`);
  else if (tied === 2) append(element, name, " and ", couple(run, second.left, second.right), ` both occur ${times(winner.count)}`);
  else append(element, name, ", ", couple(run, second.left, second.right), ` and ${unnamed(tied - 2)} all occur ${times(winner.count)}`);
  append(element, `${rest}. The tie rule decides: `, bold(tieRule(run)));
  if (run.tie_break === "smallest-pair" && !guessing) {
    append(element, `, ${winner.left}, ${winner.right} before ${second.left}, ${second.right}`);
  }
  append(element, ".");
}

/** By how much the winner leads the best pair that does not tie with it; that pair is named where
    the race holds it. */
export function writeMargin(element, run, step, pairs, guessing) {
  element.textContent = "";
  const next = traced(run, "next_count", step);
  const tied = traced(run, "n_tied", step);
  if (!next) return append(element, tied > 1 ? `all ${grouped(tied)} tie` : "no rival");
  const rival = guessing ? undefined : pairs.find((pair) => pair.count === next);
  append(element, grouped(pairs[0].count - next), " ", muted(rival ? "over " : "over the next"));
  if (rival) append(element, couple(run, rival.left, rival.right, [10, 10]));
}

/** The words in which most of the pair's occurrences merge, each with how many. */
export function writeGiven(element, run, step) {
  element.textContent = "";
  const block = blockAt(run, step);
  const width = block.widths.given;
  touchedIn(block, step).slice(0, width).forEach((word, i) => {
    const { base, count } = block.words[word];
    const given = block.touched_given[(step - block.start) * width + i];
    const item = addPart(element, "li", "");
    item.append(wordWithPair(run, base, step));
    const number = addPart(item, "span", "");
    if (given !== count) append(number, muted(`${grouped(given / count)} × ${grouped(count)} = `));
    append(number, grouped(given));
  });
}

/** A word's symbols as small tiles, the pair that merges next marked; of a long word those around it. */
function wordWithPair(run, base, step) {
  const symbols = symbolsAt(run, base, step);
  const chosen = chosenIn(run, symbols, step);
  const first = Math.min(...chosen, symbols.length);
  const from = symbols.length > SYMBOLS_GIVEN ? Math.max(0, Math.min(first - SYMBOLS_BEFORE, symbols.length - SYMBOLS_GIVEN)) : 0;
  const row = document.createElement("span");
  row.className = "given";
  row.setAttribute("role", "img");
  row.setAttribute("aria-label", symbols.map(({ id }) => spokenToken(run.tokens[id])).join(", "));
  if (from) append(row, muted("…"));
  for (let i = from; i < Math.min(symbols.length, from + SYMBOLS_GIVEN); i++) {
    const tile = smallTile(run, symbols[i].id, 14);
    tile.classList.toggle("chosen", chosen.has(i) || chosen.has(i - 1));
    row.append(tile);
  }
  if (from + SYMBOLS_GIVEN < symbols.length) append(row, muted("…"));
  return row;
}

export function writeChanges(element, run, step, name, sign) {
  element.textContent = "";
  for (const pair of tableRow(run, name, step, "by")) {
    const item = addPart(element, "li", "");
    item.append(smallTile(run, pair.left, 9), smallTile(run, pair.right, 9));
    addPart(item, "span", "", sign + grouped(pair.count));
  }
  if (!element.children.length) addPart(element, "li", "muted", "none");
}

export function writeUnsaid(element) {
  element.textContent = "";
  addPart(element, "li", "muted", "not said while you guess");
}
