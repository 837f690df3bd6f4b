"""Load and save tokenizers, whatever their format.

Where a format cannot hold a tokenizer so that other tools encode as it does, writing raises
`ConfigError`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from bpe_core.checks import is_a, said
from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats import gpt2_files, native, tiktoken_file
from bpe_core.formats.reading import looks_like_json, parse_json
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.whole_files import make_folder, write_whole

Format = Literal["huggingface", "gpt2", "tiktoken", "native"]
FORMATS: tuple[Format, ...] = get_args(Format)

__all__ = [
    "FORMATS",
    "Format",
    "check_not_overruled",
    "dumps",
    "load",
    "loads",
    "save",
    "write_files",
]

# The pairs of names that tools give GPT-2's two files.
_PAIRS = (
    (gpt2_files.VOCABULARY, gpt2_files.MERGES),
    ("encoder.json", "vocab.bpe"),
)


def dumps(tokenizer: Tokenizer, format: Format) -> dict[str, bytes]:
    """Return the files that a tokenizer is in a format, as file name -> bytes.

    Raises `ConfigError` where the format cannot hold the tokenizer.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> list(dumps(tokenizer, "gpt2"))
    ['vocab.json', 'merges.txt']
    """
    if not is_a(tokenizer, Tokenizer):
        raise ConfigError(
            f"What was given as the tokenizer is {said(tokenizer)}: give a Tokenizer."
        )
    if format == "native":
        return {native.FILE_NAME: native.to_json(tokenizer)}
    if format == "gpt2":
        return gpt2_files.write_gpt2_files(tokenizer)
    if format == "tiktoken":
        return {tiktoken_file.FILE_NAME: tiktoken_file.write_tiktoken(tokenizer)}
    if format == "huggingface":
        # Imported when needed: the tokenizers library takes 40 ms.
        from bpe_core.formats import huggingface

        return {huggingface.FILE_NAME: huggingface.write_huggingface(tokenizer)}
    raise ConfigError(f"There is no format {format!r}. Use one of {', '.join(FORMATS)}.")


def loads(
    files: Mapping[str, bytes],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Build the tokenizer that files hold, whichever of the formats they are in.

    `pretokenizer` and `special_tokens` are for formats that don't hold them: a .tiktoken file needs
    the first. Raises `FormatError` for anything that is no tokenizer, and `ConfigError` where what
    is given contradicts the file or is missing.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> loads(dumps(tokenizer, "native")) == tokenizer
    True
    """
    if len(files) == 2:
        first, second = sorted(files, key=lambda name: not name.endswith(".json"))
        return gpt2_files.read_gpt2_files(
            files[first],
            files[second],
            pretokenizer=pretokenizer or "gpt2",
            special_tokens=special_tokens,
        )
    if len(files) != 1:
        raise FormatError(
            f"A tokenizer is one file, or two ({gpt2_files.VOCABULARY} and {gpt2_files.MERGES}); "
            f"these are {len(files)}."
        )
    ((name, data),) = files.items()
    for vocabulary, merges in _PAIRS:
        if name == merges:
            raise FormatError(
                f"{name} holds merges alone. Give their vocabulary with it, {vocabulary}."
            )
    if not looks_like_json(data, name):
        try:
            tiktoken_file.read_ranks(data.lstrip().partition(b"\n")[0])
        except FormatError as error:
            raise FormatError(
                f"{name} is no tokenizer's file: neither JSON nor a .tiktoken file. {error}"
            ) from None
        return tiktoken_file.read_tiktoken(
            data, pretokenizer=pretokenizer, special_tokens=special_tokens
        )
    described = parse_json(data, name)
    if "model" in described:
        from bpe_core.formats import huggingface

        tokenizer = huggingface.read_huggingface(data)
    elif "format" in described:
        tokenizer = native.tokenizer_from_dict(described)
    else:
        raise FormatError(
            f"{name} is JSON, but neither a tokenizer.json nor one of BPE Explorer's. If it is "
            f"GPT-2's vocabulary, give its merges with it."
        )
    check_not_overruled(name, tokenizer, pretokenizer, special_tokens)
    return tokenizer


