"""Ask what uploaded files leave open: the column with the text, and guessed encodings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import regex
import streamlit as st

from bpe_core.corpus import Corpus, DecodingErrors, Note, percent
from ui.look import plain_markdown, plain_text
from ui.run import MAX_TABLES_DESCRIBED, AlikeTables

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
