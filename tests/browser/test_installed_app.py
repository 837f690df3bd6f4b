"""The installed app, started by `bpe explore` from an unrelated folder, without a compiler."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_pages import PAGES, START
from tests.browser.helpers import go_to_address, open_page
from tests.browser.serving import running_app
from tests.browser.training import upload
from tests.packaging import build, copy_source, install

A_LETTER_FOR_EACH_BYTE = bytes(ord("a") + byte % 26 for byte in range(256))
# Settings for other Streamlit apps, in the folder or in the user's home.
OTHER_SETTINGS = """
[client]
toolbarMode = "developer"
showSidebarNavigation = true
[theme.light]
backgroundColor = "#ff0000"
"""


@pytest.fixture(scope="module")
def installed_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("elsewhere")
    wheel = build("wheel", copy_source(tmp_path_factory.mktemp("source")))
    python = install(wheel, tmp_path_factory.mktemp("with_app") / "venv", ["app"])
    home = tmp_path_factory.mktemp("home")
    for place in (folder, home):
        (place / ".streamlit").mkdir()
        (place / ".streamlit" / "config.toml").write_text(OTHER_SETTINGS)
    # The app must import its own modules, not modules of the same names in the caller's folder.
    for name in ("app", "ui", "pages", "serve"):
        (folder / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    bpe = python.with_name("bpe")
    # In plain Python, trainings are slow enough to be watched.
    environment = {"HOME": str(home), "PYTHONPATH": "", "NUMBA_DISABLE_JIT": "1"}
    with running_app(
        tmp_path_factory.mktemp("runs"),
        environment,
        command_of=lambda port: (bpe, "explore", "--port", str(port)),
        folder=folder,
    ) as url:
        yield url


def test_each_page_opens_by_a_deep_link_and_a_long_training_can_be_cancelled(
    page: Page, installed_url: str, tmp_path: Path
) -> None:
    # The name of Start in the address can be the first request to a server.
    open_page(page, f"{installed_url}/start?sentence=hugs")
    page.wait_for_url(f"{installed_url}/?sentence=hugs")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    open_page(page, f"{installed_url}/merge_loop?run=sample&step=5")
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page).to_have_url(re.compile(r"/merge_loop\?(?!.*goto).*step=5"))
    for name, title in (*PAGES.items(), ("", START)):
        go_to_address(page, f"/{name}")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(253, 252, 250)")
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(page.get_by_test_id("stAppDeployButton")).to_have_count(0)

    go_to_address(page, "/train")
    page.get_by_role("slider", name="Vocabulary size").press("End")
    expect(page.get_by_text(re.compile("^Vocabulary size 50,257 ="))).to_be_visible()
    # Merging long words with little in common takes half a minute.
    letters = random.Random(0).randbytes(2_000_000).translate(A_LETTER_FOR_EACH_BYTE)
    path = tmp_path / "words.txt"
    path.write_bytes(b" ".join(letters[at : at + 200] for at in range(0, len(letters), 200)))
    upload(page, path)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text(re.compile(r"Merge [\d,]+ of [\d,]+, [\d,]+ a second"))).to_be_visible()
    assert "job=" in page.url
    expect(page.get_by_role("heading", name="Training", exact=True)).to_be_in_viewport()
    # Leave, and come back by the address.
    address = page.url
    leave_for(page, "Lessons")
    page.goto(address)  # not `open_page`: redrawn twice a second, the page is hardly ever at rest
    expect(page.get_by_role("heading", name="Training")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("It was cancelled.")).to_be_visible()


def leave_for(page: Page, name: str) -> None:
    """Follow a link of the navigation, with up to three clicks, because a redraw can drop one."""
    for milliseconds in (10_000, 10_000, 60_000):
        page.get_by_role("link", name=name).click()
        with suppress(AssertionError):
            expect(page.get_by_role("heading", level=1)).to_have_text(name, timeout=milliseconds)
            return
    pytest.fail(f"Three clicks did not lead to {name}.")
