// Reports the player's state to Python and the address, and requests blocks of merges from Python.

import { browserClock } from "../shared/clock.js";
import { blockNumber } from "./run.js";

/** @import { Clock } from "../shared/clock.js"
    @import { Block, Run } from "./run.js" */

/** @typedef {(name: string, value: unknown) => void} Send */

const REST_BEFORE_REPORT = 350; // ms the cursor rests before its step is reported
const REST_BEFORE_ASKING = 60; // ms the cursor rests before a missing block is requested
const MAX_FIRST_BLOCK = 8000; // ms to wait for the block that Python sends unrequested
const BLOCKS_AHEAD = 9; // blocks wanted ahead of the cursor while playing
const MAX_BLOCKS = 12; // blocks in one request
const FETCHED_WHOLE = 5000; // merges: a run up to this length is fetched whole, so that scrubbing never waits,
const MAX_BLOCKS_OF_WHOLE = 40; // with this many blocks in one request

export class Link {
  /** @param {(step: number) => void} writeAddress
      @param {Clock} clock */
  constructor(writeAddress, clock = browserClock) {
    this.writeAddress = writeAddress;
    this.clock = clock;
    /** @type {Run | null} */
    this.run = null;
    /** Null in a saved replay, which has no Python behind it.
        @type {Send | null} */
    this.send = null;
    this.reported = 0;
    /** Numbers of the first and last requested block.
        @type {[number, number] | null} */
    this.asked = null;
    /** The step to report when they arrive.
        @type {number | null} */
    this.unreported = null;
    /** The step whose block was wanted last.
        @type {number | null} */
    this.wanted = null;
    this.comesUnasked = false;
    this.firstTimer = this.askTimer = this.reportTimer = this.wordsTimer = 0;
  }

  /** Connect to a run and to Python. Python sends the block at the starting step with the run, so that
      block is not requested.
      @param {Run} run
      @param {number} step
      @param {Send | null} send */
  connect(run, step, send) {
    this.send = send;
    if (this.run === run) return;
    this.run = run;
    this.reported = step;
    this.asked = null;
    this.comesUnasked = send !== null;
    this.clock.cancel(this.firstTimer);
    if (send) this.firstTimer = this.clock.after(() => this.stopWaiting(), MAX_FIRST_BLOCK);
  }

  /** The first block has arrived or is overdue: send the reports held back until now. */
  stopWaiting() {
    this.comesUnasked = false;
    this.clock.cancel(this.firstTimer);
    if (this.wanted !== null) this.want(this.wanted);
    this.reportHeldBack();
  }

  /** Report the cursor to Python and the address once it has come to rest.
      @param {number} step */
  report(step) {
    this.stayQuiet(); // a report held back is outdated
    this.reportTimer = this.clock.after(() => this.reportNow(step), REST_BEFORE_REPORT);
  }

  stayQuiet() {
    this.unreported = null;
    this.clock.cancel(this.reportTimer);
  }

  /** @param {number} step */
  reportNow(step) {
    if (!this.send || step === this.reported) return;
    // With two requests at once, Streamlit would send the block with both answers.
    const waits = this.asked !== null || this.comesUnasked;
    this.unreported = waits ? step : null;
    if (waits) return;
    this.reported = step;
    this.writeAddress(step);
    this.send("step", step);
  }

  /** @param {string} text */
  reportWords(text) {
    this.clock.cancel(this.wordsTimer);
    this.wordsTimer = this.clock.after(() => this.send?.("words", text), REST_BEFORE_REPORT);
  }

  /** Request the block at the cursor, if missing, once the cursor has come to rest.
      @param {number} step */
  want(step) {
    const { run } = this;
    this.clock.cancel(this.askTimer);
    this.wanted = step;
    if (!this.send || !run?.n_merges || this.comesUnasked) return;
    const number = blockNumber(run, step);
    if (!run.blocks.has(number)) this.askTimer = this.clock.after(() => this.ask(number, number), REST_BEFORE_ASKING);
    else if (run.n_merges <= FETCHED_WHOLE) this.wantBetween(run, 0, run.block_starts.length - 1, MAX_BLOCKS_OF_WHOLE);
  }

  /** While playing, request the next blocks before the cursor reaches them.
      @param {number} step */
  wantAhead(step) {
    const { run } = this;
    if (!run) return;
    const here = blockNumber(run, step);
    this.wantBetween(run, here, Math.min(here + BLOCKS_AHEAD, run.block_starts.length - 1), MAX_BLOCKS);
  }

  /** Request the first missing block and, to save requests, as many missing ones after it as allowed.
      Only one request is open at a time.
      @param {Run} run
      @param {number} first
      @param {number} last
      @param {number} most */
  wantBetween(run, first, last, most) {
    if (!this.send || this.asked || this.comesUnasked) return;
    const isMissing = (/** @type {number} */ number) => !run.blocks.has(number);
    while (first <= last && !isMissing(first)) first++;
    if (first > last) return;
    const end = run.block_starts.length - 1;
    let to = first;
    while (to < end && to - first + 1 < most && isMissing(to + 1)) to++;
    this.ask(first, to);
  }

  /** @param {number} first
      @param {number} last */
  ask(first, last) {
    if (this.asked?.[0] === first || this.run?.blocks.has(first)) return;
    this.asked = [first, last];
    this.send?.("block", this.asked);
  }

  /** Note that a block has arrived.
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
