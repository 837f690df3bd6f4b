"""Prepare a tokenizer for download in the formats of other tools, and open the files in these."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from shlex import quote
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.formats import (
    FOLDER,
    READERS,
    Opened,
    check_opens,
    dumps,
    find_reader,
    make_probe,
    special_roles,
    what_ranks_lack,
)
from bpe_core.runs import TrainingRun
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Format
from ui.host import cached
from ui.storage import StoredRun, load_run, training_text
from ui.work import Background, Status, Task


@dataclass(frozen=True, slots=True)
class Download:
    """One format: a file, or the reason why the format cannot represent this tokenizer."""

    format: Format
    label: str
    reader: str
    """The tool that reads the file."""
    file_name: str
    data: Callable[[], bytes] | None
    """Writes the file on demand, so that the server need not keep it."""
    code: str
    """The lines of Python that load the file; empty if there is none."""
    problem: str | None
    lacks: str = ""
    """What the file does not hold, in sentences; empty if that is nothing."""


def downloads(run_id: str) -> tuple[Download, ...]:
    """Return a run's tokenizer in every format, in the order of the buttons."""
    run = load_run(run_id).run
    return tokenizer_downloads(run.tokenizer, run)


def tokenizer_downloads(
    tokenizer: Tokenizer, run: TrainingRun | None = None
) -> tuple[Download, ...]:
    """Return a tokenizer in every format, in the order of the buttons.

    If it is the tokenizer of the run, the native format records how that can be repeated.
    """
    if run is None or run.tokenizer is not tokenizer:
        return _tokenizer_downloads(tokenizer.fingerprint, tokenizer)
    return _tokenizer_downloads(f"{tokenizer.fingerprint} {run.to_dict()}", run)


@cached()
def _tokenizer_downloads(key: str, _tokenizer: Tokenizer | TrainingRun) -> tuple[Download, ...]:
    return (
        _download(_tokenizer, "huggingface", "tokenizer.json", "Hugging Face tokenizers"),
        _download(_tokenizer, "transformers", "transformers folder", "AutoTokenizer"),
        _download(_tokenizer, "gpt2", "vocab + merges", "GPT-2 tools: vocab.json and merges.txt"),
        _download(_tokenizer, "tiktoken", ".tiktoken", "tiktoken"),
        _download(
            _tokenizer, "gguf", "GGUF (vocabulary)", "llama.cpp: the vocabulary without a model"
        ),
        _download(_tokenizer, "sentencepiece", "SentencePiece (.model)", "sentencepiece"),
        _download(_tokenizer, "native", "BPE Explorer (.json)", "BPE Explorer, without any loss"),
    )


def encoding_command(file_name: str, tokenizer: Tokenizer) -> str:
    """Return the command that encodes a corpus with a downloaded file.

    >>> from bpe_core.tokenizer import gpt2
    >>> encoding_command("my tokenizer.json", gpt2())
    "bpe encode-corpus corpus/ -t 'my tokenizer.json' --out tokens/"
    """
    has_eos = "eos_token" in special_roles(tokenizer.special_tokens)
    without = "" if has_eos else " --eos none"
    return f"bpe encode-corpus corpus/ -t {quote(file_name)}{without} --out tokens/"


def _download(
    written: Tokenizer | TrainingRun, format_name: Format, label: str, reader: str
) -> Download:
    tokenizer = written.tokenizer if isinstance(written, TrainingRun) else written
    try:
        # Write the files now, because only that shows whether the format can represent the
        # tokenizer, and a click on the button could no longer explain it.
        names = list(dumps(written, format_name))
    except BpeError as error:
        return Download(format_name, label, reader, "", None, "", str(error))
    code = find_reader(format_name).lines(tokenizer).code
    file_name = names[0]
    if len(names) > 1:
        file_name = f"{format_name}-tokenizer.zip"
        code = f"# After unzipping {file_name}\n{code}"
    data = partial(_written, written, format_name)
    lacks = what_ranks_lack(tokenizer) if format_name == "tiktoken" else ""
    return Download(format_name, label, reader, file_name, data, code, None, lacks)


