"""Find where a token comes from: the training words that contain it, and their lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_whole
from bpe_core.corpus import Corpus, Layout
from bpe_core.errors import InvalidTokenIdError
from bpe_core.pretokenizers import align
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TrainingRun

_MAX_LETTERS_AROUND = 110
_MAX_WORDS = 5_000
# The end of an incomplete text may be pre-tokenized differently.
_UNSURE = 1_000


@dataclass(frozen=True, slots=True)
class HoldingWord:
    """A training word in which a token was made, and its positions there."""

    word: bytes
    """Its UTF-8, without the end-of-word marker."""
    count: int
    """The number of occurrences of the word in the training text."""
    spans: tuple[tuple[int, int], ...]
    """The byte span of each place where the token was made; an end-of-word marker has no bytes."""
    n_kept: int
    """The number of these places where it is still a token after the last merge."""


@dataclass(frozen=True, slots=True)
class TokenOrigin:
    """The places in the training text where a token was made, and how often it was kept."""

    token: bytes
    n_made: int
    """Its occurrences in the training text, as a token or as part of one."""
    n_kept: int
    """Its occurrences there as a token after the last merge."""
    n_words: int
    """The number of distinct words in which it was made."""
    words: tuple[HoldingWord, ...]
    """The words with the most occurrences of it, most first."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a training document that contains a token; a long line is cut around it."""

    document: str
    line: int
    """Line number, from 1."""
    text: str
    spans: tuple[tuple[int, int], ...]
    """The characters of `text` that contain the token's bytes."""
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Lines that contain a token, and whether the whole text was searched for them."""

    MAX_SEARCHED: ClassVar = 2_000_000
    """In characters."""

    lines: tuple[SourceLine, ...]
    n_searched: int
    """The number of characters searched."""
    is_all: bool
    """False if the search stopped early, having found enough lines or searched enough text."""

    @classmethod
    def find(cls, run: TrainingRun, corpus: Corpus, id: int, n_lines: int = 6) -> Self:
        """Find lines of the training text that contain a token; raises `InvalidTokenIdError`.

        `corpus` is the training text, or some documents of it. At most two lines come from each
        document if there are several. The search stops after two million characters, and skips a
        longer document if its pre-tokenizer needs the whole of it.

        >>> from bpe_core.trainers import train
        >>> from bpe_core.types import TrainingConfig
        >>> corpus = Corpus.from_text("a pug\\nhugs bugs")
        >>> run = train(corpus, TrainingConfig(257, special_tokens=()))
        >>> found = SourceLines.find(run, corpus, 256)
        >>> [(line.line, line.text, line.spans) for line in found.lines]
        [(1, 'a pug', ((3, 5),)), (2, 'hugs bugs', ((1, 3), (6, 8)))]
        """
        origin = token_origin(run, id, _MAX_WORDS)
        holding = {word.word.decode(): _characters(word) for word in origin.words}
        lines: list[SourceLine] = []
        searched, is_all = 0, origin.n_words <= _MAX_WORDS
        per_document = 2 if len(corpus.documents) > 1 else n_lines
        first_lines = [place.line for place in corpus.places] or [1] * len(corpus.documents)
        for name, document, first_line in zip(
            corpus.names, corpus.documents, first_lines, strict=True
        ):
            if len(lines) >= n_lines or searched >= cls.MAX_SEARCHED:
                is_all = False
                break
            part = document[: cls.MAX_SEARCHED - searched]
            searched += len(part)
            sure = len(part)
            if len(part) < len(document):
                is_all = False
                sure = 0 if run.tokenizer.pretokenizer.cut.startswith("regex:") else sure - _UNSURE
            if holding and sure > 0:
                found = _iterate_lines(name, part, first_line, _hits(run, part, holding, sure))
                most = min(per_document, n_lines - len(lines))
                few = list(islice(found, most))
                is_all = is_all and len(few) < most
                lines += few
        return cls(tuple(lines), searched, is_all)


def token_origin(run: TrainingRun, id: int, n_words: int = 8) -> TokenOrigin:
    """Return the training words that contain a token, from the run's record of its merges.

    Counts are exact for the training text. Raises `InvalidTokenIdError`.

    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
    >>> run = train(corpus, TrainingConfig(258, special_tokens=()))
    >>> origin = token_origin(run, run.merges[0].id)
    >>> origin.token, origin.n_made, origin.n_kept
    (b'ug', 15, 5)
    >>> [(each.word, each.count, each.spans, each.n_kept) for each in origin.words]
    [(b'hug', 10, ((1, 3),), 0), (b'ugg', 5, ((0, 2),), 1)]
    """
    # By type too: 1.0 and True are found among the ids.
    if not is_whole(id) or id not in run.tokenizer.vocab:
        got = id if is_whole(id) else describe(id)
        raise InvalidTokenIdError(
            f"Expected the id of one of this run's {run.tokenizer.vocab_size:,} tokens, got {got}."
        )
    layout = run.layout_at(0)
    starts, ends = _places(run, layout, id)
    whole = run.joined_at >= len(run.merges)
    kept = whole[starts] & whole[ends]
    weights = layout.weights()[starts]
    word_starts = layout.gaps()[:-1] + 1
    distinct, first = np.unique(
        np.searchsorted(word_starts, starts, "right") - 1, return_index=True
    )
    made = np.add.reduceat(weights, first) if len(first) else first
    bounds = np.append(first, len(starts))
    words: list[HoldingWord] = []
    for k in np.lexsort((distinct, -made))[:n_words].tolist():
        n, places = int(distinct[k]), slice(bounds[k], bounds[k + 1])
        word = run.pretokens.words[n]
        slots = np.stack([starts[places], ends[places]], axis=1) - word_starts[n]
        words.append(
            HoldingWord(
                word,
                int(run.pretokens.counts[n]),
                _byte_spans(run, word, slots.tolist()),
                int(np.count_nonzero(kept[places])),
            )
        )
    return TokenOrigin(
        token=run.tokenizer.vocab[id],
        n_made=int(weights.sum()),
        n_kept=int(weights[kept].sum()),
        n_words=len(distinct),
        words=tuple(words),
    )


def _places(
    run: TrainingRun, layout: Layout, id: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the slots where the token began and ended, at any step: int64[n] twice, ascending."""
    inside = layout.weights() > 0
    starts = [np.flatnonzero(inside & (layout.ids == id))]
    ends = [starts[0] + 1]
    for merge in run.merges:
        if merge.id == id:
            joined_at = run.joined_before(merge.rank + 1)
            joints = np.flatnonzero(joined_at == merge.rank)
            borders = np.flatnonzero(joined_at > merge.rank)
            after = np.searchsorted(borders, joints, "right")
            starts.append(borders[after - 1])
            ends.append(borders[after])
    first, last = np.concatenate(starts), np.concatenate(ends)
    order = np.argsort(first, kind="stable")
    return first[order], last[order]


