"""Large files are read in a process, with the results and the errors of `read_corpus`."""

from __future__ import annotations

import gc
import gzip
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

import bpe_core as bpe
from bpe_core.corpus import (
    ReadOptions,
    Uploads,
    archives,
    divide_in_process,
    parquet_process,
    reading_process,
)
from bpe_core.corpus.corpus import Figures
from bpe_core.corpus.readers import tables_in
from bpe_core.corpus.reading_process import (
    describe_in_process,
    read_beginning_in_process,
    read_in_process,
    worth_a_process,
)
from bpe_core.processes import Limits, call, stream
from tests.new_process import children_with
from tests.uploads import Upload
from tests.zipping import make_zip

LINES = "".join(f"{n * 2_654_435_761 % 2**40:x} кот, naïve hug\n" for n in range(700_000)).encode()


def read(
    place: Path,
    *files: Upload,
    column: str | None = None,
    encoding: dict[str, str] | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> bpe.Corpus:
    return read_in_process(
        files,
        ReadOptions(column, encoding),
        held_out_share=0.1,
        place=place,
        on_progress=on_progress,
    )


def figures(corpus: bpe.Corpus) -> Figures:
    """Return the figures of a corpus, whether it is in memory or not."""
    return Figures(
        corpus.n_bytes,
        corpus.n_characters,
        corpus.sha256,
        corpus.fingerprint,
        corpus.n_sources,
        corpus.files,
        corpus.composition(),
        corpus.characters(),
        corpus.beginnings,
        corpus.how,
    )


@pytest.mark.slow
def test_a_large_corpus_has_the_figures_of_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(LINES) > Uploads.MAX_BYTES_IN_MEMORY
    seen: list[float] = []
    files = Upload("../a <b>.txt", LINES), Upload("b.txt", "straße grüße\n".encode("cp1252") * 50)
    expected = bpe.read_corpus([Upload(file.name, file.getvalue()) for file in files])
    corpus = read(tmp_path, *files, on_progress=seen.append)
    assert corpus.folder is not None
    assert figures(corpus) == replace(figures(expected), beginnings=corpus.beginnings)
    assert (corpus.sha256, corpus.n_bytes) == (expected.sha256, expected.n_bytes)
    assert (corpus.n_sources, corpus.file_notes) == (expected.n_sources, expected.file_notes)
    assert corpus.files == expected.names
    assert corpus.__reduce__() == expected.__reduce__()
    for share in (0.1, 0.3):
        found = divide_in_process(corpus.folder, share)
        assert [*map(figures, found)] == [*map(figures, expected.split(share))]
        assert [*map(figures, corpus.split(share))] == [*map(figures, expected.split(share))]
    assert corpus.count("whitespace").pretokens == expected.count("whitespace").pretokens
    assert corpus.sample(1_000) == expected.sample(1_000)
    own = bpe.Corpus.from_documents([expected.documents[1], "a hug"])
    with monkeypatch.context() as watched:
        at_work: list[tuple[set[str], int]] = []

        def watch(*asked: Any, limits: Limits, on_progress: Any) -> Any:
            at_work.append(({path.name for path in asked[1].iterdir()}, limits.memory or 0))
            return call(*asked, limits=limits, on_progress=on_progress)

        watched.setattr(reading_process, "call", watch)
        divide_in_process(corpus.folder, 0.2)
        held_out = divide_in_process(corpus.folder, 0.0, "upload:0", own)
    assert [*map(figures, held_out)] == [*map(figures, expected.hold_out(own))]
    # Two calls at the same time see the same files, and the held-out text has memory, too.
    (files_before, memory_before), (files_after, memory_after) = at_work
    assert files_after == files_before
    assert memory_after == memory_before + reading_process._MAX_FILES_RATIO * own.n_bytes
    assert corpus.excerpts.names == ("b.txt",)
    assert "straße" in corpus.excerpts.documents[0]
    assert seen == sorted(seen)
    assert seen
    assert corpus.read() == expected
    assert corpus.read().encodings == expected.encodings
    assert [path.name for path in corpus.folder.iterdir() if "upload" in path.name] == []
    del corpus
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_large_table_is_divided_by_a_column_or_else_by_default(tmp_path: Path) -> None:
    lines = LINES.decode().splitlines()
    rows = "".join(f'{n % 9},"{" ".join(lines[n : n + 100])}"\n' for n in range(0, len(lines), 100))
    table = Upload("a.csv", b"who,text\n" + rows.encode())
    expected = bpe.read_corpus(table, "text", kept_column="who")
    for by, used in (("column:who", "column:who"), ("folder", None)):
        corpus = read_in_process(
            [table],
            ReadOptions("text", kept_column="who"),
            held_out_share=0.2,
            held_out_by=by,
            place=tmp_path,
            on_progress=lambda _: None,
        )
        assert corpus.folder is not None
        assert list(corpus.columns) == ["who"]
        found = divide_in_process(corpus.folder, 0.2, used)
        assert [*map(figures, found)] == [*map(figures, expected.split(0.2, by=used))]


def test_a_smaller_corpus_is_in_memory_and_leaves_nothing_on_disk(tmp_path: Path) -> None:
    table = Upload("words.csv", b"id,text,note\n1,hug,a\n2,hugs,b\n")
    corpus = read(tmp_path, table, column="note")
    assert isinstance(corpus, bpe.Corpus)
    assert corpus.documents == ("a", "b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "encoding", "error"),
    [
        (Upload("a.txt", b""), {}, bpe.EmptyCorpusError),
        (Upload("a.txt", b"hug"), {"a.txt": "no-such"}, bpe.ConfigError),
        (Upload("a.zip", b"PK\x03\x04 not a zip"), {}, bpe.UnsupportedFileError),
    ],
)
def test_errors_are_those_of_the_reader(
    file: Upload, encoding: dict[str, str], error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error) as here:
        bpe.read_corpus([file], encoding=encoding)
    file.seek(0)
    with pytest.raises(error) as there:
        read(tmp_path, file, encoding=encoding)
    assert str(there.value) == str(here.value)
    assert list(tmp_path.iterdir()) == []


def test_reading_can_be_stopped(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def stop(_: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        read(tmp_path, Upload("a.txt", LINES), on_progress=stop)
    assert list(tmp_path.iterdir()) == []
    assert not _readers()


def test_a_killed_process_is_an_error(tmp_path: Path) -> None:
    def kill() -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for process in _readers():
                os.kill(process.pid, signal.SIGKILL)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(bpe.UnsupportedFileError, match="too much memory or time"):
        read(tmp_path, Upload("a.txt", LINES))
    killer.join()
    assert list(tmp_path.iterdir()) == []


def test_a_process_is_worth_it_for_large_files_and_for_what_unpacks_to_much() -> None:
    packed = gzip.compress(os.urandom(300_000))
    assert not worth_a_process([Upload("a.txt", b"hug" * 100_000)])
    assert worth_a_process([Upload("a.txt", b"hug " * 2_000_000)])
    assert worth_a_process([Upload("a.txt.gz", packed)])
    # A small file may still unpack to 16 MB.
    assert worth_a_process([Upload("a.json.gz", gzip.compress(b"[" + b"[]," * 5_000_000 + b"[]]"))])
    assert worth_a_process([Upload("a.zip", make_zip({"a.txt": b"hug"}))])
    assert worth_a_process([Upload("a.csv", b"text\n" + b"a\n" * 300_000)])
    assert not worth_a_process([Upload("a.csv", b"text\n" + b"a\n" * 100_000)])
    assert worth_a_process([Upload("a.json", b"[" + b"{}," * 1_000_000 + b"1]")])


@pytest.mark.parametrize("most", [0, 3, 4, 5, 100])
def test_the_beginning_of_files_is_read_with_the_size_of_all(most: int, tmp_path: Path) -> None:
    files = Upload("a.csv", b"text\nhug\nhugs\n"), Upload("b.txt", b"pug")
    corpus, n_characters = read_beginning_in_process(
        files, ReadOptions(), most, place=tmp_path, on_progress=lambda _: None
    )
    assert "\n".join(corpus.documents)[:most] == "hug\nhugs\npug"[:most]
    assert corpus.n_characters <= most
    assert n_characters == 12
    assert list(tmp_path.iterdir()) == []


def test_tables_are_described_in_a_process_as_here(tmp_path: Path) -> None:
    table = b"id,text,note\n1,hug,a\n2,hugs,b\n"
    files = [
        Upload("c.txt", b"hug"),
        Upload("a.zip", make_zip({"a.csv": table, "b.txt": b"hug"})),
        Upload("b.csv", "text\nstraße\n".encode("cp1252")),
        Upload("d.csv", b""),
    ]
    choices = ReadOptions(encoding={"b.csv": "cp1252"})
    found = describe_in_process(files, choices, 9, place=tmp_path)
    assert found == list(tables_in(files, choices, 9))
    assert [name for name, _ in found] == ["a.zip/a.csv", "b.csv"]
    assert list(tmp_path.iterdir()) == []


def test_files_without_tables_start_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_process, "call", None)
    assert describe_in_process([Upload("a.txt", b"hug,s")], ReadOptions(), 9, place=tmp_path) == []


def test_an_archive_of_many_parquet_files_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_SECONDS_APART", 0.01)
    # Each process takes longer than that to start.
    parquet = b"PAR1 and something else PAR1"
    many = Upload("a.zip", make_zip({f"{n}.parquet": parquet for n in range(500)}))
    started: list[object] = []

    def noted(*arguments: Any, **named: Any) -> Generator[Any]:
        started.append(arguments)
        return stream(*arguments, **named)

    monkeypatch.setattr(parquet_process, "stream", noted)
    reports: list[float] = []
    with pytest.raises(bpe.UnsupportedFileError, match="500 files could not be read"):
        bpe.read_corpus([many], on_progress=reports.append)
    assert len(started) == 1
    # Progress is reported for each file, so that a caller can stop between two files.
    assert len(reports) >= 500
    few = Upload("a.zip", make_zip({f"{n}.parquet": parquet for n in range(2)}))
    with pytest.raises(bpe.UnsupportedFileError, match="the Parquet files before it took"):
        bpe.read_corpus([few])


def _readers() -> list[psutil.Process]:
    return children_with("bpe_core.corpus.reading_process:read_files")
