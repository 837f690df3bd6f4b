"""Compare two tokenizers: a proof that they are equal, or the shortest text found that differs.

A text goes through the same steps everywhere: added tokens are found, the rest is normalized, cut
into words, and each word is merged. Two tokenizers whose steps are the same, and whose merges give
every word the same tokens (`merge_differences` decides that), are equal, and the answer says *equal
(proved)*. Otherwise texts are built from what differs: a token's own bytes, two neighbours, the
texts that two patterns cut differently, an added token next to a letter. Each is encoded by both,
so a witness is never a guess; and a text that both encode alike proves nothing, so the answer then
is *no difference found*, with the number of texts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, Literal

from bpe_core.diagnosis.merge_differences import (
    Candidate,
    LiveMerges,
    MergeDifferences,
    ShouldStop,
    TextCosts,
    count_costs,
)
from bpe_core.errors import BpeError
from bpe_core.kernels import without_garbage_collection
from bpe_core.pretokenizers import CutComparison, Spaces, compare_cuts
from bpe_core.processes import Report
from bpe_core.tokenizer import Encoder, Tokenizer, named, to_encoder
from bpe_core.vocabulary import TokenChains

if TYPE_CHECKING:
    import os

    from bpe_core.corpus import Corpus
    from bpe_core.tokenizer import Trained

Verdict = Literal[
    "equal (same file form)", "equal (proved)", "different (witness)", "no difference found"
]

_AROUND: Final = (("", ""), (" ", ""), ("a", ""), ("", "a"), ("", " "), ("", "\n"), ("", "e"))
_LENGTHS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
_SCRIPTS: Final = (
    range(0x3401),
    range(0x4DC0, 0x4E01),
    range(0xA000, 0xAC02),
    range(0xF900, 0x17001),
    range(0x18D00, 0x20001),
    range(0x2F800, 0x2FA20),
)
_MAX_CANDIDATES: Final = 20_000
_MAX_COMPLETED: Final = 200
_MAX_TOKENS_TRIED: Final = 600_000
_COMPOSED: Final = (
    "e\u0301",
    "\u00e9",
    "\ufb01",
    "\u1100\u1161",
    "\uac00",
    "\u212b",
    "\u00bd",
    "A",
)


@dataclass(frozen=True, slots=True)
class Witness:
    """A text that two tokenizers encode differently."""

    text: str
    with_special_tokens: bool
    """True if they differ only where special tokens are recognised."""
    ids: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    """The ids of each; None if it cannot encode the text."""
    tokens: tuple[tuple[bytes, ...] | None, tuple[bytes, ...] | None]
    """The bytes of these ids."""
    is_shortest: bool = False
    """True if no shorter text differs; otherwise it is the shortest that was found."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; bytes that are not UTF-8 are written as \\xHH."""
        return {
            "text": self.text,
            "with_special_tokens": self.with_special_tokens,
            "is_shortest": self.is_shortest,
            "ids": [None if ids is None else list(ids) for ids in self.ids],
            "tokens": [
                None if each is None else [show_bytes(token) for token in each]
                for each in self.tokens
            ],
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether two tokenizers encode every text alike, and why that is known."""

    verdict: Verdict
    why: str
    witness: Witness | None = None
    n_texts: int = 0
    """The number of texts that both encoded."""

    @property
    def equal(self) -> bool | None:
        """True or False, or None if neither is known."""
        if self.verdict == "no difference found":
            return None
        return self.verdict != "different (witness)"

    @property
    def proved(self) -> bool:
        """True unless nothing but a search speaks for the answer."""
        return self.verdict != "no difference found"

    @property
    def words(self) -> str:
        """The verdict, with the number of texts if it is only that."""
        if self.proved:
            return self.verdict
        return f"no difference found ({self.n_texts:,} {'text' if self.n_texts == 1 else 'texts'})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "equal": self.equal,
            "proved": self.proved,
            "verdict": self.words,
            "witness": None if self.witness is None else self.witness.text,
            "why": self.why,
            "n_texts": self.n_texts,
            "witness_details": None if self.witness is None else self.witness.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class VocabularyChanges:
    """How the tokens of a second tokenizer differ from those of a first one."""

    n_kept: int
    """Ids that have the same bytes in both."""
    other_token: tuple[tuple[int, bytes, bytes], ...]
    """The ids that both have, with other bytes: id, then the bytes in each."""
    gone: tuple[bytes, ...]
    """Tokens that only the first has."""
    new: tuple[bytes, ...]
    """Tokens that only the second has."""
    n_renumbered: int
    """Tokens that both have, with another id."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values, with a few examples of each."""
        return {
            "n_kept": self.n_kept,
            "n_other_token": len(self.other_token),
            "n_renumbered": self.n_renumbered,
            "n_gone": len(self.gone),
            "n_new": len(self.new),
            "other_token": [
                [id, show_bytes(a), show_bytes(b)] for id, a, b in self.other_token[:10]
            ],
            "gone": [show_bytes(token) for token in self.gone[:10]],
            "new": [show_bytes(token) for token in self.new[:10]],
        }


@dataclass(frozen=True, slots=True)
class MergeChanges:
    """How the merges that can apply differ."""

    n_kept: int
    gone: tuple[tuple[bytes, bytes], ...]
    new: tuple[tuple[bytes, bytes], ...]
    n_moved: int
    """Merges that both have, at least as many as must move to make one order of the other."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values, with a few examples of each."""
        return {
            "n_kept": self.n_kept,
            "n_gone": len(self.gone),
            "n_new": len(self.new),
            "n_moved": self.n_moved,
            "gone": [[show_bytes(part) for part in pair] for pair in self.gone[:10]],
            "new": [[show_bytes(part) for part in pair] for pair in self.new[:10]],
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """How two tokenizers differ, as `bpe_core.diff` returns it."""

    ids: Answer
    """Whether they give every text the same ids."""
    tokens: Answer
    """Whether they cut every text into the same tokens, whatever their ids."""
    steps: tuple[tuple[str, str, str], ...]
    """The steps that differ: the name of each, and how each tokenizer does it."""
    vocabulary: VocabularyChanges
    merges: MergeChanges | None
    """None if another library runs one of them."""
    costs: TextCosts | None = None
    """What the text that was given costs with each."""

    @property
    def equal(self) -> bool | None:
        """Whether they give every text the same ids; None if that is not known."""
        return self.ids.equal

    @property
    def proved(self) -> bool:
        """True if `equal` is proved."""
        return self.ids.proved

    @property
    def witness(self) -> str | None:
        """A text to which they give other ids, or None."""
        return None if self.ids.witness is None else self.ids.witness.text

    @property
    def why(self) -> str:
        """Why that is known, in a sentence."""
        return self.ids.why

    def summary(self) -> dict[str, Any]:
        """Return the facts that a later comparison should repeat, as JSON values.

        They are counts and settings, without a witness, of which there are many.
        """
        vocabulary, merges = self.vocabulary.to_dict(), self.merges
        counts = {name: n for name, n in vocabulary.items() if isinstance(n, int)}
        if merges is not None:
            counts |= {
                f"{name}_merges": n for name, n in merges.to_dict().items() if isinstance(n, int)
            }
        found: dict[str, Any] = {"equal": self.equal, "same_tokens": self.tokens.equal, **counts}
        found["steps"] = [list(step) for step in self.steps]
        return found if self.costs is None else {**found, "change": self.costs.change}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            **self.ids.to_dict(),
            "same_tokens": self.tokens.to_dict(),
            "steps": [{"step": name, "a": a, "b": b} for name, a, b in self.steps],
            "vocabulary": self.vocabulary.to_dict(),
            "merges": None if self.merges is None else self.merges.to_dict(),
            "costs": None if self.costs is None else self.costs.to_dict(),
        }


def diff(
    a: Encoder | Trained | str | os.PathLike[str],
    b: Encoder | Trained | str | os.PathLike[str],
    on: Corpus | str | None = None,
    *,
    should_stop: ShouldStop | None = None,
) -> Diff:
    """Compare two tokenizers: the proof that they are equal, or a text on which they are not.

    Each is an encoder, a training run, a path or a name. The text `on` is a corpus or a str, on
    which tokens are counted too. Texts are compared both with special tokens as ordinary text and
    recognised. Raises what `open_encoder` and `encode` raise, and CancelledError once `should_stop`
    returns True; it is called with how many merges were looked at, and of how many.

    >>> import bpe_core as bpe
    >>> vocab = dict(enumerate([b"a", b"b", b"c", b"ab", b"bc"]))
    >>> a = bpe.Tokenizer(vocab=vocab, merges=[(0, 1, 3), (1, 2, 4)], pretokenizer="none")
    >>> b = bpe.Tokenizer(vocab=vocab, merges=[(1, 2, 4), (0, 1, 3)], pretokenizer="none")
    >>> found = bpe.diff(a, b)
    >>> found.equal, found.witness, found.ids.witness.tokens
    (False, 'abc', ((b'ab', b'c'), (b'a', b'bc')))
    >>> bpe.diff(a, a).ids.verdict
    'equal (same file form)'
    """
    one, other = _Side(named(to_encoder(a)).encoder), _Side(named(to_encoder(b)).encoder)
    pair = _Pair(one, other, should_stop)
    ids = pair.answer(with_ids=True)
    tokens = ids if ids.equal is not False else pair.answer(with_ids=False)
    costs = None if on is None else count_costs(one.encoder, other.encoder, on)
    return Diff(
        ids=ids,
        tokens=tokens,
        steps=pair.steps,
        vocabulary=_compare_vocabularies(one.encoder, other.encoder),
        merges=None if pair.differences is None else _compare_merges(pair.differences),
        costs=costs,
    )


def diff_files(one: bytes, other: bytes, report: Report[tuple[int, int]]) -> Diff:
    """Compare two tokenizers, each as its file in the native format has it, in another process.

    >>> from bpe_core.formats import dumps
    >>> from bpe_core.processes import Limits, call
    >>> tokenizer = Tokenizer(vocab={0: b"a"}, merges=[], pretokenizer="none")
    >>> (data,) = dumps(tokenizer, "native").values()
    >>> call(diff_files, data, data, limits=Limits(seconds=60)).equal
    True
    """
    from bpe_core.formats import loads

    def follow(done: int, of: int) -> bool:
        report((done, of))
        return False

    a, b = (loads({"tokenizer.json": data}) for data in (one, other))
    return diff(a, b, should_stop=follow)


def show_bytes(token: bytes) -> str:
    r"""Return a token as text; bytes that are not UTF-8 are written as \xHH.

    >>> show_bytes(b" caf\xc3")
    ' caf\\xc3'
    """
    return token.decode(errors="backslashreplace")


class _Side:
    """One of the two tokenizers, with what is derived from it once."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.merged_by = encoder.merged_by

    @cached_property
    def live(self) -> LiveMerges | None:
        with without_garbage_collection():
            return None if self.merged_by is None else LiveMerges(self.merged_by)

    @cached_property
    def chains(self) -> TokenChains | None:
        live = self.live
        if self.merged_by is None or live is None:
            return None
        is_known = live.exact and live.is_clear
        with without_garbage_collection():
            return TokenChains(self.merged_by, {*live.ids.values()} if is_known else None)

    @cached_property
    def added(self) -> frozenset[tuple[str, int, bool, bool]]:
        """Added tokens: text, id, whether special, and whether found in the normalized text."""
        listed = getattr(self.encoder, "added", ())
        if not listed:
            specials = self.encoder.special_tokens.items()
            return frozenset((text, id, True, False) for text, id in specials)
        changes = self.encoder.plain is None
        return frozenset(
            (each.text, each.id, each.is_special, each.is_normalized and changes) for each in listed
        )

    @cached_property
    def steps(self) -> dict[str, str]:
        """How each step is done, in words that are equal only if the step is the same."""
        own = self.merged_by
        found = {"engine": self.encoder.engine, "model": self.encoder.model}
        if own is None:
            return found
        normalizer = own.pretokenizer.normalizer
        spaces = getattr(self.encoder, "spaces", None)
        n_removals = len(own.table.removals)
        # No comparison of merges knows them, so no two trainings with removals are the same.
        return {
            **found,
            "removals": f"{n_removals:,}, of {own.fingerprint[:8]}" if n_removals else "none",
            "normalizer": "none" if normalizer is None else normalizer.name,
            "pre-tokenizer": own.pretokenizer.cut,
            "spaces": describe_spaces(spaces, is_added=own.pretokenizer.adds_space),
            "missing bytes": "left out" if getattr(self.encoder, "left_out", b"") else "kept",
            "symbols": own.base + (" with bytes for rare ones" if own.table.byte_ids else ""),
            "whole words": "looked up first" if own.table.whole_words_first else "merged",
            "end of word": "none" if own.end_of_word is None else repr(own.end_of_word),
            "added tokens": _list_added(self.added),
        }

    def ids(self, text: str, *, special: bool) -> tuple[int, ...] | None:
        try:
            return tuple(self.encoder.encode(text, "all" if special else ()))
        except BpeError:
            return None

    def batch(self, texts: Sequence[str]) -> list[Sequence[int] | None]:
        try:
            return list(self.encoder.encode_batch(texts))
        except BpeError:  # one of them has a symbol that is not in the alphabet
            return [self.ids(text, special=False) for text in texts]

    def names(self, ids: Sequence[int] | None) -> tuple[bytes, ...] | None:
        return None if ids is None else tuple(self.encoder.vocab[id] for id in ids)


class _Pair:
    """Two tokenizers, and the search for a text that they encode differently."""

    def __init__(self, one: _Side, other: _Side, should_stop: ShouldStop | None) -> None:
        self.one, self.other = one, other
        self._should_stop = should_stop
        self._n_texts = 0

    @cached_property
    def steps(self) -> tuple[tuple[str, str, str], ...]:
        """The steps that differ; of added tokens, only those that do."""
        one, other = self.one.steps, self.other.steps
        if "added tokens" in one and "added tokens" in other:
            mine, theirs = self.one.added, self.other.added
            one = one | {"added tokens": _list_added(mine - theirs)}
            other = other | {"added tokens": _list_added(theirs - mine)}
        names = [*one, *(name for name in other if name not in one)]
        return tuple(
            (name, one.get(name, "unknown"), other.get(name, "unknown"))
            for name in names
            if one.get(name) != other.get(name)
        )

    @cached_property
    def differences(self) -> MergeDifferences | None:
        """How the merges differ; None if merges alone do not say how one of the two encodes."""
        one, other = self.one.live, self.other.live
        if one is None or other is None or self._remove_tokens:
            return None
        return MergeDifferences(one, other, self._should_stop)

    @property
    def _remove_tokens(self) -> bool:
        owners = (side.merged_by for side in (self.one, self.other))
        return any(own is not None and own.table.removals for own in owners)

    @cached_property
    def cuts(self) -> CutComparison | None:
        one, other = self.one.merged_by, self.other.merged_by
        if one is None or other is None:
            return None
        return compare_cuts(one.pretokenizer, other.pretokenizer)

    def answer(self, *, with_ids: bool) -> Answer:
        """Return whether they encode every text alike: to the same ids, or to the same tokens."""
        self._n_texts = 0
        if self.one.encoder.fingerprint == self.other.encoder.fingerprint:
            return Answer(
                "equal (same file form)",
                "Their vocabulary, merges, steps and added tokens are the same.",
            )
        differing = {name for name, _, _ in self.steps}
        if self.cuts is not None and self.cuts.equal:
            differing.discard("pre-tokenizer")
        if not with_ids and self._same_added_texts():
            differing.discard("added tokens")
        search = self._search_merges(with_ids=with_ids)
        best = search.witness
        if not differing and search.is_proof:
            return Answer("equal (proved)", search.why, None, self._n_texts)
        if differing or best is None:
            found = self._search_steps(differing, with_ids=with_ids, best=best)
            if found is not None:
                best = found
        if best is not None and not best.is_shortest:
            best = self._shortened(best, with_ids=with_ids)
        if best is not None:
            return Answer("different (witness)", self._why(best), best, self._n_texts)
        why = search.why if not differing else _list_steps(self.steps)
        return Answer("no difference found", why, None, self._n_texts)

    def _same_added_texts(self) -> bool:
        one, other = (
            {(text, special, normalized) for text, _, special, normalized in side.added}
            for side in (self.one, self.other)
        )
        return one == other

    def _why(self, witness: Witness) -> str:
        shown = [
            "it cannot be encoded" if each is None else " ".join(map(repr, map(show_bytes, each)))
            for each in witness.tokens
        ]
        with_special = " with special tokens recognised" if witness.with_special_tokens else ""
        same = witness.tokens[0] == witness.tokens[1]
        if same:
            how = f"has the ids {_list_ids(witness.ids[0])} and {_list_ids(witness.ids[1])}"
        else:
            how = f"becomes {shown[0]} and {shown[1]}"
        shortest = " No shorter text differs." if witness.is_shortest else ""
        return f"{witness.text!r} {how}{with_special}.{shortest}"

    # Texts that differ

    def _look(self) -> None:
        if self.differences is not None:
            self.differences.look()
        elif self._should_stop is not None and self._should_stop(0, 0):
            raise CancelledError

    def differs(self, text: str, *, with_ids: bool, special: bool = False) -> Witness | None:
        """Return a text as a witness, or None if both encode it alike."""
        self._look()
        self._n_texts += 1
        one, other = self.one.ids(text, special=special), self.other.ids(text, special=special)
        if one == other and with_ids:
            return None
        names = self.one.names(one), self.other.names(other)
        if not with_ids and names[0] == names[1]:
            return None
        return Witness(text, special, (one, other), names)

    def _first_of_batch(self, texts: Iterable[str], *, with_ids: bool) -> Witness | None:
        """Return the shortest text, of the first thousands that have one, which differs."""
        waiting = iter(texts)
        while batch := list(islice(waiting, 8_192)):
            self._look()
            self._n_texts += len(batch)
            found: list[str] = []
            results = zip(batch, self.one.batch(batch), self.other.batch(batch), strict=True)
            for text, one, other in results:
                if one == other and with_ids:
                    continue
                if self.one.names(one) != self.other.names(other) or (with_ids and one != other):
                    found.append(text)
            for text in sorted(found, key=_size):
                witness = self.differs(text, with_ids=with_ids)
                if witness is not None:
                    return witness
        return None

    def _shortened(self, witness: Witness, *, with_ids: bool) -> Witness:
        """Leave out characters of a witness for as long as it differs."""
        best = witness
        goes_on = len(best.text) <= 4_096
        while goes_on:
            goes_on = False
            text = best.text
            widths = [len(text) // 2, len(text) // 4, 1] if len(text) > 8 else [1]
            for width in widths:
                for start in range(0, len(text), max(1, width)):
                    shorter = text[:start] + text[start + max(1, width) :]
                    if not shorter:
                        continue
                    found = self.differs(
                        shorter, with_ids=with_ids, special=best.with_special_tokens
                    )
                    if found is not None:
                        best, goes_on = found, True
                        break
                if goes_on:
                    break
        return best

    # Where the merges differ

    def _search_merges(self, *, with_ids: bool) -> _Search:
        found = self.differences
        if found is None and self._remove_tokens:
            return _Search(why="Training removed tokens again (PickyBPE), so texts were tried.")
        if found is None:
            library = (self.one if self.one.live is None else self.other).encoder
            return _Search(why=f"{library.engine} runs one of them, so texts were tried.")
        one, other = found.one, found.other
        singles = found.singles(found.longest, with_ids=with_ids)
        if one.ranks.keys() == other.ranks.keys() and next(singles, None) is None:
            is_clear = one.is_clear and other.is_clear
            same_order = is_clear and list(one.ranks) == list(other.ranks)
        else:
            same_order = False
        if same_order:
            return _Search(
                is_proof=True,
                why="The merges that can apply are the same, in the same order, and so are all "
                "steps before them.",
            )
        return self._realized(found, with_ids=with_ids)

    def _realized(self, differences: MergeDifferences, *, with_ids: bool) -> _Search:
        """Look for a text that shows a difference between the merges, the shortest words first."""
        best: Witness | None = None
        shown = 1 << 30
        """The bytes of the shortest word whose difference some text shows, or may show."""
        last, n_candidates, open_candidates = 0, 0, 0
        hidden: dict[str, int] = {}
        lengths = [length for length in _LENGTHS if length < differences.longest]
        for most in [*lengths, differences.longest]:
            if best is not None and last >= _size(best.text):
                break
            candidates = [
                each
                for each in differences.up_to(most, with_ids=with_ids)
                if len(each.word) > last or not each.word
            ]
            last = most
            for candidate in candidates:
                if best is not None and len(candidate.word) >= _size(best.text):
                    break
                n_candidates += 1
                if n_candidates > _MAX_CANDIDATES:
                    open_candidates += 1
                    break
                witness, why_hidden = self._realize(candidate, with_ids=with_ids)
                if witness is not None and (best is None or _size(witness.text) < _size(best.text)):
                    best = witness
                if why_hidden:
                    hidden[why_hidden] = hidden.get(why_hidden, 0) + 1
                    continue
                shown = min(shown, len(candidate.word))
                open_candidates += witness is None
            if n_candidates > _MAX_CANDIDATES:
                break
        if best is not None:
            is_exact = differences.proves and not self.steps and not self._puts_spaces
            is_shortest = is_exact and _size(best.text) <= shown
            return _Search(replace(best, is_shortest=is_shortest))
        if open_candidates or not differences.proves:
            return _Search(
                why="Their merges are not the same, and no text was found that shows it."
            )
        if not hidden:
            why = "Their merges are not the same, but leave the same neighbours in every word."
        else:
            listed = ", ".join(f"{n:,} because {why}" for why, n in hidden.items())
            why = f"Their merges differ only where no text shows it: {listed}."
        return _Search(is_proof=True, why=why)

    @property
    def _puts_spaces(self) -> bool:
        """True if one puts a space in front of a text, so that a word may be shorter as a text."""
        sides = (self.one, self.other)
        return any(getattr(side.encoder, "spaces", None) is not None for side in sides)

    def _realize(self, candidate: Candidate, *, with_ids: bool) -> tuple[Witness | None, str]:
        """Return the shortest text found for a candidate; or, without one, why there is none."""
        side = self.one if candidate.in_first else self.other
        own = side.merged_by
        assert own is not None
        best: Witness | None = None
        for text in self._texts(candidate, own):
            if best is not None and _size(text) >= _size(best.text):
                continue
            best = self.differs(text, with_ids=with_ids) or best
            if best is not None and _size(best.text) <= len(candidate.word):
                return best, ""
        if best is not None:
            return best, ""
        return self._why_hidden(candidate, side, own, with_ids=with_ids)

    def _why_hidden(
        self, candidate: Candidate, side: _Side, own: Tokenizer, *, with_ids: bool
    ) -> tuple[Witness | None, str]:
        if own.end_of_word is not None:
            return None, ""
        decoded = candidate.word.decode(errors="ignore")
        if own.pretokenizer.normalized(decoded) != decoded:
            return None, "the normalizer changes them"
        chains = side.chains
        assert chains is not None
        if chains.is_cut_within(candidate.word):
            return None, "the pre-tokenizer always cuts them"
        if len(candidate.ids) == 1:
            (id,) = candidate.ids
            for text in chains.texts_with(id) if chains.obstacle_to(id) is None else ():
                if witness := self.differs(text, with_ids=with_ids):
                    return witness, ""
            if own.table.word_ids.get(candidate.word) == id:
                return None, ""
            if chains.obstacle_to(id) is not None:
                return None, "no text has their bytes"
            is_cut = chains.is_always_cut(id)
            return None, "the pre-tokenizer always cuts them" if is_cut else ""
        word = chains.find_word(candidate.ids)
        if word is None:
            return None, "no text has their bytes"
        for before, after in _AROUND:
            if witness := self.differs(before + word + after, with_ids=with_ids):
                return witness, ""
        if chains.is_cut_within(word.encode()) and word.encode() == candidate.word:
            return None, "the pre-tokenizer always cuts them"
        return None, ""

    def _texts(self, candidate: Candidate, own: Tokenizer) -> Iterator[str]:
        """Yield texts that may have a candidate in their encoding, the word itself first."""
        contexts = dict.fromkeys((*_AROUND, *TokenChains.CONTEXTS.get(own.pretokenizer.cut, ())))
        marker = own.end_of_word
        for word in islice(_completed(candidate.word), _MAX_COMPLETED):
            if marker is not None:
                word = word.removesuffix(marker)
            if not word:
                continue
            if self._puts_spaces and word[0] == " " and word != " ":
                yield word[1:]
            for before, after in contexts if word.encode() == candidate.word else (("", ""),):
                yield before + word + after

    # Where other steps differ

    def _search_steps(
        self, differing: set[str], *, with_ids: bool, best: Witness | None
    ) -> Witness | None:
        """Look for a text in what other steps change, then in the tokens of both and in prose."""
        found = best
        for special in (False, True):
            for text in self._added_texts():
                witness = self.differs(text, with_ids=with_ids, special=special)
                if witness is not None and (found is None or _size(text) < _size(found.text)):
                    found = witness
        sources = (self._cut_texts(), _COMPOSED, _one_character_texts())
        for texts in sources:
            short = texts if found is None else [t for t in texts if _size(t) < _size(found.text)]
            found = self._first_of_batch(short, with_ids=with_ids) or found
        if found is None:
            found = self._first_of_batch(self._token_texts(), with_ids=with_ids)
        return found

    def _added_texts(self) -> Iterator[str]:
        changed = {each[0] for each in self.one.added ^ self.other.added}
        specials = {*self.one.encoder.special_tokens} ^ {*self.other.encoder.special_tokens}
        ids_of = self.one.encoder.special_tokens, self.other.encoder.special_tokens
        specials |= {t for t in ids_of[0] if ids_of[0][t] != ids_of[1].get(t)}
        for text in sorted(changed | specials, key=len)[:200]:
            for before, after in (("", ""), ("a", ""), ("", "a"), (" ", ""), ("", " ")):
                yield before + text + after

    def _cut_texts(self) -> Iterator[str]:
        if self.cuts is None:
            return
        yield from self.cuts.texts
        yield from (
            "".join(each) for each in islice(product(self.cuts.characters, repeat=3), 8_000)
        )

    def _token_texts(self) -> Iterator[str]:
        """Yield the tokens of both that are text, alone and with what may be next to them."""
        from bpe_core.corpus import load_sample

        vocabularies = [set(side.encoder.vocab.values()) for side in (self.one, self.other)]
        only_one = vocabularies[0] ^ vocabularies[1]
        common = vocabularies[0] & vocabularies[1]
        listed = [*sorted(only_one, key=len), *sorted(common, key=len)][:_MAX_TOKENS_TRIED]
        texts: list[str] = []
        for token in listed:
            try:
                texts.append(token.decode())
            except UnicodeDecodeError:
                continue
        yield from texts
        yield from (f" {text}" for text in texts)
        yield from (f"{text}{text}" for text in texts if len(text) < 20)
        for document in load_sample("multilingual").documents:
            yield from document.splitlines(keepends=True)


@dataclass(frozen=True, slots=True)
class _Search:
    """The result of a search of the merges."""

    witness: Witness | None = None
    is_proof: bool = False
    """True if the merges give every word the same tokens."""
    why: str = ""


def _completed(word: bytes) -> Iterator[str]:
    """Yield texts that have these bytes: whole characters as they are, parts of one completed.

    >>> list(_completed(b"a")), [text.encode().hex() for text in islice(_completed(b"\\xc3"), 2)]
    (['a'], ['c380', 'c381'])
    """
    begins = range(0x80, 0xC0)
    for head in _HEADS if word[:1] and word[0] in begins else (b"",):
        for tail in _TAILS:
            try:
                yield (head + word + tail).decode()
            except UnicodeDecodeError:
                continue
            if not tail:
                break


_HEADS: Final = (
    *(bytes([lead]) for lead in (0xC2, 0xC3, 0xCE, 0xD0, 0xD8, 0xDF)),
    *(bytes([lead, 0xA0]) for lead in (0xE0, 0xE3, 0xE4, 0xE5, 0xE9, 0xEA)),
    *(bytes([lead]) for lead in (0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE7, 0xE9, 0xEF)),
    b"\xf0\x9f",
    b"\xf0",
    b"\xf0\x9f\x98",
    b"\xf4\x80",
)
_TAILS: Final = (
    b"",
    *(bytes([last]) for last in range(0x80, 0xC0)),
    *(bytes([middle, last]) for middle in (0x80, 0x98, 0xA0, 0xBF) for last in (0x80, 0x81, 0xBF)),
    *(bytes([0x80, middle, 0x80]) for middle in (0x80, 0x9F, 0xBF)),
    b"\x9f\x98\x80",
    b"\x98\x80",
)


def _one_character_texts() -> Iterator[str]:
    """Yield the characters of all scripts; of the largest blocks, which are alike, the first."""
    for block in _SCRIPTS:
        for code in block:
            if unicodedata.category(chr(code)) not in ("Cn", "Co"):
                yield chr(code)


def _size(text: str) -> int:
    return len(text.encode())


def describe_spaces(spaces: Spaces | None, *, is_added: bool) -> str:
    """Return where a tokenizer puts spaces, in words.

    >>> describe_spaces(None, is_added=False)
    'as they are'
    """
    if is_added:
        return "one put in front of a text"
    if spaces is None:
        return "as they are"
    where = {
        "never": "none put in front of a text",
        "first": "one put in front of a text",
        "always": "one put in front of a text and after each added token",
    }[spaces.prefix]
    missing = " that does not begin with one" if spaces.if_missing else ""
    return f"{where}{missing}, and ▁ read as one"


def _list_added(added: Iterable[tuple[str, int, bool, bool]]) -> str:
    listed = [
        f"{text} {id}{'' if special else ' always'}{' normalized' if normalized else ''}"
        for text, id, special, normalized in sorted(added)
    ]
    return ", ".join(listed) or "none"


def _list_ids(ids: Sequence[int] | None) -> str:
    return "none" if ids is None else " ".join(map(str, ids))


def _list_steps(steps: Sequence[tuple[str, str, str]]) -> str:
    listed = "; ".join(f"{name}: {a:.60} and {b:.60}" for name, a, b in steps)
    return f"These steps are not the same, and no text was found that shows it: {listed}."


def _compare_vocabularies(one: Encoder, other: Encoder) -> VocabularyChanges:
    mine, theirs = _tokens_left(one), _tokens_left(other)
    tokens, their_tokens = set(mine.values()), set(theirs.values())
    both = [id for id in mine if id in theirs]
    kept = sum(mine[id] == theirs[id] for id in both)
    shared = tokens & their_tokens
    kept_tokens = {mine[id] for id in both if mine[id] == theirs[id]}
    return VocabularyChanges(
        n_kept=kept,
        other_token=tuple((id, mine[id], theirs[id]) for id in both if mine[id] != theirs[id]),
        gone=tuple(token for token in dict.fromkeys(mine.values()) if token not in their_tokens),
        new=tuple(token for token in dict.fromkeys(theirs.values()) if token not in tokens),
        n_renumbered=len(shared - kept_tokens),
    )


def _tokens_left(encoder: Encoder) -> Mapping[int, bytes]:
    """Return the bytes of each id but those of tokens that training removed again."""
    own = encoder.merged_by
    removed: Collection[int] = () if own is None else own.table.removed
    return {id: token for id, token in encoder.vocab.items() if id not in removed}


def _compare_merges(differences: MergeDifferences) -> MergeChanges:
    mine, theirs = differences.one.ranks, differences.other.ranks
    return MergeChanges(
        n_kept=len(mine.keys() & theirs.keys()),
        gone=tuple(pair for pair in mine if pair not in theirs),
        new=tuple(pair for pair in theirs if pair not in mine),
        n_moved=sum(pair in mine and pair in theirs for pair in differences.moved),
    )
