// Compare: one passage under several tokenizers. Only disagreements are coloured; the panes scroll and
// highlight together.

import { SUPERWORD_LEGEND } from "../shared/characters.js";
import { seriesColour } from "../shared/colours.js";
import { addButton, addPart } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { counted, grouped } from "../shared/numbers.js";
import { drawToken, makeTile } from "../shared/token_drawing.js";
import { layTiles } from "../shared/word_tiles.js";
import { hasSpelling } from "./marks.js";
import { TokenPane } from "./pane.js";
import { blockCuts, readTokens } from "./reading.js";
import { findNeighbour, partsOfSpan, readSpans, tokenAtByte } from "./spans.js";

/** @import { Component } from "../shared/component.js"
    @import { PackedTokens, Tokens } from "./reading.js"
    @import { PackedSpans, Span } from "./spans.js" */

/** @typedef {{ name: string, packed: PackedTokens, n_tokens: number, badge: string, exact: boolean }} Reading */

/** @typedef {{ text: string, readings: Reading[], spans: PackedSpans, source: string }} CompareData */

/** The elements of one tokenizer; `awaited` is the position that another pane scrolled it to.
    @typedef {{ element: HTMLElement, title: HTMLElement, scroller: HTMLElement, awaited: number | null }} Frame */

/** @typedef {Frame & { tokens: Tokens, pane: TokenPane }} Side */

const MAX_TILES = 24;
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];

/** @type {WeakMap<ShadowRoot, TokenComparison>} */
const comparisons = new WeakMap();

/** @param {Pick<Component<CompareData>, "data" | "parentElement">} component */
export default function mountCompare({ data, parentElement }) {
  const comparison = comparisons.get(parentElement) ?? new TokenComparison(parentElement);
  comparisons.set(parentElement, comparison);
  comparison.show(data);
  return onLeaving(parentElement, () => {
    comparison.destroy();
    comparisons.delete(parentElement);
  });
}

