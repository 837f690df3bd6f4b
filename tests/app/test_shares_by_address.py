"""A visitor who discards the cookie gets no larger share of the queue."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.app_client import AppClient, connected_tab
from benchmarks.visitors import text_of
from tests.browser.serving import running_app

LARGE = 8_000_000
SETTINGS = {
    "BPE_EXPLORER_PROXIES": "1",
    "BPE_EXPLORER_ADDRESS_VISITORS": "1",
    "BPE_EXPLORER_VISITOR_QUEUE": "1",
}


async def ready_to_train(address: str, forwarded_for: str, n_bytes: int) -> AppClient:
    tab = await connected_tab(address, {"X-Forwarded-For": forwarded_for})
    await tab.open("train")
    await tab.set("corpus_source", "Upload")
    await tab.upload("corpus_uploads", "a.txt", text_of(n_bytes, n_bytes))
    return tab


def errors(tab: AppClient) -> str:
    return " ".join(alert.body for alert in tab.elements("alert"))


@pytest.mark.slow
def test_visitors_of_one_address_share_the_queue(tmp_path: Path) -> None:
    async def train_at_once(address: str) -> None:
        # The second visitor has another cookie and claims another address; the proxy adds theirs.
        first = await ready_to_train(address, "8.8.8.8", LARGE)
        second = await ready_to_train(address, "1.1.1.1, 8.8.8.8", 50_000)
        third = await ready_to_train(address, "8.8.4.4", 50_000)
        await first.press("train")
        assert "job=" in first.query
        await second.press("train")
        assert "Your network address already has 1 running" in errors(second)
        await third.press("train")
        assert "network address" not in errors(third)
        for tab in (first, second, third):
            await tab.close()

    with running_app(tmp_path, SETTINGS) as address:
        asyncio.run(train_at_once(address))
