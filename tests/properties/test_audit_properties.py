"""Compare the audit of a vocabulary with brute force: encoding every text of a small alphabet."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import CancelledError
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import dumps, loads
from bpe_core.trainers import encode_reference
from bpe_core.vocabulary import (
    Audit,
    Pruned,
    Reachability,
    count_uses,
    uses_in_corpus,
)
from bpe_core.vocabulary.auditing import with_parts
from bpe_core.vocabulary.reachability import TokenChains
from tests.more_cases import first_of
from tests.strategies import hostile_texts, tokenizers, training_configs, word_counts

# Alphabet size -> length of the longest texts that brute force encodes.
LONGEST = {2: 9, 3: 7}
# The longest token that may need neighbours to complete a character or a word. The texts must be
# long enough for the neighbours, and for what keeps them from merging with it.
MAX_TOKEN_LENGTH = 3


def word_symbols(tokenizer: bpe.Tokenizer, word: bytes) -> list[int]:
    symbols = (
        [bytes([byte]) for byte in word]
        if tokenizer.base == "bytes"
        else [character.encode() for character in word.decode()]
    )
    marker, base_ids = tokenizer.table.end_of_word_id, tokenizer.base_ids
    return [base_ids[s] for s in symbols] + ([] if marker is None else [marker])


@cache
def list_pretokens(pretokenizer: bpe.Pretokenizer, alphabet: str) -> tuple[str, ...]:
    """Return the distinct pre-tokens of all texts, those of the shortest texts first."""
    longest = LONGEST[len(alphabet)]
    texts = ("".join(t) for n in range(1, longest + 1) for t in product(alphabet, repeat=n))
    return tuple(dict.fromkeys(pretoken for text in texts for pretoken in pretokenizer.split(text)))


def ids_in_all_texts(tokenizer: bpe.Tokenizer, alphabet: str) -> set[int]:
    """Return all ids that some text encodes to.

    A pre-token is encoded only if it contains the bytes of a token not found so far.
    """
    merges = {merge.pair: merge for merge in tokenizer.merges}
    marker = b"" if tokenizer.end_of_word is None else tokenizer.end_of_word.encode()
    unseen = dict(tokenizer.vocab)
    for pretoken in list_pretokens(tokenizer.pretokenizer, alphabet):
        word = pretoken.encode()
        if any(token in word + marker for token in unseen.values()):
            for id in encode_reference(word_symbols(tokenizer, word), merges):
                unseen.pop(id, None)
    return set(tokenizer.vocab) - unseen.keys()


SMALL_TOKENIZERS = {
    "two letters": ("ab", tokenizers("ab", n_merges=4)),
    "cut characters": ("aéè", tokenizers("aéè", n_merges=5, longest=MAX_TOKEN_LENGTH)),
    "a marker": (
        "ab",
        tokenizers(
            "ab", n_merges=4, longest=MAX_TOKEN_LENGTH, base="characters", end_of_word="</w>"
        ),
    ),
    "words cut before the marker": (
        "a!",
        tokenizers(
            "a!",
            n_merges=4,
            longest=MAX_TOKEN_LENGTH,
            base="characters",
            end_of_word="</w>",
            pretokenizer="words-punctuation",
        ),
    ),
}


@pytest.mark.parametrize(
    ("alphabet", "some"), SMALL_TOKENIZERS.values(), ids=SMALL_TOKENIZERS.keys()
)
@given(data=st.data())
def test_unreachable_tokens_are_those_that_no_text_encodes_to(
    alphabet: str, some: st.SearchStrategy[bpe.Tokenizer], data: st.DataObject
) -> None:
    tokenizer = data.draw(some)
    found = Reachability.of(tokenizer)
    assert set(found.unreachable) == set(tokenizer.vocab) - ids_in_all_texts(tokenizer, alphabet)
    assert found.undecided == ()


def found_and_unseen(
    pretokenizer: str, alphabet: str, data: st.DataObject
) -> tuple[Reachability, set[int]]:
    """Draw a tokenizer; return what the audit finds, and the ids that brute force does not see."""
    tokenizer = data.draw(
        tokenizers(alphabet, n_merges=4, longest=MAX_TOKEN_LENGTH, pretokenizer=pretokenizer)
    )
    seen = ids_in_all_texts(tokenizer, alphabet)
    return Reachability.of(tokenizer), set(tokenizer.vocab) - seen


@pytest.mark.parametrize("alphabet", first_of(["a !", "'le", "a\n ", "a1é"], "a !", "a1é"))
@pytest.mark.parametrize("pretokenizer", ["gpt2", "cl100k", "words-punctuation", "whitespace"])
@given(data=st.data())
def test_no_text_encodes_to_an_unreachable_token_under_any_pretokenizer(
    pretokenizer: str, alphabet: str, data: st.DataObject
) -> None:
    found, unseen = found_and_unseen(pretokenizer, alphabet, data)
    assert unseen == set(found.unreachable) | set(found.undecided)
    if "é" not in alphabet:
        assert found.undecided == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "alphabet",
    first_of(["a !", "'le", "a\n ", "A日a", "!\n/", "!\u0301a", "a'S", "1½a"], "a !", "!\u0301a"),
)
@pytest.mark.parametrize(
    "pretokenizer",
    ["llama3", "digits-from-right", "qwen2", "o200k", "tekken", "starcoder", "falcon"],
)
@settings(max_examples=25)
@given(data=st.data())
def test_no_text_encodes_to_an_unreachable_token_under_published_pretokenizers(
    pretokenizer: str, alphabet: str, data: st.DataObject
) -> None:
    found, unseen = found_and_unseen(pretokenizer, alphabet, data)
    # A token may occur only in texts too long for brute force, so compare only decided tokens.
    assert set(found.unreachable) <= unseen
    if alphabet == "a !" or (alphabet.isascii() and pretokenizer in ("starcoder", "falcon")):
        assert found.undecided == ()


# The characters that the named patterns distinguish, a few at a time.
TOLD_APART = [
    "a !\n",
    "'re ",
    "'lLt",
    "A日a'",
    "!\u0301a/",
    "\n /!",
    "1½2a",
    "'sAa",
    "\r\n\t ",
    "$! 1",
    "ǅʰa日",
    "A日'sa",
    "\u0301'ra!",
    "eE'vr",
    "a1/\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", TokenChains.CONTEXTS)
def test_every_part_of_a_pretoken_is_whole_in_a_context(name: str) -> None:
    split = bpe.get_pretokenizer(name).split
    for alphabet in TOLD_APART:
        texts = ("".join(t) for n in range(1, 7) for t in product(alphabet, repeat=n))
        pretokens = {pretoken for text in texts for pretoken in split(text)}
        parts = {w[i:j] for w in pretokens for i in range(len(w)) for j in range(i + 1, len(w) + 1)}
        for part in parts:
            wholes = [before + part + after for before, after in TokenChains.CONTEXTS[name]]
            assert any(split(whole) == [whole] for whole in wholes), (alphabet, part)


def test_a_pretokenizer_that_cuts_parts_in_other_ways_is_not_among_the_proved_ones() -> None:
    # The check above would fail here: 日A is part of the pre-token 日Aa, but is cut if alone.
    split = bpe.get_pretokenizer("o200k").split
    assert (split("日Aa"), split("日A")) == (["日Aa"], ["日", "A"])
    assert "deepseek-v3" not in TokenChains.CONTEXTS


@given(word_counts, training_configs)
def test_uses_read_from_a_run_equal_those_of_encoding_its_words(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    merges = {merge.pair: merge for merge in run.merges}
    expected = Counter[int]()
    for word, count in zip(run.pretokens.words, run.pretokens.counts.tolist(), strict=True):
        for id in encode_reference(word_symbols(run.tokenizer, word), merges):
            expected[id] += count
    uses = run.count_uses()
    assert {id: int(uses[id]) for id in np.flatnonzero(uses).tolist()} == expected
    assert count_uses(run.tokenizer, run.pretokens).tolist() == uses.tolist()


@settings(max_examples=60)
@given(word_counts, training_configs)
def test_scaffolds_are_the_unused_parts_of_used_tokens(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    tokenizer = run.tokenizer
    audited = Audit.of(tokenizer, run.count_uses())
    special = set(tokenizer.special_tokens.values())
    assert set(audited.never_used) == {
        id for id in tokenizer.vocab if id not in special and not audited.uses[id]
    }
    made_of = {id: {id} for id in tokenizer.vocab}
    for merge in tokenizer.merges:
        made_of[merge.id] |= made_of[merge.left] | made_of[merge.right]
    used = {id for id in tokenizer.vocab if audited.uses[id]}
    inside = set().union(*(made_of[id] for id in used))
    assert set(audited.scaffolds) == set(audited.never_used) & inside
    assert with_parts(tokenizer, used) == inside


@settings(max_examples=60)
@given(word_counts, training_configs, hostile_texts, st.integers(1, 4))
def test_a_pruned_tokenizer_encodes_every_text_that_the_original_does(
    words: dict[str, int], config: bpe.TrainingConfig, text: str, min_uses: int
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    pruned = Pruned.of(run.tokenizer, run.count_uses(), min_uses)
    ids = pruned.tokenizer.encode(text, errors="skip")
    # The ids are decoded, since the pre-tokenizer may drop white space from the text.
    assert pruned.tokenizer.decode_bytes(ids) == run.tokenizer.decode_bytes(
        run.tokenizer.encode(text, errors="skip")
    )
    assert sorted(pruned.tokenizer.vocab) == list(range(pruned.tokenizer.vocab_size))
    for new, old in enumerate(pruned.old_ids.tolist()):
        assert pruned.tokenizer.vocab[new] == run.tokenizer.vocab[old]
    assert set(pruned.removed) | set(pruned.old_ids.tolist()) == set(run.tokenizer.vocab)
    assert loads(dumps(pruned.tokenizer, "native")).encode(text, errors="skip") == ids


@settings(max_examples=60)
@given(word_counts, training_configs)
def test_pruning_unused_tokens_leaves_the_encoding_of_the_corpus_unchanged(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    uses = run.count_uses()
    pruned = Pruned.of(run.tokenizer, uses)
    assert count_uses(pruned.tokenizer, run.pretokens).tolist() == uses[pruned.old_ids].tolist()
    assert int(uses.sum()) == int(run.tokens_after[-1])


@settings(max_examples=60)
@given(word_counts, training_configs, st.integers(1, 4))
def test_tokens_added_to_a_run_by_pruning_match_encoding_all_its_words(
    words: dict[str, int], config: bpe.TrainingConfig, min_uses: int
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    uses = run.count_uses()
    pruned = Pruned.of(run.tokenizer, uses, min_uses)
    after = count_uses(pruned.tokenizer, run.pretokens)
    assert pruned.added_in(run) == int(after.sum()) - int(uses.sum())


@settings(max_examples=60)
@given(word_counts, training_configs, st.lists(hostile_texts, min_size=1, max_size=3))
def test_uses_in_a_corpus_equal_those_of_encoding_its_documents(
    words: dict[str, int], config: bpe.TrainingConfig, texts: list[str]
) -> None:
    tokenizer = bpe.train(bpe.Corpus.from_word_counts(words), config).tokenizer
    expected = Counter(id for text in texts for id in tokenizer.encode(text, errors="skip"))
    if any(texts):
        uses = uses_in_corpus(tokenizer, bpe.Corpus.from_documents(texts))
        assert {id: int(uses[id]) for id in np.flatnonzero(uses).tolist()} == expected
    given_words = bpe.Corpus.from_word_counts(words)
    if config.character_coverage < 1:
        return  # the words of the training have no rare characters, and the corpus has them
    assert (
        uses_in_corpus(tokenizer, given_words).tolist()
        == count_uses(tokenizer, bpe.train(given_words, config).pretokens).tolist()
    )


def test_a_search_for_unreachable_tokens_can_be_cancelled() -> None:
    tokenizer = bpe.train(
        bpe.Corpus.from_word_counts({"hug": 3}), bpe.TrainingConfig(300)
    ).tokenizer
    calls: list[tuple[int, int]] = []

    def stop_at_64(done: int, of: int) -> bool:
        calls.append((done, of))
        return done >= 64

    n = tokenizer.vocab_size - len(tokenizer.special_tokens)
    with pytest.raises(CancelledError):
        Reachability.of(tokenizer, stop_at_64)
    assert calls == [(0, n), (64, n)]
    found = Reachability.of(tokenizer, lambda _done, _of: False)
    assert found == Reachability.of(tokenizer)
