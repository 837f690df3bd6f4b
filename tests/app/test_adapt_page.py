"""Adapt: extend, shrink or replace a tokenizer, then see and download the result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokenizers
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.adapting import Adapted, Advice, extend
from bpe_core.formats import ROWS, dumps, loads, row_files
from tests.app.adapting import (
    TEXT,
    open_extended,
    open_small_base,
    open_with_base,
    read_kinds,
    read_verdict,
    run_extension,
    small_base,
)
from tests.app.pages import OpenApp, in_address, metrics, page_text, paste, sent_table
from tests.app.training import assert_press_is_refused, draw_after, known_work
from tests.waiting import OfKind, wait_until
from ui.adapt import MODEL_LINES, in_background, result_parts
from ui.adapt.adapting_process import Swapped
from ui.adapt.in_background import REPLACE, SHRINK
from ui.run import zipped
from ui.work import queue

NO_INTERVAL = "No interval: it takes 20 documents, and there"


def download_labels(app: AppTest) -> list[str]:
    return [button.proto.label.replace("\\", "") for button in app.get("download_button")]


def test_gpt2_is_extended_and_its_run_opened(open_app: OpenApp) -> None:
    app = paste(open_app("adapt"), TEXT)
    assert "adapt_coverage" not in [field.key for field in app.number_input]
    app.number_input(key="adapt_tokens").set_value(12.0).run()
    stored = run_extension(app)
    run = stored.run
    assert (run.base, stored.title) == (bpe.gpt2(), "GPT-2 + Pasted text")
    assert (len(run.merges), run.tokenizer.vocab_size) == (12, 50_257 + 12)
    tokens = stored.held_out_tokens_after
    assert tokens is not None
    fewer = 100 * (1 - tokens[-1] / tokens[0])
    assert f"held-out text takes {fewer:.1f}% fewer tokens than with GPT-2" in read_verdict(app)
    assert f"{tokens[0]:,} → {tokens[-1]:,} tokens" in read_verdict(app)
    assert NO_INTERVAL in read_verdict(app)
    assert read_kinds(app) == {"Words": [12, tokens[0] - tokens[-1]]}
    for share, worth in (("0.1%", 0.001), ("1%", 0.01)):
        app.selectbox(key=f"worth_{stored.id}").set_value(share).run()
        assert Advice.of(run, tokens, worth).sentence in page_text(app).replace("\\", "")


def test_a_second_extension_opens_whole_whatever_the_first_was_cut_to(open_app: OpenApp) -> None:
    app, first = open_extended(open_app, merges="4")
    assert app.slider(key=f"tokens_kept_{first.id}").value == 4
    assert f"Tokens added **4** :gray[of 12, {50_257 + 4:,} in all]" in page_text(app)
    app.slider(key=f"tokens_kept_{first.id}").set_value(5).run()
    assert in_address(app, "merges") == "5"
    app.number_input(key="adapt_tokens").set_value(9.0).run()
    second = run_extension(app)
    assert second.id != first.id
    assert second.title == first.title == "GPT-2 + Pasted text"
    assert "merges" not in app.query_params
    assert app.slider(key=f"tokens_kept_{second.id}").value == 9


def test_a_cut_builds_no_tokenizer_again_and_other_formats_once_opened(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, stored = open_extended(open_app)
    app.slider(key=f"tokens_kept_{stored.id}").set_value(4).run()
    built: list[int] = []
    truncated = bpe.Tokenizer.truncated

    def cut(tokenizer: bpe.Tokenizer, n_merges: int) -> bpe.Tokenizer:
        built.append(n_merges)
        return truncated(tokenizer, n_merges)

    monkeypatch.setattr(bpe.Tokenizer, "truncated", cut)
    app.slider(key=f"tokens_kept_{stored.id}").set_value(12).run()
    app.slider(key=f"tokens_kept_{stored.id}").set_value(4).run()
    assert not built
    assert "BPE Explorer (.json)" not in download_labels(app)
    app.session_state[result_parts.OTHER_FORMATS] = True
    app.run()
    assert built == [50_000 + 4]
    assert "BPE Explorer (.json)" in download_labels(app)


def test_a_base_that_cannot_be_adapted_says_why(open_app: OpenApp) -> None:
    unigram = tokenizers.Tokenizer(tokenizers.models.Unigram([("a", 0.0), ("<b>", -1.0)], 0))
    files = {"<b>.json": unigram.to_str().encode()}
    app = open_with_base(open_app, files)
    assert str(app.selectbox(key="adapt_base").value).startswith("file-")
    assert "cannot be adapted: its model is Unigram" in app.warning[0].value.replace("\\", "")
    assert "<b>" not in app.warning[0].value
    assert_press_is_refused(app, "extend")


def test_an_invalid_number_of_tokens_is_refused_and_an_unknown_base_replaced(
    open_app: OpenApp,
) -> None:
    app = open_app("adapt", base="file-<b>")
    assert app.selectbox(key="adapt_base").value == "gpt2"
    app.number_input(key="adapt_tokens").set_value(4.5).run()
    assert len(app.error) == 1
    assert_press_is_refused(app, "extend")


def test_a_tokenizer_is_shrunk(open_app: OpenApp) -> None:
    app = open_small_base(open_app, "Shrink")
    draw_after(app, OfKind(SHRINK), begin(app, "Shrink"))
    size = small_base().vocab_size
    assert f"of tokenizer.json’s {size:,} tokens" in read_verdict(app)
    assert NO_INTERVAL in read_verdict(app)
    slider = next(each for each in app.slider if each.label == "Tokens removed")
    assert slider.max == size - 257  # which leaves 256 bytes and a special token
    slider.set_value(1_000).run()
    assert [metric.value for metric in app.metric][:1] == [f"{size - 1_000:,}"]


def test_a_base_with_nothing_to_remove_is_said_so(open_app: OpenApp) -> None:
    files = dumps(bpe.gpt2().truncated(0), "huggingface")
    app = open_with_base(open_app, files, "Shrink")
    draw_after(app, OfKind(SHRINK), begin(app, "Shrink"))
    assert "nothing to remove" in app.info[0].value


@pytest.mark.slow
def test_tokens_are_replaced_at_the_same_size(open_app: OpenApp) -> None:
    app = open_small_base(open_app, "Replace")
    id = begin(app, "Replace")
    draw_after(app, OfKind(REPLACE), id)
    assert f"with the same vocabulary size, {small_base().vocab_size:,}." in read_verdict(app)
    assert NO_INTERVAL in read_verdict(app)
    found = queue.status(REPLACE, id).result
    assert found is not None
    before, *after = found.judged.tokens
    assert [size.n_tokens for size in found.sizes] == [1, 2, 3, 4, 5]
    slider = next(each for each in app.select_slider if each.label == "Tokens replaced")
    slider.set_value(2).run()
    assert next(metric.value for metric in app.metric) == f"{100 * (1 - after[1] / before):.1f}%"
    assert sum(tokens for _, tokens in read_kinds(app).values()) == before - after[1]
    assert metrics(app)["Next 1 token"] == f"{100 * (after[1] - after[2]) / before:.2f}%"
    _judge_by_general_texts(app, found)
    assert "2 tokens were removed" in page_text(app)
    new = sent_table(app, "New tokens and the tokens they replace")
    assert len(new["rows"]) == 2


def _judge_by_general_texts(app: AppTest, found: Swapped) -> None:
    """Check the figure for a general text, then for the visitor's own, after replacing tokens."""
    own = "a Schifffahrt, but at least Donau"
    base, adapted = found.base, found.at(1).tokenizer
    before, after = (len(each.encode(own)) for each in (base, adapted))
    assert after < before
    app.query_params["text"] = own
    sample = found.general["python-library"].tokens
    for choice, fewer in (
        ("python-library", 100 * (1 - sample[2] / sample[0])),
        ("Your text", 100 * (1 - after / before)),
    ):
        general = next(each for each in app.selectbox if each.label == "General text")
        general.set_value(choice).run()
        assert metrics(app)["General text"] == f"{abs(fewer):.1f}%"


