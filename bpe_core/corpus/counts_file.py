"""Files of words and their counts: Parquet with the columns `word` and `count`.

`docs/scale.md` describes the format, which other tools can read and write.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any, BinaryIO, Final, cast

import numpy as np

from bpe_core.checks import several
from bpe_core.corpus.parquet import damage_named
from bpe_core.corpus.urls import Location
from bpe_core.corpus.word_counts import (
    MAX_SUM,
    CountsSummary,
    WordCounts,
    check_pretokens,
    check_sum,
    weighted_sum,
    word_lengths,
)
from bpe_core.errors import ConfigError, CorpusError, EmptyCorpusError, UnsupportedFileError
from bpe_core.extras import import_arrow
from bpe_core.types import PretokenCounts
from bpe_core.unicode import are_whole_characters

KEY: Final = b"bpe_core"
"""The key of the metadata in a file's schema."""
_VERSION: Final = 1
_ROWS: Final = 1 << 18


def summarize_counts(pretokens: PretokenCounts, pretokenizer: str | None) -> CountsSummary:
    """Describe words whose text is not known.

    >>> summarize_counts(PretokenCounts((b"hug",), np.array([2])), "gpt2").n_bytes
    6
    """
    digest = hashlib.sha256(b"word counts")
    for word, count in zip(pretokens.words, pretokens.counts.tolist(), strict=True):
        digest.update(b"%d %d:" % (count, len(word)))
        digest.update(word)
    return CountsSummary(
        pretokenizer,
        weighted_sum(word_lengths(pretokens.words), pretokens.counts),
        digest.hexdigest(),
        find_characters(pretokens.words),
    )


def find_characters(words: Iterable[bytes]) -> str:
    """Return the characters of some words, sorted.

    >>> find_characters([b"hugs", b"ugg"])
    'ghsu'
    """
    return "".join(sorted(set(b"".join(words).decode())))


def read_counts(path: str | PathLike[str]) -> WordCounts:
    """Read a file of words and counts: one that `write_counts` wrote, or another tool.

    It needs a column `word` of strings or bytes (UTF-8), and a column `count` of whole numbers of
    any width, each 1 or more. Counts of a word on several rows are added up; other columns are
    ignored. Raises UnsupportedFileError for a file that is not such a table, EmptyCorpusError, and
    CorpusError for an invalid row or for counts whose symbols together exceed 64 bits.

    >>> import tempfile
    >>> import bpe_core as bpe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counts(bpe.count_words(["hug hugs"]), f"{folder}/counts.parquet")
    ...     read_counts(f"{folder}/counts.parquet").pretokens.words
    (b'hug', b' hugs')
    """
    with Location(fspath(path)).reading() as file:
        return counts_in(file, Location(fspath(path)).shown)


def counts_in(file: BinaryIO, name: str) -> WordCounts:
    """Read an opened file of words and counts as `read_counts` does; `name` is for errors."""
    table, summary = _read_table(file, name)
    pretokens = _pretokens(table)
    check_pretokens(pretokens, name)
    if summary is None:
        return WordCounts(pretokens, summarize_counts(pretokens, None))
    # The alphabet of a corpus has at least the characters of its words.
    missing = set(find_characters(pretokens.words)) - set(summary.characters)
    if missing:
        raise UnsupportedFileError(
            f"{name} has words with {min(missing)!r}, which is not among the characters that its "
            "metadata lists. Count again."
        )
    return WordCounts(pretokens, summary)


def write_counts(counts: WordCounts, path: str | PathLike[str]) -> None:
    """Write words and counts to a Parquet file, completely or not at all.

    Raises CorpusError if it cannot be written.
    """
    arrow = _arrow(fspath(path))
    pretokens = counts.pretokens
    table = arrow.table(
        [
            arrow.array(pretokens.words, arrow.large_binary()),
            arrow.array(pretokens.counts, arrow.int64()),
            arrow.array(np.arange(pretokens.n_words), arrow.int64()),
        ],
        ["word", "count", "first"],
    )
    write_tables([table], counts.summary, fspath(path))


