// Guessing: the next merge is hidden until the visitor has named the pair that wins. Any pair that
// occurs as often as the winner is right: which of them goes first is a rule, and no count tells it.
// What would give the answers to come, the counts of the other pairs, stays hidden after a guess too.

import { addPart } from "../shared/elements.js";
import { counted, grouped, times } from "../shared/numbers.js";
import { remembered } from "./link.js";
import { blockAt, isTraced, raceAt, tiesAt, traced } from "./run.js";
import { append, bold, couple } from "./tiles.js";

export class Guessing {
  constructor() {
    this.on = false;
    this.restore("");
  }

  /** Takes up the guesses that were made on a run before a refresh, or a change of page. */
  restore(run) {
    this.name = `guesses-${run}`;
    let saved = {};
    try {
      saved = JSON.parse(remembered.get(this.name)) ?? {};
    } catch {
      // What cannot be read is forgotten.
    }
    this.known = new Map(saved.known ?? []); // step -> the pair guessed; null where it was shown without a guess
    this.right = saved.right ?? 0;
    this.made = saved.made ?? 0;
  }

  isAsking(run, step) {
    return this.on && step < run.n_merges && isTraced(run, step) && !this.known.has(step);
  }

  answer(run, step, pair) {
    this.known.set(step, pair);
    this.made++;
    if (judgement(run, step, pair).right) this.right++;
    this.keep();
  }

  /** The merge is shown without a guess, and not counted. */
  giveUp(step) {
    this.known.set(step, null);
    this.keep();
  }

  keep() {
    const { right, made } = this;
    remembered.set(this.name, JSON.stringify({ known: [...this.known], right, made }));
  }

  score() {
    return this.made ? `${grouped(this.right)} of ${grouped(this.made)} right` : "";
  }

  /** Of the pairs of a step, those that may be seen: the winner, and the one that was guessed. */
  visible(pairs, step) {
    const guess = this.known.get(step);
    return pairs.filter((pair, i) => i === 0 || (guess && isSame(pair, guess)));
  }
}

function isSame(one, two) {
  return one.left === two.left && one.right === two.right;
}

/** A guess by the counts: {winner, found, right}. `found` is the pair in the race; one that ties may be
    too far down to stand there. */
function judgement(run, step, guess) {
  const pairs = raceAt(run, step);
  const winner = pairs[0];
  const found = pairs.find((pair) => isSame(pair, guess));
  const right = found?.count === winner.count || tiesAt(run, step).some((pair) => isSame(pair, guess));
  return { winner, found, right };
}

/** The pairs to choose from, in an order that tells nothing of their counts. */
export function writeCandidates(list, run, step, choose) {
  const scattered = ({ left, right }) => Math.imul(left * 31 + right, 2654435761) >>> 0;
  list.textContent = "";
  for (const { left, right } of raceAt(run, step).sort((a, b) => scattered(a) - scattered(b))) {
    const button = addPart(addPart(list, "li", ""), "button", "candidate");
    button.type = "button";
    button.append(couple(run, left, right, [9, 9]));
    // A click made by a key has no count of clicks.
    button.addEventListener("click", (event) => choose({ left, right }, event.detail === 0));
  }
}

export function writeQuestion(element, run, step) {
  element.textContent = "";
  addPart(element, "span", "what", `Merge ${grouped(step + 1)}`);
  addPart(element, "span", "how-often", "Which pair comes next? Click two neighbouring tiles, or a pair of the list.");
}

export function spokenQuestion(run, step) {
  return `${grouped(step)} of ${counted(run.n_merges, "merge")}. Which pair comes next?`;
}

/** Whether a guess was right, and why, by the counts. */
export function writeVerdict(element, run, step, guessing) {
  element.textContent = "";
  if (!guessing.on) return;
  const guess = guessing.known.get(step);
  if (!guess || !isTraced(run, step)) return;
  const { winner, found, right } = judgement(run, step, guess);
  const name = couple(run, guess.left, guess.right);
  const tied = traced(run, "n_tied", step);
  if (right && tied > 1) {
    append(element, bold("Right."), " ", name, ` occurs ${times(winner.count)}, as often as any. `);
    append(element, isSame(winner, guess) ? `Of the ${grouped(tied)} that tie, it goes first: ${tieRule(run)}.` : `Another goes first: ${tieRule(run)}.`);
  } else if (right) {
    const rival = raceAt(run, step)[1];
    const lead = rival ? `, ${grouped(winner.count - rival.count)} more than the next` : "";
    append(element, bold("Right."), " ", name, ` occurs ${times(winner.count)}${lead}.`);
  } else {
    append(element, bold("Not this one."), " ", name);
    const width = blockAt(run, step).widths.top;
    const listed = raceAt(run, step).length;
    if (found) append(element, ` occurs ${times(found.count)}, ${grouped(winner.count - found.count)} fewer.`);
    else if (listed < width) append(element, " cannot merge in the corpus now.");
    else append(element, ` is not among the ${listed} that lead.`);
  }
}

export function tieRule(run) {
  return run.tie_break === "smallest-pair" ? "the lower ids win" : "the pair seen first wins";
}

/** The two neighbouring tiles of a word whose border lies nearest to a point; null where the word
    has one tile. Tiles on other lines are farther away by their height. */
export function tilesAround(cell, x, y) {
  const tiles = cell.symbols.map((symbol) => cell.tiles.get(symbol.start)).filter(Boolean);
  let nearest = null;
  let least = Infinity;
  for (let i = 0; i + 1 < tiles.length; i++) {
    const box = tiles[i].getBoundingClientRect();
    const distance = Math.abs(x - box.right) + 4 * Math.max(0, box.top - y, y - box.bottom);
    if (distance < least) [least, nearest] = [distance, i];
  }
  if (nearest === null) return null;
  const [left, right] = [cell.symbols[nearest].id, cell.symbols[nearest + 1].id];
  if (typeof left !== "number" || typeof right !== "number") return null;
  return { left, right, tiles: [tiles[nearest], tiles[nearest + 1]] };
}
