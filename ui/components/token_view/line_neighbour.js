// Move between lines of elements of different widths.

const LEAST_LINE = 20; // px, the least distance between lines

/** Return the nearest element in the line below or above; the same one if there is no such line.
    @param {number} at
    @param {1 | -1} direction
    @param {number} n
    @param {(place: number) => { top: number, left: number } | undefined} boxOf */
export function lineNeighbour(at, direction, n, boxOf) {
  const here = boxOf(at);
  if (!here) return at;
  let best = at;
  let bestDistance = Infinity;
  let line = null;
  for (let i = at + direction; i >= 0 && i < n; i += direction) {
    const box = boxOf(i);
    if (!box || Math.abs(box.top - here.top) < LEAST_LINE) continue;
    line ??= box.top;
    if (Math.abs(box.top - line) > LEAST_LINE) break;
    const distance = Math.abs(box.left - here.left);
    if (distance < bestDistance) [best, bestDistance] = [i, distance];
  }
  return best;
}
