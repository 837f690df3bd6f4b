"""Choose the text that is held out: whole documents or folders, which training never sees.

A figure on held-out text is to say what new text will take, and new text is new documents. Lines of
documents that were trained on share names, licences and idioms with them, and flatter. So whole
units are held out, and documents that share most of their lines are one unit. They are drawn within
strata of one file type and script, to give each its share.

If there are at least 20 folders, they are the units, because new text is often from other places:
those nearest to the root, because folders of one project are alike.
If a stratum has few documents, or one exceeds the share of its stratum, the two ends of documents
are held out instead, with a margin between them and the training text.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, NamedTuple

from bpe_core.checks import describe
from bpe_core.corpus.composition import (
    Span,
    Stratum,
    border_near,
    folder,
    folder_depth,
    folder_levels,
    main_script,
    rest,
    stratum,
)
from bpe_core.corpus.copies import find_copies
from bpe_core.errors import ConfigError

_MIN_SHARE: Final = 0.01
"""A stratum with a smaller share of the corpus can miss its share if it has few units."""
_TOLERANCE: Final = 0.02
"""The units of a stratum are drawn again if their size misses its share by this fraction."""
_MAX_DRAWS: Final = 50
_MAX_SHARE: Final = 1 / 3
"""Of units some of which are too large to be held out, at most this share of the others is."""
_TIMES_OFF: Final = 2
"""By default folders are held out only if whole ones come as near as this factor to the share."""
_MIN_STRETCH: Final = 512
"""The least number of characters in a stretch, unless a stratum has less to hold out."""
_MIN_LAST_STRETCH: Final = 16
_MAX_MARGIN: Final = 1_000
_MAX_LINE: Final = 2_000
_MIN_REACH: Final = 100
_MIN_OCCURRENCES: Final = 4
_BY: Final = re.compile(r"document|stretch|folder(:[1-9]\d*)?|column:.+", re.DOTALL)
_BY_FILE: Final = re.compile(r"file:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Split:
    """How a text was divided from a corpus: `split` of that corpus gives the same parts again."""

    corpus_sha256: str
    """The `sha256` of the whole corpus."""
    held_out_share: float
    seed: int
    by: str = "document"
    """What was held out, as `split` takes it, or "file:" and the `sha256` of the text that
    `hold_out` was given."""

    @staticmethod
    def check_by(by: object) -> str:
        """Return a kind of unit that `Corpus.split` accepts; raise ConfigError for any other.

        >>> Split.check_by("folder:2")
        'folder:2'
        """
        if isinstance(by, str) and _BY.fullmatch(by):
            return by
        raise ConfigError(
            'Expected "document", "folder", "folder:2" (or another depth), "column:NAME" or '
            f'"stretch" as what to hold out by, got {describe(by)}.'
        )


WhyWithin = Literal["", "few", "huge", "alike"]
"""Why documents were not held out whole: there are too few, some are too large, or too many share
most of their lines. Empty if it was asked for, or is not known."""
_MAX_NAME: Final = 42


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How text was held out."""

    MIN_UNITS: ClassVar = 20
    """Strata with fewer units are not drawn from, and figures over fewer have no interval."""

    by: str
    """The kind of unit: "document", "folder", "folder:2", "column:author" or "stretch"; "file" for
    documents of a text of its own, and "word" for words with counts."""
    n_units: int
    """How many units were held out."""
    share_within: float
    """The share of its characters from documents of which training saw the rest, from 0 to 1."""
    why_within: WhyWithin = ""
    """The reason for most of this share."""

    def noun(self, n: int) -> str:
        """Return what the units are called, in the singular for one.

        >>> HeldOut("column:author", 3, 0.0).noun(3)
        'values of “author”'
        """
        kind, _, name = self.by.partition(":")
        if kind == "column":
            shown = "".join(c if c.isprintable() else "\ufffd" for c in name[:_MAX_NAME])
            return f"{'value' if n == 1 else 'values'} of “{shown}”"
        noun = kind if kind in ("folder", "word") else "document"
        return noun if n == 1 else f"{noun}s"

    @property
    def answers_for(self) -> str:
        """A sentence on the new text that figures on this text answer for; may be empty.

        >>> HeldOut("folder", n_units=31, share_within=0.0).answers_for
        'They answer for text from new folders, such as other projects or sources.'
        """
        if self.share_within == 1:
            return ""
        kind = self.by.partition(":")[0]
        new = {
            "document": "new documents from the same places, not for text from other ones",
            "folder": "text from new folders, such as other projects or sources",
            "column": f"text with new {self.noun(2)}",
            "file": "more text like your own files",
        }
        return f"They answer for {new[kind]}." if kind in new else ""

    @property
    def division_words(self) -> str:
        """A sentence or two on how the text was held out; may be empty.

        >>> HeldOut("folder", n_units=31, share_within=0.0).division_words
        'Whole folders are held out of each file type and script, to their share if possible.'
        >>> HeldOut("document", n_units=1, share_within=1.0).division_words
        'The ends of documents are held out. From within documents that training saw: all of the \
held-out text. This flatters.'
        """
        if self.by == "word":
            return self.flattery
        if self.by == "file":
            return "The held-out text is your own files; none of the corpus is held out."
        if self.share_within == 1:
            return f"The ends of documents are held out. {self.flattery}"
        units = self.noun(2)
        is_column = self.by.startswith("column:")
        whole = f"All text with some {units} is" if is_column else f"Whole {units} are"
        share = "held out of each file type and script, to their share if possible."
        return f"{whole} {share} {self.flattery}".rstrip()

    @property
    def flattery(self) -> str:
        """A sentence on text from within documents that training saw; may be empty.

        >>> HeldOut("document", n_units=31, share_within=0.25, why_within="huge").flattery
        'From within documents that training saw: 25% of the held-out text, because single \
documents are larger than the part to hold out. This flatters.'
        """
        if not self.share_within:
            return ""
        share = "all" if self.share_within == 1 else f"{self.share_within:.0%}"
        why = _WHY_WITHIN[self.why_within]
        return (
            f"From within documents that training saw: {share} of the held-out text{why}. This "
            "flatters."
        )


