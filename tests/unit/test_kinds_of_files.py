"""Files of every kind, by name and by content: what is read, what is refused, and what is noted."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.corpus import Location, ReadOptions, read_corpus
from bpe_core.corpus.readers import tables_in
from bpe_core.errors import (
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    TextDecodingError,
    UnsupportedFileError,
)
from tests.uploads import Upload, describe_columns
from tests.zipping import make_zip

CHAT = [{"role": "user", "content": "Hi?"}, {"role": "assistant", "content": "Hello."}]
CHAT_TEXT = "user: Hi?\nassistant: Hello."


def make_parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


PACKINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def make_tar(files: Mapping[str, bytes], *members: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for member in members:
            archive.addfile(member)
    return file.getvalue()


# Packed files and archives


@pytest.mark.parametrize("ending", PACKINGS)
def test_each_packing_is_read_plain_in_tars_and_in_zips(ending: str) -> None:
    pack = PACKINGS[ending]
    assert read_corpus(Upload(f"a.txt.{ending}", pack(b"hug"))).documents == ("hug",)
    assert read_corpus(Upload("misnamed", pack(b"hug"))).documents == ("hug",)
    table = b'{"text": "hug"}\n{"text": "hugs"}\n'
    found = read_corpus(Upload(f"a.jsonl.{ending}", pack(table)))
    assert (found.documents, found.names) == (("hug", "hugs"), ("a.jsonl line 1", "a.jsonl line 2"))
    tar = make_tar({"a.txt": b"hug", f"b.jsonl.{ending}": pack(table)})
    for name in (f"c.tar.{ending}", f"c.t{ending}"):
        found = read_corpus(Upload(name, pack(tar)))
        assert found.documents == ("hug", "hug", "hugs")
        assert found.names[0] == "c.tar/a.txt"
    packed = make_zip({f"a.txt.{ending}": pack(b"hug")})
    assert read_corpus(Upload("a.zip", packed)).documents == ("hug",)


@pytest.mark.parametrize("ending", PACKINGS)
def test_damaged_and_hostile_packed_files_are_refused(ending: str) -> None:
    pack = PACKINGS[ending]
    whole = pack(b"hug hugs hugging " * 500)
    with pytest.raises(UnsupportedFileError, match=r"damaged|incomplete"):
        read_corpus(Upload(f"a.{ending}", whole[: len(whole) // 2]))
    with pytest.raises(UnsupportedFileError, match="more than 100 times its size"):
        read_corpus(Upload(f"a.{ending}", pack(b"a" * 20_000_000)))
    with pytest.raises(UnsupportedFileError, match="more than 100 times its size"):
        read_corpus(Upload(f"a.tar.{ending}", pack(make_tar({"a.txt": b"a" * 20_000_000}))))
    with pytest.raises(UnsupportedFileError, match="packed twice"):
        read_corpus(Upload(f"a.{ending}", pack(pack(b"hug"))))
    with pytest.raises(EmptyCorpusError, match="unpacks to an empty file"):
        read_corpus(Upload(f"a.{ending}", pack(b"")))


def test_a_tar_is_read_without_following_or_writing_anything(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    links = [tarfile.TarInfo("link"), tarfile.TarInfo("hard"), tarfile.TarInfo("device")]
    for info, kind in zip(links, (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE), strict=True):
        info.type = kind
        info.linkname = str(secret)
    files = {"../../up.txt": b"up", "/etc/root.txt": b"root", "._a.txt": b"mac", "a\x1b.txt": b"a"}
    found = read_corpus(Upload("a.tar", make_tar(files, *links)))
    assert found.documents == ("up", "root", "a")
    assert not list(tmp_path.glob("**/up.txt"))


def test_a_sparse_file_and_a_cut_tar_are_named() -> None:
    info = tarfile.TarInfo("holes.txt")
    info.pax_headers = {
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0",
        "GNU.sparse.realsize": str(1 << 40), "GNU.sparse.name": "holes.txt",
    }  # fmt: skip
    body = b"1\n0\n0\n".ljust(512, b"\0")
    info.size = len(body)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info, io.BytesIO(body))
        plain = tarfile.TarInfo("a.txt")
        plain.size = 3
        archive.addfile(plain, io.BytesIO(b"hug"))
    found = read_corpus(Upload("a.tar", file.getvalue()))
    assert found.documents == ("hug",)
    assert "as a sparse file" in found.notes[0]
    cut = make_tar({"a.txt": b"hug", "b.txt": b"x" * 5_000})[:2_000]
    found = read_corpus(Upload("a.tar", cut))
    assert found.documents == ("hug",)
    assert "a.tar/b.txt is incomplete" in found.notes[0]
    damaged = bytearray(make_tar({"a.txt": b"hug", "b.txt": b"hugs"}))
    damaged[1024 + 150] ^= 1
    found = read_corpus(Upload("a.tar", bytes(damaged)))
    assert found.documents == ("hug",)
    assert "damaged or incomplete after its file 'a.txt'" in found.notes[0]


@given(
    place=st.integers(0, 3_000), byte=st.integers(0, 255), cut=st.none() | st.integers(600, 3_500)
)
def test_a_damaged_tar_is_read_or_refused(place: int, byte: int, cut: int | None) -> None:
    data = bytearray(make_tar({"a.txt": b"hug", "b" * 200: b"hugs"})[:cut])
    data[place % len(data)] = byte
    try:
        found = read_corpus(Upload("a.tar", bytes(data)))
    except CorpusError:
        return
    assert found.n_bytes


def test_the_number_of_files_in_an_archive_is_limited_only_where_asked() -> None:
    files = {f"{n}.txt": b"hug" for n in range(300)}
    for data in (make_zip(files), make_tar(files), gzip.compress(make_tar(files))):
        assert len(read_corpus(Upload("a", data)).documents) == 300
        with pytest.raises(UnsupportedFileError, match="limit is 299 files in an archive"):
            read_corpus(Upload("a", data), max_archive_files=299)


def test_tables_in_tars_have_their_columns_shown() -> None:
    tar = gzip.compress(make_tar({"a.csv": b"id,text\n1,hug\n"}))
    assert [name for name, _ in tables_in([Upload("a.tgz", tar)], ReadOptions(), 9)] == [
        "a.tar/a.csv"
    ]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pdf", b"%PDF-1.7 text", "a PDF document, not text. Extract its text"),
        ("a", b"\xff\xd8\xff\xe0", "a JPEG picture"),
        ("a.txt", b"\x7fELF\x02\x01", "a program, not text. Give text instead, such as its source"),
        ("a.docx", make_zip({"[Content_Types].xml": b"<x/>"}), "a Word document"),
        ("a.bin", make_zip({"[Content_Types].xml": b"<x/>"}), "an Office document"),
        ("a.xlsx", make_zip({"xl/a.xml": b"<x/>"}), "an Excel workbook"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "an old Office document"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(99), "a 7z archive, not text. Unpack it first"),
        ("a.mp4", b"\0\0\0\x18ftypmp42" + bytes(99), "a recording"),
        ("a.gguf", b"GGUF\3\0\0\0" + bytes(99), "a GGUF model"),
    ],
)
def test_what_is_not_text_is_called_by_its_name(name: str, data: bytes, message: str) -> None:
    with pytest.raises(UnsupportedFileError, match=message):
        read_corpus(Upload(name, data))


def test_a_text_that_begins_with_the_letters_of_a_mark_is_text() -> None:
    for text in ("BZh9 is bzip2", "ID3 tags", "RIFFs", "GGUF is a format"):
        assert read_corpus(Upload("a.txt", text.encode())).documents == (text,)


# Folders


def test_a_folder_is_read_whole_but_for_hidden_and_binary_files(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    for path, data in {
        "a.py": b"x = 1",
        "b/__init__.py": b"y = 2",
        "b/c.jsonl": b'{"text": "hug"}',
        "Makefile": b"all:",
        ".git/config": b"hidden",
        "__pycache__/a.pyc": b"\0\1",
        "_SUCCESS": b"hidden",
        "p.png": b"\x89PNG\r\n\x1a\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    found = read_corpus(folder)
    assert found.names == (
        "code/Makefile",
        "code/a.py",
        "code/b/__init__.py",
        "code/b/c.jsonl line 1",
    )
    assert found.notes == ("Skipped. code/p.png is a PNG picture, not text. Give text instead.",)
    assert read_corpus([str(folder / "b")]).names == ("b/__init__.py", "b/c.jsonl line 1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="has no files"):
        read_corpus(tmp_path / "empty")


def test_a_pattern_finds_each_file_once_whatever_links_there_are(tmp_path: Path) -> None:
    for name in ("a.txt", "in/b.txt", "in/deep/c.txt", ".hidden/d.txt"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text(name)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "e.txt").write_text("e")
    for link, target in {
        "data/in/up": "..",
        "data/again": "in",
        "data/in/deep/more": "../../../elsewhere",
        "data/in/self": ".",
        "data/in/link.txt": "b.txt",
    }.items():
        (tmp_path / link).symlink_to(target)
    below = ["in/b.txt", "in/deep/c.txt", "in/deep/more/e.txt", "in/link.txt"]
    for pattern, names in {
        "data/**/*.txt": ["a.txt", *below],
        "data/**": ["a.txt", *below],
        "data/**/deep/**/*.txt": ["in/deep/c.txt", "in/deep/more/e.txt"],
        "data/i*/**/*.txt": [*below, "in/up/a.txt"],
        "data/*/*.txt": ["again/b.txt", "again/link.txt", "in/b.txt", "in/link.txt"],
    }.items():
        found, is_named = Location(f"{tmp_path}/{pattern}").files()
        assert not is_named
        assert [file.name for file in found] == [f"data/{name}" for name in names], pattern


# Quotes in CSV and TSV


@pytest.mark.parametrize("packed_as", ["", "gz", "zip"])
@pytest.mark.parametrize(
    ("name", "data", "texts", "line"),
    [
        ("a.csv", 'text\n"hug\nhugs\npug\n', ('"hug', "hugs", "pug"), 2),
        ("a.csv", 'n,text\n1,"hug\n2,"a\nb"\n3,"x,y"\n', ('"hug', "a\nb", "x,y"), 2),
        ("a.csv", 'n,text\r\n1,ok\r\n2,"hug\r\n3,"x"\r\n', ("ok", '"hug', "x"), 3),
        ("a.tsv", 'n\ttext\n1\t"hug\n2\t5" disk\n3\tend\n', ('"hug', '5" disk', "end"), 2),
        ("a.tsv", 'text\tn\n"hug\t1\nhugs\t2\n"a\nb"\t3\n', ('"hug', "hugs", "a\nb"), 2),
    ],
)
def test_an_unbalanced_quote_takes_no_other_row(
    name: str, data: str, texts: tuple[str, ...], line: int, packed_as: str
) -> None:
    files = {
        "": Upload(name, data.encode()),
        "gz": Upload(f"{name}.gz", gzip.compress(data.encode())),
        "zip": Upload("a.zip", make_zip({name: data.encode()})),
    }
    found = read_corpus(files[packed_as], "text")
    assert found.documents == texts
    assert f"would be lost; it is on line {line}" in found.notes[0]


def test_a_quote_at_the_end_of_a_long_table_takes_no_other_row() -> None:
    rows = "".join(f'{n},"a ""quoted"" hug,\nof {n}"\n' for n in range(30_000))
    data = f'n,text\n{rows}30000,"stray\n' + "1,hug\n" * 30_000
    found = read_corpus(Upload("a.csv", data.encode()))
    assert len(found.documents) == 60_001
    assert found.documents[29_999:30_002] == ('a "quoted" hug,\nof 29999', '"stray', "hug")
    assert found.documents[0] == 'a "quoted" hug,\nof 0'


# Parquet


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.parametrize(
    "column",
    [
        pa.array(["hug", None, "hügs"], pa.string_view()),
        pa.array(["hug", None, "hügs"], pa.large_string()),
        pa.array([b"hug", None, "hügs".encode()], pa.binary()),
        pa.array([b"hug", None, "hügs".encode()], pa.large_binary()),
        pa.array([b"hug", None, "hügs".encode()], pa.binary_view()),
        pa.array(["hug", None, "hügs"]).dictionary_encode(),
        pa.array([b"hug", None, "hügs".encode()]).dictionary_encode(),
        pa.array([["hug"], None, ["hügs"]]),
        pa.array([["hug"], [], ["hügs"]], pa.large_list(pa.large_string())),
    ],
    ids=lambda column: str(column.type),
)
def test_every_type_of_text_in_parquet_is_read(column: pa.Array) -> None:
    found = read_corpus(Upload("a.parquet", make_parquet(text=column, n=[1, 2, 3])))
    assert found.documents == ("hug", "hügs")
    found = describe_columns(Upload("a.parquet", make_parquet(text=column, n=[1, 2, 3])))
    assert [each.name for each in found.texts] == ["text"]


@pytest.mark.usefixtures("parquet_here")
def test_bytes_that_do_not_fit_hide_no_column_of_text() -> None:
    texts = pa.array([b"hug hug hug"] * 9 + [b"\xff"], pa.binary())
    data = make_parquet(text=texts, url=["http://a"] * 10)
    found = read_corpus(Upload("a.parquet", data), errors="replace")
    assert found.documents == ("hug hug hug",) * 9 + ("\ufffd",)
    assert "took the column 'text' (55% of the characters)" in " ".join(found.notes)


@pytest.mark.usefixtures("parquet_here")
def test_bytes_of_a_fixed_size_and_named_numbers_are_read() -> None:
    data = make_parquet(text=pa.array([b"hug", b"pug"], pa.binary(3)), n=[1, 2], x=[0.5, None])
    assert read_corpus(Upload("a.parquet", data)).documents == ("hug", "pug")
    assert read_corpus(Upload("a.parquet", data), "n").documents == ("1", "2")
    assert read_corpus(Upload("a.parquet", data), "x").documents == ("0.5",)


@pytest.mark.usefixtures("parquet_here")
def test_pictures_in_parquet_are_never_taken_for_text() -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
    data = make_parquet(image=pa.array([picture, picture]), caption=["a hug", "a pug"])
    found = read_corpus(Upload("a.parquet", data))
    assert found.documents == ("a hug", "a pug")
    assert "'caption' (100% of the characters)" in found.notes[0]


def test_bad_bytes_in_parquet_are_an_error_or_replaced() -> None:
    data = make_parquet(text=pa.array([b"hug", b"h\xffg", b"hugs"]))
    with pytest.raises(TextDecodingError, match=r"row 2.*errors='replace'"):
        read_corpus(Upload("a.parquet", data))
    found = read_corpus(Upload("a.parquet", data), errors="replace")
    assert found.documents == ("hug", "h\ufffdg", "hugs")
    assert "replaced bytes that are not valid utf-8 with U+FFFD in 1 row" in found.notes[-1]


# Values


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("texts", [("12+34=46", "1+1=2"), ("😀", "🙂🙂")])
def test_text_without_letters_is_read(kind: str, texts: tuple[str, ...]) -> None:
    def table(*names: str) -> Upload:
        columns = {name: list(texts) for name in names}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        data = {
            "csv": "\n".join([",".join(names), *(",".join(row.values()) for row in rows)]).encode(),
            "jsonl": "\n".join(map(json.dumps, rows)).encode(),
            "parquet": make_parquet(**columns),
        }[kind]
        return Upload(f"a.{kind}", data)

    assert read_corpus(table("q", "a"), "a").documents == texts
    assert read_corpus(table("q", "text")).documents == texts
    assert read_corpus(table("q")).documents == texts
    with pytest.raises(CorpusError, match=r"'q', 'a'\. Name the one to read"):
        read_corpus(table("q", "a"))
    found = describe_columns(table("q", "a"))
    assert found.chosen is None
    assert [column.name for column in found.readable] == ["q", "a"]
    assert found.readable[0].samples == texts


def test_a_named_column_of_numbers_in_json_is_read() -> None:
    data = b'{"n": 5, "text": "a"}\n{"n": 0.5, "text": "b"}\n{"n": null, "text": "c"}\n'
    assert read_corpus(Upload("a.jsonl", data), "n").documents == ("5", "0.5")
    assert read_corpus(Upload("a.jsonl", data)).documents == ("a", "b", "c")


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.parametrize("column", ["messages", "conversations"])
@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_chats_are_read_as_roles_and_contents_and_noted(kind: str, column: str) -> None:
    chat = [dict(zip(("from", "value"), message.values(), strict=True)) for message in CHAT]
    rows = [{"id": str(n), column: chat if column == "conversations" else CHAT} for n in range(2)]
    data = {
        "jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "json": json.dumps(rows, indent=1).encode(),
        "parquet": make_parquet(**{name: [row[name] for row in rows] for name in rows[0]}),
    }[kind]
    found = read_corpus(Upload(f"a.{kind}", data))
    assert found.documents == (CHAT_TEXT, CHAT_TEXT)
    assert any(f"'{column}' holds chats" in note for note in found.notes)
    assert read_corpus(Upload(f"a.{kind}", data), column).documents == (CHAT_TEXT, CHAT_TEXT)


def test_a_chat_has_parts_of_text_tool_calls_and_lines_of_its_own() -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": "x"}]
    chat = [{"role": "user", "content": parts}, {"role": "assistant", "content": None}]
    line = json.dumps({"messages": chat})
    assert read_corpus(Upload("a.jsonl", line.encode())).documents == ("user: Look:\nassistant: ",)
    lines = f"{json.dumps(CHAT)}\n{json.dumps(CHAT)}\n".encode()
    assert read_corpus(Upload("a.jsonl", lines)).documents == (CHAT_TEXT, CHAT_TEXT)


# JSON by its content


ROWS = [{"text": "hug", "url": "a"}, {"text": "hugs", "url": "b"}]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
@pytest.mark.parametrize(
    "data",
    [
        "\n".join(map(json.dumps, ROWS)),
        "\n\n" + "\n".join(map(json.dumps, ROWS)) + "\n",
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\n".join(json.dumps(row, indent=2) for row in ROWS),
        " ".join(
            json.dumps(row, indent=1) for row in ROWS
        ),
    ],
    ids=["lines", "blank lines", "list", "printed list", "printed objects", "objects in a row"],
)  # fmt: skip
def test_the_content_of_json_decides_how_it_is_read(name: str, data: str) -> None:
    packed = data.encode() if not name.endswith("gz") else gzip.compress(data.encode())
    assert read_corpus(Upload(name, packed), "text").documents == ("hug", "hugs")


def test_a_broken_line_of_json_lines_in_a_json_file_is_skipped_and_named() -> None:
    data = b'{"text": "hug"}\n{"text": "hu\n{"text": "hugs"}\n'
    found = read_corpus(Upload("c4.json", data))
    assert found.documents == ("hug", "hugs")
    assert "skipped line 2" in found.notes[0]


# Bad bytes


def test_one_bad_byte_is_an_error_or_replaced_and_counted() -> None:
    data = "Größe, Straße, Fuß\n".encode() * 20 + b"h\xffg\n" + "ein \ufffd echtes\n".encode()
    with pytest.raises(TextDecodingError, match=r"0xFF.*errors='replace'"):
        read_corpus(Upload("a.txt", data))
    found = read_corpus(Upload("a.txt", data), errors="replace")
    assert found.documents == (data.decode(errors="replace"),)
    assert found.notes == (
        "a.txt: replaced bytes that are not valid utf-8 with U+FFFD in 1 place; the first is 0xFF "
        f"at byte {data.index(0xFF):,}.",
    )
    table = b"text\n" + data
    assert "\ufffd" in "".join(read_corpus(Upload("a.csv", table), errors="replace").documents)
    named = read_corpus(Upload("a.txt", data), encoding="ascii", errors="replace")
    assert "not valid ascii" in named.notes[0]
    with pytest.raises(ConfigError, match="errors is 'ignore'"):
        read_corpus(Upload("a.txt", data), errors="ignore")  # type: ignore[arg-type]


def test_a_guess_comes_before_replacing() -> None:
    data = "déjà vu à la plage\n".encode("cp1252") * 5
    assert read_corpus(Upload("a.txt", data), errors="replace").encodings == ("cp1252",)
