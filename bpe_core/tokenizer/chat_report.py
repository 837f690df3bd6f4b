"""Many conversations as a model reads and learns from them, and ids that no text is cut into."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from bpe_core.chat import ChatTemplate
from bpe_core.errors import ChatTemplateError, TokenizationError
from bpe_core.tokenizer.conversation import Conversation, Fault, read_conversations
from bpe_core.tokenizer.protocol import Encoder, boundaries

_MAX_AT_ONCE: Final = 5_000
_SHARE_GPT: Final = {"human": "user", "gpt": "assistant"}
_MARKS: Final = ("\U000ffff2", "\U000ffff3", "\U000ffff4")
REFUSED: Final = "refused"
"""The kind of fault of a conversation that the template, or its own form, does not allow."""
OnIds = Callable[[int, str, NDArray[np.int64], NDArray[np.bool_]], object]


@dataclass(slots=True)
class RoleFigures:
    """What the turns of a role take."""

    turns: int = 0
    tokens: int = 0
    learned: int = 0
    """Tokens that a model learns to write."""


class FaultFigures(NamedTuple):
    """How many conversations have a fault, and the first of them."""

    conversations: int
    first: int
    """The number of the first, from 1."""
    example: str


@dataclass(slots=True)
class ChatReport:
    """The figures of many conversations."""

    conversations: int = 0
    tokens: int = 0
    learned: int = 0
    longest: int = 0
    context: int | None = None
    cut_off: int = 0
    """Conversations with more tokens than the context."""
    not_compared: int = 0
    """Conversations with so many messages that their beginnings were not compared with the whole:
    their masks are found by text, and a prefix that changes is not."""
    roles: dict[str, RoleFigures] = field(default_factory=dict[str, RoleFigures])
    """By role; "" is for what belongs to no message."""
    learned_by: dict[str, int] = field(default_factory=dict[str, int])
    """How the masks were found, with the number of conversations."""
    faults: dict[str, FaultFigures] = field(default_factory=dict[str, FaultFigures])

    def add(self, other: ChatReport) -> None:
        """Add the figures of conversations that follow these.

        >>> first, second = ChatReport(2, tokens=9), ChatReport(1, tokens=3)
        >>> second.faults["refused"] = FaultFigures(1, 1, "It has no messages.")
        >>> first.add(second)
        >>> first.conversations, first.tokens, first.faults["refused"].first
        (3, 12, 3)
        """
        for kind, fault in other.faults.items():
            known = self.faults.get(kind)
            later = fault._replace(first=fault.first + self.conversations)
            self.faults[kind] = (known or later)._replace(
                conversations=fault.conversations + (known.conversations if known else 0)
            )
        for role, more in other.roles.items():
            figures = self.roles.setdefault(role, RoleFigures())
            figures.turns += more.turns
            figures.tokens += more.tokens
            figures.learned += more.learned
        self.learned_by = dict(Counter(self.learned_by) + Counter(other.learned_by))
        self.conversations += other.conversations
        self.tokens += other.tokens
        self.learned += other.learned
        self.longest = max(self.longest, other.longest)
        self.cut_off += other.cut_off
        self.not_compared += other.not_compared


def report_chats(
    template: ChatTemplate,
    conversations: Iterable[Any],
    encoder: Encoder,
    *,
    context: int | None = None,
    on_ids: OnIds | None = None,
) -> ChatReport:
    """Read conversations by a template, and count tokens, learned tokens and faults.

    Each is a list of messages, or an object of `messages` and what else the template reads.
    `on_ids` is called with the number, the text, the ids and the mask of each that is not refused,
    in order. Raises what `ChatTemplate.render_each` raises for the template.

    >>> from bpe_core.tokenizer import gpt2
    >>> template = ChatTemplate("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}")
    >>> report = report_chats(template, [[{"role": "user", "content": "Hug"}], "no"], gpt2())
    >>> report.tokens, report.roles["user"].turns, report.faults["refused"].first
    (4, 1, 2)
    """
    report = ChatReport(context=context)
    by: Counter[str] = Counter()
    waiting: list[dict[str, Any]] = []
    numbers: list[int] = []

    def read_waiting() -> None:
        found = read_conversations(template, waiting, encoder)
        for number, given, each in zip(numbers, waiting, found, strict=True):
            if isinstance(each, ChatTemplateError):
                _add_fault(report, REFUSED, number, str(each))
                continue
            by[each.learned_by] += 1
            report.not_compared += len(given["messages"]) > ChatTemplate.MAX_GROWN
            _add(report, number, each, encoder, on_ids)
        waiting.clear()
        numbers.clear()

    for number, given in enumerate(conversations, start=1):
        report.conversations = number
        try:
            found = _conversation(given)
            # What cannot be passed to a process would end the others with it.
            msgspec.msgpack.encode(found)
            waiting.append(found)
            numbers.append(number)
        except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):
            said = "It has a lone surrogate, a number beyond 64 bits, or values that are not JSON."
            _add_fault(report, REFUSED, number, said)
        except ChatTemplateError as error:
            _add_fault(report, REFUSED, number, str(error))
        if len(waiting) == _MAX_AT_ONCE:
            read_waiting()
    read_waiting()
    report.learned_by = dict(by)
    return report


def _conversation(given: Any) -> dict[str, Any]:
    """Return a conversation as an object with its messages; raises `ChatTemplateError`."""
    found = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {}
    listed: object = found.get("conversations")
    if "messages" in found or not isinstance(listed, list):
        return {**found, "messages": ChatTemplate.check_messages(cast("object", given))}
    messages: list[dict[str, Any]] = []
    for each in cast("list[object]", listed):
        said: dict[str, Any] = dict(cast("Any", each)) if isinstance(each, Mapping) else {}
        role = said.get("from")
        messages.append({"role": _SHARE_GPT.get(str(role), role), "content": said.get("value")})
    # Data sets of this form write their tools as a text, which no template takes for tools.
    others = {name: value for name, value in found.items() if name != "conversations"}
    if isinstance(others.get("tools"), str):
        del others["tools"]
    return {**others, "messages": ChatTemplate.check_messages(messages)}


def _add(
    report: ChatReport,
    number: int,
    found: Conversation,
    encoder: Encoder,
    on_ids: OnIds | None,
) -> None:
    cut = boundaries(found.text, encoder, "all")
    is_token = cut.ids >= 0
    mask = found.mask(cut)[is_token]
    turns = found.turn_numbers(cut)[is_token]
    n = len(found.turns)
    tokens = np.bincount(turns, minlength=n)
    learned = np.bincount(turns[mask], minlength=n)
    for turn, of_turn, of_learned in zip(
        found.turns, tokens.tolist(), learned.tolist(), strict=True
    ):
        figures = report.roles.setdefault(turn.role, RoleFigures())
        figures.turns += 1
        figures.tokens += of_turn
        figures.learned += of_learned
    report.tokens += len(turns)
    report.learned += int(mask.sum())
    report.longest = max(report.longest, len(turns))
    if report.context is not None:
        report.cut_off += len(turns) > report.context
    kinds: dict[str, Fault] = {}
    for fault in (*found.faults, *found.border_faults(cut)):
        kinds.setdefault(fault.kind, fault)
    for kind, fault in kinds.items():
        _add_fault(report, kind, number, fault.sentence)
    if on_ids is not None:
        on_ids(number, found.text, cut.ids[is_token], mask)


def _add_fault(report: ChatReport, kind: str, number: int, sentence: str) -> None:
    known = report.faults.get(kind, FaultFigures(0, number, sentence))
    n = known.conversations + 1
    first = (number, sentence) if number < known.first else known[1:]
    report.faults[kind] = FaultFigures(n, *first)


class Drift(NamedTuple):
    """A place where ids differ from those that their own text is encoded to."""

    start: int
    """The first byte of the decoded text."""
    end: int
    text: str
    given: tuple[int, ...]
    encoded: tuple[int, ...]
    role: str
    """Whose turn it is in, by the template; "" if that is not known."""


def listed_ids(row: object) -> list[object] | None:
    """Return the ids that a row of data lists, itself or as `input_ids` or `ids`; None without any.

    What is listed is not checked: `find_drift` does that.

    >>> listed_ids([71, 82]), listed_ids({"input_ids": [71]}), listed_ids({"text": "hug"})
    ([71, 82], [71], None)
    """
    if isinstance(row, dict):
        named = cast("dict[str, object]", row)
        row = named.get("input_ids", named.get("ids"))
    return cast("list[object]", row) if isinstance(row, list) else None


def find_drift(
    ids: Sequence[int], encoder: Encoder, template: ChatTemplate | None = None
) -> list[Drift]:
    """Decode ids, encode the text again, and return where the two differ.

    A model is free to write other ids than those that its tokenizer cuts a text into, and what was
    learned or cached for them is then lost. Raises `InvalidTokenIdError` for unknown ids.

    >>> from bpe_core.tokenizer import gpt2
    >>> [(each.text, each.given, each.encoded) for each in find_drift([71, 1018, 82], gpt2())]
    [('ugs', (1018, 82), (10339,))]
    """
    data = bytes(encoder.decode_bytes(ids))
    again = _encode_again(ids, data, encoder)
    if again == list(ids):
        return []
    first, second = _ends(ids, encoder, len(data)), _ends(again, encoder, None)
    common = sorted({*first} & {*second} | {max(first[-1:] + second[-1:], default=0)})
    between = _separators(template) if template is not None else None
    said = [_places(each, data) for each in between or ()]
    found: list[Drift] = []
    before = -1
    for place in common:
        a = tuple(ids[bisect_right(first, before) : bisect_right(first, place)])
        b = tuple(again[bisect_right(second, before) : bisect_right(second, place)])
        if a != b:
            start = max(before, 0)
            role = _role_at(start, said)
            text = data[start:place].decode("utf-8", "replace")
            found.append(Drift(start, place, text, a, b, role))
        before = place
    return found


def _encode_again(ids: Sequence[int], data: bytes, encoder: Encoder) -> list[int]:
    """Return the ids of the text of ids."""
    try:
        return encoder.encode(data.decode("utf-8", "replace"), "all")
    except TokenizationError:
        # Some libraries take special tokens only as ids, and cut the text between them.
        special = {*encoder.special_tokens.values()}
        found: list[int] = []
        for is_special, run in groupby(ids, special.__contains__):
            part = list(run)
            found += part if is_special else encoder.encode(encoder.decode(part))
        return found


def _ends(ids: Sequence[int], encoder: Encoder, n_bytes: int | None) -> list[int]:
    """Return where each id's bytes end in the text of all."""
    widths = np.array([len(encoder.vocab[id]) for id in ids], np.int64)
    n = len(bytes(encoder.decode_bytes(ids))) if n_bytes is None else n_bytes
    # Many decoders leave out the space of the first token, and change no other.
    left_out = int(widths[:1].sum()) - len(bytes(encoder.decode_bytes(ids[:1])))
    if int(widths.sum()) - left_out == n:
        return (np.cumsum(widths) - left_out).tolist()
    # The decoder changes tokens by what is next to them.
    stream = encoder.decode_stream()
    ends: list[int] = []
    for id in ids:
        stream.push(id)
        ends.append(stream.n_bytes)
    return ends


