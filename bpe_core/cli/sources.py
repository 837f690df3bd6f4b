"""The text that commands read: one declaration of its options, and one way to open it.

Text that one machine doesn't hold is counted in stretches, by workers that options name.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.outputs import Bar, StandardInput, is_replaceable, kind_at
from bpe_core.cli.support import (
    Option,
    add_all,
    counts_option,
    encoding_option,
    errors_option,
    gather,
    held_out_by_option,
    held_out_file_option,
    held_out_option,
    seed_option,
    text_column_option,
)
from bpe_core.corpus import Location
from bpe_core.errors import ConfigError, CorpusError

if TYPE_CHECKING:
    from bpe_core.corpus import (
        Corpus,
        CountsSummary,
        DecodingErrors,
        ParallelText,
        Source,
        WordCounts,
    )
    from bpe_scale import CountingProgress, Engine


_MIN_LARGE_BYTES: Final = 64 << 20
"""Files of this many bytes in total are streamed, or their documents kept on disk."""

_UNITS: Final = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True, slots=True)
class Workers:
    """Who works on more text than one machine holds, and where finished parts are kept."""

    scheduler: str | None = None
    memory: str | None = None
    processes: int | None = None
    work: str | None = None

    @property
    def are_named(self) -> bool:
        """Whether any of the options was given."""
        return self != Workers()

    def check(self) -> None:
        """Raise ConfigError if options name two engines."""
        if self.scheduler is not None and (self.memory or self.processes):
            raise ConfigError(
                "Give --scheduler for a cluster, or --memory and --processes for this machine, not "
                "both."
            )

    @contextmanager
    def engine(self) -> Generator[Engine | None]:
        """Start or connect to what does the work; None for this process."""
        from bpe_scale import DaskWorkers, cluster, local_processes

        if self.scheduler is not None:
            started = cluster(self.scheduler)
        elif self.memory is not None or self.processes is not None:
            started = local_processes(parse_size(self.memory or "4GB"), self.processes)
        else:
            yield None
            return
        with started as client:
            yield DaskWorkers(client)


engine_options: Option[Any] = add_all(
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="A Dask scheduler, such as tcp://127.0.0.1:8786, whose workers do the work.",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="Work in processes on this machine with at most this much memory, such as 4GB.",
    ),
    click.option(
        "--processes",
        type=click.IntRange(1),
        help="How many processes --memory starts.  [default: one for each processor]",
    ),
    click.option(
        "--work",
        metavar="FOLDER",
        help="Where finished parts are kept: a path or URL that all machines can reach. A "
        "command that was killed resumes from there.  [default: OUT.work, until it is "
        "finished]",
    ),
    gather("workers", Workers),
)
"""Who works on more text than one machine holds."""
scale_options: Option[Any] = add_all(
    engine_options,
    click.option(
        "--floor",
        type=click.IntRange(1),
        default=1,
        help="Leave out words that occur less often.  [default: 1, which keeps all]",
    ),
)
"""How more text than one machine holds is counted."""


def may_be_huge(name: str) -> bool:
    """Return True for a folder, a pattern and a URL.

    >>> may_be_huge("no such file.txt"), may_be_huge("*.txt")
    (False, True)
    """
    return (
        Location(name).is_url
        or Path(name).is_dir()
        or (not Path(name).exists() and Location(name).is_pattern)
    )


@dataclass(frozen=True, slots=True)
class Stretches:
    """Files, folders, patterns and URLs whose words can be counted in stretches."""

    names: tuple[str, ...]
    text_column: str | None = None
    errors: DecodingErrors = "strict"
    workers: Workers = field(default_factory=Workers)
    floor: int = 1

    def find_texts(self) -> list[str]:
        """Return the paths and URLs of what is counted; files of counts are skipped."""
        from bpe_core.corpus import SourceFile
        from bpe_core.formats import WrittenKind

        found = [source.url for source in SourceFile.find(self.names)]
        return [url for url in found if Location(url).is_url or kind_at(url) != WrittenKind.COUNTS]

    def count_in_stretches(
        self, out: str, pretokenizer: str, work: str | None = None
    ) -> CountsSummary:
        """Count the words into a counts file, and report on stderr what was skipped.

        Without --work, finished parts are kept in `work` until the end.
        """
        from bpe_core.corpus import NoteGroup
        from bpe_scale import WorkFolder, count_files

        work = work or f"{out}.work"
        with self.workers.engine() as engine, Bar() as bar:

            def show(progress: CountingProgress) -> None:
                done, of = progress.stretches_done, progress.stretches
                if done < of:
                    bar.show("Counting words", done, of)
                else:
                    bar.show("Adding up words", progress.shards_done, progress.shards)

            found = count_files(
                self.names,
                out,
                work=self.workers.work or work,
                pretokenizer=pretokenizer,
                text_column=self.text_column,
                errors=self.errors,
                floor=self.floor,
                engine=engine,
                on_progress=show,
            )
        if self.workers.work is None:
            WorkFolder(work).clear()
        if self.text_column is None:
            _report_columns(found.columns)
        for group in NoteGroup.of(found.notes):
            click.echo(printable(group.sentence), err=True)
        if found.n_replaced:
            click.echo(
                "Replaced bytes that are not valid UTF-8 with U+FFFD in "
                f"{counted(found.n_replaced, 'row or piece')} of text.",
                err=True,
            )
        if found.n_skipped:
            click.echo(
                f"Skipped {counted(found.n_skipped, 'row')} without text, of "
                f"{found.n_documents + found.n_skipped:,}.",
                err=True,
            )
        return found.summary

    def words_in_stretches(self, out: str, pretokenizer: str) -> WordCounts:
        """Count the words, and return them; `out` is where the tokenizer will be written."""
        from bpe_core.corpus import read_counts

        out = out.rstrip("/")
        with TemporaryDirectory(prefix="bpe-counts-") as folder:
            # Next to the result, a command that was killed finds it again.
            work = (
                f"{out}.work" if Location(out).is_url or is_replaceable(out) else f"{folder}/work"
            )
            counts = f"{folder}/counts.parquet"
            summary = self.count_in_stretches(counts, pretokenizer, work)
            found = read_counts(counts)
        report_counts(summary)
        return found


def parse_size(size: str) -> int:
    """Return a size such as 4GB or 512M in bytes.

    >>> parse_size("1.5GB") >> 20
    1536
    """
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?([KMGT]?)(?:i?B)?", size, re.IGNORECASE)
    if not found:
        raise ConfigError(f"Expected --memory SIZE such as 4GB, got {size!r}.")
    return int(float(found[1]) * (1 << _UNITS[found[2].upper()]))


def _report_columns(columns: Sequence[tuple[str, str]]) -> None:
    """Report on stderr which column of which tables was taken."""
    tables: dict[str, list[str]] = {}
    for name, column in columns:
        tables.setdefault(column, []).append(name)
    for column, names in tables.items():
        of_others = f" and {counted(len(names) - 1, 'more table')}" if len(names) > 1 else ""
        click.echo(f"{printable(names[0])}{of_others}: took the column {column!r}.", err=True)


def report_counts(summary: CountsSummary) -> None:
    """Report on stderr what was counted and what was dropped."""
    line = f"{counted(summary.n_bytes, 'byte')} of text."
    if summary.dropped_words:
        line += (
            f" Dropped {counted(summary.dropped_words, 'word')} with fewer than {summary.floor:,} "
            f"occurrences, {summary.dropped_occurrences:,} in all."
        )
    click.echo(line, err=True)


@dataclass(frozen=True, slots=True)
class Sources(Stretches):
    """Files, folders, patterns, URLs and `-`, and how they are read, counted and divided."""

    encoding: str | None = None
    held_out: float = 0.0
    held_out_by: str | None = None
    seed: int = 0
    held_out_files: tuple[str, ...] = ()
    counts: str | None = None
    keeps_text: bool = False
    """Whether the command needs to know which words follow each other."""

    def check(self) -> None:
        """Raise ConfigError for options that contradict each other, or a missing source."""
        from bpe_core.corpus import Split

        if self.held_out_by is not None:
            Split.check_by(self.held_out_by)
        if not self.held_out:
            if self.held_out_by is not None:
                raise ConfigError(
                    f"Nothing is held out by {self.held_out_by} without a share. Add it, such as "
                    "--held-out 0.08, or omit --held-out-by."
                )
            if self.seed:
                raise ConfigError(
                    "--seed chooses which text is held out, and none is without a share. Add it, "
                    "such as --held-out 0.08, or omit --seed."
                )
        if self.held_out and self.held_out_files:
            raise ConfigError("Give either --held-out or --held-out-file, not both.")
        counts_ahead = self.counts is not None or self.workers.are_named or self.floor > 1
        if self.keeps_text and counts_ahead:
            raise ConfigError(
                "Superwords and weights need the text itself: counted words no longer say which "
                "follows which, or where they are from. Omit --superwords-from and --weight, or "
                "--counts and the options that count."
            )
        if self.counts is None:
            if not self.names:
                raise click.UsageError("Missing argument 'SOURCE...'.")
        elif self.names or self._needs_text or self._are_counted:
            raise ConfigError(
                "Words are already counted in a file of counts. Omit SOURCE..., --held-out and the "
                "options that count, or --counts."
            )
        if self._are_counted and (self._needs_text or "-" in self.names):
            raise ConfigError(
                "Text with --scheduler, --memory, --processes, --work or --floor is counted in "
                "stretches, as UTF-8. Omit --held-out, --encoding and -."
            )
        self.workers.check()

    def inputs(self) -> list[str]:
        """Return the paths and URLs that will be read, so that none is written over."""
        if self.counts is not None:
            return [self.counts]
        texts = self.find_texts() if self._are_counted else self.names
        return [*texts, *self.held_out_files]

    def read(self) -> Corpus:
        """Read all of the text; the documents of large sources stay on disk."""
        kind, _, name = (self.held_out_by or "").partition(":")
        return self._read(self.names, name if kind == "column" and self.held_out else None)

    def read_held_out(self) -> Corpus:
        """Read the text to measure on: what --held-out says, or all of it."""
        return self._split(self.read())[1] if self.held_out else self.read()

    def read_parallel(self) -> Sequence[ParallelText]:
        """Read the same sentences in several languages; raise ConfigError for other options."""
        from bpe_core.corpus import ParallelText, expand_folder, source_bytes

        if self._needs_text or self.text_column is not None:
            raise ConfigError(
                "Parallel sentences are read whole, as UTF-8 or by a guess. Omit --held-out, "
                "--encoding and --text-column."
            )
        files = [
            (PurePath(name).name, data)
            for given in self.names
            for found in _find(given)
            for data, name in map(source_bytes, expand_folder(found))
        ]
        return ParallelText.read(files)

    def open(self, pretokenizer: str, out: str) -> OpenedText:
        """Return the text to learn from, or its words, and the held-out text.

        `out` is where the command writes its result. Large text is streamed, and what may be
        larger than memory is counted in stretches, unless text is held out. Documents that are also
        in a held-out file are left out.
        """
        from bpe_core.corpus import TrainedOn, read_counts

        if self.counts is not None:
            return OpenedText(read_counts(self.counts), None, lambda: None, can_hold_out=False)
        if self._are_counted:
            words = self.words_in_stretches(out, pretokenizer)
            return OpenedText(words, None, self._hash_stretches)
        if self.held_out:
            whole = self.read()
            training, test = self._split(whole)
            return OpenedText(training, test, lambda: TrainedOn.hash_texts(whole, test))
        if not self.held_out_files:
            text = self._read_or_stream()
            return OpenedText(text, None, lambda: TrainedOn.hash_texts(text))
        corpus = self.read()
        training, test = corpus.hold_out(self._read(self.held_out_files))
        if n := corpus.n_sources - training.n_sources:
            what = "1 document that is" if n == 1 else f"{n:,} documents that are"
            click.echo(f"Left out of the training text: {what} in the held-out text too.", err=True)
        return OpenedText(
            training,
            test,
            lambda: TrainedOn.hash_texts(training),
            held_out_names=self.held_out_files,
        )

    def count(self, pretokenizer: str, out: str) -> tuple[WordCounts, OpenedText]:
        """Return the words of the text to learn from, counted once, and what `open` returns."""
        from bpe_core.trainers import Watch, count

        opened = self.open(pretokenizer, out)
        with Bar() as bar:
            watch = Watch(1, time.perf_counter(), bar.show_training, None, bar.show_counting)
            return count(opened.text, pretokenizer, watch), opened

    def write_counts(self, pretokenizer: str, path: str) -> CountsSummary:
        """Count the words of the text into a file of counts: in stretches, or all in memory."""
        if self._are_counted:
            return self.count_in_stretches(path, pretokenizer)
        from bpe_core.corpus import count_words, write_counts

        corpus = self._read_or_stream()
        with Bar() as bar:
            counts = count_words(corpus, pretokenizer, bar.show_counting)
        write_counts(counts, path)
        return counts.summary

    @property
    def _are_counted(self) -> bool:
        """Whether the text is counted in stretches, and not read."""
        if self.workers.are_named or self.floor > 1:
            return True
        return not self._needs_text and "-" not in self.names and any(map(may_be_huge, self.names))

    @property
    def _needs_text(self) -> bool:
        """Whether all of the text is needed, to divide it, to decode it, or for its order."""
        is_divided = bool(self.held_out or self.held_out_files)
        return is_divided or self.encoding is not None or self.keeps_text

    def _read_or_stream(self) -> Corpus:
        """Return a corpus of the sources, streamed if they are large files of plain text."""
        is_plain = self.text_column is None and self.encoding is None and self.errors == "strict"
        if is_plain and _are_large(self.names):
            from bpe_core.corpus import stream_corpus

            # A file that can't be streamed may still be readable; if not, the reader raises a
            # better error.
            with suppress(CorpusError):
                return stream_corpus(self.names)
        return self._read(self.names)

    def _read(self, names: tuple[str, ...], kept_column: str | None = None) -> Corpus:
        """Read a corpus, and report on stderr what its reader noticed."""
        from bpe_core.corpus import expand_folder, read_corpus, source_size

        found = [file for name in names for source in _find(name) for file in expand_folder(source)]
        texts_file = None
        if sum(map(source_size, found)) >= _MIN_LARGE_BYTES:
            folder = TemporaryDirectory(prefix="bpe-corpus-")
            texts_file = Path(click.get_current_context().with_resource(folder), "texts")
        with Bar() as bar:
            corpus = read_corpus(
                found,
                self.text_column,
                encoding=self.encoding,
                errors=self.errors,
                kept_column=kept_column,
                on_progress=lambda share: bar.show("Reading", share, 1),
                texts_file=texts_file,
            )
        for note in corpus.notes:
            click.echo(printable(note), err=True)
        return corpus

    def _hash_stretches(self) -> bytes | None:
        """Return the hashes of files that were counted; None if not all are text on this machine.

        Hashing rows would mean reading them again.
        """
        from bpe_core.corpus import SourceFile, TrainedOn

        files = SourceFile.find(self.names)
        is_known = not self.workers.are_named and not any(
            Location(file.url).is_url
            or file.packing
            or file.kind != "text"
            or not Path(file.url).is_file()  # a pipe has been read
            for file in files
        )
        return TrainedOn.hash_files(Path(file.url) for file in files) if is_known else None

    def _split(self, corpus: Corpus) -> tuple[Corpus, Corpus]:
        """Divide the text, and report on stderr what was held out."""
        training, test = corpus.split(self.held_out, self.seed, self.held_out_by)
        how = test.how
        if how is None or not test.n_bytes:
            click.echo("Too little text to hold any back.", err=True)
            return training, test
        noun = how.noun(how.n_units)
        said = f"Held out: {counted(test.n_bytes, 'byte')}, {how.n_units:,} {noun}. {how.flattery}"
        click.echo(said.rstrip(), err=True)
        return training, test


class OpenedText(NamedTuple):
    """The text that a command learns from."""

    text: Corpus | WordCounts
    """Without what is held out."""
    held_out: Corpus | None
    hash_documents: Callable[[], bytes | None]
    """Returns the hashes of the documents of which at least a part is learned from."""
    can_hold_out: bool = True
    """Whether the command could hold out a part of its sources."""
    held_out_names: tuple[str, ...] = ()
    """The sources of held-out text of its own."""


def takes_sources(*, held_out: bool = True, counted: bool = True) -> Option[Any]:
    """Add the argument SOURCE... and its options to a command, which gets them as `sources`.

    `held_out` adds what holds out text, `counted` counting in stretches, for commands that need
    only words and their counts. Those with both learn from the text, so they also take a file of
    counts instead of it, and another text to measure on.
    """
    learns = held_out and counted
    options = [click.argument("names", nargs=-1, required=not learns, metavar="SOURCE...")]
    if learns:
        options.append(counts_option)
    options += [text_column_option, encoding_option, errors_option]
    if held_out:
        options += [held_out_option, held_out_by_option, seed_option]
    if learns:
        options.append(held_out_file_option)
    if counted:
        options.append(scale_options)
    return add_all(*options, gather("sources", Sources))


def _find(name: str) -> Iterator[Source]:
    """Yield what a name stands for: standard input, files at a URL or of a pattern, or a path."""
    from bpe_core.corpus import NamedFile

    if name == "-":
        yield StandardInput()
        return
    if not Location(name).is_url and (Path(name).exists() or not Location(name).is_pattern):
        yield name
        return
    for file in Location(name).files()[0]:
        yield NamedFile(file.url, file.name, file.size)


def _are_large(names: tuple[str, ...]) -> bool:
    paths = [Path(name) for name in names if name != "-"]
    if len(paths) < len(names) or not all(path.is_file() for path in paths):
        return False
    return sum(path.stat().st_size for path in paths) >= _MIN_LARGE_BYTES
