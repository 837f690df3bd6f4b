"""Measure a server with many visitors: over real websocket connections, without browsers.

`python -m benchmarks load` prints how long the reruns of 20 visitors take while another uploads,
reads and trains on 100 MB, and what 50 visitors with 10 MB each leave in the server's memory.
`python -m benchmarks soak --minutes 30` lets visitors come and go, and prints memory and errors.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import corpora
from benchmarks.app_client import AppClient, NoSuchWidgetError, ScriptFailedError, open_tab
from benchmarks.report import table
from benchmarks.visitors import figures, train, upload_and_train, visit, visit_all
from tests.browser.serving import running_app

N_LIGHT: Final = 20
THINK_SECONDS: Final = (0.5, 5.0)
PAGES: Final = ("", "lessons", "merge_loop", "pair_frequencies", "vocabulary")
"""The pages of the light visitors, in turn."""
IDLE_SECONDS: Final = 45.0
LARGE: Final = 100_000_000
MEDIUM: Final = 10_000_000
N_MEDIUM: Final = 50
SECONDS_AFTER: Final = 120.0
ENVIRONMENT: Final = {
    "BPE_EXPLORER_METRICS": "1",
    "PYTHONMALLOC": "malloc",
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "1048576",
}
"""As scripts/container/start.sh starts a server, and with figures."""
_AT_ONCE: Final = 3
_SECONDS_TO_WARM_UP: Final = 15.0
_MAX_RATIO: Final = 2.0
_MAX_SECONDS: Final = 0.6
_MAX_GROWTH: Final = 1.25
_ERRORS: Final = (ScriptFailedError, NoSuchWidgetError, TimeoutError, OSError)


@dataclass(slots=True)
class Reruns:
    """The reruns of light visitors: when each began, and how long it took."""

    taken: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def during(self, begin: float, end: float) -> list[float]:
        """Return the seconds of the reruns that overlap a period."""
        return [seconds for at, seconds in self.taken if at < end and at + seconds > begin]


def under_load(folder: Path | None) -> list[str]:
    """Measure reruns during a large training, and memory after many visitors."""
    text = corpora.mixed(LARGE, folder)
    data = text.text.encode()
    # What the machine has may be less: the rest repeats it, so it has no new words.
    data = (data * (LARGE // max(1, len(data)) + 1))[:LARGE]
    with _server() as address:
        smooth = asyncio.run(_smoothness(address, data))
    print("\n".join(smooth), flush=True)
    with _server() as address:
        memory = asyncio.run(_memory_after(address))
    return ["", *memory, "", f"Text of the 100 MB: {text.taken}."]


def soak(minutes: float) -> list[str]:
    """Let visitors come and go for some minutes."""
    data = corpora.mixed(MEDIUM).text.encode()[:MEDIUM]
    with _server() as address:
        return asyncio.run(_soak(address, data, 60 * minutes))


@contextmanager
def _server() -> Iterator[str]:
    """Start its own server with an empty store, and yield its address."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder), ENVIRONMENT) as address,
    ):
        time.sleep(_SECONDS_TO_WARM_UP)
        yield address


async def _smoothness(address: str, data: bytes) -> list[str]:
    reruns, over = Reruns(), asyncio.Event()
    opened = asyncio.Semaphore(0)
    visitors = [
        asyncio.create_task(_light_visitor(address, n, reruns, over, opened))
        for n in range(N_LIGHT)
    ]
    for _ in visitors:
        await opened.acquire()
    await asyncio.sleep(max(THINK_SECONDS))
    periods: dict[str, tuple[float, float]] = {}
    loads: dict[str, float] = {}

    async def measured(name: str, until: asyncio.Future[object] | asyncio.Task[object]) -> None:
        begin = time.monotonic()
        await until
        periods[name], loads[name] = (begin, time.monotonic()), os.getloadavg()[0]

    def task(coroutine: object) -> asyncio.Task[object]:
        return asyncio.ensure_future(coroutine)  # type: ignore[arg-type]

    await measured("nobody else is there", task(asyncio.sleep(IDLE_SECONDS)))
    async with open_tab(address) as heavy:
        await heavy.open("train")
        await heavy.set("corpus_source", "Upload")
        upload = heavy.upload("corpus_uploads", "corpus.txt", data)
        await measured("one uploads and reads 100 MB", task(upload))
        await measured("one trains on 100 MB and opens the run", task(train(heavy)))
    over.set()
    await asyncio.gather(*visitors)
    idle = median(reruns.during(*next(iter(periods.values()))))
    rows: list[list[str]] = []
    for name, period in periods.items():
        seconds = sorted(reruns.during(*period))
        ratio, longest = median(seconds) / idle, seconds[-1]
        rows.append(
            [
                name,
                f"{period[1] - period[0]:.0f} s",
                str(len(seconds)),
                f"{1e3 * median(seconds):.0f} ms",
                f"{ratio:.1f}{'' if ratio <= _MAX_RATIO else ', **missed**'}",
                f"{1e3 * seconds[len(seconds) * 19 // 20]:.0f} ms",
                f"{1e3 * longest:.0f} ms{'' if longest <= _MAX_SECONDS else ', **missed**'}",
                f"{loads[name]:.1f}",
            ]
        )
    head = ["while", "for", "reruns", "median", "of the idle one", "95th percentile", "longest"]
    return [
        f"The reruns of {N_LIGHT} visitors who think for {THINK_SECONDS[0]} to {THINK_SECONDS[1]} "
        f"seconds. Goals: a median of {_MAX_RATIO:g} times the idle one, and "
        f"{1e3 * _MAX_SECONDS:.0f} ms at most. The load is the machine's, over a minute.",
        "",
        table([*head, "load"], rows),
    ]


