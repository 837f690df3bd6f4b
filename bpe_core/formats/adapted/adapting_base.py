"""Open a tokenizer together with its files, to write them again with another vocabulary."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bpe_core.adapting.extend import extendable
from bpe_core.errors import BpeError, FormatError, MissingFileError
from bpe_core.formats import huggingface
from bpe_core.formats.adapted.adapted_files import BESIDE
from bpe_core.formats.adapted.adapted_gguf import vocabulary_alone
from bpe_core.formats.folder_files import PAIRS, SIDECARS, read_files_at
from bpe_core.formats.gguf.gguf_header import MAGIC, mapped
from bpe_core.formats.load_save import dumps, read_merges
from bpe_core.formats.opening.open_encoder import open_encoder, open_published
from bpe_core.published.cache import cached_state, read_cached
from bpe_core.published.catalogue import CATALOGUE, find_published, published
from bpe_core.published.hub import find_or_fetch
from bpe_core.published.hub_names import is_hub_name, snapshot_folder
from bpe_core.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """A tokenizer to adapt, and the files that it came in."""

    tokenizer: Tokenizer
    files: Mapping[str, bytes] = field(repr=False)


def open_base(
    path_or_name: str | os.PathLike[str],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> BaseFiles:
    """Open a tokenizer to adapt: a path, the name of a published one, or a model on the hub.

    For a folder, `files` also has tokenizer_config.json, special_tokens_map.json, added_tokens.json
    and the chat template. A folder with a tokenizer.json is read from that file, and `files` also
    has its vocab.json and merges.txt, which contain less. Added tokens that match ordinary text,
    such as DeepSeek's, do not matter here: training reads a corpus as text without special tokens.
    The same holds for those of Gemma, which are found before characters are merged across words.
    For a GGUF file, however large, `files` has the keys without the tensors. Raises `FormatError`
    for a tokenizer that bpe_core cannot run, and what `load` and `open_encoder` raise.

    >>> base = open_base("gpt2")
    >>> base.tokenizer.vocab_size, list(base.files)
    (50257, ['vocab.json', 'merges.txt'])
    """
    name, path = str(path_or_name), Path(path_or_name)
    if is_hub_name(name):
        path = snapshot_folder(find_or_fetch(name))
    if not path.exists() and (known := find_published(name)) is not None:
        return _published(known)
    try:
        if path.is_file() and _head(path) == MAGIC:
            with mapped(path) as view:
                name, keys = vocabulary_alone(view, path.name)
            files = {path.name: keys}
            merges = read_merges(files, pretokenizer, special_tokens, across_words=True)
            return BaseFiles(merges, {name: keys})
        described = read_files_at(path)
        beside = [path / name for name in BESIDE] if path.is_dir() else []
        if path.is_dir() and huggingface.FILE_NAME in described:
            for pair in PAIRS:
                if all((path / name).is_file() for name in pair):
                    beside += [path / name for name in pair]
        companions = {file.name: file.read_bytes() for file in beside if file.is_file()}
    except BpeError:
        raise
    except FileNotFoundError:
        raise MissingFileError(f"{path} does not exist. Check the path.") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    files = {name: data for name, data in described.items() if name not in SIDECARS}
    merges = read_merges(described, pretokenizer, special_tokens, across_words=True)
    return BaseFiles(merges, {**files, **companions})


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MAGIC))


def _published(name: str) -> BaseFiles:
    found = published(name)
    if name not in CATALOGUE or found.encoding is not None:
        # The file lacks some of its tokens.
        encoder = open_encoder(name).encoder
        assert isinstance(encoder, Tokenizer)
        return BaseFiles(encoder, dumps(encoder, "huggingface"))
    if found.package is None or cached_state(found) == "missing":
        encoder = open_published(found).encoder  # raises if it was not fetched
        assert isinstance(encoder, Tokenizer)
        return BaseFiles(encoder, dumps(encoder, "gpt2" if found.package is None else "tiktoken"))
    files = {found.file_name: read_cached(found)}
    if found.file_name.endswith(".json"):
        return BaseFiles(read_merges(files, across_words=True), files)
    return BaseFiles(extendable(open_published(found)), files)
