// How the cursor moves: by hand, in beats and at full speed, on a clock that the tests control.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { BEATS, Playback } from "../../ui/components/merge_player/playback.js";
import { FakeClock } from "./fake_clock.js";

const N_MERGES = 50;

/** Return a playback over a run in blocks of ten merges, some of which have arrived, and what it drew. */
function makePlayback({ nMerges = N_MERGES, come = [0, 1, 2, 3, 4], calm = false, asks = [], isSaved = false } = {}) {
  const drawn = [];
  const draws = (name) => (...how) => void drawn.push([name, ...how]);
  const block_starts = Array.from({ length: Math.max(1, nMerges / 10) }, (_, number) => number * 10);
  const unanswered = new Set(asks);
  const player = {
    run: { n_merges: nMerges, block_starts, isSaved, blocks: new Map(come.map((number) => [number, {}])) },
    link: { want: draws("want"), wantAhead: () => {} },
    view: {
      guesses: { on: asks.length > 0 },
      race: { forgetWidth: () => {} },
      grid: { draw: (step, { marked }) => drawn.push(["words", step, marked]) },
      motion: { gather: draws("gather"), fuse: draws("fuse"), settle: () => {}, still: () => {} },
      lay: () => {},
      drawPlaying: () => {},
      drawMoving: () => {},
      drawPosition: draws("position"),
      drawStatus: draws("status"),
    },
    isAsking: () => unanswered.has(playback.step),
    showsUnasked: () => unanswered.delete(playback.step),
    asks: draws("asks"),
    draw: () => {},
    rested: () => drawn.push(["rested", playback.step]),
  };
  const clock = new FakeClock();
  const playback = new Playback(player, { matches: calm }, clock);
  const named = (name) => drawn.filter(([one]) => one === name);
  return { playback, player, clock, drawn, named };
}

const ONE_MERGE = BEATS.gather + BEATS.hold + BEATS.fuse + BEATS.settle;

suite("by hand", () => {
  test("the cursor can be set to any step of the run, but not beyond it", () => {
    const { playback } = makePlayback();
    for (const [wanted, step] of [[7, 7], [-3, 0], [999, N_MERGES]]) {
      playback.goTo(wanted);
      assert.equal(playback.step, step);
    }
  });

  test("a step forward plays one merge and then rings the next pair", () => {
    const { playback, clock, named } = makePlayback();
    playback.forward();
    assert.deepEqual(named("fuse"), [["fuse", 0, BEATS.fuse]]);
    assert.equal(playback.step, 0);
    clock.pass(10_000);
    assert.equal(playback.step, 1);
    assert.deepEqual(named("gather"), [["gather", 1, BEATS.gather]]);
    assert.equal(playback.phase, "rest");
    assert.equal(clock.nWaiting, 0);
  });

  test("a step forward during another makes two merges", () => {
    const { playback, clock } = makePlayback();
    playback.forward();
    clock.pass(10);
    playback.forward();
    clock.pass(10_000);
    assert.equal(playback.step, 2);
  });

  test("a step back undoes the merge being played, or else the last one", () => {
    const { playback, clock } = makePlayback();
    playback.goTo(5);
    playback.forward();
    playback.back();
    assert.equal(playback.step, 5);
    playback.back();
    assert.equal(playback.step, 4);
    playback.goTo(0);
    playback.back();
    assert.equal(playback.step, 0);
    assert.equal(clock.nWaiting, 0);
  });

  test("a step forward at the end does nothing", () => {
    const { playback, clock, named } = makePlayback();
    playback.goTo(N_MERGES);
    playback.forward();
    clock.pass(10_000);
    assert.equal(playback.step, N_MERGES);
    assert.deepEqual(named("fuse"), []);
  });
});

