"""The words of a comparison: what each figure means, and sentences on what was found.

A figure is defined in a line, with the paper it comes from. Sentences tell of ties, losses, parts
that disagree, and what a verdict lacks.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from bpe_core.comparison import (
    Blocks,
    Comparison,
    Division,
    TextPart,
    TokenizerMetrics,
    TokenSaving,
)
from bpe_core.corpus import Composition, HeldOut
from ui.look import counted, plain_text, share_text
from ui.tokenizers import shelf

COVERED_BYTES: Final = "Covered bytes per token"
COVERED_CHARACTERS: Final = "Covered characters per token"
_PETROV: Final = (
    "Petrov et al. 2023, “Language model tokenizers introduce unfairness between languages”, "
    "who call it the premium"
)
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
_NOT_NAMED = ("no letters", TokenSaving.OTHER_SCRIPTS)
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


class Definition(NamedTuple):
    """A figure's name in the tables, its meaning, and where it was first defined."""

    name: str
    meaning: str
    source: str = ""

    @property
    def line(self) -> str:
        """The meaning and the source, as shown under the figure's name."""
        return f"{self.meaning} Source: {self.source}." if self.source else self.meaning


_RENYI: Final = Definition(
    "Rényi efficiency",
    "How evenly the vocabulary is used, from 0 to 1, at order 2.5. Rare and very frequent tokens "
    "lower it; so does a vocabulary larger than the text can use.",
    "Zouhar et al. 2023, “Tokenization and the noiseless channel”",
)
INTERVAL: Final = Definition(
    "95% interval",
    "How far a difference may be off on new text of this kind. Whole documents, or folders if "
    "those were held out, are drawn at random, with replacement and one fewer than there are, for "
    f"each file type and script, {Blocks.N_RESAMPLES:,} times (seed {Blocks.SEED}). Each time the "
    "difference is computed from the tokens in what was drawn, and the interval leaves out the "
    "lowest and the highest 2.5%. If it includes 0, there is no clear difference. A part that is "
    f"in fewer than {HeldOut.MIN_UNITS} documents has no interval.",
    "Efron and Tibshirani 1993, “An introduction to the bootstrap”",
)
PARTS: Final = Definition(
    "Parts",
    "Each token counts once in each division. Its kind: words if it has a letter, else numbers if "
    "it has a number, else punctuation, else white space. Its script: that of most of its letters. "
    "The verdict names a part that goes the other way, or differs from the whole by "
    f"{TokenSaving.POINTS_APART:.0f} percentage points, or by half of the whole’s figure if that "
    f"is less and at least {TokenSaving.MIN_POINTS:.0f} points. A verdict needs "
    f"{TokenSaving.MIN_TOKENS} tokens.",
)
FIGURES: Final = (
    Definition("Tokens", "The number of tokens in the text; special tokens are treated as text."),
    Definition("Bytes per token", "Bytes of UTF-8 divided by tokens; higher is better."),
    Definition("Characters per token", "Code points divided by tokens."),
    Definition(
        COVERED_BYTES,
        "Bytes in tokens divided by tokens: shown if a tokenizer leaves text out, "
        "because all bytes divided by its tokens would reward that.",
    ),
    Definition(COVERED_CHARACTERS, "The same in code points."),
    Definition(
        "Tokens per word",
        "Fertility: the average number of tokens in a word (a run of letters, marks and numbers). "
        "1 is the minimum.",
        "Ács 2019, “Exploring BERT’s vocabulary”; Rust et al. 2021, “How good is your tokenizer?”",
    ),
    Definition(
        "Words kept whole",
        "The share of words that are not split by a token boundary.",
        "Rust et al. 2021, who count the rest as “continued words”",
    ),
    INTERVAL,
    PARTS,
    _RENYI,
    Definition("Vocabulary", "The number of tokens, including special ones."),
    Definition("Only in this vocabulary", "Tokens, by their bytes, that none of the others has."),
    Definition(
        "Uses of those tokens", "How many tokens of the text are found only in this vocabulary."
    ),
    Definition(
        "Bytes in no token",
        "Text that the vocabulary cannot spell, or white space that is dropped. Dropping text "
        "saves tokens, so no figure is marked as the best then.",
    ),
)
FAIRNESS: Final = (
    Definition(
        "Tokens in all languages",
        "Tokens for the same sentences in all languages together. Ratios mark no best figure: a "
        "tokenizer that needs many tokens in every language is even, too.",
    ),
    Definition(
        "Languages with the fewest tokens",
        "In how many languages no other tokenizer here needs fewer tokens; ties count for each.",
    ),
    Definition(
        "Mean parity",
        "Parity is a language’s number of tokens for the same sentences, divided by that of the "
        "reference language; this is the mean over all others. At 2 a language pays twice.",
        _PETROV,
    ),
    Definition("Highest parity", "The parity of the language that pays the most.", _PETROV),
    Definition(
        "Gini coefficient",
        "How unequally tokens are spread over the languages: 0 if all need the same number, near 1 "
        "if one needs almost all of them.",
        "Foroutan et al. 2025, “Parity-aware byte-pair encoding”; the coefficient itself is "
        "Gini’s, 1912",
    ),
    _RENYI._replace(meaning=f"Over all languages together. {_RENYI.meaning}"),
    Definition(
        "Languages it cannot spell",
        "Languages with a character that is in no token, or only in one that means “unknown”.",
    ),
)
SCRIPTS: Final = Definition(
    "Merges of a script",
    "A merge counts for the script of most letters of its token, or the first of several that "
    "tie. Letters that scripts share, such as ー, count with the other letters of their token. "
    "Tokens made only of parts of characters count separately: scripts with three bytes per "
    "letter spend their first merges there. Vocabulary sorts its tokens the same way.",
)
LANGUAGES: Final = (
    Definition(
        "Parity",
        "The number of tokens for the same sentences, divided by that of the reference language. "
        "At 2 a language pays twice.",
        _PETROV,
    ),
    FAIRNESS[4],
    SCRIPTS,
)


