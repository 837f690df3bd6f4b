"""The values and columns of a table: the text of a value, and the column that holds the text.

A value is a string, a number, a list of strings or a chat. How many values JSON or CSV has is
bounded by its punctuation, before anything is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
import regex

from bpe_core.corpus.notes import listed
from bpe_core.errors import CorpusError

try:
    from msgspec import DecodeError
    from msgspec.json import decode
except ModuleNotFoundError:
    decode = None
    DecodeError = ValueError

CHAT_KEYS: Final = (("role", "content"), ("from", "value"))
"""The keys of a message: those of most libraries, and ShareGPT's."""
_PIECE: Final = 1 << 22
_JSON: Final = "[{,:"


def text_in(value: object) -> str | None:
    r"""Return the text of a value, or None if it is missing, an object or a list of others.

    A chat becomes its roles and contents, a line for each message; a list of strings, its lines.

    >>> text_in("hug"), text_in(5), text_in(None), text_in(["hug", "hugs"])
    ('hug', '5', None, 'hug\nhugs')
    >>> text_in([{"role": "user", "content": "hug"}, {"role": "assistant", "content": "hugs"}])
    'user: hug\nassistant: hugs'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if not isinstance(value, list) or not value:
        return None
    values = cast("list[object]", value)
    if all(isinstance(each, str) for each in values):
        return "\n".join(cast("list[str]", values))
    lines = [_message(each) for each in values]
    return None if None in lines else "\n".join(cast("list[str]", lines))


def is_chat(value: object) -> bool:
    """Return True for a list of messages, each with its role and content.

    >>> is_chat([{"role": "user", "content": "hug"}]), is_chat(["hug"])
    (True, False)
    """
    messages = cast("list[object]", value) if isinstance(value, list) else []
    return bool(messages) and all(_message(each) is not None for each in messages)


def _message(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    message = cast("Mapping[str, object]", value)
    for who, what in CHAT_KEYS:
        role = message.get(who)
        if isinstance(role, str) and what in message:
            return f"{role}: {_content(message[what])}"
    return None


def _content(value: object) -> str:
    """Return what a message says; some have a list of parts, of which those of text are read."""
    if isinstance(value, list):
        parts = cast("list[object]", value)
        texts = [cast("Mapping[str, object]", part).get("text") for part in parts
                 if isinstance(part, Mapping)]  # fmt: skip
        return "\n".join(text for text in (*texts, *parts) if isinstance(text, str))
    return value if isinstance(value, str) else ""


def parse_value(data: bytes | str) -> object:
    """Return what `json.loads` returns, with msgspec in a third of the time; raises what it raises.

    >>> parse_value(b'{"count": 1}'), parse_value(b"NaN")
    ({'count': 1}, nan)
    """
    if decode is not None:
        try:
            return decode(data)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            pass  # json accepts more, such as NaN and UTF-16, and names the place of a mistake
    return json.loads(data)


def has_more_values(text: str, most: int) -> bool:
    """Return True if JSON has more brackets, commas and colons outside strings than `most`.

    Each of them stands for at most one value or key.

    >>> has_more_values('[{"a": "b, c, d"}]', 3), has_more_values('[{"a": "b, c, d"}]', 2)
    (False, True)
    """
    return _has_more(text, _JSON, most, escape="\\")


def has_more_cells(text: str, delimiter: str, most: int) -> bool:
    """Return True if there are more delimiters outside quotes than `most`.

    >>> has_more_cells('a,"b,c",d', ",", 2), has_more_cells("a,b,c,d", ",", 2)
    (False, True)
    """
    return _has_more(text, delimiter, most, escape="")


def _has_more(text: str, marks: str, most: int, escape: str) -> bool:
    # Most texts are short, and most others have few marks, even counting those in strings.
    if len(text) <= most or sum(map(text.count, marks)) <= most:
        return False
    if escape:
        text = text.replace(escape * 2, "").replace(f'{escape}"', "")
    found = inside = 0
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE].encode("ascii", "replace")
        codes = np.frombuffer(piece, np.uint8)
        quotes = np.cumsum(codes == ord('"'), dtype=np.int64) + inside
        is_mark = np.isin(codes, np.frombuffer(marks.encode(), np.uint8))
        found += int(np.count_nonzero(is_mark & (quotes % 2 == 0)))
        if found > most:
            return True
        inside = int(quotes[-1]) % 2
    return False


ROWS_DESCRIBED: Final = 2_000
"""The number of first rows of a csv, tsv or JSON file that are looked at."""
PREFERRED_NAMES: Final = (
    "text",
    "content",
    "body",
    "document",
    "article",
    "passage",
    "story",
    "message",
    "sentence",
    "comment",
    "review",
    "abstract",
    "description",
    "answer",
    "output",
    "completion",
    "messages",
    "conversations",
    "conversation",
)
"""The names that columns of text usually have, the most usual first."""
_UNUSUAL: Final = 2 * len(PREFERRED_NAMES)
"""The rank of a name that is not among them."""
# `title` often has less than 1 % of the characters, and a `content` with "video" in each row too.
_MIN_SHARE_OF_LARGEST: Final = 1 / 50
_N_SAMPLES: Final = 3
_MAX_SAMPLE_LENGTH: Final = 200
_MAX_NAMED: Final = 12
_MAX_NAME_LENGTH: Final = 60
_VALUES_JUDGED: Final = 200
_LETTER: Final = regex.compile(r"\p{L}")
_WORD: Final = regex.compile(r"[\p{L}\p{N}]+")


class Column(NamedTuple):
    """A column of text in a table."""

    name: str
    share: float
    """Its share of the characters in all columns of strings, from 0 to 1."""
    samples: tuple[str, ...]
    """Its first three values that are not blank, cut to 200 characters."""


class TableColumns(NamedTuple):
    """The columns of a table, and the one that is taken unless another is named."""

    names: tuple[str, ...]
    """Of all columns, in order."""
    texts: tuple[Column, ...]
    """The columns of text, in order; columns of numbers or dates are left out."""
    is_sample: bool
    """True if the shares are those of only some of the rows."""
    others: tuple[Column, ...] = ()
    """The other columns that can be read if they are named: numbers, and strings without letters.
    """
    chats: frozenset[str] = frozenset()
    """The names of the columns that hold chats."""

    @property
    def readable(self) -> tuple[Column, ...]:
        """The columns that can be named, those of text first."""
        return (*self.texts, *self.others)

    @property
    def chosen(self) -> Column | None:
        """The column of text with a usual name, else the one with the most characters.

        A usual name counts only if its column has at least a fiftieth of the characters of the
        largest. Without a column of text, it is the other column with a usual name, or the only
        column, or None.

        >>> columns = (Column("title", 0.1, ()), Column("html", 0.8, ()), Column("Text", 0.1, ()))
        >>> TableColumns(("title", "html", "Text"), columns, False).chosen.name
        'Text'
        """
        if not self.texts:
            strings = [column for column in self.others if column.share]
            usual = [column for column in strings if _rank(column.name) < _UNUSUAL]
            return min(usual, key=lambda column: _rank(column.name), default=None) or (
                strings[0] if len(self.names) == len(strings) == 1 else None
            )
        least = max((column.share for column in self.texts), default=0.0) * _MIN_SHARE_OF_LARGEST
        real = [column for column in self.texts if column.share >= least]
        return min(real, key=lambda column: (_rank(column.name), -column.share), default=None)


class Tally(NamedTuple):
    """The characters counted in one column, and its first values."""

    name: str
    n_characters: int
    first: Sequence[object]
    """The first values; None and an empty string count as missing."""


def describe_row_columns(
    names: Iterable[str], rows: Sequence[Mapping[str, object]], *, is_sample: bool
) -> TableColumns:
    """Describe the columns of rows; numbers have no characters.

    >>> rows = [{"id": "1", "text": "hug"}, {"id": "2", "text": "hugs"}]
    >>> describe_row_columns(["id", "text"], rows, is_sample=False).texts
    (Column(name='text', share=0.7777777777777778, samples=('hug', 'hugs')),)
    """
    # A name with a lone surrogate can be neither shown nor chosen.
    columns = tuple(name for name in names if _in_utf8(name) == name)
    n_characters = dict.fromkeys(columns, 0)
    first: dict[str, list[object]] = {name: [] for name in columns}
    # By rows, because rows of a few columns each can have thousands in all.
    for number, row in enumerate(rows):
        for name, value in row.items():
            if name not in n_characters:
                continue
            if not isinstance(value, (bool, int, float)):
                n_characters[name] += len(text_in(value) or "")
            if number < _VALUES_JUDGED:
                first[name].append(value)
    tallies = [Tally(name, n_characters[name], first[name]) for name in columns]
    return describe_tallies(columns, tallies, is_sample=is_sample)


def describe_tallies(
    names: Iterable[str], tallies: Sequence[Tally], *, is_sample: bool
) -> TableColumns:
    """Describe columns of strings that were counted elsewhere.

    >>> found = describe_tallies(["id", "text"], [Tally("text", 3, ["hug"])], is_sample=True)
    >>> found.chosen
    Column(name='text', share=1.0, samples=('hug',))
    """
    total = sum(tally.n_characters for tally in tallies) or 1
    texts: list[Column] = []
    others: list[Column] = []
    for tally in tallies:
        column = Column(tally.name, tally.n_characters / total, _samples(tally.first))
        if tally.n_characters and _is_text(tally.first):
            texts.append(column)
        elif column.samples:
            others.append(column)
    chats = frozenset(tally.name for tally in tallies if any(map(is_chat, tally.first)))
    return TableColumns(tuple(names), tuple(texts), is_sample, tuple(others), chats)


def described(column: Column) -> str:
    """Return a column's name with its share of the characters.

    >>> described(Column("text", 0.934, ())), described(Column("title", 0.004, ()))
    ("'text' (93% of the characters)", "'title' (0.4% of the characters)")
    """
    return f"{quoted(column.name)} ({percent(column.share)} of the characters)"


def percent(share: float) -> str:
    """Return a share in percent, with one decimal below 1.

    >>> percent(0.934), percent(0.004), percent(0.0001), percent(0.9999)
    ('93%', '0.4%', 'less than 0.1%', 'more than 99%')
    """
    if share < 0.0005:
        return "0%" if share == 0 else "less than 0.1%"
    if 0.995 <= share < 1:
        return "more than 99%"
    return f"{share:.1%}" if share < 0.0095 else f"{share:.0%}"


def quoted(name: str) -> str:
    """Return a column's name in quotes, cut if it is long.

    >>> quoted("text")
    "'text'"
    """
    return repr(name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…")


def no_column(file: str, wanted: str, found: TableColumns) -> CorpusError:
    """Return the error for a column that is missing or holds no text, with the choices.

    >>> columns = describe_row_columns(["id", "text"], [{"text": "hug"}], is_sample=False)
    >>> print(no_column("a.csv", "body", columns))
    a.csv has no column 'body'. Its columns of text: 'text' (100% of the characters). Others: 'id'.
    """
    problem = (
        f"{file} has no text in the column {quoted(wanted)}."
        if wanted in found.names
        else f"{file} has no column {quoted(wanted)}."
    )
    return CorpusError(f"{problem} {_choices(found)}")


def no_text_column(file: str, found: TableColumns) -> CorpusError:
    """Return the error for a table without a column of text.

    >>> print(no_text_column("a.csv", TableColumns(("id", "price"), (), False)))
    a.csv has no column of text: its columns are 'id', 'price'. Name the one to read, or give a \
