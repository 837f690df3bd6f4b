"""Workers count and encode as one process does, and go on after any of them is lost."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import dask.config
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

import bpe_core as bpe
from bpe_core.cli import commands
from bpe_core.cli.sources import parse_size
from bpe_core.kernels import compile_kernels
from bpe_scale import (
    CountingProgress,
    DaskWorkers,
    EncodingProgress,
    cluster,
    count_files,
    encode_corpus,
    local_processes,
)
from bpe_scale import work as scale_work
from tests.more_cases import first_of
from tests.new_process import ROOT
from tests.waiting import MAX_WAIT_SECONDS

pytestmark = pytest.mark.slow

LINE = "Größe l'été 123 電車は七時に出ます。 def f(x):\n\treturn x  # 🧩\r\n\n"


def start(n_workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def local() -> Iterator[LocalCluster]:
    compile_kernels()
    with closing(start(2)) as started:
        yield started


@pytest.fixture
def client(local: LocalCluster) -> Iterator[Client]:
    with cluster(local.scheduler_address) as connected:
        yield connected


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write files that are divided into stretches: two texts, one of them short, and JSON lines."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / "a.txt", folder / "b.txt", folder / "c.jsonl"]
    paths[0].write_bytes("".join(f"{n} {LINE}" for n in range(6_000)).encode())
    paths[1].write_bytes("\ufeffhug hugs".encode())
    rows = (f"{n} {LINE}" for n in range(8_000, 2_000, -1))
    paths[2].write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    return paths


def documents(files: list[Path]) -> bpe.Corpus:
    texts = [path.read_bytes().decode("utf-8-sig") for path in files[:2]]
    rows = [json.loads(line)["text"] for line in files[2].read_text().splitlines()]
    return bpe.Corpus.from_documents([*texts, *rows])


@pytest.mark.parametrize("name", first_of(["gpt2", "regex:\\d"], "gpt2"))
def test_two_workers_count_the_same_as_one_process(
    client: Client, files: list[Path], tmp_path: Path, name: str
) -> None:
    out = tmp_path / "counts.parquet"
    found = count_files(
        files,
        out,
        work=tmp_path / "work",
        pretokenizer=name,
        engine=DaskWorkers(client),
        stretch_bytes=100_000,
    )
    counts, alone = bpe.read_counts(out), bpe.count_words(documents(files), name)
    assert counts.pretokens.words == alone.pretokens.words
    assert counts.pretokens.counts.tolist() == alone.pretokens.counts.tolist()
    assert counts.summary.characters == alone.summary.characters
    here = count_files(files, out, work=tmp_path / "here", pretokenizer=name, stretch_bytes=100_000)
    assert found == here


def test_a_worker_lost_in_the_middle_of_counting_changes_nothing(
    client: Client, files: list[Path], tmp_path: Path
) -> None:
    def kill_one(progress: CountingProgress) -> None:
        if progress.stretches_done in (3, 9) and not progress.shards_done:
            processes: Any = client.run(os.getpid)
            os.kill(next(iter(processes.values())), signal.SIGKILL)

    out = tmp_path / "counts.parquet"
    found = count_files(
        files,
        out,
        work=tmp_path / "work",
        engine=DaskWorkers(client),
        stretch_bytes=60_000,
        on_progress=kill_one,
    )
    alone = bpe.count_words(documents(files))
    assert bpe.read_counts(out).pretokens.words == alone.pretokens.words
    assert bpe.read_counts(out).pretokens.counts.tolist() == alone.pretokens.counts.tolist()
    assert found.summary.n_bytes == alone.summary.n_bytes
    client.wait_for_workers(2, timeout=MAX_WAIT_SECONDS)


def test_losing_the_scheduler_is_an_error_and_the_next_run_goes_on(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A client whose scheduler is gone closes after twice this time.
    monkeypatch.setattr(scale_work, "_SECONDS_TO_CONNECT", 1)
    idle = start(1)

    def close(progress: CountingProgress) -> None:
        if progress.stretches_done == 4:
            idle.close()

    work, out = tmp_path / "work", tmp_path / "counts.parquet"
    with (
        cluster(idle.scheduler_address) as client,
        pytest.raises(
            bpe.ConfigError, match=r"The Dask cluster at tcp://.* failed .*resumes where"
        ),
    ):
        count_files(
            files,
            out,
            work=work,
            engine=DaskWorkers(client),
            stretch_bytes=60_000,
            on_progress=close,
        )
    seen: list[CountingProgress] = []
    count_files(files, out, work=work, stretch_bytes=60_000, on_progress=seen.append)
    assert seen[0].stretches_found >= 4
    assert bpe.read_counts(out).pretokens.words == bpe.count_words(documents(files)).pretokens.words


def test_a_killed_command_goes_on_and_gives_the_same_merges(
    local: LocalCluster, files: list[Path], tmp_path: Path
) -> None:
    big = tmp_path / "big.txt"
    block = files[0].read_bytes()
    with big.open("wb") as file:
        for _ in range(600):
            file.write(block)
    out = tmp_path / "shared.json"
    command = ["train", str(big), "--vocab-size", "600", "--out"]
    shared = [*command, str(out), "--scheduler", local.scheduler_address]
    killed = subprocess.Popen(
        [sys.executable, "-m", "bpe_core", *shared], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    work = Path(f"{out}.work")
    until = time.monotonic() + MAX_WAIT_SECONDS
    while not list(work.glob("*.json")) and time.monotonic() < until:
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    assert not out.exists()
    assert list(work.glob("*.json"))
    again = subprocess.run(
        [sys.executable, "-m", "bpe_core", *shared], cwd=ROOT, check=True, capture_output=True
    )
    assert b"bytes per token" in again.stderr
    assert not work.exists()
    alone = CliRunner().invoke(commands.main, [*command, str(tmp_path / "alone.json")])
    assert alone.exit_code == 0, alone.output
    assert out.read_bytes() == (tmp_path / "alone.json").read_bytes()


def test_processes_within_a_memory_limit_count_the_same(files: list[Path], tmp_path: Path) -> None:
    result = CliRunner().invoke(
        commands.main,
        ["count", *map(str, files), "--memory", "2GB", "--out", str(tmp_path / "a.parquet")],
    )
    assert result.exit_code == 0, result.output
    alone = bpe.count_words(documents(files))
    assert bpe.read_counts(tmp_path / "a.parquet").pretokens.words == alone.pretokens.words
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_too_little_memory_and_sizes_that_are_none_are_refused() -> None:
    with pytest.raises(bpe.ConfigError, match="at least 1 GB, got"), local_processes(5 << 20):
        pass
    with pytest.raises(bpe.ConfigError, match="such as 4GB, got 'much'"):
        parse_size("much")


def test_a_read_error_on_a_worker_is_raised_here(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    # The byte is behind what is looked at to find the encoding.
    path.write_bytes(b"hug " * (1 << 18) + b"\xff")
    with pytest.raises(bpe.TextDecodingError, match="at byte 1,048,576 "):
        count_files(
            [path],
            tmp_path / "a",
            work=tmp_path / "work",
            engine=DaskWorkers(client),
            stretch_bytes=1 << 18,
        )


def test_relative_paths_refer_to_the_folder_of_this_process(
    client: Client, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hug.txt").write_text("hug hugs")
    count_files(["hug.txt"], "a.parquet", work="work", engine=DaskWorkers(client))
    assert bpe.read_counts("a.parquet").pretokens.words == (b"hug", b" hugs")


def test_an_error_of_another_kind_on_a_worker_ends_the_counting(client: Client) -> None:
    def too_late(item: int) -> None:
        raise TimeoutError("the drive does not answer")

    with pytest.raises(
        bpe.ConfigError, match=r"failed \(TimeoutError: the drive does not answer\)"
    ):
        list(DaskWorkers(client).run(too_late, [1]))


def test_a_worker_that_keeps_dying_raises_an_error() -> None:
    def die(item: int) -> None:
        os._exit(1)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        closing(start(1)) as frail,
        cluster(frail.scheduler_address) as client,
    ):
        with pytest.raises(bpe.ConfigError, match=r"failed \(KilledWorker: "):
            list(DaskWorkers(client).run(die, [1]))
        # Wait for the replacement: closing a cluster while it starts a worker raises an error.
        client.wait_for_workers(1, timeout=MAX_WAIT_SECONDS)


def test_a_cluster_without_workers_raises_an_error() -> None:
    with (
        closing(LocalCluster(n_workers=0, dashboard_address=":0")) as idle,
        cluster(idle.scheduler_address) as client,
        pytest.raises(bpe.ConfigError, match=r"has had no worker for 0\.5 s\. Start some: `dask w"),
    ):
        list(DaskWorkers(client, patience_seconds=0.5).run(abs, [1]))


def test_the_error_for_an_address_without_a_scheduler_names_it() -> None:
    with (
        pytest.raises(bpe.ConfigError, match=r"No Dask scheduler answers at 'nonsense://1'"),
        cluster("nonsense://1"),
    ):
        pass


def test_a_work_folder_that_workers_do_not_see_is_an_error(client: Client, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug")
    with pytest.raises(bpe.CorpusError, match="cannot be read"):
        count_files(
            [tmp_path / "a.txt"],
            tmp_path / "a.parquet",
            work="memory://only-in-one-process",
            engine=DaskWorkers(client),
        )


# Workers that encode


OPTIONS: dict[str, Any] = {
    "stretch_bytes": 60_000,
    "shard_tokens": 60_000,
    "val_share": 0.2,
    "shuffle_seed": 3,
}


@pytest.fixture(scope="module")
def encoded(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what one process writes."""
    out = tmp_path_factory.mktemp("encoded") / "out"
    encode_corpus(files, "gpt2", out, **OPTIONS)
    return read_all(out)


