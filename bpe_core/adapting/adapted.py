"""The result of adapting a tokenizer: the new tokenizer, and where each of its ids comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting.extending import DEFAULT_COVERAGE, add_characters, extend
from bpe_core.checks import counted
from bpe_core.errors import ConfigError
from bpe_core.tokenizer import Tokenizer, merge_symbols
from bpe_core.trainers import TermCost, spell_in_bytes, spelled_by
from bpe_core.types import read_only

if TYPE_CHECKING:
    from bpe_core.corpus import Corpus, WordCounts
    from bpe_core.trainers import TrainingRun
    from bpe_core.types import TieBreak, TrainingProgress


@dataclass(frozen=True, slots=True, eq=False)
class Adapted:
    """An adapted tokenizer, and the base's embedding rows that each of its rows starts from."""

    NO_OLD_ID: ClassVar = -1
    """In `old_ids`: a token that the base does not have."""

    base: Tokenizer
    """The tokenizer that was adapted."""
    tokenizer: Tokenizer
    old_ids: NDArray[np.int32] = field(repr=False)
    """int32[largest id + 1], read-only: the base's id of each id, or -1 for a new token."""
    removed: tuple[int, ...] = field(default=(), repr=False)
    """The base's ids of the removed tokens, in the order they were removed."""
    parts: Mapping[int, tuple[int, ...]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False
    )
    """The base's ids that spell each new token, as the base encodes it."""
    terms: tuple[TermCost, ...] = field(default=(), repr=False)
    """The cost of each term that was tried before learning."""

    @classmethod
    def of(
        cls,
        base: Tokenizer,
        tokenizer: Tokenizer,
        kept: NDArray[np.int32] | None = None,
        removed: tuple[int, ...] = (),
        terms: tuple[TermCost, ...] = (),
    ) -> Self:
        """Return an extended tokenizer with the base's ids of its tokens.

        `kept` is the base's id of each id that `tokenizer` has from it; without it, all ids of the
        base are kept as they are. A new token that spells a removed one gets the removed token's
        id. An id that no token has, in a base that skips some, keeps its own.

        >>> from bpe_core.tokenizer import gpt2
        >>> base = gpt2().truncated(2)
        >>> traced = Adapted.of(base, Tokenizer(
        ...     vocab={**base.vocab, 50257: b" t t", 50258: b" t t t"},
        ...     merges=[*[(m.left, m.right, m.id) for m in base.merges],
        ...         (256, 256, 50257), (50257, 256, 50258)],
        ...     pretokenizer="none", special_tokens=base.special_tokens,
        ... ))
        >>> traced.old_ids[[256, 50256, 50257]].tolist(), dict(traced.parts)
        ([256, 50256, -1], {50257: (256, 256), 50258: (256, 256, 256)})
        """
        if kept is None:
            kept = np.arange(max(base.vocab) + 1, dtype=np.int32)
        old_ids = np.full(max(tokenizer.vocab) + 1, cls.NO_OLD_ID, np.int32)
        old_ids[: len(kept)] = kept
        id_of_removed = {base.vocab[id]: id for id in removed}
        for id, token in tokenizer.vocab.items():
            if id >= len(kept):
                old_ids[id] = id_of_removed.get(token, cls.NO_OLD_ID)
        characters = {
            id: spell_in_bytes(tokenizer, id)
            for id in tokenizer.base_ids.values()
            if id >= len(kept) and tokenizer.table.byte_ids
        }
        spelled = spelled_by(
            (each for each in tokenizer.merges if each.id >= len(kept)), characters
        )
        new = {
            id: tuple(old_ids[[*parts]].tolist())
            for id, parts in spelled.items()
            if old_ids[id] == cls.NO_OLD_ID
        }
        if removed:
            # The remaining merges may join a new token differently from how the base encodes it.
            new = _encoded_by(base, new)
        return cls(base, tokenizer, read_only(old_ids), removed, MappingProxyType(new), terms)

    @classmethod
    def rebuilt(
        cls,
        base: Tokenizer,
        removed: tuple[int, ...],
        characters: Iterable[bytes],
        merges: Iterable[tuple[int, int, int]],
        counts: Sequence[int],
        terms: tuple[TermCost, ...] = (),
    ) -> Self:
        """Return what `replace` returned, from what it removed, added and merged.

        >>> from bpe_core.tokenizer import gpt2
        >>> made = Adapted.rebuilt(gpt2(), (50255,), (), [(11241, 7509, 50256)], [2])
        >>> made.tokenizer.decode([50256]), dict(made.parts)
        (' tokenizer', {50256: (11241, 7509)})
        """
        smaller, old_ids = base.keep_only(base.vocab.keys() - set(removed))
        tokenizer = add_characters(smaller, characters).extended(merges, counts)
        return cls.of(base, tokenizer, old_ids, removed, terms)

    def extended_to_size(
        self,
        corpus: Corpus | WordCounts | Iterable[str],
        on_progress: Callable[[TrainingProgress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        *,
        terms: Iterable[str | bytes] = (),
        left_out: Iterable[bytes] = (),
        tie_break: TieBreak = "smallest-pair",
        character_coverage: float = DEFAULT_COVERAGE,
    ) -> TrainingRun:
        """Return the second step of `replace`: the shrunk tokenizer extended to its base's size.

        >>> from bpe_core.adapting import Removals
        >>> from bpe_core.corpus import Corpus
        >>> from bpe_core.tokenizer import gpt2
        >>> corpus = Corpus.from_text("A tokenizer, two tokenizers")
        >>> run = Removals.to_replace(gpt2(), corpus, 2).at(50_256).extended_to_size(corpus)
        >>> [run.tokenizer.decode([id]) for id in run.new_tokens]
        [' tokenizer']
        """
        n_tokens = len(self.removed)
        run = extend(
            self.tokenizer,
            corpus,
            n_tokens,
            on_progress,
            should_stop,
            tie_break=tie_break,
            terms=terms,
            left_out=left_out,
            character_coverage=character_coverage,
        )
        if run.stop_reason == "cancelled":
            raise CancelledError
        if len(run.new_tokens) < n_tokens:
            raise ConfigError(
                f"This corpus has pairs for only {counted(len(run.new_tokens), 'new token')}, not "
                f"{n_tokens:,}. Replace fewer, or use more text."
            )
        return run


def _encoded_by(
    base: Tokenizer, spelled: Mapping[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Return the base's own encoding of tokens that are spelled by any of its tokens."""
    table = base.table
    encoded: dict[int, tuple[int, ...]] = {}
    for id, parts in spelled.items():
        symbols: list[int] = []
        waiting = [*reversed(parts)]
        while waiting:
            part = waiting.pop()
            pair = table.parts.get(part)
            if pair is None:
                symbols.append(part)
            else:
                waiting += reversed(pair)
        encoded[id] = tuple(merge_symbols(symbols, table.ranks, table.made))
    return encoded
