// Compare: one passage as several tokenizers read it. Only what they don't all cut alike is coloured;
// the panes scroll and light up together.

import { seriesOf } from "../shared/colours.js";
import { addPart } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { drawToken, makeTile } from "../shared/token_drawing.js";
import { TokenPane } from "./pane.js";
import { blockCuts, readTokens, unpack } from "./reading.js";

const MOST_TILES = 24;
const NUMBERS = [, "one", "two", "three", "four", "five", "six", "seven", "eight"];
const comparisons = new WeakMap();

export default function mountCompare({ data, parentElement }) {
  let comparison = comparisons.get(parentElement);
  if (!comparison) comparisons.set(parentElement, (comparison = new TokenComparison(parentElement)));
  comparison.show(data);
  return () => {
    comparison.destroy();
    comparisons.delete(parentElement);
  };
}

class TokenComparison {
  constructor(parent) {
    this.onlyText = true;
    this.root = addPart(parent, "div", "compare");
    this.marks = addPart(this.root, "style", "");
    const head = addPart(this.root, "div", "head");
    this.title = addPart(head, "h2", "");
    this.source = addPart(head, "p", "aside");
    const filter = addPart(head, "div", "filter");
    filter.setAttribute("role", "group");
    filter.setAttribute("aria-label", "Disagreements shown");
    this.filterAll = this.#addButton(filter, () => this.#setFilter(false));
    this.filterText = this.#addButton(filter, () => this.#setFilter(true));
    const steps = addPart(head, "div", "steps");
    this.place = addPart(steps, "span", "");
    this.place.setAttribute("aria-live", "polite");
    this.previous = this.#addButton(steps, () => this.#go(-1));
    this.previous.textContent = "‹ Previous";
    this.next = this.#addButton(steps, () => this.#go(1));
    this.next.textContent = "Next ›";
    this.panes = addPart(this.root, "div", "panes");
    this.sides = [];
    this.current = addPart(this.root, "div", "current");
  }

  show(data) {
    if (this.data === data) return;
    this.data = data;
    this.spans = readSpans(data.spans);
    const readings = data.readings.map(({ packed }) => readTokens(data.text, packed));
    const cuts = blockCuts(readings);
    this.#setSides(readings.length);
    this.sides.forEach((side, k) => {
      side.pane?.destroy();
      side.tokens = readings[k];
      side.scroller.scrollTop = 0;
      side.pane = new TokenPane(side.scroller, readings[k], cuts.map((cut) => cut[k]), {
        spans: this.spans,
        onPoint: (index) => this.#point(k, index),
        onSpan: (span) => this.#focus(span, false),
      });
      this.#drawTitle(side, data.readings[k]);
    });
    const n = NUMBERS[readings.length] ?? grouped(readings.length);
    this.title.textContent = `One passage, ${n} ${readings.length === 1 ? "reading" : "readings"}`;
    this.marks.textContent = "";
    this.source.textContent = data.source;
    this.onlyText = this.spans.some((span) => span.hasText);
    this.#setFilter(this.onlyText);
  }

  destroy() {
    for (const side of this.sides) side.pane?.destroy();
    this.root.remove();
  }

  /** Makes as many panes as there are readings; those that are there stay. */
  #setSides(n) {
    while (this.sides.length > n) {
      const { pane, element } = this.sides.pop();
      pane?.destroy();
      element.remove();
    }
    for (let k = this.sides.length; k < n; k++) {
      const element = addPart(this.panes, "div", `pane side-${k} ${seriesOf(k)}`);
      const title = addPart(element, "p", "pane-title");
      const scroller = addPart(element, "div", "scroller");
      scroller.tabIndex = 0;
      scroller.setAttribute("role", "group");
      scroller.addEventListener("scroll", () => this.#follow(k));
      scroller.addEventListener("keydown", (event) => this.#onKey(event));
      this.sides.push({ element, title, scroller, pane: null, tokens: null, awaited: null });
    }
    this.panes.classList.toggle("many", n > 2);
    this.panes.classList.toggle("strip", n > 3);
    this.current.classList.toggle("strip", n > 3);
    this.panes.style.setProperty("--columns", n);
  }

  #addButton(parent, action) {
    const button = addPart(parent, "button", "");
    button.type = "button";
    button.addEventListener("click", action);
    return button;
  }

