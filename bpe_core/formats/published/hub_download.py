"""Download a tokenizer's files from Hugging Face's hub, by its own client.

Only the process that `hub` starts imports this module, so that a hub which answers slowly,
endlessly or with anything else can be given up at any moment.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bpe_core.errors import (
    BpeError,
    ConfigError,
    FormatError,
    IntegrityError,
    UnavailableError,
    explain,
)
from bpe_core.extras import needs_extra
from bpe_core.formats.published.hub_names import FetchProgress, HubName, choose_hub_files
from bpe_core.processes import Report

# The client reads them once, when it is imported.
os.environ |= {
    # These files are small, and the other protocol could not be followed nor limited.
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
}
with needs_extra("hub", "Opening a model by its name on the hub"):
    import huggingface_hub as hub
    from huggingface_hub import HfApi, constants, errors
    from huggingface_hub.utils import tqdm

MAX_BYTES: Final = 128_000_000
"""The largest size of a tokenizer's files in all; the largest in use take a third of it."""
_HUB_DOMAINS: Final = ("huggingface.co", "hf.co")
_CHUNK: Final = 1 << 16
_SECONDS_TO_ANSWER: Final = 10
_PARTIAL_CONTENT: Final = 206
_ETAG: Final = re.compile(r'(?:W/)?"?(?:[0-9a-f]{40}|[0-9a-f]{64})"?')


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    n_bytes: int
    sha256: str | None
    """Known for large files."""
    blob_id: str | None
    """Git's hash, known for small files."""


def download_files(
    name: HubName, folder: Path, report: Report[FetchProgress | None], sha256: Mapping[str, str]
) -> str:
    """Download a tokenizer's files into a folder, a cache of the client's; return their commit.

    `sha256` names the only files that are wanted, with their hashes; if it is empty, all files of
    the tokenizer are. Raises `UnavailableError`, with what to do, if the model cannot be
    downloaded; `FormatError` if it has no tokenizer, or too large a one; and `IntegrityError` if a
    file is not the one that the hub, or `sha256`, describes.
    """
    with _client(name):
        commit, files = _list_files(name, sha256, constants.ENDPOINT)
        follow = _follow(name.repo, report, sum(file.n_bytes for file in files))
        for file in files:
            path = hub.hf_hub_download(  # pyright: ignore[reportUnknownMemberType]
                name.repo, file.name, revision=commit, cache_dir=folder, tqdm_class=follow
            )
            if not Path(path).resolve().is_relative_to(folder.resolve()):
                raise _strange(constants.ENDPOINT)
            _check(Path(path), file, name)
    return commit


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a model on the hub, of which any range of bytes can be read."""

    repo: str
    commit: str
    sizes: Mapping[str, int]
    """The size of each file, in bytes."""

    @classmethod
    @contextmanager
    def open(cls, name: HubName) -> Generator[HubFiles]:
        """Ask for a model's commit and its files; within the block, ranges of them can be read.

        Raises what `download_files` raises.
        """
        with _client(name):
            try:
                about = HfApi().model_info(
                    name.repo,
                    revision=name.revision,
                    files_metadata=True,
                    timeout=_SECONDS_TO_ANSWER,
                )
                commit = str(about.sha)
                files = about.siblings or []
                sizes = {each.rfilename: each.size for each in files if each.size is not None}
            except (ValueError, TypeError, KeyError, AttributeError):
                raise _strange(constants.ENDPOINT) from None
            if not HubName(name.repo, commit).is_pinned:
                raise _strange(constants.ENDPOINT)
            yield cls(name.repo, commit, sizes)

    def read(self, file: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to `end`, which is not included."""
        return b"".join(self.stream(file, start, end))

    def stream(self, file: str, start: int, end: int) -> Iterator[bytes]:
        """Yield these bytes in pieces.

        Raises `UnavailableError` if the hub sends a whole file instead, or another number of bytes.
        """
        if end <= start:
            return
        url = hub.hf_hub_url(self.repo, file, revision=self.commit)
        headers = {
            **hub.utils.build_hf_headers(),  # pyright: ignore[reportUnknownMemberType]
            "Range": f"bytes={start}-{end - 1}",
            "Accept-Encoding": "identity",
        }
        received = 0
        with hub.get_session().stream("GET", url, headers=headers) as response:
            hub.utils.hf_raise_for_status(response)
            if response.status_code != _PARTIAL_CONTENT:
                raise UnavailableError(
                    f"{constants.ENDPOINT} does not send parts of files. Download the model, and "
                    "give its folder."
                )
            for chunk in response.iter_bytes(_CHUNK):
                received += len(chunk)
                if received > end - start:
                    raise IntegrityError("The hub sent more than was asked for.")
                yield chunk
        if received != end - start:
            raise UnavailableError("The hub broke off. Nothing was kept. Try again.")


