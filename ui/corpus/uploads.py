"""Draw the choice of files to train on, and read them into a corpus of texts or of counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final, NamedTuple, cast

import regex
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus import (
    Corpus,
    CountsSummary,
    DecodingErrors,
    Note,
    Upload,
    is_counts_file,
    percent,
    read_counts_in_process,
)
from bpe_core.errors import BpeError, CorpusError, TextDecodingError
from ui.look import counted, plain_markdown, plain_text, size_text
from ui.run import MAX_TABLES_DESCRIBED, AlikeTables, corpus_summary
from ui.shell import LIMIT, check_uploaded, counted_as_kept, upload_files, workspace
from ui.storage import keep_uploaded, upload_held_out
from ui.work import ReadingBar, read_files

COMMON: Final = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Western European (cp1252)",
    "cp1250": "Central European (cp1250)",
    "cp1251": "Cyrillic (cp1251)",
    "koi8_r": "Cyrillic (koi8_r)",
    "cp866": "Cyrillic, DOS (cp866)",
    "cp1253": "Greek (cp1253)",
    "cp1254": "Turkish (cp1254)",
    "cp1255": "Hebrew (cp1255)",
    "cp1256": "Arabic (cp1256)",
    "cp1257": "Baltic (cp1257)",
    "cp1258": "Vietnamese (cp1258)",
    "cp874": "Thai (cp874)",
    "cp932": "Japanese (cp932, Shift JIS)",
    "euc_jp": "Japanese (euc_jp)",
    "gb18030": "Chinese, simplified (gb18030)",
    "big5": "Chinese, traditional (big5)",
    "cp949": "Korean (cp949)",
    "mac_roman": "Western European, Mac (mac_roman)",
    "cp437": "DOS (cp437)",
}
"""The encodings to choose from, with what visitors call them."""
MAX_FIELDS: Final = 6
"""With more files there is one field for all of them."""
_MAX_EXCERPT_LENGTH = 100
_BEYOND_ASCII = regex.compile(r"[^\x00-\x7f]")
_BEFORE = 40
_AFTER = 60

Encodings = tuple[tuple[str, str], ...]
"""The names of files, and the encodings chosen for them."""
_MAX_NAME_LENGTH = 60
_MAX_SAMPLE_LENGTH = 140
_MAX_FIELDS = 6
_HELP = (
    "At first the column named text, content, body or the like, if it holds real text; otherwise "
    "the one with the most characters. Columns of numbers, or of text without letters, come last. "
    "Tables with other columns have their own choice."
)


def encoding_fields(guesses: Sequence[Note]) -> Encodings:
    """Draw a field for each file, and return what was chosen in place of a guess."""
    if len(guesses) > MAX_FIELDS:
        chosen = _field(f"Encoding of {len(guesses):,} files", "all", "as guessed for each")
        return tuple((guess.file, chosen) for guess in guesses if chosen)
    found: list[tuple[str, str]] = []
    for guess in guesses:
        label = f"Encoding of {plain_markdown(guess.file, 60)}"
        first = f"{guess.choice}, guessed" if guess.choice else "not found"
        if chosen := _field(label, guess.file, first):
            found.append((guess.file, chosen))
    return tuple(found)


def replace_field(guesses: Sequence[Note]) -> DecodingErrors:
    """Draw the choice to replace bytes that do not fit, if a file has some; return what was chosen.

    It is for all files.
    """
    if all(guess.kind != "undecodable" for guess in guesses):
        return "strict"
    is_chosen = st.checkbox(
        "Replace bytes that do not fit with �",
        key="corpus_replace",
        help="The rest of the text is read as it is. How many places were replaced is shown below.",
        persist_state="session",
    )
    return "replace" if is_chosen else "strict"


def show_excerpts(guesses: Sequence[Note], corpus: Corpus) -> None:
    """Draw a line of each file with characters beyond ASCII, by which a guess can be judged."""
    for guess in guesses[:MAX_FIELDS]:
        if excerpt := excerpt_beyond_ascii(corpus, guess.file):
            st.markdown(
                f":gray[:small[{plain_markdown(guess.file)} reads:]] "
                f"{plain_markdown(excerpt, _MAX_EXCERPT_LENGTH)}"
            )


def excerpt_beyond_ascii(corpus: Corpus, file: str) -> str:
    """Return the first words of a file that depend on its encoding; empty if there are none.

    >>> corpus = Corpus.from_documents(["hug", "plain\\na café\\nplain"], ["a.txt", "b.csv row 1"])
    >>> excerpt_beyond_ascii(corpus, "b.csv")
    'a café'
    """
    for name, text in zip(corpus.names, corpus.documents, strict=True):
        if name == file or name.startswith(f"{file} "):
            found = _BEYOND_ASCII.search(text)
            if found:
                at = found.start()
                before = text[max(0, at - _BEFORE) : at].rpartition("\n")[2]
                return (before + text[at : at + _AFTER].partition("\n")[0]).strip()
    return ""


def _field(label: str, name: str, first: str) -> str | None:
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:12]
    return st.selectbox(
        label,
        [None, *COMMON],
        format_func=lambda encoding: plain_text(COMMON[encoding] if encoding else first),
        key=f"corpus_encoding_{digest}",
        help="Change it if the text below looks wrong.",
        persist_state="session",
    )


def column_fields(tables: Sequence[AlikeTables]) -> dict[str, str]:
    """Draw a field for each set of columns; return the chosen column by the name of the table.

    Tables are left out if it is the column that is taken anyway.
    """
    chosen: dict[str, str] = {}
    for place, alike in enumerate(tables[:_MAX_FIELDS]):
        chosen |= _column_field(alike, f"corpus_column_{place}" if place else "corpus_column")
    if len(tables) > _MAX_FIELDS or sum(len(alike.names) for alike in tables) == (
        MAX_TABLES_DESCRIBED
    ):
        st.markdown(":gray[:small[The column taken from each other table is listed below.]]")
    return chosen


def _column_field(alike: AlikeTables, key: str) -> dict[str, str]:
    first = alike.columns[0]
    found = {column.name: column for column in first.readable}
    taken = first.chosen.name if first.chosen is not None else None
    name = taken
    if len(found) > 1 or taken is None:
        by_share = sorted((column.name for column in first.texts), key=lambda n: -found[n].share)
        choices = [*by_share, *(column.name for column in first.others)]
        name = st.selectbox(
            "Column with the text",
            choices,
            index=None if taken is None else choices.index(taken),
            placeholder="Choose the column to read",
            format_func=lambda name: (
                f"{plain_text(name, _MAX_NAME_LENGTH)}, {percent(found[name].share)} of the "
                "characters"
            ),
            key=key,
            help=_HELP,
            persist_state="session",
        )
    source = plain_markdown(alike.names[0])
    if (n := len(alike.names)) > 1:
        source += f", the first of {n:,} tables with these columns"
    sampled = "; shares are of a sample of its rows" if first.is_sample else ""
    if name is None:
        st.markdown(f":gray[:small[{source} has no column that is clearly text.]]")
        return {}
    start = "Rows of" if len(found) > 1 else "From"
    rows = [f"- {plain_markdown(text, _MAX_SAMPLE_LENGTH)}" for text in found[name].samples]
    st.markdown("\n".join([f":gray[:small[{start} {source}{sampled}:]]", *rows]))
    return {
        table: name
        for table, columns in zip(alike.names, alike.columns, strict=True)
        if columns.chosen is None or columns.chosen.name != name
    }


USUAL: Final = "usual"
"""The value of the widget for what is held out if nothing is chosen, as `Corpus.split` has it."""
_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class ReadCorpus:
    """A corpus and the name of its text."""

    corpus: Corpus
    title: str
    columns: tuple[str, ...] = ()
    """The columns of its tables by which text can be held out."""
    about: str = ""
    """What it is, in a sentence."""


def read_uploads(
    held_out_share: float, held_out_by: str | None, place: DeltaGenerator
) -> ReadCorpus | None:
    """Draw the choice of files; return their corpus, or None without files.

    While they are read, `place` shows which and how far. A large corpus is divided then. Raises
    what reading them raises.
    """
    uploads = upload_files(
        "Files to train on",
        key="corpus_uploads",
        label_visibility="collapsed",
        # Streamlit calls this when files are added or removed, but not when the page is left.
        on_change=partial(workspace.forget, ReadUploads),
    )
    st.markdown(
        ":gray[:small[Any kind of text: txt, md, csv, tsv, jsonl, json, parquet, source code; also "
        f"gz, bz2, xz, zst, zip and tar. {LIMIT}]]"
    )
    check_uploaded()
    kept = workspace.get(ReadUploads)
    if not uploads:
        # Streamlit empties the uploader when the page is left; the corpus is kept.
        if kept.corpus is None:
            return None
        st.markdown(f"Uploaded before: **{plain_markdown(kept.title)}**")
        return ReadCorpus(kept.corpus, kept.title, tuple(kept.corpus.columns))
    with closing(ReadingBar(place, cast("list[Upload]", uploads))) as bar:
        return _read_chosen(uploads, HeldOutPlan(held_out_share, held_out_by), bar)


def _read_chosen(
    uploads: list[UploadedFile], wanted: HeldOutPlan, bar: ReadingBar
) -> ReadCorpus | None:
    """Draw the choices of columns and encodings, and read the files if they have not been yet."""
    kept = workspace.get(ReadUploads)
    if kept.corpus is None:
        bar.announce()
    file_ids = tuple(upload.file_id for upload in uploads)
    counts, texts = counts_among(uploads)
    files = cast("list[Upload]", texts)
    encodings = encoding_fields(kept.guesses)
    errors = replace_field(kept.guesses)
    excerpts = st.container()
    tables = corpus_summary.uploaded_tables(files, file_ids, encodings, errors, bar.wait)
    columns = column_fields(tables)
    others = _other_columns(tables, columns)
    held_out = wanted._replace(columns=others)
    source = (
        held_out.column or "",
        *file_ids,
        *chain.from_iterable(columns.items()),
        *chain.from_iterable(encodings),
        errors,
    )
    if kept.corpus is None or kept.source != source:
        if counts is None:
            _read_with_column(texts, columns, encodings, errors, source, held_out, bar)
        else:
            _read_counts(counts, texts, columns, encodings, errors, source, bar)
        kept = workspace.get(ReadUploads)
    if kept.corpus is None:
        return None
    with excerpts:
        show_excerpts(kept.guesses, kept.corpus.excerpts)
    return ReadCorpus(kept.corpus, kept.title, others)


def _other_columns(
    tables: Sequence[corpus_summary.AlikeTables], chosen: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the columns that all tables have, apart from those with the text."""
    common: list[str] | None = None
    for alike in tables:
        for name, found in zip(alike.names, alike.columns, strict=True):
            text = chosen.get(name, "" if found.chosen is None else found.chosen.name)
            names = [column for column in found.names if column != text]
            common = names if common is None else [each for each in common if each in names]
    return tuple(common or ())


