"""The server's cache stays within its limits in bytes, for the server and for each visitor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.memory import sized_cache
from ui.memory.sized_cache import SizedCache, cached
from ui.memory.sizes import size_of

KILOBYTE = 1_000


def made(n_bytes: int) -> bytes:
    """Return a new object of this size, which no other result shares."""
    return bytes(bytearray(n_bytes))


def of(*sizes: int) -> list[bytes]:
    return [made(size) for size in sizes]


def cache_of(most: int, each: int | None = None) -> SizedCache:
    return SizedCache(most_bytes=most, most_bytes_each=most if each is None else each)


def test_the_least_recently_used_is_dropped_first() -> None:
    cache = cache_of(3_500)
    for key in "abc":
        cache.keep(key, made(KILOBYTE), visitor="one")
    cache.find("a")
    cache.keep("d", made(KILOBYTE), visitor="one")
    assert [cache.find(key) is not None for key in "abcd"] == [True, False, True, True]


def test_a_result_larger_than_the_limit_is_returned_and_not_kept() -> None:
    cache = cache_of(10 * KILOBYTE)
    cache.keep("small", made(KILOBYTE))
    assert len(cache.get("large", lambda: made(20 * KILOBYTE))) == 20 * KILOBYTE
    assert cache.find("large") is None
    assert cache.find("small") is not None


def test_a_visitor_beyond_their_share_loses_their_own_results_only() -> None:
    cache = cache_of(100 * KILOBYTE, each=5 * KILOBYTE)
    cache.keep("other", made(4 * KILOBYTE), visitor="other")
    for number in range(10):
        cache.keep(number, made(2 * KILOBYTE), visitor="one")
        assert cache.bytes_of("one") <= 5 * KILOBYTE
    assert cache.find("other", visitor="other") is not None
    assert [number for number in range(10) if cache.find(number) is not None] == [8, 9]


def test_the_newest_result_is_kept_even_beyond_the_share() -> None:
    cache = cache_of(100 * KILOBYTE, each=5 * KILOBYTE)
    cache.keep("first", made(KILOBYTE), visitor="one")
    cache.keep("large", made(50 * KILOBYTE), visitor="one")
    assert cache.find("first") is None
    assert cache.find("large") is not None


def test_what_a_visitor_held_is_given_back_when_they_leave() -> None:
    cache = cache_of(100 * KILOBYTE)
    cache.keep("theirs", made(50 * KILOBYTE), visitor="one")
    cache.keep("shared", made(20 * KILOBYTE), visitor="one")
    assert cache.find("shared", visitor="other") is not None
    cache.leave("one")
    assert cache.find("theirs") is None
    assert cache.find("shared") is not None
    assert cache.bytes_of("one") == 0
    assert cache.bytes_of("other") >= 20 * KILOBYTE
    assert cache.visitors() == {"other"}
    cache.leave("other")
    assert (cache.n_bytes, len(cache)) == (0, 0)


def test_a_little_is_kept_for_visitors_who_come_back() -> None:
    cache = cache_of(100 * KILOBYTE)
    for number in range(5):
        cache.keep(number, made(2 * KILOBYTE), visitor="one")
    cache.leave("one")
    assert 0 < cache.n_bytes <= 5 * KILOBYTE
    assert cache.find(4, visitor="again") is not None
    assert cache.bytes_of("again") >= 2 * KILOBYTE


def test_what_was_made_at_the_start_outlasts_all_visitors() -> None:
    cache = SizedCache(100_000, 100_000)
    cache.keep("made at the start", 1)
    cache.keep("asked for meanwhile", 2, visitor="early")
    cache.note_lasting()
    cache.keep("of a visitor", 3, visitor="late")
    cache.find("made at the start", visitor="late")
    for visitor in ("early", "late"):
        cache.leave(visitor)
    cache.forget_all_but_lasting()
    found = [
        cache.find(key) for key in ("made at the start", "asked for meanwhile", "of a visitor")
    ]
    assert found == [1, None, None]
    assert cache.n_bytes < 1_000


def test_what_has_grown_since_counts_once_it_is_measured_again() -> None:
    cache = cache_of(100 * KILOBYTE)
    grown: list[bytes] = []
    cache.keep("grown", grown)
    cache.keep("charged", charged := [b""], visitor="one")
    grown.append(made(10 * KILOBYTE))
    charged.append(made(30 * KILOBYTE))
    assert cache.n_bytes < KILOBYTE
    cache.measure_again()
    # No visitor uses "grown", so it may take only a twentieth of the limit.
    assert cache.find("grown") is None
    assert cache.find("charged") is charged
    assert cache.n_bytes == cache.bytes_of("one") == size_of(("charged", charged)).n_bytes
    cache.leave("one")
    assert cache.n_bytes == 0


def test_what_results_share_counts_once() -> None:
    cache = cache_of(10_000 * KILOBYTE)
    shared = np.zeros(1_000 * KILOBYTE, np.int8)
    for key in "ab":
        cache.keep(key, [shared], visitor=key)
    assert 1_000 * KILOBYTE < cache.n_bytes < 1_010 * KILOBYTE
    assert cache.bytes_of("a") > 1_000 * KILOBYTE
    cache.leave("a")
    assert 1_000 * KILOBYTE < cache.n_bytes < 1_010 * KILOBYTE


def test_what_results_share_may_grow_between_them() -> None:
    cache = cache_of(10_000 * KILOBYTE)
    shared = [made(10) for _ in range(2_000)]
    cache.keep("before", shared)
    shared.extend(made(1_000) for _ in range(2_000))
    cache.keep("after", [shared])
    assert cache.n_bytes > 2_000 * KILOBYTE
    for key in ("before", "after"):
        cache.forget(lambda each, key=key: each == key)
    assert (cache.n_bytes, len(cache)) == (0, 0)
    cache.keep("before", shared, visitor="one")
    shared.clear()
    cache.measure_again()
    cache.leave("one")
    cache.forget()
    assert (cache.n_bytes, cache.bytes_of("one")) == (0, 0)


def test_a_result_is_made_again_when_its_time_is_over() -> None:
    now = [0.0]
    cache = SizedCache(KILOBYTE, KILOBYTE, clock=lambda: now[0])
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
        thread.join(10)
        assert not thread.is_alive()


def test_one_thread_makes_a_result_while_others_wait() -> None:
    cache, numbers, results = cache_of(KILOBYTE), count(), list[int]()
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
    cache, numbers = cache_of(KILOBYTE), count()
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


def test_a_function_that_asks_for_its_own_key_does_not_wait_for_itself() -> None:
    cache = cache_of(KILOBYTE)
    assert cache.get("a", lambda: cache.get("a", lambda: 1) + 1) == 2


def test_arguments_that_begin_with_an_underscore_are_no_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sized_cache, "server_cache", cache_of(100 * KILOBYTE))
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


_STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("keep"), st.integers(0, 9), st.integers(1, 40), st.sampled_from([None, *"xyz"])
        ),
        st.tuples(st.just("find"), st.integers(0, 9), st.just(0), st.sampled_from([None, *"xyz"])),
        st.tuples(st.just("leave"), st.just(0), st.just(0), st.sampled_from("xyz")),
    ),
    max_size=60,
)


@given(_STEPS)
def test_no_limit_is_ever_exceeded(steps: list[tuple[str, int, int, str | None]]) -> None:
    most, each = 60 * KILOBYTE, 25 * KILOBYTE
    cache = cache_of(most, each)
    for step, key, kilobytes, visitor in steps:
        if step == "keep":
            value = made(kilobytes * KILOBYTE)
            assert cache.keep(key, value, visitor=visitor)
            assert cache.find(key) is value
        elif step == "find":
            cache.find(key, visitor=visitor)
        elif visitor is not None:
            cache.leave(visitor)
            assert visitor not in cache.visitors()
            assert cache.bytes_of(visitor) == 0
        kept = {key: cache.find(key) for key in range(10) if cache.find(key) is not None}
        total = sum(size_of((key, value)).n_bytes for key, value in kept.items())
        assert cache.n_bytes == total <= most
        for name in "xyz":
            newest = 41 * KILOBYTE
            assert cache.bytes_of(name) <= max(each, newest)
    for name in "xyz":
        cache.leave(name)
    assert not cache.visitors()
    assert cache.n_bytes <= max(most // 20, 41 * KILOBYTE)


def test_the_size_of_arrays_texts_and_containers_is_counted() -> None:
    array = np.zeros(100_000, np.int64)
    assert size_of(array).n_bytes == pytest.approx(800_000, rel=0.01)
    assert size_of(array[:10]).n_bytes == pytest.approx(800_000, rel=0.01)
    assert size_of(["a" * 50_000, b"b" * 50_000]).n_bytes == pytest.approx(100_000, rel=0.01)
    words = {f"word {number}": bytes(1_000) for number in range(5_000)}
    assert size_of(words).n_bytes > 5_000_000
    assert size_of([[bytes(1_000)] for _ in range(5_000)]).n_bytes == pytest.approx(
        5_000 * 1_150, rel=0.1
    )


def test_modules_classes_and_functions_count_nothing() -> None:
    assert size_of([np, SizedCache, made, len, None, True]).n_bytes < 200
