"""Choose a held-out part that resembles the corpus in its files, file types and scripts.

Documents of one file type and script form a stratum, which gets the same share of its characters
held out as any other. Blocks of whole lines are held out from a large document, spread over its
length, and a block here and there from medium ones; a long line is cut before spaces. Small
documents and rare words are held out whole, frequent words by part of their count. If one document
yields too much or too little, those after it in its stratum make up for it.

Sizes are in characters, so blocks spread evenly over a document of several scripts have the same
share of each, whatever the number of bytes per character.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname
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
_BLOCKS_OF_STRATUM: Final = 16
"""The least number of blocks per stratum, unless they would be too small."""
_LARGEST_WHOLE: Final = 1 / 8
"""The largest document held out whole, as a share of the characters to hold out of its stratum:
half a document too much or too little is then 6 % of them."""
_LEAST_SHARE: Final = 0.01
"""Strata with a smaller share of the corpus may miss it."""
_TOLERANCE: Final = 0.05
"""A stratum may miss its share by this fraction of it, which lets blocks stay whole lines."""
_FEWEST_OCCURRENCES: Final = 4
_LONGEST_LINE: Final = 2_000
_SHORTEST_REACH: Final = 200
_GOLDEN: Final = 0.618_033_988_749_894_9
_CHARACTERS_LOOKED_AT: Final = 32
_LETTERS: Final = (" letters", " characters")


@dataclass(frozen=True, slots=True)
class Split:
    """How a text was divided from a corpus: `split` of that corpus gives the same parts again."""

    corpus_sha256: str
    """The `sha256` of the whole corpus."""
    held_out_share: float
    seed: int


class Span(NamedTuple):
    """A part of a document, in characters; half-open."""

    start: int
    end: int


class _Stratum(NamedTuple):
    """The documents of one file type and script, in the order of their folders."""

    whole: list[int]
    """Those that are held out whole or not at all."""
    cut: list[int]
    """Those of which blocks are held out."""
    quota: float
    """The characters to hold out of all of them."""
    smallest: float
    """The least number of characters in a block."""


def held_out_spans(
    documents: Sequence[str], names: Sequence[str], share: float, seed: int
) -> list[list[Span]]:
    """Return the held-out spans of each document, from left to right; never all text.

    >>> held_out_spans(["a line\\n" * 20, "b"], ["a.txt", "b.txt"], share=0.2, seed=0)
    [[Span(start=42, end=56), Span(start=91, end=105)], []]
    """
    if not share:
        return [[] for _ in documents]
    # Only random() is promised to return the same numbers in later versions of Python.
    generator = random.Random(seed)
    sizes = [len(text) for text in documents]
    wanted = share * sum(sizes)
    largest = min(max(wanted / _FEWEST_BLOCKS, _LARGEST_OF_SMALL_BLOCKS), _LARGEST_BLOCK)
    spans: list[list[Span]] = [[] for _ in documents]
    strata = list(_strata(documents, names, sizes, share))
    for stratum in strata:
        if not stratum.cut:
            continue
        drawn, owed = _draw([stratum.whole], sizes, share, generator, by_chance=True)
        for i in drawn:
            spans[i] = [Span(0, sizes[i])]
        owed = _cut_blocks(stratum, documents, spans, share, owed, largest, generator)
        # A corpus of one stratum has no shares to correct.
        if len(strata) > 1 and stratum.quota >= _LEAST_SHARE * wanted:
            _correct(stratum, documents, spans, owed)
    only_whole = [stratum.whole for stratum in strata if not stratum.cut]
    for i in _draw(only_whole, sizes, share, generator)[0]:
        spans[i] = [Span(0, sizes[i])]
    n_held_out = sum(end - start for found in spans for start, end in found)
    return spans if n_held_out < sum(sizes) else [[] for _ in documents]


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
    by_script: defaultdict[str, list[int]] = defaultdict(list)
    for i in sorted(range(len(rare)), key=lambda i: -sizes[i]):
        by_script[_main_script(rare[i])].append(i)
    for chosen in _draw(
        [by_script[script] for script in sorted(by_script)], sizes, share, generator
    )[0]:
        held_out[rare[chosen]] = word_counts[rare[chosen]]
    if held_out == dict(word_counts):
        return {}
    return {word: held_out[word] for word in word_counts if held_out.get(word)}


def _strata(
    documents: Sequence[str], names: Sequence[str], sizes: Sequence[int], share: float
) -> Iterator[_Stratum]:
    """Divide documents by file type and script, and those by their size."""
    wanted = share * sum(sizes)
    smallest_of_all = min(max(wanted / _FEWEST_BLOCKS, _SMALLEST_BLOCK), _LARGEST_OF_SMALL_BLOCKS)
    members: defaultdict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for i, (text, name) in enumerate(zip(documents, names, strict=True)):
        if text:
            file = file_of(name)
            place = file if file != name else dirname(name)
            members[file_type(name), _main_script(text)].append((place, i))
    for _, found in sorted(members.items()):
        quota = share * sum(sizes[i] for _, i in found)
        smallest = min(max(quota / _BLOCKS_OF_STRATUM, _SMALLEST_BLOCK), smallest_of_all)
        # A whole document is no larger than four blocks, and a block not much smaller than a line.
        least = max(smallest_of_all / 4, 4 * _SMALLEST_BLOCK)
        most = min(max(quota * _LARGEST_WHOLE, least), 4 * smallest_of_all, smallest / share)
        # The smallest of a folder come last, since they leave the least to make up for.
        whole = sorted((place, -sizes[i], i) for place, i in found if sizes[i] < most)
        cut = sorted((place, i) for place, i in found if sizes[i] >= most)
        yield _Stratum([i for _, _, i in whole], [i for _, i in cut], quota, smallest)


def _cut_blocks(
    stratum: _Stratum,
    documents: Sequence[str],
    spans: list[list[Span]],
    share: float,
    owed: float,
    largest: float,
    generator: random.Random,
) -> float:
    """Hold out blocks of the larger documents; return what is still owed, which may be negative."""
    smallest = stratum.smallest
    # A document too small for a block of its own gets one when enough is owed, and the last
    # document gets what is left. Both depend on chance, so each document has the same chance.
    cut, enough = stratum.cut, 0.0
    if any(share * len(documents[i]) < smallest for i in cut):
        enough = generator.random() * smallest
        first = int(generator.random() * len(cut))
        cut = cut[first:] + cut[:first]
    left = share * sum(len(documents[i]) for i in cut)
    for i in cut:
        text = documents[i]
        quota = share * len(text)
        owed += quota
        left -= quota
        if quota >= smallest:
            quota = min(max(owed, quota - smallest), quota + smallest)
        elif owed >= (_SMALLEST_BLOCK if i == cut[-1] else enough):
            quota = min(max(owed, smallest), owed + left)
        else:
            continue
        if quota > 0:
            spans[i] = _blocks(text, quota, smallest, largest, generator.random())
            owed -= sum(end - start for start, end in spans[i])
    return owed


def _correct(
    stratum: _Stratum, documents: Sequence[str], spans: list[list[Span]], owed: float
) -> None:
    """Move the border of a block by what is owed if that is more than the tolerance.

    One whole line too many or too few may be a large part of what a stratum gets, so the border may
    be within a line.
    """
    tolerance = _TOLERANCE * stratum.quota
    reach = max(round(tolerance / 2), _SMALLEST_BLOCK)

    def last_block(i: int) -> tuple[int, int]:
        start, end = spans[i][-1] if spans[i] else (0, 0)
        return end - start, len(documents[i])

    for i in sorted(stratum.cut, key=last_block, reverse=True):
        if abs(owed) <= tolerance:
            return
        text = documents[i]
        if spans[i]:
            start, end = spans[i].pop()
        else:
            start = end = border_near(text, len(text) // 2, reach) or 0
        near = border_near(text, max(start, round(end + owed)), reach)
        moved = end if near is None else max(start, near)
        if abs(owed - (moved - end)) >= abs(owed):
            moved = end
        if moved > start:
            spans[i].append(Span(start, moved))
        owed -= moved - end


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
    strata: Sequence[Sequence[int]],
    sizes: Sequence[int],
    share: float,
    generator: random.Random,
    *,
    by_chance: bool = False,
) -> tuple[list[int], float]:
    """Draw whole items, each with the same chance, and the same share of each stratum.

    One of each group of items is drawn, and a group ends when its share is as large as its items
    are on average. At the end of a stratum half of that is enough; else its last group goes on in
    the next stratum, or `by_chance` decides. Returns what is still owed, too.
    """
    drawn: list[int] = []
    group: list[int] = []
    owed = 0.0
    size_of_group = 0
    for stratum in strata:
        for i in stratum:
            group.append(i)
            size_of_group += sizes[i]
            owed += share * sizes[i]
            if owed * len(group) >= size_of_group:
                drawn.append(_one_of(group, generator))
                owed -= sizes[drawn[-1]]
                group, size_of_group = [], 0
        if not group:
            continue
        enough = generator.random() if by_chance else 0.5
        if owed * len(group) >= enough * size_of_group:
            drawn.append(_one_of(group, generator))
            owed -= sizes[drawn[-1]]
            group, size_of_group = [], 0
    return drawn, owed


def _one_of(group: Sequence[int], generator: random.Random) -> int:
    return group[int(generator.random() * len(group))]


def _main_script(text: str) -> str:
    """Return the most frequent script of a text, judged by characters evenly spread over it."""
    if text.isascii():
        return "Latin letters"
    sample = text[:: max(1, len(text) // _CHARACTERS_LOOKED_AT)]
    groups = Counter(group for group in map(group_of, sample) if group.endswith(_LETTERS))
    return groups.most_common(1)[0][0] if groups else ""
