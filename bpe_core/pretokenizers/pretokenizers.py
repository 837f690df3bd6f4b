r"""Pre-tokenizers: cut a text into chunks that merges never cross.

The named patterns follow Unicode 16 exactly, whatever version the regular expression engine has:
they run on a *shadow* of the text (see `named_patterns`), of the same length, and the spans that
match are cut from the text. Python's own `re` can match shadows; it took 37 ms for 1.1 MB of
English where the `regex` package took 91.

Custom patterns match the text itself, with the `regex` package and a time limit. For an invalid
one, the error says in plain words why, and where.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, PatternError, PatternTimeoutError
from bpe_core.pretokenizers.named_patterns import (
    NAMED,
    NamedPattern,
    cast_shadow,
    over_shadows,
)
from bpe_core.pretokenizers.normalizers import NORMALIZERS, Normalizer, get_normalizer
from bpe_core.types import Immutable
from bpe_core.unicode import META

if TYPE_CHECKING:
    import numpy as np
    import regex
    from numpy.typing import NDArray

    from bpe_core.kernels import Scanner
    from bpe_core.pretokenizers.scanners import Section


PRETOKENIZER_NAMES: Final[tuple[str, ...]] = tuple(NAMED)
"""The names that `get_pretokenizer` accepts, besides regex:PATTERN, and each after "NFC+"."""
SPACE_ADDING: Final = frozenset(name for name, named in NAMED.items() if named.adds_space)
"""The names of those that put a space in front of a text, which need byte fallback."""

_CUSTOM: Final = "regex:"
_NORMALIZED: Final = "+"
_MAX_PATTERN_LENGTH: Final = 2_000
_MAX_REPEATS: Final = 1_000
_MAX_REPEATS_TOGETHER: Final = 100_000
_MAX_REPEATED_GROUPS: Final = 12
"""Each group nested in another doubles the memory of a match: 28 took over 6 GB for two letters."""
# The regex package counts the processor time of all threads, so the limit is twice what a pattern
# should need: a training run may be in progress.
_SECONDS: Final = 4.0
_SECONDS_PER_CHARACTER: Final = 4e-6


def match_failures() -> tuple[type[Exception], ...]:
    """Return the exceptions the regex package raises when it gives up; see `failed_match`."""
    import regex  # when needed: loading it takes as long as opening GPT-2's tokenizer

    return MemoryError, RecursionError, regex.error


# Warning filters belong to the whole process: two threads that change and restore them at the same
# time could leave them changed.
_SILENCE: Final = Lock()


_CUT: Final = re.compile("(?<=[A-Za-z]) (?=[A-Za-z])")


class Pretokenizer(Immutable):
    """One way to cut a text into pre-tokens; immutable, and equal to another of the same name.

    A name such as "NFC+gpt2" is for text that is normalized first: `written` does that, and what
    it returns is cut.

    >>> get_pretokenizer("gpt2").split("Hello world, it's 2024")
    ['Hello', ' world', ',', ' it', "'s", ' 2024']
    """

    __slots__ = (
        "_adds_space",
        "_by_byte",
        "_compiled",
        "_custom",
        "_cut",
        "_drops_text",
        "_ends_before_space",
        "_name",
        "_normalizer",
        "_pattern",
    )

    def __init__(self, name: str) -> None:
        if not is_a(name, str):
            raise ArgumentTypeError(
                f"Expected the name of a pre-tokenizer, got {describe(name)}: use one of "
                f"{', '.join(PRETOKENIZER_NAMES)}, or {_CUSTOM}PATTERN."
            )
        self._name = name
        form, plus, cut = name.partition(_NORMALIZED)
        if not plus or form not in NORMALIZERS:
            form, cut = "", name
        self._normalizer = get_normalizer(form) if form else None
        self._cut = cut
        self._compiled: re.Pattern[str] | None = None
        self._custom: regex.Pattern[str] | None = None
        if cut.startswith(_CUSTOM):
            pattern = cut.removeprefix(_CUSTOM)
            if not pattern:
                raise PatternError(
                    f"The pattern after {_CUSTOM} is empty. Write one, or use 'none'."
                )
            self._custom = compile_pattern(
                pattern, remedy="Correct it, or choose a named pre-tokenizer"
            )
            named = NamedPattern(pattern, ends_before_space=False)
        elif cut in NAMED:
            named = NAMED[cut]
            if named.pattern is not None:
                self._compiled = re.compile(over_shadows(named.pattern))
        else:
            raise ConfigError(
                f"There is no pre-tokenizer named {_shortened(name)}. Use one of "
                f"{', '.join(PRETOKENIZER_NAMES)}, or {_CUSTOM}PATTERN."
            )

        self._pattern, self._drops_text, self._ends_before_space, self._adds_space, by_byte = named
        self._by_byte = None if by_byte is None else re.compile(by_byte)
        if form and named.adds_space:
            raise ConfigError(
                f"The pre-tokenizer {cut} puts a space in front of a text, which is not done after "
                f"a normalizer. Use {cut} alone, or another pre-tokenizer with {form}."
            )

    @property
    def name(self) -> str:
        """The name, as in `TrainingConfig.pretokenizer`."""
        return self._name

    @property
    def cut(self) -> str:
        """The name without the normalizer.

        >>> get_pretokenizer("NFC+gpt2").cut
        'gpt2'
        """
        return self._cut

    @property
    def normalizer(self) -> Normalizer | None:
        """What a text goes through before it is cut, or None."""
        return self._normalizer

    @property
    def added(self) -> Mapping[str, int]:
        """The id of each added token that it isolates; empty unless it does."""
        return MappingProxyType({})

    @property
    def pattern(self) -> str | None:
        r"""The regular expression that matches pre-tokens, or None.

        >>> get_pretokenizer("whitespace").pattern
        '\\S+'
        """
        return self._pattern

    @property
    def drops_text(self) -> bool:
        """True if white space is in no pre-token, so decoding cannot restore it."""
        return self._drops_text

    @property
    def ends_before_space(self) -> bool:
        """True if a letter from a to z before a space or a line end always ends a pre-token.

        The parts of a text cut there have the same pre-tokens as the whole.
        """
        return self._ends_before_space

    @property
    def adds_space(self) -> bool:
        """True if a space is put in front of a text, and ▁ is a space; see `written`."""
        return self._adds_space

    def written(self, text: str) -> str:
        """Return a text as its tokens spell it, which is what is to be cut before it is merged.

        >>> get_pretokenizer("metaspace").written("to▁be"), get_pretokenizer("gpt2").written("to")
        (' to be', 'to')
        """
        text = self.normalized(text)
        return f" {text.replace(META, ' ')}" if self._adds_space and text else text

    def normalized(self, text: str) -> str:
        """Return a text as its normalizer changes it.

        >>> get_pretokenizer("NFC+gpt2").normalized("cafe\\u0301")
        'café'
        """
        return text if self._normalizer is None else self._normalizer(text)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the half-open character spans of the pre-tokens, in order.

        Raises PatternTimeoutError if a custom pattern takes too long on the text, and PatternError
        if the engine gives up.

        >>> get_pretokenizer("whitespace").spans("to  be")
        [(0, 2), (4, 6)]
        """
        if self._custom is not None:
            return _isolated(self._matches(self._custom, text), len(text))
        if self._compiled is None:
            return [(0, len(text))] if text else []
        return [match.span() for match in self._compiled.finditer(cast_shadow(text))]

    @property
    def has_scanner(self) -> bool:
        """True if kernels cut as it does; otherwise the `regex` package does it."""
        return self._compiled is not None

    @property
    def cuts_in_place(self) -> bool:
        """True if kernels cut as it does, and text is not normalized before."""
        return self.has_scanner and self._normalizer is None

    def scanner(self) -> Scanner:
        """Return the tables with which kernels cut a text, or any if it has no scanner."""
        from bpe_core.pretokenizers.scanners import get_scanner  # here and below: loads NumPy

        return get_scanner(self._cut)

    def sections(
        self,
        documents: Iterable[Iterable[str] | Iterable[bytes]],
        look_back: int = 1 << 16,
    ) -> Iterator[Section]:
        """Cut documents, which arrive in pieces of text or UTF-8, into sections for kernels.

        A long document is cut only where no pre-token crosses, near the end of a piece: if possible
        within the last `look_back` bytes. There must be a scanner.

        >>> list(get_pretokenizer("gpt2").sections([["ab", "c d"], ["e"]], look_back=1))
        [[b'ab', b'c'], [b' d'], [b'e']]
        """
        from bpe_core.pretokenizers.scanners import cut_document

        for document in documents:
            yield from cut_document(document, self.safe_split, look_back)

    def safe_split(self, data: bytes | memoryview | NDArray[np.uint8], near: int) -> int:
        """Return the first byte from `near` on where a cut changes no pre-token.

        Return the length of the text if there is none. There must be a scanner.

        >>> get_pretokenizer("gpt2").safe_split(b"to be", 0)
        2
        """
        from bpe_core.pretokenizers.scanners import safe_split

        return safe_split(self._cut, data, near)

    def byte_ends(self, text: str) -> NDArray[np.int64]:
        """Return where pre-tokens end in the text's UTF-8; it must not drop text.

        >>> get_pretokenizer("regex:[0-9]").byte_ends("é1").tolist()
        [2, 3]
        """
        import numpy as np

        from bpe_core.unicode import CodePoints

        ends = np.array([end for _, end in self.spans(text)], np.int64)
        return ends if text.isascii() else CodePoints(text).offsets[ends]

    @property
    def cuts_bytes(self) -> bool:
        """True if pre-tokens are cut between bytes too; see `cut_bytes`."""
        return self._by_byte is not None

    def cut_bytes(self, word: bytes) -> list[bytes]:
        """Return the parts that a pre-token is cut into between its bytes, or the whole.

        >>> get_pretokenizer("falcon").cut_bytes("é²".encode())
        [b'\xc3\xa9\xc2', b'\xb2']
        """
        return [word] if self._by_byte is None else self._by_byte.findall(word)

    def starts(self, text: str, before: int) -> NDArray[np.int64]:
        """Return where the pre-tokens begin that begin before the character `before`.

        The text after it is not looked at, and most pre-tokenizers make no object for each
        pre-token: those of 8 million characters took a gigabyte. Raises what `spans` raises.

        >>> get_pretokenizer("whitespace").starts("to be or not", 6).tolist()
        [0, 3]
        """
        if self._custom is None and self._compiled is not None:
            matches = self._compiled.finditer(cast_shadow(text))
            begun = (match.start() for match in matches)
        else:
            begun = (start for start, _ in self.spans(text))
        import numpy as np  # here, because importing it takes longer than encoding a short text

        return np.fromiter(takewhile(lambda start: start < before, begun), np.int64)

    def split(self, text: str) -> list[str]:
        """Return the pre-tokens of a text, in order; raises what `spans` raises.

        >>> get_pretokenizer("words-punctuation").split("Don't stop!")
        ['Don', "'", 't', 'stop', '!']
        """
        if self._compiled is not None and text.isascii():
            return self._compiled.findall(text)
        return [text[start:end] for start, end in self.spans(text)]

    def _matches(self, pattern: regex.Pattern[str], text: str) -> list[tuple[int, int]]:
        seconds = _SECONDS + _SECONDS_PER_CHARACTER * len(text)
        try:
            return [match.span() for match in pattern.finditer(text, timeout=seconds)]
        except TimeoutError:
            raise PatternTimeoutError(
                f"The pattern {_shortened(pattern.pattern)} did not finish on a text of "
                f"{len(text):,} characters within {seconds:.0f} seconds of processor time, "
                f"which other threads use too. Nested repeats such as (a+)+ try every way to "
                f"divide a run: write one repeat, or make it possessive (a++)."
            ) from None
        except match_failures() as error:
            raise failed_match(pattern.pattern, error) from None

    def __reduce__(self) -> tuple[object, ...]:
        # By name, so that a process has one object for each name.
        return get_pretokenizer, (self._name,)

    def __repr__(self) -> str:
        return f"Pretokenizer({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pretokenizer) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)


