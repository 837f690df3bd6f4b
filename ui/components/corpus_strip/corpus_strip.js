import { addPart } from "../shared/elements.js";

const MOST_PARTS = 6;

function percent(share) {
  return share < 0.0005 ? "< 0.1%" : `${(share * 100).toFixed(1)}%`;
}

/** The largest shares by name, the small ones together. */
function partsOf(shares) {
  if (shares.length <= MOST_PARTS) return shares;
  const rest = shares.slice(MOST_PARTS - 1);
  const share = rest.reduce((sum, part) => sum + part.share, 0);
  return [...shares.slice(0, MOST_PARTS - 1), { name: `${rest.length} more`, share, rest: true }];
}

export default function mountCorpusStrip({ data, parentElement }) {
  const root = parentElement.querySelector(".corpus");
  root.textContent = "";
  const figures = addPart(root, "dl", "figures");
  for (const { value, name } of data.figures) {
    const cell = addPart(figures, "div", "");
    addPart(cell, "dt", "", name);
    addPart(cell, "dd", "", value);
  }
  const parts = partsOf(data.shares);
  if (!parts.length) return;
  const bar = addPart(root, "div", "bar");
  bar.setAttribute("aria-hidden", "true");
  const key = addPart(root, "ul", "key");
  parts.forEach((part, i) => {
    const rest = part.rest || part.name === "digits and other";
    const tone = rest ? "tone-rest" : `tone-${Math.min(i, 4)}`;
    addPart(bar, "div", `part ${tone}`).style.flex = `${part.share} 1 0`;
    const entry = addPart(key, "li", "");
    addPart(entry, "span", `swatch ${tone}`);
    addPart(entry, "span", "", part.name);
    addPart(entry, "b", "", percent(part.share));
  });
}
