// The text is cut first, as it is drawn: a knife, and a row for each sentence.

import { findDirection } from "../shared/characters.js";
import { browserClock } from "../shared/clock.js";
import { drawToken } from "../shared/token_drawing.js";
import { addPart, find } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { inSlices, nextPicture } from "../shared/slices.js";
import { CUT_NAMES, CUTS, learnCut, seamSentence, spansWords, spokenRow } from "./cut.js";
import { guessLanguage } from "../shared/languages.js";
import { roll } from "./roll.js";

/** @import { Carried } from "../shared/carried.js"
    @import { CutRow } from "./cut.js"
    @import { CutName } from "./cuts.js" */

/** @typedef {{ name: string, lang: string, text: string }} Sentence */

const EXPLAINED = {
  gpt2: "For GPT-2, vowel signs and tone marks are punctuation: it cuts them off.",
  o200k: "For GPT-4o, vowel signs and tone marks are letters: words stay whole.",
};
const MAX_LENGTH = 300; // characters of the visitor's sentence
const REST_BEFORE_CUT = 900; // ms in view before GPT-2's cut is shown
const GAPS = 260; // ms until they are open
const EASE = "cubic-bezier(.2, 0, 0, 1)";
const MARK = /^\p{M}+$/u;
const MAX_BAR_CHARACTERS = 49; // characters of the widest bar
const BAR_WIDTH = 100; // px

export class CutScene {
  /** @param {HTMLElement} root
      @param {Sentence[]} sentences */
  constructor(root, sentences) {
    this.root = root;
    /** @type {CutName} */
    this.cut = "none";
    this.isChosen = false;
    this.live = find(root, ".spoken", HTMLElement);
    const list = find(root, ".rows", HTMLElement);
    this.own = new RowView(list, { name: "Your sentence", lang: "", text: "" });
    this.rows = [this.own, ...sentences.map((sentence) => new RowView(list, sentence))];
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.ending = new AbortController();
    this.work = new AbortController();
    this.turning = new AbortController();
    this.reserving = new AbortController();
    this.timer = 0;
    const { signal } = this.ending;
    for (const radio of this.#radios()) radio.addEventListener("change", () => this.#choose(/** @type {CutName} */ (radio.value)), { signal });
    this.observer = new IntersectionObserver(([{ isIntersecting }]) => {
      clearTimeout(this.timer);
      if (isIntersecting && !this.isChosen) this.timer = setTimeout(() => this.#choose("gpt2"), REST_BEFORE_CUT);
    }, { threshold: 0.6 });
    this.sizes = new ResizeObserver(() => this.#reserve());
    this.sizes.observe(list);
    this.width = 0;
    this.isReady = this.#learn(this.rows.slice(1)).then(() => this.observer.observe(find(root, ".knife", HTMLElement)));
  }

  /** @param {Carried} sentence */
  async take({ text }) {
    const own = [...text.slice(0, 2 * MAX_LENGTH)].slice(0, MAX_LENGTH).join("").trim();
    await this.isReady;
    if (own === this.own.sentence.text && this.own.isLearned) return;
    this.own.setText(own);
    this.work.abort();
    this.work = new AbortController();
    await this.#learn([this.own], this.work.signal);
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.sizes.disconnect();
    for (const each of [this.ending, this.work, this.turning, this.reserving]) each.abort();
  }

  #radios() {
    return /** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll("input[type=radio]"));
  }

  /** @param {RowView[]} rows */
  async #learn(rows, signal = this.ending.signal) {
    for (const row of rows) if (!(await inSlices(row.learn(), signal))) return;
    await inSlices(this.#showAll(rows, 0), signal);
    await this.#reserve(true);
    this.#explain();
  }

  /** Show rows under the cut that is chosen when each has its turn; yields between them.
      @param {RowView[]} rows
      @param {number} duration
      @returns {Generator<undefined, boolean>} */
  *#showAll(rows, duration) {
    for (const row of rows) {
      row.show(this.cut, duration);
      yield;
    }
    return true;
  }

  /** @param {CutName} cut */
  #choose(cut) {
    clearTimeout(this.timer);
    this.isChosen = true;
    this.cut = cut;
    for (const radio of this.#radios()) radio.checked = radio.value === cut;
    this.turning.abort();
    this.turning = new AbortController();
    this.#turn(this.calm.matches ? 0 : GAPS, this.turning.signal);
    this.#explain();
    const counts = this.rows.filter(({ isLearned }) => isLearned).map((row) => `${row.sentence.name} ${row.rowOf(cut).nTokens}`);
    this.live.textContent = `${CUT_NAMES[cut]}, tokens: ${counts.join(", ")}.`;
  }

  /** Draw the rows under the chosen cut: together, or as many in a picture as a slow processor can lay out. The press
      is drawn before them.
      @param {number} duration
      @param {AbortSignal} signal */
  async #turn(duration, signal) {
    await nextPicture();
    await inSlices(this.#showAll(this.rows, duration), signal, browserClock, nextPicture);
  }

  #explain() {
    const line = find(this.root, ".explained", HTMLElement);
    line.textContent = "";
    if (this.cut !== "none") return line.append(EXPLAINED[this.cut]);
    const longest = this.rows.filter(({ isLearned }) => isLearned).map((row) => row.rowOf("none").longest);
    const token = longest.find(spansWords);
    line.append("Fewest tokens. ");
    if (!token) return;
    line.append("But ");
    const shown = addPart(line, "bdi", "piece small");
    drawToken(shown, token);
    line.append(" fits one sentence alone.");
  }

  /** Keep each row as high as it is under any cut, at this width.
      @param {boolean} [always] */
  async #reserve(always = false) {
    const { clientWidth } = this.root;
    if (clientWidth === this.width && !always) return;
    this.width = clientWidth;
    this.reserving.abort();
    this.reserving = new AbortController();
    await inSlices(this.#reserveAll(), this.reserving.signal);
  }

  /** @returns {Generator<undefined, boolean>} */
  *#reserveAll() {
    for (const row of this.rows.filter(({ isLearned }) => isLearned)) {
      row.reserve(this.cut);
      yield;
    }
    return true;
  }
}

