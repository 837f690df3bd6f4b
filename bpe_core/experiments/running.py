"""Train and measure all combinations of corpora, cuts, alphabets, bases and sizes.

The sizes of one training are cuts of one run, which is trained once, at the largest. All rows are
measured on one held-out text. What is measured is kept in a folder, one file for each row, so an
experiment that was stopped resumes, and one with more sizes adds to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain, product
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from bpe_core.adapting import extend, extendable
from bpe_core.checks import check_whole, describe, is_a, is_whole, several
from bpe_core.comparison import (
    Blocks,
    bits_per_byte,
    parity,
)
from bpe_core.corpus import (
    Corpus,
    HeldOut,
    Location,
    ParallelText,
    Split,
    parallel_texts,
    read_corpus,
    to_corpus,
)
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    MissingFileError,
    UnknownSymbolError,
    VocabularyTooSmallError,
)
from bpe_core.experiments.table import (
    COLUMNS,
    Experiment,
    ExperimentRow,
    RefusedRow,
    known,
    tokens_interval,
)
from bpe_core.files import write_whole
from bpe_core.kernels import n_threads
from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.trainers import TrainingRun, check_config, train
from bpe_core.types import Alphabet, TrainingConfig

MAX_ROWS: Final = 1_000
_SAMPLE: Final = "sample"
_MB: Final = 1 << 20
_SETTINGS: Final[dict[str, Any]] = {
    "vocab_sizes": [],
    "pretokenizers": ["gpt2"],
    "alphabets": ["full"],
    "trainers": {"plain": {}},
    "extend": [],
    "new_tokens": [],
    "special_tokens": ["<|endoftext|>"],
    "min_frequency": 0,
    "held_out": 0.08,
    "held_out_by": "",
    "held_out_files": [],
    "seed": 0,
    "alpha": 2.5,
    "model_entries": 1 << 23,
    "parallel": [_SAMPLE],
    "reference": "",
    "against": "",
}
_TRAINER_KEYS: Final = (
    "superwords_from",
    "seeds",
    "vetoes",
    "whole_characters",
    "parity",
    "picky",
    "weights",
)
_TIMES_SLOWER: Final = {"superwords_from": 5, "seeds": 4, "vetoes": 3, "picky": 4}
"""How many times as long as plain BPE a way to train takes, as in docs/trainers.md."""
_CORPUS_KEYS: Final = ("sources", "text_column", "sha256")

Item = TypeVar("Item")
Result = TypeVar("Result")
Record = dict[str, Any]
"""A measured row, as JSON values; or why it could not be trained, as "refused"."""


class Engine(Protocol):
    """What runs a function on many items; `bpe_scale.DaskWorkers` is one."""

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yield each item's place and result, in any order."""
        ...


class Progress(NamedTuple):
    """How far an experiment is."""

    rows_done: int
    rows: int
    training: str
    """What is trained and measured now, such as "mine, gpt2"."""
    share: float
    """From 0 to 1, by the bytes that are trained on and measured."""


