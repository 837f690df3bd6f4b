"""Offer a tokenizer for download in the formats of other tools."""

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
    """One format: a file, or the reason why the format cannot represent this tokenizer."""

    label: str
    reader: str
    """The tool that reads the file."""
    file_name: str
    data: Callable[[], bytes] | None
    """Writes the file on demand, so that the server need not keep it."""
    problem: str | None


def downloads(run_id: str) -> tuple[Download, ...]:
    """Return a run's tokenizer in every format, in the order of the buttons."""
    return tokenizer_downloads(load_run(run_id).run.tokenizer)


def tokenizer_downloads(tokenizer: Tokenizer) -> tuple[Download, ...]:
    """Return a tokenizer in every format, in the order of the buttons."""
    return _tokenizer_downloads(tokenizer.fingerprint, tokenizer)


@st.cache_resource(max_entries=16, show_spinner=False)
def _tokenizer_downloads(fingerprint: str, _tokenizer: Tokenizer) -> tuple[Download, ...]:
    return (
        _download(_tokenizer, "huggingface", "tokenizer.json", "Hugging Face tokenizers"),
        _download(_tokenizer, "gpt2", "vocab + merges", "GPT-2 tools: vocab.json and merges.txt"),
        _download(_tokenizer, "tiktoken", ".tiktoken", "tiktoken"),
        _download(_tokenizer, "native", "BPE Explorer (.json)", "BPE Explorer, without any loss"),
    )


def offer_downloads(offered: Sequence[Download], *, key: str) -> None:
    """Draw a button for each format, and the reason for each format that cannot be used."""
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
        # Write the files now, because only that shows whether the format can represent the
        # tokenizer, and a click on the button could no longer explain it.
        names = list(dumps(tokenizer, format_name))
    except BpeError as error:
        return Download(label, reader, "", None, str(error))
    file_name = names[0] if len(names) == 1 else f"{format_name}-tokenizer.zip"
    return Download(label, reader, file_name, partial(_written, tokenizer, format_name), None)


def _written(tokenizer: Tokenizer, format_name: Format) -> bytes:
    """Return the format's only file, or a zip archive of its files."""
    files = dumps(tokenizer, format_name)
    if len(files) == 1:
        return next(iter(files.values()))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # With a fixed date, the same tokenizer makes the same file.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()