class HeldOutPlan(NamedTuple):
    """How a corpus is going to be divided."""

    share: float
    by: str | None
    columns: tuple[str, ...] = ()
    """The columns that can be read."""

    @property
    def column(self) -> str | None:
        """The column by which it is going to be divided, or None."""
        kind, _, name = (self.by or "").partition(":")
        return name if kind == "column" and name in self.columns else None


def _read_with_column(
    uploads: list[UploadedFile],
    columns: dict[str, str],
    encodings: Encodings,
    errors: DecodingErrors,
    source: tuple[str, ...],
    held_out: HeldOutPlan,
    bar: ReadingBar,
) -> None:
    """Read the files as `_read` does; if a column cannot be read, hold out as usual."""
    try:
        _read(uploads, columns, encodings, errors, source, held_out, bar)
    except CorpusError as error:
        if held_out.column is None:
            raise
        usual = held_out._replace(by=None)
        _read(uploads, columns, encodings, errors, ("", *source[1:]), usual, bar)
        st.error(plain_markdown(str(error), 600))
        workspace.set_widget("corpus_held_by", USUAL)


def _read(
    uploads: list[UploadedFile],
    columns: dict[str, str],
    encodings: Encodings,
    errors: DecodingErrors,
    source: tuple[str, ...],
    held_out: HeldOutPlan,
    bar: ReadingBar,
) -> None:
    """Read the files into the workspace; run the page again if encodings were guessed."""
    bar.announce()
    files = cast("list[Upload]", uploads)
    is_first = not workspace.get(ReadUploads).guesses
    try:
        corpus = read_files(
            files,
            columns,
            encoding=dict(encodings),
            errors=errors,
            held_out_share=held_out.share,
            held_out_by=None if upload_held_out(held_out.by) is not None else held_out.by,
            kept_column=held_out.column,
            on_progress=bar.progress,
            on_wait=bar.wait,
        )
    except TextDecodingError as error:
        if is_first and len(uploads) == 1:
            _offer_encodings([Note("undecodable", uploads[0].name, str(error))])
        raise
    title = joined(_names_read([upload.name for upload in uploads], corpus), "files")
    kept_id = _kept_id(corpus, title)
    workspace.update(ReadUploads, corpus=corpus, title=title, id=kept_id, source=source)
    if is_first:
        _offer_encodings(
            [note for note in corpus.file_notes if note.kind in ("encoding", "undecodable")]
        )


