"""Keep the choice of a corpus in the address, so that a reload brings it back."""

from __future__ import annotations

from typing import Final

from bpe_core.corpus.samples import samples
from ui.corpus.address_text import KeptTexts, leave_address
from ui.corpus.own_files import OwnFiles
from ui.corpus.uploads import ReadUploads
from ui.shell import address, workspace
from ui.shell.open_run import OpenRun
from ui.shell.recent_runs import note_given
from ui.storage.held_out_text import UPLOAD_HELD_OUT, upload_held_out
from ui.storage.run_files import CorpusOrigin, Source

HELD_OUT_PERCENT: Final = 8
SOURCE: Final = "corpus"
SAMPLE: Final = "sample"
UPLOAD: Final = "upload"
HELD_OUT: Final = "held_out"
HELD_BY: Final = "held_by"
OWN_FILES: Final = "file"
"""The choice to hold out the visitor's own files; the others are as `Corpus.split` takes them."""
HELD_FILE: Final = "held_file"
"""The use of these files, as `own_files` takes it."""
TEXTS: Final = {"paste": "pasted", "words": "weighted"}
"""The names that typed text has in the address, by its source."""
KEPT_UNDER: Final = {"upload": UPLOAD, "paste": "pasted_id", "words": "weighted_id"}
"""The names that the id of a kept corpus has in the address, by its source."""


def choice_to_address(source: Source) -> None:
    """Put the choice of a corpus in the address, except what the form shows without it."""
    sample = workspace.widget_text("corpus_sample")
    percent = workspace.widget_number("corpus_held_out")
    has_own_corpus = address.query_text("run") == workspace.get(OpenRun).id
    is_usual = source != "sample" or sample == samples()[0].id
    by = workspace.widget_text("corpus_held_by")
    address.set_query(
        **{
            SOURCE: None if source == "sample" and not has_own_corpus else source,
            SAMPLE: None if is_usual else sample,
            UPLOAD: (workspace.get(ReadUploads).id or None) if source == "upload" else None,
            HELD_BY: by if by not in ("", "document") else None,
            HELD_FILE: (upload_held_out(held_out_by()) or None) if by == OWN_FILES else None,
            HELD_OUT: None if percent in (None, HELD_OUT_PERCENT) else round(percent or 0),
        }
    )
    for other, name in TEXTS.items():
        if other != source:
            leave_address(name)
    kept_id = address.query_text(KEPT_UNDER[source]) if source in KEPT_UNDER else None
    note_given(source, kept_id)


def chosen_origin(
    source: Source, held_out_percent: int, held_out_by: str = "document"
) -> CorpusOrigin:
    """Return where the chosen corpus comes from, and what it is kept under."""
    sample_id = workspace.widget_text("corpus_sample") if source == "sample" else ""
    kept_text = workspace.get(KeptTexts).by_name.get(TEXTS.get(source, ""))
    upload_id = workspace.get(ReadUploads).id if source == "upload" else ""
    if kept_text is not None:
        upload_id = kept_text.id
    return CorpusOrigin(source, sample_id, held_out_percent, upload_id, held_out_by)


def held_out_by() -> str:
    """Return what is held out, as `divide` takes it; no text has an empty id."""
    by = workspace.widget_text("corpus_held_by") or "document"
    if by == OWN_FILES:
        return UPLOAD_HELD_OUT + workspace.get(OwnFiles).ids.get(HELD_FILE, "")
    return by


def held_out_widgets(percent: int, by: str) -> dict[str, str | float]:
    """Return the values of the widgets that stand for a division, as `divide` takes it."""
    if (upload_id := upload_held_out(by)) is not None:
        workspace.update(OwnFiles, ids={**workspace.get(OwnFiles).ids, HELD_FILE: upload_id})
        by = OWN_FILES
    return {"corpus_held_out": percent, "corpus_held_by": by}
