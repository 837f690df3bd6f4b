"""The steps before a text is cut: added tokens are found, and what is between them is changed.

A normalizer changes it to a form of Unicode, or spaces are put in front, with ▁ as another space.
Added tokens are found as `tokenizers` does: the longest at each place, from left to right, some in
the text as it is, and others in what it is changed to. The kernel is `kernels.added_tokens`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, InvalidTextError, TokenizationError
from bpe_core.pretokenizers import Change, Pretokenizer, Spaces, apply_changes
from bpe_core.types import Immutable
from bpe_core.unicode import META

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_LISTED = 8

AllowedSpecial = Collection[str] | Literal["all"]
"""The special tokens to recognise in a text, or "all"."""


def check_text(text: str) -> None:
    """Raise `InvalidTextError` for a lone surrogate, `ArgumentTypeError` for anything but a str.

    >>> check_text("an emoji, whole: 🙂")
    >>> check_text(b"bytes")
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a str as text, got b'bytes' (bytes). Decode bytes \
first.
    """
    if not is_a(text, str):
        remedy = (
            "Call encode_batch for several." if is_a(text, list, tuple) else "Decode bytes first."
        )
        raise ArgumentTypeError(f"Expected a str as text, got {describe(text)}. {remedy}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidTextError(
            f"The text has a lone surrogate, U+{ord(text[error.start]):04X}, at character "
            f"{error.start:,}, which UTF-8 cannot encode. Remove it, or read the text again with "
            f"its own encoding."
        ) from None


def allowed_tokens(
    special_tokens: Mapping[str, int], allowed_special: AllowedSpecial
) -> frozenset[str]:
    """Return the special tokens to recognise in a text.

    Raises `TokenizationError` for a name that is not one of them, and `ArgumentTypeError` if
    `allowed_special` is neither a collection of str nor "all".

    >>> sorted(allowed_tokens({"<s>": 7, "</s>": 8}, ["<s>"]))
    ['<s>']
    >>> allowed_tokens({"<s>": 7, "</s>": 8}, ["<pad>"])
    Traceback (most recent call last):
    bpe_core.errors.TokenizationError: '<pad>' is not a special token of this tokenizer, which has \
