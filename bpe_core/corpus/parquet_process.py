"""Read Parquet files in a separate process with little memory and little time.

A page of a Parquet file may unpack to gigabytes without anything in the file saying so: only a
limit on the whole process is reliable. `python -m bpe_core.corpus.parquet_process` reads a question
and a file from standard input, and writes messages to standard output: a letter, a size in eight
bytes, and as many bytes. The first describes the columns; the others hold the texts of a batch of
rows.
"""

from __future__ import annotations

import json
import sys
import tempfile
from array import array
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.util import find_spec
from typing import IO, Any, Final, NamedTuple, cast

from bpe_core.child_process import child, framed, read_question
from bpe_core.corpus.budget import Budget
from bpe_core.corpus.columns import TableColumns, columns_from_json, columns_to_json
from bpe_core.corpus.parquet import BYTES_DESCRIBED, check_marks, open_parquet, refuse_counts
from bpe_core.corpus.rows import Report
from bpe_core.corpus.text_decoding import REPLACING, DecodingErrors
from bpe_core.errors import BpeError, MissingExtraError, TextDecodingError, UnsupportedFileError
from bpe_core.extras import needs_extra
from bpe_core.process_limits import limit_this_process

_MODULE: Final = "bpe_core.corpus.parquet_process"
_MOST_BYTES: Final = 3 * 2**29
_MOST_TIMES_FILE: Final = 2
_MOST_PROCESSOR_SECONDS: Final = 30
# More than the processor time, because the processor may be shared with many.
_MOST_SECONDS: Final = 300.0
_ERRORS: Final = {
    error.__name__: error for error in (UnsupportedFileError, TextDecodingError, MissingExtraError)
}
_COLUMNS, _TEXTS, _ERROR, _NO_MEMORY, _END = b"C", b"T", b"E", b"M", b"."


class TextRow(NamedTuple):
    """A row with text, and its number from 1."""

    number: int
    text: str


class ParquetRows:
    """The columns of a Parquet file, and the rows with text in one; see `opened_parquet`."""

    def __init__(
        self,
        answers: Iterator[tuple[bytes, bytes]],
        name: str,
        text_column: str | None,
        budget: Budget,
        report: Report,
        errors: DecodingErrors,
    ) -> None:
        self._errors = errors
        self.n_replaced = 0
        """The number of texts in which bytes were replaced."""
        self._answers = answers
        self._name = name
        self._budget = budget
        self._report = report
        columns, self.strings, self._n_rows_in_all = _columns_of(next(answers)[1])
        self.columns = columns
        """Described by a sample."""
        chosen = columns.chosen.name if columns.chosen else None
        self.column = chosen if text_column is None else text_column
        """The column that is read: the one asked for, or else the default one."""
        self.n_rows = 0
        """The number of rows read so far, those without text included."""

    def __iter__(self) -> Iterator[TextRow]:
        """Yield rows; raises UnsupportedFileError."""
        for _, message in self._answers:
            self.n_rows, n_texts = array("q", message[:16])
            ends = 16 + 8 * n_texts, 16 + 16 * n_texts
            self._budget.take_rows(n_texts, self._name)
            self._budget.take_text(len(message) - ends[1], self._name)
            start = ends[1]
            rows, lengths = array("q", message[16 : ends[0]]), array("q", message[ends[0] : start])
            # Repeated values, common in columns of categories, become one string.
            known: dict[bytes, str] = {}
            for row, length in zip(rows, lengths, strict=True):
                value = message[start : start + length]
                start += length
                if (text := known.get(value)) is None:
                    text = known[value] = self._decoded(value, row)
                yield TextRow(row, text)
            self._report(min(1.0, self.n_rows / max(1, self._n_rows_in_all)))

    def _decoded(self, value: bytes, row: int) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError:
            if self._errors == "replace":
                self.n_replaced += 1
                return value.decode(errors="replace")
            raise TextDecodingError(
                f"{self._name} has text in the column {self.column!r:.60} that is not valid "
                f"UTF-8, in row {row:,}. Export it again, or {REPLACING}."
            ) from None