@contextmanager
def _client(name: HubName) -> Generator[None]:
    """Set the client up so that it asks only the hub's hosts; its errors say what to do."""
    if constants.HF_HUB_OFFLINE:
        raise UnavailableError(
            f"{name.short} is not in the cache, and HF_HUB_OFFLINE is set. Unset it to download."
        )
    # The client writes, and reports, after each of these.
    constants.DOWNLOAD_CHUNK_SIZE = _CHUNK
    session: Any = type(hub.get_session())
    guard = {
        "request": [_refuse_strange_hosts(constants.ENDPOINT)],
        "response": [_refuse_strange_etags],
    }
    hub.set_client_factory(
        lambda: session(follow_redirects=True, timeout=_SECONDS_TO_ANSWER, event_hooks=guard)
    )
    page = f"{constants.ENDPOINT}/{name.repo}"
    try:
        yield
    except BpeError:
        raise
    except errors.GatedRepoError:
        raise UnavailableError(
            f"{name.repo} is gated: its publisher gives access on request. Ask for it at {page}, "
            "set HF_TOKEN to a token of your account, and try again."
        ) from None
    except errors.RepositoryNotFoundError:
        raise UnavailableError(
            f"There is no public model {name.repo}. Check its name at {page}; if it is private, "
            "set HF_TOKEN to a token that can read it."
        ) from None
    except errors.RevisionNotFoundError:
        raise UnavailableError(
            f"{name.repo} has no revision {name.revision}. Its revisions are at {page}/tree/main."
        ) from None
    except errors.LocalEntryNotFoundError as error:
        raise _unavailable(name, error.__cause__ or error) from None
    except (errors.HTTPError, OSError) as error:  # pyright: ignore[reportPrivateImportUsage]
        raise _unavailable(name, error) from None


