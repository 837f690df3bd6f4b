export default function ({ data, parentElement }) {
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
