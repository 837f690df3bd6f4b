"""Read an uploaded counts file in a separate process with little memory and little time.

As for other Parquet files (`parquet_process`), only a limit on the whole process holds.
"""

from __future__ import annotations

import io
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.counts_file import KEY, counts_in
from bpe_core.corpus.file_kinds import PARQUET_MARK
from bpe_core.corpus.word_counts import CountsSummary, WordCounts
from bpe_core.errors import ProcessError, UnsupportedFileError
from bpe_core.extras import needs_extra
from bpe_core.processes import Limits
from bpe_core.types import PretokenCounts

with needs_extra("app", "Reading in another process"):
    from bpe_core.processes import call

MAX_WORDS: Final = 1_000_000
"""The distinct words of a file; each takes some 300 bytes in memory, and 600 in training."""
_MAX_BYTES: Final = 2**31
_MAX_PROCESSOR_SECONDS: Final = 60
_MAX_SECONDS: Final = 300.0


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


def read_counts_in_process(data: bytes, name: str, sample: Corpus | None = None) -> Corpus:
    """Read a counts file as a corpus, with a sample of the text if there is one.

    Raises UnsupportedFileError for a file that is not valid, takes too much memory or time, or has
    more than MAX_WORDS distinct words.
    """
    limits = Limits(_MAX_SECONDS, _MAX_BYTES + 8 * len(data), _MAX_PROCESSOR_SECONDS)
    try:
        found = call(read_words, np.frombuffer(data, np.uint8), name, limits=limits)
    except ProcessError:
        raise UnsupportedFileError(
            f"{name} takes too much memory or time to read. Drop rare words with bpe count "
            "--floor, or train on it from the command line with bpe train --counts."
        ) from None
    letters, counts, summary = found
    words = PretokenCounts.of_letters(letters, counts)
    return Corpus.from_word_counts(WordCounts(words, summary), sample)


def read_words(
    data: NDArray[np.uint8], name: str
) -> tuple[NDArray[np.uint8], NDArray[np.int64], CountsSummary]:
    """Return the letters, the counts and the summary of a file; see `read_counts_in_process`."""
    found = counts_in(io.BytesIO(data.data), name)
    pretokens = found.pretokens
    if pretokens.n_words > MAX_WORDS:
        raise UnsupportedFileError(
            f"{name} has {pretokens.n_words:,} distinct words; the limit here is {MAX_WORDS:,}. "
            "Drop rare words with bpe count --floor, or train on it from the command line "
            "with bpe train --counts."
        )
    return pretokens.letters, pretokens.counts.astype(np.int64), found.summary
