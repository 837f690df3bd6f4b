// How far to go, as it is drawn: two ribbons, and a chart whose x axis is the slider.

import { colourSlot } from "../shared/colours.js";
import { addPart, find } from "../shared/elements.js";
import { counted, grouped } from "../shared/numbers.js";
import { Ribbon } from "../shared/ribbon.js";
import { inSlices } from "../shared/slices.js";
import { bytesPerToken, learnFar, sizeSentence, spokenFar, splitOwn, whyNotOwn } from "./far.js";

/** @import { Carried } from "../shared/carried.js"
    @import { Far, FarText } from "./far.js" */

const HEIGHT = 180; // px of the chart, which grid lines divide
const ROWS_OF_TABLE = 10;
const MIN_GAP = 36; // px that its name needs
// The shares of all merges up to which, and from which, there is room on one side only.
const EARLY = 0.2;
const LATE = 0.8;

export class FarScene {
  /** @param {HTMLElement} root
      @param {{ seen: string, unseen: string }} sample */
  constructor(root, sample) {
    this.root = root;
    this.sample = sample;
    this.seen = new Ribbon(find(root, ".seen", HTMLElement));
    this.unseen = new Ribbon(find(root, ".unseen", HTMLElement));
    this.slider = find(root, ".slider", HTMLInputElement);
    this.plot = find(root, ".plot", HTMLElement);
    this.table = find(root, "tbody", HTMLElement);
    /** @type {Far | null} */
    this.far = null;
    this.text = "";
    this.most = 2; // bytes per token at the top of the chart
    this.ending = new AbortController();
    this.work = new AbortController();
    this.slider.addEventListener("input", () => this.#show(Number(this.slider.value)), { signal: this.ending.signal });
  }

  /** @param {Carried} sentence */
  async take({ text }) {
    const own = splitOwn(text);
    const { seen, unseen } = own ?? this.sample;
    if (!own) find(this.root, ".why-not", HTMLElement).textContent = whyNotOwn(text);
    if (seen === this.text) return;
    this.text = seen;
    this.work.abort();
    this.work = new AbortController();
    const far = await inSlices(learnFar(seen, unseen), this.work.signal);
    if (far) await inSlices(this.#draw(far, Boolean(own)), this.work.signal);
  }

  /** Draw what was learned; yields between its parts.
      @param {Far} far
      @param {boolean} isOwn
      @returns {Generator<undefined, boolean>} */
  *#draw(far, isOwn) {
    this.far = far;
    find(this.root, ".stands-in", HTMLElement).hidden = isOwn;
    const findSlot = (/** @type {{ merge: number }} */ { merge }) => colourSlot(255 + merge);
    for (const [ribbon, text] of /** @type {[Ribbon, FarText][]} */ ([[this.seen, far.seen], [this.unseen, far.unseen]])) {
      ribbon.step = far.nMerges;
      ribbon.setText({ ...text, findSlot });
      yield;
    }
    this.slider.max = String(far.nMerges);
    this.slider.disabled = false;
    this.#drawPlot(far);
    yield;
    this.#fillTable(far);
    yield;
    this.#show(far.nMerges);
    return true;
  }

  destroy() {
    this.ending.abort();
    this.work.abort();
    this.seen.destroy();
    this.unseen.destroy();
  }

  /** @param {number} step */
  #show(step) {
    const { far, slider } = this;
    if (!far) return;
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", spokenFar(far, step));
    const share = far.nMerges ? step / far.nMerges : 0;
    this.root.style.setProperty("--done", String(share));
    for (const [ribbon, name, text] of /** @type {[Ribbon, string, FarText][]} */ ([[this.seen, "seen", far.seen], [this.unseen, "unseen", far.unseen]])) {
      ribbon.show(step);
      const size = `${counted(text.bytes.length, "byte")}`;
      const tokens = counted(text.counts[step], "token");
      ribbon.label = `${name === "seen" ? "Seen in training" : "Never seen"}: ${size}, ${tokens}`;
      find(this.root, `.${name}-bytes`, HTMLElement).textContent = size;
      find(this.root, `.${name}-tokens`, HTMLElement).textContent = grouped(text.counts[step]);
      const label = find(this.plot, `.${name}-label`, HTMLElement);
      find(label, "b", HTMLElement).textContent = bytesPerToken(text, step).toFixed(2);
      for (const part of [label, find(this.plot, `.${name}-dot`, HTMLElement)]) part.style.top = `${this.#y(bytesPerToken(text, step))}px`;
    }
    find(this.root, ".merges", HTMLElement).textContent = grouped(step);
    find(this.root, ".how-large", HTMLElement).textContent = sizeSentence(far, step);
    this.plot.classList.toggle("early", share < EARLY);
    this.plot.classList.toggle("late", share >= LATE);
    this.plot.classList.toggle("last", step === far.nMerges);
    const [top, bottom] = [far.seen, far.unseen].map((text) => this.#y(bytesPerToken(text, step)));
    const gap = find(this.plot, ".gap", HTMLElement);
    // Low, because the upper curve rises: a name on the left of the step would cross it.
    gap.style.top = `${top + (bottom - top) * (share >= LATE ? 0.6 : 0.5)}px`;
    gap.hidden = bottom - top < MIN_GAP;
    this.#drawCurves(far, step);
  }

  /** Return how far below the top of the chart a number of bytes per token is.
      @param {number} value */
  #y(value) {
    return HEIGHT * (1 - (value - 1) / (this.most - 1));
  }

