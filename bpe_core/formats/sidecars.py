"""Read the files that a transformers folder keeps next to its vocabulary, as transformers does.

They add tokens and say which class of transformers cuts the text. `join_pair` turns GPT-2's two
files with them into one tokenizer.json, and `add_sidecars` adds what they say to a tokenizer.json,
so both are read as any other. Source: transformers 5, `tokenization_utils_base.py`,
`_from_pretrained`, and `tokenization_utils_tokenizers.py`, `TokenizersBackend.__init__`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from bpe_core.errors import FormatError
from bpe_core.formats.description import Given
from bpe_core.formats.folder_files import (
    ADDED_TOKENS,
    CONFIG,
    JSON_SIDECARS,
    MODEL_CONFIG,
    SPECIAL_TOKENS,
)
from bpe_core.formats.gpt2_files import read_merge_lines, special_by_look
from bpe_core.formats.json_files import checked_ids, is_token_id, parse_json
from bpe_core.formats.patterns import BYTE_LEVEL, pre_tokenizer_part
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer

_DECODER: Final = "added_tokens_decoder"
_EXTRA: Final = "extra_special_tokens"
_ADDITIONAL: Final = "additional_special_tokens"
_PREFIX: Final = "add_prefix_space"
_STEPS: Final = "pretokenizers"
# In the order in which transformers adds them.
_ROLES: Final = tuple(
    f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
)
_FLAGS: Final = ("single_word", "lstrip", "rstrip", "normalized")

Token = dict[str, Any]
"""An added token as in tokenizer.json; its id may be missing."""


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of transformers that reads vocab.json and merges.txt."""

    roles: Mapping[str, str | Token]
    pretokenizer: str = "gpt2"
    normalizer: Mapping[str, str] | None = None
    adds_prefix: bool = False


