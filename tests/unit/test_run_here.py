"""Merges that bpe_core runs after a normalizer and added tokens, compared with `tokenizers`."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import ForeignTokenizer, dumps, write_huggingface
from bpe_core.formats.opening.opening import open_files
from bpe_core.tokenizer import boundaries
from bpe_core.types import Format
from tests.foreign_models import library_encoder, native_encoder
from ui.tokenizers.normalized import NormalizedPiece, list_changes

SMALL = bpe.train(
    [*load_sample("notebook").documents, "the end of it plain words " * 9],
    bpe.TrainingConfig(700, special_tokens=(), pretokenizer="gpt2"),
).tokenizer
NFC = {"type": "NFC"}
TEXTS = [
    "",
    "plain words",
    "cafe\u0301 <a>e\u0301<b> x<ab>y",
    "<a<a>b><x> <<x><b>",
    "\u0301<a>\u0301",
]


def described(added: list[tuple[str, bool, bool]] | None = None, **parts: Any) -> dict[str, Any]:
    """Return a tokenizer.json with added tokens (text, special, normalized) and parts."""
    found: dict[str, Any] = json.loads(write_huggingface(SMALL)) | parts
    for text, special, normalized in added or []:
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        id = SMALL.vocab_size + len(found["added_tokens"])
        token = {"id": id, "content": text, "special": special, "normalized": normalized}
        found["added_tokens"].append(token | flags)
    return found


def both(of: dict[str, Any]) -> tuple[bpe.Tokenizer, ForeignTokenizer]:
    return native_encoder(of), library_encoder(of)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("normalizer", [None, NFC, {"type": "NFKD"}])
def test_added_tokens_and_normal_forms_equal_the_library(text: str, normalizer: object) -> None:
    # A special token hides the tokens within it, even where it is not allowed.
    tokens = [("<a>", False, False), ("<x>", False, True), ("<b>", True, False)]
    tokens += [("<a<a>b>", True, False), ("<<x>", True, True)]
    native, library = both(described(tokens, normalizer=normalizer))
    for allowed in ((), "all"):
        assert native.encode(text, allowed) == library.encode(text, allowed)
    placed = native.segments(text, "all")
    # The library places a character that was composed at the first of those that it was made of.
    theirs = [part.id for part in library.segments(text, "all") if part.id is not None]
    assert [part.id for part in placed] == theirs
    assert [part.byte_end for part in placed][-1:] == [len(text.encode())][: len(placed)]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_of_normalized_text_are_placed_without_the_library(text: str) -> None:
    of = described([("<a>", False, False), ("<b>", True, False)], normalizer=NFC)
    native, _ = both(of)
    for allowed in ((), "all"):
        placed = native.segments(text, allowed)
        assert [part.id for part in placed] == native.encode(text, allowed)
        starts, ends = [part.byte_start for part in placed], [part.byte_end for part in placed]
        assert [*starts, len(text.encode())] == [0, *ends]


@pytest.mark.parametrize("text", ["a\tb", "\U00050000 hug", "a\U0005fffe\tb", "hugs"])
def test_bytes_that_are_not_tokens_are_dropped_as_by_the_library(text: str) -> None:
    of = described()
    for byte in (0x09, 0xF1):
        del of["model"]["vocab"][{0x09: "ĉ", 0xF1: "ñ"}[byte]]
    of["model"]["merges"] = [m for m in of["model"]["merges"] if "ĉ" not in str(m)]
    of["model"]["vocab"] = {t: i for t, i in of["model"]["vocab"].items() if "ĉ" not in t}
    native, library = both(of)
    assert native.encode(text) == library.encode(text)
    assert native.segments(text)[-1].byte_end == len(text.encode())


def test_a_missing_byte_of_every_script_is_left_out() -> None:
    of = described()
    gone = {"Ģ"}  # 0x80
    kept = {t: i for t, i in of["model"]["vocab"].items() if not gone & set(t)}
    of["model"] |= {"vocab": kept, "merges": []}
    native, library = both(of)
    for text in ("\u0400", "h\u0400\u1000 \U00010000hug", "hugs"):
        assert native.encode(text) == library.encode(text)
        placed = native.segments(text)
        assert [part.id for part in placed if part.id is not None] == native.encode(text)
        assert (
            b"".join(text.encode()[each.byte_start : each.byte_end] for each in placed).decode()
            == text
        )


@pytest.mark.parametrize("normalizer", [{"type": "Lowercase"}, {"type": "Prepend", "prepend": "a"}])
def test_other_normalizers_stay_with_the_library(normalizer: dict[str, str]) -> None:
    of = described(normalizer=normalizer)
    with pytest.raises(bpe.FormatError, match=normalizer["type"]):
        native_encoder(of)


def test_a_file_says_what_comes_before_the_merges() -> None:
    of = described([("<a>", False, False)], normalizer=NFC)
    opened = open_files({"tokenizer.json": json.dumps(of).encode()})
    assert isinstance(opened.encoder, bpe.Tokenizer)
    assert opened.provenance == (
        "Pre-tokenizer gpt2, encoded exactly by bpe_core. 1 added token is found in ordinary "
        "text. Text is normalized first (NFC)."
    )
    plain = open_files({"tokenizer.json": json.dumps(described()).encode()})
    assert isinstance(plain.encoder, bpe.Tokenizer)


def test_it_is_pickled_with_all_that_it_needs() -> None:
    native, _ = both(described([("<a>", False, False)], normalizer=NFC))
    again = pickle.loads(pickle.dumps(native))  # noqa: S301 - its own
    assert again.fingerprint == native.fingerprint
    assert again.encode("e\u0301<a>") == native.encode("é<a>")


def test_pretokens_and_added_tokens_are_told_in_a_text() -> None:
    native, _ = both(described([("<a>", False, False)]))
    text = "the end<a> of it"
    found = boundaries(text, native)
    assert found.ids.tolist() == native.encode(text)
    texts = [native.vocab[id].decode() for id in found.ids[found.starts_pretoken]]
    assert texts == ["the", " end", "<a>", " of", " it"]


def test_what_a_normalizer_changes_is_told() -> None:
    native, foreign = both(described(normalizer=NFC))
    for text in ("plain", "cafe\u0301 x"):
        assert native.normalized(text) == foreign.normalized(text)
    assert [each for each in list_changes(native, "cafe\u0301 x") if each.is_changed] == [
        NormalizedPiece("e\u0301", "é")
    ]


STEPS: dict[str, dict[str, Any]] = {
    "added": {"added": [("<a>", False, False), ("<b>", True, False)]},
    "normalizer": {"normalizer": NFC},
    "both": {"added": [("<a>", False, True)], "normalizer": NFC},
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("format", ["native", "huggingface"])
def test_steps_are_written_and_read_again(name: str, format: Format) -> None:
    native = native_encoder(described(**STEPS[name]))
    again = open_files(dumps(native, format)).encoder
    assert again.fingerprint == native.fingerprint
    for text in TEXTS:
        assert again.encode(text, "all") == native.encode(text, "all")


@pytest.mark.parametrize(
    ("name", "said"), [("added", "added tokens are found in any text"), ("normalizer", "to NFC")]
)
@pytest.mark.parametrize("format", ["gpt2", "tiktoken", "gguf"])
def test_a_format_names_the_step_that_it_cannot_hold(name: str, said: str, format: Format) -> None:
    native = native_encoder(described(**STEPS[name]))
    with pytest.raises(bpe.ConfigError, match=f"cannot express that .*{said}"):
        dumps(native, format)


def test_bytes_that_are_left_out_are_written_and_read_again() -> None:
    of = described()
    of["model"]["vocab"] = {t: i for t, i in of["model"]["vocab"].items() if "ĉ" not in t}
    of["model"]["merges"] = [m for m in of["model"]["merges"] if "ĉ" not in str(m)]
    native = native_encoder(of)
    assert native.left_out == b"\t"
    formats: tuple[Format, ...] = ("native", "huggingface")
    for format in formats:
        assert open_files(dumps(native, format)).encoder == native
    with pytest.raises(bpe.ConfigError, match="bytes that are not tokens are left out"):
        dumps(native, "gguf")
    assert [word.text for word in native.explain("a\tb")] == ["a", "b"]
