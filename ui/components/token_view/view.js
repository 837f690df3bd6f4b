// Token boundaries: a text, its tokens' ids, and the token under the pointer.

import { spokenToken } from "../shared/characters.js";
import { addButton, addPart, closest } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { counted, grouped } from "../shared/numbers.js";
import { addHelp } from "../shared/terms.js";
import { copyText } from "./clipboard.js";
import { drawDetails } from "./details.js";
import { DetailsPanel } from "./details_panel.js";
import { knownIds, pythonCode, tokenList } from "./exports.js";
import { costliestWord, countTokens, listFigures, listRemarks, unknownReason } from "./facts.js";
import { lineNeighbour } from "./line_neighbour.js";
import { hasSpelling, describeLegend } from "./marks.js";
import { TokenPane } from "./pane.js";
import { blockCuts, cutCharacters, readTokens } from "./reading.js";

/** @import { Component } from "../shared/component.js"
    @import { Term } from "../shared/terms.js"
    @import { PackedTokens } from "./reading.js" */

/** @typedef {object} ViewData
    @property {string} text
    @property {PackedTokens} packed
    @property {string} stamp
    @property {number | null} chosen
    @property {string} name
    @property {string} special_note
    @property {number | null} [unsettled] The first token that text added to a prompt may change.
    @property {string} [end_note] Says so.
    @property {string[]} code
    @property {string} code_options
    @property {Term[]} border_terms Explained next to the switch for borders.
    @property {Term[]} mark_terms Explained next to the switch for the file's spelling. */

const MAX_IDS_SHOWN = 2000;
const MAX_CHARACTERS = 40;

/** @type {WeakMap<ShadowRoot, TokenView>} */
const views = new WeakMap();

/** @param {Pick<Component<ViewData>, "data" | "parentElement">} component */
export default function mountView({ data, parentElement }) {
  const view = views.get(parentElement);
  if (view) view.show(data);
  else views.set(parentElement, new TokenView(parentElement, data));
  return onLeaving(parentElement, () => {
    views.get(parentElement)?.destroy();
    views.delete(parentElement);
  });
}

