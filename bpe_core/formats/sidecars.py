"""Read the files that a transformers folder keeps next to its vocabulary, as transformers does.

They add tokens, say which class of transformers cuts the text, and hold the chat template.
`add_sidecars` adds what they say to a tokenizer.json, which is then read as any other. Source:
transformers 5, `tokenization_utils_base.py`, `_from_pretrained`, and
`tokenization_utils_tokenizers.py`, `TokenizersBackend.__init__`.

What a class does where no file says more is from `models/auto/tokenization_auto.py` and the modules
of the classes. A class that reads a tokenizer.json cuts text by its own rules instead of the file's
there, which gave some models other ids than they were trained with. Here the file's rules hold; a
class only adds its special tokens, and its space in front of a text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from bpe_core.chat import ChatTemplate
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
from bpe_core.formats.published.hub_names import is_sidecar

Token = dict[str, Any]
"""An added token as in tokenizer.json; its id may be missing."""
# In the order in which transformers adds them.
ROLES: Final = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
"""The special tokens that every class of transformers has a name for."""


@dataclass(frozen=True, slots=True)
class ReadingClass:
    """A class of transformers: what it does where no file says otherwise."""

    roles: Mapping[str, str | Token]
    pretokenizer: str | None = "gpt2"
    """How it cuts the text of vocab.json and merges.txt; None if it does not read them."""
    normalizer: Mapping[str, str] | None = None
    adds_prefix: bool = False
    adds_again: bool = False
    """True if it adds its special tokens again as plain texts, so that they strip no spaces."""


_END: Final = "<|endoftext|>"
_GPT2: Final = ReadingClass(dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END))
_ROBERTA_ROLES: Final = dict(
    zip(ROLES, ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"), strict=True)
)
_ROBERTA: Final = ReadingClass(_ROBERTA_ROLES)
_QWEN2: Final = ReadingClass(
    dict.fromkeys(("eos_token", "unk_token", "pad_token"), _END),
    "qwen2",
    {"type": "NFC"},
    adds_again=True,
)
_COHERE: Final = [
    "BOS_TOKEN",
    "|END_OF_TURN_TOKEN|",
    "UNK",
    "SEP",
    "PAD",
    "CLS",
    "MASK_TOKEN",
]
CLASSES: Final[Mapping[str, ReadingClass]] = {
    **dict.fromkeys(("GPT2Tokenizer", "CodeGenTokenizer", "WhisperTokenizer"), _GPT2),
    **dict.fromkeys(
        ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"), _ROBERTA
    ),
    "BlenderbotTokenizer": ReadingClass(
        {**_ROBERTA_ROLES, "mask_token": {"content": "<mask>", "lstrip": True}}, adds_prefix=True
    ),
    "Qwen2Tokenizer": _QWEN2,
    "Qwen3_5Tokenizer": ReadingClass(_QWEN2.roles, None),
    "GPTNeoXTokenizer": ReadingClass(
        {**_GPT2.roles, "pad_token": "<|padding|>"}, normalizer={"type": "NFC"}
    ),
    "GemmaTokenizer": ReadingClass(
        {f"{role}_token": f"<{role}>" for role in ("bos", "eos", "unk", "pad", "mask")}, None
    ),
    "CohereTokenizer": ReadingClass(
        {role: f"<{name}>" for role, name in zip(ROLES, _COHERE, strict=True)}, None
    ),
}
"""The classes that read byte-pair encoding, as far as they are known here."""

GENERIC: Final = "TokenizersBackend"
"""The class that does what a tokenizer.json says, and nothing else."""
_MODELS: Final = {
    "BartTokenizer": "florence2",
    "BlenderbotTokenizer": "blenderbot",
    "CohereTokenizer": "aya_vision cohere cohere2",
    "GPT2Tokenizer": "blip-2 codegen dbrx emu3 gpt2 gpt_neo gptj hyperclovax_vision_v2 "
    "instructblip instructblipvideo jais2 opt phi starcoder2",
    "GPTNeoXTokenizer": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm",
    "GemmaTokenizer": "diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text "
    "recurrent_gemma shieldgemma2 t5gemma zaya",
    "LEDTokenizer": "led",
    "Qwen2Tokenizer": "audioflamingo3 colqwen2 cosmos3_omni dots3_note fun_asr_nano hunyuan_vl "
    "internvl lighton_ocr moss_transcribe_diarize ovis2 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl "
    "qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl "
    "qwen3_vl_moe vibevoice",
    "Qwen3_5Tokenizer": "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp",
    "RobertaTokenizer": "bart bridgetower clap data2vec-text ibert lilt longformer mega mra "
    "roberta roberta-prelayernorm",
    "WhisperTokenizer": "whisper",
    GENERIC: "EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm "
    "cohere_asr ernie4_5 ernie4_5_moe flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v "
    "glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode gradium_phonon_tts granite granitemoe "
    "granitemoehybrid granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm internlm2 internlm3 "
    "iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava llava_next mimo_v2_flash minicpm3 "
    "minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 ministral ministral3 mistral mistral3 "
    "mistral_large4 mixtral modernbert modernbert-decoder molmo molmo2 nemo_speechlm nemotron "
    "nvfp4 nystromformer olmo2 olmo3 olmo_hybrid opencua openvla paddleocr_vl pegasus_x persimmon "
    "phi3 phi3_v phimoe pix2struct pixtral pocket_tts smolvlm stablelm step3_vl umt5 vipllava "
    "voxtral voxtral_realtime xlm-roberta-xl",
}
_CLASS_OF_MODEL: Final = {
    model: name for name, models in _MODELS.items() for model in models.split()
}
_MISNAMED: Final = frozenset(
    {
        "hyperclovax_vision_v2",
        "qwen2",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_5_moe_text",
        "qwen4_exp",
    }
)
"""The models whose folders often name a class that is not theirs."""


def class_name(named: str | None, model_type: str) -> str | None:
    """Return the class that reads a folder; None if the type of its model is not known here.

    `named` is the class that the folder's files name, and `model_type` is from its config.json.

    >>> class_name("GPT2TokenizerFast", "gpt2"), class_name(None, "qwen3")
    ('GPT2Tokenizer', 'Qwen2Tokenizer')
    >>> class_name("GPT2Tokenizer", "phi3"), class_name("PreTrainedTokenizerFast", "qwen2")
    ('TokenizersBackend', 'Qwen2Tokenizer')
    """
    of_model = _CLASS_OF_MODEL.get(model_type)
    if named is None or of_model == GENERIC or model_type in _MISNAMED:
        return of_model
    return named.removesuffix("Fast")


_DECODER: Final = "added_tokens_decoder"
_EXTRA: Final = "extra_special_tokens"
_ADDITIONAL: Final = "additional_special_tokens"
_OWN: Final = "model_specific_special_tokens"
_PREFIX: Final = "add_prefix_space"
_TEMPLATE: Final = "chat_template"
_STEPS: Final = "pretokenizers"
_FLAGS: Final = ("single_word", "lstrip", "rstrip", "normalized")


class _Settings(NamedTuple):
    """What tokenizer_config.json and special_tokens_map.json say, joined."""

    fields: Mapping[str, Any]
    named: Mapping[str, object]
    """Special tokens by names of the model's own, such as boi_token."""
    listed: Sequence[object]
    """Special tokens without a name."""


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
        self._templates = {
            "default" if name == CHAT_TEMPLATE else PurePosixPath(name).stem: data
            for name, data in files.items()
            if is_sidecar(name) and name.endswith(".jinja")
        }

    def __bool__(self) -> bool:
        return bool(self._files)

    def _parse(self, name: str) -> dict[str, Any]:
        if name in self._files and name not in self._parsed:
            self._parsed[name] = parse_json(self._files[name], name)
        return self._parsed.get(name, {})

    @cached_property
    def _settings(self) -> _Settings:
        """The settings in the order in which transformers joins them, step by step."""
        fields = dict(self._parse(CONFIG))
        if not fields.get(_EXTRA) and _ADDITIONAL in fields:
            fields[_EXTRA] = fields.pop(_ADDITIONAL)
        named = {name: fields.pop(name) for name in _own_names(fields, str)}
        if isinstance(fields.get(_EXTRA), dict):
            named |= fields.pop(_EXTRA)
        named = named or {**as_object(fields.get(_OWN))}
        # Transformers reads neither of the two older files if this one has the tokens.
        if _DECODER not in fields:
            older = dict(self._parse(SPECIAL_TOKENS))
            extra: object = older.get(_EXTRA)
            if isinstance(extra, list):
                listed = as_list(fields.get(_EXTRA))
                extra = [each for each in cast("list[object]", extra) if each not in listed]
                older[_EXTRA] = [*listed, *extra]
            fields |= older
            if isinstance(fields.get(_EXTRA), dict):
                named |= fields.pop(_EXTRA)
        if _EXTRA not in fields and _ADDITIONAL in fields:
            fields[_EXTRA] = fields.pop(_ADDITIONAL)
        own = {name: fields[name] for name in _own_names(fields, str, dict)}
        extra = fields.get(_EXTRA) or []
        listed = cast("list[object]", extra if isinstance(extra, list) else [extra])
        return _Settings(fields, own | named, listed)

    @property
    def adds_prefix(self) -> bool | None:
        """Whether a space is put in front of a text; None if nothing is said."""
        adds_prefix: object = self._settings.fields.get(_PREFIX)
        return None if adds_prefix is None else bool(adds_prefix)

    @cached_property
    def numbered(self) -> Mapping[str, Token]:
        """The added tokens whose ids are given, by their text."""
        found: dict[str, Token] = {}
        fields = self._settings.fields
        if _DECODER in fields:
            place = f"{_DECODER} in {CONFIG}"
            for id, token in check_object(fields[_DECODER], place).items():
                if not id.isdecimal() or not is_token_id(int(id)):
                    raise FormatError(f"Expected ids as keys of {_DECODER}, got {id!r:.60}.")
                read = added_token(token, place, special=False)
                found[read["content"]] = read | {"id": int(id)}
            return found
        special = self._special_tokens(None)
        for text, id in checked_ids(self._parse(ADDED_TOKENS), ADDED_TOKENS).items():
            found[text] = added_token(text, ADDED_TOKENS, special=text in special) | {"id": id}
        return found

    @property
    def reading_class(self) -> ReadingClass | None:
        """The class of transformers that cuts the text, if it is known here."""
        return CLASSES.get(self.class_name or "")

    @property
    def class_name(self) -> str | None:
        """The class of transformers that reads the folder; None if no file says that."""
        model = self._parse(MODEL_CONFIG)
        given: object = self._parse(CONFIG).get("tokenizer_class") or model.get("tokenizer_class")
        return class_name(None if given is None else str(given), self.model_type)

    @property
    def model_type(self) -> str:
        """The type of the model whose folder it is; "" if that is not known."""
        return str(self._parse(MODEL_CONFIG).get("model_type") or "")

    def added(self, known: ReadingClass | None) -> Iterator[Token]:
        """Yield the added tokens in the order in which transformers, or its class, adds them."""
        special = self._special_tokens(known)
        for token in sorted(self.numbered.values(), key=lambda token: token["id"]):
            text = token["content"]
            if text in special and known is not None and known.adds_again:
                token = special[text] | {"id": token["id"]}
            yield token | {"special": token["special"] or text in special}
        for text, token in special.items():
            if text not in self.numbered:
                yield token

    def _special_tokens(self, known: ReadingClass | None) -> dict[str, Token]:
        """Return the special tokens that have a role or are listed, by their text, in order.

        If one is named several times, the last settings hold.
        """
        found: dict[str, Token] = {}
        for token in [*self._roles(known).values(), *map(_special_token, self._settings.listed)]:
            text = token["content"]
            if text:
                is_plain = known is not None and known.adds_again
                found[text] = _special_token(text) if is_plain else token
        return found

    def _roles(self, known: ReadingClass | None) -> dict[str, Token]:
        """Return the special tokens by the names that a chat template has for them."""
        fields, named, _ = self._settings
        given: dict[str, object] = {} if known is None else {**known.roles}
        given |= {role: fields[role] for role in ROLES if role in fields}
        in_order = {role: given.get(role) for role in ROLES} | dict(named)
        return {role: _special_token(each) for role, each in in_order.items() if each is not None}

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

        Newer folders have a file of its own for it, and a folder for others with names; older ones
        have a text in tokenizer_config.json, or several with names.

        >>> config = b'{"chat_template": "Hug {{ bos_token }}", "bos_token": "<s>"}'
        >>> Sidecars({"tokenizer_config.json": config}).chat().tokens
        {'bos_token': '<s>'}
        """
        source: object = self._settings.fields.get(_TEMPLATE)
        if self._templates:
            texts = {
                name: data.decode("utf-8", "replace") for name, data in self._templates.items()
            }
            source = texts["default"] if [*texts] == ["default"] else texts
        if isinstance(source, list):
            listed = map(as_object, cast("list[object]", source))
            source = {str(each.get("name")): each.get("template") for each in listed}
        if not isinstance(source, str):
            texts = as_object(source)
            source = {name: text for name, text in texts.items() if isinstance(text, str)}
        if source == {}:
            return None
        tokens = {role: token["content"] for role, token in self._roles(self.reading_class).items()}
        return ChatTemplate(source, tokens, first_token)


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
    adds_prefix = beside.adds_prefix
    if adds_prefix is None:
        adds_prefix = known is not None and known.adds_prefix

    def changed(step: object) -> object:
        found = as_object(step)
        is_byte_level = found.get("type") == "ByteLevel"
        return {**found, _PREFIX: adds_prefix} if is_byte_level else step

    whole: object = described.get("pre_tokenizer")
    steps: object = as_object(whole).get(_STEPS)
    if isinstance(steps, list):
        listed = list(map(changed, cast("list[object]", steps)))
        return {**described, "pre_tokenizer": {**as_object(whole), _STEPS: listed}}
    return {**described, "pre_tokenizer": changed(whole)}


def _own_names(fields: Mapping[str, object], *kinds: type) -> list[str]:
    """Return the settings that name a special token of the model's own."""
    return [
        name
        for name, value in fields.items()
        if name.endswith("_token") and name not in ROLES and isinstance(value, kinds)
    ]


def _special_token(value: object) -> Token:
    place = f"the special tokens of {CONFIG} or {SPECIAL_TOKENS}"
    return added_token(value, place, special=True)


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