  /** @param {Far} far */
  #drawPlot(far) {
    const highest = bytesPerToken(far.seen, far.nMerges);
    this.most = Math.max(2, Math.ceil(highest));
    const grid = find(this.plot, ".grid", HTMLElement);
    grid.textContent = "";
    const every = Math.ceil(this.most / 5);
    for (let value = 1; value <= this.most; value += every) {
      const line = addPart(grid, "span", "", String(value));
      line.style.top = `${this.#y(value)}px`;
    }
    const once = find(this.plot, ".once", HTMLElement);
    const share = far.onceFrom / (far.nMerges || 1);
    once.hidden = far.onceFrom === 0 || far.onceFrom === far.nMerges;
    once.style.left = `${100 * share}%`;
    once.classList.toggle("before", share > 0.5);
    this.#path(".all-seen", far.seen, far.nMerges, far);
    this.#path(".all-unseen", far.unseen, far.nMerges, far);
  }

  /** @param {Far} far
      @param {number} step */
  #drawCurves(far, step) {
    const seen = this.#path(".done-seen", far.seen, step, far);
    const unseen = this.#path(".done-unseen", far.unseen, step, far);
    const back = unseen.slice(1).split("L").reverse().join("L");
    this.#find(".between").setAttribute("d", `${seen}L${back}z`);
  }

  /** Draw a curve up to a step, a merge 1 wide; return its path.
      @param {string} name
      @param {FarText} text
      @param {number} step
      @param {Far} far */
  #path(name, text, step, { nMerges }) {
    const points = Array.from({ length: step + 1 }, (_, i) => `${i} ${this.#y(bytesPerToken(text, i)).toFixed(1)}`);
    const path = `M${points.join("L")}`;
    this.#find("svg").setAttribute("viewBox", `0 0 ${nMerges || 1} ${HEIGHT}`);
    this.#find(name).setAttribute("d", path);
    return path;
  }

  /** @param {string} selector */
  #find(selector) {
    const found = this.plot.querySelector(selector);
    if (!found) throw new Error(`Nothing matches ${selector}.`);
    return found;
  }

  /** @param {Far} far */
  #fillTable(far) {
    this.table.textContent = "";
    const steps = new Set([far.onceFrom, far.nMerges]);
    for (let row = 0; row < ROWS_OF_TABLE; row++) steps.add(Math.round((row * far.nMerges) / ROWS_OF_TABLE));
    for (const step of [...steps].sort((one, other) => one - other)) {
      const row = addPart(this.table, "tr", "");
      addPart(row, "th", "", grouped(step)).scope = "row";
      for (const text of [far.seen, far.unseen]) {
        addPart(row, "td", "", grouped(text.counts[step]));
        addPart(row, "td", "", bytesPerToken(text, step).toFixed(2));
      }
    }
  }
}
