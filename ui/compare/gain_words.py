"""Describe where the parts of a difference disagree, or what a verdict lacks."""

from __future__ import annotations

from typing import Final

from bpe_core.comparison.interval_words import signed, unit_noun
from bpe_core.comparison.parts import MIN_TOKENS, OTHER_SCRIPTS, Division, TextPart, TokenSaving
from bpe_core.corpus.composition import WITHOUT_TYPE
from bpe_core.corpus.held_out import HeldOut
from ui.look.labels import plain_text

Sentence = list[tuple[str, bool]]
"""Pieces of text, each with whether it is bold."""
HELD_OUT: Final = "held-out text"
OWN: Final = "your own text"
CANNOT_TELL: Final = "This figure does not say what new documents will take."
"""What is said of text from within documents that training saw."""
SAMPLE_OF: Final = "a sample of "
"""Stands before the name of the text if only a sample of it was compared."""
_MAX_PARTS = 3
_MOSTLY_WHOLE = 0.1
_MAX_NAME_LENGTH = 42
_MAX_PLACE_LENGTH = 10_000
_CHARACTERS_PER_TOKEN = 4
_NOT_NAMED = ("no letters", OTHER_SCRIPTS)


def interval_ends(part: TextPart) -> str:
    """Return the ends of a part's interval, such as "1.3% more to 4.3% fewer".

    >>> interval_ends(TextPart("all", 90, 100, 50, 10.0, 8.04, 12.0))
    '8.0 to 12.0'
    >>> interval_ends(TextPart("all", 99, 100, 50, 1.0, -2.0, 4.0))
    '2.0% more to 4.0% fewer'
    """
    if part.way == "unclear":
        return f"{signed(part.low)} to {signed(part.high)}"
    low, high = sorted((abs(part.low), abs(part.high)))
    return f"{low:,.1f} to {high:,.1f}"


def folder_words(gain: TokenSaving, by_folder: TokenSaving) -> str:
    """Return what is different on folders that training never saw."""
    found = by_folder.whole
    interval = f" ({interval_ends(found)})" if found.has_interval else ""
    words = f"On folders it has never seen: {signed(found.percent_fewer)}{interval}."
    if found.way != gain.whole.way:
        words += " It depends on how new your text will be."
    return words


def disagreement(gain: TokenSaving) -> Sentence:
    """Return a sentence on the parts that differ materially from the whole; may be empty.

    At most one part of each division is named: of kinds, words if they are among them; of files,
    one that does not go the way of the whole.
    """
    chosen: list[tuple[Division, TextPart]] = []
    for division, part in sorted(gain.disagreeing, key=lambda each: each[1].name != "words"):
        is_rest = part.name in _NOT_NAMED or part.name.endswith((" other files", " other types"))
        is_rest |= division == "file" and part.way == gain.whole.way
        if not is_rest and division not in {each for each, _ in chosen}:
            chosen.append((division, part))
    order = ("kind", "script", "type", "file")
    chosen = sorted(chosen, key=lambda each: order.index(each[0]))[:_MAX_PARTS]
    if not chosen:
        return []
    pieces: Sentence = []
    for n, (division, part) in enumerate(chosen):
        where = _where(division, part.name)
        pieces.append((f" {where[0].upper()}{where[1:]} " if not n else f", {where} ", False))
        if part.way == "unclear":
            clear = "" if part.low == part.high == 0 else " clear"
            pieces.append((f"there is no{clear} difference", True))
        else:
            figure = f"{signed(part.percent_fewer)}{'' if n else ' tokens'}"
            pieces += [("it needs ", False)] * (not n) + [(figure, True)]
    return [*pieces, (".", False)]


def no_verdict(
    gain: TokenSaving, where: str, *, is_placeholder: bool
) -> tuple[Sentence, str] | None:
    """Return why there is no verdict, and what to do; None if there is enough text."""
    if is_placeholder:
        why = ": the text is only an example."
        return [("No verdict yet", True), (why, False)], _remedy(MIN_TOKENS, where)
    if gain.has_enough_text:
        return None
    fewest = min(gain.whole.own, gain.whole.theirs)
    has = f"has only {fewest:,} {'token' if fewest == 1 else 'tokens'}"
    why = f": {where} {has}, and a verdict needs {MIN_TOKENS}."
    return [("No verdict yet", True), (why, False)], _remedy(MIN_TOKENS - fewest, where)


def text_words(where: str, how: HeldOut | None) -> str:
    """Return how a sentence on a text begins: for held-out text, what is new about it.

    >>> text_words("your text", None)
    'On your text'
    >>> text_words(HELD_OUT, HeldOut("folder:2", n_units=30, share_within=0.0))
    'On folders it has never seen'
    >>> text_words(HELD_OUT, HeldOut("column:author", n_units=30, share_within=0.0))
    'On text with values of “author” it has never seen'
    >>> text_words(HELD_OUT, HeldOut("file", n_units=30, share_within=0.0))
    'On your own files'
    """
    if how is None or not where.endswith(HELD_OUT) or how.by in ("word", "block"):
        return f"On {where}"
    sample = SAMPLE_OF if where.startswith(SAMPLE_OF) else ""
    if how.by == "file":
        return f"On {sample}your own files"
    if how.share_within == 1:
        documents = "the document" if how.n_units == 1 else "documents"
        return f"On {sample}held-out ends of {documents} it has seen"
    if how.share_within > _MOSTLY_WHOLE:
        return f"On {where}"
    text = "text with " if how.by.startswith("column:") else ""
    return f"On {sample}{text}{unit_noun(how, 2)} it has never seen"


def part_name(division: Division, name: str) -> str:
    """Return a part's name for a table or sentence, shortened if it is a visitor's.

    Of a file's place the end is kept, because files of one archive begin alike.

    >>> part_name("file", "archive.zip/code/usr_lib_python3_dist-packages_apt.py")
    '…code/usr_lib_python3_dist-packages_apt.py'
    """
    if division == "type":
        return plain_text(name, _MAX_NAME_LENGTH)
    if division != "file":
        return name
    shown = plain_text(name, _MAX_PLACE_LENGTH)
    return shown if len(shown) <= _MAX_NAME_LENGTH else f"…{shown[1 - _MAX_NAME_LENGTH :]}"


def figure_words(part: TextPart) -> str:
    """Return a part's figure, such as "4.9% more"; a dash if there is none.

    >>> figure_words(TextPart("all", 120, 100, 50, -20.0, -25.0, -15.0))
    '20.0% more'
    """
    return signed(part.percent_fewer) if part.theirs else "–"


def _where(division: Division, name: str) -> str:
    if division == "kind":
        return f"on {name} alone"
    if division == "script":
        return f"on {name}"
    shown = part_name(division, name)
    if division == "type":
        return "in files without a type" if name == WITHOUT_TYPE else f"in {shown} files"
    return f"in “{shown}”"


def _remedy(n_missing: int, where: str) -> str:
    n = max(100, -(-n_missing * _CHARACTERS_PER_TOKEN // 100) * 100)
    if where.endswith(HELD_OUT):
        return "Train on more text, or hold out more of it."
    return (
        f"Paste about {n:,} more characters of the kind of text that you care about, or train on a "
        "corpus with a held-out part."
    )
