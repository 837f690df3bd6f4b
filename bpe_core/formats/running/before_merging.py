"""What is done to a text before its merges: spaces are written as ▁, and added tokens found."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from bpe_core.errors import FormatError
from bpe_core.formats.json_files import as_list, as_object, flat_steps, is_token_id
from bpe_core.pretokenizers import AddedTokenFinder
from bpe_core.unicode import META

Prefix = Literal["always", "first", "never"]


@dataclass(frozen=True, slots=True)
class Spaces:
    """Where a space is put in front of a text, and of each part between added tokens.

    >>> Spaces("always").written("a▁b"), Spaces("first").written("b", at_start=False)
    (' a b', 'b')
    """

    prefix: Prefix = "never"
    """"first" if only of what begins the whole text."""
    if_missing: bool = False
    """True if only of what does not begin with one; this is done after all added tokens are found,
    and otherwise before those that are looked for in the normalized text."""

    def written(self, text: str, *, at_start: bool = True) -> str:
        """Return a text with its spaces; ▁ is one too, because tokens do not tell them apart."""
        text = text.replace(META, " ")
        wanted = self.prefix == "always" or (self.prefix == "first" and at_start)
        return f" {text}" if text and wanted and not (self.if_missing and text[0] == " ") else text


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


class AddedToken(NamedTuple):
    """A token that is found in a text before anything is merged."""

    text: str
    id: int
    is_special: bool
    """True if it is found only where special tokens are allowed."""
    is_normalized: bool
    """True if it is looked for in the normalized text."""


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


def found_in_one_search(added: Sequence[AddedToken]) -> bool:
    """Return True if one search for all added tokens finds what the library's two searches find.

    It first finds those that are looked for in the text as it is, and between them those that are
    looked for in the normalized text. One search differs where one of the latter begins before one
    of the former and overlaps it, or begins with it.

    >>> raw, normalized = AddedToken("</s>", 1, True, False), AddedToken("[/I]</s>", 2, False, True)
    >>> found_in_one_search([raw]), found_in_one_search([raw, normalized])
    (True, False)
    """
    raw = {each.text for each in added if not each.is_normalized}
    in_order, lengths = sorted(raw), {len(text) for text in raw}

    def overlaps(text: str, start: int) -> bool:
        if any(text[start : start + length] in raw for length in lengths):
            return True
        place = bisect_left(in_order, text[start:])
        return start > 0 and place < len(raw) and in_order[place].startswith(text[start:])

    return not any(
        overlaps(each.text, start)
        for each in added
        if each.is_normalized
        for start in range(len(each.text))
    )


def build_finder(added: Iterable[AddedToken]) -> AddedTokenFinder:
    """Return what finds added tokens in a text.

    >>> list(build_finder([AddedToken("<s>", 1, False, False)]).split("a<s>", set()))
    [('a', None), ('<s>', 1)]
    """
    added = list(added)
    special = [each.text for each in added if each.is_special]
    return AddedTokenFinder({each.text: each.id for each in added}, special)


def find_isolated(added: Sequence[AddedToken], spaces: Spaces) -> list[AddedToken]:
    """Return the added tokens that may be found last: in the text that is merged, as it is cut.

    Those are not special and have no space, no text is put in front of what follows them, and they
    overlap with no token that is found before.

    >>> newline, runs = AddedToken("\\n", 1, False, False), AddedToken("▁▁", 2, False, False)
    >>> find_isolated([newline, runs], Spaces()), find_isolated([newline], Spaces("always"))
    ([AddedToken(text='\\n', id=1, is_special=False, is_normalized=False)], [])
    """
    is_free = spaces.prefix == "never"
    found = [
        each
        for each in added
        if not (each.is_special or " " in each.text or META in each.text)
        and (is_free or (each.is_normalized and not spaces.if_missing))
    ]
    texts = {each.text for each in found}
    others = {each.text for each in added} - texts
    others |= {text.replace(META, " ") for text in others}
    return [] if _overlap(texts, others) or not found_in_one_search(found) else found


def _overlap(texts: Set[str], others: Set[str]) -> bool:
    """Return True if one of the texts and one of the others can share a part of a text.

    >>> _overlap({"<b>"}, {"<<"}), _overlap({"<b>"}, {"b"}), _overlap({"<b>"}, {"a", "><<"})
    (True, True, True)
    >>> _overlap({"<b>"}, {"a", "b<"}), _overlap({"<b>"}, {"a", "<b"})
    (True, True)
    >>> _overlap({"<b>"}, {"a", "bb"})
    False
    """
    border = "\ud800"  # a lone surrogate, which is in no text
    joined = f"{border}{border.join(texts)}{border}"
    firsts, lasts = {text[0] for text in texts}, {text[-1] for text in texts}
    lengths = set(map(len, texts))
    return any(
        other in joined
        or any(
            (
                other[at] in firsts
                and (
                    f"{border}{other[at:]}" in joined
                    or any(other[at : at + length] in texts for length in lengths)
                )
            )
            or (other[at] in lasts and f"{other[: at + 1]}{border}" in joined)
            for at in range(len(other))
        )
        for other in others
    )
