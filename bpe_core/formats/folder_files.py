"""Choose a tokenizer's files among those of a folder or a zip, and read those at a path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bpe_core.errors import FormatError
from bpe_core.formats.gguf.gguf_header import looks_like_gguf, mapped, without_tensors
from bpe_core.published.hub_names import PAIR, SIDECARS

PAIRS: Final = (PAIR, ("encoder.json", "vocab.bpe"))
"""The two pairs of names in use for GPT-2's vocabulary and its merges."""
CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, MODEL_CONFIG, CHAT_TEMPLATE = SIDECARS
JSON_SIDECARS: Final = (CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, MODEL_CONFIG)
"""The files next to a vocabulary that add tokens to it."""
_SETS: Final = (
    ("tokenizer.bpe.json",),
    ("tokenizer.json",),  # before GPT-2's two files, as in transformers: they contain less
    *PAIRS,
    ("tokenizer.tiktoken",),
    ("tokenizer.gguf",),
    ("tekken.json",),
    ("tokenizer.model",),
)
_ENDINGS: Final = (".tiktoken", ".model", ".gguf", ".json")
TOKENIZER_FILES: Final = tuple(name for names in _SETS for name in names)
"""The names of files that are read as a folder's tokenizer."""
MAX_BYTES: Final = 128_000_000
"""The largest file read; the largest tokenizers in use are a third of it."""


def choose_files(names: Sequence[str], where: str) -> list[str]:
    """Return the names of a tokenizer's files: the first complete set of the table above.

    If there is none, it is the only file with the ending of a format. Raises `FormatError` if
    there is no tokenizer or more than one.

    >>> choose_files(["merges.txt", "tokenizer.json", "vocab.json"], "The folder")
    ['tokenizer.json']
    """
    for wanted in _SETS:
        if all(name in names for name in wanted):
            if any(names.count(name) > 1 for name in wanted):
                raise FormatError(f"{where} has several {wanted[0]} files. Choose one tokenizer.")
            return [*wanted]
    for pair in PAIRS:
        missing = [name for name in pair if name not in names]
        if len(missing) == 1:
            (found,) = set(pair) - set(missing)
            raise FormatError(f"{where} has {found} but not {missing[0]}. Add it.")
    for ending in _ENDINGS:
        found = [name for name in names if name.endswith(ending) and name not in SIDECARS]
        if len(found) > 1:
            raise FormatError(f"{where} has several {ending} files. Choose one tokenizer.")
        if found:
            return found
    raise FormatError(f"{where} has no tokenizer file, such as tokenizer.json.")


def read_files_at(path: Path) -> dict[str, bytes]:
    """Return the files of the tokenizer at a path, as file name -> bytes.

    In a folder, and next to GPT-2's two files, they include those of `SIDECARS`. A GGUF file is
    read without its tensors. Of a file that is too large only the first
    bytes are read. Raises `FormatError` for a folder without a tokenizer, and `OSError` if a file
    cannot be read.
    """
    folder, names = path.parent, [path.name]
    if path.is_dir():
        folder = path
        listed = sorted(file.name for file in path.iterdir() if file.is_file())
        names = choose_files(listed, f"The folder {path}")
    for pair in PAIRS:
        if path.name in pair and all((folder / name).is_file() for name in pair):
            names = [*pair]
    if path.is_dir() or len(names) > 1:
        names += [name for name in SIDECARS if (folder / name).is_file()]
    return {name: _read(folder / name) for name in names}


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        if not looks_like_gguf(file.read(4)):
            file.seek(0)
            return file.read(MAX_BYTES + 1)
    with mapped(path) as view:
        return without_tensors(view)
