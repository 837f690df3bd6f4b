"""Views in a real JupyterLab and a real marimo."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

import bpe_core as bpe
from tests.browser.helpers import MAX_WAIT_MS
from tests.browser.serving import ROOT, running_app

TEXT = "The <b>quick</b> fox"
TOKENS = f'import bpe_core as bpe\nbpe.gpt2().view("{TEXT}")'
PLAYER = 'run = bpe.train(["hug hugs hugging, a pug and a mug"] * 9, vocab_size=270)\nrun.player()'
WIDGET = 'bpe.gpt2().view("a widget").widget()'
QUIET = '{"fetchNews": "false", "checkForUpdates": false}'


def jupyterlab(port: int) -> Sequence[str]:
    options = (
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--LabApp.extension_manager=readonly",
    )
    return sys.executable, "-m", "jupyterlab", *options


def marimo(port: int) -> Sequence[str]:
    options = ("--headless", "--host=127.0.0.1", f"--port={port}", "--no-token")
    return sys.executable, "-m", "marimo", "edit", "cells.py", *options, "--skip-update-check"


@pytest.fixture
def notebook(browser: Browser) -> Iterator[Page]:
    """Yield a page in which none of our scripts may fail."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(MAX_WAIT_MS)
    page = context.new_page()
    errors: list[str] = []

    def note(error: Error) -> None:
        # JupyterLab's own scripts may fail when a test leaves its page. Ours have blob addresses.
        if "/lab/" not in page.url or "blob:" in (error.stack or ""):
            errors.append(f"{error}\n{error.stack}")

    page.on("pageerror", note)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a server whose settings are all in the test's folder."""
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "IPYTHONDIR")
    jupyter = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    folders = {name: str(tmp_path / "home" / name.lower()) for name in (*names, *jupyter)}
    return {**folders, "PYTHONPATH": str(ROOT)}


def write_notebook(path: Path, *sources: str) -> None:
    cells = [
        {"cell_type": "code", "id": f"cell-{number}", "source": source, "metadata": {}}
        | {"outputs": [], "execution_count": None}
        for number, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(
        json.dumps(
            {"cells": cells, "metadata": {"kernelspec": kernel}}
            | {"nbformat": 4, "nbformat_minor": 5}
        )
    )


def expect_tokens(place: Page | Locator) -> None:
    expect(place.locator(".view .token")).to_have_count(len(bpe.gpt2().encode(TEXT)))


def expect_to_play(page: Page) -> None:
    done = page.locator(".player .position b")
    expect(done).not_to_be_empty()
    before = done.inner_text()
    page.locator(".player [data-act=play]").click()
    expect(done).not_to_have_text(before)
    page.locator(".player [data-act=play]").click()


def expect_theme(page: Page, theme: str) -> None:
    """Fail unless the tokens are drawn for a light or a dark page."""
    view = page.locator(".view").first
    expect(view).to_have_css("color-scheme", theme)


def test_jupyterlab_shows_views_live_and_saved(
    notebook: Page, home: dict[str, str], tmp_path: Path
) -> None:
    settings = Path(home["JUPYTER_CONFIG_DIR"], "lab/user-settings/@jupyterlab/apputils-extension")
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(QUIET)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    write_notebook(folder / "new.ipynb", TOKENS, PLAYER, WIDGET)
    with running_app(tmp_path, home, command_of=jupyterlab, folder=folder, health="/api") as url:
        _run_all_cells(notebook, f"{url}/lab/tree/new.ipynb")
        cells = notebook.locator(".jp-CodeCell")
        expect_tokens(cells.nth(0))
        expect(cells.nth(2).locator(".view .token")).to_have_count(2)
        expect_to_play(notebook)
        _type_on_the_player(notebook)
        saved = _save(notebook, folder / "new.ipynb")
        assert len(saved["cells"]) == 3
        expect_theme(notebook, "light")
        notebook.get_by_role("menuitem", name="Settings", exact=True).click()
        notebook.get_by_text("Theme", exact=True).hover()
        notebook.get_by_text("JupyterLab Dark", exact=True).click()
        expect_theme(notebook, "dark")

        (folder / "again.ipynb").write_text(json.dumps(saved))
        notebook.goto(f"{url}/lab/tree/again.ipynb?reset")
        expect_tokens(cells.nth(0))
        expect_to_play(notebook)

        saved["cells"][0]["source"] = "# another notebook, so not one that was run here"
        (folder / "strange.ipynb").write_text(json.dumps(saved))
        notebook.goto(f"{url}/lab/tree/strange.ipynb?reset")
        still = notebook.locator(".jp-Notebook")
        expect(still).to_contain_text(TEXT)
        expect(still).to_contain_text("Occurrences")
        expect(still.locator(".player, .view")).to_have_count(0)


def _run_all_cells(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def _type_on_the_player(page: Page) -> None:
    """Type what deletes a cell if JupyterLab hears it."""
    field = page.locator(".player .jump input")
    field.click()
    page.keyboard.type("dd")
    expect(field).to_have_value("dd")
    page.locator(".player").focus()
    page.keyboard.type("dd")


def _save(page: Page, path: Path) -> Any:
    page.keyboard.press("Control+s")  # which the player does not keep to itself
    expect(page.get_by_text("Saving completed")).to_be_visible()
    return json.loads(path.read_text("utf-8"))


def test_a_page_of_saved_outputs_draws_each(notebook: Page, tmp_path: Path) -> None:
    run = bpe.train(["hug hugs hugging, a pug and a mug"] * 9, vocab_size=270)
    views = [
        bpe.gpt2().view(TEXT),
        run.player(),
        bpe.compare(TEXT, [run.tokenizer, bpe.gpt2()]).view(),
    ]
    file = tmp_path / "saved.html"
    page = "\n".join(view._repr_html_() for view in [*views, *views])
    damaged = "<div data-bpe-view><p>a still picture</p></div>"  # its scripts were removed
    file.write_text(f"<!doctype html><meta charset=utf-8>{damaged}{page}", encoding="utf-8")
    logged: list[str] = []
    notebook.on("console", lambda message: logged.append(message.text))
    notebook.goto(file.as_uri())
    expect(notebook.get_by_text("a still picture")).to_be_visible()
    expect(notebook.locator(".view .token")).to_have_count(2 * len(bpe.gpt2().encode(TEXT)))
    expect(notebook.locator(".player .position b:not(:empty)")).to_have_count(2)
    expect(notebook.locator(".compare .pane:has(.token)")).to_have_count(4)
    assert len(logged) == 1  # of the damaged output


CELLS = f"""
import marimo
app = marimo.App()
@app.cell
def _():
    {TOKENS.replace(chr(10), chr(10) + "    ")}
    return (bpe,)
@app.cell
def _(bpe):
    {PLAYER.replace(chr(10), chr(10) + "    ")}
    return
"""


@pytest.mark.more(why="another host of the same views")
def test_marimo_shows_views_in_its_dark_theme(
    notebook: Page, home: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "cells.py").write_text(CELLS)
    settings = '[display]\ntheme = "dark"\n[runtime]\nauto_instantiate = true\n'
    for place in (home["XDG_CONFIG_HOME"], f"{home['HOME']}/.config"):
        Path(place, "marimo").mkdir(parents=True)
        Path(place, "marimo", "marimo.toml").write_text(settings)
    with running_app(tmp_path, home, command_of=marimo, folder=folder, health="/health") as url:
        notebook.goto(url)
        expect_tokens(notebook)
        expect_theme(notebook, "dark")
        expect_to_play(notebook)
