"""Pack for the browser what its components draw: the tokens of a text, and a run to be replayed.

Offsets of tokens are not sent. From the byte lengths the browser computes, in one pass over the
text, the UTF-16 offset of each token and how many bytes of a split character precede it. A run is
one message, and one for each block of merges.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bpe_core.comparison import Stretches
from bpe_core.corpus import NEVER
from bpe_core.files import write_arrays
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import Boundaries, Encoder, Tokenizer, check_text
from bpe_core.trainers import GrowingVocabulary, TrainingRun, split_symbols
from bpe_core.types import Pair, TrainingConfig
from bpe_core.unicode import CodePoints

_TOKENS_CONSIDERED = 400
_SPACES = np.array([point for point in range(0x3001) if chr(point).isspace()], np.uint32)

WHOLE_RUN = 5_000
"""The most merges whose trace a replay holds."""
# The cost of tracing, roughly in microseconds.
_WORK_OF_MERGE = 300
_WORK_OF_WHOLE_RUN = 400_000  # above this, the first view would wait for the last merge
_WORK_OF_BLOCK = 50_000
_SLOTS_A_WORK = 20
"""Slots laid out per unit of work before the first merge of a block."""
_RIBBON_BYTES = 300
_MAX_RIBBON_DOCUMENTS = 20
N_GIVEN = 3
"""Words of each merge whose share of its occurrences is shown."""
N_FREQUENT = 60
_N_TOP_PAIRS = 10
_N_SAVERS = 10
_REPLAY_STRIDE = 500
MAX_WORD_LENGTH = 400
"""Symbols sent of one word; the player draws fewer."""
_TRACED = (
    "top_left",
    "top_right",
    "top_count",
    "n_pairs",
    "n_tied",
    "next_count",
    "n_overlapping",
    "n_words",
    "tied_left",
    "tied_right",
    "tied_from",
    "tied_until",
    "risen_left",
    "risen_right",
    "risen_by",
    "fallen_left",
    "fallen_right",
    "fallen_by",
)
_NARROW_TYPES = (np.int16, np.uint16, np.int32)


class Numbers(TypedDict):
    """An array of whole numbers, in the smallest unsigned type that holds them."""

    type: str
    """The name of the typed array in JavaScript, such as "Uint16Array"."""
    data: str
    """Its bytes in base64, little-endian."""


class TableOfTokens(TypedDict):
    """The tokens of a text and the parts they were merged from."""

    ids: list[int]
    tokens: list[str | list[int]]
    """Text if the bytes are valid UTF-8, else byte values."""
    written: list[str | None]
    """Tokens of another library with the marks of its file, such as ▁; empty for our own."""
    left: list[int]
    """The id of the left part; -1 if no merge made the token."""
    right: list[int]
    rank: list[int]
    """The rank of the merge that made the token; -1 if none did."""
    special: list[int]
    """Ids of special tokens."""
    ends: list[int]
    """Ids of tokens that contain the end-of-word marker."""
    marker: str | None
    n_merges: int | None
    """None if another library encodes: its merges are not available."""
    unknown: int | None
    """The id of the token for text that the vocabulary cannot spell."""
    normalizes: bool
    """Whether our own merges come after a change of the text, so its pre-tokens are different."""


class PackedTokens(TypedDict):
    """One text under one tokenizer."""

    ids: Numbers
    """The id + 1 of each segment; 0 for text in no token."""
    lengths: Numbers
    """The number of bytes each segment covers; 0 for an end-of-word marker on its own."""
    starts: Numbers
    """One bit per segment, most significant bit first: 1 if a pre-token starts there."""
    table: TableOfTokens


class PackedSpans(TypedDict):
    """Where tokenizers split a text differently: one entry per disagreement."""

    starts: Numbers
    """In bytes."""
    ends: Numbers
    has_text: Numbers
    """1 if the disagreement covers more than white space."""


def pack_boundaries(found: Boundaries, encoder: Encoder) -> PackedTokens:
    """Pack the result of `boundaries(text, encoder, ...)` for the token view."""
    used = np.unique(found.ids)
    return {
        "ids": pack_numbers(found.ids + 1),
        "lengths": pack_numbers(np.diff(found.byte_ends, prepend=0)),
        "starts": pack_numbers(np.packbits(found.starts_pretoken)),
        "table": token_table(encoder, used[used >= 0].tolist()),
    }


def pack_spans(text: str, found: Stretches) -> PackedSpans:
    """Pack the disagreements between tokenizers on a text."""
    n_before = np.concatenate([[0], np.cumsum(~np.isin(CodePoints(text).points, _SPACES))])
    return {
        "starts": pack_numbers(found.byte_starts),
        "ends": pack_numbers(found.byte_ends),
        "has_text": pack_numbers(n_before[found.ends] > n_before[found.starts]),
    }


def pack_numbers(values: ArrayLike) -> Numbers:
    """Encode integers from 0 to 2**32 - 1 as base64.

    >>> pack_numbers([1, 2, 255])
    {'type': 'Uint8Array', 'data': 'AQL/'}
    """
    array = np.asarray(values)
    top = int(array.max()) if array.size else 0
    bits = 8 if top < 1 << 8 else 16 if top < 1 << 16 else 32
    data = array.astype(f"<u{bits // 8}").tobytes()
    return {"type": f"Uint{bits}Array", "data": base64.b64encode(data).decode("ascii")}


def token_table(encoder: Encoder, ids: Iterable[int]) -> TableOfTokens:
    """Return the tokens with these ids and all their parts, down to the base symbols."""
    own = encoder.merged_by
    parts = {} if own is None else own.table.parts
    ranks = {} if own is None else own.table.ranks
    known = sorted(_with_parts(ids, parts))
    pairs = [parts.get(token_id) for token_id in known]
    special = set(encoder.special_tokens.values())
    written = [encoder.written(token_id) for token_id in known]
    return {
        "ids": known,
        "tokens": [token_for_browser(encoder.vocab[token_id]) for token_id in known],
        "written": written if any(each is not None for each in written) else [],
        "left": [-1 if pair is None else pair[0] for pair in pairs],
        "right": [-1 if pair is None else pair[1] for pair in pairs],
        "rank": [-1 if pair is None else ranks[pair] for pair in pairs],
        "special": [token_id for token_id in known if token_id in special],
        "ends": [] if own is None else [id for id in known if id in own.table.ending_word],
        "marker": None if own is None else own.end_of_word,
        "n_merges": None if own is None else own.n_merges,
        "unknown": encoder.unknown_id,
        "normalizes": own is not None and encoder.plain is None,
    }


def token_for_browser(token: bytes) -> str | list[int]:
    """Return a token for JSON: text if its bytes are valid UTF-8, else a list of byte values.

    >>> token_for_browser("é".encode()), token_for_browser(b"\\xff")
    ('é', [255])
    """
    try:
        return token.decode("utf-8")
    except UnicodeDecodeError:
        return list(token)


def tokens_for_browser(vocab: Mapping[int, bytes]) -> list[str | list[int]]:
    """Return all tokens by id, each as `token_for_browser` gives it.

    An id without a token is an empty list.

    >>> tokens_for_browser({0: b"a", 1: b"\\xff", 3: "é".encode()})
    ['a', [255], [], 'é']
    """
    tokens: list[str | list[int]] = [[] for _ in range(max(vocab, default=-1) + 1)]
    for token_id, token in vocab.items():
        tokens[token_id] = token_for_browser(token)
    return tokens


def find_longest_word(found: Boundaries, encoder: Encoder) -> int | None:
    """Return the index of the longest word near the start of a text, or None without tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.tokenizer import boundaries
    >>> find_longest_word(boundaries("to the tokens", gpt2()), gpt2())
    2
    """
    special = set(encoder.special_tokens.values())
    best, most = None, 0
    for index, token_id in enumerate(found.ids[:_TOKENS_CONSIDERED].tolist()):
        if token_id < 0 or token_id in special:
            continue
        try:
            token = encoder.vocab[token_id].decode()
        except UnicodeDecodeError:
            token = ""
        size = len(token) if any(map(str.isalpha, token)) else 1
        if size > most:
            best, most = index, size
    return best


def _with_parts(ids: Iterable[int], parts: Mapping[int, Pair]) -> set[int]:
    known: set[int] = set()
    waiting = list(ids)
    while waiting:
        token_id = waiting.pop()
        if token_id in known:
            continue
        known.add(token_id)
        waiting += parts.get(token_id, ())
    return known


@dataclass(frozen=True, slots=True)
class PlayedRun:
    """A run as the merge player in a browser is sent it: once, and a message for each block."""

    run: TrainingRun
    key: str
    """Tells its messages from those of another player on the page."""

    @property
    def block_starts(self) -> list[int]:
        """The first merge of each block of the run: blocks are traced and sent separately.

        The blocks of a long run, or of a large corpus, take about the same time to trace. The first
        merges join the most, so their blocks hold fewer merges.

        >>> from bpe_core.corpus import Corpus
        >>> from bpe_core.trainers import train
        >>> from bpe_core.types import TrainingConfig
        >>> run = train(Corpus.from_word_counts({"hug": 10}), TrainingConfig(258))
        >>> PlayedRun(run, "p").block_starts
        [0]
        """
        run = self.run
        n = len(run.merges)
        joins = np.bincount(run.joined_at[run.joined_at != NEVER], minlength=n)[:n]
        work = np.cumsum(joins + _WORK_OF_MERGE)
        n_work = int(work[-1]) if n else 0
        if n_work <= _WORK_OF_WHOLE_RUN:
            return [0]
        each = max(_WORK_OF_BLOCK, len(run.joined_at) // _SLOTS_A_WORK)
        starts = np.searchsorted(work, np.arange(0, n_work, each), side="right")
        return np.unique(starts[starts < n]).tolist()

    @staticmethod
    def replayed_merges(n_merges: int, step: int) -> tuple[int, int]:
        """Return which merges a replay includes in full: for a long run, those around a step.

        Neighbouring steps share their merges, so that they are traced once.

        >>> PlayedRun.replayed_merges(3_840, 45), PlayedRun.replayed_merges(50_000, 45)
        ((0, 3840), (0, 5000))
        >>> [PlayedRun.replayed_merges(50_000, step) for step in (20_000, 20_200, 49_900)]
        [(17500, 22500), (17500, 22500), (45000, 50000)]
        """
        middle = round(step / _REPLAY_STRIDE) * _REPLAY_STRIDE
        start = max(0, min(middle - WHOLE_RUN // 2, n_merges - WHOLE_RUN))
        return start, min(n_merges, start + WHOLE_RUN)

    @staticmethod
    def replay_starts(start: int, stop: int, n_merges: int) -> list[int]:
        """Return the first merges of the blocks of a replay with merges start ... stop - 1.

        >>> PlayedRun.replay_starts(0, 900, 900), PlayedRun.replay_starts(17_500, 22_500, 50_000)
        ([0], [0, 17500, 22500])
        >>> PlayedRun.replay_starts(0, 0, 0)
        [0]
        """
        return sorted({0, start, stop} - {n_merges}) or [0]

    def pack(
        self,
        *,
        opening: int,
        starts: Sequence[int],
        end: Mapping[str, object] | None = None,
    ) -> bytes:
        """Pack what the player needs at every step into one message, sent once per run.

        `opening` is the step that the page opens the run at, and `starts` are the first merges of
        the blocks that the player can request. `end` is what the last frame shows besides the
        figures of the run: see `Ribbon.pack`. A message has the form of `files.write_arrays`.
        """
        run = self.run
        merges = run.merges
        last_pairs = run.top_pairs(len(merges), _N_TOP_PAIRS)
        arrays: dict[str, NDArray[np.integer]] = {
            "merge_left": np.array([merge.left for merge in merges], np.int64),
            "merge_right": np.array([merge.right for merge in merges], np.int64),
            "merge_id": np.array([merge.id for merge in merges], np.int64),
            "merge_count": np.array([merge.count for merge in merges], np.int64),
            "last_left": np.array([pair[0] for pair in last_pairs], np.int64),
            "last_right": np.array([pair[1] for pair in last_pairs], np.int64),
            "last_count": np.array([pair[2] for pair in last_pairs], np.int64),
        }
        if run.parity is not None:
            arrays["picked"] = run.parity.picked
        header: dict[str, object] = {
            "player": self.key,
            "tokens": tokens_for_browser(run.tokenizer.vocab),
            "n_merges": len(merges),
            "n_pretokens": run.pretokens.n_words,
            "block_starts": list(starts),
            "n_for_terms": run.n_chosen,
            "languages": None if run.parity is None else run.parity.languages,
            "removals": _removals(run),
            "opening_step": opening,
            "tie_break": run.config.tie_break,
            "end_of_word": run.tokenizer.end_of_word,
            "joins_words": run.config.superwords_from is not None,
            "ending": run.stop_sentence,
            "end": {
                "before": int(run.tokens_after[0]),
                "after": int(run.tokens_after[-1]),
                "savers": largest_savings(run.tokens_after, _N_SAVERS),
                **(end or {}),
            },
        }
        return _message(header, arrays | _pack_words(run, _frequent_words(run)))

    def pack_merges(self, start: int, stop: int) -> bytes:
        """Pack the trace of merges start ... stop - 1 and the words they change.

        The message has the form described in `pack`; `touched` holds indices into the message's
        own words. It may cover several neighbouring blocks.
        """
        run = self.run
        trace = run.trace(start, stop, _N_TOP_PAIRS)
        words = np.unique(trace.touched[trace.touched >= 0]).astype(np.int64)
        arrays: dict[str, NDArray[np.integer]] = {name: getattr(trace, name) for name in _TRACED}
        arrays |= {"touched": _positions(trace.touched, words), **_pack_words(run, words)}
        arrays["touched_given"] = trace.touched_given[:, :N_GIVEN]
        header: dict[str, object] = {
            "player": self.key,
            "start": trace.start,
            "stop": trace.stop,
            "widths": {
                "top": trace.top_left.shape[1],
                "touched": trace.touched.shape[1],
                "given": arrays["touched_given"].shape[1],
                "risen": trace.risen_left.shape[1],
                "fallen": trace.fallen_left.shape[1],
            },
        }
        return _message(header, arrays)

    def words(self, text: str) -> list[list[int | str]]:
        """Return a visitor's text as pre-tokens of the run; raises what `own_words` raises."""
        return own_words(self.run.tokenizer, text, self.run.base)


