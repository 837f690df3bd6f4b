"""Infer what a tokenizer was trained on from the order of its merges.

Hayase, Liu, Choi, Oh and Smith, "Data Mixture Inference: What do BPE Tokenizers Reveal about their
Training Data?" (2024, section 3): each merge joins the pair that was the most frequent at its step,
in the whole training text. Let samples stand for the categories of that text. Their pairs are
counted before each of many merges, under the tokenizer's own earlier merges, and the shares of the
categories are those for which the merges were the most frequent pairs, or nearly so:

    minimize    sum of v_t + sum of v_p
    such that   sum_i share_i * (count_i(merge t) - count_i(pair p)) + v_t + v_p >= 0
                for each step t and each other pair p; the shares are at least 0, and their sum is 1

Counts are per byte of a category's sample, so shares are of bytes. v_t allows for a step that the
samples contradict, and v_p for a pair that training never joined. The program is solved by SciPy's
HiGHS, first with few pairs; those that a solution violates are added until none is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, describe, is_a
from bpe_core.corpus import (
    NEVER,
    Corpus,
    Layout,
    count_pretokens,
    load_sample,
    parallel_texts,
    to_corpus,
)
from bpe_core.errors import ArgumentTypeError, ConfigError, CorpusError
from bpe_core.extras import needs_extra
from bpe_core.unicode import to_printable

if TYPE_CHECKING:
    from bpe_core.tokenizer import Encoder, Tokenizer
    from bpe_core.types import Merge

OnProgress = Callable[[str, int, int], object]
"""Called with what is being done, and how much of it is done of how much."""

SampleSet = Literal["kinds", "languages"]
KINDS: Final[Mapping[str, str]] = {
    "Python code": "python-library",
    "Reference text": "python-help",
    "English story": "alice",
    "French tale": "chaperon-rouge",
    "German tale": "rotkaeppchen",
    "Chinese story": "kong-yiji",
}
"""The kinds of text that samples are shipped of, and which samples."""
N_PARTS: Final = 4
"""Each sample is divided into this many parts, which are drawn again for the intervals."""
_HANDS: Final = 16
_RIVALS: Final = 24
"""The pairs that are kept at each step, for each category."""
_FIRST_RIVALS: Final = 4
_MAX_ROUNDS: Final = 12
_WITNESSES: Final = 5
_NEAR: Final = 0.3
_COMMON: Final = 0.25
_AROUND: Final = 7
MIN_FIT: Final = 0.8
"""With a smaller share of explained merges, the samples do not fit."""
_LOW, _HIGH = 5, 95


def shipped_samples(which: SampleSet) -> dict[str, Corpus]:
    """Return the samples that come with this package: of kinds of text, or of 25 languages.

    Those of languages are a few sentences each, the same ones.

    >>> [*shipped_samples("languages")][:3]
    ['English', 'French', 'German']
    """
    if which == "languages":
        return {each.name: Corpus.from_documents(each.sentences) for each in parallel_texts()}
    return {name: _thinned(load_sample(id)) for name, id in KINDS.items()}


def _thinned(corpus: Corpus) -> Corpus:
    """Return documents from the whole corpus, about `Mixture.MAX_CHARACTERS` in all."""
    step = max(1, -(-corpus.n_characters // Mixture.MAX_CHARACTERS))
    return Corpus.from_documents(corpus.documents[::step]) if step > 1 else corpus


class Witness(NamedTuple):
    """A merge that speaks for a category."""

    rank: int
    token: bytes
    share: float
    """The share of its pair's occurrences that lie in the category, by the inferred mixture."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """The shares of categories in a tokenizer's training text, as its merges betray them."""

    MAX_CATEGORIES: ClassVar = 40
    MAX_CHARACTERS: ClassVar = 500_000
    """Of a sample that is shipped."""

    categories: tuple[str, ...]
    shares: NDArray[np.float64]
    """float64[n_categories]: of bytes; their sum is 1."""
    low: NDArray[np.float64]
    """float64[n_categories]: the 5th percentile over resamples of merges and of sample texts."""
    high: NDArray[np.float64]
    """float64[n_categories]: the 95th percentile."""
    fit: float
    """The share of merges that the samples explain: 1 for the training text itself."""
    witnesses: Mapping[str, tuple[Witness, ...]] = field(repr=False)
    """The merges that speak most for each category, the earliest first."""
    n_steps: int
    """The number of merges that were looked at."""
    n_merges: int
    """They are among this many first merges."""
    n_bytes: NDArray[np.int64] = field(repr=False)
    """int64[n_categories]: the size of each sample."""

    @property
    def fits(self) -> bool:
        """Whether the samples explain the merges well enough to believe the shares."""
        return self.fit >= MIN_FIT

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON."""
        rows = zip(
            self.categories,
            self.shares.tolist(),
            self.low.tolist(),
            self.high.tolist(),
            self.n_bytes.tolist(),
            strict=True,
        )
        return {
            "categories": [
                {
                    "category": name,
                    "share": share,
                    "low": low,
                    "high": high,
                    "sample_bytes": n_bytes,
                    "merges": [
                        {"rank": each.rank, "token": to_printable(each.token), "share": each.share}
                        for each in self.witnesses[name]
                    ],
                }
                for name, share, low, high, n_bytes in rows
            ],
            "fit": self.fit,
            "fits": self.fits,
            "n_steps": self.n_steps,
            "n_merges": self.n_merges,
        }


