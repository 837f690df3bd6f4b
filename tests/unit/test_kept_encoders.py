"""A tokenizer that is opened again is the one that was opened first, made from what was kept."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.formats import dumps, json_files
from bpe_core.formats.opening import open_encoder
from bpe_core.tokenizer import NamedEncoder, TokenTable
from bpe_core.tokenizer.tables import StoredTable
from tests.commands import succeed
from tests.new_process import run_python, run_without_compilation
from tests.table_parts import TABLE_PARTS
from tests.unit.test_across_words import TEXTS, described

SMALL = bpe.gpt2().truncated(1_000)
HOSTILE = (
    *TEXTS,
    "",
    "The quick brown fox's 2024!\r\n\t  x",
    "é e\u0301 ﬁ 漢字 👩‍👩‍👧🏽 \x00\u3000\u2028<|endoftext|>",
    "a" * 5_000,
    "incomprehensibilities " * 200,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, in which a second one holds what is kept; files of any size are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(open_encoder, "MIN_BYTES", 0)
    return tmp_path


def kept_folders(folder: Path) -> list[Path]:
    return sorted((folder / "cache" / "bpe-explorer" / "opened").iterdir())


def write(folder: Path, described: dict[str, Any]) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(described))
    return path


def to_json(tokenizer: bpe.Tokenizer = SMALL, **parts: Any) -> dict[str, Any]:
    return {**json.loads(dumps(tokenizer, "huggingface")["tokenizer.json"]), **parts}


def refuse_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("It was read again.")

    monkeypatch.setattr("bpe_core.formats.opening.opening.read_description", refuse)
    monkeypatch.setattr("bpe_core.formats.opening.opening.read_description", refuse)


def assert_alike(one: NamedEncoder, other: NamedEncoder) -> None:
    assert type(one.encoder) is type(other.encoder)
    assert (one.name, one.provenance, one.engine) == (other.name, other.provenance, other.engine)
    for text in HOSTILE:
        assert one.encode(text) == other.encode(text)
        assert one.encode(text, "all") == other.encode(text, "all")
        assert one.segments(text) == other.segments(text)
    assert one.vocab == other.vocab
    assert one.special_tokens == other.special_tokens
    assert one.fingerprint == other.fingerprint


def test_the_chat_template_is_kept_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = folder / "model"
    model.mkdir()
    write(model, to_json())
    config = {"chat_template": "{{ bos_token }}", "bos_token": "<s>"}
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    first = bpe.open_encoder(model)
    refuse_to_read(monkeypatch)
    assert first.chat is not None
    assert bpe.open_encoder(model).chat == first.chat


NFC = {"type": "NFC"}


@pytest.mark.parametrize(
    "make",
    [to_json, lambda: to_json(normalizer=NFC), described],
    ids=["plain", "NFC", "spaces"],
)
def test_the_second_opening_reads_nothing_and_encodes_alike(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], dict[str, Any]],
) -> None:
    path = write(folder, make())
    first = bpe.open_encoder(path)
    refuse_to_read(monkeypatch)
    second = bpe.open_encoder(path)
    merges = second.encoder
    assert isinstance(merges, bpe.Tokenizer)
    table = merges.table
    assert isinstance(table, StoredTable)
    assert_alike(first, second)
    assert_alike(first, pickle.loads(pickle.dumps(second)))  # noqa: S301


def test_what_is_kept_of_loading_is_another_thing(folder: Path) -> None:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    found = {"id": SMALL.token_to_id("he"), "content": "he", **flags}
    path = write(folder, to_json(added_tokens=[*to_json()["added_tokens"], found]))
    for _ in range(2):
        assert found["id"] in bpe.open_encoder(path).encode("the")
        loaded = bpe.load(path)
        assert (loaded.added, loaded.special_tokens["he"]) == ((), found["id"])
    plain = write(folder, to_json())
    assert bpe.load(plain) == bpe.load(plain) == SMALL
    assert len(kept_folders(folder)) == 3


def test_each_pretokenizer_has_its_own(folder: Path) -> None:
    path = folder / "small.tiktoken"
    path.write_bytes(dumps(SMALL, "tiktoken")["tokenizer.tiktoken"])
    for name in ("gpt2", "cl100k"):
        assert bpe.load(path, pretokenizer=name).pretokenizer.name == name


def test_a_changed_file_is_noticed(folder: Path) -> None:
    path = write(folder, to_json())
    before = path.stat()
    assert bpe.open_encoder(path).special_tokens == {"<|endoftext|>": 50_256}
    path.write_text(path.read_text().replace("<|endoftext|>", "<|endoftexT|>"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert bpe.open_encoder(path).special_tokens == {"<|endoftexT|>": 50_256}


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda _: b""])
def test_damage_is_repaired(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    path = write(folder, to_json())
    first = bpe.open_encoder(path)
    (kept,) = kept_folders(folder)
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert_alike(first, bpe.open_encoder(path))
    assert kept.read_bytes() == whole


def test_another_version_of_a_library_compares_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, described())
    bpe.open_encoder(path)
    monkeypatch.setattr(open_encoder.metadata, "version", lambda _: "99.0")
    bpe.open_encoder(path)
    assert len(kept_folders(folder)) == 2


def test_what_is_kept_serves_plain_python_too(folder: Path) -> None:
    path = write(folder, to_json())
    expected = [bpe.open_encoder(path).encode(text) for text in HOSTILE]
    code = f"""
