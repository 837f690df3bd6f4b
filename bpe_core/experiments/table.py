"""The rows of an experiment: what they answer, and what they are written as."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, printable
from bpe_core.comparison import TextPart
from bpe_core.corpus import Location
from bpe_core.errors import OutOfRangeError
from bpe_core.extras import to_frame

COLUMNS: Final[tuple[str, ...]] = (
    "tokenizer",
    "corpus",
    "base",
    "pretokenizer",
    "alphabet",
    "trainer",
    "vocab_size",
    "n_tokens",
    "bytes_per_token",
    "bytes_per_token_low",
    "bytes_per_token_high",
    "bytes_lost",
    "percent_fewer",
    "percent_fewer_low",
    "percent_fewer_high",
    "bits_per_byte",
    "bits_per_byte_low",
    "bits_per_byte_high",
    "renyi_efficiency",
    "n_dead",
    "mean_parity",
    "gini",
    "stop_reason",
    "fingerprint",
    "shared_training_seconds",
    "measuring_seconds",
    "process_peak_mb",
)
MEASURED_ON_THE_MACHINE: Final = COLUMNS[-3:]
"""The columns that differ each time the experiment is run. Rows are cuts of one training, are
measured at the same time, and share a process, so the first and the last are not a row's alone."""
_IN_LATEX: Final = (
    ("Tokenizer", "tokenizer", "{}"),
    ("Vocabulary", "vocab_size", "{:,}"),
    ("Bytes/token", "bytes_per_token", "{:.3f}"),
    ("Saving (\\%)", "percent_fewer", "{:.2f}"),
    ("Bits/byte", "bits_per_byte", "{:.3f}"),
    ("R\\'enyi", "renyi_efficiency", "{:.3f}"),
    ("Dead", "n_dead", "{:,}"),
    ("Parity", "mean_parity", "{:.2f}"),
    ("Gini", "gini", "{:.3f}"),
)
_SPECIAL: Final = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)
CLEAR_SAVING: Final = 1.0
"""A larger vocabulary is worth its tokens if it saves this many per cent for each doubling."""