MODES = {
    "Shrink": (SHRINK, "shrink_in_process", "shrinking"),
    "Replace": (REPLACE, "replace_in_process", "replacing"),
}


def begin(app: AppTest, mode: str) -> str:
    """Begin to shrink or replace, and return the id of the work."""
    if mode == "Replace":
        app.number_input(key="replace_tokens").set_value(5.0).run()
    app.button(key=mode.lower()).click().run()
    return known_work(MODES[mode][0])


@pytest.mark.parametrize("mode", MODES)
def test_shrinking_and_replacing_are_cancelled_and_begun_again(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    kind, function, key = MODES[mode]
    works = OfKind(kind)
    real = getattr(in_background, function)

    def wait_for_cancel(*args: Any, **arguments: Any) -> object:
        wait_until(works, known_work(kind), lambda status: status.is_stopping)
        return real(*args, **arguments)

    monkeypatch.setattr(in_background, function, wait_for_cancel)
    app = open_small_base(open_app, mode)
    id = begin(app, mode)
    app.button(key=f"{key}_cancel").click().run()
    assert draw_after(app, works, id).state == "cancelled"
    assert "was cancelled" in page_text(app)
    assert not download_labels(app)
    monkeypatch.setattr(in_background, function, real)
    app.button(key=f"{key}_again").click().run()
    app.button(key=mode.lower()).click().run()
    assert wait_until(works, id).state == "finished"


@pytest.mark.parametrize("mode", MODES)
def test_a_shrunk_or_changed_tokenizer_is_downloaded(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    archives: list[Mapping[str, bytes]] = []

    def zip_and_note(files: Mapping[str, bytes]) -> bytes:
        archives.append(files)
        return zipped(files)

    monkeypatch.setattr(result_parts, "zipped", zip_and_note)
    app = open_with_base(open_app, dumps(small_base(), "transformers"), mode)
    draw_after(app, OfKind(MODES[mode][0]), begin(app, mode))
    names = ["Tokenizer files", "old_ids.npy", "parts.npy", "embedding_rows.json"]
    assert [label for label in download_labels(app) if not label.endswith("CSV")] == names
    assert any(
        re.fullmatch(
            r"bpe encode-corpus corpus/ -t \S+\.zip( --eos none)? --out tokens/", code.value
        )
        for code in app.code
    )
    (files,) = archives
    removed: list[Any] = [each.value for each in app.slider if each.label == "Tokens removed"]
    assert len(removed) == (mode == "Shrink")
    assert loads(files).vocab_size == small_base().vocab_size - sum(removed)


class Rows(np.ndarray):
    """An embedding's rows as an array that has `data` and `clone` of a PyTorch tensor."""

    @property
    def data(self) -> Rows:  # type: ignore[override]
        return self

    def clone(self) -> Rows:
        return self.copy()


def test_the_lines_give_each_row_its_old_one_or_the_mean_of_its_parts(tmp_path: Path) -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), n_tokens=6)
    adapted = Adapted.of(bpe.gpt2(), run.tokenizer)
    (tmp_path / ROWS).write_bytes(row_files(adapted)[ROWS])
    before = np.random.default_rng(0).normal(size=(50_257, 4))
    layer = SimpleNamespace(weight=before.view(Rows))

    def resize(n_rows: int, *, mean_resizing: bool) -> None:
        assert not mean_resizing  # a costly covariance, for rows that are replaced anyway
        layer.weight = np.zeros((n_rows, 4)).view(Rows)

    model = SimpleNamespace(
        get_input_embeddings=lambda: layer,
        get_output_embeddings=lambda: layer,
        resize_token_embeddings=resize,
    )
    lines = MODEL_LINES.replace("from transformers import AutoModelForCausalLM\n", "")
    lines = lines.replace(f'"{ROWS}"', repr(str(tmp_path / ROWS)))
    loader = SimpleNamespace(from_pretrained=lambda _: model)
    exec(lines, {"AutoModelForCausalLM": loader})
    after = np.asarray(layer.weight)
    assert np.array_equal(after[:50_257], before)
    for id, parts in run.new_tokens.items():
        assert np.allclose(after[id], before[list(parts)].mean(0))
