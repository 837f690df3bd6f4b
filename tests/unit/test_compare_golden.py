"""The table of golden texts lists every text with its ids and source, and marks failures."""

from __future__ import annotations

from dataclasses import replace

from bpe_core.tokenizer.gpt2 import gpt2, gpt2_golden_cases
from ui.compare.passage import golden_rows, provenances


def test_every_golden_text_has_a_row_with_its_ids_and_its_source() -> None:
    cases = gpt2_golden_cases()
    numbers = list(provenances(cases))
    for case, row in zip(cases, golden_rows(cases), strict=True):
        assert row.label == f"✓ {case.group} [{numbers.index(case.provenance) + 1}]"
        ids = [tile.id for tile in row.cells[0].tiles]
        assert ids == list(case.ids[: len(ids)])
        assert [tile.token for tile in row.cells[0].tiles] == [
            gpt2().vocab[id] for id in case.ids[: len(ids)]
        ]
        assert row.note.split(" and ")[0] == " ".join(map(str, ids))
        assert ("more" in row.note) == (len(ids) < len(case.ids))
    assert sum(provenances(cases).values()) == len(cases)


def test_a_text_with_wrong_ids_is_marked() -> None:
    first, *others = gpt2_golden_cases()
    rows = golden_rows([replace(first, is_exact=False), *others])
    assert rows[0].label.startswith("✗ ")
    assert sum(row.label.startswith("✗") for row in rows) == 1