def verdict_sentence(
    comparison: Comparison,
    gain: TokenSaving,
    on_text: str,
    *,
    own_name: str,
    other: str = "GPT-2",
    place: int = 1,
) -> Sentence:
    """Return a sentence on the first tokenizer against another, as pieces of text and boldness.

    It has the interval of `gain`, which must be of the same two. `on_text` names the text, such as
    "On held-out text"; `own_name` is the name of the first tokenizer, `other` that of the one at
    `place` in the rows, and may come from a visitor.
    """
    first, own, theirs = shelf.in_sentence(own_name), comparison.rows[0], comparison.rows[place]
    for metrics, who in ((own, first), (theirs, other)):
        if metrics.unknown_bytes:
            lost = f"cannot spell {share_text(metrics.unknown_bytes, metrics.n_bytes)}"
            return [(f"{on_text}, {who} ", False), (lost, True), (" of the text.", False)]
    for metrics, rival, who in ((own, theirs, first), (theirs, own, other)):
        if metrics.dropped_bytes and metrics.n_tokens < rival.n_tokens:
            lost = f"leaves out {share_text(metrics.dropped_bytes, metrics.n_bytes)}"
            why = " of the text: its pre-tokenizer drops white space."
            return [(f"{on_text}, {who} ", False), (lost, True), (why, False)]
    whole, n_fewer = gain.whole, theirs.n_tokens - own.n_tokens
    size = f", with {_vocabulary_in_words(comparison.verdict(0, place).vocabulary_ratio)}."
    needs = f"{on_text}, {first} needs "
    if (not n_fewer and not whole.has_interval) or whole.low == whole.high == 0:
        return [(needs, False), ("as many tokens", True), (f" as {other}{size}", False)]
    interval = f" ({whole.interval_words} over {_units(comparison)})" if whole.has_interval else ""
    if whole.way == "unclear":
        about = [(f"{needs}about as many tokens as {other}", False)]
        figure = [(": ", False), (_difference(own, theirs), True)] if n_fewer else []
        return [*about, *figure, (f"{interval}{size}", False)]
    figure = _difference(own, theirs, " tokens") if n_fewer else "as many tokens"
    than = f" {'than' if n_fewer else 'as'} {other}{interval}{size}"
    return [(needs, False), (figure, True), (than, False)]


