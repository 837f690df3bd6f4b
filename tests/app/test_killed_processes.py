"""Visitors' tabs, over real connections, when a process of the server is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import psutil
import pytest

from benchmarks.app_client import AppClient, open_tab
from benchmarks.visitors import make_text, upload_and_train
from tests.browser.serving import find_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

LARGE = 4_100_000
"""Large enough that reading and training each use a separate process."""
SHORT = b"the cat sat on the mat and the dog sat on the log\n" * 200
SECONDS_AT_MOST = 90
SECONDS_OF_A_RERUN = 10
"""The longest that a rerun may take, even while other tests keep the processors busy."""


async def killed(address: str, module: str) -> None:
    """Wait for a process of the server that runs a function of `module`, and kill it."""
    server = find_server(address)
    async with asyncio.timeout(SECONDS_AT_MOST):
        while True:
            for process in server.children():
                # A process that has just ended by itself has no command line.
                with suppress(psutil.NoSuchProcess):
                    if any(word.partition(":")[0] == module for word in process.cmdline()):
                        process.kill()
                        return
            await asyncio.sleep(0.01)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS_AT_MOST):
        while not is_so():
            await asyncio.sleep(0.05)


async def upload(tab: AppClient, name: str, data: bytes) -> None:
    await tab.open("train")
    await tab.set("corpus_source", "Upload")
    await tab.upload("corpus_uploads", name, data)


async def begin(tab: AppClient) -> None:
    """Press Train, without waiting for the end."""
    await tab.press("train")
    await until(lambda: "job=" in tab.query)


def alerts(tab: AppClient) -> str:
    return "\n".join(alert.body for alert in tab.elements("alert"))


def test_killed_processes_are_errors_for_their_visitors_alone(address: str) -> None:
    reruns: list[float] = []

    async def beside(over: asyncio.Event) -> None:
        async with open_tab(address) as tab:
            await tab.open("merge_loop")
            while not over.is_set():
                reruns.append(await tab.rerun())
                await asyncio.sleep(0.1)

    async def visit() -> None:
        over = asyncio.Event()
        other = asyncio.create_task(beside(over))
        async with open_tab(address) as tab:
            await tab.open("train")
            await tab.set("corpus_source", "Upload")
            uploading = asyncio.create_task(
                tab.upload("corpus_uploads", "large.txt", make_text(2, LARGE))
            )
            await killed(address, "bpe_core.corpus.reading_process")
            await uploading
            assert "take too much memory or time to read" in alerts(tab)

            # The same file is read when uploaded again; this time its training is killed.
            await upload(tab, "large.txt", make_text(2, LARGE))
            await begin(tab)
            await killed(address, "ui.work.jobs")
            await until(lambda: "stopped by the system" in alerts(tab))

            await upload_and_train(tab, "short.txt", SHORT)
            assert "run=" in tab.query
        over.set()
        await other

    asyncio.run(visit())
    assert 0 < max(reruns) < SECONDS_OF_A_RERUN
