"""Open tokenizers by name, say what a name stands for, and fetch in the background what is missing.

A name is that of a published tokenizer, such as "llama3" or "gpt-4o", or of a model on Hugging
Face's hub, such as "hf:org/model". Keys of the shelf are such names in one spelling.

Opening a link fetches nothing: it puts names on the shelf, and those that are not on this server
yet get a button.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

import streamlit as st

from bpe_core import Tokenizer
from bpe_core.errors import BpeError, ConfigError, UnavailableError
from bpe_core.formats import (
    CATALOGUE,
    FetchProgress,
    HubName,
    Published,
    fetch,
    open_encoder,
    read_files_at,
)
from bpe_core.tokenizer import NamedEncoder, gpt2
from bpe_core.views import token_for_browser
from ui.host import cached, settings
from ui.look import plain_markdown, size_text
from ui.shell import workspace
from ui.storage import open_uploaded
from ui.work import Progress, Task, UnknownWorkError, WorkKind, how_far, queue, watch_work

BY_NAME: tuple[str, ...] = tuple(name for name in CATALOGUE if name != "gpt2")
"""The names of the published tokenizers that are fetched; GPT-2's comes with the app."""
_KINDS: Final = "tree|commit|blob|resolve|raw"
"""What follows the name of a model in the addresses of its pages."""
_PAGE: Final = re.compile(
    r"https?://(?:www\.)?(?:huggingface\.co|hf\.co)"
    rf"/([^/?#]+(?:/(?!(?:{_KINDS})(?:[/?#]|$))[^/?#]+)?)(?:/(?:{_KINDS})/([^/?#]+))?.*"
)

_open_published = cached(spinner="Opening a tokenizer")(open_encoder)
FETCH: Final = WorkKind[Progress, str]("tokenizers", max_waiting=32, max_per_visitor=4)
"""By key; the result is the pinned key."""


class NotAllowedError(BpeError):
    """A model on the hub that this server does not fetch."""


def read_name(text: str) -> str:
    """Return the key of a tokenizer that is given by name, or by a model's page on the hub.

    Raises ConfigError if it is neither.

    >>> read_name("gpt-4o"), read_name("org/model"), read_name("hf:org/model@v1")
    ('gpt4o', 'hf:org/model@main', 'hf:org/model@v1')
    >>> read_name("https://huggingface.co/org/model/tree/v2")
    'hf:org/model@v2'
    >>> read_name("https://huggingface.co/org/model/blob/v2/tokenizer.json")
    'hf:org/model@v2'
    >>> read_name("https://huggingface.co/gpt2/tree/main")
    'gpt2'
    """
    text = text.strip()
    if page := _PAGE.fullmatch(text):
        if page[1].startswith(("datasets/", "spaces/")):
            raise ConfigError(
                f"{text!r:.80} is the page of a data set or a space, which has no tokenizer. "
                "Expected the page of a model."
            )
        name, revision = page[1], page[2]
        if "/" in name:
            text = f"hf:{name}" + (f"@{revision}" if revision else "")
        elif revision in (None, "main"):  # an old name, without an organisation
            text = name
    if (listed := Published.listed_name(text)) is not None:
        return listed
    if HubName.fits(text) or "/" in text:
        return str(HubName.parse(text))
    found = f"{text!r:.80} is not a name that is known here" if text else "There is no name"
    raise ConfigError(
        f"{found}. Expected a model on Hugging Face’s hub, "
        "such as org/model, or one of OpenAI’s, such as gpt-4o."
    )


def is_by_name(key: str) -> bool:
    """Return whether a key of the shelf is a name, other than GPT-2's."""
    return HubName.fits(key) or (key != "gpt2" and Published.known_name(key) is not None)


def is_here(key: str) -> bool:
    """Return whether the tokenizer of a name can be opened without the network.

    Raises NotAllowedError for a model on the hub that this server does not fetch.
    """
    if not HubName.fits(key):
        return Published.named(key).state != "missing"
    name = HubName.parse(key)
    if not any(fnmatchcase(name.repo, pattern) for pattern in settings().hub):
        allowed = ", ".join(settings().hub) or "none"
        raise NotAllowedError(
            f"{name.repo} is not among the models that this server fetches by name ({allowed}). "
            "Add its tokenizer.json from a file."
        )
    return name.cached() is not None


def short_name(key: str) -> str:
    """Return what to call a tokenizer before it is opened.

    >>> short_name("llama3"), short_name(f"hf:org/model@{'a' * 40}")
    ('Llama 3', 'org/model@aaaaaaaa')
    """
    return HubName.parse(key).short if HubName.fits(key) else Published.named(key).title


def pinned(key: str) -> str:
    """Return a key with the commit that is here, for a model on the hub; any other as it is."""
    found = HubName.parse(key).cached() if HubName.fits(key) else None
    return key if found is None else str(found)


def format_label(name: str) -> str:
    """Return a name's line in the list: title, publisher, and whether it is here.

    >>> format_label("llama3").split(" (")[0]
    'Llama 3'
    """
    found = CATALOGUE[name]
    return f"{found.title} ({found.publisher}): {_state(found)}"


def licence_line(name: str) -> str:
    """Return the sentence on publisher, licence and download that is shown next to a choice.

    >>> licence_line("llama3").split(".")[0]
    'Published by Meta under the Llama 3 Community License'
    """
    found = CATALOGUE[name]
    kind = found.licence
    if not kind.endswith(("License", "Terms of Use")):
        kind += " license"
    line = f"Published by {found.publisher} under the {kind}."
    if found.state == "missing":
        size = size_text(found.download_bytes)
        line += f" Adding it downloads {size}, once; then it needs no network."
    return line


