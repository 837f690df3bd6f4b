"""Fetch the tokenizers of models on Hugging Face's hub into the cache of its client."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import IntegrityError, ProcessError, UnavailableError, explain
from bpe_core.extras import needs_extra
from bpe_core.formats.published.hub_names import (
    FetchProgress,
    HubName,
    OnProgress,
    hub_cache,
    model_folder,
)
from bpe_core.processes import Limits, Report

MAX_QUIET_SECONDS = 20.0
"""The longest time in which the hub may send less than a block of 64 kB."""
_LIMITS: Final = Limits(seconds=900, memory=2 * Limits.GB)


def find_or_fetch(name: str) -> HubName:
    """Return a model's name with the commit in the cache; fetch it only if there is none.

    Raises `ConfigError` for a malformed name, and what `fetch_from_hub` raises.
    """
    parsed = HubName.parse(name)
    return parsed.cached() or fetch_from_hub(parsed)


def fetch_from_hub(
    name: HubName,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> HubName:
    """Fetch the files of a model's tokenizer into the cache; return the name with their commit.

    The hub is asked even if the cache has the revision: a branch may have a newer commit, and what
    other programs kept of a commit may lack files. If it cannot be asked, the cache will do for a
    commit. Raises `UnavailableError`, with what to do, if the model cannot be downloaded;
    `FormatError` if it has no tokenizer; `IntegrityError` if a file is not what the hub says; and
    CancelledError once `should_stop` returns True. Then the cache is as it was.
    """
    try:
        with downloaded(name, {}, on_progress, should_stop) as (pinned, folder):
            _keep(name, pinned, folder)
    except UnavailableError:
        if name.is_pinned and name.cached() is not None:
            return name
        raise
    return pinned


@contextmanager
def downloaded(
    name: HubName,
    sha256: Mapping[str, str],
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Generator[tuple[HubName, Path]]:
    """Download into a folder that is deleted after the block; see `hub_download`."""
    with downloading(name, _download, on_progress, should_stop, sha256=sha256) as found:
        yield found


@contextmanager
def downloading(
    name: HubName,
    download: Callable[..., str],
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
    limits: Limits | None = None,
    **named: Any,
) -> Generator[tuple[HubName, Path]]:
    """Run a function that downloads, in a process; its folder is deleted after the block.

    It is called with `name`, the folder, a report and the other arguments, and returns the commit.
    It imports `hub_download`, and reports None before it asks the hub for anything.
    Raises `UnavailableError` if it fails, or if it reports nothing for too long.
    """
    last_heard: float | None = None  # until the process has started, which is not the hub's fault

    def follow(progress: FetchProgress | None) -> None:
        nonlocal last_heard
        last_heard = time.monotonic()
        if on_progress is not None and progress is not None:
            on_progress(progress)

    def is_stopped() -> bool:
        if last_heard is not None and time.monotonic() - last_heard > MAX_QUIET_SECONDS:
            raise UnavailableError(
                f"The hub sent almost nothing for {MAX_QUIET_SECONDS:.0f} seconds, so the download "
                "was given up. Try again later."
            )
        return should_stop is not None and should_stop()

    with needs_extra("hub", f"Fetching {name.short}"):
        from bpe_core.processes import call

    cache = hub_cache()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".bpe-explorer-", dir=cache)
    except OSError as error:
        raise _not_writable(cache, error) from None
    with folder:
        try:
            commit = call(
                download,
                name,
                Path(folder.name),
                limits=_LIMITS if limits is None else limits,
                on_progress=follow,
                should_stop=is_stopped,
                **named,
            )
        except ProcessError as error:
            raise UnavailableError(f"The download of {name.short} failed. {error}") from None
        yield HubName(name.repo, commit), Path(folder.name)


def _download(
    name: HubName, folder: Path, report: Report[FetchProgress | None], sha256: dict[str, str]
) -> str:
    """Download a tokenizer's files, and return their commit; runs in a process.

    It reports None before it asks the hub for anything.
    """
    from bpe_core.formats.published.hub_download import download_files

    report(None, must_arrive=True)
    return download_files(name, folder, report, sha256)


def _keep(name: HubName, pinned: HubName, folder: Path) -> None:
    """Move downloaded files into the cache, each whole, the vocabulary last."""
    cache = hub_cache()
    source, target = (place / model_folder(name.repo) for place in (folder, cache))
    snapshot = pinned.folder()
    files = [*pinned.folder(folder).iterdir()]
    if not all(file.resolve().is_relative_to(folder.resolve()) for file in files):
        raise IntegrityError(f"A file of {name.short} is outside its folder. Nothing was kept.")
    try:
        snapshot.mkdir(parents=True, exist_ok=True)
        for part in ("blobs", "refs"):
            (target / part).mkdir(exist_ok=True)
        for blob in (source / "blobs").iterdir():
            os.replace(blob, target / "blobs" / blob.name)
        for file in sorted(files, key=lambda file: file.lstat().st_mtime_ns):
            os.replace(file, snapshot / file.name)
        if not name.is_pinned:
            reference = source / "reference"
            reference.write_text(pinned.revision, encoding="ascii")
            os.replace(reference, target / "refs" / name.revision)
    except OSError as error:
        raise _not_writable(cache, error) from None


def _not_writable(cache: Path, error: OSError) -> UnavailableError:
    return UnavailableError(
        f"{cache} cannot be written: {explain(error, '')} Name another folder with HF_HUB_CACHE."
    )