_kept = lru_cache(maxsize=64)(Pretokenizer)


def get_pretokenizer(name: str) -> Pretokenizer:
    """Return the pre-tokenizer with this name, or one for a custom pattern (regex:PATTERN).

    Text between the matches of a custom pattern becomes pre-tokens too, so no text is lost. After
    NFC+, NFD+, NFKC+ or NFKD+, text is normalized first; `normalized` does that.
    "digits-from-right" cuts as llama3 does, but numbers from the right, so that 1234567 becomes
    1, 234 and 567 (arXiv 2402.14903).
    Raises ConfigError for an unknown name and PatternError for an invalid pattern.

    >>> get_pretokenizer("regex:[0-9]").split("a1bc23")
    ['a', '1', 'bc', '2', '3']
    """
    # Other types may not be hashable, which the cache would refuse first.
    return _kept(name) if is_a(name, str) else Pretokenizer(name)


def compile_pattern(pattern: str, *, remedy: str) -> regex.Pattern[str]:
    """Compile a pattern from an untrusted source; `remedy` ends the message of the error.

    Raises PatternError for an invalid pattern, and for one that could exhaust memory.

    >>> compile_pattern("a(", remedy="Correct it")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bpe_core.errors.PatternError: The pattern 'a(' is not a valid regular expression: the ( at \
character 2 is not closed. ...
    """
    if len(pattern) > _MAX_PATTERN_LENGTH:
        raise PatternError(
            f"The pattern has {len(pattern):,} characters; at most {_MAX_PATTERN_LENGTH:,} are "
            f"allowed. Shorten it."
        )
    _refuse_huge_patterns(pattern)
    import regex

    try:
        with _SILENCE, warnings.catch_warnings():
            # The engine warns of changes in later versions, but its version is pinned.
            warnings.simplefilter("ignore")
            return regex.compile(pattern)
    except regex.error as error:
        raise PatternError(
            f"The pattern {_shortened(pattern)} is not a valid regular expression: "
            f"{explain_pattern_error(error)}. {remedy}."
        ) from None
    except (OverflowError, RecursionError, MemoryError, ValueError) as error:
        raise PatternError(
            f"The pattern {_shortened(pattern)} cannot be compiled ({type(error).__name__}). "
            f"Use smaller repeat counts and less nesting."
        ) from None