class RowView {
  /** @param {HTMLElement} list
      @param {Sentence} sentence */
  constructor(list, sentence) {
    this.sentence = sentence;
    this.item = addPart(list, "li", "row");
    this.spoken = addPart(this.item, "p", "unseen-text");
    const name = addPart(this.item, "p", "name", sentence.name);
    this.pieces = addPart(this.item, "div", "pieces");
    this.label = addPart(this.item, "p", "label");
    this.size = addPart(this.item, "div", "size");
    this.count = addPart(this.size, "b", "");
    this.bar = addPart(this.size, "span", "track");
    this.fill = addPart(this.bar, "i", "");
    this.before = addPart(this.bar, "em", "");
    this.all = addPart(this.size, "span", "all");
    for (const part of [name, this.pieces, this.label, this.size]) part.setAttribute("aria-hidden", "true");
    /** @type {Record<CutName, CutRow> | null} */
    this.cuts = null;
    /** @type {string[]} */
    this.drawn = [];
    this.setText(sentence.text);
  }

  get isLearned() {
    return this.cuts !== null;
  }

  /** @param {string} text */
  setText(text) {
    this.sentence = { ...this.sentence, text, lang: this.sentence.name === "Your sentence" ? guessLanguage(text) : this.sentence.lang };
    this.item.hidden = !text;
    this.cuts = null;
    this.drawn = [];
    this.pieces.lang = this.label.lang = this.sentence.lang;
    this.pieces.dir = findDirection(text) || "ltr";
  }

  /** @returns {Generator<undefined, boolean>} */
  *learn() {
    const { text } = this.sentence;
    const [none, gpt2, o200k] = [yield* learnCut(text, "none"), yield* learnCut(text, "gpt2"), yield* learnCut(text, "o200k")];
    this.cuts = { none, gpt2, o200k };
    const { nCharacters } = none;
    this.bar.style.width = `${Math.min(1, nCharacters / MAX_BAR_CHARACTERS) * BAR_WIDTH}px`;
    this.all.textContent = grouped(nCharacters);
    return true;
  }

