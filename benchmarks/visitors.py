"""What the measurements of a server share: its figures, and visitors who train on a text."""

from __future__ import annotations

import asyncio
import random
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from benchmarks.app_client import AppClient, open_tab

LOOKED_AT: Final = (
    "merge_loop",
    "pair_frequencies",
    "token_boundaries",
    "compare",
    "vocabulary",
)
_SECONDS_TO_TRAIN: Final = 900.0
_SECONDS_BETWEEN_LOOKS: Final = 0.2


def figures(address: str) -> dict[str, int]:
    """Return the server's figures at /metrics."""
    with urllib.request.urlopen(f"{address}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    found = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name.removeprefix("bpe_explorer_"): int(float(value)) for name, _, value in found}


def make_text(seed: int, n_bytes: int) -> bytes:
    """Return a text of Python's library that shares few merges with that of another seed."""
    files = sorted(Path(sys.base_prefix, "lib").glob("python3.*/**/*.py"))
    chosen = random.Random(seed)
    chosen.shuffle(files)
    parts: list[bytes] = []
    left = n_bytes
    while left > 0:
        for file in files:
            data = file.read_bytes()[:left].decode("utf-8", "ignore").encode()
            parts.append(data)
            left -= len(data)
            if left <= 0:
                break
            # Bytes of a character that was cut.
            left -= left < 4 and left
    return b"".join(parts)


async def upload_and_train(tab: AppClient, name: str, data: bytes) -> None:
    """Upload a file in a tab, train on it, and wait until the page shows the run."""
    await tab.open("train")
    await tab.set("corpus_source", "Upload")
    await tab.upload("corpus_uploads", name, data)
    await train(tab)


async def train(tab: AppClient) -> None:
    """Press Train, and wait until the page shows the run; raises `TimeoutError`."""
    before = tab.query
    await tab.press("train")
    deadline = time.monotonic() + _SECONDS_TO_TRAIN
    while not ("run=" in tab.query and "job=" not in tab.query and tab.query != before):
        if time.monotonic() > deadline:
            raise TimeoutError("The training did not end.")
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
    with suppress(TimeoutError):
        await tab.wait_until_ended()


async def visit(address: str, seed: int, n_bytes: int) -> None:
    """Open a tab, train on an uploaded text, look at the run on several pages, close the tab."""
    text = await asyncio.to_thread(make_text, seed, n_bytes)
    async with open_tab(address) as tab:
        await upload_and_train(tab, f"text {seed}.txt", text)
        run = tab.query
        for page in LOOKED_AT:
            await tab.open(page, run)


async def visit_all(
    address: str,
    sessions: int,
    n_bytes: int,
    at_once: int,
    on_end: Callable[[int], None] | None = None,
) -> None:
    """Let sessions `visit` the server, some at once; `on_end` gets how many have ended."""
    places = asyncio.Semaphore(at_once)
    ended = 0

    async def one(seed: int) -> None:
        nonlocal ended
        async with places:
            await visit(address, seed, n_bytes)
        ended += 1
        if on_end is not None:
            on_end(ended)

    await asyncio.gather(*(one(seed) for seed in range(sessions)))
