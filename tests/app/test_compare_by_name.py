"""Published tokenizers on Compare: described before a click, and fetched only by a click."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.corpus.samples import load_sample
from bpe_core.formats.load_save import dumps
from bpe_core.published.cache import VARIABLE
from bpe_core.published.catalogue import CATALOGUE
from tests.app.pages import OpenApp, errors, press, unescaped_text
from tests.app.test_compare_shelf import NATIVE, add_files, others, rivals
from tests.loopback_hub import LoopbackHub, loopback_hub
from tests.oracles import TOKENIZERS
from tests.waiting import wait_until
from ui.host.settings import settings
from ui.look.labels import plain_markdown
from ui.tokenizers import downloads


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Start with an empty cache, and return the names fetched; a fetch copies the tests' file."""
    names: list[str] = []
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv(VARIABLE, str(cache))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")

    def fetch(name: str, *_: object, **__: object) -> str:
        names.append(name)
        file = CATALOGUE[name].file_name
        (cache / file).write_bytes((TOKENIZERS / file).read_bytes())
        return name

    monkeypatch.setattr(downloads, "fetch", fetch)
    return names


def finish(app: AppTest, key: str) -> None:
    """Wait for a download, and draw the page again, as it does by itself."""
    wait_until(downloads.downloads(), key)
    app.run()


def test_a_click_fetches_and_adds_and_the_address_brings_it_back(
    open_app: OpenApp, fetched: list[str]
) -> None:
    app = open_app("compare")
    assert "Llama 3 (Meta): not downloaded, 6.6 MB" in app.selectbox(key="add_by_name").options
    app.selectbox(key="add_by_name").set_value("mistral-7b").run()
    assert "Mistral AI under the Apache 2" in unescaped_text(app)
    assert fetched == []
    app.button(key="add_by_name_button").click().run()
    # AppTest names a choice by its line, which says whether the tokenizer is here.
    app.selectbox(key="add_by_name").set_value(None)
    finish(app, "mistral-7b")
    assert others(app) == ["GPT-2", "Mistral 7B"]
    assert "Published by Mistral AI (Apache 2.0)." in rivals(app)[1]["facts"]
    assert app.query_params["with"] == "gpt2,mistral-7b"
    assert others(open_app("compare", **{"with": "mistral-7b"})) == ["Mistral 7B"]
    assert fetched == ["mistral-7b"]


def test_a_button_fetches_what_bpe_fetch_does(open_app: OpenApp, fetched: list[str]) -> None:
    app = open_app("compare")
    app.button(key="add_gpt4").click().run()
    finish(app, "gpt4")
    assert not app.error
    assert fetched == ["gpt4"]
    assert others(app) == ["GPT-2", "GPT-4"]
    assert app.query_params["with"] == "gpt2,gpt4"


def test_opening_a_link_fetches_nothing_until_a_press(
    open_app: OpenApp, fetched: list[str]
) -> None:
    app = open_app("compare", **{"with": "gpt2,llama3"})
    assert others(app) == ["GPT-2"]
    assert app.query_params["with"] == "gpt2,llama3"
    assert fetched == []
    app.button(key="fetch_llama3").click().run()
    finish(app, "llama3")
    assert others(app) == ["GPT-2", "Llama 3"]
    assert fetched == ["llama3"]
    assert not app.error


