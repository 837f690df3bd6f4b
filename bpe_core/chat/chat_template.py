"""A tokenizer's chat template, and the messages that it turns into a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from bpe_core.checks import printable
from bpe_core.errors import ChatTemplateError, ProcessError, TimeLimitError
from bpe_core.extras import needs_extra
from bpe_core.processes import GB, Limits

_LIMITS: Final = Limits(seconds=20, processor_seconds=2, memory=GB, niceness=5)
MAX_MESSAGES: Final = 10_000

Message = Mapping[str, Any]
"""A message as in OpenAI's interface: a role, and a content of text or of parts."""
# What a model thought before it answered, by its names in use; templates read the first or second.
_REASONING: Final = ("reasoning_content", "thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A template in Jinja's language, with what the tokenizer gives it.

    >>> template = ChatTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    >>> template.render([{"role": "user", "content": "Hug?"}])
    '<user>Hug?'
    """

    source: str | Mapping[str, str]
    """The template, or several by their names."""
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    """The text of each special token that has a role, such as `bos_token`."""
    first_token: str = ""
    """The token that the tokenizer's own library puts before every text; "" for none."""

    def named(self, name: str = "default") -> str:
        """Return one of several templates, or the only one, which has no name.

        Raises `ChatTemplateError` if none of several has the name.

        >>> ChatTemplate({"default": "{{ messages }}", "rag": "{{ documents }}"}).named("rag")
        '{{ documents }}'
        """
        if isinstance(self.source, str):
            return self.source
        if name not in self.source:
            raise ChatTemplateError(
                f"The tokenizer has several chat templates, and none is called {printable(name)}: "
                f"{printable(', '.join(sorted(self.source)))}."
            )
        return self.source[name]

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
        """Return the text of a conversation, as transformers' `apply_chat_template` does.

        `add_generation_prompt` adds the beginning of the answer that a model is to write. The
        template runs in another process, in a sandbox, for a few seconds at most. Raises
        `ChatTemplateError` for messages of another form, and for a template that refuses them or
        fails.
        """
        return self.render_each([messages], add_generation_prompt=add_generation_prompt)[0]

    def render_each(
        self, conversations: Sequence[Sequence[Message]], *, add_generation_prompt: bool
    ) -> list[str]:
        """Render several conversations as `render` does; the first that is refused raises.

        If a later one is refused, the result ends before it.
        """
        # Imported when needed: Jinja is optional, and most commands start no process.
        from bpe_core.chat.rendering import render_here

        with needs_extra("formats", "Rendering a chat template"):
            from bpe_core.processes import call

        variables = {
            **self.tokens,
            "tools": None,
            "documents": None,
            "add_generation_prompt": add_generation_prompt,
        }
        checked = [
            [_for_template(message) for message in check_messages(messages)]
            for messages in conversations
        ]
        source = self.named()
        try:
            return call(render_here, source, checked, variables, limits=_LIMITS)
        except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):
            raise ChatTemplateError(
                "The messages or the template hold what cannot be passed on: a lone surrogate, a "
                "number beyond 64 bits, or values that are not JSON."
            ) from None
        except TimeLimitError:
            raise ChatTemplateError(
                f"The chat template did not finish in {_LIMITS.processor_seconds} seconds."
            ) from None
        except ProcessError as error:
            raise ChatTemplateError(f"The chat template could not be run. {error}") from None


def check_messages(value: object) -> list[dict[str, Any]]:
    """Return messages read from JSON: a list, or an object that has it as `messages`.

    Raises `ChatTemplateError` for anything else.

    >>> check_messages({"messages": [{"role": "user", "content": "Hug?"}]})
    [{'role': 'user', 'content': 'Hug?'}]
    """
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get("messages")
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise ChatTemplateError(
            'Expected a list of messages, such as [{"role": "user", "content": "Hello"}].'
        )
    listed = cast("Sequence[object]", value)
    if not 0 < len(listed) <= MAX_MESSAGES:
        raise ChatTemplateError(
            f"Expected from 1 to {MAX_MESSAGES:,} messages, got {len(listed):,}."
        )
    messages: list[dict[str, Any]] = []
    for number, each in enumerate(listed, start=1):
        message = dict(cast("Mapping[str, Any]", each)) if isinstance(each, Mapping) else {}
        if not isinstance(message.get("role"), str):
            raise ChatTemplateError(
                f"Message {number:,} has no role. Each needs one, such as user, and a content."
            )
        messages.append(message)
    return messages


def _for_template(message: Message) -> dict[str, Any]:
    """Return a message as transformers gives it to a template.

    Keys without a value are left out, and reasoning gets the names that templates know.
    """
    given = {key: value for key, value in message.items() if value is not None}
    reasoning = next((given[name] for name in _REASONING if name in given), None)
    if reasoning is None:
        return given
    return {"thinking": reasoning, **given, "reasoning_content": reasoning}


def with_texts(message: Message, change: Callable[[str], str]) -> Message:
    """Return a message with its texts changed.

    >>> with_texts({"role": "user", "content": "Hug?"}, str.upper)
    {'role': 'user', 'content': 'HUG?'}
    """
    content: object = message.get("content")
    if isinstance(content, str):
        return {**message, "content": change(content)}
    if not isinstance(content, list):
        return message
    parts: list[object] = []
    for part in cast("list[object]", content):
        found = cast("Message", part) if isinstance(part, Mapping) else {}
        text: object = found.get("text")
        parts.append({**found, "text": change(text)} if isinstance(text, str) else part)
    return {**message, "content": parts}
