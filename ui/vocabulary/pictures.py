"""What the vocabulary's components are sent: a page of the table, a token, a node of the trie."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.vocabulary.derivation import Derivations
from bpe_core.vocabulary.reachability import REASONS, Reachability
from ui.components.vocabulary import (
    CardData,
    Finding,
    Kind,
    Known,
    PrefixData,
    Step,
    TableData,
    TreePart,
    Way,
)
from ui.look.labels import token_for_browser, token_label
from ui.vocabulary.looks import Looked
from ui.vocabulary.search import FindingKey, query_of

ROWS_A_PAGE = 100
_MOST_SCRIPTS = 60
_MOST_BUILT = 60
_MOST_CODE_POINTS = 16
_MOST_BYTES = 48
_MOST_AHEAD = 6

UNREACHABLE_IN_USE = (
    "No text at all encodes to them. The words given with their counts are not cut, and hold some."
)
FINDINGS: dict[FindingKey, tuple[str, str]] = {
    "never": (
        "Never used",
        "They stand nowhere in the text. Unused here does not mean under-trained: that depends on "
        "the text a model learned from.",
    ),
    "scaffolds": ("Scaffold only", "Never used, but a part of a token that is."),
    "unreachable": ("Unreachable", "No text at all encodes to them."),
    "undecided": ("Undecided", "No such text was found, nor a reason why not."),
    "partial": ("Partial UTF-8", "Their bytes cut a character apart."),
}


def ids_found(
    looked: Looked, reachability: Reachability | None
) -> dict[FindingKey, tuple[int, ...] | None]:
    """The tokens of each finding, ascending; None while it isn't known which."""
    audit, table = looked.audit, looked.table
    unreachable = undecided = None
    if reachability is not None:
        unreachable = tuple(reachability.unreachable)
        # What a text uses is reachable, whatever the search could find out.
        undecided = tuple(
            id for id in reachability.undecided if audit is None or not audit.uses[id]
        )
    partial = table.ids[table.partial_utf8 & ~table.special]
    return {
        "never": audit and audit.never_used,
        "scaffolds": audit and audit.scaffolds,
        "unreachable": unreachable,
        "undecided": undecided,
        "partial": tuple(partial.tolist()) if audit is None else audit.partial_utf8,
    }


def findings_of(looked: Looked, reachability: Reachability | None) -> list[Finding]:
    """All findings with their counts; what is undecided only where there is some.

    Without merges nothing is a scaffold, and what no text encodes to is not known.
    """
    found = ids_found(looked, reachability)
    without_merges = looked.derivations is None
    uses = None if looked.audit is None else looked.audit.uses
    notes = {key: note for key, (_, note) in FINDINGS.items()}
    if uses is not None and any(uses[id] for id in found["unreachable"] or ()):
        notes["unreachable"] = UNREACHABLE_IN_USE
    return [
        Finding(key, name, notes[key], None if ids is None else len(ids))
        for (key, (name, _)), ids in zip(FINDINGS.items(), found.values(), strict=True)
        if (key != "undecided" or ids)
        and not (without_merges and key in ("scaffolds", "unreachable"))
    ]


def known(looked: Looked, id: int, rank: int | None = None) -> Known:
    """A token as the browser draws it."""
    if rank is None:
        row = looked.row_of(id)
        rank = int(looked.table.ranks[row])
    kind: Kind = "special" if id in looked.special_ids else "symbol" if rank < 0 else "merge"
    if looked.derivations is None and kind == "symbol":
        kind = "token"
    return {
        "id": id,
        "token": token_for_browser(looked.encoder.vocab[id]),
        "kind": kind,
        "rank": rank,
    }