def test_without_a_network_a_button_says_what_to_do(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in (VARIABLE, "TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "nothing"))
    # pip's own way to look at no index.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    app = open_app("compare")
    app.button(key="add_gpt4o").click().run()
    finish(app, "gpt4o")
    assert "could not be downloaded. Check the network and try again" in errors(app)
    assert r"GPT\-4o could not be added\. " in app.error[0].value  # so nothing in it is Markdown
    assert not app.button(key="add_gpt4o").disabled
    assert others(app) == ["GPT-2"]


SMALL = bpe.train(load_sample("notebook"), bpe.TrainingConfig(vocab_size=280)).tokenizer
FILES = dumps(SMALL, "transformers")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    cache = str(tmp_path / "hub")
    monkeypatch.setenv("HF_HUB_CACHE", cache)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", cache)
    with loopback_hub() as started:
        monkeypatch.setenv("HF_ENDPOINT", started.address)
        yield started


def add_model(app: AppTest, name: str) -> None:
    app.text_input(key="add_model_name").set_value(name)
    press(app, "Add model")


def test_a_model_is_added_by_name_and_the_address_names_its_commit(
    open_app: OpenApp, hub: LoopbackHub
) -> None:
    old = hub.add("org/model", FILES)
    app = open_app("compare")
    add_model(app, "https://huggingface.co/org/model")
    finish(app, "hf:org/model@main")
    assert others(app) == ["GPT-2", "org/model"]
    key = f"hf:org/model@{old}"
    assert app.query_params["with"] == f"gpt2,{key}"
    assert f"From {key}." in rivals(app)[1]["facts"]
    # The newest commit is added next to it; the link to the first shows the first.
    new = hub.add("org/model", {**FILES, "chat_template.jinja": b"new"})
    add_model(app, "org/model")
    finish(app, "hf:org/model@main")
    assert app.query_params["with"] == f"gpt2,{key},hf:org/model@{new}"
    n_requests = len(hub.requests)
    assert others(open_app("compare", **{"with": key})) == ["org/model"]
    assert len(hub.requests) == n_requests


def test_a_link_to_a_model_asks_the_hub_only_after_a_press(
    open_app: OpenApp, hub: LoopbackHub
) -> None:
    commit = hub.add("org/model", FILES)
    key = f"hf:org/model@{commit}"
    app = open_app("token_boundaries", tokenizer=key, text="hug hugs")
    assert hub.requests == []
    button = app.button(key=f"fetch_{key}")
    assert button.label == f"Fetch {plain_markdown(f'org/model@{commit[:8]}')}"
    button.click().run()
    finish(app, key)
    assert app.segmented_control(key="tokenizer").value == "org/model"
    assert app.query_params["tokenizer"] == "org/model"
    assert app.query_params["with"] == f"gpt2,{key}"
    again = open_app("token_boundaries", tokenizer=key, text="hug hugs")
    assert again.segmented_control(key="tokenizer").value == "org/model"
    again.segmented_control(key="tokenizer").set_value("GPT-2").run()
    assert again.segmented_control(key="tokenizer").value == "GPT-2"


def test_what_the_hub_refuses_is_said_on_the_page(open_app: OpenApp, hub: LoopbackHub) -> None:
    hub.add("org/model", FILES, "gated")
    hub.add("org/junk", {"tokenizer.json": b"<html>"})
    app = open_app("compare")
    for name, message in (
        ("org/model", f"Ask for it at {hub.address}/org/model"),
        ("org/none", "There is no public model org/none"),
        ("org/junk", "tokenizer.json"),
    ):
        add_model(app, name)
        finish(app, f"hf:{name}@main")
        assert message in errors(app).replace("\u2060", "")
        assert others(app) == ["GPT-2"]
    add_model(app, "org/none")
    finish(app, "hf:org/none@main")
    assert len(app.get("link_button")) == 1
    # The link goes with the message that explains it.
    add_files(app, ("a.json", NATIVE))
    assert not app.error
    assert not app.get("link_button")
    add_model(app, "../../etc/passwd")
    assert "is not the name of a model" in app.error[-1].value
    assert not [path for path in hub.paths("GET") if "passwd" in path]


@pytest.mark.parametrize(("setting", "is_allowed"), [("off", False), ("org/*, a/b", True)])
def test_a_server_can_allow_some_models_or_none(
    open_app: OpenApp,
    hub: LoopbackHub,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    is_allowed: bool,
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_HUB", setting)
    settings.cache_clear()
    try:
        other = open_app("compare", **{"with": "gpt2,hf:other/model"})
        assert "not among the models" in other.error[0].value
        app = open_app("compare", **{"with": "gpt2,hf:org/model"})
        assert bool(app.error) != is_allowed
        assert any(b.key == "fetch_hf:org/model@main" for b in app.button) == is_allowed
        assert any(b.label == "Add model" for b in app.button) == is_allowed
    finally:
        settings.cache_clear()
    assert hub.requests == []


def test_openais_names_are_understood_in_links(open_app: OpenApp, fetched: list[str]) -> None:
    app = open_app("compare", **{"with": "gpt-2,gpt-4o,o200k_harmony,p50k_base,gpt5"})
    assert app.query_params["with"] == "gpt2,gpt4o,gpt-oss,p50k_base"
    app.button(key="unwanted_gpt4o").click().run()
    assert app.query_params["with"] == "gpt2,gpt-oss,p50k_base"
    assert others(app) == ["GPT-2", "p50k_base"]
    assert fetched == []
