"""Read a tokenizer's files, in whatever format: each reader returns a `Description`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bpe_core.errors import FormatError
from bpe_core.formats import gpt2_files
from bpe_core.formats.description import Description, Given
from bpe_core.formats.folder_files import MAX_BYTES, PAIRS, SIDECARS, unpacked
from bpe_core.formats.gguf.gguf_header import looks_like_gguf
from bpe_core.formats.gguf.gguf_vocabulary import describe_gguf
from bpe_core.formats.huggingface import FILE_NAME, describe_huggingface
from bpe_core.formats.json_files import looks_like_json, parse_json
from bpe_core.formats.native import describe_native
from bpe_core.formats.sentencepiece_model import looks_like_sentencepiece
from bpe_core.formats.sentencepiece_scores import describe_sentencepiece
from bpe_core.formats.sidecars import Sidecars, add_sidecars
from bpe_core.formats.tekken import describe_tekken, looks_like_tekken
from bpe_core.formats.tiktoken_file import describe_tiktoken, read_ranks


def read_description(
    files: Mapping[str, bytes],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    *,
    merges_only: bool = False,
) -> Description:
    """Read a tokenizer's file, or GPT-2's two files, and what transformers keeps next to them.

    The format is recognised from the content. Pass `pretokenizer` and `special_tokens` for formats
    that do not store them, and `merges_only` if only a plain `Tokenizer` is wanted. Raises
    `FormatError` if the files are not a tokenizer, and `ConfigError` if an argument is missing.

    >>> read_description({"mine": b"YQ== 0\\nYWE= 1\\n"}, pretokenizer="none").merges.merges
    [(0, 0, 1)]
    """
    files = unpacked(files)
    beside = Sidecars(files)
    main = {name: data for name, data in files.items() if name not in SIDECARS}
    for name, data in main.items():
        if len(data) > MAX_BYTES:
            raise FormatError(
                f"{name} has more than {MAX_BYTES:,} bytes, the most that is read of a tokenizer."
            )
    # The vocabulary first.
    names = sorted(main, key=lambda name: not name.endswith(".json"))
    if len(names) not in (1, 2):
        raise FormatError(
            f"Expected one file, or two ({gpt2_files.VOCABULARY} and {gpt2_files.MERGES}), "
            f"got {len(names)}."
        )
    given = Given(
        ", ".join(main), main[names[0]], beside, pretokenizer, special_tokens, merges_only
    )
    found = _read_pair(given, main[names[1]]) if len(names) == 2 else _read_one(given)
    chat = beside.chat(found.first_token)
    return found if chat is None else replace(found, chat=chat)


def _read_pair(given: Given, merges: bytes) -> Description:
    if given.beside:
        return describe_huggingface(given, gpt2_files.join_pair(given, merges), names_cut=False)
    return gpt2_files.describe_gpt2_files(given, merges)


def _read_one(given: Given) -> Description:
    name, data = given.name, given.data
    for vocabulary, merges in PAIRS:
        if name == merges:
            raise FormatError(
                f"{name} holds only merges. Add the vocabulary they belong to, {vocabulary}."
            )
    if looks_like_gguf(data):
        return describe_gguf(given)
    if looks_like_sentencepiece(data):
        return describe_sentencepiece(given, data)
    if looks_like_json(data, name):
        return _read_json(given)
    try:
        read_ranks(data.lstrip().partition(b"\n")[0])
    except FormatError as error:
        raise FormatError(
            f"{name} is not a tokenizer: it is neither JSON nor a .tiktoken file. {error}"
        ) from None
    return describe_tiktoken(given)


def _read_json(given: Given) -> Description:
    described = parse_json(given.data, given.name)
    if "model" in described:
        return describe_huggingface(given, add_sidecars(described, given.beside))
    if looks_like_tekken(described):
        return describe_tekken(given, described)
    if "format" in described:
        return describe_native(given, described)
    raise FormatError(
        f"{given.name} is JSON, but neither a {FILE_NAME} nor a BPE Explorer tokenizer. If it is a "
        "vocab.json, add its merges.txt."
    )
