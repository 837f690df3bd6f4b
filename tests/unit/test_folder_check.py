"""A training also measures what its settings give on folders that training never saw."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import bpe_core as bpe
from bpe_core.files import Entry
from ui.storage import CorpusOrigin, Trained, load_run, store_run
from ui.work.jobs import StoredTraining, TrainingRequest, train_and_store

CONFIG = bpe.TrainingConfig(400)
ORIGIN = CorpusOrigin("upload", "", 10)


def projects(n_folders: int = 40) -> bpe.Corpus:
    """Make documents of some folders; each folder has words that no other has."""
    draw = random.Random(0)
    names, texts = [], []
    for folder in range(n_folders):
        own = ["".join(draw.choices("abcdefghijklmnop", k=9)) for _ in range(20)]
        for file in range(10):
            words = draw.choices([*own, "the", "of", "and", "in", "is"], k=200)
            names.append(f"{folder}/{file}.txt")
            texts.append(" ".join(words))
    return bpe.Corpus.from_documents(texts, names)


def trained(corpus: bpe.Corpus, by: str = "document", config: bpe.TrainingConfig = CONFIG) -> str:
    request = TrainingRequest(
        id=Entry.new_id(),
        title="Projects",
        config=config,
        held_out_share=0.1,
        origin=replace(ORIGIN, held_out_by=by),
    )
    stored = train_and_store(
        request,
        corpus,
        base=None,
        store=store_run,
        report=lambda _: None,
        should_stop=lambda: False,
        is_wanted=lambda: True,
    )
    assert isinstance(stored, StoredTraining)
    return stored.run_id


pytestmark = pytest.mark.usefixtures("store")


def test_a_tokenizer_of_other_folders_is_kept_where_folders_are_newer() -> None:
    corpus = projects()
    run_id = trained(corpus)
    newness = load_run(run_id).newness
    assert newness is not None
    assert newness.unseen < 0.05
    assert newness.unseen_by_folder is not None
    assert newness.unseen_by_folder > 0.5
    check = load_run(run_id).by_folder
    assert check is not None
    training, held_out = corpus.split(0.1, 0, "folder")
    assert check.tokenizer == bpe.train(training, CONFIG).tokenizer
    assert check.held_out == held_out
    assert (check.held_out.units, check.held_out.how) == (held_out.units, held_out.how)


def test_where_folders_are_no_newer_or_were_held_out_there_is_no_second_tokenizer() -> None:
    assert load_run(trained(projects(), "folder")).by_folder is None
    alike = bpe.Corpus.from_documents([f"the same {n % 7} words\n" * 20 for n in range(300)])
    run_id = trained(alike)
    assert load_run(run_id).by_folder is None
    newness = load_run(run_id).newness
    assert newness is not None
    assert newness.unseen_by_folder is None


def test_how_text_was_held_out_is_stored() -> None:
    corpus = projects()
    training, held_out = corpus.split(0.1)
    run: bpe.TrainingRun = bpe.train(training, CONFIG)
    run_id = store_run(Trained("Projects", run, held_out, training=training))
    stored = load_run(run_id).held_out
    assert (stored.units, stored.how, stored.places) == (
        held_out.units,
        held_out.how,
        held_out.places,
    )


def test_of_two_languages_none_is_left_out() -> None:
    run = load_run(trained(projects(2), config=bpe.TrainingConfig(300, parity=True)))
    assert run.newness is not None
    assert run.newness.depends_on_folder
    assert run.by_folder is None