def _units(comparison: Comparison) -> str:
    return "" if comparison.blocks is None else comparison.blocks.noun


def is_fair(comparison: Comparison, place: int = 1) -> bool:
    """Return False if one of the two has fewer tokens because it leaves text out."""
    own, theirs = comparison.rows[0], comparison.rows[place]
    return not any(
        metrics.unknown_bytes or (metrics.dropped_bytes and metrics.n_tokens < rival.n_tokens)
        for metrics, rival in ((own, theirs), (theirs, own))
    )


def strongest(comparison: Comparison) -> int:
    """Return the place of the tokenizer with the fewest tokens, apart from the first.

    Those that leave text out count only if there are no others.
    """
    others = range(1, len(comparison.rows))
    fair = [place for place in others if is_fair(comparison, place)]
    return min(fair or others, key=lambda place: comparison.rows[place].n_tokens)


def uncovered_words(
    comparison: Comparison, *, own_name: str, other: str = "GPT-2", place: int = 1
) -> str:
    """Describe the text that is in no token; empty if there is none."""
    sentences: list[str] = []
    first = shelf.in_sentence(own_name)
    for metrics, who in ((comparison.rows[0], first), (comparison.rows[place], other)):
        reasons: list[str] = []
        if metrics.unknown_bytes:
            reasons.append(f"{counted(metrics.unknown_bytes, 'byte')} that its alphabet lacks")
        if metrics.dropped_bytes:
            dropped = counted(metrics.dropped_bytes, "byte")
            reasons.append(f"{dropped} of white space that its pre-tokenizer drops")
        if reasons:
            sentences.append(
                f"Note that {who} has no token for {' and '.join(reasons)}, of "
                f"{metrics.n_bytes:,}, so the two counts are not for the same text."
            )
    return " ".join(sentences)


def _difference(own: TokenizerMetrics, theirs: TokenizerMetrics, noun: str = "") -> str:
    """Return how many fewer or more tokens, in percent, or in tokens if that would read 0.0%."""
    percent = 100 * (1 - own.n_tokens / theirs.n_tokens) if theirs.n_tokens else math.inf
    if abs(percent) >= _MIN_PERCENT and not math.isinf(percent):
        return f"{TextPart.signed(percent)}{noun}"
    n = abs(own.n_tokens - theirs.n_tokens)
    more = "more" if own.n_tokens > theirs.n_tokens else "fewer"
    return f"{n:,} {more} {'token' if n == 1 else 'tokens'}"


def _vocabulary_in_words(ratio: float) -> str:
    """Return the size of the first vocabulary, of which the other is `ratio` times the size."""
    if 0.95 < ratio < 1.05:
        return "a vocabulary of about the same size"
    if ratio < 1:
        return f"{1 / ratio:.1f} times its vocabulary"
    if ratio < 1.75:
        return f"{1 / ratio:.0%} of its vocabulary"
    place = round(ratio) - 2
    share = _FRACTIONS[place] if place < len(_FRACTIONS) else f"1/{round(ratio):,}"
    return f"about {share} of its vocabulary"


def interval_ends(part: TextPart) -> str:
    """Return the ends of a part's interval, such as "1.3% more to 4.3% fewer".

    >>> interval_ends(TextPart("all", 90, 100, 50, 10.0, 8.04, 12.0))
    '8.0 to 12.0'
    >>> interval_ends(TextPart("all", 99, 100, 50, 1.0, -2.0, 4.0))
    '2.0% more to 4.0% fewer'
    """
    if part.way == "unclear":
        return f"{TextPart.signed(part.low)} to {TextPart.signed(part.high)}"
    low, high = sorted((abs(part.low), abs(part.high)))
    return f"{low:,.1f} to {high:,.1f}"


def folder_words(gain: TokenSaving, by_folder: TokenSaving) -> str:
    """Return what is different on folders that training never saw."""
    found = by_folder.whole
    interval = f" ({interval_ends(found)})" if found.has_interval else ""
    words = f"On folders it has never seen: {TextPart.signed(found.percent_fewer)}{interval}."
    if found.way != gain.whole.way:
        words += " It depends on how new your text will be."
    return words


