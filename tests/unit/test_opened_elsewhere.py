"""Downloads are opened by the libraries that they are for, and any difference is found."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import (
    CATALOGUE,
    check_opens,
    dumps,
    find_reader,
    special_roles,
    write_files,
)
from bpe_core.formats.checking import opened_elsewhere
from bpe_core.formats.checking.opened_elsewhere import Opened, TrialError, compare_ids, ids_by_lines
from bpe_core.formats.checking.probe import PROBE, Probe, encodable, make_probe
from bpe_core.formats.checking.reading_libraries import READERS, Reader, literal
from bpe_core.formats.folder_files import FORMATS
from bpe_core.types import Format

SAMPLE = load_sample("multilingual")
HOSTILE = ("<|endoftext|>", '<|"""\n+exit(3)#|>', "<|'\\|>", "<|\u202e\\N{BULLET}{}%s|>")
TOKENIZER = bpe.train(SAMPLE, bpe.TrainingConfig(600, special_tokens=HOSTILE)).tokenizer
SMALL = make_probe(TOKENIZER, n_tokens=5_000)
LLAMA = bpe.train(
    SAMPLE,
    vocab_size=1_500,
    base="characters",
    byte_fallback=True,
    character_coverage=0.99,
    pretokenizer="metaspace",
    special_tokens=("<unk>", *HOSTILE),
).tokenizer
LLAMA_SMALL = make_probe(LLAMA, n_tokens=5_000)


def probed(format: Format) -> tuple[bpe.Tokenizer, Probe]:
    return (LLAMA, LLAMA_SMALL) if format == "sentencepiece" else (TOKENIZER, SMALL)


def test_each_format_has_a_reader() -> None:
    assert set(READERS) == set(FORMATS)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_a_file_is_opened_with_the_same_ids(format: Format) -> None:
    tokenizer, small = probed(format)
    opened = check_opens(tokenizer, format, small)
    assert opened.sentence.endswith(f": same ids on {small.n_tokens:,} tokens.")
    assert opened.is_same
    assert opened.library == READERS[format][0].library
    if format != "native":
        assert opened.version == metadata.version(opened.library)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "format"),
    [
        (reader.library, format)
        for format, (_, *others) in READERS.items()
        for reader in others
        # tiktoken reads GPT-2's files only without special tokens that hold line feeds.
        if (reader.library, format) != ("tiktoken", "gpt2")
    ],
)
def test_other_libraries_that_read_a_format_give_the_same_ids(library: str, format: Format) -> None:
    tokenizer, small = probed(format)
    opened = check_opens(tokenizer, format, small, library=library)
    assert opened.library == library
    assert opened.is_same or opened.needs == "torch", opened.sentence


def test_a_library_that_does_not_read_a_format_is_refused() -> None:
    with pytest.raises(bpe.ConfigError, match="sentencepiece cannot read the format native"):
        check_opens(TOKENIZER, "native", SMALL, library="sentencepiece")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "library"), [("huggingface", "tokenizers"), ("transformers", "transformers")]
)
def test_characters_with_bytes_for_the_rest_get_the_same_ids(format: Format, library: str) -> None:
    opened = check_opens(LLAMA, format, LLAMA_SMALL, library=library)
    assert opened.is_same, opened.sentence


@pytest.mark.parametrize(
    "text", [*HOSTILE, "", '"', "'", "\\", '\\"', "a\\", r"\s+\"", "'\"\\", "\x00", "\u2028", "{}"]
)
def test_a_literal_evaluates_to_its_text_and_to_nothing_else(text: str) -> None:
    written = literal(text)
    assert eval(written, {"__builtins__": {}}) == text
    assert written.isprintable()


# Differences and failures