def _removals(run: TrainingRun) -> list[dict[str, object]]:
    """Return each removal, with the parts of the token and their lengths in base symbols."""
    found: list[dict[str, object]] = []
    table, lengths = run.tokenizer.table, dict[int, int]()
    if not table.removals:
        return found
    for left, right, made in table.triples:
        lengths.setdefault(made, lengths.get(left, 1) + lengths.get(right, 1))
    splits = [new for old, new in table.events if len(old) == 1]
    for (done, id), spelled in zip(table.removals, splits, strict=True):
        found.append({"done": done, "id": id, "parts": [[p, lengths.get(p, 1)] for p in spelled]})
    return found


def largest_savings(tokens_after: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Return the ranks of the merges that saved the most tokens, each with the tokens it saved.

    >>> largest_savings(np.array([20, 17, 12, 9, 9]), 3)
    [(1, 5), (0, 3), (2, 3)]
    """
    saved = -np.diff(tokens_after)
    ranks = np.argsort(-saved, kind="stable")[:most]
    return [(rank, int(saved[rank])) for rank in ranks.tolist() if saved[rank]]


def _first_bytes(text: str, most: int) -> str:
    """Return the whole characters among the first bytes of a text.

    >>> _first_bytes("naïve", 3), _first_bytes("naïve", 4)
    ('na', 'naï')
    """
    return text[:most].encode()[:most].decode(errors="ignore")


class Ribbon:
    """A text in a row with its tokens, while a tokenizer that cuts it into words is learned.

    >>> from bpe_core.trainers import train
    >>> run = train(["hug hugs"], vocab_size=258, special_tokens=())
    >>> ribbon = Ribbon(run.tokenizer.truncated(0), "hug hugs")
    >>> ribbon.join([(merge.left, merge.right, merge.id) for merge in run.merges])
    >>> ribbon.packed() == Ribbon.pack(run.tokenizer, "hug hugs")
    True
    """

    @staticmethod
    def beginnings(documents: Sequence[str], n_bytes: int = _RIBBON_BYTES) -> tuple[str, ...]:
        """Return how the documents of a text begin: as much as a ribbon of a few rows shows.

        >>> Ribbon.beginnings(["hug", "", "pug"])
        ('hug', 'pug')
        """
        found: list[str] = []
        n_left = n_bytes
        for text in documents[:_MAX_RIBBON_DOCUMENTS]:
            if beginning := _first_bytes(text, n_left):
                found.append(beginning)
                n_left -= len(beginning.encode())
        return tuple(found)

    @staticmethod
    def pack(tokenizer: Tokenizer, *documents: str) -> dict[str, object]:
        """Return documents in a row with their tokens as the player's last frame draws them.

        As in training, no token spans two documents. `ids` and `lengths`, in bytes, are those of
        the tokens, and `made` says which of them a merge made; text in no token has the id -1.
        """
        segments = [segment for text in documents for segment in tokenizer.segments(text)]
        made = {merge.id for merge in tokenizer.merges}
        return {
            "text": "".join(documents),
            "ids": [-1 if segment.id is None else segment.id for segment in segments],
            "lengths": [segment.byte_end - segment.byte_start for segment in segments],
            "made": [segment.id in made for segment in segments],
        }

    @classmethod
    def before(cls, config: TrainingConfig, *documents: str) -> Self | None:
        """Return the ribbon of documents before the first merge; None if their ids are not known.

        They are known before training if the alphabet is all bytes, the cut keeps all text, and
        merges are all that is learned.

        >>> config = TrainingConfig(300)
        >>> Ribbon.before(config, "hug").packed()["lengths"]
        [1, 1, 1]
        >>> Ribbon.before(TrainingConfig(300, base="characters"), "hug") is None
        True
        """
        vocabulary = GrowingVocabulary(config, ())
        cut = get_pretokenizer(config.pretokenizer)
        is_known = (config.alphabet, config.end_of_word) == ("bytes", None)
        changes_words = config.superwords_from is not None or cut.normalizer is not None
        if (
            not is_known
            or changes_words
            or config.picky is not None
            or config.parity
            or not any(documents)
            or any("".join(cut.split(text)) != text for text in documents)
        ):
            return None
        alphabet = Tokenizer(
            vocab=dict(enumerate(vocabulary.tokens)),
            merges=[],
            pretokenizer=config.pretokenizer,
            special_tokens=vocabulary.special_tokens,
        )
        return cls(alphabet, *documents)

    def __init__(self, alphabet: Tokenizer, *documents: str) -> None:
        self._text = "".join(documents)
        self._alphabet = alphabet.vocab
        self._words = [
            [(id, len(self._alphabet[id])) for id in alphabet.encode(word)]
            for text in documents
            for word in alphabet.pretokenizer.split(text)
        ]
        self._note_pairs()

    def _note_pairs(self) -> None:
        self._pairs = {
            (left, right) for word in self._words for (left, _), (right, _) in pairwise(word)
        }

    def join(self, merges: Iterable[tuple[int, int, int]]) -> None:
        """Do the next merges: the left, the right and the new id of each."""
        for left, right, new in merges:
            if (left, right) not in self._pairs:
                continue
            for word in self._words:
                for i in range(len(word) - 1):
                    if [id for id, _ in word[i : i + 2]] == [left, right]:
                        word[i : i + 2] = [(new, word[i][1] + word[i + 1][1])]
            self._note_pairs()

    def packed(self) -> dict[str, object]:
        """Return the text with its tokens now, as `Ribbon.pack` does."""
        symbols = list(chain.from_iterable(self._words))
        return {
            "text": self._text,
            "ids": [id for id, _ in symbols],
            "lengths": [length for _, length in symbols],
            "made": [id not in self._alphabet for id, _ in symbols],
        }


def own_words(
    tokenizer: Tokenizer, text: str, base: Tokenizer | None = None
) -> list[list[int | str]]:
    """Return a visitor's text as pre-tokens of a run, each as base symbols, or tokens of its base.

    A symbol is an id or, if the alphabet lacks it, text: a character, or a byte in hex. Raises
    InvalidTextError if the text has a lone surrogate, and PatternTimeoutError if the run's pattern
    takes too long on it.
    """
    check_text(text)
    words: list[list[int | str]] = []
    pretokenizer = tokenizer.pretokenizer
    for pretoken in pretokenizer.split(pretokenizer.written(text)):
        word: list[int | str] = []
        if base is not None:
            word = _base_tokens(base, pretoken.encode())
        else:
            for ids, data in tokenizer.table.pieces(pretoken):
                missing = map(_missing, split_symbols(data, tokenizer.base))
                word += missing if ids is None else ids
        words.append(word[:MAX_WORD_LENGTH])
    return words


def _message(header: dict[str, object], arrays: dict[str, NDArray[np.integer]]) -> bytes:
    message = io.BytesIO()
    write_arrays(message, header, {name: _narrowed(array) for name, array in arrays.items()})
    return message.getvalue()


def _base_tokens(base: Tokenizer, word: bytes) -> list[int | str]:
    """Return a word's tokens, and the text of each symbol that the alphabet lacks."""
    found: list[int | str] = []
    rest = word
    for id in base.encoder.encode_words([word])[0].tolist():
        symbol = base.vocab[id] if id >= 0 else split_symbols(rest, base.base)[0]
        rest = rest[len(symbol) :]
        found.append(id if id >= 0 else _missing(symbol))
    return found


def _missing(symbol: bytes) -> str:
    try:
        return symbol.decode()
    except UnicodeDecodeError:
        return symbol.hex().upper()


def _frequent_words(run: TrainingRun) -> NDArray[np.int64]:
    """Return the indices of the most frequent words, most frequent first."""
    by_count = np.argsort(-run.pretokens.counts, kind="stable").tolist()
    frequent: list[int] = []
    for word in by_count:
        # A word of one symbol never changes, so it is not shown.
        if len(_first_symbols(run, word)) > 1:
            frequent.append(word)
        if len(frequent) == N_FREQUENT:
            break
    return np.array(frequent, np.int64)


def _first_symbols(run: TrainingRun, word: int) -> list[int]:
    """Return a word's symbols before any merge of the run, with the marker if there is one."""
    text = run.pretokens.words[word]
    if run.base is not None:
        return run.base.encoder.encode_words([text])[0].tolist()
    pieces = run.tokenizer.table.pieces(text.decode())
    return [id for ids, _ in pieces for id in ids or ()]


def _pack_words(run: TrainingRun, words: NDArray[np.int64]) -> dict[str, NDArray[np.integer]]:
    symbols, starts, cut = _word_symbols(run, words)
    return {
        "word_index": words,
        "word_symbols": symbols,
        "word_starts": starts,
        "word_cut": cut,
        "word_counts": run.pretokens.counts[words],
    }


def _word_symbols(
    run: TrainingRun, words: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return all words' base symbols in one row, each word's start, and which are truncated."""
    row: list[int] = []
    starts = [0]
    cut: list[bool] = []
    for word in words.tolist():
        symbols = _first_symbols(run, word)
        row += symbols[:MAX_WORD_LENGTH]
        cut.append(len(symbols) > MAX_WORD_LENGTH)
        starts.append(len(row))
    return np.array(row, np.int64), np.array(starts, np.int64), np.array(cut, np.int64)


def _positions(indices: NDArray[np.integer], words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each index in `words`; the fill value -1 stays."""
    return np.where(indices >= 0, np.searchsorted(words, indices), -1)


def _narrowed(array: NDArray[np.integer]) -> NDArray[np.generic]:
    """Return the numbers, row by row, in the smallest type that the browser reads exactly."""
    flat = array.ravel()
    low, high = (int(flat.min()), int(flat.max())) if flat.size else (0, 0)
    for kind in _NARROW_TYPES:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return flat.astype(np.dtype(kind).newbyteorder("<"))
    return flat.astype("<f8")
