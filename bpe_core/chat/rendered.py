"""What passes between a chat template and the process that runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from bpe_core.errors import ChatTemplateError

MAX_GROWN: Final = 200
"""The most messages of a conversation whose beginnings are rendered too."""


class TooMuchError(ChatTemplateError):
    """A template took too much time or memory, or ended its process in another way."""


@dataclass(frozen=True, slots=True)
class Job:
    """A conversation to render: a template's variables, among them `messages`."""

    variables: dict[str, Any]
    marked: list[Any] | None = None
    """The messages with marks in place of their texts, to be rendered too; None for neither."""


class Growth(NamedTuple):
    """How the text of the first messages compares with that of all."""

    n: int
    """How long it is; -1 if the template refuses these messages alone."""
    n_stripped: int
    """How long it is without the white space at its end."""
    n_common: int
    """How many of its characters begin the whole text."""
    is_alike: bool
    """Whether all of it begins the whole text if white space is left aside."""

    @property
    def is_kept(self) -> bool:
        """Whether all of it begins the whole text."""
        return 0 <= self.n == self.n_common


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a template wrote for a conversation.

    The last three are empty unless the conversation came with marks.
    """

    text: str
    generated: list[tuple[int, int]]
    """The spans of the text that the template marks as written by the model."""
    error: str = ""
    """Why the template refused the conversation, in a sentence; "" if it did not."""
    marked: str | None = None
    """The text with marks in place of what was written in messages; None if that failed."""
    grown: list[Growth] = field(default_factory=list[Growth])
    """For each message, the text of the messages up to it."""
    prompts: list[Growth] = field(default_factory=list[Growth])
    """For each answer, the text of the messages before it with the beginning of an answer."""

    took_too_much: bool = False
    """True if that is because it took too much time or memory."""

    def failure(self) -> ChatTemplateError:
        """Return the error as an exception."""
        return (TooMuchError if self.took_too_much else ChatTemplateError)(self.error)

    def read(self) -> str:
        """Return the text; raises `ChatTemplateError` if the template refused the conversation."""
        if self.error:
            raise self.failure()
        return self.text


@dataclass(frozen=True, slots=True)
class Reads:
    """The names that a template reads."""

    variables: tuple[str, ...]
    """The variables, such as tools and enable_thinking, but the special tokens' too."""
    fields: tuple[str, ...]
    """Names that it asks of messages and other values, such as tool_calls."""
    words: tuple[str, ...]
    """The texts that it writes or compares with, such as image."""
    marks_answers: bool
    """True if it marks what a model wrote by `{% generation %}`."""


def plain(value: Any) -> Any:
    """Return a value in the types of JSON, as transformers gives it to a template.

    A template gets the name of its type in place of anything else, such as an image.

    >>> plain({"image": object(), "sizes": (1, 2)})
    {'image': '<object>', 'sizes': [1, 2]}
    """
    if value is None or type(value) in (str, int, float, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        # No list can be a key, so a tuple there is none.
        return {
            "<tuple>" if isinstance(key, tuple) else plain(key): plain(item) for key, item in items
        }
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    return f"<{type(value).__name__}>"
