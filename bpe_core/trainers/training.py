"""Train a tokenizer: check the settings, count words, learn merges, build the run.

`check_config` refuses settings that no corpus could suit, and a `Watch` reports progress and checks
for cancellation.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from typing import Final, Self, Unpack, cast

import numpy as np

from bpe_core.checks import check_choice, check_whole, describe, is_a
from bpe_core.corpus import (
    Corpus,
    Layout,
    WordCounts,
    check_cut,
    choose_characters,
    corpus_or_counts,
    count_corpus,
    find_symbols,
    no_pretokens,
    word_symbols,
)
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.kernels import (
    use_kernels,
    wait_for_kernels,
    without_garbage_collection,
    worth_waiting_for,
)
from bpe_core.lazy import from_above
from bpe_core.pretokenizers import compile_pattern, get_pretokenizer
from bpe_core.tokenizer import Tokenizer, TokenTable, check_text
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import ContinuedVocabulary
from bpe_core.trainers.fastest import learn_merges
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.merge_terms import merge_terms
from bpe_core.trainers.pair_rules import find_rule, vetoed_patterns, vetoed_texts
from bpe_core.trainers.run import RunOrigin, TrainingRun, lay_out_tokens
from bpe_core.trainers.special_runs import (
    Continuation,
    MergeTerms,
    TermMerges,
    bytes_apart,
    reviving_tokens,
)
from bpe_core.types import (
    Characters,
    PretokenCounts,
    TieBreak,
    TrainingConfig,
    TrainingProgress,
    TrainingSettings,
)

_MAX_ID: Final = int(np.iinfo(np.int32).max)
_MAX_COUNT: Final = int(np.iinfo(np.int64).max)


def check_config(config: TrainingConfig) -> None:
    """Raise `ConfigError` for a field that is invalid for every corpus.

    >>> check_config(TrainingConfig(special_tokens=("[CLS]", "[CLS]")))
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: The special token '[CLS]' is given twice. List each one once.
    """
    if not is_a(config, TrainingConfig):
        raise ArgumentTypeError(
            f"Expected a TrainingConfig, got {describe(config)}. For a size alone: vocab_size=300."
        )
    check_choice("tie_break", config.tie_break, TieBreak, ConfigError)
    check_whole("vocab_size", config.vocab_size, 1, _MAX_ID)
    _check_stages(config)
    # Counts of weighted words can exceed the largest id.
    check_whole("min_frequency", config.min_frequency, 0, _MAX_COUNT)
    if config.max_token_bytes is not None:
        check_whole("max_token_bytes", config.max_token_bytes, 1, _MAX_ID)
    _check_alphabet(config)
    _check_special_tokens(config)


def _check_stages(config: TrainingConfig) -> None:
    if config.superwords_from is not None:
        check_whole("superwords_from", config.superwords_from, 1, config.vocab_size)
        cut, marker = get_pretokenizer(config.pretokenizer), config.end_of_word
        if cut.drops_text or cut.adds_space or marker is not None:
            what = "an end-of-word marker" if marker else config.pretokenizer
            raise ConfigError(
                f"Superwords hold the spaces between words, so they don't go together with {what}. "
                "Use a pre-tokenizer that keeps spaces, such as gpt2, and end_of_word=None."
            )
    for name in ("seeds", "vetoes"):
        texts = getattr(config, name)
        if is_a(texts, str) or not all(isinstance(text, str) for text in texts):
            raise ArgumentTypeError(
                f"Expected {name} as a tuple of str, such as ('mov', 'add'), got {texts!r:.60}."
            )
        for text in texts:
            if not text or text == "regex:":
                raise ConfigError(f"One of {name} is empty. Remove it.")
            check_text(text)
    for pattern in vetoed_patterns(config):
        compile_pattern(pattern, remedy="Correct the veto, or remove it")
    if both := sorted({*config.seeds} & {*config.vetoes}):
        raise ConfigError(f"{both[0]!r} is both a seed and a veto. Remove one of them.")
    if config.picky is not None:
        _check_picky(config)
    for name in ("whole_characters", "parity"):
        if not is_a(value := getattr(config, name), bool):
            raise ArgumentTypeError(f"{name} is {describe(value)}. Use True or False.")
    if config.parity:
        check_parity(config)


def check_parity(config: TrainingConfig) -> None:
    """Raise `ConfigError` for settings that do not go together with parity-aware training.

    >>> check_parity(TrainingConfig(alphabet="characters"))
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Parity-aware training needs alphabet='bytes' and no end-of-word \
marker.
    """
    if not _is_all_bytes(config):
        raise ConfigError("Parity-aware training needs alphabet='bytes' and no end-of-word marker.")
    if config.tie_break != "smallest-pair":
        raise ConfigError("Parity-aware training has its own tie rule. Leave tie_break as it is.")
    others = (config.superwords_from, config.picky, config.seeds, config.vetoes)
    if any(others) or config.whole_characters:
        raise ConfigError(
            "Parity-aware training takes no superwords, picky, seeds, vetoes or whole_characters."
        )


def _is_all_bytes(config: TrainingConfig) -> bool:
    """Return True if words are made of all 256 bytes, and of nothing else."""
    return config.alphabet == "bytes" and config.end_of_word is None


def _check_picky(config: TrainingConfig) -> None:
    if not is_a(config.picky, Real) or is_a(config.picky, bool):
        raise ArgumentTypeError(f"picky is {describe(config.picky)}. Use a share, such as 0.9.")
    if not 0 < (config.picky or 0) < 1:
        raise ConfigError(f"picky is {config.picky}. Use a share above 0 and below 1, such as 0.9.")
    others = {
        "superwords_from": config.superwords_from,
        "seeds": config.seeds,
        "vetoes": config.vetoes,
        "whole_characters": config.whole_characters,
    }
    if asked := [name for name, value in others.items() if value]:
        raise ConfigError(
            f"picky and {asked[0]} do not go together: what continues a tokenizer removes no "
            "tokens. Leave one of them out."
        )


def _check_alphabet(config: TrainingConfig) -> None:
    begins_words = get_pretokenizer(config.pretokenizer).adds_space
    if not isinstance(config.alphabet, Characters):
        if begins_words:
            raise ConfigError(
                f"The pre-tokenizer {config.pretokenizer} needs alphabet=Characters()."
            )
        return
    if not begins_words:
        raise ConfigError("alphabet=Characters() needs the pre-tokenizer metaspace or llama2.")
    if (marker := config.end_of_word) is not None:
        raise ConfigError(
            f"alphabet=Characters() and an end-of-word marker, {marker!r:.60}, do not go together: "
            "a space begins each word. Use end_of_word=None."
        )


def _check_special_tokens(config: TrainingConfig) -> None:
    wrong = is_a(config.special_tokens, str) or not is_a(config.special_tokens, Iterable)
    names = [] if wrong else list(config.special_tokens)
    if wrong or not all(isinstance(token, str) for token in cast("list[object]", names)):
        raise ArgumentTypeError(
            f"Expected special_tokens as a tuple of str, such as ('[CLS]',), "
            f"got {config.special_tokens!r}."
        )
    times_given = Counter(names)
    for token in names:
        if not token:
            raise ConfigError(
                "A special token is empty. Remove it, or give it at least 1 character."
            )
        if times_given[token] > 1:
            raise ConfigError(f"The special token {token!r} is given twice. List each one once.")
    if (marker := config.end_of_word) is not None:
        if not is_a(marker, str):
            raise ArgumentTypeError(
                f"Expected the end-of-word marker as a str, such as '</w>', got {describe(marker)}."
            )
        if not marker:
            raise ConfigError(
                "The end-of-word marker is empty. Use a text such as '</w>', or end_of_word=None."
            )
        if marker in names:
            raise ConfigError(
                f"{marker!r} is both a special token and the end-of-word marker. Rename one of "
                "them."
            )
        names.append(marker)
    for token in names:
        try:
            token.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(
                f"{token!r} contains a lone surrogate at character {error.start}, which UTF-8 "
                "cannot represent. Remove it."
            ) from None


_MERGES_BETWEEN_LOOKS: Final = 64
_SECONDS_BETWEEN_LOOKS: Final = 0.05


class Watch:
    """Report progress and check for cancellation, about every 64 merges or 50 ms.

    >>> watch = Watch(3, time.perf_counter(), lambda progress: print(progress.merges_done), None)
    >>> watch.report(0, corpus_tokens=45, last_count=0)
    0
    >>> [watch.look(n_merges, 5, 5) for n_merges in (1, 64)]
    64
    [False, False]
    """

    def __init__(
        self,
        merges_wanted: int,
        started: float,
        on_progress: Callable[[TrainingProgress], None] | None,
        should_stop: Callable[[], bool] | None,
        on_counting: Callable[[float], None] | None = None,
    ) -> None:
        self.on_counting = on_counting
        """Called with the share of the text whose words are counted."""
        self.merges_wanted = merges_wanted
        self._started = started
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._next_look = _MERGES_BETWEEN_LOOKS
        self._last_look = started
        self._corpus_tokens = 0
        self._n_first = 0
        self.first: tuple[tuple[int, int, int], ...] = ()
        """Merges made before learning started, for the next report."""
        self.merges: list[tuple[int, int, int]] | None = None if on_progress is None else []
        """Where a trainer adds what it has learned, for the reports."""
        self._n_reported = 0
        self.stopped = False

    @property
    def elapsed_seconds(self) -> float:
        """The time since training started."""
        return time.perf_counter() - self._started

    def asked_to_stop(self) -> bool:
        """Return True if training should stop; once it should, `should_stop` isn't called again."""
        if not self.stopped and self._should_stop is not None:
            self.stopped = self._should_stop()
        return self.stopped

    def raise_if_stopped(self) -> None:
        """Raise CancelledError if `asked_to_stop`."""
        if self.asked_to_stop():
            raise CancelledError

    def note_first(self, n_merges: int, tokens_saved: int) -> None:
        """Note merges made before learning starts; `look` then counts only those after them."""
        self._n_first = n_merges
        self._corpus_tokens -= tokens_saved

    def look(self, merges_done: int, tokens_saved: int, last_count: int) -> bool:
        """Report progress if it is time to; return True if training should stop.

        `tokens_saved` is the number of tokens that the corpus has lost since the last call.
        """
        merges_done += self._n_first
        self._corpus_tokens -= tokens_saved
        now = time.perf_counter()
        if (
            not self.stopped
            and merges_done < self._next_look
            and now - self._last_look < _SECONDS_BETWEEN_LOOKS
        ):
            return False
        self._next_look = merges_done + _MERGES_BETWEEN_LOOKS
        self._last_look = now
        self.report(merges_done, self._corpus_tokens, last_count)
        return self.asked_to_stop()

    def report_compiling(self, seconds: float) -> None:
        """Report the number of seconds that training has waited for the compiler."""
        self.report(0, 0, 0, seconds)

    def report(
        self,
        merges_done: int,
        corpus_tokens: int,
        last_count: int,
        seconds_compiling: float | None = None,
    ) -> None:
        """Report the number of merges done and the number of tokens in the corpus now."""
        self._corpus_tokens = corpus_tokens
        if self._on_progress is not None:
            learned = tuple((self.merges or [])[self._n_reported :])
            self._n_reported += len(learned)
            new_merges, self.first = self.first + learned, ()
            self._on_progress(
                TrainingProgress(
                    merges_done=merges_done,
                    merges_wanted=self.merges_wanted,
                    elapsed_seconds=self.elapsed_seconds,
                    corpus_tokens=corpus_tokens,
                    last_count=last_count,
                    seconds_compiling=seconds_compiling,
                    new_merges=new_merges,
                )
            )


