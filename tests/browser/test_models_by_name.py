"""Models by their names on the hub, in a browser: added on Compare, and fetched from a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from bpe_core.corpus.samples import load_sample
from bpe_core.formats.load_save import dumps
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.helpers import assert_no_traceback, open_page, wait_until_idle
from tests.browser.serving import new_context, running_app
from tests.loopback_hub import LoopbackHub, loopback_hub

pytestmark = pytest.mark.slow


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with loopback_hub() as started:
        yield started


@pytest.fixture
def app(hub: LoopbackHub, tmp_path: Path) -> Iterator[str]:
    """Return the address of a server that asks this hub."""
    environment = {"HF_ENDPOINT": hub.address, "HF_HUB_CACHE": str(tmp_path / "hub")}
    with running_app(tmp_path, environment) as url:
        yield url


def test_a_model_is_added_by_name_and_its_link_is_fetched_by_a_press(
    browser: Browser, app: str, hub: LoopbackHub, tmp_path: Path
) -> None:
    tokenizer = train(load_sample("multilingual"), TrainingConfig(600)).tokenizer
    commit = hub.add("org/model", dumps(tokenizer, "transformers"))
    hub.add("org/slow", {"tokenizer.json": b" " * 100_000}, "slow")
    context = new_context(browser, viewport={"width": 1440, "height": 1200})
    page = context.new_page()
    open_page(page, f"{app}/compare")

    def add(name: str) -> None:
        wait_until_idle(page)
        if not page.get_by_role("button", name="Add model").is_visible():
            opener = page.get_by_role("button", name="Add a tokenizer")
            expect(opener).to_have_count(1)  # the replaced one goes when the run ends
            opener.click()
        page.get_by_role("textbox", name="A model on Hugging Face’s hub").fill(name)
        page.get_by_role("button", name="Add model").click()

    add("org/slow")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Fetching org/slow")).to_have_count(0)
    add("org/model")
    rival = page.locator(".rivals tbody tr").filter(has_text="org/model")
    expect(rival).to_contain_text(f"From hf:org/model@{commit}")
    wait_until_idle(page)
    expect(rival).to_contain_text(re.compile(r"\d% (fewer|more)"))
    assert f"hf:org/model@{commit}" in page.evaluate("decodeURIComponent(location.search)")
    assert_no_traceback(page)
    context.close()

    # Another server's visitor, who has only the link.
    for folder in (tmp_path / "hub").glob("models--*"):
        folder.rename(tmp_path / folder.name)
    hub.requests.clear()
    context = new_context(browser, viewport={"width": 390, "height": 844})
    page = context.new_page()
    open_page(page, f"{app}/token_boundaries?tokenizer=hf:org/model@{commit}&text=hug")
    button = page.get_by_role("button", name="Fetch org/model")
    expect(button).to_be_visible()
    assert hub.requests == []
    button.click()
    expect(page.get_by_role("radio", name="org/model")).to_be_checked()
    assert hub.requests
    assert_no_traceback(page)
    context.close()