def _read_counts(
    counts: UploadedFile,
    texts: list[UploadedFile],
    columns: dict[str, str],
    encodings: Encodings,
    errors: DecodingErrors,
    source: tuple[str, ...],
    bar: ReadingBar,
) -> None:
    """Read a file of counts into the workspace, with the text of the other files."""
    text = None
    if texts:
        # Marked as unfinished, since the page may run again once the text is read.
        undivided = HeldOutPlan(0.0, None)
        _read(texts, columns, encodings, errors, (*source, "text of counts"), undivided, bar)
        text = workspace.get(ReadUploads).corpus
    workspace.update(ReadUploads, corpus=None, id="")
    corpus = read_counts_file(counts, text)
    kept_id = _kept_id(corpus, counts.name)
    workspace.update(ReadUploads, corpus=corpus, title=counts.name, id=kept_id, source=source)


def _kept_id(corpus: Corpus, title: str) -> str:
    """Keep a corpus for a reload; return its id, or an empty one if there is no room for it."""
    try:
        with counted_as_kept(corpus.n_bytes):
            return keep_uploaded(corpus, title)
    except BpeError as error:
        st.warning(plain_markdown(f"{error} A reload of the page will ask for the files.", 600))
        return ""


def _offer_encodings(guesses: list[Note]) -> None:
    if guesses:
        workspace.update(ReadUploads, guesses=tuple(guesses))
        st.rerun()


