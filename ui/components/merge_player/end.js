// The last frame: how much shorter the text has become, the text as a ribbon, the merges that saved most, and
// where to go from here.

import { utf8 } from "../shared/characters.js";
import { addPart, find } from "../shared/elements.js";
import { counted, grouped } from "../shared/numbers.js";
import { joinsOfTokens } from "../shared/bars.js";
import { Ribbon } from "../shared/ribbon.js";
import { savedSentences } from "./notes.js";
import { couple, smallTile } from "./tiles.js";

/** @import { Ending, RibbonTokens, Run } from "./run.js" */

const MOST = 9; // characters of a token

export class EndView {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.section = find(root, ".end", HTMLElement);
    /** @type {Ribbon | null} */
    this.ribbon = null;
  }

  /** Write what the end shows, before it is reached: its room is kept, so that nothing moves then.
      @param {Run} run */
  prepare(run) {
    this.destroy();
    const { end } = run;
    const next = run.isSaved ? [] : end?.next ?? []; // a saved replay has no pages around it
    const parts = [".before-and-after", ".saved h2", ".saved p", ".savers", ".next-steps ul", ".result"];
    for (const part of parts) find(this.section, part, HTMLElement).textContent = "";
    find(this.section, ".next-steps", HTMLElement).hidden = !next.length;
    if (!end) return;
    const result = find(this.section, ".result", HTMLElement);
    result.append(`${grouped(end.before)} `);
    addPart(result, "span", "muted", "→").setAttribute("aria-label", "to");
    result.append(` ${counted(end.after, "token")}`);
    if (end.ribbon) this.#drawRibbon(run, end.ribbon);
    if (end.savers.length) this.#drawSavers(run, end);
    for (const { name, note, href } of next) {
      const item = addPart(find(this.section, ".next-steps ul", HTMLElement), "li", "");
      const link = addPart(item, "a", "", `${name} →`);
      link.href = href;
      link.addEventListener("click", (event) => goTo(event, href));
      addPart(item, "p", "muted", note);
    }
  }

  /** Show the end instead of the words and the race, or hide it.
      @param {boolean} isShown */
  show(isShown) {
    const parts = find(this.root, ".parts", HTMLElement);
    const { activeElement } = /** @type {ShadowRoot} */ (this.root.getRootNode());
    const hidden = isShown ? parts : this.section;
    // What becomes invisible must not keep the keyboard focus.
    if (hidden.contains(activeElement)) this.root.focus({ preventScroll: true });
    this.root.classList.toggle("ended", isShown);
  }

  destroy() {
    this.ribbon?.destroy();
    this.ribbon = null;
  }

  /** @param {Run} run
      @param {RibbonTokens} ribbon */
  #drawRibbon(run, { text, ids, lengths }) {
    const place = find(this.section, ".before-and-after", HTMLElement);
    const bytes = utf8(text);
    const slots = new Map();
    let start = 0;
    lengths.forEach((length, i) => {
      slots.set(start, ids[i] >= 0 && run.isLearned(ids[i]) ? run.findSlot(ids[i]) : -1);
      start += length;
    });
    this.ribbon = new Ribbon(place);
    const n = ids.filter((id) => id >= 0).length;
    this.ribbon.label = `Its first ${counted(bytes.length, "byte")} are ${counted(n, "token")} now.`;
    this.ribbon.setText({ bytes, joinedAt: joinsOfTokens(lengths), findSlot: (token) => slots.get(token.start) });
    addPart(place, "p", "muted", `The first ${counted(bytes.length, "byte")} of the text: ${counted(n, "token")} now, each as wide as its bytes. Colour is learned.`);
  }

  /** @param {Run} run
      @param {Ending} end */
  #drawSavers(run, end) {
    const { heading, note } = savedSentences(end, run.n_merges);
    find(this.section, ".saved h2", HTMLElement).textContent = heading;
    find(this.section, ".saved p", HTMLElement).textContent = note;
    const list = find(this.section, ".savers", HTMLElement);
    for (const [rank, saved] of end.savers) {
      const item = addPart(list, "li", "");
      addPart(item, "span", "muted", grouped(rank + 1)).setAttribute("aria-label", `Merge ${grouped(rank + 1)}:`);
      const rule = addPart(item, "span", "rule");
      rule.append(couple(run, { left: run.merge_left[rank], right: run.merge_right[rank] }, [MOST, MOST]));
      addPart(rule, "span", "muted", "→").setAttribute("aria-label", "becomes");
      rule.append(smallTile(run, run.merge_id[rank], 2 * MOST));
      const bar = addPart(addPart(item, "span", "bar"), "i", "");
      bar.style.width = `${(100 * saved) / end.savers[0][1]}%`;
      addPart(item, "b", "", grouped(saved)).setAttribute("aria-label", `saved ${counted(saved, "token")}`);
    }
  }
}

/** Open another page of the app without reloading, so that a visitor's session stays.
    @param {MouseEvent} event
    @param {string} href */
function goTo(event, href) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  window.history.pushState(null, "", href);
  window.dispatchEvent(new PopStateEvent("popstate"));
}
