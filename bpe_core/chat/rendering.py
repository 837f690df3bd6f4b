"""Run a chat template in Jinja's sandbox, with what transformers gives it.

A template is a program from whoever published the tokenizer, so `chat_template` calls this in
another process, with limits of time and memory. Source: transformers 5,
`utils/chat_template_utils.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from traceback import walk_tb
from types import FrameType
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
    from jinja2.utils import Namespace

MAX_CHARACTERS: Final = 4_000_000
"""The longest conversation that is rendered; the longest context of a model has about as many."""
_FILE_NAME: Final = "<template>"
"""What Jinja calls the file of a template that is a text."""


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
    except (BpeError, MemoryError):
        raise
    except Exception as error:
        # A template can make any operation of Python's values fail.
        if not written:
            raise _failure(error) from None
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


class _RefusedError(TemplateError):
    """What a template raises for messages that it does not take."""


class _Dict:
    """What a template gets as `dict`: the class itself would have more attributes."""

    def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
        return dict(*values, **named)

    def fromkeys(self, keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


class _Namespace(Namespace):
    """A namespace without names that begin with an underscore, as in transformers."""

    def __init__(*values: Any, **named: Any) -> None:
        self, *others = values
        given = dict(*others, **named)
        for name in given:
            _check_name(name)
        Namespace.__init__(self, given)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace has no names with an underscore first, such as {name!r}.")


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
        raise _RefusedError(str(message))

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {
        "dict": _Dict(),
        "namespace": _Namespace,
        "raise_exception": raise_exception,
        "strftime_now": _now,
    }
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


def _failure(error: Exception) -> ChatTemplateError:
    message = getattr(error, "message", None) if isinstance(error, TemplateError) else None
    said = printable(" ".join((message or "").split())[:300])
    if isinstance(error, _RefusedError):
        return ChatTemplateError(f"The chat template refuses these messages: {said}")
    if isinstance(error, TemplateSyntaxError):
        return ChatTemplateError(f"The chat template has an error on line {error.lineno}: {said}")
    # Jinja puts the template's lines into the traceback in place of its own.
    lines = [line for frame, line in walk_tb(error.__traceback__) if _is_template(frame)]
    where = f"Line {lines[-1]:,} of the chat template" if lines else "The chat template"
    if isinstance(error, SecurityError):
        return ChatTemplateError(f"{where} does what no template may do: {said}")
    if isinstance(error, UndefinedError):
        return ChatTemplateError(f"{where} needs something that is not there: {said}")
    # The messages of Python's own errors may quote what the visitor wrote.
    return ChatTemplateError(f"{where} failed ({said or type(error).__name__}).")


def _is_template(frame: FrameType) -> bool:
    return frame.f_code.co_filename == _FILE_NAME