def _list_files(name: HubName, sha256: Mapping[str, str], endpoint: str) -> tuple[str, list[_File]]:
    """Ask for a model's commit and its files, and return those to download."""
    try:
        about = HfApi().model_info(
            name.repo, revision=name.revision, files_metadata=True, timeout=_SECONDS_TO_ANSWER
        )
        commit = str(about.sha)
        found = {each.rfilename: each for each in about.siblings or []}
        wanted = [*sha256] or choose_hub_files(list(found))
        files = [
            _File(
                each.rfilename,
                each.size if each.size is not None else -1,
                each.lfs.sha256 if each.lfs else None,
                each.blob_id if not each.lfs else None,
            )
            for each in (found[file] for file in wanted if file in found)
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _strange(endpoint) from None
    if not HubName(name.repo, commit).is_pinned or any(file.n_bytes < 0 for file in files):
        raise _strange(endpoint)
    if not files or len(files) < len(sha256):
        raise FormatError(f"{name.short} has no tokenizer's file, such as tokenizer.json.")
    if sum(file.n_bytes for file in files) > MAX_BYTES:
        raise FormatError(
            f"The tokenizer of {name.short} has more than {MAX_BYTES / 1e6:.0f} MB, so it was not "
            "downloaded."
        )
    for file in files:
        if file.sha256 is not None and sha256.get(file.name, file.sha256) != file.sha256:
            raise _not_as_published(file.name, name)
    return commit, files


def _follow(source: str, report: Report[FetchProgress | None], total: int) -> Any:
    """Return the class of a progress bar that reports, and refuses more bytes than expected."""
    done = received = 0

    class Follower(tqdm):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(disable=True)  # pyright: ignore[reportUnknownMemberType]

        def update(self, n: float | None = 1) -> None:
            nonlocal done, received
            done += int(n or 0)
            received += max(0, int(n or 0))
            if done > total + _CHUNK:
                raise IntegrityError("The hub sent more than it announced. Nothing was kept.")
            # The client begins again each time that the connection breaks off.
            if received > 3 * total + _CHUNK:
                raise UnavailableError("The hub broke off again and again. Nothing was kept.")
            report(FetchProgress(source, min(done, total), total), must_arrive=done == total)

    return Follower


def _check(path: Path, file: _File, name: HubName) -> None:
    """Raise `IntegrityError` unless a downloaded file is the one that the hub describes."""
    data = path.read_bytes()
    if len(data) != file.n_bytes:
        raise IntegrityError(
            f"{file.name} of {name.short} has {len(data):,} bytes instead of {file.n_bytes:,}. "
            "Nothing was kept. Try again."
        )
    git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    found = hashlib.sha256(data).hexdigest()
    if file.sha256 not in (None, found) or file.blob_id not in (None, git):
        raise _not_as_published(file.name, name)


def _not_as_published(file: str, name: HubName) -> IntegrityError:
    return IntegrityError(
        f"{file} of {name.short} does not have its published hash. Nothing was kept."
    )


def _refuse_strange_hosts(endpoint: str) -> Callable[[Any], None]:
    """Return a check of each request, also after a redirect: only the hub's own hosts are asked."""
    origin = _origin(endpoint)

    def refuse(request: Any) -> None:
        url = str(request.url)
        scheme, host, port = _origin(url)
        is_hubs = any(host == name or host.endswith(f".{name}") for name in _HUB_DOMAINS)
        if (scheme, host, port) != origin and (scheme, port, is_hubs) != ("https", 443, True):
            raise UnavailableError(
                f"{endpoint} redirected to another host, {host!r:.80}, which was not followed. "
                "Check HF_ENDPOINT."
            )

    return refuse


def _refuse_strange_etags(response: Any) -> None:
    """Refuse a file whose ETag is not a hash: the client takes it for the name of a file to write.

    It reads that from the answers to HEAD; without an ETag it refuses the file itself.
    """
    if response.request.method != "HEAD" or response.is_error:
        return
    etag = response.headers.get("X-Linked-Etag") or response.headers.get("ETag")
    if etag is not None and _ETAG.fullmatch(etag) is None:
        raise UnavailableError(
            f"{constants.ENDPOINT} names a file by {etag!r:.80}, which is not a hash, so nothing "
            "was kept. Check HF_ENDPOINT."
        )


def _origin(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme,
            (parts.hostname or "").lower(),
            parts.port or (443 if parts.scheme == "https" else 80),
        )
    except ValueError:
        raise ConfigError(f"{url!r:.80} is not an address. Check HF_ENDPOINT.") from None


def _unavailable(name: HubName, error: BaseException) -> UnavailableError:
    """Return the error for a failure of the network, or for a status that has no meaning here."""
    endpoint = constants.ENDPOINT
    response = error.response if isinstance(error, errors.HfHubHTTPError) else None
    if response is not None and response.status_code in (401, 403):
        return UnavailableError(
            f"{name.repo} cannot be read (status {response.status_code}). Ask for access at "
            f"{endpoint}/{name.repo}, and check HF_TOKEN."
        )
    if response is not None:
        return UnavailableError(
            f"{endpoint} answered with status {response.status_code}. Try again later."
        )
    if isinstance(error, errors.FileMetadataError):
        return _strange(endpoint)
    if type(error) is OSError:
        if error.strerror:
            return UnavailableError(f"The cache cannot be written: {explain(error, '').rstrip()}")
        # The client's own check of the size.
        return UnavailableError("A file arrived incomplete. Nothing was kept. Try again.")
    return UnavailableError(
        f"{endpoint} could not be reached, or broke off: there may be no network. The tokenizer of "
        f"{name.short} is downloaded from there, once; after that it needs no network. Connect the "
        "computer that BPE Explorer runs on and try again, or open the model’s tokenizer.json as a "
        "file."
    )


def _strange(endpoint: str) -> UnavailableError:
    return UnavailableError(
        f"{endpoint} does not answer as the hub does. Check HF_ENDPOINT, and whether the network "
        "asks you to sign in."
    )