def disagreement(gain: TokenSaving) -> str:
    """Return a sentence on the parts that differ materially from the whole; may be empty.

    At most one part of each division is named: of kinds, words if they are among them and
    `carried_words` does not name them; of files, one that does not go the way of the whole.
    """
    chosen: dict[Division, TextPart] = {}
    for division, part in sorted(gain.disagreeing, key=lambda each: each[1].name != "words"):
        is_rest = part.name in _NOT_NAMED or part.name.endswith((" other files", " other types"))
        is_rest |= division == "file" and part.way == gain.whole.way
        is_rest |= division == "kind" and gain.carried_by is not None
        if not is_rest:
            chosen.setdefault(division, part)
    found: list[str] = []
    for division in ("kind", "script", "type", "file"):
        if division in chosen and len(found) < _MAX_PARTS:
            part = chosen[division]
            figure = TextPart.signed(part.percent_fewer)
            if not found:
                figure = f"it needs {figure} tokens"
            if part.way == "unclear":
                clear = "" if part.low == part.high == 0 else " clear"
                figure = f"there is no{clear} difference"
            found.append(f"{_where(division, part.name)} {figure}")
    sentence = ", ".join(found)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def no_verdict(
    gain: TokenSaving, where: str, *, own_name: str, other: str, is_placeholder: bool
) -> tuple[Sentence, str] | None:
    """Return both counts, why there is no verdict, and what to do; None if there is enough text.

    `own_name` and `other` are the names of the two; `other` may come from a visitor.
    """
    if is_placeholder:
        why = ": the text is only an example."
        return [("No verdict yet", True), (why, False)], _remedy(TokenSaving.MIN_TOKENS, where)
    if gain.has_enough_text:
        return None
    own, theirs = gain.whole.own, gain.whole.theirs
    sentence = [
        ("No verdict yet", True),
        (f": on {where} {shelf.in_sentence(own_name)} needs ", False),
        (counted(own, "token"), True),
        (f" and {other} ", False),
        (f"{theirs:,}", True),
        (f", and a verdict takes {TokenSaving.MIN_TOKENS} of each.", False),
    ]
    return sentence, _remedy(TokenSaving.MIN_TOKENS - min(own, theirs), where)


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
    if how is None or not where.endswith(HELD_OUT) or how.by == "word":
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
    return f"On {sample}{text}{how.noun(2)} it has never seen"


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


def is_equal(part: TextPart) -> bool:
    """Return whether both need the same number of tokens, and no interval leaves that in doubt."""
    return part.own == part.theirs and not part.low < part.high


def figure_words(part: TextPart) -> str:
    """Return a part's figure, such as "4.9% more"; a dash if there is none.

    >>> figure_words(TextPart("all", 120, 100, 50, -20.0, -25.0, -15.0))
    '20.0% more'
    >>> figure_words(TextPart("numbers", 104, 100, 50, -4.0, -9.0, 1.0))
    '4.0% more, unsure'
    >>> figure_words(TextPart("words", 100, 100, 50, 0.0, 0.0, 0.0))
    'as many'
    """
    if part.theirs and is_equal(part):
        return "as many"
    unsure = ", unsure" if part.way == "unclear" and part.low < part.high else ""
    return f"{TextPart.signed(part.percent_fewer)}{unsure}" if part.theirs else "–"


def _where(division: Division, name: str) -> str:
    if division == "kind":
        return f"on {name} alone"
    if division == "script":
        return f"on {name}"
    shown = part_name(division, name)
    if division == "type":
        return (
            "in files without a type" if name == Composition.WITHOUT_TYPE else f"in {shown} files"
        )
    return f"in “{shown}”"


def _remedy(n_missing: int, where: str) -> str:
    n = max(100, -(-n_missing * _CHARACTERS_PER_TOKEN // 100) * 100)
    if where.endswith(HELD_OUT):
        return "Train on more text, or hold out more of it."
    return (
        f"Paste about {n:,} more characters of the kind of text that you care about, or train on a "
        "corpus with a held-out part."
    )