def _separators(template: ChatTemplate) -> tuple[bytes, bytes] | None:
    """Return what a template writes between a question and its answer, and before the next.

    Raises `TooMuchError` for a template that takes too much time or memory.
    """
    source = template.source
    named = source if isinstance(source, str) else tuple(source.items())
    return _separators_by(named, tuple(template.tokens.items()))


@lru_cache(16)
def _separators_by(
    source: str | tuple[tuple[str, str], ...], tokens: tuple[tuple[str, str], ...]
) -> tuple[bytes, bytes] | None:
    template = ChatTemplate(source if isinstance(source, str) else dict(source), dict(tokens))
    roles = ("user", "assistant", "user")
    talk = [{"role": role, "content": mark} for role, mark in zip(roles, _MARKS, strict=True)]
    (found,) = template.render_each([{"messages": talk}])
    if found.took_too_much:
        raise found.failure()
    places = [found.text.find(mark) for mark in _MARKS]
    if min(places) < 0 or places != sorted(places):
        return None
    between = [found.text[a + 1 : b].encode() for a, b in pairwise(places)]
    return (between[0], between[1]) if all(each.strip() for each in between) else None


def _places(separator: bytes, data: bytes) -> list[tuple[int, int]]:
    """Return where a separator ends and begins, wherever it stands."""
    starts = (found.start() for found in re.finditer(b"(?=%b)" % re.escape(separator), data))
    return [(start + len(separator), start) for start in starts]


def _role_at(place: int, said: Sequence[Sequence[tuple[int, int]]]) -> str:
    """Return whose turn it is, by the last separator before a place; "" if none are known."""
    if not said:
        return ""
    counts = (bisect_right(places, (place, place)) for places in said)
    answer, question = (
        places[n - 1][1] if n else -1 for places, n in zip(said, counts, strict=True)
    )
    return "assistant" if answer > question else "user"
