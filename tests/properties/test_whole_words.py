r"""Whole words are looked up before merging, exactly as tiktoken does."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import dumps, loads, write_huggingface
from bpe_core.formats.listed_merges import recover_merges
from bpe_core.formats.tiktoken_file import recover_rank_merges
from bpe_core.tokenizer import CompiledEncoder
from bpe_core.types import Format, PretokenCounts
from bpe_core.unicode import to_printable
from bpe_core.vocabulary import Pruned, Reachability, count_uses

BYTES = {bytes([byte]): byte for byte in range(256)}
LONG = "incomprehensibilities"


def of_ranks(tokens: list[str], pretokenizer: str = "llama3") -> bpe.Tokenizer:
    ranks = {**BYTES, **{token.encode(): 256 + n for n, token in enumerate(tokens)}}
    return recover_rank_merges(ranks, pretokenizer, {}).tokenizer()


def by_tiktoken(tokenizer: bpe.Tokenizer, text: str) -> list[int]:
    encoding = tiktoken.Encoding(
        "peer",
        pat_str=tokenizer.pretokenizer.pattern or "",
        mergeable_ranks={token: id for id, token in tokenizer.vocab.items()},
        special_tokens={},
    )
    return encoding.encode_ordinary(text)


def by_kernels(tokenizer: bpe.Tokenizer, text: str) -> list[int]:
    table = tokenizer.table
    compiled = CompiledEncoder(table, tokenizer.pretokenizer)
    first = compiled.encode(text, 1).tolist()
    # Encode again, now with cached words.
    assert compiled.encode(text, 1).tolist() == first
    return first


def test_a_part_that_spells_a_long_token_is_not_remembered_for_the_whole_word() -> None:
    token = "a" * 16
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: token.encode()}
    tokenizer = bpe.Tokenizer(vocab=vocab, merges=[], pretokenizer="gpt2", whole_words_first=True)
    # No token contains the é and its neighbour, so the word is cut there and its part is `token`.
    part = f"{token}é"
    for text in (f"{part}\n{token}", f"{token}\n{part}\n{token}", f"\n{token} {part}"):
        assert by_kernels(tokenizer, text) == [id for w in tokenizer.explain(text) for id in w.ids]


SMALL = of_ranks(["abc", "ab", "xyz", "hug", "漢字漢字漢字", LONG, "dce", "dc", " hugs", "bc"])


@given(
    st.lists(st.text("abcd", min_size=2, max_size=5), unique=True, max_size=25),
    st.lists(st.text("abcd ", max_size=12), max_size=8),
)
def test_any_ranks_encode_as_in_tiktoken_or_are_refused(
    tokens: list[str], texts: list[str]
) -> None:
    try:
        tokenizer = of_ranks(tokens, "gpt2")
    except bpe.FormatError as error:
        assert "no order of merges" in str(error)  # noqa: PT017
        return
    text = " ".join([*tokens, *texts, "".join(tokens)])
    expected = by_tiktoken(tokenizer, text)
    assert tokenizer.encode(text) == expected
    assert by_kernels(tokenizer, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "xyz",
        "xyz xyzx\nxyz",
        LONG,
        LONG + "s",
        "漢字漢字漢字",
        "漢字漢字漢字漢",
        "hug " * 500 + LONG,
        "漢字漢字漢字漢字 漢字漢字漢字" * 20,
        "abcd abc hugs hugs dcedce",
    ],
)
def test_kernels_and_plain_python_look_up_whole_words_alike(text: str) -> None:
    expected = by_tiktoken(SMALL, text)
    assert SMALL.encode(text) == expected
    assert by_kernels(SMALL, text) == expected


def test_a_part_cut_from_a_long_word_is_not_looked_up() -> None:
    # No token contains "qx" or "zq", so the kernel cuts the long word around "xyz".
    long = "q" * 18 + "xyz" + "q" * 16
    tokenizer = of_ranks(["xyz"])
    for text in (long, "xyz", f"xyz {long} xyz"):
        assert by_kernels(tokenizer, text) == by_tiktoken(tokenizer, text)


def test_the_lowest_of_several_ids_of_a_word_is_used_however_long_the_text_is() -> None:
    # A merge makes the other one, as it does in a longer word.
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b"ab", 300: b"ab"}
    tokenizer = bpe.Tokenizer(
        vocab=vocab, merges=[(97, 98, 300)], pretokenizer="whitespace", whole_words_first=True
    )
    assert tokenizer.encode("ab xab") == [256, 120, 300]
    assert tokenizer.encode("ab xab " * 30_000) == [256, 120, 300] * 30_000


def test_the_flag_is_set_only_where_it_makes_a_difference() -> None:
    assert SMALL.table.whole_words_first
    assert not of_ranks(["ab", "abc"]).table.whole_words_first
    assert recover_merges({**BYTES, b"abc": 256, b"ab": 257}) == [(97, 98, 257), (257, 99, 256)]


def test_ranks_without_an_order_of_merges_are_refused() -> None:
    with pytest.raises(bpe.FormatError, match="no order of merges"):
        of_ranks(["aba", "ab"])


def test_the_fingerprint_and_equality_know_the_flag() -> None:
    vocab = {0: b"a", 1: b"b", 2: b"ab"}
    one = bpe.Tokenizer(vocab=vocab, merges=[(0, 1, 2)], pretokenizer="none")
    other = bpe.Tokenizer(
        vocab=vocab, merges=[(0, 1, 2)], pretokenizer="none", whole_words_first=True
    )
    assert one != other


@pytest.mark.parametrize("format", ["native", "huggingface", "transformers", "tiktoken"])
def test_every_writer_keeps_the_flag(format: str) -> None:
    files = dumps(SMALL, cast("Format", format))
    assert loads(files, pretokenizer="llama3" if format == "tiktoken" else None) == SMALL


def test_gpt2_files_refuse_the_flag() -> None:
    with pytest.raises(bpe.ConfigError, match="whole words"):
        dumps(SMALL, "gpt2")


def test_tokenizers_reads_the_flag_as_ignore_merges() -> None:
    peer = tokenizers.Tokenizer.from_str(write_huggingface(SMALL).decode())
    text = f"xyz xyzx abc hug {LONG} 漢字漢字漢字漢 漢字漢字漢字\n xyz"
    assert peer.encode(text).ids == SMALL.encode(text)


def test_a_file_with_every_pair_of_parts_as_a_merge_is_read() -> None:
    # transformers writes such merges from ranks: every two tokens that spell a third.
    ranks = {token: id for id, token in SMALL.vocab.items()}
    merges = [
        (to_printable(token[:cut]), to_printable(token[cut:]))
        for token in sorted(ranks, key=ranks.__getitem__)
        for cut in range(1, len(token))
        if token[:cut] in ranks and token[cut:] in ranks
    ]
    assert len(merges) > SMALL.n_merges
    described = tokenizers.Tokenizer.from_str(write_huggingface(SMALL).decode())
    described.model = tokenizers.models.BPE(
        vocab={to_printable(token): id for token, id in ranks.items()},
        merges=merges,
        ignore_merges=True,
    )
    assert loads({"tokenizer.json": described.to_str().encode()}) == SMALL


def test_explain_says_what_was_looked_up() -> None:
    (word,) = SMALL.explain("xyz")
    assert list(word.ids) == SMALL.encode("xyz") == [word.looked_up]
    (merged,) = SMALL.explain("abc")
    assert merged.looked_up is None
    assert [SMALL.vocab[id] for id in merged.ids] == [b"abc"]


def test_the_audit_and_pruning_know_the_flag() -> None:
    (xyz,) = SMALL.encode("xyz")
    found = Reachability.of(SMALL)
    assert xyz in found.only_whole
    assert xyz not in found.unreachable
    uses = count_uses(SMALL, PretokenCounts((b"xyz", b"xyzx"), np.array([3, 1])))
    assert (uses[xyz], uses[ord("x")]) == (3, 2)
    pruned = Pruned.of(SMALL, uses).tokenizer
    assert [pruned.vocab[id] for id in pruned.encode("xyz")] == [b"xyz"]


def test_an_end_of_word_marker_and_the_flag_exclude_each_other() -> None:
    with pytest.raises(bpe.ConfigError, match="whole_words_first"):
        bpe.Tokenizer(
            vocab={0: b"a", 1: b"</w>"},
            merges=[],
            pretokenizer="whitespace",
            end_of_word="</w>",
            whole_words_first=True,
        )
