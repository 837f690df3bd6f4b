"""Choose the format of a tokenizer's file by its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple, get_args

from bpe_core.errors import ConfigError
from bpe_core.formats.folder_files import PAIRS
from bpe_core.types import Format

FORMATS: Final[tuple[Format, ...]] = get_args(Format)
DEFAULT: Final[Format] = "huggingface"

# The first ending that fits counts.
_ENDINGS: Final[Mapping[str, Format]] = {
    ".bpe.json": "native",
    ".json": "huggingface",
    ".tiktoken": "tiktoken",
    ".gguf": "gguf",
    ".model": "sentencepiece",
}
_GPT2_NAMES: Final = frozenset(name for pair in PAIRS for name in pair)


class Choice(NamedTuple):
    """The format to write."""

    format: Format
    note: str | None
    """What to tell the user if the format does not fit the name."""


def choose_format(path: str | os.PathLike[str], format: Format | None = None) -> Choice:
    """Return `format`, or else the format that the path's name says, or else Hugging Face's.

    Raises `ConfigError` for an unknown format, and for the name of one of GPT-2's two files.

    >>> choose_format("mine.tiktoken").format, choose_format("mine").format
    ('tiktoken', 'huggingface')
    >>> choose_format("mine.tiktoken", "gguf").note
    'mine.tiktoken is written in the format gguf, although its name says tiktoken.'
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"Unknown format {format!r}. Use one of {', '.join(FORMATS)}.")
    name, named = Path(path).name, format_by_name(path)
    if name in _GPT2_NAMES and named != "transformers" and format in (None, "gpt2"):
        raise ConfigError(
            f"{name} is one of two files of the format gpt2. Name their folder, and the format."
        )
    if format is None:
        ending = Path(path).suffix
        note = None
        if named is None and ending[1:2].isalpha():
            note = f"No format is written as {ending}: {name} is written in the format {DEFAULT}."
        return Choice(named or DEFAULT, note)
    is_other_json = format == "native" and named == "huggingface" and name != "tokenizer.json"
    if is_other_json or named in (None, "transformers", format):
        return Choice(format, None)
    return Choice(
        format, f"{name} is written in the format {format}, although its name says {named}."
    )


def format_by_name(path: str | os.PathLike[str]) -> Format | None:
    """Return the format that a path's name says, or None; a folder is one for transformers.

    >>> format_by_name("a/tokenizer.json"), format_by_name("a/"), format_by_name("a/run.zip")
    ('huggingface', 'transformers', None)
    """
    if is_folder(path):
        return "transformers"
    name = Path(path).name.lower()
    return next((format for end, format in _ENDINGS.items() if name.endswith(end)), None)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return True if there is a folder at a path, or the path ends as that of a folder does.

    >>> is_folder("missing/"), is_folder("missing")
    (True, False)
    """
    return os.fspath(path).endswith(os.sep) or Path(path).is_dir()
