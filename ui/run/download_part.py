"""Offer a tokenizer for download in the formats of other tools, with the code that loads it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats import FOLDER, dumps, find_reader, special_roles, what_ranks_lack
from bpe_core.runs import TrainingRun
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Format
from ui.host import cached
from ui.look import plain_markdown
from ui.storage import StoredRun, load_run

_TESTED: Final = ":small[:gray[Tests open every format in its libraries: the same ids.]]"
_HOW: Final = (
    "`docs/how-it-is-checked.md` says how. `bpe convert --check` compares 100,000 ids of your own "
    "file, and `bpe inspect --opens-in` tries every library that is installed."
)


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


def offer_downloads(
    tokenizer: Tokenizer, stored: StoredRun, *, key: str, says_next: bool = False
) -> None:
    """Offer a tokenizer in each format, and explain which formats cannot hold it.

    With `says_next`, the command that comes after the first format's download is shown too.
    """
    offered = tokenizer_downloads(tokenizer, stored.run)
    possible = [download for download in offered if download.data is not None]
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(gap="small", key=f"{key}_download_rows"):
        for download in possible:
            _row(download, key)
        st.markdown(_TESTED, help=_HOW)
    if says_next:
        show_encoding_command(possible[0].file_name, tokenizer)
    missing = [download for download in offered if download.problem is not None]
    if missing:
        with st.expander("Formats that cannot hold this tokenizer"):
            for download in missing:
                st.markdown(
                    f"**{plain_markdown(download.label)}** "
                    f"{plain_markdown(download.problem or '', 600)}"
                )


def show_encoding_command(file_name: str, tokenizer: Tokenizer) -> None:
    """Show what comes next: the command that makes training data with a downloaded file."""
    st.markdown(":small[:gray[Next, encode your corpus into training data:]]")
    st.code(encoding_command(file_name, tokenizer), language=None, wrap_lines=True)


def _row(download: Download, key: str) -> None:
    with st.container(gap=None):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.download_button(
                download.label,
                download.data or b"",
                file_name=download.file_name,
                mime="application/octet-stream",
                help=f"For {download.reader}",
                on_click="ignore",
                key=f"{key}_{download.label}",
            )
            library = find_reader(download.format).library
            popover = f"{key}_{download.format}"
            with st.popover(f"Load with {library}", type="tertiary", key=popover):
                st.code(download.code, language="python", wrap_lines=True)
        if download.lacks:
            st.markdown(f":small[:gray[{plain_markdown(download.lacks, 600)}]]")
