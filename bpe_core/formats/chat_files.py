"""Find the chat template among a tokenizer's files, as transformers does.

Newer folders have a file of its own for it, older ones a text in tokenizer_config.json, and GGUF
files a key. Source: transformers 5, `tokenization_utils_base.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from bpe_core.chat.chat_template import ChatTemplate
from bpe_core.formats.folder_files import CHAT_TEMPLATE, CONFIG, SPECIAL_TOKENS
from bpe_core.formats.gguf.gguf_header import GgufValue
from bpe_core.formats.json_files import parse_json

_KEY: Final = "chat_template"
_GGUF_KEY: Final = "tokenizer.chat_template"
# GGUF names ids, as `padding_token_id`.
_GGUF_ROLES: Final = {"padding": "pad", "seperator": "sep", "unknown": "unk"}


def find_chat(beside: Mapping[str, bytes], first_token: str = "") -> ChatTemplate | None:
    """Return the chat template that files next to a vocabulary hold, or None.

    `first_token` is what the tokenizer itself puts before a text. Raises `FormatError` for files
    that are not JSON.

    >>> config = b'{"chat_template": "Hug {{ bos_token }}", "bos_token": "<s>"}'
    >>> find_chat({"tokenizer_config.json": config}).tokens
    {'bos_token': '<s>'}
    """
    known: dict[str, Any] = {}
    for name in (SPECIAL_TOKENS, CONFIG):
        if name in beside:
            known |= parse_json(beside[name], name)
    source = _default(known.get(_KEY))
    if CHAT_TEMPLATE in beside:
        source = beside[CHAT_TEMPLATE].decode("utf-8", "replace")
    if source is None:
        return None
    return ChatTemplate(source, _tokens(known), first_token)


def find_gguf_chat(keys: Mapping[str, GgufValue], tokens: list[str]) -> ChatTemplate | None:
    """Return the chat template of a GGUF file, or None; `tokens` is its vocabulary.

    >>> keys = {"tokenizer.chat_template": "Hug", "tokenizer.ggml.bos_token_id": 1}
    >>> find_gguf_chat(keys, ["a", "<s>"]).tokens
    {'bos_token': '<s>'}
    """
    source = keys.get(_GGUF_KEY)
    if not isinstance(source, str):
        return None
    named: dict[str, str] = {}
    for key, id in keys.items():
        role = key.removeprefix("tokenizer.ggml.").removesuffix("_token_id")
        is_role = key == f"tokenizer.ggml.{role}_token_id"
        if is_role and type(id) is int and 0 <= id < len(tokens):
            named[f"{_GGUF_ROLES.get(role, role)}_token"] = tokens[id]
    adds = keys.get("tokenizer.ggml.add_bos_token") is True
    return ChatTemplate(source, named, named.get("bos_token", "") if adds else "")


def first_token(described: Mapping[str, Any]) -> str:
    """Return the text of the token that a tokenizer.json puts before every text; "" for none.

    >>> single = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A"}}]
    >>> first_token({"post_processor": {"type": "TemplateProcessing", "single": single}})
    '<s>'
    """
    steps: list[object] = [described.get("post_processor")]
    for step in steps:
        part = _object(step)
        steps += _list(part.get("processors"))
        first = next(iter(_list(part.get("single"))), None)
        token: object = _object(_object(first).get("SpecialToken")).get("id")
        if isinstance(token, str):
            return token
    return ""


def _default(value: object) -> str | None:
    """Return a template, or the default one of several that are named."""
    named = [_object(each) for each in _list(value)]
    found: object = {each.get("name"): each.get("template") for each in named}.get("default")
    source = value if isinstance(value, str) else found
    return source if isinstance(source, str) else None


def _tokens(config: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in config.items():
        value: object
        text = _object(value).get("content", value)
        if name.endswith("_token") and isinstance(text, str):
            found[name] = text
    return found


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
