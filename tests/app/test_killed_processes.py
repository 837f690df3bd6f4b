"""Visitors' tabs, over real connections, when the server or one of its processes is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import ConnectionClosed

from benchmarks.app_client import AppClient, open_tab
from benchmarks.visitors import figures, make_text, upload_and_train
from tests.browser.serving import find_server, running_app

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

LARGE = 4_100_000
"""Large enough that reading and training each use a separate process."""
SHORT = b"the cat sat on the mat and the dog sat on the log\n" * 200
METRICS = {"BPE_EXPLORER_METRICS": "1"}
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


def words(tab: AppClient) -> str:
    return "\n".join(str(drawn.proto) for drawn in tab.drawn.values())


def test_a_killed_server_begins_its_trainings_again_at_their_addresses(tmp_path: Path) -> None:
    queries: list[str] = []

    async def two_trainings(address: str) -> None:
        # The tabs of a killed server lose their connections.
        with suppress(ConnectionClosed):
            async with open_tab(address) as one, open_tab(address) as other:
                await begin_both(address, one, other)

    async def begin_both(address: str, one: AppClient, other: AppClient) -> None:
        await upload(one, "large.txt", make_text(1, LARGE))
        await upload(other, "short.txt", SHORT)
        await begin(one)
        await begin(other)
        found = figures(address)
        assert (found["trainings_running"], found["trainings_waiting"]) == (1, 1)
        queries.extend([one.query, other.query])
        find_server(address).kill()

    async def opened_again(address: str, query: str, name: str) -> None:
        async with open_tab(address) as tab:
            await tab.open("train", query)
            assert name in words(tab)
            await until(lambda: "run=" in tab.query and "job=" not in tab.query)
            assert query.rpartition("job=")[2] in tab.query
            await tab.open("merge_loop", tab.query)
            assert name in words(tab)

    async def both(address: str) -> None:
        names = ("large", "short")
        await asyncio.gather(*map(opened_again, [address] * 2, queries, names))

    with running_app(tmp_path, METRICS) as address:
        asyncio.run(two_trainings(address))
    with running_app(tmp_path, METRICS) as address:
        asyncio.run(both(address))
        assert not list((tmp_path / "runs").glob("training-*"))


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
            await killed(address, "ui.work.training")
            await until(lambda: "stopped by the system" in alerts(tab))

            await upload_and_train(tab, "short.txt", SHORT)
            assert "run=" in tab.query
        over.set()
        await other

    asyncio.run(visit())
    assert 0 < max(reruns) < SECONDS_OF_A_RERUN
