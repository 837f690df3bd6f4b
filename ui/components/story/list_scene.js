// The list is the tokenizer, as it is drawn: the merges in order, and a word that falls through them.

import { findDirection, spokenToken } from "../shared/characters.js";
import { addPart, find, keepKeys } from "../shared/elements.js";
import { drawToken, makeTile } from "../shared/token_drawing.js";
import { learn } from "../start_loop/learn.js";
import { shortText } from "../merge_player/token_names.js";
import { guessLanguage } from "../shared/languages.js";
import { endOfReplay, joints, learnList, newWord, replayOn, spokenMerge, tokenOf, wordInSentence } from "./list.js";

/** @import { Carried } from "../shared/carried.js"
    @import { Fallen, List, Replay } from "./list.js" */

const MAX_LENGTH = 300; // characters of the visitor's sentence
const REST = 400; // ms after the last key
const FIRED = 380; // ms
const PASSED = 45;
const ROW = 30; // px; the row of the list and that of the word are level
const TOP = 36; // px for the letters
const MAX_CELL = 42;
const PHONE = "(max-width: 860px)";

export class ListScene {
  /** @param {HTMLElement} root
      @param {string} sample A sentence that stands in for one that has nothing to learn. */
  constructor(root, sample) {
    this.root = root;
    this.sample = sample;
    this.list = find(root, "ol", HTMLElement);
    this.fall = find(root, ".fall", HTMLElement);
    this.field = find(root, ".field input", HTMLInputElement);
    this.end = find(root, ".end", HTMLElement);
    this.live = find(root, ".spoken", HTMLElement);
    /** @type {string | null} */
    this.text = null;
    this.isTyped = false;
    this.at = 0;
    this.timer = 0;
    this.cell = 0; // px that a letter is wide
    /** @type {{ symbol: Fallen, tile: HTMLElement, line: HTMLElement, last: HTMLElement | null }[]} */
    this.parts = [];
    /** @type {HTMLElement[]} */
    this.cutLines = [];
    this.lead = addPart(this.fall, "i", "lead-line");
    /** @type {List} */
    this.learned = { run: learn(""), nMerges: 0, cut: "gpt2" };
    /** @type {Replay} */
    this.replay = replayOn(this.learned, "");
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.phone = window.matchMedia(PHONE);
    this.ending = new AbortController();
    const { signal } = this.ending;
    keepKeys(this.field);
    this.field.addEventListener("input", () => {
      this.isTyped = true;
      this.#takeWord();
    }, { signal });
    find(root, ".again", HTMLButtonElement).addEventListener("click", () => this.#play(0), { signal });
    this.observer = new ResizeObserver(() => this.#lay());
    this.observer.observe(this.fall);
  }

  /** @param {Carried} sentence */
  take({ text, run: known }) {
    const own = [...text.slice(0, 2 * MAX_LENGTH)].slice(0, MAX_LENGTH).join("");
    if (own === this.text) return;
    this.text = own;
    const list = learnList(own, known);
    this.learned = list ?? learnList(this.sample) ?? this.learned;
    const { run, nMerges, cut } = this.learned;
    find(this.root, ".n-merges", HTMLElement).textContent = nMerges < run.n_merges ? `The first ${nMerges} merges` : `${nMerges} merges`;
    find(this.root, ".from", HTMLElement).textContent = list ? "your sentence" : `“${shortText(this.sample, 14)}”`;
    find(this.root, ".cut-as", HTMLElement).textContent = cut === "gpt2" ? ", in order" : ", cut by GPT-4o";
    this.field.lang = this.fall.lang = list ? guessLanguage(own) : "en";
    if (!this.isTyped) this.field.value = newWord(list ? own : this.sample, this.learned);
    this.#writeList();
    this.#takeWord();
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.ending.abort();
  }

  #writeList() {
    this.list.textContent = "";
    const { run } = this.learned;
    for (let merge = 1; merge <= this.learned.nMerges; merge++) {
      const row = addPart(this.list, "li", "");
      addPart(row, "span", "unseen-text");
      const shown = addPart(row, "span", "merge");
      shown.setAttribute("aria-hidden", "true");
      shown.lang = this.fall.lang;
      addPart(shown, "b", "", String(merge));
      const pair = addPart(shown, "span", "pair-of");
      pair.dir = findDirection(run.tokens[run.merge_id[merge - 1]]) || "ltr";
      pair.append(this.#tile(run.merge_left[merge - 1]), "+", this.#tile(run.merge_right[merge - 1]));
      addPart(shown, "span", "made").append(this.#tile(run.merge_id[merge - 1]));
      addPart(shown, "span", "times", `${run.merge_count[merge - 1]}×`);
    }
  }

  /** @param {number | string} id */
  #tile(id, most = 12) {
    const token = tokenOf(this.learned.run, id);
    const isLearned = typeof id === "number" && this.learned.run.isLearned(id);
    return makeTile(shortText(token, most), 0, { symbol: !isLearned, small: true, slot: isLearned ? this.learned.run.findSlot(id) : 0 });
  }

  #takeWord() {
    const word = wordInSentence(this.field.value);
    this.replay = replayOn(this.learned, word);
    this.#draw(word);
    if (this.calm.matches) this.#finish();
    else this.#play(REST);
  }

  /** Let the merges pass, one after another.
      @param {number} wait */
  #play(wait) {
    clearTimeout(this.timer);
    if (this.calm.matches) return this.#finish();
    this.#show(0);
    const next = () => {
      if (this.at >= this.learned.nMerges) return this.#finish();
      this.#show(this.at + 1);
      this.timer = setTimeout(next, this.replay.fired.includes(this.at) ? FIRED : PASSED);
    };
    this.timer = setTimeout(next, wait);
  }

