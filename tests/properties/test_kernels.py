"""Kernels give the same results as their plain Python versions: scanners, counting, merging."""

from __future__ import annotations

import itertools
import random
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import bpe_core as bpe
from bpe_core.corpus import Layout, choose_characters, count_pretokens, seen_symbols, word_row
from bpe_core.corpus.count_compiled import count_documents, count_sections
from bpe_core.corpus.word_row import write_words
from bpe_core.kernels import counting, hashing, indexing, learning, scanning, word_counter
from bpe_core.kernels.compiling.decorate import kernel
from bpe_core.kernels.row import JOINED, PAIRS, SLOTS
from bpe_core.pretokenizers import SCANNERS, scanners
from bpe_core.pretokenizers.named_patterns import REPRESENTATIVES, cast_shadow
from bpe_core.pretokenizers.scanners import class_table
from bpe_core.trainers import GrowingVocabulary, incremental, train_reference
from bpe_core.trainers import compiled as compiled_training
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.types import PretokenCounts
from bpe_core.unicode import class_runs, unicode_class
from tests.scanned import scan
from tests.strategies import texts, training_configs, word_counts

scanned = st.sampled_from([bpe.get_pretokenizer(name) for name in SCANNERS])

noise = st.text(
    st.sampled_from("aAbB12'  \n\r\tslltvereDMS'.,/_éÉ日²\u3000\u00a0\u0301\u1680\U0001f9e9ſǅʰª"),
    max_size=60,
)
"""Where patterns differ: letters of each case, marks, numbers, contractions, wide white space."""


def never(done: int, saved: int, count: int) -> bool:
    return False


# -- scanning -----------------------------------------------------------------------------------


def test_the_kernels_read_the_flags_of_an_automaton() -> None:
    flags = scanning.ENDS, scanning.STOPS, scanning.DROPS, scanning.BACK
    assert flags == (scanners.ENDS, scanners.STOPS, scanners.DROPS, scanners.BACK)
    assert list(REPRESENTATIVES)[scanning.AFTER_A_WORD >> 2] == "mark"


def test_the_class_table_covers_every_code_point() -> None:
    kinds = dict.fromkeys(("other", "mark", "punctuation", "symbol"), 0)
    kinds |= {"space": scanning.SPACE, "number": scanning.NUMBER}
    table = class_table()
    starts, _ = class_runs()
    for start, end in pairwise([*starts, 0x110000]):
        name, run = unicode_class(start), table[start:end]
        assert (run & 3 == kinds.get(name, scanning.LETTER)).all()
    shadows = cast_shadow("".join(map(chr, range(128, 0xD800))))
    numbers = [list(REPRESENTATIVES.values()).index(shadow) for shadow in shadows]
    assert (table[128:0xD800] >> 2 == numbers).all()


@given(noise, scanned, st.sampled_from([24, 40, 80]))
def test_a_scanner_finds_the_same_pretokens_as_the_pattern(
    text: str, pretokenizer: bpe.Pretokenizer, room: int
) -> None:
    assert scan(text, pretokenizer, room) == pretokenizer.split(text)


@given(texts, scanned)
def test_a_scanner_accepts_any_text(text: str, pretokenizer: bpe.Pretokenizer) -> None:
    assert scan(text, pretokenizer, 64) == pretokenizer.split(text)


@pytest.mark.parametrize("name", SCANNERS)
def test_a_scanner_is_right_at_the_edges_of_every_class_in_every_context(name: str) -> None:
    starts, _ = class_runs()
    edges = sorted({*starts, *(start - 1 for start in starts[1:])})
    characters = [chr(c) for c in edges if not 0xD800 <= c <= 0xDFFF]
    contexts = "a{0}b A{0}B {0}1{0} {0}\n {0}{0}'s'{0}LL  {0}/\r\n,{0}  "
    text = "".join(contexts.format(character) for character in characters)
    pretokenizer = bpe.get_pretokenizer(name)
    assert scan(text, pretokenizer, 8192) == pretokenizer.split(text)


@given(noise, scanned, st.data())
def test_a_text_cut_in_two_at_a_safe_place_has_the_same_pretokens(
    text: str, pretokenizer: bpe.Pretokenizer, data: st.DataObject
) -> None:
    encoded = text.encode()
    near = data.draw(st.integers(0, len(encoded)))
    cut = pretokenizer.safe_split(encoded, near)
    parts = encoded[:cut].decode(), encoded[cut:].decode()
    assert cut >= near
    assert [p for part in parts for p in pretokenizer.split(part)] == pretokenizer.split(text)


