"""Counting in stretches equals counting at once, for all files, cuts and engines."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bpe_core as bpe
from bpe_core.corpus import urls
from bpe_core.kernels import compile_kernels
from bpe_core.types import PretokenCounts
from bpe_scale import CountingProgress, Engine, WorkFolder, count_files
from bpe_scale.counting import CountedFiles
from tests.zipping import make_zip

LINE = "Größe l'été 123 電車は七時に出ます。 def f(x):\n\treturn x  # 🧩\r\n\n"
TEXT = "".join(f"{n} {LINE}" for n in range(3_000))
ROWS = [f"row {n} {LINE}" * (n % 4) for n in range(1_500)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write files of every kind, which together hold what `documents` returns."""
    compile_kernels()
    folder = tmp_path_factory.mktemp("corpus")
    lines = "".join(json.dumps({"n": n, "text": row}) + "\n" for n, row in enumerate(ROWS))
    (folder / "a.txt").write_bytes(("\ufeff" + TEXT).encode())
    (folder / "b.txt").write_bytes(b"hug hugs")
    (folder / "c.jsonl").write_text(lines, encoding="utf-8")
    table = pa.table({"id": [str(n) for n in range(len(ROWS))], "text": ROWS})
    pq.write_table(table, folder / "d.parquet", row_group_size=200)
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(TEXT.encode())
    (folder / "f.txt.zst").write_bytes(sink.getvalue().to_pybytes())
    (folder / "g.txt.gz").write_bytes(gzip.compress(b"hug ") + gzip.compress(b"me"))
    (folder / ".README.md").write_text("not part of the corpus")
    return folder


def documents() -> list[str]:
    rows = [row for row in ROWS if row]
    return [TEXT, "hug hugs", *rows, *rows, *rows, TEXT, "hug me"]


def count(
    sources: Any, work: Path | str, engine: Engine | None = None, **options: Any
) -> tuple[CountedFiles, bpe.WordCounts]:
    out = f"{work}/counts.parquet" if isinstance(work, Path) else f"{work}-counts.parquet"
    options = {"stretch_bytes": 60_000, **options}
    found = count_files(sources, out, work=work, engine=engine, **options)
    return found, bpe.read_counts(out)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "whitespace", "none", "regex:\\d"])
def test_counting_in_stretches_equals_counting_at_once(
    folder: Path, tmp_path: Path, name: str
) -> None:
    corpus = bpe.Corpus.from_documents(documents())
    whole = bpe.count_words(corpus, name)
    found, counts = count([folder], tmp_path, pretokenizer=name)
    assert counts.pretokens.words == whole.pretokens.words
    assert counts.pretokens.counts.tolist() == whole.pretokens.counts.tolist()
    assert counts.summary.characters == whole.summary.characters
    assert (found.summary.n_bytes, found.n_documents) == (corpus.n_bytes, len(documents()))
    assert found.n_skipped == 3 * ROWS.count("")


def interrupt_at(field: str, number: int) -> Callable[[CountingProgress], None]:
    def look(progress: CountingProgress) -> None:
        if getattr(progress, field) == number:
            raise KeyboardInterrupt

    return look


