"""A tokenizer in the formats of other tools, ready to be downloaded."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats.load_save import Format, dumps
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.look.labels import plain_markdown
from ui.storage.run_store import load_run


@dataclass(frozen=True, slots=True)
class Download:
    """One format: a file, or why this tokenizer can't be written in it."""

    label: str
    reader: str
    """Which tool reads the file."""
    file_name: str
    data: Callable[[], bytes] | None
    """Writes the file when it is asked for: a server keeps none of every tokenizer's files."""
    problem: str | None


def downloads(run_id: str) -> tuple[Download, ...]:
    """A run's tokenizer in every format, in the order in which they are offered."""
    return tokenizer_downloads(load_run(run_id).run.tokenizer)


def tokenizer_downloads(tokenizer: Tokenizer) -> tuple[Download, ...]:
    """A tokenizer in every format, in the order in which they are offered."""
    return _tokenizer_downloads(tokenizer.fingerprint, tokenizer)


@st.cache_resource(max_entries=16, show_spinner=False)
def _tokenizer_downloads(fingerprint: str, _tokenizer: Tokenizer) -> tuple[Download, ...]:
    return (
        _download(_tokenizer, "huggingface", "tokenizer.json", "Hugging Face tokenizers"),
        _download(_tokenizer, "gpt2", "vocab + merges", "GPT-2 tools: vocab.json and merges.txt"),
        _download(_tokenizer, "tiktoken", ".tiktoken", "tiktoken"),
        _download(_tokenizer, "native", "native", "BPE Explorer itself, nothing lost"),
    )


def offer_downloads(offered: Sequence[Download], *, key: str) -> None:
    """Draws a button for each format, and says of the others why they can't hold the tokenizer."""
    with st.container(horizontal=True, gap="small"):
        for download in offered:
            if download.data is not None:
                st.download_button(
                    download.label,
                    download.data,
                    file_name=download.file_name,
                    mime="application/octet-stream",
                    help=f"For {download.reader}",
                    on_click="ignore",
                    key=f"{key}_{download.label}",
                )
    missing = [download for download in offered if download.problem is not None]
    if missing:
        with st.expander("Formats that cannot hold this tokenizer"):
            for download in missing:
                st.markdown(
                    f"**{plain_markdown(download.label)}** "
                    f"{plain_markdown(download.problem or '', 600)}"
                )


def _download(tokenizer: Tokenizer, format_name: Format, label: str, reader: str) -> Download:
    try:
        # A format tells that it can't hold the tokenizer only when it's written; after a click that
        # would be too late to say why.
        names = list(dumps(tokenizer, format_name))
    except BpeError as error:
        return Download(label, reader, "", None, str(error))
    file_name = names[0] if len(names) == 1 else f"{format_name}-tokenizer.zip"
    return Download(label, reader, file_name, partial(_written, tokenizer, format_name), None)


def _written(tokenizer: Tokenizer, format_name: Format) -> bytes:
    """The format's one file, or a zip of its files."""
    files = dumps(tokenizer, format_name)
    if len(files) == 1:
        return next(iter(files.values()))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # A fixed date: the same tokenizer gives the same file.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()
