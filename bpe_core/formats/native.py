"""BPE Explorer's own format: JSON that stores a whole tokenizer, with the merges' counts.

Tokens are written in GPT-2's printable characters, so any bytes survive. Only tokens that no merge
makes are listed; the others follow from the merges and cannot contradict them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, cast

from bpe_core.errors import ConfigError, FormatError, NewerFormatError
from bpe_core.formats.description import Description, Given, Merges, plain_tokenizer
from bpe_core.formats.json_files import as_list, checked_ids, is_token_id
from bpe_core.formats.token_parts import Triple
from bpe_core.pretokenizers import Spaces, get_pretokenizer
from bpe_core.tokenizer import AddedToken, Tokenizer
from bpe_core.unicode import from_printable, to_printable

FORMAT: Final = "bpe-explorer-tokenizer"
VERSION: Final = 1
FILE_NAME: Final = "tokenizer.bpe.json"
# Room for 16,000 tokens of 4 KB each. Checking them takes six times as much memory.
_MAX_TOKEN_BYTES: Final = 1 << 26
# What each setting must be, and what it is if it is left out.
_SETTINGS: Final[Mapping[str, tuple[str, object, Callable[[object], bool]]]] = {
    "pretokenizer": ("text", None, lambda value: isinstance(value, str)),
    "fingerprint": ("text", None, lambda value: isinstance(value, str)),
    "base": ("'bytes' or 'characters'", None, lambda value: value in ("bytes", "characters")),
    "end_of_word": ("text or null", None, lambda value: isinstance(value, str | None)),
    "end_of_word_id": ("an id or null", None, lambda value: value is None or is_token_id(value)),
    "whole_words_first": ("true or false", False, lambda value: isinstance(value, bool)),
    "leaves_out": ("true or false", False, lambda value: isinstance(value, bool)),
    "spaces": ("a prefix, and true or false as if_missing", None, lambda value: _is_spaces(value)),
}


def tokenizer_to_dict(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return a tokenizer as values that JSON can hold.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> tokenizer_to_dict(tokenizer)["merges"]
    [[0, 0, 1]]
    """
    merges, table = tokenizer.merges, tokenizer.table
    made = {merge.id for merge in merges}
    counts = [merge.count for merge in merges]
    return {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": tokenizer.fingerprint,
        "pretokenizer": tokenizer.pretokenizer.name,
        "base": tokenizer.base,
        "end_of_word": tokenizer.end_of_word,
        "end_of_word_id": tokenizer.table.end_of_word_id,
        "special_tokens": dict(tokenizer.table.special_tokens),
        # Left out without such a step, so that other files stay as they were.
        **({"added": [list(each) for each in tokenizer.added]} if tokenizer.added else {}),
        **({} if tokenizer.own_spaces is None else {"spaces": asdict(tokenizer.own_spaces)}),
        **({"leaves_out": True} if tokenizer.left_out else {}),
        **({"whole_words_first": True} if tokenizer.table.whole_words_first else {}),
        **({"removals": [list(each) for each in table.removals]} if table.removals else {}),
        **(
            {"byte_fallback": list(tokenizer.table.byte_ids.values())}
            if tokenizer.table.byte_ids
            else {}
        ),
        "tokens": [
            [id, to_printable(token)] for id, token in tokenizer.vocab.items() if id not in made
        ],
        "merges": [[merge.left, merge.right, merge.id] for merge in merges],
        "counts": None if None in counts else counts,
    }


def tokenizer_from_dict(data: dict[str, Any]) -> Tokenizer:
    """Build the tokenizer that `tokenizer_to_dict` described; raises `FormatError`.

    Raises `IntegrityError` if its fingerprint differs from the one saved with it.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> tokenizer_from_dict(tokenizer_to_dict(tokenizer)) == tokenizer
    True
    """
    return plain_tokenizer(describe_native(Given(FILE_NAME, b""), data))