def read_all(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


def encode_on(client: Client, files: list[Path], out: Path, on_progress: Any = None) -> None:
    engine = DaskWorkers(client)
    encode_corpus(files, "gpt2", out, **OPTIONS, engine=engine, on_progress=on_progress)


@pytest.mark.more(why="the workers lost below write the same bytes too")
@pytest.mark.parametrize("n_workers", [1, 3])
def test_any_number_of_workers_writes_the_same_bytes(
    files: list[Path], encoded: dict[str, bytes], tmp_path: Path, n_workers: int
) -> None:
    with closing(start(n_workers)) as started, cluster(started.scheduler_address) as client:
        encode_on(client, files, tmp_path / "out")
    assert read_all(tmp_path / "out") == encoded
    assert os.listdir(tmp_path) == ["out"]


def test_workers_lost_while_encoding_and_while_writing_change_nothing(
    files: list[Path], encoded: dict[str, bytes], tmp_path: Path
) -> None:
    n_killed = 0

    with closing(start(2)) as started, cluster(started.scheduler_address) as client:

        def kill_one(progress: EncodingProgress) -> None:
            nonlocal n_killed
            if (progress.source_bytes_done > 200_000, progress.shards_done > 1)[n_killed % 2]:
                n_killed += 1
                if n_killed <= 2:
                    processes: Any = client.run(os.getpid)
                    os.kill(next(iter(processes.values())), signal.SIGKILL)

        encode_on(client, files, tmp_path / "out", kill_one)
        client.wait_for_workers(2, timeout=MAX_WAIT_SECONDS)
    assert n_killed >= 2
    assert read_all(tmp_path / "out") == encoded


def test_an_experiment_on_two_workers_equals_one_here_after_one_is_killed(
    client: Client, tmp_path: Path
) -> None:
    (tmp_path / "texts").mkdir()
    for number in range(60):
        text = "".join(f"{number * n} {LINE}" for n in range(1, 12))
        (tmp_path / "texts" / f"{number:02}.txt").write_bytes(text.encode())
    file = tmp_path / "sweep.toml"
    file.write_text(
        'vocab_sizes = [300, 340]\npretokenizers = ["gpt2", "cl100k", "o200k", "whitespace"]\n'
        'alphabets = ["full", "characters"]\nheld_out = 0.4\nparallel = []\n'
        '[corpora]\nmine = ["texts"]\n'
    )
    killed: list[int] = []

    def kill_one(progress: Any) -> None:
        if progress.rows_done > 2 and not killed:
            processes: Any = client.run(os.getpid)
            killed.append(next(iter(processes.values())))
            os.kill(killed[0], signal.SIGKILL)

    there = bpe.experiment(
        file, work=tmp_path / "work", engine=DaskWorkers(client), on_progress=kill_one
    )
    here = bpe.experiment(file)
    assert killed
    assert len(there.rows) == 16
    for one, other in zip(there.rows, here.rows, strict=True):
        timed = ("shared_training_seconds", "measuring_seconds", "process_peak_mb")
        figures = [
            {name: value for name, value in row.figures.items() if name not in timed}
            for row in (one, other)
        ]
        assert figures[0] == figures[1]
        assert one.bits_by_unit.tolist() == other.bits_by_unit.tolist()
    client.wait_for_workers(2, timeout=MAX_WAIT_SECONDS)
