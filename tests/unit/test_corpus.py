"""Read files into a corpus, describe it, and split it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bpe_core as bpe
import bpe_core.corpus.archives as budget
from bpe_core.corpus import WordCounts, parse_word_counts
from tests.uploads import describe_columns
from tests.zipping import make_zip


class Upload:
    """An uploaded file, as Streamlit returns it."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self._data = data

    def getvalue(self) -> bytes:
        return self._data

    def read(self) -> bytes:
        return self._data


def gzipped(data: bytes) -> bytes:
    """Compress without the current time, since these bytes become names of tests."""
    return gzip.compress(data, mtime=0)


def parquet(columns: dict[str, list[object]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


# Plain text and encodings


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py", "LICENSE"])
def test_a_text_file_of_any_extension_is_one_document(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes("é line\r\n\tnext\n".encode())
    corpus = bpe.read_corpus([path])
    assert corpus.documents == ("é line\r\n\tnext\n",)
    assert corpus.names == (name,)
    assert corpus.encodings == ("utf-8",)
    assert corpus.notes == ()
    assert (corpus.n_bytes, corpus.n_characters) == (15, 14)
    assert bpe.read_corpus(str(path)) == bpe.read_corpus(path) == corpus


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-be"]
)
def test_a_byte_order_mark_names_the_encoding_and_is_removed(encoding: str) -> None:
    text = "hug\ufeff 漢\n"
    marked = text.encode(encoding)
    if encoding.endswith("e"):
        marked = "\ufeff".encode(encoding) + marked
    corpus = bpe.read_corpus(Upload("a.txt", marked))
    assert corpus.documents == (text,)
    assert "byte order mark" in corpus.notes[0]


def test_pasted_text_keeps_byte_order_marks_nuls_and_line_endings() -> None:
    text = "\ufeffa\x00b\r\n\u0085"
    assert bpe.Corpus.from_text(text).documents == (text,)
    assert (
        bpe.read_corpus(Upload("a.txt", b"one NUL \x00 in a long enough text")).n_characters == 31
    )


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Où êtes-vous ? L’été dernier, nous étions à la plage, près de la forêt."),
        ("cp1251", "Привет, как дела? Всё хорошо, спасибо, а у вас?"),
        ("cp932", "これは日本語の文章です。よろしくお願いします。"),
        ("gb18030", "这是一个中文句子，用于测试。今天天气很好。"),
        ("cp1253", "Καλημέρα, τι κάνετε σήμερα; Είμαι καλά, ευχαριστώ."),
    ],
)
def test_a_legacy_encoding_is_guessed_and_noted(encoding: str, text: str) -> None:
    corpus = bpe.read_corpus(Upload("old.txt", text.encode(encoding)))
    assert corpus.documents == (text,)
    assert corpus.encodings == (encoding,)
    assert "guess" in corpus.notes[0]


def test_the_note_on_stray_bytes_names_the_byte_and_the_encodings_tried() -> None:
    data = b"plain English words, then " + b"\x9d\xfe\xe9" + b" and words again\n"
    corpus = bpe.read_corpus(Upload("stray.txt", data))
    (note,) = corpus.notes
    assert "byte 26 (0x9D)" in note
    assert "Tried in order: utf-8, " in note
    assert note.split("Tried in order: ")[1].split(".")[0].endswith(corpus.encodings[0])


def test_utf16_without_a_byte_order_mark_is_read() -> None:
    corpus = bpe.read_corpus(Upload("a.txt", "plain English words".encode("utf-16-le")))
    assert corpus.documents == ("plain English words",)


def test_the_error_for_damaged_utf8_names_the_byte_the_line_and_the_encodings_tried() -> None:
    data = "première ligne\ndéjà vu é".encode() + b"\xff" + "été".encode()
    with pytest.raises(bpe.TextDecodingError) as caught:
        bpe.read_corpus(Upload("broken.txt", data))
    message = str(caught.value)
    assert f"byte {data.index(0xFF)}" in message
    assert "broken.txt" in message
    assert "0xFF" in message
    assert "line 2" in message
    assert "utf-8" in message


# Archives


