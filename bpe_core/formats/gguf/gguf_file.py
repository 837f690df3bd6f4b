r"""Write GGUF, vocabulary only: the tokenizer as llama.cpp reads it, without any tensors.

GGUF holds no pattern. `tokenizer.ggml.pre` names one that llama.cpp knows, so only tokenizers that
cut text in one of these ways can be written. llama.cpp compiles its own copies of the patterns,
some of them simplified: for capitals outside ASCII under `gpt-4o` and `tekken`, for example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bpe_core.errors import BpeError, ConfigError
from bpe_core.formats.across_words import reads_as
from bpe_core.formats.description import Given, refuse_steps
from bpe_core.formats.gguf.gguf_header import (
    ARRAY,
    HEADER,
    MAGIC,
    STRING,
    pack_text,
    pack_value,
)
from bpe_core.formats.gguf.gguf_vocabulary import FAMILIES
from bpe_core.formats.gpt2_files import printable_model
from bpe_core.formats.sentencepiece_model import CONTROL, NORMAL
from bpe_core.formats.transformers_folder import added_begin, special_roles
from bpe_core.tokenizer import Tokenizer

FILE_NAME: Final = "tokenizer.gguf"
_UNFIT: Final[Mapping[str, str]] = {
    "cl100k": "its nearest cut divides white space at the end of a text differently from 'cl100k'",
    "falcon": "its cut named falcon is made of several steps that were not shown to equal 'falcon'",
}
# By the pre-tokenizer and whether whole pre-tokens are looked up first.
_PRE: Final = {
    (family.pretokenizer, family.whole_words_first): family.names[0]
    for family in FAMILIES
    if family.pretokenizer is not None and family.pretokenizer not in _UNFIT
}
_VERSION: Final = 3
_INT32, _UINT32, _BOOL = 5, 4, 7
_KEY: Final = "tokenizer.ggml."
# The id that GGUF gives to each role.
_ROLES: Final[Mapping[str, str]] = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "pad_token": "padding_token_id",
    "cls_token": "cls_token_id",
    "sep_token": "seperator_token_id",  # as gguf spells it
    "mask_token": "mask_token_id",
}

Value = str | bool | int | Sequence[str] | Sequence[int]


def write_gguf(tokenizer: Tokenizer) -> bytes:
    """Return the file; raises `ConfigError` if llama.cpp would encode differently.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.formats.gguf.gguf_header import parse_gguf
    >>> keys = parse_gguf(write_gguf(gpt2()))
    >>> keys["tokenizer.ggml.pre"], keys["tokenizer.ggml.eos_token_id"]
    ('gpt-2', 50256)
    """
    pre = find_pre(tokenizer)
    if len(tokenizer.base_ids) < 256:
        raise ConfigError(
            f"GGUF readers expect all 256 bytes as tokens, but this tokenizer's alphabet has "
            f"{len(tokenizer.base_ids)}. Save it in the huggingface or native format, or train "
            f"with alphabet='full'."
        )
    ids, merges = printable_model(tokenizer)
    if max(ids.values()) >= len(ids):
        unused = next(id for id in range(len(ids)) if id not in tokenizer.vocab)
        raise ConfigError(
            f"GGUF lists a token for every id, and this tokenizer has none for id {unused:,}. Save "
            f"it in the huggingface or native format."
        )
    special = tokenizer.special_tokens
    tokens = sorted(ids, key=ids.__getitem__)
    keys: dict[str, Value] = {
        "general.architecture": "gpt2",
        "general.type": "vocab",
        _KEY + "model": "gpt2",
        _KEY + "pre": pre,
        _KEY + "tokens": tokens,
        _KEY + "token_type": [CONTROL if token in special else NORMAL for token in tokens],
        _KEY + "merges": [" ".join(pair) for pair in merges],
    }
    for role, name in special_roles(special).items():
        if role in _ROLES and isinstance(name, str):
            keys[_KEY + _ROLES[role]] = special[name]
    # Otherwise llama.cpp begins each text with a token for some cuts.
    adds_begin = added_begin(special) is not None
    keys |= {_KEY + "add_bos_token": adds_begin, _KEY + "add_eos_token": False}
    written = _file(keys)
    check_gguf(tokenizer, written)
    return written


def find_pre(tokenizer: Tokenizer) -> str:
    """Return llama.cpp's name for how a tokenizer cuts text; raises `ConfigError` if it has none.

    >>> from bpe_core.tokenizer import gpt2
    >>> find_pre(gpt2())
    'gpt-2'
    """
    refuse_steps(tokenizer, "GGUF")
    name, whole_words_first = tokenizer.pretokenizer.name, tokenizer.table.whole_words_first
    try:
        return _PRE[name, whole_words_first]
    except KeyError:
        pass
    does = "looks up whole words before merging" if whole_words_first else "only merges"
    if (name, not whole_words_first) in _PRE:
        otherwise = "only merges" if whole_words_first else "looks up whole words before merging"
        why = f"with the pre-tokenizer {name!r} it {otherwise}, and this tokenizer {does}"
    elif name in _UNFIT:
        why = _UNFIT[name]
    else:
        why = f"it has no name for the pre-tokenizer {name[:80]!r}"
    known = ", ".join(str(known) for known, first in _PRE if first == whole_words_first)
    raise ConfigError(
        f"llama.cpp, which reads GGUF, might encode differently: {why}. The pre-tokenizers that it "
        f"knows for a tokenizer that {does}: {known}. Save this tokenizer in the huggingface or "
        f"native format."
    )


def check_gguf(tokenizer: Tokenizer, written: bytes) -> None:
    """Raise `ConfigError` if a file does not read back as a tokenizer."""
    # Imported when needed: writing a file needs no reader.
    from bpe_core.formats.gguf.gguf_vocabulary import describe_gguf
    from bpe_core.formats.opening.engines import build_merges

    try:
        cut = tokenizer.pretokenizer.name
        given = Given(FILE_NAME, written, pretokenizer=cut)
        read = build_merges(describe_gguf(given))
    except BpeError as error:
        raise ConfigError(f"GGUF cannot express this tokenizer. {error}") from error
    if not reads_as(read, tokenizer):
        raise ConfigError(
            "Read back from GGUF, this tokenizer would encode differently. Save it in the "
            "huggingface or native format."
        )


def _file(keys: Mapping[str, Value]) -> bytes:
    """Return a file without tensors that holds these keys."""
    parts = [HEADER.pack(MAGIC, _VERSION, 0, len(keys))]
    for key, value in keys.items():
        is_array = not isinstance(value, str | int)
        first = value if isinstance(value, str | int) else next(iter(value), "")
        # A list has signed numbers, which scalars are not.
        number = _BOOL if isinstance(first, bool) else _INT32 if is_array else _UINT32
        kind = STRING if isinstance(first, str) else number
        parts += [pack_text(key), pack_value(ARRAY if is_array else kind, kind, value)]
    return b"".join(parts)
