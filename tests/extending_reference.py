"""Extending in plain Python with merges for terms, which come before those learned by frequency."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import (
    ReferenceCorpus,
    apply_merge,
    choose_pair,
    encode_reference,
    encode_word,
    extend_reference,
)
from bpe_core.trainers.merge_terms import MAX_PARTS, MAX_TRIED
from bpe_core.trainers.plain_extending import ReferenceExtension
from bpe_core.types import TieBreak


@dataclass(frozen=True, slots=True)
class TermExtension(ReferenceExtension):
    """The result of `extend_for_terms`."""

    terms: list[tuple[bytes | None, int, int]]
    """For each term: its token, or None; how many tokens it took; how many it saved."""


def extend_for_terms(
    base: Tokenizer,
    word_counts: Mapping[str, int],
    n_tokens: int,
    *,
    min_frequency: int = 0,
    tie_break: TieBreak = "smallest-pair",
    max_token_bytes: int | None = None,
    terms: Sequence[str | bytes] = (),
    left_out: Collection[bytes] = (),
) -> TermExtension:
    """Encode words with the base, merge for terms, then merge the most frequent pair repeatedly."""
    corpus = ReferenceCorpus(base, word_counts, left_out, max_token_bytes)
    costs = [_make_term(corpus, base, term, n_tokens, tie_break) for term in terms]
    found = extend_reference(corpus, n_tokens, min_frequency=min_frequency, tie_break=tie_break)
    return TermExtension(found.merges, found.words, found.new_tokens, found.stop_reason, costs)


def _count_tokens(corpus: ReferenceCorpus) -> int:
    counts = corpus.word_counts.values()
    return sum(len(word) * n for word, n in zip(corpus.words, counts, strict=True))


def _copy(corpus: ReferenceCorpus) -> ReferenceCorpus:
    """Return a copy on which to try merges."""
    other = copy(corpus)
    other.tokens, other.spelled = dict(corpus.tokens), dict(corpus.spelled)
    other.merges = list(corpus.merges)
    return other


def _take_over(corpus: ReferenceCorpus, other: ReferenceCorpus) -> None:
    """Make a corpus equal to another, on which merges were tried."""
    corpus.tokens, corpus.spelled = other.tokens, other.spelled
    corpus.merges, corpus.words = other.merges, other.words


def _make_term(
    corpus: ReferenceCorpus, base: Tokenizer, term: str | bytes, n_tokens: int, tie_break: TieBreak
) -> tuple[bytes | None, int, int]:
    """Make a term one token, if that is possible and there is room; return what it cost."""
    possible: list[list[int]] = []
    for ids in _spell_term(term, base, corpus.word_counts):
        for merge in corpus.merges:
            ids = apply_merge(ids, merge.pair, merge.id)
        if min(ids) < 0 or set(ids) & {*base.table.byte_ids.values()}:
            continue
        if len(ids) == 1:
            return corpus.tokens[ids[0]], 0, 0
        if len(ids) <= MAX_PARTS:
            possible.append(ids)
        found = _joined(corpus, ids, tie_break, set()) if len(ids) <= MAX_PARTS else None
        if found is not None:
            return _taken(corpus, found, n_tokens)
    # The corpus contains none of the forms, so pairs that do not occur are merged too.
    for ids in possible:
        found = _joined(corpus, ids, tie_break, set(), absent=True)
        if found is not None:
            return _taken(corpus, found, n_tokens)
    return None, 0, 0


def _taken(
    corpus: ReferenceCorpus, found: ReferenceCorpus, n_tokens: int
) -> tuple[bytes | None, int, int]:
    """Take the merges for a term over, if there is room; return what they cost."""
    if len(found.merges) > n_tokens:
        return None, 0, 0
    n_added, n_saved = (
        len(found.merges) - len(corpus.merges),
        _count_tokens(corpus) - _count_tokens(found),
    )
    _take_over(corpus, found)
    return corpus.tokens[found.merges[-1].id], n_added, n_saved


def _spell_term(
    term: str | bytes, base: Tokenizer, word_counts: Mapping[str, int]
) -> list[list[int]]:
    """Return the base's ids of each way to write a term, the more frequent one first."""
    if isinstance(term, bytes):
        crosses = base.table.byte_ids and len(base.pretokenizer.split(term.decode())) > 1
        return [] if crosses else [_encode_bytes(base, term)]
    words = [term] if term[0].isspace() else [f" {term}", term]
    words = [word for word in words if base.pretokenizer.split(word) == [word]]
    words.sort(key=lambda word: -word_counts.get(word, 0))
    return [encode_word(base, word) for word in words]


def _joined(
    corpus: ReferenceCorpus,
    ids: list[int],
    tie_break: TieBreak,
    tried: set[tuple[int, ...]],
    *,
    absent: bool = False,
) -> ReferenceCorpus | None:
    """Return the corpus after merges that join ids to one, or None if that is not possible.

    The most frequent pair is tried first. If that leads nowhere, the next one is tried. With
    `absent`, pairs that do not occur may be merged.
    """
    if len(ids) == 1:
        return corpus
    lengths = tuple(len(corpus.tokens[id]) for id in ids)
    if lengths in tried or len(tried) >= MAX_TRIED:
        return None
    tried.add(lengths)
    pairs = {pair: n for pair, n in corpus.pairs().items() if pair in pairwise(ids)}
    if absent:
        for pair in pairwise(ids):
            if corpus.may_merge(*pair):
                pairs.setdefault(pair, 0)
    while pairs:
        pair = choose_pair(pairs, tie_break)
        del pairs[pair]
        after = _copy(corpus)
        after.merge(pair)
        rest = apply_merge(ids, pair, max(after.tokens))
        found = _joined(after, rest, tie_break, tried, absent=absent)
        if found is not None:
            return found
    return None


def _encode_bytes(base: Tokenizer, token: bytes) -> list[int]:
    """Encode bytes that may be a part of a word; -1 stands for a symbol missing from the alphabet.

    The end-of-word marker at their end is the marker.
    """
    marker = (base.end_of_word or "").encode()
    ends = bool(marker) and token.endswith(marker)
    content = token[: len(token) - len(marker)] if ends else token
    if base.base == "bytes":
        symbols = [bytes([byte]) for byte in content]
    else:
        symbols = [character.encode() for character in content.decode()]
    ids = [base.base_ids.get(symbol, -1) for symbol in symbols]
    if ends and base.table.end_of_word_id is not None:
        ids.append(base.table.end_of_word_id)
    return encode_reference(ids, {merge.pair: merge for merge in base.merges})
