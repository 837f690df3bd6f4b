"""Draw the button that makes the report on click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.gpt2 import gpt2_golden_result
from ui.compare.compared import NEEDS_WHOLE, ComparedText
from ui.compare.costs_part import CostTable
from ui.compare.language_figures import cached_script_merges
from ui.compare.languages import Costs
from ui.compare.passage import Passage
from ui.compare.report import Compared, ComparisonReport, report_html
from ui.compare.shelf_form import describe_member
from ui.compare.terms_part import Terms
from ui.compare.verdict_part import Judged
from ui.components.share_bars import ShareBar
from ui.run.composition_bars import composition_groups
from ui.storage.run_store import StoredRun
from ui.tokenizers import shelf
from ui.tokenizers.shelf import Member


def report_button(
    room: DeltaGenerator,
    stored: StoredRun,
    compared: ComparedText,
    judged: Judged,
    where: str,
    members: Sequence[Member],
    passage: Passage,
    languages: Costs | None,
    *,
    costs: CostTable | None = None,
    terms: Terms | None = None,
) -> None:
    """Draw the button in the place reserved for it; it needs the figures of the whole text."""
    corpus, comparison = compared.corpus, compared.comparison

    def made_now() -> bytes:
        if comparison is None:
            return b""
        return report_html(
            ComparisonReport(
                title=stored.title,
                made_on=f"{datetime.now(UTC):%-d %B %Y}",
                where=where,
                text_sha256=corpus.sha256,
                judged=judged,
                compared=[
                    Compared(member.name, describe_member(member), member.note, member.encoder)
                    for member in members
                ],
                comparison=comparison,
                passage=passage.text,
                passage_name=passage.source,
                golden=gpt2_golden_result(),
                scripts=[
                    (member.name, cached_script_merges(member.merges_tokenizer))
                    for member in members
                    if member.merges_tokenizer is not None
                ],
                languages=languages,
                compositions=_compositions(stored, corpus),
                costs=costs,
                terms=terms,
                runs=_records(stored, members),
            )
        )

    room.download_button(
        "Download the report",
        made_now,
        file_name="tokenizers-compared.html",
        mime="text/html",
        on_click="ignore",
        key="compare_report",
        disabled=not compared.is_whole,
        help=None if compared.is_whole else NEEDS_WHOLE,
    )


def _records(stored: StoredRun, members: Sequence[Member]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what each run among the tokenizers can be repeated with."""
    runs = ((member.name, shelf.trained_run(member, stored)) for member in members)
    return [(name, run.to_dict()) for name, run in runs if run is not None]


def _compositions(stored: StoredRun, corpus: Corpus) -> Sequence[tuple[str, Sequence[ShareBar]]]:
    """Return the shares of training and held-out text; none if another text is compared."""
    if stored.compositions is None or corpus != stored.held_out:
        return ()
    return composition_groups(*stored.compositions)
