"""Files in memory with a name and a size, like those that a visitor uploads."""

from __future__ import annotations

import io

from bpe_core.corpus import ReadOptions, Source, TableColumns
from bpe_core.corpus.readers import tables_in


class Upload(io.BytesIO):
    """An upload that can be read as an open file."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name
        self.size = len(data)


def describe_columns(upload: Source) -> TableColumns:
    """Return the columns of an upload, which must be one table."""
    ((_, columns),) = tables_in([upload], ReadOptions(), 2)
    return columns
