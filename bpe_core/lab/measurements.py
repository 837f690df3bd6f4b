"""Measure encoders against each other, or trainers on longer and longer prefixes of a text.

Each encoder is a `Contender`. The first four differ only in how they find the tokens of a word:
they use the same pre-tokenizer, and none of them caches words.

Results are compared before calls are timed in turn. A slow contender gets less text: the longest
prefix that it handles within its time limit, found by trying longer and longer ones. The clock is a
parameter, so that the protocol can be tested.

A measurement runs in a separate process, so that other threads of the server don't distort the
times.
"""

from __future__ import annotations

import json
import math
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from statistics import median
from typing import Any, ClassVar, Final, Literal, Self

from bpe_core.errors import BpeError, ConfigError
from bpe_core.extras import needs_extra
from bpe_core.kernels import wait_for_kernels
from bpe_core.processes import Limits, Report
from bpe_core.tokenizer import Tokenizer, Trie, merge_symbols
from bpe_core.trainers import spelled_by
from bpe_core.types import Pair, TrainingConfig

Clock = Callable[[], float]

SECONDS_A_CALL: Final = 1.0
N_ROUNDS: Final = 5
_FIRST_PART: Final = 64
"""In characters: few enough for an encoder that searches a list for each pair."""
_FACTOR: Final = 4
"""Each part tried is this many times as long as the one before."""
_UNKNOWN_GROWTH: Final = 10.0
"""The assumed slowdown on four times the text until one is measured: between 4 and 16."""
SHORT: Final = 0.2
"""In seconds: calls up to this long take part in every round."""
ENOUGH_CALLS: Final = 3
"""The number of timed calls of a contender whose calls are longer."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A function to be timed; `prepare` returns it, or raises `BpeError` if it cannot."""

    name: str
    prepare: Callable[[], Callable[[str], Any]]
    is_prepared_each_call: bool = False
    """Whether to prepare it before each call, so that it has nothing cached."""


@dataclass(frozen=True, slots=True)
class ContenderTime:
    """The time of one contender on its part of the text."""

    name: str
    n_bytes: int = 0
    """The length of the part in UTF-8; 0 if it could not be measured."""
    is_whole: bool = False
    """Whether the part is the whole text."""
    seconds: float = 0.0
    """The median of its calls; 0 if it could not be measured."""
    n_calls: int = 0
    seconds_preparing: float = 0.0
    is_equal: bool = False
    """Whether its result for the part equals the expected one."""
    problem: str | None = None
    """The reason it could not be measured; None if it was."""

    @property
    def megabytes_per_second(self) -> float:
        """Millions of bytes of text per second; 0 if it could not be measured."""
        return self.n_bytes / self.seconds / 1e6 if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LabProgress:
    """The progress of a measurement."""

    done: int
    of: int
    name: str
    """The contender measured next."""
    seconds_compiling: float | None = None
    """Seconds that the measurement has waited for the compiler; None if it is not waiting."""


OnProgress = Callable[[LabProgress], None]
"""Called before each step, and once after the last."""


def ignore_progress(_progress: LabProgress) -> None:
    """Do nothing; the default for callers that do not follow the progress."""


@dataclass(slots=True)
class _Prepared:
    contender: Contender
    encode: Callable[[str], Any]
    seconds_preparing: float
    part: str
    is_equal: bool
    times: list[float]
    """The times of the calls in the rounds."""

    @property
    def has_enough_calls(self) -> bool:
        """Whether its calls are long, and it had enough of them."""
        return len(self.times) >= ENOUGH_CALLS and median(self.times) > SHORT


