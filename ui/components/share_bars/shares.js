// Convert the shares of several texts to parts of bars that can be compared.

/** @typedef {{ name: string, share: number }} Share
    @typedef {{ name: string, shares: number[], rest: boolean }} Part */

const MAX_PARTS = 6;

/** @param {number} share */
export function percent(share) {
  return share > 0 && share < 0.0005 ? "< 0.1%" : `${(share * 100).toFixed(1)}%`;
}

/** Return the largest parts of the first text, with the share of each text, and the small ones
    combined into one.
    @param {Share[][]} texts The shares of each text; those of the first from the largest down.
    @returns {Part[]} */
export function listParts(texts) {
  const names = (texts[0] ?? []).map((share) => share.name);
  const named = names.length <= MAX_PARTS ? names : names.slice(0, MAX_PARTS - 1);
  const byName = texts.map((shares) => new Map(shares.map(({ name, share }) => [name, share])));
  const parts = named.map((name) => ({
    name,
    shares: byName.map((shares) => shares.get(name) ?? 0),
    rest: name === "digits and other",
  }));
  const others = new Set(texts.flat().map((share) => share.name).filter((name) => !named.includes(name)));
  if (!others.size) return parts;
  const shares = byName.map((found) =>
    [...others].reduce((sum, name) => sum + (found.get(name) ?? 0), 0),
  );
  return [...parts, { name: "the rest", shares, rest: true }];
}
