"""Where a token comes from: the training words that hold it, and the lines they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.counting.word_row import Layout
from bpe_core.errors import InvalidTokenIdError
from bpe_core.runs.run import TrainingRun
from bpe_core.types import Base

_MOST_LETTERS_AROUND = 110
_MOST_WORDS = 5_000
MOST_WALKED = 2_000_000
# What stands at the end of a part of a text may be cut otherwise in the whole.
_UNSURE = 1_000


@dataclass(frozen=True, slots=True)
class HoldingWord:
    """A training word in which a token was made, and where in it."""

    word: bytes
    """Its UTF-8, without the end-of-word marker."""
    count: int
    """How often the word occurs in the training text."""
    spans: tuple[tuple[int, int], ...]
    """In bytes of the word, each time the token was made in it; an end-of-word marker has no
    bytes."""
    n_kept: int
    """In how many of these places it is still a token of its own after the last merge."""


@dataclass(frozen=True, slots=True)
class TokenOrigin:
    """In what training text a token was made, and what became of it."""

    token: bytes
    n_made: int
    """How often it stood in the training text, as a token or as a part of one."""
    n_kept: int
    """How often it stands there as a token after the last merge."""
    n_words: int
    """In how many different words it was made."""
    words: tuple[HoldingWord, ...]
    """Those of them with most occurrences of it, most first."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a training document that holds a token; a long one is cut around it."""

    document: str
    line: int
    """From 1."""
    text: str
    spans: tuple[tuple[int, int], ...]
    """In characters of `text`: what holds the token's bytes."""
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Lines that hold a token, and whether all of the text was looked through for them."""

    lines: tuple[SourceLine, ...]
    n_walked: int
    """How many characters were looked through."""
    is_all: bool
    """False where the search ended early: enough lines, or enough text without."""


def token_origin(run: TrainingRun, id: int, n_words: int = 8) -> TokenOrigin:
    """Say in which training words a token stood, from the run's own record of its merges.

    Counts are those of the training text, exact. Raises `InvalidTokenIdError`.

    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
    >>> run = train(corpus, TrainingConfig(258, special_tokens=()))
    >>> origin = token_origin(run, run.merges[0].id)
    >>> origin.token, origin.n_made, origin.n_kept
    (b'ug', 15, 5)
    >>> [(each.word, each.count, each.spans, each.n_kept) for each in origin.words]
    [(b'hug', 10, ((1, 3),), 0), (b'ugg', 5, ((0, 2),), 1)]
    """
    if id not in run.tokenizer.vocab:
        raise InvalidTokenIdError(
            f"There is no token with id {id} in this run of {run.tokenizer.vocab_size:,} tokens."
        )
    layout = run.layout_at(0)
    starts, ends = _places(run, layout, id)
    whole = run.joined_at >= run.tokenizer.n_merges
    kept = whole[starts] & whole[ends]
    weights = layout.weights[starts]
    word_starts = np.flatnonzero(layout.weights == 0)[:-1] + 1
    different, first = np.unique(
        np.searchsorted(word_starts, starts, "right") - 1, return_index=True
    )
    made = np.add.reduceat(weights, first) if len(first) else first
    bounds = np.append(first, len(starts))
    words: list[HoldingWord] = []
    for k in np.lexsort((different, -made))[:n_words].tolist():
        n, places = int(different[k]), slice(bounds[k], bounds[k + 1])
        word = run.pretokens.words[n]
        slots = np.stack([starts[places], ends[places]], axis=1) - word_starts[n]
        words.append(
            HoldingWord(
                word,
                int(run.pretokens.counts[n]),
                _byte_spans(word, slots.tolist(), run.tokenizer.base),
                int(np.count_nonzero(kept[places])),
            )
        )
    return TokenOrigin(
        token=run.tokenizer.vocab[id],
        n_made=int(weights.sum()),
        n_kept=int(weights[kept].sum()),
        n_words=len(different),
        words=tuple(words),
    )


def source_lines(run: TrainingRun, corpus: Corpus, id: int, n_lines: int = 6) -> SourceLines:
    """Find lines of the training text in which a token stood; raises `InvalidTokenIdError`.

    `corpus` is the text that was trained on, or documents of it. A corpus of many documents gives
    at most two lines of each. The search ends after two million characters, and passes over a
    document longer than that where only its whole can be pre-tokenized.

    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_text("a pug\\nhugs bugs")
    >>> run = train(corpus, TrainingConfig(257, special_tokens=()))
    >>> [(found.line, found.text, found.spans) for found in source_lines(run, corpus, 256).lines]
    [(1, 'a pug', ((3, 5),)), (2, 'hugs bugs', ((1, 3), (6, 8)))]
    """
    origin = token_origin(run, id, _MOST_WORDS)
    holding = {word.word.decode(): _characters(word) for word in origin.words}
    lines: list[SourceLine] = []
    walked, is_all = 0, origin.n_words <= _MOST_WORDS
    per_document = 2 if len(corpus.documents) > 1 else n_lines
    for name, document in zip(corpus.names, corpus.documents, strict=True):
        if len(lines) >= n_lines or walked >= MOST_WALKED:
            is_all = False
            break
        part = document[: MOST_WALKED - walked]
        walked += len(part)
        sure = len(part)
        if len(part) < len(document):
            is_all = False
            sure = 0 if run.tokenizer.pretokenizer.name.startswith("regex:") else sure - _UNSURE
        if holding and sure > 0:
            found = _lines_of(name, part, _hits(run, part, holding, sure))
            most = min(per_document, n_lines - len(lines))
            few = list(_first(found, most))
            is_all = is_all and len(few) < most
            lines += few
    return SourceLines(tuple(lines), walked, is_all)


def _places(
    run: TrainingRun, layout: Layout, id: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """int64[n] twice, ascending: the slots where the token began and ended, whenever it stood."""
    inside = layout.weights > 0
    starts = [np.flatnonzero(inside & (layout.ids == id))]
    ends = [starts[0] + 1]
    for merge in run.merges:
        if merge.id == id:
            joints = np.flatnonzero(run.joined_at == merge.rank)
            borders = np.flatnonzero(run.joined_at > merge.rank)
            after = np.searchsorted(borders, joints, "right")
            starts.append(borders[after - 1])
            ends.append(borders[after])
    first, last = np.concatenate(starts), np.concatenate(ends)
    order = np.argsort(first, kind="stable")
    return first[order], last[order]


def _byte_spans(
    word: bytes, slots: Sequence[Sequence[int]], base: Base
) -> tuple[tuple[int, int], ...]:
    """Spans of a word's symbols as spans of its bytes; the end-of-word marker has none."""
    if base == "bytes":
        size = len(word)
        return tuple((min(start, size), min(end, size)) for start, end in slots)
    text = word.decode()
    return tuple((len(text[:start].encode()), len(text[:end].encode())) for start, end in slots)