@contextmanager
def opened_parquet(
    data: bytes,
    name: str,
    text_column: str | None,
    budget: Budget,
    report: Report,
    *,
    errors: DecodingErrors = "strict",
) -> Generator[ParquetRows]:
    """Describe the columns of a Parquet file, and read one of them while iterated over.

    Raises UnsupportedFileError and MissingExtraError.
    """
    question = {
        "is_read": True,
        "column": text_column,
        "most_bytes": BYTES_DESCRIBED,
        "errors": errors,
    }
    with budget.take_time(name), closing(_ask(data, name, question)) as answers:
        yield ParquetRows(answers, name, text_column, budget, report, errors)


def describe_parquet(
    data: bytes, name: str, *, budget: Budget, most_bytes: int = BYTES_DESCRIBED
) -> TableColumns:
    """Describe the columns of a Parquet file by a sample of about `most_bytes`.

    Raises UnsupportedFileError and MissingExtraError.
    """
    question = {"is_read": False, "most_bytes": most_bytes}
    with budget.take_time(name), closing(_ask(data, name, question)) as answers:
        return _columns_of(next(answers)[1])[0]


def _columns_of(message: bytes) -> tuple[TableColumns, tuple[str, ...], int]:
    described, strings, n_rows = json.loads(message)
    return columns_from_json(described), tuple(strings), n_rows


def _ask(data: bytes, name: str, question: Mapping[str, object]) -> Generator[tuple[bytes, bytes]]:
    """Yield the answers of a new process; it is ended when the generator is."""
    with needs_extra("tables", f"Reading {name}"):
        # The process imports it; here it would only take time and memory.
        if find_spec("pyarrow") is None:
            raise ModuleNotFoundError("No module named 'pyarrow'")
    check_marks(data, name)
    with tempfile.TemporaryFile() as file:
        file.write(framed({"name": name, **question}))
        file.write(data)
        file.seek(0)
        with child(_MODULE, stdin=file, most_seconds=_MOST_SECONDS) as process:
            answers = cast("IO[bytes]", process.stdout)
            while (kind := answers.read(1)) != _END:
                size = int.from_bytes(answers.read(8), "little")
                message = answers.read(size)
                if kind == _ERROR:
                    error, text = json.loads(message)
                    raise _ERRORS[error](text)
                if kind == _NO_MEMORY or not kind or len(message) < size:
                    raise UnsupportedFileError(
                        f"{name} takes too much memory or time to unpack: more than "
                        f"{_most_bytes(len(data)) / 2**30:.1f} GB or {_MOST_PROCESSOR_SECONDS} "
                        "seconds. Split it, or export it again with smaller row groups."
                    )
                yield kind, message


def _most_bytes(n_bytes: int) -> int:
    return _MOST_BYTES + _MOST_TIMES_FILE * n_bytes


def _main() -> None:
    source = sys.stdin.buffer
    question = read_question(source)
    data = source.read()
    limit_this_process(_most_bytes(len(data)), _MOST_PROCESSOR_SECONDS)
    try:
        _answer(question, data)
    except MemoryError:
        _write(_NO_MEMORY)
    except BpeError as error:
        _write(_ERROR, json.dumps([type(error).__name__, str(error)]).encode())
    else:
        _write(_END)
    sys.stdout.flush()


def _answer(question: Mapping[str, Any], data: bytes) -> None:
    # Columns are described without a choice of what becomes of bad bytes.
    file = open_parquet(data, question["name"], question.get("errors", "replace"))
    if question.get("column") is None:
        refuse_counts(file.columns, question["name"])
    found = file.describe(question["most_bytes"])
    described = [columns_to_json(found), file.strings, file.file.metadata.num_rows]
    _write(_COLUMNS, json.dumps(described).encode())
    if not question["is_read"]:
        return
    column = question["column"]
    if column is None and found.chosen is not None:
        column = found.chosen.name
    if column in file.strings:
        for texts in file.texts(column):
            counts = array("q", [texts.n_rows, len(texts.rows)])
            _write(_TEXTS, counts, texts.rows, texts.lengths, texts.data)


def _write(kind: bytes, *parts: Any) -> None:
    answers = sys.stdout.buffer
    views = [memoryview(part).cast("B") for part in parts]
    answers.write(kind + sum(map(len, views)).to_bytes(8, "little"))
    for view in views:
        answers.write(view)


if __name__ == "__main__":
    _main()
