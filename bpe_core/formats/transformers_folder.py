"""The folder that `transformers.AutoTokenizer.from_pretrained` opens.

Next to tokenizer.json it has two files that say which special tokens begin and end a text. A
published tokenizer, recognised by its special tokens, gets its publisher's roles. In any other, a
special token gets a role by its name. A beginning or an end that has no token of its own takes the
other's, as in GPT-2, and a special token that is the only one, and has no other role, is both. The
rest are additional special tokens. `<unk>` is the unknown token of a tokenizer that spells rare
characters in bytes, as Llama 2's file says; other byte-pair encoding has none.

Chat templates are not written: a `Tokenizer` has none. An adapted tokenizer that is written into
its base's own files keeps the base's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from bpe_core.formats import huggingface
from bpe_core.formats.across_words import unknown_token
from bpe_core.formats.folder_files import CONFIG, SPECIAL_TOKENS
from bpe_core.formats.published.catalogue import Published
from bpe_core.formats.sidecars import added_token
from bpe_core.tokenizer import Tokenizer

FOLDER: Final = "transformers-tokenizer"
"""The name that the folder has in a download and in the lines of code that load it."""

_BEGIN: Final = "bos_token"
_END: Final = "eos_token"
# The names that published tokenizers give these roles; the first one present is taken.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    _BEGIN: ("<s>", "<bos>", "[BOS]", "<|bos|>", "<|begin_of_text|>", "<|startoftext|>"),
    _END: ("<|endoftext|>", "</s>", "<eos>", "[EOS]", "<|eos|>", "<|end_of_text|>"),
    "pad_token": ("<pad>", "[PAD]", "<|pad|>", "<|padding|>"),
    "cls_token": ("[CLS]", "<cls>"),
    "sep_token": ("[SEP]", "<sep>"),
    "mask_token": ("[MASK]", "<mask>"),
}
_UNKNOWN: Final = frozenset({"unk", "unknown"})
# What transformers itself writes for a tokenizer without a limit.
_NO_LIMIT: Final = int(1e30)


def write_transformers(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the three files of a transformers folder, by name.

    Raises what `write_huggingface` raises for tokenizer.json.

    >>> from bpe_core.tokenizer import gpt2
    >>> list(write_transformers(gpt2()))
    ['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json']
    """
    described = huggingface.write_huggingface(tokenizer)
    if (begin := added_begin(tokenizer.special_tokens)) is not None:
        template = _begun_with(begin, tokenizer.special_tokens[begin])
        with_template = json.loads(described) | {"post_processor": template}
        described = json.dumps(with_template, ensure_ascii=False).encode()
    return {huggingface.FILE_NAME: described, **role_files(tokenizer)}


def role_files(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the two files next to tokenizer.json, which say what the special tokens are for.

    >>> from bpe_core.tokenizer import gpt2
    >>> list(role_files(gpt2()))
    ['tokenizer_config.json', 'special_tokens_map.json']
    """
    roles = special_roles(tokenizer.special_tokens, unknown=unknown_token(tokenizer))
    config = {
        "added_tokens_decoder": {
            str(id): dict(sorted(added_token(text, CONFIG, special=True).items()))
            for text, id in sorted(tokenizer.special_tokens.items(), key=lambda each: each[1])
        },
        # Otherwise decoding would remove the space in front of punctuation.
        "clean_up_tokenization_spaces": False,
        "model_max_length": _NO_LIMIT,
        "tokenizer_class": "PreTrainedTokenizerFast",
        **roles,
    }
    return {CONFIG: _written(config), SPECIAL_TOKENS: _written(roles)}


def special_roles(
    special_tokens: Mapping[str, int], *, unknown: str | None = None
) -> dict[str, str | list[str]]:
    """Return the special tokens by the names that transformers gives their roles.

    `unknown` is the token for text outside the vocabulary, if there is one.

    >>> special_roles({"<|endoftext|>": 0})
    {'bos_token': '<|endoftext|>', 'eos_token': '<|endoftext|>'}
    >>> special_roles({"<s>": 0, "</s>": 1, "<|user|>": 2})
    {'bos_token': '<s>', 'eos_token': '</s>', 'additional_special_tokens': ['<|user|>']}
    >>> special_roles({"<unk>": 0}, unknown="<unk>")
    {'unk_token': '<unk>'}
    """
    known = Published.with_tokens(special_tokens)
    named = (
        dict(known.roles)
        if known is not None
        else {
            role: name
            for role, names in _NAMES.items()
            if (name := next((name for name in names if name in special_tokens), None)) is not None
        }
    )
    in_order = sorted(special_tokens, key=special_tokens.__getitem__)
    if len(in_order) == 1 and not named and in_order[0].strip("<>[]|").lower() not in _UNKNOWN:
        named[_BEGIN] = in_order[0]
    either = named.get(_BEGIN, named.get(_END))
    if either is not None and known is None:
        named = {_BEGIN: either, _END: named.get(_END, either), **named}
    if unknown is not None:
        named["unk_token"] = unknown
    others = [text for text in in_order if text not in named.values()]
    return {**named, "additional_special_tokens": others} if others else {**named}


def added_begin(special_tokens: Mapping[str, int]) -> str | None:
    """Return the special token that a published tokenizer puts before each text, or None.

    >>> added_begin(Published.named("llama3").special_tokens)
    '<|begin_of_text|>'
    """
    known = Published.with_tokens(special_tokens)
    return known.roles[_BEGIN] if known is not None and known.adds_begin else None


def _begun_with(begin: str, id: int) -> dict[str, Any]:
    """Return the post-processor that puts a special token before each text."""

    def with_begin(text: str, type_id: int) -> list[dict[str, Any]]:
        return [
            {"SpecialToken": {"id": begin, "type_id": type_id}},
            {"Sequence": {"id": text, "type_id": type_id}},
        ]

    return {
        "type": "TemplateProcessing",
        "single": with_begin("A", 0),
        "pair": [*with_begin("A", 0), *with_begin("B", 1)],
        "special_tokens": {begin: {"id": begin, "ids": [id], "tokens": [begin]}},
    }


def _written(described: Mapping[str, Any]) -> bytes:
    return json.dumps(described, ensure_ascii=False, indent=2).encode() + b"\n"
