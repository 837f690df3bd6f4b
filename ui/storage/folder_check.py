"""What a run's settings give on folders that training never saw, stored with the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.spans import Place
from bpe_core.formats.native import tokenizer_from_dict, tokenizer_to_dict
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.storage.packed_json import (
    StoredCorpus,
    corpus_fields,
    named_damage,
    read_packed,
    write_packed,
)

_FILE = "by_folder.json.gz"


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """A tokenizer trained with a run's settings while whole folders were held out."""

    tokenizer: Tokenizer
    held_out: Corpus
    """The documents of those folders."""


class _Stored(StoredCorpus, frozen=True, kw_only=True):
    tokenizer: dict[str, Any]


def write_folder_check(folder: Path, check: FolderCheck) -> None:
    """Write a check into the folder of its run; raises OSError."""
    tokenizer = tokenizer_to_dict(check.tokenizer)
    write_packed(folder / _FILE, _Stored(tokenizer=tokenizer, **corpus_fields(check.held_out)))


def read_folder_check(folder: Path) -> FolderCheck | None:
    """Return the check that is stored with a run, or None; raises FormatError if it is damaged."""
    with named_damage("The check on held-out folders"):
        if not (folder / _FILE).is_file():
            return None
        stored = read_packed(folder, _FILE, _Stored)
        # Earlier versions stored no places: these are whole documents.
        places = stored.places or (Place(0, 1),) * len(stored.documents)
        held_out = msgspec.structs.replace(stored, places=places).corpus()
        return FolderCheck(tokenizer_from_dict(stored.tokenizer), held_out)
