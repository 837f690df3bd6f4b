"""Read an uploaded counts file in a separate process with little memory and little time.

As for other Parquet files (`parquet_process`), only a limit on the whole process holds. The process
reads a name and a file from standard input, and writes a line of JSON, then the counts, the lengths
of the words, and the words.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from typing import IO, Any, Final, cast

import numpy as np

from bpe_core.child_process import child, framed, read_question
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.counts_corpus import CountsCorpus, CountsSummary
from bpe_core.corpus.file_kinds import PARQUET_MARK
from bpe_core.counting.counts_cut import as_corpus
from bpe_core.counting.counts_file import KEY, WordCounts, counts_in
from bpe_core.errors import BpeError, UnsupportedFileError
from bpe_core.process_limits import limit_this_process
from bpe_core.types import PretokenCounts

MOST_WORDS: Final = 1_000_000
"""The distinct words of a file; each takes some 300 bytes in memory, and 600 in training."""
_MODULE: Final = "bpe_core.counting.counts_process"
_MOST_BYTES: Final = 2**31
_MOST_PROCESSOR_SECONDS: Final = 60
_MOST_SECONDS: Final = 300.0


def is_counts_file(data: bytes) -> bool:
    """Return True for a Parquet file with the columns and the metadata of `write_counts`.

    Only the bytes of its metadata are looked at; reading it shows whether it is valid.

    >>> is_counts_file(b"hug 10")
    False
    """
    if len(data) < 12 or data[-4:] != PARQUET_MARK:
        return False
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[max(0, len(data) - 8 - size) : -8]
    # Strings are preceded by a length in the format's own numbers: 4 is 8, 5 is 10.
    columns = b"\x04word" in footer and b"\x05count" in footer
    return columns and KEY in footer


def read_counts_in_process(data: bytes, name: str, sample: Corpus | None = None) -> CountsCorpus:
    """Read a counts file as a corpus, with a sample of the text if there is one.

    Raises UnsupportedFileError for a file that is not valid, takes too much memory or time, or has
    more than MOST_WORDS distinct words.
    """
    with tempfile.TemporaryFile() as file:
        file.write(framed(name))
        file.write(data)
        file.seek(0)
        with child(_MODULE, stdin=file, most_seconds=_MOST_SECONDS) as process:
            answer = cast("IO[bytes]", process.stdout).read()
    head, _, body = answer.partition(b"\n")
    try:
        found: dict[str, Any] = json.loads(head)
    except ValueError:
        raise UnsupportedFileError(
            f"{name} takes too much memory or time to read. Drop rare words with bpe count "
            "--floor, or train on it from the command line with bpe train --counts."
        ) from None
    if "error" in found:
        raise UnsupportedFileError(found["error"])
    n = int(found["n_words"])
    counts, lengths = np.frombuffer(body[: 16 * n], np.int64).reshape(2, n)
    words: list[bytes] = []
    at = 16 * n
    for length in lengths.tolist():
        words.append(body[at : at + length])
        at += length
    pretokens = PretokenCounts(tuple(words), counts)
    return as_corpus(WordCounts(pretokens, CountsSummary(**found["summary"])), sample)


def _main() -> None:
    source = sys.stdin.buffer
    name = read_question(source)
    data = source.read()
    limit_this_process(_MOST_BYTES + 8 * len(data), _MOST_PROCESSOR_SECONDS)
    try:
        counts = counts_in(io.BytesIO(data), name)
        words = counts.pretokens.words
        if len(words) > MOST_WORDS:
            raise UnsupportedFileError(
                f"{name} has {len(words):,} distinct words; the limit here is {MOST_WORDS:,}. "
                "Drop rare words with bpe count --floor, or train on it from the command line "
                "with bpe train --counts."
            )
    except BpeError as error:
        _write({"error": str(error)})
        return
    _write({"n_words": len(words), "summary": counts.summary._asdict()})
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    for part in (counts.pretokens.counts.astype(np.int64), lengths):
        sys.stdout.buffer.write(part.tobytes())
    sys.stdout.buffer.writelines(words)
    sys.stdout.buffer.flush()


def _write(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _main()
