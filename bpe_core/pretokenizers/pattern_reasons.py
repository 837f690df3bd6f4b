"""Explain in plain words why a pattern is not a valid regular expression, and where."""

from __future__ import annotations

from typing import Final, NamedTuple

import regex


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
