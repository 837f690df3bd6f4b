"""Load and save tokenizers in every supported format.

Writing raises `ConfigError` if, read back from that format, the tokenizer would encode differently.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from bpe_core.checks import counted, describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, FormatError, MissingFileError, explain
from bpe_core.files import make_folder, write_whole
from bpe_core.formats import (
    gpt2_files,
    huggingface,
    native,
    sentencepiece_model,
    tiktoken_file,
)
from bpe_core.formats.across_words import write_sentencepiece
from bpe_core.formats.description import Description, check_not_overruled
from bpe_core.formats.folder_files import (
    FORMATS,
    choose_format,
    locate,
    naming,
    places_for,
    read_files_at,
)
from bpe_core.formats.gguf import gguf_vocabulary
from bpe_core.formats.published.catalogue import Published
from bpe_core.formats.published.hub_names import TEMPLATES
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TrainingRun
from bpe_core.types import Format

if TYPE_CHECKING:
    import tokenizers

_WRITERS: Final[Mapping[Format, tuple[str, Callable[[Tokenizer], bytes]]]] = {
    "huggingface": (huggingface.FILE_NAME, huggingface.write_huggingface),
    "tiktoken": (tiktoken_file.FILE_NAME, tiktoken_file.write_tiktoken),
    "gguf": (gguf_vocabulary.FILE_NAME, gguf_vocabulary.write_gguf),
    "sentencepiece": (sentencepiece_model.FILE_NAME, write_sentencepiece),
}
"""The name and the writer of each other format of one file."""


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
    if tokenizer.table.removals:
        raise ConfigError(
            f"Training removed {counted(len(tokenizer.table.removed), 'token')} again (PickyBPE), "
            f"and the format {format} is a plain list of merges, which cannot say so. Save it in "
            "BPE Explorer's own format, native, in a file named like mine.bpe.json."
        )
    if format == "gpt2":
        return gpt2_files.write_gpt2_files(tokenizer)
    if format == "transformers":
        return huggingface.write_transformers(tokenizer)
    if format not in _WRITERS:
        raise ConfigError(f"Unknown format {format!r}. Use one of {', '.join(FORMATS)}.")
    name, write = _WRITERS[format]
    return {name: write(tokenizer)}


def loads(
    files: Mapping[str, bytes],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Build a tokenizer from its files; the format is recognised from their content.

    Files that transformers keeps next to a vocabulary, such as tokenizer_config.json, add tokens
    and say how text is cut. Pass `pretokenizer` and `special_tokens` for formats that do not store
    them; a .tiktoken file needs the former, unless it is a published one. Raises `FormatError` if
    the files are not a tokenizer, and `ConfigError` if an argument is missing or contradicts the
    file.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> loads(dumps(tokenizer, "native")) == tokenizer
    True
    """
    from bpe_core.formats.opening.engines import build_tokenizer

    return _build(build_tokenizer, files, pretokenizer, special_tokens)


def read_merges(
    files: Mapping[str, bytes],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Build the tokenizer of a file's merges, which adapting changes; raises what `loads` raises.

    Its special tokens are all added tokens.
    """
    from bpe_core.formats.opening.engines import build_merges

    return _build(build_merges, files, pretokenizer, special_tokens)


def _build(
    build: Callable[[Description], Tokenizer],
    files: Mapping[str, bytes],
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None,
) -> Tokenizer:
    # Imported when needed: writing a file needs no reader.
    from bpe_core.formats.opening.opening import read_description

    read = read_description(files, pretokenizer, special_tokens)
    tokenizer = build(read)
    if read.names_cut or read.library == "tokenizers":
        check_not_overruled(read.name, tokenizer.merged_by, pretokenizer, special_tokens)
    return tokenizer


def from_huggingface(tokenizer: tokenizers.Tokenizer) -> Tokenizer:
    """Return the tokenizer that encodes as one of `tokenizers` does; raises `FormatError`.

    >>> import tokenizers
    >>> model = tokenizers.models.BPE(vocab={"h": 0, "u": 1, "hu": 2}, merges=[("h", "u")])
    >>> from_huggingface(tokenizers.Tokenizer(model)).encode("huh")
    [2, 0]
    """
    if not hasattr(tokenizer, "to_str"):
        raise ArgumentTypeError(
            f"Expected a tokenizers.Tokenizer, got {describe(tokenizer)}. For a tokenizer of "
            "transformers, pass its backend_tokenizer."
        )
    return loads({"tokenizer.json": tokenizer.to_str().encode()})


def save(
    tokenizer: Tokenizer | TrainingRun,
    path: str | os.PathLike[str],
    format: Format | None = None,
) -> None:
    """Write a tokenizer, or that of a run, in the format that the path's name says, or in `format`.

    `.tiktoken`, `.gguf`, `.model` (SentencePiece) and `.bpe.json` (native) say their format, a
    folder is written for transformers, and any other name in Hugging Face's format. A format with
    several files, or an existing folder, puts them in a folder. Warns if `format` does not fit the
    name, and of a .tiktoken file whose special tokens, which it does not hold, have ids between
    those of other tokens. Each file is renamed into place, so no reader ever sees half of one.
    Raises `ConfigError`, and writes nothing, if the format cannot express the tokenizer.

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
            if place.parent.name == TEMPLATES.strip("/"):
                make_folder(place.parent)
            write_whole(place, data)
    except ValueError:
        raise FormatError(_no_path(path)) from None
    except OSError as error:
        raise FormatError(
            f"{path} cannot be written: {explain(error, 'Choose another path.')}"
        ) from None
    return places


def load(
    path: str | os.PathLike[str],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Read a tokenizer from a file or a folder; raises what `loads` raises.

    For GPT-2's two files, name either of them or their folder. "hf:org/model" is the tokenizer of a
    model on Hugging Face's hub, as for `open_encoder`. Raises `MissingFileError` for a path that
    does not exist; published tokenizers, such as "llama3", are opened by `open_encoder`.

    >>> load("no-such-file.json")
    Traceback (most recent call last):
    bpe_core.errors.MissingFileError: no-such-file.json does not exist. Check the path.
    """
    _path(path)
    folder, _ = locate(path)
    try:
        files = read_files_at(folder)
    except MissingFileError:
        raise MissingFileError(_missing(path)) from None
    # Imported when needed: writing a file needs neither.
    from bpe_core.formats.opening.open_encoder import open_kept
    from bpe_core.tokenizer import NamedEncoder

    with naming(path):
        if special_tokens is not None:
            return loads(files, pretokenizer, special_tokens)
        loaded = open_kept(
            "load", files, pretokenizer, lambda: NamedEncoder("", loads(files, pretokenizer))
        )
    return cast("Tokenizer", loaded.encoder)


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
    if Published.known_name(name) is not None:
        return (
            f"load reads files, and there is none called {name!r}. Call "
            f"bpe_core.open_encoder({name!r}) instead."
        )
    return f"{path} does not exist. Check the path."


def _no_path(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)!r} is not a path: it contains a NUL or a lone surrogate."
