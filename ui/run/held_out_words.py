"""Say what was held out, and whether figures on it flatter."""

from __future__ import annotations

from typing import Final

from bpe_core.corpus.held_out import HeldOut
from ui.look.labels import plain_text

_MAX_NAME: Final = 42


def unit_noun(how: HeldOut | None, n: int) -> str:
    """Return what the units of a text are called, in the singular for one.

    >>> unit_noun(HeldOut("column:author", 3, 0.0), 3)
    'values of “author”'
    """
    kind, _, name = ("document" if how is None else how.by).partition(":")
    if kind == "column":
        return f"{'value' if n == 1 else 'values'} of “{plain_text(name, _MAX_NAME)}”"
    noun = kind if kind in ("folder", "word") else "document"
    return noun if n == 1 else f"{noun}s"


def division_words(how: HeldOut | None) -> str:
    """Return a sentence or two on how a text was held out; may be empty.

    >>> division_words(HeldOut("folder", n_units=31, share_within=0.0))
    'Whole folders are held out of each file type and script, to their share if possible.'
    >>> division_words(HeldOut("document", n_units=1, share_within=1.0))
    'The ends of documents are held out. From within documents that training saw: all of it. \
This flatters.'
    """
    if how is None or how.by in ("word", "block"):
        return flattery(how)
    if how.by == "file":
        return "The held-out text is your own files; none of the corpus is held out."
    if how.share_within == 1:
        return f"The ends of documents are held out. {flattery(how)}"
    units = unit_noun(how, 2)
    whole = f"All text with some {units} is" if how.by[:7] == "column:" else f"Whole {units} are"
    share = "held out of each file type and script, to their share if possible."
    return f"{whole} {share} {flattery(how)}".rstrip()


def flattery(how: HeldOut | None) -> str:
    """Return a sentence on held-out text from within documents that training saw; may be empty.

    >>> flattery(HeldOut("document", n_units=31, share_within=0.25))
    'From within documents that training saw: 25% of it. This flatters.'
    """
    if how is None or not how.share_within:
        return ""
    if how.by == "block":
        return (
            "An earlier version held out blocks of lines of documents that training saw. This "
            "flatters: train again to hold out whole documents."
        )
    share = "all" if how.share_within == 1 else f"{how.share_within:.0%}"
    return f"From within documents that training saw: {share} of it. This flatters."
