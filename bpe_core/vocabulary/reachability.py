"""Find the tokens that no text encodes to.

A token is *reachable* if some text (valid Unicode, all of it in the alphabet, special tokens read
as text) has it in its encoding, and *unreachable* otherwise. The term is from Land and Bartolo,
"Fishing for Magikarp: Automatically Detecting Under-trained Tokens in Large Language Models" (EMNLP
2024, section 3.1). They test whether a token's own text encodes to it, which cannot decide tokens
that cut a character in two, and reports too many under pre-tokenizers that look ahead. Here each
token is decided by a text that contains it, or by a proof that there is none.

1. Words. A sequence of tokens is the encoding of a word if each token encodes to itself and each
   two neighbours, encoded together, stay apart (see `tokenizer.trie`). So a word encodes to a token
   t if and only if t lies in a chain of such tokens whose bytes form whole characters and which
   ends as words end. The two sides of t are independent, and each needs to know only at which byte
   of a character t begins or ends. Chains are therefore paths in a finite graph whose nodes are
   (token, position in a character), and a search of the graph decides whether there is one. If
   there is none, the token is unreachable under any pre-tokenizer.

2. Texts. The bytes of a chain are a text, which the tokenizer encodes. If the token is in the
   result, it is reachable. Otherwise the pre-tokenizer cut the word, and other neighbours are
   tried. Under most named pre-tokenizers, a part of a pre-token is a pre-token by itself or within
   one of a few contexts, such as the rest of a contraction, which are tried too. So whole
   characters that are cut when alone and in all of these are cut in every text, and so is a token
   that cannot precede the end-of-word marker if it is cut from every token that may follow it.

3. The rest is *undecided*. This only happens if the pattern is another one, such as one with
lookaround, or a word is cut beyond the token's neighbours, or the token is whole only in a context
and not found there; and if the token was not learned with that pattern.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Self

from bpe_core.errors import BpeError
from bpe_core.tokenizer import merge_in
from bpe_core.unicode import BETWEEN_CHARACTERS, are_whole_characters, list_entries

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.types import Merge


Obstacle = Literal["other-merges", "no-utf8", "no-neighbours"]
"""The reason no word encodes to a token."""


Reason = Obstacle | Literal["normalizer", "pre-tokenizer", "removed"]

_TOKENS_BETWEEN_CHECKS: Final = 64

ShouldStop = Callable[[int, int], bool]
"""Called with the number of items done and their total; returns whether to stop."""

_ALONE: Final = ("", "")
_IN_CONTRACTION: Final = (_ALONE, ("", "e"), ("", "l"))
# White space with a line end in it is cut after the last line end, if other white space follows.
_IN_SPACE: Final = (_ALONE, ("", "\n"))
# And capitals next to letters without case are cut unless a small letter follows, and signs with a
# mark or a line end in them unless they begin with two signs.
_IN_WORD: Final = (*_IN_SPACE, ("", "a"), ("!!", ""))
# And contractions, of any case, belong to the word before them.
_AT_CONTRACTION: Final = (("", "s"), ("", "e"), ("", "l"), ("a", ""), ("a'", ""))
# A space is put in front of a text, and does not merge with what follows bytes of a rare character.
_AFTER_RARE: Final = (_ALONE, ("\U0010fffd", ""))
_ALL_TRIED: Final = ("gpt2", "cl100k", "whitespace", "words-punctuation", "none", "starcoder")
"""Pre-tokenizers whose contexts other than none make all pre-tokens that have the part in them."""
_MAX_TRIES: Final = 400
_MAX_NEIGHBOURS: Final = 64
_Node = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reachability:
    """The tokens of a tokenizer that no text encodes to, without special tokens; ids ascend."""

    REASONS: ClassVar[Mapping[Reason, str]] = {
        "other-merges": "its own bytes encode to other tokens",
        "no-utf8": "no text has these bytes",
        "no-neighbours": "any bytes that complete its characters merge with a part of it first",
        "normalizer": "the normalizer changes it in every text",
        "removed": "training took it out again",
        "pre-tokenizer": "the pre-tokenizer cuts it in every text",
    }

    unreachable: dict[int, Reason]
    """Tokens that provably no text encodes to, with the reason."""
    undecided: tuple[int, ...]
    """Tokens with neither a text that encodes to them nor a proof that there is none."""
    only_whole: tuple[int, ...] = ()
    """Tokens that only a whole pre-token of the same bytes encodes to."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, should_stop: ShouldStop | None = None) -> Self:
        """Find the tokens that no text encodes to.

        Raises CancelledError once `should_stop`, called with the number of tokens done and their
        total, returns True.

        >>> from bpe_core.tokenizer import gpt2
        >>> found = Reachability.of(gpt2().truncated(300))
        >>> sorted(gpt2().vocab[id].hex() for id in found.unreachable)[:3], found.undecided
        (['c0', 'c1', 'f5'], ())
        """
        chains = TokenChains(tokenizer)
        special = {*tokenizer.special_tokens.values()}
        open_ids = sorted(tokenizer.vocab.keys() - special)
        unreachable: dict[int, Reason] = {}
        undecided: list[int] = []
        only_whole: list[int] = []
        for done, id in enumerate(open_ids):
            if done % _TOKENS_BETWEEN_CHECKS == 0:
                if should_stop is not None and should_stop(done, len(open_ids)):
                    raise CancelledError
                time.sleep(0)  # Yield to the app's other threads.
            reason: Reason | None = "normalizer" if chains.is_always_changed(id) else None
            if id in tokenizer.table.removed:
                reason = "removed"
            else:
                obstacle = chains.obstacle_to(id)
                # No chain of merges knows removals, so it proves nothing about them.
                if obstacle == "no-utf8" or not tokenizer.table.removals:
                    reason = reason or obstacle
            if reason is None and not any(
                _is_in_encoding(tokenizer, id, text) for text in chains.texts_with(id)
            ):
                is_cut = not tokenizer.table.removals and chains.is_always_cut(id)
                reason = "pre-tokenizer" if is_cut else None
                if reason is None:
                    undecided.append(id)
            if reason is not None and _is_looked_up(tokenizer, id):
                only_whole.append(id)
            elif reason is not None:
                unreachable[id] = reason
        return cls(unreachable, tuple(undecided), tuple(only_whole))


