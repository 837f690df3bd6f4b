"""The tokenizers on Compare: those shown first, runs, files, names and models, errors, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import CATALOGUE, VARIABLE, dumps
from tests.app.pages import (
    OpenApp,
    all_sent,
    errors,
    in_address,
    press,
    sent,
    unescaped_text,
    upload,
)
from tests.app.stored import store, store_hugs
from tests.app.training import draw_after
from tests.loopback_hub import LoopbackHub, loopback_hub
from tests.oracles import TOKENIZERS
from tests.unit.test_fetch import no_network
from tests.waiting import OfKind
from ui.host import settings
from ui.look import plain_markdown
from ui.shell.workspace import state_key
from ui.tokenizers import FILE_PREFIX, by_name
from ui.tokenizers.by_name import FETCH
from ui.tokenizers.shelf import Shelf, open_member

SMALL = bpe.train(load_sample("notebook"), bpe.TrainingConfig(vocab_size=280))
(NATIVE,) = dumps(SMALL.tokenizer, "native").values()


def rivals(app: AppTest) -> list[dict[str, Any]]:
    """Return the rows of the other tokenizers, in the order of the shelf; none without others."""
    rows = next((data["rows"] for data in all_sent(app) if "chosen" in data), [])
    return sorted(rows, key=lambda row: row["place"])


def others(app: AppTest) -> list[str]:
    return [row["name"] for row in rivals(app)]


def add_files(app: AppTest, *files: tuple[str, bytes], pretokenizer: str | None = None) -> None:
    (key,) = (each.key for each in app.file_uploader if str(each.key).startswith("add_upload"))
    upload(app, str(key), *files)
    if pretokenizer is not None:
        app.selectbox(key="add_pretokenizer").set_value(pretokenizer).run()
    app.button(key="add_files").click().run()


def test_gpt2_is_on_the_shelf_by_default_and_not_in_the_address(open_app: OpenApp) -> None:
    app = open_app("compare")
    assert others(app) == ["GPT-2"]
    (row,) = rivals(app)
    assert row["vocabulary"] == "50,257"
    assert row["facts"] == "BPE, encoded by bpe_core. OpenAI’s files, byte for byte"
    assert "with" not in app.query_params


@pytest.mark.parametrize("address", ["gpt2,gpt2,../x,file-abc", "gpt5,none" + "," * 5_000])
def test_an_address_of_unknown_keys_gives_the_default_shelf(
    open_app: OpenApp, address: str
) -> None:
    app = open_app("compare", **{"with": address})
    assert others(app) == ["GPT-2"]
    assert "with" not in app.query_params


def test_a_run_is_added_by_its_id_and_an_unknown_id_is_reported(open_app: OpenApp) -> None:
    run_id = store(SMALL, "<b>mine</b>\u202e")
    app = open_app("compare", **{"with": f"gpt2,run-{run_id}"})
    assert others(app) == ["GPT-2", "<b>mine</b>U+202E"]
    app = open_app("compare", **{"with": f"gpt2,run-{'a' * 32}"})
    assert others(app) == ["GPT-2"]
    assert "no run at this address" in app.error[0].value


@pytest.mark.parametrize("format", ["gpt2", "tiktoken"])
def test_a_file_of_any_format_can_be_added(open_app: OpenApp, format: Any) -> None:
    app = open_app("compare")
    files = dumps(SMALL.tokenizer, format)
    add_files(app, *files.items(), pretokenizer="gpt2" if format == "tiktoken" else None)
    assert not app.error
    added = rivals(app)[1]
    assert added["name"] == ", ".join(files)
    assert added["facts"].startswith("BPE, encoded by bpe_core.")
    # A .tiktoken file holds no special token.
    assert added["vocabulary"] == ("279" if format == "tiktoken" else "280")


def test_the_button_waits_for_a_file_and_a_bad_one_shows_an_error_and_keeps_the_shelf(
    open_app: OpenApp,
) -> None:
    app = open_app("compare")
    assert app.button(key="add_files").disabled
    add_files(app, ("a.json", NATIVE))
    assert len(others(app)) == 2
    for name, data, message in BAD_FILES:
        add_files(app, (name, data))
        # The uploader is empty again, and the error stays until another file is tried.
        assert app.button(key="add_files").disabled
        app.run()
        assert len(app.error) == 1
        assert message in errors(app)
        assert f"{name}: {name}" not in errors(app)
        assert app.session_state[state_key(Shelf)].problems == ()
        assert len(others(app)) == 2
    add_files(app, ("b.json", dumps(SMALL.tokenizer.truncated(9), "huggingface")["tokenizer.json"]))
    assert not app.error


BAD_FILES = [
    ("a.json", b"{", "not valid JSON"),
    ("a.json", b'{"model": {"type": "BPE"}}', "tokenizers cannot read this"),
    ("a.tiktoken", b"IQ== 0\n", "does not store its pre-tokenizer"),
    ("a.bin", b"\x00\xff", "a.bin"),
    ("empty", b"", "empty"),
]


def test_the_same_file_with_a_chat_template_replaces_it(open_app: OpenApp) -> None:
    app = open_app("compare")
    files = dumps(SMALL.tokenizer, "huggingface")
    with_template = {**files, "chat_template.jinja": b"{{ messages[0].content }}"}
    for added, has_template in ((files, False), (with_template, True), (files, True)):
        add_files(app, *added.items())
        keys = app.session_state[state_key(Shelf)].keys or ()
        (key,) = (key for key in keys if key.startswith(FILE_PREFIX))
        assert (open_member(key).chat is not None) is has_template


def test_the_same_file_is_added_once_and_any_number_is_compared(open_app: OpenApp) -> None:
    app = open_app("compare")
    add_files(app, *((f"{n}.json", NATIVE) for n in range(3)))
    assert others(app) == ["GPT-2", "0.json"]
    # Two files of the same name are two tokenizers.
    many = [dumps(SMALL.tokenizer.truncated(n), "huggingface")["tokenizer.json"] for n in range(9)]
    add_files(app, *(("tokenizer.json", data) for data in many))
    assert not app.error
    names = ["tokenizer.json", *(f"tokenizer.json ({n})" for n in range(2, 10))]
    assert others(app) == ["GPT-2", "0.json", *names]
    sizes = [str(SMALL.tokenizer.truncated(n).vocab_size) for n in range(9)]
    assert [row["vocabulary"] for row in rivals(app)[2:]] == sizes
    app.segmented_control(key="part").set_value("Passage").run()
    assert len(sent(app, "readings")["readings"]) == 12


def test_a_file_is_restored_after_a_refresh_and_by_a_link(open_app: OpenApp) -> None:
    app = open_app("compare")
    add_files(app, ("<b>mine</b>.json", NATIVE))
    again = open_app("compare", **{"with": in_address(app, "with")})
    assert not again.error
    assert others(again) == ["GPT-2", "<b>mine</b>.json"]
    assert rivals(again) == rivals(app)
    gone = open_app("compare", **{"with": "gpt2,file-" + "a" * 32})
    assert others(gone) == ["GPT-2"]
    assert "no longer kept on this server" in errors(gone)


def test_a_single_tokenizer_is_shown_with_a_hint(open_app: OpenApp) -> None:
    app = open_app("compare", **{"with": "none"})
    assert others(app) == []
    assert "Add a tokenizer" in app.info[0].value
    assert app.query_params["with"] == "none"


def test_a_run_is_added_by_its_address_or_its_id(open_app: OpenApp) -> None:
    run_id = store_hugs("Theirs")
    app = add_run(open_app("compare"), f"https://example.org/train?run={run_id}&with=none")
    assert not app.error
    assert others(app) == ["GPT-2", "Theirs"]
    assert in_address(app, "with") == f"gpt2,run-{run_id}"
    # The same run is still open.
    assert "run" not in app.query_params


def add_run(app: AppTest, address: str) -> AppTest:
    app.text_input(key="add_address_text").set_value(address)
    return press(app, "Add run")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<b>hug</b>", "Expected the address of a run, got “<b>hug</b>”"),
        ("?run=../../etc/passwd", "The run id in this address is malformed"),
    ],
)
def test_a_text_that_names_no_run_is_reported_and_changes_nothing(
    open_app: OpenApp, text: str, said: str
) -> None:
    app = add_run(open_app("compare"), text)
    assert said in errors(app)
    assert others(app) == ["GPT-2"]
    if "<b>" in text:
        assert "<b>" not in app.error[0].value


def test_a_run_that_is_already_compared_is_not_added_again(open_app: OpenApp) -> None:
    mine, theirs = store_hugs("Mine"), store_hugs("Theirs")
    app = add_run(open_app("compare", run=mine), mine)
    assert "the open run" in errors(app)
    add_run(app, theirs)
    assert not app.error
    add_run(app, theirs)
    assert "already on the shelf" in errors(app)
    add_run(app, "?run=sample")
    assert others(app) == ["GPT-2", "Theirs", "Python’s built-in help"]


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

    monkeypatch.setattr(by_name, "fetch", fetch)
    return names


def finish(app: AppTest, key: str) -> None:
    """Wait for a download, and draw the page again, as it does by itself."""
    draw_after(app, OfKind(FETCH), key)


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
    app = open_app("compare", **{"with": "gpt2,mistral-7b"})
    assert others(app) == ["GPT-2"]
    assert app.query_params["with"] == "gpt2,mistral-7b"
    assert fetched == []
    app.button(key="fetch_mistral-7b").click().run()
    finish(app, "mistral-7b")
    assert others(app) == ["GPT-2", "Mistral 7B"]
    assert fetched == ["mistral-7b"]
    assert not app.error


def test_without_a_network_a_button_says_what_to_do(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in (VARIABLE, "TIKTOKEN_CACHE_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "nothing"))
    no_network(monkeypatch)
    app = open_app("compare")
    app.button(key="add_gpt4o").click().run()
    finish(app, "gpt4o")
    assert "There is no network, or the index of Python packages cannot be reached" in errors(app)
    assert not re.search("pip|ERROR|requirement", errors(app))
    assert r"GPT\-4o could not be added\. " in app.error[0].value  # so nothing in it is Markdown
    assert not app.button(key="add_gpt4o").disabled
    assert others(app) == ["GPT-2"]


NOTEBOOK = bpe.train(load_sample("notebook"), bpe.TrainingConfig(vocab_size=280)).tokenizer
FOLDER_FILES = dumps(NOTEBOOK, "transformers")


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
    old = hub.add("org/model", FOLDER_FILES)
    app = open_app("compare")
    add_model(app, "https://huggingface.co/org/model")
    finish(app, "hf:org/model@main")
    assert others(app) == ["GPT-2", "org/model"]
    key = f"hf:org/model@{old}"
    assert app.query_params["with"] == f"gpt2,{key}"
    assert f"From {key}." in rivals(app)[1]["facts"]
    # The newest commit is added next to it; the link to the first shows the first.
    new = hub.add("org/model", {**FOLDER_FILES, "chat_template.jinja": b"new"})
    add_model(app, "org/model")
    finish(app, "hf:org/model@main")
    assert app.query_params["with"] == f"gpt2,{key},hf:org/model@{new}"
    n_requests = len(hub.requests)
    assert others(open_app("compare", **{"with": key})) == ["org/model"]
    assert len(hub.requests) == n_requests


def test_a_link_to_a_model_asks_the_hub_only_after_a_press(
    open_app: OpenApp, hub: LoopbackHub
) -> None:
    commit = hub.add("org/model", FOLDER_FILES)
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
    hub.add("org/model", FOLDER_FILES, "gated")
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
