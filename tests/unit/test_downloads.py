"""Every download can be read back and encodes as the run's tokenizer does."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.formats import Opened, loads
from bpe_core.formats.checking.opened_elsewhere import Difference
from ui.host import server_cache
from ui.look import plain_markdown
from ui.run import downloads
from ui.run.download_part import Checked, Download, check_all
from ui.run.download_rows import check_sentence
from ui.storage import Trained, load_run, store_run
from ui.work import Status, Task

TEXT = "hug hugs pug pugs naïve 日本 \U0001f9e9<|endoftext|>\n" * 20


@pytest.fixture
def run_id(store: Path) -> str:
    run = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(vocab_size=300))
    return store_run(Trained("Hugs", run, bpe.Corpus.from_text(TEXT).split(0.0)[1]))


def offered(run_id: str) -> dict[str, Download]:
    return {download.label: download for download in downloads(run_id)}


def read_files(download: Download) -> dict[str, bytes]:
    assert download.data is not None
    data = download.data()
    if not download.file_name.endswith(".zip"):
        return {download.file_name: data}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    "label",
    [
        "tokenizer.json",
        "transformers folder",
        "vocab + merges",
        ".tiktoken",
        "GGUF (vocabulary)",
        "BPE Explorer (.json)",
    ],
)
def test_a_download_encodes_as_the_run_does(run_id: str, label: str) -> None:
    tokenizer = load_run(run_id).run.tokenizer
    files = read_files(offered(run_id)[label])
    # A tiktoken file has no pre-tokenizer and no special tokens; GPT-2's have no special tokens.
    says_all = label not in ("vocab + merges", ".tiktoken")
    back = loads(
        files,
        pretokenizer=None if says_all else "gpt2",
        special_tokens=None if says_all else tokenizer.special_tokens,
    )
    for allowed in ((), "all"):
        assert back.encode(TEXT, allowed_special=allowed) == tokenizer.encode(
            TEXT, allowed_special=allowed
        )
    assert back.vocab_size == tokenizer.vocab_size


def test_the_gpt2_download_is_a_reproducible_zip_of_the_two_files(run_id: str) -> None:
    download = offered(run_id)["vocab + merges"]
    assert download.file_name == "gpt2-tokenizer.zip"
    assert set(read_files(download)) == {"vocab.json", "merges.txt"}
    server_cache.forget()
    again = offered(run_id)["vocab + merges"]
    assert download.data is not None
    assert again.data is not None
    assert again.data() == download.data()


@pytest.mark.slow
def test_the_checks_report_each_format_and_stop_once_cancelled(run_id: str) -> None:
    tokenizer = load_run(run_id).run.tokenizer
    task: Task[Checked] = Task()
    checked = check_all(tokenizer, ("native", "tiktoken"), lambda: iter([TEXT]), task)
    assert checked is not None
    assert task.last_report is not None
    assert checked == task.last_report[0]
    assert list(checked.results) == ["tiktoken", "native"]
    assert all(opened.is_same for opened in checked.results.values())
    assert all(opened.n_tokens >= 100_000 for opened in checked.results.values())
    task.cancel()
    assert check_all(tokenizer, ("native",), lambda: iter([TEXT]), task) is None


def test_a_row_says_what_came_of_the_check(run_id: str) -> None:
    download = offered(run_id)[".tiktoken"]
    status: Status[Checked, Checked] = Status(
        "id", "", "running", 0, Checked(2), False, 0.0, 0.0, None, None
    )
    assert check_sentence(download, status) == ":gray[Opening it with tiktoken …]"
    same = Opened("tiktoken", "0.14.0", 100_000)
    running = replace(status, progress=Checked(2, {("tiktoken", "tiktoken"): same}))
    ended = replace(status, state="finished", result=Checked(2, {("tiktoken", "tiktoken"): same}))
    for each in (running, ended):
        assert check_sentence(download, each) == (
            f":green[✓] :gray[{plain_markdown(same.sentence)}]"
        )
    differs = replace(same, difference=Difference(7, "[x](y) `*", (1,), (2, 3)))
    other = replace(ended, result=Checked(2, {("tiktoken", "tiktoken"): differs}))
    assert check_sentence(download, other).startswith(":orange[Opened by tiktoken")
    assert "[x](y)" not in check_sentence(download, other)
    missing = replace(
        ended, result=Checked(2, {("tiktoken", "tiktoken"): replace(same, version=None)})
    )
    assert "tiktoken is not installed here" in check_sentence(download, missing)
    failed = replace(status, state="failed", progress=None, problem="It failed.")
    assert check_sentence(download, failed) == r":orange[Not checked: It failed\.]"
    assert "busy" in check_sentence(download, None)


@pytest.mark.usefixtures("store")
def test_a_format_that_cannot_represent_the_tokenizer_shows_why() -> None:
    config = bpe.TrainingConfig(12, pretokenizer="whitespace", base="characters", special_tokens=())
    run = bpe.train(bpe.Corpus.from_text("hug hugs pug"), config)
    found = offered(store_run(Trained("Hugs", run, bpe.Corpus.from_text("x").split(0.0)[1])))
    assert found[".tiktoken"].data is None
    assert found[".tiktoken"].problem
    assert found["BPE Explorer (.json)"].problem is None
    assert loads(read_files(found["BPE Explorer (.json)"])) == run.tokenizer
