"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, or give it other contents: whoever reads it gets all of the old or of the new.

    It is written beside its place and renamed. Who may read it follows the umask, as where a file
    is opened to be written; `tempfile` would leave it to its user alone. Raises OSError, and then
    leaves nothing behind.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "hug.txt"), b"hugs")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('hug.txt', b'hugs')]
    """
    unfinished = path.with_name(f".unfinished-{uuid4().hex}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
