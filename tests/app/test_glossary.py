"""The tooltips that explain a term where a reader first meets it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from ui.look.glossary import GLOSSARY, explain

OpenApp = Callable[..., AppTest]


def tooltips(app: AppTest) -> dict[str, str]:
    """Return the tooltips of texts by what they are attached to."""
    return {part.value: part.proto.help for part in app.markdown if part.proto.help}


@pytest.mark.parametrize(
    ("page", "terms"),
    [
        ("merge_loop", ("Merge", "Tie", "Pre-token")),
        ("pair_frequencies", ("Merge", "Token", "Held-out text")),
        ("token_boundaries", ("Token", "Pre-token", "Special token")),
        ("compare", ("Token", "Held-out text")),
        ("vocabulary", ("Token", "Merge", "Special token")),
    ],
)
def test_the_lead_of_a_page_explains_the_pages_terms(
    open_app: OpenApp, page: str, terms: tuple[str, ...]
) -> None:
    app = open_app(page)
    lead = next(part.value for part in app.markdown if part.value.startswith(":gray["))
    assert tooltips(app)[lead] == explain(*terms)


def test_train_explains_every_term_where_it_is_first_met(open_app: OpenApp) -> None:
    found = tooltips(open_app("train"))
    for beginning, terms in (
        (":gray[Choose a text", ["Merge"]),
        ("Cuts made before training", ["Pre-token"]),
        ("Vocabulary size", ["Token", "Special token"]),
        (":gray[:small[All 256 bytes", ["Tie"]),
    ):
        assert found[next(text for text in found if text.startswith(beginning))] == explain(*terms)
    held_out = next(text for text in found if "Training never sees held-out text" in text)
    assert found[held_out] == explain("Held-out text")
    assert set("\n\n".join(found.values()).split("\n\n")) == set(GLOSSARY.values())
