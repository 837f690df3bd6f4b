"""The vocabulary and merges of an adapted tokenizer as texts, in the order of its base's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bpe_core.adapting import NO_OLD_ID, Adapted
from bpe_core.errors import ConfigError
from bpe_core.tokenizer import Tokenizer
from bpe_core.unicode import META, to_printable


def _new_ids(adapted: Adapted) -> dict[int, int]:
    """Return the new id of each of the base's ids that are left."""
    return {int(old): new for new, old in enumerate(adapted.old_ids.tolist()) if old != NO_OLD_ID}


def renumbered(adapted: Adapted, what: str) -> Callable[[int], int]:
    """Return a function from the base's id of a token to its new one.

    The function raises `ConfigError`, which names the file `what`, for a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> renumbered(shrunk, "tokenizer.json")(50256)
    299
    """
    new_ids = _new_ids(adapted)

    def new_id(old: int) -> int:
        if old not in new_ids:
            token = adapted.base.vocab.get(old, b"")
            raise ConfigError(
                f"{what} uses the token {old} ({token!r:.60}), which was removed. Pin it."
            )
        return new_ids[old]

    return new_id


def build_vocabulary(adapted: Adapted, ids: Mapping[str, int]) -> dict[str, int]:
    """Return the vocabulary of texts, in the old order with the new tokens last.

    Raises `ConfigError` if a new token would be written as another one is.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> build_vocabulary(shrunk, {"!": 0, "Ġthe": 262})["!"]
    0
    """
    tokenizer, new_ids = adapted.tokenizer, _new_ids(adapted)
    made_again = {id for id in adapted.removed if id in new_ids}
    vocabulary = {
        text: new_ids[id] for text, id in ids.items() if id in new_ids and id not in made_again
    }
    known = {*vocabulary.values(), *tokenizer.special_tokens.values()}
    for id in sorted(tokenizer.vocab):
        if id in known:
            continue
        text = token_text(tokenizer, id)
        if text in vocabulary:
            raise ConfigError(
                f"The new token {id} would be written {text!r}, as the token {vocabulary[text]} "
                f"is. Adapt without it."
            )
        vocabulary[text] = id
    return vocabulary


def unlisted(vocabulary: Mapping[str, int], special: Mapping[str, int]) -> dict[str, int]:
    """Return the added tokens that the vocabulary has to list from now on.

    An added token that is not in the vocabulary gets the next free id in `tokenizers`, whatever the
    file says. That is its own id only as long as all ids of the vocabulary come before it.

    >>> unlisted({"a": 0, "aa": 2}, {"<s>": 1}), unlisted({"a": 0}, {"<s>": 1})
    ({'<s>': 1}, {})
    """
    missing = {text: id for text, id in special.items() if text not in vocabulary}
    if max(vocabulary.values(), default=0) < min(missing.values(), default=0):
        return {}
    return missing


def token_text(tokenizer: Tokenizer, id: int) -> str:
    """Return how the files write an ordinary token."""
    token = tokenizer.vocab[id]
    if tokenizer.base == "bytes":
        return to_printable(token)
    return token.decode().replace(" ", META) if tokenizer.table.byte_ids else token.decode()


def continue_scores(adapted: Adapted, scores: Sequence[float]) -> list[float]:
    """Return the scores of the adapted tokenizer's ids, those of new tokens below all others.

    The first new one is 1 less than the lowest of the base, and each further one 1 less again, as
    SentencePiece numbers merges. Of very low scores it is the next number that float32 has.

    >>> import bpe_core as bpe
    >>> from bpe_core.adapting import trace_ids
    >>> run = bpe.extend(bpe.gpt2(), bpe.Corpus.from_text("hugging hugging"), n_tokens=2)
    >>> adapted = trace_ids(bpe.gpt2(), run.tokenizer)
    >>> [continue_scores(adapted, [lowest] * 50_257)[-2:] for lowest in (0.0, -1e9)]
    [[-1.0, -2.0], [-1000000064.0, -1000000128.0]]
    """
    made_again = set(adapted.removed)
    lowest = min(scores, default=0.0)
    continued: list[float] = []
    old_ids: list[int] = adapted.old_ids.tolist()
    for old in old_ids:
        if old != NO_OLD_ID and old not in made_again:
            continued.append(scores[old])
            continue
        below = float(np.nextafter(np.float32(lowest), np.float32(-np.inf)))
        lowest = min(float(np.float32(lowest - 1)), below)
        continued.append(lowest)
    return continued


def kept_merges(
    adapted: Adapted, old: Mapping[str, int], pairs: list[tuple[str, str]]
) -> list[int]:
    """Return the places of the base's merges that are left.

    Once tokens are removed, no merge is left to one that the base never makes: without the tokens
    that prevented it, it might be made.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> kept_merges(shrunk, {"u": 84, "g": 70, "ug": 1018}, [("u", "g")])
    [0]
    """
    new_ids = _new_ids(adapted)
    removed = set(adapted.removed)
    left = {text for text, id in old.items() if id in new_ids and id not in removed}
    made = {text for text in left if not removed or old[text] in adapted.base.table.parts}
    return [
        place
        for place, (first, second) in enumerate(pairs)
        if first in left and second in left and first + second in made
    ]


def new_merges(adapted: Adapted) -> list[tuple[str, str]]:
    """Return the merges of new tokens as texts.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> new_merges(shrunk)
    []
    """
    tokenizer, base = adapted.tokenizer, adapted.base
    removed = set(adapted.removed)
    n_base = sum(id not in removed for id in base.table.made)
    return [
        (token_text(tokenizer, left), token_text(tokenizer, right))
        for left, right, _ in tokenizer.table.triples[n_base:]
    ]


def check_same(name: str, *, is_equal: bool) -> None:
    """Raise `ConfigError` unless an adapted file, read again, is the adapted tokenizer."""
    if not is_equal:
        raise ConfigError(
            f"The adapted {name} would encode differently. Save the adapted tokenizer in the "
            "native format."
        )
