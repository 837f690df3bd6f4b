"""The tooltips that explain a term where a reader first meets it."""

from __future__ import annotations

import json

import pytest
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


@pytest.mark.parametrize(
    ("page", "terms"),
    [
        ("merge_loop", ("Merge", "Tie", "Pre-token")),
        ("pair_frequencies", ("Merge",)),
        ("token_boundaries", ("Token",)),
        ("vocabulary", ("Token", "Merge")),
    ],
)
def test_the_lead_explains_the_terms_in_it(
    open_app: OpenApp, page: str, terms: tuple[str, ...]
) -> None:
    app = open_app(page)
    lead = next(part.value for part in app.markdown if part.value.startswith(":gray["))
    assert tooltips(app)[lead] == tooltip(*terms)


def test_pair_frequencies_explains_terms_beside_its_figures_and_charts(open_app: OpenApp) -> None:
    app = open_app("pair_frequencies", part="How large?")
    metrics = {metric.label: metric.proto.help for metric in app.metric}
    assert metrics["Training text"] == tooltip("Token")
    assert metrics["Held-out text"] == tooltip("Held-out text")
    app = open_app("pair_frequencies")
    title = next(text for text in tooltips(app) if text.startswith("**Most frequent**"))
    assert tooltips(app)[title] == tooltip("Tie")


def test_token_boundaries_explains_terms_beside_its_switches(open_app: OpenApp) -> None:
    app = open_app("token_boundaries")
    assert app.toggle(key="special").proto.help == tooltip("Special token")
    assert explained_terms(app, "bpe.token_view", "border_terms") == ["Pre-token"]


def test_compare_explains_held_out_text_only_if_it_is_compared_on_it(open_app: OpenApp) -> None:
    assert explained_terms(open_app("compare"), "bpe.verdict") == ["Token", "Held-out text"]
    run = train(Corpus.from_text("hug pug"), TrainingConfig(vocab_size=258))
    app = open_app("compare", run=store_run(Trained("Nothing held out", run, NOTHING_HELD_OUT)))
    assert explained_terms(app, "bpe.verdict") == ["Token"]


def test_vocabulary_explains_terms_beside_its_choice_and_sentence(open_app: OpenApp) -> None:
    app = open_app("vocabulary")
    assert tooltips(app)["Count uses in"] == tooltip("Held-out text")
    assert explained_terms(app, "bpe.verdict") == ["Special token"]


def test_the_lab_explains_pretokens_at_its_comparison_with_longest_match(open_app: OpenApp) -> None:
    found = tooltips(open_app("lab"))
    sentence = next(text for text in found if "pre-tokens" in text)
    assert found[sentence] == tooltip("Pre-token")


def test_train_explains_every_term_where_it_is_first_met(open_app: OpenApp) -> None:
    found = tooltips(open_app("train"))
    for beginning, terms in (
        (":gray[Choose a text", ["Merge"]),
        ("Cuts made before training", ["Pre-token"]),
        ("Vocabulary size", ["Token", "Special token"]),
        (":gray[:small[All 256 bytes", ["Tie"]),
    ):
        assert found[next(text for text in found if text.startswith(beginning))] == tooltip(*terms)
    held_out = next(text for text in found if "Training never sees held-out text" in text)
    assert found[held_out] == tooltip("Held-out text")
    assert set("\n\n".join(found.values()).split("\n\n")) == set(GLOSSARY.values()) - {
        GLOSSARY["Mark"]
    }
