"""Draw a conversation's messages, and render them by the chosen tokenizer's chat template."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, Final, cast

import streamlit as st

from bpe_core.chat import (
    ChatTemplate,
    Reads,
    TooMuchError,
)
from bpe_core.errors import ChatTemplateError
from bpe_core.tokenizer import READING, Conversation, Encoder, read_conversation
from ui.corpus import MAX_CHARACTERS, OwnReading, own_texts
from ui.host import cached
from ui.look import counted, plain_markdown, tooltip
from ui.shell import SWITCH, bound, check_linked, show_unread, workspace
from ui.token_boundaries.drift import draw_ids
from ui.token_boundaries.template_turns import turns
from ui.tokenizers import Member

ROLES: Final = ("system", "user", "assistant", "tool")
Written = tuple[str, str, Mapping[str, str]]
"""A role, a content, and what else is in the fields of a message."""
FIRST: Final[tuple[Written, ...]] = (
    ("user", "What are you?", {}),
    ("assistant", "A model. I read tokens.", {}),
)
_CALLS: Final = "tool_calls"
_PARTS: Final = "parts"
_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "user": {_PARTS: "Before the text: image, audio or video, in their order"},
    "assistant": {"reasoning_content": "Reasoning", _CALLS: "Tool calls, as JSON"},
    "tool": {"tool_call_id": "Id of the call", "name": "Name of the tool"},
}
"""What a message of a role has besides its content, with the label of its field."""
_ALL_FIELDS: Final = tuple(name for fields in _FIELDS.values() for name in fields)
VIEWS: Final = ("Messages", "JSON", "Ids")
_VIEW: Final = "chat_view"
_EXAMPLE: Final = "chat_example"
_JSON: Final = "chat_json"
_SET: Final = "chat_set_"
_LISTS: Final = ("tools", "documents")
"""Variables of several lines."""
_MAX_VARIABLES: Final = 8
_MAX_MASKED: Final = 2_000
"""How many tokens are drawn light or dark."""
_CALL: Final = {
    "type": "function",
    "id": "call00001",
    "function": {"name": "weather", "arguments": {"city": "Oslo"}},
}
_WEATHER: Final = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Return the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Its name"}},
            "required": ["city"],
        },
    },
}
_ASKED: Final = {"role": "user", "content": "Does it rain in Oslo?"}
EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "A talk": {
        "messages": [
            {"role": "user", "content": "What are you?"},
            {"role": "assistant", "content": "A model. I read tokens."},
        ]
    },
    "Tools": {
        "messages": [
            _ASKED,
            {"role": "assistant", "content": "", "tool_calls": [_CALL]},
            {
                "role": "tool",
                "name": "weather",
                "tool_call_id": "call00001",
                "content": '{"rain": true}',
            },
            {"role": "assistant", "content": "Yes, it rains."},
        ],
        "tools": [_WEATHER],
    },
    "Reasoning": {
        "messages": [
            {"role": "user", "content": "What is 12 times 12?"},
            {"role": "assistant", "reasoning_content": "12 * 12 = 144.", "content": "144."},
        ],
        "enable_thinking": True,
    },
    "Images and sound": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image"},
                    {"type": "audio"},
                    {"type": "text", "text": "What is this?"},
                ],
            },
            {"role": "assistant", "content": "A cat that purrs."},
        ]
    },
    "Documents": {
        "messages": [_ASKED, {"role": "assistant", "content": "Yes."}],
        "documents": [{"title": "Oslo", "text": "It rains in Oslo."}],
    },
}
_HOW_FOUND: Final = {
    "generation": "The template marks what is learned by `{% generation %}`.",
    "prefixes": "The template marks nothing, so each answer is found by rendering the conversation "
    "without it and with it.",
    "text": "The template marks nothing and changes what came before, so an answer is found by its "
    "text.",
    "": "Nothing is learned.",
}
_NAME: Final = "chat"
_MORE: Final = {"user": "Images and sound", "assistant": "Reasoning and tool calls"}
_MAX_MESSAGES: Final = 50
_ROLE_WIDTH: Final = 130
_SECONDS_KEPT: Final = 3_600.0
"""Templates may write the date."""
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
    """The messages on the page, each by a number that the keys of its widgets end with."""

    numbers: tuple[int, ...] | None = None
    """None before the messages were drawn."""
    variables: tuple[str, ...] = ()
    """The variables that have, or had, a field."""
    is_raw: bool = False
    """True if the JSON was drawn last, or holds what the fields do not."""


def draw_conversation() -> dict[str, Any] | list[list[int]] | None:
    """Draw the messages as fields or as JSON; return them with what else a template reads.

    For ids, return each sequence. Returns None, and says why, for what is neither.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        view = st.segmented_control(
            "Messages as",
            VIEWS,
            default=VIEWS[0],
            required=True,
            key=_VIEW,
            label_visibility="collapsed",
            persist_state="session",
            on_change=_change_view,
        )
        st.selectbox(
            "Example",
            [*EXAMPLES],
            index=None,
            placeholder="An example of each kind",
            key=_EXAMPLE,
            label_visibility="collapsed",
            width=260,
            on_change=_take_example,
        )
    if view == VIEWS[2]:
        return draw_ids()
    if view == VIEWS[1]:
        return _draw_json()
    messages = draw_messages()
    return None if messages is None else {"messages": messages}