suite("playing", () => {
  test("takes a second per merge, twice as long at half speed and half as long at double speed", () => {
    for (const speed of ["0.5", "1", "2"]) {
      const { playback, clock } = makePlayback();
      playback.speed = speed;
      playback.play();
      clock.pass((10 * ONE_MERGE) / Number(speed) - 1);
      assert.equal(playback.step, 10, speed); // merged, while its ring still fades
      playback.pause();
      assert.equal(playback.step, 10);
    }
  });

  test("holds the first merges for as long as it is told, before they fuse", () => {
    const { playback, clock, named } = makePlayback();
    playback.holds = [2500, 1000];
    const fusedAfter = () => {
      const before = clock.now();
      const n = named("fuse").length;
      while (named("fuse").length === n) clock.pass(10);
      return clock.now() - before;
    };
    playback.play();
    const gather = BEATS.gather;
    assert.ok(Math.abs(fusedAfter() - gather - 2500) <= 10);
    assert.ok(Math.abs(fusedAfter() - BEATS.fuse - BEATS.settle - gather - 1000) <= 30);
    assert.ok(Math.abs(fusedAfter() - BEATS.fuse - BEATS.settle - gather - BEATS.hold) <= 30);
  });

  test("by hand holds no merge", () => {
    const { playback, clock, named } = makePlayback();
    playback.holds = [2500];
    playback.forward();
    clock.pass(BEATS.fuse + BEATS.settle + BEATS.gather + BEATS.hold);
    assert.equal(playback.step, 1);
    assert.equal(playback.phase, "rest");
    assert.equal(named("fuse").length, 1);
  });

  test("stops after the last merge", () => {
    const { playback, clock, drawn } = makePlayback();
    playback.speed = "8";
    playback.play();
    assert.ok(playback.playing);
    clock.pass(60_000);
    assert.equal(playback.step, N_MERGES);
    assert.ok(!playback.playing);
    assert.deepEqual(drawn.at(-1), ["rested", N_MERGES]);
    assert.equal(clock.nWaiting, 0);
  });

  test("from the end restarts at the beginning", () => {
    const { playback, clock } = makePlayback();
    playback.goTo(N_MERGES);
    playback.play();
    assert.equal(playback.step, 0);
    clock.pass(ONE_MERGE);
    assert.equal(playback.step, 1);
  });

  test("is paused and resumed by the same key", () => {
    const { playback, clock } = makePlayback();
    playback.toggle();
    assert.ok(playback.playing);
    playback.toggle();
    assert.ok(!playback.playing);
    clock.pass(10_000);
    assert.equal(playback.step, 0);
  });

  test("continues when other words are chosen, after completing the current merge", () => {
    const { playback, clock } = makePlayback();
    playback.play();
    clock.pass(BEATS.gather + BEATS.hold + 1);
    assert.equal(playback.phase, "fuse");
    let changed = false;
    playback.redo(() => (changed = true));
    assert.ok(changed && playback.playing);
    assert.equal(playback.step, 1);
    playback.pause();
    playback.redo();
    assert.ok(!playback.playing);
  });

  test("does nothing on a run without merges", () => {
    const { playback, clock } = makePlayback({ nMerges: 0, come: [] });
    playback.play();
    assert.ok(!playback.playing);
    assert.equal(clock.nWaiting, 0);
  });

  test("waits for missing merges, and continues when they arrive", () => {
    const { playback, player, clock, named } = makePlayback({ come: [0] });
    playback.speed = "8";
    playback.play();
    clock.pass(60_000);
    assert.equal(playback.step, 10);
    assert.ok(playback.playing);
    assert.equal(playback.phase, "rest");
    player.run.blocks.set(1, {});
    playback.resume();
    clock.pass(60_000);
    assert.equal(playback.step, 20);
    playback.pause();
    playback.play();
    assert.deepEqual(named("want").at(-1), ["want", 20]);
  });

  test("continues past the merges whose trace a saved replay has", () => {
    const { playback, clock } = makePlayback({ come: [1], isSaved: true });
    playback.speed = "8";
    playback.play();
    clock.pass(60_000);
    assert.equal(playback.step, N_MERGES);
  });

  test("missing merges are drawn when they arrive, even if nothing plays", () => {
    const { playback, drawn } = makePlayback({ come: [] });
    playback.resume();
    assert.deepEqual(drawn, [["rested", 0]]);
  });
});

suite("full speed", () => {
  test("plays a long run in nine seconds, many merges per frame", () => {
    const nMerges = 9000;
    const { playback, clock, named } = makePlayback({ nMerges, come: Array.from({ length: 900 }, (_, number) => number) });
    playback.speed = "max";
    playback.play();
    clock.pass(4500);
    assert.ok(Math.abs(playback.step - nMerges / 2) < 60, String(playback.step));
    clock.pass(4700);
    assert.equal(playback.step, nMerges);
    assert.ok(!playback.playing);
    assert.ok(named("position").length < nMerges / 10);
    assert.equal(clock.nWaiting, 0);
  });

  test("changes the sentence at most ten times a second", () => {
    const { playback, clock, named } = makePlayback({ nMerges: 9000, come: Array.from({ length: 900 }, (_, number) => number) });
    playback.speed = "max";
    playback.play();
    clock.pass(3000);
    const n = named("status").length;
    assert.ok(n >= 25 && n <= 30, String(n));
  });

  test("is limited in speed if the run is short", () => {
    const { playback, clock } = makePlayback();
    playback.speed = "max";
    playback.play();
    clock.pass(200);
    assert.ok(playback.step > 15 && playback.step < 30, String(playback.step));
  });

  test("shows the exact state of its step when paused", () => {
    const { playback, clock, drawn } = makePlayback();
    playback.speed = "max";
    playback.play();
    clock.pass(100);
    playback.pause();
    const { step } = playback;
    clock.pass(1000);
    assert.equal(playback.step, step);
    assert.deepEqual(drawn.at(-1), ["rested", step]);
  });

  test("waits at the last merge that has arrived", () => {
    const { playback, player, clock } = makePlayback({ come: [0, 1] });
    playback.speed = "max";
    playback.play();
    clock.pass(5000);
    assert.equal(playback.step, 19);
    for (const number of [2, 3, 4]) player.run.blocks.set(number, {});
    clock.pass(5000);
    assert.equal(playback.step, N_MERGES);
  });
});

