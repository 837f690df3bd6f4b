"""Measure the server's memory for docs/operations.md.

Run: python -m scripts.measure_memory

Idle and with open tabs it is that of a server that a headless Chromium visits; in trainings, that
of one process that loads what the server loads and trains as its queue does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.visitors import figures
from tests.browser.serving import launch_browser, new_context, running_app

ROOT = Path(__file__).parents[1]
TABS = (1, 5, 10)
PAGES = ("", "train", "merge_loop", "compare", "token_boundaries")
MEGABYTES = (10, 100)
_TRAINING = """
import sys, tempfile, os
os.environ["BPE_EXPLORER_RUNS"] = tempfile.mkdtemp()
from pathlib import Path
from prometheus_client import REGISTRY
from bpe_core.corpus.corpus import Corpus
from bpe_core.types import TrainingConfig
from ui.serving.upkeep import warm_up_rest, warm_up_start
from ui.storage.run_store import CorpusOrigin
from ui.work import jobs
import time

def resident_bytes() -> float:
    return REGISTRY.get_sample_value("process_resident_memory_bytes")

warm_up_start(); warm_up_rest()
before = resident_bytes()
text = Path(sys.argv[1]).read_text("utf-8")
corpus = Corpus.from_text(text)
del text
loaded = resident_bytes()
# In this process, whose memory is measured.
jobs.MIN_BYTES_FOR_PROCESS = 10**12
how = {"title": "A text", "held_out_share": 0.1, "origin": CorpusOrigin("paste", "", 10)}
started = time.monotonic()
job = jobs.submit(corpus, TrainingConfig(vocab_size=32_000), **how)
del corpus
peak = 0
while (status := jobs.status(job)).is_live:
    peak = max(peak, resident_bytes())
    time.sleep(0.02)
assert status.state == "finished", status
print(before, loaded, peak, resident_bytes(), time.monotonic() - started)
"""


def settled(address: str) -> int:
    """Return the server's memory once it has not changed by more than 1 MB for 3 seconds."""
    last = 0
    for _ in range(40):
        now = figures(address)["process_resident_memory_bytes"]
        if abs(now - last) < 1e6:
            return now
        last = now
        time.sleep(3)
    return last


def measure_tabs() -> None:
    """Print the memory of a server that is idle, and with open tabs."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder), {"BPE_EXPLORER_METRICS": "1"}) as address,
        sync_playwright() as playwright,
    ):
        time.sleep(15)
        print(f"idle: {settled(address) / 1e6:.0f} MB", flush=True)
        browser = launch_browser(playwright)
        pages: list[Page] = []
        for tabs in TABS:
            while len(pages) < tabs:
                page = new_context(browser).new_page()
                page.goto(f"{address}/{PAGES[len(pages) % len(PAGES)]}", timeout=120_000)
                page.locator("h1").first.wait_for(timeout=120_000)
                pages.append(page)
            time.sleep(3)
            found = figures(address)["visitors"]
            print(f"{found} tabs: {settled(address) / 1e6:.0f} MB", flush=True)
        browser.close()


def measure_trainings() -> None:
    """Print the memory of trainings on texts of several sizes."""
    # Text of many different words: this project's own sources and documents, and Python's.
    sources = sorted(Path(sys.base_prefix, "lib").glob("python3.*/**/*.py"))
    for size in MEGABYTES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text"
            path.write_text(_text(sources, size * 1_000_000), encoding="utf-8")
            command = [sys.executable, "-c", _TRAINING, str(path)]
            done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        before, loaded, peak, after, seconds = map(float, done.stdout.split())
        print(
            f"{size} MB: before {before / 1e6:.0f} MB, loaded {loaded / 1e6:.0f}, "
            f"peak {peak / 1e6:.0f}, after {after / 1e6:.0f}, {seconds:.0f} s",
            flush=True,
        )


def _text(sources: list[Path], n_bytes: int) -> str:
    parts: list[str] = []
    held = 0
    while held < n_bytes:
        for source in sources:
            part = source.read_text("utf-8", "ignore")
            parts.append(part)
            held += len(part.encode())
            if held >= n_bytes:
                break
    return "".join(parts).encode()[:n_bytes].decode("utf-8", "ignore")


if __name__ == "__main__":
    measure_tabs()
    measure_trainings()
