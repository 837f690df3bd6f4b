"""The benchmarks' peak of memory is that of the process itself."""

from benchmarks.peak_memory import peak_megabytes
from tests.new_process import run_python

_PRINT = "from benchmarks.peak_memory import peak_megabytes; print(peak_megabytes())"


def test_a_process_begun_by_a_large_one_is_not_as_large() -> None:
    held = b"x" * 200_000_000
    assert 1 < float(run_python(_PRINT)) < 100
    assert peak_megabytes() > len(held) / 1e6


def test_what_was_freed_still_counts() -> None:
    before = peak_megabytes()
    taken = len(b"x" * (int(before * 1e6) + 50_000_000))
    assert peak_megabytes() > taken / 1e6
