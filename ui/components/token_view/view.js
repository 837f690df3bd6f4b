// Token boundaries: a text, its tokens' ids, and the token under the pointer.

import { spokenToken } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { counted, grouped } from "../shared/numbers.js";
import { copyText } from "./clipboard.js";
import { drawDetails, unknownReason } from "./details.js";
import { knownIds, pythonCode, tokenList } from "./exports.js";
import { TokenPane } from "./pane.js";
import { blockCuts, cutCharacters, readTokens } from "./reading.js";

const MOST_IDS_SHOWN = 2000;
const views = new WeakMap();

export default function mountView({ data, parentElement }) {
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, (view = new TokenView(parentElement)));
  view.show(data);
  return () => {
    view.destroy();
    views.delete(parentElement);
  };
}

class TokenView {
  constructor(parent) {
    this.glyphs = true;
    this.borders = false;
    this.root = addPart(parent, "div", "view");
    this.marks = addPart(this.root, "style", "");
    const top = addPart(this.root, "div", "top");
    this.figures = addPart(top, "p", "figures");
    const switches = addPart(top, "div", "switches");
    this.#addSwitch(switches, "Glyphs for white space", "glyphs");
    this.#addSwitch(switches, "Pre-token borders", "borders");
    const columns = addPart(this.root, "div", "columns");
    const reading = addPart(columns, "div", "reading");
    this.scroller = addPart(reading, "div", "scroller");
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "group");
    this.remarks = addPart(reading, "p", "aside remarks");
    this.ids = addPart(reading, "div", "ids");
    this.ids.tabIndex = 0;
    this.ids.setAttribute("role", "group");
    this.ids.setAttribute("aria-label", "Token ids");
    this.more = addPart(reading, "p", "aside");
    this.actions = addPart(reading, "div", "actions");
    this.#addAction("Copy ids", () => JSON.stringify(knownIds(this.tokens)));
    this.#addAction("Copy tokens", () => JSON.stringify(tokenList(this.tokens)));
    this.#addAction("Copy as Python", () => pythonCode(this.data, this.tokens));
    this.said = addPart(reading, "span", "visually-hidden");
    this.said.setAttribute("aria-live", "polite");
    this.copied = addPart(this.actions, "span", "aside");
    this.copied.setAttribute("role", "status");
    this.details = addPart(columns, "aside", "details");
    this.details.setAttribute("aria-label", "The token");
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

  show(data) {
    if (this.data === data) return;
    const sameText = this.data?.text === data.text;
    this.data = data;
    this.pane?.destroy();
    this.tokens = readTokens(data.text, data.packed);
    this.tokens.order = orderOf(this.tokens.ids);
    this.cuts = cutCharacters(this.tokens);
    const cuts = blockCuts([this.tokens]).map(([first]) => first);
    const scrollTop = sameText ? this.scroller.scrollTop : 0;
    this.pane = new TokenPane(this.scroller, this.tokens, cuts, {
      onPoint: (index) => this.#point(index),
      onChoose: (index) => this.#choose(index),
    });
    this.scroller.scrollTop = scrollTop;
    this.pointed = null;
    this.chosen = data.chosen;
    this.#drawFigures();
    this.#drawIds();
    this.#mark();
    this.#drawSwitches();
    this.scroller.setAttribute(
      "aria-label",
      `${grouped(this.nTokens)} tokens by ${data.name}. Arrow keys go from token to token.`,
    );
    if (!data.text) addPart(this.scroller, "p", "empty", "No text yet. Type above, and its tokens appear here.");
  }

  destroy() {
    this.pane?.destroy();
    this.root.remove();
  }