suite("while the visitor guesses", () => {
  test("a step forward first shows the merge, and another one makes it", () => {
    const { playback, clock } = makePlayback({ asks: [0, 1, 2] });
    playback.forward();
    assert.equal(playback.step, 0);
    playback.forward();
    clock.pass(10_000);
    assert.equal(playback.step, 1);
  });

  test("playing asks before each merge, and waits for the answer", () => {
    const { playback, clock, named } = makePlayback({ asks: [0, 3] });
    playback.play();
    clock.pass(60_000);
    assert.equal(playback.step, 0);
    assert.ok(playback.playing);
    assert.equal(named("asks").length, 1);
    assert.equal(clock.nWaiting, 0);
  });

  test("the answer is shown for a while, then its merge is played up to the next question", () => {
    const { playback, player, clock, named } = makePlayback({ asks: [0, 3] });
    playback.play();
    player.showsUnasked(); // the answer has been given
    playback.reveal();
    clock.pass(1_990);
    assert.deepEqual(named("gather"), []);
    assert.equal(playback.step, 0);
    clock.pass(60_000);
    assert.equal(playback.step, 3);
    assert.ok(playback.playing);
    assert.deepEqual(named("asks").length, 2);
  });

  test("the answer is shown for less time at higher speeds, but always long enough to be seen", () => {
    for (const [speed, time] of [["0.5", 4_000], ["2", 1_000], ["8", 700], ["max", 700]]) {
      const { playback, player, clock } = makePlayback({ asks: [0] });
      playback.speed = speed;
      playback.play();
      player.showsUnasked();
      playback.reveal();
      clock.pass(time - 10);
      assert.equal(playback.phase, "reveal", speed);
      clock.pass(20);
      assert.notEqual(playback.phase, "reveal", speed);
    }
  });

  test("a pause at a question or at its answer stays there until playing begins again", () => {
    const { playback, player, clock } = makePlayback({ asks: [0, 1] });
    playback.play();
    playback.toggle();
    assert.ok(!playback.playing);
    playback.toggle();
    assert.ok(playback.playing);
    player.showsUnasked();
    playback.reveal();
    playback.pause();
    clock.pass(60_000);
    assert.deepEqual([playback.step, playback.playing], [0, false]);
    playback.play();
    clock.pass(60_000);
    assert.deepEqual([playback.step, playback.playing], [1, true]);
  });

  test("an answer given by hand does not begin to play", () => {
    const { playback, player, clock } = makePlayback({ asks: [0] });
    player.showsUnasked();
    playback.reveal();
    clock.pass(60_000);
    assert.deepEqual([playback.step, playback.playing], [0, false]);
  });

  test("playing ends after the last merge, once its question is answered", () => {
    const { playback, player, clock } = makePlayback({ asks: [N_MERGES - 1] });
    playback.goTo(N_MERGES - 2);
    playback.play();
    clock.pass(60_000);
    assert.deepEqual([playback.step, playback.playing], [N_MERGES - 1, true]);
    player.showsUnasked();
    playback.reveal();
    clock.pass(60_000);
    assert.deepEqual([playback.step, playback.playing], [N_MERGES, false]);
  });

  test("full speed plays one merge at a time, and waits at the question", () => {
    const { playback, clock, named } = makePlayback({ asks: [3] });
    playback.speed = "max";
    playback.play();
    clock.pass(60_000);
    assert.equal(playback.step, 3);
    assert.deepEqual(named("fuse").map(([, step]) => step), [0, 1, 2]);
  });

  test("with reduced motion it asks and shows the answer for as long, and nothing moves", () => {
    const { playback, player, clock, named } = makePlayback({ asks: [0, 1], calm: true });
    playback.play();
    player.showsUnasked();
    playback.reveal();
    clock.pass(1_990);
    assert.equal(playback.step, 0);
    clock.pass(60_000);
    assert.deepEqual([playback.step, playback.playing], [1, true]);
    assert.deepEqual([...named("gather"), ...named("fuse")], []);
  });
});

suite("with reduced motion", () => {
  test("nothing gathers or fuses, and each state is shown for a while", () => {
    const { playback, clock, named } = makePlayback({ calm: true });
    playback.play();
    clock.pass(599);
    assert.equal(playback.step, 0);
    clock.pass(1);
    assert.equal(playback.step, 1);
    clock.pass(60_000);
    assert.equal(playback.step, N_MERGES);
    assert.deepEqual([...named("gather"), ...named("fuse")], []);
  });

  test("a step forward is immediate", () => {
    const { playback, clock } = makePlayback({ calm: true });
    playback.forward();
    assert.equal(playback.step, 1);
    clock.pass(1000);
    assert.equal(playback.phase, "rest");
  });
});