def train(
    corpus: Corpus | WordCounts | Iterable[str],
    config: TrainingConfig | None = None,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    *,
    on_counting: Callable[[float], None] | None = None,
    **settings: Unpack[TrainingSettings],
) -> TrainingRun:
    """Train a tokenizer on a corpus, a list of texts, files of any size, or words already counted.

    The settings are a `TrainingConfig`, or its fields as keyword arguments, such as vocab_size=300.

    With `tie_break="smallest-pair"`, the merges and the vocabulary are those that Hugging Face's
    `BpeTrainer` learns from the same pre-tokens, in the same order. With "first-seen", ties go to
    the pair that occurs first, as with Python's `max` over a dict of pair counts. Special tokens in
    the text are treated as ordinary text, and a merge that spells one gets a new id; Hugging Face's
    trainer reuses the special token's id, so ordinary text can become a special token. A character
    alphabet holds only the characters that occur, whatever `alphabet` is.

    `on_progress` and `should_stop` are called about every 64 merges or 50 ms; `should_stop` also
    while pre-tokens are counted. Once it returns True, the run ends with the merges so far and the
    stop reason "cancelled". A run cancelled during counting has no merges and covers only part of
    the corpus. If the kernels have not been compiled yet, training on a large corpus waits for them
    for about 13 s, and reports `seconds_compiling` about five times a second. `on_counting` is
    called with the share of the text whose pre-tokens are counted, from 0 to 1.

    Raises `ConfigError` or a subclass for an invalid configuration or for words that another
    pre-tokenizer cut, and `EmptyCorpusError` if the pre-tokenizer finds nothing to learn from.

    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3})
    >>> run = train(corpus, TrainingConfig(7, base="characters", special_tokens=()))
    >>> [run.tokenizer.vocab[merge.id] for merge in run.merges]
    [b'ug', b'hug']
    >>> len(train(["hug hugs", "hugging"], vocab_size=260).tokenizer)
    260
    """
    started = time.perf_counter()
    corpus = corpus_or_counts(corpus)
    config = _config(config, settings)
    if config.parity:
        train_by_language = from_above("bpe_core.trainers", "train_by_language")
        return train_by_language(corpus, config, on_progress, should_stop)
    if config.superwords_from is not None:
        return train_superwords(corpus, config, on_progress, should_stop, on_counting)
    # Fail before the corpus is read if even the smallest alphabet does not fit.
    vocabulary = GrowingVocabulary(config, ())
    n_merges = config.vocab_size - len(vocabulary)
    watch = Watch(n_merges, started, on_progress, should_stop, on_counting)
    base = config.base
    # Fallback chooses among the characters of the words.
    has_all = config.alphabet == "bytes" or isinstance(config.alphabet, Characters)
    counted = count(
        corpus,
        config.pretokenizer,
        watch,
        lists_characters=not has_all,
        # Fail early if the alphabet does not fit.
        check=lambda characters: GrowingVocabulary(config, find_symbols(characters, base)),
    )
    if has_all:
        alphabet = frozenset[bytes]()
    elif get_pretokenizer(config.pretokenizer).normalizer is None:
        alphabet = counted.symbols(base)
    else:  # without characters of the text that no word has any more
        alphabet = word_symbols(counted.pretokens, base)
    if isinstance(config.alphabet, Characters):
        words, alphabet = choose_characters(counted.pretokens, config.alphabet.coverage)
        counted = counted.with_pretokens(words)
    vocabulary = GrowingVocabulary(config, alphabet)
    watch.merges_wanted = config.vocab_size - len(vocabulary)
    if config.seeds or config.vetoes or config.whole_characters:
        nothing = LearnedMerges([], [], np.zeros(0, np.int64), np.zeros(0, np.int32), "vocab-size")
        alphabet_only = Continuation(_build_tokenizer(vocabulary, nothing, config))
        return continue_run(alphabet_only, counted, config, watch, config.seeds)
    return learn_run(
        counted,
        Layout.of_symbols(
            counted.pretokens, config.base, vocabulary.base_ids, vocabulary.end_of_word_id
        ),
        vocabulary,
        lambda learned: _build_tokenizer(vocabulary, learned, config),
        config,
        watch,
    )


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

    >>> from bpe_core.corpus import count_words
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
        lambda learned: base.extended(learned.merges, learned.counts),
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
    `superwords.train_superwords_reference`. If it is cancelled in the first stage, the run has no
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
    base = first.tokenizer.with_changes(pretokenizer=cut)
    watch = Watch(0, started, on_progress, should_stop, on_counting)
    counted = count(corpus, cut, watch)
    watch.note_first(len(first.merges), 0)
    continues = Continuation(base, left_out=first.left_out, terms=first.terms)
    return continue_run(continues, counted, config, watch)


