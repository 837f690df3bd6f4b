import { spokenToken } from "../shared/characters.js";
import { addPart } from "../shared/elements.js";
import { makeTile } from "../shared/token_drawing.js";

export default function mountPretokenStrip({ data, parentElement }) {
  const strip = parentElement.querySelector(".strip");
  strip.textContent = "";
  for (const pretoken of data.pretokens) {
    const tile = makeTile(pretoken, 0, { symbol: true });
    tile.setAttribute("role", "listitem");
    tile.setAttribute("aria-label", spokenToken(pretoken));
    strip.append(tile);
  }
  if (!data.pretokens.length) addPart(strip, "span", "none", "No pre-token in this line.");
}
