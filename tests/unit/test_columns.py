"""Describe the columns of tables, and take the one that holds the text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bpe_core.corpus import ROWS_DESCRIBED, ReadOptions, TableColumns, read_corpus
from bpe_core.corpus.columns import Column
from bpe_core.corpus.parquet import open_parquet
from bpe_core.corpus.readers import tables_in
from bpe_core.corpus.reading_process import describe_in_process
from bpe_core.errors import CorpusError, TextDecodingError, UnsupportedFileError
from tests.uploads import Upload, describe_columns

N_ROWS = 40
ARTICLE = "Words of an article that goes on for a while. " * 20
COLUMNS: dict[str, list[str]] = {
    "id": [str(number) for number in range(N_ROWS)],
    "title": [f"No {number}" for number in range(N_ROWS)],
    "story_so_far": [f"{number} {ARTICLE}" for number in range(N_ROWS)],
    "date": ["2024-05-01"] * N_ROWS,
}


def table(kind: str, columns: dict[str, list[str]]) -> Upload:
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    if kind == "parquet":
        return make_parquet(pa.table(columns))
    if kind == "jsonl":
        return Upload("a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    if kind == "json":
        return Upload("a.json", json.dumps(columns).encode())
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(columns), delimiter="\t" if kind == "tsv" else ",")
    writer.writeheader()
    writer.writerows(rows)
    return Upload(f"a.{kind}", text.getvalue().encode())


def make_parquet(data: pa.Table, row_group_size: int | None = None) -> Upload:
    buffer = io.BytesIO()
    pq.write_table(data, buffer, row_group_size=row_group_size)
    return Upload("a.parquet", buffer.getvalue())


KINDS = ("csv", "tsv", "json", "jsonl", "parquet")


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_column_with_the_most_characters_is_taken_not_the_first(kind: str) -> None:
    upload = table(kind, COLUMNS)
    found = describe_columns(upload)
    assert found.names == tuple(COLUMNS)
    assert [column.name for column in found.texts] == ["title", "story_so_far"]
    sizes = {name: sum(map(len, values)) for name, values in COLUMNS.items()}
    for column in found.texts:
        assert column.share == sizes[column.name] / sum(sizes.values())
        assert column.samples[0][:20] == COLUMNS[column.name][0][:20]
        assert len(column.samples) == 3
        assert all(len(sample) <= 200 for sample in column.samples)
    assert not found.is_sample
    corpus = read_corpus(upload)
    assert list(corpus.documents) == COLUMNS["story_so_far"]
    (note,) = corpus.notes
    assert "took the column 'story_so_far' (98% of the characters)" in note
    assert "Other columns of text: 'title' (" in note


def shares(**of: float) -> TableColumns:
    return TableColumns(tuple(of), tuple(Column(name, of[name], ()) for name in of), False)


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        (shares(title=0.1, text=0.3, html=0.6), "text"),
        (shares(body=0.2, content=0.2, summary=0.6), "content"),
        (shares(summary=0.7, Text=0.3), "Text"),
        (shares(headline=0.6, article_body=0.4), "article_body"),
        (shares(review_text=0.5, text=0.5), "text"),
        # A common column name, but without real text.
        (shares(content=0.004, summary=0.9), "summary"),
        (shares(text_id=0.1, summary=0.9), "summary"),
        (shares(a=0.3, b=0.4, c=0.3), "b"),
        (shares(a=0.5, b=0.5), "a"),
    ],
)
def test_a_usual_name_is_preferred_if_its_column_holds_real_text(
    columns: TableColumns, chosen: str
) -> None:
    assert columns.chosen is not None
    assert columns.chosen.name == chosen


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_error_for_a_missing_column_shows_the_choices(kind: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read_corpus(table(kind, COLUMNS), text_column="body")
    assert str(caught.value).startswith(f"a.{kind} has no column 'body'. Its columns of text: ")
    assert "'story_so_far' (98% of the characters), 'title' (" in str(caught.value)
    assert "Others: 'id', 'date'." in str(caught.value)


@pytest.mark.usefixtures("parquet_here")
def test_a_parquet_column_of_objects_cannot_be_the_text() -> None:
    upload = make_parquet(pa.table({"n": [{"a": 1}, {"a": 2}], "text": ["hug", "ugg"]}))
    with pytest.raises(
        CorpusError, match=r"no text in the column 'n'\. Its columns of text: 'text'"
    ):
        read_corpus(upload, text_column="n")


def test_long_tables_are_described_by_their_first_rows() -> None:
    rows = "".join(f"{n},some words\n" for n in range(ROWS_DESCRIBED))
    assert not describe_columns(Upload("a.csv", f"id,text\n{rows}".encode())).is_sample
    upload = Upload("a.csv", f"id,text\n{rows}1,more\n".encode())
    assert describe_columns(upload).is_sample
    corpus = read_corpus(upload)
    assert len(corpus.documents) == ROWS_DESCRIBED + 1
    assert "The shares are of a sample of its rows." in corpus.notes[0]


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.slow
def test_a_large_parquet_file_is_described_by_groups_from_all_over_it() -> None:
    texts = [f"{number} words" for number in range(1_000)]
    titles = ["T" if number < 500 else "long title " * 9 for number in range(1_000)]
    data = pa.table({"title": titles, "words": texts})
    whole = describe_columns(make_parquet(data))
    sampled = describe_columns(make_parquet(data, row_group_size=10))
    assert (whole.is_sample, sampled.is_sample) == (False, True)
    assert sampled.texts[0].share == pytest.approx(whole.texts[0].share, rel=0.1)
    upload = make_parquet(data, row_group_size=100)
    file = open_parquet(np.frombuffer(upload.getvalue(), np.uint8), "a.parquet")
    assert file.describe(max_bytes=1).is_sample
    assert read_corpus(make_parquet(data), "words").documents == tuple(texts)


@pytest.mark.usefixtures("parquet_here")
def test_repeated_values_of_a_parquet_dictionary_are_counted_and_read() -> None:
    values = pa.array(["hug", None, "ugg", "hug"]).dictionary_encode()
    upload = make_parquet(pa.table({"kind": values, "text": ["a b c d e", "b", None, ""]}))
    found = describe_columns(upload)
    assert [(c.name, round(c.share * 19)) for c in found.texts] == [("kind", 9), ("text", 10)]
    corpus = read_corpus(upload, "kind")
    assert corpus.documents == ("hug", "ugg", "hug")
    assert corpus.names == ("a.parquet row 1", "a.parquet row 3", "a.parquet row 4")
    assert corpus.documents[0] is corpus.documents[2]


@pytest.mark.usefixtures("parquet_here")
def test_two_parquet_columns_of_one_name_are_refused() -> None:
    data = pa.table([pa.array(["hug"]), pa.array(["ugg"])], names=["text", "text"])
    with pytest.raises(UnsupportedFileError, match="two columns named 'text'"):
        read_corpus(make_parquet(data))


@pytest.mark.usefixtures("parquet_here")
def test_text_in_parquet_that_is_not_utf8_is_named_by_its_column_and_rows() -> None:
    values = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ok\xff\xfe")],
    )
    with pytest.raises(TextDecodingError, match=r"column 'text'.*not valid UTF-8.*row 2"):
        read_corpus(make_parquet(pa.table({"text": values})))


def test_nested_columns_are_not_read_and_the_error_says_so() -> None:
    data = b'{"messages": [{"content": "hug"}]}\n'
    with pytest.raises(CorpusError, match=r"'messages'.*nested objects are not read"):
        read_corpus(Upload("a.jsonl", data))


def test_what_is_not_a_table_has_no_columns() -> None:
    assert list(tables_in([Upload("a.txt", b"hug")], ReadOptions(), 1)) == []


@pytest.mark.slow
def test_reading_parquet_reports_progress_and_stops_if_the_callback_raises(tmp_path: Path) -> None:
    upload = tmp_path / "a.parquet"
    written = make_parquet(pa.table({"text": [f"hug {n}" for n in range(40_000)]}))
    upload.write_bytes(written.getvalue())
    parts: list[float] = []
    assert len(read_corpus(upload, on_progress=parts.append).documents) == 40_000
    assert parts == sorted(parts)
    assert (len(parts) > 1, parts[-1]) == (True, 1.0)

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_corpus(upload, on_progress=stop)


def test_a_column_can_be_chosen_for_each_table_by_its_name() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.csv", "title,story\nhug,hugs and hugs\n")
        archive.writestr("b.csv.gz", gzip.compress(b"title,story\npug,pugs and pugs\n"))
    files = [Upload("all.zip", data.getvalue()), Upload("c.csv", b"id,text\nx,bun\n")]
    found = list(tables_in(files, ReadOptions(), 9))
    names = [name for name, _ in found]
    assert names == ["all.zip/a.csv", "all.zip/b.csv", "c.csv"]
    assert [columns.names for _, columns in found] == [("title", "story")] * 2 + [("id", "text")]
    assert len(list(tables_in(files, ReadOptions(), 2))) == 2
    for chosen, texts in (
        ({}, ("hugs and hugs", "pugs and pugs", "bun")),
        ({"all.zip/b.csv": "title"}, ("hugs and hugs", "pug", "bun")),
        ({"all.zip/a.csv": "title", "c.csv": "id"}, ("hug", "pugs and pugs", "x")),
    ):
        assert read_corpus(files, chosen).documents == texts


def test_a_column_whose_name_has_a_lone_surrogate_cannot_be_chosen(tmp_path: Path) -> None:
    rows = [{"\ud800": "hug", "text": "a \udfff"}, {"\ud800": "hug", "text": "hugs"}]
    file = Upload("a.json", json.dumps(rows).encode())
    (table,) = describe_in_process([file], ReadOptions(), 9, place=tmp_path)
    assert table[1].names == ("text",)
    assert [column.samples for column in table[1].texts] == [("a ?", "hugs")]
    file.seek(0)
    assert read_corpus([file]).documents == ("hugs",)


def test_tables_that_cannot_be_read_are_left_out_of_the_tables() -> None:
    files = [Upload("broken.parquet", b"PAR1 cut"), Upload("x.zip", b"PK\x03\x04 cut")]
    assert list(tables_in([*files, Upload("a.txt", b"hug")], ReadOptions(), 9)) == []
