"""Draw a conversation's messages, and render them by the chosen tokenizer's chat template."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final, cast

import streamlit as st

from bpe_core.chat import ChatTemplate
from bpe_core.errors import ChatTemplateError
from bpe_core.tokenizer import Conversation, Encoder, read_conversation
from ui.corpus import MAX_CHARACTERS, OwnReading, address_text
from ui.host import cached
from ui.look import counted, plain_markdown, tooltip
from ui.shell import workspace
from ui.tokenizers import Member

ROLES: Final = ("system", "user", "assistant")
FIRST: Final = (("user", "What are you?"), ("assistant", "A model. I read tokens."))
_NAME: Final = "chat"
_MAX_MESSAGES: Final = 50
_ROLE_WIDTH: Final = 130
_SECONDS_KEPT: Final = 3_600.0
"""Templates may write the date."""
_places: Final = BoundedSemaphore(2)
"""Each process that runs a template may take a gigabyte."""
CHATML: Final = ChatTemplate(
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The template shown for a tokenizer that has none."""
_MARKS: Final = ("<|im_start|>", "<|im_end|>")
_NO_TEMPLATE: Final = (
    "has no chat template, so this example writes the conversation in ChatML, which many chat "
    "models use. "
)
_ORDINARY: Final = (
    "To them, <|im_start|> and <|im_end|> are one special token each; here they are ordinary text. "
)
_HOW_TO_ADD: Final = (
    "To see a model’s own template, add the model by its name on the hub, or its tokenizer.json "
    "together with its tokenizer_config.json or chat_template.jinja, a zip of these, or a GGUF "
    "file."
)


@dataclass(frozen=True, slots=True)
class Rows:
    """The messages on the page, each by a number that the keys of its two widgets end with."""

    numbers: tuple[int, ...] | None = None
    """None before the messages were drawn."""


def draw_messages() -> list[dict[str, str]]:
    """Draw a row for each message, kept in the address; return the messages."""
    numbers = workspace.get(Rows).numbers
    if numbers is None:
        numbers = _start(_read_address() or FIRST)
    messages: list[dict[str, str]] = []
    for number in numbers:
        with st.container(horizontal=True):
            with st.container(width=_ROLE_WIDTH, gap="xsmall"):
                role = st.selectbox(
                    "Role",
                    ROLES,
                    key=_role_key(number),
                    label_visibility="collapsed",
                    persist_state="session",
                )
                st.button(
                    "Remove",
                    key=f"chat_remove_{number}",
                    type="tertiary",
                    on_click=_remove,
                    args=(number,),
                    disabled=len(numbers) == 1,
                )
            content = st.text_area(
                f"Message of the {role}",
                key=_text_key(number),
                height="content",
                max_chars=MAX_CHARACTERS // _MAX_MESSAGES,
                label_visibility="collapsed",
                persist_state="session",
            )
        messages.append({"role": role, "content": content})
    _to_address(messages)
    return messages


def answer_choice() -> bool:
    """Draw the button that adds a message, and whether the answer is to be begun."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Add a message",
            key="chat_add",
            on_click=_add,
            disabled=len(workspace.get(Rows).numbers or ()) >= _MAX_MESSAGES,
        )
        return st.toggle(
            "Begin the answer",
            key="answer",
            bind="query-params",
            help="Add what the template writes where the model is to answer: "
            "`add_generation_prompt=True`.",
        )


def render(
    chosen: Member, messages: Sequence[Mapping[str, str]], *, begins_answer: bool
) -> Conversation | None:
    """Render messages by the tokenizer's template, or by an example's if it has none.

    Says why, and returns None, if that fails.
    """
    chat = chosen.chat or CHATML
    if chosen.chat is None:
        is_special = set(_MARKS) <= set(chosen.encoder.special_tokens)
        why = _NO_TEMPLATE if is_special else _NO_TEMPLATE + _ORDINARY
        st.info(f"{plain_markdown(chosen.name)} {plain_markdown(why + _HOW_TO_ADD, 600)}")
    rendered = _rendered(
        tuple((each["role"], each["content"]) for each in messages),
        begins_answer,
        repr(chat),
        chosen.encoder,
        chat,
    )
    if isinstance(rendered, Conversation):
        return rendered
    st.error(plain_markdown(rendered, 600))
    return None


def draw_shares(conversation: Conversation, reading: OwnReading) -> None:
    """Draw how many tokens are the template's, and what a model would read otherwise."""
    n_theirs = conversation.n_message_tokens(reading.found)
    n_added = reading.n_shown - n_theirs
    share = f", {n_added / reading.n_shown:.0%}" if reading.n_shown else ""
    st.markdown(
        f"**{counted(reading.n_shown, 'token')}**: {n_theirs:,} of the messages and {n_added:,} of "
        f"the template{share}.",
        help=tooltip("Chat template"),
    )
    for problem in conversation.problems:
        st.warning(plain_markdown(problem, 600))


@cached(spinner="Rendering the chat template", seconds=_SECONDS_KEPT)
def _rendered(
    messages: tuple[tuple[str, str], ...],
    begins_answer: bool,
    template_key: str,
    encoder: Encoder,
    _template: ChatTemplate,
) -> Conversation | str:
    """Return the conversation, or why the template did not render it."""
    del template_key  # what the template is known by
    listed = [{"role": role, "content": content} for role, content in messages]
    with _places:
        try:
            return read_conversation(
                _template, listed, encoder, add_generation_prompt=begins_answer
            )
        except ChatTemplateError as error:
            return str(error)


def _start(messages: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    for number, (role, content) in enumerate(messages):
        _fill(number, role, content)
    numbers = tuple(range(len(messages)))
    workspace.update(Rows, numbers=numbers)
    return numbers


def _add() -> None:
    numbers = workspace.get(Rows).numbers or ()
    number = max(numbers, default=-1) + 1
    last = workspace.widget_text(_role_key(numbers[-1])) if numbers else ""
    _fill(number, "assistant" if last == "user" else "user", "")
    workspace.update(Rows, numbers=(*numbers, number))


def _remove(number: int) -> None:
    numbers = workspace.get(Rows).numbers or ()
    workspace.update(Rows, numbers=tuple(each for each in numbers if each != number))


def _fill(number: int, role: str, content: str) -> None:
    workspace.set_widget(_role_key(number), role)
    workspace.set_widget(_text_key(number), content)


def _read_address() -> list[tuple[str, str]]:
    """Return the messages that the address holds; none if it has other than these."""
    try:
        parsed: object = json.loads(address_text.read_address_text(_NAME) or "[]")
    except (ValueError, RecursionError):
        return []
    found: list[tuple[str, str]] = []
    for each in cast("list[object]", parsed if isinstance(parsed, list) else []):
        match each:
            case [str(role), str(content)] if role in ROLES:
                # A lone surrogate can be written in JSON, but not shown.
                found.append((role, content.encode("utf-8", "replace").decode()))
            case _:
                pass
    return found[:_MAX_MESSAGES]


def _to_address(messages: Sequence[Mapping[str, str]]) -> None:
    pairs = [(each["role"], each["content"]) for each in messages]
    text = json.dumps(pairs, ensure_ascii=False, separators=(",", ":"))
    first = json.dumps(FIRST, ensure_ascii=False, separators=(",", ":"))
    address_text.area_to_address(_NAME, text, first=first, longest=MAX_CHARACTERS)


def _role_key(number: int) -> str:
    return f"chat_role_{number}"


def _text_key(number: int) -> str:
    return f"chat_text_{number}"