async def _memory_after(address: str) -> list[str]:
    unvisited = figures(address)["process_resident_memory_bytes"]
    # What the first visitor's pages and training load stays: modules, kernels and results.
    await visit(address, N_MEDIUM, MEDIUM // 10)
    await asyncio.sleep(SECONDS_AFTER)
    before = figures(address)["process_resident_memory_bytes"]
    await visit_all(address, N_MEDIUM, MEDIUM, _AT_ONCE)
    at_end = figures(address)["process_resident_memory_bytes"]
    await asyncio.sleep(SECONDS_AFTER)
    after = figures(address)["process_resident_memory_bytes"]
    ratio = after / before
    megabytes = [f"{n / 1e6:,.0f} MB" for n in (unvisited, before, at_end, after)]
    growth = f"{ratio:.2f} times the start{'' if ratio <= _MAX_GROWTH else ', **missed**'}"
    return [
        f"The server's resident memory with {N_MEDIUM} visitors, {_AT_ONCE} at a time, who upload "
        f"and train on {MEDIUM / 1e6:.0f} MB of Python's library each and look at the run. Goal: "
        f"{_MAX_GROWTH:g} times the start, which is after a first visitor, with a tenth of that, "
        "has left.",
        "",
        table(
            [
                "before any visitor",
                "start",
                "after the last visitor",
                f"{SECONDS_AFTER:.0f} s later",
                "",
            ],
            [[*megabytes, growth]],
        ),
    ]


async def _soak(address: str, data: bytes, seconds: float) -> list[str]:
    end = time.monotonic() + seconds
    errors: Counter[str] = Counter()
    n_visits = 0
    rows = [["0 min", *_memory_and_caches(address), "0", "0"]]

    async def visitors(seed: int) -> None:
        nonlocal n_visits
        chance = random.Random(seed)
        while time.monotonic() < end:
            n_visits += 1
            try:
                async with open_tab(address) as tab:
                    await _look_around(tab, chance, data, end)
            except _ERRORS as error:
                errors[type(error).__name__] += 1

    async def look() -> None:
        every = seconds / 10
        for part in range(1, 11):
            await asyncio.sleep(every)
            at = f"{part * every / 60:.1f} min"
            rows.append([at, *_memory_and_caches(address), str(n_visits), str(errors.total())])
            print(" | ".join(rows[-1]), flush=True)

    await asyncio.gather(look(), *(visitors(seed) for seed in range(N_LIGHT)))
    found = ", ".join(f"{n} {name}" for name, n in errors.items()) or "none"
    head = ["after", "memory", "in caches", "visits", "errors"]
    return [table(head, rows), "", f"Errors: {found}."]


def _memory_and_caches(address: str) -> list[str]:
    found = figures(address)
    return [
        f"{found[name] / 1e6:,.0f} MB" for name in ("process_resident_memory_bytes", "caches_bytes")
    ]


async def _look_around(tab: AppClient, chance: random.Random, data: bytes, end: float) -> None:
    """Look at some pages; one visitor in ten trains, on up to 10 MB."""
    for _ in range(chance.randint(1, 8)):
        if time.monotonic() > end:
            return
        others = ("train", "token_boundaries", "compare", "adapt", "lab")
        await tab.open(chance.choice([*PAGES, *others]))
        await asyncio.sleep(chance.uniform(*THINK_SECONDS))
    if chance.random() < 0.1:
        begin = chance.randrange(len(data) // 2)
        size = chance.choice([1_000, 100_000, 1_000_000, len(data) // 2])
        text = data[begin : begin + size].decode(errors="ignore").encode()
        await upload_and_train(tab, "corpus.txt", text)


async def _light_visitor(
    address: str, n: int, reruns: Reruns, over: asyncio.Event, opened: asyncio.Semaphore
) -> None:
    chance = random.Random(n)
    async with open_tab(address) as tab:
        await tab.open(PAGES[n % len(PAGES)])
        opened.release()
        while not over.is_set():
            await asyncio.sleep(chance.uniform(*THINK_SECONDS))
            at = time.monotonic()
            reruns.taken.append((at, await tab.rerun()))
