"""Run a chat template in Jinja's sandbox, with what transformers gives it.

A template is a program from whoever published the tokenizer, so `chat_template` calls this in
another process, with limits of time and memory. Source: transformers 5,
`utils/chat_template_utils.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn

from bpe_core.checks import printable
from bpe_core.errors import BpeError, ChatTemplateError
from bpe_core.extras import needs_extra

with needs_extra("formats", "Rendering a chat template"):
    from jinja2 import Environment, Template, TemplateError
    from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.nodes import Node, Scope
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_CHARACTERS: Final = 4_000_000
"""The longest conversation that is rendered; the longest context of a model has about as many."""


def render_here(
    source: str, conversations: Sequence[Sequence[Any]], variables: Mapping[str, Any]
) -> list[str]:
    """Return what a template writes for each conversation; raises `ChatTemplateError`.

    `variables` are the template's other variables, such as `bos_token`. If the template refuses a
    conversation after the first, the result ends before that.

    >>> source = "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}"
    >>> render_here(source, [[{"role": "user", "content": "Hug?"}]], {})
    ['[user] Hug?']
    """
    written: list[str] = []
    try:
        template = _environment().from_string(source)
        for messages in conversations:
            # Appended one by one: what was written before an error is kept.
            written.append(_render(template, messages, variables))  # noqa: PERF401
    except TemplateError as error:
        if not written:
            raise _refusal(error) from None
    except (BpeError, MemoryError):
        raise
    except Exception as error:
        # A template can make any operation of Python's values fail.
        if not written:
            raise ChatTemplateError(f"The chat template failed ({type(error).__name__}).") from None
    return written


def _render(template: Template, messages: Sequence[Any], variables: Mapping[str, Any]) -> str:
    parts: list[str] = []
    room = MAX_CHARACTERS
    # Part by part, so that a template that writes without end is stopped.
    for part in template.generate(messages=messages, **variables):
        room -= len(part)
        if room < 0:
            raise ChatTemplateError(
                f"The chat template writes more than {MAX_CHARACTERS:,} characters."
            )
        parts.append(part)
    text = "".join(parts)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ChatTemplateError("The chat template writes a lone surrogate.") from None
    return text


class _Generation(Extension):
    """The block that marks what a model wrote; it writes what is in it."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.tags = {"generation"}

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return Scope(body, lineno=line)


def _environment() -> Environment:
    def raise_exception(message: object) -> NoReturn:
        raise TemplateError(str(message))

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": raise_exception, "strftime_now": _now}
    return environment


def _to_json(
    value: object,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002 - templates may pass it by position
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    """Write JSON as it is; Jinja's own filter escapes it for HTML."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _now(format: str) -> str:
    return datetime.now().strftime(format)


def _refusal(error: TemplateError) -> ChatTemplateError:
    said = printable(" ".join((error.message or "").split())[:300])
    if isinstance(error, TemplateSyntaxError):
        return ChatTemplateError(f"The chat template has an error on line {error.lineno}: {said}")
    if isinstance(error, SecurityError):
        return ChatTemplateError(f"The chat template does what no template may do: {said}")
    if isinstance(error, UndefinedError):
        return ChatTemplateError(f"The chat template needs something that is not there: {said}")
    return ChatTemplateError(f"The chat template refuses these messages: {said}")
