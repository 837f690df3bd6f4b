"""The server's cache stays within its limit in bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from bpe_core.corpus import Corpus
from tests.waiting import MAX_WAIT_SECONDS
from ui.host import cached, sized_cache
from ui.host.sized_cache import SizedCache, measure_size

KILOBYTE = 1_000


def made(n_bytes: int) -> bytes:
    """Return a new object of this size, which no other result shares."""
    return bytes(bytearray(n_bytes))


def test_the_least_recently_used_is_dropped_first() -> None:
    cache = SizedCache(3_500)
    for key in "abc":
        cache.keep(key, made(KILOBYTE))
    cache.find("a")
    cache.keep("d", made(KILOBYTE))
    assert [cache.find(key) is not None for key in "abcd"] == [True, False, True, True]


def test_a_result_larger_than_the_limit_is_returned_and_not_kept() -> None:
    cache = SizedCache(10 * KILOBYTE)
    cache.keep("small", made(KILOBYTE))
    assert len(cache.get("large", lambda: made(20 * KILOBYTE))) == 20 * KILOBYTE
    assert cache.find("large") is None
    assert cache.find("small") is not None


def test_what_results_share_counts_once_and_as_long_as_one_of_them_is_kept() -> None:
    cache = SizedCache(100 * KILOBYTE)
    shared = made(60 * KILOBYTE)
    for key in "abc":
        cache.keep(key, [shared, made(KILOBYTE)])
    assert 60 * KILOBYTE < cache.n_bytes < 70 * KILOBYTE
    cache.keep("a", made(KILOBYTE))
    cache.forget(lambda key: key == "b")
    assert 60 * KILOBYTE < cache.n_bytes < 70 * KILOBYTE
    cache.keep("d", made(50 * KILOBYTE))
    assert [cache.find(key) is not None for key in "abcd"] == [True, False, False, True]
    assert 50 * KILOBYTE < cache.n_bytes < 55 * KILOBYTE


def test_what_was_made_at_the_start_is_kept_for_the_next_visitors() -> None:
    cache = SizedCache(100_000)
    cache.keep("made at the start", 1)
    cache.note_lasting()
    cache.keep("of a visitor", 2)
    cache.forget_all_but_lasting()
    assert [cache.find(key) for key in ("made at the start", "of a visitor")] == [1, None]
    assert cache.n_bytes < 1_000


def test_a_result_is_made_again_when_its_time_is_over() -> None:
    now = [0.0]
    cache = SizedCache(KILOBYTE, clock=lambda: now[0])
    numbers = count()
    assert cache.get("a", lambda: next(numbers), seconds=10) == 0
    now[0] = 9.9
    assert cache.get("a", lambda: next(numbers), seconds=10) == 0
    now[0] = 10.0
    assert cache.get("a", lambda: next(numbers), seconds=10) == 1


def in_threads(n: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(MAX_WAIT_SECONDS)
        assert not thread.is_alive()


def test_one_thread_makes_a_result_while_others_wait() -> None:
    cache, numbers, results = SizedCache(KILOBYTE), count(), list[int]()
    everybody = threading.Barrier(4)
    may_end = threading.Event()

    def make() -> int:
        may_end.wait(0.2)
        return next(numbers)

    def ask(_: int) -> None:
        everybody.wait()
        results.append(cache.get("a", make))

    in_threads(4, ask)
    assert results == [0, 0, 0, 0]


def test_when_the_maker_fails_one_of_those_who_wait_makes_it() -> None:
    cache, numbers = SizedCache(KILOBYTE), count()
    everybody = threading.Barrier(3)
    results: list[int | str] = []

    def make() -> int:
        threading.Event().wait(0.1)
        if (number := next(numbers)) == 0:
            raise ValueError("interrupted")
        return number

    def ask(_: int) -> None:
        everybody.wait()
        try:
            results.append(cache.get("a", make))
        except ValueError as error:
            results.append(str(error))

    in_threads(3, ask)
    assert sorted(map(str, results)) == ["1", "1", "interrupted"]


def test_arguments_that_begin_with_an_underscore_are_no_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sized_cache, "server_cache", SizedCache(100 * KILOBYTE))
    calls: list[tuple[int, object]] = []

    @cached()
    def function(number: int, _given: object = None) -> int:
        """Return the number."""
        calls.append((number, _given))
        return number

    assert [function(1, "a"), function(1, "b"), function(number=1), function(2)] == [1, 1, 1, 2]
    assert calls == [(1, "a"), (2, None)]
    assert function.__doc__ == "Return the number."
    function.clear()
    function(1, "c")
    assert calls[-1] == (1, "c")


def test_corpora_are_told_apart_by_texts_and_names_which_keys_do_not_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = SizedCache(100 * KILOBYTE)
    monkeypatch.setattr(sized_cache, "server_cache", cache)
    numbers = count()

    @cached()
    def number(given: tuple[Corpus, ...]) -> int:
        return next(numbers)

    def of(text: str, *names: str) -> int:
        return number((Corpus.from_documents([text] * len(names), names),))

    many = [f"document {n}" for n in range(5_000)]
    given = [("hug", "a"), ("hugs", "a"), ("hug", "b"), ("hug", "\udcff"), ("hug", "a', 'b")]
    assert [of(*each) for each in given] == [0, 1, 2, 3, 4]
    assert [of("hug", "a", "b"), of("hug", *many), of("hug", *many[::-1])] == [5, 6, 7]
    assert [of(*each) for each in given] == [0, 1, 2, 3, 4]
    assert measure_size(list(cache._results)).n_bytes < 10 * KILOBYTE


def test_the_size_of_arrays_texts_and_containers_is_counted() -> None:
    array = np.zeros(100_000, np.int64)
    assert measure_size(array).n_bytes == pytest.approx(800_000, rel=0.01)
    assert measure_size(array[:10]).n_bytes == pytest.approx(800_000, rel=0.01)
    assert measure_size(["a" * 50_000, b"b" * 50_000]).n_bytes == pytest.approx(100_000, rel=0.01)
    words = {f"word {number}": bytes(1_000) for number in range(5_000)}
    assert measure_size(words).n_bytes > 5_000_000
    assert measure_size([[bytes(1_000)] for _ in range(5_000)]).n_bytes == pytest.approx(
        5_000 * 1_150, rel=0.1
    )


def test_modules_classes_and_functions_count_nothing() -> None:
    assert measure_size([np, SizedCache, made, len, None, True]).n_bytes < 200
