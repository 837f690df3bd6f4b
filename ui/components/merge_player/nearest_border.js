// Which two neighbouring tiles a pointer means.

/** Return the place of the box whose right edge, shared with the next, lies nearest to a point. Boxes
    on other lines are farther away by their height. Null where there are no two boxes.
    @param {{ right: number, top: number, bottom: number }[]} boxes
    @param {number} x
    @param {number} y */
export function nearestBorder(boxes, x, y) {
  let nearest = null;
  let least = Infinity;
  for (let i = 0; i + 1 < boxes.length; i++) {
    const { right, top, bottom } = boxes[i];
    const distance = Math.abs(x - right) + 4 * Math.max(0, top - y, y - bottom);
    if (distance < least) [least, nearest] = [distance, i];
  }
  return nearest;
}
