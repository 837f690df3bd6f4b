"""Extend an existing tokenizer: continue its training on other text; what each new token gains.

A base of SentencePiece's family gets the characters that it spells in bytes first: no merge joins
bytes there, so a text in another script could not become shorter without them.

The figures of a run itself, such as `run.tokens_after`, are those after each merge; the gains are
counted after each new token, and characters that were added come before merges.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, describe, is_a, several
from bpe_core.corpus import Corpus, WordCounts, corpus_or_counts, list_characters
from bpe_core.errors import ArgumentTypeError, ConfigError, FormatError
from bpe_core.tokenizer import (
    MAX_FREE_IDS,
    Encoder,
    Tokenizer,
    check_text,
    find_own,
    named,
    to_encoder,
)
from bpe_core.trainers import (
    Continuation,
    TrainingRun,
    Watch,
    check_config,
    continue_run,
    count,
    reviving_tokens,
)
from bpe_core.types import (
    Alphabet,
    Characters,
    PretokenCounts,
    TieBreak,
    TrainingConfig,
    TrainingProgress,
    check_coverage,
)
from bpe_core.unicode import (
    META,
    CodePoints,
    are_whole_characters,
)
from bpe_core.vocabulary import count_uses

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
        alphabet=_alphabet(base),
        end_of_word=base.end_of_word,
        special_tokens=tuple(base.special_tokens),
        min_frequency=min_frequency,
        tie_break=tie_break,
        max_token_bytes=max_token_bytes,
    )
    check_config(config)
    check_coverage("character_coverage", character_coverage, may_be_zero=True)
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


def _alphabet(base: Tokenizer) -> Alphabet | Characters:
    if base.base == "characters":
        return Characters() if base.pretokenizer.adds_space else "characters"
    return "bytes" if len(base.base_ids) == 256 else "seen"


def extendable(tokenizer: Encoder | str | os.PathLike[str]) -> Tokenizer:
    """Return the tokenizer to adapt; raise `FormatError` if it cannot be adapted.

    >>> from bpe_core.tokenizer import gpt2
    >>> extendable("gpt2") == gpt2()
    True
    """
    opened = named(to_encoder(tokenizer), "This tokenizer")
    name, why, encoder = opened.name, opened.provenance, opened.encoder
    if not isinstance(encoder, Encoder):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentTypeError(
            f"Expected a tokenizer to adapt, got {describe(encoder)}. bpe_core.load and "
            "bpe_core.open_encoder return one."
        )
    own = find_own(opened)
    if own is not None and own.table.removals:
        raise FormatError(
            f"{name} cannot be adapted: its training removed tokens again (PickyBPE), so it is "
            "more than a list of merges. Adapt another tokenizer, or train a new one."
        )
    if own is not None:
        merges = own.adaptable
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
    return base.with_changes(vocab={**base.vocab, **new}) if new else base


KINDS: Final = ("words", "numbers", "punctuation", "white space", "cut characters")
"""A token is of the first kind of which it has a character; of the last if it cuts a character and
has neither letter nor number."""


HUNDRED: Final = 100
"""The new tokens whose gain is judged together."""
MIN_USES: Final = 100
"""A row of a token that is seen fewer times in training is marked."""


class Advice(NamedTuple):
    """How many of a run's new tokens are worth adding."""

    WORTH = 0.001
    """A hundred of them are if they save this share of a text's tokens and no other is chosen."""
    n_tokens: int
    """After as many, no further hundred saves the chosen share of the text's tokens."""
    n_learned: int
    """The new tokens of the run."""
    worth: float
    """The chosen share."""
    saved: tuple[float, ...]
    """The share of the base's tokens that each hundred saves; of fewer at the end, per hundred."""
    n_rare: int
    """Of the new tokens worth adding, those with fewer than 100 uses in the training text."""
    ran_out: bool
    """True if the training text had no more tokens to learn."""

    @classmethod
    def of(cls, run: TrainingRun, tokens_after: NDArray[np.int64], worth: float = WORTH) -> Self:
        """Say how many of an extended run's new tokens are worth adding.

        `tokens_after` is int64[n + 1], a text's tokens after each of the run's n new tokens, as
        `run.tokens_after_new` returns them. A hundred of them is worth adding if it saves at least
        the share `worth` of the tokens that the text takes with the base. Raises `ConfigError` if
        the lengths don't match, or for a share that is not between 0 and 1.

        >>> from bpe_core.adapting import extend
        >>> from bpe_core.tokenizer import gpt2
        >>> run = extend(gpt2(), Corpus.from_text("tokenizer, tokenizers " * 9), n_tokens=2)
        >>> Advice.of(run, run.tokens_after).sentence.partition(":")[0]
        'Even the last new tokens save at least 0.1% of the tokens per hundred'
        """
        n = len(run.new_ids)
        if tokens_after.shape != (n + 1,):
            raise ConfigError(
                f"Expected the tokens after each of {n:,} new tokens, got {tokens_after.shape} "
                "figures."
            )
        if not 0 < worth < 1:
            raise ConfigError(
                f"Expected a share between 0 and 1, such as {cls.WORTH}, got {worth!r}."
            )
        ends = np.append(np.arange(0, n, HUNDRED), n)
        sizes = np.diff(ends)
        saved = -np.diff(tokens_after[ends]) * HUNDRED / sizes / max(1, int(tokens_after[0]))
        worthy = np.flatnonzero(saved >= worth)
        n_tokens = int(ends[worthy[-1] + 1]) if len(worthy) else 0
        kept = run.with_new_tokens(n_tokens)
        new = run.new_ids[:n_tokens]
        rare = int((count_uses(kept, run.pretokens)[new] < MIN_USES).sum()) if new else 0
        ran_out = run.stop_reason in ("no-pairs", "min-frequency")
        return cls(n_tokens, n, worth, tuple(saved.tolist()), rare, ran_out)

    @property
    def goes_on(self) -> bool:
        """True if even the last new tokens are worth adding."""
        return self.n_learned > 0 and self.n_tokens == self.n_learned

    @property
    def sentence(self) -> str:
        """The advice in words."""
        share = f"{100 * self.worth:.2g}% of the tokens"
        if self.goes_on:
            more = "the text has no more" if self.ran_out else "try more"
            found = f"Even the last new tokens save at least {share} per hundred: {more}."
        elif not self.n_tokens:
            found = f"No hundred new tokens save {share}."
        else:
            found = f"After {self.n_tokens:,} new tokens, no further hundred saves {share}."
        if not self.n_rare:
            return found
        which = "Each of them occurs"
        if self.n_tokens == 1:
            which = "It occurs"
        elif self.n_rare < self.n_tokens:
            which = f"{self.n_rare:,} of them {'occurs' if self.n_rare == 1 else 'occur'}"
        return (
            f"{found} {which} fewer than {MIN_USES} times in the training text, too rarely to "
            "train a row."
        )

    def to_dict(self) -> dict[str, object]:
        """Return the figures as JSON values."""
        return {**self._asdict(), "goes_on": self.goes_on, "sentence": self.sentence}


