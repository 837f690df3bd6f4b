"""Read the tokens that a visitor wants to keep, as the app writes tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.look.labels import plain_text, token_label

_MOST_NAMED: Final = 5
_WRITTEN: Final = re.compile("␣|→|↵|<[0-9A-F]{2}(?: [0-9A-F]{2})*>")
_GLYPHS: Final = {"␣": b" ", "→": b"\t", "↵": b"\n"}


@dataclass(frozen=True, slots=True)
class KeptTokens:
    """The tokens of a list, one per line."""

    ids: tuple[int, ...]
    """Of all lines that are tokens, ascending; each once."""
    problem: str
    """Which lines are not tokens, and what to do, as plain text; empty if all are."""


def read_kept_tokens(text: str, tokenizer: Tokenizer) -> KeptTokens:
    """Return the ids of the tokens in a list, one per line; blank lines are ignored.

    A line is a token's text. If no token has it, ␣, → and ↵ stand for a space, a tab and a line
    feed, and hexadecimal digits in angle brackets for bytes, as `token_label` writes them.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> read_kept_tokens("ug\\n␣the\\n the\\n", gpt2())
    KeptTokens(ids=(262, 1018), problem='')
    """
    lines = [line for line in re.split("\r\n|\r|\n", text) if line.strip()]
    if not lines:
        return KeptTokens((), "")
    ids_of: dict[bytes, list[int]] = {}
    for id, token in tokenizer.vocab.items():
        ids_of.setdefault(token, []).append(id)
    found: set[int] = set()
    unknown: dict[str, str] = {}
    for line in lines:
        literal = line.encode("utf-8", "surrogatepass")
        ids = ids_of.get(literal) or ids_of.get(_bytes_written(line))
        if ids is None:
            other = b" " + literal.strip()
            name = plain_text(line).replace(" ", "␣")
            unknown[f"“{name}”"] = f"“{token_label(other)}”" if other in ids_of else ""
        else:
            found.update(ids)
    return KeptTokens(tuple(sorted(found)), _problem_with(unknown))


def _bytes_written(line: str) -> bytes:
    """Return the bytes that a label stands for."""
    parts: list[bytes] = []
    end = 0
    for match in _WRITTEN.finditer(line):
        glyph = match[0]
        parts += (
            line[end : match.start()].encode("utf-8", "surrogatepass"),
            _GLYPHS.get(glyph) or bytes.fromhex(glyph.strip("<>")),
        )
        end = match.end()
    return b"".join(parts) + line[end:].encode("utf-8", "surrogatepass")


def _problem_with(unknown: dict[str, str]) -> str:
    """Name lines that are not tokens, and tokens that may be meant, given for each or empty."""
    if not unknown:
        return ""
    n = len(unknown)
    named = ", ".join([*unknown][:_MOST_NAMED])
    meant = ", ".join([*filter(None, unknown.values())][:_MOST_NAMED])
    more = f" and {n - _MOST_NAMED:,} more" if n > _MOST_NAMED else ""
    are = "is not a token" if n == 1 else "are not tokens"
    return (
        f"{named}{more} {are} of this tokenizer. Correct or remove {'it' if n == 1 else 'them'}: "
        "one token per line, with ␣ for its space."
        f"{f' Did you mean {meant}?' if meant else ''}"
    )