  #finish() {
    this.#show(this.learned.nMerges + 1);
    const { count, endings } = endOfReplay(this.learned, this.replay);
    this.end.textContent = "";
    if (count) addPart(this.end, "b", "", count);
    let said = "";
    for (const ending of endings) {
      const { before, end } = joints(ending);
      this.end.append(" ");
      ending.letters.forEach((letter, i) => {
        this.end.append(before[i]);
        drawToken(addPart(this.end, "bdi", "letter"), letter);
      });
      this.end.append(end + ending.rest);
      said += ` ${ending.letters.map((letter, i) => before[i] + spokenToken(letter)).join("")}${end}${ending.rest}`;
    }
    const tokens = this.replay.left.map(({ id }) => spokenToken(tokenOf(this.learned.run, id))).join(", ");
    this.live.textContent = count ? `${count.slice(0, -1)}: ${tokens}.${said}` : said.trim();
    for (const [i, row] of [...this.list.children].entries()) {
      find(row, ".unseen-text", HTMLElement).textContent = spokenMerge(this.learned.run, i + 1, this.replay.fired.includes(i + 1));
    }
  }

  // --- the word that falls -----------------------------------------------------------------------

  /** Make the tiles and lines of the word; where they stand is up to #lay.
      @param {string} word */
  #draw(word) {
    this.end.textContent = "";
    this.fall.textContent = "";
    this.fall.dir = findDirection(word) || "ltr";
    this.parts = this.replay.fallen.map((symbol) => {
      const line = addPart(this.fall, "i", "line");
      const tile = this.#tile(symbol.id, Infinity);
      tile.classList.add("fallen");
      this.fall.append(tile);
      const isLeft = symbol.until > this.learned.nMerges;
      const last = isLeft ? this.#tile(symbol.id, Infinity) : null;
      if (last) {
        last.classList.add("fallen");
        this.fall.append(last);
      }
      return { symbol, tile, line, last };
    });
    this.lead = addPart(this.fall, "i", "lead-line");
    this.cutLines = this.replay.cuts.map(() => addPart(this.fall, "i", "word-cut"));
    this.#lay();
  }

  #lay() {
    const { clientWidth } = this.fall;
    if (!clientWidth) return;
    const cell = Math.min(MAX_CELL, clientWidth / Math.max(1, this.replay.length));
    this.cell = cell;
    // A tile may run the other way than the word, as a space does.
    const side = this.fall.dir === "rtl" ? "right" : "left";
    this.root.style.setProperty("--letters", cell < 20 ? "12px" : "15px");
    const rows = this.phone.matches ? this.replay.fired.length : this.learned.nMerges;
    this.fall.style.height = `${TOP + rows * ROW + 10 + ROW}px`;
    for (const { symbol, tile, last } of this.parts) {
      for (const [part, top] of /** @type {[HTMLElement | null, number][]} */ ([[tile, this.#top(symbol.from)], [last, this.#top(this.learned.nMerges + 1)]])) {
        if (!part) continue;
        part.style[side] = `${symbol.start * cell}px`;
        part.style.width = `${symbol.length * cell - 3}px`;
        part.style.top = `${top}px`;
      }
    }
    this.cutLines.forEach((line, i) => (line.style.insetInlineStart = `${this.replay.cuts[i] * cell - 2.5}px`));
    this.#show(this.at);
  }

  /** Return how far down a merge is; 0 for the letters.
      @param {number} merge */
  #top(merge) {
    if (merge === 0) return 0;
    const { fired } = this.replay;
    const rows = this.phone.matches ? fired.length : this.learned.nMerges;
    if (merge > this.learned.nMerges) return TOP + rows * ROW + 10;
    return TOP + ((this.phone.matches ? fired.indexOf(merge) + 1 : merge) - 1) * ROW;
  }

  /** Show the word after a number of merges; one more shows its end.
      @param {number} at */
  #show(at) {
    this.at = at;
    const { fired } = this.replay;
    const latest = fired.findLast((merge) => merge <= at) ?? 0;
    [...this.list.children].forEach((row, i) => {
      const hasFired = fired.includes(i + 1) && i + 1 <= at;
      row.classList.toggle("fired", hasFired);
      row.classList.toggle("latest", hasFired && i + 1 === latest);
    });
    for (const { symbol, tile, line, last } of this.parts) {
      tile.classList.toggle("shown", symbol.from <= at);
      tile.classList.toggle("latest", symbol.from > 0 && symbol.from === latest);
      last?.classList.toggle("shown", at > this.learned.nMerges);
      const top = this.#top(symbol.from) + 24;
      // Between merges that fire, the line on a phone ends at the last row that is there.
      const reached = symbol.until <= at ? symbol.until : at;
      const bottom = reached > symbol.from ? this.#top(this.phone.matches && reached <= this.learned.nMerges && !fired.includes(reached) ? latest : reached) : 0;
      line.style.top = `${top}px`;
      line.style.height = `${Math.max(0, bottom - top)}px`;
      line.style.insetInlineStart = `${(symbol.start + symbol.length / 2) * this.cell - 2}px`;
    }
    const made = this.parts.find(({ symbol }) => symbol.from === latest && latest > 0);
    this.lead.hidden = !made || this.phone.matches;
    if (!made) return;
    this.lead.style.top = `${this.#top(latest) + 11}px`;
    const before = this.fall.dir === "rtl" ? this.fall.clientWidth - (made.symbol.start + made.symbol.length) * this.cell : made.symbol.start * this.cell;
    this.lead.style.width = `${before + 30}px`;
  }
}
