// You against BPE: the same number of merges each on one text. The visitor's list can be sorted by dragging, by
// keys, or by buttons, and each change is replayed immediately.

import { spokenToken } from "../shared/characters.js";
import { hashSlot } from "../shared/colours.js";
import { addButton, addPart, find, keepKeys } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { counted, grouped } from "../shared/numbers.js";
import { makeTile } from "../shared/token_drawing.js";
import { compareWords, explainVerdict, findNeighbours, listOfBpe, madeBy, moved, pairsToOffer, play, verdictOn, wordsOfText } from "./rules.js";

/** @import { Component } from "../shared/component.js"
    @import { Joint, Level, Played } from "./rules.js" */

/** A level as Python sends it: a text, or words with how often each stands in it.
    @typedef {{ name: string, about: string, text?: string, counts?: [string, number][], most: number }} SentLevel */

const FIRST = "Join a pair, and what it changes is shown here.";
const OFFERED = 12;
const WIDTH = 1240; // px that the board takes on a projector
const HEIGHT = 860;

/** @type {WeakMap<ShadowRoot, Game>} */
const games = new WeakMap();

/** @param {Pick<Component<{ levels: SentLevel[] }>, "data" | "parentElement">} component */
export default function mountGame({ data, parentElement }) {
  if (!games.has(parentElement)) games.set(parentElement, new Game(parentElement, data.levels));
  return onLeaving(parentElement, () => {
    games.get(parentElement)?.ending.abort();
    games.delete(parentElement);
  });
}

class Game {
  /** @param {ShadowRoot} parent
      @param {SentLevel[]} levels */
  constructor(parent, levels) {
    this.root = find(parent, ".game", HTMLElement);
    this.levels = levels.map(readLevel);
    this.level = this.levels[0];
    /** The visitor's list of each level.
        @type {Map<Level, Joint[]>} */
    this.lists = new Map(this.levels.map((level) => [level, []]));
    /** @type {{ level: Level, list: Joint[] }[]} */
    this.past = [];
    /** @type {Joint[]} */
    this.theirs = [];
    this.theirPlay = play([], []);
    this.start = 0; // tokens of the text before any merge
    /** @type {Joint | null} */
    this.lifted = null;
    this.ending = new AbortController();
    keepKeys(this.root);
    this.#listen();
    this.#open(this.level);
  }

  get list() {
    return this.lists.get(this.level) ?? [];
  }

  get isFull() {
    return this.list.length === this.level.most;
  }

  /** @param {string} selector */
  find(selector) {
    return find(this.root, selector, HTMLElement);
  }

