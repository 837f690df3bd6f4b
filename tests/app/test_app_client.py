"""The benchmarks' client, which needs no browser, sees what a browser's tab sees."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.app_client import NoSuchWidgetError, open_tab


def test_two_tabs_are_two_visitors(address: str) -> None:
    async def visit() -> None:
        async with open_tab(address) as one, open_tab(address) as other:
            await asyncio.gather(one.open("train"), other.open("train"))
            assert "Train" in [heading.body for heading in one.elements("heading")]
            await one.set("corpus_source", "Upload")
            await other.rerun()
            assert one.widget("corpus_uploads").kind == "file_uploader"
            with pytest.raises(NoSuchWidgetError, match="corpus_uploads"):
                other.widget("corpus_uploads")

    asyncio.run(visit())
