"""Workers write the same bytes as one process, and a run goes on after any of them is lost."""

from __future__ import annotations

import logging
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from bpe_core.kernels.compiling.choose import compile_kernels
from bpe_core.scale.engines import DaskWorkers, cluster
from bpe_core.training_data.encode_corpus import EncodingProgress, encode_corpus
from tests.stretched_sources import write_sources

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {
    "stretch_bytes": 60_000,
    "shard_tokens": 60_000,
    "val_share": 0.2,
    "shuffle_seed": 3,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    compile_kernels()
    return write_sources(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def expected(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what one process writes."""
    out = tmp_path_factory.mktemp("expected") / "out"
    encode_corpus(files, "gpt2", out, **OPTIONS)
    return contents(out)


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


def start(n_workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


def encode(client: Client, files: list[Path], out: Path, on_progress: Any = None) -> None:
    engine = DaskWorkers(client)
    encode_corpus(files, "gpt2", out, **OPTIONS, engine=engine, on_progress=on_progress)


@pytest.mark.parametrize("n_workers", [1, 3])
def test_any_number_of_workers_writes_the_same_bytes(
    files: list[Path], expected: dict[str, bytes], tmp_path: Path, n_workers: int
) -> None:
    with closing(start(n_workers)) as started, cluster(started.scheduler_address) as client:
        encode(client, files, tmp_path / "out")
    assert contents(tmp_path / "out") == expected
    assert os.listdir(tmp_path) == ["out"]


def test_workers_lost_while_encoding_and_while_writing_change_nothing(
    files: list[Path], expected: dict[str, bytes], tmp_path: Path
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

        encode(client, files, tmp_path / "out", kill_one)
        client.wait_for_workers(2, timeout=60)
    assert n_killed >= 2
    assert contents(tmp_path / "out") == expected
