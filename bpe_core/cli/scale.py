"""The options of commands that count more text than one machine holds."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import click

from bpe_core.checks import printable
from bpe_core.cli.outputs import is_replaceable, kind_at
from bpe_core.cli.streams import Bar
from bpe_core.corpus.urls import is_pattern, is_url
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from bpe_core.corpus.text_decoding import DecodingErrors
    from bpe_core.counting.count_files import CountingProgress
    from bpe_core.counting.counts_file import CountsSummary, WordCounts
    from bpe_core.scale.engines import Engine

_UNITS: Final = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


@dataclass(frozen=True, slots=True)
class CountingPlan:
    """What does the counting, where counted parts are kept, and which words are left out."""

    scheduler: str | None
    memory: str | None
    processes: int | None
    work: str | None
    floor: int
    in_memory: bool = False
    """Whether an option needs all of the text, to hold part of it out or to decode it."""

    def is_for(self, sources: tuple[str, ...]) -> bool:
        """Return True if these sources are counted in stretches, and False if they are read."""
        options = (self.scheduler, self.memory, self.processes, self.work)
        if any(option is not None for option in options) or self.floor > 1:
            return True
        return not self.in_memory and "-" not in sources and any(map(_may_be_huge, sources))

    def inputs(self, sources: tuple[str, ...]) -> list[str]:
        """Return the paths and URLs of what will be read; files of counts are skipped."""
        if not self.is_for(sources):
            return [*sources]
        from bpe_core.formats.written_kinds import COUNTS
        from bpe_core.scale.sources import find_sources

        found = [source.url for source in find_sources(sources)]
        return [url for url in found if is_url(url) or kind_at(url) != COUNTS]

    def count(
        self,
        sources: tuple[str, ...],
        out: str,
        pretokenizer: str,
        text_column: str | None,
        errors: DecodingErrors,
    ) -> CountsSummary:
        """Count sources into a counts file, and report on stderr what was skipped."""
        self._check(sources)
        from bpe_core.corpus.notes import group_notes
        from bpe_core.counting.count_files import count_files
        from bpe_core.scale.steps import WorkFolder

        work = self.work or f"{out}.work"
        with open_engine(self.scheduler, self.memory, self.processes) as engine, Bar() as bar:

            def show(progress: CountingProgress) -> None:
                done, of = progress.stretches_done, progress.stretches
                if done < of:
                    bar.show("Counting words", done, of)
                else:
                    bar.show("Adding up words", progress.shards_done, progress.shards)

            counted = count_files(
                sources,
                out,
                work=work,
                pretokenizer=pretokenizer,
                text_column=text_column,
                errors=errors,
                floor=self.floor,
                engine=engine,
                on_progress=show,
            )
        if self.work is None:
            WorkFolder(work).clear()
        if text_column is None:
            _report_columns(counted.columns)
        for group in group_notes(counted.notes):
            click.echo(printable(group.sentence), err=True)
        if counted.n_replaced:
            click.echo(
                f"Replaced bytes that are not valid UTF-8 with U+FFFD in {counted.n_replaced:,} "
                "rows or pieces of text.",
                err=True,
            )
        if counted.n_skipped:
            click.echo(
                f"Skipped {counted.n_skipped:,} rows without text, of "
                f"{counted.n_documents + counted.n_skipped:,}.",
                err=True,
            )
        return counted.summary

    def counted(
        self,
        sources: tuple[str, ...],
        out: str,
        pretokenizer: str,
        text_column: str | None,
        errors: DecodingErrors,
    ) -> WordCounts:
        """Count sources, and return their words; `out` is where the tokenizer will be written."""
        from bpe_core.counting.counts_file import read_counts

        out = out.rstrip("/")
        with TemporaryDirectory(prefix="bpe-counts-") as folder:
            if self.work is None and (is_url(out) or is_replaceable(out)):
                kept = replace(self, work=f"{out}.work")
            else:
                kept = replace(self, work=self.work or f"{folder}/work")
            counts = f"{folder}/counts.parquet"
            summary = kept.count(sources, counts, pretokenizer, text_column, errors)
            found = read_counts(counts)
        if self.work is None:
            from bpe_core.scale.steps import WorkFolder

            WorkFolder(kept.work or "").clear()
        report_counts(summary)
        return found

    def _check(self, sources: tuple[str, ...]) -> None:
        if self.in_memory or "-" in sources:
            raise ConfigError(
                "Text with --scheduler, --memory, --processes, --work or --floor is counted in "
                "stretches, as UTF-8. Omit --held-out, --encoding and -."
            )
        check_engine(self.scheduler, self.memory, self.processes)


def check_engine(scheduler: str | None, memory: str | None, processes: int | None) -> None:
    """Raise ConfigError if options name two engines."""
    if scheduler is not None and (memory or processes):
        raise ConfigError(
            "Give --scheduler for a cluster, or --memory and --processes for this machine, not "
            "both."
        )


@contextmanager
def open_engine(
    scheduler: str | None, memory: str | None, processes: int | None
) -> Generator[Engine | None]:
    """Start or connect to what does the work, as options say; None for this process."""
    from bpe_core.scale.engines import (
        DaskWorkers,
        cluster,
        local_processes,
    )

    check_engine(scheduler, memory, processes)
    if scheduler is not None:
        with cluster(scheduler) as client:
            yield DaskWorkers(client)
    elif memory is not None or processes is not None:
        with local_processes(parse_size(memory or "4GB"), processes) as client:
            yield DaskWorkers(client)
    else:
        yield None


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
        of_others = f" and {len(names) - 1:,} more tables" if len(names) > 1 else ""
        click.echo(f"{printable(names[0])}{of_others}: took the column {column!r}.", err=True)


def report_counts(summary: CountsSummary) -> None:
    """Report on stderr what was counted and what was dropped."""
    line = f"{summary.n_bytes:,} bytes of text."
    if summary.dropped_words:
        line += (
            f" Dropped {summary.dropped_words:,} words that occur fewer than {summary.floor:,} "
            f"times, {summary.dropped_occurrences:,} occurrences in all."
        )
    click.echo(line, err=True)


def _may_be_huge(name: str) -> bool:
    return is_url(name) or Path(name).is_dir() or (not Path(name).exists() and is_pattern(name))
