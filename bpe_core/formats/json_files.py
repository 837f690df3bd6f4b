"""Parse untrusted JSON for the readers, with errors that name the place."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, Final, TypeGuard, cast

from bpe_core.corpus import has_more_values, parse_value
from bpe_core.errors import FormatError
from bpe_core.kernels import without_garbage_collection
from bpe_core.tokenizer import MAX_ID

Part = dict[str, Any]
"""A JSON object."""

MAX_VALUES: Final = 12_000_000
"""The most values in a file: a tokenizer of a million merges has seven million."""
_MARKS: Final = (b"[", b"{", b",", b":")
MAX_TOKENS: Final = 2_000_000
"""The most tokens in a file; the largest vocabularies in use have a quarter of a million."""


def parse_json(data: bytes, what: str) -> dict[str, Any]:
    """Parse a JSON object; raises `FormatError` that names the place of a mistake.

    Files with more values than any tokenizer has are refused before they are parsed, because two
    bytes can become an object of 64 bytes.

    >>> parse_json(b'{"version": 1}', "tokenizer.json")
    {'version': 1}
    """
    # Counted in bytes first, which is fast and never less.
    if len(data) > MAX_VALUES and sum(map(data.count, _MARKS)) > MAX_VALUES:
        text = data.decode(json.detect_encoding(data), "replace")
        if has_more_values(text, MAX_VALUES):
            raise FormatError(
                f"{what} has more than {MAX_VALUES:,} JSON values, more than any tokenizer."
            )
        del text
    try:
        with without_garbage_collection():
            parsed: Any = parse_value(data)
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{what} is not valid UTF-8 at byte {error.start:,}. Use the file as it was saved."
        ) from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{what} is not valid JSON: {error.msg} in line {error.lineno:,}, column "
            f"{error.colno:,}. Use the file as it was saved."
        ) from None
    except ValueError:
        raise FormatError(f"{what} contains a number too long to be an id.") from None
    except RecursionError:
        raise FormatError(f"{what} is nested too deeply for a tokenizer.") from None
    if not isinstance(parsed, dict):
        raise FormatError(f"Expected a JSON object in {what}, got {type(parsed).__name__}.")
    return cast("dict[str, Any]", parsed)


def parse_text(data: bytes, what: str) -> tuple[dict[str, Any], str, str]:
    """Return a JSON object, its byte order mark or "", and the text after that.

    Raises what `parse_json` raises, and `FormatError` for any other encoding than UTF-8.

    >>> parse_text(b'{"version": 1}', "tokenizer.json")
    ({'version': 1}, '', '{"version": 1}')
    """
    parsed = parse_json(data, what)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:  # The json module reads UTF-16 as well.
        raise FormatError(
            f"{what} is not UTF-8 at byte {error.start:,}. Save it as UTF-8."
        ) from None
    mark = BOM_UTF8.decode()
    return (parsed, mark, text[1:]) if text.startswith(mark) else (parsed, "", text)


def looks_like_json(data: bytes, name: str) -> bool:
    """Return True if a file should be read as JSON, judged by its name or first character.

    >>> looks_like_json(b' {"version": 1}', "mine"), looks_like_json(b"YQ== 0", "mine")
    (True, False)
    """
    return name.endswith(".json") or data.removeprefix(BOM_UTF8).lstrip().startswith(b"{")


def is_token_id(value: object) -> TypeGuard[int]:
    """Return True if a value read from JSON can be an id: an integer from 0 to 2^31 - 1.

    >>> is_token_id(7), is_token_id(-1), is_token_id(True), is_token_id("7")
    (True, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_ID


def checked_ids(value: object, what: str) -> dict[str, int]:
    """Return a JSON object of token -> id unchanged; raises `FormatError` for anything else.

    >>> checked_ids({"a": 0}, "the vocabulary")
    {'a': 0}
    """
    if not isinstance(value, dict):
        raise FormatError(
            f"Expected an object of tokens and ids as {what}, got {type(value).__name__}."
        )
    ids = cast("dict[str, Any]", value)
    check_tokens(len(ids), what)
    listed = ids.values()
    if set(map(type, listed)) == {int} and min(listed) >= 0 and max(listed) <= MAX_ID:
        return ids  # one after another takes ten times as long
    for token, id in ids.items():
        if not is_token_id(id):
            raise FormatError(f"Expected an id from 0 for {token!r:.60} in {what}, got {id!r:.60}.")
    return ids


def check_tokens(n_tokens: int, what: str) -> None:
    """Raise `FormatError` if there are more tokens than any tokenizer has.

    >>> check_tokens(262_144, "the vocabulary")
    """
    if n_tokens > MAX_TOKENS:
        raise FormatError(
            f"Expected at most {MAX_TOKENS:,} tokens in {what}, got {n_tokens:,}, more than any "
            "tokenizer has."
        )


def check_object(value: object, what: str) -> Part:
    """Return a part of a file; raises `FormatError` unless it is a JSON object."""
    if not isinstance(value, dict):
        raise FormatError(f"Expected an object as {what}, got {value!r:.80}.")
    return cast("Part", value)


def as_object(value: object) -> Part:
    """Return a value of JSON if it is an object, or else an empty one.

    >>> as_object({"a": 0}), as_object(7)
    ({'a': 0}, {})
    """
    return cast("Part", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a value of JSON if it is an array, or else an empty one.

    >>> as_list([0]), as_list(7)
    ([0], [])
    """
    return cast("list[Any]", value) if isinstance(value, list) else []


def flat_steps(component: object, plural: str) -> Iterator[Part]:
    """Yield the steps of a normalizer or pre-tokenizer, those of sequences within sequences too.

    `plural` is the key of a sequence's list. Raises `FormatError` for a step that is no object.

    >>> steps = [{"type": "NFC"}, {"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}]
    >>> list(flat_steps({"type": "Sequence", "normalizers": steps}, "normalizers"))
    [{'type': 'NFC'}, {'type': 'Lowercase'}]
    """
    left = [] if component is None else [component]
    while left:
        step = check_object(left.pop(), f"the {plural.removesuffix('s')}")
        if step.get("type") != "Sequence":
            yield step
            continue
        inner: object = step.get(plural)
        if not isinstance(inner, list):
            raise FormatError(f"Expected a list of {plural} in a Sequence, got {inner!r:.60}.")
        left += reversed(cast("list[object]", inner))