def check_not_overruled(
    name: str,
    tokenizer: Tokenizer,
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None,
) -> None:
    """Raise `ConfigError` where a tokenizer has another pre-tokenizer or other special tokens.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> check_not_overruled("gpt2", gpt2(), "gpt2", None)
    """
    if pretokenizer not in (None, tokenizer.pretokenizer.name):
        raise ConfigError(
            f"{name} says that its pre-tokenizer is {tokenizer.pretokenizer.name!r}, not "
            f"{pretokenizer!r}. Leave pretokenizer out."
        )
    if special_tokens is not None and dict(special_tokens) != dict(tokenizer.special_tokens):
        raise ConfigError(f"{name} holds its own special tokens. Leave special_tokens out.")


def save(
    tokenizer: Tokenizer, path: str | os.PathLike[str], format: Format = "huggingface"
) -> None:
    """Write a tokenizer to a file, or where the format has two or `path` is a folder, into it.

    No reader ever sees half a file: each is renamed into place. Raises `ConfigError` where the
    format cannot hold the tokenizer, and then writes nothing.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(tokenizer, Path(folder, "mine.json"), format="native")
    ...     load(Path(folder, "mine.json")) == tokenizer
    True
    """
    write_files(dumps(tokenizer, format), path)


def write_files(files: Mapping[str, bytes], path: str | os.PathLike[str]) -> list[Path]:
    """Write what `dumps` returned, as `save` does, and return where each file is now.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [written.name for written in write_files({"tokenizer.json": b"{}"}, folder)]
    ['tokenizer.json']
    """
    target = _path(path)
    try:
        if len(files) > 1:
            make_folder(target)
        places = [target / name if target.is_dir() else target for name in files]
        for place, data in zip(places, files.values(), strict=True):
            write_whole(place, data)
    except ValueError:
        raise FormatError(_no_path(path)) from None
    except OSError as error:
        raise FormatError(
            f"{path} cannot be written: {error.strerror}. Give another place."
        ) from None
    return places


def load(
    path: str | os.PathLike[str],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Read a tokenizer from a file or a folder; raises what `loads` raises.

    Of GPT-2's two files, either may be named where the other lies beside it.

    >>> load("no-such-file.json")
    Traceback (most recent call last):
    bpe_core.errors.FormatError: no-such-file.json cannot be read: No such file or \
directory. Check the path.
    """
    source = _path(path)
    try:
        files = {file.name: file.read_bytes() for file in _files_of(source)}
    except ValueError:
        raise FormatError(_no_path(path)) from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    return loads(files, pretokenizer, special_tokens)


def _files_of(source: Path) -> list[Path]:
    folder = source if source.is_dir() else source.parent
    for vocabulary, merges in _PAIRS:
        pair = [folder / vocabulary, folder / merges]
        if (source.is_dir() or source in pair) and all(file.is_file() for file in pair):
            return pair
    if not source.is_dir():
        return [source]
    for name in (native.FILE_NAME, "tokenizer.json", tiktoken_file.FILE_NAME):
        if (source / name).is_file():
            return [source / name]
    for pair in _PAIRS:
        found = [name for name in pair if (source / name).is_file()]
        if found:
            (missing,) = set(pair) - set(found)
            raise FormatError(
                f"The folder {source} holds {found[0]} and lacks {missing}: give both."
            )
    raise FormatError(f"The folder {source} holds no file that is named as a tokenizer's.")


def _path(path: str | os.PathLike[str]) -> Path:
    """Take a path; an empty one is none, though Python reads it as the folder one stands in."""
    if not is_a(path, str, os.PathLike):
        raise FormatError(f"The path is {said(path)}: give a str or a pathlib.Path.")
    if not os.fspath(path):
        raise FormatError("The path is empty: name a file or a folder, '.' for this one.")
    return Path(path)


def _no_path(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)!r} is no path: it holds a NUL or a lone surrogate. Give another."
