"""A tokenizer's chat template, and the messages that it turns into a text."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, NamedTuple, cast

from bpe_core.chat.rendered import MAX_GROWN, Job, Reads, Rendered, TooMuchError, plain
from bpe_core.checks import printable
from bpe_core.errors import ChatTemplateError, ProcessError, TimeLimitError
from bpe_core.extras import needs_extra
from bpe_core.processes import Limits

_LIMITS: Final = Limits(seconds=20, processor_seconds=2, memory=Limits.GB, niceness=5)
_MAX_IN_PROCESS: Final = 2_000
"""How many conversations one process renders; each adds a little to its time."""
_SECONDS_EACH: Final = 0.01
_MAX_REFUSED: Final = 2
_SHARE_REFUSED: Final = 0.05
"""A template that takes too much for more conversations than two, and this share, is refused."""
MAX_MESSAGES: Final = 10_000
_MAX_NESTED: Final = 100
"""The most lists and objects within each other: what walks them would run out of its stack."""

Message = Mapping[str, Any]
"""A message as in OpenAI's interface: a role, and a content of text or of parts."""
# What a model thought before it answered, by its names in use; templates read the first or second.
REASONING: Final = ("reasoning_content", "thinking", "reasoning")
_TAG: Final = "CONTINUE_FINAL_MESSAGE_TAG "


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A template in Jinja's language, with what the tokenizer gives it.

    >>> template = ChatTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    >>> template.render([{"role": "user", "content": "Hug?"}])
    '<user>Hug?'
    """

    NOT_VARIABLES: ClassVar = frozenset(
        {"messages", "add_generation_prompt", "continue_final_message"}
    )
    """What a caller gives by other means than the template's variables."""
    MAX_GROWN: ClassVar = MAX_GROWN
    """The most messages of a conversation whose beginnings are rendered too."""

    source: str | Mapping[str, str]
    """The template, or several by their names."""
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    """The text of each special token that has a role, such as `bos_token`."""
    first_token: str = ""
    """The token that the tokenizer's own library puts before every text; "" for none."""

    @staticmethod
    def check_messages(value: object) -> list[dict[str, Any]]:
        """Return messages read from JSON: a list, or an object that has it as `messages`.

        Raises `ChatTemplateError` for anything else.

        >>> ChatTemplate.check_messages({"messages": [{"role": "user", "content": "Hug?"}]})
        [{'role': 'user', 'content': 'Hug?'}]
        """
        _check_nesting(value, _MAX_NESTED)
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

    def named(self, name: str | None = None, *, with_tools: bool = False) -> str:
        """Return one of several templates, or the only one, which has no name.

        Without a name it is the one called tool_use for a conversation with tools, and default
        otherwise, as in transformers. Raises `ChatTemplateError` if none has the name.

        >>> ChatTemplate({"default": "{{ messages }}", "rag": "{{ documents }}"}).named("rag")
        '{{ documents }}'
        """
        if isinstance(self.source, str):
            return self.source
        if name is None:
            name = "tool_use" if with_tools and "tool_use" in self.source else "default"
        if name not in self.source:
            raise ChatTemplateError(
                f"The tokenizer has several chat templates, and none is called {printable(name)}: "
                f"{printable(', '.join(sorted(self.source)))}."
            )
        return self.source[name]

    def chosen(self, name: str) -> ChatTemplate:
        """Return the template with one of its sources; raises what `named` raises.

        >>> ChatTemplate({"default": "{{ messages }}", "rag": "{{ documents }}"}).chosen("rag")
        ChatTemplate(source='{{ documents }}', tokens={}, first_token='')
        """
        return replace(self, source=self.named(name))

    def render(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tools: Sequence[Mapping[str, Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        **variables: Any,
    ) -> str:
        """Return the text of a conversation, as transformers' `apply_chat_template` does.

        `add_generation_prompt` adds the beginning of the answer that a model is to write.
        `continue_final_message` ends the text within the last message, for a model to go on; it may
        be the name of a field of that message. `tools` are JSON schemas, and `variables` whatever
        else the template reads, such as `enable_thinking`: `reads` lists their names.

        The template runs in another process, in a sandbox, for a few seconds at most. Raises
        `ChatTemplateError` for messages of another form, and for a template that refuses them or
        fails.

        >>> template = ChatTemplate("{{ messages[0].content }}{% if polite %}, please{% endif %}")
        >>> template.render([{"role": "user", "content": "Hug"}], polite=True)
        'Hug, please'
        """
        given = {"tools": tools, "documents": documents, **variables}
        listed = self.check_messages(messages)
        if not continue_final_message:
            (rendered,) = self.render_each(
                [{**given, "messages": listed}], add_generation_prompt=add_generation_prompt
            )
            return rendered.read()
        if add_generation_prompt:
            raise ChatTemplateError(
                "An answer is either begun, by add_generation_prompt, or continued, by "
                "continue_final_message. Choose one."
            )
        name = continue_final_message if isinstance(continue_final_message, str) else "content"
        opened = _open_end(listed, name, self.named(with_tools=tools is not None))
        (rendered,) = self.render_each([{**given, "messages": opened.messages}])
        return opened.cut(rendered.read())

    def render_each(
        self,
        conversations: Sequence[Mapping[str, Any]],
        marked: Sequence[Sequence[Message]] | None = None,
        *,
        add_generation_prompt: bool = False,
    ) -> list[Rendered]:
        """Render several conversations in few processes; one that is refused has its `error`.

        Each is an object of `messages` and the template's other variables, such as `tools`. If
        there are `marked` messages for each, how a text grows with its messages is found out too.
        One that takes too much time or memory is refused too. Raises `ChatTemplateError` for
        messages of another form, and for a template that has an error in it, or that takes too
        much for more than a few of them.

        >>> template = ChatTemplate("{{ messages[0].role }}")
        >>> [each.text for each in template.render_each([{"messages": [{"role": "user"}]}])]
        ['user']
        """
        prompt = {"add_generation_prompt": add_generation_prompt}
        jobs: dict[str, list[Job]] = {}
        sources: list[str] = []
        for number, given in enumerate(conversations):
            messages = self.check_messages(given)
            names = {"tools": None, "documents": None, **prompt, **given}
            variables = {name: plain(value) for name, value in names.items() if name != "messages"}
            variables["messages"] = _for_template(messages)
            marks = None if marked is None else _for_template(marked[number])
            sources.append(self.named(with_tools=variables["tools"] is not None))
            jobs.setdefault(sources[-1], []).append(Job(variables, marks))
        tokens = dict(self.tokens)
        found = {
            source: iter(_render_all(source, listed, tokens)) for source, listed in jobs.items()
        }
        return [next(found[source]) for source in sources]

    def reads(self, name: str | None = None) -> Reads:
        """Return the names that a template reads: its variables, and fields of messages.

        Raises `ChatTemplateError` for a template with an error in it.

        >>> template = ChatTemplate("{% if enable_thinking %}{{ messages[0].thinking }}{% endif %}")
        >>> template.reads().variables, template.reads().fields
        (('enable_thinking', 'messages'), ('thinking',))
        """
        from bpe_core.chat.rendering import read_names

        with needs_extra("formats", "Rendering a chat template"):
            from bpe_core.processes import call

        limits = _limits(1)
        with _errors_said(limits):
            return call(read_names, self.named(name), limits=limits)


def _render_all(source: str, jobs: list[Job], tokens: dict[str, str]) -> list[Rendered]:
    """Render conversations in few processes; raises `ChatTemplateError`.

    A process that ends early has rendered those before the one that it ended with. That one is
    rendered again alone, and refused only if it takes too much by itself.
    """
    # Imported when needed: Jinja is optional, and most commands start no process.
    from bpe_core.chat.rendering import render_here

    with needs_extra("formats", "Rendering a chat template"):
        from bpe_core.processes import stream

    found: list[Rendered] = []
    n_refused = 0
    # A template that never ends is met in the first.
    is_alone = len(jobs) > 2
    while len(found) < len(jobs):
        part = jobs[len(found) :][: 1 if is_alone else _MAX_IN_PROCESS]
        limits = _limits(len(part))
        is_alone = False
        try:
            with _errors_said(limits):
                # Those before an error stay in the list.
                found.extend(stream(render_here, source, part, tokens, limits=limits))
        except TooMuchError as error:
            is_alone = True
            if len(part) > 1:
                continue
            n_refused += 1
            if n_refused > _MAX_REFUSED + len(found) * _SHARE_REFUSED:
                raise ChatTemplateError(str(error)) from None
            found.append(Rendered("", [], str(error), took_too_much=True))
    return found


def _limits(n: int) -> Limits:
    """Return what a process may use for `n` conversations."""
    seconds = 2 + round(n * _SECONDS_EACH)
    return replace(_LIMITS, processor_seconds=seconds, seconds=10 * seconds)


@contextmanager
def _errors_said(limits: Limits) -> Generator[None]:
    """Raise `ChatTemplateError` for whatever ends a process that runs a template."""
    try:
        yield
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):
        raise ChatTemplateError(
            "The messages or the template hold what cannot be passed on: a lone surrogate, a "
            "number beyond 64 bits, or values that are not JSON."
        ) from None
    except TimeLimitError:
        raise TooMuchError(
            f"The chat template did not finish in {limits.processor_seconds} seconds."
        ) from None
    except ProcessError as error:
        raise TooMuchError(f"The chat template could not be run. {error}") from None


class _Opened(NamedTuple):
    """Messages with a tag at the end of the last, and the text there."""

    messages: list[dict[str, Any]]
    text: str

    def cut(self, text: str) -> str:
        """Return a rendered text up to the tag; raises `ChatTemplateError` if it has none."""
        if self.text.strip() not in text or _TAG.strip() not in text:
            raise ChatTemplateError(
                "The last message cannot be continued: the chat template changes it or leaves it "
                "out."
            )
        place = text.rindex(_TAG.strip())
        kept = text[:place]
        # A template that strips the message has stripped the tag's own space.
        return kept if text.startswith(_TAG, place) else kept.rstrip()


def _open_end(messages: list[dict[str, Any]], name: str, source: str) -> _Opened:
    """Return messages with a tag at the end of the last one's field; raises `ChatTemplateError`."""
    last: dict[str, Any] = _with_reasoning(messages[-1])
    value: object = last.get(name)
    names = [name]
    if name in REASONING:
        names = [each for each in REASONING if last.get(each) == value]
    if value is None:
        raise ChatTemplateError(f"The last message has no {printable(name)} to continue.")
    if not any(each in source for each in names):
        raise ChatTemplateError(f"The chat template does not read {printable(name)} of a message.")
    if isinstance(value, str):
        changed = last | dict.fromkeys(names, value + _TAG)
        return _Opened([*messages[:-1], changed], value)
    parts = [dict(cast("Message", part)) for part in cast("list[object]", value)]
    for part in reversed(parts):
        if isinstance(text := part.get("text"), str):
            part["text"] = text + _TAG
            return _Opened([*messages[:-1], last | {name: parts}], text)
    raise ChatTemplateError("The last message has no text to continue.")


def _check_nesting(value: object, most: int) -> None:
    """Raise `ChatTemplateError` for more lists and objects within each other than `most`."""
    if isinstance(value, Mapping):
        within = list(cast("Mapping[object, object]", value).values())
    elif isinstance(value, list | tuple):
        within = cast("Sequence[object]", value)
    else:
        return
    if not most:
        raise ChatTemplateError(
            f"Expected at most {_MAX_NESTED} lists and objects within each other, got more."
        )
    for each in within:
        _check_nesting(each, most - 1)


def _for_template(messages: Sequence[Message]) -> list[Any]:
    """Return messages as transformers gives them to a template: keys without a value left out."""
    return [plain(_with_reasoning(message)) for message in messages]


def _with_reasoning(message: Message) -> dict[str, Any]:
    """Return a message in which reasoning has the names that templates know."""
    given = {key: value for key, value in message.items() if value is not None}
    reasoning = next((given[name] for name in REASONING if name in given), None)
    if reasoning is None:
        return given
    return {"thinking": reasoning, **given, "reasoning_content": reasoning}


def with_texts(message: Message, change: Callable[[str], str]) -> Message:
    """Return a message with its texts changed: contents, reasoning and the arguments of tools.

    >>> with_texts({"role": "user", "content": "Hug?"}, str.upper)
    {'role': 'user', 'content': 'HUG?'}
    """
    changed = dict(message)
    for name in REASONING:
        if isinstance(text := message.get(name), str):
            changed[name] = change(text)
    content: object = message.get("content")
    if isinstance(content, str):
        changed["content"] = change(content)
    elif isinstance(content, list):
        changed["content"] = [_with_text(part, change) for part in cast("list[object]", content)]
    calls: object = message.get("tool_calls")
    if isinstance(calls, list):
        changed["tool_calls"] = [_with_arguments(each, change) for each in cast("list[Any]", calls)]
    return changed


def _with_text(part: object, change: Callable[[str], str]) -> object:
    found = cast("Message", part) if isinstance(part, Mapping) else {}
    text: object = found.get("text")
    return {**found, "text": change(text)} if isinstance(text, str) else part


def _with_arguments(call: Any, change: Callable[[str], str]) -> Any:
    """Return a call of a tool with the texts of its arguments changed."""
    if not isinstance(call, Mapping):
        return cast("object", call)
    found = dict(cast("Mapping[str, Any]", call))
    if isinstance(inner := found.get("function"), Mapping):
        return found | {"function": _with_arguments(inner, change)}
    if "arguments" in found:
        found["arguments"] = _change_leaves(found["arguments"], change)
    return found


def _change_leaves(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key: _change_leaves(item, change) for key, item in items}
    if isinstance(value, list):
        return [_change_leaves(item, change) for item in cast("list[Any]", value)]
    return value
