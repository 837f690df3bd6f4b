"""The token view receives every token and every byte of the text, and the tokens' parts."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import bpe_core as bpe
from bpe_core.comparison import Stretches
from bpe_core.tokenizer import boundaries
from bpe_core.views import (
    PackedTokens,
    Ribbon,
    pack_boundaries,
    pack_spans,
)
from bpe_core.views.packing import Numbers, pack_numbers
from tests import foreign_models as models
from tests.foreign_models import library_encoder
from tests.strategies import texts

HOSTILE = (
    "\ufeffhello world <script>\r\n\r\x00a\u202eb 🧩👩\u200d👩\u200d👧 שלום 日本語 <|endoftext|>"
)


def unpacked(numbers: Numbers) -> NDArray[np.int64]:
    bits = int(numbers["type"].removeprefix("Uint").removesuffix("Array"))
    data = base64.b64decode(numbers["data"])
    return np.frombuffer(data, dtype=f"<u{bits // 8}").astype(np.int64)


def packed(text: str, tokenizer: bpe.Tokenizer, special: tuple[str, ...] = ()) -> PackedTokens:
    return pack_boundaries(boundaries(text, tokenizer, special), tokenizer)


def pieces_in_the_browser(text: str, tokens: PackedTokens) -> list[bytes]:
    """Return the bytes of each segment, counting in UTF-16 units as the script does."""
    units = text.encode("utf-16-le")
    sizes = []
    for low, high in zip(units[::2], units[1::2], strict=True):
        unit = low | high << 8
        if 0xDC00 <= unit < 0xE000:
            continue
        sizes.append(4 if 0xD800 <= unit < 0xDC00 else 1 + (unit >= 0x80) + (unit >= 0x800))
    data = text.encode()
    assert sum(sizes) == len(data)
    ends = np.cumsum(unpacked(tokens["lengths"])).tolist()
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@settings(deadline=None)
@given(texts)
def test_no_token_and_no_byte_is_lost(text: str) -> None:
    tokens = packed(text, bpe.gpt2())
    ids = (unpacked(tokens["ids"]) - 1).tolist()
    assert ids == bpe.gpt2().encode(text)
    assert pieces_in_the_browser(text, tokens) == [bpe.gpt2().vocab[i] for i in ids]


def test_astral_and_hostile_characters_keep_their_positions() -> None:
    tokens = packed(HOSTILE, bpe.gpt2(), ("<|endoftext|>",))
    ids = (unpacked(tokens["ids"]) - 1).tolist()
    assert ids[-1] == 50256
    assert b"".join(pieces_in_the_browser(HOSTILE, tokens)) == HOSTILE.encode()
    assert tokens["table"]["special"] == [50256]


def test_the_table_has_all_parts_down_to_the_bytes() -> None:
    table = packed(" iterator", bpe.gpt2())["table"]
    tokens = dict(zip(table["ids"], table["tokens"], strict=True))
    assert " iterator" in tokens.values()
    for id_, left, right, rank in zip(
        table["ids"], table["left"], table["right"], table["rank"], strict=True
    ):
        if rank < 0:
            assert len(bpe.gpt2().vocab[id_]) == 1
        else:
            assert bpe.gpt2().merges[rank].pair == (left, right)
            assert bpe.gpt2().vocab[id_] == bpe.gpt2().vocab[left] + bpe.gpt2().vocab[right]
            assert {left, right} <= tokens.keys()


def test_bytes_that_are_not_a_character_are_sent_as_numbers() -> None:
    table = packed("日", bpe.gpt2())["table"]
    # GPT-2 has a token for the first two of the three bytes; its parts are sent too.
    assert sorted(table["tokens"]) == [[0x97], [0xA5], [0xE6], [0xE6, 0x97]]


def test_pretokens_start_where_the_pretokenizer_cuts() -> None:
    text = "It's 日本 <|endoftext|>now\n\n x"
    segments = bpe.gpt2().segments(text, allowed_special=("<|endoftext|>",))
    starts = np.unpackbits(unpacked(packed_starts(text)).astype(np.uint8))[: len(segments)]
    found = [s.start for s, is_start in zip(segments, starts, strict=True) if is_start]
    head, tail = text.split("<|endoftext|>")
    spans = bpe.gpt2().pretokenizer.spans
    after = len(head) + len("<|endoftext|>")
    expected = [a for a, _ in spans(head)] + [len(head)] + [after + a for a, _ in spans(tail)]
    assert found == expected


def packed_starts(text: str) -> Numbers:
    return packed(text, bpe.gpt2(), ("<|endoftext|>",))["starts"]


def classroom_tokenizer() -> bpe.Tokenizer:
    config = bpe.TrainingConfig(
        vocab_size=12,
        pretokenizer="whitespace",
        base="characters",
        alphabet="seen",
        end_of_word="</w>",
        special_tokens=(),
        tie_break="first-seen",
    )
    return bpe.train(bpe.Corpus.from_text("hug hugs pug"), config).tokenizer


def test_text_in_no_token_and_separate_markers_are_kept() -> None:
    tokenizer = classroom_tokenizer()
    text = "hug p Ω"
    tokens = packed(text, tokenizer)
    ids, lengths = unpacked(tokens["ids"]), unpacked(tokens["lengths"])
    assert lengths.sum() == len(text.encode())
    assert (ids == 0).any()
    assert ((lengths == 0) == (ids == (tokenizer.table.end_of_word_id or 0) + 1)).all()
    assert tokens["table"]["marker"] == "</w>"
    assert tokenizer.table.end_of_word_id in tokens["table"]["ends"]


def test_disagreements_say_whether_more_than_white_space_differs() -> None:
    one = bpe.Tokenizer(
        vocab={0: b" ", 1: b"a", 2: b"  ", 3: b"aa"},
        merges=[(0, 0, 2), (1, 1, 3)],
        pretokenizer="none",
    )
    other = one.truncated(0)
    text = "aa  a"
    ends = [boundaries(text, each).byte_ends for each in (one, other)]
    found = Stretches.between(ends, text)
    spans = pack_spans(text, found)
    assert unpacked(spans["starts"]).tolist() == [0, 2]
    assert unpacked(spans["ends"]).tolist() == [2, 4]
    assert unpacked(spans["has_text"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "kind"), [([], "Uint8Array"), ([256], "Uint16Array"), ([1, 1 << 31], "Uint32Array")]
)
def test_numbers_are_packed_into_the_smallest_sufficient_type(values: list[int], kind: str) -> None:
    numbers = pack_numbers(values)
    assert numbers["type"] == kind
    assert unpacked(numbers).tolist() == values


def test_tokens_of_another_library_have_no_merges_or_pretokens() -> None:
    encoder = library_encoder(models.described(models.word_piece()))
    text = "The first 漢!"
    segments = encoder.segments(text)
    packed = pack_boundaries(boundaries(text, encoder), encoder)
    assert (unpacked(packed["ids"]) > 0).tolist() == [s.id is not None for s in segments]
    assert unpacked(packed["lengths"]).sum() == len(text.encode())
    assert not unpacked(packed["starts"]).any()
    assert set(packed["table"]["rank"]) == {-1}
    assert packed["table"]["special"] == [encoder.unknown_id]
    known = packed["table"]["ids"]
    assert packed["table"]["written"] == [encoder.written(token_id) for token_id in known]


def test_the_ribbon_of_a_text_is_drawn_while_it_is_learned_if_its_ids_are_known() -> None:
    text = "hug hugs, naïve 木 hugs " * 3
    known: list[dict[str, Any]] = [
        {},
        {"pretokenizer": "cl100k", "special_tokens": ("<s>", "</s>")},
        {"min_frequency": 2, "whole_characters": True},
    ]
    unknown: list[dict[str, Any]] = [
        {"base": "characters"},
        {"alphabet": "seen"},
        {"end_of_word": "</w>"},
        {"superwords_from": 262},
        {"picky": 0.9},
        {"parity": True},
        {"pretokenizer": "whitespace"},
    ]
    for changes in known:
        config = bpe.TrainingConfig(264, **changes)
        run, ribbon = bpe.train([text], config), Ribbon.before(config, text)
        assert ribbon is not None
        assert ribbon.packed() == Ribbon.pack(run.tokenizer.truncated(0), text)
        ribbon.join([(merge.left, merge.right, merge.id) for merge in run.merges])
        assert ribbon.packed() == Ribbon.pack(run.tokenizer, text)
    for changes in unknown:
        assert Ribbon.before(bpe.TrainingConfig(264, **changes), text) is None, changes
    assert Ribbon.before(bpe.TrainingConfig(264), "") is None
