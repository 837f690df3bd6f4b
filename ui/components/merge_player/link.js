// What Python and the address hear of the player, and which blocks of merges it asks Python for.

import { browserClock } from "../shared/clock.js";
import { blockNumber } from "./run.js";

/** @import { Clock } from "../shared/clock.js"
    @import { Block, Run } from "./run.js" */

/** @typedef {(name: string, value: unknown) => void} Say */

const REST_BEFORE_REPORT = 350; // ms the cursor rests before Python and the address hear of it
const REST_BEFORE_ASKING = 60; // ms the cursor rests before a missing block is asked for
const LONGEST_FIRST_BLOCK = 8000; // ms that a player waits for the block that comes unasked
const BLOCKS_AHEAD = 9; // blocks wanted ahead of the cursor while playing
const MOST_BLOCKS = 12; // blocks asked for at once
const FETCHED_WHOLE = 5000; // merges: a run of no more is fetched to its end, so that it scrubs at once,
const MOST_BLOCKS_OF_WHOLE = 40; // in as few requests as may be

export class Link {
  /** @param {(step: number) => void} writeAddress
      @param {Clock} clock */
  constructor(writeAddress, clock = browserClock) {
    this.writeAddress = writeAddress;
    this.clock = clock;
    /** @type {Run | null} */
    this.run = null;
    /** Null in a saved replay, where nobody listens.
        @type {Say | null} */
    this.say = null;
    this.reported = 0;
    /** Numbers of the first and last block that are on their way.
        @type {[number, number] | null} */
    this.asked = null;
    /** The step to report when they have come.
        @type {number | null} */
    this.unreported = null;
    /** The step whose block was wanted last.
        @type {number | null} */
    this.wanted = null;
    this.comesUnasked = false;
    this.firstTimer = this.askTimer = this.reportTimer = this.wordsTimer = 0;
  }

  /** Take another run, or another place to say things to. With a run Python sends the block at its
      step: asking for it would have it come twice.
      @param {Run} run
      @param {number} step
      @param {Say | null} say */
  connect(run, step, say) {
    this.say = say;
    if (this.run === run) return;
    this.run = run;
    this.reported = step;
    this.asked = null;
    this.comesUnasked = say !== null;
    this.clock.cancel(this.firstTimer);
    if (say) this.firstTimer = this.clock.after(() => this.stopWaiting(), LONGEST_FIRST_BLOCK);
  }

  /** The first block has come, or is given up: say what was held back till then. */
  stopWaiting() {
    this.comesUnasked = false;
    this.clock.cancel(this.firstTimer);
    if (this.wanted !== null) this.want(this.wanted);
    this.reportHeldBack();
  }

  /** Tell Python and the address where the cursor stands, once it has come to rest.
      @param {number} step */
  report(step) {
    this.stayQuiet(); // what was held back is outdated
    this.reportTimer = this.clock.after(() => this.reportNow(step), REST_BEFORE_REPORT);
  }

  stayQuiet() {
    this.unreported = null;
    this.clock.cancel(this.reportTimer);
  }

  /** @param {number} step */
  reportNow(step) {
    if (!this.say || step === this.reported) return;
    // Two requests at once would have Streamlit send the block with each of the answers.
    const waits = this.asked !== null || this.comesUnasked;
    this.unreported = waits ? step : null;
    if (waits) return;
    this.reported = step;
    this.writeAddress(step);
    this.say("step", step);
  }

  /** @param {string} text */
  reportWords(text) {
    this.clock.cancel(this.wordsTimer);
    this.wordsTimer = this.clock.after(() => this.say?.("words", text), REST_BEFORE_REPORT);
  }

  /** Ask for the block at the cursor, where it lacks, once the cursor has come to rest.
      @param {number} step */
  want(step) {
    const { run } = this;
    this.clock.cancel(this.askTimer);
    this.wanted = step;
    if (!this.say || !run?.n_merges || this.comesUnasked) return;
    const number = blockNumber(run, step);
    if (!run.blocks.has(number)) this.askTimer = this.clock.after(() => this.ask(number, number), REST_BEFORE_ASKING);
    else if (run.n_merges <= FETCHED_WHOLE) this.wantBetween(run, 0, run.block_starts.length - 1, MOST_BLOCKS_OF_WHOLE);
  }

  /** While playing, ask for the next blocks before the cursor comes there.
      @param {number} step */
  wantAhead(step) {
    const { run } = this;
    if (!run) return;
    const here = blockNumber(run, step);
    this.wantBetween(run, here, Math.min(here + BLOCKS_AHEAD, run.block_starts.length - 1), MOST_BLOCKS);
  }

  /** Ask for the first of these blocks that lacks and, to save requests, for as many that lack after
      it as one may ask for; one answer is awaited at a time.
      @param {Run} run
      @param {number} first
      @param {number} last
      @param {number} most */
  wantBetween(run, first, last, most) {
    if (!this.say || this.asked || this.comesUnasked) return;
    const lacks = (/** @type {number} */ number) => !run.blocks.has(number);
    while (first <= last && !lacks(first)) first++;
    if (first > last) return;
    const end = run.block_starts.length - 1;
    let to = first;
    while (to < end && to - first + 1 < most && lacks(to + 1)) to++;
    this.ask(first, to);
  }

  /** @param {number} first
      @param {number} last */
  ask(first, last) {
    if (this.asked?.[0] === first || this.run?.blocks.has(first)) return;
    this.asked = [first, last];
    this.say?.("block", this.asked);
  }

  /** Take note of a block that has come.
      @param {Pick<Block, "start">} block */
  answered(block) {
    if (this.comesUnasked) return this.stopWaiting();
    if (!this.run || this.asked?.[0] !== blockNumber(this.run, block.start)) return;
    this.asked = null;
    this.reportHeldBack();
  }

  reportHeldBack() {
    if (this.unreported !== null) this.report(this.unreported);
  }

  close() {
    for (const timer of [this.reportTimer, this.askTimer, this.firstTimer, this.wordsTimer]) this.clock.cancel(timer);
  }
}
