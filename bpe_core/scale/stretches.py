"""Divide the files of a corpus into stretches, each counted by one worker at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple

from bpe_core.corpus import DecodingErrors, whole_characters
from bpe_core.pretokenizers import SCANNERS, Pretokenizer, get_pretokenizer, safe_split
from bpe_core.scale.sources import DescribedFile, Source

_MIN_BYTES: Final = 8 << 20
_USUAL_BYTES: Final = 64 << 20
_MIN_STRETCHES: Final = 8
_MAX_STRETCHES: Final = 4_096
_SEARCHED: Final = 1 << 20
# A change to how files are divided or read makes parts in older work folders unusable.
_VERSION: Final = 4


def key_for(*described: object) -> str:
    """Return a name for a part of a job that is the same only for the same JSON values.

    >>> key_for(1, "gpt2") == key_for(1, "gpt2"), len(key_for(1))
    (True, 32)
    """
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:32]


class FilePart(NamedTuple):
    """A part of a file: bytes, or row groups of Parquet, from `begin` to before `end`."""

    source: Source
    column: str
    begin: int
    end: int
    """-1 for all of a file that is read whole, or whose unpacked size is not known."""
    step: int
    """The distance in bytes between the places where the file may be cut; 0 if it is not cut."""

    @property
    def n_bytes(self) -> int:
        """About how much text there is, packed if the file is."""
        if self.source.kind == "parquet":
            return self.step
        return self.source.size if self.end < 0 else self.end - self.begin


class Stretch(NamedTuple):
    """The text that one worker counts at a time: a part of a file, or several small files."""

    parts: tuple[FilePart, ...]
    pretokenizer: str
    run_bytes: int
    """The amount of text after which counted words are written, to bound the memory taken."""
    errors: DecodingErrors = "strict"
    """What becomes of bytes that are not UTF-8."""
    skip_damaged: bool = False
    """Whether the rest of a part that cannot be read is left out, or an error."""

    @property
    def key(self) -> str:
        """A name that is the same only for the same bytes, cut in the same way."""
        return key_for(_VERSION, *self)

    @property
    def n_bytes(self) -> int:
        """About how much text there is."""
        return sum(part.n_bytes for part in self.parts)


def stretch_bytes_for(n_bytes: int) -> int:
    """Return the length of stretches in a corpus of `n_bytes`: mostly 64 MB.

    Shorter ones let the workers of a small corpus end at about the same time, and longer ones keep
    their number within bounds. It changes in steps, so most stretches of a corpus that has grown
    are those of before.

    >>> [stretch_bytes_for(n_bytes) >> 20 for n_bytes in (1 << 20, 1 << 28, 1 << 30, 1 << 40)]
    [8, 32, 64, 256]
    """
    size = _MIN_BYTES
    while size < _USUAL_BYTES and 2 * size * _MIN_STRETCHES <= n_bytes:
        size *= 2
    while size * _MAX_STRETCHES < n_bytes:
        size *= 2
    return size


def divide_files(
    files: Iterable[DescribedFile],
    pretokenizer: str,
    stretch_bytes: int,
    errors: DecodingErrors = "strict",
    *,
    skip_damaged: bool = False,
) -> Iterator[Stretch]:
    """Divide files into stretches of about `stretch_bytes`, in order.

    Text is cut where no pre-token can cross, which the worker finds when it reads that place; for a
    custom pattern and "none", a text is one stretch. JSON lines are cut between lines, Parquet
    between row groups. A packed file is one stretch, and so is one that is read whole.

    >>> source = Source("a.txt", "text", None, 250, "")
    >>> [each.parts[0][2:] for each in divide_files([DescribedFile(source, "")], "gpt2", 100)]
    [(0, 100, 100), (100, 200, 100), (200, 250, 100)]
    """

    def stretch(parts: list[FilePart]) -> Stretch:
        return Stretch(tuple(parts), pretokenizer, stretch_bytes, errors, skip_damaged)

    pending: list[FilePart] = []
    n_pending = 0
    for part in _parts(files, pretokenizer, stretch_bytes):
        if pending and n_pending + part.n_bytes > stretch_bytes:
            yield stretch(pending)
            pending, n_pending = [], 0
        pending.append(part)
        n_pending += part.n_bytes
    if pending:
        yield stretch(pending)


def _parts(
    files: Iterable[DescribedFile], pretokenizer: str, stretch_bytes: int
) -> Iterator[FilePart]:
    for source, column, groups, _ in files:
        if source.kind == "parquet":
            begin = size = 0
            for group, group_size in enumerate(groups):
                if size and size + group_size > stretch_bytes:
                    yield FilePart(source, column, begin, group, size)
                    begin, size = group, 0
                size += group_size
            if groups:
                yield FilePart(source, column, begin, len(groups), size)
        elif source.packing or source.kind == "whole":
            yield FilePart(source, column, 0, -1, 0)
        elif source.kind == "text" and pretokenizer not in SCANNERS:
            yield FilePart(source, column, 0, source.size, 0)
        else:
            for begin in range(0, source.size, stretch_bytes):
                end = min(begin + stretch_bytes, source.size)
                yield FilePart(source, column, begin, end, stretch_bytes)


def text_bounds(file: BinaryIO, part: FilePart, pretokenizer: str) -> tuple[int, int]:
    """Return where a part of a text file really begins and ends: at cuts between pre-tokens.

    Every worker finds the same cut at the same place. A place without a safe cut soon after it is
    left out: its stretch is empty, and the one before extends to the next cut.
    """
    size = part.source.size
    if not part.step:
        return part.begin, part.end
    cut = get_pretokenizer(pretokenizer)
    begin = 0 if part.begin == 0 else _cut_after(file, part.begin, size, cut)
    if begin is None:
        return part.begin, part.begin
    for place in range(part.begin + part.step, size, part.step):
        end = _cut_after(file, place, size, cut)
        if end is not None and end > begin:
            return begin, end
    return begin, size


def _cut_after(file: BinaryIO, near: int, size: int, pretokenizer: Pretokenizer) -> int | None:
    file.seek(near)
    data = file.read(min(_SEARCHED, size - near))
    first = next((i for i, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), len(data))
    whole, _ = whole_characters(data[first:])
    try:
        whole.decode()
    except UnicodeDecodeError:
        # The kernel needs valid UTF-8. Counting this place will raise an error that names it.
        return None
    cut = safe_split(whole, 0, pretokenizer)
    return None if cut == len(whole) else near + first + cut
