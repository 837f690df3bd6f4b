"""Functions that tests run in other processes."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.processes import Report


class Part(NamedTuple):
    """A part of a `Whole`."""

    name: str
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Whole:
    """One of each kind of value."""

    parts: tuple[Part, ...]
    table: NDArray[np.float32]
    places: dict[str, list[int]]
    names: frozenset[str]
    data: bytes
    path: Path
    kind: Literal["one", "other"] = "one"
    next: Part | None = None


class OwnError(FormatError):
    """An error that only the child imports, until it is raised."""


def pass_back(whole: Whole) -> Whole:
    """Return what was passed."""
    return whole


def total(counts: NDArray[np.int64]) -> int:
    """Return a NumPy number as an int."""
    return counts.sum()


def count_to(n: int) -> Iterator[int]:
    """Yield numbers from 1."""
    yield from range(1, n + 1)


def fail_after_one() -> Iterator[int]:
    """Yield a number, then raise an error."""
    yield 1
    raise FormatError("no more")


def wrong_kind() -> int:
    """Return what the annotation doesn't say."""
    return "seven"  # pyright: ignore[reportReturnType]


def fail(how: str) -> None:
    """End in one of the ways in which a process ends without an answer."""
    sys.stdout.write("a visitor's text")
    sys.stderr.write("a visitor's text")
    if how == "own":
        raise OwnError("a.txt is no tokenizer. Use another.")
    if how == "unforeseen":
        raise KeyError("a visitor's text")
    if how == "memory":
        bytearray(2**40)
    if how == "exit":
        sys.exit(3)
    if how == "signal":
        os.kill(os.getpid(), 40)  # one that has no name
    if how == "crash":
        ctypes.string_at(0)
    if how == "half a message":
        os.write(int(sys.argv[1]), struct.pack("!i", 100))
    if how == "a message without end":
        os.write(int(sys.argv[1]), struct.pack("!iQ", -1, 2**50))
        while os.write(int(sys.argv[1]), bytes(2**20)):
            pass
    while how == "processor":
        pass
    time.sleep(600)


def report_and_wait(report: Report[Part]) -> list[int]:
    """Report twice, then wait until it is told to finish."""
    report(Part("first", np.array([1, 2])))
    report(Part("last", np.array([os.getpid()])), must_arrive=True)
    while not report.should_finish():
        time.sleep(0.01)
    return [1, 2, 3]
