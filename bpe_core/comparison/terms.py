"""Cut a list of words or phrases with several tokenizers, and sort it by loss.

The loss of a term is the number of tokens that one tokenizer needs for it, minus the fewest that
any of the tokenizers compared needs: 0 if none of them is better. A tokenizer that cannot spell a
term, because its vocabulary lacks a character of it, is never the best; its own loss is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from bpe_core.checks import check_whole
from bpe_core.errors import ConfigError, OutOfRangeError
from bpe_core.tokenizer import Encoder

MAX_TERMS: Final = 2_000
MAX_TERM_LENGTH: Final = 200
"""In characters."""

_Places = Sequence[tuple[int | None, int, int]]


class TermList(NamedTuple):
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

        >>> TermList(("hug",), n_repeated=2, n_beyond=1).left_out
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


def read_terms(text: str) -> TermList:
    r"""Return the terms of a text: one per line, without white space around it, each once.

    Blank lines are ignored. Terms that are too long and terms beyond the first MAX_TERMS are left
    out and counted, not cut.

    >>> read_terms(" hug \r\nhugging face\n\nhug\n")
    TermList(terms=('hug', 'hugging face'), n_repeated=1, n_too_long=0, n_invalid=0, n_beyond=0)
    """
    lines = (line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
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
    return TermList(terms[:MAX_TERMS], n_repeated, n_too_long, n_invalid, n_beyond)


def cut_terms(terms: Sequence[str], encoder: Encoder) -> tuple[TermCuts, ...]:
    """Return how a tokenizer cuts each term, after a space and without one.

    Special tokens are treated as ordinary text. Raises what `encoder.segments` raises.

    >>> from bpe_core.tokenizer import gpt2
    >>> [cuts] = cut_terms(["hugging"], gpt2())
    >>> cuts.in_text.parts, cuts.alone.parts
    ((b' hugging',), (b'h', b'ug', b'ging'))
    """
    texts = [text for term in terms for text in (f" {term}", term)]
    cuts = iter([_cut(text, placed, encoder) for text, placed in _placed(texts, encoder)])
    return tuple(TermCuts(in_text, alone) for in_text, alone in zip(cuts, cuts, strict=True))


def terms_by_loss(
    terms: Sequence[str], cuts: Sequence[Sequence[TermCut]], chosen: int = 0
) -> list[TermLoss]:
    """Return the terms with their loss under one tokenizer, the greatest loss first.

    `cuts` holds the cuts of all terms by each tokenizer, and `chosen` is the index of one of the
    tokenizers. Terms that it cannot spell come first, and terms of equal loss are in the order of
    their code points. Raises OutOfRangeError for an invalid index, and
    ConfigError for cuts of other terms.

    >>> from bpe_core.tokenizer import gpt2
    >>> terms = ["hug", "hugging", "the"]
    >>> encoders = [gpt2().truncated(0), gpt2()]
    >>> cuts = [[cut.in_text for cut in cut_terms(terms, encoder)] for encoder in encoders]
    >>> [(found.term, found.loss) for found in terms_by_loss(terms, cuts)]
    [('hugging', 7), ('hug', 3), ('the', 3)]
    """
    check_whole("the index of a tokenizer", chosen, 0, len(cuts) - 1, OutOfRangeError)
    for of_one in cuts:
        if len(of_one) != len(terms):
            raise ConfigError(f"Expected {len(terms):,} cuts by each, got {len(of_one):,}.")
    found = [
        TermLoss(term, of_term, _loss(of_term, chosen))
        for term, of_term in zip(terms, zip(*cuts, strict=True), strict=True)
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
