"""Chat templates run in turn, and slow ones make only each other wait."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from bpe_core.chat import ChatTemplate, Rendered, TooMuchError
from bpe_core.errors import ChatTemplateError
from bpe_core.tokenizer import find_drift, gpt2, read_conversation
from ui.token_boundaries import template_turns
from ui.token_boundaries.drift import read_sequences
from ui.work import TooMuchWorkError

ENDLESS = ChatTemplate(
    "{% for n in range(90000) %}{% for m in range(90000) %}{% endfor %}{% endfor %}"
)


def test_slow_templates_keep_only_each_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_turns, "_MAX_WAIT_SECONDS", 0.05)
    turns = template_turns.TemplateTurns()
    with turns.of("published"):
        pass
    with ExitStack() as slow:
        slow.enter_context(turns.of("slow"))
        slow.enter_context(turns.of("slower"))
        # One that has finished before does not wait; a new one does not wait for ever.
        with turns.of("published"):
            pass
        with pytest.raises(TooMuchWorkError, match="Try again"):
            slow.enter_context(turns.of("new"))
    with turns.of("new"):
        pass


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
    monkeypatch.setattr(template_turns, "_SECONDS_REFUSED", 0.0)
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
