"""Measure in a separate process, so that other threads of the server don't distort the times.

`python -m bpe_core.lab.measurements` reads one order as JSON from standard input and writes lines
of JSON: progress, and at the end a report or an error. It may be killed at any time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from typing import Any, Final, Literal

from bpe_core.compiling.background import wait_for_kernels
from bpe_core.errors import BpeError
from bpe_core.lab.contenders import encoders, expected_ids
from bpe_core.lab.growth import GrowthPoint, measure_growth
from bpe_core.lab.measuring import (
    N_ROUNDS,
    SECONDS_A_CALL,
    Measured,
    OnProgress,
    Progress,
    measure,
)
from bpe_core.lab.training_contenders import trainers
from bpe_core.tokenizer.tokenizer import Tokenizer

Kind = Literal["encoding", "training"]
N_MERGES: Final = 500
MOST_CHARACTERS: Final = 2_000_000
SMALL_CHARACTERS: Final = 10_000
SMALL_TRAINING_CHARACTERS: Final = 64_000
"""Enough for the engine to use its kernels, as it does on longer texts."""
_SMALL_SECONDS_A_CALL: Final = 0.1
_SMALL_ROUNDS: Final = 3
_SMALLEST: Final = 1_000
_FACTOR: Final = 4


@dataclass(frozen=True, slots=True)
class Order:
    """A measurement to run: of encoding with a tokenizer, or of training, on a text."""

    kind: Kind
    text: str
    tokenizer: Tokenizer | None = None
    """None for a measurement of training."""
    is_small: bool = False
    """Whether encoders get fewer and shorter calls; see `small_order`."""

    @property
    def fingerprint(self) -> str:
        """A hash of all fields.

        >>> Order("training", "hug").fingerprint == Order("training", "hugs").fingerprint
        False
        """
        tokenizer = "" if self.tokenizer is None else self.tokenizer.fingerprint
        named = f"{self.kind} {self.is_small} {tokenizer} {self.text}"
        return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()

    def to_json(self) -> bytes:
        """Return the order as JSON, as the process reads it.

        >>> Order("training", "hug hugs").to_json()
        b'{"kind": "training", "text": "hug hugs", "tokenizer": null, "is_small": false}'
        """
        from bpe_core.formats.native import tokenizer_to_dict

        described = None if self.tokenizer is None else tokenizer_to_dict(self.tokenizer)
        fields = {"kind": self.kind, "text": self.text, "tokenizer": described}
        return json.dumps({**fields, "is_small": self.is_small}).encode()


def small_order(text: str, tokenizer: Tokenizer | None = None) -> Order:
    """Return the order of a measurement that takes a few seconds.

    It covers the beginning of the text, and measures encoders if there is a tokenizer, in three
    calls of at most a tenth of a second each, or else trainers.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> len(small_order("hug " * 20_000, gpt2()).text), len(small_order("hug " * 20_000).text)
    (10000, 64000)
    """
    if tokenizer is None:
        return Order("training", text[:SMALL_TRAINING_CHARACTERS], is_small=True)
    return Order("encoding", text[:SMALL_CHARACTERS], tokenizer, is_small=True)


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a measurement, of encoding or of training; the other is empty."""

    encoding: tuple[Measured, ...] = ()
    training: tuple[GrowthPoint, ...] = ()


Line = Progress | Report | str
"""A line written by the process: its progress, its report, or an error message for the user."""


def run_order(order: Order, on_progress: OnProgress) -> Report:
    """Run a measurement; raises `BpeError`.

    >>> report = run_order(Order("training", "hug hugs"), lambda progress: None)
    >>> sorted({point.name for point in report.training})
    ['engine', 'reference', 'tokenizers']
    """
    if order.kind == "training":
        sizes = growing_sizes(len(order.text))
        points = measure_growth(trainers(N_MERGES), order.text, sizes, on_progress=on_progress)
        return Report(training=tuple(points))
    if order.tokenizer is None:
        return Report()
    found = measure(
        encoders(order.tokenizer),
        order.text,
        expected_ids(order.tokenizer),
        seconds_a_call=_SMALL_SECONDS_A_CALL if order.is_small else SECONDS_A_CALL,
        n_rounds=_SMALL_ROUNDS if order.is_small else N_ROUNDS,
        on_progress=on_progress,
    )
    return Report(encoding=tuple(found))


def growing_sizes(n_characters: int) -> list[int]:
    """Return the sizes at which to measure training: powers of four times 1,000, then the whole.

    >>> growing_sizes(20_000)
    [1000, 4000, 16000, 20000]
    """
    sizes = [min(_SMALLEST, n_characters)]
    while sizes[-1] < n_characters:
        sizes.append(min(sizes[-1] * _FACTOR, n_characters))
    return sizes


def read_line(line: str) -> Line:
    """Parse a line written by the process.

    >>> read_line('{"progress": {"done": 1, "of": 4, "name": "trie", "seconds_left": 2.5}}')
    Progress(done=1, of=4, name='trie', seconds_left=2.5, seconds_compiling=None)
    """
    message: dict[str, Any] = json.loads(line)
    if "progress" in message:
        return Progress(**message["progress"])
    if "report" in message:
        return Report(
            tuple(Measured(**one) for one in message["report"]["encoding"]),
            tuple(GrowthPoint(**one) for one in message["report"]["training"]),
        )
    return str(message["problem"])


def run_and_report(order_json: str, write: Callable[[str], None]) -> None:
    """Run an order given as JSON, and write progress and outcome as lines of JSON.

    An unexpected error is reported by its type and place only: its message may quote the text.

    >>> run_and_report(Order("encoding", "").to_json().decode(), print)
    {"report": {"encoding": [], "training": []}}
    """
    try:
        order = _order_from_dict(json.loads(order_json))
        wait_for_kernels(
            lambda seconds: write(_progress_line(Progress(0, 1, "", seconds_compiling=seconds)))
        )
        report = run_order(order, lambda progress: write(_progress_line(progress)))
    except BpeError as error:
        write(json.dumps({"problem": str(error)}))
    except Exception as error:
        at = extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(at.filename).name}, line {at.lineno}"
        write(json.dumps({"problem": f"An error in the app stopped it ({where})."}))
    else:
        write(json.dumps({"report": asdict(report)}))


def _order_from_dict(fields: dict[str, Any]) -> Order:
    from bpe_core.formats.native import tokenizer_from_dict

    described = fields["tokenizer"]
    tokenizer = None if described is None else tokenizer_from_dict(described)
    return Order(fields["kind"], fields["text"], tokenizer, fields["is_small"])


def _progress_line(progress: Progress) -> str:
    return json.dumps({"progress": asdict(progress)})


if __name__ == "__main__":
    run_and_report(sys.stdin.read(), lambda line: print(line, flush=True))
