// When the player reports its state to Python and the address, and when it requests merges.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { addressParameter, addressWithStep, stepOfAddress } from "../../ui/components/merge_player/address.js";
import { Link } from "../../ui/components/merge_player/link.js";
import { FakeClock } from "./fake_clock.js";

/** Return a run in blocks of ten merges, some of which have arrived. */
function makeRun(nMerges, come) {
  const block_starts = Array.from({ length: Math.ceil(nMerges / 10) }, (_, number) => 10 * number);
  return { n_merges: nMerges, block_starts, blocks: new Map(come.map((number) => [number, {}])) };
}

/** Return a link connected to a run, what it sent, and what it wrote to the address. */
function connected({ nMerges = 6000, come = [0], unasked = false } = {}) {
  const clock = new FakeClock();
  const sent = [];
  const written = [];
  const link = new Link((step) => written.push(step), clock);
  const run = makeRun(nMerges, come);
  link.connect(run, 0, (name, value) => sent.push([name, value]));
  if (!unasked) link.answered({ start: 0 });
  return { clock, sent, written, link, run };
}

suite("the step", () => {
  test("is reported once the cursor rests, without the steps it passed", () => {
    const { clock, sent, written, link } = connected();
    for (const step of [3, 4, 5]) {
      link.report(step);
      clock.pass(300);
    }
    assert.deepEqual(sent, []);
    clock.pass(50);
    assert.deepEqual(sent, [["step", 5]]);
    assert.deepEqual(written, [5]);
  });

  test("is reported only once, and not at the starting step", () => {
    const { clock, sent, link } = connected();
    for (const step of [0, 5, 5]) {
      link.report(step);
      clock.pass(400);
    }
    assert.deepEqual(sent, [["step", 5]]);
  });

  test("waits for an open request, and only the latest step is reported", () => {
    const { clock, sent, link } = connected();
    link.ask(1, 1);
    link.reportNow(4);
    link.report(7);
    link.answered({ start: 10 });
    clock.pass(400);
    assert.deepEqual(sent, [["block", [1, 1]], ["step", 7]]);
  });

  test("that was held back is reported when the block arrives", () => {
    const { clock, sent, link } = connected();
    link.ask(1, 1);
    link.reportNow(4);
    clock.pass(5000);
    assert.deepEqual(sent, [["block", [1, 1]]]);
    link.answered({ start: 10 });
    clock.pass(350);
    assert.deepEqual(sent.at(-1), ["step", 4]);
  });

  test("is not reported in a saved replay", () => {
    const clock = new FakeClock();
    const link = new Link(() => assert.fail("an address was written"), clock);
    link.connect(makeRun(100, [0]), 0, null);
    link.report(5);
    link.want(50);
    link.reportWords("hug");
    clock.pass(60_000);
    assert.equal(clock.nWaiting, 0);
  });

  test("is not reported while playing", () => {
    const { clock, sent, link } = connected();
    link.report(5);
    link.stayQuiet();
    clock.pass(1000);
    assert.deepEqual(sent, []);
  });
});

suite("blocks of merges", () => {
  test("the first arrives without a request, and others are requested after it", () => {
    const { clock, sent, link } = connected({ come: [], unasked: true });
    link.want(0);
    link.report(3);
    clock.pass(1000);
    assert.deepEqual(sent, []);
    link.run.blocks.set(0, {});
    link.want(55);
    link.answered({ start: 0 });
    clock.pass(60);
    assert.deepEqual(sent, [["block", [5, 5]]]);
    link.run.blocks.set(5, {});
    link.answered({ start: 50 });
    clock.pass(350);
    assert.deepEqual(sent.at(-1), ["step", 3]);
  });

  test("the first is requested if it does not arrive", () => {
    const { clock, sent, link } = connected({ come: [], unasked: true });
    link.want(0);
    clock.pass(7999);
    assert.deepEqual(sent, []);
    clock.pass(61);
    assert.deepEqual(sent, [["block", [0, 0]]]);
  });

  test("the one at the cursor is requested once, after the cursor has rested", () => {
    const { clock, sent, link } = connected();
    for (const step of [100, 200, 300]) link.want(step);
    clock.pass(60);
    link.want(300);
    clock.pass(60);
    assert.deepEqual(sent, [["block", [30, 30]]]);
  });

  test("while playing, the next are requested together, one request at a time", () => {
    const { sent, link, run } = connected({ come: [0, 1, 3] });
    link.wantAhead(5);
    assert.deepEqual(sent, [["block", [2, 2]]]);
    link.wantAhead(6);
    assert.equal(sent.length, 1);
    run.blocks.set(2, {});
    link.answered({ start: 20 });
    link.wantAhead(6);
    assert.deepEqual(sent.at(-1), ["block", [4, 15]]);
  });

  test("nothing is requested if the next blocks are present", () => {
    const { sent, link } = connected({ come: Array.from({ length: 20 }, (_, number) => number) });
    link.wantAhead(5);
    assert.deepEqual(sent, []);
  });

  test("a short run is fetched whole, so that scrubbing never waits", () => {
    const { sent, link, run } = connected({ nMerges: 500 });
    link.want(0);
    assert.deepEqual(sent, [["block", [1, 40]]]);
    for (let number = 1; number <= 40; number++) run.blocks.set(number, {});
    link.answered({ start: 10 });
    link.want(0);
    assert.deepEqual(sent.at(-1), ["block", [41, 49]]);
  });

  test("a run without merges requests none", () => {
    const { clock, sent, link } = connected({ nMerges: 0, come: [] });
    link.want(0);
    clock.pass(1000);
    assert.deepEqual(sent, []);
  });
});

test("words are reported after a pause, in their latest form", () => {
  const { clock, sent, link } = connected();
  for (const text of ["h", "hu", "hug"]) {
    link.reportWords(text);
    clock.pass(100);
  }
  clock.pass(350);
  assert.deepEqual(sent, [["words", "hug"]]);
});

test("a closed player sends nothing", () => {
  const { clock, sent, link } = connected({ come: [] });
  link.report(5);
  link.want(5);
  link.reportWords("hug");
  link.close();
  clock.pass(60_000);
  assert.deepEqual(sent, []);
});

suite("the address", () => {
  test("names a step, at most the last", () => {
    assert.equal(stepOfAddress("?step=7", 10), 7);
    assert.equal(stepOfAddress("?run=a&step=0", 10), 0);
    assert.equal(stepOfAddress("?step=999", 10), 10);
  });

  test("names no step if the value is not a number", () => {
    for (const query of ["", "?step=", "?step=-1", "?step=abc", "?step=1.5", "?step=99999999999", "?step=%3Cb%3E", "?steps=3"]) {
      assert.equal(stepOfAddress(query, 10), null, query);
    }
  });

  test("contains words as they were typed", () => {
    assert.equal(addressParameter("?words=don%27t+%F0%9F%A7%A9", "words"), "don't 🧩");
    assert.equal(addressParameter("?words=", "words"), "");
    assert.equal(addressParameter("?step=3", "words"), null);
  });

  test("keeps everything else when the step changes, and names step 0", () => {
    assert.equal(addressWithStep("http://a/merge_loop?run=b&step=3#c", 5), "http://a/merge_loop?run=b&step=5#c");
    assert.equal(addressWithStep("http://a/merge_loop?run=b", 5), "http://a/merge_loop?run=b&step=5");
    assert.equal(addressWithStep("http://a/merge_loop?run=b&step=3", 0), "http://a/merge_loop?run=b&step=0");
  });
});
