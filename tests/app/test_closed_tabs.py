"""Memory held for visitors is released once their tabs are closed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from benchmarks.app_client import connected_tab
from benchmarks.visitors import figures, make_text
from tests.browser.serving import find_server, running_app

TABS = 3
MEGABYTE = 1_000_000
SECONDS_TO_GIVE_BACK = 40


async def upload_and_close(address: str) -> dict[str, int]:
    """Upload a megabyte in each of several tabs, close them, and return the figures from before."""
    tabs = [await connected_tab(address) for _ in range(TABS)]
    for number, tab in enumerate(tabs):
        await tab.open("train")
        await tab.set("corpus_source", "Upload")
        await tab.upload("corpus_uploads", "a.txt", make_text(number, MEGABYTE))
    open_tabs = figures(address)
    for tab in tabs:
        await tab.close()
    return open_tabs


def warm_caches(address: str) -> int:
    """Return what the caches hold once the server has warmed up, and so is idle."""
    server = find_server(address)
    seconds_idle = 0
    while seconds_idle < 2:
        before = server.cpu_times()
        time.sleep(1)
        now = server.cpu_times()
        is_idle = now.user + now.system - before.user - before.system < 0.05
        seconds_idle = seconds_idle + 1 if is_idle else 0
    return figures(address)["caches_bytes"]


def test_memory_held_for_closed_tabs_returns_to_the_start(tmp_path: Path) -> None:
    asked = {
        "BPE_EXPLORER_METRICS": "1",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "4",
    }
    with running_app(tmp_path, asked) as address:
        start = warm_caches(address)
        open_tabs = asyncio.run(upload_and_close(address))
        assert open_tabs["visitors"] == TABS
        assert open_tabs["uploads_bytes"] == TABS * MEGABYTE
        assert open_tabs["caches_bytes"] > start + MEGABYTE
        deadline = time.monotonic() + SECONDS_TO_GIVE_BACK
        while (left := figures(address))["uploads_bytes"] or left["caches_bytes"] > start:
            assert time.monotonic() < deadline, (start, left)
            time.sleep(0.5)
        assert left["visitors"] == 0
