"""Write what a run continues into the head of its archive, and read it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from bpe_core.errors import FormatError
from bpe_core.runs import Continuation, TermCost
from bpe_core.tokenizer import Tokenizer


def continuation_to_dict(continues: Continuation) -> dict[str, object]:
    """Return the entries of an archive's head.

    The base has none of its own: it is the run's tokenizer without the new merges.

    >>> from bpe_core.tokenizer import gpt2
    >>> found = continuation_to_dict(Continuation(gpt2(), (5,), (b"hug",)))
    >>> found["base_merges"], found["counts"], found["left_out"]
    (50000, [5], ['687567'])
    """
    return {
        "base_merges": continues.base.n_merges,
        "counts": list(continues.counts),
        "left_out": [token.hex() for token in continues.left_out],
        "terms": [term_to_dict(cost) for cost in continues.terms],
        "characters": list(continues.characters),
        "character_coverage": continues.character_coverage,
    }


def parse_continuation(head: Mapping[str, Any], tokenizer: Tokenizer) -> Continuation:
    """Return what a head describes. Raises FormatError, and ConfigError for a wrong number.

    >>> from bpe_core.tokenizer import gpt2
    >>> head = {"base_merges": 49_999, "counts": [5]}
    >>> parse_continuation(head, gpt2()).counts
    (5,)
    """
    counts = _listed(head, "counts")
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise FormatError("Expected the counts of the new merges as whole numbers, 0 or more.")
    continues = Continuation(
        tokenizer.truncated(cast("int", head.get("base_merges"))),
        tuple(cast("list[int]", counts)),
        # Files of earlier versions have none of these.
        tuple(map(_token, _listed(head, "left_out", []))),
        tuple(map(parse_term, _listed(head, "terms", []))),
        _characters(_listed(head, "characters", []), tokenizer),
        _coverage(head.get("character_coverage", 0.0)),
    )
    if continues.n_term_merges > len(counts):
        raise FormatError("Its terms took more merges than it has.")
    if 0 in counts[continues.n_term_merges :]:
        raise FormatError("Expected a count of 1 or more for each merge that is not for a term.")
    return continues


def _characters(ids: list[object], tokenizer: Tokenizer) -> tuple[int, ...]:
    known = {*tokenizer.base_ids.values()} if tokenizer.table.byte_ids else set[int]()
    for id in ids:
        if not isinstance(id, int) or id not in known:
            raise FormatError(f"Expected the ids of characters that were added, got {id!r:.60}.")
    return tuple(cast("list[int]", ids))


def _coverage(found: object) -> float:
    if not isinstance(found, (int, float)) or not 0 <= found <= 1:
        raise FormatError(f"Expected a share of characters to cover, got {found!r:.60}.")
    return float(found)


def term_to_dict(cost: TermCost) -> dict[str, object]:
    """Return a term and its cost as JSON values.

    >>> parse_term(term_to_dict(TermCost(b"hug", None, reason="Cut."))).reason
    'Cut.'
    """
    is_text = isinstance(cost.term, str)
    return {
        "term": cost.term if isinstance(cost.term, str) else cost.term.hex(),
        "is_text": is_text,
        "token": None if cost.token is None else cost.token.hex(),
        "tokens_added": cost.tokens_added,
        "tokens_saved": cost.tokens_saved,
        "reason": cost.reason,
        "occurrences": cost.occurrences,
        "characters_added": cost.characters_added,
    }


def parse_term(found: object) -> TermCost:
    """Return what `term_to_dict` described; raise FormatError if it is damaged."""
    match found:
        case {
            "term": str(term),
            "is_text": bool(is_text),
            "token": str() | None as token,
            "tokens_added": int(added),
            "tokens_saved": int(saved),
            "reason": str() | None as reason,
        } if min(added, saved) >= 0:
            # Files of earlier versions do not have these.
            further = cast("Mapping[str, object]", found)
            occurrences, characters = further.get("occurrences"), further.get("characters_added", 0)
            if occurrences is not None and not (isinstance(occurrences, int) and occurrences >= 0):
                raise FormatError("Expected the occurrences of a term as a whole number.")
            if not (isinstance(characters, int) and characters >= 0):
                raise FormatError("Expected the characters of a term as a whole number.")
            made = None if token is None else _token(token)
            given = term if is_text else _token(term)
            return TermCost(given, made, added, saved, reason, occurrences, characters)
        case _:
            raise FormatError("Expected each term with what it cost, or with a reason.")


def _token(found: object) -> bytes:
    try:
        return bytes.fromhex(cast("str", found))
    except (TypeError, ValueError):
        raise FormatError("Expected the bytes of a token as a hexadecimal text.") from None


def _listed(
    head: Mapping[str, Any], name: str, default: list[object] | None = None
) -> list[object]:
    found = head.get(name, default)
    if not isinstance(found, list):
        raise FormatError(f"Expected a list as {name} in its head, got {found!r:.60}.")
    return cast("list[object]", found)
