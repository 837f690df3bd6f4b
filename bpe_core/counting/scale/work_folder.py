"""The folder where counted stretches are kept, so a run that was killed can resume."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import Any, Final, NamedTuple
from uuid import uuid4

from bpe_core.corpus.urls import delete_files, names_in, reading, writing
from bpe_core.errors import CorpusError
from bpe_core.extras import needs_extra

_OWN_NAME: Final = re.compile(
    r"[0-9a-f]{32}(-[0-9]+)?(\.[0-9a-f]{32})?\.(json|arrow)|\.unfinished-[0-9a-f]{32}(-.*)?"
)
N_SHARDS: Final = 64
"""The number of shards into which words are divided by hash; one worker at a time adds up each."""


class WorkFolder(NamedTuple):
    """A folder, by path or URL, that all workers can read and write.

    A part consists of a file of words and a record, which is written last: a part without a record
    was not finished. Names are unique, so two workers with the same part don't clash.
    """

    url: str

    def done(self) -> dict[str, str]:
        """Return the names of the records of finished parts, by key.

        >>> WorkFolder("/no/such/folder").done()
        {}
        """
        names = names_in(self.url)
        return {name.split(".")[0]: name for name in names if name.endswith(".json")}

    def write(self, key: str, batches: Any, record: dict[str, Any]) -> dict[str, Any]:
        """Write Arrow batches, and then the record of the part, which is returned.

        `record` is read only after all batches were written, so it may be filled meanwhile.
        """
        arrow = _arrow()
        name = f"{key}.{uuid4().hex}.arrow"
        options = arrow.ipc.IpcWriteOptions(compression="lz4")
        with (
            writing(self.path(name)) as file,
            arrow.ipc.new_file(file, schema(), options=options) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
        finished = {**record, "words": name}
        with writing(self.path(f"{key}.json")) as file:
            file.write(json.dumps(finished).encode())
        return finished

    def record(self, name: str) -> dict[str, Any]:
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


def schema() -> Any:
    """Return the columns of all parts: words, counts, and order of first occurrence."""
    arrow = _arrow().arrow
    return arrow.schema(
        [("word", arrow.large_binary()), ("count", arrow.int64()), ("first", arrow.int64())]
    )


class _Arrow(NamedTuple):
    arrow: Any
    ipc: Any


def _arrow() -> _Arrow:
    with needs_extra("tables", "Counting in parts"):
        return _Arrow(import_module("pyarrow"), import_module("pyarrow.ipc"))
