"""Format tokens, pairs and results as text: for sentences, and as Python prints them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pprint import pformat
from typing import cast

from bpe_core.types import Merge, Pair
from ui.lessons.walk import Walk

SPELLED = "The code works on ids; here each id is printed as its token."
_WIDTH = 62
_MAX_LINES = 14


def format_token(token: bytes) -> str:
    """Return a token for a sentence: its text, with ␣ for a space and code points if unprintable.

    >>> format_token(b" the"), format_token(b"\\t"), format_token(b"\\xc3")
    ('␣the', 'U+0009', '<C3>')
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return f"<{token.hex(' ').upper()}>"
    text = text.replace(" ", "␣")
    return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text)


def ids_name(ids: Sequence[int]) -> str:
    """Return a range of consecutive ids in words.

    >>> ids_name([10, 11, 12]), ids_name([60])
    ('10 to 12', '60')
    """
    return f"{ids[0]} to {ids[-1]}" if len(ids) > 1 else f"{ids[0]}"


def quoted(token: bytes) -> str:
    """Return a token in quotation marks.

    >>> quoted(b" quick")
    '“ quick”'
    """
    return f"“{token.decode(errors='backslashreplace')}”"


def legend(ids: Iterable[int], vocab: Mapping[int, bytes]) -> str:
    """Return a sentence that explains some ids.

    >>> legend([1, 0, 1], {0: b"g", 1: b"hu"})
    'These are ids: 1 is hu, 0 is g'
    """
    named = [f"{id} is {format_token(vocab[id])}" for id in dict.fromkeys(ids)]
    return f"These are ids: {', '.join(named)}"


def pair_name(pair: Pair, vocab: Mapping[int, bytes]) -> str:
    """Return a pair for a sentence: (u, g)."""
    return f"({format_token(vocab[pair[0]])}, {format_token(vocab[pair[1]])})"


def format_sum(walk: Walk, pair: Pair) -> str:
    """Return a pair's first count as a sum over words: hug 10 + ugg 5 = 15."""
    terms = walk.terms(0, pair)
    count = walk.pair_counts_at(0).get(pair, 0)
    parts = [
        f"{t.word} {t.times} × {t.count}" if t.times > 1 else f"{t.word} {t.count}" for t in terms
    ]
    shown = " + ".join(parts[:8]) + (" + …" if len(parts) > 8 else "")
    return f"{pair_name(pair, walk.run.vocab)}: {shown} = {count:,}" if parts else ""


def printed(value: object, vocab: Mapping[int, bytes] | None = None) -> str:
    """Format a value as Python prints it, with tokens in place of ids if a vocabulary is given.

    >>> printed({(0, 1): 15}, {0: b"u", 1: b"g"})
    "{('u', 'g'): 15}"
    """
    if vocab is not None:
        value = _spelled(value, vocab)
    lines = pformat(value, width=_WIDTH, compact=True, sort_dicts=False).split("\n")
    if len(lines) > _MAX_LINES:
        rest = len(lines) - _MAX_LINES + 1
        lines = [*lines[: _MAX_LINES - 1], f" … {rest:,} more lines"]
    return "\n".join(lines)


def _spelled(value: object, vocab: Mapping[int, bytes]) -> object:
    match value:
        case Merge():
            return (_spelled(value.left, vocab), _spelled(value.right, vocab))
        case dict():
            counts = cast("dict[object, object]", value)
            return {_spelled(key, vocab): count for key, count in counts.items()}
        case list():
            return [_spelled(one, vocab) for one in cast("list[object]", value)]
        case tuple():
            return tuple(_spelled(one, vocab) for one in cast("tuple[object, ...]", value))
        case int():
            token = vocab[value]
            try:
                return token.decode()
            except UnicodeDecodeError:
                return token
        case _:
            return value