def _written(tokenizer: Tokenizer | TrainingRun, format_name: Format) -> bytes:
    """Return the format's only file, or a zip archive of its files."""
    files = dumps(tokenizer, format_name)
    if len(files) == 1:
        return next(iter(files.values()))
    return zipped(files, f"{FOLDER}/" if format_name == "transformers" else "")


def zipped(files: Mapping[str, bytes], folder: str = "") -> bytes:
    """Return files as a zip archive, under `folder` if given, which must end with "/".

    >>> zipped({"a.txt": b"a"})[:2]
    b'PK'
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # With a fixed date, the same tokenizer makes the same file.
            archive.writestr(zipfile.ZipInfo(folder + name, (1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


# The other libraries take seconds to import, most of all transformers.
_SLOWEST_LAST: Final[tuple[Format, ...]] = (
    "huggingface",
    "gpt2",
    "tiktoken",
    "native",
    "sentencepiece",
    "gguf",
    "transformers",
)


@dataclass(frozen=True, slots=True)
class Checked:
    """The results of the checks so far, by format and library."""

    of: int
    """The number of checks to do."""
    by_library: Mapping[tuple[Format, str], Opened] = field(
        default_factory=dict[tuple[Format, str], Opened]
    )

    @property
    def done(self) -> int:
        """The number of checks done."""
        return len(self.by_library)

    @property
    def results(self) -> Mapping[Format, Opened]:
        """The result for each format in the library that it is meant for."""
        return {
            format: opened
            for (format, library), opened in self.by_library.items()
            if library == find_reader(format).library
        }


def check_formats(
    tokenizer: Tokenizer, formats: Sequence[Format], stored: StoredRun
) -> Status[Checked, Checked]:
    """Return the status of the checks of a tokenizer's formats, starting them if needed.

    The text is the held-out text of a run, then its training text. Raises `TooMuchWorkError`.
    """
    id = f"{tokenizer.fingerprint} {stored.id}"
    texts = partial(_iterate_texts, stored)
    return checks().begin(id, partial(check_all, tokenizer, tuple(formats), texts))


def check_all(
    tokenizer: Tokenizer,
    formats: Sequence[Format],
    texts: Callable[[], Iterator[str]],
    task: Task[Checked],
) -> Checked | None:
    """Check each format in its own library, then in the others, and report each check.

    Returns None or raises CancelledError if cancelled.
    """
    pairs = _pairs(formats)
    checked = Checked(len(pairs))
    task.report(checked)
    probe = make_probe(tokenizer, texts())
    for format, library in pairs:
        if task.is_cancelled:
            return None
        opened = check_opens(tokenizer, format, probe, lambda: task.is_cancelled, library)
        checked = replace(checked, by_library={**checked.by_library, (format, library): opened})
        task.report(checked)
    return None if task.is_cancelled else checked


def _pairs(formats: Sequence[Format]) -> list[tuple[Format, str]]:
    """Return formats with the libraries that they are for, then with others that read them."""
    own: list[tuple[Format, str]] = [
        (format, find_reader(format).library) for format in sorted(formats, key=_SLOWEST_LAST.index)
    ]
    others: list[tuple[Format, str]] = [
        (format, reader.library) for format in formats for reader in READERS[format][1:]
    ]
    return [*own, *sorted(others, key=lambda pair: pair[1] == "transformers")]


def _iterate_texts(stored: StoredRun) -> Iterator[str]:
    yield from stored.held_out.documents
    # The text of a run may be missing or damaged; other texts take its place.
    with suppress(BpeError):
        kept = training_text(stored.id)
        if kept is not None:
            yield from kept.corpus.documents


@cache
def checks() -> Background[Checked, Checked]:
    """Return the server's checks, by tokenizer and run."""
    return Background("opened", max_waiting=32, max_cached=64)