@pytest.mark.parametrize("n_bytes", range(2, 16))
def test_words_that_differ_in_two_letters_are_spread_over_a_table(n_bytes: int) -> None:
    # Of 676 words in 8,192 places, about 27 share a place by chance.
    begin = b" internationals"[: n_bytes - 2]
    places: set[int] = set()
    with np.errstate(over="ignore"):
        for pair in itertools.product(range(97, 123), repeat=2):
            text = np.frombuffer(begin + bytes(pair) + bytes(16), np.uint8)
            key = hashing.short_key(text, np.uint64(0), np.uint64(n_bytes))
            places.add(int(hashing.spread_word(*key)) % 8192)
    assert len(places) > 600


# -- counting -----------------------------------------------------------------------------------


def assert_counted(found: PretokenCounts, documents: list[str], by: bpe.Pretokenizer) -> None:
    wanted = Counter(word for document in documents for word in by.split(document))
    assert found.words == tuple(word.encode() for word in wanted)
    assert found.counts.tolist() == list(wanted.values())


@given(
    st.lists(st.lists(noise, max_size=6), max_size=6),
    scanned,
    st.integers(1, 100),
    st.integers(1, 20),
)
def test_blocks_and_threads_do_not_change_counts_or_order(
    documents: list[list[str]], pretokenizer: bpe.Pretokenizer, block_bytes: int, look_back: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanners, "_LONG", 3)
        text = pretokenizer.sections(documents, look_back)
        found = count_sections(text, pretokenizer, n_threads=3, block_bytes=block_bytes)
    assert_counted(found, ["".join(pieces) for pieces in documents], pretokenizer)


def test_an_error_in_the_text_ends_counting_in_all_threads() -> None:
    taken: list[int] = []

    def text() -> Iterator[list[bytes]]:
        for number in range(1000):
            taken.append(number)
            if number == 5:
                raise bpe.CorpusError("damaged")
            yield [b"hug"]

    with pytest.raises(bpe.CorpusError, match="damaged"):
        count_sections(text(), bpe.get_pretokenizer("gpt2"), n_threads=3, block_bytes=1)
    assert taken == [0, 1, 2, 3, 4, 5]


def test_only_the_calling_thread_asks_whether_to_stop() -> None:
    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(threading.get_ident())
        return len(asked) == 3

    text = ([b"hug"] for _ in itertools.count())
    found = count_sections(text, bpe.get_pretokenizer("gpt2"), should_stop, 3, block_bytes=1)
    assert asked == [threading.get_ident()] * 3
    assert found.words == (b"hug",)


@pytest.mark.parametrize("width", [5, 40])
def test_a_table_grows_while_the_words_of_another_are_added(width: int) -> None:
    # The tables share no words, so the first must grow; with wide words, it runs out of letters.
    documents = [" ".join(f"{n:0{width}x}" for n in range(k, 90_000, 3)) for k in range(3)]
    by = bpe.get_pretokenizer("none")
    tables = []
    for number, document in enumerate(documents):
        table = word_counter.WordCounter()
        words = [word.encode() for word in document.split(" ")]
        text = np.frombuffer(b"".join(words), np.uint8)
        table.count_given(text, np.cumsum([len(word) for word in words]), 10**9 * number)
        tables.append(table)
    first, *others = tables
    for other in others:
        first.fold(other)
    words, counts = first.result()
    found = PretokenCounts.of_letters(words.letters, counts)
    assert_counted(found, [word for d in documents for word in d.split(" ")], by)


@pytest.mark.parametrize("n_entries", [2, 4, 8, 32])
def test_entries_are_found_after_their_table_has_doubled(n_entries: int) -> None:
    drawn = random.Random(n_entries)
    for _ in range(300):
        # Nearly all are in use, so that some lie past the end, at the beginning of the table.
        numbers = range(1, drawn.randint(1, n_entries))
        keys = {(drawn.getrandbits(63), drawn.getrandbits(60) | 1): number for number in numbers}
        entries = np.full(2 * n_entries * counting.ENTRY, drawn.getrandbits(63), np.uint64)
        entries[: n_entries * counting.ENTRY] = 0
        for key, number in keys.items():
            at = found_entry(entries[: n_entries * counting.ENTRY], key)
            entries[at : at + counting.ENTRY] = [*key, 7 * number, number]
        counting.spread_entries(entries)
        assert np.count_nonzero(entries[1 :: counting.ENTRY]) == len(keys)
        for key, number in keys.items():
            at = found_entry(entries, key)
            assert entries[at : at + counting.ENTRY].tolist() == [*key, 7 * number, number]