def mixture(
    tokenizer: Encoder,
    samples: Mapping[str, Corpus | str | Iterable[str]],
    *,
    n_merges: int | None = None,
    n_steps: int = 200,
    n_resamples: int = 20,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Mixture:
    """Infer the shares of categories in a tokenizer's training text from the order of its merges.

    `samples` has a text for each category, such as a language. Of the first `n_merges` merges, by
    default those that the samples are large enough to judge, `n_steps` are looked at. Intervals
    come from `n_resamples` draws of merges and of parts of the samples; they do not cover what no
    sample shows, such as a category that is missing.

    Raises `ConfigError` for a tokenizer without known merges or with superwords, and for fewer than
    two categories, `CorpusError` for a sample without text, and `MissingExtraError` if SciPy is not
    installed.
    Raises CancelledError once `should_stop` returns True.

    >>> import bpe_core as bpe
    >>> samples = {"hugs": "hug hugs hugging " * 9, "puns": "pun puns punning bun " * 9}
    >>> run = bpe.train([samples["hugs"] * 3 + samples["puns"]], vocab_size=268)
    >>> found = bpe.mixture(run.tokenizer, samples, n_resamples=2)
    >>> found.categories, bool(found.shares[0] > found.shares[1])
    (('hugs', 'puns'), True)
    """
    merged: Tokenizer | None = getattr(tokenizer, "merged_by", None)
    if merged is None:
        raise ConfigError(
            "The merges of this tokenizer are not known, so their order says nothing. Use a BPE "
            "tokenizer that BPE Explorer runs itself."
        )
    if merged.table.removals:
        raise ConfigError(
            "Training removed tokens of this tokenizer again (PickyBPE), so its merges are not "
            "the most frequent pairs in turn. Give one without removals."
        )
    if merged.pretokenizer.cut == "superwords":
        raise ConfigError(
            "This tokenizer's first merges were learned within words and its later ones across "
            "them, so no single way of cutting the samples fits. Give one without superwords."
        )
    check_whole("n_steps", n_steps, 1, 5_000)
    check_whole("n_resamples", n_resamples, 0, 1_000)
    check_whole("seed", seed, 0)
    if n_merges is not None:
        check_whole("n_merges", n_merges, 1)
    if not is_a(samples, Mapping):
        raise ArgumentTypeError(
            f"Expected samples as a dict from categories to texts, got {describe(samples)}."
        )
    if not 2 <= len(samples) <= Mixture.MAX_CATEGORIES:
        raise ConfigError(
            f"Expected 2 to {Mixture.MAX_CATEGORIES} categories, got {len(samples)}. A share is a "
            "share of several."
        )
    if not merged.merges:
        raise ConfigError("This tokenizer has no merges. Their order is what is read.")

    def look(what: str, done: int, total: int) -> None:
        if should_stop is not None and should_stop():
            raise CancelledError
        if on_progress is not None:
            on_progress(what, done, total)

    with needs_extra("mixture", "bpe.mixture"):
        for name in ("optimize", "sparse"):
            import_module(f"scipy.{name}")
    counted = _count(merged, samples, n_merges, n_steps, look)
    n_categories = len(samples)
    whole = np.ones((n_categories, N_PARTS))
    steps = np.ones(len(counted.ranks))
    shares = _solve(counted, whole, steps)
    rng = np.random.default_rng(seed)
    drawn: list[NDArray[np.float64]] = []
    for number in range(n_resamples):
        look("Drawing again for the intervals", number, n_resamples)
        parts = rng.multinomial(N_PARTS, [1 / N_PARTS] * N_PARTS, n_categories).astype(float)
        again = rng.multinomial(len(steps), [1 / len(steps)] * len(steps)).astype(float)
        drawn.append(_solve(counted, parts, again))
    low, high = (
        np.percentile(drawn, [_LOW, _HIGH], axis=0) if drawn else (np.copy(shares), np.copy(shares))
    )
    frequency = counted.frequencies(whole)
    return Mixture(
        categories=tuple(samples),
        shares=shares,
        low=np.minimum(low, shares),
        high=np.maximum(high, shares),
        fit=_fit(counted, frequency, shares),
        witnesses=_witnesses(merged, counted, frequency, shares, tuple(samples)),
        n_steps=len(counted.ranks),
        n_merges=counted.n_merges,
        n_bytes=counted.n_bytes.sum(axis=1).astype(np.int64),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Counts of pairs at each step: of the merge, then of its rivals."""

    n_merges: int
    ranks: NDArray[np.int64]
    """int64[n_steps]"""
    step: NDArray[np.int64]
    """int64[n_rows]: which step a row belongs to; the first row of each step is its merge."""
    pair: NDArray[np.int64]
    """int64[n_rows]: a number for each distinct pair."""
    counts: NDArray[np.float32]
    """float32[n_rows, n_categories, N_PARTS]"""
    n_bytes: NDArray[np.float64]
    """float64[n_categories, N_PARTS]"""

    def frequencies(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[n_rows, n_categories]: counts per byte, with parts drawn so often."""
        n_bytes = np.maximum((self.n_bytes * parts).sum(axis=1), 1)
        return np.einsum("rcp,cp->rc", self.counts, parts) / n_bytes


def _count(
    tokenizer: Tokenizer,
    samples: Mapping[str, Corpus | str | Iterable[str]],
    n_merges: int | None,
    n_steps: int,
    look: OnProgress,
) -> _Counted:
    """Count the pairs of all samples at some steps, before the merge of each."""
    rows: list[Layout] = []
    n_bytes = np.zeros((len(samples), N_PARTS))
    for place, (name, sample) in enumerate(samples.items()):
        look("Counting words", place, len(samples))
        parts = _divide(sample, name)
        for number, text in enumerate(parts):
            pretokens = count_pretokens(text, tokenizer.pretokenizer)
            ids, ends = tokenizer.encoder.encode_pretokens(pretokens)
            rows.append(Layout.of_tokens(pretokens, ids, ends))
            n_bytes[place, number] = text.n_bytes
    layout, joined_at, owner = _lay_out_bases(tokenizer, rows)
    merge_ids = np.array([merge.id for merge in tokenizer.merges], np.int32)
    n_merges = min(n_merges or _judgeable(joined_at, layout), len(merge_ids))
    # More of the early merges, whose counts are largest and noise is least.
    spaced = (np.arange(n_steps) / n_steps) ** 1.5 * n_merges
    ranks = np.unique(spaced.astype(np.int64))
    n_ids = max(tokenizer.vocab) + 1
    numbers: dict[int, int] = {}
    step_rows: list[NDArray[np.int64]] = []
    pair_rows: list[NDArray[np.int64]] = []
    count_rows: list[NDArray[np.float32]] = []
    weights = layout.weights()
    sizes = np.maximum(n_bytes.sum(axis=1), 1)
    for place, rank in enumerate(map(int, ranks)):
        look("Counting pairs before each merge", place, len(ranks))
        merge: Merge = tokenizer.merges[rank]
        pairs, table = _pairs_at(layout, joined_at, merge_ids, weights, owner, rank, n_ids)
        table = table.reshape(len(pairs), len(samples), N_PARTS)
        frequency = table.sum(axis=2) / sizes
        most = min(_RIVALS, len(pairs))
        best = np.argpartition(-frequency, most - 1, axis=0)[:most] if most else np.zeros((0, 0))
        own = merge.left * n_ids + merge.right
        chosen = [int(each) for each in np.unique(best) if pairs[int(each)] != own]
        at = np.flatnonzero(pairs == own)
        winner = table[at[0]] if len(at) else np.zeros((len(samples), N_PARTS))
        keys: list[int] = [own, *pairs[chosen].tolist()]
        pair_rows.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys]))
        count_rows.append(np.concatenate([winner[np.newaxis], table[chosen]]).astype(np.float32))
        step_rows.append(np.full(len(keys), place))
    return _Counted(
        n_merges,
        ranks,
        np.concatenate(step_rows),
        np.concatenate(pair_rows),
        np.concatenate(count_rows),
        n_bytes,
    )


