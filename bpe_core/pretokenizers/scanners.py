r"""The tables of the compiled scanners: each pattern's automaton, and each character's class.

A pattern over shadows (see `named_patterns`) is compiled into an automaton that reads each
character once: a table with one row per state and one column per class of characters that the
pattern doesn't tell apart.

A backtracking matcher tries the alternatives one after the other. The automaton follows all of them
together, in order of preference: a state is the list of places in the pattern where a match may
continue, the preferred first. A match drops the places after it, so of all matches the last one
found is the one that a backtracking matcher returns. Whether a match ends is decided when the next
character is known, so `(?!...)` needs no second look.

The syntax is what the named patterns use: characters and escapes, brackets, `(?:...)`, `(?i:...)`,
`|`, `?`, `*`, `+`, `++` and `{m,n}`, `(?!...)` and `(?=...)` of one character, and `$` for the end
of the text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import PatternError
from bpe_core.kernels import Scanner
from bpe_core.kernels import mask_scanning as rules
from bpe_core.kernels import safe_split as find_split
from bpe_core.pretokenizers.named_patterns import (
    ALPHABET,
    NAMED,
    OF_HAN_AND_KANA,
    REPRESENTATIVES,
    over_shadows,
    shadow_runs,
)
from bpe_core.types import read_only
from bpe_core.unicode import LETTER_CLASSES

ENDS, STOPS, DROPS, BACK = 1, 2, 4, 8
"""What a transition says about the text before the character: a pre-token ends there and the next
one begins; one may end there; that one is dropped; or go back to where one could last end, and
begin there."""

_ALL: Final = frozenset(ALPHABET)
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_END: Final = ""


class Automaton(NamedTuple):
    """The table of a pattern."""

    columns: dict[str, int]
    """The column of each character of `ALPHABET`; the last column is the end of the text."""
    n_columns: int
    rows: list[list[tuple[int, int]]]
    """rows[state][column]: the next state and the flags. State 0 begins a pre-token."""


class _Step(NamedTuple):
    """An instruction: "read" or "refuse" a set, go on at "either" place, "match" or "drop"."""

    kind: str
    characters: frozenset[str] = frozenset()
    places: tuple[int, ...] = ()
    """Where to go on, the preferred place first, as distances from this step."""


def compile_automaton(pattern: str, *, dropped: str | None = None) -> Automaton:
    r"""Compile a pattern; what `dropped` matches, in other places, is in no pre-token.

    Raises PatternError for syntax that it cannot compile, and for a pattern that leaves out text.

    >>> automaton = compile_automaton(r"\S+", dropped=r"\s+")
    >>> len(automaton.rows), automaton.n_columns
    (3, 3)
    """
    program = _Parser(over_shadows(pattern)).program("match")
    if dropped is not None:
        other = _Parser(over_shadows(dropped)).program("drop")
        program = _alternatives([program, other])
    return _determinized(program)


def _determinized(program: list[_Step]) -> Automaton:
    # Of the characters that no set distinguishes, only one is followed.
    sets = {step.characters for step in program}
    group_of: dict[tuple[bool, ...], str] = {}
    like = {
        character: group_of.setdefault(tuple(character in each for each in sets), character)
        for character in ALPHABET
    }
    states: dict[tuple[int, ...], int] = {(0,): 0}
    todo: list[tuple[int, ...]] = [(0,)]
    moves: list[dict[str, tuple[tuple[int, ...], int]]] = []
    for state in todo:
        moves.append({})
        for character in (*group_of.values(), _END):
            following, flags = _moved(program, state, character)
            if not following and flags & STOPS:
                # The next pre-token begins with this character.
                flags = ENDS | (flags & DROPS)
                following = _moved(program, (0,), character)[0]
            elif not following:
                flags = BACK
            if state == (0,) and character != _END and flags:
                raise PatternError(f"The pattern leaves out {character!r} of a text.")
            moves[-1][character] = following, flags
            if following and following not in states:
                states[following] = len(states)
                todo.append(following)
    for following, _ in moves[0].values():
        if following and any(move[1] == BACK for move in moves[states[following]].values()):
            raise PatternError("The pattern leaves out some character of a text.")
    # Characters whose columns are equal are not distinguished either.
    found: dict[tuple[tuple[tuple[int, ...], int], ...], int] = {}
    columns = {
        character: found.setdefault(tuple(row[like[character]] for row in moves), len(found))
        for character in ALPHABET
    }
    first_of = {column: character for character, column in reversed(columns.items())}
    in_order = [first_of[column] for column in range(len(found))] + [_END]
    rows = [
        [
            (states.get(following, 0), flags)
            for following, flags in (row[like.get(character, _END)] for character in in_order)
        ]
        for row in moves
    ]
    return Automaton(columns, len(in_order), rows)


def _moved(
    program: Sequence[_Step], state: Iterable[int], character: str
) -> tuple[tuple[int, ...], int]:
    """Read a character; return the places after it, and whether a match ended before it."""
    following: dict[int, None] = {}
    seen: set[int] = set()
    stack = list(state)[::-1]
    while stack:
        place = stack.pop()
        if place in seen:
            continue
        seen.add(place)
        step = program[place]
        if step.kind == "either":
            stack += [place + distance for distance in step.places[::-1]]
        elif step.kind == "refuse":
            if character not in step.characters:
                stack.append(place + 1)
        elif step.kind == "read":
            if character in step.characters:
                following[place + 1] = None
        else:
            return tuple(following), STOPS | (DROPS if step.kind == "drop" else 0)
    return tuple(following), 0


class _Parser:
    """A recursive-descent parser that writes the program of a pattern over shadows."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._any_case = False

    def program(self, kind: str) -> list[_Step]:
        steps = self._either()
        if self._at < len(self._pattern):
            raise self._unknown()
        return [*steps, _Step(kind)]

    def _either(self) -> list[_Step]:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return _alternatives(options)

    def _sequence(self) -> list[_Step]:
        steps: list[_Step] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            steps += self._repeated(self._one())
        return steps

    def _one(self) -> list[_Step]:
        if self._take("(?!"):
            return [_Step("refuse", self._closed_set())]
        if self._take("(?="):
            # The end of the text is none of the characters.
            return [_Step("refuse", _ALL - self._closed_set() | {_END})]
        if self._take("$"):
            return [_Step("refuse", _ALL)]
        for opening in ("(?:", "(?i:"):
            if self._take(opening):
                before, self._any_case = self._any_case, self._any_case or "i" in opening
                steps = self._either()
                self._any_case = before
                self._expect(")")
                return steps
        return [_Step("read", self._set())]

    def _closed_set(self) -> frozenset[str]:
        """Parse a set and a closing parenthesis; `(?!a)b` is the set b without a."""
        without: frozenset[str] = self._closed_set() if self._take("(?!") else frozenset()
        characters = self._set() - without
        self._expect(")")
        return characters

    def _repeated(self, steps: list[_Step]) -> list[_Step]:
        if self._take("?"):
            return _optional(steps)
        if self._take("*"):
            return _optional(_many(steps))
        if self._take("+"):
            self._take("+")  # possessive: an automaton never gives back anyway
            return _many(steps)
        if not self._take("{"):
            return steps
        bounds = self._pattern[self._at : self._pattern.index("}", self._at)]
        self._at += len(bounds) + 1
        least, _, most = bounds.partition(",")
        written = steps * int(least)
        optional: list[_Step] = []
        for _ in range(int(most or least) - int(least)):
            optional = _optional([*steps, *optional])
        return [*written, *optional]

    def _set(self) -> frozenset[str]:
        if not self._take("["):
            return self._in_any_case({self._character()})
        negated = self._take("^")
        found: set[str] = set()
        while not self._take("]"):
            first = last = self._character()
            if self._pattern[self._at : self._at + 1] == "-" and not self._is_last_in_set():
                self._at += 1
                last = self._character()
            found.update(chr(code) for code in range(ord(first), ord(last) + 1))
        cased = self._in_any_case(found)
        return _ALL - cased if negated else _ALL & cased

    def _in_any_case(self, characters: set[str]) -> frozenset[str]:
        if not self._any_case:
            return frozenset(characters)
        both = {case for each in characters for case in (each.lower(), each.upper())}
        # A long s matches an s if case is ignored.
        return frozenset(both | {"ſ"} if "s" in both else both)

    def _is_last_in_set(self) -> bool:
        return self._pattern[self._at + 1 : self._at + 2] == "]"

    def _character(self) -> str:
        if self._at >= len(self._pattern):
            raise self._unknown()
        character = self._pattern[self._at]
        self._at += 1
        if character == "\\":
            escaped = self._pattern[self._at : self._at + 1]
            self._at += 1
            if escaped == "x":
                self._at += 2
                return chr(int(self._pattern[self._at - 2 : self._at], 16))
            if escaped.isalnum() and escaped not in _ESCAPES:
                raise self._unknown()
            return _ESCAPES.get(escaped, escaped)
        return character

    def _take(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._unknown()

    def _unknown(self) -> PatternError:
        return PatternError(
            f"No automaton can be compiled for the pattern, because of "
            f"{self._pattern[self._at : self._at + 20]!r} at character {self._at:,}."
        )


def _alternatives(options: list[list[_Step]]) -> list[_Step]:
    *earlier, steps = options
    for option in reversed(earlier):
        either = _Step("either", places=(1, len(option) + 2))
        steps = [either, *option, _Step("either", places=(len(steps) + 1,)), *steps]
    return steps


def _optional(steps: list[_Step]) -> list[_Step]:
    return [_Step("either", places=(1, len(steps) + 1)), *steps]


def _many(steps: list[_Step]) -> list[_Step]:
    return [*steps, _Step("either", places=(-len(steps), 1))]


SCANNERS: Final = tuple(name for name, named in NAMED.items() if named.pattern is not None)
"""The pre-tokenizers that have a compiled scanner; others use the `regex` package."""

_ANY_OTHER: Final = "gpt2"
_LETTERS: Final = (*LETTER_CLASSES, "long s")
_KINDS: Final = {"space": 1, "number": 3, **dict.fromkeys(_LETTERS, 2)}

_OPENAI: Final = rules.SPACE_BEFORE_SIGNS | rules.ANY_BEFORE_LETTERS | rules.NEWLINES
_ANY_CASE: Final = rules.CONTRACTIONS | rules.CAPITAL_CONTRACTIONS
_CASES: Final = _OPENAI | rules.SLASHES | rules.CASES
_RULES: Final = {
    "gpt2": rules.SPACE_BEFORE_SIGNS | rules.SPACE_BEFORE_NUMBERS | rules.CONTRACTIONS,
    "cl100k": _OPENAI | _ANY_CASE | rules.THREE_DIGITS,
    "o200k": (
        _CASES | rules.CONTRACTIONS_AFTER_LETTERS | rules.CAPITAL_CONTRACTIONS | rules.THREE_DIGITS
    ),
    "llama3": _OPENAI | _ANY_CASE | rules.THREE_DIGITS,
    "digits-from-right": _OPENAI | _ANY_CASE | rules.THREE_DIGITS | rules.FROM_RIGHT,
    "qwen2": _OPENAI | _ANY_CASE | rules.ONE_DIGIT,
    "tekken": _CASES | rules.ONE_DIGIT,
    "deepseek-v3": _OPENAI | rules.THREE_DIGITS | rules.WHOLE_BEFORE_NUMBERS,
    "starcoder": (
        rules.SPACE_BEFORE_SIGNS | rules.CONTRACTIONS | rules.ONE_DIGIT | rules.WHOLE_BEFORE_NUMBERS
    ),
    "falcon": rules.THREE_DIGITS | rules.WHOLE_BEFORE_SIGNS,
    "whitespace": rules.WORDS_OF_ANYTHING,
    "words-punctuation": rules.WORDS,
    "sentencepiece": rules.BEFORE_SPACES,
    "gemma3": rules.BEFORE_SPACES | rules.NOT_AFTER_GREATER,
    "llama2": rules.BEFORE_SPACES,
    "metaspace": rules.BEFORE_SPACES | rules.EACH_SPACE,
    "superwords": rules.BY_AUTOMATON,
}

_ONLY_ASCII_ALIKE: Final = {"deepseek-v3"}
"""Patterns that name the letters of ASCII, and treat others differently."""


@cache
def get_scanner(name: str) -> Scanner:
    """Return the tables with which kernels cut by a pattern; those of GPT-2 for any other name.

    Compiling a pattern takes 10 to 40 ms.

    >>> get_scanner("o200k").flags.dtype
    dtype('uint8')
    """
    if name not in SCANNERS:
        return get_scanner(_ANY_OTHER)
    no_bytes = _read_only([], np.uint8)
    if _RULES[name] & rules.BEFORE_SPACES:
        no_rows = _read_only([], np.int32)
        return Scanner(no_bytes, no_bytes, no_rows, no_bytes, _RULES[name], no_bytes)
    # The automaton cuts numbers from the left, and the kernels move their ends.
    named = NAMED["llama3" if _RULES[name] & rules.FROM_RIGHT else name]
    automaton = compile_automaton(named.pattern or "", dropped=r"\s+" if named.drops_text else None)
    ascii_columns = [automaton.columns[chr(byte)] for byte in range(128)] + [0] * 128
    classes = [automaton.columns[character] for character in REPRESENTATIVES.values()]
    columns = [*ascii_columns, *classes, automaton.n_columns - 1]
    moves = [move for row in automaton.rows for move in row]
    return Scanner(
        class_table(),
        _read_only(columns, np.uint8),
        _read_only([state * automaton.n_columns for state, _ in moves], np.int32),
        _read_only([flags for _, flags in moves], np.uint8),
        _RULES[name] | (0 if name in _ONLY_ASCII_ALIKE else rules.WIDE_LETTERS),
        no_bytes,
    )


@cache
def class_table() -> NDArray[np.uint8]:
    """Return the class of each code point for `kernels.scanning`, uint8[0x110000].

    >>> table = class_table()
    >>> [int(table[ord(c)]) & 3 for c in ". a1"]
    [0, 1, 2, 3]
    """
    entries = {
        name: (number << 2) + _KINDS.get(name.removesuffix(OF_HAN_AND_KANA), 0)
        for number, name in enumerate(REPRESENTATIVES)
    }
    table = np.empty(0x110000, np.uint8)
    for start, end, name in shadow_runs():
        table[start:end] = entries[name]
    return read_only(table)


@cache
def space_table() -> NDArray[np.uint8]:
    """Return a table for patterns that cut only before U+0020: the others but > are letters.

    >>> table = space_table()
    >>> [int(table[ord(c)]) & 3 for c in " \\n>"]
    [1, 2, 0]
    """
    table = np.full(0x110000, _KINDS["lower"], np.uint8)
    table[[ord(" "), ord(">")]] = _KINDS["space"], 0
    return read_only(table)


@cache
def number_table() -> NDArray[np.uint8]:
    """Return a table for a pattern that ends a pre-token after a number: others are white space.

    >>> table = number_table()
    >>> [int(table[ord(c)]) & 3 for c in "1a "]
    [2, 1, 1]
    """
    is_number = class_table() & 3 == _KINDS["number"]
    return read_only(np.where(is_number, _KINDS["lower"], _KINDS["space"]).astype(np.uint8))


def _read_only(values: list[int], dtype: type[np.generic]) -> NDArray[Any]:
    # Kernels are compiled per array type, so all calls pass read-only arrays.
    return read_only(np.array(values, dtype))


# -- long texts -----------------------------------------------------------------------------------


Section = Sequence[bytes | memoryview]
"""A whole document, or a part of one cut where no pre-token crosses, in pieces of UTF-8."""


_LONG = 1 << 14
"""ASCII text of at least this many characters is read in place. For shorter text, encoding takes
less time than preparing for that."""


_bytes_at = cast(
    "Callable[[str], int]",
    ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyUnicode_AsUTF8", ctypes.pythonapi)),
)


class _Memory:
    """What NumPy needs to make an array of memory; the array refers to this, and so to the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "typestr": "|u1",
            "shape": (len(text),),
            "data": (_bytes_at(text), True),  # read-only
        }


def cut_document(
    document: Iterable[str] | Iterable[bytes],
    safe_split: Callable[[bytes | memoryview, int], int],
    look_back: int,
) -> Iterator[Section]:
    """Cut a document into sections, at safe places near the ends of its pieces."""
    section: list[bytes | memoryview] = []
    for piece in document:
        data = piece if isinstance(piece, bytes) else _utf8(piece)
        if len(data) >= look_back:
            cut = safe_split(data, len(data) - look_back)
            if cut == len(data):
                cut = safe_split(data, 0)
            if cut < len(data):
                yield [*section, data[:cut]]
                section = []
                data = data[cut:]
        section.append(data)
    if section:
        yield section


def _utf8(text: str) -> bytes | memoryview:
    """Return the UTF-8 of a text, without a copy if it is long and in ASCII.

    Python allocates new memory for the bytes of each long text, and touching it took longer than
    copying the text.
    """
    if len(text) >= _LONG and text.isascii():
        return ascii_in_place(text).data
    return text.encode()


def safe_split(name: str, data: bytes | memoryview | NDArray[np.uint8], near: int) -> int:
    """Return the first byte from `near` on where a cut of a pattern changes no pre-token.

    >>> safe_split("gpt2", b"to be", 0)
    2
    """
    named = NAMED[name]
    text = np.frombuffer(data, np.uint8)
    # A pre-tokenizer that drops white space may join any other characters into one word.
    before_space_only = named.drops_text or not named.ends_before_space
    classes = class_table() if named.ends_before_space else space_table()
    if name == "superwords":
        classes = number_table()
    return int(find_split(text, near, text.size, classes, before_space_only))


def ascii_in_place(text: str) -> NDArray[np.uint8]:
    """Return the bytes of a text of ASCII characters, read-only.

    Other text has no bytes to read in place: Python would encode it and keep the result, half as
    much again or more, for as long as the text lives.

    >>> ascii_in_place("hug").tobytes()
    b'hug'
    """
    if not text.isascii():
        raise ValueError("only text of ASCII characters can be read in place")
    return np.asarray(_Memory(text))
