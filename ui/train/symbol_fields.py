"""Read the fields for special tokens and for the end-of-word marker.

Spaces at the end of a line are invisible in a field and easily copied by mistake. So white space
around tokens and lines of white space are ignored, and the page shows a note about each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ui.look.labels import plain_markdown, token_label

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class ReadSymbols:
    """The tokens read from a field, and the notes shown below it, in Markdown."""

    tokens: tuple[str, ...]
    notes: tuple[str, ...]


def read_special_tokens(text: str) -> ReadSymbols:
    """Read a field with a special token on each line.

    >>> read_special_tokens("[CLS]\\n\\nmy token").tokens
    ('[CLS]', 'my token')
    >>> read_special_tokens("  \\n").notes
    ('Read as no special token.', 'Line 1 holds only spaces and is ignored.')
    """
    # Empty lines are ignored without a note; lines of spaces look the same, so they get one.
    lines = [(number, line) for number, line in enumerate(re.split("\r\n|\r|\n", text), 1) if line]
    tokens = tuple(token for _, line in lines if (token := line.strip()))
    notes = [f"Read as {_listed(tokens)}."]
    blank = [f"{number:,}" for number, line in lines if not line.strip()]
    if blank:
        verb = "holds only spaces and is" if len(blank) == 1 else "hold only spaces and are"
        notes.append(f"Line{'s' * (len(blank) > 1)} {_some(blank)} {verb} ignored.")
    padded = [f"{number:,}" for number, line in lines if line.strip() not in ("", line)]
    if padded:
        notes.append(
            f"Spaces around the token{'s' * (len(padded) > 1)} on "
            f"line{'s' * (len(padded) > 1)} {_some(padded)} are ignored."
        )
    return ReadSymbols(tokens, tuple(notes))


def read_marker(text: str) -> ReadSymbols:
    """Read the field of the end-of-word marker, which may be empty.

    >>> read_marker(" </w>").tokens, read_marker(" ").notes
    (('</w>',), ('Only spaces, so there is no marker.',))
    """
    marker = text.strip()
    if marker == text:
        return ReadSymbols((marker,) if marker else (), ())
    if not marker:
        return ReadSymbols((), ("Only spaces, so there is no marker.",))
    return ReadSymbols((marker,), (f"Read as {_name(marker)}, without the spaces around it.",))


def _listed(tokens: tuple[str, ...]) -> str:
    if not tokens:
        return "no special token"
    kind = "1 special token" if len(tokens) == 1 else f"{len(tokens):,} special tokens"
    return f"{kind}: {_some([_name(token) for token in tokens])}"


def _some(names: list[str]) -> str:
    """Join the first few names, and count the rest."""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _name(token: str) -> str:
    return f"**{plain_markdown(token_label(token.encode('utf-8', 'surrogatepass')))}**"
