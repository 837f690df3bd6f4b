"""Write a comparison as one JSON file: every figure, and what it takes to repeat and cite them."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Any, cast

import streamlit as st

import bpe_core
from bpe_core.comparison import Blocks, Comparison, Parity, Rates
from bpe_core.corpus import Composition
from bpe_core.tokenizer import gpt2_golden_result
from ui.compare.compared import NEEDS_WHOLE, ComparedText, Evaluation
from ui.compare.figures import cost_table, measured_structures
from ui.compare.language_costs import (
    Costs,
    cached_script_merges,
    chosen_languages,
    compared_languages,
)
from ui.compare.passage import found_differences
from ui.compare.terms import chosen_terms, terms_record
from ui.compare.verdict import Judged
from ui.compare.wording import FIGURES, INTERVAL, LANGUAGES, PARTS
from ui.storage import StoredRun
from ui.tokenizers import Member, known_rates, shelf

Record = dict[str, Any]


def comparison_record(
    *,
    title: str,
    where: str,
    text_sha256: str,
    judged: Judged,
    members: Sequence[Member],
    comparison: Comparison,
    made_on: date,
) -> Record:
    """Return the figures of a comparison on one text, and how they were made.

    The names, titles and texts in it may come from a visitor.
    """
    blocks, version = comparison.blocks, bpe_core.__version__
    figures = comparison.to_dict()
    return {
        "title": title,
        "made_on": made_on.isoformat(),
        "bpe_core": version,
        "python": platform.python_version(),
        "text": {
            "name": where,
            "sha256": text_sha256,
            **{name: figures[name] for name in figures if name not in ("rows", "n_shared")},
        },
        "special_tokens": "read as text",
        "tokenizers": [
            {
                "name": member.name,
                "fingerprint": member.encoder.fingerprint,
                "model": member.encoder.model,
                "engine": member.encoder.engine,
                "source": member.note,
                **row.to_dict(),
            }
            for member, row in zip(members, comparison.rows, strict=True)
        ],
        "n_shared": comparison.n_shared,
        "gpt2_golden": dict(zip(("exact", "of"), gpt2_golden_result(), strict=True)),
        "verdict": {
            "sentence": "".join(text for text, _ in judged.sentence),
            "aside": judged.aside,
            "against": members[judged.place].name,
        },
        "intervals": {
            "share": 0.95,
            "resamples": Blocks.N_RESAMPLES,
            "seed": Blocks.SEED,
            "method": None if blocks is None else blocks.method,
        },
        "differences": [
            {
                "tokenizer": members[0].name,
                "against": other.name,
                "by": by,
                "part": part.name,
                "n_tokens": part.own,
                "n_tokens_against": part.theirs,
                "percent_fewer": part.percent_fewer,
                "interval": [part.low, part.high],
                "n_units": part.n_units,
            }
            for gain, other in zip(judged.gains, members[1:], strict=True)
            for by, parts in (("all", (gain.whole,)), *gain.divisions)
            for part in parts
        ],
        "definitions": {
            definition.name: definition.line
            for definition in (*FIGURES, *LANGUAGES, INTERVAL, PARTS)
        },
        "cite": {
            "text": f"The BPE Explorer authors. BPE Explorer, version {version} ({made_on.year}). "
            f"Tokenizers compared on {made_on:%-d %B %Y}, on a text with SHA-256 {text_sha256}. "
            "Name the tokenizers by their fingerprints, and cite the sources in the definitions "
            "of the figures that you use.",
            "bibtex": "@software{bpe_explorer, title = {BPE Explorer}, author = {{The BPE Explorer "
            f"authors}}}}, year = {{{made_on.year}}}, version = {{{version}}}}}",
        },
    }


def languages_record(found: Costs, members: Sequence[Member]) -> Record:
    """Return what the same sentences cost in each language."""
    texts, costs = found
    names = tuple(text.name for text in texts)
    return Parity(names, tuple(member.name for member in members), tuple(costs)).to_dict()


def scripts_record(members: Sequence[Member]) -> Record:
    """Return how many merges made a token of each script, for each tokenizer of known merges."""
    found: Record = {}
    for member in members:
        if (tokenizer := member.encoder.plain) is not None:
            spent = cached_script_merges(tokenizer)
            counts = spent.after[:, -1].tolist()
            found[member.name] = dict(zip(spent.names, counts, strict=True))
    return found


def composition_record(found: Composition) -> Record:
    """Return the shares of a text's files, file types and scripts.

    >>> composition_record(bpe_core.Corpus.from_text("hug").composition())["scripts"]
    [{'name': 'Latin letters', 'characters': 3, 'share': 1.0}]
    """
    return {
        "files": [each._asdict() for each in found.files],
        "types": [each._asdict() for each in found.types],
        "scripts": [each._asdict() for each in found.scripts],
    }


def to_json(record: Mapping[str, Any]) -> bytes:
    """Return a record as JSON for people and programs; what is not a number becomes null.

    >>> print(to_json({"a": float("nan")}).decode())
    {
      "a": null
    }
    <BLANKLINE>
    """
    # A lone surrogate in a visitor's name would not be UTF-8.
    written = json.dumps(_finite(record), ensure_ascii=False, indent=2)
    return f"{written}\n".encode("utf-8", "replace")


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in cast("Sequence[object]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def record_button(
    stored: StoredRun,
    compared: ComparedText,
    judged: Judged,
    evaluation: Evaluation,
    members: Sequence[Member],
) -> None:
    """Draw the button that writes the file on click; it needs the figures of the whole text."""
    st.download_button(
        "comparison.json",
        _writer(stored, compared, judged, evaluation, members),
        file_name="comparison.json",
        mime="application/json",
        on_click="ignore",
        key="compare_record",
        disabled=compared.pending is not None,
        help="Every figure of all parts of this page, the settings, hashes and versions, and how "
        "to cite them. Each part prints too, best in the light theme."
        if compared.pending is None
        else NEEDS_WHOLE,
    )


def _writer(
    stored: StoredRun,
    compared: ComparedText,
    judged: Judged,
    evaluation: Evaluation,
    members: Sequence[Member],
) -> Callable[[], bytes]:
    comparison, where = compared.comparison, evaluation.where
    # Read here, because on the click there is no session to read from.
    rates, terms, languages = known_rates(), chosen_terms(), chosen_languages()

    def written_now() -> bytes:
        if comparison is None:
            return b""
        record = comparison_record(
            title=stored.title,
            where=where,
            text_sha256=compared.corpus.sha256,
            judged=judged,
            members=members,
            comparison=comparison,
            made_on=datetime.now(UTC).date(),
        )
        if rates != Rates():
            table = cost_table(comparison, members, stored, where, rates)
            rows = {row.name: list(row.figures) for row in table.rows}
            record["costs"] = {**asdict(rates), "note": table.note, "rows": rows}
        if (found := terms_record(terms, members)) is not None:
            record["terms"] = found
        if (costs := compared_languages(languages, members)) is not None:
            record["languages"] = languages_record(costs, members)
        if (structures := measured_structures(members)) is not None:
            record["structure"] = structures
        if compared_with := found_differences(members):
            record["what_differs"] = {
                member.name: found.to_dict() for member, found in compared_with
            }
        record["merges_by_script"] = scripts_record(members)
        if stored.compositions is not None and compared.corpus == stored.held_out:
            record["composition"] = {
                name: None if found is None else composition_record(found)
                for name, found in stored.compositions._asdict().items()
            }
        runs = ((member.name, shelf.trained_run(member, stored)) for member in members)
        record["runs"] = {name: run.to_dict() for name, run in runs if run is not None}
        return to_json(record)

    return written_now
