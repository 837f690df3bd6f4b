"""Files in memory with a name and a size, like those that a visitor uploads."""

from __future__ import annotations

import io


class Upload(io.BytesIO):
    """An upload that can be read as an open file."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name
        self.size = len(data)
