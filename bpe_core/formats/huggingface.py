"""Hugging Face's tokenizer.json, as the `tokenizers` library writes and reads it.

Regex engines differ, so a file with a custom pattern is tried with `tokenizers`: it encodes a
probe, which must give the same ids. Reading refuses any part that plain byte-pair encoding cannot
reproduce. Post-processors, truncation and padding are ignored: they change the list of ids after
tokenization.

`write_transformers` writes the folder that `transformers.AutoTokenizer.from_pretrained` opens.
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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from typing import Any, Final, cast

from bpe_core.errors import BpeError, ConfigError, FormatError, TokenizationError
from bpe_core.extras import needs_extra
from bpe_core.formats.across_words import read_listed_merges, unknown_token, write_steps
from bpe_core.formats.checking.probe import PROBE, encodable, last_tokens
from bpe_core.formats.description import Description, Given, Merges, refuse_steps
from bpe_core.formats.folder_files import CONFIG, SPECIAL_TOKENS
from bpe_core.formats.gpt2_files import (
    from_printable_model,
    ids_by_text,
    number_listed,
    printable_model,
)
from bpe_core.formats.json_files import (
    Part,
    as_list,
    as_object,
    check_object,
    checked_ids,
    flat_steps,
    is_token_id,
)
from bpe_core.formats.patterns import (
    BYTE_LEVEL,
    check_growth,
    normalizer_part,
    pre_tokenizer_part,
    read_pre_tokenizer,
    without_crossing_numbers,
)
from bpe_core.formats.published.catalogue import Published
from bpe_core.formats.running.run_by_tokenizers import encode_once
from bpe_core.formats.sidecars import added_token, first_token
from bpe_core.formats.token_parts import to_list
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import NORMALIZERS, Spaces
from bpe_core.tokenizer import AddedToken, Tokenizer
from bpe_core.unicode import META

FILE_NAME: Final = "tokenizer.json"
# These add ids or drop some, after the text has been cut into tokens.
_LEFT_OUT: Final = ("post_processor", "truncation", "padding")


def write_huggingface(tokenizer: Tokenizer) -> bytes:
    """Return tokenizer.json.

    Raises `ConfigError` if the format cannot express the tokenizer exactly. A custom pattern is
    tried with the `tokenizers` library if that is installed.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.formats import loads
    >>> loads({"tokenizer.json": write_huggingface(gpt2())}) == gpt2()
    True
    """
    refuse_steps(tokenizer, FILE_NAME, ("normalizer", "added", "left out", "characters"))
    steps = write_steps if tokenizer.pretokenizer.adds_space else _write_steps
    written = json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": each.id, **added_token(_as_object(each), FILE_NAME, special=False)}
                for each in sorted(_added_tokens(tokenizer), key=lambda each: each.id)
            ],
            **steps(tokenizer),
        },
        ensure_ascii=False,
    )
    is_custom = tokenizer.pretokenizer.cut.startswith("regex:")
    if is_custom and find_spec("tokenizers") is not None:
        otherwise = why_otherwise(tokenizer, written)
        if otherwise:
            raise ConfigError(f"{otherwise} Save this tokenizer in the native format.")
    return written.encode()


def _added_tokens(tokenizer: Tokenizer) -> Sequence[AddedToken]:
    """Return the added tokens of a tokenizer, which are its special tokens if it names none."""
    return tokenizer.added or [
        AddedToken(text, id, is_special=True, is_normalized=False)
        for text, id in tokenizer.special_tokens.items()
    ]


def _as_object(token: AddedToken) -> Part:
    return {
        "content": token.text,
        "special": token.is_special,
        "normalized": token.is_normalized,
    }


def describe_huggingface(
    given: Given, described: Part, *, origin: str = "", names_cut: bool = True
) -> Description:
    """Describe a parsed tokenizer.json; `tokenizers` can encode what bpe_core cannot.

    >>> model = {"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": ["a a"]}
    >>> described = {"model": model, "normalizer": {"type": "NFC"}}
    >>> describe_huggingface(Given("mine", b""), described).merges.merges
    [(0, 0, 1)]
    """
    merges: Merges | None = None
    spaces: Spaces | None = None
    added: tuple[AddedToken, ...] = ()
    why_not = ""
    model = as_object(described.get("model"))
    try:
        _refuse_what_is_not_plain_bpe(described.get("model"))
        spaces = read_spaces(described) if model.get("byte_fallback") else None
        ids = checked_ids(model.get("vocab"), "the vocabulary")
        added = read_added_tokens(described, ids)
        with without_garbage_collection():
            merges = _read_merges(described, ids, added, spaces)
    except BpeError as error:
        why_not = str(error)
    form, other = ("", "") if spaces is not None else _read_normalizer(described.get("normalizer"))
    if merges is not None and form:
        merges = replace(merges, pretokenizer=f"{form}+{merges.pretokenizer}")
    unknown: object = model.get("unk_token")
    return Description(
        name=given.name,
        origin=origin,
        merges=merges,
        why_not=why_not,
        unknown=None if unknown is None else str(unknown),
        added_tokens=added,
        special=special_texts(described),
        normalizer=other,
        spaces=spaces,
        library="tokenizers",
        parsed=described,
        names_cut=names_cut,
        first_token=first_token(described),
    )


def _read_normalizer(part: object) -> tuple[str, str]:
    """Return the normal form of Unicode that a normalizer is, and otherwise its name.

    >>> _read_normalizer({"type": "NFC"}), _read_normalizer({"type": "Lowercase"})
    (('NFC', ''), ('', 'Lowercase'))
    """
    steps = [*flat_steps(part, "normalizers")]
    if len(steps) == 1 and steps[0].get("type") in NORMALIZERS:
        return str(steps[0]["type"]), ""
    return "", ", ".join(str(step.get("type")) for step in steps)


def library_source(read: Description) -> bytes:
    """Return what another library is given for a description."""
    return read.source if read.parsed is None else for_library(read.parsed)


def for_library(described: Mapping[str, Any]) -> bytes:
    """Return a tokenizer.json for another library, without what changes ids after tokenization.

    Raises `FormatError` if it makes texts much longer.

    >>> for_library({"truncation": {"max_length": 2}, "model": {"dropout": 0.1}})
    b'{"truncation":null,"model":{"dropout":null},"post_processor":null,"padding":null}'
    """
    check_growth(described)
    model: object = described.get("model")
    plain = {**described, **dict.fromkeys(_LEFT_OUT)}
    if isinstance(model, dict) and "dropout" in model:
        plain["model"] = {**cast("Part", model), "dropout": None}
    with needs_extra("formats", "Opening this file"):
        import msgspec

    # Written by the library, added tokens are in another order, which may change what is found.
    try:
        return msgspec.json.encode(plain)  # in a quarter of the time of json
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(plain).encode()


def _read_merges(
    described: Part, ids: Mapping[str, int], added: Sequence[AddedToken], spaces: Spaces | None
) -> Merges:
    """Return the merges of a parsed tokenizer.json, which encode what its normalizer returns.

    Raises `FormatError` for merges or a pre-tokenizer that cannot be read exactly.
    """
    model = described["model"]
    if spaces is not None:
        return read_listed_merges(ids, _merges(model.get("merges")), added, spaces)
    special_tokens = {each.text: each.id for each in added}
    cut = read_pre_tokenizer(described.get("pre_tokenizer"))
    merges = _merges(model.get("merges"))
    whole_words_first = bool(model.get("ignore_merges"))
    if cut.by_falcons_steps:
        merges = without_crossing_numbers(merges)
    if not cut.by_bytes:
        return _from_characters(
            ids, merges, cut.pretokenizer, special_tokens, whole_words_first=whole_words_first
        )
    return from_printable_model(
        ids,
        merges,
        pretokenizer=cut.pretokenizer,
        special_tokens=special_tokens,
        whole_words_first=whole_words_first,
        others_as_text=not whole_words_first,
    )


def _write_steps(tokenizer: Tokenizer) -> Part:
    """Return the parts that cut a text, merge it and decode it."""
    by_bytes = tokenizer.base == "bytes"
    ids, merges = printable_model(tokenizer) if by_bytes else _character_model(tokenizer)
    return {
        "normalizer": normalizer_part(tokenizer.pretokenizer),
        "pre_tokenizer": pre_tokenizer_part(tokenizer.pretokenizer, by_bytes=by_bytes),
        "post_processor": None,
        "decoder": {**BYTE_LEVEL, "use_regex": True} if by_bytes else {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": tokenizer.table.whole_words_first,
            "vocab": ids,
            "merges": merges,
        },
    }


def _character_model(tokenizer: Tokenizer) -> tuple[dict[str, int], list[tuple[str, str]]]:
    if tokenizer.table.byte_ids:
        raise ConfigError(
            "This tokenizer spells rare characters in bytes and puts no space in front of a text, "
            "which only its base's own files or the native format hold. Save it in the native "
            "format."
        )
    texts = {id: token.decode() for id, token in tokenizer.vocab.items()}
    merges = [(texts[left], texts[right]) for left, right, _ in tokenizer.table.triples]
    return ids_by_text(texts), merges


def why_otherwise(tokenizer: Tokenizer, written: str) -> str:
    """Return how `tokenizers` would encode a probe differently from this file, or ""."""
    probe = encodable(tokenizer, PROBE + last_tokens(tokenizer, 500))
    try:
        theirs = encode_once(written, probe, find_special=True)
    except (FormatError, TokenizationError):
        return (
            f"Hugging Face's tokenizers cannot read or run the pre-tokenizer "
            f"{tokenizer.pretokenizer.name[:80]!r}."
        )
    if theirs == tokenizer.encode(probe, allowed_special="all"):
        return ""
    return (
        f"Hugging Face's tokenizers would encode differently with the pre-tokenizer "
        f"{tokenizer.pretokenizer.name[:80]!r}."
    )


def _refuse_what_is_not_plain_bpe(described: object) -> None:
    model = check_object(described, "the model")
    kind = model.get("type", "BPE" if "merges" in model else None)
    if kind != "BPE":
        raise FormatError(f"Expected a BPE model, got {kind!r:.60}.")
    fallback = model.get("byte_fallback")
    if not isinstance(fallback, (bool, type(None))):
        raise FormatError(f"Expected true or false as byte_fallback, got {fallback!r:.60}.")
    refused = ["dropout", "continuing_subword_prefix", "end_of_word_suffix"]
    for name in [*refused, "ignore_merges"] if fallback else refused:
        if model.get(name):
            raise FormatError(
                f"The model sets {name} to {model[name]!r:.60}, which plain byte-pair encoding "
                f"does not support."
            )


def _merges(value: object) -> list[Sequence[str]]:
    if not isinstance(value, list):
        raise FormatError("The model has no list of merges.")
    listed = cast("list[Any]", value)
    pairs: list[Any] = listed
    if set(map(type, listed)) != {list}:
        pairs = [each.split(" ") if isinstance(each, str) else each for each in listed]
    is_right = (
        set(map(type, pairs)) <= {list}
        and set(map(len, pairs)) <= {2}
        and set(map(type, chain.from_iterable(pairs))) <= {str}
    )
    for rank, pair in enumerate(() if is_right else pairs):
        if list(map(type, as_list(pair))) != [str, str]:
            raise FormatError(f"Expected two tokens in merge {rank}, got {listed[rank]!r:.60}.")
    return pairs


def _from_characters(
    ids: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    pretokenizer: str,
    special_tokens: Mapping[str, int],
    *,
    whole_words_first: bool,
) -> Merges:
    merges_by_id = to_list(number_listed(ids, merges))
    try:
        vocab = {id: text.encode() for text, id in {**ids, **special_tokens}.items()}
    except UnicodeEncodeError as error:
        raise FormatError(
            f"The token {error.object!r:.60} contains a lone surrogate, which has no UTF-8."
        ) from None
    return Merges(
        vocab=vocab,
        merges=merges_by_id,
        pretokenizer=pretokenizer,
        base="characters",
        special_tokens=special_tokens,
        whole_words_first=whole_words_first,
    )


def read_spaces(described: Mapping[str, Any]) -> Spaces:
    """Return how a tokenizer.json writes spaces as ▁.

    Raises `FormatError` if its normalizer or pre-tokenizer does anything else.

    >>> read_spaces({"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}})
    Spaces(prefix='never', if_missing=False)
    """
    normalizers = list(flat_steps(described.get("normalizer"), "normalizers"))
    cuts = list(flat_steps(described.get("pre_tokenizer"), "pretokenizers"))
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": META}
    prepend = {"type": "Prepend", "prepend": META}
    if replace in normalizers:
        # Without spaces, there is nothing that a split at spaces could cut.
        cuts = [each for each in cuts if not _is_split_at_spaces(each)]
        if not cuts and normalizers == [replace]:
            return Spaces()
        if not cuts and normalizers in ([prepend, replace], [replace, prepend]):
            return Spaces("always")
    elif not normalizers and len(cuts) == 1:
        (cut,) = cuts
        scheme = cut.get("prepend_scheme", "always")
        is_whole = cut.get("type") == "Metaspace" and cut.get("split") is False
        if is_whole and cut.get("replacement") == META and scheme in ("always", "first", "never"):
            return Spaces(scheme, if_missing=True)
    kinds = ", ".join(str(each.get("type")) for each in [*normalizers, *cuts])
    raise FormatError(f"Its text is changed or cut in a way that is not run here ({kinds:.100}).")


def _is_split_at_spaces(cut: Mapping[str, Any]) -> bool:
    return cut.get("type") == "Split" and cut.get("pattern") == {"String": " "}


def read_added_tokens(
    described: Mapping[str, Any], ids: Mapping[str, int]
) -> tuple[AddedToken, ...]:
    """Return the added tokens of a tokenizer.json whose vocabulary has these ids.

    Raises `FormatError` for one that does not match exactly its own text, and for one whose id is
    not the one that `tokenizers` gives it. The library ignores the file's: a token outside the
    vocabulary gets the number of tokens before it.

    >>> described = {"added_tokens": [{"content": "<s>", "id": 1, "special": True}]}
    >>> read_added_tokens(described, {"a": 0})
    (AddedToken(text='<s>', id=1, is_special=True, is_normalized=False),)
    """
    listed: object = described.get("added_tokens") or []
    if not isinstance(listed, list):
        raise FormatError(f"Expected a list as added_tokens, got {listed!r:.80}.")
    found: dict[str, AddedToken] = {}
    next_id = len(ids)
    for entry in cast("list[object]", listed):
        added = as_object(entry)
        text, id = added.get("content"), added.get("id")
        if not isinstance(text, str) or not text or not is_token_id(id):
            raise FormatError(f"The added token {entry!r:.80} has no text or no valid id.")
        if text in found:
            raise FormatError(f"The added token {text!r:.60} is listed twice.")
        for name in ("single_word", "lstrip", "rstrip"):
            if added.get(name):
                raise FormatError(
                    f"The added token {text!r:.60} has {name} set, so it would not match exactly "
                    f"its own text. Special tokens here always do."
                )
        given = ids.get(text, next_id)
        if id != given:
            raise FormatError(
                f"The added token {text!r:.60} has the id {id}, but Hugging Face's tokenizers "
                f"gives it the id {given}."
            )
        is_special = bool(added.get("special"))
        is_normalized = bool(added.get("normalized", not is_special))
        found[text] = AddedToken(text, id, is_special, is_normalized)
        next_id = max(next_id, given + 1)
    return tuple(found.values())


def special_texts(described: Mapping[str, Any]) -> list[str]:
    """Return the texts of the special added tokens of any tokenizer.json.

    Of a token that is listed twice, `tokenizers` writes the last, but finds it as special if one
    of them is.

    >>> special_texts({"added_tokens": [{"content": "<s>", "special": True}, 7]})
    ['<s>']
    """
    listed = map(as_object, as_list(described.get("added_tokens")))
    special = (each.get("content") for each in listed if each.get("special") is True)
    return [text for text in special if isinstance(text, str)]


FOLDER: Final = "transformers-tokenizer"
"""The name that the folder has in a download and in the lines of code that load it."""

_BEGIN_ROLE: Final = "bos_token"
_END_ROLE: Final = "eos_token"
# The names that published tokenizers give these roles; the first one present is taken.
_ROLE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    _BEGIN_ROLE: ("<s>", "<bos>", "[BOS]", "<|bos|>", "<|begin_of_text|>", "<|startoftext|>"),
    _END_ROLE: ("<|endoftext|>", "</s>", "<eos>", "[EOS]", "<|eos|>", "<|end_of_text|>"),
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
    described = write_huggingface(tokenizer)
    if (begin := added_begin(tokenizer.special_tokens)) is not None:
        template = _begun_with(begin, tokenizer.special_tokens[begin])
        with_template = json.loads(described) | {"post_processor": template}
        described = json.dumps(with_template, ensure_ascii=False).encode()
    return {FILE_NAME: described, **role_files(tokenizer)}


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
            for role, names in _ROLE_NAMES.items()
            if (name := next((name for name in names if name in special_tokens), None)) is not None
        }
    )
    in_order = sorted(special_tokens, key=special_tokens.__getitem__)
    if len(in_order) == 1 and not named and in_order[0].strip("<>[]|").lower() not in _UNKNOWN:
        named[_BEGIN_ROLE] = in_order[0]
    either = named.get(_BEGIN_ROLE, named.get(_END_ROLE))
    if either is not None and known is None:
        named = {_BEGIN_ROLE: either, _END_ROLE: named.get(_END_ROLE, either), **named}
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
    return known.roles[_BEGIN_ROLE] if known is not None and known.adds_begin else None


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
