"""The added tokens of a tokenizer.json, and how they are found in a text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

from bpe_core.errors import FormatError
from bpe_core.formats.json_files import is_token_id

_HEAD: Final = 4
"""The characters by which a token is looked up; few tokens that are not in a text begin alike."""


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
    seen: set[str] = set()
    next_id = len(ids)
    for entry in cast("list[object]", listed):
        added = cast("dict[str, object]", entry if isinstance(entry, dict) else {})
        text, id = added.get("content"), added.get("id")
        if not isinstance(text, str) or not text or not is_token_id(id):
            raise FormatError(f"The added token {entry!r:.80} has no text or no valid id.")
        if text in seen:
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
        seen.add(text)
        next_id = max(next_id, given + 1)
    return added_tokens(described)


def added_tokens(described: Mapping[str, Any]) -> tuple[AddedToken, ...]:
    """Return the added tokens of a tokenizer.json that `read_added_tokens` accepts.

    >>> added_tokens({"added_tokens": [{"content": "<s>", "id": 1, "special": True}]})
    (AddedToken(text='<s>', id=1, is_special=True, is_normalized=False),)
    """
    listed = cast("list[dict[str, Any]]", described.get("added_tokens") or [])
    return tuple(
        AddedToken(
            each["content"],
            each["id"],
            bool(each.get("special")),
            bool(each.get("normalized", not each.get("special"))),
        )
        for each in listed
    )


def special_texts(described: Mapping[str, Any]) -> list[str]:
    """Return the texts of the special added tokens of any tokenizer.json.

    Of a token that is listed twice, `tokenizers` writes the last, but finds it as special if one
    of them is.

    >>> special_texts({"added_tokens": [{"content": "<s>", "special": True}, 7]})
    ['<s>']
    """
    listed: object = described.get("added_tokens")
    found: list[str] = []
    for entry in cast("list[object]", listed) if isinstance(listed, list) else []:
        match entry:
            case {"content": str(text), "special": True}:
                found.append(text)
            case _:
                continue  # the library refuses what is not a token
    return found


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


class AddedTokenFinder:
    """Find added tokens in a text, as `tokenizers` does: the longest at each place.

    >>> finder = AddedTokenFinder([AddedToken("<s>", 1, True, False)])
    >>> list(finder.split("a<s>b", {"<s>"})), list(finder.split("a<s>b", set()))
    ([('a', None), ('<s>', 1), ('b', None)], [('a<s>b', None)])
    """

    def __init__(self, added: Iterable[AddedToken]) -> None:
        added = list(added)
        self._ids = {each.text: each.id for each in added}
        self._always = frozenset(each.text for each in added if not each.is_special)
        lengths = defaultdict[str, set[int]](set)
        self._seconds = defaultdict[str, set[str]](set)
        for text in self._ids:
            lengths[text[:_HEAD]].add(len(text))
            self._seconds[text[0]].add(text[1:2])
        # The lengths of the tokens with a head, which is the whole token if that is shorter.
        self._lengths = {head: sorted(each, reverse=True) for head, each in lengths.items()}

    def __bool__(self) -> bool:
        """Return True if there is anything to find."""
        return bool(self._ids)

    def split(self, text: str, allowed: Set[str]) -> Iterator[tuple[str, int | None]]:
        """Yield added tokens with their ids, and what is between them without one.

        Special tokens are found only if they are `allowed`.
        """
        start = 0
        if allowed or self._always:
            always = self._always
            for token, begin in self._matches(text):
                if token in always or token in allowed:
                    if start < begin:
                        yield text[start:begin], None
                    yield token, self._ids[token]
                    start = begin + len(token)
        if start < len(text):
            yield text[start:] if start else text, None

    def _matches(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield tokens and where they begin, whether they may be used or not.

        The library skips a token that it finds but may not use, which hides a shorter one within
        it.
        """
        firsts = [first for first in self._seconds if first in text]
        patterns = [each for each in map(self._pattern, firsts) if each.search(text)]
        if not patterns:
            return
        pattern = patterns[0] if len(patterns) == 1 else self._any
        reached = 0
        for match in pattern.finditer(text):
            begin = match.start()
            if begin < reached:
                continue
            if token := self._longest_at(text, begin):
                reached = begin + len(token)
                yield token, begin

    def _longest_at(self, text: str, begin: int) -> str:
        """Return the longest token at a place, or an empty text."""
        head = text[begin : begin + _HEAD]
        while head:
            for length in self._lengths.get(head, ()):
                if (token := text[begin : begin + length]) in self._ids:
                    return token
            head = head[:-1]
        return ""

    def _pattern(self, first: str) -> re.Pattern[str]:
        """Return a pattern for a character with which tokens begin; re keeps it.

        One that begins with a certain character is found ten times as fast as one of several.
        """
        return re.compile(_match_head(first, self._seconds[first]))

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(_match_head(*each) for each in self._seconds.items()))


def _match_head(first: str, seconds: Set[str]) -> str:
    """Return a pattern for a character, followed by one of others unless "" is one of them.

    >>> _match_head("<", {"s", "/"})
    '<(?=[/s])'
    """
    if "" in seconds:
        return re.escape(first)
    return f"{re.escape(first)}(?=[{''.join(map(re.escape, sorted(seconds)))}])"
