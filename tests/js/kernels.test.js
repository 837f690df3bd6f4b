// The kernels in WebAssembly do what they do on the machine: recorded calls, repeated here.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { inflateSync } from "node:zlib";
import { Memory } from "../../static_site/browser/engine/memory.js";
import { fromKernels, wasmKernels } from "./python.js";

const { arrays, calls } = fromKernels();
const memory = new Memory(new WebAssembly.Module(wasmKernels()));

/** Return the bytes of a recorded array. */
function bytesOf(number) {
  return inflateSync(Buffer.from(arrays[number][2], "base64"));
}

/** Put recorded arguments into the memory. */
function placed(recorded) {
  if (typeof recorded === "number") return recorded;
  if (!Array.isArray(recorded)) return Object.fromEntries(Object.entries(recorded).map(([name, each]) => [name, placed(each)]));
  const [kind, shape] = arrays[recorded[0]];
  const numbers = memory.array(kind === "bool" ? "uint8" : kind, shape);
  const { buffer, byteOffset, byteLength } = memory.view(numbers);
  new Uint8Array(buffer, byteOffset, byteLength).set(bytesOf(recorded[0]));
  return numbers;
}

/** Check that arguments hold in the memory what was recorded after the call. */
function check(given, recorded, path) {
  if (typeof recorded === "number") return;
  if (!Array.isArray(recorded)) {
    for (const [name, each] of Object.entries(recorded)) check(given[name], each, `${path}.${name}`);
    return;
  }
  const { buffer, byteOffset, byteLength } = memory.view(given);
  assert.ok(bytesOf(recorded[0]).equals(new Uint8Array(buffer, byteOffset, byteLength)), `${path} is another array`);
}

suite("each kernel in WebAssembly changes all arrays as on this machine", () => {
  for (const kernel of memory.kernels) {
    test(kernel, () => {
      const recorded = calls.filter((call) => call.kernel === kernel);
      assert.ok(recorded.length > 0);
      for (const { before, after, results } of recorded) {
        const given = Object.fromEntries(Object.entries(before).map(([name, each]) => [name, placed(each)]));
        const returned = memory.call(kernel, given);
        assert.deepEqual([returned ?? []].flat(), results);
        for (const [name, each] of Object.entries(after)) check(given[name], each, `${kernel} ${name}`);
        memory.free(given);
      }
    });
  }
});