import json, sys
from bpe_core.formats.opening import open_encoder
from bpe_core.tokenizer.tables import StoredTable

open_encoder.MIN_BYTES = 0
for is_stored in (False, True):
    opened = open_encoder.open_encoder({str(path)!r}).encoder
    assert isinstance(opened.table, StoredTable) == is_stored
    assert not opened.table.kernel_tables
texts = json.loads({json.dumps(json.dumps(HOSTILE))})
print(json.dumps([opened.encode(text) for text in texts]))
"""
    assert json.loads(run_without_compilation(code)) == expected
    assert len(kept_folders(folder)) == 2


def test_the_tables_of_gpt2_are_built_by_one_process_and_used_by_the_next(folder: Path) -> None:
    text = "".join(HOSTILE)
    code = f"""
import json
import bpe_core
from bpe_core.kernels import encoder_tables

built = []
build = encoder_tables.spelling
encoder_tables.spelling = lambda table: built.append(1) or build(table)
text = json.loads({json.dumps(json.dumps(text))}) * 40
print(json.dumps([len(built), bpe_core.gpt2().encode(text), len(built)]))
"""
    results = [json.loads(run_python(code)) for _ in range(2)]
    (kept,) = kept_folders(folder)
    kept.write_bytes(kept.read_bytes()[:-64])
    results.append(json.loads(run_python(code)))
    expected = bpe.gpt2().encode(text * 40)
    assert results == [[0, expected, n_built] for n_built in (1, 0, 1)]


def test_processes_that_open_a_file_together_all_open_it(folder: Path) -> None:
    path = write(folder, to_json())
    code = f"""
import bpe_core
from bpe_core.formats.opening import open_encoder

open_encoder.MIN_BYTES = 0
print(bpe_core.open_encoder({str(path)!r}).encode("The quick"))
"""
    expected = SMALL.encode("The quick")
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert {each.communicate()[0] for each in running} == {f"{expected}\n"}
    assert len(kept_folders(folder)) == 1
    assert bpe.open_encoder(path).encode("The quick") == expected


def test_a_file_that_only_a_library_runs_is_not_kept(folder: Path) -> None:
    path = write(folder, to_json(normalizer={"type": "Lowercase"}))
    assert bpe.open_encoder(path).engine.startswith("tokenizers")
    assert not (folder / "cache").exists()


def test_without_a_folder_no_tables_are_built_to_be_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("Tables were built.")

    monkeypatch.setattr("bpe_core.kernels.encoder_tables.spelling", refuse)
    path = write(folder, to_json())
    with pytest.raises(AssertionError, match="Tables were built"):
        bpe.open_encoder(path)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert bpe.open_encoder(path).encode("ab") == SMALL.encode("ab")


def test_the_command_reads_a_file_that_merges_across_words_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, described())
    n_read: list[object] = []

    def parse(data: bytes) -> Any:
        n_read.append(data)
        return json.loads(data)

    monkeypatch.setattr(json_files, "parse_value", parse)
    assert succeed("encode", str(path), stdin=b"ab ab").output.split()
    assert len(n_read) == 1


def test_a_stored_table_has_all_that_its_table_has() -> None:
    byte_fallback = TokenTable(
        vocab={
            **{byte: bytes([byte]) for byte in range(256)},
            256: b"a",
            257: b"aa",
            258: "漢".encode(),
        },
        merges=[(256, 256, 257)],
        base="characters",
        special_tokens={},
        byte_fallback=range(256),
    )
    twice = TokenTable(
        vocab={0: b"a", 1: b"aa", 2: b"aaa"}, merges=[(0, 0, 1), (0, 1, 2), (1, 0, 2)]
    )
    whole = TokenTable(
        vocab={1: b"a", 0: b"ab", 5: b"<s>"},
        merges=[],
        whole_words_first=True,
        special_tokens={"<s>": 5},
    )
    for table in (byte_fallback, twice, whole, SMALL.table):
        found = table.to_arrays()
        assert found is not None
        stored = TokenTable.of_arrays(*found)
        asked = [*table.vocab, 10**9]
        assert stored.missing_ids(asked) == table.missing_ids(asked) == asked[-1:]
        # Opening asks for no more, and a large vocabulary takes long to make.
        assert "vocab" not in vars(stored)
        for name in TABLE_PARTS:
            assert getattr(stored, name) == getattr(table, name), name
        last = max(table.vocab)
        left = next(iter(table.base_ids.values()))
        new = [(left, left, last + 1)]
        if (left, left) not in table.ranks:
            assert stored.extended(new, None).ranks == table.extended(new, None).ranks
