"""Read from a tokenizer.json how spaces are written as ▁, and which added tokens are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from bpe_core.errors import FormatError
from bpe_core.formats.json_files import as_list, as_object, flat_steps, is_token_id
from bpe_core.pretokenizers import AddedToken, Spaces
from bpe_core.unicode import META


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
