"""The installed app, started by `bpe explore` from an unrelated folder, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.app_pages import PAGES, START
from tests.browser.helpers import go_to_address, open_page
from tests.browser.serving import running_app
from tests.packaging import build, copy_source, install

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
    for name in ("app", "ui", "pages"):
        (folder / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    bpe = python.with_name("bpe")
    environment = {"HOME": str(home), "PYTHONPATH": "", "NUMBA_DISABLE_JIT": "1"}
    with running_app(
        tmp_path_factory.mktemp("runs"),
        environment,
        command_of=lambda port: (bpe, "explore", "--port", str(port)),
        folder=folder,
    ) as url:
        yield url


# The first needs the samples, and the others what is drawn in the browser.
FIRST = ("train", "token_boundaries", "lessons")
OTHERS = tuple(name for name in PAGES if name not in FIRST)


@pytest.mark.parametrize(
    "names",
    [FIRST, pytest.param(OTHERS, marks=pytest.mark.more(why="the other pages"))],
    ids=["first", "others"],
)
def test_each_page_opens_by_a_deep_link(
    page: Page, installed_url: str, names: tuple[str, ...]
) -> None:
    # The name of Start in the address can be the first request to a server.
    open_page(page, f"{installed_url}/start?sentence=hugs")
    page.wait_for_url(f"{installed_url}/?sentence=hugs")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    open_page(page, f"{installed_url}/merge_loop?run=sample&step=5")
    expect(page.get_by_role("heading", level=1)).to_have_text("Merge loop")
    expect(page).to_have_url(re.compile(r"/merge_loop\?(?!.*goto).*step=5"))
    for name, title in (*((name, PAGES[name]) for name in names), ("", START)):
        go_to_address(page, f"/{name}")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(253, 252, 250)")
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(page.get_by_test_id("stAppDeployButton")).to_have_count(0)
