"""A rendered conversation as a model reads it: whose characters are whose, and what goes wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.chat import ChatTemplate, Message, with_texts
from bpe_core.checks import printable
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.segment_arrays import Boundaries
from bpe_core.unicode import byte_offsets


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation rendered by a template, and where its messages stand in it."""

    text: str
    messages: tuple[tuple[int, int], ...]
    """The half-open spans, in characters of the text, of what was written in messages."""
    problems: tuple[str, ...]
    """What would make a model read something else than was meant, in sentences."""

    def n_message_tokens(self, found: Boundaries) -> int:
        """Return how many tokens hold a part of a message; the others are the template's.

        `found` is the result of `boundaries` for the text.
        """
        return int(np.count_nonzero(self._holds_message(found) & (found.ids >= 0)))

    def _holds_message(self, found: Boundaries) -> NDArray[np.bool_]:
        """Return bool[n]: whether each segment shares a byte with a message."""
        written = [span for span in self.messages if span[0] < span[1]]
        spans = byte_offsets(self.text)[np.array(written, np.int64).reshape(-1, 2)]
        ends = found.byte_ends
        starts = np.concatenate([[0], ends[:-1]])
        # More messages begin before a segment's end than are over at its start.
        begun = np.searchsorted(spans[:, 0], ends)
        over = np.searchsorted(spans[:, 1], starts, side="right")
        return (begun > over) & (starts < ends)


def read_conversation(
    template: ChatTemplate,
    messages: Sequence[Message],
    encoder: Encoder,
    *,
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
    **variables: Any,
) -> Conversation:
    """Render messages, find them in the text, and look for what goes wrong; raises as `render`.

    `variables` are what else the template reads, such as `tools` and `enable_thinking`.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.tokenizer import boundaries
    >>> template = ChatTemplate("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}")
    >>> hug = read_conversation(template, [{"role": "user", "content": " hug"}], gpt2())
    >>> hug.text, hug.messages, hug.n_message_tokens(boundaries(hug.text, gpt2()))
    ('[user]  hug', ((7, 11),), 1)
    """
    marked, written = _with_marks(messages)
    (rendered,) = template.render_each(
        [{**variables, "messages": messages}],
        [marked],
        add_generation_prompt=add_generation_prompt,
    )
    text = rendered.read()
    if continue_final_message:
        text = template.render(
            messages,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=True,
            **variables,
        )
    places = _match(text, rendered.marked or "", written) or _search(text, written)
    problems = _beginning(template, text)
    for (number, wrote), place in zip(written, places, strict=True):
        who = f"Message {number:,} ({printable(messages[number - 1]['role'])})"
        if place is None and wrote.strip():
            problems.append(f"{who} is left out or changed by the template.")
        problems += _typed_tokens(who, wrote, encoder)
    for number, message in enumerate(messages, start=1):
        problems += _typed_tokens(f"The role of message {number:,}", message["role"], encoder)
    return Conversation(text, tuple(sorted(filter(None, places))), tuple(problems))


Place = tuple[int, int]
_Written = Sequence[tuple[int, str]]
"""The number of a message, from 1, and a text that somebody wrote in it."""
# Two characters of a private plane, which no tokenizer's file uses.
_MARK: Final = "\U000ffff0{}\U000ffff1"


def _with_marks(messages: Sequence[Message]) -> tuple[list[Message], _Written]:
    """Return messages with a mark in place of each text, and the texts."""
    written: list[tuple[int, str]] = []
    marked: list[Message] = []
    for number, message in enumerate(messages, start=1):

        def mark(text: str, number: int = number) -> str:
            written.append((number, text))
            return _MARK.format(len(written) - 1)

        marked.append(with_texts(message, mark))
    return marked, written


def _match(text: str, marked: str, written: _Written) -> list[Place | None] | None:
    """Return where each text is, by what the template writes around its mark.

    Returns None if the template treats the texts otherwise than the marks.
    """
    around = re.split(_MARK.format("([0-9]{1,6})"), marked)
    places: list[Place | None] = [None] * len(written)
    if not text.startswith(around[0]):
        return None
    end = len(around[0])
    for mark, after in zip(around[1::2], around[2::2], strict=True):
        if int(mark) >= len(written):  # the template, or a role, wrote a mark itself
            return None
        for wanted in _spellings(written[int(mark)][1]):
            if text.startswith(wanted + after, end):
                places[int(mark)] = (end, end + len(wanted))
                end += len(wanted + after)
                break
        else:
            return None
    return places if end == len(text) else None


def _spellings(wrote: str) -> tuple[str, ...]:
    """Return how a template may write a text: most strip white space, and arguments are JSON."""
    return wrote, wrote.strip(), json.dumps(wrote, ensure_ascii=False)[1:-1]


def _search(text: str, written: _Written) -> list[Place | None]:
    """Return where each text is found, in order if possible, or None."""
    places: list[Place | None] = []
    end = 0
    for _, wrote in written:
        wanted = next((each for each in _spellings(wrote) if each and each in text), None)
        if wanted is None:
            places.append(None)
            continue
        start = text.find(wanted, end)
        start = start if start >= 0 else text.find(wanted)
        end = start + len(wanted)
        is_free = all(place is None or end <= place[0] or place[1] <= start for place in places)
        places.append((start, end) if is_free else None)
    return places


def _beginning(template: ChatTemplate, text: str) -> list[str]:
    begin = template.tokens.get("bos_token", "")
    if begin and text.startswith(begin + begin):
        return [f"The conversation begins with {begin} twice."]
    first = template.first_token
    if first and text.startswith(first):
        return [
            f"The template begins the text with {first}, and the tokenizer adds {first} to every "
            "text. A model reads it twice unless the text is encoded with add_special_tokens=False."
        ]
    return []


def _typed_tokens(who: str, written: str, encoder: Encoder) -> list[str]:
    return [
        f"{who} contains {printable(token)}, which is read as that special token, not as text."
        for token in encoder.special_tokens
        if token in written
    ]