def write_tables(tables: Iterable[Any], summary: CountsSummary, path: str) -> None:
    """Write Arrow tables with the columns word, count and first as one counts file."""
    arrow = _arrow(path)
    described = json.dumps({"version": _VERSION, **summary._asdict()}, ensure_ascii=False)
    schema = arrow.schema(
        [
            arrow.field("word", arrow.large_binary(), nullable=False),
            arrow.field("count", arrow.int64(), nullable=False),
            arrow.field("first", arrow.int64(), nullable=False),
        ],
        {KEY: described.encode()},
    )
    with (
        Location(path).writing() as file,
        arrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for table in tables:
            writer.write_table(table.cast(schema), row_group_size=_ROWS)


def merge_counts(paths: Iterable[str | PathLike[str]], out: str | PathLike[str]) -> CountsSummary:
    """Add up files of counts, write the result, and return its summary.

    The words keep the order of their first occurrence, file after file, so the result equals
    counting all the text at once, unless words were dropped. All files must be cut by the same
    pre-tokenizer. Raises what `read_counts` raises, and ConfigError for different pre-tokenizers.

    >>> import tempfile
    >>> import bpe_core as bpe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counts(bpe.count_words(["hug"]), f"{folder}/a.parquet")
    ...     write_counts(bpe.count_words(["hug hugs"]), f"{folder}/b.parquet")
    ...     _ = merge_counts([f"{folder}/a.parquet", f"{folder}/b.parquet"], f"{folder}/c.parquet")
    ...     read_counts(f"{folder}/c.parquet").pretokens.counts.tolist()
    [2, 1]
    """
    remedy = "give a list of paths"
    names: list[str] = [fspath(path) for path in several(paths, "files of counts", remedy)]
    if not names:
        raise EmptyCorpusError("No file of counts given: name at least one.")
    arrow = _arrow(names[0])
    merged: Any = None
    summaries: list[CountsSummary] = []
    for name in names:
        with Location(name).reading() as file:
            table, summary = _read_table(file, Location(name).shown)
        if summary is None:
            summary = summarize_counts(_pretokens(table), None)
        if summaries and summary.pretokenizer != summaries[0].pretokenizer:
            raise ConfigError(
                f"{Location(names[0]).shown} was cut by {_name_cut(summaries[0])} and "
                f"{Location(name).shown} by {_name_cut(summary)}. Merge only files that "
                "were cut by the same pre-tokenizer."
            )
        summaries.append(summary)
        if merged is None:
            merged = table
            continue
        after = arrow.compute.add(table["first"], 1 + arrow.compute.max(merged["first"]).as_py())
        table = table.set_column(2, "first", after)
        merged = add_up(arrow.concat_tables([merged, table]), Location(name).shown)
    digest = hashlib.sha256(b"merged")
    for summary in summaries:
        digest.update(bytes.fromhex(summary.sha256))
    described = (
        summaries[0]
        if len(summaries) == 1
        else CountsSummary(
            summaries[0].pretokenizer,
            sum(summary.n_bytes for summary in summaries),
            digest.hexdigest(),
            "".join(sorted(set[str]().union(*(summary.characters for summary in summaries)))),
            max(summary.floor for summary in summaries),
            sum(summary.dropped_words for summary in summaries),
            sum(summary.dropped_occurrences for summary in summaries),
        )
    )
    write_tables([merged], described, fspath(out))
    return described


def add_up(table: Any, name: str) -> Any:
    """Add up the counts of equal words, and sort by first occurrence.

    Raises CorpusError if the counts together exceed 64 bits, so no sum can overflow.
    """
    check_sum(table["count"].to_numpy(), name)
    grouped = table.group_by("word", use_threads=False).aggregate(
        [("count", "sum"), ("first", "min")]
    )
    return grouped.rename_columns(["word", "count", "first"]).sort_by("first")


def _name_cut(summary: CountsSummary) -> str:
    return summary.pretokenizer or "an unknown pre-tokenizer"


def _arrow(name: str) -> Any:
    return import_arrow(f"Reading and writing {Location(name).shown}", "compute", "parquet")


def _read_table(file: BinaryIO, name: str) -> tuple[Any, CountsSummary | None]:
    """Return the table of a file, a row for each distinct word, in order, and its summary."""
    arrow = _arrow(name)
    with damage_named(name):
        parquet = arrow.parquet.ParquetFile(file)
        schema = parquet.schema_arrow
        missing = [column for column in ("word", "count") if schema.names.count(column) != 1]
        if missing:
            raise UnsupportedFileError(
                f"{name} has {schema.names.count(missing[0]) or 'no'} column {missing[0]!r}. A "
                "counts file has one column 'word' of strings or bytes, and one column 'count' of "
                "whole numbers."
            )
        summary = _summary(schema.metadata or {}, name)
        columns = ["word", "count"]
        if summary is not None and "first" in schema.names:
            columns.append("first")
        table = parquet.read(columns=columns, use_threads=False)
    words = _words(table["word"], name, arrow)
    counts = _counts(table["count"], name, arrow)
    if not len(words):
        raise EmptyCorpusError(f"{name} has no words. Give a file with at least one.")
    firsts = table["first"] if "first" in columns else np.arange(len(words))
    made = arrow.table([words, counts, firsts], ["word", "count", "first"])
    # A file of this package is checked too: someone may have joined two files.
    return add_up(made, name), summary


def _summary(metadata: dict[bytes, bytes], name: str) -> CountsSummary | None:
    if KEY not in metadata:
        return None
    try:
        stored = cast("dict[str, Any]", json.loads(metadata[KEY]))
        version = stored.pop("version")
        if version == _VERSION:
            summary = CountsSummary(**stored)
            numbers: tuple[Any, ...] = (*summary[-3:], summary.n_bytes)
            if all(isinstance(number, int) and number >= 0 for number in numbers):
                bytes.fromhex(summary.sha256)
                summary.characters.encode()  # a lone surrogate is not a character
                if not isinstance(stored["pretokenizer"], str | None):
                    raise TypeError
                return summary
    except (ValueError, TypeError, KeyError, AttributeError):
        version = None
    raise UnsupportedFileError(
        f"{name} has metadata under the key {KEY.decode()!r} that this version does not know "
        f"(version {version!r}). Update this package, or count again."
    )


def _words(column: Any, name: str, arrow: Any) -> Any:
    kind = column.type
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
    is_text = [
        getattr(arrow.types, f"is_{each}")(kind)
        for each in ("string", "large_string", "binary", "large_binary")
    ]
    if not any(is_text):
        raise UnsupportedFileError(
            f"The column 'word' of {name} is of type {column.type}. It must hold strings or bytes."
        )
    if column.null_count:
        raise CorpusError(f"{name} has a row without a word. Leave it out.")
    words = column.cast(kind).cast(arrow.large_binary())
    if arrow.compute.min(arrow.compute.binary_length(words)).as_py() == 0:
        raise CorpusError(f"One of the words of {name} is empty. Leave it out.")
    try:
        words.cast(arrow.large_string())  # checks that every word is UTF-8
    except arrow.ArrowInvalid:
        row = 1 + [*map(are_whole_characters, words.to_pylist())].index(False)
        raise CorpusError(
            f"The word in row {row:,} of {name} is not valid UTF-8. Words are pieces of text: "
            "write them as UTF-8."
        ) from None
    return words


def _counts(column: Any, name: str, arrow: Any) -> Any:
    types = arrow.types
    is_decimal = types.is_decimal(column.type) and column.type.scale == 0
    if not (types.is_integer(column.type) or is_decimal):
        raise UnsupportedFileError(
            f"The column 'count' of {name} is of type {column.type}. It must hold whole numbers: "
            "cast it to a BIGINT where the file is written."
        )
    if column.null_count:
        raise CorpusError(f"{name} has a row without a count. Leave it out.")
    try:
        counts = column.cast(arrow.int64())
    except arrow.ArrowInvalid:
        largest = arrow.compute.max(column).as_py()
        raise CorpusError(
            f"{name} has the count {int(largest):,}, more than the {MAX_SUM:,} that 64 bits "
            "can hold. Divide all counts by the same number."
        ) from None
    least = arrow.compute.min(counts).as_py()
    if least is not None and least < 1:
        raise CorpusError(
            f"{name} has the count {least:,}. A count is a whole number of 1 or more: leave out "
            "other rows."
        )
    return counts


def _pretokens(table: Any) -> PretokenCounts:
    return PretokenCounts(tuple(table["word"].to_pylist()), table["count"].to_numpy())