  /** @param {CutName} cut */
  rowOf(cut) {
    if (!this.cuts) throw new Error("The row has not been learned yet.");
    return this.cuts[cut];
  }

  /** Show the row under a cut; what the cut does not change stays still.
      @param {CutName} cut
      @param {number} duration Milliseconds until the gaps are open. */
  show(cut, duration) {
    if (!this.cuts) return;
    const row = this.cuts[cut];
    const old = this.drawn;
    if (old.join("\n") !== row.pieces.join("\n")) {
      this.drawPieces(cut);
      if (duration) this.#open(old, duration);
    }
    const said = seamSentence(this.cuts, cut);
    this.item.style.setProperty("--wait", `${duration}ms`);
    this.label.className = `label${said?.isSeam ? " seam-label" : ""}`;
    this.label.textContent = "";
    if (said) {
      writePair(this.label, said.pair);
      this.label.append(said.rest);
    }
    roll(this.count, row.nTokens, duration);
    this.fill.style.width = `${(100 * row.nTokens) / row.nCharacters}%`;
    const { nTokens } = this.cuts.gpt2;
    this.before.hidden = cut !== "o200k" || nTokens === row.nTokens;
    this.before.style.insetInlineStart = `${(100 * nTokens) / row.nCharacters}%`;
    this.#speak(cut, said);
  }

  /** Keep the height that the row has under any cut.
      @param {CutName} cut The one that is shown. */
  reserve(cut) {
    this.pieces.style.minHeight = "";
    const heights = CUTS.filter((one) => one !== cut).concat(cut).map((one) => {
      this.drawPieces(one);
      return this.pieces.offsetHeight;
    });
    this.pieces.style.minHeight = `${Math.max(...heights)}px`;
  }

  /** @param {CutName} cut */
  drawPieces(cut) {
    const { pieces, seam } = this.rowOf(cut);
    this.drawn = pieces;
    this.pieces.textContent = "";
    pieces.forEach((piece, i) => {
      if (seam?.pieces.includes(i)) addPart(this.pieces, "span", "seam");
      const box = addPart(this.pieces, "bdi", `piece${MARK.test(piece.trim()) ? " cut-off" : ""}`);
      drawToken(box, piece);
    });
  }

  /** Open the gaps that are new.
      @param {string[]} old
      @param {number} duration */
  #open(old, duration) {
    const known = new Set(endsOf(old));
    const ends = endsOf(this.drawn);
    this.pieces.querySelectorAll(".piece").forEach((piece, i) => {
      const isNew = i > 0 && !known.has(ends[i - 1]);
      if (isNew) piece.animate([{ marginInlineStart: "-6px", paddingInline: "0" }, {}], { duration, easing: EASE });
      // A gap that closed: what is one piece now.
      else if (!known.has(ends[i])) piece.animate([{ paddingInline: "10px" }, {}], { duration, easing: EASE });
    });
  }

  /** @param {CutName} cut
      @param {ReturnType<typeof seamSentence>} said */
  #speak(cut, said) {
    const { name, lang, text } = this.sentence;
    this.spoken.textContent = `${name}, `;
    addPart(this.spoken, "span", "", text).lang = lang;
    this.spoken.append(`: ${spokenRow(this.rowOf(cut))}.`);
    if (!said) return;
    this.spoken.append(" ");
    addPart(this.spoken, "span", "", said.pair.join(" + ")).lang = lang;
    this.spoken.append(`${said.rest}.`);
  }
}

/** Write two characters, a mark with the circle that stands for any letter.
    @param {HTMLElement} parent
    @param {[string, string]} pair */
function writePair(parent, pair) {
  pair.forEach((character, i) => {
    if (i) parent.append(" + ");
    drawToken(addPart(parent, "bdi", ""), character);
  });
}

/** Return where pieces end, in UTF-16 units.
    @param {string[]} pieces */
function endsOf(pieces) {
  let end = 0;
  return pieces.map((piece) => (end += piece.length));
}