_WHY_WITHIN: Final[dict[WhyWithin, str]] = {
    "": "",
    "few": f", because there are fewer than {HeldOut.MIN_UNITS} documents of its file type and "
    "script",
    "huge": ", because single documents are larger than the part to hold out",
    "alike": ", because many documents share most of their lines",
}


class Division(NamedTuple):
    """The spans of each document that are held out, and those that are trained on.

    The margins around stretches are in neither.
    """

    held_out: list[Sequence[Span]]
    training: list[Sequence[Span]]
    units: Sequence[int]
    """The number of each document's unit."""
    how: HeldOut


def check_split_by(by: str) -> str:
    """Return how a corpus was divided; raise ConfigError for what `Split.by` cannot be."""
    return by if _BY_FILE.fullmatch(by) else Split.check_by(by)


def hold_out(
    documents: Sequence[str],
    names: Sequence[str],
    share: float,
    seed: int,
    by: str | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Division:
    """Choose what is held out; never all text.

    By default these are folders of the first level of which there are at least 20, if whole ones
    come near the share, and otherwise documents. Raises ConfigError if `by` is a column that is not
    known, or if all text is in one folder or under one value.

    >>> division = hold_out(["a line\\n" * 20, "b"], ["a.txt", "b.txt"], share=0.2, seed=0)
    >>> division.held_out
    [[Span(start=112, end=140)], ()]
    """
    texts = _Texts(documents, names)
    if not share:
        return _Chosen(texts, share, seed).division(by or "document", range(len(documents)))
    copies = range(len(documents)) if by == "stretch" else find_copies(documents)
    if by is None:
        by = "document"
        levels = [f"folder:{depth}" for depth in range(1, folder_depth(names))]
        for level in (*levels, "folder"):
            folders = _labels(names, level, {})
            with_text = {name for name, size in zip(folders, texts.sizes, strict=True) if size}
            if len(with_text) >= HeldOut.MIN_UNITS:
                division = _hold_out_groups(_Chosen(texts, share, seed), level, folders, copies)
                n = sum(end - start for spans in division.held_out for start, end in spans)
                if share / _TIMES_OFF <= n / sum(texts.sizes) <= share * _TIMES_OFF:
                    return division
    chosen = _Chosen(texts, share, seed)
    if by in ("document", "stretch"):
        chosen.take_documents(_units(copies, texts, texts.sizes), may_be_whole=by == "document")
        return chosen.division(by, copies)
    return _hold_out_groups(chosen, by, _labels(names, by, columns or {}), copies)


def _hold_out_groups(
    chosen: _Chosen, by: str, labels: Sequence[str], copies: Sequence[int]
) -> Division:
    """Hold out all documents with some of the labels."""
    sizes = chosen.texts.sizes
    if len({label for label, size in zip(labels, sizes, strict=True) if size}) < 2:
        raise ConfigError(
            f"All text is in one unit, so none can be held out by {by.partition(':')[0]}. Hold out "
            "by document instead."
        )
    places: defaultdict[int, set[str]] = defaultdict(set)
    for label, first in zip(labels, copies, strict=True):
        places[first].add(label)
    # What has copies elsewhere is likely to be trained on.
    sizes = [
        size if len(places[first]) == 1 else 0 for size, first in zip(sizes, copies, strict=True)
    ]
    units = _units(labels, chosen.texts, sizes)
    if units:
        chosen.take_groups(units)
        chosen.return_copies(copies)
    place = {label: n for n, label in enumerate(dict.fromkeys(labels))}
    return chosen.division(by, [place[label] for label in labels])


class _Texts:
    """Documents with their names, sizes and strata."""

    def __init__(self, documents: Sequence[str], names: Sequence[str]) -> None:
        self.documents = documents
        self.names = names
        self.sizes: list[int] = []
        self.strata: list[Stratum] = []
        for text, name in zip(documents, names, strict=True):  # in one pass, as they may be on disk
            self.sizes.append(len(text))
            self.strata.append(stratum(text, name))


class _Unit(NamedTuple):
    """Documents that are held out together or not at all."""

    size: int
    stratum: Stratum
    """The one that most of its text is of."""
    members: list[int]


def _units(labels: Sequence[object], texts: _Texts, sizes: Sequence[int]) -> list[_Unit]:
    """Return the units that have any size: documents with the same label."""
    groups: defaultdict[object, list[int]] = defaultdict(list)
    for i, size in enumerate(texts.sizes):
        if size:
            groups[labels[i]].append(i)
    units: list[_Unit] = []
    for members in groups.values():
        of_each: Counter[Stratum] = Counter()
        for i in members:
            of_each[texts.strata[i]] += sizes[i]
        if size := of_each.total():
            main = max(sorted(of_each), key=of_each.__getitem__)
            units.append(_Unit(size, main, members))
    return units


def _strata(units: Iterable[_Unit]) -> Iterable[list[_Unit]]:
    found: defaultdict[Stratum, list[_Unit]] = defaultdict(list)
    for unit in units:
        found[unit.stratum].append(unit)
    return [found[kind] for kind in sorted(found)]


def _total(units: Iterable[_Unit]) -> int:
    return sum(unit.size for unit in units)


class _Chosen:
    """The documents, and what has been held out of them so far."""

    def __init__(self, texts: _Texts, share: float, seed: int) -> None:
        self.texts = texts
        self._sizes = texts.sizes
        self._share = share
        # Only random() is promised to return the same numbers in later versions of Python.
        self._draw = random.Random(seed)
        self._spans: dict[int, list[Span]] = {}
        self._margins: dict[int, list[Span]] = {}
        self._why: dict[int, WhyWithin] = {}

    def take_documents(self, units: Sequence[_Unit], *, may_be_whole: bool) -> None:
        """Hold out whole documents; of few or huge ones, stretches."""
        total = _total(units)
        few: list[_Unit] = []
        for found in _strata(units):
            size = _total(found)
            whole = [unit for unit in found if unit.size <= self._share * size]
            huge = [unit for unit in found if unit.size > self._share * size]
            if not may_be_whole:
                self._take_stretches(found, max_whole=0, why="")
            elif len(whole) >= HeldOut.MIN_UNITS:
                self._take_whole(whole, self._share * _total(whole))
                self._take_stretches(huge, max_whole=0, why=_why(found, huge))
            elif size < _MIN_SHARE * total:
                few += found
            else:
                self._take_stretches(found, max_whole=2 * _MIN_STRETCH, why=_why(found, huge))
        if len(few) >= HeldOut.MIN_UNITS:
            self._take_whole(few, self._share * _total(few))

    def take_groups(self, units: Sequence[_Unit]) -> None:
        """Hold out whole folders, or all documents with the same value in a column."""
        total = _total(units)
        # More of what has no copies elsewhere makes up for the rest.
        share = min(self._share * sum(self._sizes) / total, _MAX_SHARE)
        few: list[_Unit] = []
        owed = 0.0
        for found in _strata(units):
            quota = share * _total(found)
            whole = [unit for unit in found if unit.size <= quota]
            if len(whole) >= HeldOut.MIN_UNITS:
                self._take_whole(whole, quota)
            else:
                small = [unit for unit in found if unit.size <= share * total]
                few += small
                owed += min(quota, _total(small))
        self._take_whole(few, owed)
        # If every unit exceeds the share, the smallest is nearest to it.
        smallest = min(units)
        if not self._spans and smallest.size <= total / 2:
            self._hold_out(smallest)

    def return_copies(self, copies: Sequence[int]) -> None:
        """Train on held-out documents of which training has a copy."""
        trained = {copies[i] for i, size in enumerate(self._sizes) if size and i not in self._spans}
        self._spans = {i: spans for i, spans in self._spans.items() if copies[i] not in trained}

    def division(self, by: str, units: Sequence[int]) -> Division:
        """Return what was chosen; nothing is held out if no text would be left."""
        n_held_out = sum(end - start for spans in self._spans.values() for start, end in spans)
        n_left_out = sum(end - start for spans in self._margins.values() for start, end in spans)
        if n_held_out + n_left_out >= sum(self._sizes):
            self._spans, self._margins, n_held_out = {}, {}, 0
        within: Counter[WhyWithin] = Counter()
        for i in self._margins:
            within[self._why[i]] += sum(end - start for start, end in self._spans[i])
        held_out: list[Sequence[Span]] = []
        training: list[Sequence[Span]] = []
        for i, size in enumerate(self._sizes):
            spans, margins = self._spans.get(i, ()), self._margins.get(i, ())
            held_out.append(spans)
            is_whole = spans and not margins
            training.append(() if is_whole else rest(size, sorted([*spans, *margins])))
        n_units = len({units[i] for i in self._spans})
        how = HeldOut(by, n_units, 0.0)
        if n_held_out and within:
            why = within.most_common(1)[0][0]
            how = HeldOut(by, n_units, within.total() / n_held_out, why)
        return Division(held_out, training, units, how)

    def _hold_out(self, unit: _Unit) -> None:
        for i in unit.members:
            self._spans[i] = [Span(0, self._sizes[i])]

    def _take_whole(self, units: Sequence[_Unit], wanted: float) -> None:
        """Hold out whole units, spread over the folders, of about the size that is wanted.

        At most a third of them, because units that are too large are not among them.
        """
        # The smallest of a folder come last, since they leave the least to make up for.
        ordered = sorted(units, key=lambda unit: (-unit.size, unit.members[0]))
        ordered.sort(key=lambda unit: folder(self.texts.names[unit.members[0]]))
        sizes = [unit.size for unit in ordered]
        share = min(wanted / max(sum(sizes), 1), _MAX_SHARE)
        nearest = wanted = share * sum(sizes)
        drawn: list[int] = []
        for _ in range(_MAX_DRAWS):
            found = _draw(sizes, share, self._draw)
            missed = abs(sum(sizes[place] for place in found) - wanted)
            if missed < nearest:
                drawn, nearest = found, missed
            if nearest <= _TOLERANCE * wanted:
                break
        for place in drawn:
            self._hold_out(ordered[place])

    def _take_stretches(self, units: Iterable[_Unit], max_whole: int, why: WhyWithin) -> None:
        """Hold out the ends of documents; if they are small, one end of some of them.

        Documents of less than `max_whole` characters are held out whole. `why` is the reason to
        hold out ends.
        """
        ordered = sorted(units, key=lambda unit: unit.members)
        first = int(self._draw.random() * len(ordered))
        ordered = ordered[first:] + ordered[:first]
        owed = 0.0
        for unit in ordered:
            owed += self._share * unit.size
            if unit.size <= owed and unit.size < max_whole:
                self._hold_out(unit)
                owed -= unit.size
                continue
            # Copies lose the same end.
            size = min(owed, unit.size / 2) / len(unit.members)
            least = _MIN_LAST_STRETCH if unit is ordered[-1] else _MIN_STRETCH
            if size >= least:
                n_ends = 2 if size >= 2 * least else 1
                at_start = n_ends == 2 or self._draw.random() < 0.5
                for i in unit.members:
                    self._why[i] = why
                    owed -= self._take_ends(i, size / n_ends, at_start=at_start, n_ends=n_ends)

    def _take_ends(self, i: int, size: float, *, at_start: bool, n_ends: int) -> int:
        """Hold out one end of a document, or both, with margins; return the size held out."""
        text, n = self.texts.documents[i], self._sizes[i]
        margin = round(min(size / 2, _MAX_MARGIN))
        spans: list[Span] = []
        margins: list[Span] = []
        left = 0
        if at_start:
            end = _border(text, round(size), size) or n
            if end < n:
                left = max(_border(text, end + margin, size) or end, end)
                spans.append(Span(0, end))
                margins.append(Span(end, left))
        if n_ends == 2 or not at_start:
            start = _border(text, round(n - size), size) or 0
            if left < start < n:
                border = _border(text, start - margin, size)
                margins.append(
                    Span(max(left, min(start if border is None else border, start)), start)
                )
                spans.append(Span(start, n))
        if not spans or spans[0].start == margins[-1].start == 0 or margins[-1] == Span(left, n):
            return 0
        self._spans[i], self._margins[i] = spans, margins
        return sum(end - start for start, end in spans)


def _why(units: Sequence[_Unit], huge: Sequence[_Unit]) -> WhyWithin:
    """Return why units of one stratum, some of them too large, cannot all be held out whole."""
    if len(units) < HeldOut.MIN_UNITS:
        n_documents = sum(len(unit.members) for unit in units)
        return "few" if n_documents < HeldOut.MIN_UNITS else "alike"
    alike = _total(unit for unit in huge if len(unit.members) > 1)
    return "alike" if 2 * alike > _total(huge) else "huge"


def _border(text: str, near: int, size: float) -> int | None:
    """Return where a stretch of this size may end: close to `near`, or else farther away."""
    close = border_near(text, near, max(round(size * _TOLERANCE), _MIN_REACH))
    return border_near(text, near, _MAX_LINE) if close is None else close


def _labels(names: Sequence[str], by: str, columns: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the folder, or the value of a column, of each document."""
    kind, _, which = by.partition(":")
    if kind == "column":
        if which not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise ConfigError(
                f"Expected a column whose values are known, got {which!r}; known are: {known}. "
                "Name the column when the corpus is read, or hold out by document."
            )
        return columns[which]
    if not which:
        return [folder(name) for name in names]
    return ["/".join(levels[: int(which)]) for levels in folder_levels(names)]


def held_out_words(word_counts: Mapping[str, int], share: float, seed: int) -> dict[str, int]:
    """Return the held-out words with the number of their held-out occurrences; never all words.

    Part of the count of frequent words is held out, and rare words whole.

    >>> held_out_words({"the": 1_000, "hug": 3, "ugg": 2}, share=0.1, seed=0)
    {'the': 100}
    """
    generator = random.Random(seed)
    held_out: dict[str, int] = {}
    by_script: defaultdict[str, list[str]] = defaultdict(list)
    owed = 0.0
    for word, count in word_counts.items():
        if share * count < _MIN_OCCURRENCES:
            by_script[main_script(word)].append(word)
            continue
        owed += share * count * len(word)
        held_out[word] = min(round(owed / len(word)), count - 1)
        owed -= held_out[word] * len(word)
    rare = [
        word
        for script in sorted(by_script)
        for word in sorted(by_script[script], key=lambda word: -len(word) * word_counts[word])
    ]
    for place in _draw([len(word) * word_counts[word] for word in rare], share, generator):
        held_out[rare[place]] = word_counts[rare[place]]
    if held_out == dict(word_counts):
        return {}
    return {word: held_out[word] for word in word_counts if held_out.get(word)}


def _draw(sizes: Sequence[int], share: float, generator: random.Random) -> list[int]:
    """Draw items, each with the same chance: one from each group of neighbours.

    A group ends when its share is as large as its items are on average; the next groups make up for
    what the drawn one is larger or smaller. Returns the places of the drawn items.
    """
    drawn: list[int] = []
    owed = 0.0
    start = group_size = 0
    for place, size in enumerate(sizes):
        group_size += size
        owed += share * size
        n = place + 1 - start
        # Chance decides on the last group.
        enough = generator.random() if place == len(sizes) - 1 else 1.0
        if owed * n >= enough * group_size:
            drawn.append(start + int(generator.random() * n))
            owed -= sizes[drawn[-1]]
            start, group_size = place + 1, 0
    return drawn
