"""The benchmarks' client, which needs no browser, sees what a browser's tab sees."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.app_client import AppClient, NoSuchWidgetError, open_tab

_TEXT = b"the cat sat on the mat and the dog sat on the log\n" * 200


def headings(tab: AppClient) -> list[str]:
    return [heading.body for heading in tab.elements("heading")]


def test_a_tab_uploads_trains_and_looks_at_the_run(address: str) -> None:
    async def visit() -> None:
        async with open_tab(address) as tab:
            await tab.open("train")
            assert "Train" in headings(tab)
            await tab.set("corpus_source", "Upload")
            await tab.upload("corpus_uploads", "cats.txt", _TEXT)
            await tab.press("train")
            async with asyncio.timeout(60):
                # The training card redraws itself until the page shows the run.
                while "run=" not in tab.query:
                    await asyncio.sleep(0.05)
            await tab.open("merge_loop", tab.query)
            assert "Merge loop" in headings(tab)
            with pytest.raises(NoSuchWidgetError, match="corpus_uploads"):
                tab.widget("corpus_uploads")

    asyncio.run(visit())


def test_two_tabs_are_two_visitors(address: str) -> None:
    async def visit() -> None:
        async with open_tab(address) as one, open_tab(address) as other:
            await asyncio.gather(one.open("train"), other.open("train"))
            await one.set("corpus_source", "Upload")
            await other.rerun()
            assert one.widget("corpus_uploads").kind == "file_uploader"
            with pytest.raises(NoSuchWidgetError):
                other.widget("corpus_uploads")

    asyncio.run(visit())
