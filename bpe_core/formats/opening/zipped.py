"""Take a tokenizer's files out of a zip, such as a transformers folder."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection
from typing import Final

from bpe_core.corpus.damage import ARCHIVE_DAMAGE
from bpe_core.errors import FormatError
from bpe_core.formats.folder_files import choose_files

MAX_BYTES: Final = 256_000_000
"""The limit for the files taken from a zip, in all."""
_MAX_MEMBERS: Final = 10_000


def looks_like_zip(data: bytes) -> bool:
    """Return True if a file begins as zip files do.

    >>> looks_like_zip(b"PK\\x03\\x04"), looks_like_zip(b"{}")
    (True, False)
    """
    return data[:4] == b"PK\x03\x04"


def unzip_tokenizer(data: bytes, name: str, beside: Collection[str] = ()) -> dict[str, bytes]:
    """Return the files of the tokenizer in a zip, as file name -> bytes.

    Files with a name in `beside` are included if they are in the tokenizer's folder. Names keep no
    folders, so none becomes a path. Raises `FormatError` for a damaged or encrypted zip, for one
    without a tokenizer or with several, and for files that are too large unpacked.

    >>> buffer = io.BytesIO()
    >>> with zipfile.ZipFile(buffer, "w") as archive:
    ...     archive.writestr("mine/tokenizer.json", "{}")
    ...     archive.writestr("mine/config.json", "{}")
    >>> unzip_tokenizer(buffer.getvalue(), "mine.zip")
    {'tokenizer.json': b'{}'}
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > _MAX_MEMBERS:
                raise FormatError(f"{name} has {len(members):,} files. Add one tokenizer only.")
            names = choose_files([_base(each) for each in members], name)
            chosen = [each for each in members if _base(each) in names]
            folder = chosen[0].filename.removesuffix(_base(chosen[0]))
            wanted = {folder + each for each in beside}
            chosen += [each for each in members if each.filename in wanted and each not in chosen]
            return _read_all(archive, chosen)
    except FormatError:
        raise
    except ARCHIVE_DAMAGE:
        raise FormatError(f"{name} is a zip that is damaged, incomplete or encrypted.") from None


def _read_all(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = MAX_BYTES
    for member in members:
        with archive.open(member) as file:
            # The size that a zip announces may lie.
            data = files[_base(member)] = file.read(left + 1)
        left -= len(data)
        if left < 0:
            raise FormatError(
                f"With {_base(member)} the tokenizer has more than {MAX_BYTES:,} bytes unpacked, "
                "too many."
            )
    return files


def _base(member: zipfile.ZipInfo) -> str:
    return member.filename.replace("\\", "/").rpartition("/")[2]