def _draw_json() -> dict[str, Any] | None:
    text = st.text_area(
        "A JSON object of messages, and of whatever else the template reads, such as tools",
        key=_JSON,
        height=300,
        max_chars=MAX_CHARACTERS,
        persist_state="session",
    )
    try:
        found = _parse(text)
        if len(found["messages"]) <= ChatTemplate.MAX_GROWN:
            return found
        st.error(
            f"Expected at most {ChatTemplate.MAX_GROWN:,} messages, got "
            f"{len(found['messages']):,}. `bpe chat` in a shell reads longer conversations."
        )
    except ChatTemplateError as error:
        st.error(plain_markdown(str(error), 600))
    except (ValueError, RecursionError) as error:
        st.error(plain_markdown(f"This is not valid JSON: {error}.", 600))
    return None


def _parse(text: str) -> dict[str, Any]:
    """Return a conversation from JSON; raises ChatTemplateError, ValueError or RecursionError."""
    parsed: object = json.loads(text)
    found = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    return {**found, "messages": ChatTemplate.check_messages(cast("object", parsed))}


def _take_example() -> None:
    chosen = workspace.widget_text(_EXAMPLE)
    if chosen not in EXAMPLES:
        return
    workspace.set_widget(_JSON, _as_json(EXAMPLES[chosen]))
    if workspace.widget_text(_VIEW) != VIEWS[1]:
        workspace.set_widget(_VIEW, VIEWS[0])
        _fields_from_json()


def _change_view() -> None:
    """Show the same conversation as fields or as JSON."""
    view = workspace.widget_text(_VIEW)
    if view == VIEWS[1] and not workspace.get(Rows).is_raw:
        _json_from_fields()
    elif view == VIEWS[0] and workspace.get(Rows).is_raw:
        _fields_from_json()


def _json_from_fields() -> None:
    """Write what the fields hold as JSON; stay with them, and what is wrong, if one is wrong."""
    rows = workspace.get(Rows)
    read = [_read_message(_written(number)) for number in rows.numbers or ()]
    messages = [found for found in read if isinstance(found, dict)]
    if len(messages) < len(read):
        workspace.set_widget(_VIEW, VIEWS[0])
        return
    fields = {name: workspace.widget_text(_SET + name) for name in rows.variables}
    variables = {name: _value(text) for name, text in fields.items() if text}
    # The JSON has them now, so a field would give them again once they are deleted there.
    workspace.set_widgets({_SET + name: "" for name in variables})
    found = {"messages": messages, **variables} if messages else EXAMPLES["A talk"]
    workspace.set_widget(_JSON, _as_json(found))
    workspace.update(Rows, is_raw=True)


