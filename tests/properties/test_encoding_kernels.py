"""All encoders return the same ids: scan, heap, trie, kernels and the reference."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import bpe_core as bpe
from bpe_core.kernels import encoder_tables, encoding, for_callers, token_bytes
from bpe_core.kernels.encoding import SCAN_UP_TO
from bpe_core.kernels.word_cache import SHORT_WORD
from bpe_core.kernels.word_merging import PAIR_ROW
from bpe_core.tokenizer import (
    CompiledEncoder,
    TokenTable,
    Trie,
    can_compile,
    compiled,
    merge_symbols,
)
from bpe_core.tokenizer.rank_merging import merge_by_heap, merge_by_scan
from bpe_core.trainers import encode_reference
from bpe_core.types import PretokenCounts
from tests.strategies import hostile_texts, texts
from tests.waiting import MAX_WAIT_SECONDS

WHOLE = bpe.get_pretokenizer("none")

runs = st.builds(str.__mul__, st.sampled_from(["a", "b", "ab", "aab", "aabb"]), st.integers(1, 60))
words = st.one_of(
    st.text("ab", min_size=1, max_size=80),
    st.text("abc", min_size=1, max_size=40),
    runs,
    st.builds(str.__add__, runs, runs),
)
"""Words with many ties, in each range of lengths that has a separate encoder."""


def make_table(merges: list[tuple[int, int, int]], ids: list[int]) -> TokenTable:
    """Return a table of all bytes and the merges, in which a symbol has the id `ids[symbol]`."""
    vocab = {ids[byte]: bytes([byte]) for byte in range(256)}
    renamed: list[tuple[int, int, int]] = []
    for left, right, made in merges:
        vocab[ids[made]] = vocab[ids[left]] + vocab[ids[right]]
        renamed.append((ids[left], ids[right], ids[made]))
    return TokenTable(vocab=vocab, merges=renamed)


@st.composite
def tables(draw: st.DrawFn, *, one_merge_a_token: bool = False) -> TokenTable:
    """Draw merges that no training would learn: unused or duplicate tokens, shuffled ids."""
    tokens = {97: b"a", 98: b"b", 99: b"c"}
    taken: set[tuple[int, int]] = set()
    merges: list[tuple[int, int, int]] = []
    for _ in range(draw(st.integers(0, 24))):
        known = sorted(tokens)
        places = st.integers(0, len(known) - 1)
        pair = known[draw(places)], known[draw(places)]
        spelled = tokens[pair[0]] + tokens[pair[1]]
        if pair in taken or len(spelled) > 24:
            continue
        alike = [symbol for symbol, token in tokens.items() if token == spelled]
        made = 256 + len(merges)
        if alike and not one_merge_a_token and draw(st.booleans()):
            made = alike[0]
        tokens.setdefault(made, spelled)
        taken.add(pair)
        merges.append((*pair, made))
    n_ids = 256 + len(merges)
    order = draw(st.sampled_from(["as they are", "backwards", "apart"]))
    ids = {
        "as they are": list(range(n_ids)),
        "backwards": list(reversed(range(n_ids))),
        "apart": [7 * i % n_ids + 5 if n_ids % 7 else 3 * i + 5 for i in range(n_ids)],
    }[order]
    return make_table(merges, ids)


def decoded(encoder: CompiledEncoder, ids: Sequence[int] | NDArray[np.integer]) -> bytes | None:
    data = encoder.decode(ids)
    return None if data is None else data.tobytes()


def base_ids(table: TokenTable, word: str) -> list[int]:
    return [table.base_ids[bytes([byte])] for byte in word.encode()]


@pytest.mark.slow
@settings(max_examples=300)
@given(tables(), st.lists(words, min_size=1, max_size=6))
def test_kernels_encode_like_scan_and_heap(table: TokenTable, some: list[str]) -> None:
    encoder = CompiledEncoder(table, WHOLE)
    for word in [*some, *some]:  # the second time from the word cache
        ids = merge_by_scan(base_ids(table, word), table.ranks, table.made)
        assert merge_by_heap(base_ids(table, word), table.ranks, table.made) == ids
        assert encoder.encode(word).tolist() == ids


@pytest.mark.slow
@settings(max_examples=300)
@given(tables(one_merge_a_token=True), st.lists(words, min_size=1, max_size=6))
def test_tries_encode_like_the_reference(table: TokenTable, some: list[str]) -> None:
    trie = Trie(table.ranks, table.made)
    by_pair = {
        (left, right): bpe.Merge(rank, left, right, made)
        for rank, (left, right, made) in enumerate(table.triples)
    }
    encoder = CompiledEncoder(table, WHOLE)
    for word in some:
        ids = encode_reference(base_ids(table, word), by_pair)
        assert trie.encode(base_ids(table, word)) == ids
        assert encoder.encode(word).tolist() == ids


long_words = st.one_of(
    st.text("ab", min_size=SCAN_UP_TO + 1, max_size=80),
    st.text("abc", min_size=SCAN_UP_TO + 1, max_size=80),
    st.lists(words, min_size=8, max_size=16).map("".join).filter(lambda w: len(w) > SCAN_UP_TO),
)
"""Words that the kernels encode with a trie, or with a heap if there is no trie."""


@given(tables(one_merge_a_token=True), st.lists(long_words, min_size=1, max_size=6))
def test_tries_encode_long_words_like_scan(table: TokenTable, some: list[str]) -> None:
    encoder = CompiledEncoder(table, WHOLE)
    assert encoder.kernels.trie.symbol_at.size
    for word in some:
        ids = merge_by_scan(base_ids(table, word), table.ranks, table.made)
        assert encoder.encode(word).tolist() == ids


@st.composite
def draw_run_tables(draw: st.DrawFn) -> TokenTable:
    """Draw merges that make runs of spaces, each length once, in any order that is possible."""
    symbols = {1: 32}
    merges: list[tuple[int, int, int]] = []
    for _ in range(draw(st.integers(1, 40))):
        left, right = (draw(st.sampled_from(sorted(symbols))) for _ in range(2))
        if left + right not in symbols:
            made = 256 + len(merges)
            merges.append((symbols[left], symbols[right], made))
            symbols[left + right] = made
    return make_table(merges, list(range(256 + len(merges))))


run_lengths = st.lists(st.integers(SCAN_UP_TO + 1, 2_000), min_size=1, max_size=4)


@pytest.mark.parametrize("n_remembered", [1, 8, 1 << 12])
@given(table=draw_run_tables(), lengths=run_lengths)
def test_tries_encode_runs_like_a_heap(
    n_remembered: int, table: TokenTable, lengths: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder_tables, "_NEIGHBOURS", n_remembered)
        encoder = CompiledEncoder(table, WHOLE)
    for n in lengths:
        word = " " * n
        ids = merge_by_heap(base_ids(table, word), table.ranks, table.made)
        assert encoder.encode(word).tolist() == ids


@pytest.mark.parametrize("n_remembered", [1, 4])
@given(table=tables(one_merge_a_token=True), some=st.lists(long_words, min_size=1, max_size=6))
def test_tries_encode_alike_however_few_neighbours_they_remember(
    n_remembered: int, table: TokenTable, some: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder_tables, "_NEIGHBOURS", n_remembered)
        encoder = CompiledEncoder(table, WHOLE)
    for word in some:
        ids = merge_by_scan(base_ids(table, word), table.ranks, table.made)
        assert encoder.encode(word).tolist() == ids


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_neighbours_agree_exactly_if_their_bytes_encode_to_them(data: st.DataObject) -> None:
    table = data.draw(tables(one_merge_a_token=True))
    trie = Trie(table.ranks, table.made)
    whole = [
        id
        for id, token in table.vocab.items()
        if token <= b"c" * 24
        and merge_by_scan(base_ids(table, token.decode()), table.ranks, table.made) == [id]
        and token.isalpha()
    ]
    left, right = data.draw(st.sampled_from(whole)), data.draw(st.sampled_from(whole))
    together = (table.vocab[left] + table.vocab[right]).decode()
    ids = merge_by_scan(base_ids(table, together), table.ranks, table.made)
    assert trie.stay_apart(left, right) == (ids == [left, right])


def test_a_trie_refuses_two_merges_that_make_one_token() -> None:
    # (ab)c and a(bc) are both token 5.
    ranks = {(0, 1): 0, (1, 2): 1, (3, 2): 2, (0, 4): 3}
    with pytest.raises(bpe.ConfigError, match="4 merges make 3 distinct tokens"):
        Trie(ranks, [3, 4, 5, 5])


def test_a_trie_accepts_a_chain_of_merges_deeper_than_the_stack() -> None:
    # (((0 1) 2) 3) ...
    n = sys.getrecursionlimit() + 2
    ranks = {(0, 1): 0} | {(n + k - 1, k + 1): k for k in range(1, n - 1)}
    trie = Trie(ranks, range(n, 2 * n - 1))
    assert trie.encode(range(n)) == [2 * n - 2]


trained_words = st.dictionaries(words, st.integers(1, 5), min_size=1, max_size=8)


@given(trained_words, words)
def test_kernels_encode_with_trained_merges_like_the_reference(
    counts: dict[str, int], word: str
) -> None:
    config = bpe.TrainingConfig(vocab_size=330, pretokenizer="none", special_tokens=())
    tokenizer = bpe.train(bpe.Corpus.from_word_counts(counts), config).tokenizer
    by_pair = {merge.pair: merge for merge in tokenizer.merges}
    encoder = CompiledEncoder(tokenizer.table, WHOLE)
    for text in [word, *counts]:
        symbols = base_ids(tokenizer.table, text)
        assert encoder.encode(text).tolist() == encode_reference(symbols, by_pair)


PRETOKENIZERS = ["gpt2", "cl100k", "o200k", "whitespace", "words-punctuation", "regex:[0-9]+"]


@cache
def gpt2_encoder(name: str) -> CompiledEncoder:
    return CompiledEncoder(bpe.gpt2().table, bpe.get_pretokenizer(name))


@pytest.mark.slow
@settings(max_examples=200)
@pytest.mark.parametrize("name", PRETOKENIZERS)
@given(text=st.one_of(hostile_texts, texts))
def test_kernels_encode_with_every_pretokenizer_like_plain_python(name: str, text: str) -> None:
    table = bpe.gpt2().table
    expected = [
        id
        for word in bpe.get_pretokenizer(name).split(text)
        for id in merge_by_scan(base_ids(table, word), table.ranks, table.made)
    ]
    assert gpt2_encoder(name).encode(text).tolist() == expected


LONG_WORDS = {
    "one letter": "a" * 60_000,
    "one space": " " * 60_000,
    "one number": "7" * 60_000,
    "words of twelve": "".join(
        chr(0x4E00 + n * 7919 % 20_000) + " " * (n % 12 == 0) for n in range(30_000)
    ),
}


@cache
def gpt2_word_ids(word: str) -> list[int]:
    """Return the ids of a word, encoded with a heap and cached."""
    table = bpe.gpt2().table
    return merge_symbols(base_ids(table, word), table.ranks, table.made)


@pytest.mark.slow
@pytest.mark.parametrize("text", LONG_WORDS.values(), ids=LONG_WORDS)
@pytest.mark.parametrize("name", PRETOKENIZERS)
def test_words_longer_than_a_block_stay_within_the_buffers(name: str, text: str) -> None:
    words = bpe.get_pretokenizer(name).split(text)
    expected = [id for word in words for id in gpt2_word_ids(word)]
    encoder = CompiledEncoder(bpe.gpt2().table, bpe.get_pretokenizer(name))  # with new buffers
    assert encoder.encode(text, 1).tolist() == expected


@pytest.mark.slow
@settings(max_examples=30)
@given(st.text("an \n1.é日", min_size=1, max_size=300), st.integers(2, 4))
def test_the_number_of_threads_does_not_change_the_ids(unit: str, n_threads: int) -> None:
    text = (unit * 700_000)[:700_000]
    encoder = gpt2_encoder("gpt2")
    shared = encoder.encode(text, n_threads)
    assert np.array_equal(shared, encoder.encode(text, 1))
    assert decoded(encoder, shared) == text.encode()


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.one_of(hostile_texts, texts), max_size=8), st.booleans())
def test_a_batch_encodes_each_text_independently(some: list[str], long: bool) -> None:
    if long:  # enough for several threads, with empty texts at the end
        some = ["", *some, "rose " * 200_000, "is", "", ""]
    for name in ("gpt2", "whitespace", "regex:[0-9]+"):
        encoder = gpt2_encoder(name)
        ids, ends = encoder.encode_batch(some, 3)
        parts = [ids[start:end].tolist() for start, end in pairwise([0, *ends.tolist()])]
        assert parts == [encoder.encode(text).tolist() for text in some]


def test_returned_arrays_are_unchanged_by_later_calls() -> None:
    encoder = gpt2_encoder("gpt2")
    first = encoder.encode("The quick brown fox", 1)
    ids, ends = encoder.encode_batch(["to be", "or not"], 1)
    before = first.tolist(), ids.tolist(), ends.tolist()
    encoder.encode("something else altogether, and longer than those", 1)
    assert (first.tolist(), ids.tolist(), ends.tolist()) == before


gpt2_ids = st.integers(0, 50_256)


def test_the_librarys_kernel_decodes_lists_and_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel: Any = token_bytes.decode_ids
    monkeypatch.setattr(kernel, "by_numba", None)  # so that nothing else can decode
    encoder = gpt2_encoder("gpt2")
    decoded(encoder, [464, 2068])
    decoded(encoder, np.array([464, 2068], np.int32))
    decoded(encoder, np.array([464, 2068], np.int64))


@given(st.lists(gpt2_ids, max_size=300))
def test_kernels_decode_like_plain_python(ids: list[int]) -> None:
    expected = bpe.gpt2().table.join(ids)
    encoder = gpt2_encoder("gpt2")
    assert decoded(encoder, ids) == expected
    for dtype in (np.int32, np.int64, np.uint16):
        assert decoded(encoder, np.array(ids, dtype)) == expected


not_ids = st.one_of(
    st.integers(max_value=-1), st.integers(min_value=50_257), st.sampled_from([1.5, "a", None])
)


@given(st.lists(gpt2_ids, max_size=5), not_ids)
@example([], 2**31)
@example([], -(2**31) - 1)
def test_invalid_ids_are_left_to_plain_python(ids: list[int], wrong: int) -> None:
    assert gpt2_encoder("gpt2").decode([*ids, wrong]) is None


@given(tables())
def test_kernels_decode_ids_in_any_order(table: TokenTable) -> None:
    ids = list(table.vocab)
    assert decoded(CompiledEncoder(table, WHOLE), ids) == table.join(ids)


def test_tokens_longer_than_a_row_are_decoded_completely() -> None:
    merges = [(97, 97, 256), *((256 + i, 256 + i, 257 + i) for i in range(6))]
    table = make_table(merges, list(range(263)))
    encoder = CompiledEncoder(table, WHOLE)
    assert decoded(encoder, [262, 98, 261, 97]) == b"a" * 128 + b"b" + b"a" * 64 + b"a"
    assert encoder.encode("a" * 193).tolist() == [262, 261, 97]


def test_ranks_are_found_behind_full_rows_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = bpe.gpt2().truncated(1_000)
    monkeypatch.setattr(encoder_tables, "_MERGES_PER_PAIR_ROW", PAIR_ROW)
    encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    tokens = [token.decode(errors="replace") for token in bpe.gpt2().vocab.values()]
    expected = [id for text in tokens for id in tokenizer.encode(text)]
    assert encoder.encode_batch(tokens)[0].tolist() == expected


def test_new_words_of_one_batch_are_merged_and_cached_once() -> None:
    tokenizer = bpe.gpt2()
    drawn = random.Random(1)
    words = [" " + "".join(drawn.choices("qxz", k=n)) for n in range(2, 40) for _ in range(3)]
    encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    used = encoder.kernels._workers[0].cache.used
    n_letters = used[2]
    expected = [id for word in words for id in tokenizer.encode(word)]
    for _ in range(2):  # the second time from the word cache
        assert encoder.encode("".join(words) * 2).tolist() == expected * 2
        long_words = {word for word in words if len(word) > SHORT_WORD}
        assert used[2] - n_letters == sum(map(len, long_words))


def test_a_word_cache_is_cleared_when_its_arena_is_full() -> None:
    table = bpe.gpt2().table
    encoder = CompiledEncoder(table, bpe.get_pretokenizer("gpt2"))
    # Words of 14 rare bytes: none is a token, and most have more ids than fit in an entry.
    some = random.Random(7)
    words = ["".join(chr(some.randrange(0x100, 0x180)) for _ in range(7)) for _ in range(22_000)]
    for start in range(0, len(words), 2_000):
        encoder.encode(" ".join(words[start : start + 2_000]), 1)
    (worker,) = encoder.kernels._workers
    assert 0 < worker.cache.used[0] < worker.cache.arena.size - 15
    text = " ".join(words[:500])
    assert encoder.encode(text).tolist() == bpe.gpt2().encode(text)


def test_after_many_concurrent_calls_only_one_worker_per_processor_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 4 * for_callers.n_threads()
    encoder = CompiledEncoder(bpe.gpt2().table, bpe.get_pretokenizer("gpt2"))
    encode_text, all_at_once = encoding.encode_text, threading.Barrier(n)

    def wait_for_the_others(*arguments: Any) -> bool:
        all_at_once.wait(MAX_WAIT_SECONDS)
        return encode_text(*arguments)

    monkeypatch.setattr(encoding, "encode_text", wait_for_the_others)
    texts = [f"to be or not to be, {i}" for i in range(n)]
    with ThreadPoolExecutor(n) as pool:
        found = list(pool.map(lambda text: encoder.encode(text, 1).tolist(), texts))
    assert found == [bpe.gpt2().encode(text) for text in texts]
    assert len(encoder.kernels._workers) == for_callers.n_threads()
    monkeypatch.undo()
    assert encoder.encode(texts[0]).tolist() == found[0]


def test_kernels_support_only_tokenizers_with_all_bytes_and_no_marker() -> None:
    every_byte = {byte: bytes([byte]) for byte in range(256)}
    assert can_compile(TokenTable(vocab=every_byte, merges=[]))
    assert not can_compile(TokenTable(vocab={0: b"a"}, merges=[]))
    assert not can_compile(TokenTable(vocab={0: b"a"}, merges=[], base="characters"))
    marked = {**every_byte, 256: b"</w>"}
    assert not can_compile(TokenTable(vocab=marked, merges=[], end_of_word="</w>"))
    far_apart = {**every_byte, 1 << 24: b"<s>"}
    assert not can_compile(TokenTable(vocab=far_apart, merges=[], special_tokens={"<s>": 1 << 24}))


@pytest.mark.slow
@given(st.lists(words, unique=True, max_size=12), st.integers(1, 4))
@example([], 2)
def test_counted_words_encode_like_each_alone_in_any_number_of_threads(
    spelled: list[str], n_threads: int
) -> None:
    counted = PretokenCounts([word.encode() for word in spelled], np.ones(len(spelled), np.int64))
    alone = [bpe.gpt2().encoder.encode_words([word])[0].tolist() for word in counted.words]
    encoder = CompiledEncoder(bpe.gpt2().table, bpe.gpt2().pretokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_threads", lambda n_bytes: n_threads)
        ids, ends = encoder.encode_letters(counted.letters)
    assert ids.tolist() == [id for ids in alone for id in ids]
    assert ends.tolist() == list(accumulate(map(len, alone)))