  #drawTitle({ title, scroller }, { name, n_tokens: nTokens, badge, exact }) {
    title.textContent = "";
    addPart(title, "i", "series-dot");
    addPart(title, "b", "", name).title = name;
    const count = `${grouped(nTokens)} ${nTokens === 1 ? "token" : "tokens"}`;
    addPart(title, "span", "count", count);
    if (badge) addPart(title, "span", exact ? "badge" : "badge inexact", badge);
    scroller.setAttribute("aria-label", `${name}, ${count}. Left and right arrow go from disagreement to disagreement.`);
  }

  #setFilter(onlyText) {
    this.onlyText = onlyText;
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

  #go(direction) {
    if (!this.active.length) return;
    const at = this.active.indexOf(this.focused);
    this.#focus(this.active[(at + direction + this.active.length) % this.active.length], true);
  }

  #focus(span, reveal) {
    this.focused = span;
    for (const { pane } of this.sides) pane.focusSpan(span);
    const at = this.active.indexOf(span);
    this.place.textContent = "";
    if (at >= 0) addPart(this.place, "b", "", grouped(at + 1));
    const n = this.active.length;
    this.place.append(at >= 0 ? ` of ${grouped(n)} ${n === 1 ? "disagreement" : "disagreements"}` : "no disagreement");
    this.previous.disabled = this.next.disabled = n === 0;
    this.#drawCurrent(at);
    if (!reveal || at < 0) return;
    for (const side of this.sides) {
      side.pane.reveal(firstTokenOf(side.tokens, this.spans[span]), { context: true });
      side.awaited = side.scroller.scrollTop;
    }
  }

  #drawCurrent(at) {
    this.current.textContent = "";
    if (at < 0) {
      addPart(this.current, "span", "aside", this.spans.length ? "They differ in white space alone." : "All cut this passage alike.");
      return;
    }
    addPart(this.current, "span", "aside", `Disagreement ${grouped(at + 1)}`);
    this.sides.forEach(({ tokens }, k) => {
      const side = addPart(this.current, "span", `side ${seriesOf(k)}`);
      addPart(side, "i", "series-dot");
      addPart(side, "b", "", this.data.readings[k].name);
      const span = this.spans[this.focused];
      let i = firstTokenOf(tokens, span);
      for (let shown = 0; i < tokens.n && tokens.byteAt[i] < span.end; i++, shown++) {
        if (shown === MOST_TILES) {
          addPart(side, "span", "aside", "…");
          break;
        }
        if (tokens.ids[i] >= 0) {
          side.append(this.#tile(tokens, i));
          continue;
        }
        const from = i;
        while (i + 1 < tokens.n && tokens.byteAt[i + 1] < span.end && tokens.ids[i + 1] < 0) i++;
        drawUncovered(side, tokens.text.slice(tokens.at[from], tokens.at[i + 1]));
      }
    });
  }

  #tile(tokens, i) {
    const known = tokens.about.get(tokens.ids[i]);
    const tile = makeTile(known.token, known.id, { small: true });
    tile.className = `tile small slot-${tokens.slots[i]}`;
    return tile;
  }

  /** Lights what is pointed at, and what stands there in the other readings. */
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
      for (let i = firstTokenOf(other, { start }); i < other.n && other.byteAt[i] < end; i++) {
        rules.push(`.pane.side-${k} .token[data-i="${i}"] { box-shadow: inset 1.25px 0 0 var(--tick), inset 0 -3px 0 var(--primary); }`);
      }
    });
    this.marks.textContent = rules.join("\n");
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    const direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    this.#go(direction);
  }

  /** Keeps the other panes at the same place of the text: blocks are the same in all. */
  #follow(from) {
    const leader = this.sides[from];
    const { scroller, pane } = leader;
    if (leader.awaited !== null && Math.abs(scroller.scrollTop - leader.awaited) < 2) {
      leader.awaited = null;
      return;
    }
    if (!pane.blocks.length) return;
    const atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
    const place = pane.place();
    for (const follower of this.sides) {
      if (follower === leader || follower.pane.blocks.length !== pane.blocks.length) continue;
      if (atEnd) follower.scroller.scrollTop = follower.scroller.scrollHeight;
      else follower.pane.goTo(place);
      follower.awaited = follower.scroller.scrollTop;
    }
  }
}

/** A piece of text that no token stands for, and that it is so. */
function drawUncovered(parent, piece) {
  const characters = [...piece];
  const shown = characters.length > MOST_TILES ? characters.slice(0, MOST_TILES).join("") + "…" : piece;
  drawToken(addPart(parent, "span", "uncovered"), shown);
  addPart(parent, "span", "aside", "in no token");
}

function readSpans(packed) {
  const [starts, ends, hasText] = [unpack(packed.starts), unpack(packed.ends), unpack(packed.has_text)];
  return Array.from(starts, (start, k) => ({ start, end: ends[k], hasText: hasText[k] === 1 }));
}

/** The token that holds the first byte of a span. */
function firstTokenOf(tokens, { start }) {
  let [low, high] = [0, tokens.n - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tokens.byteAt[middle] <= start) low = middle;
    else high = middle - 1;
  }
  return low;
}
