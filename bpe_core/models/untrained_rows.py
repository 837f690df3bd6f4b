"""Find the tokens that a model hardly learned, from its embedding rows alone.

The method is that of Land and Bartolo, "Fishing for Magikarp: Automatically Detecting Under-trained
Tokens in Large Language Models" (EMNLP 2024, section 3.2): the rows of tokens that training
never saw keep what their start and the weight decay gave them, so they resemble the rows of tokens
that are known to be unused. Three indicators measure that:

- the norm of a token's input row;
- the cosine distance of its input row from the mean of known-unused rows;
- the same of its output row, after the first principal component of all output rows is removed.

The paper takes the 2% of tokens that look least trained and asks the model to repeat them. No model
runs here. Instead, the known-unused tokens say where the line is: those that provably no text
encodes to, bytes that UTF-8 never has, names such as <|reserved_special_token_7|>, and rows that no
token has.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats import open_encoder
from bpe_core.models.tensors import Rows, model_rows
from bpe_core.types import read_only
from bpe_core.unicode import are_whole_characters, list_entries, to_printable
from bpe_core.vocabulary import Reachability

if TYPE_CHECKING:
    from bpe_core.tokenizer import Encoder

Indicator = Literal["output cosine", "input cosine", "input norm"]
Source = Literal["unreachable", "no-utf8", "reserved", "no token"]
SOURCES: Final[dict[Source, str]] = {
    "unreachable": "no text encodes to them",
    "no-utf8": "no text has their bytes",
    "reserved": "their names say that they are reserved or unused",
    "no token": "rows without a token",
}
OnProgress = Callable[[str, int, int], object]
"""Called with what is being done, and how much of it is done of how much."""

_RESERVED: Final = re.compile(r"(?i)reserved|unused|extra_id_|placeholder|<pad\d*>|\[pad\d+\]")
MIN_KNOWN: Final = 3
"""With fewer known-unused rows there is no line between them and the others."""
_MIN_SEPARATION: Final = 0.9
_DEVIATIONS: Final = 3.0
_TO_SIGMA: Final = 1.4826
_MAX_PASSES: Final = 24
_PASSES_PER_LOOK: Final = 4
_MAX_PARTNERS: Final = 256
_MAX_BIGRAMS: Final = 200


@dataclass(frozen=True, slots=True, eq=False)
class Undertrained:
    """The rows of a model measured against its known-unused rows; arrays are read-only.

    A nan stands for a cosine of a row of zeros, or of a tensor that the model does not have.
    """

    model: str
    tokens: Mapping[int, bytes] = field(repr=False)
    special_ids: frozenset[int] = field(repr=False)
    input_norms: NDArray[np.float64] = field(repr=False)
    """float64[n_rows]"""
    input_cosines: NDArray[np.float64] = field(repr=False)
    """float64[n_rows]: the distance from the mean of known-unused rows, 0 to 2."""
    output_cosines: NDArray[np.float64] = field(repr=False)
    """float64[n_rows]: the same of output rows, without their first principal component."""
    known: Mapping[int, Source] = field(repr=False)
    """The rows that are known to be unused, and how they are known."""
    is_tied: bool
    """Whether the input rows are the output rows too."""
    dtype: str
    n_columns: int
    separations: Mapping[Indicator, float]
    """For each indicator, how often a known-unused row looks less trained than another one."""
    indicator: Indicator | None
    """The indicator that separates the two most widely; None if none of them does."""
    threshold: float
    """Tokens with a value up to this are candidates; nan without an indicator."""
    bigrams: Mapping[int, str] = field(repr=False)
    """For candidates that cut characters: a text that encodes to the token and one more, which cuts
    the same character."""

    @property
    def n_rows(self) -> int:
        """The number of rows, which may be larger than the vocabulary."""
        return len(self.input_norms)

    def values(self, indicator: Indicator) -> NDArray[np.float64]:
        """Return an indicator of all rows: the smaller, the less trained."""
        return {
            "input norm": self.input_norms,
            "input cosine": self.input_cosines,
            "output cosine": self.output_cosines,
        }[indicator]

    @property
    def candidates(self) -> list[int]:
        """The tokens that look as little trained as known-unused ones, the least trained first.

        Known-unused tokens and special ones are not among them. A row of zeros always is one.
        """
        values = self.values(self.indicator or "input norm")
        found = self.input_norms == 0
        if self.indicator is not None:
            found |= values <= self.threshold
        ids = [
            id
            for id in np.flatnonzero(found).tolist()
            if id in self.tokens and id not in self.known and id not in self.special_ids
        ]
        return sorted(ids, key=lambda id: (-np.inf if np.isnan(values[id]) else values[id], id))

    def kind(self, id: int) -> str:
        """Return what is known of a row without its numbers, such as "partial UTF-8".

        The kinds are those of `SOURCES`, then "special", "partial UTF-8" and "token".
        """
        if id in self.known:
            return self.known[id]
        if id in self.special_ids:
            return "special"
        return "token" if are_whole_characters(self.tokens[id]) else "partial UTF-8"

    def rows(self, uses: NDArray[np.int64] | None = None) -> list[dict[str, Any]]:
        """Return a row for each id with its figures, in order of id.

        `uses` is how often a text has each token, as `uses_in_corpus` counts them.
        """
        chosen = set(self.candidates)
        rows: list[dict[str, Any]] = []
        for id in range(self.n_rows):
            token = self.tokens.get(id)
            if token is None and id not in self.known:
                continue
            row: dict[str, Any] = {
                "id": id,
                "token": None if token is None else to_printable(token),
                "bytes": None if token is None else token.hex(),
                "kind": self.kind(id),
                "candidate": id in chosen,
                "input_norm": float(self.input_norms[id]),
                "input_cosine": float(self.input_cosines[id]),
                "output_cosine": float(self.output_cosines[id]),
                "bigram": self.bigrams.get(id),
            }
            if uses is not None:
                row["uses"] = int(uses[id]) if id < len(uses) else 0
            rows.append(row)
        return rows

    def to_csv(self, uses: NDArray[np.int64] | None = None) -> str:
        """Return `rows` as CSV with a header."""
        rows = self.rows(uses)
        file = io.StringIO()
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["id"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return file.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and the candidates as values of JSON."""
        n_known = {source: [*self.known.values()].count(source) for source in SOURCES}
        by_id = {row["id"]: row for row in self.rows()}
        return {
            "model": self.model,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "dtype": self.dtype,
            "tied": self.is_tied,
            "n_tokens": len(self.tokens),
            "known_unused": n_known,
            "separation": dict(self.separations),
            "indicator": self.indicator,
            "threshold": self.threshold,
            "candidates": [by_id[id] for id in self.candidates],
        }


