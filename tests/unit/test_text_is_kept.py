"""Every text of a file is kept, refused, or noted with a count, and by every road alike."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus.notes import Note
from bpe_core.corpus.separated import SeparatedRows
from bpe_core.errors import CorpusError
from bpe_core.scale.documents import StretchReading
from bpe_core.scale.engines import ThisProcess
from bpe_core.scale.steps import divide_sources
from tests.uploads import Upload
from tests.zipping import make_zip


class Read(NamedTuple):
    """What one road made of a file."""

    documents: tuple[str, ...]
    notes: frozenset[str]
    """The kinds of its notes, but for the column that was taken."""


def read_alike(name: str, data: bytes, folder: Path, column: str | None = None) -> Read:
    """Read a file by every road, and return what all of them made of it."""
    whole = [
        Upload(name, data),
        Upload(f"{name}.gz", gzip.compress(data)),
        Upload("a.zip", make_zip({name: data})),
    ]
    (folder / name).write_bytes(data)
    found = {source.name: _whole(source, column) for source in whole}
    found["path"] = _whole(folder / name, column)
    found["folder"] = _whole(folder, column)
    found["stretches"] = _in_stretches(folder, column)
    (folder / name).unlink()
    (folder / f"{name}.gz").write_bytes(gzip.compress(data))
    found["packed stretches"] = _in_stretches(folder, column)
    (folder / f"{name}.gz").unlink()
    first = found["path"]
    assert found == dict.fromkeys(found, first)
    return first


def _whole(source: Path | Upload, column: str | None) -> Read:
    try:
        corpus = bpe.read_corpus(source, column)
    except CorpusError:
        return Read((), frozenset())
    return Read(tuple(corpus.documents), _kinds(corpus.file_notes))


def _in_stretches(folder: Path, column: str | None) -> Read:
    try:
        divided = divide_sources([folder], ThisProcess(1), pretokenizer="gpt2", text_column=column)
    except CorpusError:
        return Read((), frozenset())
    documents: list[str] = []
    notes = [*divided.notes]
    n_skipped = 0
    for stretch in divided.stretches:
        reading = StretchReading(stretch)
        documents += [b"".join(pieces).decode() for pieces in reading.documents()]
        notes += reading.notes
        n_skipped += reading.n_skipped
    return Read(tuple(documents), _kinds(notes))


def _kinds(notes: Sequence[Note]) -> frozenset[str]:
    return frozenset(note.kind for note in notes if note.kind != "column")


# The last of each: the kinds of the notes.
TABLES = {
    "a row with more values than names": (
        "a.csv", "id,text\n1,Hello, world, this is kept\n2,plain\n",
        ["Hello, world, this is kept", "plain"], {"long-rows"},
    ),
    "the text before other columns": (
        "a.csv", "text,label\nHello, world,pos\nplain,neg\n", ["Hello, world", "plain"],
        {"long-rows"},
    ),
    "the text between other columns": (
        "a.csv", 'id,text,label\n1,"Yes," he said, and left,pos\n2,a plain text,neg\n',
        ['"Yes," he said, and left', "a plain text"], {"long-rows"},
    ),
    "extra blank values": (
        "a.csv", "id,text\n1,hello there,,\n2,plain,\n", ["hello there", "plain"], {},
    ),
    "tabs within a text": (
        "a.tsv", "id\ttext\n1\thello\tworld\n2\tplain\n", ["hello\tworld", "plain"], {"long-rows"},
    ),
    "a number before each row, as R writes": (
        "a.csv", '"text","label"\n"1","hello there","pos"\n"2","plain text","neg"\n',
        ["hello there", "plain text"], {},
    ),
    "numbers named, and a comma in every text": (
        "a.csv", "id,text\n1,Hello, world\n2,Bye, world\n", ["Hello, world", "Bye, world"],
        {"long-rows"},
    ),
    "one column with commas": (
        "a.csv", 'text\nhello, world; all\n"quoted, ""so"""\nsecond line\n',
        ["hello, world; all", 'quoted, "so"', "second line"], {},
    ),
    "one column with commas and tabs": (
        "a.tsv", "text\nhello, world\nsecond line\n", ["hello, world", "second line"], {},
    ),
    "lines of prose": (
        "a.csv", "I came, I saw\nhello\nall is well\nbye, bye, bye\n",
        ["hello", "all is well", "bye, bye, bye"], {"header"},
    ),
    "Excel's line with the separator": (
        "a.csv", "sep=;\nid;lang;text\n1;en;hello world, one\n2;en;hello world two\n",
        ["hello world, one", "hello world two"], {},
    ),
    "the separator in quotes": (
        "a.csv", '"sep=|"\r\nid|text\r\n1|hello world, one\r\n', ["hello world, one"], {},
    ),
    "blank lines before the header": (
        "a.csv", "\n  \r\n,\nid,text\n1,hello world\n2,more words here\n",
        ["hello world", "more words here"], {},
    ),
    "a blank line before the header of a one-column table": (
        "a.csv", "\ntext\nhello world\n", ["hello world"], {},
    ),
    "no header": (
        "a.csv", '"3","Wall St falls","Stocks fell today"\n"4","Tech rises","Chips rose today"\n',
        ["Stocks fell today", "Chips rose today"], {"header"},
    ),
    "no header, and a few kinds": (
        "a.tsv", "ham\tGo there\nspam\tFree entry\nham\tOk then\nham\tSee you\nspam\tWin\n",
        ["Go there", "Free entry", "Ok then", "See you", "Win"], {"header"},
    ),
    "years as names": (
        "a.csv", "country,2019,2020\nChad is large,1,2\nMali is dry,3,4\n",
        ["Chad is large", "Mali is dry"], {},
    ),
    "numbers as names, as pandas writes": (
        "a.csv", ",0,1\n0,7,hello there\n1,8,bye now\n", ["hello there", "bye now"], {},
    ),
    "quotes after backslashes": (
        "a.csv", 'id,text\n1,"He said \\"hi\\", ok"\n2,next row\n3,"C:\\new \\\\ \\"third\\""\n',
        ['He said "hi", ok', "next row", 'C:\\new \\ "third"'], {"escapes"},
    ),
    "a backslash at the end of a value": (
        "a.csv", 'id,text\n1,"C:\\dir\\"\n2,"a ""b\\"" c"\n', ["C:\\dir\\", 'a "b\\" c'], {},
    ),
    "a delimiter in a quoted name": (
        "a.csv", '"a; b; c",text\n1,"hello there"\n2,"bye now"\n', ["hello there", "bye now"], {},
    ),
    "a carriage return as the line's end": (
        "a.csv", "id,text\r1,hello; a; b; c; d\r2,second; row; here\r",
        ["hello; a; b; c; d", "second; row; here"], {},
    ),
    "spaces after commas": (
        "a.csv", 'id, text\n1, "a, b and c"\n2, "d, e"\n', ["a, b and c", "d, e"], {},
    ),
    "spaces after commas, and none in the header": (
        "a.csv", 'id,text\n1, "abc def"\n2, "def"\n', ["abc def", "def"], {},
    ),
    "a comma and a quote within a text": (
        "a.csv", 'id,text\n1,he said, "a, b"\n2,plain\n', ['he said, "a, b"', "plain"],
        {"long-rows"},
    ),
    "text after a quote": (
        "a.csv", 'id,text\n1,"so" she said\n2,"plain" \n', ['"so" she said', "plain "], {},
    ),
    "semicolons": ("a.csv", "id;text\n1;hello, world\n2;bye\n", ["hello, world", "bye"], {}),
    "semicolons in a text": (
        "a.csv", "id,text\n1,a; b; c; d\n2,bye\n", ["a; b; c; d", "bye"], {},
    ),
    "commas in a file called .tsv": ("a.tsv", "id,text\n1,hello\n2,bye\n", ["hello", "bye"], {}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "documents", "notes"), TABLES.values(), ids=TABLES)
def test_no_text_of_a_table_is_lost(
    name: str, text: str, documents: list[str], notes: set[str], tmp_path: Path
) -> None:
    assert read_alike(name, text.encode(), tmp_path) == (tuple(documents), set(notes))


@given(
    texts=st.lists(st.text("ab ,;|\t\"'\\\r\n1é", min_size=1, max_size=8), min_size=1, max_size=5),
    delimiter=st.sampled_from(",;|\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
def test_what_the_csv_module_writes_is_read(
    texts: list[str], delimiter: str, quoting: Literal[0, 1, 2]
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
    writer.writerows([["id", "text"], *enumerate(texts)])
    kind = ".tsv" if delimiter == "\t" else ".csv"
    rows = SeparatedRows(file.getvalue(), f"a{kind}", kind)
    assert [values["text"] for _, values in rows if values] == texts
