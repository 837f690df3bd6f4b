"""How a tokenizer cuts what has a structure, such as numbers and code, and the words of a list.

The figures on structure describe a tokenizer and rank no close candidates: a model can learn most
cuts that are always the same. The questions are those of TokEval (arXiv 2608.18062); the
definitions are given with each figure, and all examples can be looked at.

The loss of a term of a list is the number of tokens that one tokenizer needs for it, minus the
fewest that any of the tokenizers compared needs: 0 if none of them is better. A tokenizer that
cannot spell a term, because its vocabulary lacks a character of it, is never the best; its own loss
is unknown.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Final, NamedTuple, Self

from bpe_core.checks import check_whole
from bpe_core.errors import ConfigError, OutOfRangeError
from bpe_core.tokenizer import Encoder, Trained, check_text, to_encoder

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


MAX_TERMS: Final = 2_000
MAX_TERM_LENGTH: Final = 200
"""In characters."""

_Places = Sequence[tuple[int | None, int, int]]


class TermCut(NamedTuple):
    """The tokens of one term."""

    ids: tuple[int | None, ...]
    """None for a part in no token."""
    parts: tuple[bytes, ...]
    """The bytes of the text that each covers; together they are all of it."""
    n_tokens: int
    is_spelled: bool
    """False if some of it is in no token, or only in one that means "unknown".

    White space that the tokenizer drops does not count."""

    @property
    def is_one_token(self) -> bool:
        """Whether the whole term is one token."""
        return self.is_spelled and self.n_tokens == 1


class TermCuts(NamedTuple):
    """The two cuts of a term by one tokenizer."""

    in_text: TermCut
    """After a space, as within a sentence."""
    alone: TermCut
    """Without a space, as at the start of a text."""


class TermLoss(NamedTuple):
    """A term under several tokenizers."""

    term: str
    cuts: tuple[TermCut, ...]
    """In the order of the tokenizers."""
    loss: int | None
    """How many more tokens than with the best; None if the chosen one cannot spell the term."""

    @property
    def fewest(self) -> int | None:
        """The fewest tokens of a tokenizer that can spell the term; or None."""
        return min((cut.n_tokens for cut in self.cuts if cut.is_spelled), default=None)


class Terms(NamedTuple):
    """The terms of a text, and how many lines were left out, by reason."""

    terms: tuple[str, ...]
    n_repeated: int = 0
    n_too_long: int = 0
    """Lines of more than MAX_TERM_LENGTH characters."""
    n_invalid: int = 0
    """Lines with a lone surrogate, which is not text."""
    n_beyond: int = 0
    """Terms after the first MAX_TERMS."""

    @property
    def left_out(self) -> str:
        """A sentence on the lines that were left out, and why; empty if none were.

        >>> Terms(("hug",), n_repeated=2, n_beyond=1).left_out
        'Left out: 2 lines that repeat a term, 1 term after the first 2,000.'
        """
        reasons = (
            (self.n_repeated, "line that repeats a term", "lines that repeat a term"),
            (
                self.n_too_long,
                f"line of more than {MAX_TERM_LENGTH} characters",
                f"lines of more than {MAX_TERM_LENGTH} characters",
            ),
            (self.n_invalid, "line that is not valid text", "lines that are not valid text"),
            (
                self.n_beyond,
                f"term after the first {MAX_TERMS:,}",
                f"terms after the first {MAX_TERMS:,}",
            ),
        )
        parts = [f"{n:,} {one if n == 1 else several}" for n, one, several in reasons if n]
        return f"Left out: {', '.join(parts)}." if parts else ""

    @classmethod
    def read(cls, text: str) -> Self:
        r"""Return the terms of a text: one per line, without white space around it, each once.

        Blank lines are ignored. Terms that are too long and terms beyond the first MAX_TERMS are
        left out and counted, not cut.

        >>> Terms.read(" hug \r\nhugging face\n\nhug\n")
        Terms(terms=('hug', 'hugging face'), n_repeated=1, n_too_long=0, n_invalid=0, n_beyond=0)
        """
        lines = (
            line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        )
        found: dict[str, None] = {}
        n_repeated = n_too_long = n_invalid = 0
        for line in filter(None, lines):
            if len(line) > MAX_TERM_LENGTH:
                n_too_long += 1
            elif any("\ud800" <= character <= "\udfff" for character in line):
                n_invalid += 1
            elif line in found:
                n_repeated += 1
            else:
                found[line] = None
        terms = tuple(found)
        n_beyond = max(0, len(terms) - MAX_TERMS)
        return cls(terms[:MAX_TERMS], n_repeated, n_too_long, n_invalid, n_beyond)

    def cut(self, encoder: Encoder) -> tuple[TermCuts, ...]:
        """Return how a tokenizer cuts each term, after a space and without one.

        Special tokens are treated as ordinary text. Raises what `encoder.segments` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> [cuts] = Terms(("hugging",)).cut(gpt2())
        >>> cuts.in_text.parts, cuts.alone.parts
        ((b' hugging',), (b'h', b'ug', b'ging'))
        """
        texts = [text for term in self.terms for text in (f" {term}", term)]
        cuts = iter([_cut(text, placed, encoder) for text, placed in _placed(texts, encoder)])
        return tuple(TermCuts(in_text, alone) for in_text, alone in zip(cuts, cuts, strict=True))

    def by_loss(self, cuts: Sequence[Sequence[TermCut]], chosen: int = 0) -> list[TermLoss]:
        """Return the terms with their loss under one tokenizer, the greatest loss first.

        `cuts` holds the cuts of all terms by each tokenizer, and `chosen` is the index of one of
        the tokenizers. Terms that it cannot spell come first, and terms of equal loss are in the
        order of their code points. Raises OutOfRangeError for an invalid index, and
        ConfigError for cuts of other terms.

        >>> from bpe_core.tokenizer import gpt2
        >>> terms = Terms(("hug", "hugging", "the"))
        >>> encoders = [gpt2().truncated(0), gpt2()]
        >>> cuts = [[cut.in_text for cut in terms.cut(encoder)] for encoder in encoders]
        >>> [(found.term, found.loss) for found in terms.by_loss(cuts)]
        [('hugging', 7), ('hug', 3), ('the', 3)]
        """
        check_whole("the index of a tokenizer", chosen, 0, len(cuts) - 1, OutOfRangeError)
        for of_one in cuts:
            if len(of_one) != len(self.terms):
                raise ConfigError(
                    f"Expected {len(self.terms):,} cuts by each, got {len(of_one):,}."
                )
        found = [
            TermLoss(term, of_term, _loss(of_term, chosen))
            for term, of_term in zip(self.terms, zip(*cuts, strict=True), strict=True)
        ]
        return sorted(found, key=lambda one: (one.loss is not None, -(one.loss or 0), one.term))


def _loss(cuts: Sequence[TermCut], chosen: int) -> int | None:
    own = cuts[chosen]
    if not own.is_spelled:
        return None
    return own.n_tokens - min(cut.n_tokens for cut in cuts if cut.is_spelled)


def _placed(texts: Sequence[str], encoder: Encoder) -> Iterator[tuple[str, _Places]]:
    """Yield each text with the id, start and end in bytes of its tokens."""
    for text, columns in zip(texts, encoder.place_tokens(texts), strict=True):
        ids, starts, ends = (column.tolist() for column in columns)
        known = (None if id_ < 0 else id_ for id_ in ids)
        yield text, list(zip(known, starts, ends, strict=True))


def _cut(text: str, placed: _Places, encoder: Encoder) -> TermCut:
    utf8 = text.encode()
    ids = tuple(id_ for id_, _, _ in placed)
    parts = tuple(utf8[start:end] for _, start, end in placed)
    return TermCut(
        ids,
        parts,
        n_tokens=sum(id_ is not None for id_ in ids),
        is_spelled=all(_spells(id_, part, encoder) for id_, part in zip(ids, parts, strict=True)),
    )


def _spells(id_: int | None, part: bytes, encoder: Encoder) -> bool:
    if id_ is None:
        return encoder.drops_text and part.decode("utf-8", "replace").isspace()
    return id_ != encoder.unknown_id
