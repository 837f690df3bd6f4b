"""Try a file in another library in a separate process.

Those libraries are compiled: a crash in one ends the whole process, with every visitor's work, and
raises nothing that could be caught. `python -m bpe_core.formats.trial_process` reads one request as
JSON from standard input. The request is either a tokenizer.json to build and a probe to encode, or
lines of Python that open a file in the working folder and the texts to encode.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bpe_core.child_process import child
from bpe_core.errors import BpeError, FormatError
from bpe_core.processes.limits import Limits, limit_this_process

# The largest published tokenizers take two seconds; a hostile one can take hours.
_MOST_SECONDS_OF_UPLOADED: Final = 10.0
# A vocabulary of 260,000 tokens is 20 MB of JSON, and takes 8 s of processor time.
_SECONDS_PER_MEGABYTE: Final = 1.5
_MOST_BYTES_OF_UPLOADED: Final = 4 * 2**30
# For a parent process that ends before its child.
_MOST_PROCESSOR_SECONDS: Final = 60
_MOST_SECONDS: Final = 120.0
_SLOW_PATTERN: Final = 3
"""The exit status for a file with a pattern that takes too long on some texts."""
_ANSWER: Final = "answer.json"
_QUIET: Final = {
    "TOKENIZERS_PARALLELISM": "false",
    # The files are local, and nothing is to be looked up or stored elsewhere.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


class TrialError(FormatError):
    """Another library crashed, hung or raised an error.

    An error's message is that library's own, unlike all others of this package: it reports what the
    library does with our file, in words that its documentation and its users know.
    """


def rehearse(described: Mapping[str, Any], probe: str, name: str) -> None:
    """Raise `FormatError` if a tokenizer, built and tried, ends the process or takes too long.

    A tokenizer that fails with an exception passes; building it later raises the same exception.

    >>> model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    >>> rehearse({"model": model}, "some text", "a file")
    """
    _rehearse({"described": described, "probe": probe}, "Hugging Face's tokenizers", name)


def rehearse_sentencepiece(data: bytes, probe: str, name: str) -> None:
    """Raise `FormatError` if a SentencePiece model ends the process or takes too long.

    >>> rehearse_sentencepiece(b"damaged", "some text", "a file")
    """
    written = b64encode(data).decode()
    _rehearse({"sentencepiece": written, "probe": probe}, "The sentencepiece library", name)


def _rehearse(request: Mapping[str, Any], library: str, name: str) -> None:
    written = json.dumps(request).encode()
    most_seconds = _MOST_SECONDS_OF_UPLOADED + len(written) / 1e6 * _SECONDS_PER_MEGABYTE
    try:
        code = _run(written, None, most_seconds=most_seconds)
    except subprocess.TimeoutExpired:
        raise FormatError(
            f"{library} took more than {most_seconds:.0f} seconds for {name}. Use the file as "
            f"it was saved."
        ) from None
    if code == _SLOW_PATTERN:
        raise FormatError(
            f"A pattern in {name} takes too long on a run of equal characters. Write it without "
            "alternatives that match the same text."
        )
    if code:
        raise FormatError(
            f"{library} crashes on {name} or runs out of memory, so it cannot be "
            f"opened. Use the file as it was saved."
        )


def ids_by_lines(
    load: str,
    encode: str,
    texts: Sequence[str],
    folder: Path,
    on_start: Callable[[Callable[[], None]], None] | None = None,
) -> list[list[int]]:
    """Run lines of Python in a folder, and return the ids of each text.

    `load` opens a tokenizer, and the expression `encode` gives the ids of `text`. The caller must
    have written both, because they run as they are. `on_start` is passed a function that ends the
    process early. Raises `TrialError` if they crash, take longer than two minutes, or raise an
    exception, whose type and first words its message repeats.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ids_by_lines("shift = 1", "[ord(each) + shift for each in text]", ["a"], Path(folder))
    [[98]]
    """
    answer = folder / _ANSWER
    try:
        request = {"load": load, "encode": encode, "texts": list(texts)}
        written = json.dumps(request).encode()
        code = _run(written, folder, on_start, most_seconds=_MOST_SECONDS)
    except subprocess.TimeoutExpired:
        raise TrialError(f"It took more than {_MOST_SECONDS:.0f} seconds.") from None
    if code or not answer.is_file():
        raise TrialError(f"It crashed with exit status {code}.")
    answered = json.loads(answer.read_bytes())
    if "error" in answered:
        raise TrialError(answered["error"])
    return answered["ids"]


def _run(
    request: bytes,
    folder: Path | None,
    on_start: Callable[[Callable[[], None]], None] | None = None,
    *,
    most_seconds: float,
) -> int:
    with child(
        "bpe_core.formats.trial_process",
        stdout=subprocess.DEVNULL,
        folder=folder,
        variables=_QUIET,
        most_seconds=_MOST_PROCESSOR_SECONDS + most_seconds,
    ) as process:
        if on_start is not None:
            on_start(process.kill)
        process.communicate(request, timeout=most_seconds)
        return process.returncode


def _main() -> None:
    request = json.load(sys.stdin)
    if "load" in request:
        # Someone may be waiting for a page on the same processors, and nobody waits for this.
        os.nice(5)
        Path(_ANSWER).write_text(json.dumps(_answer(request)), encoding="utf-8")
        return
    limit_this_process(Limits(_MOST_PROCESSOR_SECONDS, _MOST_BYTES_OF_UPLOADED))
    if "sentencepiece" in request:
        from bpe_core.formats.run_by_sentencepiece import SentencePieceTokenizer

        with suppress(BpeError):
            SentencePieceTokenizer(b64decode(request["sentencepiece"])).encode(request["probe"])
        return
    from bpe_core.formats.run_by_tokenizers import ForeignTokenizer

    with suppress(BpeError):
        foreign = ForeignTokenizer(request["described"])
        with suppress(BpeError):
            foreign.encode(request["probe"])
        try:
            foreign.check_patterns()
        except FormatError:
            sys.exit(_SLOW_PATTERN)


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    try:
        exec(request["load"], names)
        encode = compile(request["encode"], "encode", "eval")
        ids = [[int(id) for id in eval(encode, names, {"text": text})] for text in request["texts"]]
    except BaseException as error:
        # Panics in Rust code derive from BaseException.
        return {"error": _words_of(error)}
    return {"ids": ids}


def _words_of(error: BaseException) -> str:
    """Return an error's type and message; without a message, the line of code that raised it."""
    words = " ".join(str(error).split())[:200]
    if not words:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        words = f"raised by “{line[:120]}”." if line else "it gives no reason."
    return f"{type(error).__name__}: {words}"


if __name__ == "__main__":
    _main()