def download_words(names: Sequence[str]) -> str:
    """Return which of the tokenizers are on this server, and which a click downloads.

    >>> download_words(["gpt2"])
    'GPT-2: on this server.'
    """
    here = [CATALOGUE[name].title for name in names if CATALOGUE[name].state != "missing"]
    sentences = [f"{', '.join(here)}: on this server."] if here else []
    for name in names:
        found = CATALOGUE[name]
        if found.title not in here:
            size = size_text(found.download_bytes)
            sentences.append(f"{found.title} needs a download ({size}, once).")
    return " ".join(sentences)


def open_by_name(key: str) -> NamedEncoder:
    """Open the tokenizer of a name, which must be here.

    Raises UnavailableError if it is not, and NotAllowedError as `is_here`.
    """
    # Checked every time: its files may have been deleted since it was opened.
    if not is_here(key):
        raise UnavailableError(f"{short_name(key)} is not on this server yet.")
    if not HubName.fits(key):
        return _open_published(key)
    key = pinned(key)
    # A commit never changes, but files of it that the cache lacked may have been fetched.
    files = HubName.parse(key).folder().iterdir()
    return _open_model(key, tuple(sorted(file.name for file in files)))


@cached(spinner="Opening a tokenizer")
def _open_model(key: str, files: tuple[str, ...]) -> NamedEncoder:
    del files  # tells results apart
    name = HubName.parse(key)
    return name.naming(open_uploaded(hub_files(name), None))


def hub_files(name: HubName) -> dict[str, bytes]:
    """Return the files of a model's tokenizer; raise what `read_files_at` raises."""
    return read_files_at(name.folder(), name.short)


def _state(found: Published) -> str:
    if found.package is None:
        return "installed"
    if found.state == "here":
        return "downloaded"
    return f"not downloaded, {size_text(found.download_bytes)}"


@dataclass(frozen=True, slots=True)
class Downloads:
    """What this session fetches."""

    keys: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    """The keys of downloads that failed, until another begins or the shelf changes."""


def begin_download(key: str) -> None:
    """Begin to fetch the tokenizer of a name; raise NotAllowedError or TooMuchWorkError."""
    is_here(key)  # raises if it may not be fetched
    if key not in workspace.get(Downloads).keys:
        _forget_ended(key)
        queue.begin(FETCH, key, partial(_fetch, key))
        keys = (*workspace.get(Downloads).keys, key)
        workspace.update(Downloads, keys=keys, failed=())


def end_downloads(found: Callable[[str, str], None], failed: Callable[[str], None]) -> None:
    """Call `found` with the key and the pinned key of each finished download, or `failed`."""
    for key in workspace.get(Downloads).keys:
        try:
            status = queue.status(FETCH, key)
        except UnknownWorkError as error:
            _drop(key)
            failed(f"{short_name(key)} could not be added. {error}")
            continue
        if status.is_live:
            continue
        _drop(key)
        if status.result is not None:
            found(key, pinned(status.result))
        elif status.problem is not None:
            failed(f"{short_name(key)} could not be added. {status.problem}")
            workspace.update(Downloads, failed=(*workspace.get(Downloads).failed, key))


def draw_downloads() -> None:
    """Draw a bar and a button to cancel for each download, and the pages of models that failed."""
    for key in filter(HubName.fits, workspace.get(Downloads).failed):
        name = HubName.parse(key)
        st.link_button(f"{plain_markdown(name.repo)} on the hub", name.page)
    for number, key in enumerate(workspace.get(Downloads).keys):
        what = f"Fetching {plain_markdown(short_name(key))}"
        describe = partial(how_far, what, size_text)
        watch_work(FETCH, key, describe, key=f"download_{number}")


def _drop(key: str) -> None:
    keys = tuple(other for other in workspace.get(Downloads).keys if other != key)
    workspace.update(Downloads, keys=keys)


def _forget_ended(key: str) -> None:
    """Forget an earlier download of the same name, so that it can begin again."""
    status = queue.find(FETCH, key)
    if status is not None and not status.is_live:
        queue.forget(FETCH, key)


def _fetch(key: str, task: Task[Progress]) -> str:
    def follow(step: FetchProgress) -> None:
        task.report(Progress(step.done_bytes, step.total_bytes))

    try:
        return fetch(key, follow, lambda: task.is_cancelled, asks_hub=bool(settings().hub))
    except UnavailableError:
        # An older commit will do.
        if is_here(key):
            return key
        raise


@dataclass(frozen=True, slots=True)
class ModelReading:
    """A text as a model reads it: each token's id, and its text or else its bytes."""

    text: str
    model: str
    ids: tuple[int, ...]
    tokens: tuple[str | list[int], ...]


def read_as(model: str, encoder: Tokenizer | NamedEncoder, text: str) -> ModelReading:
    """Return a text as the model of this name reads it."""
    ids = tuple(encoder.encode(text))
    return ModelReading(text, model, ids, tuple(token_for_browser(encoder.vocab[id]) for id in ids))


def read_as_model(text: str) -> ModelReading:
    """Return a text as GPT-4o reads it, or as GPT-2 where GPT-4o's tokens are not on this server.

    >>> read_as_model("hugs").text
    'hugs'
    """
    try:
        return read_as("GPT-4o", open_by_name("gpt4o"), text)
    except UnavailableError:
        return read_as("GPT-2", gpt2(), text)
