"""A cluster of two worker processes counts the same as one process, in the same order."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import dask.config
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

from bpe_core.cli import commands
from bpe_core.compiling.processes import compile_kernels
from bpe_core.corpus.corpus import Corpus
from bpe_core.counting.cluster import cluster, count_on_cluster, workers_to_compile
from bpe_core.counting.streamed import count_stream, stream_corpus
from bpe_core.errors import ConfigError, TextDecodingError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LINE = "Größe l'été 123 電車は七時に出ます。 def f(x):\n\treturn x  # 🧩\r\n\n"


@pytest.fixture(scope="module")
def local() -> Iterator[LocalCluster]:
    compile_kernels()
    started = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    yield started
    started.close()


@pytest.fixture
def client(local: LocalCluster) -> Iterator[Client]:
    with cluster(local.scheduler_address) as connected:
        yield connected


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / "a.txt", folder / "b.txt", folder / "c.txt"]
    paths[0].write_bytes("".join(f"{n} {LINE}" for n in range(6_000)).encode())
    paths[1].write_bytes("\ufeffhug hugs".encode())
    paths[2].write_bytes("".join(f"{n} {LINE}" for n in range(8_000, 2_000, -1)).encode())
    return paths


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "whitespace", "regex:\\d"])
def test_two_workers_count_the_same_as_one_process(
    client: Client, files: list[Path], name: str
) -> None:
    corpus, pretokenizer = stream_corpus(files), get_pretokenizer(name)
    shared = count_on_cluster(
        corpus, pretokenizer, client, symbols_of="characters", stretch_bytes=100_000
    )
    alone = count_stream(corpus, pretokenizer, symbols_of="characters")
    assert shared.pretokens.words == alone.pretokens.words
    assert shared.pretokens.counts.tolist() == alone.pretokens.counts.tolist()
    assert shared.symbols == alone.symbols
    assert (shared.sha256, shared.n_bytes) == (alone.sha256, alone.n_bytes)


def test_training_on_a_cluster_gives_the_same_run(client: Client, files: list[Path]) -> None:
    config = TrainingConfig(700)
    counted = count_on_cluster(
        stream_corpus(files), get_pretokenizer("gpt2"), client, stretch_bytes=100_000
    )
    shared = train(counted, config)
    texts = [path.read_bytes().decode("utf-8-sig") for path in files]
    alone = train(Corpus.from_documents(texts), config)
    assert shared.tokenizer == alone.tokenizer
    assert shared.corpus_sha256 == alone.corpus_sha256
    assert shared.joined_at.tolist() == alone.joined_at.tolist()


def test_counting_on_a_cluster_can_be_cancelled(client: Client, files: list[Path]) -> None:
    found = count_on_cluster(
        stream_corpus(files), get_pretokenizer("gpt2"), client, should_stop=lambda: True
    )
    assert found.pretokens.words == ()


def test_a_read_error_on_a_worker_is_raised_here(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"hug \xff")
    with pytest.raises(TextDecodingError, match="at byte 4 "):
        count_on_cluster(stream_corpus([path]), get_pretokenizer("gpt2"), client)


def test_the_error_for_a_file_without_any_text_names_the_byte(
    client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"hug " + b"\xff" * 5_000)
    with pytest.raises(TextDecodingError, match="at byte 4 "):
        count_on_cluster(
            stream_corpus([path]), get_pretokenizer("gpt2"), client, stretch_bytes=1_000
        )


def test_relative_paths_refer_to_the_folder_of_this_process(
    client: Client, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files[1].parent)
    found = count_on_cluster(stream_corpus([files[1].name]), get_pretokenizer("gpt2"), client)
    assert found.pretokens.words == (b"hug", b" hugs")


def test_a_timeout_on_a_worker_ends_the_counting(
    client: Client, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(*stretch: object, **options: object) -> None:
        raise TimeoutError("the drive does not answer")

    monkeypatch.setattr("bpe_core.counting.cluster._count_stretch", too_late)
    with pytest.raises(ConfigError, match=r"failed \(TimeoutError: the drive does not answer\)"):
        count_on_cluster(stream_corpus(files), get_pretokenizer("gpt2"), client)


def test_a_worker_that_keeps_dying_raises_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hug.txt"
    path.write_text("hug")

    def die(*stretch: object, **options: object) -> None:
        os._exit(1)

    monkeypatch.setattr("bpe_core.counting.cluster._count_stretch", die)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        closing(
            LocalCluster(
                n_workers=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
            )
        ) as frail,
        cluster(frail.scheduler_address) as client,
    ):
        with pytest.raises(ConfigError, match=r"failed \(KilledWorker: "):
            count_on_cluster(stream_corpus([path]), get_pretokenizer("gpt2"), client)
        # Wait for the replacement: closing a cluster while it starts a worker raises an error.
        client.wait_for_workers(1, timeout=60)


def test_a_cluster_without_workers_raises_an_error(files: list[Path]) -> None:
    with (
        closing(LocalCluster(n_workers=0, dashboard_address=":0")) as idle,
        cluster(idle.scheduler_address) as client,
    ):
        assert workers_to_compile(client) == 0
        with pytest.raises(
            ConfigError, match=r"has had no worker for 0\.5 s\. Start some: `dask w"
        ):
            count_on_cluster(
                stream_corpus(files), get_pretokenizer("gpt2"), client, patience_seconds=0.5
            )


def test_losing_the_scheduler_raises_an_error(files: list[Path]) -> None:
    idle = LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL)

    def close() -> bool:
        idle.close()  # has no effect the second time
        return False

    with (
        cluster(idle.scheduler_address) as client,
        pytest.raises(ConfigError, match=r"The Dask cluster at tcp://.* failed "),
    ):
        count_on_cluster(stream_corpus(files), get_pretokenizer("gpt2"), client, should_stop=close)


def test_the_error_for_an_address_without_a_scheduler_names_it() -> None:
    with (
        pytest.raises(ConfigError, match=r"No Dask scheduler answers at 'nonsense://1'"),
        cluster("nonsense://1"),
    ):
        pass


def test_the_command_line_trains_on_a_cluster(
    local: LocalCluster, files: list[Path], tmp_path: Path
) -> None:
    train_them = ["train", *map(str, files), "--vocab-size", "600", "--out"]
    shared = [*train_them, str(tmp_path / "shared.json"), "--scheduler", local.scheduler_address]
    subprocess.run(
        [sys.executable, "-m", "bpe_core", *shared], cwd=ROOT, check=True, capture_output=True
    )
    alone = CliRunner().invoke(commands.main, [*train_them, str(tmp_path / "alone.json")])
    assert alone.exit_code == 0, alone.output
    saved = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("alone", "shared")]
    assert saved[0] == saved[1]
