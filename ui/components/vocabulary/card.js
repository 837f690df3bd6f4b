// One token: what it is, the merges it was made by as a picture, and the tokens that are built on it.

import { addPart, keepKeys } from "../shared/elements.js";
import { grouped } from "../shared/numbers.js";
import { drawTile, tileButton } from "./parts.js";

const cards = new WeakMap();

export default function mountCard({ data, parentElement, setTriggerValue }) {
  let card = cards.get(parentElement);
  if (!card) {
    const root = addPart(parentElement, "div", "card");
    keepKeys(root);
    cards.set(parentElement, (card = { root, drawn: "" }));
  }
  card.open = (id) => setTriggerValue("opened", id);
  const now = JSON.stringify(data);
  if (now !== card.drawn) {
    const hadFocus = card.root.contains(parentElement.activeElement ?? card.root.getRootNode().activeElement);
    card.drawn = now;
    card.root.textContent = "";
    drawCard(card.root, data, (id) => card.open(id));
    // The button that was pressed is gone with the token that it stood under.
    if (hadFocus) card.root.querySelector("h2").focus();
  }
  return () => {
    card.root.remove();
    cards.delete(parentElement);
  };
}

function drawCard(root, data, open) {
  const { known } = data;
  const heading = addPart(root, "h2", "");
  heading.tabIndex = -1;
  drawTile(addPart(heading, "span", ""), known).classList.add("big");
  addPart(heading, "span", "said", `, token ${known.id}`);
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

/** Symbols in the bottom row, the token on top; between them each merge spans what it joined. A part
    reaches up to the merge that takes it. */
function drawTree(root, nodes, open) {
  const height = new Array(nodes.length).fill(0);
  const width = new Array(nodes.length).fill(1);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { parts } = nodes[i];
    if (!parts) continue;
    height[i] = 1 + Math.max(height[parts[0]], height[parts[1]]);
    width[i] = width[parts[0]] + width[parts[1]];
  }
  const frame = addPart(root, "div", "tree-frame");
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "The merges this token was made by");
  const grid = addPart(frame, "div", "tree");
  grid.style.gridTemplateColumns = `repeat(${width[0]}, minmax(28px, auto))`;
  const rows = height[0] + 1;
  // Depth first: the tab key goes from a token to its parts, left to right.
  const waiting = [[0, 1, 1]];
  while (waiting.length) {
    const [i, column, top] = waiting.pop();
    const node = nodes[i];
    const bottom = rows - height[i] + 1;
    const tile = tileButton(node, open, { small: true });
    tile.style.gridArea = `${top} / ${column} / ${bottom} / ${column + width[i]}`;
    if (node.kind === "merge") {
      addPart(tile, "small", "", grouped(node.rank + 1));
      tile.setAttribute("aria-label", `${tile.getAttribute("aria-label")}, merge ${node.rank + 1}`);
      if (!node.parts) tile.classList.add("cut");
    }
    grid.append(tile);
    if (node.parts) {
      waiting.push([node.parts[1], column + width[node.parts[0]], bottom]);
      waiting.push([node.parts[0], column, bottom]);
    }
  }
}
