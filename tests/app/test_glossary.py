"""The tooltips that explain a term where a reader first meets it."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.app.pages import OpenApp
from ui.look.glossary import GLOSSARY, tooltip
from ui.storage.run_store import Trained, store_run

_, NOTHING_HELD_OUT = Corpus.from_text("x").split(0.08)


def tooltips(app: AppTest) -> dict[str, str]:
    """Return the tooltips of texts by what they are attached to."""
    return {part.value: part.proto.help for part in app.markdown if part.proto.help}


def explained_terms(app: AppTest, name: str, field: str = "terms") -> list[str]:
    """Return the terms that a component explains, after checking their definitions."""
    part = next(one for one in app.get("bidi_component") if one.proto.component_name == name)
    found = json.loads(part.proto.json)[field]
    assert all(GLOSSARY[term] == definition for term, definition in found)
    return [term for term, _ in found]


def test_compare_explains_held_out_text_only_if_it_is_compared_on_it(open_app: OpenApp) -> None:
    assert explained_terms(open_app("compare"), "bpe.verdict") == ["Token", "Held-out text"]
    run = train(Corpus.from_text("hug pug"), TrainingConfig(vocab_size=258))
    app = open_app("compare", run=store_run(Trained("Nothing held out", run, NOTHING_HELD_OUT)))
    assert explained_terms(app, "bpe.verdict") == ["Token"]


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
