"""What a run's settings give on folders that training never saw, stored with the run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.spans import Place
from bpe_core.formats.native import tokenizer_from_dict, tokenizer_to_dict
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.storage.packed_json import named_damage, read_packed, write_packed

_FILE = "by_folder.json.gz"


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """A tokenizer trained with a run's settings while whole folders were held out."""

    tokenizer: Tokenizer
    held_out: Corpus
    """The documents of those folders."""


def write_folder_check(folder: Path, check: FolderCheck) -> None:
    """Write a check into the folder of its run; raises OSError."""
    held_out = check.held_out
    stored = {
        "tokenizer": tokenizer_to_dict(check.tokenizer),
        "documents": list(held_out.documents),
        "names": held_out.names,
        "units": held_out.units,
        "how": None if held_out.how is None else asdict(held_out.how),
    }
    write_packed(folder / _FILE, stored)


def read_folder_check(folder: Path) -> FolderCheck | None:
    """Return the check that is stored with a run, or None; raises FormatError if it is damaged."""
    with named_damage("The check on held-out folders"):
        if not (folder / _FILE).is_file():
            return None
        stored = read_packed(folder, _FILE)
        documents = tuple(map(str, stored["documents"]))
        held_out = Corpus(
            documents,
            tuple(map(str, stored["names"])),
            places=(Place(0, 1),) * len(documents),
            units=tuple(map(int, stored["units"])),
            how=HeldOut(**stored["how"]),
        )
        return FolderCheck(tokenizer_from_dict(stored["tokenizer"]), held_out)
