"""The folder that `transformers.AutoTokenizer.from_pretrained` opens.

Beside tokenizer.json it has two files that say which special tokens begin and end a text. A special
token gets a role by its name. A beginning or an end that has no token of its own takes the other's,
as in GPT-2, and a special token that is the only one, and has no other role, is both. The rest are
additional special tokens. An unknown token is never set: byte-pair encoding has none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from bpe_core.formats import huggingface
from bpe_core.tokenizer.tokenizer import Tokenizer

CONFIG: Final = "tokenizer_config.json"
SPECIAL_TOKENS: Final = "special_tokens_map.json"
FILE_NAMES: Final = (huggingface.FILE_NAME, CONFIG, SPECIAL_TOKENS)
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
# What transformers itself writes for a tokenizer without a limit.
_NO_LIMIT: Final = int(1e30)


def write_transformers(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the three files of a transformers folder, by name.

    Raises what `write_huggingface` raises for tokenizer.json.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> list(write_transformers(gpt2()))
    ['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json']
    """
    roles = special_roles(tokenizer.special_tokens)
    config = {
        "added_tokens_decoder": {
            str(id): {
                "content": text,
                "lstrip": False,
                "normalized": False,
                "rstrip": False,
                "single_word": False,
                "special": True,
            }
            for text, id in sorted(tokenizer.special_tokens.items(), key=lambda each: each[1])
        },
        # Otherwise decoding would remove the space in front of punctuation.
        "clean_up_tokenization_spaces": False,
        "model_max_length": _NO_LIMIT,
        "tokenizer_class": "PreTrainedTokenizerFast",
        **roles,
    }
    return {
        huggingface.FILE_NAME: huggingface.write_huggingface(tokenizer),
        CONFIG: _written(config),
        SPECIAL_TOKENS: _written(roles),
    }


def special_roles(special_tokens: Mapping[str, int]) -> dict[str, str | list[str]]:
    """Return the special tokens by the names that transformers gives their roles.

    >>> special_roles({"<|endoftext|>": 0})
    {'bos_token': '<|endoftext|>', 'eos_token': '<|endoftext|>'}
    >>> special_roles({"<s>": 0, "</s>": 1, "<|user|>": 2})
    {'bos_token': '<s>', 'eos_token': '</s>', 'additional_special_tokens': ['<|user|>']}
    """
    named = {
        role: name
        for role, names in _NAMES.items()
        if (name := next((name for name in names if name in special_tokens), None)) is not None
    }
    in_order = sorted(special_tokens, key=special_tokens.__getitem__)
    if len(in_order) == 1 and not named:
        named[_BEGIN] = in_order[0]
    either = named.get(_BEGIN, named.get(_END))
    if either is not None:
        named = {_BEGIN: either, _END: named.get(_END, either), **named}
    others = [text for text in in_order if text not in named.values()]
    return {**named, "additional_special_tokens": others} if others else {**named}


def _written(described: Mapping[str, Any]) -> bytes:
    return json.dumps(described, ensure_ascii=False, indent=2).encode() + b"\n"
