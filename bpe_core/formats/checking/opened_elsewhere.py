"""Check that the library a format is for opens the file and encodes as the tokenizer does.

The check runs in another process the lines of code that users are shown, see `reading_libraries`.
It compares the ids of a probe, in the library that the format is meant for or in another reader.
"""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import ConfigError, FormatError, ProcessError
from bpe_core.extras import needs_extra
from bpe_core.formats.checking.probe import Probe, make_probe
from bpe_core.formats.checking.reading_libraries import (
    READERS,
    find_reader,
    installed_version,
    list_readers,
)
from bpe_core.formats.huggingface import FOLDER
from bpe_core.formats.load_save import dumps, write_files
from bpe_core.processes import Limits
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Format

with needs_extra("formats", "Checking with another library"):
    from bpe_core.processes import call

_SHOWN_CHARACTERS: Final = 20


_TIKTOKENS_CHECK: Final = "assert bpe_ranks == encoder_json_loaded"
_OTHER_ORDER: Final = "it expects the ids in GPT-2's order, the bytes first and then the merges."
_MAX_SECONDS: Final = 120.0
# Several threads may run in that time.
_MAX_PROCESSOR_SECONDS: Final = 600.0
_QUIET: Final = {
    "TOKENIZERS_PARALLELISM": "false",
    # The files are local, and nothing is to be looked up or stored elsewhere.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where another library gives other ids."""

    character: int
    """Its place in the probe, all texts in a row, in characters."""
    text: str
    """The text from there on, cut short."""
    expected: tuple[int, ...]
    """The tokenizer's next ids, at most three."""
    found: tuple[int, ...]
    """The other library's next ids, at most three."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The result of opening a file in the library that it is meant for."""

    library: str
    version: str | None
    """None if the library is not installed, so nothing was checked."""
    n_tokens: int
    """The number of tokens compared, up to the first difference."""
    difference: Difference | None = None
    problem: str | None = None
    """Why the library could not open the file or encode with it."""
    encoder: str = ""
    """The library that encoded with what this one read; empty if it did so itself."""
    refused: str = ""
    """Why the format cannot express the tokenizer, so there is no file."""
    needs: str = ""
    """A library that is missing here and without which this one cannot open the file."""

    @property
    def is_same(self) -> bool:
        """Whether the library opened the file and gave the same ids."""
        return (
            self.version is not None
            and self.difference is None
            and self.problem is None
            and not self.needs
        )

    @property
    def sentence(self) -> str:
        """The result in a sentence.

        >>> Opened("tokenizers", "0.23.3", 100_000).sentence
        'Opened by tokenizers 0.23: same ids on 100,000 tokens.'
        >>> Opened("tiktoken", None, 0).sentence
        'Not checked: tiktoken is not installed here.'
        """
        if self.refused:
            return f"Refused: {self.refused}"
        if self.version is None:
            return f"Not checked: {self.library} is not installed here."
        name = f"{self.library} {short_version(self.version)}"
        if self.needs:
            return f"Not checked: {name} opens it with {self.needs}, which is not installed here."
        if self.problem is not None:
            return f"Not opened by {name}: {self.problem}"
        encoded = f", encoded by {self.encoder}" if self.encoder else ""
        if self.difference is None:
            return f"Opened by {name}{encoded}: same ids on {self.n_tokens:,} tokens."
        place = self.difference
        return (
            f"Opened by {name}{encoded}: other ids after {self.n_tokens:,} equal tokens, from "
            f"character {place.character:,} of the test text on, {place.text!r}: "
            f"{_listed(place.found)} instead of {_listed(place.expected)}."
        )


def short_version(version: str) -> str:
    """Return the first two numbers of a version.

    >>> short_version("0.23.3")
    '0.23'
    """
    return ".".join(version.split(".")[:2])


def opens_in(tokenizer: Tokenizer, probe: Probe | None = None) -> Iterator[tuple[Format, Opened]]:
    """Yield the result of opening each format.

    Each is opened by its own library and by all others installed that read it.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> found = opens_in(tokenizer, make_probe(tokenizer, n_tokens=10))
    >>> [came for format, came in found if format == "gguf"][0].sentence.split(",")[0]
    'Refused: llama.cpp'
    """
    probe = make_probe(tokenizer) if probe is None else probe
    for format in READERS:
        own, *others = list_readers(format)
        for library in [own, *filter(installed_version, others)]:
            try:
                yield format, check_opens(tokenizer, format, probe, library=library)
            except ConfigError as error:
                yield format, Opened(library, None, 0, refused=str(error))
                break


def check_opens(
    tokenizer: Tokenizer, format: Format, probe: Probe | None = None, library: str | None = None
) -> Opened:
    """Write a tokenizer, open it in the library of its format and compare the ids of a probe.

    Without a probe, it makes one. `library` names another that reads the format. Raises
    `ConfigError` if the format cannot express the tokenizer, or the library cannot read the format.

    >>> from bpe_core.tokenizer import gpt2
    >>> check_opens(gpt2(), "tiktoken", make_probe(gpt2(), n_tokens=10)).is_same
    True
    """
    reader = find_reader(format, library)
    files = dumps(tokenizer, format)
    version = installed_version(reader.library)
    if version is None:
        return Opened(reader.library, None, 0)
    if reader.needs and find_spec(reader.needs) is None:
        return Opened(reader.library, version, 0, needs=reader.needs)
    probe = make_probe(tokenizer) if probe is None else probe
    lines = reader.lines(tokenizer)
    with tempfile.TemporaryDirectory(prefix="bpe-opened-") as name:
        folder = Path(name, FOLDER if format == "transformers" else "")
        folder.mkdir(exist_ok=True)
        write_files(files, folder)
        try:
            found = ids_by_lines(lines.load, lines.encode, probe.texts, Path(name))
        except TrialError as error:
            problem = _OTHER_ORDER if _TIKTOKENS_CHECK in str(error) else str(error)
            return Opened(reader.library, version, 0, problem=problem, encoder=reader.encoder)
    n_tokens, difference = compare_ids(tokenizer, probe, found)
    return Opened(reader.library, version, n_tokens, difference, encoder=reader.encoder)


def compare_ids(
    tokenizer: Tokenizer, probe: Probe, found: list[list[int]]
) -> tuple[int, Difference | None]:
    """Return how many tokens are equal from the start on, and the first difference.

    `found` holds another library's ids of each text of the probe.

    >>> from bpe_core.tokenizer import gpt2
    >>> compare_ids(gpt2(), Probe(("hi hug",), ((5303, 16225),)), [[5303, 5]])
    (1, Difference(character=2, text=' hug', expected=(16225,), found=(5,)))
    """
    n_tokens = before = 0
    for text, expected, theirs in zip(probe.texts, probe.ids, found, strict=True):
        if list(expected) != theirs:
            pairs = zip(expected, theirs, strict=False)
            at = next(
                (place for place, (ours, other) in enumerate(pairs) if ours != other),
                min(len(expected), len(theirs)),
            )
            starts = [
                segment.start
                for segment in tokenizer.segments(text, allowed_special="all")
                if segment.id is not None
            ]
            start = starts[at] if at < len(starts) else len(text)
            difference = Difference(
                before + start,
                text[start : start + _SHOWN_CHARACTERS],
                tuple(expected[at : at + 3]),
                tuple(theirs[at : at + 3]),
            )
            return n_tokens + at, difference
        n_tokens += len(expected)
        before += len(text)
    return n_tokens, None


def _listed(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids)) or "nothing"


