"""Published tokenizers on Compare: described before a click, and fetched only by a click."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_core.errors import UnavailableError
from bpe_core.published.cache import VARIABLE
from bpe_core.published.catalogue import CATALOGUE
from tests.app.pages import OpenApp
from tests.app.test_compare_shelf import others, rivals
from tests.oracles import TOKENIZERS
from ui.tokenizers import by_name


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Start with an empty cache, and return the names fetched; a fetch copies the tests' file."""
    names: list[str] = []
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv(VARIABLE, str(cache))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")

    def fetch(name: str, _: object) -> None:
        names.append(name)
        file = CATALOGUE[name].file_name
        (cache / file).write_bytes((TOKENIZERS / file).read_bytes())

    monkeypatch.setattr(by_name, "fetch", fetch)
    return names


def test_the_list_says_what_must_be_fetched_and_who_published_it(
    open_app: OpenApp, fetched: list[str]
) -> None:
    app = open_app("compare")
    options = app.selectbox(key="add_by_name").options
    assert "Llama 3 (Meta): not downloaded, 6.6 MB" in options
    # Two names have buttons.
    assert len(options) == len(by_name.BY_NAME) - 2
    app.selectbox(key="add_by_name").set_value("mistral-7b")
    app.run()
    said = [text.value for text in app.markdown if "Published by" in text.value]
    assert len(said) == 1
    assert "Mistral AI under the Apache 2" in said[0].replace("\\", "")
    assert "downloads 6.6 MB" in said[0].replace("\\", "")
    assert fetched == []


def test_a_click_fetches_and_adds_and_the_address_brings_it_back(
    open_app: OpenApp, fetched: list[str]
) -> None:
    app = open_app("compare")
    app.selectbox(key="add_by_name").set_value("mistral-7b")
    app.run()
    app.button(key="add_by_name_button").click()
    app.run()
    assert fetched == ["mistral-7b"]
    assert others(app) == ["GPT-2", "Mistral 7B"]
    facts = rivals(app)[1]["facts"]
    assert facts.startswith("BPE, encoded by bpe_core")
    assert "Published by Mistral AI (Apache 2.0)." in facts
    assert app.query_params["with"] == "gpt2,mistral-7b"
    again = open_app("compare", **{"with": "mistral-7b"})
    assert others(again) == ["Mistral 7B"]
    assert fetched == ["mistral-7b"]


@pytest.mark.parametrize(("name", "title"), [("gpt4", "GPT-4"), ("gpt4o", "GPT-4o")])
def test_a_button_fetches_what_bpe_fetch_does(
    open_app: OpenApp, fetched: list[str], name: str, title: str
) -> None:
    app = open_app("compare")
    says = [each.value.replace("\\", "") for each in app.markdown]
    assert any(f"{title} needs a download" in each for each in says)
    app.button(key=f"add_{name}").click().run()
    assert not app.error
    assert fetched == [name]
    assert others(app) == ["GPT-2", title]
    assert rivals(app)[1]["facts"].startswith("BPE, encoded by bpe_core.")
    assert app.query_params["with"] == f"gpt2,{name}"
    assert others(open_app("compare", **{"with": name})) == [title]
    assert fetched == [name]


def test_opening_a_page_fetches_nothing(open_app: OpenApp, fetched: list[str]) -> None:
    app = open_app("compare", **{"with": "gpt2,llama3"})
    assert others(app) == ["GPT-2"]
    assert "run: bpe fetch llama3" in app.error[0].value.replace("\\", "")
    assert fetched == []


@pytest.mark.parametrize("name", ["gpt4", "gpt4o"])
def test_without_a_network_a_button_says_what_to_do(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    for variable in (VARIABLE, "TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "nothing"))
    # pip's own way to look at no index.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    app = open_app("compare")
    app.button(key=f"add_{name}").click().run()
    (said,) = (error.value.replace("\\", "") for error in app.error)
    assert said.startswith(f"{CATALOGUE[name].title} could not be added. ")
    assert "could not be downloaded. Check the network and try again" in said
    assert "copy the folder of fetched tokenizers" in said
    assert not app.button(key=f"add_{name}").disabled
    assert others(app) == ["GPT-2"]


def test_without_a_network_the_page_says_so(
    open_app: OpenApp, fetched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise UnavailableError("It could not be downloaded. <b>Check the network</b>.")

    monkeypatch.setattr(by_name, "fetch", fails)
    app = open_app("compare")
    app.selectbox(key="add_by_name").set_value("llama3")
    app.run()
    app.button(key="add_by_name_button").click()
    app.run()
    assert "Check the network" in app.error[0].value
    assert "<b>" not in app.error[0].value
    assert others(app) == ["GPT-2"]
    assert fetched == []
