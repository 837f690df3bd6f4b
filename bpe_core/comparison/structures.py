"""Figures on how a tokenizer cuts what has a structure: numbers, code, characters.

They describe a tokenizer and rank no close candidates: a model can learn most cuts that are always
the same. The questions are those of TokEval (arXiv 2608.18062); the definitions are given with each
figure, and all examples can be looked at.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Final

from bpe_core.pretokenizers import check_text
from bpe_core.tokenizer import Encoder, Trained, to_encoder

_SEED: Final = 0
_NUMBERS_OF_A_LENGTH: Final = 100
_LENGTHS: Final = range(4, 10)
_IDENTIFIER: Final = re.compile(r"(?<![\w'\"])[^\W\d]\w+(?![\w'\"])")
_INDENTATION: Final = re.compile(r"(?m)^[ \t]{2,}(?=\S)")
_N_EXAMPLES: Final = 5
_CODE: Final = """\
class LinkedList:
    def __init__(self, values=None):
        self.head_node = None
        self.size = 0
        for value in values or []:
            self.append(value)

    def find_first(self, predicate, default=None):
        current_node = self.head_node
        while current_node is not None:
            if predicate(current_node.value):
                return current_node.value
            current_node = current_node.next_node
        return default


function renderTable(columnNames, rowValues) {
\tconst tableElement = document.createElement("table");
\tfor (let rowIndex = 0; rowIndex < rowValues.length; rowIndex++) {
\t\ttableElement.appendChild(makeRow(columnNames, rowValues[rowIndex]));
\t}
\treturn tableElement;
}
"""


@dataclass(frozen=True, slots=True)
class Structure:
    """How a tokenizer cuts numbers, code and characters; None where the texts have none of them."""

    CODE: ClassVar = _CODE
    """Code with long names and two kinds of indentation, if no other is given."""

    number_cuts: int
    """The distinct ways in which the numbers from 0 to 9999 are cut, by the lengths of their parts;
    4 if all numbers with the same count of digits are cut alike."""
    groups_of_three: float
    """The share of numbers of 4 to 9 digits that are cut where commas would be, and nowhere else:
    in groups of three from the right."""
    group_f1: float
    """The agreement of all borders in these numbers with those places: the harmonic mean of the
    share of borders that are such places and the share of such places that are borders."""
    identifiers_whole: float | None
    """The share of names in code, of at least two characters, that are one token, with a space
    before them or not."""
    indentation_whole: float | None
    """The share of indentations of at least two spaces or tabs that are in one token."""
    characters_cut: float | None
    """The share of characters beyond ASCII that a border cuts."""
    examples: tuple[tuple[str, tuple[str, ...]], ...]
    """Numbers and names that are cut, with their parts."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {
            **{each.name: getattr(self, each.name) for each in fields(self)[:-1]},
            "examples": [{"text": text, "parts": list(parts)} for text, parts in self.examples],
        }


def structure(
    tokenizer: Encoder | Trained | str, text: str = "", code: str = Structure.CODE
) -> Structure:
    """Measure how a tokenizer cuts numbers, code, and the characters of a text.

    The numbers are the same for all. `code` is any code, and a text without characters beyond ASCII
    has no share of those that are cut. Raises what `encode` raises.

    >>> from bpe_core.tokenizer import gpt2
    >>> found = structure(gpt2(), text="漢字 café")
    >>> found.number_cuts, round(found.groups_of_three, 2), round(found.characters_cut, 2)
    (10, 0.23, 0.67)
    """
    check_text(text)
    check_text(code)
    encoder = to_encoder(tokenizer)
    cuts: set[tuple[int, ...]] = {tuple(_lengths(encoder, str(number))) for number in range(10_000)}
    numbers = list(_long_numbers())
    right = n_borders = n_places = n_common = 0
    examples: list[tuple[str, tuple[str, ...]]] = []
    for number in numbers:
        borders, places = _borders(encoder, number), _commas(number)
        right += borders == places
        n_borders += len(borders)
        n_places += len(places)
        n_common += len(borders & places)
        if borders != places and len(examples) < _N_EXAMPLES:
            examples.append((number, _parts(number, borders)))
    names, whole = 0, 0
    cut_names = Counter[str]()
    borders = _borders(encoder, code)
    ordered = sorted(borders)
    places_of = [0, *accumulate(len(character.encode()) for character in code)]
    ends = borders | {0, places_of[-1]}
    for found in _IDENTIFIER.finditer(code):
        start, end = (places_of[at] for at in found.span())
        before = start - (code[found.start() - 1 : found.start()] == " ")
        is_whole = not _is_cut(ordered, start, end)
        is_whole &= end in ends and (start in ends or before in ends)
        names += 1
        whole += is_whole
        if not is_whole:
            cut_names[found[0]] += 1
    for name, _ in cut_names.most_common(_N_EXAMPLES):
        examples.append((name, _parts(name, _borders(encoder, name))))
    indents = [found.span() for found in _INDENTATION.finditer(code)]
    indents = [(places_of[start], places_of[end]) for start, end in indents]
    # The last space may go with the word behind it, as in most patterns.
    kept = sum(not _is_cut(ordered, start, end - 1) for start, end in indents)
    return Structure(
        number_cuts=len(cuts),
        groups_of_three=right / len(numbers),
        group_f1=2 * n_common / (n_borders + n_places),
        identifiers_whole=whole / names if names else None,
        indentation_whole=kept / len(indents) if indents else None,
        characters_cut=_share_cut(encoder, text),
        examples=tuple(examples),
    )


def _share_cut(encoder: Encoder, text: str) -> float | None:
    borders = _borders(encoder, text)
    n, n_cut, at = 0, 0, 0
    for character in text:
        width = len(character.encode())
        if width > 1:
            n += 1
            n_cut += any(at + place in borders for place in range(1, width))
        at += width
    return n_cut / n if n else None


def _long_numbers() -> Iterator[str]:
    chosen = random.Random(_SEED)
    for length in _LENGTHS:
        for _ in range(_NUMBERS_OF_A_LENGTH):
            yield str(chosen.randrange(10 ** (length - 1), 10**length))


def _commas(number: str) -> set[int]:
    """Return the places of a number where a comma would be.

    >>> sorted(_commas("1234567"))
    [1, 4]
    """
    return set(range(len(number) - 3, 0, -3))


def _borders(encoder: Encoder, text: str) -> set[int]:
    """Return the places of a text, in bytes, where a token ends, without its two ends."""
    ends = {each.byte_end for each in encoder.segments(text)} if text else set[int]()
    return ends - {0, len(text.encode())}


def _is_cut(ordered: Sequence[int], start: int, end: int) -> bool:
    """Return whether one of some ordered borders is between two places.

    >>> [_is_cut([3, 6], start, end) for start, end in ((3, 6), (2, 4), (5, 6), (5, 7))]
    [False, True, False, True]
    """
    at = bisect_right(ordered, start)
    return at < len(ordered) and ordered[at] < end


def _lengths(encoder: Encoder, text: str) -> Iterable[int]:
    borders = [0, *sorted(_borders(encoder, text)), len(text.encode())]
    return (end - start for start, end in pairwise(borders))


def _parts(text: str, borders: set[int]) -> tuple[str, ...]:
    data = text.encode()
    places = [0, *sorted(borders), len(data)]
    pairs = pairwise(places)
    return tuple(data[a:b].decode(errors="backslashreplace") for a, b in pairs)