def count(
    corpus: Corpus | WordCounts,
    pretokenizer: str,
    watch: Watch | None = None,
    *,
    lists_characters: bool = False,
    check: Callable[[str], object] | None = None,
) -> WordCounts:
    """Count the words of a corpus, or check that words were cut by a pre-tokenizer.

    `lists_characters` and `check` are as in `count_corpus`. Raises `EmptyCorpusError` if the
    pre-tokenizer finds nothing.

    >>> count(Corpus.from_text("hug hugs"), "gpt2").pretokens.words
    (b'hug', b' hugs')
    """
    watch = watch or Watch(0, time.perf_counter(), None, None)
    if isinstance(corpus, WordCounts):
        counted = check_cut(corpus, pretokenizer)
    else:
        if corpus.word_counts is None:
            _wait_if_worth_it(corpus.n_bytes, watch)
        counted = count_corpus(
            corpus,
            get_pretokenizer(pretokenizer),
            lists_characters=lists_characters,
            check=check,
            should_stop=watch.asked_to_stop,
            on_progress=watch.on_counting,
        )
    if not counted.pretokens.n_words and not watch.stopped:
        raise no_pretokens(pretokenizer, counted.summary.n_bytes)
    return counted


def _wait_if_worth_it(n_bytes: int, watch: Watch) -> None:
    """Wait until the kernels are compiled if that is faster for `n_bytes` of text."""
    if worth_waiting_for(n_bytes):
        wait_for_kernels(watch.report_compiling, watch.asked_to_stop)