'<s>', '</s>'.
    >>> allowed_tokens({"<s>": 7}, None)
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a collection of special tokens or 'all' as \
allowed_special, got None.
    """
    if isinstance(allowed_special, str):
        if allowed_special == "all":
            return frozenset(special_tokens)
        raise TokenizationError(
            f"Expected a collection of special tokens or 'all' as allowed_special, got the text "
            f"{allowed_special!r}. For one token, give [{allowed_special!r}]."
        )
    if not is_a(allowed_special, Iterable) or is_a(allowed_special, bytes, bytearray):
        raise ArgumentTypeError(
            "Expected a collection of special tokens or 'all' as allowed_special, got "
            f"{describe(allowed_special)}."
        )
    given = list(allowed_special)
    for number, token in enumerate(given, 1):
        if not is_a(token, str):
            raise ArgumentTypeError(
                f"Expected a str as number {number} of allowed_special, got {describe(token)}."
            )
    for token in given:
        if token not in special_tokens:
            raise TokenizationError(
                f"{token!r:.60} is not a special token of this tokenizer, which has "
                f"{_listed(special_tokens)}."
            )
    return frozenset(given)


def _listed(special_tokens: Mapping[str, int]) -> str:
    if not special_tokens:
        return "none"
    shown = ", ".join(f"{token!r:.60}" for token in islice(special_tokens, _MAX_LISTED))
    more = len(special_tokens) - _MAX_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


class OrdinaryText(NamedTuple):
    """A part of a text without special tokens, at least one character long."""

    start: int
    """In characters, as `end`."""
    end: int


class SpecialToken(NamedTuple):
    """A special token and its place in a text."""

    start: int
    """In characters, as `end`."""
    end: int
    id: int


Piece = OrdinaryText | SpecialToken


def find_special_tokens(
    text: str, special_tokens: Mapping[str, int], allowed: frozenset[str]
) -> list[SpecialToken]:
    """Return the special tokens in a text, from left to right.

    `allowed` comes from `allowed_tokens`. If several special tokens match at one place, the longest
    is taken.

    >>> find_special_tokens("a<s>b<s>", {"<s>": 7}, frozenset(["<s>"]))
    [SpecialToken(start=1, end=4, id=7), SpecialToken(start=5, end=8, id=7)]
    >>> find_special_tokens("a<s>b<s>", {"<s>": 7}, frozenset())
    []
    """
    if not allowed:
        return []
    matches = _match_any(allowed).finditer(text)
    return [SpecialToken(*match.span(), special_tokens[match.group()]) for match in matches]


def list_pieces(text: str, found: Iterable[SpecialToken]) -> list[Piece]:
    """Return the special tokens that were found in a text and the ordinary text around them.

    The pieces cover all of the text from left to right.

    >>> list_pieces("a<s>b<s>", [SpecialToken(1, 4, id=7), SpecialToken(5, 8, id=7)])
    [OrdinaryText(start=0, end=1), SpecialToken(start=1, end=4, id=7), \
OrdinaryText(start=4, end=5), SpecialToken(start=5, end=8, id=7)]
    """
    pieces: list[Piece] = []
    covered = 0
    for token in found:
        if covered < token.start:
            pieces.append(OrdinaryText(covered, token.start))
        pieces.append(token)
        covered = token.end
    if covered < len(text):
        pieces.append(OrdinaryText(covered, len(text)))
    return pieces


class NormalText(NamedTuple):
    """A text whose ordinary parts are normalized."""

    text: str
    pieces: list[Piece]
    """Where its special tokens and ordinary parts are now."""
    changes: list[Change]
    """What was changed, and where in the given text."""


@lru_cache(maxsize=64)
def _match_any(special_tokens: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(special_tokens, key=len, reverse=True))))


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


class AddedTokenFinder:
    """Find added tokens in a text; those that are `special` only if they are allowed.

    >>> finder = AddedTokenFinder({"<s>": 1}, special={"<s>"})
    >>> list(finder.split("a<s>b", {"<s>"})), list(finder.split("a<s>b", set()))
    ([('a', None), ('<s>', 1), ('b', None)], [('a<s>b', None)])
    """

    def __init__(self, ids: Mapping[str, int], special: Collection[str] = ()) -> None:
        self._ids = ids
        self._always = ids.keys() - special
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


class IsolatingPretokenizer(Pretokenizer):
    """A pre-tokenizer that cuts a text before and after added tokens too.

    Only for those that cut between two characters whatever is around them, as all do that cut
    before spaces. No added token has a space.

    >>> pretokenizer = IsolatingPretokenizer("sentencepiece", {"<b>": 7})
    >>> pretokenizer.split("to <b>be"), pretokenizer.added
    (['to', ' ', '<b>', 'be'], {'<b>': 7})
    """

    __slots__ = ("_added", "_finder")

    def __init__(self, name: str, added: Mapping[str, int]) -> None:
        super().__init__(name)
        self._added = added
        self._finder: AddedTokenFinder | None = None

    @property
    def added(self) -> Mapping[str, int]:
        """The id of each added token."""
        return self._added

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the half-open character spans of the pre-tokens and added tokens, in order."""
        found: list[tuple[int, int]] = []
        start = 0
        for piece, id in self._pieces(text):
            inner = super().spans(piece) if id is None else [(0, len(piece))]
            found += [(start + first, start + last) for first, last in inner]
            start += len(piece)
        return found

    def starts(self, text: str, before: int) -> NDArray[np.int64]:
        """Return where those begin that begin before the character `before`."""
        import numpy as np

        begun = (start for start, _ in self.spans(text))
        return np.fromiter(takewhile(lambda start: start < before, begun), np.int64)

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens and added tokens of a text, in order."""
        found: list[str] = []
        for piece, id in self._pieces(text):
            found += super().split(piece) if id is None else [piece]
        return found

    def _pieces(self, text: str) -> Iterator[tuple[str, int | None]]:
        if self._finder is None:  # kernels do without
            self._finder = AddedTokenFinder(self._added)
        return self._finder.split(text, set())

    def __reduce__(self) -> tuple[object, ...]:
        return IsolatingPretokenizer, (self.name, dict(self._added))


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


def _match_head(first: str, seconds: Set[str]) -> str:
    """Return a pattern for a character, followed by one of others unless "" is one of them.

    >>> _match_head("<", {"s", "/"})
    '<(?=[/s])'
    """
    if "" in seconds:
        return re.escape(first)
    return f"{re.escape(first)}(?=[{''.join(map(re.escape, sorted(seconds)))}])"


Part = tuple[str, int | None]
"""A part of a text as it is cut, or an added token with its id."""


class Steps(Immutable):
    """What a tokenizer does to a text before it is cut and merged.

    `added` are its added tokens; without any, `special_tokens` are found in the text as it is.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> steps = Steps(get_pretokenizer("NFC+gpt2"), {"<s>": 7})
    >>> steps.parts("cafe\\u0301<s>", frozenset(["<s>"]))
    [('café', None), ('<s>', 7)]
    """

    def __init__(
        self,
        pretokenizer: Pretokenizer,
        special_tokens: Mapping[str, int],
        added: Sequence[AddedToken] = (),
        spaces: Spaces | None = None,
    ) -> None:
        if pretokenizer.adds_space:
            if spaces is not None:
                raise ConfigError(
                    f"The pre-tokenizer {pretokenizer.name} puts a space in front of a text "
                    f"itself. Use sentencepiece with other spaces."
                )
            spaces = Spaces("always")
        self.normalizer = pretokenizer.normalizer
        if spaces is not None and self.normalizer is not None:
            raise ConfigError(
                f"Spaces are written as ▁ without a normalizer. Leave out {self.normalizer.name}."
            )
        self.spaces = spaces
        self.added = tuple(added)
        for each in self.added:
            if each.is_normalized and spaces is None and self.write(each.text) != each.text:
                raise ConfigError(f"Its normalizer changes the added token {each.text!r:.60}.")
        self.special_tokens = (
            {each.text: each.id for each in self.added if each.is_special}
            if self.added
            else special_tokens
        )
        self.cut = pretokenizer
        """What cuts the text, around the added tokens that can be found last."""
        if self.added and spaces is not None:
            isolated = {each.text: each.id for each in find_isolated(self.added, spaces)}
            self.cut = IsolatingPretokenizer(pretokenizer.name, isolated)
        self.changes_text = spaces is not None or self.normalizer is not None

    def parts(self, text: str, allowed: frozenset[str]) -> list[Part]:
        """Return a text in parts, and the ids of those that are added tokens."""
        if self.added:
            return list(self._find(text, allowed))
        found = find_special_tokens(text, self.special_tokens, allowed)
        if not found:
            return [(self.write(text), None)]
        return [
            (text[piece.start : piece.end], piece.id)
            if isinstance(piece, SpecialToken)
            else (self.write(text[piece.start : piece.end], at_start=piece.start == 0), None)
            for piece in list_pieces(text, found)
        ]

    @property
    def are_none(self) -> bool:
        """True if every text is one part, as it is, unless special tokens are allowed."""
        return not self.added and not self.changes_text

    def normal_text(self, text: str, allowed: frozenset[str]) -> NormalText:
        """Return a text as it is cut, and what was changed in it, and where."""
        if self.added:
            raw = list(self._finders[0].split(text, allowed))
        else:
            found = find_special_tokens(text, self.special_tokens, allowed)
            raw = [
                (text[each.start : each.end], each.id if isinstance(each, SpecialToken) else None)
                for each in list_pieces(text, found)
            ]
        pieces: list[OrdinaryText | SpecialToken] = []
        changes: list[Change] = []
        start = at = 0
        for piece, id in raw:
            inner = [(piece, id)]
            is_last = self.spaces is not None and self.spaces.if_missing
            if id is None and self.added and is_last:
                inner = self._finders[1].split(piece, allowed)
            for given, its_id in inner:
                of_it = self._changes(given, start) if its_id is None else []
                changes += [Change(start + a, start + b, normal) for a, b, normal in of_it]
                parts = [(apply_changes(given, of_it), its_id)]
                if its_id is None and self.added and not is_last:
                    parts = self._finders[1].split(parts[0][0], allowed)
                for part, part_id in parts:
                    end = at + len(part)
                    pieces.append(
                        OrdinaryText(at, end) if part_id is None else SpecialToken(at, end, part_id)
                    )
                    at = end
                start += len(given)
        return NormalText(apply_changes(text, changes) if changes else text, pieces, changes)

    def write(self, text: str, *, at_start: bool = True) -> str:
        """Return a text between two added tokens as it is cut."""
        if self.spaces is not None:
            return self.spaces.written(text, at_start=at_start)
        return text if self.normalizer is None else self.normalizer(text)

    def _find(self, text: str, allowed: frozenset[str]) -> Iterator[Part]:
        raw, normal = self._finders
        is_last = self.spaces is not None and self.spaces.if_missing
        start = 0
        for piece, id in raw.split(text, allowed):
            if id is not None:
                yield piece, id
            elif not is_last:
                written = self.write(piece, at_start=start == 0)
                if normal:
                    yield from normal.split(written, allowed)
                elif written:
                    yield written, None
            else:
                at = start
                for inner, its_id in normal.split(piece, allowed):
                    written = inner if its_id is not None else self.write(inner, at_start=at == 0)
                    yield written, its_id
                    at += len(inner)
            start += len(piece)

    def _changes(self, text: str, start: int) -> list[Change]:
        if self.spaces is not None:
            return self.spaces.changes(text, at_start=start == 0)
        return [] if self.normalizer is None else self.normalizer.changes(text)

    @cached_property
    def _finders(self) -> tuple[AddedTokenFinder, AddedTokenFinder]:
        """What finds tokens in a text as it is, and in what it is changed to."""
        isolated = self.cut.added
        added = [each for each in self.added if each.text not in isolated]
        normalized = [each for each in added if each.is_normalized]
        if self.spaces is not None and not self.spaces.if_missing:
            normalized = [each._replace(text=each.text.replace(META, " ")) for each in normalized]
        return build_finder(each for each in added if not each.is_normalized), build_finder(
            normalized
        )


def find_plain_cut(
    pretokenizer: str, rights: Iterable[bytes], added: Sequence[AddedToken], spaces: Spaces
) -> str | None:
    """Return the pre-tokenizer that puts a space in front of a text and cuts it alike, or None.

    `rights` are the right parts of the merges. Such a pre-tokenizer cuts before each run of spaces,
    or before each space if no merge goes across one, and only special tokens are found before.

    >>> find_plain_cut("sentencepiece", [b"a", b" "], (), Spaces("always"))
    'llama2'
    """
    others = any(each.is_normalized or not each.is_special for each in added)
    if others or spaces != Spaces("always") or pretokenizer != "sentencepiece":
        return None
    return "llama2" if any(b" " in right for right in rights) else "metaspace"
