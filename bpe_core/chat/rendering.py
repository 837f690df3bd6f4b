"""Run a chat template in Jinja's sandbox, with what transformers gives it.

A template is a program from whoever published the tokenizer, so `chat_template` calls this in
another process, with limits of time and memory. Source: transformers 5,
`utils/chat_template_utils.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from time import process_time
from traceback import walk_tb
from types import FrameType
from typing import Any, Final, NoReturn

from bpe_core.chat.rendered import MAX_GROWN, Growth, Job, Reads, Rendered
from bpe_core.checks import printable
from bpe_core.errors import BpeError, ChatTemplateError
from bpe_core.extras import needs_extra

with needs_extra("formats", "Rendering a chat template"):
    from jinja2 import Environment, Template, TemplateError
    from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.meta import find_undeclared_variables
    from jinja2.nodes import (
        CallBlock,
        Const,
        ExtensionAttribute,
        Getattr,
        Getitem,
        Name,
        Node,
        TemplateData,
        Test,
    )
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import Namespace

MAX_CHARACTERS: Final = 4_000_000
"""The longest conversation that is rendered; the longest context of a model has about as many."""
_SECONDS_FOR_MESSAGE: Final = 0.2
"""How long to render a conversation and to search for the message that caused an error."""
_FILE_NAME: Final = "<template>"
"""What Jinja calls the file of a template that is a text."""


def render_here(source: str, jobs: list[Job], tokens: dict[str, str]) -> Iterator[Rendered]:
    """Yield what a template writes for each conversation; raises `ChatTemplateError`.

    `tokens` are the special tokens that the template knows by name, such as `bos_token`.

    >>> source = "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}"
    >>> job = Job({"messages": [{"role": "user", "content": "Hug?"}]})
    >>> [each.text for each in render_here(source, [job], {})]
    ['[user] Hug?']
    """
    environment = _environment()
    try:
        template = environment.from_string(source)
    except (BpeError, MemoryError):
        raise
    except Exception as error:
        raise _failure(error) from None
    is_named = False
    for job in jobs:
        variables, until = tokens | job.variables, process_time() + _SECONDS_FOR_MESSAGE
        found = _answer(template, variables, job.marked)
        if found.error and not is_named:
            # Only once, because the search takes time that the other conversations need.
            is_named = True
            found = replace(found, error=_with_message(template, variables, found.error, until))
        yield found


def _answer(template: Template, variables: dict[str, Any], marked: list[Any] | None) -> Rendered:
    found = _render(template, variables)
    if found.error or marked is None:
        return found
    messages = variables["messages"]
    grown: list[Growth] = []
    prompts: list[Growth] = []
    # To render each prefix takes the square of the messages' number, which has to have an end.
    counted = range(len(messages) if len(messages) <= MAX_GROWN else 0)
    for n in counted:
        is_answer = messages[n].get("role") == "assistant"
        prompts.append(_growth(template, variables, n, found.text) if is_answer and n else _NONE)
        is_all = n + 1 == len(messages) and not variables["add_generation_prompt"]
        whole = Growth(len(found.text), len(found.text.rstrip()), len(found.text), is_alike=True)
        plain = {**variables, "add_generation_prompt": False}
        grown.append(whole if is_all else _growth(template, plain, n + 1, found.text, adds=False))
    with_marks = _render(template, {**variables, "messages": marked})
    text = None if with_marks.error else with_marks.text
    return replace(found, marked=text, grown=grown, prompts=prompts)


def _with_message(template: Template, variables: dict[str, Any], error: str, until: float) -> str:
    """Return an error that names the message which causes it, if there are several.

    It is the one after the longest beginning of the conversation without this error, because a
    template that looks at the last message may refuse shorter ones too. The search ends at a time
    of the process.

    >>> source = "{% if messages[-1].role != 'user' %}{{ raise_exception('No user.') }}{% endif %}"
    >>> template = _environment().from_string(source)
    >>> talk = [{"role": role} for role in ("user", "assistant", "user", "assistant")]
    >>> error = _render(template, {"messages": talk}).error
    >>> _with_message(template, {"messages": talk}, error, process_time() + 9)
    'Message 4 (assistant): The chat template refuses these messages: No user.'
    """
    messages = variables["messages"]
    for n in reversed(range(len(messages) if 1 < len(messages) <= MAX_GROWN else 0)):
        if process_time() > until:
            break
        if _render(template, {**variables, "messages": messages[:n]}).error != error:
            return f"Message {n + 1:,} ({printable(messages[n]['role'][:40])}): {error}"
    # What fails without any message is no message's fault.
    return error


_NONE: Final = Growth(-1, -1, 0, is_alike=False)


def _growth(
    template: Template, variables: dict[str, Any], n: int, text: str, *, adds: bool = True
) -> Growth:
    """Return how the text of the first `n` messages compares with that of all."""
    first = {**variables, "messages": variables["messages"][:n], "add_generation_prompt": adds}
    found = _render(template, first)
    if found.error:
        return _NONE
    n_common = _n_common(found.text, text)
    is_alike = n_common == len(found.text) or "".join(text.split()).startswith(
        "".join(found.text.split())
    )
    return Growth(len(found.text), len(found.text.rstrip()), n_common, is_alike)


def _n_common(first: str, second: str) -> int:
    """Return how many characters two texts begin with alike."""
    low, high = 0, min(len(first), len(second))
    if second.startswith(first[:high]):
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if first.startswith(second[low:middle], low):
            low = middle
        else:
            high = middle
    return low


def _render(template: Template, variables: Mapping[str, Any]) -> Rendered:
    """Return what a template writes, or why it does not."""
    parts: list[str] = []
    room = MAX_CHARACTERS
    tracker: Any = template.environment.extensions[_Generation.identifier]
    tracker.spans, tracker.n_written = [], 0
    try:
        # Part by part, so that a template that writes without end is stopped.
        for part in template.generate(variables):
            tracker.n_written += len(part)
            if tracker.n_written > room:
                raise ChatTemplateError(
                    f"The chat template writes more than {MAX_CHARACTERS:,} characters."
                )
            parts.append(part)
        text = "".join(parts)
        text.encode()
    except MemoryError:
        raise
    except UnicodeEncodeError:
        return Rendered("", [], "The chat template writes a lone surrogate.")
    except BpeError as error:
        return Rendered("", [], str(error))
    except Exception as error:
        # A template can make any operation of Python's values fail.
        return Rendered("", [], str(_failure(error)))
    return Rendered(text, [span for span in tracker.spans if span[1] <= len(text)])


def read_names(source: str) -> Reads:
    """Return the names that a template reads; raises `ChatTemplateError` for one with an error.

    >>> read_names("{% for m in messages %}{{ m.content }}{% if tools %}!{% endif %}{% endfor %}")
    Reads(variables=('messages', 'tools'), fields=('content',), words=('!',), marks_answers=False)
    """
    try:
        parsed = _environment().parse(source)
        undeclared = find_undeclared_variables(parsed)
    except MemoryError:
        raise
    except Exception as error:
        raise _failure(error) from None
    # What a template sets itself is given to it only if it asks whether it was.
    own = {node.name for node in parsed.find_all(Name) if node.ctx == "store"}
    tests = [node for node in parsed.find_all(Test) if node.name in ("defined", "undefined")]
    asked = {node.node.name for node in tests if isinstance(node.node, Name)}
    variables = undeclared - (own - asked)
    fields = {node.attr for node in parsed.find_all(Getattr)}
    words = {node.data.strip() for node in parsed.find_all(TemplateData)}
    for node in parsed.find_all(Const):
        if isinstance(node.value, str):
            words.add(node.value.strip())
    for node in parsed.find_all(Getitem):
        if isinstance(node.arg, Const) and isinstance(node.arg.value, str):
            fields.add(node.arg.value)
    marks = any(node.name == "_mark" for node in parsed.find_all(ExtensionAttribute))
    listed = (tuple(sorted(names - {""})) for names in (variables, fields, words))
    return Reads(*listed, marks_answers=marks)


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
        self.spans: list[tuple[int, int]] = []
        self.n_written = 0

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        block = CallBlock(self.call_method("_mark"), [], [], body)
        return block.set_lineno(line)

    def _mark(self, caller: Callable[[], str]) -> str:
        written = caller()
        self.spans.append((self.n_written, self.n_written + len(written)))
        return written


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