def failed_match(pattern: str, error: Exception) -> PatternError:
    """Return the error for one of `match_failures`, with what to do about it.

    >>> str(failed_match("(?<=b{e<=1}|a)*", MemoryError()))[:66]
    "The pattern '(?<=b{e<=1}|a)*' compiles, but no text can be matched"
    """
    return PatternError(
        f"The pattern {_shortened(pattern)} compiles, but no text can be matched with it "
        f"({type(error).__name__} of the regular expression engine). Write it without fuzzy "
        f"matches such as {{e<=1}}, and without repeated lookaheads or lookbehinds."
    )


def _refuse_huge_patterns(pattern: str) -> None:
    # The time limit does not help here: compiling expands repeats, so a{100000000} needs 8 GB
    # before it matches anything, and (?R) recurses until memory is exhausted.
    plain = re.sub(r"\\.", "", pattern)
    if re.search(r"\(\?(?:R|&|P>|[+-]?[0-9])", plain):
        raise PatternError(
            f"The pattern {_shortened(pattern)} calls itself or one of its groups, which may "
            f"never end. Write it without (?R), (?1) or (?&name)."
        )
    bounds = [re.findall("[0-9]+", braces)[-1:] for braces in re.findall(r"\{[^{}]*\}", plain)]
    # Ten digits already exceed the limit, and int() refuses 5,000.
    repeats = [int(digits[:10]) for bound in bounds for digits in bound if digits.strip("0")]
    if max(repeats, default=0) > _MAX_REPEATS or math.prod(repeats) > _MAX_REPEATS_TOGETHER:
        raise PatternError(
            f"The pattern {_shortened(pattern)} repeats too often: counts in braces may be up to "
            f"{_MAX_REPEATS:,} each and {_MAX_REPEATS_TOGETHER:,} multiplied. Use smaller "
            f"counts, or + and *."
        )
    repeated = len(re.findall(r"\)(?:\s|#.*+|\(\?#[^)]*+\))*+[*+{]", plain))
    if repeated > _MAX_REPEATED_GROUPS:
        raise PatternError(
            f"The pattern {_shortened(pattern)} repeats {repeated} groups; at most "
            f"{_MAX_REPEATED_GROUPS} may be, because each one inside another doubles the memory. "
            "Repeat fewer."
        )