class TokenComparison {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {CompareData | null} */
    this.data = null;
    /** @type {Span[]} */
    this.spans = [];
    /** The numbers of the disagreements shown.
        @type {number[]} */
    this.active = [];
    this.focused = -1;
    this.root = addPart(parent, "div", "compare");
    this.marks = addPart(this.root, "style", "");
    const head = addPart(this.root, "div", "head");
    this.title = addPart(head, "h2", "");
    this.source = addPart(head, "p", "aside");
    const filter = addPart(head, "div", "filter");
    filter.setAttribute("role", "group");
    filter.setAttribute("aria-label", "Disagreements shown");
    this.filterAll = addButton(filter, "", undefined, () => this.#setFilter(false));
    this.filterText = addButton(filter, "", undefined, () => this.#setFilter(true));
    this.spelling = addButton(head, "spelling", "As their files write tokens", () => this.#setSpelled(!this.spelled));
    this.spelled = false;
    const steps = addPart(head, "div", "steps");
    this.place = addPart(steps, "span", "");
    this.place.setAttribute("aria-live", "polite");
    this.previous = addButton(steps, "", "‹ Previous", () => this.#go(-1));
    this.next = addButton(steps, "", "Next ›", () => this.#go(1));
    this.panes = addPart(this.root, "div", "panes");
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {Side[]} */
    this.sides = [];
    this.legend = addPart(this.root, "p", "aside legend", SUPERWORD_LEGEND);
    this.current = addPart(this.root, "div", "current");
  }

  /** @param {CompareData} data */
  show(data) {
    if (this.data === data) return;
    this.data = data;
    this.spans = readSpans(data.spans);
    const readings = data.readings.map(({ packed }) => readTokens(data.text, packed));
    const cuts = blockCuts(readings);
    for (const { pane } of this.sides) pane.destroy();
    this.#setFrames(readings.length);
    this.sides = readings.map((tokens, k) => {
      const frame = this.frames[k];
      frame.scroller.scrollTop = 0;
      drawTitle(frame, data.readings[k]);
      const pane = new TokenPane(frame.scroller, tokens, cuts.map((cut) => cut[k]), {
        spans: this.spans,
        onPoint: (index) => this.#point(k, index),
        onSpan: (span) => this.#focus(span, false),
      });
      return Object.assign(frame, { tokens, pane });
    });
    const n = NUMBERS[readings.length] ?? grouped(readings.length);
    this.title.textContent = `One passage, ${n} ${readings.length === 1 ? "reading" : "readings"}`;
    this.marks.textContent = "";
    this.source.textContent = data.source;
    this.spelling.hidden = !readings.some(({ about }) => hasSpelling(about));
    this.legend.hidden = !readings.some(({ superwords }) => superwords.size);
    this.#setSpelled(this.spelled);
    this.#setFilter(this.spans.some((span) => span.hasText));
  }

  destroy() {
    for (const { pane } of this.sides) pane.destroy();
    this.root.remove();
  }

  /** Add or remove frames to match the number of readings; existing frames stay.
      @param {number} n */
  #setFrames(n) {
    for (const { element } of this.frames.splice(n)) element.remove();
    for (let k = this.frames.length; k < n; k++) {
      const element = addPart(this.panes, "div", `pane side-${k} ${seriesColour(k)}`);
      const title = addPart(element, "p", "pane-title");
      const scroller = addPart(element, "div", "scroller");
      scroller.tabIndex = 0;
      scroller.setAttribute("role", "group");
      scroller.addEventListener("scroll", () => this.#follow(this.sides[k]));
      scroller.addEventListener("keydown", (event) => this.#onKey(event));
      this.frames.push({ element, title, scroller, awaited: null });
    }
    this.panes.classList.toggle("many", n > 2);
    this.panes.classList.toggle("strip", n > 3);
    this.current.classList.toggle("strip", n > 3);
    this.panes.style.setProperty("--columns", String(n));
  }

  /** @param {boolean} spelled Whether the running text shows tokens as their files write them. */
  #setSpelled(spelled) {
    this.spelled = spelled;
    this.spelling.setAttribute("aria-pressed", String(spelled));
    this.panes.classList.toggle("spelled", spelled);
  }

  /** @param {boolean} onlyText */
  #setFilter(onlyText) {
    const withText = this.spans.filter((span) => span.hasText).length;
    this.filterAll.textContent = `All ${grouped(this.spans.length)}`;
    this.filterText.textContent = `Words and punctuation ${grouped(withText)}`;
    this.filterAll.setAttribute("aria-pressed", String(!onlyText));
    this.filterText.setAttribute("aria-pressed", String(onlyText));
    this.active = this.spans.map((_, k) => k).filter((k) => !onlyText || this.spans[k].hasText);
    const shown = new Set(this.active);
    const first = this.active[0] ?? -1;
    for (const { pane } of this.sides) pane.showSpans(shown, first);
    this.#focus(first, false);
  }

  /** @param {1 | -1} direction */
  #go(direction) {
    if (this.active.length) this.#focus(findNeighbour(this.active, this.focused, direction), true);
  }

  /** @param {number} span
      @param {boolean} reveal */
  #focus(span, reveal) {
    this.focused = span;
    for (const { pane } of this.sides) pane.focusSpan(span);
    const at = this.active.indexOf(span);
    this.place.textContent = "";
    if (at >= 0) addPart(this.place, "b", "", grouped(at + 1));
    const n = this.active.length;
    this.place.append(at >= 0 ? ` of ${counted(n, "disagreement")}` : "no disagreements");
    this.previous.disabled = this.next.disabled = n === 0;
    this.#drawCurrent(at);
    if (!reveal || at < 0) return;
    for (const side of this.sides) {
      side.pane.reveal(tokenAtByte(side.tokens, this.spans[span].start), { context: true });
      side.awaited = side.scroller.scrollTop;
    }
  }

  /** @param {number} at The place of the disagreement among those shown; -1 for none. */
  #drawCurrent(at) {
    this.current.textContent = "";
    if (at < 0) {
      addPart(this.current, "span", "aside", this.spans.length ? "They differ only in white space." : "All split this passage the same way.");
      return;
    }
    addPart(this.current, "span", "aside", `Disagreement ${grouped(at + 1)}`);
    this.sides.forEach(({ tokens }, k) => {
      const side = addPart(this.current, "span", `side ${seriesColour(k)}`);
      addPart(side, "i", "series-dot");
      addPart(side, "b", "", this.data?.readings[k].name);
      const parts = partsOfSpan(tokens, this.spans[this.focused]);
      const shown = parts.slice(0, MAX_TILES);
      const box = addPart(side, "span", "tiles");
      const tiles = shown.map((part) => ("token" in part ? addTile(box, tokens, part.token) : drawUncovered(box, part.uncovered)));
      layTiles(box, tiles, shown.map((part) => ("token" in part ? writtenAs(tokens, part.token) : part.uncovered)));
      if (parts.length > MAX_TILES) addPart(side, "span", "aside", "…");
    });
  }