def _characters(word: HoldingWord) -> tuple[tuple[int, int], ...]:
    """Where a token stands in a word, in characters: those it holds a part of are in."""
    spans: list[tuple[int, int]] = []
    for start, end in word.spans:
        first = len(word.word[:start].decode(errors="ignore"))
        last = len(word.word[:end].decode(errors="ignore"))
        is_cut = len(word.word[:end].decode(errors="ignore").encode()) < end
        spans.append((first, last + is_cut))
    return tuple(spans)


def _hits(
    run: TrainingRun, text: str, holding: dict[str, tuple[tuple[int, int], ...]], sure: int
) -> Iterator[tuple[int, int]]:
    """Yield the spans in a text of the token that these words hold."""
    for start, end in run.tokenizer.pretokenizer.spans(text):
        if end > sure:
            return
        for first, last in holding.get(text[start:end], ()):
            yield start + first, start + last


def _lines_of(name: str, text: str, hits: Iterator[tuple[int, int]]) -> Iterator[SourceLine]:
    """Yield the lines that these spans stand in, the spans of one line together."""
    number, counted = 1, 0
    line_start, line_end = 0, -1
    spans: list[tuple[int, int]] = []
    for start, end in hits:
        if start > line_end:
            if spans:
                yield _cut_line(name, number, text[line_start:line_end], line_start, spans)
            number += text.count("\n", counted, start)
            counted = start
            line_start = text.rfind("\n", 0, start) + 1
            line_end = line_start - 1
            spans = []
        if end > line_end:
            feed = text.find("\n", max(start, end - 1))
            line_end = len(text) if feed < 0 else max(feed, end)
        spans.append((start, end))
    if spans:
        yield _cut_line(name, number, text[line_start:line_end], line_start, spans)


def _cut_line(
    name: str, number: int, line: str, line_start: int, spans: Sequence[tuple[int, int]]
) -> SourceLine:
    first, last = spans[0][0] - line_start, spans[0][1] - line_start
    begin = max(0, first - _MOST_LETTERS_AROUND)
    stop = min(len(line), last + _MOST_LETTERS_AROUND)
    within = [(a - line_start - begin, b - line_start - begin) for a, b in spans]
    return SourceLine(
        document=name,
        line=number,
        text=line[begin:stop],
        spans=tuple((a, b) for a, b in within if b <= stop - begin),
        cut_before=begin > 0,
        cut_after=stop < len(line),
    )


def _first(lines: Iterator[SourceLine], n: int) -> Iterator[SourceLine]:
    for _, line in zip(range(n), lines, strict=False):
        yield line