def table_data(
    looked: Looked, record: Mapping[str, str], reachability: Reachability | None, opened: int
) -> TableData:
    """The page of the table that a record asks for; an error of the search is told in it."""
    table, problem = looked.table, ""
    found = ids_found(looked, reachability)
    only = next((ids for key, ids in found.items() if key == record["finding"]), None)
    try:
        rows = table.find(query_of(record, only))
    except BpeError as error:
        rows, problem = table.ids[:0], str(error)
    pages = max(1, -(-len(rows) // ROWS_A_PAGE))
    page = min(int(record["page"] or 1), pages)
    start = (page - 1) * ROWS_A_PAGE
    return {
        "asked": dict(record),
        "rows": [
            {
                **known(looked, int(table.ids[row]), int(table.ranks[row])),
                "bytes": int(table.lengths[row]),
                "uses": None if looked.audit is None else int(table.uses[row]),
                "built": int(table.n_built_on[row]),
            }
            for row in rows[start : start + ROWS_A_PAGE].tolist()
        ],
        "start": start,
        "n_found": len(rows),
        "n_all": len(table),
        "page": page,
        "pages": pages,
        "sort": record["sort"] or "id",
        "opened": opened,
        "problem": problem,
        "about_uses": f"How often it stands in {looked.text.name}",
        "has_merges": looked.derivations is not None,
        "scripts": list(table.scripts.items())[:_MOST_SCRIPTS],
        "findings": [(key, FINDINGS[key][0], len(ids)) for key, ids in found.items() if ids],
    }


def card_data(looked: Looked, id: int, reachability: Reachability | None) -> CardData:
    """All that is told of one token."""
    row = looked.row_of(id)
    token = looked.encoder.vocab[id]
    derivations = looked.derivations
    tree = () if derivations is None else derivations.tree(id)
    built = () if derivations is None else derivations.built_on(id)
    own = known(looked, id)
    uses = None if looked.audit is None else int(looked.table.uses[row])
    return {
        "known": own,
        "facts": [
            ("id", f"{id:,}"),
            _origin(looked, own),
            ("bytes", _hex(token)),
            ("characters", _characters(token)),
            (f"in {looked.text.name}", "not counted" if uses is None else _times(uses)),
        ],
        "warning": _warning(looked, id, reachability),
        "tree": [
            TreePart(
                **known(looked, node.id, -1 if node.rank is None else node.rank), parts=node.parts
            )
            for node in tree
        ],
        "tree_sentence": "" if derivations is None else _tree_sentence(derivations, id),
        "built": [known(looked, made) for made in built[:_MOST_BUILT]],
        "built_sentence": "" if derivations is None else _built_sentence(derivations, id),
    }


def prefix_data(looked: Looked, prefix: bytes) -> PrefixData:
    """A node of the trie and its ways on."""
    tree = looked.prefixes
    node = tree.node(prefix)
    path = tree.path(prefix)
    steps: list[Step] = [{"token": "", "prefix": ""}]
    for above, below in pairwise(path):
        steps.append({"token": token_for_browser(below[len(above) :]), "prefix": below.hex()})
    ways: list[Way] = []
    for branch in node.branches:
        more = branch.prefix[len(prefix) :]
        ahead = tree.starting_with(branch.prefix, _MOST_AHEAD + len(branch.ids))
        ways.append(
            {
                "more": token_for_browser(more),
                "prefix": branch.prefix.hex(),
                "n": branch.n_tokens,
                "known": known(looked, branch.ids[0]) if branch.ids else None,
                "ahead": [known(looked, id) for id in ahead if id not in branch.ids],
            }
        )
    longest = None if node.n_tokens else tree.longest_match(prefix)
    return {
        "text": prefix.decode("utf-8", "ignore"),
        "path": steps,
        "sentence": _node_sentence(prefix, node.n_tokens, len(node.branches)),
        "own": known(looked, node.ids[0]) if node.ids else None,
        "longest": None if longest is None else known(looked, longest),
        "branches": ways,
    }


def _node_sentence(prefix: bytes, n_tokens: int, n_ways: int) -> str:
    if not prefix:
        return f"{n_tokens:,} tokens begin in {n_ways:,} ways."
    begin = "1 token begins" if n_tokens == 1 else f"{n_tokens:,} tokens begin"
    return f"{begin if n_tokens else 'No token begins'} with {token_label(prefix)}."


def _origin(looked: Looked, own: Known) -> tuple[str, str]:
    if own["kind"] == "special":
        return "kind", "special token, never merged"
    tokenizer = looked.tokenizer
    if tokenizer is None:
        return "kind", f"{looked.encoder.model} token: no merge is known that makes it"
    if own["id"] == tokenizer.end_of_word_id:
        return "kind", "end-of-word marker"
    if own["kind"] == "symbol":
        return "kind", "base symbol, there before any merge"
    return "made by merge", f"{own['rank'] + 1:,} of {tokenizer.n_merges:,}"


def _hex(token: bytes) -> str:
    shown = token[:_MOST_BYTES].hex(" ").upper()
    return shown if len(token) <= _MOST_BYTES else f"{shown} … {len(token):,} in all"


def _characters(token: bytes) -> str:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "no whole ones: it cuts a character apart"
    names = [f"U+{ord(c):04X}" for c in text[:_MOST_CODE_POINTS]]
    if len(text) == 1:
        return f"{names[0]} {unicodedata.name(text, '')}".strip()
    more = f" … {len(text):,} in all" if len(text) > _MOST_CODE_POINTS else ""
    return f"{len(text):,}: {' '.join(names)}{more}" if not more else f"{' '.join(names)}{more}"


def _times(n: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _warning(looked: Looked, id: int, reachability: Reachability | None) -> str:
    if reachability is not None and id in reachability.unreachable:
        of_words = looked.audit is not None and looked.audit.uses[id]
        but = ". It is used in a word given with its count, which is not cut" if of_words else ""
        return f"Unreachable: {REASONS[reachability.unreachable[id]]}{but}."
    if looked.audit is not None and id in looked.audit.scaffolds:
        return "A scaffold: never used itself, but a part of a token that is."
    return ""


def _tree_sentence(derivations: Derivations, id: int) -> str:
    symbols = derivations.n_symbols(id)
    merges = symbols - 1
    return (
        f"{symbols:,} symbols, {merges:,} {'merge' if merges == 1 else 'merges'}. Each merge spans "
        "what it joined; the number is its place among all merges."
    )


def _built_sentence(derivations: Derivations, id: int) -> str:
    n_direct = len(derivations.built_on(id))
    if not n_direct:
        return "No merge takes it as a part."
    n_all = len(derivations.all_built_on(id))
    direct = "1 token is" if n_direct == 1 else f"{n_direct:,} tokens are"
    shown = f" The first {_MOST_BUILT}:" if n_direct > _MOST_BUILT else ""
    indirect = f", {n_all:,} have it in their making" if n_all > n_direct else ""
    return f"{direct} made of it and another{indirect}.{shown}"


def leading_sentence(looked: Looked) -> tuple[list[tuple[str, bool]], str]:
    """What the page says first, in pieces of text with whether each is bold, and an aside."""
    lengths = looked.table.length_counts
    ordinary = int(lengths.sum())
    half = int(np.searchsorted(np.cumsum(lengths), ordinary / 2))
    aside = f"The longest has {len(lengths) - 1:,} bytes; half of them have at most {half:,}."
    tokens = (f"{ordinary:,} tokens", True)
    special = len(looked.special_ids)
    if special:
        specials = "1 special token" if special == 1 else f"{special:,} special tokens"
        aside += f" {specials} {'is' if special == 1 else 'are'} not counted here."
    if looked.audit is None:
        return [tokens, (f": which of them {looked.text.name} uses is not counted.", False)], aside
    unused, scaffolds = len(looked.audit.never_used), len(looked.audit.scaffolds)
    if not unused:
        return [("All ", False), tokens, (f" stand in {looked.text.name}.", False)], aside
    share = 100 * unused / ordinary
    percent = f"{share:.1f}%" if share < 99.95 or unused == ordinary else "more than 99.9%"
    never = f", {unused:,} ({percent}) never stand in {looked.text.name}"
    if looked.derivations is None:
        return [("Of ", False), tokens, (f"{never}.", False)], aside
    return [
        ("Of ", False),
        tokens,
        (f"{never}; ", False),
        (f"{scaffolds:,} of them", True),
        (" only build tokens that do.", False),
    ], aside
