"""Remember under which id the visitor's corpus is kept, for other tabs and after a reload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from bpe_core.files.store import is_id
from ui.shell import workspace

_SOURCES: Final = ("upload", "paste", "words")
"""Where a corpus can come from that is kept under an id."""


@dataclass(frozen=True, slots=True)
class GivenCorpus:
    """The corpus that this visitor gave last, in this tab or in another."""

    name: str | None = None
    """Its source and id, such as "upload=0123"; empty for none that is kept, None until known."""
    is_to_open: bool = False
    """Whether the browser has named it, and no form has been filled with it."""


def note_given(source: str, kept_id: str | None) -> None:
    """Remember the corpus that a form holds; without an id, that it holds none that is kept."""
    if kept_id or workspace.get(GivenCorpus).name is not None:
        workspace.update(GivenCorpus, name=f"{source}={kept_id}" if kept_id else "")


def note_found(found: object) -> None:
    """Remember the corpus in what the browser sent, which may be anything."""
    if workspace.get(GivenCorpus).name is not None or not isinstance(found, Mapping):
        return
    name = cast("Mapping[object, object]", found).get("corpus")
    source, _, kept_id = name.partition("=") if isinstance(name, str) else ("", "", "")
    is_valid = source in _SOURCES and is_id(kept_id)
    workspace.update(GivenCorpus, name=name if is_valid else "", is_to_open=is_valid)


def take_given() -> tuple[str, str] | None:
    """Return the source and the id that the browser named, once."""
    given = workspace.get(GivenCorpus)
    if not given.is_to_open:
        return None
    workspace.update(GivenCorpus, is_to_open=False)
    source, _, kept_id = (given.name or "").partition("=")
    return source, kept_id