def _config(config: TrainingConfig | None, settings: TrainingSettings) -> TrainingConfig:
    """Return the settings of a training; raise for invalid ones before the corpus is read."""
    if config is not None and settings:
        raise ConfigError(
            f"Got a TrainingConfig and also {', '.join(settings)}. Give a TrainingConfig, or its "
            "fields, not both."
        )
    if unknown := settings.keys() - TrainingSettings.__annotations__:
        raise ArgumentTypeError(
            f"{min(unknown)} is not a setting. Use {', '.join(TrainingSettings.__annotations__)}."
        )
    config = TrainingConfig(**settings) if config is None else config
    check_config(config)
    get_pretokenizer(config.pretokenizer)  # raises for an unknown name or an invalid pattern
    return config


def _build_tokenizer(
    vocabulary: GrowingVocabulary, learned: LearnedMerges, config: TrainingConfig
) -> Tokenizer:
    with without_garbage_collection():
        n_special, n_merges = len(vocabulary.special_tokens), len(learned.merges)
        if (
            _is_all_bytes(config)
            and not learned.removals
            and len(vocabulary) == n_special + 256 + n_merges
        ):
            # Each merge made a new token, as in all but a few trainings.
            table = TokenTable.trusted(
                vocabulary.tokens,
                learned.merges,
                vocabulary.special_tokens,
                alphabet_at=n_special,
                counts=learned.counts,
            )
            return Tokenizer.from_table(table, config.pretokenizer)
        return Tokenizer(
            vocab=dict(enumerate(vocabulary.tokens)),
            merges=learned.merges,
            pretokenizer=config.pretokenizer,
            base=config.base,
            special_tokens=vocabulary.special_tokens,
            end_of_word=config.end_of_word,
            end_of_word_id=vocabulary.end_of_word_id,
            counts=learned.counts,
            byte_fallback=vocabulary.byte_ids,
            removals=learned.removals,
        )


