"""Load and save tokenizers in every supported format.

Writing raises `ConfigError` if, read back from that format, the tokenizer would encode differently.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, BpeError, ConfigError, FormatError, MissingFileError
from bpe_core.formats import gguf_file, gpt2_files, native, tiktoken_file
from bpe_core.formats.format_by_name import FORMATS, Format, choose_format, is_folder
from bpe_core.formats.gguf_header import GgufValue, looks_like_gguf, parse_gguf, read_gguf
from bpe_core.formats.gguf_vocabulary import from_gguf
from bpe_core.formats.json_files import looks_like_json, parse_json
from bpe_core.formats.patterns import pretokenizer_of
from bpe_core.formats.sentencepiece_model import looks_like_sentencepiece
from bpe_core.formats.sidecars import SIDECARS, fold_sidecars, special_beside
from bpe_core.formats.tekken import looks_like_tekken, read_tekken
from bpe_core.formats.zipped import looks_like_zip, unzip_tokenizer
from bpe_core.published.catalogue import CATALOGUE
from bpe_core.published.tiktoken_names import TIKTOKEN_ENCODINGS
from bpe_core.runs.run import TrainingRun
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.whole_files import make_folder, write_whole

# In a folder, the first of these that exists, after GPT-2's two files and tokenizer.json.
_OTHERS = (tiktoken_file.FILE_NAME, gguf_file.FILE_NAME, "tekken.json", "tokenizer.model")

__all__ = [
    "FORMATS",
    "TOKENIZER_FILES",
    "Format",
    "check_not_overruled",
    "dumps",
    "load",
    "loads",
    "places_for",
    "save",
    "write_files",
]

TOKENIZER_FILES = (
    native.FILE_NAME,
    "tokenizer.json",
    *_OTHERS,
    *(name for pair in gpt2_files.PAIRS for name in pair),
)
"""The names of files that are read as a folder's tokenizer."""


def dumps(tokenizer: Tokenizer | TrainingRun, format: Format) -> dict[str, bytes]:
    """Return a tokenizer's files in one format, as file name -> bytes.

    Of a training run, the native format also records what it can be repeated with. Raises
    `ConfigError` if the format cannot express the tokenizer.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> list(dumps(tokenizer, "gpt2"))
    ['vocab.json', 'merges.txt']
    """
    record = None
    if isinstance(tokenizer, TrainingRun):
        record, tokenizer = tokenizer.to_dict(), tokenizer.tokenizer
    if not is_a(tokenizer, Tokenizer):
        raise ArgumentTypeError(f"Expected a Tokenizer, got {describe(tokenizer)}.")
    if format == "native":
        return {native.FILE_NAME: native.to_json(tokenizer, record)}
    if format == "gpt2":
        return gpt2_files.write_gpt2_files(tokenizer)
    if format == "tiktoken":
        return {tiktoken_file.FILE_NAME: tiktoken_file.write_tiktoken(tokenizer)}
    if format == "gguf":
        return {gguf_file.FILE_NAME: gguf_file.write_gguf(tokenizer)}
    if format == "huggingface":
        # Imported when needed: the tokenizers library takes 40 ms.
        from bpe_core.formats import huggingface

        return {huggingface.FILE_NAME: huggingface.write_huggingface(tokenizer)}
    if format == "transformers":
        from bpe_core.formats import transformers_folder

        return transformers_folder.write_transformers(tokenizer)
    raise ConfigError(f"Unknown format {format!r}. Use one of {', '.join(FORMATS)}.")