  #addSwitch(parent, label, field) {
    const button = addPart(parent, "button", "switch");
    button.type = "button";
    button.setAttribute("role", "switch");
    button.dataset.field = field;
    addPart(button, "i", "");
    addPart(button, "span", "", label);
    button.addEventListener("click", () => {
      this[field] = !this[field];
      this.#drawSwitches();
    });
  }

  #drawSwitches() {
    this.scroller.classList.toggle("no-glyphs", !this.glyphs);
    this.scroller.classList.toggle("borders", this.borders);
    for (const button of this.root.querySelectorAll(".switch")) {
      button.setAttribute("aria-checked", String(this[button.dataset.field]));
    }
  }

  #addAction(label, makeText) {
    const button = addPart(this.actions, "button", "", label);
    button.type = "button";
    button.addEventListener("click", async () => {
      const done = await copyText(makeText());
      this.copied.textContent = done ? "Copied." : "This browser does not let the page copy.";
    });
  }

  #drawFigures() {
    const { tokens, cuts, data } = this;
    this.figures.textContent = "";
    this.nTokens = 0;
    let dropped = 0;
    let unknown = 0;
    let uncovered = 0;
    for (let i = 0; i < tokens.n; i++) {
      if (tokens.ids[i] >= 0) this.nTokens++;
      else {
        const piece = tokens.text.slice(tokens.at[i], tokens.at[i + 1]);
        uncovered += tokens.byteAt[i + 1] - tokens.byteAt[i];
        if (/\S/.test(piece)) unknown += [...piece].length;
        else dropped++;
      }
    }
    const nBytes = tokens.byteAt[tokens.n];
    const figures = [
      [grouped(this.nTokens), this.nTokens === 1 ? "token" : "tokens"],
      [grouped(nBytes), nBytes === 1 ? "byte" : "bytes"],
    ];
    if (this.nTokens) figures.push([((nBytes - uncovered) / this.nTokens).toFixed(2), "bytes per token"]);
    if (uncovered) figures.push([grouped(uncovered), `${uncovered === 1 ? "byte is" : "bytes are"} in no token`]);
    for (const [figure, unit] of figures) {
      const part = addPart(this.figures, "span", "");
      addPart(part, "b", "", figure);
      part.append(` ${unit}`);
    }
    const remarks = [];
    if (cuts.length) remarks.push(`${counted(cuts.length, "character is", "characters are")} cut by a boundary.`);
    if (unknown) remarks.push(`${counted(unknown, "character is", "characters are")} outside the alphabet: struck out, and in no token.`);
    if (dropped) remarks.push("White space between words is in no token.");
    if (data.special_note) remarks.push(data.special_note);
    this.remarks.textContent = remarks.join(" ");
    this.copied.textContent = "";
  }

  #drawIds() {
    const page = document.createDocumentFragment();
    let shown = 0;
    for (let i = 0; i < this.tokens.n && shown < MOST_IDS_SHOWN; i++) {
      if (this.tokens.ids[i] < 0) continue;
      const item = addPart(page, "span", "", String(this.tokens.ids[i]));
      item.dataset.i = i;
      page.append(" ");
      shown++;
    }
    this.ids.replaceChildren(page);
    const more = this.nTokens - shown;
    this.more.textContent = more > 0 ? `and ${grouped(more)} more. Copy ids gives all.` : "";
    this.more.hidden = more <= 0;
    this.ids.hidden = shown === 0;
  }

  #point(index) {
    if (index === this.pointed) return;
    this.pointed = index;
    this.#mark();
  }

  #choose(index) {
    const { stamp } = this.data;
    document.dispatchEvent(new CustomEvent("bpe-token-chosen", { detail: { stamp, index } }));
    this.chosen = index;
    this.pointed = null;
    this.#mark();
    const known = this.tokens.about.get(this.tokens.ids[index]);
    this.said.textContent = known
      ? `Token ${this.tokens.order[index]}, ${spokenToken(known.token)}, id ${known.id}`
      : unknownReason(this.tokens, index);
  }

  /** One style rule lights a token and its likes wherever they are drawn, now or later. */
  #mark() {
    const index = this.pointed ?? this.chosen;
    const rules = [];
    if (index !== null && this.tokens.n) {
      const id = this.tokens.ids[index];
      if (id >= 0) {
        rules.push(`.token[data-id="${id}"]:not(.special, [data-i="${index}"]) { box-shadow: inset 1.25px 0 0 var(--tick), inset 0 -3px 0 var(--primary); }`);
      }
      rules.push(`.token[data-i="${index}"] { position: relative; z-index: 3; outline: 2px solid var(--primary); border-radius: 4px; }`);
      rules.push(`.ids [data-i="${index}"] { color: var(--primary); font-weight: 700; border-color: var(--primary); }`);
    }
    this.marks.textContent = rules.join("\n");
    drawDetails(this.details, this.tokens, this.cuts, index);
  }

  #onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "a") {
      // The text alone, not the page around it.
      event.preventDefault();
      this.pane.selection.selectAll();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !this.tokens.n) return;
    const last = this.tokens.n - 1;
    const at = this.chosen ?? 0;
    const goes = {
      ArrowRight: () => Math.min(at + 1, last),
      ArrowLeft: () => Math.max(at - 1, 0),
      ArrowDown: () => this.#lineNeighbour(at, 1),
      ArrowUp: () => this.#lineNeighbour(at, -1),
      Home: () => 0,
      End: () => last,
    };
    event.stopPropagation();
    if (!(event.key in goes)) return;
    event.preventDefault();
    const index = goes[event.key]();
    this.pane.reveal(index);
    this.#choose(index);
  }

  /** The token nearest in the line below or above. */
  #lineNeighbour(at, direction) {
    const here = this.pane.element(at).getBoundingClientRect();
    let best = at;
    let bestDistance = Infinity;
    let line = null;
    for (let i = at + direction; i >= 0 && i < this.tokens.n; i += direction) {
      const box = this.pane.element(i)?.getBoundingClientRect();
      if (!box) continue;
      if (Math.abs(box.top - here.top) < 20) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) > 20) break;
      const distance = Math.abs(box.left - here.left);
      if (distance < bestDistance) [best, bestDistance] = [i, distance];
    }
    return best;
  }
}

function indexAt(event) {
  const item = event.target.closest?.("[data-i]");
  return item ? Number(item.dataset.i) : null;
}

/** The number of each token among the tokens, from 1; text in no token has none. */
function orderOf(ids) {
  const order = new Uint32Array(ids.length);
  let n = 0;
  for (let i = 0; i < ids.length; i++) if (ids[i] >= 0) order[i] = ++n;
  return order;
}
