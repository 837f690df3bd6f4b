"""BPE Explorer's own format: JSON that stores a whole tokenizer, with the merges' counts.

Tokens are written in GPT-2's printable characters, so any bytes survive. Only tokens that no merge
makes are listed; the others follow from the merges and cannot contradict them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from bpe_core.errors import ConfigError, FormatError, NewerFormatError
from bpe_core.formats.description import Description, Given, Merges, plain_tokenizer
from bpe_core.formats.json_files import checked_ids, is_token_id
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.tokenizer.token_parts import Triple
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.unicode.byte_alphabet import from_printable, to_printable

FORMAT: Final = "bpe-explorer-tokenizer"
VERSION: Final = 1
FILE_NAME: Final = "tokenizer.bpe.json"
# Room for 16,000 tokens of 4 KB each. Checking them takes six times as much memory.
_MAX_TOKEN_BYTES: Final = 1 << 26


def tokenizer_to_dict(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return a tokenizer as values that JSON can hold.

    >>> tokenizer = Tokenizer(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)], pretokenizer="none")
    >>> tokenizer_to_dict(tokenizer)["merges"]
    [[0, 0, 1]]
    """
    merges = tokenizer.merges
    made = {merge.id for merge in merges}
    counts = [merge.count for merge in merges]
    return {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": tokenizer.fingerprint,
        "pretokenizer": tokenizer.pretokenizer.name,
        "base": tokenizer.base,
        "end_of_word": tokenizer.end_of_word,
        "end_of_word_id": tokenizer.end_of_word_id,
        "special_tokens": dict(tokenizer.special_tokens),
        # Left out if False, so that other files stay as they were.
        **({"whole_words_first": True} if tokenizer.whole_words_first else {}),
        **({"byte_fallback": list(tokenizer.byte_ids.values())} if tokenizer.byte_ids else {}),
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
    for name in ("pretokenizer", "base", "fingerprint"):
        if not isinstance(data.get(name), str):
            raise FormatError(
                f"Expected text as the saved tokenizer's {name}, got {data.get(name)!r:.60}."
            )
    if data["base"] not in ("bytes", "characters"):
        raise FormatError(
            f"Expected 'bytes' or 'characters' as the base, got {data['base']!r:.60}."
        )
    end_of_word, end_of_word_id = data.get("end_of_word"), data.get("end_of_word_id")
    if not isinstance(end_of_word, str | None) or (
        end_of_word_id is not None and not is_token_id(end_of_word_id)
    ):
        raise FormatError(
            f"Expected text as end_of_word and an id as end_of_word_id, got {end_of_word!r:.60} "
            f"and {end_of_word_id!r:.60}."
        )
    vocab = _tokens(data.get("tokens"))
    merges = _triples(data.get("merges"))
    _spell_merged(vocab, merges)
    try:
        get_pretokenizer(data["pretokenizer"])
    except ConfigError as error:
        raise FormatError(f"The saved tokenizer cannot be read. {error}") from None
    whole_words_first = data.get("whole_words_first", False)
    if not isinstance(whole_words_first, bool):
        raise FormatError(
            f"Expected true or false as whole_words_first, got {whole_words_first!r:.60}."
        )
    byte_fallback = cast("object", data.get("byte_fallback", []))
    listed = cast("list[object]", byte_fallback) if isinstance(byte_fallback, list) else [None]
    if not all(map(is_token_id, listed)):
        raise FormatError(f"Expected a list of ids as byte_fallback, got {byte_fallback!r:.60}.")
    merged = Merges(
        vocab=vocab,
        merges=merges,
        pretokenizer=data["pretokenizer"],
        base=data["base"],
        special_tokens=checked_ids(data.get("special_tokens"), "special_tokens"),
        end_of_word=end_of_word,
        end_of_word_id=end_of_word_id,
        counts=_counts(data.get("counts")),
        whole_words_first=whole_words_first,
        byte_fallback=cast("list[int]", listed),
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


def _tokens(value: object) -> dict[int, bytes]:
    vocab: dict[int, bytes] = {}
    for place, entry in enumerate(_rows(value, 2, "tokens")):
        id, written = entry
        if not is_token_id(id) or not isinstance(written, str) or id in vocab:
            raise FormatError(
                f"Expected an unused id and a text as entry {place:,} of the tokens, got "
                f"{entry!r:.80}."
            )
        try:
            vocab[id] = from_printable(written)
        except KeyError as error:
            raise FormatError(
                f"The token {written!r:.60} contains {error.args[0]!r}, which does not represent a "
                "byte."
            ) from None
    return vocab


def _triples(value: object) -> list[tuple[int, int, int]]:
    triples: list[tuple[int, int, int]] = []
    for rank, entry in enumerate(_rows(value, 3, "merges")):
        left, right, made = entry
        if not (is_token_id(left) and is_token_id(right) and is_token_id(made)):
            raise FormatError(f"Expected three ids in merge {rank}, got {entry!r:.80}.")
        triples.append((left, right, made))
    return triples


def _counts(value: object) -> list[int] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise FormatError(f"Expected whole numbers as the counts of the merges, got {value!r:.60}.")
    counts = cast("list[Any]", value)
    for rank, count in enumerate(counts):
        if type(count) is not int:
            raise FormatError(
                f"Expected a whole number as the count of merge {rank:,}, got {count!r:.60}."
            )
    return counts


def _rows(value: object, width: int, what: str) -> list[list[Any]]:
    if not isinstance(value, list):
        raise FormatError(f"Expected a list as the saved tokenizer's {what}, got {value!r:.60}.")
    rows = cast("list[Any]", value)
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(cast("list[Any]", row)) != width:
            raise FormatError(
                f"Expected a list of {width} as entry {place:,} of the saved tokenizer's {what}, "
                f"got {row!r:.60}."
            )
    return cast("list[list[Any]]", rows)
