"""A rendered conversation as a model reads it: whose characters are whose, and what goes wrong."""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.chat import (
    ChatTemplate,
    Growth,
    Message,
    Rendered,
    with_texts,
)
from bpe_core.checks import printable
from bpe_core.errors import ChatTemplateError
from bpe_core.tokenizer.protocol import Boundaries, Encoder
from bpe_core.unicode import CodePoints

FaultKind = Literal[
    "begins-twice",
    "left-out",
    "typed-token",
    "empty-mask",
    "end-not-learned",
    "learned-twice",
    "prefix-changes",
    "space-moves",
    "border-in-token",
]
"""What goes wrong with a conversation: the first three when it is read, the others when it is
learned from."""
READING: Final[tuple[FaultKind, ...]] = ("begins-twice", "left-out", "typed-token")
LearnedBy = Literal["generation", "prefixes", "text", ""]
"""How the part that a model learns from was found: by the template's marks, by rendering without
and with each answer, by the text of an answer where that fails, or not at all."""


class Fault(NamedTuple):
    """Something that goes wrong with a conversation."""

    kind: FaultKind
    sentence: str
    message: int = 0
    """The number of the message, from 1; 0 for the whole conversation."""


class Turn(NamedTuple):
    """The part of a rendered text that belongs to a message; turns follow each other."""

    role: str
    """The role; "" for the beginning of an answer that is still to be written."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation rendered by a template, and where its messages stand in it."""

    text: str
    messages: tuple[tuple[int, int], ...]
    """The half-open spans, in characters of the text, of what was written in messages."""
    turns: tuple[Turn, ...]
    learned: tuple[tuple[int, int], ...]
    """The spans that a model learns to write: what an assistant says, and its end."""
    learned_by: LearnedBy
    faults: tuple[Fault, ...]
    """What goes wrong, each kind once for a message at most."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What would make a model read something else than was meant, in sentences."""
        return tuple(fault.sentence for fault in self.faults if fault.kind in READING)

    def n_message_tokens(self, found: Boundaries) -> int:
        """Return how many tokens hold a part of a message; the others are the template's.

        `found` is the result of `boundaries` for the text.
        """
        return int(np.count_nonzero(self._holds(found, self.messages) & (found.ids >= 0)))

    def mask(self, found: Boundaries) -> NDArray[np.bool_]:
        """Return bool[n]: whether each segment holds a part of what a model learns to write.

        `found` is the result of `boundaries` for the text.
        """
        return self._holds(found, self.learned)

    def turn_numbers(self, found: Boundaries) -> NDArray[np.int64]:
        """Return int64[n]: the place in `turns` of the turn that each segment begins in."""
        starts = CodePoints(self.text).offsets[
            np.array([turn.start for turn in self.turns], np.int64)
        ]
        begins = np.concatenate([[0], found.byte_ends[:-1]])
        return np.maximum(np.searchsorted(starts, begins, side="right") - 1, 0)

    def border_faults(self, found: Boundaries) -> list[Fault]:
        """Return the fault of the first token that holds both learned text and other text.

        `found` is the result of `boundaries` for the text.
        """
        ends = set(found.byte_ends.tolist()) | {0}
        offsets = CodePoints(self.text).offsets
        for start, end in self.learned:
            for place in (start, end):
                if int(offsets[place]) not in ends:
                    number = next(
                        (n for n, turn in enumerate(self.turns, 1) if place <= turn.end), 1
                    )
                    side = "beginning" if place == start else "end"
                    said = (
                        f"One token holds the {side} of what is learned of message {number:,} and "
                        "text next to it, which is learned too."
                    )
                    return [Fault("border-in-token", said, number)]
        return []

    def _holds(self, found: Boundaries, spans: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
        """Return bool[n]: whether each segment shares a byte with one of the spans."""
        written = sorted(span for span in spans if span[0] < span[1])
        places = CodePoints(self.text).offsets[np.array(written, np.int64).reshape(-1, 2)]
        ends = found.byte_ends
        starts = np.concatenate([[0], ends[:-1]])
        # More spans begin before a segment's end than are over at its start.
        begun = np.searchsorted(places[:, 0], ends)
        over = np.searchsorted(np.sort(places[:, 1]), starts, side="right")
        return (begun > over) & (starts < ends)


def read_conversation(
    template: ChatTemplate,
    messages: Sequence[Message],
    encoder: Encoder,
    /,
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
    (found,) = read_conversations(
        template,
        [{**variables, "messages": messages}],
        encoder,
        add_generation_prompt=add_generation_prompt,
    )
    if isinstance(found, ChatTemplateError):
        raise found
    if not continue_final_message:
        return found
    text = template.render(
        messages,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=True,
        **variables,
    )
    ends = [(start, min(end, len(text))) for start, end in found.learned]
    turns = [Turn(role, min(a, len(text)), min(b, len(text))) for role, a, b in found.turns]
    return replace(
        found,
        text=text,
        messages=tuple(place for place in found.messages if place[1] <= len(text)),
        turns=tuple(turns),
        learned=tuple(span for span in ends if span[0] < span[1]),
    )


def read_conversations(
    template: ChatTemplate,
    conversations: Sequence[Mapping[str, Any]],
    encoder: Encoder,
    *,
    add_generation_prompt: bool = False,
) -> list[Conversation | ChatTemplateError]:
    """Render conversations in few processes; the result has the error of each that is refused.

    Each is an object of `messages` and the template's other variables, such as `tools`. Raises what
    `ChatTemplate.render_each` raises.

    >>> from bpe_core.tokenizer import gpt2
    >>> template = ChatTemplate("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}")
    >>> talk = [{"role": "user", "content": "Hug?"}, {"role": "assistant", "content": "Yes"}]
    >>> (hug,) = read_conversations(template, [{"messages": talk}], gpt2())
    >>> [hug.text[start:end] for start, end in hug.learned], hug.learned_by
    (['[assistant] Yes'], 'prefixes')
    """
    listed = [ChatTemplate.check_messages(each) for each in conversations]
    marked = [_with_marks(messages) for messages in listed]
    rendered = template.render_each(
        conversations,
        [messages for messages, _ in marked],
        add_generation_prompt=add_generation_prompt,
    )
    typed = re.compile(
        "|".join(map(re.escape, sorted(encoder.special_tokens, reverse=True))) or r"(?!)"
    )
    specials = {*encoder.special_tokens, *template.tokens.values()} - {""}
    found: list[Conversation | ChatTemplateError] = []
    for given, messages, (_, written), each in zip(
        conversations, listed, marked, rendered, strict=True
    ):
        if each.error:
            found.append(each.failure())
            continue
        source = template.named(with_tools=given.get("tools") is not None)
        reading = _Reading(messages, written, each, specials)
        faults = _reading_faults(reading, template, typed)
        learned, how = reading.learned(marks=_MARKS_ANSWERS.search(source) is not None)
        faults += reading.learning_faults(learned)
        places = [place for group in reading.places for place in group[-1:]]
        found.append(
            Conversation(
                each.text,
                tuple(sorted(places)),
                tuple(reading.turns()),
                tuple(learned),
                how,
                tuple(faults),
            )
        )
    return found


_MARKS_ANSWERS: Final = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")
_ANSWERS: Final = "assistant"


class _Written(NamedTuple):
    """A text that somebody wrote in a message."""

    number: int
    """The number of the message, from 1."""
    text: str
    is_content: bool
    """False for reasoning and for the arguments of a tool."""


class _Reading:
    """A rendered conversation, taken apart."""

    def __init__(
        self,
        messages: Sequence[Message],
        written: Sequence[_Written],
        rendered: Rendered,
        specials: Collection[str],
    ) -> None:
        self.messages = messages
        self.written = written
        self.rendered = rendered
        self.text = rendered.text
        self.specials = specials
        matched = _match(self.text, rendered.marked or "", written)
        # Where each text is; more than one place if the template writes it again.
        self.places = matched or [
            [place] if place is not None else []
            for place in _search(self.text, rendered.marked, written)
        ]
        self._by_message: list[list[Place]] = [[] for _ in messages]
        for each, group in zip(written, self.places, strict=True):
            self._by_message[each.number - 1] += group[-1:]
        self.ends = self._find_ends()

    def _find_ends(self) -> list[int]:
        """Return where the turn of each message ends."""
        ends: list[int] = []
        for index in range(len(self.messages)):
            grown = self.rendered.grown[index] if self.rendered.grown else None
            if grown is not None and grown.is_kept:
                end = grown.n
            elif grown is not None and 0 <= grown.n_stripped <= grown.n_common:
                end = grown.n_common
            else:
                end = self._end_by_text(index)
            ends.append(max(end, ends[-1] if ends else 0))
        if ends and not self.rendered.prompts:
            ends[-1] = len(self.text)
        return ends

    def _end_by_text(self, index: int) -> int:
        """Return where a turn ends: after its texts, and the special token that follows them."""
        end = self.content_end(index)
        if end is None:
            return 0
        later = (start for own in self._by_message[index + 1 :] for start, _ in own)
        rest = self.text[end : next((each for each in later if each >= end), None)]
        found = min(
            (place for each in self.specials if (place := rest.find(each)) >= 0), default=-1
        )
        if found < 0:
            return end
        token = max((each for each in self.specials if rest.startswith(each, found)), key=len)
        return end + found + len(token)

    def content_end(self, index: int) -> int | None:
        """Return where the texts of a message end, or None if none is found."""
        return max((end for _, end in self._by_message[index]), default=None)

    def turns(self) -> list[Turn]:
        """Return the turns, which cover the text."""
        starts = [0, *self.ends]
        turns = [
            Turn(str(message["role"]), start, end)
            for message, start, end in zip(self.messages, starts, self.ends, strict=False)
        ]
        if self.ends[-1] < len(self.text):
            turns.append(Turn("", self.ends[-1], len(self.text)))
        return turns

    def learned(self, *, marks: bool) -> tuple[list[Place], LearnedBy]:
        """Return the spans that a model learns to write, and how they were found."""
        if marks:
            return [span for span in self.rendered.generated if span[0] < span[1]], "generation"
        spans: list[Place] = []
        how: LearnedBy = "prefixes"
        for index, message in enumerate(self.messages):
            if message["role"] != _ANSWERS:
                continue
            prompt = self.rendered.prompts[index] if self.rendered.prompts else None
            end = self.ends[index]
            if prompt is not None and prompt.is_kept and prompt.n <= end:
                start = prompt.n
            elif index == 0:
                start = 0
            else:
                how = "text"
                # A text that also stands elsewhere may have been found there.
                before = self.ends[index - 1]
                start = max(before, min((a for a, _ in self._by_message[index]), default=before))
            if not (self.rendered.grown and self.rendered.grown[index].is_kept):
                how = "text"
            said = self.text[start:end].rstrip()
            # A model stops after its end token: white space that follows is the template's.
            if said.endswith(tuple(self.specials)):
                end = start + len(said)
            if start < end:
                spans.append((start, end))
        return spans, how if spans else ""

    def learning_faults(self, learned: Sequence[Place]) -> list[Fault]:
        """Return what goes wrong when a model learns from the spans."""
        answers = [i for i, each in enumerate(self.messages) if each["role"] == _ANSWERS]
        wrote = {each.number - 1 for each in self.written if each.text.strip()}
        faults: list[Fault] = []
        if not learned and wrote & set(answers):
            said = "No token is learned: the template marks nothing that the assistant wrote."
            faults.append(Fault("empty-mask", said))
        faults += islice(filter(None, (self._end_fault(i, learned) for i in answers)), 1)
        faults += self._twice(learned)[:1]
        return faults + self._changes()

    def _end_fault(self, index: int, learned: Sequence[Place]) -> Fault | None:
        start = self.ends[index - 1] if index else 0
        own = [b for a, b in learned if a < self.ends[index] and b > start]
        end = self.content_end(index)
        if not own or end is None:
            return None
        after = self.text[end : self.ends[index]]
        who = _who(index + 1, self.messages)
        if not after.strip():
            said = f"No end token follows {who}, so a model would not learn to stop there."
            return Fault("end-not-learned", said, index + 1)
        # What a template writes within the answer, such as a closing bracket, ends with the token.
        if max(own) >= end + len(after.rstrip()):
            return None
        token = printable(after.split()[-1][:40])
        said = f"{token} after {who} is not learned, so a model would not learn to stop there."
        return Fault("end-not-learned", said, index + 1)

    def _twice(self, learned: Sequence[Place]) -> list[Fault]:
        faults: list[Fault] = []
        ordered = sorted(learned)
        overlap = next((b for (_, b), (a, _) in pairwise(ordered) if a < b), None)
        for each, group in zip(self.written, self.places, strict=True):
            inside = [
                (a, b) for a, b in group if a < b and any(x <= a and b <= y for x, y in learned)
            ]
            again = overlap is not None and any(a < overlap <= b for a, b in inside)
            if each.text.strip() and (len(inside) > 1 or again):
                said = f"{_who(each.number, self.messages, first=True)} is learned twice."
                faults.append(Fault("learned-twice", said, each.number))
        return faults

    def _changes(self) -> list[Fault]:
        """Return the first change of what was there when a message is added, of each kind."""
        found: dict[FaultKind, Fault] = {}
        n = len(self.messages)
        for index in range(n):
            grown = self.rendered.grown[index] if index < len(self.rendered.grown) else None
            if grown is not None and grown.n >= 0 and not grown.is_kept and index + 1 < n:
                kind, what = self._kind(grown)
                said = (
                    f"The text up to {_who(index + 1, self.messages)} changes when more messages "
                    f"are added: {what}."
                )
                found.setdefault(kind, Fault(kind, said, index + 1))
            prompt = self.rendered.prompts[index] if index < len(self.rendered.prompts) else None
            if prompt is not None and prompt.n >= 0 and not prompt.is_kept:
                kind, what = self._kind(prompt)
                said = (
                    f"What a model is given to write {_who(index + 1, self.messages)} is not what "
                    f"stands before it here: {what}."
                )
                found.setdefault(kind, Fault(kind, said, index + 1))
        return list(found.values())

    def _kind(self, growth: Growth) -> tuple[FaultKind, str]:
        if growth.is_alike:
            return "space-moves", "white space moves"
        around = printable(self.text[growth.n_common :][:30])
        return "prefix-changes", f"from character {growth.n_common + 1:,} on, at {around!r}"


def _who(number: int, messages: Sequence[Message], *, first: bool = False) -> str:
    name = "Message" if first else "message"
    return f"{name} {number:,} ({printable(str(messages[number - 1]['role']))})"


def _reading_faults(
    reading: _Reading, template: ChatTemplate, typed: re.Pattern[str]
) -> list[Fault]:
    """Return what would make a model read something else than was meant."""
    faults = [Fault("begins-twice", each) for each in _beginning(template, reading.text)]
    for each, places in zip(reading.written, reading.places, strict=True):
        who = _who(each.number, reading.messages, first=True)
        is_whole = any(end - start >= len(each.text.strip()) for start, end in places)
        if not is_whole and each.text.strip() and each.is_content:
            said = f"{who} is left out or changed by the template."
            faults.append(Fault("left-out", said, each.number))
        faults += _typed_tokens(who, each.number, each.text, typed)
    for number, message in enumerate(reading.messages, start=1):
        who = f"The role of message {number:,}"
        faults += _typed_tokens(who, number, message["role"], typed)
    return faults


def _typed_tokens(who: str, number: int, text: str, typed: re.Pattern[str]) -> list[Fault]:
    return [
        Fault(
            "typed-token",
            f"{who} contains {printable(token)}, which is read as that special token, not as text.",
            number,
        )
        for token in dict.fromkeys(typed.findall(text))
    ]


Place = tuple[int, int]
# Two characters of a private plane, which no tokenizer's file uses.
_MARK: Final = "\U000ffff0{}\U000ffff1"


def _with_marks(messages: Sequence[Message]) -> tuple[list[Message], list[_Written]]:
    """Return messages with a mark in place of each text, and the texts."""
    written: list[_Written] = []
    marked: list[Message] = []
    for number, message in enumerate(messages, start=1):

        def mark(text: str, *, is_content: bool, number: int = number) -> str:
            written.append(_Written(number, text, is_content))
            return _MARK.format(len(written) - 1)

        said = with_texts({"content": message.get("content")}, partial(mark, is_content=True))
        others = {name: value for name, value in message.items() if name != "content"}
        marked.append({**with_texts(others, partial(mark, is_content=False)), **said})
    return marked, written


def _match(text: str, marked: str, written: Sequence[_Written]) -> list[list[Place]] | None:
    """Return the places of each text, by what the template writes around its mark.

    Returns None if the template treats the texts otherwise than the marks.
    """
    around = re.split(_MARK.format("([0-9]{1,6})"), marked)
    places: list[list[Place]] = [[] for _ in written]
    if not text.startswith(around[0]):
        return None
    end = len(around[0])
    for mark, after in zip(around[1::2], around[2::2], strict=True):
        if int(mark) >= len(written):  # the template, or a role, wrote a mark itself
            return None
        for wanted in _spellings(written[int(mark)].text):
            if text.startswith(wanted + after, end):
                places[int(mark)].append((end, end + len(wanted)))
                end += len(wanted + after)
                break
        else:
            return None
    return places if end == len(text) else None


def _spellings(wrote: str) -> tuple[str, ...]:
    """Return how a template may write a text.

    Most strip white space, arguments are JSON, and some leave out the reasoning before an answer.
    """
    answer = wrote.rpartition(_THOUGHT)[2].lstrip("\n")
    return wrote, wrote.strip(), json.dumps(wrote, ensure_ascii=False)[1:-1], answer


_THOUGHT: Final = "</think>"


def _search(text: str, marked: str | None, written: Sequence[_Written]) -> list[Place | None]:
    """Return where each text is found, in order if possible, or None."""
    around = re.split(_MARK.format("([0-9]{1,6})"), marked or "")
    beside: dict[int, tuple[str, str]] = {}
    for before, mark, after in zip(around[::2], around[1::2], around[2::2], strict=False):
        beside.setdefault(int(mark), (before[-_N_BESIDE:], after[:_N_BESIDE]))
    places: list[Place | None] = []
    taken: list[Place] = [(0, 0), (len(text), len(text))]
    end = 0
    for number, wrote in enumerate(written):
        # Many templates leave out the reasoning of earlier answers, which may stand elsewhere.
        is_left_out = not wrote.is_content and number not in beside
        place = None
        if not is_left_out:
            # The same letters may stand elsewhere, as in the arguments of a tool.
            place = _search_between(text, wrote.text, *beside.get(number, ("", "")), end)
            place = place or _search_alone(text, wrote.text, end)
        if place is not None:
            end = place[1]
            at = bisect(taken, place)
            if place[0] < taken[at - 1][1] or taken[at][0] < end:
                place = None
            else:
                taken.insert(at, place)
        places.append(place)
    return places


_N_BESIDE: Final = 24


def _search_between(text: str, wrote: str, before: str, after: str, end: int) -> Place | None:
    """Return where a text is between what the template writes next to it, from `end` on."""
    if not (before and after):
        return None
    for wanted in dict.fromkeys(_spellings(wrote)):
        start = text.find(before + wanted + after, max(0, end - len(before)))
        if start >= 0:
            return start + len(before), start + len(before + wanted)
    return None


def _search_alone(text: str, wrote: str, end: int) -> Place | None:
    """Return where a text is from `end` on, or else before it; None for white space alone."""
    if not wrote.strip():
        return None
    as_is, stripped, as_json, answer = _spellings(wrote)
    for ways in ((as_is, as_json), (stripped, answer)):
        for begin in (end, 0):
            found = [(text.find(way, begin), len(way)) for way in {*ways} if way.strip()]
            if found := [(start, start + n) for start, n in found if start >= 0]:
                return min(found)
    return None


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
