"""Read the files that a transformers folder keeps next to its vocabulary, as transformers does.

They add tokens, say which class of transformers cuts the text, and hold the chat template.
`add_sidecars` adds what they say to a tokenizer.json, which is then read as any other. Source:
transformers 5, `tokenization_utils_base.py`, `_from_pretrained`, and
`tokenization_utils_tokenizers.py`, `TokenizersBackend.__init__`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, cast

from bpe_core.chat.chat_template import ChatTemplate
from bpe_core.errors import FormatError
from bpe_core.formats.folder_files import (
    ADDED_TOKENS,
    CHAT_TEMPLATE,
    CONFIG,
    JSON_SIDECARS,
    MODEL_CONFIG,
    SPECIAL_TOKENS,
)
from bpe_core.formats.json_files import (
    as_list,
    as_object,
    check_object,
    checked_ids,
    is_token_id,
    parse_json,
)

_DECODER: Final = "added_tokens_decoder"
_EXTRA: Final = "extra_special_tokens"
_ADDITIONAL: Final = "additional_special_tokens"
_PREFIX: Final = "add_prefix_space"
_TEMPLATE: Final = "chat_template"
_STEPS: Final = "pretokenizers"
# In the order in which transformers adds them.
_ROLES: Final = tuple(
    f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
)
_FLAGS: Final = ("single_word", "lstrip", "rstrip", "normalized")

Token = dict[str, Any]
"""An added token as in tokenizer.json; its id may be missing."""


@dataclass(frozen=True, slots=True)
class ReadingClass:
    """A class of transformers that reads vocab.json and merges.txt."""

    roles: Mapping[str, str | Token]
    pretokenizer: str = "gpt2"
    normalizer: Mapping[str, str] | None = None
    adds_prefix: bool = False


_END: Final = "<|endoftext|>"
_GPT2: Final = ReadingClass(dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END))
_ROBERTA_ROLES: Final = dict(
    zip(_ROLES, ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"), strict=True)
)
_ROBERTA: Final = ReadingClass(_ROBERTA_ROLES)
_BLENDERBOT: Final = ReadingClass(
    {**_ROBERTA_ROLES, "mask_token": {"content": "<mask>", "lstrip": True}}, adds_prefix=True
)
_QWEN2: Final = ReadingClass(
    dict.fromkeys(("eos_token", "unk_token", "pad_token"), _END), "qwen2", {"type": "NFC"}
)
_CLASSES: Final[Mapping[str, ReadingClass]] = {
    **dict.fromkeys(("GPT2Tokenizer", "CodeGenTokenizer", "WhisperTokenizer"), _GPT2),
    **dict.fromkeys(
        ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"), _ROBERTA
    ),
    "BlenderbotTokenizer": _BLENDERBOT,
    "Qwen2Tokenizer": _QWEN2,
}
_CLASS_OF_MODEL: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("gpt2", "gptj", "gpt_neo", "codegen", "opt", "phi", "dbrx", "blip-2"), "GPT2Tokenizer"
    ),
    **dict.fromkeys(("roberta", "bart", "longformer", "led", "data2vec-text"), "RobertaTokenizer"),
    **dict.fromkeys(("qwen2", "qwen2_moe", "qwen2_vl", "qwen3", "qwen3_moe"), "Qwen2Tokenizer"),
    "whisper": "WhisperTokenizer",
    "blenderbot": "BlenderbotTokenizer",
}


class Sidecars:
    """What the files next to a vocabulary say; each is parsed once, if a format needs it.

    Its members raise `FormatError` for a file that is not JSON, or of another form than
    transformers writes.

    >>> Sidecars({"added_tokens.json": b'{"<s>": 1}'}).numbered["<s>"]["id"]
    1
    """

    def __init__(self, files: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self._files = {name: files[name] for name in JSON_SIDECARS if name in files}
        self._parsed: dict[str, dict[str, Any]] = {}
        self._template = files.get(CHAT_TEMPLATE)

    def __bool__(self) -> bool:
        return bool(self._files)

    def _parse(self, name: str) -> dict[str, Any]:
        if name in self._files and name not in self._parsed:
            self._parsed[name] = parse_json(self._files[name], name)
        return self._parsed.get(name, {})

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The settings, and the roles of special tokens."""
        config = self._parse(CONFIG)
        # Transformers reads neither of the two older files if this one has the tokens.
        return config if _DECODER in config else config | self._parse(SPECIAL_TOKENS)

    @cached_property
    def numbered(self) -> Mapping[str, Token]:
        """The added tokens whose ids are given, by their text."""
        found: dict[str, Token] = {}
        if _DECODER in self.config:
            place = f"{_DECODER} in {CONFIG}"
            for id, token in check_object(self.config[_DECODER], place).items():
                if not id.isdecimal() or not is_token_id(int(id)):
                    raise FormatError(f"Expected ids as keys of {_DECODER}, got {id!r:.60}.")
                read = added_token(token, place, special=False)
                found[read["content"]] = read | {"id": int(id)}
            return found
        special = {token["content"] for token in _named(self.config, {})}
        for text, id in checked_ids(self._parse(ADDED_TOKENS), ADDED_TOKENS).items():
            found[text] = added_token(text, ADDED_TOKENS, special=text in special) | {"id": id}
        return found

    @property
    def reading_class(self) -> ReadingClass | None:
        """The class of transformers that cuts the text, if it is known here."""
        return _CLASSES.get(self.class_name or "")

    @property
    def class_name(self) -> str | None:
        """The name of the class of transformers that cuts the text."""
        model = self._parse(MODEL_CONFIG)
        name: object = self.config.get("tokenizer_class") or model.get("tokenizer_class")
        if name is None:
            name = _CLASS_OF_MODEL.get(str(model.get("model_type")))
        return None if name is None else str(name).removesuffix("Fast")

    def added(self, known: ReadingClass | None) -> Iterator[Token]:
        """Yield the added tokens in the order in which transformers, or its class, adds them."""
        in_order = sorted(self.numbered.values(), key=lambda token: token["id"])
        named = list(_named(self.config, {} if known is None else known.roles))
        roles = {token["content"] for token in named}
        for token in in_order:
            yield token | {"special": token["special"] or token["content"] in roles}
        for token in named:
            if token["content"] not in self.numbered:
                yield token

    def special(self, known: Collection[str] = ()) -> dict[str, int]:
        """Return the special tokens that are added to a vocabulary, with their ids.

        The vocabulary has those in `known` itself. Raises `FormatError` for an added token that is
        found in ordinary text, or that does not match exactly its own text.

        >>> Sidecars({
        ...     "added_tokens.json": b'{"<s>": 5}',
        ...     "special_tokens_map.json": b'{"bos_token": "<s>"}',
        ... }).special()
        {'<s>': 5}
        """
        found: dict[str, int] = {}
        for token in self.added(None):
            text = token["content"]
            if "id" not in token or text in known:
                continue
            wrong = [flag for flag in ("single_word", "lstrip", "rstrip") if token[flag]]
            if wrong or not token["special"]:
                why = f"has {wrong[0]} set" if wrong else "is not special"
                raise FormatError(
                    f"The added token {text!r:.60} {why}, so it is found in ordinary text, which "
                    f"the file that it is added to cannot express. Use the folder's tokenizer.json."
                )
            found[text] = token["id"]
        return found

    def chat(self, first_token: str = "") -> ChatTemplate | None:
        """Return the chat template, or None; `first_token` is what the tokenizer puts in front.

        Newer folders have a file of its own for it, older ones a text in tokenizer_config.json, or
        several with names.

        >>> config = b'{"chat_template": "Hug {{ bos_token }}", "bos_token": "<s>"}'
        >>> Sidecars({"tokenizer_config.json": config}).chat().tokens
        {'bos_token': '<s>'}
        """
        known = self._parse(SPECIAL_TOKENS) | self._parse(CONFIG)
        source: object = known.get(_TEMPLATE)
        for each in map(as_object, as_list(source)):
            if each.get("name") == "default":
                source = each.get("template")
        if self._template is not None:
            source = self._template.decode("utf-8", "replace")
        texts = {name: as_object(value).get("content", value) for name, value in known.items()}
        tokens = {
            name: text
            for name, text in texts.items()
            if name.endswith("_token") and isinstance(text, str)
        }
        return ChatTemplate(source, tokens, first_token) if isinstance(source, str) else None