def _isolated(matches: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Fill the gaps between matches, so that the spans cover the whole text."""
    spans: list[tuple[int, int]] = []
    covered = 0
    for start, end in sorted(matches):  # a pattern with (?r) searches backwards
        if start == end:
            continue
        if covered < start:
            spans.append((covered, start))
        spans.append((start, end))
        covered = end
    if covered < length:
        spans.append((covered, length))
    return spans


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


def cut_text(text: str, size: int) -> Iterator[str]:
    """Cut a text into parts of at least `size` characters, as the last one may be shorter.

    Each begins with a space between two letters. A pre-tokenizer with `ends_before_space` cuts
    there too.

    >>> list(cut_text("one two, three four", 4)), list(cut_text("one", 4))
    (['one two, three', ' four'], ['one'])
    """
    start = 0
    while start < len(text):
        found = _CUT.search(text, start + max(size, 1))
        end = found.start() if found else len(text)
        yield text[start:end]
        start = end


class _Reason(NamedTuple):
    begins: str
    """The beginning of the engine's own message."""
    text: str
    """What is wrong, and what to write instead."""
    after: int | None
    """The number to add to the engine's position for that of the character, counted from 1; None if
    the fault begins at the backslash before that position."""


_CLASS: Final = r"Use one such as \p{L}, \p{Nd} or \p{Han}"
_ESCAPE: Final = r"For a literal backslash, write two"
_GROUP: Final = (
    "Number groups from 1 in the order of their parentheses, or name them with (?P<name>...)"
)
_REASONS: Final = (
    _Reason("unbalanced parenthesis", r"a ) without a ( before it. Remove it, or write \)", 1),
    _Reason(
        "nothing to repeat",
        r"a repeat with nothing before it. For the sign itself, write \ first",
        1,
    ),
    _Reason(
        "multiple repeat",
        "a second repeat of the same thing. Remove one, or group the first: (?:...)",
        1,
    ),
    _Reason("min repeat", "a repeat whose smallest count is above its largest. Swap them", 1),
    _Reason("repeat count too big", "a count that is too large. Use a smaller one, or + and *", 1),
    _Reason("bad escape (end", f"a backslash with nothing after it. {_ESCAPE}", None),
    _Reason("bad escape", f"an escape that does not exist. {_ESCAPE}", None),
    _Reason("bad hex", r"hexadecimal digits that are not a character. Write \x41 or \u0041", None),
    _Reason("incomplete escape", r"an escape without all its digits. Write \x41 or \u0041", None),
    _Reason("unknown property", f"a class of characters that does not exist. {_CLASS}", None),
    _Reason(
        "undefined character name", r"a character's name that does not exist. Write \u0041", None
    ),
    _Reason("bad character range", r"a range that goes backwards. For a hyphen, write \-", 0),
    _Reason("expected character set", "an operator of classes without a class after it", 1),
    _Reason(
        "unknown extension",
        "a (? with an unknown sign after it. Write (?:...), (?=...) or (?i:...)",
        1,
    ),
    _Reason("unknown verb", "a (* with an unknown word after it. For a literal *, write \\*", 1),
    _Reason("bad inline flags", "a flag that cannot be set there. Write (?i:...)", 1),
    _Reason("missing group name", f"a group without a name. {_GROUP}", 1),
    _Reason("bad character in group name", "a group's name that is not a word. Use letters", 1),
    _Reason(
        "cannot refer to an open group", "a reference to the group that it is in. Remove it", None
    ),
    _Reason("unknown group", f"a reference to a group that is not there. {_GROUP}", 1),
    _Reason("invalid group", f"a reference to a group that is not there. {_GROUP}", None),
    _Reason("ambiguous group", f"a reference that several groups answer to. {_GROUP}", 0),
    _Reason("group reference not allowed", "a reference to a group where none may stand", 0),
    _Reason(
        "undefined named list", "a named list, which cannot be given here. Write (?:one|two)", None
    ),
    _Reason(
        "missing named list", "a named list, which cannot be given here. Write (?:one|two)", None
    ),
    _Reason("expected lookaround", "a (?( without a condition. Write (?(1)...|...)", 1),
    _Reason("missing", "a part that is not complete", 0),
    _Reason("expected", "a part that is not complete", 0),
)
_FUZZY: Final = ("fuzzy", "cost")
_FUZZY_TEXT: Final = r"a fuzzy match. Remove the braces, or write \{ for a literal brace"
_UNKNOWN: Final = "something that cannot be read"


def explain_pattern_error(error: regex.error) -> str:
    r"""Return what is wrong with a pattern, where, and what to write instead.

    >>> import regex
    >>> def why(pattern):
    ...     try:
    ...         regex.compile(pattern)
    ...     except regex.error as error:
    ...         return explain_pattern_error(error)
    >>> print(why("[ab](c"))
    the ( at character 5 is not closed. Add a ), or write \(
    >>> print(why("a**"))
    at character 3 is a second repeat of the same thing. Remove one, or group the first: (?:...)
    """
    pattern: str = getattr(error, "pattern", None) or ""
    message: str = getattr(error, "msg", "")
    position: int | None = getattr(error, "pos", None)
    if message.startswith(("missing )", "unterminated character set")):
        return _unclosed(pattern, "[" if "set" in message else "(")
    text: str = _UNKNOWN
    after: int | None = 0
    if any(word in message for word in _FUZZY):
        text, after = _FUZZY_TEXT, 1
    else:
        found = next((each for each in _REASONS if message.startswith(each.begins)), None)
        if found is not None:
            text, after = found.text, found.after
    if position is None:
        return f"it has {text}"
    if after is None:
        position, after = pattern.rfind("\\", 0, position), 1
    place = min(max(position + after, 1), max(len(pattern), 1))
    return f"at character {place:,} is {text}"


def _unclosed(pattern: str, opening: str) -> str:
    """Name the last bracket that is not closed."""
    closing = ")" if opening == "(" else "]"
    places = _open_brackets(pattern)
    place = next((at for at, bracket in reversed(places) if bracket == opening), None)
    where = f"the {opening} at character {place + 1:,}" if place is not None else f"a {opening}"
    return f"{where} is not closed. Add a {closing}, or write \\{opening}"


def _open_brackets(pattern: str) -> list[tuple[int, str]]:
    open_: list[tuple[int, str]] = []
    at = 0
    while at < len(pattern):
        each, is_in_class = pattern[at], bool(open_) and open_[-1][1] == "["
        if each == "\\":
            at += 1
        elif each == "[" and not is_in_class:
            open_.append((at, each))
            # A ] that stands first in a class is part of it.
            at += pattern.startswith("^", at + 1)
            at += pattern.startswith("]", at + 1)
        elif (each == "]" and is_in_class) or (each == ")" and open_ and not is_in_class):
            open_.pop()
        elif each == "(" and not is_in_class:
            open_.append((at, each))
        at += 1
    return open_
