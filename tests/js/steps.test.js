// Which changes of an address lead on, so that Back returns to the address before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { leadsOn } from "../../ui/components/page/steps.js";

const CASES = [
  ["", "?step_of_1=Pairs", true],
  ["?step_of_1=Pairs", "?step_of_1=Choice&words=hug+5", true],
  ["?step_of_1=Pairs", "?lesson=Four+documents&step_of_1=Pairs", true],
  ["?step_of_1=Pairs", "?step_of_1=Pairs", false],
  ["?step_of_1=Pairs", "?step_of_1=Pairs&marker=false", false], // a choice on the page
  ["?lesson=Four+documents&step_of_1=Pairs", "?lesson=Four+documents", false], // of the lesson that was left
  ["?step=3", "?step=4", false], // of the player
  ["", "?run=0123&part=Figures", false],
];

test("an address with another lesson or step leads on, and no other", () => {
  for (const [before, after, expected] of CASES) assert.equal(leadsOn(before, after), expected, `${before} ${after}`);
});
