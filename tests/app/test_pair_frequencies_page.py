"""Pair frequencies shows the core's own numbers, for any run and any step."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.trainers import PairLives, check_parts
from tests.app.pages import OpenApp, in_address, metrics, page_text, press, unescaped_text, upload
from tests.app.stored import store, store_hugs
from tests.waiting import OfKind, wait_until
from ui.pair_frequencies.size_part import CHECK, checking, stored_text, verdict_on
from ui.storage import MAX_KEPT, SAMPLE_RUN_ID, BaseName, CorpusOrigin, Trained, load_run, store_run

PAGE = "pair_frequencies"
SIZES = "How large?"


def _charts(app: AppTest) -> dict[str, Any]:
    """Return the charts on the page, keyed by the title of their value axis, or else by kind."""
    figures = {}
    for element in app.get("plotly_chart"):
        figure = json.loads(element.proto.spec)
        units = {figure["layout"].get("title", {}).get("text")} & {
            "bytes per token",
            "count",
            "count of the winning pair",
            "rank",
            "tokens in the corpus",
        }
        name = units.pop() if units else figure["data"][0]["type"]
        of_all_pairs = "rank of the pair" in json.dumps(figure["layout"])
        figures["count of all" if of_all_pairs else name] = figure
    return figures


def _headers(app: AppTest) -> list[str]:
    return [header.value for header in app.header]


def test_the_figures_of_a_cut_match_the_run_at_that_step(open_app: Callable[..., AppTest]) -> None:
    app = open_app(PAGE, merges="1000")
    stored = load_run(SAMPLE_RUN_ID)
    assert stored.held_out_tokens_after is not None
    held_out = stored.held_out.n_bytes / stored.held_out_tokens_after
    assert metrics(app) == {
        "Training text": f"{stored.run.corpus_bytes / stored.run.tokens_after[1000]:.2f}",
        "Held-out text": f"{held_out[1000]:.2f}",
        "Next 1,000 merges": f"{held_out[2000] - held_out[1000]:+.2f}",
    }
    assert ":gray[vocabulary 1,257]" in page_text(app)
    saved = stored.held_out_tokens_after[0] - stored.held_out_tokens_after
    enough = next(n for n, each in enumerate(saved) if each >= 0.95 * saved[-1])
    answer = (
        f"**{enough:,} merges** save 95% of the tokens that all 3,839 save on text it never saw."
    )
    assert answer in page_text(app)
    opened = open_app(PAGE)  # the slider stands at the answer
    assert opened.slider(key=f"merges_kept_{SAMPLE_RUN_ID}").value == enough
    assert _headers(app)[0] == "How large a vocabulary?"
    app.segmented_control(key="part").set_value("Pairs").run()
    assert "The pairs before merge 6" in _headers(app)


def test_a_pair_that_is_merged_for_a_term_comes_first_and_is_not_the_most_frequent(
    open_app: Callable[..., AppTest],
) -> None:
    words = {" Kubernetes": 5, " untokenizable": 50, " tokenizers": 50}
    run = extend(bpe.gpt2(), bpe.Corpus.from_word_counts(words), 6, terms=["Kubernetes"])
    run_id = store(run, base=BaseName("gpt2", "GPT-2"))
    for step, n_lines in ((0, 1), (run.n_term_merges, 2)):
        app = open_app(PAGE, run=run_id, step=str(step))
        charts = _charts(app)
        assert charts["bar"]["data"][0]["x"][0] == run.merges[step].count
        # The curve, and a mark for the pair that merges next if it ranks first.
        assert len(charts["count of all"]["data"]) == n_lines


def test_an_invalid_step_or_pair_in_the_address_changes_nothing_else(
    open_app: Callable[..., AppTest],
) -> None:
    for part in ("How large?", "Pairs"):
        first = _headers(open_app(PAGE, part=part))
        for nonsense, pair in (("-1", "٣-٣"), ("٣", "1-99999999"), ("99999999999999999999", "")):
            app = open_app(PAGE, part=part, step=nonsense, merges=nonsense, pair=pair)
            assert _headers(app) == first, nonsense


def test_the_page_opens_with_how_large_and_a_link_to_a_step_or_pair_with_the_pairs(
    open_app: Callable[..., AppTest],
) -> None:
    for named, header in (
        ({}, "How large a vocabulary?"),
        ({"merges": "1000"}, "How large a vocabulary?"),
        ({"step": "45"}, "The pairs before merge 46"),
        ({"pair": "1-2"}, "The pairs before merge 6"),
    ):
        assert _headers(open_app(PAGE, **named))[0] == header


def test_the_bars_and_the_table_hold_the_pairs_with_the_merge_of_each(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app(PAGE, step="45")
    run = load_run(SAMPLE_RUN_ID).run
    bars = _charts(app)["bar"]["data"][0]
    assert bars["x"] == [count for _, _, count in run.top_pairs(45, 12)]
    assert bars["x"][0] == run.merges[45].count
    app.toggle[0].set_value(True).run()
    table = app.dataframe[0].value
    assert len(table) == 1_000
    for place in (0, 1, 999):
        left, right, count = run.top_pairs(45, 1_000)[place]
        row = table.iloc[place]
        assert (row["left id"], row["right id"], row["count"]) == (left, right, count)
        merges = [m.rank + 1 for m in run.merges[45:] if m.pair == (left, right)]
        assert [row["joined by merge"]] == merges or (not merges and row.isna()["joined by merge"])


def test_a_run_without_merges_shows_a_note(open_app: Callable[..., AppTest]) -> None:
    run_id = store_hugs(vocab_size=257)
    app = open_app(PAGE, run=run_id, part="Pairs")
    assert "The pairs before any merge" in _headers(app)
    assert "The run has no merges, so it stays as it is." in page_text(app)
    assert "Before any merge: " in page_text(app)
    assert "Over the whole run" not in _headers(app)
    app = open_app(PAGE, run=run_id, part=SIZES)
    assert "learned no merge" in app.info[0].value
    assert metrics(app)["Held-out text"] == "–"
    app = open_app(PAGE, run=store(bpe.train(["hug"], vocab_size=300)), step="2")
    assert "No pairs left to merge" in app.info[0].value
    app = open_app(PAGE, run=store_hugs(vocab_size=259), pair="0-0")
    assert "its symbols are never neighbours in this run." in page_text(app)
    assert "rank" not in _charts(app)


def test_held_out_text_that_was_not_measured_is_not_called_missing(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app(PAGE, part=SIZES)
    trained = Trained("Cut short", bpe.train(["hug"], vocab_size=259), bpe.Corpus.from_text("pug"))
    app.query_params["run"] = store_run(trained, should_stop=lambda: True)
    app.run()
    assert "not measured" in page_text(app)
    assert "nothing held out" not in page_text(app)
    app.switch_page("pages/train.py").run()
    assert "not measured on new text" in page_text(app)


def test_an_uploaded_text_replaces_the_held_out_text(
    open_app: Callable[..., AppTest],
) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    text = "The quick brown fox jumps over the lazy dog. " * 20
    app = open_app(PAGE, merges="1000")
    before = metrics(app)
    upload(app, "held_out_files", ("[x](y).txt", bytes(range(256)) * 20))
    assert "[x](y)" not in app.error[0].value
    assert metrics(app) == before
    upload(app, "held_out_files", ("fox.txt", text.encode()))
    figure = len(text) / run.tokens_after_on(bpe.Corpus.from_text(text))
    assert metrics(app)["Your text"] == f"{figure[1000]:.2f}"
    assert metrics(app)["Next 1,000 merges"] == f"{figure[2000] - figure[1000]:+.2f}"
    names = {trace.get("name") for trace in _charts(app)["bytes per token"]["data"]}
    assert {"training", "your text"} <= names
    again = open_app(PAGE, merges="1000", other=str(app.query_params["other"]))
    assert metrics(again) == metrics(app)
    assert "Uploaded before: **fox.txt**" in unescaped_text(again)
    again.button(key="held_out_files_close").click().run()
    assert "Your text" not in metrics(again)
    assert "other" not in again.query_params


def test_the_life_shown_is_that_of_the_next_merge_until_a_pair_is_chosen(
    open_app: Callable[..., AppTest],
) -> None:
    merge = load_run(SAMPLE_RUN_ID).run.merges[200]
    app = open_app(PAGE, step="200")
    assert "Merge 201 joins it" in page_text(app)
    assert f"Before merge 201: {merge.count:,} times, rank 1" in page_text(app)
    ring = _charts(app)["count"]["data"][-1]
    assert (ring["x"], ring["y"]) == ([200], [merge.count])
    assert "pair" not in app.query_params


@pytest.mark.parametrize(
    ("step", "rank", "says"),
    [
        (0, 0, "only one point of the run: before any merge {} times, rank 1."),
        (5, 1, "only two points of the run: before any merge {} times, rank 2; after 1 "),
    ],
)
def test_a_life_of_a_point_or_two_is_a_sentence_and_one_small_chart(
    open_app: Callable[..., AppTest], step: int, rank: int, says: str
) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    merge = run.merges[rank]
    app = open_app(PAGE, step=str(step), pair=f"{merge.left}-{merge.right}")
    assert says.format(f"{run.pair_counts(0)[merge.pair]:,}") in page_text(app)
    assert f"Merge {rank + 1} joins it" in page_text(app)
    assert not {"count", "rank"} & _charts(app).keys()
    # Three charts of the step, two of the whole run, and this one.
    charts = [json.loads(element.proto.spec) for element in app.get("plotly_chart")]
    assert len(charts) == 6
    place = charts[3]
    assert place["layout"]["height"] < 120
    assert place["layout"]["xaxis"]["range"] == [0, len(run.merges)]
    assert place["data"][1]["x"] == list(range(rank + 1))


def test_the_pair_in_the_address_is_shown_at_every_step(
    open_app: Callable[..., AppTest],
) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    merge = next(merge for merge in run.merges[100:300] if merge.pair in run.pair_counts(20))
    app = open_app(PAGE, step="20", pair=f"{merge.left}-{merge.right}")
    count = run.pair_counts(20)[merge.pair]
    rank = 1 + sum(other > count for other in run.pair_counts(20).values())
    assert f"Before merge 21: {count:,} times, rank {rank:,}" in page_text(app)
    number = next(field for field in app.number_input if field.label == "Merge, by number")
    number.set_value(301).run()
    assert "Before merge 301: it does not occur." in page_text(app)
    assert f"Merge {merge.rank + 1} joins it" in page_text(app)
    # An unknown symbol is reported, and nothing is lost.
    app.text_input(key="life_left").set_value("[no](token)")
    app.button(key="life_show").click().run()
    assert "**\\[no\\]\\(token\\)**" in app.error[0].value
    assert app.text_input(key="life_left").value == "[no](token)"
    assert in_address(app, "pair") == f"{merge.left}-{merge.right}"
    press(app, "Choose a pair for me")
    assert "pair" not in app.query_params
    assert "Merge 301 joins it" in page_text(app)


def test_the_page_opens_at_a_pair_that_rises_and_falls(open_app: Callable[..., AppTest]) -> None:
    app = open_app(PAGE, part="Pairs")
    run = load_run(SAMPLE_RUN_ID).run
    assert _headers(app)[0] == "The pairs before merge 6"
    assert not {"step", "pair"} & {*app.query_params}
    lives = PairLives(run)
    swings = {pair[:2]: lives.find(pair[:2]).rank_swing for pair in run.top_pairs(5, 12)}
    most = max(swings, key=lambda pair: swings[pair])
    merge = next(merge for merge in run.merges if merge.pair == most)
    assert swings[most] > 4
    assert f"Merge {merge.rank + 1} joins it" in page_text(app)
    assert "its rank rises and falls the most" in page_text(app)
    # A next pair that rises and falls itself is shown without a reason.
    app = open_app(PAGE, step="68")
    assert "Merge 69 joins it" in page_text(app)
    assert "rises and falls the most" not in page_text(app)


CONFIG = bpe.TrainingConfig(330)
SHARE = 8
UPLOADED = CorpusOrigin("upload", "", SHARE)


def _text(n_lines: int) -> bpe.Corpus:
    drawn = random.Random(7)
    words = ["".join(drawn.choices("abcdefgh", k=6)) for _ in range(60)]
    return bpe.Corpus.from_text(
        "\n".join(" ".join(drawn.choices(words, k=8)) for _ in range(n_lines))
    )


def _stored(corpus: bpe.Corpus, share: float = SHARE / 100) -> str:
    training, held_out = corpus.split(share)
    run = bpe.train(training, CONFIG)
    return store_run(
        Trained("A text", run, held_out, training=training, came_from=(UPLOADED, corpus))
    )


def test_a_check_begins_when_asked_and_shows_the_figures_of_the_core(open_app: OpenApp) -> None:
    corpus = _text(2_000)
    run_id = _stored(corpus)
    stored = load_run(run_id)
    app = open_app("pair_frequencies", run=run_id, part="How large?")
    assert checking(stored) is None  # opening the page starts no check
    app.button(key="sample_check").click().run()
    status = checking(stored)
    assert status is not None
    assert wait_until(OfKind(CHECK), status.id).problem is None
    app.run()
    found = bpe.sample_check(corpus, CONFIG)
    charts: dict[str, Any] = {}
    for element in app.get("plotly_chart"):
        figure = json.loads(element.proto.spec)
        if "title" in figure["layout"]:
            charts[figure["layout"]["title"]["text"]] = figure
    jaccard, equal = charts["shared with the whole text, in %"]["data"]
    assert equal["y"] == [100 * each.share_of_equal_tokens for each in found]
    assert jaccard["y"] == [100 * each.weighted_jaccard for each in found]
    (lengths,) = charts["bytes per token on held-out text"]["data"]
    assert lengths["y"] == [each.bytes_per_token for each in found]
    assert f"**{verdict_on(found)}**" in [markdown.value for markdown in app.markdown]


def test_a_check_can_be_stopped_and_holds_out_text_itself_if_none_is() -> None:
    corpus = _text(500)
    training, held_out = corpus.split(0.08)
    with pytest.raises(CancelledError):
        check_parts(training, held_out, CONFIG, should_stop=lambda: True)
    assert check_parts(corpus, corpus.split(0)[1], CONFIG) == bpe.sample_check(corpus, CONFIG)


def test_a_run_without_its_text_says_what_to_do(open_app: OpenApp) -> None:
    words = bpe.Corpus.from_word_counts({" Kubernetes": 5, " kubectl": 5})
    extended = store(extend(bpe.gpt2(), words, 2), base=BaseName("gpt2", "GPT-2"))
    cases = [(_stored(words, 0), "words with their counts"), (extended, "extends a tokenizer")]
    for run_id, why in cases:
        app = open_app("pair_frequencies", run=run_id, part="How large?")
        assert any(why in info.value for info in app.info)
        assert "sample_check" not in [button.key for button in app.button]


def test_a_long_text_is_checked_only_while_it_is_uploaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path))
    corpus = bpe.Corpus.from_text("a line of hugs\n" * (MAX_KEPT // 10))
    stored = load_run(_stored(corpus))
    why = stored_text(stored, None)
    assert isinstance(why, str)
    assert "is not kept whole. Upload it on Train" in why
    assert "--vocab-size" in why
    other = stored_text(stored, _text(3))
    assert other == why
    text = stored_text(stored, corpus)
    assert not isinstance(text, str)
    training, held_out = text()
    assert training.sha256 == stored.run.corpus_sha256
    assert held_out == stored.held_out


@pytest.mark.parametrize(
    ("equal", "gain", "meaning"),
    [
        (0.98, 1.002, "Half of the text gives 98% of the same tokens: the text is large enough."),
        (0.80, 1.002, "which rare tokens are learned"),
        (0.98, 1.03, "3.0% more bytes per token on held-out text: more text would give a better"),
        (0.98, 0.99, "1.0% fewer bytes per token"),
    ],
)
def test_the_sentence_follows_from_the_figures(equal: float, gain: float, meaning: str) -> None:
    half = bpe.SampleFigures(0.5, 1, 1, equal, 0.9, 4.0)
    whole = bpe.SampleFigures(1, 2, 1, 1.0, 1.0, 4.0 * gain)
    assert meaning in verdict_on([half, whole])
