"""The folder where finished parts of a job are kept, so a run that was killed can resume."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, NamedTuple
from uuid import uuid4

from bpe_core.corpus.urls import delete_files, is_url, names_in, reading, size_at, writing
from bpe_core.errors import CorpusError

_OWN_NAME: Final = re.compile(
    r"[0-9a-f]{32}(-[0-9]+)?(\.[0-9a-f]{32})?\.[a-z]+|\.unfinished-[0-9a-f]{32}(-.*)?"
)

Record = dict[str, Any]
"""What is known of a finished part, as JSON values."""


class WorkFolder(NamedTuple):
    """A folder, by path or URL, that all workers can read and write.

    A part consists of files and a record, which is written last: a part without a record was not
    finished. Names are unique, so two workers with the same part don't clash. Nothing waits for the
    disk, which took a third of the time of counting: after a power cut, a part whose files are not
    as long as its record says counts as unfinished.
    """

    url: str

    @classmethod
    def at(cls, path: str) -> WorkFolder:
        """Return the folder at a path or URL, which workers in other folders understand too.

        >>> WorkFolder.at("memory://work")
        WorkFolder(url='memory://work')
        """
        return cls(path if is_url(path) else os.path.abspath(path))

    def done(self) -> dict[str, str]:
        """Return the names of the records of finished parts, by key.

        >>> WorkFolder("/no/such/folder").done()
        {}
        """
        names = names_in(self.url)
        return {name.split(".")[0]: name for name in names if name.endswith(".json")}

    def new_name(self, key: str, suffix: str) -> str:
        """Return a name for a file of a part that no other worker uses."""
        return f"{key}.{uuid4().hex}.{suffix}"

    @contextmanager
    def writing(self, name: str) -> Generator[BinaryIO]:
        """Open a file of a part to write."""
        with writing(self.path(name), sync_to_disk=False) as file:
            yield file

    def finish(self, key: str, record: Record, files: Iterable[str] = ()) -> Record:
        """Write the record of a part, whose files are complete; return it."""
        finished = {**record, "sizes": {name: size_at(self.path(name)) for name in files}}
        with self.writing(f"{key}.json") as file:
            file.write(json.dumps(finished).encode())
        return finished

    def is_whole(self, record: Record) -> bool:
        """Return True if the files of a part are as long as its record says."""
        sizes: dict[str, int] = record["sizes"]
        return all(size_at(self.path(name)) == size for name, size in sizes.items())

    def record(self, name: str) -> Record:
        """Read the record of a finished part; raises CorpusError if it is damaged."""
        with reading(self.path(name)) as file:
            data = file.read()
        try:
            return json.loads(data)
        except ValueError:
            raise CorpusError(
                f"{self.path(name)} is damaged. Delete it, and run the command again."
            ) from None

    def path(self, name: str) -> str:
        """Return the path or URL of a file in the folder."""
        return f"{self.url.rstrip('/')}/{name}"

    def clear(self) -> None:
        """Delete all parts, including those of killed workers, and then the folder if it is empty.

        Files with other names are left, because the folder may have been there before.
        """
        delete_files(self.url, [name for name in names_in(self.url) if _OWN_NAME.fullmatch(name)])