file with a column of text; nested objects are not read.
    """
    names = listed([quoted(name) for name in found.names], _MAX_NAMED)
    return CorpusError(
        f"{file} has no column of text: its columns are {names}. Name the one to read, or give a "
        "file with a column of text; nested objects are not read."
    )


def _choices(found: TableColumns) -> str:
    largest = sorted(found.texts, key=lambda column: -column.share)
    texts = listed([described(column) for column in largest], _MAX_NAMED) or "none"
    text_names = {column.name for column in found.texts}
    others = [quoted(name) for name in found.names if name not in text_names]
    rest = f" Others: {listed(others, _MAX_NAMED)}." if others else ""
    return f"Its columns of text: {texts}.{rest}"


def is_usual(name: str) -> bool:
    """Return True for a name that columns of text usually have.

    >>> is_usual("text"), is_usual("article_body"), is_usual("id")
    (True, True, False)
    """
    return _rank(name) < _UNUSUAL


def _rank(name: str) -> int:
    """Return the place of a name among the usual ones, which may also be its last word."""
    words = _WORD.findall(name.casefold())
    if not words or words[-1] not in PREFERRED_NAMES:
        return _UNUSUAL
    return PREFERRED_NAMES.index(words[-1]) + len(PREFERRED_NAMES) * (len(words) > 1)


def _is_text(values: Sequence[object]) -> bool:
    """Return True if most of a column's first values contain a letter: not numbers or dates."""
    filled = [value for value in values if value not in (None, "")]
    # Numbers and booleans are left out: as a text, True would be the word "true".
    texts = [text_in(value) or "" for value in filled if not isinstance(value, (bool, int, float))]
    letters = sum(bool(_LETTER.search(text)) for text in texts)
    return 2 * letters > len(filled)


def _samples(values: Iterable[object]) -> tuple[str, ...]:
    texts = [text for text in map(text_in, values) if text and not text.isspace()]
    return tuple(
        text if len(text) <= _MAX_SAMPLE_LENGTH else f"{text[: _MAX_SAMPLE_LENGTH - 1]}…"
        for text in map(_in_utf8, texts[:_N_SAMPLES])
    )


def _in_utf8(text: str) -> str:
    """Return a text with a question mark for each lone surrogate, which JSON may hold."""
    return text.encode(errors="replace").decode()