def found_entry(entries: NDArray[np.uint64], key: tuple[int, int]) -> int:
    """Return where a key's entry, or the free one for it, begins in a table of words."""
    with np.errstate(over="ignore"):
        spread = int(hashing.spread_word(np.uint64(key[0]), np.uint64(key[1])))
    place = spread % (entries.size // counting.ENTRY) * counting.ENTRY
    while entries[place + 1] and tuple(entries[place : place + 2].tolist()) != key:
        place = (place + counting.ENTRY) % entries.size
    return place


@given(
    st.lists(st.one_of(noise, texts), max_size=5),
    st.sampled_from(["none", "regex:[0-9]", "regex:\\w+", "regex:(?r)a|b", "regex:x*"]),
)
def test_custom_patterns_are_also_counted(documents: list[str], name: str) -> None:
    pretokenizer = bpe.get_pretokenizer(name)
    assert_counted(count_documents(documents, pretokenizer), documents, pretokenizer)


@pytest.mark.parametrize("name", [*SCANNERS, "none", "regex:[^5]+5?"])
def test_many_words_and_long_ones_make_the_table_grow(name: str) -> None:
    pretokenizer = bpe.get_pretokenizer(name)
    many = " ".join(f"{n:x}" for n in range(30_000))
    documents = [many, "a" * 300_000, "12345" * 3, "é" * 200_000 + " " + "日" * 100_000, many]
    assert_counted(count_documents(documents, pretokenizer), documents, pretokenizer)


@kernel
def word_key(text: NDArray[np.uint8]) -> tuple[np.uint64, np.uint64]:
    return hashing.word_key(text, np.uint64(0), np.uint64(text.size))


def words_with_the_same_key() -> tuple[bytes, bytes]:
    """Return two words of 16 letters with the same key, found by inverting the hash."""
    mask, some = (1 << 64) - 1, random.Random(0)

    def mixed(eight: bytes) -> int:
        value = (16 ^ int.from_bytes(eight, "little")) * 0xFF51AFD7ED558CCD & mask
        return value ^ value >> 29

    one, end = b"a" * 8, b"b" * 8
    while True:
        other = bytes(some.choices(range(ord("a"), ord("z") + 1), k=8))
        last = (mixed(one) ^ mixed(other) ^ int.from_bytes(end, "little")).to_bytes(8, "little")
        if all(ord(" ") < byte < 127 for byte in last):
            return one + end, other + last


def test_long_words_with_the_same_key_are_distinguished_by_their_bytes() -> None:
    words = words_with_the_same_key()
    one, other = (word_key(np.frombuffer(word, np.uint8)) for word in words)
    assert one == other
    assert words[0] != words[1]
    a, b = (word.decode() for word in words)
    documents = [f"{a} {b} {a}"]
    pretokenizer = bpe.get_pretokenizer("whitespace")
    assert_counted(count_documents(documents, pretokenizer), documents, pretokenizer)


def test_counting_can_be_cancelled() -> None:
    found = count_documents(["hug hugs"], bpe.get_pretokenizer("gpt2"), lambda: True)
    assert found.words == ()


# -- merging ------------------------------------------------------------------------------------


def learn_both(
    layout: Layout, symbols: Collection[bytes], config: bpe.TrainingConfig
) -> list[LearnedMerges]:
    learned: list[LearnedMerges] = []
    for learn in (incremental.learn_merges, compiled_training.learn_merges):
        vocabulary = GrowingVocabulary(config, symbols)
        used_up = Layout(layout.ids.copy(), layout.counts)
        learned.append(learn(used_up, vocabulary, config, never))
        learned[-1].merges.append((len(vocabulary), 0, 0))
    return learned


def assert_alike(one: LearnedMerges, other: LearnedMerges) -> None:
    assert one.merges == other.merges
    assert one.counts == other.counts
    assert one.tokens_saved.tolist() == other.tokens_saved.tolist()
    assert one.joined_at.tolist() == other.joined_at.tolist()
    assert one.stop_reason == other.stop_reason


def laid_out(
    words: dict[str, int], config: bpe.TrainingConfig
) -> tuple[PretokenCounts, frozenset[bytes], Layout]:
    corpus = bpe.Corpus.from_word_counts(words)
    symbols = frozenset(seen_symbols(corpus, config.base))
    pretokens = count_pretokens(corpus, bpe.get_pretokenizer(config.pretokenizer))
    if config.byte_fallback:
        pretokens, symbols = choose_characters(pretokens, config.character_coverage)
    vocabulary = GrowingVocabulary(config, symbols)
    layout = Layout.of_symbols(
        pretokens, config.base, vocabulary.base_ids, vocabulary.end_of_word_id
    )
    return pretokens, symbols, layout


@given(word_counts, training_configs)
def test_the_kernel_learns_the_same_merges_as_the_other_trainers(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    pretokens, symbols, layout = laid_out(words, config)
    slow, fast = learn_both(layout, symbols, config)
    assert_alike(slow, fast)
    # The words have only characters of the alphabet.
    reference = train_reference(pretokens, replace(config, character_coverage=1.0))
    assert fast.merges[:-1] == [(m.left, m.right, m.id) for m in reference.merges]
    assert fast.counts == [merge.count for merge in reference.merges]
    assert fast.stop_reason == reference.stop_reason


marked = st.text("ab \t▁─é漢😀", min_size=1, max_size=8)


@given(st.dictionaries(marked, st.integers(1, 2**40), min_size=1), st.floats(0.01, 1))
def test_kernels_write_words_and_choose_characters_alike(
    words: dict[str, int], coverage: float
) -> None:
    pretokens = PretokenCounts(map(str.encode, words), np.array([*words.values()], np.int64))
    found: list[list[object]] = []
    for is_kernel in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(word_row, "use_kernels", lambda n_bytes, is_kernel=is_kernel: is_kernel)
            written = write_words(pretokens, bpe.get_pretokenizer("metaspace"))
            chosen, alphabet = choose_characters(written, coverage)
            layout = Layout.of_symbols(
                written, "characters", {each: id for id, each in enumerate(sorted(alphabet))}
            )
        counts = [written.counts.tolist(), chosen.counts.tolist(), layout.counts.tolist()]
        found.append([written.words, chosen.words, alphabet, layout.ids.tolist(), counts])
    assert found[0] == found[1]


@given(word_counts, training_configs)
def test_words_too_frequent_for_a_weight_merge_alike(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    most = np.iinfo(np.int32).max
    frequent = {word: count + most - 2 for word, count in words.items()}
    _, symbols, layout = laid_out(frequent, config)
    _, large = learning.pack_weights(layout.counts)
    assert large.tolist() == [count for count in layout.counts.tolist() if count > most]
    assert_alike(*learn_both(layout, symbols, config))


@given(word_counts, training_configs, st.integers(2, 4))
def test_threads_that_share_a_row_learn_the_same_merges(
    words: dict[str, int], config: bpe.TrainingConfig, n_threads: int
) -> None:
    _, symbols, layout = laid_out(words, config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "_MIN_SLOTS", 1)
        patch.setattr(indexing, "_MIN_ENTRIES", 2)  # counting goes on after a table is full
        patch.setattr(indexing, "n_threads", lambda: n_threads)
        assert_alike(*learn_both(layout, symbols, config))


@pytest.mark.parametrize(
    ("n_merges", "row"),
    [
        (0, [-1, 1, 2, 3, -1, 2, 3, -1]),
        (1, [-1, 1, 4, -7, -1, 4, -7, -1]),
        (2, [-1, 5, JOINED - 1, -8, -1, 4, -7, -1]),
    ],
)
def test_a_token_has_its_id_in_its_first_slot_and_below_zero_in_its_last(
    n_merges: int, row: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[list[int]] = []
    # Replace the last kernel of a training, which overwrites the row.
    monkeypatch.setattr(
        learning.merging,
        "list_ranks",
        lambda row, tokens, never: rows.append(row.ids.tolist()),
    )
    config = bpe.TrainingConfig(4 + n_merges, base="characters", special_tokens=("<s>",))
    vocabulary = GrowingVocabulary(config, {b"a", b"b", b"c"})
    layout = Layout.of_words([vocabulary.start(word) for word in (b"abc", b"bc")], [1, 1])
    compiled_training.learn_merges(layout, vocabulary, config, never)
    assert rows == [row]


@given(
    st.lists(
        st.tuples(st.text("ab", min_size=1, max_size=60), st.integers(0, 40)),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from(["smallest-pair", "first-seen"]),
    st.integers(257, 500),
)
def test_the_kernel_handles_counts_up_to_two_to_the_fortieth(
    words: list[tuple[str, int]], tie_break: str, vocab_size: int
) -> None:
    config = bpe.TrainingConfig(vocab_size, special_tokens=(), tie_break=tie_break)  # type: ignore[arg-type]
    vocabulary = GrowingVocabulary(config, ())
    layout = Layout.of_words(
        [vocabulary.start(word.encode()) for word, _ in words], [1 << n for _, n in words]
    )
    assert_alike(*learn_both(layout, set(), config))


@pytest.mark.parametrize("tie_break", ["smallest-pair", "first-seen"])
@pytest.mark.parametrize("unit", ["a", "ab", "aab", "abcabd"])
def test_the_kernel_handles_long_runs_of_a_letter(unit: str, tie_break: str) -> None:
    config = bpe.TrainingConfig(300, special_tokens=(), tie_break=tie_break)  # type: ignore[arg-type]
    vocabulary = GrowingVocabulary(config, ())
    words = [(unit * 3_000).encode(), (unit * 77 + "a").encode()]
    layout = Layout.of_words([vocabulary.start(word) for word in words], [1, 3])
    assert_alike(*learn_both(layout, set(), config))


@given(word_counts, st.integers(0, 40))
def test_cancelled_training_returns_the_first_merges(words: dict[str, int], most: int) -> None:
    config = bpe.TrainingConfig(400, special_tokens=())
    corpus = bpe.Corpus.from_word_counts(words)
    pretokens = count_pretokens(corpus, bpe.get_pretokenizer("none"))

    def learn(stop_at: int) -> LearnedMerges:
        vocabulary = GrowingVocabulary(config, ())
        layout = Layout.of_symbols(pretokens, "bytes", vocabulary.base_ids)
        return compiled_training.learn_merges(
            layout, vocabulary, config, lambda done, saved, count: done >= stop_at
        )

    whole, cut = learn(1_000), learn(most)
    n = len(cut.merges)
    assert cut.merges == whole.merges[:n]
    assert (cut.joined_at < n).tolist() == (whole.joined_at < n).tolist()
    if cut.stop_reason == "cancelled":
        assert n >= most
    else:
        assert_alike(cut, whole)


def test_a_token_spelled_like_an_older_one_reuses_its_id() -> None:
    # This happens only with symbols that are themselves merged, never with single characters.
    config = bpe.TrainingConfig(8, base="characters", special_tokens=())
    symbols = {b"a", b"b", b"c", b"ab"}
    start = GrowingVocabulary(config, symbols).base_ids
    words = [[start[b"a"], start[b"b"], start[b"c"]]] * 2 + [[start[b"ab"], start[b"c"]]]
    slow, fast = learn_both(Layout.of_words(words, [5, 4, 2]), symbols, config)
    assert_alike(slow, fast)
    assert fast.merges[0][2] == start[b"ab"]


def test_memory_depends_on_the_words_and_not_on_the_vocabulary_size() -> None:
    config = bpe.TrainingConfig(2**31 - 1, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    layout = Layout.of_words([vocabulary.start(b"abababab")], [3])
    learned = compiled_training.learn_merges(layout, vocabulary, config, never)
    assert (len(learned.merges), learned.stop_reason) == (3, "no-pairs")


def test_new_pairs_take_the_room_of_the_pair_that_was_merged() -> None:
    config = bpe.TrainingConfig(400, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    words = [("abcdefgh" * 500).encode(), *(f"ab{n}cd".encode() for n in range(500))]
    layout = Layout.of_words([vocabulary.start(word) for word in words], [1] * len(words))
    work = learning.PairLearning(compiled_training._words(layout, config), vocabulary, 144)
    at_first = int(work._index.used[SLOTS])
    while work.learn(work.n_wanted) == "interrupted":
        pass
    index = work._index
    n_added = int(index.used[SLOTS]) - at_first
    listed = index.ends[: index.used[PAIRS]] - index.begins[: index.used[PAIRS]]
    assert 0 < n_added < int(listed.sum() - at_first) / 2