def test_gzip_and_zip_are_unpacked_with_members_in_order() -> None:
    assert bpe.read_corpus(Upload("a.txt.gz", gzipped(b"hug"))).documents == ("hug",)
    packed = make_zip(
        {
            "b.txt": b"second",
            "a/c.csv": b"id,text\n1,row\n",
            "d.txt.gz": gzipped(b"nested"),
            "photo.png": b"\x89PNG\r\n\x1a\n",
            "__MACOSX/b.txt": b"\x00\x05",
        }
    )
    corpus = bpe.read_corpus(Upload("all.zip", packed))
    assert corpus.documents == ("second", "row", "nested")
    assert corpus.names == ("all.zip/b.txt", "all.zip/a/c.csv row 1", "all.zip/d.txt")
    assert any("photo.png" in note for note in corpus.notes)
    assert not any("MACOSX" in note for note in corpus.notes)


def gzip_and_zip(text: bytes) -> list[Upload]:
    return [Upload("a.gz", gzipped(text)), Upload("a.zip", make_zip({"a": text}))]


def test_an_archive_that_unpacks_beyond_the_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "MAX_UNPACKED_BYTES", 10_000)
    for upload in gzip_and_zip(b"hug " * 5_000):
        with pytest.raises(bpe.UnsupportedFileError, match=r"^a\.(gz|zip) .* 10,000 bytes"):
            bpe.read_corpus(upload)


def test_a_repetitive_archive_can_unpack_to_a_hundred_times_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = b"hug " * 50_000
    for upload in gzip_and_zip(line):
        assert bpe.read_corpus(upload).n_bytes == len(line)
    monkeypatch.setattr(budget, "FREELY_UNPACKED_BYTES", len(line) - 1)
    for upload in gzip_and_zip(line):
        with pytest.raises(bpe.UnsupportedFileError, match=r"^a\.(gz|zip) .* 100 times its size"):
            bpe.read_corpus(upload)


@pytest.mark.slow
def test_reading_reports_progress_and_stops_if_the_callback_raises(tmp_path: Path) -> None:
    rows = b"id,text\n" + b"1,hug\n" * 20_000
    (tmp_path / "b.csv").write_bytes(rows)
    sources = [tmp_path / "b.csv", Upload("a.zip", make_zip({"a.csv": rows, "b.csv": rows}))]
    parts: list[float] = []
    bpe.read_corpus(sources, on_progress=parts.append)
    assert len(parts) > 10
    assert parts == sorted(parts)
    assert 0 < parts[0] < parts[-1] <= 1

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bpe.read_corpus(sources, on_progress=stop)


# Tables

ROWS = [("1", 'hug, and "hugs"\nin two lines'), ("2", ""), ("3", "ugg")]


def as_csv(delimiter: str) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows([("id", "text"), *ROWS])
    return buffer.getvalue().encode()


