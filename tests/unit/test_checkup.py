"""Every check of `bpe check` finds a tokenizer that has just its fault, and no sound one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.diagnosis import CHECKS
from bpe_core.formats import dumps, write_files
from bpe_core.tokenizer import Tokenizer
from tests.commands import run
from tests.new_process import ROOT

TRAINED = bpe.train(["the hug, the hugs; hugging pun bun"] * 3, vocab_size=280).tokenizer
BYTES = {byte: bytes([byte]) for byte in range(256)}
BOS = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {
        "<|endoftext|>": {"id": "<|endoftext|>", "ids": [0], "tokens": ["<|endoftext|>"]}
    },
}
ALWAYS = ("unused-bytes", "partial-utf8")
"""What every tokenizer of all bytes has, or may have."""


def found_in(checked: bpe.Checkup) -> list[str]:
    return [each.name for each in checked.findings if each.name not in ALWAYS]


def tokenizer(vocab: dict[int, bytes] = {}, *merges: Any, **settings: Any) -> Tokenizer:  # noqa: B006
    return Tokenizer(
        vocab={**BYTES, **vocab}, merges=merges, **{"pretokenizer": "gpt2", **settings}
    )


def lacking() -> Tokenizer:
    vocab = {id: token for id, token in BYTES.items() if token != b"z"} | {122: b"ab"}
    return Tokenizer(vocab=vocab, merges=[(97, 98, 122)], pretokenizer="gpt2")


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    # The space is inside, where GPT-2's pattern cuts.
    "unreachable-tokens": lambda: tokenizer(
        {256: b"a b", 257: b"a "}, (97, 32, 257), (257, 98, 256)
    ),
    "missing-bytes": lacking,
    "dead-merges": lambda: tokenizer(
        {256: b"ab", 257: b"bc", 258: b"abc"},
        (97, 98, 256),
        (98, 99, 257),
        (97, 257, 258),
        (256, 99, 258),
    ),
    "id-holes": lambda: tokenizer({300: b"ab"}, (97, 98, 300)),
    "special-in-text": lambda: tokenizer({256: b"ab"}, (97, 98, 256), special_tokens={"ab": 256}),
    "normalizes": lambda: tokenizer(pretokenizer="NFC+gpt2"),
    "drops-text": lambda: tokenizer(pretokenizer="whitespace"),
}


def test_a_sound_tokenizer_has_no_finding() -> None:
    checked = bpe.check(TRAINED)
    assert found_in(checked) == []
    marked = bpe.train(["hug hugs bun"], vocab_size=262, end_of_word="</w>").tokenizer
    assert found_in(bpe.check(marked)) == ["round-trip"]  # any white space comes back as a space
    assert (checked.n_errors, checked.n_warnings) == (0, 0)
    assert "round-trip" in checked.passed
    assert {*checked.passed, *checked.skipped, *(each.name for each in checked.findings)} == {
        *CHECKS
    }


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_with_a_fault_has_that_finding(name: str) -> None:
    checked = bpe.check(TOKENIZERS[name]())
    others = ["round-trip", "unreachable-tokens"] if name == "drops-text" else []
    assert found_in(checked) == sorted({name, *others}, key=found_in(checked).index), checked
    finding = next(each for each in checked.findings if each.name == name)
    assert all((finding.message, finding.example, finding.remedy))


def test_two_ids_of_one_token() -> None:
    checked = bpe.check(tokenizer({256: b"ab", 257: b"ab"}, (97, 98, 256)))
    # Nothing makes the second, which is therefore unreachable too.
    assert found_in(checked) == ["duplicate-tokens", "unreachable-tokens"]
    assert checked.findings[0].example == "'ab' has the ids 256, 257"


def test_what_every_tokenizer_of_bytes_has_is_a_note() -> None:
    cut = tokenizer({256: b"\xc3\xa9", 257: b"\xa9\xc3"}, (0xC3, 0xA9, 256), (0xA9, 0xC3, 257))
    notes = {each.name: each for each in bpe.check(cut).findings if each.name in ALWAYS}
    assert notes["unused-bytes"].message.startswith("No text is encoded to 13 single bytes")
    assert notes["partial-utf8"].example == "id 257: \\xa9\\xc3"
    assert {each.severity for each in notes.values()} == {"note"}


def test_a_token_without_a_text_or_a_proof_is_undecided() -> None:
    checked = bpe.check(tokenizer({256: b"ab"}, (97, 98, 256), pretokenizer="regex:[^é]"))
    assert found_in(checked) == ["undecided-tokens"]


def test_a_merge_whose_token_nothing_else_makes_is_a_warning() -> None:
    lost = {256: b"ab", 257: b"bc", 258: b"abc"}
    checked = bpe.check(tokenizer(lost, (97, 98, 256), (98, 99, 257), (97, 257, 258)))
    severities = {each.name: each.severity for each in checked.findings}
    assert severities["dead-merges"] == "warning"
    assert severities["unreachable-tokens"] == "warning"


def folder(at: Path, change: Callable[[dict[str, Any]], None] | None = None, **more: Any) -> Path:
    """Write a folder of a sound tokenizer, with its tokenizer.json changed and more files."""
    written = json.loads(dumps(TRAINED, "huggingface")["tokenizer.json"])
    if change is not None:
        change(written)
    (at / "tokenizer.json").write_text(json.dumps(written), encoding="utf-8")
    for name, content in more.items():
        (at / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return at


def unmark(written: dict[str, Any]) -> None:
    written["added_tokens"][0]["special"] = False


def drop_spaces(written: dict[str, Any]) -> None:
    written["normalizer"] = {"type": "Replace", "pattern": {"String": "fox"}, "content": "dog"}


FOLDERS: dict[str, Callable[[Path], Path]] = {
    "control-in-text": lambda at: folder(at, unmark),
    "model-rows": lambda at: folder(at, config={"vocab_size": 200}),
    "padded-rows": lambda at: folder(at, config={"text_config": {"vocab_size": 512}}),
    "missing-role": lambda at: folder(at, tokenizer_config={"eos_token": "<|end|>"}),
    "role-ids": lambda at: folder(at, generation_config={"eos_token_id": [0, 50256]}),
    "bos-twice": lambda at: folder(
        at, lambda written: written.update(post_processor=BOS),
        tokenizer_config={"bos_token": "<|endoftext|>", "chat_template":
                          "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"}),
    "unknown-control": lambda at: folder(at, tokenizer_config={
        "chat_template": "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"}),
    "chat-template": lambda at: folder(at, tokenizer_config={
        "chat_template": "{{ raise_exception('no system message') }}"}),
    "round-trip": lambda at: folder(at, drop_spaces),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_with_a_fault_has_that_finding(name: str, tmp_path: Path) -> None:
    checked = bpe.check(FOLDERS[name](tmp_path))
    others = ["other-readers"] if name == "round-trip" else []
    assert found_in(checked) == [name, *others], checked


def test_ids_of_ordinary_tokens_and_of_none_are_told_apart(tmp_path: Path) -> None:
    cases = {0: None, 65: "warning", 280: "error", -1: None}
    for id, severity in cases.items():
        folder(tmp_path, config={"text_config": {"bos_token_id": id, "pad_token_id": 65}})
        found = [each for each in bpe.check(tmp_path).findings if each.name == "role-ids"]
        assert [each.severity for each in found] == ([severity] if severity else [])


def test_two_files_of_one_folder_disagree(tmp_path: Path) -> None:
    write_files(dumps(TRAINED, "gpt2"), tmp_path)
    folder(tmp_path)
    assert found_in(bpe.check(tmp_path)) == []
    merges = (tmp_path / "merges.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "merges.txt").write_text("\n".join([merges[0], *merges[:0:-1]]), encoding="utf-8")
    shorter = TRAINED.truncated(TRAINED.n_merges - 1).with_changes()
    write_files(dumps(shorter, "gpt2"), tmp_path)
    (finding,) = (each for each in bpe.check(tmp_path).findings if each.name == "files-disagree")
    assert finding.severity == "error"


def test_the_command_says_what_to_do_and_ends_with_a_status(tmp_path: Path) -> None:
    sound, warned, wrong = (tmp_path / name for name in ("sound", "warned", "wrong"))
    for each in (sound, warned, wrong):
        each.mkdir()
    folder(sound)
    folder(warned, unmark)
    folder(wrong, config={"vocab_size": 200})
    statuses = [
        [run("check", each, *options).exit_code for options in ([], ["--strict"])]
        for each in (sound, warned, wrong)
    ]
    assert statuses == [[0, 0], [0, 1], [1, 1]]
    printed = run("check", wrong)
    assert "error: model-rows: The model has 200 rows, and the largest id is" in printed.output
    as_json = json.loads(run("check", wrong, "--json").stdout)
    assert (as_json["n_errors"], as_json["exit_status"]) == (1, 1)
    failed = run("check", tmp_path / "none.json")
    assert (failed.exit_code, "none.json" in failed.output) == (2, True)
    empty = tmp_path / "empty.json"
    empty.touch()
    assert run("check", empty).exit_code == 2


def test_the_page_lists_each_check() -> None:
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    assert [name for name in CHECKS if f"| `{name}` |" not in page] == []
