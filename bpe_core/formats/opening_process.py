"""Open a stranger's tokenizer file in a separate process first, with limited memory and time.

A file within all limits can still take a minute or gigabytes, or end the process in a compiled
library. `python -m bpe_core.formats.opening_process` reads a question and files from standard
input, opens them, and writes as JSON who encodes them, or what is wrong with them. Opening them
again then does only what encoding needs: nothing is tried or compared again.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, Final

from bpe_core import errors
from bpe_core.child_process import child, framed, read_question
from bpe_core.corpus.damage import ARCHIVE_DAMAGE
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.opening import open_files
from bpe_core.formats.probe import PROBE
from bpe_core.formats.run_by_tokenizers import ForeignTokenizer
from bpe_core.formats.zipped import looks_like_zip
from bpe_core.processes.limits import Limits, limit_this_process
from bpe_core.tokenizer.protocol import NamedEncoder

_MODULE: Final = "bpe_core.formats.opening_process"
OWN_ENGINE: Final = "bpe_core"
LEAST_BYTES: Final = 200_000
"""The unpacked size from which files are worth a process, which takes 0.4 s to start. Smaller files
cannot take long or much memory, except in a library that is tried in a process anyway."""
_MOST_BYTES: Final = 3 * 2**30
_MOST_PROCESSOR_SECONDS: Final = 25
"""Gemma's, of a quarter of a million tokens, took 8."""
# Each thread would reserve address space, which counts as memory.
_QUIET: Final = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
# More than the processor time, because the processor may be shared with many.
_MOST_SECONDS: Final = 180.0


def open_untrusted(
    files: Mapping[str, bytes],
    *,
    pretokenizer: str | None = None,
    place: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> NamedEncoder:
    """Open files as `open_files` does; large ones first in a process with limits.

    `place` makes the context in which that process runs, so callers can limit how many run at once.
    Raises what `open_files` raises, and `FormatError` if they take too much time or memory.

    >>> open_untrusted({"a.tiktoken": b"YQ== 0\\n"}, pretokenizer="gpt2").encode("aa")
    [0, 0]
    """
    if size_unpacked(files) < LEAST_BYTES:
        return open_files(files, pretokenizer=pretokenizer)
    with place():
        found = _ask(files, pretokenizer)
    is_own = found["engine"] == OWN_ENGINE
    opened = open_files(files, pretokenizer=pretokenizer, trial="own" if is_own else "other")
    return replace(opened, provenance=found["provenance"])


def size_unpacked(files: Mapping[str, bytes]) -> int:
    """Return the size of files in bytes; for a small zip, the unpacked size that it states.

    >>> size_unpacked({"vocab.json": b"{}", "merges.txt": b"a b"})
    5
    """
    size = sum(map(len, files.values()))
    if size >= LEAST_BYTES:
        return size
    for data in files.values():
        if looks_like_zip(data):
            try:
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    # No more than this is unpacked, even if the stated size is false.
                    size += sum(member.file_size for member in archive.infolist())
            except ARCHIVE_DAMAGE:
                continue
    return size


def _ask(files: Mapping[str, bytes], pretokenizer: str | None) -> dict[str, Any]:
    sizes = [[name, len(data)] for name, data in files.items()]
    # The process itself has its files and their text in memory twice.
    limits = [_MOST_PROCESSOR_SECONDS, _MOST_BYTES + 4 * sum(map(len, files.values()))]
    asked = {"files": sizes, "pretokenizer": pretokenizer, "limits": limits}
    request = framed(asked, *files.values())
    with child(_MODULE, variables=_QUIET, most_seconds=_MOST_SECONDS) as process:
        try:
            answer, _ = process.communicate(request)
        except OSError:
            answer = b""
    if not answer.endswith(b"\n"):
        raise FormatError(
            f"It takes more than {_MOST_PROCESSOR_SECONDS} seconds or {_MOST_BYTES >> 30} GB to "
            "open, or crashes the library that reads it. Use the file as it was saved."
        )
    found: dict[str, Any] = json.loads(answer)
    if "error" in found:
        name, text = found["error"]
        raise getattr(errors, name)(text)
    return found


def _main() -> None:
    source = sys.stdin.buffer
    question = read_question(source)
    files = {name: source.read(size) for name, size in question["files"]}
    limit_this_process(Limits(*question["limits"]))
    try:
        opened = open_files(files, pretokenizer=question["pretokenizer"], trial="here")
        if opened.engine != OWN_ENGINE:
            # Some tokenizers that can be built crash at the first text; those that only fail may be
            # opened.
            with suppress(BpeError):
                opened.encode(PROBE)
            if isinstance(opened.encoder, ForeignTokenizer):
                opened.encoder.check_patterns()
    except BpeError as error:
        answer: dict[str, Any] = {"error": [type(error).__name__, str(error)]}
    else:
        answer = {"engine": opened.engine, "provenance": opened.provenance}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    _main()