  /** Highlight the token under the pointer, and the tokens at the same place in the other readings.
      @param {number} from
      @param {number | null} index */
  #point(from, index) {
    if (index === null) {
      this.marks.textContent = "";
      return;
    }
    const { tokens } = this.sides[from];
    const [start, end] = [tokens.byteAt[index], tokens.byteAt[index + 1]];
    const rules = [`.pane.side-${from} .token[data-i="${index}"] { position: relative; z-index: 3; outline: 2px solid var(--primary); border-radius: 4px; }`];
    this.sides.forEach(({ tokens: other }, k) => {
      if (k === from) return;
      for (let i = tokenAtByte(other, start); i < other.n && other.byteAt[i] < end; i++) {
        rules.push(`.pane.side-${k} .token[data-i="${i}"] { box-shadow: inset 0 -3px 0 var(--primary); }`);
      }
    });
    this.marks.textContent = rules.join("\n");
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    this.#go(event.key === "ArrowRight" ? 1 : -1);
  }

  /** Keep the other panes at the same place of the text: blocks are the same in all.
      @param {Side} leader */
  #follow(leader) {
    const { scroller, pane } = leader;
    if (leader.awaited !== null && Math.abs(scroller.scrollTop - leader.awaited) < 2) {
      leader.awaited = null;
      return;
    }
    const place = pane.place();
    if (!place) return;
    const atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
    for (const follower of this.sides) {
      if (follower === leader || follower.pane.blocks.length !== pane.blocks.length) continue;
      if (atEnd) follower.scroller.scrollTop = follower.scroller.scrollHeight;
      else follower.pane.goTo(place);
      follower.awaited = follower.scroller.scrollTop;
    }
  }
}

/** @param {Frame} frame
    @param {Reading} reading */
function drawTitle({ title, scroller }, { name, n_tokens: nTokens, badge, exact }) {
  title.textContent = "";
  addPart(title, "i", "series-dot");
  addPart(title, "b", "", name).title = name;
  const count = counted(nTokens, "token");
  addPart(title, "span", "count", count);
  if (badge) addPart(title, "span", exact ? "badge" : "badge inexact", badge);
  scroller.setAttribute("aria-label", `${name}, ${count}. Left and right arrow keys go to the previous and next disagreement.`);
}

/** @param {HTMLElement} parent
    @param {Tokens} tokens
    @param {number} i */
function addTile(parent, tokens, i) {
  const tile = makeTile(writtenAs(tokens, i), tokens.ids[i], { small: true });
  tile.className = `tile small slot-${tokens.slots[i]}`;
  tile.classList.toggle("superword", tokens.superwords.has(tokens.ids[i]));
  parent.append(tile);
  return tile;
}

/** @param {Tokens} tokens
    @param {number} i */
function writtenAs(tokens, i) {
  const known = tokens.about.get(tokens.ids[i]);
  return known?.written ?? known?.token ?? "";
}

/** Draw a piece of text that is in no token, with a note.
    @param {HTMLElement} parent
    @param {string} piece */
function drawUncovered(parent, piece) {
  const characters = [...piece];
  const shown = characters.length > MAX_TILES ? characters.slice(0, MAX_TILES).join("") + "…" : piece;
  const box = addPart(parent, "span", "");
  drawToken(addPart(box, "span", "uncovered"), shown);
  addPart(box, "span", "aside", " in no token");
  return box;
}
