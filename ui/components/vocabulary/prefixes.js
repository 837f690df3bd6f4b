// The trie of all tokens, one node at a time, with its branches.

import { findDirection, spokenToken } from "../shared/characters.js";
import { addButton, addPart, closest, keepKeys } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { counted, grouped } from "../shared/numbers.js";
import { drawToken } from "../shared/token_drawing.js";
import { findBeginning } from "./beginnings.js";
import { drawTile, tileButton, walkByArrows } from "./parts.js";
import { TypedPrefix } from "./typed_prefix.js";

/** @import { Component, Token } from "../shared/component.js"
    @import { ShownToken } from "./parts.js" */

/** A branch of a node: what it adds, its number of tokens, and the first few of them.
    @typedef {{ more: Token, prefix: string, n: number, shown: ShownToken | null, ahead: ShownToken[] }} Way */

/** One node of the trie; `prefix` of a step is its whole prefix, in hex.
    @typedef {object} PrefixData
    @property {string} text
    @property {{ token: Token, prefix: string }[]} path
    @property {string} sentence
    @property {ShownToken | null} own
    @property {ShownToken | null} longest
    @property {Way[]} branches */

/** @typedef {(prefix: string) => void} Go */
/** @typedef {(id: number) => void} Open */

/** @type {WeakMap<ShadowRoot, Walk>} */
const walks = new WeakMap();

/** @param {Component<PrefixData>} component */
export default function mountPrefixes({ data, parentElement, setTriggerValue }) {
  const walk = walks.get(parentElement) ?? new Walk(parentElement);
  walks.set(parentElement, walk);
  walk.setTriggerValue = setTriggerValue;
  walk.receive(data);
  return onLeaving(parentElement, () => {
    walk.stop();
    walks.delete(parentElement);
  });
}

class Walk {
  /** @param {ShadowRoot} parent */
  constructor(parent) {
    /** @type {(name: string, value: unknown) => void} */
    this.setTriggerValue = () => {};
    /** The parent node, if there is one.
        @type {string | undefined} */
    this.above = undefined;
    this.mayTakeFocus = false;
    this.root = addPart(parent, "div", "walk");
    keepKeys(this.root);
    this.field = addPart(this.root, "input", "field mono");
    this.field.type = "search";
    this.field.spellcheck = false;
    this.field.autocomplete = "off";
    this.field.placeholder = "First characters of tokens, such as  th";
    this.field.setAttribute("aria-label", "First characters of tokens");
    this.problem = addPart(this.root, "p", "problem");
    this.problem.setAttribute("role", "alert");
    this.problem.hidden = true;
    this.path = addPart(this.root, "nav", "path");
    this.path.setAttribute("aria-label", "Path to this node");
    this.sentence = addPart(this.root, "p", "sentence");
    this.sentence.setAttribute("role", "status");
    this.list = addPart(this.root, "ol", "branches");
    this.typed = new TypedPrefix((text, problem) => {
      this.problem.hidden = !problem;
      this.problem.textContent = problem;
      if (!problem) this.setTriggerValue("typed", text);
    });
    this.#listen();
  }

  /** @param {PrefixData} data */
  receive(data) {
    if (this.typed.receive(data.text)) this.field.value = data.text;
    this.above = data.path.at(-2)?.prefix;
    const go = (/** @type {string} */ prefix) => this.#go(prefix);
    const open = (/** @type {number} */ id) => this.setTriggerValue("opened", id);
    drawPath(this.path, data, go);
    drawSentence(this.sentence, data, open);
    drawBranches(this.list, data, go, open);
    if (this.mayTakeFocus) (this.#firstBranch() ?? this.field).focus();
    this.mayTakeFocus = false;
  }

  stop() {
    this.typed.stop();
    this.root.remove();
  }

  /** @returns {HTMLElement | null} */
  #firstBranch() {
    return this.list.querySelector(".branch");
  }

  /** @param {string} prefix */
  #go(prefix) {
    this.mayTakeFocus = true;
    this.typed.forget();
    this.setTriggerValue("moved", prefix);
  }

  #listen() {
    this.field.addEventListener("input", () => this.typed.type(this.field.value));
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      this.#firstBranch()?.focus();
    });
    walkByArrows(this.list, ".branch");
    this.list.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight") closest(event, ".branch")?.click();
      else if ((event.key === "ArrowLeft" || event.key === "Backspace") && this.above !== undefined) this.#go(this.above);
      else return;
      event.preventDefault();
    });
  }
}

/** @param {HTMLElement} path
    @param {PrefixData} data
    @param {Go} go */
function drawPath(path, data, go) {
  path.textContent = "";
  data.path.forEach(({ token, prefix }, place) => {
    if (place) addPart(path, "span", "muted", "›").setAttribute("aria-hidden", "true");
    const isLast = place === data.path.length - 1;
    const step = isLast ? addPart(path, "b", "step") : addButton(path, "step plain", undefined, () => go(prefix));
    if (place) {
      step.dir = findDirection(token) || "ltr";
      drawToken(step, token);
    } else step.textContent = "all tokens";
    if (isLast) step.setAttribute("aria-current", "location");
  });
}

/** @param {HTMLElement} sentence
    @param {PrefixData} data
    @param {Open} open */
function drawSentence(sentence, data, open) {
  sentence.textContent = data.sentence;
  if (data.own) sentence.append(" It is a token itself: ", tileButton(data.own, open, { small: true }));
  if (data.longest) sentence.append(" The longest token at its start is ", tileButton(data.longest, open, { small: true }), ".");
}

/** @param {HTMLElement} list
    @param {PrefixData} data
    @param {Go} go
    @param {Open} open */
function drawBranches(list, data, go, open) {
  list.textContent = "";
  const most = Math.max(1, ...data.branches.map((branch) => branch.n));
  for (const branch of data.branches) {
    const item = addPart(list, "li", "");
    const button = addButton(item, "branch", undefined, () => go(branch.prefix));
    const name = addPart(button, "span", "way");
    if (branch.shown) drawTile(addPart(name, "span", ""), { ...branch.shown, token: branch.more }, { small: true });
    else {
      const passing = addPart(name, "span", "tile small passing");
      passing.dir = findDirection(branch.more) || "ltr";
      drawToken(passing, findBeginning(branch.more)[0]);
    }
    addPart(addPart(button, "span", "track"), "i", "").style.width = `${(100 * branch.n) / most}%`;
    addPart(button, "span", "count", grouped(branch.n));
    const itself = branch.shown ? ", a token itself" : "";
    button.setAttribute("aria-label", `${spokenToken(branch.more)}: ${counted(branch.n, "token")}${itself}`);
    const then = addPart(item, "span", "then");
    for (const one of branch.ahead) then.append(tileButton(one, open, { small: true }));
  }
}