class TrialError(FormatError):
    """Another library crashed, hung or raised an error.

    An error's message is that library's own, unlike all others of this package: it reports what the
    library does with our file, in words that its documentation and its users know.
    """


def ids_by_lines(load: str, encode: str, texts: Sequence[str], folder: Path) -> list[list[int]]:
    """Run lines of Python in a folder, and return the ids of each text.

    `load` opens a tokenizer, and the expression `encode` gives the ids of `text`. The caller must
    have written both, because they run as they are. Raises `TrialError` if they crash, take longer
    than two minutes, or raise an exception, whose type and first words its message repeats.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ids_by_lines("shift = 1", "[ord(each) + shift for each in text]", ["a"], Path(folder))
    [[98]]
    """
    limits = Limits(_MAX_SECONDS, processor_seconds=_MAX_PROCESSOR_SECONDS)
    try:
        return call(run_lines, load, encode, list(texts), folder, limits=limits)
    except ProcessError as error:
        raise TrialError(str(error)) from None


def run_lines(load: str, encode: str, texts: list[str], folder: Path) -> list[list[int]]:
    """Run the lines of `ids_by_lines` in this process; raises `TrialError` for what they raise."""
    os.environ |= _QUIET
    os.chdir(folder)
    names: dict[str, Any] = {}
    try:
        exec(load, names)
        expression = compile(encode, "encode", "eval")
        return [[int(id) for id in eval(expression, names, {"text": text})] for text in texts]
    except BaseException as error:
        # Panics in Rust code derive from BaseException.
        raise TrialError(_describe_error(error)) from None


def _describe_error(error: BaseException) -> str:
    """Return an error's type and message; without a message, the line of code that raised it."""
    words = " ".join(str(error).split())[:200]
    if not words:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        words = f"raised by “{line[:120]}”." if line else "it gives no reason."
    return f"{type(error).__name__}: {words}"