def time_contenders(
    contenders: Sequence[Contender],
    text: str,
    expected: Callable[[str], Any],
    *,
    seconds_a_call: float = SECONDS_A_CALL,
    n_rounds: int = N_ROUNDS,
    clock: Clock = time.perf_counter,
    on_progress: OnProgress = ignore_progress,
) -> list[ContenderTime]:
    """Time each contender on as much of a text as it can handle, in rounds of one call each.

    `expected(part)` is the correct result for a part. Parts are chosen so that a call takes at most
    `seconds_a_call`, extrapolating from the two calls before it, which bounds the whole
    measurement. A contender with long calls takes part in the first three rounds only.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> found = time_contenders([upper, swap], "aB", str.upper)
    >>> [(one.name, one.is_equal, one.n_bytes) for one in found]
    [('upper', True, 2), ('swap', False, 2)]
    """
    n_steps = len(contenders) * (1 + n_rounds)
    entries: list[_Prepared | ContenderTime] = []
    for place, contender in enumerate(contenders):
        on_progress(LabProgress(place, n_steps, contender.name))
        entries.append(_prepare(contender, text, expected, seconds_a_call, clock))
    for round_number in range(n_rounds):
        for place, entry in enumerate(entries):
            if isinstance(entry, _Prepared) and not entry.has_enough_calls:
                done = len(contenders) * (1 + round_number) + place
                on_progress(LabProgress(done, n_steps, entry.contender.name))
                _time_once(entry, clock)
    on_progress(LabProgress(n_steps, n_steps, ""))
    return [
        entry
        if isinstance(entry, ContenderTime)
        else ContenderTime(
            name=entry.contender.name,
            n_bytes=len(entry.part.encode()),
            is_whole=len(entry.part) == len(text),
            seconds=median(entry.times),
            n_calls=len(entry.times),
            seconds_preparing=entry.seconds_preparing,
            is_equal=entry.is_equal,
        )
        for entry in entries
    ]


def _prepare(
    contender: Contender,
    text: str,
    expected: Callable[[str], Any],
    seconds_a_call: float,
    clock: Clock,
) -> _Prepared | ContenderTime:
    started = clock()
    try:
        encode = contender.prepare()
        seconds_preparing = clock() - started
        part, result = _largest_part(encode, text, seconds_a_call, clock)
    except BpeError as error:
        return ContenderTime(contender.name, problem=str(error))
    is_equal = list(result) == list(expected(part))
    return _Prepared(contender, encode, seconds_preparing, part, is_equal, [])


def _largest_part(
    encode: Callable[[str], Any], text: str, limit: float, clock: Clock
) -> tuple[str, Any]:
    """Return the longest prefix of a text handled within the limit, and its result.

    Each prefix tried is four times as long as the one before.
    """
    size = min(_FIRST_PART, len(text))
    before = 0.0
    while True:
        part = text[:size]
        result, seconds = timed(encode, part, clock)
        if size == len(text):
            return part, result
        if seconds < SHORT and _predicted_seconds(seconds, before) > limit:
            # Another process may have used the processor meanwhile.
            seconds = min(seconds, timed(encode, part, clock)[1])
        if _predicted_seconds(seconds, before) > limit:
            return part, result
        before = seconds
        size = min(_FACTOR * size, len(text))


def _time_once(entry: _Prepared, clock: Clock) -> None:
    encode = entry.encode
    if entry.contender.is_prepared_each_call:
        encode = entry.contender.prepare()
    entry.times.append(timed(encode, entry.part, clock)[1])


def timed(function: Callable[[str], Any], part: str, clock: Clock) -> tuple[Any, float]:
    """Call a function on a text; return its result and the seconds it took."""
    # Tools written in Rust leave the UTF-8 cached in the string, so each call gets a new string.
    copy = part.encode().decode()
    started = clock()
    result = function(copy)
    return result, clock() - started


def _predicted_seconds(seconds: float, before: float) -> float:
    """Return the expected time for four times the text, from the times of the last two parts.

    >>> _predicted_seconds(0.5, before=0.1), _predicted_seconds(0.5, before=0.4)
    (2.5, 2.0)
    """
    return seconds * (max(_FACTOR, seconds / before) if before > 0 else _UNKNOWN_GROWTH)


with needs_extra("app", "Measuring in another process"):
    from bpe_core.processes import call

ENCODERS: Final = (
    "list-index",
    "hash-map",
    "trie",
    "longest-match",
    "engine-cold",
    "engine-warm",
    "tiktoken",
    "tokenizers",
)
_NO_RANK: Final = 1 << 60
_ID: Final = -1
"""The key of a token's id in a node of nested dicts; the other keys are symbols, which are >= 0."""

WordEncoder = Callable[[Sequence[int]], list[int]]
Node = dict[int, Any]

Kind = Literal["encoding", "training"]
_SMALL_SECONDS_A_CALL: Final = 0.1
_SMALL_ROUNDS: Final = 3
_SMALLEST: Final = 1_000
History = Sequence[tuple[int, float]]
"""The sizes measured for a contender, each with its seconds."""


