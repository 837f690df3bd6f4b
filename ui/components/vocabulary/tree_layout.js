// Lays a derivation tree out in a grid: the token on top, its symbols in the bottom row, and each merge
// above its two parts. A cell extends up to the merge that uses it.

/** `parts` are indices in the tree; null for a symbol, or where the tree is cut off.
    @typedef {{ parts: [number, number] | null }} TreePart */

/** The position of a part in lines of the grid, from 1; the end is exclusive.
    @typedef {{ place: number, rows: [number, number], columns: [number, number] }} TreeCell */

/** Return the cells of a tree, from a token to its parts, left to right, and the number of columns.
    @param {TreePart[]} tree The token first, and every part after the token that it is part of.
    @returns {{ cells: TreeCell[], columns: number }} */
export function layOutTree(tree) {
  const height = new Array(tree.length).fill(0);
  const width = new Array(tree.length).fill(1);
  for (let i = tree.length - 1; i >= 0; i--) {
    const { parts } = tree[i];
    if (!parts) continue;
    height[i] = 1 + Math.max(height[parts[0]], height[parts[1]]);
    width[i] = width[parts[0]] + width[parts[1]];
  }
  const rows = height[0] + 1;
  /** @type {TreeCell[]} */
  const cells = [];
  /** @param {number} place
      @param {number} column
      @param {number} top */
  const add = (place, column, top) => {
    const bottom = rows - height[place] + 1;
    cells.push({ place, rows: [top, bottom], columns: [column, column + width[place]] });
    const { parts } = tree[place];
    if (!parts) return;
    add(parts[0], column, bottom);
    add(parts[1], column + width[parts[0]], bottom);
  };
  add(0, 1, 1);
  return { cells, columns: width[0] };
}
