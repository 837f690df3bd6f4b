"""Files with damaged entries, counts or lengths are read, or refused with the place of damage.

`make fuzz` damages many more, and bytes too; see tests/fuzz.
"""

from __future__ import annotations

import json
import random
import re
import struct
import tracemalloc
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.opening.opening import open_files
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import READERS
from tests.fuzz.structures import restructured

TOKENIZERS: Final = tuple(name for name in READERS if not READERS[name].is_corpus)
# What names a place: a number, a quoted entry, or the name of a file, a field or a part.
_PLACE: Final = re.compile(
    r"\d|['\"]|\w\.\w|\w_\w|array \w|lacks|words|merges|model|normalizer|pre-tokenizer|vocabulary"
)
# Compiled libraries do not report where they failed.
_OF_A_LIBRARY: Final = re.compile(r"cannot (read this|use these|encode this)|drops a part")
_MAX_MESSAGE_LENGTH: Final = 700


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_damaged_file_is_read_or_refused_with_the_place(name: str) -> None:
    reader = READERS[name]
    good = dict(reader.files())
    n = max(2, int(settings().max_examples // 4 * reader.share))

    @settings(max_examples=n)
    @given(st.sampled_from(sorted(good)), st.integers(0, 2**32))
    def damage(which: str, seed: int) -> None:
        damaged = restructured(good[which], random.Random(seed))
        try:
            reader.read({**good, which: damaged})
        except BpeError as error:
            message = str(error)
            assert _PLACE.search(message) or _OF_A_LIBRARY.search(message)
            assert len(message) < _MAX_MESSAGE_LENGTH

    damage()


def _gguf(kind: int) -> bytes:
    key = b"tokenizer.ggml.tokens"
    start = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key
    return start + struct.pack("<IIQ", 9, kind, 10**9) + bytes(64)


def _tekken(n_special: int, n_tokens: int) -> bytes:
    described = json.loads(READERS["Tekken"].files()["tekken.json"])
    described["config"] |= {
        "default_num_special_tokens": n_special,
        "default_vocab_size": n_special + n_tokens,
    }
    return json.dumps(described).encode()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.gguf", _gguf(8), r"8,000,000,000 bytes are announced at byte \d+"),
        ("a.gguf", _gguf(0), r"1,000,000,000 bytes are announced at byte \d+"),
        (
            "a.model",
            b"\n\x08\n\x01a\x15\0\0\0\0\n\x80\x94\xeb\xdc\x03a",
            "byte 10 announces 1,000,0",
        ),
        ("a.tiktoken", b"YQ== 1000000000\n", "in line 1, got b'YQ== 1000000000'"),
        ("a.json", _tekken(10, 10**9), "announces 1,000,000,010 tokens, 10 of them special"),
        ("a.json", _tekken(10**9, 258), r"1,000,000,000 special tokens \(default_num_special"),
        ("a.json", _tekken(1_999_000, 258), "1,999,000 special tokens .* at most 10,000"),
    ],
)
def test_announced_entries_are_refused_before_they_take_memory(
    name: str, data: bytes, message: str
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=message):
            open_files({name: data}, pretokenizer="gpt2" if name == "a.tiktoken" else None)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


# Bytes at random places


N_INPUTS = 40


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_with_an_error_of_ours(name: str) -> None:
    reader = READERS[name]
    good = dict(reader.files())
    reader.read(good)
    rng = random.Random(name)
    refused: list[str] = []
    for _ in range(max(2, int(N_INPUTS * reader.share))):
        which = rng.choice(list(good))
        try:
            reader.read({**good, which: mutated(good[which], list(good.values()), rng)})
        except BpeError as error:
            refused.append(str(error))
    assert refused
    assert [message for message in refused if not message.endswith((".", "?", "!"))] == []