@dataclass(frozen=True, slots=True)
class Training:
    """One training and the sizes at which its run is cut."""

    corpus: str
    base: str | None
    """The tokenizer that is extended."""
    pretokenizer: str | None
    """None for the one of the base."""
    alphabet: str | None
    trainer: str | None
    sizes: tuple[int, ...]
    """Sizes of the vocabulary, or with a base, numbers of new tokens."""

    @property
    def name(self) -> str:
        """The settings in words."""
        start = f"{self.base} extended" if self.base else f"{self.pretokenizer}, {self.alphabet}"
        return f"{self.corpus}, {start}" + (f", {self.trainer}" if self.trainer else "")

    def settings(self, size: int) -> dict[str, Any]:
        """Return the settings of one row."""
        return {
            "corpus": self.corpus,
            "base": self.base,
            "pretokenizer": self.pretokenizer,
            "alphabet": self.alphabet,
            "trainer": self.trainer,
            "vocab_size": size,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """All settings of an experiment, checked, and the trainings that they take."""

    settings: Mapping[str, Any]
    corpora: Mapping[str, Mapping[str, Any]]
    """What each corpus is read from: "sources", "text_column" and "sha256", where given."""
    folder: str
    """What relative paths start from."""
    bases: Mapping[str, Encoder]
    """Tokenizers to extend, by their names; others are opened by theirs."""

    @property
    def trainings(self) -> tuple[Training, ...]:
        """The trainings in the order of the rows."""
        own = self.settings
        found: list[Training] = []
        for corpus in self.corpora:
            if own["vocab_sizes"]:
                found += [
                    Training(corpus, None, cut, alphabet, trainer, tuple(own["vocab_sizes"]))
                    for cut in own["pretokenizers"]
                    for alphabet in own["alphabets"]
                    for trainer in own["trainers"]
                ]
            found += [
                Training(corpus, base, None, None, None, tuple(own["new_tokens"]))
                for base in own["extend"]
            ]
        return tuple(found)


class Texts(NamedTuple):
    """The texts of an experiment."""

    training: Mapping[str, Corpus]
    """What is trained on, by the name of its corpus."""
    sha256: Mapping[str, str]
    """Of the whole corpora."""
    held_out: Corpus
    """One text for all rows."""
    blocks: Blocks
    sentences: Mapping[str, Sequence[str]]
    """The same sentences in several languages; may be empty."""
    own_files: Sequence[str]
    """The names of the documents of a held-out text that was given as it is."""


def experiment(
    settings: str | os.PathLike[str] | Mapping[str, Any],
    corpora: Mapping[str, Corpus | Iterable[str]] | None = None,
    *,
    bases: Mapping[str, Encoder] | None = None,
    held_out: Corpus | Iterable[str] | None = None,
    work: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_run: Callable[[Training, int, TrainingRun], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    engine: Engine | None = None,
) -> Experiment:
    """Train and measure all combinations of some settings, on one held-out text.

    `settings` is the path of a TOML file, or a dict of the same values; docs/experiments.md lists
    them. `corpora` has the texts by their names, instead of those that the settings name. Likewise,
    `bases` has tokenizers to extend by the names in the settings, and `held_out` is the text that
    all rows are measured on, instead of a share of the corpora.

    Rows that are measured are kept in the folder `work`, so that an experiment that was stopped
    resumes there; by default nothing is kept. `on_progress` is called after each row, and `on_run`
    with the run of each row that is trained now. `should_stop` is called now and then; once it
    returns True, `concurrent.futures.CancelledError` is raised. With an `engine`, such as
    `bpe_scale.DaskWorkers`, trainings run there, and read the files of the settings themselves.

    Rows that cannot be trained, such as those too small for their alphabet, are in `refused`, with
    the reason, and others are measured.

    Raises MissingFileError, ConfigError for settings that contradict each other or are not known,
    also if no row is left, and what `read_corpus`, `train` and `extend` raise.

    >>> texts = [f"the bare bytes of text {n}, for the bare reader\\n" for n in range(60)]
    >>> found = experiment({"vocab_sizes": [270, 280], "held_out": 0.5}, {"mine": texts})
    >>> [(row.name, row.figures["vocab_size"]) for row in found.rows]
    [('270', 270), ('280', 280)]
    """
    planned = plan(settings, corpora, bases)
    if engine is not None and any(each is not None for each in (corpora, bases, held_out)):
        raise ConfigError(
            "On a cluster, texts and tokenizers are read from files. Name them in the settings."
        )
    texts = read_texts(planned, corpora, held_out)
    # Opened before anything is trained, so that one that cannot be extended is refused first.
    fingerprints = {base: _base(planned, base).fingerprint for base in planned.settings["extend"]}
    kept = None if work is None else _Kept(Path(work))
    trainings = planned.trainings
    records: dict[tuple[Training, int], Record] = {}
    keys = {
        (training, size): _key(planned, texts, training, size, fingerprints)
        for training in trainings
        for size in training.sizes
    }
    for place, key in keys.items():
        if kept is not None and (record := kept.read(key)) is not None:
            records[place] = record
    missing = [
        replace(training, sizes=sizes)
        for training in trainings
        if (sizes := tuple(size for size in training.sizes if (training, size) not in records))
    ]
    whole = {training.name: training for training in trainings}
    missing.sort(key=lambda each: _cost(planned, texts, each))
    costs = [_cost(planned, texts, each) for each in missing]
    spent = 0.0

    def note(training: Training, size: int, record: Record) -> None:
        nonlocal spent
        place = whole[training.name], size
        records[place] = record
        if kept is not None:
            kept.write(keys[place], record)
        spent += _cost(planned, texts, training) / len(training.sizes)
        if on_progress is not None:
            share = spent / sum(costs) if costs else 1.0
            on_progress(Progress(len(records), len(keys), training.name, min(share, 1.0)))

    if on_progress is not None:
        on_progress(Progress(len(records), len(keys), "", 0.0 if missing else 1.0))
    if engine is None:
        for training in missing:
            for size, record in measure_training(planned, texts, training, should_stop, on_run):
                note(training, size, record)
    else:
        work_on = partial(_measure_elsewhere, planned, dict(texts.sha256))
        for place, found in engine.run(work_on, missing):
            for size, record in found:
                note(missing[place], size, record)
    return _experiment(planned, texts, [(place, records[place]) for place in keys])


def plan(
    settings: str | os.PathLike[str] | Mapping[str, Any],
    corpora: Mapping[str, Corpus | Iterable[str]] | None = None,
    bases: Mapping[str, Encoder] | None = None,
) -> Plan:
    """Return the settings of an experiment with those that were not given; raise for wrong ones.

    >>> plan({"vocab_sizes": [300]}, {"mine": ["hug hugs"]}).settings["seed"]
    0
    """
    folder = "."
    if isinstance(settings, (str, os.PathLike)):
        path = Path(settings)
        folder = os.path.abspath(path.parent)
        try:
            given: Any = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise MissingFileError(f"There is no file {path}.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} could not be read: {error}") from None
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{path} is not valid TOML: {error}.") from None
    elif isinstance(settings, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        given = dict(settings)
    else:
        raise ArgumentTypeError(
            f"Expected the path of a TOML file or a dict of settings, got {describe(settings)}."
        )
    named = given.pop("corpora", {})
    given.pop("made", None)
    if unknown := given.keys() - _SETTINGS.keys():
        raise ConfigError(
            f"{min(map(str, unknown))!r:.60} is not a setting. Use {', '.join(_SETTINGS)} or "
            "corpora."
        )
    found = _checked({**_SETTINGS, **given})
    if corpora is not None:
        known_before = named if is_a(named, Mapping) else {}
        named = {str(name): known_before.get(name, {}) for name in corpora}
    planned = Plan(found, _named_corpora(named), folder, bases or {})
    n_rows = sum(len(each.sizes) for each in planned.trainings)
    if n_rows > MAX_ROWS:
        raise ConfigError(f"These are {n_rows:,} combinations; the limit is {MAX_ROWS:,}.")
    return planned


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Return checked settings: lists without repeats, numbers as they are."""
    for name, default in _SETTINGS.items():
        value = given[name]
        if isinstance(default, dict):
            given[name] = _checked_trainers(value)
        elif isinstance(default, list):
            whole = name in ("vocab_sizes", "new_tokens")
            values = _several_of(name, value, whole=whole)
            given[name] = sorted({*map(int, values)}) if whole else list(dict.fromkeys(values))
        elif isinstance(default, str):
            if not is_a(value, str):
                raise ArgumentTypeError(f"Expected {name} as a text, got {describe(value)}.")
        elif isinstance(default, float):
            if not is_a(value, int, float) or is_a(value, bool):
                raise ArgumentTypeError(f"Expected {name} as a number, got {describe(value)}.")
            given[name] = float(value)
        else:
            check_whole(name, value, 0)
            given[name] = int(value)
    if not given["vocab_sizes"] and not given["extend"]:
        raise ConfigError("There is no size to try. Give vocab_sizes, such as [4096, 8192].")
    if bool(given["extend"]) != bool(given["new_tokens"]):
        raise ConfigError(
            'extend and new_tokens go together: extend = ["gpt2"], new_tokens = [1000, 2000].'
        )
    if given["extend"] and given["new_tokens"][0] < 1:
        raise ConfigError("new_tokens has a number below 1. Give numbers of tokens to add.")
    ways = ("pretokenizers", "alphabets", "trainers")
    if given["vocab_sizes"] and not all(given[name] for name in ways):
        raise ConfigError("pretokenizers, alphabets and trainers need at least one value each.")
    if not 0 < given["held_out"] < 1:
        raise ConfigError(
            f"held_out is {given['held_out']}. Rows are measured on held-out text: give a share "
            "above 0 and below 1, such as 0.08."
        )
    if given["held_out_by"]:
        Split.check_by(given["held_out_by"])
    # All bytes, by the name that `bpe.train` has for them.
    given["alphabets"] = ["full" if each == "bytes" else each for each in given["alphabets"]]
    for alphabet in given["alphabets"]:
        if alphabet not in Experiment.ALPHABETS:
            raise ConfigError(
                f"{alphabet!r:.60} is not an alphabet. Use {', '.join(Experiment.ALPHABETS)}."
            )
    _check_combinations(given)
    return given


def _check_combinations(given: Mapping[str, Any]) -> None:
    """Raise for a cut, alphabet or trainer that goes together with none of the others.

    One that goes with some is refused where it does not, row by row.
    """
    fits: set[str] = set()
    errors: dict[str, ConfigError] = {}
    for ways in product(given["pretokenizers"], given["alphabets"], given["trainers"]):
        joins_from = given["trainers"][ways[2]].get("superwords_from")
        try:
            for size in given["vocab_sizes"]:
                # Rows of smaller sizes are refused one by one.
                least = joins_from if is_whole(joins_from) else size
                check_config(_config(given, *ways, max(size, least)))
        except ConfigError as error:
            errors |= {f"{place} {way}": error for place, way in enumerate(ways)}
        else:
            fits |= {f"{place} {way}" for place, way in enumerate(ways)}
    for way, error in errors.items():
        if way not in fits:
            raise error


def _checked_trainers(named: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, given in named.items() if is_a(named, Mapping) else [("", named)]:
        if not is_a(given, Mapping):
            raise ArgumentTypeError(
                "Expected trainers as tables by their names, such as [trainers.long] with "
                f"superwords_from = 4096, got {describe(given)}."
            )
        if unknown := given.keys() - {*_TRAINER_KEYS}:
            raise ConfigError(
                f"{min(map(str, unknown))!r:.60} of the trainer {name!r:.60} is not known. Use "
                f"{', '.join(_TRAINER_KEYS)}."
            )
        found[str(name)] = own = dict(given)
        if "weights" in own:
            weights = own["weights"]
            names = [*map(str, weights)] if is_a(weights, Mapping) else ["x"]
            # Refuses wrong values before anything is trained; names are those of documents.
            Corpus.from_documents(["x"] * len(names), names).weighted(weights)
            own["weights"] = {name: _number(weight) for name, weight in weights.items()}
    return found


def _number(weight: Any) -> int | float:
    """Return a weight as a number that TOML has."""
    return weight if is_a(weight, int, float) else float(weight)


def _joins_from(settings: Mapping[str, Any], trainer: str | None) -> int:
    """Return the size from which a trainer joins words; 0 if it never does."""
    return (settings["trainers"][trainer].get("superwords_from") or 0) if trainer else 0


def _several_of(name: str, value: object, *, whole: bool = False, paths: bool = False) -> list[Any]:
    """Return texts (or paths), or whole numbers, as a list; one alone needs no brackets."""
    kind = "whole numbers" if whole else "texts"

    def fits(each: object) -> bool:
        return is_whole(each) if whole else is_a(each, str, *([os.PathLike] if paths else []))

    if fits(value):
        return [value]
    values = several(value, f"{kind} as {name}", "give a list")
    for each in values:
        if not fits(each):
            raise ArgumentTypeError(
                f"Expected {name} as a list of {kind}, got {describe(each)} in it."
            )
    return values


def _named_corpora(named: Any) -> dict[str, dict[str, Any]]:
    if not is_a(named, Mapping) or not named:
        raise ConfigError(
            'There is no corpus. Name one and its files: [corpora] and below it mine = ["*.txt"].'
        )
    found: dict[str, dict[str, Any]] = {}
    for name, given in named.items():
        entry = dict(given) if is_a(given, Mapping) else {"sources": given}
        if unknown := entry.keys() - {*_CORPUS_KEYS}:
            raise ConfigError(
                f"{min(map(str, unknown))!r:.60} of the corpus {name!r:.60} is not known. Use "
                f"{', '.join(_CORPUS_KEYS)}."
            )
        of = f"of the corpus {name!r:.60}"
        sources = _several_of(f"the sources {of}", entry.get("sources", []), paths=True)
        entry["sources"] = [*map(str, sources)]
        for key in ("text_column", "sha256"):
            if key in entry and not is_a(entry[key], str):
                raise ArgumentTypeError(
                    f"Expected {key} {of} as a text, got {describe(entry[key])}."
                )
        found[str(name)] = entry
    return found


def _config(
    settings: Mapping[str, Any], cut: str, alphabet: str, trainer: str, size: int
) -> TrainingConfig:
    return TrainingConfig(
        vocab_size=size,
        pretokenizer=cut,
        alphabet=cast("Alphabet", alphabet),
        special_tokens=tuple(settings["special_tokens"]),
        min_frequency=settings["min_frequency"],
        **{key: own for key, own in settings["trainers"][trainer].items() if key != "weights"},
    )


def read_texts(
    planned: Plan,
    corpora: Mapping[str, Corpus | Iterable[str]] | None = None,
    held_out: Corpus | Iterable[str] | None = None,
) -> Texts:
    """Read the corpora, and hold out one text of all of them, or files or a text of its own.

    With several corpora, documents of one that are also in what another holds out are left out of
    its training text. Raises CorpusError for a corpus with another hash than the settings say.
    """
    whole = {
        name: _read(planned, name) if corpora is None else to_corpus(corpora[name])
        for name in planned.corpora
    }
    own = planned.settings
    for name, corpus in whole.items():
        expected = planned.corpora[name].get("sha256", corpus.sha256)
        if corpus.word_counts is not None:
            raise CorpusError(f"The corpus {name!r:.60} has words with counts. Give documents.")
        if expected != corpus.sha256:
            raise CorpusError(
                f"The corpus {name!r:.60} is not the one of this experiment: its hash is "
                f"{corpus.sha256[:12]}, not {str(expected)[:12]}. Give the same files, or omit "
                "sha256."
            )
    separate = to_corpus(held_out) if held_out is not None else None
    if separate is None and own["held_out_files"]:
        separate = read_corpus(_found_files(planned, own["held_out_files"]))
    if separate is not None and separate.word_counts is not None:
        raise CorpusError("The held-out text has words with counts. Give documents.")
    parts = {
        name: corpus.split(own["held_out"], own["seed"], own["held_out_by"] or None)
        if separate is None
        else corpus.hold_out(separate)
        for name, corpus in whole.items()
    }
    training = {name: text for name, (text, _) in parts.items()}
    texts = [text for _, text in parts.values()]
    held_out = _joined(texts if separate is None else texts[:1])
    if not held_out.n_bytes:
        raise EmptyCorpusError("There is too little text to hold any back. Give more documents.")
    if len(parts) > 1 and separate is None:
        for name, text in training.items():
            others = _joined([part for other, (_, part) in parts.items() if other != name])
            if others.n_bytes:
                left, _ = text.hold_out(others)
                training[name] = replace(left, divided=text.divided)
    return Texts(
        training,
        {name: corpus.sha256 for name, corpus in whole.items()},
        held_out,
        Blocks.of(held_out),
        _sentences(planned),
        [] if separate is None else [*dict.fromkeys(held_out.names)],
    )


def _read(planned: Plan, name: str) -> Corpus:
    entry = planned.corpora[name]
    found = _found_files(planned, entry["sources"])
    if not found:
        raise CorpusError(f"The corpus {name!r:.60} names no files. Give sources = [...] for it.")
    column = str(planned.settings["held_out_by"])
    kept = column.partition(":")[2] if column.startswith("column:") else None
    return read_corpus(found, entry.get("text_column"), kept_column=kept)


def _found_files(planned: Plan, sources: Sequence[str]) -> list[str]:
    found: list[str] = []
    for source in sources:
        path = source if Location(source).is_url else os.path.join(planned.folder, source)
        if Location(path).is_url or (not os.path.exists(path) and Location(path).is_pattern):
            found += [file.url for file in Location(path).files()[0]]
        else:
            found.append(path)
    return found


def _joined(parts: Sequence[Corpus]) -> Corpus:
    """Return the held-out texts of several corpora as one, each with its own units."""
    parts = [part for part in parts if part.n_bytes]
    if len(parts) < 2:
        return parts[0] if parts else Corpus((), ())
    units: list[int] = []
    n_within = 0.0
    for part in parts:
        first = 1 + max(units, default=-1)
        units += [first + unit for unit in part.units or range(len(part.documents))]
        n_within += part.n_bytes * (part.how.share_within if part.how else 0.0)
    how = parts[0].how
    n_bytes = sum(part.n_bytes for part in parts)
    return Corpus(
        tuple(text for part in parts for text in part.documents),
        tuple(name for part in parts for name in part.names),
        units=tuple(units),
        how=HeldOut(how.by if how else "document", len(set(units)), n_within / n_bytes),
    )


def _sentences(planned: Plan) -> dict[str, Sequence[str]]:
    sources: list[str] = planned.settings["parallel"]
    if not sources:
        return {}
    if sources == [_SAMPLE]:
        texts = parallel_texts()
    else:
        paths = [Path(planned.folder, source) for source in sources]
        try:
            files = [(path.name, path.read_bytes()) for path in paths]
        except (OSError, ValueError) as error:  # ValueError: the path has a NUL
            raise CorpusError(f"Parallel sentences could not be read: {error}") from None
        texts = ParallelText.read(files)
    return {text.name: text.sentences for text in texts}


def train_largest(
    planned: Plan,
    texts: Texts,
    training: Training,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingRun:
    """Train at the largest of the sizes; raises CancelledError once `should_stop` returns True."""
    size, text = max(training.sizes), texts.training[training.corpus]
    if training.base is not None:
        run = extend(
            _base(planned, training.base),
            text,
            size,
            should_stop=should_stop,
            min_frequency=planned.settings["min_frequency"],
        )
    else:
        cut, alphabet, trainer = training.pretokenizer, training.alphabet, training.trainer
        config = _config(planned.settings, str(cut), str(alphabet), str(trainer), size)
        if weights := planned.settings["trainers"][trainer].get("weights"):
            text = text.weighted(weights)
        run = train(text, config, should_stop=should_stop)
    if run.stop_reason == "cancelled":
        raise CancelledError
    return run


def _base(planned: Plan, base: str) -> Tokenizer:
    """Return a tokenizer that was given, or open the one at a path or with a name."""
    if base in planned.bases:
        return extendable(planned.bases[base])
    path = os.path.join(planned.folder, base)
    return extendable(path if os.path.exists(path) else base)


def cut_for(training: Training, run: TrainingRun, size: int) -> TrainingRun:
    """Return the run of one of the sizes of a training."""
    before = 0 if run.given_base is None else run.given_base.vocab_size
    return run.cut(before + size)


def measure_training(
    planned: Plan,
    texts: Texts,
    training: Training,
    should_stop: Callable[[], bool] | None = None,
    on_run: Callable[[Training, int, TrainingRun], None] | None = None,
) -> Iterator[tuple[int, Record]]:
    """Train once, and yield each size with its record, measured several at a time."""
    from_size = _joins_from(planned.settings, training.trainer)
    for size in training.sizes:
        if size < from_size:
            said = (
                f"Words join from {from_size:,} tokens on, and a vocabulary of {size:,} has fewer. "
                "Choose a larger one, or a smaller superwords_from."
            )
            yield size, {"refused": said}
    training = replace(training, sizes=tuple(size for size in training.sizes if size >= from_size))
    if not training.sizes:
        return
    started = time.perf_counter()
    try:
        run = train_largest(planned, texts, training, should_stop)
    except ConfigError as error:
        is_early = from_size and isinstance(error, VocabularyTooSmallError)
        when = f"Words join from {from_size:,} tokens on. " if is_early else ""
        yield from ((size, {"refused": f"{when}{error}"}) for size in training.sizes)
        return
    seconds = time.perf_counter() - started
    stopped = False

    def stops() -> bool:
        return stopped or (should_stop is not None and should_stop())

    def measured(size: int) -> Record:
        try:
            row = cut_for(training, run, size)
        except VocabularyTooSmallError as error:
            return {"refused": str(error)}
        found = _measure(planned, texts, training, row, stops)
        if on_run is not None:
            on_run(training, size, row)
        found["figures"]["shared_training_seconds"] = round(seconds, 3)
        return found

    pool = ThreadPoolExecutor(n_threads())
    try:
        waiting = [(size, pool.submit(measured, size)) for size in training.sizes]
        for size, record in waiting:
            yield size, record.result()
    finally:
        stopped = True
        pool.shutdown(cancel_futures=True)


def _measure(
    planned: Plan,
    texts: Texts,
    training: Training,
    run: TrainingRun,
    should_stop: Callable[[], bool],
) -> Record:
    """Return the figures of a row."""
    started = time.perf_counter()
    own, tokenizer = planned.settings, run.tokenizer
    bits = bits_per_byte(
        tokenizer,
        texts.training[training.corpus],
        texts.held_out,
        max_entries=own["model_entries"],
        should_stop=should_stop,
    )
    tokens = bits.tokens_by_unit
    low, high = tokens_interval(tokens, bits.bytes_by_unit, bits.stratum_of_unit)
    figures: dict[str, Any] = {
        "vocab_size": tokenizer.vocab_size,
        "n_tokens": int(tokens.sum()),
        "bytes_per_token": bits.n_bytes / int(tokens.sum()),
        "bytes_per_token_low": low,
        "bytes_per_token_high": high,
        "bytes_lost": bits.bytes_lost,
        "bits_per_byte": bits.bits_per_byte,
        "bits_per_byte_low": known(bits.interval[0]),
        "bits_per_byte_high": known(bits.interval[1]),
        "renyi_efficiency": bits.renyi_efficiency(tokenizer.vocab_size, own["alpha"]),
        "n_dead": len(
            tokenizer.vocab.keys()
            - bits.used
            - {*tokenizer.special_tokens.values()}
            - tokenizer.table.removed
        ),
        "pretokenizer": tokenizer.pretokenizer.name,
        "stop_reason": run.stop_reason,
        "fingerprint": tokenizer.fingerprint,
        **_parity(texts, tokenizer, own["reference"] or None),
    }
    figures["measuring_seconds"] = round(time.perf_counter() - started, 3)
    figures["process_peak_mb"] = _peak_mb()
    return {
        "figures": figures,
        "tokens": tokens.tolist(),
        "bits": bits.by_unit.tolist(),
    }


def _parity(texts: Texts, tokenizer: Tokenizer, reference: str | None) -> dict[str, float | None]:
    """Return the figures over languages; None if there are none, or text that has no token."""
    nothing: dict[str, float | None] = {"mean_parity": None, "gini": None}
    if not texts.sentences:
        return nothing
    try:
        for text in chain.from_iterable(texts.sentences.values()):
            tokenizer.encode(text)
    except UnknownSymbolError:
        # Text that is left out takes no tokens, so its language would seem cheap.
        return nothing
    (costs,) = parity(texts.sentences, [tokenizer], reference).costs
    return {"mean_parity": costs.mean_parity, "gini": costs.gini}


def _peak_mb() -> int | None:
    """Return the most memory that this process has had; None where the system does not say."""
    with suppress(ImportError):
        resource: Any = import_module("resource")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return int(peak // (_MB if sys.platform == "darwin" else 1024))
    return None


@lru_cache(1)
def _texts_there(planned: str, folder: str) -> Texts:
    settings = json.loads(planned)
    return read_texts(replace(plan(settings), folder=folder))


def _measure_elsewhere(
    planned: Plan, sha256: Mapping[str, str], training: Training
) -> list[tuple[int, Record]]:
    """Measure a training on a worker, which reads the texts once; they must be the same there."""
    corpora = {name: {**entry, "sha256": sha256[name]} for name, entry in planned.corpora.items()}
    texts = _texts_there(json.dumps({**planned.settings, "corpora": corpora}), planned.folder)
    return list(measure_training(planned, texts, training))


def _cost(planned: Plan, texts: Texts, training: Training) -> float:
    """Return about how long a training takes, and measuring its rows."""
    n_bytes = texts.training[training.corpus].n_bytes
    own = planned.settings["trainers"].get(training.trainer, {})
    slower = max([1, *(times for key, times in _TIMES_SLOWER.items() if own.get(key))])
    return n_bytes * (slower + len(training.sizes)) + 100.0 * max(training.sizes)


class _Kept:
    """A folder of measured rows, each in a file named after all that it depends on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"Rows cannot be kept in {folder}: {error}") from None

    def read(self, key: str) -> Record | None:
        """Return the record; None if the row was not measured, or its file is damaged."""
        with suppress(OSError, ValueError):
            found = json.loads((self._folder / f"{key}.json").read_text("utf-8"))
            if isinstance(found, dict) and (
                {"figures", "tokens", "bits"} <= found.keys() or "refused" in found
            ):
                return found
        return None

    def write(self, key: str, record: Record) -> None:
        """Write a record, whole or not at all."""
        write_whole(self._folder / f"{key}.json", json.dumps(record).encode())


def _key(
    planned: Plan, texts: Texts, training: Training, size: int, fingerprints: Mapping[str, str]
) -> str:
    """Return a hash of all that the figures of a row depend on."""
    names = ("special_tokens", "min_frequency", "alpha", "model_entries", "reference")
    known_by = [
        _version(),
        COLUMNS,
        {
            **training.settings(size),
            "base": fingerprints.get(training.base or ""),
            "corpus": texts.training[training.corpus].sha256,
            "trainer": planned.settings["trainers"].get(training.trainer),
        },
        {name: planned.settings[name] for name in names},
        texts.held_out.fingerprint,
        texts.blocks.unit_of_block.tolist(),
        {name: [*own] for name, own in texts.sentences.items()},
    ]
    return hashlib.sha256(json.dumps(known_by, sort_keys=True).encode()).hexdigest()[:32]


def _version() -> str:
    return str(import_module("bpe_core").__version__)


def _experiment(
    planned: Plan, texts: Texts, records: Sequence[tuple[tuple[Training, int], Record]]
) -> Experiment:
    listed = [training.settings(size) for (training, size), _ in records]
    rows: list[ExperimentRow] = []
    refused: list[RefusedRow] = []
    for settings, (_, record) in zip(listed, records, strict=True):
        if why := record.get("refused"):
            refused.append(RefusedRow(_row_name(settings, listed), settings, why))
            continue
        figures = {"mean_parity": None, "gini": None, **record["figures"]}
        rows.append(
            ExperimentRow(
                name=_row_name(settings, listed),
                settings={
                    **settings,
                    "pretokenizer": settings["pretokenizer"] or figures["pretokenizer"],
                },
                figures=figures,
                tokens_by_unit=np.array(record["tokens"], np.int64),
                bits_by_unit=np.array(record["bits"], np.float64),
            )
        )
    if not rows:
        raise ConfigError(refused[-1].why)
    names = [row.name for row in rows]
    against = planned.settings["against"]
    if lost := [row.why for row in refused if row.name == against]:
        raise ConfigError(f"against names a row that could not be trained. {lost[0]}")
    if against and against not in names:
        raise ConfigError(f"against names no row: {against!r:.60}. Use one of {', '.join(names)}.")
    units = texts.blocks
    sizes = np.zeros(units.n_units, np.int64)
    of_text = units.unit_of_block[units.block_of_text]
    np.add.at(sizes, of_text, [len(text.encode()) for text in texts.held_out.documents])
    return Experiment(
        rows=tuple(rows),
        against=names.index(against) if against else 0,
        settings={
            **planned.settings,
            "corpora": {
                name: {**entry, "sha256": texts.sha256[name]}
                for name, entry in planned.corpora.items()
            },
            "held_out_files": planned.settings["held_out_files"] or texts.own_files,
            "made": {"bpe_core": _version(), "held_out_sha256": texts.held_out.sha256},
        },
        bytes_by_unit=sizes,
        stratum_of_unit=units.stratum_of_unit,
        folder=planned.folder,
        refused=tuple(refused),
    )


def _row_name(settings: Mapping[str, Any], all_rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the settings of a row that not all have, in words."""
    words: list[str] = []
    for key in ("corpus", "base", "pretokenizer", "alphabet", "trainer"):
        value = settings[key]
        others = {row[key] for row in all_rows} - {None}
        if value is not None and (key == "base" or len(others) > 1):
            words.append(str(value))
    plus = "" if settings["base"] is None else "+"
    return ", ".join([*words, f"{plus}{settings['vocab_size']:,}"])