@dataclass(frozen=True, slots=True, eq=False)
class RowFigures:
    """The figures of a model's rows, as `bpe undertrained --csv` writes them."""

    ids: NDArray[np.int64]
    """int64[n]: the tokens that have rows."""
    input_norms: NDArray[np.float64]
    """float64[n]"""
    candidates: tuple[int, ...]
    """The tokens that look as little trained as known-unused ones, the shortest input row first."""
    kinds: Mapping[int, str]
    """What is known of each candidate without its numbers."""
    bigrams: Mapping[int, str]
    """For candidates that cut characters: a text that encodes to the token and one more."""

    @classmethod
    def read(cls, data: bytes, vocab: Mapping[int, bytes]) -> Self:
        """Read the file that `bpe undertrained --csv` wrote for the model of a tokenizer.

        Raises `FormatError` for another file, and for one of a model with other tokens.

        >>> data = b"id,bytes,kind,candidate,input_norm,bigram\\n0,61,token,True,0.5,\\n"
        >>> RowFigures.read(data, {0: b"a"}).candidates
        (0,)
        """
        norms: dict[int, float] = {}
        kinds: dict[int, str] = {}
        bigrams: dict[int, str] = {}
        n_other = 0
        try:
            for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")):
                id, norm = int(row["id"]), float(row["input_norm"])
                if not row["bytes"]:
                    continue  # a row that no token has
                n_other += vocab.get(id) != bytes.fromhex(row["bytes"])
                norms[id] = norm
                if row["candidate"] == "True":
                    kinds[id] = row["kind"]
                    if row["bigram"]:
                        bigrams[id] = row["bigram"]
        except (ValueError, KeyError, TypeError, AttributeError, csv.Error):
            raise FormatError(
                "This is not a file that bpe undertrained --csv wrote. Write one, and open it here."
            ) from None
        if not norms:
            raise FormatError("This file has no rows. Write it again with bpe undertrained --csv.")
        if n_other:
            raise FormatError(
                f"{n_other:,} of its {len(norms):,} tokens are not those of this tokenizer. Choose "
                "the tokenizer of the model that the file is of."
            )
        ids = np.array(sorted(norms), np.int64)
        return cls(
            ids,
            read_only(np.array([norms[id] for id in ids.tolist()])),
            tuple(sorted(kinds, key=lambda id: (norms[id], id))),
            kinds,
            bigrams,
        )


