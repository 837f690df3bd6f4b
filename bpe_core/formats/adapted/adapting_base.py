"""Open a tokenizer together with its files, to write them again with another vocabulary."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from bpe_core.adapting import extendable
from bpe_core.formats import huggingface
from bpe_core.formats.adapted.adapted_gguf import vocabulary_alone
from bpe_core.formats.folder_files import PAIRS, locate, naming, read_files_at
from bpe_core.formats.gguf.gguf_header import looks_like_gguf, mapped
from bpe_core.formats.load_save import dumps, read_merges
from bpe_core.formats.opening.open_encoder import open_encoder, open_published
from bpe_core.published import CATALOGUE, find_published, is_sidecar, published, read_cached
from bpe_core.tokenizer import Tokenizer, gpt2


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

    For a folder, `files` also has tokenizer_config.json, special_tokens_map.json,
    added_tokens.json, config.json and the chat template. A folder with a tokenizer.json is read
    from that file, and `files` also has its vocab.json and merges.txt, which contain less. Added
    tokens that match ordinary text, such as DeepSeek's, do not matter here: training reads a corpus
    as text without special tokens. The same holds for those of Gemma, which are found before
    characters are merged across words. For a GGUF file, however large, `files` has the keys without
    the tensors. Raises `FormatError` for a tokenizer that bpe_core cannot run, and what `load` and
    `open_encoder` raise.

    >>> base = open_base("gpt2")
    >>> base.tokenizer.vocab_size, list(base.files)
    (50257, ['vocab.json', 'merges.txt'])
    """
    path, _ = locate(path_or_name)
    if not path.exists() and (known := find_published(str(path_or_name))) is not None:
        with naming(path_or_name):
            return _published(known)
    described = read_files_at(path)
    with naming(path_or_name):
        merges = read_merges(described, pretokenizer, special_tokens)
    files = {name: data for name, data in described.items() if not is_sidecar(name)}
    if path.is_file() and looks_like_gguf(described[path.name]):
        with mapped(path) as view:
            name, keys = vocabulary_alone(view, path.name)
        return BaseFiles(merges, {name: keys})
    if path.is_dir():
        files |= {name: data for name, data in described.items() if is_sidecar(name)}
        for pair in PAIRS if huggingface.FILE_NAME in files else ():
            if all((path / name).is_file() for name in pair):
                found = read_files_at(path / pair[0])
                files |= {name: found[name] for name in pair}
    return BaseFiles(merges, files)


def _published(name: str) -> BaseFiles:
    found = published(name)
    if name not in CATALOGUE or found.encoding is not None:
        # The file lacks some of its tokens.
        encoder = open_encoder(name).encoder
        assert isinstance(encoder, Tokenizer)
        return BaseFiles(encoder, dumps(encoder, "huggingface"))
    if found.package is None:
        return BaseFiles(gpt2(), dumps(gpt2(), "gpt2"))
    files = {found.file_name: read_cached(found)}
    if found.file_name.endswith(".json"):
        return BaseFiles(read_merges(files), files)
    return BaseFiles(extendable(open_published(found)), files)
