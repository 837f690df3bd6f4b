"""Describe what a difference is on, and how sure it is: its interval, or why there is none."""

from __future__ import annotations

from typing import Final, NamedTuple

from bpe_core.comparison.blocks import Blocks
from bpe_core.comparison.comparison import Comparison, compare
from bpe_core.comparison.parts import N_RESAMPLES, TextPart, TokenSaving, compute_gain
from bpe_core.corpus import MIN_UNITS, Corpus, HeldOut, WhyWithin, percent
from bpe_core.tokenizer import Encoder

_MAX_NAME: Final = 42
_NEARLY_ALL: Final = 0.995
_WHY_WITHIN: Final[dict[WhyWithin, str]] = {
    "": "",
    "few": f", because there are fewer than {MIN_UNITS} documents of its file type and script",
    "huge": ", because single documents are larger than the part to hold out",
    "alike": ", because many documents share most of their lines",
}


class IntervalWords(NamedTuple):
    """How sure it is that one tokenizer needs fewer tokens than another, or more.

    Both are empty if it was not measured.
    """

    interval: str = ""
    """As `interval_words` returns it."""
    method: str = ""
    """As `method_words` returns it."""

    @property
    def in_brackets(self) -> str:
        """The interval in brackets after a space; empty without one."""
        return f" ({self.interval})" if self.interval else ""


def describe_interval(corpus: Corpus, own: Encoder, theirs: Encoder) -> IntervalWords:
    """Measure how sure the difference between two tokenizers is on a text.

    >>> from bpe_core.tokenizer import gpt2
    >>> corpus = Corpus.from_documents([f"the bare bytes {n}\\n" for n in range(20)])
    >>> describe_interval(corpus, gpt2(), gpt2().truncated(0)).interval
    '95% interval 71.0–71.8%'
    """
    return measure_difference(corpus, own, theirs)[1]


def measure_difference(
    corpus: Corpus, own: Encoder, theirs: Encoder
) -> tuple[TextPart, IntervalWords]:
    """Measure the difference between two tokenizers on a text; return it, and how sure it is.

    >>> from bpe_core.tokenizer import gpt2
    >>> corpus = Corpus.from_text("the bare bytes")
    >>> whole, words = measure_difference(corpus, gpt2(), gpt2().truncated(0))
    >>> whole.own, whole.theirs, words.method
    (3, 14, 'No interval: it takes 20 documents, and there is 1.')
    """
    found = compare(corpus, [own, theirs])
    whole = compute_gain(found).whole
    method = "" if found.blocks is None else method_words(found.blocks)
    return whole, IntervalWords(interval_words(whole), method)


def interval_words(part: TextPart) -> str:
    """Return the interval of a part's figure, such as "95% interval 43.9–45.5%"; empty without one.

    >>> interval_words(TextPart("all", 90, 100, 50, 10.0, 8.04, 12.0))
    '95% interval 8.0–12.0%'
    >>> interval_words(TextPart("all", 99, 100, 50, 1.0, -2.0, 4.0))
    '95% interval from 2.0% more to 4.0% fewer'
    """
    if not part.has_interval:
        return ""
    digits = 2 if max(abs(part.low), abs(part.high)) < 0.1 else 1
    if part.way == "unclear":
        return f"95% interval from {signed(part.low, digits)} to {signed(part.high, digits)}"
    low, high = sorted((abs(part.low), abs(part.high)))
    return f"95% interval {low:,.{digits}f}–{high:,.{digits}f}%"


def carried_words(gain: TokenSaving) -> str:
    """Return a sentence on what carries a difference if that is not words; may be empty.

    >>> from math import nan
    >>> parts = [("words", 60, 50), ("punctuation", 9, 9), ("white space", 10, 40)]
    >>> kinds = [TextPart(*part, 30, 100 - 100 * part[1] / part[2], nan, nan) for part in parts]
    >>> whole = TextPart("all", 79, 99, 30, 20.2, nan, nan)
    >>> carried_words(TokenSaving(whole, (("kind", tuple(kinds)),)))
    'All of the difference is on white space; on words alone it needs 20.0% more.'
    """
    carried = gain.carried_by
    if carried is None:
        return ""
    most = "All" if carried.share >= _NEARLY_ALL else "Most"
    words = f"it needs {signed(carried.words.percent_fewer)}"
    if carried.words.own == carried.words.theirs:
        words = "it needs as many"
    elif carried.words.way == "unclear":
        words = "there is no clear difference"
    kinds = ", ".join(carried.kinds[:-1])
    kinds = f"{kinds} and {carried.kinds[-1]}" if kinds else carried.kinds[-1]
    return f"{most} of the difference is on {kinds}; on words alone {words}."


def method_words(blocks: Blocks) -> str:
    """Describe how the intervals were computed or why there are none, and what flatters."""
    return f"{interval_method(blocks)} {flattery(blocks.how)}".rstrip()


