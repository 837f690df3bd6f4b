r"""GGUF's vocabulary: read as a tokenizer.json or SentencePiece model, and written.

Models of the kinds gpt2, gemma4 and bert become a tokenizer.json, and llama and t5 become a
SentencePiece model. GGUF files do not store normalizers such as NFC, so there is none.

`tokenizer.ggml.pre` names how the text of byte-level BPE is cut. Each name stands for the
pre-tokenizer of the tokenizer.json from which such files are made. They are llama.cpp's names; its
own patterns are adapted to an engine that knows fewer classes.

What is written is the tokenizer as llama.cpp reads it, without any tensors. GGUF holds no pattern.
`tokenizer.ggml.pre` names one that llama.cpp knows, so only tokenizers that
cut text in one of these ways can be written. llama.cpp compiles its own copies of the patterns,
some of them simplified: for capitals outside ASCII under `gpt-4o` and `tekken`, for example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast

from bpe_core.chat import ChatTemplate
from bpe_core.errors import BpeError, ConfigError, FormatError
from bpe_core.formats.across_words import describe_sentencepiece, reads_as
from bpe_core.formats.description import Description, Given, refuse_steps
from bpe_core.formats.gguf.gguf_header import (
    ARRAY,
    HEADER,
    MAGIC,
    STRING,
    GgufValue,
    pack_text,
    pack_value,
    parse_gguf,
)
from bpe_core.formats.gpt2_files import printable_model
from bpe_core.formats.huggingface import added_begin, describe_huggingface, special_roles
from bpe_core.formats.patterns import BY_REGEX, FALCON, STEPS, isolated
from bpe_core.formats.sentencepiece_model import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    write_model,
)
from bpe_core.formats.sidecars import added_token
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import Tokenizer
from bpe_core.unicode import META

Part = dict[str, Any]

BYTE_LEVEL: Final[Part] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
_BYTES: Final[Part] = {**BYTE_LEVEL, "use_regex": False}
_QWEN35: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# The letters of the scripts with two cases, as DeepSeek lists them.
_CASED: Final = (
    "A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1"
    "\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5"
    "\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    "\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3"
    "\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115"
    "\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    "\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
    "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_EAST_ASIAN: Final = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_DEEPSEEK_LLM: Final = (
    "[\r\n]",
    rf"\s?[{_CASED}]+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    _EAST_ASIAN,
    r"\p{N}+",
)
_DEEPSEEK_CODER: Final = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST_ASIAN, r"\p{N}")


def _splits(*patterns: str) -> list[Part]:
    return [*(dict(isolated(pattern)) for pattern in patterns), _BYTES]


def _named(name: str) -> list[Part]:
    """Return the parts that cut as a named pre-tokenizer of bpe_core does."""
    cut = get_pretokenizer(name)
    if cut.drops_text:
        raise ConfigError(
            f"The pre-tokenizer {name!r:.80} drops white space, which that of a GGUF file never "
            "does. Name another one."
        )
    if cut.normalizer is not None:
        raise ConfigError(
            f"The pre-tokenizer {name!r:.80} normalizes text, which that of a GGUF file never "
            f"does. Name {cut.cut!r:.80}."
        )
    return _splits(cut.pattern) if cut.pattern is not None else [_BYTES]


class Family(NamedTuple):
    """A cut that llama.cpp has names for."""

    names: tuple[str, ...]
    """llama.cpp's names; files that are written get the first."""
    steps: list[Part]
    pretokenizer: str | None = None
    """The pre-tokenizer of bpe_core that cuts alike; the first family that has it stands for it."""
    whole_words_first: bool = False
    """True if whole pre-tokens are looked up before they are merged."""


