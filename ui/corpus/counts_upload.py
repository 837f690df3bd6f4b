"""Take a file of counts among the uploads as a corpus, and describe what it holds."""

from __future__ import annotations

from typing import Final

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import FiledCorpus
from bpe_core.corpus.counts_corpus import CountsCorpus
from bpe_core.counting.counts_process import is_counts_file, read_counts_in_process
from bpe_core.errors import CorpusError
from ui.look.labels import plain_markdown, size_text

_MAX_TEXT_BYTES: Final = 20_000_000
"""The text of the counts is held in memory, and each of its words goes through every merge."""


def counts_among(files: list[UploadedFile]) -> tuple[UploadedFile | None, list[UploadedFile]]:
    """Return the counts file among some files, if there is one, and the other files.

    Raises CorpusError for several.
    """
    counts = [file for file in files if is_counts_file(file.getvalue())]
    if len(counts) > 1:
        raise CorpusError(
            f"{counts[0].name} and {counts[1].name} are both files of counts. Add them up with "
            "bpe merge-counts, and upload the result."
        )
    others = [file for file in files if file not in counts]
    return (counts[0] if counts else None), others


def read_counts_file(file: UploadedFile, text: Corpus | FiledCorpus | None) -> CountsCorpus:
    """Read a counts file, with the text that was uploaded with it to measure on.

    Raises what reading it raises, and CorpusError for too much text.
    """
    if text is not None and text.n_bytes > _MAX_TEXT_BYTES:
        raise CorpusError(
            f"The text uploaded with {file.name} has {text.n_bytes:,} bytes; the limit is "
            f"{_MAX_TEXT_BYTES:,}. Use a part of it."
        )
    whole = text.read() if isinstance(text, FiledCorpus) else text
    with st.spinner("Reading the words"):
        return read_counts_in_process(file.getvalue(), file.name, whole)


def text_sentence(corpus: CountsCorpus) -> str:
    """Return what held-out figures are measured on, as a sentence."""
    if corpus.text is None:
        return (
            "A file of counts has no text, so nothing is held out, and nothing that needs text can "
            "be shown: upload a sample of the text with it; training does not use it."
        )
    return (
        f"Held-out text: the {size_text(corpus.text.n_bytes)} uploaded with the counts. Training "
        "does not use it, but if it was counted too, its figures describe text that training has "
        "seen."
    )


def describe_counts(corpus: CountsCorpus) -> str:
    """Return how the words were cut and which are missing, as Markdown."""
    known = corpus.known
    cut = "an unknown pre-tokenizer"
    if known.pretokenizer is not None:
        cut = f"{plain_markdown(known.pretokenizer, 100)}, which training uses too"
    sentence = f"Words cut by {cut}."
    if known.dropped_words:
        sentence += (
            f" Left out: {known.dropped_words:,} words that occur fewer than {known.floor:,} "
            f"times, {known.dropped_occurrences:,} occurrences in all. The bytes are those of the "
            "whole text, so bytes per token on the training text come out too high."
        )
    return sentence
