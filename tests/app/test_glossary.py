"""The tooltips that explain a term where a reader first meets it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.app.pages import OpenApp
from ui.look.glossary import GLOSSARY, tooltip


def tooltips(app: AppTest) -> dict[str, str]:
    """Return the tooltips of texts by what they are attached to."""
    return {part.value: part.proto.help for part in app.markdown if part.proto.help}


def test_train_explains_every_term_where_it_is_first_met(open_app: OpenApp) -> None:
    app = open_app("train")
    found = tooltips(app)
    for beginning, terms in (
        (":gray[Training repeats", ["Merge"]),
        ("Cuts made before training", ["Pre-token"]),
        ("Vocabulary size", ["Token", "Special token"]),
    ):
        assert found[next(text for text in found if text.startswith(beginning))] == tooltip(*terms)
    held_out = next(text for text in found if "Training never sees held-out text" in text)
    assert found[held_out] == tooltip("Held-out text")
    (how_far,) = (each for each in app.header if each.value == "How far to go")
    helps = [*found.values(), how_far.proto.help]
    explained = set("\n\n".join(helps).split("\n\n"))
    assert explained >= set(GLOSSARY.values()) - {GLOSSARY["Mark"], GLOSSARY["Chat template"]}
