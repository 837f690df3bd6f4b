"""Models by their names on the hub: the real client, against a hub on this machine."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import huggingface_hub.constants
import pytest
from click.testing import CliRunner

import bpe_core as bpe
from bpe_core.cli import main
from bpe_core.formats import CATALOGUE, VARIABLE, FetchProgress, HubName, Published, dumps
from bpe_core.formats.published import catalogue
from bpe_core.formats.published import fetching as fetch_module
from bpe_core.formats.published import hub as fetching
from bpe_core.formats.published.catalogue import HubFile
from bpe_core.formats.published.hub_names import SIDECARS, choose_hub_files, model_folder
from tests.loopback_hub import LoopbackHub, Manner, loopback_hub
from tests.more_cases import first_of
from ui.tokenizers.by_name import read_name

TEXT = "hug hugs hugging"
SMALL = bpe.train([TEXT] * 3, vocab_size=265, special_tokens=("<|end|>",)).tokenizer
FILES = {
    **dumps(SMALL, "transformers"),
    "model.safetensors": b"weights" * 1_000,
    "vocab.json": b"{}",
    "original/tokenizer.model": b"not at the root",
    "config.json": b"{}",
}
NAME = HubName("org/model")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of the client's, here and in other processes."""
    folder = tmp_path / "hub-cache"
    monkeypatch.setenv("HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return folder


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    with loopback_hub() as started:
        monkeypatch.setenv("HF_ENDPOINT", started.address)
        yield started


def kept(cache: Path) -> list[Path]:
    return [*cache.rglob("*")] if cache.exists() else []


@pytest.mark.slow
def test_only_the_tokenizers_files_are_fetched_and_then_no_hub_is_needed(
    hub: LoopbackHub, cache: Path
) -> None:
    commit = hub.add(NAME.repo, FILES)
    opened = bpe.open_encoder("hf:org/model")
    assert opened.encode(TEXT) == SMALL.encode(TEXT)
    assert opened.name == "org/model"
    assert f"hf:org/model@{commit}" in opened.provenance
    fetched = {path.rpartition("/")[2] for path in hub.paths("GET") if "/resolve/" in path}
    sidecars = {"tokenizer_config.json", "special_tokens_map.json", "config.json"}
    assert fetched == {"tokenizer.json", *sidecars}
    n_requests = len(hub.requests)
    assert bpe.load(f"hf:org/model@{commit}") == bpe.load("hf:org/model")
    assert bpe.compare(TEXT, ["hf:org/model", SMALL]).rows[0].n_tokens == len(SMALL.encode(TEXT))
    assert bpe.extend("hf:org/model", bpe.Corpus.from_text("hugger " * 9), n_tokens=1)
    assert len(hub.requests) == n_requests
    # What is fetched again is the newest commit; the old one is still there.
    newer = hub.add(NAME.repo, {**FILES, "chat_template.jinja": b"{{ messages }}"})
    seen: list[float] = []
    pinned = bpe.fetch("hf:org/model", lambda step: seen.append(step.done_bytes / step.total_bytes))
    assert pinned == f"hf:org/model@{newer}"
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert NAME.cached() == HubName("org/model", newer)
    assert HubName("org/model", commit).cached() is not None
    assert not [path for path in kept(cache) if path.name.startswith(".bpe")]


@pytest.mark.slow
def test_the_client_itself_opens_what_was_fetched(
    hub: LoopbackHub, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.add(NAME.repo, FILES)
    fetching.fetch_from_hub(NAME)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for revision in ("main", commit):
        path = huggingface_hub.try_to_load_from_cache(
            NAME.repo, "tokenizer.json", revision=revision
        )
        assert isinstance(path, str)
        assert Path(path).read_bytes() == FILES["tokenizer.json"]


BAD: dict[Manner, tuple[type[bpe.BpeError], str]] = {
    "gated": (bpe.UnavailableError, "gated.*{hub}/org/model.*HF_TOKEN"),
    "forbidden": (bpe.UnavailableError, "status 403.*Ask for access at {hub}/org/model"),
    "html": (bpe.UnavailableError, "does not answer as the hub does"),
    "truncated": (bpe.UnavailableError, "almost nothing|broke off"),
    "wrong bytes": (bpe.IntegrityError, "published hash"),
    "longer": (bpe.UnavailableError, "arrived incomplete"),
    "elsewhere": (bpe.UnavailableError, "another host, '127.0.0.1'"),
    "slow": (bpe.UnavailableError, "almost nothing for 1 seconds"),
    "silent": (bpe.UnavailableError, "almost nothing for 1 seconds"),
    "endless": (bpe.IntegrityError, "more than it announced"),
    "no sizes": (bpe.UnavailableError, "does not answer as the hub does"),
    "too large": (bpe.FormatError, "more than 128 MB"),
    "failing": (bpe.UnavailableError, "status 500"),
}


QUIET = ("truncated", "slow", "silent")


@pytest.mark.slow
@pytest.mark.parametrize("manner", BAD)
def test_a_bad_answer_is_an_error_in_seconds_and_nothing_is_kept(
    hub: LoopbackHub, cache: Path, monkeypatch: pytest.MonkeyPatch, manner: Manner
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(fetching, "MAX_QUIET_SECONDS", 1.0 if manner in QUIET else 20.0)
    large = {**FILES, "tokenizer_config.json": b" " * 400_000}
    hub.add(NAME.repo, large, manner)
    kind, message = BAD[manner]
    began = time.monotonic()
    with pytest.raises(kind, match=message.format(hub=hub.address)):
        fetching.fetch_from_hub(NAME)
    assert time.monotonic() - began < 60
    assert kept(cache) == []
    # The token went to this hub, and the host that it names was not asked at all.
    assert set(hub.tokens) == {"Bearer hf_secret"}
    assert hub.other is not None
    assert hub.other.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "etag",
    first_of(
        ['"{outside}"', 'W/"{outside}"', '"../../../evil"', '"."', '""', '"W/abc"', "{hash}/.."],
        '"{outside}"',
        '""',
    ),
)
def test_an_etag_that_is_no_hash_writes_nothing(
    hub: LoopbackHub, cache: Path, tmp_path: Path, etag: str
) -> None:
    hub.add(NAME.repo, FILES, "evil etag")
    hub.evil_etag = etag.format(outside=tmp_path / "evil" / "file.pth", hash="a" * 40)
    with pytest.raises(bpe.UnavailableError, match=r"not a hash, so nothing was kept.*HF_ENDPOINT"):
        fetching.fetch_from_hub(NAME)
    assert kept(tmp_path) == [cache]


def test_no_file_from_outside_the_download_is_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = HubName(NAME.repo, "a" * 40)
    folder, outside = tmp_path / "download", tmp_path / "outside.json"
    outside.write_bytes(b"{}")

    @contextmanager
    def downloaded(*_: object) -> Generator[tuple[HubName, Path]]:
        (folder / model_folder(NAME.repo) / "blobs").mkdir(parents=True)
        pinned.folder(folder).mkdir(parents=True)
        (pinned.folder(folder) / "tokenizer.json").symlink_to(outside)
        yield pinned, folder

    monkeypatch.setattr(fetching, "downloaded", downloaded)
    with pytest.raises(bpe.IntegrityError, match="outside its folder"):
        fetching.fetch_from_hub(NAME)
    assert kept(cache) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("hf:org/none", {}, "no public model org/none. .*{hub}/org/none"),
        ("hf:org/model@v2", FILES, "no revision v2.*{hub}/org/model/tree/main"),
        ("hf:org/model", {"README.md": b"text"}, "no tokenizer's file"),
    ],
)
def test_what_is_missing_is_said_with_the_page_that_helps(
    hub: LoopbackHub, cache: Path, name: str, files: dict[str, bytes], message: str
) -> None:
    if files:
        hub.add(NAME.repo, files)
    with pytest.raises(bpe.BpeError, match=message.format(hub=hub.address)):
        bpe.open_encoder(name)
    assert kept(cache) == []