TABLES = {
    "a.csv": as_csv(","),
    "semicolons.csv": as_csv(";"),
    "a.tsv": as_csv("\t"),
    "a.jsonl": "\n".join(json.dumps({"id": i, "text": t}) for i, t in ROWS).encode(),
    "a.json": json.dumps([{"id": i, "text": t} for i, t in ROWS]).encode(),
    "columns.json": json.dumps({"id": [1, 2, 3], "text": [t for _, t in ROWS]}).encode(),
    "below.json": json.dumps({"data": [{"id": i, "text": t} for i, t in ROWS]}).encode(),
    "a.parquet": parquet({"id": [1, 2, 3], "text": [t for _, t in ROWS]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("column", [None, "text"])
def test_each_row_of_a_table_is_a_document(name: str, column: str | None) -> None:
    corpus = bpe.read_corpus(Upload(name, TABLES[name]), text_column=column)
    assert corpus.documents == (ROWS[0][1], ROWS[2][1])
    assert any("1 row without text" in note for note in corpus.notes)
    assert any("took the column 'text'" in note for note in corpus.notes) is (column is None)
    columns = describe_columns(Upload(name, TABLES[name]))
    assert columns.names == ("id", "text")
    assert [found.name for found in columns.texts] == ["text"]


def test_a_file_that_is_not_a_table_is_read_whole_and_noted() -> None:
    corpus = bpe.read_corpus(Upload("a.txt", b"hug"), text_column="body")
    assert corpus.documents == ("hug",)
    assert corpus.notes == ("a.txt is not a table: read all of it, not a column 'body'.",)
    with pytest.raises(bpe.CorpusError, match="no column of text"):
        bpe.read_corpus(Upload("a.csv", b"a,b\n1,2\n"))
    with pytest.raises(bpe.CorpusError, match="no column of text"):
        bpe.read_corpus(Upload("a.parquet", parquet({"a": [1, 2]})))
    with pytest.raises(bpe.EmptyCorpusError, match=r"a\.parquet has no rows\."):
        bpe.read_corpus(Upload("a.parquet", parquet({"text": []})))


def test_each_string_of_a_json_list_is_a_document() -> None:
    assert bpe.read_corpus(Upload("a.json", b'["hug", "ugg"]')).documents == ("hug", "ugg")


def test_a_row_of_json_with_a_lone_surrogate_is_left_out_and_noted() -> None:
    data = rb'["good", "bad \ud800", "\ud83d\ude00"]'
    corpus = bpe.read_corpus(Upload("a.json", data))
    assert corpus.documents == ("good", "😀")
    assert "lone surrogate" in corpus.notes[0]
    assert "item 2" in corpus.notes[0]
    with pytest.raises(bpe.EmptyCorpusError, match=r"which UTF-8 cannot encode\.$"):
        bpe.read_corpus(Upload("a.json", rb'{"text": "\ud800"}'))


def test_a_file_that_is_open_as_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hug")
    with (
        path.open() as file,
        pytest.raises(bpe.ArgumentTypeError, match="in the mode 'rb'"),
    ):
        bpe.read_corpus(cast("Any", file))


def json_lines(n_lines: int, broken: dict[int, bytes]) -> bytes:
    return b"\n".join(broken.get(n, b'{"text": "line %d"}' % n) for n in range(1, n_lines + 1))


def test_a_line_that_is_not_json_is_skipped_and_named_with_what_it_holds() -> None:
    corpus = bpe.read_corpus(Upload("a.jsonl", b'{"text": "hug"}\n{oops\n"ugg"\n'))
    assert corpus.documents == ("hug", "ugg")
    (note,) = corpus.notes
    assert note == "a.jsonl: skipped line 2, which is not valid JSON: found '{oops'."


def test_several_broken_lines_are_counted_and_the_first_are_named() -> None:
    broken = dict.fromkeys(range(1000, 10001, 1000), b"[oops")
    (note,) = bpe.read_corpus(Upload("a.jsonl", json_lines(10_000, broken))).notes
    assert "skipped 10 of 10,000 lines" in note
    assert "lines 1,000, 2,000, 3,000, 4,000, 5,000 and 5 more." in note
    assert "found '[oops'" in note


def test_json_lines_that_are_mostly_broken_are_refused_with_the_first_line() -> None:
    broken = dict.fromkeys(range(3, 9), b"plain words")
    with pytest.raises(bpe.UnsupportedFileError) as caught:
        bpe.read_corpus(Upload("a.jsonl", json_lines(10, broken)))
    assert "6 invalid lines of 10" in str(caught.value)
    assert "line 3: found 'plain words'" in str(caught.value)
    assert len(bpe.read_corpus(Upload("a.jsonl", json_lines(12, broken))).documents) == 6


def test_a_csv_column_does_not_replace_another_of_its_name() -> None:
    corpus = bpe.read_corpus(Upload("a.csv", b"text,text,\nhug hugs,1,2\n"))
    assert corpus.documents == ("hug hugs",)


def test_a_csv_field_of_a_megabyte_is_read() -> None:
    data = b'text\n"' + b"word " * 200_000 + b'"\n'
    assert bpe.read_corpus(Upload("a.csv", data)).n_bytes == 1_000_000


# Messages


FOREIGN_WORDS = (
    "Parquet magic",
    "thrift",
    "Thrift",
    "arrow",
    "Arrow",
    "Expecting",
    "delimiter",
    "CRC",
    "zlib",
    "Error -",
    "BadZipFile",
    "gzipped",
    "end-of-stream",
    "File is not a zip",
    "codec",
    "central directory",
    "field larger",
    "NUL",
    "digits (",
    "sys.",
    "None",
    "Compressed",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.parquet", b"PAR1" + bytes(40) + b"PAR1"),
        ("a.parquet", b"PAR1 is how they begin"),
        ("a.parquet", TABLES["a.parquet"][:-30] + bytes(26) + b"PAR1"),
        ("a.parquet", TABLES["a.parquet"][:4] + b"\xff" * 90 + TABLES["a.parquet"][94:]),
        ("a.json", b'{"a": oops}'),
        ("a.json", b'["cut'),
        ("a.json", b"9" * 5_000),
        ("a.jsonl", b"oops"),
        ("a.csv", b'text\n"hug\rugg\x00"\x00\r\n'.replace(b"\r\n", b"\rx\n")),
        ("a.gz", gzipped(b"hug" * 100)[:-9]),
        ("a.gz", gzipped(b"hug" * 100)[:-8] + bytes(8)),
        ("a.gz", gzipped(b"hug" * 100)[:12] + b"\xff" * 20),
        ("a.zip", make_zip({"a": b"hug" * 100})[:-30]),
        ("a.zip", make_zip({"a": b"hug" * 100}).replace(b"hug", b"gun", 1)),
    ],
)
def test_no_message_holds_the_words_of_a_library(name: str, data: bytes) -> None:
    try:
        corpus = bpe.read_corpus(Upload(name, data))
    except bpe.CorpusError as error:
        message = str(error)
    else:
        message = " ".join(corpus.notes)
    assert not [words for words in FOREIGN_WORDS if words in message], message


def test_an_encrypted_member_of_a_zip_is_called_so() -> None:
    packed = bytearray(make_zip({"a.txt": b"hug"}))
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(header) + place] |= 1
    with pytest.raises(bpe.UnsupportedFileError, match=r"a\.zip/a\.txt.*: it is encrypted\."):
        bpe.read_corpus(Upload("a.zip", bytes(packed)))


# The corpus itself


def test_the_hash_depends_on_document_boundaries_and_counts() -> None:
    hashes = {
        bpe.Corpus.from_documents(["ab", "c"]).sha256,
        bpe.Corpus.from_documents(["a", "bc"]).sha256,
        bpe.Corpus.from_documents(["abc"]).sha256,
        bpe.Corpus.from_word_counts({"abc": 1}).sha256,
        bpe.Corpus.from_word_counts({"abc": 2}).sha256,
    }
    assert len(hashes) == 5
    assert bpe.Corpus.from_documents(["ab", "c"], names=["x", "y"]) == bpe.Corpus.from_documents(
        ["ab", "c"]
    )


def test_sizes_are_weighted_by_word_counts_which_are_read_only() -> None:
    corpus = bpe.Corpus.from_word_counts({"hug": 10, "é": 2})
    assert (corpus.documents, corpus.n_bytes, corpus.n_characters) == ((), 34, 32)
    assert corpus.word_counts is not None
    with pytest.raises(TypeError):
        corpus.word_counts["hug"] = 1  # type: ignore[index]
    assert pickle.loads(pickle.dumps(corpus)) == corpus  # noqa: S301 - pickled in this line


def test_scripts_count_every_character_once() -> None:
    text = "Hi, мир! 漢字 नमस्ते 42😀\n"
    shares = bpe.Corpus.from_documents([text, "x"]).scripts()
    found = {share.name: share.characters for share in shares}
    assert found == {
        "Latin letters": 3,
        "Cyrillic letters": 3,
        "Han characters": 2,
        "Devanagari letters": 6,
        "punctuation": 2,
        "white space": 5,
        "digits and other": 3,
    }
    assert sum(share.share for share in shares) == pytest.approx(1)
    assert [share.share for share in shares] == sorted((s.share for s in shares), reverse=True)


# Weighted words


def test_word_counts_are_read_line_by_line() -> None:
    assert parse_word_counts("hug 10\r\n\n  ugg\t5\nhug 1\n") == {"hug": 11, "ugg": 5}


@pytest.mark.parametrize("line", ["hug", "hug x", "hug 0", "hug -1", "hug 1 2", "hug ٣", "hug 1.5"])
def test_the_error_for_a_line_without_word_and_count_names_the_line(line: str) -> None:
    with pytest.raises(bpe.CorpusError, match="Line 2"):
        parse_word_counts(f"ugg 5\n{line}")


def test_the_largest_count_is_read_and_a_larger_one_is_refused() -> None:
    assert parse_word_counts(f"hug 000{WordCounts.MAX_COUNT}") == {"hug": WordCounts.MAX_COUNT}
    for count in ("1" + "0" * 15, "9" * 20, "9" * 5_000):
        with pytest.raises(
            bpe.CorpusError, match=r"Line 2: the count \d.* at most 999,999,999,999,999"
        ):
            parse_word_counts(f"ugg 5\nhug {count}")


@pytest.mark.filterwarnings("error")
def test_counts_whose_sum_exceeds_64_bits_are_refused() -> None:
    many = "\n".join(f"{'a' * 99}{n} {WordCounts.MAX_COUNT}" for n in range(99))
    with pytest.raises(bpe.CorpusError, match="64 bits"):
        parse_word_counts(many)
    with pytest.raises(bpe.CorpusError, match="64 bits"):
        bpe.Corpus.from_word_counts({"hug": 2**62})
    # Four symbols for each "hug": three bytes, and a marker that training may add.
    most = (2**63 - 1) // 4
    (letters,) = bpe.Corpus.from_word_counts({"hug": most}).scripts()
    assert letters.characters == 3 * most


def test_the_error_for_a_damaged_zip_names_the_file() -> None:
    whole = make_zip({"a.txt": b"hug hugs", "b.txt": b"ugg"})
    messages: list[str] = []
    for place in range(len(whole)):
        for value in (0x00, 0x7F, 0xFF):
            damaged = whole[:place] + bytes([value]) + whole[place + 1 :]
            try:
                bpe.read_corpus(Upload("a.zip", damaged))
            except bpe.CorpusError as error:
                messages.append(str(error))
    assert messages
    assert all("a.zip" in message for message in messages)


def test_documents_written_to_a_file_are_those_in_memory(tmp_path: Path) -> None:
    table = "text,author\r\nGröße,a\r\nsüß,b\r\n漢字 🙂,a\r\n" * 20
    uploads = [Upload("a.txt", b"hug\n" * 30), Upload("b.csv", table.encode())]
    in_memory = bpe.read_corpus(uploads, kept_column="author")
    on_disk = bpe.read_corpus(uploads, kept_column="author", texts_file=tmp_path / "texts")
    assert on_disk == in_memory
    assert (on_disk.names, on_disk.columns) == (in_memory.names, in_memory.columns)
    assert (on_disk.n_characters, on_disk.notes) == (in_memory.n_characters, in_memory.notes)
    assert not isinstance(on_disk.documents, tuple)
    for ours, theirs in zip(on_disk.split(0.3), in_memory.split(0.3), strict=True):
        assert ours.documents[:] == theirs.documents
    with pytest.raises(FileExistsError):
        bpe.read_corpus(uploads, texts_file=tmp_path / "texts")


def test_documents_that_find_no_room_are_an_error(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(bpe.CorpusError, match="texts cannot be written: File too large"):
            bpe.read_corpus(Upload("a.txt", b"hug" * 1_000), texts_file=tmp_path / "texts")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# Refused


def read(name: str, data: bytes) -> Callable[[], bpe.Corpus]:
    return lambda: bpe.read_corpus(Upload(name, data))


Refused = tuple[Callable[[], object], type[bpe.BpeError], str]
REFUSED: dict[str, Refused] = {
    "JSON nested too deeply": (
        read("deep.json", b"[" * 200_000 + b"]" * 200_000),
        bpe.UnsupportedFileError,
        r"nested too deeply.*list of strings.*\.txt",
    ),
    "damage after a byte order mark": (
        read("a.txt", b"\xef\xbb\xbfab\xff"),
        bpe.TextDecodingError,
        "byte 5 ",
    ),
    **{
        f"a binary file: {kind}": (read(name, data), bpe.UnsupportedFileError, kind)
        for name, data, kind in (
            ("photo.txt", b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG"),
            ("paper.txt", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "PDF"),
            ("program", b"\x7fELF\x02\x01\x01" + bytes(40), "program"),
            ("nulls.dat", b"a\x00\x00\x00b\x00\x00c" * 9, "NUL"),
            ("report.docx", make_zip({"word/document.xml": b"<w/>"}), "docx"),
        )
    },
    "an empty file": (read("a.txt", b""), bpe.EmptyCorpusError, "a.txt is empty"),
    "only a byte order mark": (read("a.txt", b"\xef\xbb\xbf"), bpe.EmptyCorpusError, "is empty"),
    "an empty file, packed": (read("a.txt", gzipped(b"")), bpe.EmptyCorpusError, "an empty file"),
    "no files": (lambda: bpe.read_corpus([]), bpe.EmptyCorpusError, "No file given"),
    "several files": (
        lambda: bpe.read_corpus(
            [Upload("empty.txt", b""), Upload("photo.png", b"\x89PNG\r\n\x1a\n\0")]
        ),
        bpe.UnsupportedFileError,
        r"empty\.txt.*photo\.png",
    ),
    **{
        f"the path {path!r}": (partial(bpe.read_corpus, path), bpe.CorpusError, "cannot be read")
        for path in ("no/such/file.txt", "a\0b")
    },
    **{
        f"{what} in {name}": (read(name, data), bpe.CorpusError, name)
        for what, name, data in (
            ("a cut end", "a.gz", gzipped(b"hug" * 100)[:-9]),
            ("a cut end", "a.zip", make_zip({"a": b"hug" * 100})[:-30]),
            ("another zip", "a.zip", make_zip({"a.zip": make_zip({"b": b"hug"})})),
            ("nothing", "a.zip", make_zip({})),
            ("a beginning", "a.parquet", b"PAR1 is how they begin"),
            ("text", "a.parquet", b"text"),
            ("a broken object", "a.json", b"{oops"),
            ("open lists", "a.json", b"[" * 100_000),
            ("numbers", "a.json", b"[1, 2]"),
            ("an empty list", "a.json", b'{"a": []}'),
            ("a broken line", "a.jsonl", b"oops\n"),
            ("a header", "a.csv", b"only,a,header\n"),
            ("a space", "a.json", b" "),
            ("a long number", "a.json", b"9" * 5000),
        )
    },
    **{
        f"the count {count}": (
            partial(bpe.Corpus.from_word_counts, cast("dict[str, int]", {"a": count})),
            bpe.CorpusError,
            f"1 or more as the count of 'a', got {count}",
        )
        for count in (0, -1, True, 1.5)
    },
    "an empty word": (
        lambda: bpe.Corpus.from_word_counts({"": 1}),
        bpe.CorpusError,
        "One of the words is empty",
    ),
    "no words": (lambda: bpe.Corpus.from_word_counts({}), bpe.CorpusError, "There are no words"),
    "counts of no words": (
        lambda: parse_word_counts(" \n"),
        bpe.EmptyCorpusError,
        "There are no words",
    ),
    "documents without text": (
        lambda: bpe.Corpus.from_documents(["", ""]),
        bpe.EmptyCorpusError,
        "The corpus is empty",
    ),
    "too few names": (
        lambda: bpe.Corpus.from_documents(["a"], names=[]),
        bpe.ConfigError,
        "Expected 1 values as name",
    ),
    **{
        f"the share {share}": (
            partial(bpe.Corpus.from_text("a").split, share),
            bpe.ConfigError,
            f"held-out share .* got {share}",
        )
        for share in (-0.1, 1.0, float("nan"))
    },
    "a lone surrogate": (
        lambda: bpe.Corpus.from_text("ok\n\ud800"),
        bpe.InvalidTextError,
        r"U\+D800.*character 3 \(line 2\)",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_corpus_is_refused_with_the_reason(
    call: Callable[[], object], error: type[bpe.BpeError], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
