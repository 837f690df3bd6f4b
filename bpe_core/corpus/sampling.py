"""Choose a sample that is like the corpus in its files, file types and scripts."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from bpe_core.corpus.borders import border_near
from bpe_core.corpus.spans import Span, folder, stratum

_N_BLOCKS: Final = 1_024
"""Blocks have a size within the limits below that makes them about this many."""
_MIN_BLOCK: Final = 16
_MAX_BLOCK: Final = 4_096
_MAX_LINE: Final = 2_000
_MIN_REACH: Final = 200
_GOLDEN: Final = 0.618_033_988_749_894_9


def sample_spans(
    documents: Sequence[str], names: Sequence[str], share: float, seed: int
) -> list[list[Span]]:
    """Return the sampled spans of each document, from left to right.

    Documents of one file type, script and folder follow one another, and one block is taken from
    each of equal parts of all text. Its position within its part follows the golden ratio, so
    blocks cannot coincide with a period of the text.

    >>> sample_spans(["a line\\n" * 20, "b"], ["a.txt", "b.txt"], share=0.2, seed=0)
    [[Span(start=49, end=63), Span(start=98, end=112)], []]
    """
    order = sorted(
        (i for i, text in enumerate(documents) if text),
        key=lambda i: (stratum(documents[i], names[i]), folder(names[i]), i),
    )
    starts = list(accumulate((len(documents[i]) for i in order), initial=0))
    wanted = share * starts[-1]
    size = min(max(wanted / _N_BLOCKS, _MIN_BLOCK), _MAX_BLOCK)
    n_blocks = max(1, round(wanted / size))
    part = starts[-1] / n_blocks
    offset = random.Random(seed).random()
    spans: list[list[Span]] = [[] for _ in documents]
    taken = end = 0
    for n in range(n_blocks):
        left = wanted * (n + 1) / n_blocks - taken
        free = max(0.0, part - left)
        start = max(round(n * part + (offset + n * _GOLDEN) % 1 * free), end)
        place = bisect_right(starts, start) - 1
        while place < len(order):
            i, text_start = order[place], starts[place]
            found = _cut(documents[i], max(0, start - text_start), left, max(0, end - text_start))
            if found is not None:
                spans[i].append(found)
                taken += found.end - found.start
                left -= found.end - found.start
                end = text_start + found.end
            # A block goes on in the next document; what is less than half of one is made up for.
            place += 1
            if left < size / 2 or start + left < starts[place]:
                break
    return spans


def _cut(text: str, start: int, n_wanted: float, least: int) -> Span | None:
    """Return a span near a place, from `least` on; None if there are no borders."""
    reach = round(max(min(n_wanted, _MAX_LINE), _MIN_REACH))
    first = border_near(text, start, reach)
    last = border_near(text, round(start + n_wanted), reach)
    if first is None or last is None:
        return None
    first = max(first, least)
    return Span(first, last) if first < last else None
