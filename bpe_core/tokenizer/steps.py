"""The steps before a text is cut: added tokens are found, and what is between them is changed.

A normalizer changes it to a form of Unicode, or spaces are put in front, with ▁ as another space.
`tokenizers` finds added tokens in the text as it is, changes what is between them, and finds others
in that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from bpe_core.errors import ConfigError
from bpe_core.pretokenizers import (
    AddedToken,
    AddedTokenFinder,
    Change,
    IsolatingPretokenizer,
    NormalText,
    OrdinaryText,
    Pretokenizer,
    Spaces,
    SpecialToken,
    apply_changes,
    build_finder,
    find_isolated,
    find_special_tokens,
    list_pieces,
)
from bpe_core.types import Immutable
from bpe_core.unicode import META

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