def first_token(described: Mapping[str, Any]) -> str:
    """Return the text of the token that a tokenizer.json puts before every text; "" for none.

    >>> single = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A"}}]
    >>> first_token({"post_processor": {"type": "TemplateProcessing", "single": single}})
    '<s>'
    """
    steps: list[object] = [described.get("post_processor")]
    for step in steps:
        part = as_object(step)
        steps += as_list(part.get("processors"))
        first = as_object(next(iter(as_list(part.get("single"))), None))
        token: object = as_object(first.get("SpecialToken")).get("id")
        if isinstance(token, str):
            return token
    return ""


def add_sidecars(described: dict[str, Any], beside: Sidecars) -> dict[str, Any]:
    """Return a parsed tokenizer.json with what the files next to it say.

    >>> beside = Sidecars({"added_tokens.json": b'{"<s>": 1}'})
    >>> add_sidecars({"model": {"vocab": {"a": 0}}}, beside)["added_tokens"][0]["id"]
    1
    """
    if not beside or not isinstance(described.get("model"), dict):
        return described
    known = beside.reading_class
    if known is not None:
        # These classes build their own pre-tokenizer, whatever the file says of a first space.
        described = with_prefix(described, beside, known)
    return with_added(described, list(beside.added(known)))


def with_added(described: dict[str, Any], added: list[Token]) -> dict[str, Any]:
    """Return a tokenizer.json with more added tokens; one that it has takes their settings."""
    listed: object = described.get("added_tokens") or []
    if not isinstance(listed, list):
        return described  # refused by its reader
    tokens: dict[object, Any] = {}
    vocab: object = described["model"].get("vocab")
    ids = as_object(vocab)
    next_id = len(ids)
    for number, each in enumerate(cast("list[object]", listed)):
        found = as_object(each)
        text = found.get("content")
        tokens[text if isinstance(text, str) else number] = each
        if is_token_id(id := found.get("id")):
            next_id = max(next_id, id + 1)
    for token in added:
        text = token["content"]
        if text in tokens and "id" not in token:
            continue  # transformers adds it again only if it has other settings
        given = ids.get(text)
        id = token.get("id", given if is_token_id(given) else next_id)
        next_id = max(next_id, id + 1)
        tokens[text] = {**token, "id": id}
    return {**described, "added_tokens": list(tokens.values())}


