"""Build the data of a page of the table, and of a node of the trie."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from bpe_core.errors import BpeError
from bpe_core.views.token_packing import token_for_browser
from bpe_core.vocabulary.reachability import Reachability
from ui.components.vocabulary import Kind, PrefixData, ShownToken, TableData, TrieStep, Way
from ui.look.labels import token_label
from ui.vocabulary.findings import FINDINGS, ids_found
from ui.vocabulary.inspection import Inspection
from ui.vocabulary.search import to_query

ROWS_A_PAGE = 100
_MAX_SCRIPTS = 60
_MAX_AHEAD = 6


def shown_token(inspection: Inspection, id: int, rank: int | None = None) -> ShownToken:
    """Return a token as the browser draws it."""
    if rank is None:
        row = inspection.find_row(id)
        rank = int(inspection.table.ranks[row])
    token = inspection.encoder.vocab[id]
    kind: Kind = "special" if id in inspection.special_ids else "symbol" if rank < 0 else "merge"
    tokenizer = inspection.tokenizer
    if tokenizer is not None and tokenizer.byte_ids.get(token) == id:
        # As files write it: the alphabet may have a character of the same byte.
        return {"id": id, "token": f"<0x{token[0]:02X}>", "kind": "byte", "rank": rank}
    if inspection.derivations is None and kind == "symbol":
        kind = "token"
    return {
        "id": id,
        "token": token_for_browser(token),
        "kind": kind,
        "rank": rank,
    }


def table_data(
    inspection: Inspection,
    record: Mapping[str, str],
    reachability: Reachability | None,
    opened: int,
) -> TableData:
    """Return the page of the table that matches a record, with the search's error if any."""
    table, problem = inspection.table, ""
    found = ids_found(inspection, reachability)
    only = next((ids for key, ids in found.items() if key == record["finding"]), None)
    try:
        rows = table.find(to_query(record, only))
    except BpeError as error:
        rows, problem = table.ids[:0], str(error)
    pages = max(1, -(-len(rows) // ROWS_A_PAGE))
    page = min(int(record["page"] or 1), pages)
    start = (page - 1) * ROWS_A_PAGE
    return {
        "record": dict(record),
        "rows": [
            {
                **shown_token(inspection, int(table.ids[row]), int(table.ranks[row])),
                "bytes": int(table.lengths[row]),
                "uses": None if inspection.audit is None else int(table.uses[row]),
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
        "about_uses": f"Occurrences in {inspection.text.name}",
        "has_merges": inspection.derivations is not None,
        "scripts": list(table.scripts.items())[:_MAX_SCRIPTS],
        "findings": [(key, FINDINGS[key][0], len(ids)) for key, ids in found.items() if ids],
    }


def prefix_data(inspection: Inspection, prefix: bytes) -> PrefixData:
    """Return a node of the trie and its branches."""
    tree = inspection.prefixes
    node = tree.node(prefix)
    path = tree.path(prefix)
    steps: list[TrieStep] = [{"token": "", "prefix": ""}]
    for above, below in pairwise(path):
        steps.append({"token": token_for_browser(below[len(above) :]), "prefix": below.hex()})
    ways: list[Way] = []
    for branch in node.branches:
        more = branch.prefix[len(prefix) :]
        ahead = tree.starting_with(branch.prefix, _MAX_AHEAD + len(branch.ids))
        ways.append(
            {
                "more": token_for_browser(more),
                "prefix": branch.prefix.hex(),
                "n": branch.n_tokens,
                "shown": shown_token(inspection, branch.ids[0]) if branch.ids else None,
                "ahead": [shown_token(inspection, id) for id in ahead if id not in branch.ids],
            }
        )
    longest = None if node.n_tokens else tree.longest_match(prefix)
    return {
        "text": prefix.decode("utf-8", "ignore"),
        "path": steps,
        "sentence": _node_sentence(prefix, node.n_tokens, len(node.branches)),
        "own": shown_token(inspection, node.ids[0]) if node.ids else None,
        "longest": None if longest is None else shown_token(inspection, longest),
        "branches": ways,
    }


def _node_sentence(prefix: bytes, n_tokens: int, n_branches: int) -> str:
    if not prefix:
        return f"{n_tokens:,} tokens with {n_branches:,} distinct first bytes."
    begin = "1 token begins" if n_tokens == 1 else f"{n_tokens:,} tokens begin"
    return f"{begin if n_tokens else 'No token begins'} with {token_label(prefix)}."
