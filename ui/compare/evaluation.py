"""Choose the text that the verdict is on: the run's held-out text, or the visitor's own.

Own files are kept on the server under an id in the address; text that is typed or pasted is in the
field that pages share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.corpus.readers import Upload
from bpe_core.corpus.reading_process import MOST_BYTES_IN_MEMORY
from bpe_core.errors import BpeError, CorpusError
from ui.compare.gain_words import HELD_OUT, OWN
from ui.look.labels import plain_markdown, size_text
from ui.memory.sized_cache import cached
from ui.own_text.field import own_text, text_field
from ui.run.reading_bar import progress_on, waiting_on
from ui.run.reading_notes import show_reading_notes
from ui.shell import address, workspace
from ui.shell.choices import choose_one
from ui.shell.file_upload import LIMIT, check_uploaded, counted_as_kept, upload_files
from ui.storage.corpus_store import UploadedCorpus, keep_uploaded, load_uploaded
from ui.storage.run_store import StoredRun
from ui.work.reading import read_files

FIRST_TEXT: Final = "Write or paste your own text here, and see where the tokenizers differ."
MAX_BYTES: Final = MOST_BYTES_IN_MEMORY
_CHOICES: Final = ("Held-out text", "Your own text")
_MAX_NAMES: Final = 3


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The text that tokenizers are compared on; it may be empty."""

    corpus: Corpus
    where: str
    """What sentences call it, such as "held-out text"."""
    typed: str = ""
    """The text of the field, if it is that text."""
    is_placeholder: bool = False
    """Whether it is only the example in the field."""


def choose_evaluation(stored: StoredRun) -> Evaluation:
    """Draw the choice of the text to compare on, and return the text."""
    kept = _kept_corpus()
    with st.container(horizontal=True, vertical_alignment="center"):
        choice = _CHOICES[1]
        if stored.held_out.n_bytes:
            choice = choose_one("Compared on", _CHOICES, key="on")
        if choice == _CHOICES[0]:
            return Evaluation(stored.held_out, HELD_OUT)
        with st.popover("Open files", width="content"):
            _file_chooser()
        if kept is not None:
            title, corpus = kept
            n = corpus.n_sources
            st.markdown(
                f"**{plain_markdown(title, 120)}** :gray[{n:,} "
                f"{'document' if n == 1 else 'documents'}, {size_text(corpus.n_bytes)}]",
                width="content",
            )
            if st.button("Close", key="evaluation_close"):
                workspace.update(evaluation="")
                st.rerun()
    if not stored.held_out.n_bytes:
        st.info("This run has no held-out text, so the figures are for your own text.")
    typed = ""
    if kept is not None:
        show_reading_notes(kept[1].file_notes)
    else:
        typed = own_text(FIRST_TEXT)
        text_field(typed, first=FIRST_TEXT, key="compare_text")
    st.markdown(
        ":small[:gray[Take text that training has not seen. On text that it has seen, the figures "
        "flatter your tokenizer.]]"
    )
    if kept is not None:
        return Evaluation(kept[1], OWN)
    if typed == FIRST_TEXT:
        return Evaluation(Corpus.from_text(typed), "the example text", typed, is_placeholder=True)
    corpus = Corpus.from_text(typed) if typed else Corpus((), ())
    return Evaluation(corpus, OWN, typed)


def _file_chooser() -> None:
    uploads = upload_files(
        "Any kind of text, a table or an archive; each file or row is a document",
        key="evaluation_files",
    )
    st.markdown(f":gray[:small[Up to {MAX_BYTES // 1_000_000} MB of text. {LIMIT}]]")
    is_pressed = st.button("Compare on these", disabled=not uploads, key="evaluation_open")
    if not is_pressed or not uploads:
        return
    bar = st.empty()
    try:
        check_uploaded()
        corpus = read_files(
            cast("list[Upload]", uploads),
            {},
            encoding={},
            held_out_share=0.0,
            on_progress=progress_on(bar, sum(upload.size for upload in uploads)),
            on_wait=waiting_on(bar),
        )
        title = _title([upload.name for upload in uploads])
        with counted_as_kept(_checked(corpus).n_bytes):
            kept = keep_uploaded(UploadedCorpus(corpus, title), 0.0)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return
    finally:
        bar.empty()
    workspace.update(evaluation=kept)
    st.rerun()


def _title(names: list[str]) -> str:
    """Return the names of a few files, or the first and a count.

    >>> _title(["a.txt", "b.txt"]), _title(["a", "b", "c", "d"])
    ('a.txt, b.txt', 'a and 3 more files')
    """
    if len(names) <= _MAX_NAMES:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} more files"


def _checked(corpus: Corpus | FiledCorpus) -> Corpus:
    """Return a corpus that is not too large to compare on; raises CorpusError."""
    if isinstance(corpus, FiledCorpus) or corpus.n_bytes > MAX_BYTES:
        raise CorpusError(
            f"These files have {corpus.n_bytes:,} bytes of text; the limit here is {MAX_BYTES:,}. "
            "Use a part of them."
        )
    return corpus


def _kept_corpus() -> tuple[str, Corpus] | None:
    """Return the title and the text of the visitor's files; at first, those in the address."""
    kept = workspace.current().evaluation
    if kept is None:
        kept = address.query_text("own") or ""
        workspace.update(evaluation=kept)
    found = None
    if kept:
        try:
            found = _opened(kept)
        except BpeError as error:
            st.error(plain_markdown(str(error), 600))
            workspace.update(evaluation="")
    address.set_query(own=kept if found else None)
    return found


@cached(spinner="Opening the text")
def _opened(upload_id: str) -> tuple[str, Corpus]:
    kept = load_uploaded(upload_id)
    return kept.title, _checked(kept.corpus)