FAMILIES: Final = (
    Family(
        ("gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling"),
        [BYTE_LEVEL],
        "gpt2",
    ),
    Family(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"),
        [dict(STEPS["starcoder"][0]), BYTE_LEVEL],
        "starcoder",
    ),
    Family(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "glm4"),
        _named("llama3"),
        "llama3",
        whole_words_first=True,
    ),
    Family(("dbrx", "smaug-bpe"), _named("llama3"), "llama3"),
    Family(("qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan"), _named("qwen2"), "qwen2"),
    Family(("qwen35",), _splits(_QWEN35)),
    Family(("tekken",), _named("tekken"), "tekken", whole_words_first=True),
    Family(("gpt-4o", "llama4"), _named("o200k"), "o200k"),
    Family(("deepseek-v3",), [*map(dict, STEPS["deepseek-v3"]), _BYTES], "deepseek-v3"),
    Family(("deepseek-llm",), _splits(*_DEEPSEEK_LLM)),
    Family(("deepseek-coder",), _splits(*_DEEPSEEK_CODER)),
    Family(
        ("falcon",),
        [BYTE_LEVEL if step == BY_REGEX else dict(step) for step in FALCON],
        "falcon",
    ),
)
_BY_NAME: Final = {name: family for family in FAMILIES for name in family.names}
_BY_PRETOKENIZER: Final = {
    family.pretokenizer: family for family in reversed(FAMILIES) if family.pretokenizer is not None
}
KNOWN_CUTS: Final = tuple(_BY_NAME)
"""The known values of `tokenizer.ggml.pre`."""


def find_cut(name: str | None, pretokenizer: str | None = None) -> tuple[Part, bool]:
    """Return the pre-tokenizer of a name, and whether whole pre-tokens are looked up first.

    If the name is missing or not known, it is the named `pretokenizer` of bpe_core. Raises
    `FormatError` if none is named, and `ConfigError` for one that cannot stand for a GGUF file's.

    >>> part, whole_words_first = find_cut("starcoder")
    >>> [each["type"] for each in part["pretokenizers"]], whole_words_first
    (['Digits', 'ByteLevel'], False)
    >>> find_cut("brand-new")
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The GGUF file cuts text by the pre-tokenizer 'brand-new', which \
is not known here. Name its pre-tokenizer, such as gpt2 or llama3, or use the tokenizer.json of \
the same model.
    >>> find_cut("brand-new", "starcoder") == find_cut("starcoder")
    True
    """
    family = _BY_NAME.get(name or "") or _BY_PRETOKENIZER.get(pretokenizer or "")
    if family is None and pretokenizer is None:
        problem = (
            f"cuts text by the pre-tokenizer {name!r:.80}, which is not known here"
            if name is not None
            else "does not say how it cuts text: it lacks the key tokenizer.ggml.pre"
        )
        raise FormatError(
            f"The GGUF file {problem}. Name its pre-tokenizer, such as gpt2 or llama3, or use the "
            "tokenizer.json of the same model."
        )
    family = family or Family((), _named(pretokenizer or ""))
    parts = family.steps
    part = parts[0] if len(parts) == 1 else {"type": "Sequence", "pretokenizers": parts}
    return part, family.whole_words_first


Keys = Mapping[str, GgufValue]
_KEY: Final = "tokenizer.ggml."
_TEMPLATE: Final = "tokenizer.chat_template"
_KINDS: Final = ("gpt2", "gemma4", "bert", "llama", "t5")
# GGUF names ids, as `padding_token_id`.
_ROLES: Final = {"padding": "pad", "seperator": "sep", "unknown": "unk"}


def describe_gguf(given: Given) -> Description:
    """Describe the tokenizer of a GGUF file; raises `FormatError`."""
    keys = parse_gguf(given.data)
    described = from_gguf(keys, given.pretokenizer)
    kinds = [
        f"{part} {keys[_KEY + part]!s:.40}" for part in ("model", "pre") if _KEY + part in keys
    ]
    origin = f"The vocabulary of a GGUF file ({', '.join(kinds)})."
    chat = find_chat(keys, _strings(keys, "tokens"))
    if isinstance(described, bytes):
        return replace(describe_sentencepiece(given, described, origin=origin), chat=chat)
    # A pre-tokenizer that is given stands for a cut without a known name.
    names_cut = keys[_KEY + "model"] != "gpt2" or keys.get(_KEY + "pre") in KNOWN_CUTS
    found = describe_huggingface(given, described, origin=origin, names_cut=names_cut)
    return replace(found, chat=chat)


