"""Count the words of any amount of text into a counts file, step by step.

Workers count those of a stretch, then add up a shard of those of all. Words are divided into shards
by hash, so that adding them up takes a bounded part of the memory.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from os import PathLike, fspath
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole
from bpe_core.corpus import (
    CountsSummary,
    DecodingErrors,
    Location,
    Note,
    add_up,
    count_in_runs,
    find_characters,
    no_pretokens,
    write_tables,
)
from bpe_core.errors import CorpusError, EmptyCorpusError
from bpe_core.extras import import_arrow
from bpe_core.kernels import wait_for_kernels, worth_waiting_for
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.types import PretokenCounts
from bpe_core.unicode import AFTER_WORD
from bpe_scale.stretches import Stretch, StretchReading, key_for
from bpe_scale.work import (
    Engine,
    Progress,
    Record,
    ThisProcess,
    WorkFolder,
    divide_sources,
    work_on,
)

_LARGEST: Final = (1 << 63) - 1

# A change to how words are counted or kept makes parts in older work folders unusable.
_VERSION: Final = 2
_MIN_SHARDS: Final = 8
_MAX_SHARDS: Final = 64
_BYTES_OF_A_SHARD: Final = 1 << 29
_MIN_ROWS: Final = 1 << 20
_WORDS_OF_A_STRETCH: Final = 1 << 40
_POWERS: Final = np.cumprod(np.full(256, 0x9E3779B97F4A7C15, np.uint64))


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

    `engine` does the work: `ThisProcess()`, or `DaskWorkers(client)`. Counted
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


def count_shards(n_bytes: int) -> int:
    """Return the number of shards into which a text's words are divided by hash.

    One worker at a time adds up each, so it bounds the memory of a worker.

    >>> count_shards(1 << 30), count_shards(10 << 30), count_shards(1 << 40)
    (8, 32, 64)
    """
    n_shards = _MIN_SHARDS
    while n_shards < _MAX_SHARDS and n_shards * _BYTES_OF_A_SHARD < n_bytes:
        n_shards *= 2
    return n_shards


class StretchToCount(NamedTuple):
    """A stretch, and the number of shards into which its words are divided."""

    stretch: Stretch
    n_shards: int

    @property
    def key(self) -> str:
        """A name that is the same only for the same words, divided in the same way."""
        return key_for(_VERSION, self.n_shards, self.stretch.key)


def count_stretch(task: StretchToCount, folder: WorkFolder, n_threads: int | None) -> Record:
    """Count a stretch into a part of the work folder; return the part's record.

    Each run of `run_bytes` makes a batch of words for each shard. Raises what reading raises.
    """
    stretch = task.stretch
    if worth_waiting_for(stretch.n_bytes):
        # This compiles in other processes, so this one keeps answering the scheduler.
        logging.getLogger("distributed.worker").info("Compiling the engine, once on this machine")
        wait_for_kernels()
    pretokenizer = get_pretokenizer(stretch.pretokenizer)
    reader = StretchReading(stretch, collect_characters=pretokenizer.drops_text)
    record: Record = {"n_runs": 0, "n_occurrences": 0, "n_words": 0}
    arrow = _arrow()

    def batches() -> Iterator[Any]:
        for words in count_in_runs(
            reader.documents(),
            stretch.n_bytes,
            pretokenizer,
            run_bytes=stretch.run_bytes,
            n_threads=n_threads,
        ):
            text = words.letters.tobytes().replace(bytes([AFTER_WORD]), b"")
            reader.characters.update(find_characters([text]))
            yield from _divide(words, record["n_words"], task.n_shards, arrow)
            record["n_runs"] += 1
            record["n_words"] += words.n_words
            record["n_occurrences"] += words.total
        record.update(
            n_bytes=reader.n_bytes,
            n_documents=reader.n_documents,
            n_skipped=reader.n_skipped,
            n_replaced=reader.n_replaced,
            notes=reader.notes,
            sha256=reader.sha256,
            characters="".join(sorted(reader.characters)),
        )

    return write_words(folder, task.key, batches(), record)


def find_shards(letters: NDArray[np.uint8], n_shards: int) -> NDArray[np.int64]:
    r"""Return the shard of each word: the same in every process and on every machine.

    letters: uint8[n], AFTER_WORD after each word.

    >>> find_shards(np.frombuffer(b"hug\xff hug\xff", np.uint8), 64).tolist()
    [12, 33]
    """
    ends = np.flatnonzero(letters == AFTER_WORD)
    starts = np.append(0, ends + 1)[:-1]
    places = np.arange(len(letters)) - np.repeat(starts, ends + 1 - starts)
    # A polynomial of the letters, of which the high bits depend on all of them.
    terms = letters * _POWERS[places % len(_POWERS)]
    return (np.add.reduceat(terms, starts) >> np.uint64(40)).astype(np.int64) % n_shards


def _divide(found: PretokenCounts, n_before: int, n_shards: int, arrow: Any) -> Iterator[Any]:
    """Yield a batch for each shard, with the words in the order of first occurrence."""
    letters = found.letters
    shards = find_shards(letters, n_shards)
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(n_shards + 1))
    ends = np.flatnonzero(letters == AFTER_WORD)
    offsets = np.append(0, ends - np.arange(len(ends)))
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(letters[letters != AFTER_WORD])]
    words = arrow.Array.from_buffers(arrow.large_binary(), len(ends), buffers)
    columns = [words.take(arrow.array(order)), found.counts[order], order + n_before]
    batch = arrow.record_batch(columns, ["word", "count", "first"])
    for begin, end in pairwise(bounds.tolist()):
        yield batch.slice(begin, end - begin)


class WordShard(NamedTuple):
    """What one worker adds up."""

    key: str
    number: int
    n_shards: int
    parts: tuple[tuple[str, int], ...]
    """The files of words of all stretches in order, and the number of runs in each."""
    floor: int


def reduce_shard(shard: WordShard, folder: WorkFolder) -> Record:
    """Add up a shard's words, drop those below the floor, and keep the rest in the work folder."""
    arrow = _arrow()
    total: Any = _schema().empty_table()
    pending: list[Any] = []
    n_rows = 0
    for place, (name, n_runs) in enumerate(shard.parts):
        with Location(folder.path(name)).reading() as file:
            words = arrow.ipc.open_file(file)
            for run in range(n_runs):
                batch = words.get_batch(run * shard.n_shards + shard.number)
                firsts = arrow.compute.add(batch["first"], place * _WORDS_OF_A_STRETCH)
                columns = [batch["word"], batch["count"], firsts]
                pending.append(arrow.table(columns, schema=_schema()))
                n_rows += batch.num_rows
        # Sizes at least double, so each row is added up only a few times.
        if n_rows > max(_MIN_ROWS, total.num_rows):
            total = add_up(arrow.concat_tables([total, *pending]), folder.url)
            pending, n_rows = [], 0
    total = add_up(arrow.concat_tables([total, *pending]), folder.url)
    counts = total["count"].to_numpy()
    kept = counts >= shard.floor
    record = {
        "n_words": int(kept.sum()),
        "dropped_words": int((~kept).sum()),
        "dropped_occurrences": int(counts[~kept].sum()),
    }
    batches = total.filter(arrow.array(kept)).to_batches()
    return write_words(folder, shard.key, batches, record)


def iterate_words(folder: WorkFolder, name: str) -> Iterator[Any]:
    """Yield the table of a shard that was added up, if it has any words."""
    with Location(folder.path(name)).reading() as file:
        table = _arrow().ipc.open_file(file).read_all()
        if table.num_rows:
            yield table


def write_words(folder: WorkFolder, key: str, batches: Iterable[Any], record: Record) -> Record:
    """Write Arrow batches of words, and then the record of the part, which is returned.

    `record` is read only after all batches were written, so it may be filled meanwhile.
    """
    ipc = _arrow().ipc
    name = folder.new_name(key, "arrow")
    options = ipc.IpcWriteOptions(compression="lz4")
    with (
        folder.writing(name) as file,
        ipc.new_file(file, _schema(), options=options) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
    return folder.finish(key, {**record, "words": name}, [name])


def _schema() -> Any:
    """Return the columns of all parts: words, counts, and order of first occurrence."""
    arrow = _arrow()
    return arrow.schema(
        [("word", arrow.large_binary()), ("count", arrow.int64()), ("first", arrow.int64())]
    )


def _arrow() -> Any:
    return import_arrow("Counting in parts", "compute", "ipc")