def with_prefix(
    described: dict[str, Any], beside: Sidecars, known: ReadingClass | None
) -> dict[str, Any]:
    """Return a tokenizer.json that puts a space before the first word of a text, or does not."""
    adds_prefix = beside.config.get(_PREFIX)
    if adds_prefix is None:
        adds_prefix = known is not None and known.adds_prefix

    def changed(step: object) -> object:
        found = as_object(step)
        is_byte_level = found.get("type") == "ByteLevel"
        return {**found, _PREFIX: bool(adds_prefix)} if is_byte_level else step

    whole: object = described.get("pre_tokenizer")
    steps: object = as_object(whole).get(_STEPS)
    if isinstance(steps, list):
        listed = list(map(changed, cast("list[object]", steps)))
        return {**described, "pre_tokenizer": {**as_object(whole), _STEPS: listed}}
    return {**described, "pre_tokenizer": changed(whole)}


def _named(config: Mapping[str, Any], defaults: Mapping[str, str | Token]) -> Iterator[Token]:
    """Yield the special tokens that have a role or are listed, each once, in order."""
    more = [
        name
        for name, value in config.items()
        if name.endswith("_token") and name not in _ROLES and isinstance(value, (str, dict))
    ]
    extra: object = config.get(_EXTRA) or config.get(_ADDITIONAL) or []
    listed = (
        list(cast("dict[str, object]", extra).values())
        if isinstance(extra, dict)
        else cast("list[object]", extra if isinstance(extra, list) else [extra])
    )
    named = [config.get(role, defaults.get(role)) for role in _ROLES]
    seen: set[str] = set()
    place = f"the special tokens of {CONFIG} or {SPECIAL_TOKENS}"
    for value in [*named, *(config[name] for name in more), *listed]:
        if value is None:
            continue
        token = added_token(value, place, special=True)
        if token["content"] and token["content"] not in seen:
            seen.add(token["content"])
            yield token


def added_token(value: object, place: str, *, special: bool) -> Token:
    """Return an added token written as text or as an object."""
    if isinstance(value, str):
        value = {"content": value}
    token = check_object(value, place)
    text = token.get("content")
    if not isinstance(text, str):
        raise FormatError(f"Expected a token's text as content in {place}, got {value!r:.80}.")
    is_special = bool(token.get("special", special)) or special
    flags = {name: bool(token.get(name, False)) for name in _FLAGS}
    flags["normalized"] = bool(token.get("normalized", not is_special))
    return {"content": text, **flags, "special": is_special}