def _byte_spans(
    run: TrainingRun, word: bytes, slots: Sequence[Sequence[int]]
) -> tuple[tuple[int, int], ...]:
    """Convert spans of a word's symbols to byte spans; the end-of-word marker has no bytes."""
    if run.base is not None:
        places = _token_borders(run.base, word)
    elif run.tokenizer.base == "bytes":
        places = [*range(len(word) + 1), len(word)]
    else:
        widths = [len(character.encode()) for character in word.decode()]
        places = [*accumulate(widths, initial=0), len(word)]
    return tuple((places[start], places[end]) for start, end in slots)


def _token_borders(base: Tokenizer, word: bytes) -> list[int]:
    """Return the byte at which each token of the base begins in a word, and the word's length."""
    borders = [0]
    for id in base.encoder.encode_words([word])[0].tolist():
        if id >= 0:
            width = len(base.table.content[id])
        elif base.base == "bytes":
            width = 1
        else:  # a character missing from the alphabet
            width = len(word[borders[-1] :].decode()[0].encode())
        borders.append(borders[-1] + width)
    return borders


def _characters(word: HoldingWord) -> tuple[tuple[int, int], ...]:
    """Return the token's spans in a word in characters, partly covered ones included."""
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
    """Yield the token's spans in a text, given its spans in each word."""
    pretokenizer = run.tokenizer.pretokenizer
    written = pretokenizer.written(text)
    n_added = int(pretokenizer.adds_space and bool(text))
    normalizer = pretokenizer.normalizer
    changes = [] if normalizer is None else normalizer.changes(text)
    in_text = align(text, changes)[0]
    for start, end in pretokenizer.spans(written):
        for first, last in holding.get(written[start:end], ()):
            places = [max(0, start + first - n_added), start + last - n_added, end - n_added]
            begins, ends, word_ends = in_text(places).tolist()
            if word_ends > sure:
                return
            yield begins, ends


def _iterate_lines(
    name: str, text: str, first_line: int, hits: Iterator[tuple[int, int]]
) -> Iterator[SourceLine]:
    """Yield each line that contains a span, with all spans in that line."""
    number, counted = first_line, 0
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
    begin = max(0, first - _MAX_LETTERS_AROUND)
    stop = min(len(line), last + _MAX_LETTERS_AROUND)
    within = [(a - line_start - begin, b - line_start - begin) for a, b in spans]
    return SourceLine(
        document=name,
        line=number,
        text=line[begin:stop],
        spans=tuple((a, b) for a, b in within if b <= stop - begin),
        cut_before=begin > 0,
        cut_after=stop < len(line),
    )