def _fields_from_json() -> None:
    """Fill the fields with what the JSON holds, if they can show all of it."""
    found: dict[str, Any] = {"messages": []}
    with suppress(ChatTemplateError, ValueError, RecursionError):
        found = _parse(workspace.widget_text(_JSON))
    messages = [_written_as(each) for each in found["messages"]]
    written = [each for each in messages if each is not None]
    if len(written) < len(messages) or not 0 < len(written) <= _MAX_MESSAGES:
        workspace.update(Rows, is_raw=True)
        return
    _start(written)
    variables = {
        name: value for name, value in found.items() if name not in ChatTemplate.NOT_VARIABLES
    }
    names = tuple(dict.fromkeys([*workspace.get(Rows).variables, *variables]))
    fields = {name: _as_field(variables[name]) if name in variables else "" for name in names}
    workspace.set_widgets({_SET + name: text for name, text in fields.items()})
    workspace.update(Rows, variables=names, is_raw=False)


def _value(text: str) -> Any:
    """Return what the field of a variable holds: JSON, or else a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _as_field(value: object) -> str:
    """Return what the field of a variable holds for a value."""
    is_text = isinstance(value, str) and value == _shown(value) and value == _value(value)
    return str(value) if value and is_text else _as_json(value)


def _as_json(value: object) -> str:
    """Return a value as JSON that can be shown: a lone surrogate stays escaped."""
    written = json.dumps(value, ensure_ascii=False, indent=2)
    return written.encode("utf-8", "backslashreplace").decode()


def draw_messages() -> list[dict[str, Any]] | None:
    """Draw a row for each message, kept in the address; return the messages.

    Returns None, and says why, if a field does not hold the JSON that it is for.
    """
    numbers = workspace.get(Rows).numbers
    if numbers is None:
        numbers = _start(_read_address() or FIRST)
    if workspace.get(Rows).is_raw:
        st.info("The JSON holds what these fields do not show, so they have other messages.")
    messages: list[dict[str, Any]] = []
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
            with st.container(gap="xsmall"):
                st.text_area(
                    f"Message of the {role}",
                    key=_text_key(number),
                    height="content",
                    max_chars=MAX_CHARACTERS // _MAX_MESSAGES,
                    label_visibility="collapsed",
                    persist_state="session",
                )
                _draw_fields(role, number)
        found = _read_message(_written(number))
        if isinstance(found, str):
            st.error(plain_markdown(found, 600))
        else:
            messages.append(found)
    _to_address([_written(number) for number in numbers])
    show_unread(_NAME, messages)
    return messages if len(messages) == len(numbers) else None


def _draw_fields(role: str, number: int) -> None:
    """Draw what a message of a role has besides its content."""
    fields = _FIELDS.get(role, {})
    if role == "tool":
        with st.container(horizontal=True):
            for name, label in fields.items():
                st.text_input(label, key=_field_key(name, number), persist_state="session")
    elif fields:
        placeholders = {_CALLS: _as_json([_CALL]), _PARTS: "image, audio"}
        with st.expander(_MORE[role], expanded=any(_written(number)[2].values())):
            for name, label in fields.items():
                st.text_area(
                    label,
                    key=_field_key(name, number),
                    height="content",
                    max_chars=MAX_CHARACTERS // _MAX_MESSAGES,
                    placeholder=placeholders.get(name),
                    persist_state="session",
                )


def _written(number: int) -> Written:
    """Return what the fields of a message hold; those that are empty are left out."""
    role = workspace.widget_text(_role_key(number))
    names = _FIELDS.get(role, {})
    held = {name: workspace.widget_text(_field_key(name, number)) for name in names}
    content = workspace.widget_text(_text_key(number))
    return role, content, {name: text for name, text in held.items() if text}


def _read_message(written: Written) -> dict[str, Any] | str:
    """Return a message as a template takes it, or what is wrong with its fields."""
    role, content, held = written
    found: dict[str, Any] = {"role": role, "content": content, **held}
    if _PARTS in held:
        names = [name.strip() for name in found.pop(_PARTS).split(",")]
        if not all(name.isidentifier() for name in names):
            return "Expected kinds of parts with commas between them, such as image, audio."
        text = [{"type": "text", "text": content}] if content else []
        found["content"] = [*({"type": name} for name in names), *text]
    if _CALLS in held:
        try:
            calls: object = json.loads(held[_CALLS])
        except (ValueError, RecursionError) as error:
            return f"The tool calls are not valid JSON: {error}."
        listed = cast("list[object]", calls if isinstance(calls, list) else [calls])
        if not all(isinstance(call, dict) for call in listed):
            return "Expected the tool calls as a JSON list of objects, each with a function."
        found[_CALLS] = listed
    return found


def _written_as(message: Mapping[str, Any]) -> Written | None:
    """Return what the fields hold for a message; None if they cannot show all of it."""
    role: str = message["role"]
    content: object = message.get("content")
    held = {name: message[name] for name in _FIELDS.get(role, {}) if name in message}
    if isinstance(content, list):
        given = cast("list[object]", content)
        parts = [cast("dict[str, object]", each) for each in given if isinstance(each, dict)]
        has_text = "text" in (parts[-1] if parts else ())
        kinds = [str(each.get("type")) for each in parts]
        held[_PARTS] = ", ".join(kinds[:-1] if has_text else kinds)
        content = parts[-1]["text"] if has_text else ""
    if _CALLS in held:
        held[_CALLS] = _as_json(held[_CALLS])
    texts = [role, content, *held.values()]
    if role not in ROLES or not all(
        isinstance(text, str) and text == _shown(text) for text in texts
    ):
        return None
    # As `_written` reads them again: a role has its own fields, and an empty one is not there.
    kept = {name: text for name, text in held.items() if text and name in _FIELDS.get(role, {})}
    written: Written = role, str(content), kept
    return written if _read_message(written) == message else None


def answer_choice() -> dict[str, bool]:
    """Draw the button that adds a message, and how the text ends; return options of rendering."""
    if workspace.widget_text(_VIEW) == VIEWS[2]:
        return {}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Add a message",
            key="chat_add",
            on_click=_add,
            disabled=workspace.widget_text(_VIEW) == VIEWS[1]
            or len(workspace.get(Rows).numbers or ()) >= _MAX_MESSAGES,
        )
        begin = partial(
            st.toggle,
            "Begin the answer",
            help="Add what the template writes where the model is to answer: "
            "`add_generation_prompt=True`.",
        )
        begins = bound(begin, key="answer", usable=SWITCH)
        go_on = partial(
            st.toggle,
            "Continue the last message",
            disabled=begins,
            help="End the text within the last message, for the model to go on: "
            "`continue_final_message=True`.",
        )
        continues = bound(go_on, key="continue", usable=SWITCH)
    return {"add_generation_prompt": begins, "continue_final_message": continues and not begins}


def render(
    chosen: Member, given: Mapping[str, Any], options: Mapping[str, bool]
) -> Conversation | None:
    """Render messages by the tokenizer's template, or by an example's if it has none.

    `options` are what `answer_choice` returns. Says why, and returns None, if that fails.
    """
    chat = chosen.chat or CHATML
    if chosen.chat is None:
        is_special = set(_MARKS) <= set(chosen.encoder.special_tokens)
        why = _NO_TEMPLATE if is_special else _NO_TEMPLATE + _ORDINARY
        st.info(f"{plain_markdown(chosen.name)} {plain_markdown(why + _HOW_TO_ADD, 600)}")
    try:
        # In a container, since an expander further down closes if what is above it comes or goes.
        with st.container():
            chat = _choose_template(chat)
            variables = _draw_variables(chat, given)
        rendered = _rendered(
            json.dumps({**variables, **given}),
            json.dumps(options),
            repr(chat),
            chosen.encoder,
            chat,
        )
    except TooMuchError as error:
        # Not kept: the server may have been busy.
        rendered = str(error)
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


def draw_learned(conversation: Conversation, reading: OwnReading) -> None:
    """Draw which tokens a model learns to write, dark among light ones, and what goes wrong."""
    mask = conversation.mask(reading.found)
    is_token = reading.found.ids >= 0
    n_learned = int((mask & is_token).sum())
    if not any(turn.role == "assistant" for turn in conversation.turns):
        return
    faults = [each for each in conversation.faults if each.kind not in READING]
    faults += conversation.border_faults(reading.found)
    st.markdown(
        f"A model learns to write **{n_learned:,} of {counted(reading.n_shown, 'token')}**; "
        f"{counted(len(faults), 'fault')}."
    )
    # An expander whose label changes closes.
    with st.expander("What is learned from"):
        st.markdown(_HOW_FOUND[conversation.learned_by])
        for fault in faults:
            st.warning(plain_markdown(fault.sentence, 600))
        shown, text = reading.found.first(_MAX_MASKED, reading.text)
        n_shown = len(shown.ids)
        data, start, learns = text.encode(), 0, False
        parts: list[str] = []
        for end, learned in zip(shown.byte_ends.tolist(), mask[:n_shown].tolist(), strict=True):
            learns |= learned
            # The tokens of one character are drawn together: none of them is text alone.
            if data[end : end + 1] and data[end] & 0xC0 == 0x80:
                continue
            kind = "learned" if learns else "read"
            parts.append(f"<span class='{kind}'>{escape(data[start:end].decode())}</span>")
            start, learns = end, False
        # Visitors without a pointer scroll a long text by the keyboard.
        st.html(f"<div class='chat-mask' tabindex='0'>{''.join(parts)}</div>")
        if n_shown < len(mask):
            st.markdown(f"The first {n_shown:,} tokens are shown.")


def _choose_template(chat: ChatTemplate) -> ChatTemplate:
    """Draw the choice of a template if there are several; return the chosen one, or all."""
    if isinstance(chat.source, str):
        return chat
    names = sorted(chat.source)
    name = st.selectbox(
        "Template",
        names,
        index=None,
        placeholder="default, or tool_use if there are tools",
        # A choice among other names is another choice.
        key=f"chat_template_{' '.join(names)}",
        width=320,
    )
    return chat if name is None else chat.chosen(name)


def _draw_variables(chat: ChatTemplate, given: Mapping[str, Any]) -> dict[str, Any]:
    """Draw a field for each variable that a template reads; return those with a value."""
    read = _read_names(repr(chat), chat)
    if read is None:
        return {}
    known = {*ChatTemplate.NOT_VARIABLES, *chat.tokens, *given}
    names = [name for name in read.variables if name not in known][:_MAX_VARIABLES]
    rows = workspace.get(Rows)
    if not {*names} <= {*rows.variables}:
        rows = workspace.update(Rows, variables=tuple(dict.fromkeys([*rows.variables, *names])))
    found: dict[str, Any] = {}
    if names:
        with st.expander("What else the template reads"):
            for name in names:
                is_list = name in _LISTS
                text = (st.text_area if is_list else st.text_input)(
                    name,
                    key=_SET + name,
                    placeholder=f"A JSON list of {name}; empty if there are none"
                    if is_list
                    else "JSON, such as true, or a text; empty if it is not given",
                    persist_state="session",
                )
                if text:
                    found[name] = _value(text)
    held = {name for name in rows.variables if workspace.widget_text(_SET + name)}
    if unread := sorted({*given, *held} - {*read.variables} - ChatTemplate.NOT_VARIABLES):
        st.caption(plain_markdown(f"The template does not read {', '.join(unread)}.", 600))
    return found


@cached(spinner="Reading the chat template", seconds=_SECONDS_KEPT)
def _read_names(template_key: str, _template: ChatTemplate) -> Reads | None:
    """Return the names that a template reads; None if it has an error, which rendering says."""
    try:
        with turns.of(template_key):
            return _template.reads()
    except TooMuchError:
        raise
    except ChatTemplateError:
        return None


@cached(spinner="Rendering the chat template", seconds=_SECONDS_KEPT)
def _rendered(
    given: str,
    options: str,
    template_key: str,
    encoder: Encoder,
    _template: ChatTemplate,
) -> Conversation | str:
    """Return the conversation, or why the template did not render it; raises TooMuchError."""
    variables: dict[str, Any] = json.loads(given)
    messages = variables["messages"]
    others = {
        name: value for name, value in variables.items() if name not in ChatTemplate.NOT_VARIABLES
    }
    try:
        with turns.of(template_key):
            return read_conversation(_template, messages, encoder, **json.loads(options), **others)
    except TooMuchError:
        raise
    except ChatTemplateError as error:
        return str(error)


def _start(messages: Sequence[Written]) -> tuple[int, ...]:
    for number, message in enumerate(messages):
        _fill(number, message)
    numbers = tuple(range(len(messages)))
    workspace.update(Rows, numbers=numbers)
    return numbers


def _add() -> None:
    numbers = workspace.get(Rows).numbers or ()
    number = max(numbers, default=-1) + 1
    last = workspace.widget_text(_role_key(numbers[-1])) if numbers else ""
    _fill(number, ("assistant" if last in ("user", "tool") else "user", "", {}))
    workspace.update(Rows, numbers=(*numbers, number))


def _remove(number: int) -> None:
    numbers = workspace.get(Rows).numbers or ()
    workspace.update(Rows, numbers=tuple(each for each in numbers if each != number))


def _fill(number: int, message: Written) -> None:
    role, content, held = message
    workspace.set_widget(_role_key(number), role)
    workspace.set_widget(_text_key(number), content)
    for name in _ALL_FIELDS:
        workspace.set_widget(_field_key(name, number), held.get(name, ""))


def _read_address() -> list[Written]:
    """Return the messages that the address holds; what else it holds is noted, to be said."""
    found: list[Written] = []
    try:
        parsed: object = json.loads(own_texts.read_address_text(_NAME) or "[]")
    except (ValueError, RecursionError):
        parsed = None
    listed = cast("list[object]", parsed if isinstance(parsed, list) else [])
    for each in listed:
        parts = cast("list[object]", each) if isinstance(each, list) else []
        role, content, more = [*parts, None, None, None][:3]
        if not isinstance(role, str) or role not in ROLES or not isinstance(content, str):
            continue
        held = cast("dict[str, object]", more) if isinstance(more, dict) else {}
        texts = {
            name: _shown(text)
            for name, text in held.items()
            if name in _FIELDS.get(role, {}) and isinstance(text, str)
        }
        found.append((role, _shown(content), texts))
    found = found[:_MAX_MESSAGES]
    are_all = bool(found) and len(found) == len(listed)
    instead = f"{counted(len(found), 'message')} of it can be read." if found else ""
    what = f"a list of up to {_MAX_MESSAGES} messages"
    check_linked(_NAME, lambda _: are_all, what, instead=instead)
    return found


def _shown(text: str) -> str:
    """Return a text without lone surrogates, which can be written in JSON, but not shown."""
    return text.encode("utf-8", "replace").decode()


def _to_address(messages: Sequence[Written]) -> None:
    text, first = (
        json.dumps(
            [(role, content, *([held] if held else [])) for role, content, held in each],
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for each in (messages, FIRST)
    )
    own_texts.area_to_address(_NAME, text, first=first, longest=MAX_CHARACTERS)


def _role_key(number: int) -> str:
    return f"chat_role_{number}"


def _field_key(name: str, number: int) -> str:
    return f"chat_{name}_{number}"


def _text_key(number: int) -> str:
    return f"chat_text_{number}"
