"""Format tokens, numbers and a visitor's words as text for tables, charts and sentences."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import regex

from bpe_core.checks import counted as counted
from bpe_core.comparison import MAX_TERM_LENGTH, MAX_TERMS, TermList

_WITHOUT_PICTURE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_MAX_LABEL_LENGTH = 40
_MAX_STEM_LENGTH = 40
_GLYPHS = {"\t": "→", "\n": "↵"}
# What Streamlit still turns into links, its logo and arrows after Markdown is parsed, when the
# backslashes have been removed: the places to break such text.
_STILL_MARKUP = re.compile(
    r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)|(?<=:)(?=streamlit:)|(?<=[-<>~])(?=[-=>])", re.IGNORECASE
)
_WORD_JOINER = "\u2060"


def token_label(token: bytes) -> str:
    """Return a token as one line, with ␣ for a space, → for a tab and ↵ for a line feed.

    Other invisible characters are written U+XXXX, and bytes of incomplete characters in hex.

    >>> token_label(b" the"), token_label(b"\\n"), token_label(b"a\\xe6\\x97")
    ('␣the', '↵', 'a<E6 97>')
    """
    label = re.sub(
        "[\udc80-\udcff]+",
        lambda cut: f"<{cut[0].encode('utf-8', 'surrogateescape').hex(' ').upper()}>",
        "".join(
            c if "\udc80" <= c <= "\udcff" else _shown(c)
            for c in token.decode("utf-8", "surrogateescape")
        ),
    )
    # Between two emoji a joiner makes one of them; at an end it would be invisible.
    label = re.sub("^\u200d+|\u200d+$", lambda joiners: "U+200D" * len(joiners[0]), label)
    return label if len(label) <= _MAX_LABEL_LENGTH else label[: _MAX_LABEL_LENGTH - 1] + "…"


def size_text(n_bytes: float) -> str:
    """Format a number of bytes with its unit.

    >>> size_text(64), size_text(4_004), size_text(466_195), size_text(2_000_000)
    ('64 B', '4.0 kB', '466 kB', '2.0 MB')
    """
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.{1 if n_bytes < 10 * size else 0}f} {unit}"
    return f"{n_bytes:,.0f} B"


def share_text(part: int, whole: int) -> str:
    """Write a part of a whole in percent: 0% and 100% only for nothing and everything.

    >>> share_text(1, 10_000), share_text(9_999, 10_000), share_text(3, 9), share_text(2, 2)
    ('less than 0.1%', '99.9%', '33.3%', '100%')
    """
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "less than 0.1%"
    return f"{min(percent, 99.9) if part < whole else 100:.3g}%"


def plain_text(text: str, longest: int = 60) -> str:
    """Return a visitor's text as one visible line, cut to `longest` characters.

    >>> plain_text("notes\u202e.txt")
    'notesU+202E.txt'
    """
    one_line = "".join(" " if c in "\r\n\t" else _shown(c, space=" ") for c in text)
    return one_line if len(one_line) <= longest else one_line[: longest - 1] + "…"


def plain_markdown(text: str, longest: int = 60) -> str:
    """Return a visitor's text as one line of Markdown without markup, cut to `longest`.

    >>> plain_markdown("notes_[1].txt")
    'notes\\\\_\\\\[1\\\\]\\\\.txt'
    """
    return escape_markdown(plain_text(text, longest))


def escape_markdown(line: str) -> str:
    r"""Escape a line of plain text for Markdown, so that nothing in it is markup or a link.

    Addresses, which Streamlit links even if they are escaped, are broken by an invisible character.

    >>> escape_markdown("a*b"), escape_markdown("www.hug")
    ('a\\*b', 'www\u2060\\.hug')
    """
    broken = _STILL_MARKUP.sub(_WORD_JOINER, line)
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", broken)


def file_stem(title: str) -> str:
    """Return a visitor's text as the start of a file name: lower case, digits and hyphens.

    >>> file_stem("Python's built-in help"), file_stem("../<b>"), file_stem("日本")
    ('python-s-built-in-help', 'b', 'run')
    """
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", "-", letters).strip("-")[:_MAX_STEM_LENGTH].rstrip("-") or "run"


def _shown(character: str, space: str = "␣") -> str:
    if character == " ":
        return space
    if character in _GLYPHS:
        return _GLYPHS[character]
    if character == "\u200d":
        return character
    if unicodedata.category(character) in _WITHOUT_PICTURE:
        return f"U+{ord(character):04X}"
    return character


_RIGHT_TO_LEFT: Final = regex.compile(r"[\p{bc=R}\p{bc=AL}]")
# Arabic digits, too, would change the order of the numbers next to them.
_RUNS_FROM_RIGHT: Final = regex.compile(r"[\p{bc=R}\p{bc=AL}\p{bc=AN}]")
_MARKER: Final = regex.compile(r"<[^<>\s]+>")
_CONTROL: Final = regex.compile("[\u202a-\u202e\u2066-\u2069]")

RIGHT_TO_LEFT: Final = (
    "Right-to-left text is drawn from the right, and so are its tokens: the first one stands "
    "rightmost. Counts and ids follow the order in which the text is stored."
)


def isolated(text: str) -> str:
    """Return a text with controls that keep its direction from changing the order around it.

    An end-of-word marker in right-to-left text reads from the left. Text that runs from the left
    needs no controls.

    >>> isolated("hug"), isolated("ם</w>") == "\\u2068ם\\u2066</w>\\u2069\\u2069"
    ('hug', True)
    """
    if not _RUNS_FROM_RIGHT.search(text):
        return text
    return "\u2068" + _MARKER.sub("\u2066\\g<0>\u2069", text) + "\u2069"


def order_note(text: str) -> str:
    """Return what a reader must know about the order of a text on the screen, or nothing.

    >>> order_note("hug"), order_note("שלום") == RIGHT_TO_LEFT
    ('', True)
    >>> order_note("hug\\u202egup")
    'The text has an invisible character that changes the order on the screen: U+202E.'
    """
    found = sorted({f"U+{ord(control):04X}" for control in _CONTROL.findall(text)})
    notes = [RIGHT_TO_LEFT] if _RIGHT_TO_LEFT.search(text) else []
    if len(found) == 1:
        notes.append(
            f"The text has an invisible character that changes the order on the screen: {found[0]}."
        )
    elif found:
        notes.append(
            "The text has invisible characters that change the order on the screen: "
            f"{', '.join(found)}."
        )
    return " ".join(notes)


def lines_left_out(found: TermList) -> str:
    """Return which lines of the list are left out, and why; empty if none are.

    >>> lines_left_out(TermList(("hug",), n_repeated=2, n_beyond=1))
    'Left out: 2 lines that repeat a term, 1 term after the first 2,000.'
    """
    reasons = (
        (found.n_repeated, "line that repeats a term", "lines that repeat a term"),
        (
            found.n_too_long,
            f"line of more than {MAX_TERM_LENGTH} characters",
            f"lines of more than {MAX_TERM_LENGTH} characters",
        ),
        (found.n_invalid, "line that is not valid text", "lines that are not valid text"),
        (
            found.n_beyond,
            f"term after the first {MAX_TERMS:,}",
            f"terms after the first {MAX_TERMS:,}",
        ),
    )
    parts = [f"{n:,} {one if n == 1 else several}" for n, one, several in reasons if n]
    return f"Left out: {', '.join(parts)}." if parts else ""
