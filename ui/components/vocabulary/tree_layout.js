// A token's tree in a grid: symbols in the bottom row, the token on top; between them each merge spans
// what it joined. A part reaches up to the merge that takes it.

/** `parts` are places in the tree; null for a token that no merge makes, or whose parts are left out.
    @typedef {{ parts: [number, number] | null }} TreePart */

/** Where a part stands, in lines of the grid, both from 1 and the second left out.
    @typedef {{ place: number, rows: [number, number], columns: [number, number] }} TreeCell */

/** Return the cells of a tree, from a token to its parts, left to right, and how many columns it takes.
    @param {TreePart[]} tree The token itself is first, and parts stand behind what they are parts of.
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
