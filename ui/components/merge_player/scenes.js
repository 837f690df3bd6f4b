// Scenes: which of the words that merges touch stand there together, and for how long.

/** Words that a merge of a block changes, those with most occurrences first. */
export function touchedIn(block, step) {
  const width = block.widths.touched;
  const from = (step - block.start) * width;
  return Array.from(block.touched.subarray(from, from + width)).filter((word) => word >= 0);
}

/** Cuts the merges of a block into scenes: neighbouring merges whose words fit together in `room` cells,
    so that the words stand still while merges that change few of them play. A scene is
    {from, to, words}; `cellsOf(word)` says how many cells a word takes. */
export function scenesOf(block, room, cellsOf) {
  const scenes = [];
  let scene = null;
  for (let step = block.start; step < block.stop; step++) {
    const touched = touchedIn(block, step);
    const fresh = scene ? touched.filter((word) => !scene.words.has(word)) : touched;
    const more = fresh.reduce((sum, word) => sum + cellsOf(word), 0);
    if (scene && scene.cells + more <= room) {
      scene.cells += more;
      for (const word of fresh) scene.words.add(word);
      scene.to = step + 1;
    } else {
      const cells = touched.reduce((sum, word) => sum + cellsOf(word), 0);
      scenes.push((scene = { from: step, to: step + 1, words: new Set(touched), cells }));
    }
  }
  return scenes;
}

/** The scene of one merge alone. */
export function sceneOf(block, step) {
  return { from: step, to: step + 1, words: new Set(touchedIn(block, step)) };
}

/** The scene of a block that a step stands in. */
export function sceneAt(scenes, step) {
  let low = 0;
  let high = scenes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (scenes[middle].to <= step) low = middle + 1;
    else high = middle;
  }
  return scenes[low]?.from <= step ? scenes[low] : null;
}