class TokenView {
  /** @param {ShadowRoot} parent
      @param {ViewData} data */
  constructor(parent, data) {
    this.root = addPart(parent, "div", "view");
    this.marks = addPart(this.root, "style", "");
    this.answer = addPart(this.root, "p", "answer");
    const top = addPart(this.root, "div", "top");
    this.figures = addPart(top, "p", "figures");
    const switches = addPart(top, "div", "switches");
    const columns = addPart(this.root, "div", "columns");
    const reading = addPart(columns, "div", "reading");
    this.scroller = addPart(reading, "div", "scroller");
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "group");
    this.#addSwitch(switches, "Glyphs for white space", true, (on) => this.scroller.classList.toggle("no-glyphs", !on));
    this.spelling = addPart(switches, "span", "with-help");
    this.#addSwitch(this.spelling, "As its file writes tokens", false, (on) => this.scroller.classList.toggle("spelled", on));
    addHelp(this.spelling, data.mark_terms);
    const borders = addPart(switches, "span", "with-help");
    this.#addSwitch(borders, "Pre-token borders", false, (on) => this.scroller.classList.toggle("borders", on));
    addHelp(borders, data.border_terms);
    this.remarks = addPart(reading, "p", "aside remarks");
    this.endNote = addPart(reading, "p", "aside end-note");
    this.ids = addPart(reading, "div", "ids");
    this.ids.tabIndex = 0;
    this.ids.setAttribute("role", "group");
    this.ids.setAttribute("aria-label", "Token ids");
    this.more = addPart(reading, "p", "aside");
    this.actions = addPart(reading, "div", "actions");
    this.#addAction("Copy ids", () => JSON.stringify(knownIds(this.tokens)));
    this.#addAction("Copy tokens", () => JSON.stringify(tokenList(this.tokens)));
    this.#addAction("Copy as Python", () => pythonCode(this.data, this.tokens));
    this.announcement = addPart(reading, "span", "visually-hidden");
    this.announcement.setAttribute("aria-live", "polite");
    this.copied = addPart(this.actions, "span", "aside");
    this.copied.setAttribute("role", "status");
    this.ending = new AbortController();
    this.details = new DetailsPanel(columns, this.root, this.ending.signal);
    this.data = data;
    this.tokens = readTokens(data.text, data.packed, data.unsettled);
    this.cuts = cutCharacters(this.tokens);
    this.counts = countTokens(this.tokens);
    this.pane = this.#makePane();
    /** @type {number | null} */
    this.pointed = null;
    this.chosen = data.chosen;
    this.#listen();
    this.#draw();
  }

  /** @param {ViewData} data */
  show(data) {
    if (this.data === data) return;
    const scrollTop = this.data.text === data.text ? this.scroller.scrollTop : 0;
    this.data = data;
    this.pane.destroy();
    this.tokens = readTokens(data.text, data.packed, data.unsettled);
    this.cuts = cutCharacters(this.tokens);
    this.counts = countTokens(this.tokens);
    this.pane = this.#makePane();
    this.scroller.scrollTop = scrollTop;
    this.pointed = null;
    this.chosen = data.chosen;
    this.#draw();
  }

  destroy() {
    this.ending.abort();
    this.pane.destroy();
    this.root.remove();
  }

  #makePane() {
    const cuts = blockCuts([this.tokens]).map(([first]) => first);
    return new TokenPane(this.scroller, this.tokens, cuts, {
      onPoint: (index) => this.#point(index),
      onChoose: (index) => this.#choose(index),
    });
  }

  #listen() {
    this.scroller.addEventListener("keydown", (event) => this.#onKey(event));
    this.ids.addEventListener("pointerover", (event) => this.#point(indexAt(event)));
    this.ids.addEventListener("pointerleave", () => this.#point(null));
    this.ids.addEventListener("click", (event) => {
      const index = indexAt(event);
      if (index === null) return;
      this.#choose(index);
      this.pane.reveal(index);
    });
  }

  #draw() {
    this.#drawFigures();
    this.#drawIds();
    this.#mark();
    this.scroller.setAttribute(
      "aria-label",
      `${counted(this.counts.tokens, "token")} by ${this.data.name}. Arrow keys go from token to token.`,
    );
    if (!this.data.text) addPart(this.scroller, "p", "empty", "No text yet.");
  }

  /** @param {HTMLElement} parent
      @param {string} label
      @param {boolean} on
      @param {(on: boolean) => void} apply */
  #addSwitch(parent, label, on, apply) {
    const draw = () => {
      button.setAttribute("aria-checked", String(on));
      apply(on);
    };
    const button = addButton(parent, "switch", undefined, () => {
      on = !on;
      draw();
    });
    button.setAttribute("role", "switch");
    addPart(button, "i", "");
    addPart(button, "span", "", label);
    draw();
  }

  /** @param {string} label
      @param {() => string} makeText */
  #addAction(label, makeText) {
    addButton(this.actions, "", label, async () => {
      const done = await copyText(makeText());
      this.copied.textContent = done ? "Copied." : "This browser blocked copying.";
    });
  }

  /** Say how many pieces the text has, and what one word costs. */
  #drawAnswer() {
    this.answer.textContent = "";
    if (!this.tokens.n) return;
    this.answer.append(`${this.data.name} reads `);
    addPart(this.answer, "span", "", counted(this.counts.tokens, "piece"));
    const most = costliestWord(this.tokens);
    if (most && most.cost > 1) {
      this.answer.append("; ");
      const characters = [...most.word];
      addPart(this.answer, "bdi", "", characters.slice(0, MAX_CHARACTERS).join("") + (characters.length > MAX_CHARACTERS ? "…" : ""));
      this.answer.append(` costs ${grouped(most.cost)}`);
    }
    this.answer.append(".");
  }

  #drawFigures() {
    this.#drawAnswer();
    this.figures.textContent = "";
    for (const [figure, unit] of listFigures(this.counts)) {
      const part = addPart(this.figures, "span", "");
      addPart(part, "b", "", figure);
      part.append(` ${unit}`);
    }
    this.remarks.textContent = listRemarks(this.counts, this.cuts.length, this.data.special_note, this.tokens, describeLegend(this.tokens));
    this.endNote.textContent = this.data.end_note ?? "";
    this.endNote.hidden = !this.data.end_note;
    this.spelling.hidden = !hasSpelling(this.tokens.about);
    this.copied.textContent = "";
  }

  #drawIds() {
    const page = document.createDocumentFragment();
    let shown = 0;
    for (let i = 0; i < this.tokens.n && shown < MAX_IDS_SHOWN; i++) {
      if (this.tokens.ids[i] < 0) continue;
      const item = addPart(page, "span", "", String(this.tokens.ids[i]));
      item.dataset.i = String(i);
      page.append(" ");
      shown++;
    }
    this.ids.replaceChildren(page);
    const more = this.counts.tokens - shown;
    this.more.textContent = more > 0 ? `and ${grouped(more)} more. “Copy ids” copies all.` : "";
    this.more.hidden = more <= 0;
    this.ids.hidden = shown === 0;
  }

  /** @param {number | null} index */
  #point(index) {
    if (index === this.pointed) return;
    this.pointed = index;
    this.#mark();
  }

  /** @param {number} index */
  #choose(index) {
    const { stamp } = this.data;
    document.dispatchEvent(new CustomEvent("bpe-token-chosen", { detail: { stamp, index } }));
    this.chosen = index;
    this.pointed = null;
    this.#mark();
    this.details.showAt(this.pane.element(index));
    const known = this.tokens.about.get(this.tokens.ids[index]);
    this.announcement.textContent = known
      ? `Token ${this.tokens.order[index]}, ${spokenToken(known.token)}, id ${known.id}`
      : unknownReason(this.tokens, index);
  }

  /** Highlight equal tokens with one style rule, so that tokens drawn later match too. */
  #mark() {
    const index = this.pointed ?? this.chosen;
    const rules = [];
    if (index !== null && this.tokens.n) {
      const id = this.tokens.ids[index];
      if (id >= 0) {
        rules.push(`.token[data-id="${id}"]:not(.special, [data-i="${index}"]) { box-shadow: inset 0 -3px 0 var(--primary); }`);
      }
      rules.push(`.token[data-i="${index}"] { position: relative; z-index: 3; outline: 2px solid var(--primary); border-radius: 4px; }`);
      rules.push(`.ids [data-i="${index}"] { color: var(--primary); font-weight: 700; border-color: var(--primary); }`);
    }
    this.marks.textContent = rules.join("\n");
    drawDetails(this.details.content, this.tokens, this.cuts, index);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "a") {
      // Select only the text, not the whole page.
      event.preventDefault();
      this.pane.selection.selectAll();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !this.tokens.n) return;
    event.stopPropagation();
    const index = this.#goal(event.key);
    if (index === null) return;
    event.preventDefault();
    this.pane.reveal(index);
    this.#choose(index);
  }

  /** Return the token that a key moves to; null for other keys.
      @param {string} key */
  #goal(key) {
    const last = this.tokens.n - 1;
    const at = this.chosen ?? 0;
    const getBox = (/** @type {number} */ i) => this.pane.element(i)?.getBoundingClientRect();
    switch (key) {
      case "ArrowRight": return Math.min(at + 1, last);
      case "ArrowLeft": return Math.max(at - 1, 0);
      case "ArrowDown": return lineNeighbour(at, 1, this.tokens.n, getBox);
      case "ArrowUp": return lineNeighbour(at, -1, this.tokens.n, getBox);
      case "Home": return 0;
      case "End": return last;
      default: return null;
    }
  }
}

/** @param {Event} event */
function indexAt(event) {
  const item = closest(event, "[data-i]");
  return item ? Number(item.dataset.i) : null;
}
