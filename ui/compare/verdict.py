"""Describe a comparison in sentences and rows, including ties and losses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.interval_words import interval_words, signed
from bpe_core.comparison.measurement import TokenizerMetrics
from bpe_core.comparison.parts import TokenSaving
from ui.compare.gain_words import Sentence, disagreement
from ui.look.labels import share_text

_FRACTIONS = (
    "half",
    "a third",
    "a quarter",
    "a fifth",
    "a sixth",
    "a seventh",
    "an eighth",
    "a ninth",
    "a tenth",
    "an eleventh",
    "a twelfth",
)
_MIN_PERCENT = 0.05
"""A smaller difference would be shown as 0.0%."""

_SINGULAR = ("punctuation", "white space")


def verdict_sentence(
    comparison: Comparison, gain: TokenSaving, on_text: str, *, other: str = "GPT-2", place: int = 1
) -> Sentence:
    """Return a sentence on the first tokenizer against another, as pieces of text and boldness.

    It has the interval of `gain`, which must be of the same two, and names the parts that disagree.
    `on_text` names the text, such as "On held-out text"; `other` is the name of the tokenizer at
    `place` in the rows, and may come from a visitor.
    """
    own, theirs = comparison.rows[0], comparison.rows[place]
    for metrics, who in ((own, "your tokenizer"), (theirs, other)):
        if metrics.unknown_bytes:
            lost = f"cannot spell {share_text(metrics.unknown_bytes, metrics.n_bytes)}"
            return [(f"{on_text}, {who} ", False), (lost, True), (" of the text.", False)]
    for metrics, rival, who in ((own, theirs, "your tokenizer"), (theirs, own, other)):
        if metrics.dropped_bytes and metrics.n_tokens < rival.n_tokens:
            lost = f"leaves out {share_text(metrics.dropped_bytes, metrics.n_bytes)}"
            why = " of the text: its pre-tokenizer drops white space."
            return [(f"{on_text}, {who} ", False), (lost, True), (why, False)]
    figures = comparison.verdict(0, place)
    interval = f" ({interval_words(gain.whole)})" if gain.whole.has_interval else ""
    size = f", with a vocabulary {_vocabulary_in_words(figures.vocabulary_ratio)}."
    parts = disagreement(gain)
    is_tie = own.n_tokens == theirs.n_tokens and not gain.whole.has_interval
    if is_tie or gain.whole.low == gain.whole.high == 0:
        as_many = [(f"{on_text}, your tokenizer needs ", False), ("as many tokens", True)]
        return [*as_many, (f" as {other}{size}", False), *parts]
    needs = _tokens_against(own, theirs) if own.n_tokens != theirs.n_tokens else "as many tokens"
    if gain.whole.way == "unclear":
        than = "as" if own.n_tokens == theirs.n_tokens else "than"
        needs = f"yours needs {needs} {than} {other}{interval}{size}"
        about = f" between your tokenizer and {other}: {needs}"
        unclear = [(f"{on_text}, there is ", False), ("no clear difference", True)]
        return [*unclear, (about, False), *parts]
    than = f" than {other}{interval}{size}"
    return [(f"{on_text}, your tokenizer needs ", False), (needs, True), (than, False), *parts]


def verdict_aside(
    comparison: Comparison, gain: TokenSaving, *, other: str = "GPT-2", place: int = 1
) -> str:
    """Describe the difference: its sources, who keeps more words whole, and what is not covered.

    `gain` must be of the same two.
    """
    pair = _Pair(comparison, other, place)
    sentences = [_gains(pair, gain), _words_whole(pair), _not_covered(pair)]
    return " ".join(sentence for sentence in sentences if sentence)


def uncovered_aside(comparison: Comparison, *, other: str = "GPT-2", place: int = 1) -> str:
    """Describe the text that is in no token; empty if there is none."""
    return _not_covered(_Pair(comparison, other, place))


def is_fair(comparison: Comparison, place: int = 1) -> bool:
    """Return False if one of the two has fewer tokens because it leaves text out."""
    return _Pair(comparison, "", place).is_fair


def strongest(comparison: Comparison) -> int:
    """Return the place of the tokenizer with the fewest tokens, apart from the first.

    Those that leave text out count only if there are no others.
    """
    others = range(1, len(comparison.rows))
    fair = [place for place in others if is_fair(comparison, place)]
    return min(fair or others, key=lambda place: comparison.rows[place].n_tokens)


def _tokens_against(own: TokenizerMetrics, theirs: TokenizerMetrics) -> str:
    """Return how many fewer or more tokens, in percent, or in tokens if that would read 0.0%."""
    percent = 100 * (1 - own.n_tokens / theirs.n_tokens) if theirs.n_tokens else math.inf
    if abs(percent) >= _MIN_PERCENT and not math.isinf(percent):
        return f"{abs(percent):,.1f}% {'fewer' if percent > 0 else 'more'} tokens"
    n = abs(own.n_tokens - theirs.n_tokens)
    more = "more" if own.n_tokens > theirs.n_tokens else "fewer"
    return f"{n:,} {more} {'token' if n == 1 else 'tokens'}"


def _vocabulary_in_words(ratio: float) -> str:
    if 0.95 < ratio < 1.05:
        return "of about the same size"
    if ratio < 1:
        return f"{1 / ratio:.1f} times the size"
    if ratio < 1.75:
        return f"{1 / ratio:.0%} the size"
    place = round(ratio) - 2
    if place < len(_FRACTIONS):
        return f"about {_FRACTIONS[place]} the size"
    return f"about 1/{round(ratio):,} the size"


class _Pair:
    """The first row of a comparison and one of the others."""

    def __init__(self, comparison: Comparison, other: str, place: int) -> None:
        self.own, self.theirs = comparison.rows[0], comparison.rows[place]
        self.figures = comparison.verdict(0, place)
        self.other = other
        self.is_fair = not any(
            metrics.unknown_bytes or (metrics.dropped_bytes and metrics.n_tokens < rival.n_tokens)
            for metrics, rival in ((self.own, self.theirs), (self.theirs, self.own))
        )


def _gains(pair: _Pair, gain: TokenSaving) -> str:
    """Name the kinds of tokens with a gain, and those that surely go the other way."""
    if pair.own.n_tokens == pair.theirs.n_tokens or not pair.is_fair:
        return ""
    sign = 1 if pair.own.n_tokens < pair.theirs.n_tokens else -1
    kinds = dict(gain.divisions).get("kind", ())
    # Words and numbers apart: together, a gain in words would hide a loss in numbers.
    found = sorted(((part.theirs - part.own) * sign, part.name) for part in kinds)
    named = [kind for n, kind in reversed(found) if n > 0]
    if not named:
        return ""
    against = "more" if sign > 0 else "fewer"
    others = [
        f"{part.name} {'takes' if part.name in _SINGULAR else 'take'} {signed(part.percent_fewer)}"
        for part in kinds
        if part.way == against
    ]
    but = f"; {_listed(others)}" if others else ""
    return f"The {'gain' if sign > 0 else 'loss'} is in {_listed(named)}{but}."


def _words_whole(pair: _Pair) -> str:
    own, theirs = pair.figures.share_of_words_whole
    if math.isnan(own) or math.isnan(theirs):
        return ""
    own_shown, their_shown = f"{own:.1%}", f"{theirs:.1%}"
    if own_shown == their_shown:
        return f"Both keep {own_shown} of the words whole."
    if own > theirs:
        return f"Yours keeps more words whole: {own_shown}, {pair.other} {their_shown}."
    gains = pair.own.n_tokens < pair.theirs.n_tokens
    still = "still " if gains and pair.is_fair else ""
    return f"{pair.other} {still}keeps more words whole: {their_shown}, yours {own_shown}."


def _not_covered(pair: _Pair) -> str:
    sentences: list[str] = []
    for metrics, who in ((pair.own, "yours"), (pair.theirs, pair.other)):
        reasons: list[str] = []
        if metrics.unknown_bytes:
            reasons.append(f"{_bytes(metrics.unknown_bytes)} that its alphabet lacks")
        if metrics.dropped_bytes:
            dropped = _bytes(metrics.dropped_bytes)
            reasons.append(f"{dropped} of white space that its pre-tokenizer drops")
        if reasons:
            sentences.append(
                f"Note that {who} has no token for {_listed(reasons)}, of {metrics.n_bytes:,}, so "
                "the two counts are not for the same text."
            )
    return " ".join(sentences)


def _bytes(n: int) -> str:
    return "1 byte" if n == 1 else f"{n:,} bytes"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