def learn_run(
    counted: WordCounts,
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    build_tokenizer: Callable[[LearnedMerges], Tokenizer],
    config: TrainingConfig,
    watch: Watch,
    continues: Continuation | None = None,
    choose_first: MergeTerms | None = None,
) -> TrainingRun:
    """Learn merges from the counted words of a corpus, and return the run.

    `layout` holds the words as ids of the vocabulary, and is used up. `build_tokenizer` builds the
    tokenizer once the vocabulary holds the new tokens. `continues` says what the run begins with;
    None if it begins with the alphabet. `choose_first` chooses the merges that come first.

    >>> from bpe_core.corpus import CountsSummary
    >>> from bpe_core.corpus import Layout
    >>> from bpe_core.types import PretokenCounts
    >>> words = PretokenCounts((b"aa",), np.array([5]))
    >>> config = TrainingConfig(2, base="characters", special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, [b"a"])
    >>> run = learn_run(
    ...     WordCounts(words, CountsSummary("none", 10, "", "a")),
    ...     Layout.of_symbols(words, "characters", vocabulary.base_ids),
    ...     vocabulary,
    ...     lambda learned: Tokenizer(
    ...         vocab=dict(enumerate(vocabulary.tokens)),
    ...         merges=learned.merges,
    ...         pretokenizer="none",
    ...         base="characters",
    ...     ),
    ...     config,
    ...     Watch(1, 0.0, None, None),
    ... )
    >>> run.tokens_after.tolist()
    [10, 5]
    """
    counted_all = not watch.stopped
    n_symbols = layout.n_symbols
    watch.report(0, n_symbols, 0)
    _wait_if_worth_it(layout.n_text_bytes, watch)
    first = None if choose_first is None else choose_first(layout)
    if first is not None:
        layout = first.applied_to(layout)
        watch.note_first(len(first.merges), sum(first.tokens_saved))
        watch.first = tuple(first.merges)
    learned = learn_merges(layout, vocabulary, config, watch.look, watch.merges)
    if watch.merges is not None:
        watch.merges = learned.merges
    if first is not None:
        learned = first.then(learned)
    if continues is not None:
        costs = continues.terms if first is None else first.costs
        continues = replace(continues, counts=tuple(learned.counts), terms=costs)
    run = TrainingRun(
        tokenizer=build_tokenizer(learned),
        config=config,
        corpus_sha256=counted.summary.sha256,
        corpus_bytes=counted.summary.n_bytes,
        pretokens=counted.pretokens,
        joined_at=learned.joined_at,
        stop_reason=learned.stop_reason if counted_all else "cancelled",
        elapsed_seconds=watch.elapsed_seconds,
        origin=RunOrigin(version(), counted.divided),
        tokens_after=n_symbols - np.append(0, np.cumsum(learned.tokens_saved)),
        undone=learned.undone,
        continues=continues,
    )
    if learned.counts:
        watch.report(len(learned.counts), int(run.tokens_after[-1]), learned.counts[-1])
    return run