def _divide(sample: Corpus | str | Iterable[str], name: str) -> list[Corpus]:
    """Divide a sample into parts of about the same size, each drawn from all of it."""
    corpus = Corpus.from_text(sample) if isinstance(sample, str) else to_corpus(sample)
    pieces = [piece for piece in corpus.documents if piece.strip()]
    if len(pieces) < _HANDS * N_PARTS:
        pieces = _stretches([line for piece in pieces for line in piece.splitlines(keepends=True)])
    if len(pieces) < _HANDS * N_PARTS:
        pieces = _stretches([word + " " for piece in pieces for word in piece.split()])
    if len(pieces) < N_PARTS:
        raise CorpusError(
            f"The sample of {name!r:.80} has fewer than {N_PARTS} words. Give more text like it; a "
            "megabyte is good."
        )
    return [Corpus.from_documents(pieces[start::N_PARTS]) for start in range(N_PARTS)]


def _stretches(parts: list[str]) -> list[str]:
    """Join neighbouring parts to as many stretches as are dealt."""
    size = max(1, len(parts) // (_HANDS * N_PARTS))
    return ["".join(parts[at : at + size]) for at in range(0, len(parts), size)]


def _lay_out_bases(
    tokenizer: Tokenizer, rows: list[Layout]
) -> tuple[Layout, NDArray[np.int32], NDArray[np.int64]]:
    """Return all words in base symbols, when each is joined to the one before, and whose it is.

    A token is always built by the same merges, so its symbols and their order follow from its id.
    """
    symbols: dict[int, tuple[int, ...]] = {}
    joints: dict[int, tuple[int, ...]] = {}
    for merge in tokenizer.merges:
        if merge.id in symbols:
            continue
        left, right = (symbols.get(each, (each,)) for each in merge.pair)
        symbols[merge.id] = left + right
        inner = (joints.get(each, ()) for each in merge.pair)
        joints[merge.id] = (*next(inner), merge.rank, *next(inner))
    # The gap that ends a row also begins the next one.
    stretches = [row.ids[min(place, 1) :] for place, row in enumerate(rows)]
    ids = np.concatenate(stretches)
    counts = np.concatenate([row.counts for row in rows])
    owner_of_slot = np.repeat(np.arange(len(rows)), [len(each) for each in stretches])
    distinct, inverse = np.unique(ids, return_inverse=True)
    spelled = [symbols.get(id, (id,)) for id in distinct.tolist()]
    joined = [(NEVER, *joints.get(id, ())) for id in distinct.tolist()]
    lengths = np.array([len(each) for each in spelled], np.int64)
    starts = np.append(0, np.cumsum(lengths))
    flat_ids = np.array([id for each in spelled for id in each], np.int32)
    flat_joints = np.array([rank for each in joined for rank in each], np.int32)
    n = lengths[inverse]
    offsets: NDArray[np.int64] = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    places: NDArray[np.int64] = np.repeat(starts[inverse], n) + offsets
    owner = np.repeat(owner_of_slot, n)
    layout = Layout(flat_ids[places], counts)
    return layout, flat_joints[places], owner


def _judgeable(joined_at: NDArray[np.int32], layout: Layout) -> int:
    """Return how many first merges the samples can judge: those that occur often enough."""
    ranks = joined_at[joined_at < NEVER]
    if not len(ranks):
        return 1
    # A merge that is seen ten times or more, in ten of the hundred merges around it.
    seen = np.bincount(ranks) >= 10
    smoothed = np.convolve(seen, np.ones(100) / 100, mode="same")
    often = np.flatnonzero(smoothed >= 0.5)
    return int(max(often[-1] + 1 if len(often) else 0, min(100, len(seen))))


def _pairs_at(
    layout: Layout,
    joined_at: NDArray[np.int32],
    merge_ids: NDArray[np.int32],
    weights: NDArray[np.int64],
    owner: NDArray[np.int64],
    rank: int,
    n_ids: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each pair before the merge `rank`, and float64[n_pairs, n_rows]: its counts."""
    ids = layout.at_step(joined_at, merge_ids, rank).ids.astype(np.int64)
    slots = np.flatnonzero(joined_at >= rank)
    is_pair = (ids[:-1] >= 0) & (ids[1:] >= 0)
    keys = ids[:-1][is_pair] * n_ids + ids[1:][is_pair]
    at = slots[:-1][is_pair]
    n_owners = int(owner[-1]) + 1
    pairs, inverse = np.unique(keys, return_inverse=True)
    flat = np.bincount(
        inverse * n_owners + owner[at], weights=weights[at], minlength=len(pairs) * n_owners
    ).astype(np.float64)
    return pairs.astype(np.int64), flat.reshape(len(pairs), n_owners)


def _solve(
    counted: _Counted, parts: NDArray[np.float64], steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the shares that contradict the merges least; each step counts `steps` times."""
    frequency = counted.frequencies(parts)
    n = frequency.shape[1]
    firsts = np.searchsorted(counted.step, np.arange(len(counted.ranks)))
    is_rival = np.ones(len(counted.step), np.bool_)
    is_rival[firsts] = False
    is_rival &= steps[counted.step] > 0
    lead = frequency[firsts][counted.step] - frequency
    lead /= max(float(np.abs(lead).max(initial=0)), 1e-300)
    used = np.zeros(len(counted.step), np.bool_)
    shares = np.full(n, 1 / n)
    slack = np.zeros(len(counted.step))
    for _ in range(_MAX_ROUNDS):
        short = np.where(is_rival & ~used, -(lead @ shares) - slack, -np.inf)
        new = _worst_of_each(short, counted.step, _FIRST_RIVALS)
        new = new[short[new] > 1e-7] if used.any() else new[short[new] > -np.inf]
        if not len(new):
            break
        used[new] = True
        shares, of_step, of_pair = _program(
            lead[used], counted.step[used], counted.pair[used], steps
        )
        of_all = np.zeros(int(counted.pair.max()) + 1)
        of_all[np.unique(counted.pair[used])] = of_pair
        slack = of_step[counted.step] + of_all[counted.pair]
    return shares


def _worst_of_each(
    values: NDArray[np.float64], step: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Return the rows with the largest values of each step, at most so many of each."""
    order = np.lexsort((-values, step))
    place = np.arange(len(order)) - np.searchsorted(step[order], step[order])
    return order[place < most]


def _program(
    lead: NDArray[np.float64],
    step: NDArray[np.int64],
    pair: NDArray[np.int64],
    steps: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Solve the program of some rivals; return shares, and what each step and each pair needs."""
    with needs_extra("mixture", "bpe.mixture"):
        optimize: Any = import_module("scipy.optimize")
        sparse: Any = import_module("scipy.sparse")
    n_rows, n = (int(each) for each in lead.shape)
    known, place = np.unique(pair, return_inverse=True)
    ones = np.ones(n_rows)
    rows = np.arange(n_rows, dtype=np.int64)
    of_steps = sparse.csr_array((ones, (rows, step)), shape=(n_rows, len(steps)))
    of_pairs = sparse.csr_array((ones, (rows, place)), shape=(n_rows, len(known)))
    left: Any = sparse.hstack([sparse.csr_array(lead), of_steps, of_pairs], format="csr")
    cost = np.concatenate([np.zeros(n), steps, np.ones(len(known))])
    total = np.concatenate([np.ones(n), np.zeros(len(steps) + len(known))])[np.newaxis]
    found = optimize.linprog(
        cost, A_ub=-left, b_ub=np.zeros(n_rows), A_eq=total, b_eq=[1.0], method="highs"
    )
    if found.x is None:
        raise ConfigError(f"The shares could not be computed: {found.message}")
    shares = np.maximum(found.x[:n], 0)
    return shares / shares.sum(), found.x[n : n + len(steps)], found.x[n + len(steps) :]


def _fit(counted: _Counted, frequency: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
    """Return the share of merges that the samples explain, the smaller of two.

    A merge of a category that is missing is rarer in the mixture than the merges around it. And in
    texts of other kinds, even the first merges are not among the most frequent pairs. Later ones
    say little about that: each text has some pairs of its own that training never joined.
    """
    mixed = frequency @ shares
    firsts = np.searchsorted(counted.step, np.arange(len(counted.ranks)))
    own = mixed[firsts]
    around = [
        np.quantile(own[max(0, place - _AROUND) : place + _AROUND + 1], 0.75)
        for place in range(len(own))
    ]
    is_common = (own > 0) & (own >= _COMMON * np.array(around))
    early = slice(0, max(10, len(own) // 5))
    most = np.maximum.reduceat(mixed, firsts)
    is_near = (own > 0) & (own >= _NEAR * most)
    return float(min(is_common.mean(), is_near[early].mean()))


def _witnesses(
    tokenizer: Tokenizer,
    counted: _Counted,
    frequency: NDArray[np.float64],
    shares: NDArray[np.float64],
    names: tuple[str, ...],
) -> dict[str, tuple[Witness, ...]]:
    """Return the merges that speak most for each category: by its part in them, and early ones."""
    firsts = np.searchsorted(counted.step, np.arange(len(counted.ranks)))
    weighted = frequency[firsts] * shares
    total = weighted.sum(axis=1, keepdims=True)
    part = np.divide(weighted, total, out=np.zeros_like(weighted), where=total > 0)
    found: dict[str, tuple[Witness, ...]] = {}
    for place, name in enumerate(names):
        # Half its pair's occurrences, and more than the category's share of the text.
        own = np.flatnonzero((part[:, place] >= 0.5) & (part[:, place] > shares[place]))
        score = part[own, place] * weighted[own, place]
        best = own[np.argsort(-score, kind="stable")[:_WITNESSES]]
        merges = [(int(counted.ranks[each]), float(part[each, place])) for each in np.sort(best)]
        found[name] = tuple(
            Witness(rank, tokenizer.vocab[tokenizer.merges[rank].id], share)
            for rank, share in merges
        )
    return found