@pytest.mark.slow
def test_a_run_that_was_killed_twice_goes_on(folder: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    for field, number in (("stretches_done", 5), ("shards_done", 3)):
        with pytest.raises(KeyboardInterrupt):
            count([folder], work, on_progress=interrupt_at(field, number))
        assert not (work / "counts.parquet").exists()
    again: list[CountingProgress] = []
    found, counts = count([folder], work, on_progress=again.append)
    assert again[0].stretches_found == again[0].stretches > 5
    assert min(each.shards_done for each in again if each.shards_done) == 3
    assert again[-1].shards_done == again[-1].shards
    whole, expected = count([folder], tmp_path / "other")
    assert found == whole
    assert counts.pretokens.words == expected.pretokens.words
    assert counts.pretokens.counts.tolist() == expected.pretokens.counts.tolist()


def test_a_work_folder_among_the_sources_is_not_counted(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text(f"hug {number} " * 200)
    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt):
        count([tmp_path], work, on_progress=interrupt_at("stretches_done", 3), stretch_bytes=3_000)
    found, _ = count([tmp_path], work, stretch_bytes=3_000)
    assert (found.n_documents, found.notes) == (9, ())


def test_a_stretch_without_words_adds_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug " * 2_000)
    (tmp_path / "b.txt").write_text(" " * 8_000)
    sources = [tmp_path / "a.txt", tmp_path / "b.txt"]
    found, _ = count(sources, tmp_path / "work", pretokenizer="whitespace", stretch_bytes=8_000)
    assert (found.n_words, found.n_documents) == (1, 2)


def test_a_file_that_changed_is_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hug hugs")
    _, before = count([path], tmp_path / "work")
    path.write_text("hug me please")
    _, after = count([path], tmp_path / "work")
    assert before.pretokens.words == (b"hug", b" hugs")
    assert after.pretokens.words == (b"hug", b" me", b" please")


def test_words_below_the_floor_are_dropped_and_the_loss_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a a a b b cc é")
    found, counts = count(
        [tmp_path / "a.txt"], tmp_path / "work", pretokenizer="whitespace", floor=2
    )
    assert counts.pretokens.words == (b"a", b"b")
    assert found.summary[4:] == (2, 2, 2)
    assert counts.summary.characters == " abcé"
    with pytest.raises(bpe.EmptyCorpusError, match="All 4 words occur fewer than 9 times"):
        count([tmp_path / "a.txt"], tmp_path / "work", pretokenizer="whitespace", floor=9)


def test_urls_folders_and_patterns_are_sources(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/scale/deep/a.txt", b"hug hugs")
    memory.pipe("/scale/b.jsonl", b'{"text": "hug me"}\n')
    memory.pipe("/scale/.hidden.txt", b"no")
    expected = {b"hug": 2, b" hugs": 1, b" me": 1}
    for sources in (["memory://scale"], ["memory://scale/**/*.txt", "memory://scale/*.jsonl"]):
        _, counts = count(sources, f"memory://work{len(sources)}")
        words = counts.pretokens
        assert dict(zip(words.words, words.counts.tolist(), strict=True)) == expected
    memory.rm("/", recursive=True)


def test_invalid_lines_are_skipped_unless_they_are_most(tmp_path: Path) -> None:
    lines = [b'{"body": "hug"}', b"{", b'{"body": 1}', b"", b'{"body": "me"}']
    lines.append(b'{"body": "\\ud800"}')
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*lines, lines[0]]))
    found, _ = count([path], tmp_path / "work")
    assert (found.n_documents, found.n_skipped) == (4, 2)
    with pytest.raises(bpe.UnsupportedFileError, match=r"no text in 'text' in its 5 lines"):
        count([path], tmp_path / "work", text_column="text")
    path.write_bytes(b"\n".join([*lines, b"[", b"[", b"[", b"["]))
    with pytest.raises(bpe.UnsupportedFileError, match="5 of 9 lines that are not JSON"):
        count([path], tmp_path / "work")


# The bytes name the tests, so packed ones hold no time: all workers must find the same names.
REFUSED = [
    ("a.txt", b"x y\n" * 300_000 + b"\xff", bpe.TextDecodingError, "at byte 1,200,000 "),
    ("a.txt", b"xyz\n" * 300_000 + b"\xc3", bpe.TextDecodingError, "at byte 1,200,000 "),
    ("a.txt", "größer ".encode() * 9 + b"\xff", bpe.TextDecodingError, "at byte 81, line 1"),
    (
        "a.txt.gz",
        gzip.compress(b"hug" * 99, mtime=0)[:-9],
        bpe.UnsupportedFileError,
        "damaged or incomplete",
    ),
    (
        "a.txt.bz2",
        bz2.compress(b"hug" * 99)[:-9],
        bpe.UnsupportedFileError,
        "damaged or incomplete",
    ),
    ("a.csv", b"a,b\n", bpe.EmptyCorpusError, "a header and no rows"),
    ("a.pdf", b"%PDF-1.7", bpe.UnsupportedFileError, "a PDF document"),
    ("a.parquet", b"hug", bpe.UnsupportedFileError, "not a Parquet file"),
    ("a.jsonl", b'{"n": 1}\n', bpe.CorpusError, "no column of text"),
    ("a.txt", b"", bpe.EmptyCorpusError, "is empty"),
]