def version() -> str:
    """Return the version of bpe_core, which may run from a checkout without being installed.

    >>> version()
    '0.1.0'
    """
    package = __name__.partition(".")[0]
    return str(import_module(package).__version__)


MAX_SLOTS_TRAINED: Final = 200_000
"""Training to the end on this many symbols of distinct pre-tokens takes kernels about 0.4 s."""
MAX_SLOTS_IN_PYTHON: Final = 20_000
_NO_LIMIT: Final = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, slots=True)
class LargestSize:
    """The largest size that a vocabulary can reach on a corpus, in tokens."""

    size: int
    is_exact: bool
    """False if the largest size may be smaller; it is never larger."""

    @classmethod
    def of(
        cls,
        pretokens: PretokenCounts,
        config: TrainingConfig,
        symbols: Iterable[bytes] = (),
        *,
        max_slots: int | None = None,
    ) -> Self:
        """Return the largest vocabulary that training on pre-tokens reaches, or a bound on it.

        `config.vocab_size` is ignored. `symbols` are the base symbols that occur in the corpus, as
        for training; they are not needed if the alphabet is all 256 bytes, or with byte fallback.
        If the distinct pre-tokens have at most `max_slots` symbols, the size is exact, because
        training is tried to the end; None chooses a limit that takes less than a second. Beyond it,
        the size is a bound: each merge shortens at least one distinct pre-token by at least one
        symbol, and saves at least half as many tokens of the corpus as its pair has occurrences.

        Raises CorpusError as `Layout.of_symbols` does.

        >>> words = PretokenCounts((b"hug", b"hugs"), np.array([3, 1]))
        >>> config = TrainingConfig(special_tokens=())
        >>> LargestSize.of(words, config)
        LargestSize(size=259, is_exact=True)
        >>> LargestSize.of(words, config, max_slots=0)
        LargestSize(size=261, is_exact=False)
        """
        config = replace(config, vocab_size=_NO_LIMIT)
        if isinstance(config.alphabet, Characters):
            pretokens, symbols = choose_characters(pretokens, config.alphabet.coverage)
        vocabulary = GrowingVocabulary(config, symbols)
        layout = Layout.of_symbols(
            pretokens, config.base, vocabulary.base_ids, vocabulary.end_of_word_id
        )
        n_initial = len(vocabulary)
        if max_slots is None:
            is_quick = use_kernels(layout.n_text_bytes)
            max_slots = MAX_SLOTS_TRAINED if is_quick else MAX_SLOTS_IN_PYTHON
        if layout.ids.size > max_slots:
            return cls(n_initial + _most_merges(layout, config.min_frequency), is_exact=False)
        learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
        return cls(len(vocabulary), is_exact=True)


def _most_merges(layout: Layout, min_frequency: int) -> int:
    is_symbol = layout.ids >= 0
    starts_pair = is_symbol[:-1] & is_symbol[1:]
    distinct = int(np.count_nonzero(starts_pair))
    # In a row of equal symbols, pairs overlap, and only every other one can merge.
    occurrences = int(layout.weights()[:-1][starts_pair].sum())
    return min(distinct, 2 * occurrences // max(min_frequency, 1))
