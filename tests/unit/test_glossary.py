"""The glossary: one definition of each term, the same in the tooltips and in the docs."""

from __future__ import annotations

import re

import pytest

from tests.new_process import ROOT
from ui.look.glossary import GLOSSARY, tooltip


def test_the_docs_hold_the_same_definitions() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)\n\n((?:.+\n)+)", text, flags=re.MULTILINE)
    documented = {term: " ".join(body.split()) for term, body in sections}
    assert documented == {
        term: body.replace("<|endoftext|>", "`<|endoftext|>`") for term, body in GLOSSARY.items()
    }
    assert list(documented) == list(GLOSSARY)


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_definition_is_one_or_two_sentences_that_start_with_the_term(term: str) -> None:
    definition = GLOSSARY[term]
    assert re.match(rf"(An? )?{term} (is|joins) ", definition, flags=re.IGNORECASE)
    assert 1 <= len(re.findall(r"\.(?: |$)", definition)) <= 2


def test_several_terms_are_explained_in_paragraphs() -> None:
    assert tooltip("Merge", "Tie") == f"{GLOSSARY['Merge']}\n\n{GLOSSARY['Tie']}"