@dataclass(frozen=True, slots=True)
class DifferingWord:
    """A pre-token that longest match cuts differently from the merges."""

    text: str
    count: int
    """Its number of occurrences in the text."""
    ids: tuple[int, ...]
    longest_match_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """The pre-tokens of a text on which longest match differs from the merges."""

    words: tuple[DifferingWord, ...]
    """The distinct pre-tokens that are cut differently, most frequent first."""
    n_pretokens: int
    """The number of pre-tokens in the text, with repeats."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str) -> Self:
        """Find the pre-tokens of a text on which longest match differs from the merges.

        >>> from bpe_core.tokenizer import gpt2
        >>> found = Differences.of(gpt2(), "Nobody overwrites unbelievable files")
        >>> [word.text for word in found.words], found.n_pretokens
        ([' overwrites'], 4)
        """
        by_rank, longest = _hash_map(tokenizer), LongestMatch(tokenizer)
        counts = Counter(_words(tokenizer, text))
        found: list[DifferingWord] = []
        for word, count in counts.most_common():
            runs = list(_runs(tokenizer, word))
            ids = [id for run in runs for id in by_rank(run)]
            greedy = [id for run in runs for id in longest.encode(run)]
            if ids != greedy:
                found.append(DifferingWord(word, count, tuple(ids), tuple(greedy)))
        return cls(tuple(found), counts.total())

    @property
    def n_differing(self) -> int:
        """The number of pre-tokens that are cut differently, with repeats."""
        return sum(word.count for word in self.words)


def merge_by_list_index(
    symbols: Sequence[int], pairs: Sequence[Pair], made: Sequence[int]
) -> list[int]:
    """Encode one pre-token, finding each rank by searching the list of merges.

    This is the naive encoder. A pair's rank is its index in the list, so a look-up takes time
    proportional to the number of merges, and all pairs are looked up again after each merge.

    >>> merge_by_list_index([0, 0, 0, 1], [(0, 0), (0, 1)], [2, 3])
    [2, 3]
    """
    ids = list(symbols)
    while len(ids) > 1:
        ranks = [pairs.index(pair) if pair in pairs else _NO_RANK for pair in pairwise(ids)]
        rank = min(ranks)
        if rank == _NO_RANK:
            break
        place = ranks.index(rank)
        ids[place : place + 2] = [made[rank]]
    return ids


class LongestMatch:
    """An encoder that takes the longest matching token, from left to right; this is not BPE.

    >>> from bpe_core.tokenizer import gpt2
    >>> greedy = LongestMatch(gpt2())
    >>> word = [gpt2().base_ids[bytes([byte])] for byte in b" overwrites"]
    >>> [gpt2().vocab[id] for id in greedy.encode(word)]
    [b' overwrite', b's']
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._root: Node = {}
        for id, symbols in spelled_by(tokenizer.merges).items():
            node = self._root
            for symbol in symbols:
                node = node.setdefault(symbol, {})
            node[_ID] = id

    def encode(self, symbols: Sequence[int]) -> list[int]:
        """Encode one pre-token by longest match; the ids may differ from those of BPE."""
        ids: list[int] = []
        start = 0
        while start < len(symbols):
            id, end = symbols[start], start + 1
            node = self._root
            for at in range(start, len(symbols)):
                next_node = node.get(symbols[at])
                if next_node is None:
                    break
                node = next_node
                if _ID in node:
                    id, end = node[_ID], at + 1
            ids.append(id)
            start = end
        return ids


def encoders(tokenizer: Tokenizer) -> list[Contender]:
    """Return every encoder; one that does not support the tokenizer raises when prepared.

    >>> from bpe_core.tokenizer import gpt2
    >>> [encoder.name for encoder in encoders(gpt2())] == list(ENCODERS)
    True
    """
    table = tokenizer.table
    prepare: dict[str, Callable[[], Callable[[str], Any]]] = {
        "list-index": lambda: _by_words(tokenizer, _list_index(tokenizer)),
        "hash-map": lambda: _by_words(tokenizer, _hash_map(tokenizer)),
        "trie": lambda: _by_words(tokenizer, Trie(table.ranks, table.made).encode),
        "longest-match": lambda: _by_words(tokenizer, LongestMatch(tokenizer).encode),
        "engine-cold": lambda: _engine(tokenizer),
        "engine-warm": lambda: _engine(tokenizer),
        "tiktoken": lambda: _tiktoken(tokenizer),
        "tokenizers": lambda: _tokenizers(tokenizer),
    }
    return [Contender(name, prepare[name], name == "engine-cold") for name in ENCODERS]