def find_chat(keys: Mapping[str, GgufValue], tokens: list[str]) -> ChatTemplate | None:
    """Return the chat template of a GGUF file, or None; `tokens` is its vocabulary.

    If it has several, those but the default one are in keys that end with their names.

    >>> keys = {"tokenizer.chat_template": "Hug", "tokenizer.ggml.bos_token_id": 1}
    >>> find_chat(keys, ["a", "<s>"]).tokens
    {'bos_token': '<s>'}
    """
    templates = {
        key.removeprefix(_TEMPLATE).removeprefix(".") or "default": source
        for key, source in keys.items()
        if f"{key}.".startswith(f"{_TEMPLATE}.") and isinstance(source, str)
    }
    if not templates:
        return None
    source = templates["default"] if [*templates] == ["default"] else templates
    named: dict[str, str] = {}
    for key, id in keys.items():
        role = key.removeprefix("tokenizer.ggml.").removesuffix("_token_id")
        is_role = key == f"tokenizer.ggml.{role}_token_id"
        if is_role and type(id) is int and 0 <= id < len(tokens):
            named[f"{_ROLES.get(role, role)}_token"] = tokens[id]
    adds = keys.get("tokenizer.ggml.add_bos_token") is True
    return ChatTemplate(source, named, named.get("bos_token", "") if adds else "")


def from_gguf(keys: Keys, pretokenizer: str | None = None) -> dict[str, Any] | bytes:
    """Return a parsed tokenizer.json, or the bytes of a SentencePiece model.

    `pretokenizer` is for byte-level BPE whose file does not name a cut that is known. Raises
    `FormatError` for a kind of model or a cut that is not known, for a vocabulary with two equal
    tokens, and for merges and types that do not fit it.

    >>> tokens = ["<unk>", "a", "▁a"]
    >>> keys = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens}
    >>> types = {"tokenizer.ggml.scores": [0.0, 0.0, -1.0], "tokenizer.ggml.token_type": [2, 1, 1]}
    >>> isinstance(from_gguf(keys | types), bytes)
    True
    """
    kind = keys.get(_KEY + "model")
    if kind is None:
        raise FormatError("The GGUF file has no tokenizer: it lacks the key tokenizer.ggml.model.")
    if kind not in _KINDS:
        raise FormatError(
            f"The GGUF file's tokenizer is of the kind {kind!r:.60}; {', '.join(_KINDS)} are known."
        )
    tokens = _strings(keys, "tokens")
    if not tokens:
        raise FormatError("The GGUF file has a vocabulary without tokens.")
    types = _numbers(keys, "token_type", [NORMAL] * len(tokens))
    ids: dict[str, int] = {}
    for id, token in enumerate(tokens):
        if ids.setdefault(token, id) != id:
            raise FormatError(f"The tokens {ids[token]:,} and {id:,} are both {token!r:.60}.")
    if len(types) != len(tokens):
        raise FormatError(f"The GGUF file has {len(tokens):,} tokens and {len(types):,} types.")
    if kind in ("llama", "t5"):
        return _sentencepiece(keys, kind, tokens, types)
    if kind == "bert":
        return _wordpiece(keys, ids, types)
    return _bpe(keys, kind, ids, types, pretokenizer)


def _bpe(
    keys: Keys, kind: str, ids: dict[str, int], types: list[int], pretokenizer: str | None
) -> dict[str, Any]:
    merges: list[list[str]] = []
    with without_garbage_collection():
        for rank, merge in enumerate(_strings(keys, "merges")):
            # The first space after the first character, which may itself be a space.
            cut = merge.find(" ", 1)
            left, right = merge[:cut], merge[cut + 1 :]
            if cut < 0 or left not in ids or right not in ids or left + right not in ids:
                raise FormatError(f"Merge {rank:,}, {merge!r:.80}, does not fit the vocabulary.")
            merges.append([left, right])
    model: dict[str, Any] = {"type": "BPE", "vocab": ids, "merges": merges, "ignore_merges": False}
    if kind == "gemma4":
        unknown = _unknown(keys, len(ids))
        model |= {"byte_fallback": True, "fuse_unk": True}
        model["unk_token"] = None if unknown is None else list(ids)[unknown]
        return {
            "version": "1.0",
            "added_tokens": _added(ids, types),
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": META},
            "pre_tokenizer": None,
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"String": META}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                ],
            },
            "model": model,
        }
    name = keys.get(_KEY + "pre")
    # llama.cpp writes "default" for a cut that its converter does not know.
    known = name if isinstance(name, str) and name != "default" else None
    pre_tokenizer, model["ignore_merges"] = find_cut(known, pretokenizer)
    return {
        "version": "1.0",
        "added_tokens": _added(ids, types),
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "decoder": BYTE_LEVEL,
        "model": model,
    }