def _is_looked_up(tokenizer: Tokenizer, id: int) -> bool:
    token = tokenizer.vocab[id]
    if tokenizer.table.word_ids.get(token) != id or not are_whole_characters(token):
        return False
    return _is_in_encoding(tokenizer, id, token.decode())


def _is_in_encoding(tokenizer: Tokenizer, id: int, text: str) -> bool:
    try:
        return id in tokenizer.encode(text)
    except BpeError:
        return False


class TokenChains:
    """The chains of tokens that form words, as a graph of which tokens may be neighbours."""

    CONTEXTS: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        **dict.fromkeys(
            ("gpt2", "cl100k", "whitespace", "words-punctuation", "none"), _IN_CONTRACTION
        ),
        "starcoder": _IN_CONTRACTION,
        **dict.fromkeys(("falcon", "sentencepiece", "gemma3"), (_ALONE,)),
        **dict.fromkeys(("metaspace", "llama2"), _AFTER_RARE),
        "llama3": _IN_SPACE,
        "digits-from-right": _IN_SPACE,
        "qwen2": _IN_SPACE,
        "tekken": _IN_WORD,
        "o200k": (*_IN_WORD, *_AT_CONTRACTION),
    }
    """For a pre-tokenizer: texts before and after, one pair of which makes any part of a pre-token
    one pre-token with it. A pre-tokenizer is missing if that was not proved."""

    def __init__(self, tokenizer: Tokenizer, live: Set[int] | None = None) -> None:
        """`live` are the ids whose own bytes are merged to them, if they are known already."""
        self._tokenizer = tokenizer
        self._contexts = self.CONTEXTS.get(tokenizer.pretokenizer.cut, _IN_CONTRACTION)
        self._table = tokenizer.table
        self._marker = tokenizer.table.end_of_word_id
        special = set(tokenizer.special_tokens.values())
        ids = [id for id in tokenizer.vocab if id not in special]
        content = self._table.content
        self._bytes = {id: content[id] for id in ids}
        self._spelled: dict[int, tuple[int, ...]] = {}
        alphabet = [*tokenizer.base_ids.values()]
        for id in alphabet if self._marker is None else [*alphabet, self._marker]:
            self._spelled[id] = (id,)
        for merge in tokenizer.merges:
            self._spelled.setdefault(merge.id, self._spell(merge))
        self._agree = lru_cache(1 << 16)(self._do_agree)
        own = [id for id in ids if id in self._spelled]
        if live is None:
            own = [id for id in own if self._merged(self._spelled[id]) == [id]]
        else:
            own = [id for id in own if id in live]
        # Short tokens first: most tokens can be their neighbours, so searches end early.
        own.sort(key=lambda id: (len(self._bytes[id]), id != self._marker, id))
        self._entries = {id: list_entries(self._bytes[id]) for id in own}
        self._before: dict[int, list[_Node]] = defaultdict(list)
        """UTF-8 state -> the (token, entry state) that may precede a token entered in it."""
        self._left: dict[_Node, _Node | None] = {}
        """(token, entry state) -> a possible left neighbour, or None if it needs none."""
        self._after: dict[int, list[_Node]] = defaultdict(list)
        """UTF-8 state -> the (token, end state) that may follow a token that ends in it."""
        self._right: dict[_Node, _Node | None] = {}
        """(token, end state) -> a possible right neighbour, or None if it needs none."""
        self._find_left()
        self._find_right()

    def obstacle_to(self, id: int) -> Obstacle | None:
        """Return why no word encodes to a token, or None if one does."""
        if self._tokenizer.table.byte_ids.get(self._bytes[id]) == id:
            return self._obstacle_to_byte(self._bytes[id][0])
        if id not in self._entries:
            return "other-merges"
        if not self._entries[id]:
            return "no-utf8"
        return None if any(self._ways(id)) else "no-neighbours"

    def texts_with(self, id: int) -> Iterator[str]:
        """Yield a bounded number of words that encode to a token if the pre-tokenizer keeps them.

        The neighbours found by the search of the graph come first, then others.
        """
        if self._tokenizer.table.byte_ids.get(self._bytes[id]) == id:
            yield self._spelled_with(self._bytes[id][0])
            return
        yield from islice(self._texts_with(id), _MAX_TRIES)

    def find_word(self, ids: tuple[int, ...]) -> str | None:
        """Return a word in whose encoding these neighbours stand, or None if no word has them.

        They are one token, or two that can be neighbours. The pre-tokenizer is not asked.
        """
        first, last = ids[0], ids[-1]
        if first not in self._entries or last not in self._entries:
            return None
        for entry, end in self._entries[first].items():
            stop = end if len(ids) == 1 else self._entries[last].get(end)
            if stop is None or (first, entry) not in self._left or (last, stop) not in self._right:
                continue
            data = self._bytes_to(self._left[first, entry])
            data += b"".join(self._bytes[id] for id in ids)
            return (data + self._bytes_from(self._right[last, stop])).decode()
        return None

    def is_cut_within(self, data: bytes) -> bool:
        """Return True if every text cuts the whole characters in some bytes."""
        return self._tokenizer.pretokenizer.cut in self.CONTEXTS and not self._may_be_whole(data)

    def is_always_changed(self, id: int) -> bool:
        """Return True if a normalizer changes the token in every text that has it.

        Each part of a normalized text is normalized itself.
        """
        text = self._bytes[id].decode(errors="ignore")
        return self._tokenizer.pretokenizer.normalized(text) != text

    def is_always_cut(self, id: int) -> bool:
        """Return True if every text cuts the token, given that no text of `texts_with` keeps it."""
        if self._tokenizer.pretokenizer.cut not in self.CONTEXTS:
            return False
        data = self._bytes[id]
        if id == self._marker:
            before = self._before[BETWEEN_CHARACTERS]
            return not any(
                self._agree(n, id) and self._may_be_whole(self._bytes[n]) for n, _ in before
            )
        if not self._may_be_whole(data):
            return True
        if self._marker is None:
            # `texts_with` has tried a token that is whole only in a contraction, in all of them.
            text, pretokenizer = data.decode(errors="ignore"), self._tokenizer.pretokenizer
            is_whole_only_within = bool(text) and pretokenizer.split(text) != [text]
            return is_whole_only_within and pretokenizer.cut in _ALL_TRIED
        if id in self._table.ending_word or self._agree(id, self._marker):
            return False
        after = (n for _, end in self._ways(id) for n, _ in self._after[end])
        return not any(
            self._may_be_whole(data + self._bytes[n]) and self._agree(id, n) for n in after
        )

    def _may_be_whole(self, data: bytes) -> bool:
        """Return True if the whole characters in some bytes may be part of one pre-token."""
        text = data.decode(errors="ignore")
        split = self._tokenizer.pretokenizer.split
        wholes = (before + text + after for before, after in self._contexts)
        return not text or any(split(whole) == [whole] for whole in wholes)

    def _texts_with(self, id: int) -> Iterator[str]:
        for entry, end in self._ways(id):
            left, right = self._left[id, entry], self._right[id, end]
            lefts = [left] if left is None else self._neighbours(left, self._before[entry])
            rights = [right] if right is None else self._neighbours(right, self._after[end])
            for one in lefts:
                if one is not None and one != left and not self._agree(one[0], id):
                    continue
                for other in rights:
                    if other is not None and other != right and not self._agree(id, other[0]):
                        continue
                    data = self._bytes_to(one) + self._bytes[id] + self._bytes_from(other)
                    yield data.decode()
                    if other is None and entry == BETWEEN_CHARACTERS:
                        text = data.decode()
                        yield from (before + text + after for before, after in self._contexts[1:])

    def _obstacle_to_byte(self, byte: int) -> Obstacle | None:
        """Return why no character outside the alphabet has this byte, or None if one has."""
        if not list_entries(bytes([byte])):
            return "no-utf8"
        return None if self._spelled_with(byte) else "other-merges"

    def _spelled_with(self, byte: int) -> str:
        """Return a character outside the alphabet that has this byte; empty if there is none."""
        if byte < 0x80:
            characters = range(byte, byte + 1)
        elif byte < 0xC0:  # the last of every 64 characters, the rarest first
            characters = range(0x100000 + byte - 0x80, 0x10FFFF, 64)
        elif byte < 0xE0:
            characters = range((byte & 0x1F) << 6, ((byte & 0x1F) + 1) << 6)
        elif byte < 0xF0:
            characters = range((byte & 0x0F) << 12, ((byte & 0x0F) + 1) << 12)
        else:
            characters = range((byte & 0x07) << 18, min(((byte & 0x07) + 1) << 18, 0x110000))
        written = (chr(code) for code in characters if not 0xD800 <= code < 0xE000)
        found = (each for each in written if each.encode() not in self._tokenizer.base_ids)
        return next((each for each in found if byte in each.encode()), "")

    @staticmethod
    def _neighbours(first: _Node, others: list[_Node]) -> list[_Node]:
        return [first, *(other for other in others[:_MAX_NEIGHBOURS] if other != first)]

    def _ways(self, id: int) -> Iterator[tuple[int, int]]:
        for entry, end in self._entries.get(id, {}).items():
            if (id, entry) in self._left and (id, end) in self._right:
                yield entry, end

    def _bytes_to(self, node: _Node | None) -> bytes:
        data = b""
        while node is not None:
            data = self._bytes[node[0]] + data
            node = self._left[node]
        return data

    def _bytes_from(self, node: _Node | None) -> bytes:
        data = b""
        while node is not None:
            data += self._bytes[node[0]]
            node = self._right[node]
        return data

    def _find_left(self) -> None:
        waiting: list[_Node] = []
        for id, entries in self._entries.items():
            for entry, end in entries.items():
                if entry == BETWEEN_CHARACTERS and id != self._marker:
                    self._left[id, entry] = None
                    self._add_before(id, entry, end)
                else:
                    waiting.append((id, entry))
        for id, entry in self._settled(waiting, self._before, self._left, to_left=True):
            self._add_before(id, entry, self._entries[id][entry])

    def _add_before(self, id: int, entry: int, end: int) -> None:
        if id not in self._table.ending_word:
            self._before[end].append((id, entry))

    def _find_right(self) -> None:
        waiting: list[_Node] = []
        for id, entries in self._entries.items():
            for end in sorted(set(entries.values())):
                ends = self._marker is None or id in self._table.ending_word
                if ends and end == BETWEEN_CHARACTERS:
                    self._right[id, end] = None
                    self._add_after(id, end)
                elif id not in self._table.ending_word:
                    waiting.append((id, end))
        for id, end in self._settled(waiting, self._after, self._right, to_left=False):
            self._add_after(id, end)

    def _add_after(self, id: int, end: int) -> None:
        for entry, reached in self._entries[id].items():
            if reached == end:
                self._after[entry].append((id, end))

    def _settled(
        self,
        waiting: list[_Node],
        beside: dict[int, list[_Node]],
        found: dict[_Node, _Node | None],
        *,
        to_left: bool,
    ) -> Iterator[_Node]:
        """Yield each waiting node for which a neighbour is found, until none is left to find."""
        tried: dict[_Node, int] = defaultdict(int)
        while True:
            still: list[_Node] = []
            for node in waiting:
                candidates = beside[node[1]]
                for candidate in candidates[tried[node] :]:
                    pair = (candidate[0], node[0]) if to_left else (node[0], candidate[0])
                    if self._agree(*pair):
                        found[node] = candidate
                        yield node
                        break
                else:
                    tried[node] = len(candidates)
                    still.append(node)
            if len(still) == len(waiting):
                return
            waiting = still

    def _spell(self, merge: Merge) -> tuple[int, ...]:
        if self._tokenizer.table.byte_ids:  # a merge may come before those that make its parts
            text = self._tokenizer.vocab[merge.id].decode()
            return tuple(self._tokenizer.base_ids[character.encode()] for character in text)
        return self._spelled[merge.left] + self._spelled[merge.right]

    def _do_agree(self, left: int, right: int) -> bool:
        return self._merged(self._spelled[left] + self._spelled[right]) == [left, right]

    def _merged(self, symbols: tuple[int, ...]) -> list[int]:
        return merge_in(self._table, symbols)
