"""What the readers share: parsing JSON that may hold anything, and saying what is wrong."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from typing import Any, cast

from bpe_core.errors import FormatError


def parse_json(data: bytes, what: str) -> dict[str, Any]:
    """Read a JSON object; raises `FormatError` that names the place where it isn't one.

    >>> parse_json(b'{"version": 1}', "tokenizer.json")
    {'version': 1}
    """
    try:
        parsed: Any = json.loads(data)
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{what} is not UTF-8 at byte {error.start:,}. Give the file as it was saved."
        ) from None
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{what} is not JSON: {error.msg} in line {error.lineno:,}, column {error.colno:,}. "
            f"Give the file as it was saved."
        ) from None
    except ValueError:
        raise FormatError(f"{what} holds a number too long to be an id.") from None
    except RecursionError:
        raise FormatError(f"{what} is nested too deeply to be a tokenizer.") from None
    if not isinstance(parsed, dict):
        raise FormatError(f"{what} holds a JSON {type(parsed).__name__}, not an object.")
    return cast("dict[str, Any]", parsed)


def looks_like_json(data: bytes, name: str) -> bool:
    """Tell whether a file is to be read as JSON: by its first character, or else by its name.

    >>> looks_like_json(b' {"version": 1}', "mine"), looks_like_json(b"YQ== 0", "mine")
    (True, False)
    """
    return name.endswith(".json") or data.removeprefix(BOM_UTF8).lstrip().startswith(b"{")


def is_id(value: object) -> bool:
    """Tell whether a value read from JSON can be a token's id: an integer from 0 to 2^31 - 1.

    >>> is_id(7), is_id(-1), is_id(True), is_id("7")
    (True, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def checked_ids(value: object, what: str) -> dict[str, int]:
    """Return a JSON object of token -> id as it is; raises `FormatError` for anything else.

    >>> checked_ids({"a": 0}, "the vocabulary")
    {'a': 0}
    """
    if not isinstance(value, dict):
        raise FormatError(f"{what} is no object of tokens and ids, but {type(value).__name__}.")
    ids = cast("dict[str, Any]", value)
    for token, id in ids.items():
        if not is_id(id):
            raise FormatError(f"{what} gives {token!r} the id {id!r}, which is none.")
    return ids
