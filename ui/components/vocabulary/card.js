// The card of one token: its facts, its derivation tree, and the tokens built on it.

import { findDirection } from "../shared/characters.js";
import { addPart, find, keepKeys } from "../shared/elements.js";
import { onLeaving } from "../shared/leaving.js";
import { grouped } from "../shared/numbers.js";
import { drawTile, tileButton } from "./parts.js";
import { layOutTree } from "./tree_layout.js";

/** @import { Component } from "../shared/component.js"
    @import { ShownToken } from "./parts.js"
    @import { TreePart } from "./tree_layout.js" */

/** @typedef {object} CardData
    @property {ShownToken} shown
    @property {[string, string][]} facts
    @property {string} warning
    @property {(ShownToken & TreePart)[]} tree
    @property {string} tree_sentence
    @property {ShownToken[]} built
    @property {string} built_sentence */

/** @typedef {(id: number) => void} Open */

/** Wider trees are drawn dense, with a merge's number below its token, so that words of up to twenty
    letters fit next to the table on a laptop. */
const MAX_COLUMNS_WITH_GAPS = 12;

/** @type {WeakMap<ShadowRoot, { root: HTMLElement, drawn: string, open: Open }>} */
const cards = new WeakMap();

/** @param {Component<CardData>} component */
export default function mountCard({ data, parentElement, setTriggerValue }) {
  const card = cards.get(parentElement) ?? makeCard(parentElement);
  cards.set(parentElement, card);
  card.open = (id) => setTriggerValue("opened", id);
  const now = JSON.stringify(data);
  if (now !== card.drawn) {
    const hadFocus = card.root.contains(parentElement.activeElement);
    card.drawn = now;
    card.root.textContent = "";
    drawCard(card.root, data, (id) => card.open(id));
    // The button that had the focus was removed with the old card.
    if (hadFocus) find(card.root, "h2", HTMLElement).focus();
  }
  return onLeaving(parentElement, () => {
    card.root.remove();
    cards.delete(parentElement);
  });
}

/** @param {ShadowRoot} parent */
function makeCard(parent) {
  const root = addPart(parent, "div", "card");
  keepKeys(root);
  return { root, drawn: "", open: () => {} };
}

/** @param {HTMLElement} root
    @param {CardData} data
    @param {Open} open */
function drawCard(root, data, open) {
  const { shown } = data;
  const heading = addPart(root, "h2", "");
  heading.tabIndex = -1;
  drawTile(addPart(heading, "span", ""), shown).classList.add("big");
  addPart(heading, "span", "visually-hidden", `, token ${shown.id}`);
  const facts = addPart(root, "dl", "");
  for (const [name, value] of data.facts) {
    addPart(facts, "dt", "", name);
    addPart(facts, "dd", name === "bytes" ? "hex" : "", value);
  }
  if (data.warning) addPart(root, "p", "warning", data.warning);
  if (data.tree.length > 1) {
    addPart(root, "h3", "", "How it was made");
    addPart(root, "p", "muted", data.tree_sentence);
    drawTree(root, data.tree, open);
  }
  if (!data.built_sentence) return;
  addPart(root, "h3", "", "Built on it");
  addPart(root, "p", "muted", data.built_sentence);
  const built = addPart(root, "div", "built");
  for (const one of data.built) built.append(tileButton(one, open, { small: true }));
}

/** @param {HTMLElement} root
    @param {(ShownToken & TreePart)[]} tree
    @param {Open} open */
function drawTree(root, tree, open) {
  const frame = addPart(root, "div", "tree-frame");
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "The merges that make this token");
  showMoreAtEdges(frame);
  const grid = addPart(frame, "div", "tree");
  grid.dir = findDirection(tree[0].token) || "ltr";
  const { cells, columns } = layOutTree(tree);
  grid.classList.toggle("dense", columns > MAX_COLUMNS_WITH_GAPS);
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(var(--symbol-width), auto))`;
  for (const cell of cells) {
    const node = tree[cell.place];
    const tile = tileButton(node, open, { small: true });
    tile.style.gridRow = cell.rows.join(" / ");
    tile.style.gridColumn = cell.columns.join(" / ");
    if (node.kind === "merge") {
      // The number is inside the name, so that both stay visible while the tree is scrolled.
      addPart(find(tile, "span", HTMLElement), "small", "", grouped(node.rank + 1));
      tile.setAttribute("aria-label", `${tile.getAttribute("aria-label")}, merge ${node.rank + 1}`);
      if (!node.parts) tile.classList.add("cut");
    }
    grid.append(tile);
  }
}

/** Fade the edges of a frame towards which it can be scrolled.
    @param {HTMLElement} frame */
function showMoreAtEdges(frame) {
  const show = () => {
    const right = frame.scrollWidth - frame.clientWidth - frame.scrollLeft;
    frame.classList.toggle("more-left", frame.scrollLeft > 1);
    frame.classList.toggle("more-right", right > 1);
  };
  frame.addEventListener("scroll", show);
  new ResizeObserver(show).observe(frame);
}
