"""Chat templates run in turn, and slow ones make only each other wait."""

from __future__ import annotations

from contextlib import ExitStack
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from bpe_core.chat import ChatTemplate, Rendered, TooMuchError
from bpe_core.errors import ChatTemplateError
from bpe_core.tokenizer import find_drift, gpt2, read_conversation
from ui.token_boundaries import template_turns
from ui.token_boundaries.drift import read_sequences
from ui.token_boundaries.template_turns import Turn, next_turn
from ui.work import TooMuchWorkError

ENDLESS = ChatTemplate(
    "{% for n in range(90000) %}{% for m in range(90000) %}{% endfor %}{% endfor %}"
)


def test_slow_templates_of_others_cost_nobody_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, began, asked = template_turns.TemplateTurns(), Event(), Event()
    found: list[Turn | None] = []

    def next_noted(waiting: list[Turn], *others: Any) -> Turn | None:
        turn = next_turn(waiting, *others)
        if waiting[0].visitor == "honest":
            found.append(turn)
            asked.set()
        return turn

    monkeypatch.setattr(template_turns, "next_turn", next_noted)
    with turns.of("published", "a"):
        pass

    def begin() -> None:
        with turns.of("new", "honest"):
            began.set()

    honest = Thread(target=begin)
    with ExitStack() as slow:
        slow.enter_context(turns.of("slow", "a"))
        slow.enter_context(turns.of("slower", "b"))
        # One that has finished before does not wait; a new one waits for a place.
        with turns.of("published", "c"):
            pass
        honest.start()
        assert asked.wait(60)
        assert (found, began.is_set()) == ([None], False)
    assert began.wait(60)
    honest.join()


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_turns, "_MAX_WAIT_SECONDS", 0.05)
    turns = template_turns.TemplateTurns()
    with (
        turns.of("slow", "a"),
        # The other template is the visitor's own.
        pytest.raises(TooMuchWorkError, match=r"^Chat templates are slow right now\. Try again"),
        turns.of("new", "a"),
    ):
        raise AssertionError
    with turns.of("new", "a"):
        pass


NEW, KNOWN = (Turn(9, "z", is_new) for is_new in (True, False))


@pytest.mark.parametrize(
    ("waiting", "running", "chosen"),
    [
        # The visitor who has used the least time comes first, and of equals the first.
        ([Turn(1, "greedy", True), Turn(2, "a", True), Turn(3, "b", True)], [], 2),
        # A visitor has one at a time.
        ([Turn(1, "z", True), Turn(2, "greedy", True)], [NEW], 2),
        ([Turn(1, "z", False)], [NEW], None),
        # New ones have two places, and there are four.
        ([Turn(1, "a", True), Turn(2, "greedy", False)], [NEW, NEW], 2),
        ([Turn(1, "a", True)], [NEW, KNOWN], 1),
        ([Turn(1, "a", False)], [KNOWN] * 4, None),
        ([], [], None),
    ],
)
def test_who_comes_next(waiting: list[Turn], running: list[Turn], chosen: int | None) -> None:
    found = next_turn(waiting, running, lambda visitor: 2.0 * (visitor == "greedy"))
    assert (None if found is None else found.number) == chosen


def test_time_that_a_visitor_used_counts_until_a_pause_of_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, turns, order = [100.0], template_turns.TemplateTurns(), [""]
    monkeypatch.setattr(template_turns, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(
        template_turns,
        "next_turn",
        lambda waiting, _, seconds: (order.append(f"{seconds('a'):g}"), waiting[0])[1],
    )
    for inside, after in ((0.0, 0.0), (2.0, 0.0), (3.0, 59.0), (0.5, 60.0), (0.0, 0.0)):
        with turns.of("any", "a"):
            clock[0] += inside
        clock[0] += after
    assert order[1:] == ["0", "0", "2", "5", "0"]


def test_a_template_that_took_too_much_is_refused_for_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = template_turns.TemplateTurns()
    talk = [{"role": "user", "content": "?"}]
    with pytest.raises(TooMuchError, match="did not finish in 2 seconds"), turns.of("endless"):
        read_conversation(ENDLESS, talk, gpt2())

    def render(*given: object, **named: object) -> list[Rendered]:
        raise AssertionError

    # Nothing runs now, whatever the messages are.
    monkeypatch.setattr(ChatTemplate, "render_each", render)
    with pytest.raises(TooMuchError, match="did not finish in 2 seconds"), turns.of("endless"):
        read_conversation(ENDLESS, talk, gpt2())
    # Another visitor, whose messages may be short, is not refused.
    with turns.of("endless", "another"):
        pass
    monkeypatch.setattr(template_turns, "_SECONDS_KNOWN", 0.0)
    with turns.of("endless"):
        pass


def test_a_template_that_takes_too_much_ends_the_search_for_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would take as much for each sequence of ids."""
    refused = Rendered("", [], "It took too much.", took_too_much=True)
    monkeypatch.setattr(ChatTemplate, "render_each", lambda *_: [refused])
    with pytest.raises(TooMuchError, match="It took too much"):
        find_drift([71, 1018, 82], gpt2(), ENDLESS)


@pytest.mark.parametrize("line", ["1" * 11, "1" * 60 + "x", "1" * 5_000, "1, " * 60 + "x"])
def test_a_line_of_digits_that_is_no_id_is_refused(line: str) -> None:
    """A pattern that can divide digits in many ways would not finish here."""
    with pytest.raises(ChatTemplateError, match=r"^Line 2 has"):
        read_sequences(f"71\n{line}")


def test_one_object_may_take_several_lines() -> None:
    assert read_sequences('\n{"input_ids":\n [71, 1018]}') == [[71, 1018]]
    with pytest.raises(ChatTemplateError, match=r"^Line 2 has no ids"):
        read_sequences('\n{"text":\n "hug"}')
