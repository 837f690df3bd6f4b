"""The added tokens of a tokenizer.json, and how they are found in a text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, NamedTuple, cast

_DEPTH: Final = 16  # groups within groups of a pattern; a file could nest them forever


class AddedToken(NamedTuple):
    """A token that is found in a text before anything is merged."""

    text: str
    id: int
    is_special: bool
    """True if it is found only where special tokens are allowed."""
    is_normalized: bool
    """True if it is looked for in the normalized text."""


def added_tokens(described: Mapping[str, Any]) -> tuple[AddedToken, ...]:
    """Return the added tokens of a tokenizer.json that `read_huggingface` accepts.

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
        if each["content"]
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
        # The library skips a token that it finds but may not use, which hides a shorter one within
        # it.
        longest = sorted((each.text for each in added), key=len, reverse=True)
        self._any = re.compile(_any_of(longest) if longest else "")
        by_first = defaultdict[str, list[str]](list)
        for text in longest:
            by_first[text[0]].append(text[1:])
        # A pattern that begins with a certain character is searched for ten times as fast.
        self._by_first = [
            (first, re.compile(re.escape(first) + _any_of(rest)))
            for first, rest in by_first.items()
        ]

    def split(self, text: str, allowed: Set[str]) -> Iterator[tuple[str, int | None]]:
        """Yield added tokens with their ids, and what is between them without one.

        Special tokens are found only if they are `allowed`.
        """
        start = 0
        if allowed or self._always:
            for match in self._matches(text):
                token = match[0]
                if token in allowed or token in self._always:
                    if start < match.start():
                        yield text[start : match.start()], None
                    yield token, self._ids[token]
                    start = match.end()
        if start < len(text):
            yield text[start:] if start else text, None

    def _matches(self, text: str) -> Iterable[re.Match[str]]:
        occurring = [
            pattern for first, pattern in self._by_first if first in text and pattern.search(text)
        ]
        if not occurring:
            return ()
        return (occurring[0] if len(occurring) == 1 else self._any).finditer(text)


def _any_of(texts: Sequence[str], depth: int = _DEPTH) -> str:
    """Return a pattern for any of some texts, the longest first.

    Each of the first `depth` characters is looked at once, not once for each text.
    """
    if len(texts) == 1 or not depth:
        return f"(?:{'|'.join(map(re.escape, texts))})"
    by_first = defaultdict[str, list[str]](list)
    for text in texts:
        by_first[text[:1]].append(text[1:])
    ends_here = by_first.pop("", None) is not None
    rests = [re.escape(first) + _any_of(rest, depth - 1) for first, rest in by_first.items()]
    return f"(?:{'|'.join(rests)}){'?' if ends_here else ''}"
