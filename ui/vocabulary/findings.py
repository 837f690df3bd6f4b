"""Describe the findings of an audit, which filter the table, and the page's first sentence."""

from __future__ import annotations

import numpy as np

from bpe_core.vocabulary.reachability import Reachability
from ui.components.vocabulary import Finding
from ui.look.labels import counted
from ui.vocabulary.inspection import Inspection
from ui.vocabulary.search import FindingKey

UNREACHABLE_IN_USE = (
    "No text encodes to them. Some occur in words given with their counts, which are not cut."
)
FINDINGS: dict[FindingKey, tuple[str, str]] = {
    "never": (
        "Never used",
        "They do not occur in the text. Unused here does not mean under-trained: that depends on "
        "the text the model was trained on.",
    ),
    "scaffolds": ("Scaffold only", "Never used, but part of a token that is."),
    "unreachable": ("Unreachable", "No text encodes to them."),
    "undecided": ("Undecided", "No text was found that encodes to them, but one may exist."),
    "partial": ("Partial UTF-8", "Their bytes are not whole characters."),
}


def ids_found(
    inspection: Inspection, reachability: Reachability | None
) -> dict[FindingKey, tuple[int, ...] | None]:
    """Return the ids of each finding, ascending; None until they are computed."""
    audit, table = inspection.audit, inspection.table
    unreachable = undecided = None
    if reachability is not None:
        unreachable = tuple(reachability.unreachable)
        # A token used in this text is reachable, although the search could not decide it.
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


def list_findings(inspection: Inspection, reachability: Reachability | None) -> list[Finding]:
    """Return the findings with their counts, without "undecided" if it has no tokens.

    Scaffolds and unreachable tokens are left out if the merges are not known.
    """
    found = ids_found(inspection, reachability)
    without_merges = inspection.derivations is None
    uses = None if inspection.audit is None else inspection.audit.uses
    notes = {key: note for key, (_, note) in FINDINGS.items()}
    if uses is not None and any(uses[id] for id in found["unreachable"] or ()):
        notes["unreachable"] = UNREACHABLE_IN_USE
    return [
        Finding(key, name, notes[key], None if ids is None else len(ids))
        for (key, (name, _)), ids in zip(FINDINGS.items(), found.values(), strict=True)
        if (key != "undecided" or ids)
        and not (without_merges and key in ("scaffolds", "unreachable"))
    ]


def leading_sentence(inspection: Inspection) -> tuple[list[tuple[str, bool]], str]:
    """Return the page's first sentence, as pieces with whether each is bold, and an aside."""
    lengths = inspection.table.length_counts
    ordinary = int(lengths.sum())
    half = int(np.searchsorted(np.cumsum(lengths), ordinary / 2))
    longest = len(lengths) - 1
    aside = f"The longest has {counted(longest, 'byte')}, and half have at most {half:,}."
    tokens = (f"{ordinary:,} tokens", True)
    special = len(inspection.special_ids)
    if special:
        are = "is" if special == 1 else "are"
        aside += f" {counted(special, 'special token')} {are} not included."
    if inspection.audit is None:
        uncounted = f". Their uses in {inspection.text.name} are not counted."
        return [tokens, (uncounted, False)], aside
    unused, scaffolds = len(inspection.audit.never_used), len(inspection.audit.scaffolds)
    if not unused:
        return [("All ", False), tokens, (f" occur in {inspection.text.name}.", False)], aside
    share = 100 * unused / ordinary
    percent = f"{share:.1f}%" if share < 99.95 or unused == ordinary else "more than 99.9%"
    never = f", {unused:,} ({percent}) never occur in {inspection.text.name}"
    if inspection.derivations is None or not scaffolds:
        return [("Of ", False), tokens, (f"{never}.", False)], aside
    return [
        ("Of ", False),
        tokens,
        (f"{never}; ", False),
        (f"{scaffolds:,} of them", True),
        (f" {'serves' if scaffolds == 1 else 'serve'} only to build tokens that do.", False),
    ], aside
