"""Describe how sure a difference is, where its parts disagree, or what a verdict lacks."""

from __future__ import annotations

from typing import Final

from bpe_core.comparison.blocks import Blocks
from bpe_core.comparison.intervals import FEWEST_BLOCKS, N_RESAMPLES, SEED
from bpe_core.comparison.parts import FEWEST_TOKENS, OTHER_SCRIPTS, Division, Gain, Part
from bpe_core.corpus.composition import WITHOUT_TYPE
from ui.look.labels import plain_text

Sentence = list[tuple[str, bool]]
"""Pieces of text, each with whether it is bold."""
HELD_OUT: Final = "held-out text"
OWN: Final = "your own text"
SAMPLE_OF: Final = "a sample of "
"""Stands before the name of the text if only a sample of it was compared."""
_MOST_PARTS = 3
_LONGEST_NAME = 42
_LONGEST_PLACE = 10_000
_CHARACTERS_PER_TOKEN = 4
_NOT_NAMED = ("no letters", OTHER_SCRIPTS)


def interval_words(part: Part) -> str:
    """Return the interval of a part's figure, such as "95% interval 43.9–45.5%".

    >>> interval_words(Part("all", 90, 100, 50, 10.0, 8.04, 12.0))
    '95% interval 8.0–12.0%'
    >>> interval_words(Part("all", 99, 100, 50, 1.0, -2.0, 4.0))
    '95% interval from 2.0% more to 4.0% fewer'
    """
    digits = 2 if max(abs(part.low), abs(part.high)) < 0.1 else 1
    if part.way == "unclear":
        return f"95% interval from {signed(part.low, digits)} to {signed(part.high, digits)}"
    low, high = sorted((abs(part.low), abs(part.high)))
    return f"95% interval {low:,.{digits}f}–{high:,.{digits}f}%"


def disagreement(gain: Gain) -> Sentence:
    """Return a sentence on the parts that differ materially from the whole; may be empty.

    At most one part of each division is named: of kinds, words if they are among them; of files,
    one that does not go the way of the whole.
    """
    chosen: list[tuple[Division, Part]] = []
    for division, part in sorted(gain.disagreeing, key=lambda each: each[1].name != "words"):
        is_rest = part.name in _NOT_NAMED or part.name.endswith((" other files", " other types"))
        is_rest |= division == "file" and part.way == gain.whole.way
        if not is_rest and division not in {each for each, _ in chosen}:
            chosen.append((division, part))
    order = ("kind", "script", "type", "file")
    chosen = sorted(chosen, key=lambda each: order.index(each[0]))[:_MOST_PARTS]
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


def no_verdict(gain: Gain, where: str, *, is_placeholder: bool) -> tuple[Sentence, str] | None:
    """Return why there is no verdict, and what to do; None if there is enough text."""
    if is_placeholder:
        why = ": the text is only an example."
        return [("No verdict yet", True), (why, False)], _remedy(FEWEST_TOKENS, where)
    if gain.has_enough_text:
        return None
    whole = gain.whole
    fewest = min(whole.own, whole.theirs)
    if fewest < FEWEST_TOKENS:
        has = f"has only {fewest:,} {'token' if fewest == 1 else 'tokens'}"
        why = f": {where} {has}, and a verdict needs {FEWEST_TOKENS}."
        return [("No verdict yet", True), (why, False)], _remedy(FEWEST_TOKENS - fewest, where)
    why = (
        f": {where} is in {whole.n_blocks} blocks, and it takes {FEWEST_BLOCKS} to say how sure "
        "the difference is."
    )
    return [("No verdict yet", True), (why, False)], _remedy(FEWEST_TOKENS, where)


def method_words(blocks: Blocks, where: str) -> str:
    """Describe how the intervals were computed: the number of blocks, resamples and the seed."""
    n = f"{blocks.n_blocks:,}"
    if not blocks.n_documents:
        of = f"{n} groups of words"
    elif where.startswith(SAMPLE_OF):
        of = f"{n} blocks of the sample"
    elif blocks.were_held_out:
        of = f"{n} held-out blocks"
    elif blocks.n_cut:
        of = f"{n} blocks, cut at line ends"
    else:
        of = f"{n} blocks of whole documents"
    old = (
        " This run was stored before the boundaries of its held-out blocks were."
        if where == HELD_OUT and blocks.n_documents and not blocks.were_held_out
        else ""
    )
    return (
        f"Intervals of 95%: bootstrap over {of}, {N_RESAMPLES:,} resamples, seed {SEED}, "
        f"percentiles.{old}"
    )


def part_name(division: Division, name: str) -> str:
    """Return a part's name for a table or sentence, shortened if it is a visitor's.

    Of a file's place the end is kept, because files of one archive begin alike.

    >>> part_name("file", "archive.zip/code/usr_lib_python3_dist-packages_apt.py")
    '…code/usr_lib_python3_dist-packages_apt.py'
    """
    if division == "type":
        return plain_text(name, _LONGEST_NAME)
    if division != "file":
        return name
    shown = plain_text(name, _LONGEST_PLACE)
    return shown if len(shown) <= _LONGEST_NAME else f"…{shown[1 - _LONGEST_NAME :]}"


def figure_words(part: Part) -> str:
    """Return a part's figure, such as "4.9% more"; a dash if there is none.

    >>> figure_words(Part("all", 120, 100, 50, -20.0, -25.0, -15.0))
    '20.0% more'
    """
    return signed(part.percent_fewer) if part.theirs else "–"


def signed(percent_fewer: float, digits: int = 1) -> str:
    """Return a difference with its direction.

    >>> signed(4.94), signed(-4.94)
    ('4.9% fewer', '4.9% more')
    """
    return f"{abs(percent_fewer):,.{digits}f}% {'more' if percent_fewer < 0 else 'fewer'}"


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
