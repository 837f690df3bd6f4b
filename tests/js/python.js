// Get data from Python: messages that the modules under test unpack, and expected values.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../static_site/browser/engine/engine.js";
import serve from "../../static_site/browser/engine/worker.js";

const PYTHON = ".venv/bin/python";
const OPTIONS = { encoding: "utf-8", maxBuffer: 1 << 28 };

/** Return the "runs", "texts" or "sentences" of `from_python.py`. */
export function fromPython(what) {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_python", what], OPTIONS));
}

/** Return what `from_site.py` prints. */
export function fromSite() {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_site"], OPTIONS));
}

/** Return what `from_kernels.py` prints. */
export function fromKernels() {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_kernels"], OPTIONS));
}

/** Return what `from_engine.py` prints. */
export function fromEngine() {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_engine"], OPTIONS));
}

/** Return what `from_own_runs.py` prints. */
export function fromOwnRuns() {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_own_runs"], OPTIONS));
}

/** Return the kernels as a WebAssembly module. */
export function wasmKernels() {
  const folder = mkdtempSync(join(tmpdir(), "kernels-"));
  const path = join(folder, "kernels.wasm");
  try {
    execFileSync(PYTHON, ["-m", "bpe_core.kernels.compiling", "--wasm", path], OPTIONS);
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Return the engine, answered in this thread.
    @param {string} data What `engine_data` returns.
    @param {Uint8Array} [wasm] */
export async function engineInNode(data, wasm = wasmKernels()) {
  const { port1, port2 } = new MessageChannel();
  serve(port1);
  port1.start();
  port1.unref();
  const engine = await connect(port2, wasm, JSON.parse(data));
  port2.unref();
  return engine;
}

/** Return the values of Python literals, each as JSON. */
export function valuesOfLiterals(literals) {
  const script = "import ast, json, sys; print(json.dumps([ast.literal_eval(one) for one in json.load(sys.stdin)]))";
  return JSON.parse(execFileSync(PYTHON, ["-c", script], { ...OPTIONS, input: JSON.stringify(literals) }));
}

export function decodeBase64(base64) {
  return new Uint8Array(Buffer.from(base64, "base64"));
}

/** Return what `from_story.py` prints. */
export function fromStory() {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_story"], OPTIONS));
}

/** Return what `from_game.py` prints. */
export function fromGame() {
  return JSON.parse(execFileSync(PYTHON, ["-m", "tests.js.from_game"], OPTIONS));
}
