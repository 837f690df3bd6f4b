"""The options of commands that count more text than one machine holds."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.options import Option, add_all, gather
from bpe_core.cli.outputs import is_replaceable, kind_at
from bpe_core.cli.streams import Bar
from bpe_core.corpus import is_pattern, is_url
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from bpe_core.corpus import DecodingErrors
    from bpe_core.counting import CountsSummary, WordCounts
    from bpe_scale import CountingProgress, Engine

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
    return is_url(name) or Path(name).is_dir() or (not Path(name).exists() and is_pattern(name))


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
        from bpe_core.formats import COUNTS
        from bpe_scale import find_sources

        found = [source.url for source in find_sources(self.names)]
        return [url for url in found if is_url(url) or kind_at(url) != COUNTS]

    def count_in_stretches(
        self, out: str, pretokenizer: str, work: str | None = None
    ) -> CountsSummary:
        """Count the words into a counts file, and report on stderr what was skipped.

        Without --work, finished parts are kept in `work` until the end.
        """
        from bpe_core.corpus import group_notes
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
        for group in group_notes(found.notes):
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
        from bpe_core.counting import read_counts

        out = out.rstrip("/")
        with TemporaryDirectory(prefix="bpe-counts-") as folder:
            # Next to the result, a command that was killed finds it again.
            work = f"{out}.work" if is_url(out) or is_replaceable(out) else f"{folder}/work"
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
