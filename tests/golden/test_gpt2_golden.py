"""GPT-2 ids that others have published or on which two libraries agree."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from bpe_core.tokenizer import gpt2, gpt2_golden_cases, gpt2_golden_result

GOLDEN = json.loads(
    resources.files("bpe_core").joinpath("data/gpt2_golden.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: ascii(case["text"][:24]))
def test_gpt2_gives_the_golden_ids(case: dict[str, object]) -> None:
    text, ids = str(case["text"]), case["ids"]
    assert gpt2().encode(text) == ids
    assert gpt2().decode(gpt2().encode(text)) == text
    assert [segment.id for segment in gpt2().segments(text)] == ids


def test_the_golden_result_counts_every_case() -> None:
    assert gpt2_golden_result() == (len(GOLDEN["cases"]), len(GOLDEN["cases"]))
    assert len(GOLDEN["cases"]) >= 80


def test_each_golden_case_names_the_source_of_its_ids() -> None:
    cases = gpt2_golden_cases()
    for case in cases:
        assert "tiktoken" in case.provenance
        assert "tokenizers" in case.provenance
        assert case.is_exact
    assert sum("published" in case.provenance for case in cases) >= 10
    assert len({case.text for case in cases}) == len(cases)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("The quick brown fox", [464, 2068, 7586, 21831]),
        ("To be or not to be", [2514, 307, 393, 407, 284, 307]),
    ],
)
def test_gpt2_gives_the_ids_that_are_widely_quoted(text: str, ids: list[int]) -> None:
    assert gpt2().encode(text) == ids
