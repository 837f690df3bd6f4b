"""Measure what the server keeps of sessions that ended: `python -m benchmarks.closed_sessions`.

Each session uploads a text of its own, trains on it and looks at the run on several pages. Printed
is the server's memory before, during, and up to some minutes after the last one is closed.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.load import ENVIRONMENT
from benchmarks.visitors import figures, visit_all
from tests.browser.serving import running_app

GOAL: Final = 1.25
"""The memory 2 minutes after the last session ended, as a share of that before the first."""
_SECONDS_LOOKED: Final = (0, 30, 60, 90, 120, 150, 180)


def _told(found: Mapping[str, int]) -> str:
    parts = [f"{found['process_resident_memory_bytes'] / 1e6:,.0f} MB resident"]
    for name, value in found.items():
        if name in ("uploads_bytes", "caches_bytes") and value:
            parts.append(f"{name.removesuffix('_bytes').replace('_', ' ')} {value / 1e6:,.1f}")
    return ", ".join(parts)


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.closed_sessions")
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--megabytes", type=float, default=10.0)
    parser.add_argument("--at-once", type=int, default=4)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder), ENVIRONMENT) as address,
    ):
        time.sleep(15)
        before = figures(address)
        print(f"start: {_told(before)}", flush=True)
        n_bytes = round(asked.megabytes * 1e6)

        def on_end(ended: int) -> None:
            if ended % 10 == 0:
                print(f"{ended} sessions ended: {_told(figures(address))}", flush=True)

        asyncio.run(visit_all(address, asked.sessions, n_bytes, asked.at_once, on_end))
        ended = time.monotonic()
        for seconds in _SECONDS_LOOKED:
            time.sleep(max(0.0, ended + seconds - time.monotonic()))
            after = figures(address)
            share = after["process_resident_memory_bytes"] / before["process_resident_memory_bytes"]
            print(f"{seconds} s after: {_told(after)}; {share:.2f} of the start", flush=True)


if __name__ == "__main__":
    main()
