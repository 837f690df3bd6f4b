"""Hugging Face's tokenizer.json, as the `tokenizers` library writes and reads it.

Regex engines differ, so a file with a custom pattern is tried with `tokenizers`: it encodes a
probe, which must give the same ids. Reading refuses any part that plain byte-pair encoding cannot
reproduce. Post-processors, truncation and padding are ignored: they change the list of ids after
tokenization.
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
from bpe_core.formats.across_words import read_listed_merges, write_steps
from bpe_core.formats.checking.probe import PROBE, encodable, last_tokens
from bpe_core.formats.description import Description, Given, Merges, refuse_steps
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
    normalizer_part,
    pre_tokenizer_part,
    read_pre_tokenizer,
    without_crossing_numbers,
)
from bpe_core.formats.running.run_by_tokenizers import encode_once
from bpe_core.formats.sidecars import added_token, first_token
from bpe_core.formats.text_growth import check_growth
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import NORMALIZERS, AddedToken, Spaces
from bpe_core.tokenizer import Tokenizer, to_list
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