_END: Final = "<|endoftext|>"
_GPT2: Final = _Class(dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END))
_ROBERTA_ROLES: Final = dict(
    zip(_ROLES, ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"), strict=True)
)
_ROBERTA: Final = _Class(_ROBERTA_ROLES)
_BLENDERBOT: Final = _Class(
    {**_ROBERTA_ROLES, "mask_token": {"content": "<mask>", "lstrip": True}}, adds_prefix=True
)
_QWEN2: Final = _Class(
    dict.fromkeys(("eos_token", "unk_token", "pad_token"), _END), "qwen2", {"type": "NFC"}
)
_CLASSES: Final[Mapping[str, _Class]] = {
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


def add_sidecars(described: dict[str, Any], beside: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a parsed tokenizer.json with what the files next to it say.

    Raises `FormatError` for files of another form than transformers writes.

    >>> beside = {"added_tokens.json": b'{"<s>": 1}'}
    >>> add_sidecars({"model": {"vocab": {"a": 0}}}, beside)["added_tokens"][0]["id"]
    1
    """
    if not beside or not isinstance(described.get("model"), dict):
        return described
    found = _Sidecars.read(beside)
    known = _CLASSES.get(found.class_name or "")
    if known is not None:
        # These classes build their own pre-tokenizer, whatever the file says of a first space.
        adds_prefix = found.config.get(_PREFIX)
        described = _with_prefix(
            described, adds_prefix=bool(known.adds_prefix if adds_prefix is None else adds_prefix)
        )
    return _with_added(described, list(found.added(known)))


def special_beside(beside: Mapping[str, bytes], known: Collection[str] = ()) -> dict[str, int]:
    """Return the special tokens that files next to a vocabulary add to it, with their ids.

    The vocabulary has those in `known` itself. Raises `FormatError` for an added token that is
    found in ordinary text, or that does not match exactly its own text.

    >>> special_beside({
    ...     "added_tokens.json": b'{"<s>": 5}',
    ...     "special_tokens_map.json": b'{"bos_token": "<s>"}',
    ... })
    {'<s>': 5}
    """
    found: dict[str, int] = {}
    if not beside:
        return found
    for token in _Sidecars.read(beside).added(None):
        text = token["content"]
        if "id" not in token or text in known:
            continue
        wrong = [flag for flag in ("single_word", "lstrip", "rstrip") if token[flag]]
        if wrong or not token["special"]:
            why = f"has {wrong[0]} set" if wrong else "is not special"
            raise FormatError(
                f"The added token {text!r:.60} {why}, so it is found in ordinary text, which the "
                f"file that it is added to cannot express. Use the folder's tokenizer.json."
            )
        found[text] = token["id"]
    return found


@dataclass(frozen=True, slots=True)
class _Sidecars:
    """What the files next to a vocabulary say; `config` has the roles of special tokens too."""

    config: Mapping[str, Any]
    numbered: Mapping[str, Token]
    """The added tokens whose ids are given, by their text."""
    class_name: str | None

    @staticmethod
    def read(files: Mapping[str, bytes]) -> _Sidecars:
        """Read the files; raise `FormatError` if one has another form than transformers writes."""
        parsed = {name: parse_json(files[name], name) for name in JSON_SIDECARS if name in files}
        config = dict(parsed.get(CONFIG, {}))
        numbered: dict[str, Token] = {}
        if _DECODER in config:
            # Then transformers reads neither of the two older files.
            for id, token in _object(config[_DECODER], f"{_DECODER} in {CONFIG}").items():
                if not id.isdecimal() or not is_token_id(int(id)):
                    raise FormatError(f"Expected ids as keys of {_DECODER}, got {id!r:.60}.")
                read = _token(token, f"{_DECODER} in {CONFIG}", special=False)
                numbered[read["content"]] = read | {"id": int(id)}
        else:
            config |= parsed.get(SPECIAL_TOKENS, {})
            special = {token["content"] for token in _named(config, {})}
            for text, id in checked_ids(parsed.get(ADDED_TOKENS, {}), ADDED_TOKENS).items():
                read = _token(text, ADDED_TOKENS, special=text in special)
                numbered[text] = read | {"id": id}
        model = parsed.get(MODEL_CONFIG, {})
        name: object = config.get("tokenizer_class") or model.get("tokenizer_class")
        if name is None:
            name = _CLASS_OF_MODEL.get(str(model.get("model_type")))
        return _Sidecars(config, numbered, None if name is None else str(name).removesuffix("Fast"))

    def added(self, known: _Class | None) -> Iterator[Token]:
        """Yield the added tokens in the order in which transformers adds them."""
        in_order = sorted(self.numbered.values(), key=lambda token: token["id"])
        named = list(_named(self.config, {} if known is None else known.roles))
        roles = {token["content"] for token in named}
        for token in in_order:
            yield token | {"special": token["special"] or token["content"] in roles}
        for token in named:
            if token["content"] not in self.numbered:
                yield token


def join_pair(given: Given, merges: bytes) -> dict[str, Any]:
    """Return the tokenizer.json of GPT-2's two files and what is next to them.

    `given` is the vocabulary. Raises `FormatError` for files of a class that cuts text in a way
    unknown here, unless that is given.

    >>> beside = {"added_tokens.json": b'{"<s>": 1}'}
    >>> join_pair(Given("vocab.json", b'{"a": 0}', beside), b"")["added_tokens"][0]["id"]
    1
    """
    vocabulary, beside = given.data, _Sidecars.read(given.beside)
    pretokenizer = given.pretokenizer
    ids = checked_ids(parse_json(vocabulary, "vocab.json"), "vocab.json")
    pairs = read_merge_lines(merges)
    known = _CLASSES.get(beside.class_name or "")
    if known is None and beside.class_name is not None and pretokenizer is None:
        raise FormatError(
            f"vocab.json and merges.txt do not say how {beside.class_name} of transformers cuts "
            f"text. Use the folder's tokenizer.json, or name a pretokenizer."
        )
    adds_prefix = beside.config.get(_PREFIX)
    if adds_prefix is None:
        adds_prefix = known is not None and known.adds_prefix
    cut = get_pretokenizer(known.pretokenizer if known else pretokenizer or "gpt2")
    added = list(beside.added(known))
    if known is None:
        # As in GPT-2's two files alone.
        listed = {token["content"] for token in added}
        added += [
            _token(text, "vocab.json", special=True)
            for text in special_by_look(ids, pairs)
            if text not in listed
        ]
    described: dict[str, Any] = {
        "added_tokens": [],
        "normalizer": known.normalizer if known else None,
        "pre_tokenizer": pre_tokenizer_part(cut, by_bytes=True),
        "decoder": {**BYTE_LEVEL},
        "model": {"type": "BPE", "vocab": ids, "merges": [list(pair) for pair in pairs]},
    }
    return _with_added(_with_prefix(described, adds_prefix=bool(adds_prefix)), added)


def _with_added(described: dict[str, Any], added: list[Token]) -> dict[str, Any]:
    """Return a tokenizer.json with more added tokens; one that it has takes their settings."""
    listed: object = described.get("added_tokens") or []
    if not isinstance(listed, list):
        return described  # refused by its reader
    tokens: dict[object, Any] = {}
    vocab: object = described["model"].get("vocab")
    ids = cast("dict[str, object]", vocab if isinstance(vocab, dict) else {})
    next_id = len(ids)
    for number, each in enumerate(cast("list[object]", listed)):
        found = cast("Token", each if isinstance(each, dict) else {})
        text = found.get("content")
        tokens[text if isinstance(text, str) else number] = each
        if is_token_id(id := found.get("id")):
            next_id = max(next_id, cast("int", id) + 1)
    for token in added:
        text = token["content"]
        if text in tokens and "id" not in token:
            continue  # transformers adds it again only if it has other settings
        given = ids.get(text)
        id = token.get("id", given if is_token_id(given) else next_id)
        next_id = max(next_id, id + 1)
        tokens[text] = {**token, "id": id}
    return {**described, "added_tokens": list(tokens.values())}


def _with_prefix(described: dict[str, Any], *, adds_prefix: bool) -> dict[str, Any]:
    """Return a tokenizer.json that puts a space before the first word of a text, or does not."""

    def changed(step: object) -> object:
        found: Token = cast("Token", step) if isinstance(step, dict) else {}
        is_byte_level = found.get("type") == "ByteLevel"
        return {**found, _PREFIX: adds_prefix} if is_byte_level else cast("object", step)

    whole: object = described.get("pre_tokenizer")
    steps = cast("Token", whole).get(_STEPS) if isinstance(whole, dict) else None
    if isinstance(steps, list):
        listed = list(map(changed, cast("list[object]", steps)))
        return {**described, "pre_tokenizer": {**cast("Token", whole), _STEPS: listed}}
    return {**described, "pre_tokenizer": changed(cast("object", whole))}


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
    for value in [*named, *(config[name] for name in more), *listed]:
        if value is None:
            continue
        token = _token(value, f"the special tokens of {CONFIG} or {SPECIAL_TOKENS}", special=True)
        if token["content"] and token["content"] not in seen:
            seen.add(token["content"])
            yield token


def _token(value: object, place: str, *, special: bool) -> Token:
    """Return an added token written as text or as an object."""
    if isinstance(value, str):
        value = {"content": value}
    token = _object(value, place)
    text = token.get("content")
    if not isinstance(text, str):
        raise FormatError(f"Expected a token's text as content in {place}, got {value!r:.80}.")
    is_special = bool(token.get("special", special)) or special
    flags = {name: bool(token.get(name, False)) for name in _FLAGS}
    flags["normalized"] = bool(token.get("normalized", not is_special))
    return {"content": text, **flags, "special": is_special}


def _object(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"Expected an object as {place}, got {value!r:.80}.")
    return cast("dict[str, Any]", value)