def interval_method(blocks: Blocks) -> str:
    """Describe how the intervals were computed, or why there are none."""
    noun = units_drawn(blocks)
    if not blocks.n_documents:
        return f"95% intervals over {blocks.n_units:,} {noun}, {N_RESAMPLES:,} resamples."
    whole = "" if blocks.how is not None and blocks.how.share_within else "whole "
    if blocks.n_units >= MIN_UNITS:
        method = f"95% intervals over {whole}{noun}, {N_RESAMPLES:,} resamples."
        return f"{method} {answers_for(blocks.how)}".rstrip()
    there_are = f"there {'is' if blocks.n_units == 1 else 'are'} {blocks.n_units}"
    remedy = " Hold out more, or documents." if noun == "folders" else ""
    return f"No interval: it takes {MIN_UNITS} {noun}, and {there_are}.{remedy}"


def units_drawn(blocks: Blocks) -> str:
    """Return what intervals are over, in the plural."""
    return unit_noun(blocks.how, 2) if blocks.n_documents else "groups of words"


def answers_for(how: HeldOut | None) -> str:
    """Return a sentence on the new text that intervals on a held-out text answer for; may be empty.

    >>> answers_for(HeldOut("folder", n_units=31, share_within=0.0))
    'They answer for text from new folders, such as other projects or sources.'
    """
    if how is None or how.share_within == 1:
        return ""
    kind = how.by.partition(":")[0]
    new = {
        "document": "new documents from the same places, not for text from other ones",
        "folder": "text from new folders, such as other projects or sources",
        "column": f"text with new {unit_noun(how, 2)}",
        "file": "more text like your own files",
    }
    return f"They answer for {new[kind]}." if kind in new else ""


def signed(percent_fewer: float, digits: int = 1) -> str:
    """Return a difference with its direction.

    >>> signed(4.94), signed(-4.94)
    ('4.9% fewer', '4.9% more')
    """
    return f"{abs(percent_fewer):,.{digits}f}% {'more' if percent_fewer < 0 else 'fewer'}"


def unit_noun(how: HeldOut | None, n: int) -> str:
    """Return what the units of a text are called, in the singular for one.

    >>> unit_noun(HeldOut("column:author", 3, 0.0), 3)
    'values of “author”'
    """
    kind, _, name = ("document" if how is None else how.by).partition(":")
    if kind == "column":
        shown = "".join(c if c.isprintable() else "\ufffd" for c in name[:_MAX_NAME])
        return f"{'value' if n == 1 else 'values'} of “{shown}”"
    noun = kind if kind in ("folder", "word") else "document"
    return noun if n == 1 else f"{noun}s"


def division_words(how: HeldOut | None) -> str:
    """Return a sentence or two on how a text was held out; may be empty.

    >>> division_words(HeldOut("folder", n_units=31, share_within=0.0))
    'Whole folders are held out of each file type and script, to their share if possible.'
    >>> division_words(HeldOut("document", n_units=1, share_within=1.0))
    'The ends of documents are held out. From within documents that training saw: all of the \
held-out text. This flatters.'
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


def trained_on_words(comparison: Comparison) -> list[str]:
    """Return a sentence for each tokenizer whose training saw the text that was compared.

    >>> from bpe_core.runs import train
    >>> trained_on_words(compare("hug hugs", [train(["hug hugs"], vocab_size=258), "gpt2"]))
    ['Tokenizer 1 was trained on this text: its figures are better here than on new text.']
    """
    each = zip(comparison.names, comparison.shares_trained_on, strict=True)
    return [seen_sentence(name, share) for name, share in each if share]


def seen_sentence(name: str, share: float) -> str:
    """Return a sentence on a tokenizer whose training saw this share of a text.

    >>> seen_sentence("mine.json", 0.8)
    'mine.json was trained on 80% of this text: its figures are better here than on new text.'
    """
    of = "" if share == 1 else f"{percent(share)} of "
    return f"{name} was trained on {of}this text: its figures are better here than on new text."


def flattery(how: HeldOut | None) -> str:
    """Return a sentence on held-out text from within documents that training saw; may be empty.

    >>> flattery(HeldOut("document", n_units=31, share_within=0.25, why_within="huge"))
    'From within documents that training saw: 25% of the held-out text, because single documents \
are larger than the part to hold out. This flatters.'
    """
    if how is None or not how.share_within:
        return ""
    if how.by == "block":
        return (
            "An earlier version held out blocks of lines of documents that training saw. This "
            "flatters: train again to hold out whole documents."
        )
    share = "all" if how.share_within == 1 else f"{how.share_within:.0%}"
    why = _WHY_WITHIN[how.why_within]
    return (
        f"From within documents that training saw: {share} of the held-out text{why}. This "
        "flatters."
    )
