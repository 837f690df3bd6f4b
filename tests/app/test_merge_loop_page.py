import json
import re

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from tests.app.pages import OpenApp, in_address, sent
from tests.app.stored import store
from ui.merge_loop import player_run
from ui.storage import SAMPLE_RUN_ID, load_run

FIRST_SIGHT = "5"  # where the sample opens: past merges of white space, at a close race of letters


def player_messages(app: AppTest) -> list[bytes]:
    """Return what was sent to the page's player: the run, and a block of its merges."""
    protos = [element.proto for element in app.get("bidi_component")]
    return [proto.bytes for proto in protos if proto.WhichOneof("data") == "bytes"]


def parse_header(message: bytes) -> dict:
    return json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])


def test_the_same_run_is_passed_at_every_step_and_rerun(open_app: OpenApp) -> None:
    app = open_app("merge_loop")
    first, block = player_messages(app)
    run = load_run(SAMPLE_RUN_ID).run
    header = parse_header(first)
    assert header["n_merges"] == len(run.merges)
    assert header["n_pretokens"] == len(run.pretokens.words)
    assert header["ending"] == "It stopped because the vocabulary reached 4,096."
    assert parse_header(block)["start"] <= int(FIRST_SIGHT) < parse_header(block)["stop"]
    assert player_messages(app.run()) == [first, block]
    again, block = player_messages(open_app("merge_loop", step="3000"))
    assert again == first
    assert parse_header(block)["start"] <= 3_000 < parse_header(block)["stop"]


@pytest.mark.parametrize(
    ("asked", "step"),
    [
        ("7", "7"),
        ("999999", "3839"),
        ("abc", FIRST_SIGHT),
        ("99999999999", FIRST_SIGHT),
        ("<b>", FIRST_SIGHT),
        ("", FIRST_SIGHT),
    ],
)
def test_the_address_names_a_step_that_exists(open_app: OpenApp, asked: str, step: str) -> None:
    app = open_app("merge_loop", step=asked)
    assert in_address(app, "step") == step


def test_an_own_run_opens_at_its_first_close_race_of_letters(open_app: OpenApp) -> None:
    run = bpe.train(load_sample("python-library"), bpe.TrainingConfig(400))
    step = run.opening_step
    assert step > 0
    run_id = store(run)
    app = open_app("merge_loop", run=run_id)
    assert parse_header(player_messages(app)[0])["opening_step"] == step
    assert "step" not in app.query_params
    app = open_app("merge_loop", run=run_id, step="0")
    assert in_address(app, "step") == "0"


def test_own_words_in_the_address_are_split_into_the_runs_pretokens(open_app: OpenApp) -> None:
    own = sent(open_app("merge_loop", words="don't panic"), "words")
    base = load_run(SAMPLE_RUN_ID).run.tokenizer.base_ids
    assert own["words"] == [[base[bytes([b])] for b in part] for part in (b"don", b"'t", b" panic")]
    assert own["problem"] == ""
    assert sent(open_app("merge_loop", words="x" * 201), "words")["words"] == []


def test_the_size_of_a_replay_is_shown_before_saving(open_app: OpenApp) -> None:
    app = open_app("merge_loop")
    size = len(player_run.replay(SAMPLE_RUN_ID, 0, "").encode()) / 1e6
    [button] = app.get("download_button")
    said = re.search(r"about ([0-9.]+) MB", button.proto.help)
    assert said is not None
    assert float(said[1]) == pytest.approx(size, rel=0.3)


def test_a_replay_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "the hugs and the pugs " * 40
    run_id = store(bpe.train(bpe.Corpus.from_text(text), bpe.TrainingConfig(270)))
    first = player_run.replay(run_id, 0, "")
    monkeypatch.setattr(bpe.TrainingRun, "trace", None)
    again = player_run.replay(run_id, 3, "hugs")
    assert 'data-step="3"' in again
    merges = re.compile(r'id="merges">([^<]+)<')
    assert merges.findall(again) == merges.findall(first) != []


def test_a_run_whose_merges_join_words_opens_where_their_borders_open(open_app: OpenApp) -> None:
    run = bpe.train(["by the way, by the sea. " * 20], vocab_size=290, superwords_from=275)
    app = open_app("merge_loop", run=store(run))
    header = parse_header(player_messages(app)[0])
    assert (header["joins_words"], header["opening_step"]) == (True, 0)
    assert not parse_header(player_messages(open_app("merge_loop"))[0])["joins_words"]