def describe_native(given: Given, data: Mapping[str, Any]) -> Description:
    """Describe the tokenizer of a parsed file; raises `FormatError`."""
    version = data.get("version")
    if data.get("format") == FORMAT and isinstance(version, int) and version > VERSION:
        raise NewerFormatError(
            f"The tokenizer was saved by a newer version of BPE Explorer, as version {version} of "
            f"its format; this one reads version {VERSION}. Update BPE Explorer to open it."
        )
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise FormatError(
            f"Expected {FORMAT!r} version {VERSION}, got {data.get('format')!r:.60} version "
            f"{data.get('version')!r:.60}. Save the tokenizer again with this version."
        )
    for name, (wanted, default, is_right) in _SETTINGS.items():
        if not is_right(value := data.get(name, default)):
            raise FormatError(
                f"Expected {wanted} as the saved tokenizer's {name}, got {value!r:.60}."
            )
    vocab: dict[int, bytes] = {}
    for id, written in _entries(data, "tokens", "an id and a text", _is_token):
        if id in vocab:
            raise FormatError(f"The saved tokenizer has two tokens with the id {id:,}.")
        try:
            vocab[id] = from_printable(written)
        except KeyError as error:
            raise FormatError(
                f"The token {written!r:.60} contains {error.args[0]!r}, which does not represent a "
                "byte."
            ) from None
    merges: list[Triple] = list(map(tuple, _entries(data, "merges", "three ids", _is_triple)))
    _spell_merged(vocab, merges)
    try:
        get_pretokenizer(data["pretokenizer"])
    except ConfigError as error:
        raise FormatError(f"The saved tokenizer cannot be read. {error}") from None
    counts = None
    if data.get("counts") is not None:
        counts = _entries(data, "counts", "a whole number", lambda count: type(count) is int)
    merged = Merges(
        vocab=vocab,
        merges=merges,
        pretokenizer=data["pretokenizer"],
        base=data["base"],
        special_tokens=checked_ids(data.get("special_tokens"), "special_tokens"),
        end_of_word=data.get("end_of_word"),
        end_of_word_id=data.get("end_of_word_id"),
        counts=counts,
        whole_words_first=data.get("whole_words_first", False),
        byte_fallback=_entries(
            {"byte_fallback": [], **data}, "byte_fallback", "an id", is_token_id
        ),
        added=[
            AddedToken(*each)
            for each in _entries(
                {"added": [], **data},
                "added",
                "a text, an id, and true or false as special and normalized",
                _is_added,
            )
        ],
        spaces=None if data.get("spaces") is None else Spaces(**data["spaces"]),
        leaves_out=data.get("leaves_out", False),
        removals=[
            (done, id)
            for done, id in _entries(
                {"removals": [], **data}, "removals", "merges done and an id", _is_removal
            )
        ],
    )
    return Description(
        name=given.name, merges=merged, fingerprint=data["fingerprint"], names_cut=True
    )


def _spell_merged(vocab: dict[int, bytes], merges: Sequence[Triple]) -> None:
    """Add the tokens that merges make, each as soon as its parts are there.

    In SentencePiece's family, a merge may come before those that make its parts.
    """
    waiting = defaultdict[int, list[int]](list)
    n_bytes = 0
    for first in range(len(merges)):
        ready = [first]
        while ready:
            rank = ready.pop()
            left, right, made = merges[rank]
            missing = next((id for id in (left, right) if id not in vocab), None)
            if missing is not None:
                waiting[missing].append(rank)
                continue
            # Forty merges, each doubling the last token, would otherwise take all memory.
            n_bytes += len(vocab[left]) + len(vocab[right])
            if n_bytes > _MAX_TOKEN_BYTES:
                raise FormatError(
                    f"By merge {rank} the tokens add up to more than {_MAX_TOKEN_BYTES:,} bytes, "
                    f"which no trained vocabulary reaches."
                )
            vocab[made] = vocab[left] + vocab[right]
            ready += waiting.pop(made, ())
    if waiting:
        rank = min(rank for ranks in waiting.values() for rank in ranks)
        left, right, _ = merges[rank]
        raise FormatError(
            f"Merge {rank} joins {left} and {right}, and at least one is not a token."
        )


def to_json(tokenizer: Tokenizer, training: dict[str, Any] | None = None) -> bytes:
    """Return a tokenizer as JSON in ASCII, with a record of its training if that is known.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> tokenizer_from_dict(json.loads(to_json(tokenizer))) == tokenizer
    True
    """
    record = {} if training is None else {"training": training}
    return json.dumps(tokenizer_to_dict(tokenizer) | record).encode()


def _entries(
    data: Mapping[str, Any], name: str, wanted: str, is_right: Callable[[Any], bool]
) -> list[Any]:
    """Return a list of the file; raises `FormatError` that names the first wrong entry."""
    listed = data.get(name)
    if not isinstance(listed, list):
        raise FormatError(f"Expected a list as the saved tokenizer's {name}, got {listed!r:.60}.")
    for place, entry in enumerate(cast("list[Any]", listed)):
        if not is_right(entry):
            raise FormatError(
                f"Expected {wanted} as entry {place:,} of the saved tokenizer's {name}, got "
                f"{entry!r:.80}."
            )
    return cast("list[Any]", listed)


def _is_spaces(value: object) -> bool:
    if value is None:
        return True
    given = cast("dict[str, object]", value if isinstance(value, dict) else {})
    is_known = given.keys() == {"prefix", "if_missing"}
    return (
        is_known
        and given["prefix"] in ("always", "first", "never")
        and isinstance(given["if_missing"], bool)
    )


def _is_added(entry: object) -> bool:
    parts = as_list(entry)
    return (
        len(parts) == 4
        and (isinstance(parts[0], str) and bool(parts[0]))
        and is_token_id(parts[1])
        and all(isinstance(each, bool) for each in parts[2:])
    )


def _is_removal(entry: object) -> bool:
    parts = as_list(entry)
    return len(parts) == 2 and all(map(is_token_id, parts))


def _is_token(entry: object) -> bool:
    parts = as_list(entry)
    return len(parts) == 2 and is_token_id(parts[0]) and isinstance(parts[1], str)


def _is_triple(entry: object) -> bool:
    parts = as_list(entry)
    return len(parts) == 3 and all(map(is_token_id, parts))