def _wordpiece(keys: Keys, ids: dict[str, int], types: list[int]) -> dict[str, Any]:
    """Describe a WordPiece model; GGUF writes ▁ at a word's start instead of ## within it."""
    vocab: dict[str, int] = {}
    for token, id in ids.items():
        if types[id] == NORMAL:
            token = token[1:] if token.startswith(META) else f"##{token}"
        if vocab.setdefault(token, id) != id:
            raise FormatError(f"The tokens {vocab[token]:,} and {id:,} are both {token!r:.60}.")
    unknown = _unknown(keys, len(ids))
    if unknown is None:
        raise FormatError("The WordPiece vocabulary of the GGUF file names no unknown token.")
    return {
        "version": "1.0",
        "added_tokens": _added(ids, types),
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "vocab": vocab,
            "unk_token": list(ids)[unknown],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
    }


def _sentencepiece(keys: Keys, kind: str, tokens: list[str], types: list[int]) -> bytes:
    scores = _numbers(keys, "scores", [0.0] * len(tokens))
    if len(scores) != len(tokens):
        raise FormatError(f"The GGUF file has {len(tokens):,} tokens and {len(scores):,} scores.")
    unknown = _unknown(keys, len(tokens))
    if unknown is None or types[unknown] not in (NORMAL, UNKNOWN):
        unknown = next((id for id, type in enumerate(types) if type == UNKNOWN), 0)
    pieces = [
        # The library accepts one unknown piece; others cannot be reached.
        Piece(token, score, UNKNOWN if id == unknown else UNUSED if type == UNKNOWN else type)
        for id, (token, score, type) in enumerate(zip(tokens, scores, types, strict=True))
    ]
    charsmap = keys.get(_KEY + "precompiled_charsmap", [])
    try:
        charsmap = bytes(cast("list[int]", charsmap))
    except (TypeError, ValueError):
        raise FormatError("The GGUF file's precompiled_charsmap is not a list of bytes.") from None
    return write_model(
        pieces,
        "BPE" if kind == "llama" else "Unigram",
        dummy_prefix=bool(keys.get(_KEY + "add_space_prefix", True)),
        remove_extra_spaces=bool(keys.get(_KEY + "remove_extra_whitespaces", False)),
        charsmap=charsmap,
    )


def _added(ids: Mapping[str, int], types: list[int]) -> list[dict[str, Any]]:
    """Return control tokens as special ones, and user-defined ones as found in any text."""
    return [
        {
            "id": id,
            **added_token(token, "", special=types[id] == CONTROL),
            "normalized": False,
        }
        for token, id in ids.items()
        if types[id] in (CONTROL, USER_DEFINED) and token
    ]


def _strings(keys: Keys, name: str) -> list[str]:
    value = keys.get(_KEY + name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise FormatError(f"The GGUF file lacks the list of texts tokenizer.ggml.{name}.")
    return cast("list[str]", value)


def _numbers(keys: Keys, name: str, default: list[Any]) -> list[Any]:
    value = keys.get(_KEY + name, default)
    if not isinstance(value, list) or any(isinstance(each, str) for each in value):
        raise FormatError(f"Expected a list of numbers as tokenizer.ggml.{name}.")
    return value


def _unknown(keys: Keys, n_tokens: int) -> int | None:
    """Return the id of the token for text that the vocabulary lacks, or None."""
    value = keys.get(_KEY + "unknown_token_id")
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < n_tokens else None


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
# The id that GGUF gives to each role.
_WRITTEN_ROLES: Final[Mapping[str, str]] = {
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
        if role in _WRITTEN_ROLES and isinstance(name, str):
            keys[_KEY + _WRITTEN_ROLES[role]] = special[name]
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
