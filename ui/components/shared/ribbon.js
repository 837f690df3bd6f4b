// A text as a ribbon: rows of bars, a bar for each token, as wide as its bytes. As merges are done, bars fuse
// where they stand; nothing else moves. What no merge made is paper-white.
//
//     const ribbon = new Ribbon(parent);                 // rows of 200 bytes, of 100 on a phone
//     ribbon.setText({ bytes: utf8(text), joinedAt, findSlot: ({ merge }) => colourSlot(256 + merge) });
//     ribbon.show(195);                                  // after 195 merges; cheap, nothing is encoded
//     ribbon.label = "Seen in training, 737 tokens";     // for a screen reader, which sees no bars
//
// `joinedAt[i]` is the number of merges after which byte i and the one behind it are in one token; NEVER where
// they never are. It holds the text's tokens at every step: in bars.js, `countsByStep` counts them and `tokensAt`
// lists them. Tokens of which only the lengths are known, such as GPT-2's, are `joinsOfTokens(lengths)`: show(0).
// The component's styles have "../shared/ribbon" among them.

import { BAR, rowPaths, tokensAt } from "./bars.js";
import { wholeAndPartial } from "./characters.js";
import { addPart } from "./elements.js";
import { drawToken } from "./token_drawing.js";

const SLOTS = 8;
const ROW = 22; // px from row to row
const WIDE = { upTo: Infinity, bytes: 200 };
const NARROW = { upTo: 560, bytes: 100 };
const SVG = "http://www.w3.org/2000/svg";

/** @import { BarToken } from "./bars.js" */

/** @typedef {object} RibbonText
    @property {Uint8Array} bytes
    @property {ArrayLike<number>} joinedAt As long as the bytes, or shorter by one.
    @property {(token: BarToken) => number} findSlot Returns the colour slot of a token; -1 for paper-white. Only
      tokens of several bytes are asked for. */

export class Ribbon {
  /** @param {ParentNode} parent
      @param {{ wide?: number, narrow?: number }} [bytes] In a row. */
  constructor(parent, { wide = WIDE.bytes, narrow = NARROW.bytes } = {}) {
    this.root = addPart(parent, "div", "ribbon");
    this.root.dir = "ltr";
    this.svg = addSvg(this.root, "svg");
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.mark = addPart(this.root, "div", "bar-name");
    this.mark.setAttribute("aria-hidden", "true");
    this.wide = wide;
    this.narrow = narrow;
    this.perRow = 0;
    this.step = 0;
    /** @type {RibbonText} */
    this.text = { bytes: new Uint8Array(), joinedAt: [], findSlot: () => -1 };
    /** @type {BarToken[]} */
    this.tokens = [];
    /** @type {{ paths: SVGElement[], drawn: string[] }[]} */
    this.rows = [];
    this.observer = new ResizeObserver(() => this.#lay());
    this.observer.observe(this.root);
    this.root.addEventListener("pointermove", (event) => this.#point(event));
    this.root.addEventListener("pointerdown", (event) => this.#point(event));
    this.root.addEventListener("pointerleave", () => this.#pointAt(undefined));
  }

  /** @param {string} text */
  set label(text) {
    this.svg.setAttribute("aria-label", text);
  }

  /** @param {RibbonText} text */
  setText(text) {
    this.text = text;
    this.#lay(true);
  }

  /** Show the text after a number of merges.
      @param {number} step */
  show(step) {
    this.step = step;
    this.#pointAt(undefined);
    const { bytes, joinedAt, findSlot } = this.text;
    this.tokens = tokensAt(bytes.length, joinedAt, step);
    rowPaths(this.tokens, bytes.length, this.perRow, findSlot).forEach(({ fills, paper, ticks }, i) => {
      const { paths, drawn } = this.rows[i];
      [paper, ...fills, ticks].forEach((path, k) => {
        if (drawn[k] !== path) paths[k].setAttribute("d", (drawn[k] = path));
      });
    });
  }

  destroy() {
    this.observer.disconnect();
  }

  /** Make the rows that the text needs at this width.
      @param {boolean} [isNew] */
  #lay(isNew = false) {
    const perRow = this.root.clientWidth > 0 && this.root.clientWidth <= NARROW.upTo ? this.narrow : this.wide;
    if (perRow === this.perRow && !isNew) return;
    this.perRow = perRow;
    const { length } = this.text.bytes;
    const nRows = Math.ceil(length / perRow);
    const height = Math.max(0, nRows * ROW - (ROW - BAR));
    this.svg.textContent = "";
    this.svg.setAttribute("viewBox", `0 0 ${perRow} ${height || 1}`);
    this.svg.style.height = `${height}px`;
    this.rows = Array.from({ length: nRows }, (_, row) => {
      const group = addSvg(this.svg, "g");
      group.setAttribute("transform", `translate(0 ${row * ROW})`);
      const classes = ["paper", ...Array.from({ length: SLOTS }, (_, slot) => `slot-${slot}`), "ticks"];
      const paths = classes.map((name) => {
        const path = addSvg(group, "path");
        path.setAttribute("class", name);
        return path;
      });
      const edge = addSvg(group, "path");
      edge.setAttribute("class", "ticks");
      const width = Math.min(perRow, length - row * perRow);
      edge.setAttribute("d", `M0 0h${width}M0 ${BAR}h${width}`);
      return { paths, drawn: [] };
    });
    this.show(this.step);
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const { left, top, width } = this.svg.getBoundingClientRect();
    const row = Math.floor((event.clientY - top) / ROW);
    const at = Math.floor(((event.clientX - left) / width) * this.perRow);
    const byte = at >= 0 && at < this.perRow ? row * this.perRow + at : -1;
    this.#pointAt(this.tokens.find(({ start, end }) => start <= byte && byte < end), event.clientX - left);
  }

  /** Name a token beneath its bar.
      @param {BarToken | undefined} token
      @param {number} [x] Where the pointer is. */
  #pointAt(token, x = 0) {
    this.mark.hidden = !token;
    this.svg.querySelector(".pointed")?.remove();
    if (!token) return;
    const pointed = addSvg(this.svg, "path");
    pointed.setAttribute("class", "pointed");
    const first = Math.floor(token.start / this.perRow);
    const last = Math.floor((token.end - 1) / this.perRow);
    let path = "";
    for (let row = first; row <= last; row++) {
      const from = Math.max(token.start, row * this.perRow) - row * this.perRow;
      const to = Math.min(token.end, (row + 1) * this.perRow) - row * this.perRow;
      path += `M${from} ${row * ROW}h${to - from}v${BAR}h${from - to}z`;
    }
    pointed.setAttribute("d", path);
    const bytes = [...this.text.bytes.subarray(token.start, token.end)];
    const pieces = wholeAndPartial(bytes);
    drawToken(this.mark, pieces.length === 1 && typeof pieces[0] === "string" ? pieces[0] : bytes);
    const { width } = this.svg.getBoundingClientRect();
    this.mark.style.top = `${(last + 1) * ROW}px`;
    this.mark.style.left = `${Math.max(0, Math.min(x - this.mark.offsetWidth / 2, width - this.mark.offsetWidth))}px`;
  }
}

/** @param {Element} parent
    @param {string} tag */
function addSvg(parent, tag) {
  const part = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  parent.append(part);
  return part;
}