  #listen() {
    const { signal } = this.ending;
    this.levels.forEach((level, i) => {
      const label = addPart(this.find(".levels"), "label", "");
      const input = addPart(label, "input", "");
      Object.assign(input, { type: "radio", name: "level", value: String(i), checked: i === 0 });
      addPart(label, "span", "", level.name).dataset.text = level.name;
      input.addEventListener("change", () => this.#open(level));
    });
    this.find("[data-act=undo]").addEventListener("click", () => this.#undo());
    const full = this.find("[data-act=full]");
    full.hidden = !document.fullscreenEnabled;
    full.addEventListener("click", () => {
      if (this.root.matches(":fullscreen")) document.exitFullscreen();
      else this.root.requestFullscreen();
    });
    const grow = () => {
      const factor = Math.min(window.innerWidth / WIDTH, window.innerHeight / HEIGHT);
      this.root.style.zoom = this.root.matches(":fullscreen") ? String(Math.max(1, factor)) : "";
    };
    document.addEventListener("fullscreenchange", grow, { signal });
    window.addEventListener("resize", grow, { signal });
    find(this.root, "form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.#type();
    });
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      this.#undo();
    });
  }

  /** @param {Level} level */
  #open(level) {
    this.level = level;
    this.theirs = listOfBpe(level.words, level.most);
    this.theirPlay = play(level.words, this.theirs);
    this.start = play(level.words, []).n;
    this.find(".about").textContent = level.about;
    this.#say(FIRST);
    this.#draw();
  }

  /** @param {Joint[]} list
      @param {string} what What was done, for the line below the board. */
  #change(list, what) {
    this.past.push({ level: this.level, list: this.list });
    this.#set(list, what);
  }

  /** @param {Joint[]} list
      @param {string} what */
  #set(list, what) {
    const before = play(this.level.words, this.list);
    this.lists.set(this.level, list);
    const after = this.#draw();
    const { n, more, example } = compareWords(before, after);
    const change = more ? `${counted(Math.abs(more), "token")} ${more > 0 ? "more" : "fewer"}` : "the same number of tokens";
    this.#say(what, n ? `${counted(n, "word")} split differently: ${change}.` : "No word splits differently.");
    this.#drawWord(example ? [before, after].map(({ words }) => words.get(example)?.tokens ?? []) : []);
    const end = this.isFull ? ` ${this.find(".verdict").textContent}` : "";
    this.find("[aria-live]").textContent = `${what} ${counted(after.n, "token")}.${end}`;
  }

  #undo() {
    const last = this.past.pop();
    if (!last) return;
    if (last.level !== this.level) {
      find(this.root, `.levels input[value="${this.levels.indexOf(last.level)}"]`, HTMLInputElement).checked = true;
      this.#open(last.level);
    }
    this.#set(last.list, "Undone.");
    // The row that had the keyboard focus was drawn again, and the button may be disabled now.
    const { activeElement } = /** @type {ShadowRoot} */ (this.root.getRootNode());
    if (!activeElement || !this.past.length) this.root.focus({ preventScroll: true });
  }

  /** @param {Joint} joint */
  #add(joint) {
    if (this.isFull) return;
    this.#change([...this.list, joint], `${spell(madeBy(joint))} is merge ${this.list.length + 1}.`);
  }

  #type() {
    const field = find(this.root, "form input", HTMLInputElement);
    const problem = this.find(".problem");
    const token = field.value.replaceAll("␣", " ");
    const { words } = play(this.level.words, this.list);
    const joint = findNeighbours(words, token) ?? findNeighbours(words, ` ${token}`);
    problem.textContent = joint || !token ? "" : `No two neighbours make “${spell(token)}” now.`;
    if (!joint) return;
    field.value = "";
    this.#add(joint);
  }

  /** @param {number} place */
  #strike(place) {
    const { list } = this;
    this.#change(list.filter((_, i) => i !== place), `${spell(madeBy(list[place]))} is struck out.`);
    this.#focusRow(Math.min(place, this.list.length - 1));
  }

  /** @param {number} from
      @param {number} to */
  #move(from, to) {
    const { list } = this;
    if (to < 0 || to >= list.length || to === from) return;
    this.#change(moved(list, from, to), `${spell(madeBy(list[from]))} moved from ${from + 1} to ${to + 1}.`);
  }

  /** Move a row to a neighbouring place, and the keyboard focus with it.
      @param {number} from
      @param {number} to */
  #step(from, to) {
    this.#move(from, to);
    this.#focusRow(to);
  }

  /** @param {number} place */
  #focusRow(place) {
    const grips = /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".yours .grip"));
    (grips[place] ?? this.root).focus({ preventScroll: true });
  }

  /** @param {string} what
      @param {string} [so] */
  #say(what, so = "") {
    this.find(".what").textContent = what;
    this.find(".so").textContent = so;
    this.find(".word").textContent = "";
    this.find(".problem").textContent = "";
  }

  /** Show one word before and after a change.
      @param {string[][]} sides */
  #drawWord(sides) {
    const place = this.find(".word");
    sides.forEach((tokens, i) => {
      if (i) addPart(place, "span", "muted", "→").setAttribute("aria-label", "becomes");
      const word = addPart(place, "span", "tiles");
      for (const token of tokens) word.append(tile(token));
    });
  }

  /** @returns {Played} */
  #draw() {
    const { level, list, theirPlay: theirs, start } = this;
    const played = play(level.words, list);
    const own = this.find(".yours ol");
    own.textContent = "";
    for (let place = 0; place < level.most; place++) this.#drawRow(own, place, played.saved[place]);
    const other = this.find(".theirs ol");
    other.textContent = "";
    this.theirs.forEach((joint, place) => {
      const row = addPart(other, "li", "");
      if (!this.isFull) return;
      addPart(row, "span", "place muted", String(place + 1));
      drawJoint(row, joint);
      addPart(row, "b", "", grouped(theirs.saved[place]));
    });
    this.find(".hidden-list").hidden = this.isFull;
    this.find(".start").textContent = `${counted(start, "token")} at first`;
    this.#drawBar(".you", played.n, start, false);
    this.#drawBar(".bpe", theirs.n, start, !this.isFull);
    const left = level.most - list.length;
    this.find(".verdict").textContent = this.isFull ? verdictOn(played.n, theirs.n) : `${counted(left, "merge")} left.`;
    find(this.root, "[data-act=undo]", HTMLButtonElement).disabled = !this.past.length;
    this.#drawOffers(played);
    this.find(".why").textContent = this.isFull ? explainVerdict(played.n, theirs.n, level === this.levels[0]) : "";
    return played;
  }

  /** @param {string} name
      @param {number} n
      @param {number} start
      @param {boolean} isHidden */
  #drawBar(name, n, start, isHidden) {
    const bar = this.find(name);
    bar.classList.toggle("unknown", isHidden);
    find(bar, "i", HTMLElement).style.height = isHidden ? "0" : `${(100 * n) / start}%`;
    find(bar, "b", HTMLElement).textContent = isHidden ? "?" : grouped(n);
  }

  /** @param {Played} played */
  #drawOffers(played) {
    const offers = this.find(".offers");
    const hadFocus = offers.contains(/** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement);
    offers.textContent = "";
    this.find(".picking").classList.toggle("done", this.isFull);
    const form = find(this.root, "form", HTMLFormElement);
    for (const part of form.elements) if (part instanceof HTMLInputElement || part instanceof HTMLButtonElement) part.disabled = this.isFull;
    if (!this.isFull) {
      for (const joint of pairsToOffer(played.words, OFFERED)) {
        const button = addButton(addPart(offers, "li", ""), "offer", undefined, () => this.#add(joint));
        drawJoint(button, joint);
        button.setAttribute("aria-label", `Join ${spokenToken(joint.left)} and ${spokenToken(joint.right)}`);
      }
    }
    if (hadFocus) (offers.querySelector("button") ?? this.root).focus({ preventScroll: true });
  }

  /** @param {HTMLElement} parent
      @param {number} place
      @param {number} saved */
  #drawRow(parent, place, saved) {
    const joint = this.list[place];
    const row = addPart(parent, "li", joint ? "" : "empty");
    if (!joint) {
      addPart(row, "span", "place muted", String(place + 1));
      return;
    }
    const isLifted = joint === this.lifted;
    row.classList.toggle("lifted", isLifted);
    row.classList.toggle("useless", saved === 0);
    const grip = addButton(row, "grip", "⠿", () => {});
    const name = `${spokenToken(joint.left)} and ${spokenToken(joint.right)}`;
    grip.setAttribute("aria-label", `Merge ${place + 1}, ${name}, saved ${grouped(saved)}. Space lifts, arrow keys move, Delete strikes it out`);
    grip.setAttribute("aria-pressed", String(isLifted));
    grip.addEventListener("keydown", (event) => this.#onKey(event, place));
    grip.addEventListener("pointerdown", (event) => this.#drag(event, row));
    addPart(row, "span", "place muted", String(place + 1));
    drawJoint(row, joint);
    addPart(row, "b", "", grouped(saved));
    const up = addButton(row, "arrow", "↑", () => this.#step(place, place - 1));
    up.setAttribute("aria-label", `Move ${name} up`);
    up.disabled = place === 0;
    const down = addButton(row, "arrow", "↓", () => this.#step(place, place + 1));
    down.setAttribute("aria-label", `Move ${name} down`);
    down.disabled = place === this.list.length - 1;
    addButton(row, "strike", "×", () => this.#strike(place)).setAttribute("aria-label", `Strike out ${name}`);
  }

  /** @param {KeyboardEvent} event
      @param {number} place */
  #onKey(event, place) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === " ") {
      this.lifted = this.lifted === this.list[place] ? null : this.list[place];
      this.#draw();
      this.#focusRow(place);
    } else if (event.key === "Delete" || event.key === "Backspace") this.#strike(place);
    else if (by === undefined) return;
    else {
      const to = Math.min(Math.max(place + by, 0), this.list.length - 1);
      if (this.lifted === this.list[place]) this.#step(place, to);
      else this.#focusRow(to);
    }
    event.preventDefault();
  }

  /** Move a row with the pointer; the list is replayed when it is let go.
      @param {PointerEvent} event
      @param {HTMLElement} row */
  #drag(event, row) {
    const list = this.find(".yours ol");
    const rows = /** @type {HTMLElement[]} */ ([...list.children]);
    const from = rows.indexOf(row);
    const height = row.offsetHeight;
    const { zoom } = getComputedStyle(this.root);
    const scale = Number(zoom) || 1;
    const top = event.clientY;
    let to = from;
    row.classList.add("lifted");
    const grip = /** @type {HTMLElement} */ (event.currentTarget);
    grip.setPointerCapture(event.pointerId);
    const stop = new AbortController();
    const { signal } = stop;
    grip.addEventListener("pointermove", ({ clientY }) => {
      const by = (clientY - top) / scale;
      to = Math.min(Math.max(from + Math.round(by / height), 0), this.list.length - 1);
      row.style.transform = `translateY(${by}px)`;
      rows.forEach((other, i) => {
        if (other === row) return;
        const shift = i > from && i <= to ? -height : i < from && i >= to ? height : 0;
        other.style.transform = shift ? `translateY(${shift}px)` : "";
      });
    }, { signal });
    const end = (/** @type {boolean} */ isDropped) => {
      stop.abort();
      if (isDropped && to !== from) this.#move(from, to);
      else this.#draw();
      this.#focusRow(isDropped ? to : from);
    };
    grip.addEventListener("pointerup", () => end(true), { signal });
    grip.addEventListener("pointercancel", () => end(false), { signal });
  }
}

/** @param {SentLevel} level
    @returns {Level} */
function readLevel({ name, about, text, counts, most }) {
  const words = text === undefined
    ? (counts ?? []).flatMap(([word, n]) => Array.from({ length: n }, () => word))
    : wordsOfText(text);
  return { name, about, words, most };
}

/** @param {HTMLElement} parent
    @param {Joint} joint */
function drawJoint(parent, { left, right }) {
  const rule = addPart(parent, "span", "rule");
  rule.append(tile(left), addPart(rule, "span", "muted", "+"), tile(right));
}

/** @param {string} token */
function tile(token) {
  const isSymbol = [...token].length === 1;
  return makeTile(token, 0, { symbol: isSymbol, small: true, slot: isSymbol ? undefined : hashSlot(token) });
}

/** @param {string} token */
function spell(token) {
  return token.replaceAll(" ", "␣").replaceAll("\n", "⏎");
}