def test_without_a_network_the_error_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(bpe.UnavailableError, match=r"127.0.0.1:9 could not be reached"):
        bpe.open_encoder("hf:org/model")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(bpe.UnavailableError, match="HF_HUB_OFFLINE is set"):
        bpe.open_encoder("hf:org/model")
    assert kept(cache) == []


def test_the_hub_is_not_blamed_for_the_time_that_the_client_takes_to_start(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MAX_QUIET_SECONDS", -1.0)  # any time is too long

    def call(
        *_: object,
        on_progress: Callable[[FetchProgress | None], None],
        should_stop: Callable[[], bool],
        **__: object,
    ) -> None:
        assert not should_stop()
        on_progress(None)
        should_stop()

    monkeypatch.setattr("bpe_core.processes.call", call)
    with pytest.raises(bpe.UnavailableError, match="almost nothing"):
        fetching.fetch_from_hub(NAME)


def test_a_cancelled_download_ends_soon_and_leaves_nothing(hub: LoopbackHub, cache: Path) -> None:
    hub.add(NAME.repo, FILES, "slow")

    def asked_for_a_file() -> bool:
        return any("/resolve/" in path for path in hub.paths("GET"))

    with pytest.raises(CancelledError):
        fetching.fetch_from_hub(NAME, should_stop=asked_for_a_file)
    assert kept(cache) == []


@pytest.mark.parametrize(
    "name",
    [
        "hf:",
        "hf:model",
        "hf:org/",
        "hf:org/model/file",
        "hf:../model",
        "hf:org/..",
        "hf:org/a--b",
        "hf:org/model@",
        "hf:org/model@../x",
        "hf:org/model@a/b",
        "hf:org/mo del",
        "hf:org/modèle",
        "hf:org/model\n",
        "hf:/etc/passwd",
        f"hf:org/{'a' * 200}",
    ],
)
def test_a_malformed_name_is_refused_before_anything_is_asked(name: str) -> None:
    assert HubName.fits(name)
    for takes_names in (HubName.parse, bpe.open_encoder, bpe.load, bpe.fetch):
        with pytest.raises(bpe.ConfigError, match="Expected hf:org/model"):
            takes_names(name)


def test_names_are_read_as_the_hub_writes_them() -> None:
    for repo in ("Qwen/Qwen3-8B", "mistralai/Mistral-7B-v0.1", "a/b", "org_1/x.y_z-2"):
        assert HubName.parse(f"hf:{repo}@v1.0") == HubName(repo, "v1.0")


@pytest.mark.parametrize("part", ["tree", "commit", "blob", "resolve", "raw"])
@pytest.mark.parametrize("rest", ["", "/tokenizer.json", "/tokenizer.json?download=true"])
def test_the_address_of_a_page_keeps_its_revision(part: str, rest: str) -> None:
    assert read_name(f"https://huggingface.co/org/model/{part}/v2{rest}") == "hf:org/model@v2"


@pytest.mark.parametrize("rest", ["", "/", "?library=x", "/tree/main", "/blob/main/vocab.json"])
def test_an_address_without_an_organisation_is_not_misread(rest: str) -> None:
    assert read_name(f"https://huggingface.co/gpt2{rest}") == "gpt2"
    for old in (f"tiny{rest}", "gpt2/tree/v2"):
        with pytest.raises(bpe.ConfigError, match=r"not (a name|the name)"):
            read_name(f"https://huggingface.co/{old}")


@pytest.mark.parametrize("page", ["datasets/org/data", "datasets/data", "spaces/org/app/tree/main"])
def test_the_page_of_anything_but_a_model_is_refused(page: str) -> None:
    with pytest.raises(bpe.ConfigError, match="Expected the page of a model"):
        read_name(f"https://huggingface.co/{page}")


def test_an_empty_field_has_no_name_to_quote() -> None:
    with pytest.raises(bpe.ConfigError, match=r"^There is no name\. Expected a model on"):
        read_name(" ")


def test_one_vocabulary_is_chosen_and_comes_last() -> None:
    names = ["tekken.json", "tokenizer.json", "merges.txt", "vocab.json", "chat_template.jinja"]
    assert choose_hub_files(names) == ["chat_template.jinja", "tokenizer.json"]
    assert choose_hub_files(["vocab.json", "merges.txt"]) == ["vocab.json", "merges.txt"]
    assert choose_hub_files(["qwen.tiktoken", "tokenizer_config.json"])[-1] == "qwen.tiktoken"
    assert choose_hub_files(["tokenizer_config.json", "model.safetensors"]) == []
    assert choose_hub_files(["tokenizer_config.json", "vocab.json"]) == []


def test_all_that_is_read_next_to_a_vocabulary_is_fetched() -> None:
    assert set(SIDECARS) <= set(choose_hub_files([*SIDECARS, "tokenizer.json"]))


@pytest.mark.parametrize("files", [["vocab.json"], ["merges.txt"], ["tokenizer_config.json"]])
def test_half_a_vocabulary_in_the_cache_is_none(cache: Path, files: list[str]) -> None:
    name = HubName(NAME.repo, "a" * 40)
    name.folder().mkdir(parents=True)
    for file in files:
        (name.folder() / file).touch()
    assert name.cached() is None
    for file in ("vocab.json", "merges.txt"):
        (name.folder() / file).touch()
    assert name.cached() == name


@pytest.mark.slow
def test_what_another_program_left_out_of_the_cache_is_fetched(
    hub: LoopbackHub, cache: Path
) -> None:
    files = {**FILES, "chat_template.jinja": b"{{ messages }}"}
    pinned = HubName(NAME.repo, hub.add(NAME.repo, files))
    snapshot = pinned.folder()
    snapshot.mkdir(parents=True)
    (snapshot / "tokenizer.json").write_bytes(FILES["tokenizer.json"])
    hub.models[NAME.repo].manner = "failing"
    assert fetching.fetch_from_hub(pinned) == pinned
    assert len([*snapshot.iterdir()]) == 1
    hub.models[NAME.repo].manner = "well"
    assert bpe.fetch(str(pinned)) == str(pinned)
    assert {file.name for file in snapshot.iterdir()} == set(choose_hub_files([*files]))


@pytest.mark.slow
def test_commands_take_names_of_the_hub(hub: LoopbackHub, cache: Path, tmp_path: Path) -> None:
    commit = hub.add(NAME.repo, FILES)
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    ids = " ".join(map(str, SMALL.encode(TEXT)))
    encoded = CliRunner().invoke(main, ["encode", "hf:org/model", str(text)])
    assert (encoded.exit_code, encoded.stdout.strip()) == (0, ids), encoded.output
    for command in (
        ["compare", str(text), "-t", f"hf:org/model@{commit}", "-t", "gpt2"],
        ["inspect", "hf:org/model"],
        ["convert", "hf:org/model", str(tmp_path / "out.tiktoken")],
        ["extend", "hf:org/model", str(text), "--tokens", "1", "--out", str(tmp_path / "out")],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    fetched = CliRunner().invoke(main, ["fetch", "hf:org/model"])
    assert fetched.stderr == f"hf:org/model: hf:org/model@{commit}\n"
    missing = CliRunner().invoke(main, ["encode", "hf:org/none", str(text)])
    assert missing.exit_code == 1
    assert "no public model" in missing.stderr


def catalogued(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Published:
    """Put an entry into the catalogue that the hub may have, and whose package is out of reach."""
    found = replace(
        CATALOGUE["qwen3"],
        name="small",
        hub=HubFile(NAME.repo),
        sha256=hashlib.sha256(data).hexdigest(),
        n_bytes=len(data),
        file_name="small.json",
    )
    for module in (catalogue, fetch_module):
        monkeypatch.setattr(module, "CATALOGUE", {"small": found})
    monkeypatch.setenv("PATH", "")  # without npm
    return found


@pytest.mark.slow
def test_a_published_file_comes_from_the_hub_first(
    hub: LoopbackHub, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "published"))
    found = catalogued(FILES["tokenizer.json"], monkeypatch)
    hub.add(NAME.repo, {"tokenizer_config.json": b"{}", **FILES})
    seen: list[FetchProgress] = []
    assert bpe.fetch("small", seen.append) == "small"
    assert found.read() == FILES["tokenizer.json"]
    assert seen[-1] == FetchProgress("org/model", found.n_bytes, found.n_bytes)
    assert [path for path in hub.paths("GET") if "tokenizer_config" in path] == []
    assert kept(cache) == []


@pytest.mark.slow
@pytest.mark.parametrize("manner", ["gated", "another file", "failing"])
def test_a_hub_without_the_published_file_is_followed_by_the_package(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manner: Manner
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "published"))
    catalogued(b"what was published" * 100, monkeypatch)
    hub.add(NAME.repo, FILES, manner)
    with pytest.raises(bpe.UnavailableError, match="downloaded by npm"):
        bpe.fetch("small")
    # Another file is noticed by its hash, before it is downloaded.
    assert [path for path in hub.paths("GET") if "/resolve/" in path] == []
