"""Texts that show whether another library encodes as a tokenizer does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from bpe_core.tokenizer import Tokenizer

PROBE: Final = (
    "The quick brown fox, it's 2024! we'LL x2  y\n\n\tz \r\n a_b-c 3.14159 ''s\u017f <|endoftext|> "
    "café cafe\u0301 Straße Съешь Ξε שלום السلام १२३ नमस्ते สวัสดี 你好。こんにちは 안녕 👩‍👩‍👧🏽 "
    "½²Ⅷ \u00a0\u2003\u3000\u0085\u2028\ufeff\x00\x1c   "
)
N_TOKENS: Final = 100_000
"""The least number of tokens that `make_probe` makes; it may make a few more."""
_MAX_TOKEN_BYTES: Final = 32
_BEGIN: Final = 8
# Short pieces, because a library may take quadratic time for a pre-token as long as the text.
_CHARACTERS_OF_A_PIECE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Probe:
    """Texts with the ids that a tokenizer gives them, special tokens allowed."""

    texts: tuple[str, ...]
    ids: tuple[tuple[int, ...], ...]
    """The ids of each text."""

    @property
    def n_tokens(self) -> int:
        """The number of tokens in all texts."""
        return sum(map(len, self.ids))


def make_probe(tokenizer: Tokenizer, n_tokens: int = N_TOKENS) -> Probe:
    """Return a probe of at least `n_tokens` tokens: many scripts, then prose.

    It begins with the special tokens and the vocabulary's last tokens. Characters that the
    tokenizer's alphabet lacks are left out. It is shorter only if all of these texts are.

    >>> from bpe_core.tokenizer import gpt2
    >>> probe = make_probe(gpt2(), n_tokens=2_000)
    >>> 2_000 <= probe.n_tokens < 4_000
    True
    """
    # Imported when needed: opening a file needs only the shorter probe above.
    from bpe_core.corpus import load_sample

    special = [f"{text} a{text}{text}\n" for text in tokenizer.special_tokens]
    first = [PROBE, *special, last_tokens(tokenizer, 2_000)]
    # Read only if the other texts are too short.
    prose = (text for name in ["python-help"] for text in load_sample(name).documents)
    rest = chain(load_sample("multilingual").documents, prose)
    pieces: list[str] = []
    found: list[tuple[int, ...]] = []
    missing = n_tokens
    for text in chain(first, rest):
        for start in range(0, len(text), _CHARACTERS_OF_A_PIECE):
            if missing <= 0:
                return Probe(tuple(pieces), tuple(found))
            piece = encodable(tokenizer, text[start : start + _CHARACTERS_OF_A_PIECE])
            if piece:
                pieces.append(piece)
                found.append(tuple(tokenizer.encode(piece, allowed_special="all")))
                missing -= len(found[-1])
    return Probe(tuple(pieces), tuple(found))


def encodable(tokenizer: Tokenizer, text: str) -> str:
    """Return a text without the characters that the tokenizer's alphabet lacks.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"b"}, merges=[], pretokenizer="none")
    >>> encodable(tokenizer, "abcab")
    'abab'
    """
    base_ids = tokenizer.base_ids
    by_bytes = tokenizer.base == "bytes"
    if tokenizer.table.complete:
        return text
    lacking = {
        ord(character): None
        for character in set(text)
        if not all(
            symbol in base_ids
            for symbol in (
                [bytes([byte]) for byte in character.encode()] if by_bytes else [character.encode()]
            )
        )
    }
    return text.translate(lacking)


def last_tokens(tokenizer: Tokenizer, n_tokens: int) -> str:
    """Return the `n_tokens` tokens with the highest ids as one text, long tokens cut short.

    >>> from bpe_core.tokenizer import gpt2
    >>> last_tokens(gpt2(), 3)
    ' informants gazed<|endoftext|>'
    """
    ids = sorted(tokenizer.vocab)[-n_tokens:]
    # Without pre-tokens a token may be a page long, and the library takes quadratic time for it.
    tokens = [tokenizer.vocab[id][:_MAX_TOKEN_BYTES] for id in ids]
    return b"".join(tokens).decode(errors="replace")


def keep_merges_within(described: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a tokenizer.json with only those merges that can apply in one text.

    These make a part of the text, which is written as the file writes tokens. A library opens such
    a file in a third of the time, and encodes the text as with all merges.

    >>> vocab = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}
    >>> model = {"vocab": vocab, "merges": [["a", "b"], ["b", "c"], ["ab", "c"]]}
    >>> keep_merges_within({"model": model}, "xab")["model"]["merges"]
    [['a', 'b']]
    """
    model = described["model"]
    # Few tokens begin like a part of the text.
    begins = {text[at : at + width] for width in range(1, _BEGIN + 1) for at in range(len(text))}
    within = {
        token
        for token in model["vocab"]
        if token[:_BEGIN] in begins and (len(token) <= _BEGIN or token in text)
    }
    kept = [
        merge
        for merge in model["merges"]
        if (merge.replace(" ", "", 1) if isinstance(merge, str) else merge[0] + merge[1]) in within
    ]
    return {**described, "model": {**model, "merges": kept}}
