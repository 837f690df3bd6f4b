"""Count the words of any amount of text into a counts file, step by step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from os import PathLike, fspath
from typing import Final, NamedTuple

from bpe_core.checks import check_whole
from bpe_core.corpus import DecodingErrors, Note
from bpe_core.counting.counts_file import CountsSummary, write_tables
from bpe_core.counting.word_parts import (
    StretchToCount,
    WordShard,
    count_shards,
    count_stretch,
    iterate_words,
    reduce_shard,
)
from bpe_core.counting.words import no_pretokens
from bpe_core.errors import CorpusError, EmptyCorpusError
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.scale import (
    Engine,
    Progress,
    Record,
    ThisProcess,
    WorkFolder,
    divide_sources,
    work_on,
)

_LARGEST: Final = (1 << 63) - 1


class CountingProgress(NamedTuple):
    """The progress of counting, as passed to `on_progress`."""

    stretches_done: int
    stretches: int
    stretches_found: int
    """Those that an earlier run had already counted."""
    shards_done: int
    shards: int


class CountedFiles(NamedTuple):
    """What was counted: the summary in the counts file, and what was skipped."""

    summary: CountsSummary
    n_documents: int
    n_skipped: int
    """Rows that are not JSON, or have no text."""
    n_words: int
    """Words in the counts file."""
    n_replaced: int
    """Rows, or pieces of a text, in which bytes that are not UTF-8 were replaced."""
    notes: tuple[Note, ...]
    """On files that were skipped, and on what was chosen or guessed in files read whole."""
    columns: tuple[tuple[str, str], ...] = ()
    """The column of text that was taken from each table."""


def count_files(
    sources: Iterable[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    work: str | PathLike[str],
    pretokenizer: str = "gpt2",
    text_column: str | None = None,
    errors: DecodingErrors = "strict",
    floor: int = 1,
    engine: Engine | None = None,
    stretch_bytes: int | None = None,
    on_progress: Callable[[CountingProgress], None] | None = None,
) -> CountedFiles:
    """Count the words of files by path or URL into a counts file, which equals any other count.

    A source is a file, a folder, a pattern such as *.parquet, or the URL of one of these for
    fsspec, such as s3://bucket/corpus. Text (each file one document), JSON lines and Parquet (each
    row one) are never in memory whole, packed or not; any other file that `read_corpus` reads is
    read whole by one worker. Files of a folder that are not text are skipped. Bytes that are not
    UTF-8 are an error, or replaced with `errors="replace"`. Words that occur fewer than `floor`
    times are dropped, which the summary records.

    `engine` does the work: `ThisProcess()`, or `DaskWorkers(client)` of `engines`. Counted
    stretches are kept in the folder `work`, and the same call resumes after an interruption. All
    workers must reach the sources and `work`. Raises ConfigError, MissingExtraError, and
    CorpusError or a subclass for what cannot be read.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("hug hugs")
    ...     count_files([folder], f"{folder}/counts.parquet", work=f"{folder}/work").n_words
    2
    """
    get_pretokenizer(pretokenizer)
    check_whole("floor", floor, 1)
    doing = engine or ThisProcess()
    folder = WorkFolder.at(fspath(work))
    divided = divide_sources(
        sources,
        doing,
        pretokenizer=pretokenizer,
        text_column=text_column,
        errors=errors,
        stretch_bytes=stretch_bytes,
        written_to=(folder.url,),
        saved_in=folder,
    )
    n_shards = count_shards(sum(stretch.n_bytes for stretch in divided.stretches))
    stretches = [StretchToCount(stretch, n_shards) for stretch in divided.stretches]
    progress = Progress(CountingProgress(0, len(stretches), 0, 0, n_shards), on_progress)

    def note_stretches(records: Sequence[Record], n_found: int) -> None:
        progress.add(stretches_done=len(records), stretches_found=n_found)

    def note_shards(records: Sequence[Record], _: int) -> None:
        progress.add(shards_done=len(records))

    count = partial(count_stretch, folder=folder, n_threads=doing.threads_for(len(stretches)))
    counted = work_on(stretches, count, folder, doing, note_stretches)
    described_all = _summary(counted, pretokenizer)
    shards = _shards(stretches, counted, int(floor), n_shards)
    reduced = work_on(shards, partial(reduce_shard, folder=folder), folder, doing, note_shards)
    summary = described_all._replace(
        floor=int(floor),
        dropped_words=sum(record["dropped_words"] for record in reduced),
        dropped_occurrences=sum(record["dropped_occurrences"] for record in reduced),
    )
    n_words = sum(record["n_words"] for record in reduced)
    if not n_words:
        if summary.dropped_words:
            raise EmptyCorpusError(
                f"All {summary.dropped_words:,} words occur fewer than {summary.floor:,} times. "
                "Lower the floor."
            )
        raise no_pretokens(pretokenizer, summary.n_bytes)
    # Shard by shard: this process never holds all words.
    write_tables(
        chain.from_iterable(iterate_words(folder, record["words"]) for record in reduced),
        summary,
        fspath(out),
    )
    return CountedFiles(
        summary,
        sum(record["n_documents"] for record in counted),
        sum(record["n_skipped"] for record in counted),
        n_words,
        sum(record["n_replaced"] for record in counted),
        (*divided.notes, *(Note(*note) for record in counted for note in record["notes"])),
        divided.columns,
    )


def _shards(
    stretches: Sequence[StretchToCount], counted: Sequence[Record], floor: int, n_shards: int
) -> list[WordShard]:
    identity = hashlib.sha256(b"%d" % floor)
    for stretch, record in zip(stretches, counted, strict=True):
        identity.update(f"{stretch.key} {record['words']} ".encode())
    parts = tuple((record["words"], record["n_runs"]) for record in counted)
    return [
        WordShard(f"{identity.hexdigest()[:32]}-{number}", number, n_shards, parts, floor)
        for number in range(n_shards)
    ]


def _summary(counted: Sequence[Record], pretokenizer: str) -> CountsSummary:
    n_bytes = sum(record["n_bytes"] for record in counted)
    if not n_bytes:
        raise EmptyCorpusError("The corpus is empty: give at least one character.")
    n_occurrences = sum(record["n_occurrences"] for record in counted)
    if n_occurrences > _LARGEST:
        raise CorpusError(
            f"The corpus has {n_occurrences:,} words, more than 64 bits can count. Count it in "
            "parts."
        )
    digest = hashlib.sha256(b"stretches")
    for record in counted:
        digest.update(bytes.fromhex(record["sha256"]))
    characters = set[str]().union(*(record["characters"] for record in counted))
    return CountsSummary(pretokenizer, n_bytes, digest.hexdigest(), "".join(sorted(characters)))
