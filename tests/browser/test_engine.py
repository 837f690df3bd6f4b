"""The engine trains and encodes in a browser, in a worker or in a page from a folder."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import write_huggingface
from bpe_core.views import join_modules
from static_site.engine_data import engine_data
from tests.browser.serving import new_context, served
from tests.new_process import ROOT

SCRIPTS = ROOT / "static_site" / "browser"
PAGE = """<!doctype html><meta charset="utf-8"><title>Engine</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' POLICY
'wasm-unsafe-eval'"><script src="page.js"></script>"""
ENTRY = """import { connect } from "PLACE/engine/engine.js";
import serve from "PLACE/engine/worker.js";

globalThis.parts = { connect, serve };
"""
ASK = """async ({ wasm, data, text, inWorker }) => {
  const { connect, serve } = globalThis.parts;
  const { port1, port2 } = new MessageChannel();
  if (!inWorker) {
    serve(port1);
    port1.start();
  }
  const port = inWorker ? new Worker("engine-worker.js") : port2;
  const bytes = Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0));
  const engine = await connect(port, bytes, JSON.parse(data));
  const documents = [new TextEncoder().encode(text)];
  let nReports = 0;
  const run = await engine.train({ documents, vocabSize: 1000, cut: "o200k" }, () => nReports++);
  const { handle } = await engine.open({ run });
  const { ids } = await engine.encode(handle, text);
  const json = await engine.tokenizerJson(run);
  return { json, ids: Array.from(ids), nReports, left: documents[0].length };
}"""


@pytest.mark.parametrize("in_worker", [True, False])
def test_it_learns_and_encodes_as_bpe_core_does(
    browser: Browser, tmp_path: Path, in_worker: bool
) -> None:
    entry = tmp_path / "entry.js"
    entry.write_text(ENTRY.replace("PLACE", os.path.relpath(SCRIPTS, tmp_path)), "utf-8")
    (tmp_path / "page.js").write_text(f"{{{join_modules(entry)}}}", "utf-8")
    (tmp_path / "engine-worker.js").write_text(join_modules(SCRIPTS / "engine_worker.js"), "utf-8")
    # A folder is not an origin of its own, so 'self' names none of its files.
    policy = "" if in_worker else "file:"
    (tmp_path / "index.html").write_text(PAGE.replace("POLICY", policy), "utf-8")
    kernels = tmp_path / "kernels.wasm"
    compiler = [sys.executable, "-m", "bpe_core.kernels.compiling", "--wasm", str(kernels)]
    subprocess.run(compiler, check=True, cwd=ROOT)
    text = load_sample("multilingual").documents[0]
    run = bpe.train([text], vocab_size=1000, pretokenizer="o200k", special_tokens=())
    with served(tmp_path) as address, new_context(browser) as context:
        page = context.new_page()
        page.goto(f"{address}/index.html" if in_worker else (tmp_path / "index.html").as_uri())
        found = page.evaluate(
            ASK,
            {
                "wasm": base64.b64encode(kernels.read_bytes()).decode(),
                "data": engine_data(),
                "text": text,
                "inWorker": in_worker,
            },
        )
    assert found["json"] == write_huggingface(run.tokenizer).decode()
    assert found["ids"] == run.tokenizer.encode(text)
    assert found["nReports"] > 2
    assert found["left"] == 0, "the document was copied rather than moved"