def test_the_first_difference_is_found_at_its_place() -> None:
    probe = Probe(("hi", "hi hug hug"), ((5303,), (5303, 16225, 16225)))
    assert compare_ids(bpe.gpt2(), probe, [[5303], [5303, 16225, 16225]]) == (4, None)
    n_tokens, difference = compare_ids(bpe.gpt2(), probe, [[5303], [5303, 16225]])
    assert n_tokens == 3
    assert difference is not None
    assert (difference.character, difference.text) == (8, " hug")
    assert (difference.expected, difference.found) == ((16225,), ())
    opened = Opened("tokenizers", "0.23.3", n_tokens, difference)
    assert not opened.is_same
    assert opened.sentence == (
        "Opened by tokenizers 0.23: other ids after 3 equal tokens, from character 8 of the test "
        "text on, ' hug': nothing instead of 16225."
    )


def test_a_file_that_encodes_differently_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = TOKENIZER.truncated(TOKENIZER.n_merges - 100)
    monkeypatch.setattr(opened_elsewhere, "dumps", lambda _, format: dumps(shorter, format))
    for format in ("huggingface", "tiktoken"):
        opened = check_opens(TOKENIZER, format, SMALL)
        assert opened.difference is not None
        assert not opened.is_same


def test_a_regex_that_the_other_library_reads_differently_is_reported() -> None:
    # GPT-2's two files hold no pattern, so writing them cannot refuse it.
    tokenizer = bpe.train(SAMPLE, bpe.TrainingConfig(900, pretokenizer=r"regex:\w+|\s")).tokenizer
    opened = check_opens(tokenizer, "gpt2", make_probe(tokenizer, n_tokens=5_000))
    assert opened.difference is not None
    assert "\u200c" in opened.difference.text


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = replace(find_reader("tiktoken"), library="no-such-library")
    monkeypatch.setattr(opened_elsewhere, "find_reader", lambda *_: reader)
    opened = check_opens(TOKENIZER, "tiktoken", SMALL)
    assert opened.sentence == "Not checked: no-such-library is not installed here."
    assert not opened.is_same


def test_a_format_that_cannot_hold_the_tokenizer_is_refused() -> None:
    seen = bpe.train(SAMPLE, bpe.TrainingConfig(600, alphabet="seen")).tokenizer
    with pytest.raises(bpe.ConfigError, match="all 256 bytes"):
        check_opens(seen, "tiktoken", SMALL)


@pytest.mark.slow
def test_tiktoken_says_which_order_of_ids_it_expects_of_gpt2s_files() -> None:
    special_first = bpe.train(SAMPLE, bpe.TrainingConfig(300)).tokenizer
    opened = check_opens(special_first, "gpt2", SMALL, library="tiktoken")
    assert opened.problem is not None
    assert "the ids in GPT-2's order" in opened.problem


@pytest.mark.slow
def test_an_error_a_crash_and_a_hang_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TrialError, match="ValueError: no luck"):
        ids_by_lines("raise ValueError('no luck')", "[]", ["a"], tmp_path)
    (tmp_path / "checks.py").write_text("def check(n):\n    assert n == 2\n")
    by_module = f"import sys; sys.path.append({str(tmp_path)!r}); import checks; checks.check(1)"
    with pytest.raises(TrialError, match="AssertionError: raised by “assert n == 2”"):
        ids_by_lines(by_module, "[]", ["a"], tmp_path)
    with pytest.raises(TrialError, match=r"crashed \(SIGSEGV\)"):
        ids_by_lines("import os; os.kill(os.getpid(), 11)", "[]", ["a"], tmp_path)
    monkeypatch.setattr(opened_elsewhere, "_MAX_SECONDS", 0.5)
    with pytest.raises(TrialError, match="more than 0 seconds"):
        ids_by_lines("import time; time.sleep(60)", "[]", ["a"], tmp_path)
    reader = Reader("bpe_core", lambda _: "1 / 0", "[]")
    monkeypatch.setattr(opened_elsewhere, "find_reader", lambda *_: reader)
    monkeypatch.setattr(opened_elsewhere, "_MAX_SECONDS", 60.0)
    opened = check_opens(TOKENIZER, "native", SMALL)
    assert opened.sentence.endswith(": ZeroDivisionError: division by zero")
    assert "Not opened by bpe_core" in opened.sentence


