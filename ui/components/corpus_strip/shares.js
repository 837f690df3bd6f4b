// Turn shares of a whole into parts of a bar.

/** `rest` marks the part that combines the smallest shares.
    @typedef {{ name: string, share: number, rest?: boolean }} Share */

const MOST_PARTS = 6;

/** @param {number} share */
export function percent(share) {
  return share < 0.0005 ? "< 0.1%" : `${(share * 100).toFixed(1)}%`;
}

/** Return the largest shares, with the small ones combined into one.
    @param {Share[]} shares The largest first.
    @returns {Share[]} */
export function partsOf(shares) {
  if (shares.length <= MOST_PARTS) return shares;
  const rest = shares.slice(MOST_PARTS - 1);
  const share = rest.reduce((sum, part) => sum + part.share, 0);
  return [...shares.slice(0, MOST_PARTS - 1), { name: `${rest.length} more`, share, rest: true }];
}