class KindGain(NamedTuple):
    """The new tokens of one kind, and how many tokens they save on a text."""

    kind: str
    n_tokens: int
    saved: int

    @classmethod
    def of(cls, run: TrainingRun, tokens_after: NDArray[np.int64], kept: int) -> list[Self]:
        """Return what the first `kept` new tokens save on a text, by their kind, the most first.

        `tokens_after` is int64[n + 1], the text's tokens after each of the run's n new tokens, as
        `run.tokens_after_new` returns them. The figures add up to what all of them save. Raises
        `ConfigError` if the lengths don't match.

        >>> from bpe_core.adapting import extend
        >>> from bpe_core.tokenizer import gpt2
        >>> run = extend(gpt2(), Corpus.from_text("tokenizer ==> 20252026 " * 9), n_tokens=4)
        >>> [tuple(gain) for gain in KindGain.of(run, run.tokens_after, 4)]
        [('numbers', 2, 18), ('punctuation', 1, 9), ('words', 1, 8)]
        """
        ids = run.new_ids
        if not 0 <= kept <= len(ids) or tokens_after.shape != (len(ids) + 1,):
            raise ConfigError(
                f"Expected the tokens after each of {len(ids):,} new tokens and as many new tokens "
                f"at most, got {tokens_after.shape} figures and {kept:,}."
            )
        vocab = run.tokenizer.vocab
        n_tokens, saved = Counter[str](), Counter[str]()
        steps = (-np.diff(tokens_after[: kept + 1])).tolist()
        for id, step in zip(ids, steps, strict=False):
            kind = token_kind(vocab[id])
            n_tokens[kind] += 1
            saved[kind] += step
        found = [cls(kind, n_tokens[kind], saved[kind]) for kind in KINDS if n_tokens[kind]]
        return sorted(found, key=lambda gain: -gain.saved)


def token_kind(token: bytes) -> str:
    """Return the kind of a token, one of `KINDS`.

    >>> [token_kind(text.encode()) for text in (" the", " 1st", "42", "):", "  ")]
    ['words', 'words', 'numbers', 'punctuation', 'white space']
    >>> token_kind(b" \\xe4")
    'cut characters'
    """
    characters = CodePoints(token.decode(errors="ignore"))
    kinds, numbers = characters.kinds, characters.are_numbers
    if np.any((kinds == CodePoints.WORD) & ~numbers):
        return "words"
    if np.any(numbers):
        return "numbers"
    if not are_whole_characters(token):
        return "cut characters"
    return "punctuation" if np.any(kinds == CodePoints.OTHER) else "white space"
