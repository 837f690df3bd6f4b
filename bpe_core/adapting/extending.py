"""Extend an existing tokenizer: continue its training on other text.

A base of SentencePiece's family gets the characters that it spells in bytes first: no merge joins
bytes there, so a text in another script could not become shorter without them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from bpe_core.adapting.merge_terms import merge_terms
from bpe_core.checks import check_whole, describe, is_a, several
from bpe_core.corpus import Corpus, WordCounts, corpus_or_counts
from bpe_core.counting import Layout, list_characters
from bpe_core.errors import ArgumentTypeError, ConfigError, FormatError
from bpe_core.pretokenizers import check_text
from bpe_core.runs import (
    Continuation,
    TermMerges,
    TrainingRun,
    Watch,
    bytes_apart,
    check_config,
    check_coverage,
    count,
    lay_out_tokens,
    learn_run,
    reviving_tokens,
    train,
)
from bpe_core.tokenizer import (
    MAX_FREE_IDS,
    Encoder,
    NamedEncoder,
    Tokenizer,
    extended,
    to_encoder,
    with_changes,
)
from bpe_core.trainers import ContinuedVocabulary, find_rule, vetoed_texts
from bpe_core.types import PretokenCounts, TieBreak, TrainingConfig, TrainingProgress
from bpe_core.unicode import META

DEFAULT_COVERAGE: Final = 0.9995
"""The share of a text whose characters are added, as when SentencePiece trains."""


def extend(
    tokenizer: Encoder | str | os.PathLike[str],
    corpus: Corpus | WordCounts | Iterable[str],
    n_tokens: int,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    *,
    min_frequency: int = 0,
    tie_break: TieBreak = "smallest-pair",
    max_token_bytes: int | None = None,
    terms: Iterable[str | bytes] = (),
    left_out: Iterable[bytes] = (),
    character_coverage: float = DEFAULT_COVERAGE,
) -> TrainingRun:
    """Add tokens for a corpus to an existing tokenizer, by continuing its training.

    The corpus is cut by the base's pre-tokenizer and encoded with the base's merges; then the most
    frequent pair of tokens is merged, `n_tokens` times. The new merges come after all those of the
    base, and new ids follow its highest id. So every token of the base keeps its id, and if each
    new token is replaced by its base tokens in `run.new_tokens`, any text is encoded as before. No
    text takes more tokens than with the base.

    A base of SentencePiece's family spells in bytes the characters that it lacks, and merges no
    bytes. So first, those characters become tokens that are needed to cover this share of the
    corpus, the most frequent first; the base's tokens for a character's bytes spell it. With a
    `character_coverage` of 0, only those of `terms` do. Other bases need no characters.

    A pair whose bytes spell a token of the base, or one of `left_out`, given as bytes, is never
    merged. A word that the base looks up whole stays whole. `on_progress` and `should_stop` are
    called as by `train`; a run that is cancelled keeps the merges learned so far.

    Each of the `terms` is tried first, in order: its parts are merged until it is one token, the
    most frequent pair in the corpus first. A text is tried as a word after a space and as a word
    without one, whichever occurs more often first; bytes are tried as they are, also as a part of
    words. A term that the corpus does not contain is made a token all the same, with 0 occurrences.
    `run.terms` holds what each cost and saved, or why it did not become a token. `min_frequency`
    applies to learned merges only.

    The tokenizer may be given by its path or name, as for `open_encoder`. Raises `FormatError` for
    one that cannot be adapted, `ConfigError` for other invalid
    arguments, and `CorpusError` or a subclass as `train` does.

    >>> from bpe_core.tokenizer import gpt2
    >>> run = extend(gpt2(), Corpus.from_text("A tokenizer, two tokenizers"), n_tokens=2)
    >>> [run.tokenizer.decode([id]) for id in run.new_tokens]
    [' tokenizer', ' tokenizers']
    >>> [[gpt2().decode([id]) for id in parts] for parts in run.new_tokens.values()]
    [[' token', 'izer'], [' token', 'izers']]
    >>> corpus = Corpus.from_text("A tokenizer")
    >>> run = extend(gpt2(), corpus, n_tokens=9, terms=["tokenizer", "Kubernetes", "New York"])
    >>> [(cost.token, cost.tokens_added, cost.occurrences) for cost in run.terms]
    [(b' tokenizer', 1, 1), (b' Kubernetes', 3, 0), (None, 0, None)]
    >>> run.terms[2].reason
    "The pre-tokenizer cuts it into 2 words: 'New', ' York'."
    """
    started = time.perf_counter()
    base = extendable(tokenizer)
    corpus = corpus_or_counts(corpus)
    check_whole("n_tokens", n_tokens, least=1)
    config = TrainingConfig(
        vocab_size=base.vocab_size + int(n_tokens),
        pretokenizer=base.pretokenizer.name,
        base=base.base,
        alphabet="full" if len(base.base_ids) == 256 and base.base == "bytes" else "seen",
        end_of_word=base.end_of_word,
        special_tokens=tuple(base.special_tokens),
        min_frequency=min_frequency,
        tie_break=tie_break,
        max_token_bytes=max_token_bytes,
        byte_fallback=base.pretokenizer.adds_space,
    )
    check_config(config)
    check_coverage(character_coverage, may_be_zero=True)
    excluded = _parse_left_out(left_out)
    tried = checked_terms(terms)
    watch = Watch(int(n_tokens), started, on_progress, should_stop)
    counted = count(corpus, config.pretokenizer, watch)
    characters = choose_new_characters(
        base, counted.pretokens, character_coverage, tried, excluded
    )[: int(n_tokens)]
    first_character = 1 + max(base.vocab)
    base = add_characters(base, characters)
    added = tuple(range(first_character, first_character + len(characters)))
    continues = Continuation(
        base, left_out=excluded, characters=added, character_coverage=float(character_coverage)
    )
    n_of_each = count_for_terms(characters, tried)
    return continue_run(continues, counted, config, watch, tried, n_of_each)


def continue_run(
    continues: Continuation,
    counted: WordCounts,
    config: TrainingConfig,
    watch: Watch,
    terms: Sequence[str | bytes] = (),
    characters_of_terms: Sequence[int] = (),
) -> TrainingRun:
    """Learn merges from words that are laid out as the tokens of a base, and return the run.

    This is what every training does that does not begin with single symbols. `config.vocab_size`
    is the size in the end. The `terms` are made tokens first; `characters_of_terms` are how many
    characters the base got for each.

    >>> from bpe_core.counting import count_words
    >>> from bpe_core.tokenizer import gpt2
    >>> config = TrainingConfig(50_258, vetoes=[" tokenizer"])
    >>> words, base = count_words(["A tokenizer"]), Continuation(gpt2())
    >>> run = continue_run(base, words, config, Watch(1, 0.0, None, None))
    >>> run.stop_reason
    'no-pairs'
    """
    base = continues.base
    n_merges = config.vocab_size - base.vocab_size
    watch.merges_wanted = n_merges
    excluded = tuple(dict.fromkeys((*continues.left_out, *vetoed_texts(config))))
    continues = replace(continues, left_out=excluded)
    vocabulary = ContinuedVocabulary(
        base.vocab, excluded, reviving_tokens(base), bytes_apart(base), find_rule(config)
    )

    def choose(layout: Layout) -> TermMerges:
        found = merge_terms(
            layout,
            terms,
            base,
            counted.pretokens,
            vocabulary,
            n_tokens=n_merges,
            tie_break=config.tie_break,
            max_token_bytes=config.max_token_bytes,
            should_stop=watch.asked_to_stop,
        )
        n_of_each = characters_of_terms or [0] * len(terms)
        costs = zip(found.costs, n_of_each, strict=True)
        return replace(found, costs=tuple(replace(cost, characters_added=n) for cost, n in costs))

    return learn_run(
        counted,
        lay_out_tokens(base, counted.pretokens),
        vocabulary,
        lambda learned: extended(base, learned.merges, learned.counts),
        config,
        watch,
        continues,
        choose if terms else None,
    )


def train_superwords(
    corpus: Corpus | WordCounts,
    config: TrainingConfig,
    on_progress: Callable[[TrainingProgress], None] | None,
    should_stop: Callable[[], bool] | None,
    on_counting: Callable[[float], None] | None = None,
) -> TrainingRun:
    """Train within words up to `config.superwords_from` tokens, then also across them.

    The second stage continues the tokenizer of the first on text that is cut less; its twin is
    `trainers.train_superwords_reference`. If it is cancelled in the first stage, the run has no
    superwords, and its configuration asks for none.

    >>> config = TrainingConfig(265, superwords_from=258)
    >>> run = train_superwords(Corpus.from_text("by the by the by"), config, None, None)
    >>> [run.tokenizer.vocab[merge.id] for merge in run.tokenizer.merges]
    [b'by', b'e ', b'he ', b'the ', b' the ', b'by the ', b'by the by']
    """
    started = time.perf_counter()
    if isinstance(corpus, WordCounts) or corpus.word_counts is not None:
        raise ConfigError(
            "Superwords need the text itself: counted words no longer say which follows which. "
            "Train on the text, or set superwords_from=None."
        )

    def report(progress: TrainingProgress) -> None:
        if on_progress is not None:
            more = config.vocab_size - (config.superwords_from or 0)
            on_progress(replace(progress, merges_wanted=progress.merges_wanted + more))

    words_only = replace(config, vocab_size=config.superwords_from, superwords_from=None)
    first = train(corpus, words_only, report, should_stop, on_counting=on_counting)
    if first.stop_reason == "cancelled":
        return first
    form, plus, _ = config.pretokenizer.rpartition("+")
    cut = f"{form}{plus}superwords"
    base = with_changes(first.tokenizer, pretokenizer=cut)
    watch = Watch(0, started, on_progress, should_stop, on_counting)
    counted = count(corpus, cut, watch)
    watch.note_first(len(first.merges), 0)
    continues = Continuation(base, left_out=first.left_out, terms=first.terms)
    return continue_run(continues, counted, config, watch)


def extendable(tokenizer: Encoder | str | os.PathLike[str]) -> Tokenizer:
    """Return the tokenizer to adapt; raise `FormatError` if it cannot be adapted.

    >>> from bpe_core.tokenizer import gpt2
    >>> extendable(NamedEncoder("GPT-2", gpt2())) == gpt2()
    True
    """
    name, why, encoder = "This tokenizer", "", to_encoder(tokenizer)
    if isinstance(encoder, NamedEncoder):
        name, why, encoder = encoder.name, encoder.provenance, encoder.encoder
    if not isinstance(encoder, Encoder):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentTypeError(
            f"Expected a tokenizer to adapt, got {describe(encoder)}. bpe_core.load and "
            "bpe_core.open_encoder return one."
        )
    merges = encoder.adaptable
    if merges is not None and merges.table.removals:
        raise FormatError(
            f"{name} cannot be adapted: its training removed tokens again (PickyBPE), so it is "
            "more than a list of merges. Adapt another tokenizer, or train a new one."
        )
    if merges is not None:
        _check_ids(name, merges)
        return merges
    if encoder.model != "BPE":
        raise FormatError(
            f"{name} cannot be adapted: its model is {encoder.model}, which has no merges. Adapt a "
            "byte-pair encoding, or train a new tokenizer."
        )
    raise FormatError(
        f"{name} cannot be adapted as it was opened, because {encoder.engine} encodes with it. "
        f"{why + ' ' if why else ''}If bpe_core can read its file as merges, the command line and "
        "the Adapt page adapt it from that file."
    )


def checked_terms(terms: Iterable[str | bytes]) -> list[str | bytes]:
    """Return terms as a list; raise `ConfigError` unless they are texts or bytes.

    >>> checked_terms(["Kubernetes", b"netes"])
    ['Kubernetes', b'netes']
    """
    remedy = "give texts such as ['Kubernetes'], or bytes"
    found: list[str | bytes] = several(terms, "terms", remedy)
    for term in found:
        if not is_a(term, str, bytes) or not term:
            raise ArgumentTypeError(f"Expected terms, got {describe(term)}: {remedy}.")
        if isinstance(term, str):
            check_text(term)
    return found


def _parse_left_out(left_out: Iterable[bytes]) -> tuple[bytes, ...]:
    remedy = "give the bytes of each, such as [' Kubernetes'.encode()]"
    tokens = several(left_out, "tokens to leave out", remedy)
    for token in tokens:
        if not is_a(token, bytes) or not token:
            raise ArgumentTypeError(
                f"Expected tokens to leave out, got {describe(token)}: {remedy}."
            )
    return tuple(dict.fromkeys(tokens))


def _check_ids(name: str, base: Tokenizer) -> None:
    lowest, highest = min(base.vocab, default=0), max(base.vocab, default=-1)
    if highest < 0:
        raise FormatError(f"{name} has no tokens. Use a tokenizer that encodes text.")
    if lowest < 0 or highest + 1 - base.vocab_size > MAX_FREE_IDS:
        raise FormatError(
            f"{name} cannot be adapted: its {base.vocab_size:,} ids range from {lowest:,} to "
            f"{highest:,}. Use ids from 0 with at most {MAX_FREE_IDS:,} left out."
        )


def choose_new_characters(
    base: Tokenizer,
    pretokens: PretokenCounts,
    coverage: float,
    terms: Iterable[str | bytes] = (),
    left_out: Collection[bytes] = (),
) -> list[bytes]:
    """Return the characters to add: those of the terms, then those of the words, by frequency.

    `coverage` is the share of the words' characters that the alphabet is to cover. None is added if
    the base has no bytes for characters, none of one byte, which would save nothing, and none that
    the base cannot spell.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" "}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="metaspace", base="characters",
    ...     byte_fallback=range(256),
    ... )
    >>> import numpy as np
    >>> words = PretokenCounts((" 漢漢".encode(), " 漢字x".encode()), np.array([2, 1]))
    >>> [each.decode() for each in choose_new_characters(base, words, 0.95, terms=["カ"])]
    ['カ', '漢', '字']
    """
    if not base.table.byte_ids:
        return []
    of_terms = (each for term in terms for each in _read_characters(term))
    of_words = list_characters(pretokens, coverage) if coverage else []
    in_order = dict.fromkeys([*of_terms, *of_words])
    known = {META.encode(), *base.vocab.values(), *left_out, *reviving_tokens(base)}
    found = (each.encode() for each in in_order)
    return [
        each
        for each in found
        if len(each) > 1
        and each not in known
        and all(bytes([byte]) in base.table.byte_ids for byte in each)
    ]


def count_for_terms(characters: Iterable[bytes], terms: Sequence[str | bytes]) -> list[int]:
    """Return how many of the new characters each term is the first to need.

    >>> count_for_terms(["漢".encode(), "字".encode()], ["漢", "a漢字", "字"])
    [1, 1, 0]
    """
    left = {each.decode() for each in characters}
    counts: list[int] = []
    for term in terms:
        mine = left.intersection(_read_characters(term))
        left -= mine
        counts.append(len(mine))
    return counts


def _read_characters(term: str | bytes) -> str:
    return term if isinstance(term, str) else term.decode(errors="ignore")


def add_characters(base: Tokenizer, characters: Iterable[bytes]) -> Tokenizer:
    """Return a base with more characters, whose ids follow the highest id in use.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" "}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="metaspace", base="characters",
    ...     byte_fallback=range(256),
    ... )
    >>> add_characters(base, ["漢".encode()]).encode("漢"), base.encode("漢")
    ([256, 257], [256, 230, 188, 162])
    """
    new = dict(enumerate(characters, start=1 + max(base.vocab)))
    return with_changes(base, vocab={**base.vocab, **new}) if new else base