def expected_ids(tokenizer: Tokenizer) -> Callable[[str], list[int]]:
    """Return the encoder that defines the correct ids: merging by rank, with each word cached.

    >>> from bpe_core.tokenizer import gpt2
    >>> expected_ids(gpt2())("The quick brown fox")
    [464, 2068, 7586, 21831]
    """
    encode_word = _hash_map(tokenizer)
    known: dict[str, list[int]] = {}

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        for word in _words(tokenizer, text):
            if word not in known:
                runs = _runs(tokenizer, word)
                known[word] = [id for run in runs for id in encode_word(run)]
            ids += known[word]
        return ids

    return encode


def _by_words(tokenizer: Tokenizer, encode_word: WordEncoder) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        return [
            id
            for word in _words(tokenizer, text)
            for run in _runs(tokenizer, word)
            for id in encode_word(run)
        ]

    return encode


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the pre-tokens of a text as they are merged."""
    return tokenizer.pretokenizer.split(tokenizer.pretokenizer.written(text))


def _runs(tokenizer: Tokenizer, word: str) -> Iterator[list[int]]:
    """Yield runs of a word's symbols, split at symbols that the alphabet lacks.

    The last run ends with the end-of-word marker, if the tokenizer has one.
    """
    return (ids for ids, _ in tokenizer.table.pieces(word) if ids is not None)


def _list_index(tokenizer: Tokenizer) -> WordEncoder:
    pairs = list(tokenizer.table.ranks)
    return lambda symbols: merge_by_list_index(symbols, pairs, tokenizer.table.made)


def _hash_map(tokenizer: Tokenizer) -> WordEncoder:
    ranks, made = tokenizer.table.ranks, tokenizer.table.made
    return lambda symbols: merge_symbols(symbols, ranks, made)


def _engine(tokenizer: Tokenizer) -> Callable[[str], Any]:
    # Imported when needed, because it loads the kernels.
    from bpe_core.tokenizer import CompiledEncoder, can_compile

    table = tokenizer.with_changes(whole_words_first=False).table
    if not can_compile(table):
        raise ConfigError(
            "The compiled encoder needs all 256 bytes as tokens and no end-of-word marker. This "
            "tokenizer is encoded by plain Python, by hash map."
        )
    if tokenizer.pretokenizer.drops_text:
        raise ConfigError(
            f"The compiled encoder needs a pre-tokenizer that keeps all text, and "
            f"{tokenizer.pretokenizer.name!r} drops white space."
        )
    encoder = CompiledEncoder(table, tokenizer.pretokenizer)
    return lambda text: encoder.encode(tokenizer.pretokenizer.written(text), 1)


def _tiktoken(tokenizer: Tokenizer) -> Callable[[str], Any]:
    with needs_extra("formats", "Measuring tiktoken"):
        import tiktoken

    from bpe_core.formats import tiktoken_pattern, write_tiktoken

    lines = write_tiktoken(tokenizer).splitlines()
    encoding = tiktoken.Encoding(
        "measured",
        pat_str=tiktoken_pattern(tokenizer),
        mergeable_ranks={b64decode(token): int(id) for token, id in map(bytes.split, lines)},
        special_tokens={},
    )
    return encoding.encode_ordinary


def _tokenizers(tokenizer: Tokenizer) -> Callable[[str], list[int]]:
    with needs_extra("formats", "Measuring tokenizers"):
        import tokenizers

    from bpe_core.formats import write_huggingface

    theirs = tokenizers.Tokenizer.from_str(write_huggingface(tokenizer).decode())
    theirs.encode_special_tokens = True  # Encode special tokens as text, as the others do.
    return lambda text: theirs.encode(text, add_special_tokens=False).ids


def trainers(n_merges: int) -> list[Contender]:
    """Return the trainers: bytes as the alphabet, GPT-2's pre-tokenizer, `n_merges` merges.

    Each returns the merges as pairs of tokens.

    >>> reference, engine, theirs = (trainer.prepare() for trainer in trainers(3))
    >>> reference("hug hugs") == engine("hug hugs") == theirs("hug hugs")
    True
    """
    config = TrainingConfig(256 + n_merges, special_tokens=())
    return [
        Contender("reference", lambda: _reference_trainer(config)),
        Contender("engine", lambda: _engine_trainer(config)),
        Contender("tokenizers", lambda: _tokenizers_trainer(config)),
    ]


def _reference_trainer(config: TrainingConfig) -> Callable[[str], list[tuple[bytes, bytes]]]:
    from bpe_core.corpus import Corpus, count_pretokens
    from bpe_core.pretokenizers import get_pretokenizer
    from bpe_core.trainers import train_reference

    pretokenizer = get_pretokenizer(config.pretokenizer)

    def train(text: str) -> list[tuple[bytes, bytes]]:
        run = train_reference(count_pretokens(Corpus.from_text(text), pretokenizer), config)
        return [(run.vocab[merge.left], run.vocab[merge.right]) for merge in run.merges]

    return train


def _engine_trainer(config: TrainingConfig) -> Callable[[str], list[tuple[bytes, bytes]]]:
    from bpe_core.corpus import Corpus
    from bpe_core.kernels import kernels_are_ready
    from bpe_core.trainers import train as train_by_engine

    if kernels_are_ready():
        # Load them now, so that the first timed text doesn't pay for it.
        from bpe_core.trainers import compiled  # noqa: F401  # pyright: ignore[reportUnusedImport]

        train_by_engine(Corpus.from_text("hug " * 20_000), config)

    def train(text: str) -> list[tuple[bytes, bytes]]:
        run = train_by_engine(Corpus.from_text(text), config)
        vocab = run.tokenizer.vocab
        return [(vocab[merge.left], vocab[merge.right]) for merge in run.merges]

    return train


def _tokenizers_trainer(config: TrainingConfig) -> Callable[[str], list[tuple[bytes, bytes]]]:
    with needs_extra("formats", "Measuring tokenizers"):
        import tokenizers
        from tokenizers import models, pre_tokenizers
        from tokenizers.trainers import BpeTrainer

    from bpe_core.unicode import from_printable

    def train(text: str) -> list[tuple[bytes, bytes]]:
        theirs = tokenizers.Tokenizer(models.BPE())
        theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = BpeTrainer(
            vocab_size=config.vocab_size,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        theirs.train_from_iterator([text], trainer)
        merges = json.loads(theirs.to_str())["model"]["merges"]
        return [(from_printable(left), from_printable(right)) for left, right in merges]

    return train


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """The time of one contender for one size of text."""

    name: str
    n_bytes: int
    seconds: float
    n_calls: int
    is_equal: bool
    """Whether its result equals that of the first contender measured at this size."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a measurement, of encoding or of training; the other is empty."""

    encoding: tuple[ContenderTime, ...] = ()
    training: tuple[GrowthPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class LabOrder:
    """A measurement to run: of encoding with a tokenizer, or of training, on a text."""

    MAX_CHARACTERS: ClassVar = 2_000_000
    N_MERGES: ClassVar = 500
    """How many merges trainers learn."""
    SMALL_CHARACTERS: ClassVar = 10_000
    """The characters of a small measurement of encoders."""
    SMALL_TRAINING_CHARACTERS: ClassVar = 64_000
    """Those of one of trainers: enough for the engine to use its kernels, as on longer texts."""

    kind: Kind
    text: str
    tokenizer: Tokenizer | None = None
    """None for a measurement of training."""
    is_small: bool = False
    """Whether encoders get fewer and shorter calls; see `small`."""

    @property
    def fingerprint(self) -> str:
        """A hash of all fields.

        >>> LabOrder("training", "hug").fingerprint == LabOrder("training", "hugs").fingerprint
        False
        """
        tokenizer = "" if self.tokenizer is None else self.tokenizer.fingerprint
        named = f"{self.kind} {self.is_small} {tokenizer} {self.text}"
        return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def small(cls, text: str, tokenizer: Tokenizer | None = None) -> LabOrder:
        """Return the order of a measurement that takes a few seconds.

        It covers the beginning of the text, and measures encoders if there is a tokenizer, in three
        calls of at most a tenth of a second each, or else trainers.

        >>> from bpe_core.tokenizer import gpt2
        >>> [len(LabOrder.small("hug " * 20_000, each).text) for each in (gpt2(), None)]
        [10000, 64000]
        """
        if tokenizer is None:
            return cls("training", text[: cls.SMALL_TRAINING_CHARACTERS], is_small=True)
        return cls("encoding", text[: cls.SMALL_CHARACTERS], tokenizer, is_small=True)

    def run_in_process(
        self,
        *,
        limits: Limits,
        on_progress: OnProgress,
        should_stop: Callable[[], bool] | None = None,
    ) -> Results:
        """Run the measurement in its own process; raises as `call` does.

        >>> LabOrder("encoding", "").run_in_process(limits=Limits(seconds=60), on_progress=print)
        Results(encoding=(), training=())
        """
        from bpe_core.formats import tokenizer_to_dict

        return call(
            measure_here,
            self.kind,
            self.text,
            None if self.tokenizer is None else tokenizer_to_dict(self.tokenizer),
            is_small=self.is_small,
            limits=limits,
            on_progress=on_progress,
            should_stop=should_stop,
        )


def measure_here(
    kind: Kind,
    text: str,
    tokenizer: dict[str, Any] | None,
    *,
    is_small: bool,
    report: Report[LabProgress],
) -> Results:
    """Run a measurement in this process, once its kernels are compiled; raises `BpeError`."""
    from bpe_core.formats import tokenizer_from_dict

    described = None if tokenizer is None else tokenizer_from_dict(tokenizer)
    wait_for_kernels(lambda seconds: report(LabProgress(0, 1, "", seconds_compiling=seconds)))
    order = LabOrder(kind, text, described, is_small)
    return run_order(order, lambda progress: report(progress, must_arrive=True))


def run_order(order: LabOrder, on_progress: OnProgress) -> Results:
    """Run a measurement; raises `BpeError`.

    >>> report = run_order(LabOrder("training", "hug hugs"), lambda progress: None)
    >>> sorted({point.name for point in report.training})
    ['engine', 'reference', 'tokenizers']
    """
    if order.kind == "training":
        sizes = growing_sizes(len(order.text))
        points = measure_growth(
            trainers(order.N_MERGES), order.text, sizes, on_progress=on_progress
        )
        return Results(training=tuple(points))
    if order.tokenizer is None:
        return Results()
    found = time_contenders(
        encoders(order.tokenizer),
        order.text,
        expected_ids(order.tokenizer),
        seconds_a_call=_SMALL_SECONDS_A_CALL if order.is_small else SECONDS_A_CALL,
        n_rounds=_SMALL_ROUNDS if order.is_small else N_ROUNDS,
        on_progress=on_progress,
    )
    return Results(encoding=tuple(found))


def growing_sizes(n_characters: int) -> list[int]:
    """Return the sizes at which to measure training: powers of four times 1,000, then the whole.

    >>> growing_sizes(20_000)
    [1000, 4000, 16000, 20000]
    """
    sizes = [min(_SMALLEST, n_characters)]
    while sizes[-1] < n_characters:
        sizes.append(min(sizes[-1] * _FACTOR, n_characters))
    return sizes


def measure_growth(
    contenders: Sequence[Contender],
    text: str,
    sizes: Sequence[int],
    *,
    seconds_a_call: float = 5.0,
    clock: Clock = time.perf_counter,
    on_progress: OnProgress = ignore_progress,
) -> list[GrowthPoint]:
    """Time each contender on longer and longer prefixes of a text, `sizes` in characters.

    A contender drops out before a size predicted, from the growth of its time so far, to take
    longer than `seconds_a_call`. Short calls are repeated three times and the median is taken.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> [(p.name, p.n_bytes, p.is_equal) for p in measure_growth([upper, swap], "aB", [1, 2])]
    [('upper', 1, True), ('swap', 1, True), ('upper', 2, True), ('swap', 2, False)]
    """
    functions = {contender.name: contender.prepare() for contender in contenders}
    steps = [(name, size) for size in sizes for name in functions]
    history: dict[str, list[tuple[int, float]]] = {name: [] for name in functions}
    dropped: set[str] = set()
    found: list[GrowthPoint] = []
    first_results: dict[int, Any] = {}
    for done, (name, size) in enumerate(steps):
        on_progress(LabProgress(done, len(steps), name))
        if name in dropped or _cautious_seconds(history[name], size) > seconds_a_call:
            dropped.add(name)
            continue
        part = text[:size]
        times: list[float] = []
        result: Any = None
        while not times or (len(times) < ENOUGH_CALLS and times[0] < SHORT):
            result, seconds = timed(functions[name], part, clock)
            times.append(seconds)
        history[name].append((size, median(times)))
        is_equal = result == first_results.setdefault(size, result)
        found.append(GrowthPoint(name, len(part.encode()), median(times), len(times), is_equal))
    on_progress(LabProgress(len(steps), len(steps), ""))
    return found


def _cautious_seconds(history: History, size: int) -> float:
    """Return the time for a size if time keeps growing by the power seen in the last two sizes.

    The power is at least 1. This decides who drops out, so it errs on the high side.
    """
    if not history:
        return 0.0
    last_size, last = history[-1]
    power = 2.0
    if len(history) > 1:
        size_before, before = history[-2]
        if before > 0 and last > 0:
            power = max(1.0, math.log(last / before) / math.log(last_size / size_before))
    return last * (size / last_size) ** power
