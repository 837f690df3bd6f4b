"""What a model learns from a conversation: the mask, and each fault alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.chat import ChatTemplate
from bpe_core.tokenizer import Conversation, boundaries, read_conversation
from tests.talks import draw_talk

pytestmark = pytest.mark.usefixtures("rendered_here")

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hug?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Again?"},
    {"role": "assistant", "content": "Sure."},
]
HEAD = "<|{{ m.role }}|>"
END = "<|endoftext|>"
PROMPT = "{% if add_generation_prompt %}<|assistant|>{% endif %}"


def chat(body: str, prompt: str = PROMPT, before: str = "") -> ChatTemplate:
    return ChatTemplate(f"{before}{{% for m in messages %}}{body}{{% endfor %}}{prompt}")


def marking(answer: str) -> str:
    """Return the body of a template that marks a part of what an assistant says."""
    other = f"{{{{ m.content }}}}{END}"
    return f"{HEAD}{{% if m.role == 'assistant' %}}{answer}{{% else %}}{other}{{% endif %}}"


GENERATION = marking("{% generation %}{{ m.content }}" + END + "{% endgeneration %}")
PREFIXES = HEAD + "{{ m.content }}" + END


def read(template: ChatTemplate, talk: list[dict[str, Any]] = TALK) -> Conversation:
    return read_conversation(template, talk, bpe.gpt2())


def kinds(found: Conversation) -> list[str]:
    border = found.border_faults(boundaries(found.text, bpe.gpt2(), "all"))
    return sorted(fault.kind for fault in (*found.faults, *border))


@pytest.mark.parametrize(
    ("body", "how"),
    [(GENERATION, "generation"), (PREFIXES, "prefixes"), (PREFIXES + "\n", "prefixes")],
)
def test_what_an_assistant_says_and_its_end_are_learned(body: str, how: str):
    found = read(chat(body))
    said = [found.text[start:end] for start, end in found.learned]
    assert (said, found.learned_by) == ([f"Yes.{END}", f"Sure.{END}"], how)
    assert kinds(found) == []
    cut = boundaries(found.text, bpe.gpt2(), "all")
    mask = found.mask(cut)
    assert bpe.gpt2().decode(cut.ids[mask].tolist()) == f"Yes.{END}Sure.{END}"
    assert [turn.role for turn in found.turns] == [each["role"] for each in TALK]
    assert "".join(found.text[a:b] for _, a, b in found.turns) == found.text
    numbers = found.turn_numbers(cut)
    assert (numbers.min(), numbers.max()) == (0, 4)
    assert set(numbers[mask].tolist()) == {2, 4}


@pytest.mark.parametrize(
    ("template", "talk", "kind", "said"),
    [
        (
            chat(marking("{% generation %}{{ m.content }}{% endgeneration %}" + END)),
            TALK,
            "end-not-learned",
            "<|endoftext|> after message 3 (assistant) is not learned",
        ),
        (
            chat(HEAD + "{{ m.content }}\n"),
            TALK,
            "end-not-learned",
            "No end token follows message 3 (assistant)",
        ),
        (
            chat("{% generation %}{% endgeneration %}" + PREFIXES),
            TALK,
            "empty-mask",
            "No token is learned",
        ),
        (
            chat(
                marking(
                    "{% generation %}{{ m.content }} {{ m.content }}" + END + "{% endgeneration %}"
                )
            ),
            TALK,
            "learned-twice",
            "Message 3 (assistant) is learned twice",
        ),
        (
            chat("{% if loop.last %}[last]{% endif %}" + PREFIXES),
            TALK,
            "prefix-changes",
            "The text up to message 1 (system) changes when more messages are added",
        ),
        (
            chat(PREFIXES + "{% if not loop.last %}\n\n{% else %}\n \n{% endif %}", PROMPT),
            TALK[1:3],
            "space-moves",
            ": white space moves",
        ),
        (
            chat(
                HEAD
                + "{% if m.role == 'assistant' %}H{% generation %}{{ m.content }}"
                + END
                + "{% endgeneration %}{% else %}{{ m.content }}"
                + END
                + "{% endif %}"
            ),
            [TALK[1], {"role": "assistant", "content": "ug me"}],
            "border-in-token",
            "One token holds the beginning of what is learned of message 2",
        ),
        (
            chat(PREFIXES),
            [TALK[1], {"role": "assistant", "content": f"a{END}b"}],
            "typed-token",
            END,
        ),
        (
            chat(HEAD + "{% if m.role != 'system' %}{{ m.content }}{% endif %}" + END),
            TALK,
            "left-out",
            "Message 1 (system) is left out",
        ),
        (
            ChatTemplate(chat(PREFIXES, before="<s><s>").source, {"bos_token": "<s>"}),
            TALK,
            "begins-twice",
            "begins with <s> twice",
        ),
    ],
)
def test_each_fault_is_found_and_no_other(
    template: ChatTemplate, talk: list[dict[str, Any]], kind: str, said: str
):
    found = read(template, talk)
    border = found.border_faults(boundaries(found.text, bpe.gpt2(), "all"))
    assert kinds(found) == [kind]
    assert said in next(fault.sentence for fault in (*found.faults, *border))


def test_an_answer_whose_prefix_changes_is_found_by_its_text():
    found = read(chat("{{ messages | length }}" + PREFIXES))
    said = [found.text[start:end] for start, end in found.learned]
    assert (said, found.learned_by) == ([f"Yes.{END}", f"Sure.{END}"], "text")
    assert kinds(found) == ["prefix-changes"]


def test_every_drawn_conversation_is_covered_by_its_turns():
    template = chat(PREFIXES + "\n{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}")
    for seed in range(50):
        talk = draw_talk(Random(seed))["messages"]
        found = read(template, talk)
        assert "".join(found.text[a:b] for _, a, b in found.turns) == found.text
        assert len(found.turns) == len(talk)
        roles = {found.turns[n].role for n in set(_turns_of(found))}
        assert roles <= {"assistant"}


def _turns_of(found: Conversation) -> list[int]:
    cut = boundaries(found.text, bpe.gpt2(), "all")
    return found.turn_numbers(cut)[found.mask(cut)].tolist()


def test_reasoning_that_is_left_out_is_not_found_in_a_later_answer():
    body = "{{ m.thinking if loop.last }}{{ m.content | length }}:{{ m.content }}" + END
    talk = [
        TALK[1],
        {"role": "assistant", "content": "Yes.", "thinking": "a warm hug"},
        TALK[3],
        {"role": "assistant", "content": "Sure.", "thinking": "a warm hug"},
    ]
    found = read(chat("{{ messages | length }}" + HEAD + body), talk)
    said = [found.text[start:end] for start, end in found.learned]
    assert "a warm hug" not in said[0]
    assert "learned-twice" not in kinds(found)


CALL = "{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}"
# It treats marks otherwise than texts, and its last message otherwise than those before.
SEARCHED = chat(
    HEAD
    + "{% if loop.last %}[thought]{{ m.content }}"
    + "{% else %}{{ m.content.split('</think>') | last }}{% endif %}"
    + CALL
    + END,
    before="{{ messages[0].content | length }}",
)


def call(city: str) -> dict[str, Any]:
    function = {"name": "weather", "arguments": {"city": city}}
    return {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}


@pytest.mark.parametrize(
    ("talk", "others"),
    [
        # White space alone, and the same as JSON in a later call.
        ([{"role": "assistant", "content": "\n"}, TALK[3], call("a\n\n"), TALK[1], TALK[4]], []),
        # The argument is written as JSON, and a later message has the same letters as they are.
        ([call('"hug"'), {"role": "user", "content": '"hug"'}, TALK[4]], []),
        ([{"role": "assistant", "content": "<think>A hug.</think>Yes."}, TALK[3]], ["left-out"]),
    ],
)
def test_a_text_is_found_where_its_message_is(talk: list[dict[str, Any]], others: list[str]):
    found = read(SEARCHED, [TALK[1], *talk])
    assert kinds(found) == [*others, "prefix-changes"]
    said = [found.text[start:end] for start, end in found.learned]
    assert len(said) == sum(each["role"] == "assistant" for each in talk)
    assert all(each.endswith(END) and each.count(END) == 1 for each in said)
    assert found.turns[1].end == found.text.index(END, found.turns[0].end) + len(END)
