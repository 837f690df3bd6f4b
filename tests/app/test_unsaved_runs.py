"""A run that cannot be saved is reported on Train, can be downloaded, and lasts for the visit."""

from __future__ import annotations

import shutil
from pathlib import Path

import bpe_core as bpe
from tests.app.pages import OpenApp, in_address, page_text, paste
from tests.app.training import train
from tests.waiting import wait_until
from ui.storage.run_store import MAX_UNCLAIMED, Trained, load_run, store_run
from ui.work import jobs

RHYME = "the cat sat on the mat and the rat sat on the hat\n" * 40


def others_train(n: int) -> None:
    """Store runs of other visitors, which stay in memory too if they cannot be saved."""
    words = bpe.Corpus.from_word_counts({"hug": 2})
    run = bpe.train(words, bpe.TrainingConfig(257, special_tokens=()))
    for _ in range(n):
        store_run(Trained("Hugs", run, words.split(0)[1]))


def test_other_visitors_runs_do_not_evict_the_run_of_an_open_session(
    open_app: OpenApp, tmp_path: Path
) -> None:
    app = paste(open_app(), RHYME)
    shutil.rmtree(tmp_path / "runs", ignore_errors=True)  # it has the pasted text
    (tmp_path / "runs").write_text("a file where the folder should be")
    train(app)
    others_train(2 * MAX_UNCLAIMED)
    app.run()
    assert not app.error
    assert "disk is full" in app.warning[0].value
    assert "this run is not saved" in app.warning[0].value
    assert "Pasted text" in page_text(app)
    assert app.get("download_button")
    # The same holds for a training that ends while its visitor is on another page.
    app.text_area(key="corpus_pasted").set_value(RHYME.upper()).run()
    app.button(key="train").click().run()
    job_id = in_address(app, "job")
    app.switch_page("pages/lessons.py").run()
    wait_until(jobs.manager(), job_id)
    app.run()
    others_train(2 * MAX_UNCLAIMED)
    app.switch_page("pages/train.py").run()
    assert not app.error
    assert load_run(in_address(app, "run")).run.corpus_bytes
