"""The tokenizers on Compare: those shown first, adding others, errors, and links."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.corpus.samples import load_sample
from bpe_core.formats.load_save import dumps
from tests.app.pages import OpenApp, all_sent, errors, in_address, sent, upload
from tests.app.stored import store
from ui.shell.workspace import state_key
from ui.tokenizers.shelf import FILE_PREFIX, Shelf, open_member

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