def test_a_folder_is_counted_whole_and_what_is_skipped_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    lines = b"\n".join(b'{"text": "hug %d", "url": "a"}' % n for n in range(9))
    files = {
        "a.py": b"x = 1",
        "b/__init__.py": "größer".encode("cp1252"),
        "b/t.csv": b'n,text\n1,"stray\n2,hug\n',
        "c4.json.gz": gzip.compress(lines),
        "c.txt.bz2": bz2.compress(b"packed"),
        "c.zip": make_zip({"d.txt": b"zipped"}),
        "p.png": b"\x89PNG\r\n\x1a\n" + bytes(99),
        ".git/x": b"hidden",
        "lone.parquet": b"hug",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    found, counts = count([folder], tmp_path / "work", stretch_bytes=40)
    read = bpe.read_corpus(folder)
    assert found.n_documents == len(read.documents) == 15
    expected = bpe.count_words(read).pretokens
    assert counts_by_word(counts.pretokens) == counts_by_word(expected)
    said = " ".join(note.text for note in found.notes)
    assert "p.png is a PNG picture" in said
    assert "lone.parquet is not a Parquet file" in said
    assert "a quote without an end" in said
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "p.png").write_bytes(files["p.png"])
    with pytest.raises(bpe.UnsupportedFileError, match=r"None of the files could be read.*PNG"):
        count([tmp_path / "pictures"], tmp_path / "work")


@pytest.mark.parametrize("ending", ["txt", "jsonl", "txt.gz"])
def test_bad_bytes_are_replaced_and_counted_in_stretches(tmp_path: Path, ending: str) -> None:
    line = "größer und größer\n".encode()
    data = line * 90_000 + b"h\xffg\n" + line * 5
    if ending == "jsonl":
        data = '{"text": "größer"}\n'.encode() + b'{"text": "h\xffg"}\n{"text": "hugs"}\n'
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(data, mtime=0) if ending.endswith("gz") else data)
    if ending != "jsonl":
        with pytest.raises(bpe.TextDecodingError, match="errors='replace'"):
            count([path], tmp_path / "work")
    found, counts = count([path], tmp_path / "work", errors="replace", stretch_bytes=500_000)
    assert found.n_replaced == 1
    expected = bpe.count_words(bpe.read_corpus(path, errors="replace")).pretokens
    assert counts_by_word(counts.pretokens) == counts_by_word(expected)


def counts_by_word(pretokens: PretokenCounts) -> dict[bytes, int]:
    return dict(zip(pretokens.words, pretokens.counts.tolist(), strict=True))


@pytest.mark.parametrize(("name", "data", "error", "said"), REFUSED)
def test_files_that_cannot_be_counted_are_refused(
    tmp_path: Path, name: str, data: bytes, error: type[bpe.BpeError], said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=said):
        count([tmp_path / name], tmp_path / "work")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no-such-file.txt", "No such file"),
        ("*.nothing", "matches no file"),
        ("memory://no/such.txt", "No such file"),
        ("nonsense://a", "cannot be read|not a URL"),
        ("https://me:secret@127.0.0.1:1/a.txt", "https://127"),
    ],
)
def test_names_that_find_nothing_are_refused_without_passwords(
    tmp_path: Path, source: str, said: str
) -> None:
    with pytest.raises(bpe.CorpusError, match=said) as caught:
        count([source], tmp_path)
    assert "secret" not in str(caught.value)


def test_the_floor_and_the_column_are_checked(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(bpe.ConfigError, match="Expected floor as a whole number, 1 or more, got 0"):
        count([folder], tmp_path, floor=0)
    with pytest.raises(bpe.CorpusError, match="no column 'body'"):
        count([folder / "d.parquet"], tmp_path, text_column="body")


def test_clearing_a_work_folder_leaves_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug hugs")
    work = tmp_path / "work"
    count([tmp_path / "a.txt"], work)
    (work / f".unfinished-{'0' * 32}").write_text("of a worker that was killed")
    (work / "mine.json").write_text("{}")
    WorkFolder(str(work)).clear()
    assert sorted(os.listdir(work)) == ["counts.parquet", "mine.json"]
    for name in os.listdir(work):
        (work / name).unlink()
    WorkFolder(str(work)).clear()
    assert not work.exists()


class _Listed:
    """A file system that finds only the files of its last listing, like `s3fs`."""

    def __init__(self) -> None:
        self.files = {"a.txt": b"hug"}
        self._listed = set(self.files)

    def open(self, path: str, mode: str) -> io.BytesIO:
        if path not in self._listed:
            raise FileNotFoundError(path)
        return io.BytesIO(self.files[path])

    def invalidate_cache(self, path: str) -> None:
        self._listed = set(self.files)


def test_a_file_that_another_process_wrote_since_a_listing_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = _Listed()
    system.files["b.txt"] = b"hugs"
    monkeypatch.setattr(urls, "file_system", lambda url: (system, "b.txt"))
    with urls.Location("s3://folder/b.txt").reading() as file:
        assert file.read() == b"hugs"