_SMALL: Final = 0.1
"""Per cents below it are written with two decimal places, as their intervals are."""
_MAX_NAMES: Final = 3
_MANY_TIMES: Final = 10
"""Ratios above it are written without a decimal place."""


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One tokenizer of an experiment, and what was measured of it."""

    name: str
    """Names the settings that differ between rows, such as "gpt2, 8,192"."""
    settings: Mapping[str, Any]
    """"corpus", "base" (a tokenizer that is extended, or None), "pretokenizer", "alphabet",
    "trainer" (a name among the experiment's settings) and "vocab_size": what `bpe.train` or
    `bpe.extend` needs to train it alone."""
    figures: Mapping[str, Any]
    """By the names of the table's columns."""
    tokens_by_unit: NDArray[np.int64] = field(repr=False, compare=False)
    """int64[n_units]: its tokens on each unit of the held-out text."""
    bits_by_unit: NDArray[np.float64] = field(repr=False, compare=False)

    @property
    def family(self) -> tuple[Any, ...]:
        """The settings apart from the size."""
        return tuple(value for key, value in self.settings.items() if key != "vocab_size")


class RefusedRow(NamedTuple):
    """One tokenizer of an experiment that could not be trained."""

    name: str
    settings: Mapping[str, Any]
    """As those of an `ExperimentRow`."""
    why: str
    """In a sentence."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """The rows of an experiment, in the order of its settings; made by `bpe.experiment`."""

    ALPHABETS: ClassVar = ("full", "seen", "characters")

    rows: tuple[ExperimentRow, ...]
    against: int
    """The index of the row that others are compared with."""
    settings: Mapping[str, Any]
    """The settings, with those that were not given, and what the result can be checked by."""
    bytes_by_unit: NDArray[np.int64] = field(repr=False)
    """int64[n_units]: the bytes of each unit of the held-out text."""
    stratum_of_unit: NDArray[np.int64] = field(repr=False)
    folder: str = field(default=".", repr=False)
    """What relative paths of the settings start from."""
    refused: tuple[RefusedRow, ...] = ()
    """The rows that could not be trained, such as one too small for its alphabet."""

    def __repr__(self) -> str:
        return f"<Experiment of {len(self.rows)} tokenizers: {self.answer}>"

    def saving(self, row: int, against: int | None = None) -> TextPart:
        """Return how many fewer tokens a row takes than another, with its paired interval.

        Raises `OutOfRangeError` for an index that no row has.

        >>> import bpe_core as bpe
        >>> texts = [f"the bare bytes of text {n}\\n" for n in range(40)]
        >>> found = bpe.experiment({"vocab_sizes": [260, 280], "held_out": 0.5}, {"mine": texts})
        >>> found.saving(1, 0).way, found.saving(0, 0).percent_fewer
        ('fewer', 0.0)
        """
        other = self.against if against is None else against
        for place in (row, other):
            check_whole("the index of a row", place, 0, len(self.rows) - 1, OutOfRangeError)
        return TextPart.of(
            self.rows[row].tokens_by_unit, self.rows[other].tokens_by_unit, self.stratum_of_unit
        )

    @cached_property
    def answer(self) -> str:
        """The sentence that says which tokenizer to take, and why not a larger one.

        Of the settings apart from the size, those are taken whose largest vocabulary needs the
        fewest tokens. Of their sizes, the smallest is taken from which twice as many tokens may
        save less than 1 %, by the paired interval, or do without one. The size compared with is
        the next that is at least twice as large, or the largest; the limit is scaled to the
        doublings between, so it does not matter how finely sizes are laid.

        New tokenizers and each base that is extended have a sentence of their own, because a
        vocabulary of another order of size needs fewer tokens whatever else is true of it.
        Tokenizers that lose some of the held-out text are taken only if no other is there, because
        text in no token costs none.
        """
        first, *others = self._choices
        sentences = [self._sentence(*first)]
        for place, following in others:
            sentences.append(self._sentence(place, following, is_first=False))
            part = self.saving(place, first[0])
            times = self._size(place) / self._size(first[0])
            sentences.append(
                f"It takes {TextPart.signed(part.percent_fewer)} tokens than the first, with "
                f"{times:,.{0 if times > _MANY_TIMES else 1}f} times the vocabulary."
            )
        if any(self.rows[place].figures["bytes_lost"] for place, _ in self._choices):
            sentences.append("It loses some of the held-out text, which then costs no tokens.")
        elif any(row.figures["bytes_lost"] for row in self.rows):
            sentences.append("Those that lose some of the held-out text are left out.")
        return " ".join(sentences)

    def _sentence(self, place: int, following: int | None, *, is_first: bool = True) -> str:
        """Return why to take a row, and not the next larger one."""
        row = self.rows[place]
        base, size = row.settings["base"], f"{row.figures['vocab_size']:,} tokens"
        if is_first:
            start = f"Take {size if base is None else f'{base} extended to {size}'}"
        else:
            start = f"If you extend {base} instead, take {size}"
        start += self._named(row)
        smaller = self._sizes(row)[: self._sizes(row).index(place)]
        halves = [each for each in smaller if 2 * self._size(each) <= self._size(place)]
        if following is not None:
            more = self._size(following) - self._size(place)
            part = self.saving(following, place)
            digits = 2 if abs(part.percent_fewer) < _SMALL else 1
            saves = (
                f"save {part.percent_fewer:.{digits}f}% more"
                if part.percent_fewer >= 0
                else f"take {TextPart.signed(part.percent_fewer, digits)} tokens"
            )
            limit = f"less than {CLEAR_SAVING:.0f}% per doubling"
            if not part.has_interval:
                why = f", {limit}; there are too few documents for an interval"
            elif part.high < self._worth(place, following):
                why = f" ({part.interval_words}), {limit}"
            else:
                why = f" ({part.interval_words}), and {limit} is within the interval"
            return f"{start}: a further {more:,} {saves}{why}."
        family = [each.figures for each in self.rows if each.family == row.family]
        if any(figures["stop_reason"] != "vocab-size" for figures in family):
            return f"{start}: the corpus fills no larger vocabulary."
        if smaller:
            other = halves[-1] if halves else smaller[0]
            part = self.saving(place, other)
            interval = f" ({part.interval_words})" if part.interval_words else ""
            return (
                f"{start}, the largest that was tried: it takes "
                f"{TextPart.signed(part.percent_fewer)} tokens than {self._size(other):,}"
                f"{interval}, so try larger ones too."
            )
        return f"{start}, the only size that was tried: try others, to see what they save."

    @cached_property
    def recommended(self) -> int:
        """The index of the row that `answer` names first."""
        return self._choices[0][0]

    @cached_property
    def _choices(self) -> list[tuple[int, int | None]]:
        """The row to take, and the next larger one, which is not worth it, or None.

        One for new tokenizers, then one for each base, in the order of the rows.
        """
        bases = dict.fromkeys(row.settings["base"] for row in self.rows)
        return [self._choice(base) for base in sorted(bases, key=lambda base: base is not None)]

    def _choice(self, base: str | None) -> tuple[int, int | None]:
        largest = {
            row.family: place for place, row in self._by_size() if row.settings["base"] == base
        }
        whole = [place for place in largest.values() if not self.rows[place].figures["bytes_lost"]]
        best = min(
            whole or largest.values(), key=lambda place: self.rows[place].figures["n_tokens"]
        )
        places = self._sizes(self.rows[best])
        sizes = [*map(self._size, places)]
        for place, size in zip(places[:-1], sizes, strict=False):
            following = places[min(bisect_left(sizes, 2 * size), len(places) - 1)]
            part = self.saving(following, place)
            least = part.low if part.has_interval else part.percent_fewer
            if least < self._worth(place, following):
                return place, following
        return places[-1], None

    def _worth(self, place: int, following: int) -> float:
        """Return how many per cent a larger row must save: 1 % for each doubling between."""
        doublings = math.log2(self._size(following) / self._size(place))
        return 100 * (1 - (1 - CLEAR_SAVING / 100) ** doublings)

    def _size(self, place: int) -> int:
        return self.rows[place].figures["vocab_size"]

    def _by_size(self) -> list[tuple[int, ExperimentRow]]:
        return sorted(enumerate(self.rows), key=lambda each: each[1].figures["vocab_size"])

    def _sizes(self, row: ExperimentRow) -> list[int]:
        """Return the rows that differ from this one in size, ascending, each size once."""
        sizes: dict[int, int] = {}
        for place, each in self._by_size():
            if each.family == row.family:
                sizes.setdefault(each.figures["vocab_size"], place)
        return list(sizes.values())

    def _named(self, row: ExperimentRow) -> str:
        """Return the settings of a row that others do not share, after " with "."""
        words: list[str] = []
        for key, word in (
            ("corpus", "the corpus"),
            ("pretokenizer", "the cut"),
            ("alphabet", "the alphabet"),
            ("trainer", "the trainer"),
        ):
            value = row.settings[key]
            is_corpus = key == "corpus"
            values = {
                each.settings[key]
                for each in self.rows
                if is_corpus or each.settings["base"] is None
            }
            is_own = is_corpus or row.settings["base"] is None
            if is_own and len(values) > 1:
                words.append(f"{word} {value}")
        return f" with {_and(words)}" if words else ""

    @cached_property
    def frontier(self) -> tuple[int, ...]:
        """The rows that no other beats in both size and bits per byte, the smallest first."""
        found: list[int] = []
        least = math.inf
        for place, row in sorted(
            self._by_size(),
            key=lambda each: (each[1].figures["vocab_size"], each[1].figures["bits_per_byte"]),
        ):
            if row.figures["bits_per_byte"] < least:
                least = row.figures["bits_per_byte"]
                found.append(place)
        return tuple(found)

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """A dict for each row, with all columns; None where a figure is not known."""
        found: list[dict[str, Any]] = []
        for place, row in enumerate(self.rows):
            part = self.saving(place)
            values = {
                "tokenizer": row.name,
                **row.settings,
                **row.figures,
                # With superwords, the tokenizer's own is that of the second stage.
                "pretokenizer": row.settings["pretokenizer"],
                "percent_fewer": part.percent_fewer,
                "percent_fewer_low": known(part.low),
                "percent_fewer_high": known(part.high),
            }
            found.append({name: values[name] for name in COLUMNS})
        return found

    @property
    def _all_lines(self) -> list[dict[str, Any]]:
        """The table, and a line for each refused row, which says why as its `stop_reason`."""
        nothing: dict[str, Any] = dict.fromkeys(COLUMNS)
        return self.table + [
            {**nothing, "tokenizer": row.name, **row.settings, "stop_reason": row.why}
            for row in self.refused
        ]

    @property
    def refusals(self) -> list[str]:
        """A sentence for each reason: the first trainings that it refuses, with the sizes.

        Of the reasons of one training, that of its largest refused size is given.

        >>> import bpe_core as bpe
        >>> texts = [f"the bare bytes of text {n}" for n in range(40)]
        >>> found = bpe.experiment({"vocab_sizes": [99, 199, 299], "held_out": 0.5}, {"x": texts})
        >>> found.refusals[0][:63]
        '99 and 199 tokens: A vocabulary of 199 tokens has no room for t'
        """
        families: dict[tuple[Any, ...], list[RefusedRow]] = {}
        for row in self.refused:
            of = tuple(value for key, value in row.settings.items() if key != "vocab_size")
            families.setdefault(of, []).append(row)
        named: dict[str, list[str]] = {}
        for rows in families.values():
            name, comma, _ = rows[-1].name.rpartition(", ")
            sizes = _and([row.name.rpartition(", ")[2] for row in rows])
            named.setdefault(rows[-1].why, []).append(f"{name}{comma}{sizes} tokens")
        found: list[str] = []
        for why, names in named.items():
            # A list that hides one name would be as long with it.
            n_shown = _MAX_NAMES if len(names) > _MAX_NAMES + 1 else len(names)
            more = f" and {len(names) - n_shown:,} more" if n_shown < len(names) else ""
            found.append(f"{'; '.join(names[:n_shown])}{more}: {why}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the answer, the settings and the rows as JSON values."""
        return {
            "answer": self.answer,
            "recommended": self.rows[self.recommended].name,
            "against": self.rows[self.against].name,
            "frontier": [self.rows[place].name for place in self.frontier],
            "settings": dict(self.settings),
            "rows": self.table,
            "refused": {row.name: row.why for row in self.refused},
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each tokenizer, named in its first column.

        Rows that could not be trained are the last; their `stop_reason` says why.
        """
        return to_frame(self._all_lines)

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """Return the table as CSV, with the figures in full; unknown ones are empty."""
        text = io.StringIO(newline="")
        writer: csv.DictWriter[str] = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._all_lines)
        return text.getvalue()

    def to_latex(self) -> str:
        """Return the table for a paper; it needs the package booktabs."""
        columns = [
            each for each in _IN_LATEX if any(row[each[1]] is not None for row in self.table)
        ]
        lines = [
            "\\begin{tabular}{l" + "r" * (len(columns) - 1) + "}",
            "\\toprule",
            " & ".join(title for title, *_ in columns) + " \\\\",
            "\\midrule",
        ]
        for row in self.table:
            cells = (
                "--" if row[name] is None else form.format(row[name]).translate(_SPECIAL)
                for _, name, form in columns
            )
            lines.append(" & ".join(cells) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def to_toml(self, folder: str | None = None) -> str:
        """Return the file that repeats the experiment, with the hashes of its texts and tokenizers.

        `bpe.experiment` and `bpe experiment` read it. They refuse a corpus whose hash differs. If
        the file is written to another `folder` than the settings came from, give it, so that
        relative paths lead to the same files.
        """
        head = dict(self.settings)
        corpora = head.pop("corpora")
        if folder is not None:
            corpora = {
                name: {**corpus, "sources": self._moved(corpus["sources"], folder)}
                for name, corpus in corpora.items()
            }
            if head["parallel"] != ["sample"]:
                head["parallel"] = self._moved(head["parallel"], folder)
            head["held_out_files"] = self._moved(head["held_out_files"], folder)
            head["extend"] = [
                self._moved([base], folder)[0] if os.path.exists(self._path(base)) else base
                for base in head["extend"]
            ]
        made, trainers = head.pop("made"), head.pop("trainers")
        fingerprints = {row.name: row.figures["fingerprint"] for row in self.rows}
        lines = [
            f"# {printable(self.answer)}",
            *(f"{key} = {_toml(value)}" for key, value in head.items()),
        ]
        for table, named in (("trainers", trainers), ("corpora", corpora)):
            for name, own in named.items():
                lines += ["", f"[{table}.{_toml(name)}]"]
                lines += [f"{key} = {_toml(value)}" for key, value in own.items()]
        lines += ["", "[made]", *(f"{key} = {_toml(value)}" for key, value in made.items())]
        lines += ["", "[made.fingerprints]"]
        lines += [f"{_toml(name)} = {_toml(value)}" for name, value in fingerprints.items()]
        return "\n".join([*lines, ""])

    def _path(self, source: str) -> str:
        return os.path.join(self.folder, source)

    def _moved(self, sources: Sequence[str], folder: str) -> list[str]:
        """Return paths as they are from another folder; absolute ones and URLs as they are."""
        return [
            source
            if Location(source).is_url or os.path.isabs(source)
            else os.path.relpath(self._path(source), folder)
            for source in sources
        ]


def _and(words: Sequence[str]) -> str:
    """Return words in a row.

    >>> _and(["a", "b", "c"]), _and(["a"])
    ('a, b and c', 'a')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, Mapping):
        pairs: Mapping[str, object] = value  # pyright: ignore[reportUnknownVariableType]
        return f"{{{', '.join(f'{_toml(key)} = {_toml(own)}' for key, own in pairs.items())}}}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        items: Sequence[object] = value  # pyright: ignore[reportUnknownVariableType]
        return f"[{', '.join(map(_toml, items))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, (int, float)):
        return repr(value)
    # As JSON, apart from one control character.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def known(figure: float) -> float | None:
    """Return a figure, None if it is nan.

    >>> known(1.5), known(math.nan)
    (1.5, None)
    """
    return None if math.isnan(figure) else figure


def tokens_interval(
    tokens: NDArray[np.int64], n_bytes: NDArray[np.int64], strata: NDArray[np.int64]
) -> tuple[float | None, float | None]:
    """Return the 95 % interval of bytes per token; None for both with fewer than 20 units."""
    low, high = TextPart.of(tokens, n_bytes, strata).ratio_interval
    if math.isnan(low):
        return None, None
    return 1 / high, 1 / low
