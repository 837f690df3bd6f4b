"""Describe terms under several tokenizers: in sentences, as rows of a table, and as CSV."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import Final

from bpe_core.comparison.terms import (
    TermCut,
    TermCuts,
    TermLoss,
    cut_terms,
)
from bpe_core.tokenizer.protocol import Encoder
from ui.compare.language_figures import in_sentence, plain_cell
from ui.components.term_table import TermCell, TermRow
from ui.look.labels import token_label
from ui.memory.sized_cache import cached

AFTER_A_SPACE: Final = "After a space"
ALONE: Final = "Alone"
FORMS: Final[Mapping[str, str]] = {
    AFTER_A_SPACE: "Each term is encoded after a space, as within a sentence: the space, drawn ␣, "
    "counts.",
    ALONE: "Each term is encoded without a space before it, as at the start of a text.",
}
LOSS: Final = (
    "Loss: how many more tokens it takes than with the best tokenizer on the shelf for that term."
)
_MOST_NAMED: Final = 5


def cuts_of(terms: Sequence[str], encoder: Encoder) -> tuple[TermCuts, ...]:
    """Return how a tokenizer cuts each term; raises what `cut_terms` raises."""
    digest = hashlib.sha256("\n".join(terms).encode()).hexdigest()
    return _cuts(digest, encoder.fingerprint, terms, encoder)


@cached(spinner="Encoding the terms")
def _cuts(
    digest: str, fingerprint: str, _terms: Sequence[str], _encoder: Encoder
) -> tuple[TermCuts, ...]:
    return cut_terms(_terms, _encoder)


def one_token_sentence(names: Sequence[str], cuts: Sequence[Sequence[TermCut]]) -> str:
    """Return how many of the terms are one token with each tokenizer; names may be hostile.

    >>> one, two = (TermCut((1,) * n, (b"x",) * n, n, is_spelled=True) for n in (1, 2))
    >>> one_token_sentence(["Your tokenizer", "GPT-2"], [[one, one], [one, two]])
    '2 of 2 terms are one token with your tokenizer, 1 with GPT-2.'
    """
    counts = [sum(cut.is_one_token for cut in of_one) for of_one in cuts]
    n = len(cuts[0])
    first = (
        f"{counts[0]:,} of {n:,} {'term' if n == 1 else 'terms'} "
        f"{'is' if counts[0] == 1 else 'are'} one token with {in_sentence(names[0])}"
    )
    named = list(zip(names, counts, strict=True))[1 : _MOST_NAMED + 1]
    parts = [first, *(f"{count:,} with {name}" for name, count in named)]
    if rest := counts[_MOST_NAMED + 1 :]:
        parts.append(f"{min(rest):,} to {max(rest):,} with the {len(rest)} others")
    return f"{', '.join(parts)}."


def total_sentence(names: Sequence[str], cuts: Sequence[Sequence[TermCut]]) -> str:
    """Return how many tokens all terms take together, and how many cannot be spelled."""
    parts: list[str] = []
    for name, of_one in list(zip(names, cuts, strict=True))[: _MOST_NAMED + 1]:
        part = f"{sum(cut.n_tokens for cut in of_one):,} with {in_sentence(name)}"
        if n := sum(not cut.is_spelled for cut in of_one):
            part += f" (which cannot spell {n:,} of them)"
        parts.append(part)
    return f"Tokens for all of them: {', '.join(parts)}."


def term_rows(found: Sequence[TermLoss], encoders: Sequence[Encoder]) -> list[TermRow]:
    """Return a row for each term: its loss, and under each tokenizer the count and the cut."""
    return [
        TermRow(
            each.term,
            loss_words(each.loss),
            tuple(
                _cell(cut, each, encoder) for cut, encoder in zip(each.cuts, encoders, strict=True)
            ),
        )
        for each in found
    ]


def loss_words(loss: int | None) -> str:
    """Format a loss: 0, +2, or the reason why there is none."""
    if loss is None:
        return "cannot spell"
    return f"+{loss:,}" if loss else "0"


def _cell(cut: TermCut, found: TermLoss, encoder: Encoder) -> TermCell:
    counts = {each.n_tokens if each.is_spelled else None for each in found.cuts}
    return TermCell(
        count=f"{cut.n_tokens:,}" if cut.is_spelled else "cannot spell",
        # A token that covers no text, such as a marker for the end of a word, is shown itself.
        tokens=tuple(
            (part or (b"" if id_ is None else encoder.vocab[id_]), id_)
            for part, id_ in zip(cut.parts, cut.ids, strict=True)
        ),
        is_best=cut.is_spelled and cut.n_tokens == found.fewest and len(counts) > 1,
    )


def terms_csv(
    names: Sequence[str],
    chosen: int,
    found: Sequence[TermLoss],
    cuts: Mapping[str, Sequence[TermCuts]],
) -> bytes:
    """Return the terms in their order as CSV, one line each.

    `cuts` holds the cuts by each tokenizer of each term. A count is empty where the tokenizer
    cannot spell the term. A cell that a spreadsheet would run as a formula gets an apostrophe in
    front.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    head = ["term", f"loss of {names[chosen]}"]
    for name in names:
        head += [f"tokens after a space: {name}", f"tokens alone: {name}"]
        head += [f"cut after a space: {name}", f"ids after a space: {name}"]
    writer.writerow(head)
    for each in found:
        line = [plain_cell(each.term), "" if each.loss is None else each.loss]
        for cut in cuts[each.term]:
            spaced, alone = cut.in_text, cut.alone
            line += [one.n_tokens if one.is_spelled else "" for one in (spaced, alone)]
            line.append(plain_cell(cut_label(spaced)))
            line.append(" ".join("none" if id_ is None else str(id_) for id_ in spaced.ids))
        writer.writerow(line)
    return buffer.getvalue().encode("utf-8-sig", "replace")


def cut_label(cut: TermCut) -> str:
    """Return a cut as one line, such as "␣hug | ging"."""
    return " | ".join(token_label(part) for part in cut.parts if part)