def loads(
    files: Mapping[str, bytes],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Build a tokenizer from its files; the format is recognised from their content.

    Files that transformers keeps next to a vocabulary, such as tokenizer_config.json, add tokens
    and say how text is cut. Pass `pretokenizer` and `special_tokens` for formats that do not store
    them; a .tiktoken file needs the former. Raises `FormatError` if the files are not a tokenizer,
    and `ConfigError` if an argument is missing or contradicts the file.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> loads(dumps(tokenizer, "native")) == tokenizer
    True
    """
    all_files, files = files, fold_sidecars(files, pretokenizer)
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
            f"Expected one file, or two ({gpt2_files.VOCABULARY} and {gpt2_files.MERGES}), "
            f"got {len(files)}."
        )
    ((name, data),) = files.items()
    for vocabulary, merges in gpt2_files.PAIRS:
        if name == merges:
            raise FormatError(
                f"{name} holds only merges. Add the vocabulary they belong to, {vocabulary}."
            )
    if looks_like_zip(data):
        return loads(unzip_tokenizer(data, name, SIDECARS), pretokenizer, special_tokens)
    if looks_like_sentencepiece(data):
        raise FormatError(
            f"{name} is a SentencePiece model, which plain byte-pair encoding cannot stand for. "
            f"Open it with bpe_core.open_encoder."
        )
    if looks_like_gguf(data):
        return _tokenizer_of_gguf(name, parse_gguf(data), pretokenizer, special_tokens)
    if not looks_like_json(data, name):
        try:
            tiktoken_file.read_ranks(data.lstrip().partition(b"\n")[0])
        except FormatError as error:
            raise FormatError(
                f"{name} is not a tokenizer: it is neither JSON nor a .tiktoken file. {error}"
            ) from None
        if special_tokens is None:
            special_tokens = special_beside(all_files)
        return tiktoken_file.read_tiktoken(
            data, pretokenizer=pretokenizer, special_tokens=special_tokens
        )
    described = parse_json(data, name)
    if "model" in described:
        from bpe_core.formats import huggingface

        tokenizer = huggingface.read_huggingface(data)
    elif looks_like_tekken(described):
        tokenizer = _tokenizer_of_tekken(name, described)
    elif "format" in described:
        tokenizer = native.tokenizer_from_dict(described)
    else:
        raise FormatError(
            f"{name} is JSON, but neither a tokenizer.json nor a BPE Explorer tokenizer. If it is "
            f"a vocab.json, add its merges.txt."
        )
    check_not_overruled(name, tokenizer, pretokenizer, special_tokens)
    return tokenizer


def _tokenizer_of_tekken(name: str, described: Mapping[str, Any]) -> Tokenizer:
    ranks = read_tekken(described)
    known = pretokenizer_of(ranks.pattern)
    if known.startswith("regex:"):
        raise FormatError(
            f"{name} cuts text by a pattern that has no exact equivalent here. Open it with "
            f"bpe_core.open_encoder."
        )
    return tiktoken_file.tokenizer_of_ranks(
        ranks.ids, pretokenizer=known, special_tokens=ranks.special_tokens
    )


def _tokenizer_of_gguf(
    name: str,
    keys: Mapping[str, GgufValue],
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None,
) -> Tokenizer:
    described = from_gguf(keys, pretokenizer)
    if isinstance(described, bytes):
        raise FormatError(
            f"{name} holds a SentencePiece model, which plain byte-pair encoding cannot stand for. "
            f"Open it with bpe_core.open_encoder."
        )
    from bpe_core.formats import huggingface

    tokenizer = huggingface.read_huggingface(json.dumps(described).encode())
    check_not_overruled(name, tokenizer, pretokenizer, special_tokens)
    return tokenizer


def check_not_overruled(
    name: str,
    tokenizer: Tokenizer,
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None,
) -> None:
    """Raise `ConfigError` if an argument contradicts what a loaded tokenizer already has.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> check_not_overruled("gpt2", gpt2(), "gpt2", None)
    """
    if pretokenizer not in (None, tokenizer.pretokenizer.name):
        raise ConfigError(
            f"The pre-tokenizer of {name} is {tokenizer.pretokenizer.name!r}, not "
            f"{pretokenizer!r}. Leave pretokenizer out."
        )
    if special_tokens is not None and dict(special_tokens) != dict(tokenizer.special_tokens):
        raise ConfigError(f"{name} has special tokens of its own. Leave special_tokens out.")


def save(
    tokenizer: Tokenizer | TrainingRun,
    path: str | os.PathLike[str],
    format: Format | None = None,
) -> None:
    """Write a tokenizer, or that of a run, in the format that the path's name says, or in `format`.

    `.tiktoken`, `.gguf` and `.bpe.json` (native) say their format, a folder is written for
    transformers, and any other name in Hugging Face's format. A format with several files, or an
    existing folder, puts them in a folder. Warns if `format` does not fit the name, and of a
    .tiktoken file whose special tokens, which it does not hold, have ids between those of other
    tokens. Each file is renamed into place, so no reader ever sees half of one. Raises
    `ConfigError`, and writes nothing, if the format cannot express the tokenizer.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(tokenizer, Path(folder, "mine.bpe.json"))
    ...     load(Path(folder, "mine.bpe.json")) == tokenizer
    True
    """
    _path(path)
    choice = choose_format(path, format)
    if choice.note is not None:
        warnings.warn(choice.note, stacklevel=2)
    write_files(dumps(tokenizer, choice.format), path)
    if isinstance(tokenizer, TrainingRun):
        tokenizer = tokenizer.tokenizer
    special = tokenizer.special_tokens.values() if choice.format == "tiktoken" else ()
    others = tokenizer.vocab.keys() - set(special)
    if any(min(others) < id < max(others) for id in special):
        warnings.warn(tiktoken_file.what_ranks_lack(tokenizer), stacklevel=2)


def write_files(files: Mapping[str, bytes], path: str | os.PathLike[str]) -> list[Path]:
    """Write the files that `dumps` returned, as `save` does, and return their paths.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [written.name for written in write_files({"tokenizer.json": b"{}"}, folder)]
    ['tokenizer.json']
    """
    places = places_for(files, path)
    try:
        if places != [_path(path)]:
            make_folder(_path(path))
        for place, data in zip(places, files.values(), strict=True):
            write_whole(place, data)
    except ValueError:
        raise FormatError(_no_path(path)) from None
    except OSError as error:
        raise FormatError(
            f"{path} cannot be written: {error.strerror}. Choose another path."
        ) from None
    return places


def places_for(names: Iterable[str], path: str | os.PathLike[str]) -> list[Path]:
    """Return where `write_files` writes files: `path` itself, or files in the folder `path`.

    >>> places_for(["vocab.json", "merges.txt"], "new")
    [PosixPath('new/vocab.json'), PosixPath('new/merges.txt')]
    """
    target, names = _path(path), [*names]
    if len(names) == 1 and not is_folder(path):
        return [target]
    return [target / name for name in names]


def load(
    path: str | os.PathLike[str],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Read a tokenizer from a file or a folder; raises what `loads` raises.

    For GPT-2's two files, name either of them or their folder. Raises `MissingFileError` for a path
    that does not exist; published tokenizers, such as "llama3", are opened by `open_encoder`.

    >>> load("no-such-file.json")
    Traceback (most recent call last):
    bpe_core.errors.MissingFileError: no-such-file.json does not exist. Check the path.
    """
    source = _path(path)
    try:
        if looks_like_gguf(_head(source)):
            return _tokenizer_of_gguf(source.name, read_gguf(source), pretokenizer, special_tokens)
        files = {file.name: file.read_bytes() for file in with_sidecars(source, files_of(source))}
    except BpeError:
        raise
    except ValueError:
        raise FormatError(_no_path(path)) from None
    except FileNotFoundError:
        raise MissingFileError(_missing(path)) from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    return loads(files, pretokenizer, special_tokens)


def files_of(source: Path) -> list[Path]:
    """Return the files of the tokenizer at a path; raises `FormatError` if a folder has none."""
    folder = source if source.is_dir() else source.parent
    for vocabulary, merges in gpt2_files.PAIRS:
        pair = [folder / vocabulary, folder / merges]
        if (source.is_dir() or source in pair) and all(file.is_file() for file in pair):
            return pair
    if not source.is_dir():
        return [source]
    for name in (native.FILE_NAME, "tokenizer.json", *_OTHERS):
        if (source / name).is_file():
            return [source / name]
    if len(ranks := sorted(source.glob("*.tiktoken"))) == 1:
        return ranks
    for pair in gpt2_files.PAIRS:
        found = [name for name in pair if (source / name).is_file()]
        if found:
            (missing,) = set(pair) - set(found)
            raise FormatError(f"The folder {source} has {found[0]} but not {missing}. Add it.")
    raise FormatError(f"The folder {source} has no tokenizer file, such as tokenizer.json.")


def with_sidecars(source: Path, files: Sequence[Path]) -> list[Path]:
    """Return a tokenizer's files and those next to them; only the first if one file was named."""
    if not source.is_dir() and len(files) == 1:
        return list(files)
    beside = [files[0].parent / name for name in SIDECARS]
    return [*files, *(file for file in beside if file.is_file())]


def _head(source: Path) -> bytes:
    """Return a file's first bytes; a GGUF file may be huge, so no more of it is read."""
    if not source.is_file():
        return b""
    with source.open("rb") as file:
        return file.read(4)


def _path(path: str | os.PathLike[str]) -> Path:
    """Return the path; refuse an empty one, which Python would read as the current folder."""
    if not is_a(path, str, os.PathLike):
        raise ArgumentTypeError(f"Expected a path (str or pathlib.Path), got {describe(path)}.")
    if not os.fspath(path):
        raise FormatError("The path is empty. Name a file or a folder ('.' for the current one).")
    return Path(path)


def _missing(path: str | os.PathLike[str]) -> str:
    """Return what to do about a path that does not exist; it may be a tokenizer's name."""
    if (name := os.fspath(path)) == "gpt2":
        return "load reads files, and there is none called 'gpt2'. Call bpe_core.gpt2() instead."
    if name in CATALOGUE or name in TIKTOKEN_ENCODINGS:
        return (
            f"load reads files, and there is none called {name!r}. Call "
            f"bpe_core.open_encoder({name!r}) instead."
        )
    return f"{path} does not exist. Check the path."


def _no_path(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)!r} is not a path: it contains a NUL or a lone surrogate."
