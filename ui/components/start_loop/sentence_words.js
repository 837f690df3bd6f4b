// The words of a sentence as tiles, line by line. Each word stays on the line that its characters take it
// to, and follows the words before it as their tiles merge.

import { SLIDE } from "../merge_player/sliding.js";
import { newCell, WordGrid } from "../merge_player/word_grid.js";
import { addPart } from "../shared/elements.js";

/** @import { Run } from "../merge_player/run.js" */

export class SentenceWords extends WordGrid {
  /** @param {HTMLElement} list */
  constructor(list) {
    super(list);
    this.longest = Infinity;
    this.width = 0;
  }

  /** Place the words of a run, and draw their characters.
      @param {Run} run */
  place(run) {
    this.run = run;
    this.cells = run.frequent.map((word) => newCell(word.key, "", word));
    this.breakLines();
  }

  /** Break the lines where the characters reach the end of the list as it is now, and keep their heights. */
  breakLines() {
    this.list.textContent = "";
    const whole = addPart(this.list, "ul", "line");
    for (const { item } of this.cells) {
      item.style.minHeight = "";
      whole.append(item);
    }
    this.draw(0, { marked: false });
    // All is measured together, because each measuring after a change lays out the page again.
    const places = this.cells.map(({ item }) => item.getBoundingClientRect());
    this.width = this.list.clientWidth;
    let line = whole;
    this.cells.forEach(({ item }, i) => {
      if (i && places[i].top > places[i - 1].top) line = addPart(this.list, "ul", "line");
      line.append(item);
      item.style.minHeight = `${places[i].height}px`;
    });
  }

  /** @param {number} step
      @param {{ marked: boolean, slide?: number }} how */
  draw(step, how) {
    this.follow(how.slide ?? 0, () => super.draw(step, how));
  }

  /** Change tiles, and let the words behind them slide to their new places.
      @param {number} duration
      @param {() => void} change */
  follow(duration, change) {
    const left = () => this.cells.map(({ item }) => item.getBoundingClientRect().left);
    const before = duration ? left() : [];
    change();
    if (!duration) return;
    const after = left();
    this.cells.forEach(({ item }, i) => {
      if (before[i] === after[i]) return;
      item.animate([{ transform: `translateX(${before[i] - after[i]}px)` }, { transform: "none" }], { duration, easing: SLIDE });
    });
  }
}
