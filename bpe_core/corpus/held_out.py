"""Choose a held-out part that resembles the corpus in its files, file types and scripts.

Of a large document, blocks of whole lines are held out, spread over its length; a long line is cut
before spaces. Small documents and rare words are held out whole, frequent words by part of their
count. The amount is proportional to the size of each.

Sizes are in characters, so that blocks spread evenly over a document of several scripts have the
same share of each, whatever the number of bytes per character.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from bpe_core.corpus.borders import border_near
from bpe_core.corpus.composition import file_of, file_type
from bpe_core.unicode.kinds import group_of

_BLOCKS_OF_DOCUMENT: Final = 10
"""The least number of blocks per document, unless they would be too small: half a block too much or
too little is then 5 % of its held-out text."""
_FEWEST_BLOCKS: Final = 128
"""Blocks shrink, down to `_SMALLEST_BLOCK`, until there are this many: enough to resample them. In
a large document they shrink down to `_LARGEST_OF_SMALL_BLOCKS`."""
_SMALLEST_BLOCK: Final = 16
_LARGEST_OF_SMALL_BLOCKS: Final = 512
_LARGEST_BLOCK: Final = 16_384
_FEWEST_OCCURRENCES: Final = 4
_LONGEST_LINE: Final = 2_000
_SHORTEST_REACH: Final = 200
_GOLDEN: Final = 0.618_033_988_749_894_9
_CHARACTERS_LOOKED_AT: Final = 32
_LETTERS: Final = (" letters", " characters")


class Span(NamedTuple):
    """A part of a document, in characters; half-open."""

    start: int
    end: int


def held_out_spans(
    documents: Sequence[str], names: Sequence[str], share: float, seed: int
) -> list[list[Span]]:
    """Return the held-out spans of each document, from left to right; never all text.

    >>> held_out_spans(["a line\\n" * 20, "b"], ["a.txt", "b.txt"], share=0.2, seed=0)
    [[Span(start=49, end=63), Span(start=98, end=112)], []]
    """
    # Only random() is promised to return the same numbers in later versions of Python.
    generator = random.Random(seed)
    wanted = share * sum(map(len, documents))
    smallest = min(max(wanted / _FEWEST_BLOCKS, _SMALLEST_BLOCK), _LARGEST_OF_SMALL_BLOCKS)
    largest = min(max(wanted / _FEWEST_BLOCKS, _LARGEST_OF_SMALL_BLOCKS), _LARGEST_BLOCK)
    spans: list[list[Span]] = [[] for _ in documents]
    small: list[int] = []
    owed: defaultdict[str, float] = defaultdict(float)
    for i, text in enumerate(documents):
        if not text:
            continue
        quota = share * len(text)
        if quota < smallest:
            small.append(i)
            continue
        kind = file_type(names[i])
        # Lines vary in length, so a document may yield a little too much or too little, which the
        # next one of its type makes up for.
        quota += min(max(owed[kind], -smallest), smallest)
        spans[i] = _blocks(text, quota, smallest, largest, generator.random())
        owed[kind] = quota - sum(end - start for start, end in spans[i])
    strata = [(file_type(names[i]), file_of(names[i]), _main_script(documents[i])) for i in small]
    sizes = [len(documents[i]) for i in small]
    for chosen in _draw(strata, sizes, share, generator):
        spans[small[chosen]] = [Span(0, sizes[chosen])]
    n_held_out = sum(end - start for found in spans for start, end in found)
    return spans if n_held_out < sum(map(len, documents)) else [[] for _ in documents]


def rest_of(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the spans between others, which must be from left to right.

    >>> rest_of("hugging", [Span(3, 5)])
    [Span(start=0, end=3), Span(start=5, end=7)]
    """
    if not spans:
        return [Span(0, len(text))]
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    between = [Span(start, end) for start, end in zip(starts, ends, strict=True)]
    return [span for span in between if span.end > span.start]


def held_out_words(word_counts: Mapping[str, int], share: float, seed: int) -> dict[str, int]:
    """Return the held-out words with the number of their held-out occurrences; never all words.

    >>> held_out_words({"the": 1_000, "hug": 3, "ugg": 2}, share=0.1, seed=0)
    {'the': 100}
    """
    generator = random.Random(seed)
    held_out: dict[str, int] = {}
    rare: list[str] = []
    owed = 0.0
    for word, count in word_counts.items():
        if share * count < _FEWEST_OCCURRENCES:
            rare.append(word)
            continue
        owed += share * count * len(word)
        held_out[word] = min(round(owed / len(word)), count - 1)
        owed -= held_out[word] * len(word)
    sizes = [len(word) * word_counts[word] for word in rare]
    for chosen in _draw([_main_script(word) for word in rare], sizes, share, generator):
        held_out[rare[chosen]] = word_counts[rare[chosen]]
    if held_out == dict(word_counts):
        return {}
    return {word: held_out[word] for word in word_counts if held_out.get(word)}


def _blocks(text: str, quota: float, smallest: float, largest: float, offset: float) -> list[Span]:
    """Choose blocks of about `quota` characters together, one in each of equal parts of a text.

    Their positions within the parts follow the golden ratio from `offset` on, so that they cannot
    coincide with a period of the text.
    """
    size = min(max(quota / _BLOCKS_OF_DOCUMENT, smallest), largest)
    n_blocks = max(1, round(quota / size))
    reach = round(max(size, min(_LONGEST_LINE, quota), _SHORTEST_REACH))
    part = len(text) / n_blocks
    spans: list[Span] = []
    taken = end = 0
    for n in range(n_blocks):
        wanted = quota * (n + 1) / n_blocks - taken
        place = (offset + n * _GOLDEN) % 1 * max(0.0, part - wanted)
        start = border_near(text, max(round(n * part + place), end), reach)
        if start is None or start < end:
            start = end
        stop = border_near(text, round(start + wanted), reach)
        if stop is not None and stop > start:
            spans.append(Span(start, stop))
            taken += stop - start
            end = stop
    return spans


def _draw(
    strata: Sequence[object], sizes: Sequence[int], share: float, generator: random.Random
) -> list[int]:
    """Draw whole items, each with the same chance, and the same share of each stratum.

    Items are processed by stratum, in random order. One of each group is drawn, and a group ends
    when its share is as large as its items are on average.
    """
    order = sorted(range(len(sizes)), key=lambda i: (strata[i], generator.random()))
    drawn: list[int] = []
    group: list[int] = []
    owed = 0.0
    size_of_group = 0
    for i in order:
        group.append(i)
        size_of_group += sizes[i]
        owed += share * sizes[i]
        if owed * len(group) >= size_of_group:
            drawn.append(_one_of(group, generator))
            owed -= sizes[drawn[-1]]
            group, size_of_group = [], 0
    if group and 2 * owed * len(group) >= size_of_group:
        drawn.append(_one_of(group, generator))
    return drawn


def _one_of(group: Sequence[int], generator: random.Random) -> int:
    return group[int(generator.random() * len(group))]


def _main_script(text: str) -> str:
    """Return the most frequent script of a text, judged by characters evenly spread over it."""
    if text.isascii():
        return "Latin letters"
    sample = text[:: max(1, len(text) // _CHARACTERS_LOOKED_AT)]
    groups = Counter(group for group in map(group_of, sample) if group.endswith(_LETTERS))
    return groups.most_common(1)[0][0] if groups else ""
