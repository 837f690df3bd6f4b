// The tokens that begin alike, as a walk through their trie: one node at a time, with its ways on.

import { codePointName, halfCharacter, spokenToken } from "../shared/characters.js";
import { addButton, addPart, keepKeys } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { drawToken } from "../shared/token_drawing.js";
import { beginningOf, drawTile, tileButton, walkByArrows } from "./parts.js";

const PAUSE_MS = 150;
const MOST_ECHOES = 16;
const walks = new WeakMap();

export default function mountPrefixes({ data, parentElement, setTriggerValue }) {
  let walk = walks.get(parentElement);
  if (!walk) walks.set(parentElement, (walk = makeWalk(parentElement)));
  walk.type = (text) => setTriggerValue("typed", text);
  walk.go = (prefix) => setTriggerValue("went", prefix);
  walk.open = (id) => setTriggerValue("opened", id);
  walk.receive(data);
  return () => {
    walk.stop();
    walks.delete(parentElement);
  };
}

function makeWalk(parent) {
  const root = addPart(parent, "div", "walk");
  keepKeys(root);
  const field = addPart(root, "input", "field mono");
  field.type = "search";
  field.spellcheck = false;
  field.autocomplete = "off";
  field.placeholder = "Type how tokens begin, such as  th";
  field.setAttribute("aria-label", "How tokens begin");
  const problem = addPart(root, "p", "problem");
  problem.setAttribute("role", "alert");
  problem.hidden = true;
  const path = addPart(root, "nav", "path");
  path.setAttribute("aria-label", "The way to this node");
  const said = addPart(root, "p", "sentence");
  said.setAttribute("role", "status");
  const list = addPart(root, "ol", "branches");
  let sent = [];
  let timer = 0;
  let above = null;
  let mayTakeFocus = false;

  const walk = {
    type: () => {},
    go: () => {},
    open: () => {},
    receive(data) {
      const echo = sent.lastIndexOf(data.text);
      if (echo >= 0) sent = sent.slice(echo);
      else if (!timer) {
        sent = [];
        field.value = data.text;
      }
      above = data.path.length > 1 ? data.path.at(-2).prefix : null;
      drawPath(path, data, go);
      drawSentence(said, data, (id) => walk.open(id));
      drawBranches(list, data, go, (id) => walk.open(id));
      if (mayTakeFocus) (list.querySelector(".branch") ?? field).focus();
      mayTakeFocus = false;
    },
    stop() {
      clearTimeout(timer);
      root.remove();
    },
  };
  function go(prefix) {
    mayTakeFocus = true;
    sent = [];
    walk.go(prefix);
  }
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      const half = halfCharacter(field.value);
      problem.hidden = half < 0;
      if (half >= 0) {
        problem.textContent = `At position ${grouped(half + 1)} stands half a character (${codePointName(field.value[half])}, a lone surrogate), with which no token begins. Remove it.`;
        return;
      }
      sent = [...sent.slice(1 - MOST_ECHOES), field.value];
      walk.type(field.value);
    }, PAUSE_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    list.querySelector(".branch")?.focus();
  });
  walkByArrows(list, ".branch");
  list.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") event.target.closest(".branch")?.click();
    else if ((event.key === "ArrowLeft" || event.key === "Backspace") && above !== null) go(above);
    else return;
    event.preventDefault();
  });
  return walk;
}

function drawPath(path, data, go) {
  path.textContent = "";
  data.path.forEach(({ token, prefix }, place) => {
    if (place) addPart(path, "span", "muted", "›").setAttribute("aria-hidden", "true");
    const isLast = place === data.path.length - 1;
    const step = isLast ? addPart(path, "b", "step") : addButton(path, "step plain", undefined, () => go(prefix));
    if (place) drawToken(step, token);
    else step.textContent = "all tokens";
    if (isLast) step.setAttribute("aria-current", "location");
  });
}

function drawSentence(said, data, open) {
  said.textContent = data.sentence;
  if (data.own) said.append(" It is a token itself: ", tileButton(data.own, open, { small: true }));
  if (data.longest) said.append(" The longest token that it begins with is ", tileButton(data.longest, open, { small: true }), ".");
}

function drawBranches(list, data, go, open) {
  list.textContent = "";
  const most = Math.max(1, ...data.branches.map((branch) => branch.n));
  for (const branch of data.branches) {
    const item = addPart(list, "li", "");
    const button = addButton(item, "branch", undefined, () => go(branch.prefix));
    const name = addPart(button, "span", "way");
    if (branch.known) drawTile(addPart(name, "span", ""), { ...branch.known, token: branch.more }, { small: true });
    else drawToken(addPart(name, "span", "tile small passing"), beginningOf(branch.more)[0]);
    addPart(addPart(button, "span", "track"), "i", "").style.width = `${(100 * branch.n) / most}%`;
    addPart(button, "span", "count", grouped(branch.n));
    const tokens = branch.n === 1 ? "1 token" : `${grouped(branch.n)} tokens`;
    button.setAttribute("aria-label", `${spokenToken(branch.more)}: ${tokens}${branch.known ? ", a token itself" : ""}`);
    const then = addPart(item, "span", "then");
    for (const one of branch.ahead) then.append(tileButton(one, open, { small: true }));
  }
}