def undertrained(
    model: str | os.PathLike[str],
    tokenizer: Encoder | str | os.PathLike[str] | None = None,
    *,
    input_tensor: str | None = None,
    output_tensor: str | None = None,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Undertrained:
    """Find the tokens that a model hardly learned, from its embedding rows alone.

    `model` is a folder, a .safetensors file, or hf:org/model, of which only these rows are
    downloaded. Blocks of rows are read one after another, so memory does not grow with the model.
    `tokenizer` is the model's own unless another one is given. The tensors are found by their usual
    names; `input_tensor` and `output_tensor` name others.

    Raises `FormatError` for files that are not a model's, and `ConfigError` for a tokenizer with
    more ids than the model has rows. Raises CancelledError once `should_stop` returns True.

    >>> import tempfile, numpy as np, bpe_core as bpe
    >>> from safetensors.numpy import save_file
    >>> tokenizer = bpe.train(["hug hugs hugging pun bun"], vocab_size=265).tokenizer
    >>> rows = np.random.default_rng(0).normal(size=(265, 8)).astype(np.float32)
    >>> unused = [1, 0xC0, 0xC1, *range(0xF5, 0x100)]  # a control character; bytes never in UTF-8
    >>> rows[[tokenizer.base_ids[bytes([byte])] for byte in unused]] *= 0.01
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"wte.weight": rows}, f"{folder}/model.safetensors")
    ...     found = bpe.undertrained(folder, tokenizer)
    >>> found.indicator, [tokenizer.vocab[id] for id in found.candidates]
    ('input norm', [b'\\x01'])
    """
    with model_rows(model, input_tensor, output_tensor, on_progress, should_stop) as found:
        encoder = _open_tokenizer(model, found.folder, tokenizer)
        vocab = dict(encoder.vocab)
        n_rows = found.input.n_rows
        if max(vocab) >= n_rows:
            raise ConfigError(
                f"The tokenizer has ids up to {max(vocab):,}, and {found.name} has {n_rows:,} "
                "rows. Give the tokenizer of this model."
            )
        look = _Look(on_progress, should_stop)
        known = find_known_unused(encoder, n_rows, look)
        ids = np.array(sorted(known), np.int64)
        norms, cosines = _measure(found.input, ids, None, look, "Reading input rows")
        if found.output is not None and found.output.n_rows != n_rows:
            raise FormatError(
                f"{found.name} has {n_rows:,} input rows and {found.output.n_rows:,} output rows. "
                "Name its tensors with input_tensor and output_tensor."
            )
        output = found.output or found.input
        component = first_component(output, look)
        _, out_cosines = _measure(output, ids, component, look, "Reading output rows")
        values: dict[Indicator, NDArray[np.float64]] = {
            "output cosine": out_cosines,
            "input cosine": cosines,
            "input norm": norms,
        }
        ordinary = np.zeros(n_rows, np.bool_)
        ordinary[[id for id in vocab if id not in known]] = True
        pairs: dict[Indicator, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        separations: dict[Indicator, float] = {}
        for name, each in values.items():
            pairs[name] = each[ids], each[ordinary]
            separations[name] = separation(*pairs[name])
        clear: list[Indicator] = [name for name in values if separations[name] >= _MIN_SEPARATION]
        best = max(clear, key=lambda name: _distance(*pairs[name]), default=None)
        if len(ids) < MIN_KNOWN:
            best = None
        measured = Undertrained(
            model=str(model),
            tokens=vocab,
            special_ids=frozenset(encoder.special_tokens.values()),
            input_norms=read_only(norms),
            input_cosines=read_only(cosines),
            output_cosines=read_only(out_cosines),
            known=known,
            is_tied=found.output is None,
            dtype=found.input.tensor.dtype,
            n_columns=found.input.n_columns,
            separations=separations,
            indicator=best,
            threshold=float("nan") if best is None else line(values[best][ids]),
            bigrams={},
        )
    partial = [id for id in measured.candidates if measured.kind(id) == "partial UTF-8"]
    cut = list_cut(encoder)
    bigrams = {id: improbable_bigram(encoder, id, cut) for id in partial[:_MAX_BIGRAMS]}
    known_bigrams = {id: text for id, text in bigrams.items() if text is not None}
    return replace(measured, bigrams=known_bigrams)


@dataclass(frozen=True, slots=True)
class _Look:
    """Report progress, and stop if that is asked for."""

    on_progress: OnProgress | None
    should_stop: Callable[[], bool] | None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self.should_stop is not None and self.should_stop():
            raise CancelledError
        if self.on_progress is not None:
            self.on_progress(what, done, total)


def _open_tokenizer(
    model: str | os.PathLike[str],
    folder: object,
    tokenizer: Encoder | str | os.PathLike[str] | None,
) -> Encoder:
    if tokenizer is None:
        tokenizer = os.fspath(model) if str(model).startswith("hf:") else str(folder)
    if isinstance(tokenizer, str | os.PathLike):
        return open_encoder(tokenizer)
    return tokenizer


def find_known_unused(encoder: Encoder, n_rows: int, look: _Look) -> dict[int, Source]:
    """Return the rows that training cannot have seen, and how each is known."""
    known: dict[int, Source] = dict.fromkeys(
        (id for id in range(n_rows) if id not in encoder.vocab), "no token"
    )
    special = {id: text for text, id in encoder.special_tokens.items()}
    for id, text in special.items():
        if _RESERVED.search(text):
            known[id] = "reserved"
    merged = encoder.merged_by
    if merged is None:
        for id, token in encoder.vocab.items():
            if id not in special and token and not list_entries(token):
                known[id] = "no-utf8"
        return known

    def stop(done: int, total: int) -> bool:
        look("Searching for unreachable tokens", done, total)
        return False

    unreachable = Reachability.of(merged, stop).unreachable
    for id, reason in unreachable.items():
        if id in encoder.vocab and id not in known and id not in special:
            known[id] = "no-utf8" if reason == "no-utf8" else "unreachable"
    return known


def _measure(
    rows: Rows,
    known: NDArray[np.int64],
    component: NDArray[np.float64] | None,
    look: _Look,
    what: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the norm of each row, and its cosine distance from the mean of known rows.

    A known row is compared with the mean of the others, because the mean of few rows is always near
    each of them.
    """
    total = np.zeros(rows.n_columns)
    size = max(1, 4_000_000 // max(1, rows.n_columns))
    for first in range(0, len(known), size):
        look(what, 0, rows.n_rows)
        taken = _without(rows.take(known[first : first + size].tolist()), component)
        total += taken.sum(axis=0, dtype=np.float64)
    squares = np.zeros(rows.n_rows)
    along = np.zeros(rows.n_rows)
    for first, block in rows.blocks():
        look(what, first, rows.n_rows)
        block = _without(block, component)
        part = slice(first, first + len(block))
        squares[part] = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        along[part] = block @ total.astype(np.float32)
    norms = np.sqrt(squares)
    length = np.full(rows.n_rows, float(total @ total))
    # Without the row itself.
    length[known] += squares[known] - 2 * along[known]
    along[known] -= squares[known]
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = along / (norms * np.sqrt(np.maximum(length, 0)))
    return norms, np.where(np.isfinite(cosines), 1 - np.clip(cosines, -1, 1), np.nan)


def _without(
    block: NDArray[np.float32], component: NDArray[np.float64] | None
) -> NDArray[np.float32]:
    if component is None:
        return block
    direction: NDArray[np.float32] = component.astype(np.float32)
    return np.subtract(block, np.outer(block @ direction, direction), dtype=np.float32)


def first_component(rows: Rows, look: Callable[[str, int, int], None]) -> NDArray[np.float64]:
    """Return the direction in which rows are largest, their first right singular vector.

    Rows are not centred first, as in the paper: what all rows have in common is what is removed.
    The vector is found by iterating a small space of vectors, with one pass over the rows for each
    step, because the matrix of all products of columns would take a gigabyte for wide models.
    """
    n = min(_PASSES_PER_LOOK, rows.n_columns)
    space = np.random.default_rng(0).normal(size=(rows.n_columns, n))
    space, _ = np.linalg.qr(space)
    before = space[:, 0]
    for step in range(_MAX_PASSES):
        product = np.zeros((rows.n_columns, n))
        narrow = space.astype(np.float32)
        for first, block in rows.blocks():
            look(f"Finding the main direction, pass {step + 1}", first, rows.n_rows)
            product += block.T @ (block @ narrow)
        # The Ritz vectors, the largest first.
        values, turns = np.linalg.eigh(space.T @ product)
        leading = space @ turns[:, int(np.argmax(values))]
        space, _ = np.linalg.qr(product @ turns[:, ::-1])
        if abs(leading @ before) > 1 - 1e-9:
            break
        before = leading
    return before / np.linalg.norm(before)


def separation(unused: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return how often an unused row has a smaller value than another: 1 is always, 0.5 is chance.

    Rows whose value is nan are left out.

    >>> separation(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    unused, others = unused[~np.isnan(unused)], np.sort(others[~np.isnan(others)])
    if not len(unused) or not len(others):
        return 0.0
    above = len(others) - np.searchsorted(others, unused, "right")
    equal = len(others) - above - np.searchsorted(others, unused, "left")
    return float((above + equal / 2).mean() / len(others))


def _distance(unused: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the distance of two medians in deviations, which a few unknown unused rows keep."""
    first, second = (each[~np.isnan(each)] for each in (unused, others))
    spread = sum(float(np.median(np.abs(each - np.median(each)))) for each in (first, second))
    return float(np.median(second) - np.median(first)) / max(spread, 1e-12)


def line(unused: NDArray[np.float64]) -> float:
    """Return the value up to which rows count as unused: three deviations above the median.

    The deviation is the median of absolute ones, so a few known tokens that were trained after all
    do not move the line.

    >>> line(np.array([1.0, 1.0, 1.0, 50.0]))
    1.0
    """
    unused = unused[~np.isnan(unused)]
    middle = np.median(unused)
    return float(middle + _DEVIATIONS * _TO_SIGMA * np.median(np.abs(unused - middle)))


def list_cut(encoder: Encoder) -> list[tuple[int, bytes]]:
    """Return the tokens that are not whole characters, with the highest id first."""
    tokens = sorted(encoder.vocab.items(), reverse=True)
    return [(id, token) for id, token in tokens if not are_whole_characters(token)]


def improbable_bigram(
    encoder: Encoder, id: int, cut: Sequence[tuple[int, bytes]] | None = None
) -> str | None:
    """Return a text of two tokens that cuts a character between them, of which one is `id`.

    Such texts are the "improbable bigrams" of Jang, Lee, Chung, Park and Shin, "Improbable Bigrams
    Expose Vulnerabilities of Incomplete Tokens in Byte-Level Tokenizers" (2024): both tokens are
    only parts of characters, so training hardly saw them next to each other. Returns None for whole
    characters, and if none of the partners that fit encodes to the two. `cut` is what `list_cut`
    returns, for callers that ask for several tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> text = improbable_bigram(gpt2(), 6552)
    >>> text, gpt2().encode(text)
    ('┭', [6552, 255])
    """
    token = encoder.vocab[id]
    if are_whole_characters(token):
        return None
    tried = 0
    for other, rest in list_cut(encoder) if cut is None else cut:
        for pair, data in (((id, other), token + rest), ((other, id), rest + token)):
            if are_whole_characters(data) and tried < _MAX_PARTNERS:
                tried += 1
                text = data.decode()
                if tuple(encoder.encode(text)) == pair:
                    return text
    return None