# The probe


def test_the_probe_has_scripts_and_special_tokens() -> None:
    probe = make_probe(TOKENIZER, n_tokens=20_000)
    text = "".join(probe.texts)
    assert probe.n_tokens >= 20_000
    assert PROBE in text
    assert all(special in text for special in HOSTILE)
    assert [tuple(TOKENIZER.encode(each, allowed_special="all")) for each in probe.texts] == list(
        probe.ids
    )
    assert max(map(len, probe.texts)) <= 4_000


def test_the_probe_is_as_long_as_asked() -> None:
    assert 100_000 <= make_probe(TOKENIZER).n_tokens < 104_000


def test_the_probe_has_only_characters_of_the_alphabet() -> None:
    config = bpe.TrainingConfig(60, base="characters", special_tokens=())
    tokenizer = bpe.train(load_sample("notebook"), config).tokenizer
    assert encodable(tokenizer, "This 漢 is") == "This  is"
    probe = make_probe(tokenizer, n_tokens=3_000)
    assert probe.n_tokens >= 3_000


# The transformers folder


def test_special_tokens_get_their_roles_by_name() -> None:
    assert special_roles({}) == {}
    assert special_roles({"###": 0}) == {"bos_token": "###", "eos_token": "###"}
    for unknown in ("<unk>", "[UNK]", "<|UNK|>"):
        assert special_roles({unknown: 0}) == {"additional_special_tokens": [unknown]}
    assert special_roles(CATALOGUE["qwen2"].special_tokens) == {
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
    }
    assert special_roles({"<pad>": 0}) == {"pad_token": "<pad>"}
    assert special_roles({"[SEP]": 1, "[CLS]": 0}) == {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    assert special_roles({"<|user|>": 1, "<unk>": 2, "<|endoftext|>": 0}) == {
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endoftext|>",
        "additional_special_tokens": ["<|user|>", "<unk>"],
    }


@pytest.mark.slow
def test_transformers_knows_the_ends_and_decodes_what_it_encodes(tmp_path: Path) -> None:
    special = ("<|endoftext|>", "<|pad|>", "<|user|>")
    tokenizer = bpe.train(SAMPLE, bpe.TrainingConfig(400, special_tokens=special)).tokenizer
    write_files(dumps(tokenizer, "transformers"), tmp_path / "transformers-tokenizer")
    lines = find_reader("transformers").lines(tokenizer)
    code = f"""{lines.load}
tokenizer.save_pretrained("again")
again = AutoTokenizer.from_pretrained("again")
import json
import pathlib
pathlib.Path("known.json").write_text(json.dumps([
    tokenizer.eos_token, tokenizer.bos_token, tokenizer.pad_token, tokenizer.unk_token,
    tokenizer.all_special_tokens, tokenizer.eos_token_id, len(tokenizer),
    tokenizer.clean_up_tokenization_spaces, tokenizer.model_max_length,
    tokenizer.decode(tokenizer.encode("Hm , it 's\\n you !")),
    tokenizer.decode(tokenizer.encode("a<|endoftext|>b<|user|>"), skip_special_tokens=True),
    again.encode("you<|endoftext|>") == tokenizer.encode("you<|endoftext|>"),
]))
"""
    ids_by_lines(code, lines.encode, ["a"], tmp_path)
    known = json.loads((tmp_path / "known.json").read_text())
    end = "<|endoftext|>"
    assert known[:4] == [end, end, "<|pad|>", None]
    assert set(known[4]) == set(special)
    assert known[5:9] == [tokenizer.special_tokens[end], 400, False, int(1e30)]
    assert known[9:] == ["Hm , it 's\n you !", "ab", True]


def test_the_lines_for_tiktoken_have_the_pattern_and_every_special_token() -> None:
    code = find_reader("tiktoken").lines(TOKENIZER).code
    assert literal(TOKENIZER.pretokenizer.pattern or "") in code
    for text, id in TOKENIZER.special_tokens.items():
        assert f"{literal(text)}: {id}," in code
