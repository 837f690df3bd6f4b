"""Every text of a file is kept, refused, or noted with a count, and by every road alike."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import Note, ReadOptions, stream_corpus
from bpe_core.corpus.readers import tables_in
from bpe_core.corpus.separated import SeparatedRows
from bpe_core.errors import CorpusError, TextDecodingError, UnsupportedFileError
from bpe_scale import ThisProcess
from bpe_scale.stretches import StretchReading
from bpe_scale.work import divide_sources
from tests.uploads import Upload
from tests.zipping import make_zip

REMARKS = ("column", "chats", "mark")
"""The kinds of notes on what is read as it should be."""
LEFT_OUT = ("lines", "rows", "surrogate")


class Read(NamedTuple):
    """What one road made of a file."""

    documents: tuple[str, ...]
    notes: frozenset[str]
    """The kinds of its notes on what was left out, guessed or joined."""


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
    is_skipped = False
    for stretch in divided.stretches:
        reading = StretchReading(stretch)
        documents += [b"".join(pieces).decode() for pieces in reading.documents()]
        notes += reading.notes
        is_skipped |= reading.n_skipped > 0
    kinds = _kinds(notes)
    return Read(tuple(documents), kinds | {"skipped"} if is_skipped else kinds)


def _kinds(notes: Sequence[Note]) -> frozenset[str]:
    """Return the kinds of notes; rows that are left out are only counted in stretches."""
    kinds = (note.kind for note in notes if note.kind not in REMARKS)
    return frozenset("skipped" if kind in LEFT_OUT else kind for kind in kinds)


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
    "another delimiter in a quoted name": (
        "a.csv", 'id;"text, long"\n1;"a, b"\n2;"c, d"\n', ["a, b", "c, d"], {},
    ),
    "another delimiter in a name and in the quoted texts": (
        "a.csv", 'id|text, long\n1|"a, b"\n2|"c, d"\n', ["a, b", "c, d"], {},
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


CHAT = [{"role": "user", "content": "Hi there?"}, {"role": "bot", "content": "Hello you."}]
CHAT_TEXT = "user: Hi there?\nbot: Hello you."
ROWS = [{"id": 1, "text": "hello there"}, {"id": 2, "text": "bye now"}]
TEXTS = ["hello there", "bye now"]
LINES = "\n".join(map(json.dumps, ROWS)) + "\n"
COCO = {
    "info": {"year": 2017, "version": "1.0"},
    "licenses": [{"url": "http://example.org/by-nc-sa/2.0/", "id": 1, "name": "A License"}],
    "images": [{"id": 1, "file_name": "000001.jpg"}],
    "annotations": [{"image_id": 1, "caption": text} for text in TEXTS],
}
SQUAD = {
    "version": "1",
    "data": [
        {
            "title": "A hug",
            "paragraphs": [
                {"context": f"{text}, and some more words", "qas": [{"question": "Who is it?"}]}
                for text in TEXTS
            ],
        }
    ],
}

JSON_LINES = {
    "objects": (LINES, TEXTS, {}),
    "objects after a byte order mark": (LINES.encode("utf-8-sig"), TEXTS, {}),
    "objects in UTF-16": (LINES.encode("utf-16"), TEXTS, {}),
    "objects in cp1252": (
        '{"text": "déjà vu à la plage"}\n{"text": "été"}\n'.encode("cp1252"),
        ["déjà vu à la plage", "été"], {"encoding"},
    ),
    "texts": ('"hello there"\n"bye now"\n', TEXTS, {}),
    "texts and objects": (f'{LINES}"more"\n', [*TEXTS, "more"], {}),
    "two objects on a line": (LINES.replace("}\n{", "} {"), TEXTS, {}),
    "two objects on the second line": (LINES + LINES.replace("\n", ""), TEXTS * 2, {}),
    "a carriage return as the line's end": (LINES.replace("\n", "\r"), TEXTS, {}),
    "objects on several lines": ("\n".join(json.dumps(row, indent=1) for row in ROWS), TEXTS, {}),
    "a list on the only line": (json.dumps(ROWS), TEXTS, {}),
    "a list on several lines": (json.dumps(ROWS, indent=1), TEXTS, {}),
    "a chat on the only line": (json.dumps(CHAT), [CHAT_TEXT], {}),
    "lists of texts": ('["a hug", "hugs"]\n["bye now"]\n', ["a hug\nhugs", "bye now"], {}),
    "a line that is not JSON": (f"{LINES}{{oops\n", TEXTS, {"skipped"}),
    "mostly no text": ('{"text": null}\n' * 3 + '{"text": "hug"}\n', ["hug"], {"skipped"}),
    "a lone surrogate": (LINES + '{"text": "a \\ud800"}\n', TEXTS, {"skipped"}),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["jsonl", "ndjson"])
@pytest.mark.parametrize(("data", "documents", "notes"), JSON_LINES.values(), ids=JSON_LINES)
def test_no_text_of_json_lines_is_lost(
    data: str | bytes, documents: list[str], notes: set[str], ending: str, tmp_path: Path
) -> None:
    data = data if isinstance(data, bytes) else data.encode()
    assert read_alike(f"a.{ending}", data, tmp_path) == (tuple(documents), set(notes))


JSON_SHAPES = {
    "records": (ROWS, {}),
    "split": ({"columns": ["id", "text"], "data": [[1, TEXTS[0]], [2, TEXTS[1]]]}, {}),
    "table": ({"schema": {"fields": [{"name": "id", "type": "integer"}]}, "data": ROWS}, {"list"}),
    "columns": ({"id": {"0": 1, "1": 2}, "text": {"0": TEXTS[0], "1": TEXTS[1]}}, {}),
    "index": ({"0": ROWS[0], "1": ROWS[1]}, {}),
    "values": ([[1, TEXTS[0]], [2, TEXTS[1]]], {}),
    "values with names": ([["id", "text"], [1, TEXTS[0]], [2, TEXTS[1]]], {}),
    "lists by names": ({"id": [1, 2], "text": TEXTS}, {}),
    "objects by names": ({"en.txt": ROWS[0], "de.txt": ROWS[1]}, {}),
    "texts by names": ({"en.txt": TEXTS[0], "de.txt": TEXTS[1]}, {}),
    "rows": ({"rows": ROWS}, {}),
    "rows within an object": ({"result": {"total": 2, "rows": ROWS}}, {}),
    "another list first": ({"labels": [{"id": 1, "name": "positive"}], "data": ROWS}, {"list"}),
    "a list of values first": ({"tags": ["a", "b", "c"], "data": ROWS}, {"list"}),
    "two splits": ({"train": ROWS[:1], "test": ROWS[1:]}, {}),
    "two splits by columns": ({"train": {"text": TEXTS[:1]}, "test": {"text": TEXTS[1:]}}, {}),
    "COCO": (COCO, {"list"}),
    "rows within rows": ({"data": ROWS, "hits": [{"id": 1, "row": {"text": "a hug"}}]}, {"list"}),
}  # fmt: skip
OTHER_JSON = {
    "SQuAD": (SQUAD, None, [f"{text}, and some more words" for text in TEXTS], {"list"}),
    "SQuAD's questions": (SQUAD, "question", ["Who is it?"] * 2, {"list"}),
    "a document with tags": ({"text": TEXTS[0], "tags": ["a", "b"]}, None, TEXTS[:1], {"list"}),
    "a chat": ({"messages": CHAT, "model": "m"}, None, [CHAT_TEXT], {}),
    "lists of texts": ([["a hug", "hugs"], ["bye", "now"]], None, ["a hug\nhugs", "bye\nnow"], {}),
    "a document": ({"title": "A", "text": TEXTS[0]}, None, TEXTS[:1], {}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "column", "documents", "notes"),
    [*((value, None, TEXTS, notes) for value, notes in JSON_SHAPES.values()), *OTHER_JSON.values()],
    ids=[*JSON_SHAPES, *OTHER_JSON],
)
def test_no_text_of_json_is_lost(
    value: object, column: str | None, documents: list[str], notes: set[str], tmp_path: Path
) -> None:
    data = json.dumps(value).encode()
    assert read_alike("a.json", data, tmp_path, column) == (tuple(documents), set(notes))
    printed = json.dumps(value, indent=1).encode()
    assert read_alike("a.json", printed, tmp_path, column) == (tuple(documents), set(notes))


# Most are short, and some have no letter beyond ASCII.
ENCODED = {
    "cp1252": [
        "It was 25°C.\n", "id: 25°C today, 30°F tomorrow", "5 µm and 6µg\n", "©Acme\n©Acme\n",
        "Use the Foo®Bar system and ©Acme Inc.\n", "±5 V", "¥100", "50 µ", "20°", "3²=9", "¼ cup",
        "§5 says so", "A·B", "He paid £5", "37,5°C de fièvre à l’hôpital",
        "a\xa0b\n", "he“said”so\n" * 6, "one•two", "wait…what",
    ],
    "gb18030": ["姓名：张三，年龄：三十岁，职业：工程师。\n", "这个问题很难回答。"],
    "big5": ["早上好，你睡得好嗎？", "他在圖書館學習漢語已經三年了。"],
    "euc_jp": ["おはよう、よく眠れた？", "私は毎朝七時に起きて、駅まで歩きます。"],
    "cp932": ["おはよう、よく眠れた？", "やかんは火にかけてあるし、パンはまだ温かい。"],
    "cp949": ["좋은 아침이야, 잘 잤어?", "오늘은 날씨가 좋아서 공원에 갔습니다."],
    "koi8_r": ["Доброе утро, ты хорошо спал?", "Завтра я научу тебя варить этот суп."],
    "koi8_u": ["Діти побігли до річки, бо було спекотно."],
    "cp1251": ["Он прочитал письмо три раза, прежде чем ответить."],
    "cp1255": ["בוקר טוב, ישנת טוב?", "הילדים רצו אל הנהר כי היה חם."],
    "cp1256": ["صباح الخير، هل نمت جيدا؟"],
    "cp874": ["สวัสดีตอนเช้า เมื่อคืนนอนหลับดีไหม"],
    "iso2022_jp": ["日本語のテキストです。\n", "abc 日本語 def"],
    "iso2022_kr": ["안녕하세요 여러분"],
    "hz": ["早上好，你睡得好吗？ Good."],
    "utf-7": ["Größe + Straße = größer", "Это русский текст."],
}  # fmt: skip
WIDE = [
    "plain English words", "Это русский текст. ok\n", "Καλημέρα, τι κάνετε;", "สวัสดีตอนเช้า",
    "这是中文文本，用于测试。\n", "明天我教你做这个汤。", "やかんは火にかけてあるし、温かい。",
    "좋은 아침이야, 잘 잤어?", "सुप्रभात, क्या तुम अच्छी तरह सोए?", "דילוג על השורה",
    "यह हिन्दी पाठ है।\n", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ\n", "దీర్ఘ పాఠం\n",
]  # fmt: skip
WITHOUT_MARK = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
ALL_ENCODED = [
    *((encoding, text) for encoding, texts in ENCODED.items() for text in texts),
    *((encoding, text) for encoding in WITHOUT_MARK for text in WIDE),
]


@pytest.mark.parametrize("encoding", [*ENCODED, *WITHOUT_MARK])
def test_a_text_in_another_encoding_is_read_and_noted(encoding: str, tmp_path: Path) -> None:
    texts = [text for each, text in ALL_ENCODED if each == encoding]
    found = [read_alike("a.txt", text.encode(encoding), tmp_path) for text in texts]
    assert found == [((text,), {"encoding"}) for text in texts]
    table = f"id,text\n1,{texts[0].strip()}\n"
    if ";" not in table and table.count(",") == 2:
        assert read_alike("a.csv", table.encode(encoding), tmp_path).documents == (
            texts[0].strip(),
        )
    (tmp_path / "a.txt").write_bytes(texts[-1].encode(encoding))
    if encoding.startswith(("utf", "iso", "hz")):
        with pytest.raises(UnsupportedFileError, match="not plain UTF-8 text"):
            stream_corpus([tmp_path / "a.txt"])


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred\x1b(B\x1b[m and more",
        '(format t "~{~a~^, ~}" list)',
        "a +b- c +- d, C+Abc-",
        "a\x08b: größer, 早上好\x08",
        "\x0c\x0b1 + 1 = 2\t",
        "one NUL \x00 in a long enough text",
        "one NUL \x00 in a long enough text, größer",
    ],
)
def test_utf8_is_not_taken_for_another_encoding(text: str, tmp_path: Path) -> None:
    for each in (text, f"{text} "):  # of even and odd length
        assert read_alike("a.txt", each.encode(), tmp_path) == ((each,), frozenset())


@pytest.mark.parametrize("data", [bytes(range(256)) * 8, bytes(range(16)) * 99, bytes(99)])
def test_bytes_that_are_not_text_are_refused(data: bytes, tmp_path: Path) -> None:
    assert read_alike("a.bin", data, tmp_path) == ((), frozenset())


def test_a_bad_byte_far_on_in_json_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "hug"}\n' * 70_000 + b'{"text": "h\xffg"}\n')
    with pytest.raises(TextDecodingError, match=r"not valid UTF-8 at byte 1,120,011 \(0xFF\)"):
        bpe.count_files([tmp_path], tmp_path / "counts", work=tmp_path / "work")


def make_old_tar(files: Mapping[str, bytes]) -> bytes:
    """Return a tar archive as in 1979: without a mark, and with the sum of its header."""
    data = b""
    for name, content in files.items():
        head = name.encode().ljust(100, b"\0") + b"000644 \x00000000 \x00000000 \x00"
        head += b"%011o %011o " % (len(content), 0)
        head = (head + b" " * 8).ljust(512, b"\0")
        head = head[:148] + b"%06o\0 " % sum(head) + head[156:]
        data += head + content.ljust(-len(content) // 512 * -512, b"\0")
    return data + bytes(1024)


def zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)


SKIPPED_BY_ZSTD = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
HUG, PUG = b"hug and hugs\n", b"pug and pugs\n"
ROW = b'{"text": "hug"}\n'
PACKED = {
    "an old tar": ("a.tar", make_old_tar({"a.txt": HUG, "b.txt": PUG}), [HUG, PUG]),
    "an old tar, packed": ("a.tgz", gzip.compress(make_old_tar({"a.txt": HUG})), [HUG]),
    "zstd after what it skips": ("a.zst", SKIPPED_BY_ZSTD + zstd(HUG), [HUG]),
    "zstd in parts": ("a.zst", zstd(HUG) + SKIPPED_BY_ZSTD + zstd(PUG), [HUG + PUG]),
    "gzip in parts": ("a.gz", gzip.compress(HUG) + gzip.compress(PUG), [HUG + PUG]),
    "bzip2 in parts": ("a.bz2", bz2.compress(HUG) + bz2.compress(PUG), [HUG + PUG]),
    "xz in parts": ("a.xz", lzma.compress(HUG) + lzma.compress(PUG), [HUG + PUG]),
    "xz after zeros": ("a.xz", lzma.compress(HUG) + bytes(4) + lzma.compress(PUG), [HUG + PUG]),
    "the older xz": ("a.lzma", lzma.compress(HUG, lzma.FORMAT_ALONE), [HUG]),
    "other endings": ("a.jsonl.zstd", zstd(ROW), [b"hug"]),
    "bzip2 and another file": ("a.bz2", bz2.compress(HUG) + PUG, []),
    "xz and another file": ("a.xz", lzma.compress(HUG) + PUG, []),
    "zstd and another file": ("a.zst", zstd(HUG) + PUG, []),
    "bzip2 with a damaged part": ("a.bz2", bz2.compress(HUG) + bz2.compress(PUG)[:15] * 2, []),
}  # fmt: skip


@pytest.mark.parametrize(("name", "data", "documents"), PACKED.values(), ids=PACKED)
def test_no_part_of_a_packed_file_is_lost(
    name: str, data: bytes, documents: list[bytes], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    texts = tuple(each.decode() for each in documents)
    assert _whole(tmp_path / name, None).documents == texts
    if texts:
        assert _in_stretches(tmp_path, None).documents == texts
    else:
        with pytest.raises(UnsupportedFileError, match="damaged"):
            bpe.count_files([tmp_path / name], tmp_path / "counts", work=tmp_path / "work")


DAY = date(2024, 5, 1)
COLUMNS: dict[str, tuple[pa.Array, list[str]]] = {
    "JSON": (pa.array(['{"a":"hug"}', None], pa.json_()), ['{"a":"hug"}']),
    "UUID": (
        pa.array([b"\x01" * 16, None], pa.binary(16)).cast(pa.uuid()),
        ["01010101-0101-0101-0101-010101010101"],
    ),
    "duration": (pa.array([1_500, None], pa.duration("ms")), ["1500"]),
    "date": (pa.array([DAY, None]), ["2024-05-01"]),
    "time": (pa.array([61, None], pa.time32("ms")), ["00:00:00.061"]),
    "timestamp": (pa.array([0, None], pa.timestamp("ms")), ["1970-01-01 00:00:00.000"]),
    "UTC": (pa.array([0, None], pa.timestamp("ms", "UTC")), ["1970-01-01 00:00:00.000Z"]),
    "an unknown zone": (
        pa.array([0, None], pa.timestamp("ms", "Mars/Phobos")), ["1970-01-01 00:00:00.000Z"],
    ),
    "decimal": (pa.array([Decimal("1.50"), None]), ["1.50"]),
    "half": (pa.array([0.5, None], pa.float16()), ["0.5"]),
    "truth": (pa.array([True, None]), ["true"]),
    "number": (pa.array([5, None]), ["5"]),
}  # fmt: skip


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.parametrize(("column", "texts"), COLUMNS.values(), ids=COLUMNS)
def test_every_type_of_a_parquet_column_is_read_if_it_is_named(
    column: pa.Array, texts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": column, "text": ["hug", "hugs"]}), path)
    assert _whole(path, "x") == _in_stretches(tmp_path, "x") == (tuple(texts), {"skipped"})
    assert _whole(path, None) == _in_stretches(tmp_path, None) == (("hug", "hugs"), frozenset())
    ((_, columns),) = tables_in([path], ReadOptions(), 2)
    assert sorted(each.name for each in columns.readable) == ["text", "x"]


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