def joined(names: list[str], noun: str) -> str:
    """Join a few names, or name the first and count the rest.

    >>> joined(["a.txt", "b.txt"], "files"), joined(["a", "b", "c", "d"], "files")
    ('a.txt, b.txt', 'a and 3 more files')
    """
    if len(names) <= _MAX_NAMES:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} more {noun}"


def _names_read(names: list[str], corpus: Corpus) -> list[str]:
    """Return the names of uploads with documents; a document's name starts with its file's."""
    read = [name for name in names if any(file.startswith(name) for file in corpus.files)]
    return read or names


@dataclass(frozen=True, slots=True)
class ReadUploads:
    """The corpus last read from uploads."""

    corpus: Corpus | None = None
    """None before any was read, and after a reset."""
    title: str = ""
    id: str = ""
    """The id that `corpus` is kept under; empty if it is not."""
    source: tuple[str, ...] = ()
    """The ids of the uploads that `corpus` was read from, the column and the encodings chosen."""
    guesses: tuple[Note, ...] = ()
    """The uploads whose encoding was guessed or not found when they were first read."""


@dataclass(frozen=True, slots=True)
class CorpusForm:
    """How the form with the choice of a corpus was filled."""

    is_filled: bool = False
    """Whether the form was shown, filled from a run that was open or not."""
    missing_corpus: str = ""
    """Which corpus the form was to be filled with, if it is not kept; else empty."""


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


def read_counts_file(file: UploadedFile, text: Corpus | None) -> Corpus:
    """Read a counts file, with the text that was uploaded with it to measure on.

    Raises what reading it raises, and CorpusError for too much text.
    """
    if text is not None and text.n_bytes > _MAX_TEXT_BYTES:
        raise CorpusError(
            f"The text uploaded with {file.name} has {counted(text.n_bytes, 'byte')}; the limit is "
            f"{_MAX_TEXT_BYTES:,}. Use a part of it."
        )
    whole = None if text is None else text.read()
    with st.spinner("Reading the words"):
        return read_counts_in_process(file.getvalue(), file.name, whole)


def text_sentence(corpus: Corpus) -> str:
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


def describe_counts(summary: CountsSummary) -> str:
    """Return how the words were cut and which are missing, as Markdown."""
    cut = "an unknown pre-tokenizer"
    if summary.pretokenizer is not None:
        cut = f"{plain_markdown(summary.pretokenizer, 100)}, which training uses too"
    sentence = f"Words cut by {cut}."
    if summary.dropped_words:
        sentence += (
            f" Left out: {counted(summary.dropped_words, 'word')} with fewer than "
            f"{summary.floor:,} occurrences, {summary.dropped_occurrences:,} in all. The bytes are "
            "those of the whole text, so bytes per token on the training text come out too high."
        )
    return sentence
