// What Python and the address hear of the player, and which blocks of merges it asks Python for.

import { blockNumber } from "./run.js";

const REST_BEFORE_REPORT = 350; // ms the cursor rests before Python and the address hear of it
const REST_BEFORE_ASKING = 60; // ms the cursor rests before a missing block is asked for
const LONGEST_FIRST_BLOCK = 8000; // ms that a player waits for the block that comes unasked
const BLOCKS_AHEAD = 9; // blocks wanted ahead of the cursor while playing
const MOST_BLOCKS = 12; // blocks asked for at once
const FETCHED_WHOLE = 5000; // merges: a run of no more is fetched to its end, so that it scrubs at once,
const MOST_BLOCKS_OF_WHOLE = 40; // in as few requests as may be

export function addressParameter(name) {
  return new URLSearchParams(window.location.search).get(name);
}

/** The step in the address; null where there is none. */
export function stepOfAddress(run) {
  const text = addressParameter("step");
  return text !== null && /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), run.n_merges) : null;
}

/** What outlives a refresh; a browser may forbid to keep it. */
export const remembered = {
  get(name) {
    try {
      return sessionStorage.getItem(`merge-player-${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      sessionStorage.setItem(`merge-player-${name}`, value);
    } catch {
      // Then it lasts as long as the page.
    }
  },
};

export class Link {
  constructor() {
    this.say = null; // in a saved replay nobody listens
    this.asked = null; // numbers of the first and last block that are on their way
    this.unreported = null; // the step to report when they have come
    this.comesUnasked = false;
  }

  /** Another run, or another place to say things to. With a run Python sends the block at its step:
      asking for it would have it come twice. */
  connect(run, step, say) {
    this.say = say;
    if (this.run === run) return;
    this.run = run;
    this.reported = step;
    this.asked = null;
    this.comesUnasked = say !== null;
    clearTimeout(this.firstTimer);
    if (say) this.firstTimer = setTimeout(() => this.stopWaiting(), LONGEST_FIRST_BLOCK);
  }

  /** The first block has come, or is given up: what was held back till then is said. */
  stopWaiting() {
    this.comesUnasked = false;
    clearTimeout(this.firstTimer);
    if (this.wanted !== undefined) this.want(this.wanted);
    this.reportHeldBack();
  }

  /** Tells Python and the address where the cursor stands, once it has come to rest. */
  report(step) {
    this.stayQuiet(); // what was held back is outdated
    this.reportTimer = setTimeout(() => this.reportNow(step), REST_BEFORE_REPORT);
  }

  stayQuiet() {
    this.unreported = null;
    clearTimeout(this.reportTimer);
  }

  reportNow(step) {
    if (!this.say || step === this.reported) return;
    // Two requests at once would have Streamlit send the block with each of the answers.
    const waits = this.asked || this.comesUnasked;
    this.unreported = waits ? step : null;
    if (waits) return;
    this.reported = step;
    // Replaced, not pushed: the way back leads to the page before, not through every step.
    const address = new URL(window.location.href);
    if (step) address.searchParams.set("step", step);
    else address.searchParams.delete("step");
    window.history.replaceState(window.history.state, "", address);
    this.say("step", step);
  }

  reportWords(text) {
    clearTimeout(this.wordsTimer);
    this.wordsTimer = setTimeout(() => this.say?.("words", text), REST_BEFORE_REPORT);
  }

  /** Asks for the block at the cursor, where it lacks, once the cursor has come to rest. */
  want(step) {
    clearTimeout(this.askTimer);
    this.wanted = step;
    if (!this.say || !this.run.n_merges || this.comesUnasked) return;
    const number = blockNumber(this.run, step);
    if (!this.run.blocks.has(number)) this.askTimer = setTimeout(() => this.ask(number, number), REST_BEFORE_ASKING);
    else if (this.run.n_merges <= FETCHED_WHOLE) this.wantBetween(0, this.run.block_starts.length - 1, MOST_BLOCKS_OF_WHOLE);
  }

  /** While playing, asks for the next blocks before the cursor comes there. */
  wantAhead(step) {
    const here = blockNumber(this.run, step);
    this.wantBetween(here, Math.min(here + BLOCKS_AHEAD, this.run.block_starts.length - 1));
  }

  /** Asks for the first of these blocks that lacks and, to save requests, for as many that lack after
      it as one may ask for; one answer is awaited at a time. */
  wantBetween(first, last, most = MOST_BLOCKS) {
    if (!this.say || this.asked || this.comesUnasked) return;
    const lacks = (number) => !this.run.blocks.has(number);
    while (first <= last && !lacks(first)) first++;
    if (first > last) return;
    const end = this.run.block_starts.length - 1;
    let to = first;
    while (to < end && to - first + 1 < most && lacks(to + 1)) to++;
    this.ask(first, to);
  }

  ask(first, last) {
    if (this.asked?.[0] === first || this.run.blocks.has(first)) return;
    this.asked = [first, last];
    this.say("block", this.asked);
  }

  /** A block has come. */
  answered(block) {
    if (this.comesUnasked) return this.stopWaiting();
    if (this.asked?.[0] !== blockNumber(this.run, block.start)) return;
    this.asked = null;
    this.reportHeldBack();
  }

  reportHeldBack() {
    if (this.unreported !== null) this.report(this.unreported);
  }

  close() {
    for (const timer of [this.reportTimer, this.askTimer, this.firstTimer, this.wordsTimer]) clearTimeout(timer);
  }
}
