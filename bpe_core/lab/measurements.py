"""The laboratory: measures in a process of its own, which nobody else's work slows down.

`python -m bpe_core.lab.measurements` reads one order as JSON from its standard input and writes
JSON, a line each: progress as it goes, and at the end what was measured. Whoever started it may end
it at any time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import Any, Final, Literal

from bpe_core.compiling.background import wait_for_kernels
from bpe_core.compiling.cache import kernels_are_compiled
from bpe_core.errors import BpeError
from bpe_core.lab.contenders import encoders, expected_ids, trainers
from bpe_core.lab.growth import Grown, measure_growth
from bpe_core.lab.measuring import Measured, Progress, Tell, measure
from bpe_core.tokenizer.tokenizer import Tokenizer

Kind = Literal["encoding", "training"]
N_MERGES: Final = 500
MOST_CHARACTERS: Final = 2_000_000
_SMALLEST: Final = 1_000
_FACTOR: Final = 4


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be measured: encoding with a tokenizer, or training, on a text."""

    kind: Kind
    text: str
    tokenizer: Tokenizer | None = None
    """For encoding alone."""

    @property
    def fingerprint(self) -> str:
        """What tells it from orders of another kind, tokenizer or text.

        >>> Order("training", "hug").fingerprint == Order("training", "hugs").fingerprint
        False
        """
        tokenizer = "" if self.tokenizer is None else self.tokenizer.fingerprint
        named = f"{self.kind} {tokenizer} {self.text}"
        return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()

    def to_json(self) -> bytes:
        """Write the order as the process reads it.

        >>> Order("training", "hug hugs").to_json()
        b'{"kind": "training", "text": "hug hugs", "tokenizer": null}'
        """
        from bpe_core.formats.native import tokenizer_to_dict

        described = None if self.tokenizer is None else tokenizer_to_dict(self.tokenizer)
        return json.dumps({"kind": self.kind, "text": self.text, "tokenizer": described}).encode()


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured: of encoding or of training, the other is empty."""

    encoding: tuple[Measured, ...] = ()
    training: tuple[Grown, ...] = ()


Line = Progress | Report | str
"""What the process says: how far it is, what it found, or what went wrong, for the person."""


def run_order(order: Order, tell: Tell) -> Report:
    """Measure what is asked for; raises `BpeError`.

    >>> report = run_order(Order("training", "hug hugs"), lambda progress: None)
    >>> sorted({point.name for point in report.training})
    ['engine', 'reference', 'tokenizers']
    """
    if order.kind == "training":
        sizes = growing_sizes(len(order.text))
        grown = measure_growth(trainers(N_MERGES), order.text, sizes, tell=tell)
        return Report(training=tuple(grown))
    if order.tokenizer is None:
        return Report()
    found = measure(encoders(order.tokenizer), order.text, expected_ids(order.tokenizer), tell=tell)
    return Report(encoding=tuple(found))


def growing_sizes(n_characters: int) -> list[int]:
    """Return the sizes at which training is measured: each four times the last, and all of it.

    >>> growing_sizes(20_000)
    [1000, 4000, 16000, 20000]
    """
    sizes = [min(_SMALLEST, n_characters)]
    while sizes[-1] < n_characters:
        sizes.append(min(sizes[-1] * _FACTOR, n_characters))
    return sizes


def read_line(line: str) -> Line:
    """Read a line that the process wrote.

    >>> read_line('{"progress": {"done": 1, "of": 4, "name": "trie", "seconds_left": 2.5}}')
    Progress(done=1, of=4, name='trie', seconds_left=2.5, seconds_compiling=None)
    """
    said: dict[str, Any] = json.loads(line)
    if "progress" in said:
        return Progress(**said["progress"])
    if "report" in said:
        return Report(
            tuple(Measured(**one) for one in said["report"]["encoding"]),
            tuple(Grown(**one) for one in said["report"]["training"]),
        )
    return str(said["problem"])


def carry_out(order_json: str, write: Callable[[str], None]) -> None:
    """Carry out an order, and write what there is to say of it, a line of JSON at a time.

    >>> carry_out('{"kind": "encoding", "text": "", "tokenizer": null}', print)
    {"report": {"encoding": [], "training": []}}

    Of an error that nobody foresaw its type and place alone: its message may quote the text.
    """
    try:
        order = _order_of(json.loads(order_json))
        _get_kernels(
            lambda seconds: write(_progress_line(Progress(0, 1, "", seconds_compiling=seconds)))
        )
        report = run_order(order, lambda progress: write(_progress_line(progress)))
    except BpeError as error:
        write(json.dumps({"problem": str(error)}))
    except Exception as error:
        at = extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(at.filename).name}, line {at.lineno}"
        write(json.dumps({"problem": f"It stopped because of an error in the app ({where})."}))
    else:
        write(json.dumps({"report": asdict(report)}))


def _order_of(said: dict[str, Any]) -> Order:
    from bpe_core.formats.native import tokenizer_from_dict

    described = said["tokenizer"]
    tokenizer = None if described is None else tokenizer_from_dict(described)
    return Order(said["kind"], said["text"], tokenizer)


def _get_kernels(tell: Callable[[float], None]) -> None:
    if find_spec("numba") is not None and not kernels_are_compiled():
        wait_for_kernels(tell)


def _progress_line(progress: Progress) -> str:
    return json.dumps({"progress": asdict(progress)})


if __name__ == "__main__":
    carry_out(sys.stdin.read(), lambda line: print(line, flush=True))
