"""Experiment: from a choice to the answer, and the same table as the library's."""

from __future__ import annotations

import tomllib

import pytest

import bpe_core as bpe
from bpe_core.corpus import Corpus
from bpe_core.experiments import running
from bpe_core.experiments.table import MEASURED_ON_THE_MACHINE
from bpe_core.files import Entry, Store
from tests.app.pages import OpenApp, page_text, paste, press, read_query, sent
from tests.new_process import children_with
from tests.waiting import OfKind, wait_until
from ui.experiments import form
from ui.experiments.results import draw_frontier, draw_savings
from ui.experiments.work import EXPERIMENT, Order, measure
from ui.shell import workspace
from ui.shell.open_run import OwnKeys
from ui.storage import delete_run, is_stored, keep_uploaded, load_run
from ui.work import Progress, Task, jobs, queue
from ui.work.jobs import WorkProcessError

TEXT = "\n".join(
    f"The bare bytes of line {n}, for reader number {n * n} of the text." for n in range(300)
)


def test_a_choice_becomes_an_answer_and_runs(open_app: OpenApp) -> None:
    app = paste(open_app("experiments"), TEXT)
    for key, values in (("sizes", [512, 1_024]), ("cuts", ["gpt2", "cl100k"])):
        app.button_group(key=f"experiment_{key}").set_value(values).run()
    press(app, "Measure")
    (piece,) = [piece for kind, piece in queue._known if kind is EXPERIMENT]
    wait_until(OfKind(EXPERIMENT), piece)
    result = queue.status(EXPERIMENT, piece).result
    assert result is not None
    app.run()
    assert not app.exception
    assert sent(app, "sentence")["sentence"][0][0] == result.found.answer
    assert "Bits per byte" in app.dataframe[0].value.columns
    fewest = min(result.found.rows, key=lambda row: row.figures["bits_per_byte"])
    assert f"with {fewest.name}." in sent(app, "sentence")["aside"]
    assert "Size and bits per byte" in " ".join(each.value for each in app.header)
    # One pasted text has no interval.
    assert "There are too few documents for intervals" in page_text(app)
    # Each row is a run of its size, and the visitor's own.
    assert len(result.run_ids) == 4
    keys = app.session_state[workspace.state_key(OwnKeys)].keys
    assert {Entry.owned_id(key) for key in keys} == {*result.run_ids.values()}
    for row in result.found.rows:
        stored = load_run(result.run_ids[row.name])
        assert stored.run.tokenizer.fingerprint == row.figures["fingerprint"]
        assert stored.held_out.sha256 == result.found.settings["made"]["held_out_sha256"]
    # The file that the page offers gives the same table in the library.
    settings = tomllib.loads(result.found.to_toml())
    again = bpe.experiment(settings, {"corpus": [TEXT]})
    left_out = {*MEASURED_ON_THE_MACHINE}
    for one, other in zip(again.table, result.found.table, strict=True):
        assert {k: v for k, v in one.items() if k not in left_out} == {
            k: v for k, v in other.items() if k not in left_out
        }
    press(app, "Open its run")
    chosen = result.found.rows[result.found.recommended].name
    assert read_query(app)["run"] == result.run_ids[chosen]
    # A run that was deleted can be made again.
    app = open_app("experiments")
    assert not app.exception
    delete_run(result.run_ids[chosen])
    app = paste(app, TEXT)
    for key, values in (("sizes", [512, 1_024]), ("cuts", ["gpt2", "cl100k"])):
        app.button_group(key=f"experiment_{key}").set_value(values).run()
    assert "To train it again, press" in page_text(app)
    press(app, "Measure")
    wait_until(OfKind(EXPERIMENT), piece)
    again = queue.status(EXPERIMENT, piece).result
    assert again is not None
    assert is_stored(again.run_ids[chosen])
    assert "To train it again" not in page_text(app.run())
    # Nothing to try is said, not refused with an error.
    app = paste(open_app("experiments"), TEXT)
    assert not app.session_state["experiment_more"]
    # What is chosen in the folded part is in sight when the visitor comes back.
    app.button_group(key="experiment_trainers").set_value(["whole characters"]).run()
    app.switch_page("pages/train.py").run()
    app.switch_page("pages/experiments.py").run()
    assert app.session_state["experiment_more"]
    app.button_group(key="experiment_sizes").set_value([]).run()
    assert "Choose at least one size" in page_text(app)


@pytest.mark.usefixtures("open_app")
def test_rows_are_an_entry_and_measured_again_if_a_run_was_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The process of the server trains nothing.
    monkeypatch.delattr(running, "train")
    settings = {
        "vocab_sizes": [270, 280],
        "pretokenizers": ["gpt2"],
        "alphabets": ["full"],
        "trainers": {"plain": {}},
        "extend": [],
        "new_tokens": [],
        "held_out": 0.2,
        "held_out_by": "",
        "seed": 0,
    }
    order = Order(settings, Corpus.from_text(TEXT), "Lines")

    def measured() -> dict[str, str]:
        return dict(measure(order, [Entry.new_id() for _ in range(order.n_rows)], Task()).run_ids)

    with monkeypatch.context() as smaller:
        smaller.setattr(jobs, "_MAX_BYTES", 1_000_000)
        with pytest.raises(WorkProcessError, match="memory"):
            measured()
    first = measured()
    (entry,) = [each for each in Store().entries() if each.kind == "experiment"]
    assert (entry.name, entry.title) == (f"{Entry.EXPERIMENT}{order.id}", "Lines")
    assert measured() == first
    delete_run(first["270"])
    again = measured()
    assert not {*again.values()} & {*first.values()}
    assert [load_run(id).run.tokenizer.vocab_size for id in again.values()] == [270, 280]


class _Killed(Task[Progress]):
    """Kills the process that measures once a row is done."""

    def report(self, progress: Progress) -> None:
        super().report(progress)
        if progress.done:
            for process in children_with("ui.experiments.measuring_process:measure_here"):
                process.kill()


@pytest.mark.usefixtures("open_app")
def test_a_process_that_is_killed_in_the_middle_resumes_and_is_equal() -> None:
    settings = {
        "vocab_sizes": [270, 280, 290],
        "pretokenizers": ["gpt2", "cl100k"],
        "alphabets": ["full"],
        "trainers": {"plain": {}},
        "extend": [],
        "new_tokens": [],
        "held_out": 0.2,
        "held_out_by": "",
        "seed": 1,
    }
    documents = [f"{TEXT[:n]} in {n}\n" for n in range(200, 1_400, 20)]
    order = Order(settings, Corpus.from_documents(documents), "Parts")
    # With an id too few, a process that is faster than the kill fails in the middle too.
    with pytest.raises(WorkProcessError):
        measure(order, [Entry.new_id() for _ in range(order.n_rows - 1)], _Killed())
    folder = Store().make() / f"{Entry.EXPERIMENT}{order.id}"
    rows = f"{'[0-9a-f]' * 32}.json"
    first = {path.name: path.stat().st_mtime_ns for path in folder.glob(rows)}
    assert 0 < len(first) < order.n_rows
    resumed = measure(order, [Entry.new_id() for _ in range(order.n_rows)], Task())
    # What was there was not measured again.
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob(rows)}
    assert len(after) == order.n_rows
    assert first.items() <= after.items()
    assert all(map(is_stored, resumed.run_ids.values()))
    whole = bpe.experiment(settings, {"corpus": documents})
    for one, other in zip(resumed.found.table, whole.table, strict=True):
        for name in MEASURED_ON_THE_MACHINE:
            del one[name], other[name]
        assert one == other


def test_only_sizes_that_are_far_enough_apart_are_named_on_the_axis() -> None:
    settings = {"vocab_sizes": [270, 272, 300, 340], "held_out": 0.2, "parallel": []}
    found = bpe.experiment(settings, {"corpus": TEXT.splitlines()})
    for draw in (draw_savings, draw_frontier):
        assert list(draw(found, "light").layout.xaxis.ticktext) == ["270", "300", "340"]
    one = bpe.experiment({**settings, "vocab_sizes": [300]}, {"corpus": TEXT.splitlines()})
    assert list(draw_savings(one, "light").layout.xaxis.ticktext) == ["300"]


def test_what_the_page_does_not_take_is_said(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = paste(open_app("experiments"), TEXT)
    assert "although you chose 0%" not in page_text(app)
    app.slider(key="corpus_held_out").set_value(0).run()
    assert "so 8% of the text is held out here, although you chose 0%" in page_text(app)
    own = keep_uploaded(Corpus.from_text("A new text.\n" * 40), "new.txt")
    app = open_app("experiments", held_by="file", held_file=own)
    app.multiselect(key="experiment_bases").set_value(["gpt2"]).run()
    app.number_input(key="experiment_seed").set_value(7).run()
    app.button_group(key="experiment_new_tokens").set_value([250]).run()
    app.button_group(key="experiment_sizes").set_value([512]).run()
    ways = ["superwords", "seeds", "vetoes", "parity", "picky"]
    app.button_group(key="experiment_trainers").set_value(ways).run()
    app.number_input(key="experiment_superwords_from").set_value(600).run()
    assert "Name a token for “with tokens of yours”" in page_text(app)
    app.text_area(key="experiment_seeds").set_value("zebra").run()
    assert not app.exception
    press(app, "Measure")
    (piece,) = [piece for kind, piece in queue._known if kind is EXPERIMENT]
    wait_until(OfKind(EXPERIMENT), piece)
    result = queue.status(EXPERIMENT, piece).result
    assert result is not None, queue.status(EXPERIMENT, piece)
    names = [row.name for row in result.found.rows]
    assert names == [
        *(
            f"{cut}, {way}, 512"
            for cut in ("gpt2", "cl100k")
            for way in ("seeds", "vetoes", "picky")
        ),
        "gpt2, +250",
    ]
    seeded = load_run(result.run_ids["gpt2, seeds, 512"]).run.tokenizer
    assert any(b"zebra" in token for token in seeded.vocab.values())
    assert int(result.found.bytes_by_unit.sum()) == 480
    assert result.found.settings["seed"] == 7
    assert result.found.settings["held_out_files"] == ["text"]
    assert {load_run(id).held_out.n_bytes for id in result.run_ids.values()} == {480}
    app.run()
    (refused,) = [each for each in app.expander if "could not" in each.label]
    assert refused.label == "4 tokenizers could not be trained"
    reasons = " ".join(each.value for each in refused.markdown).replace("\\", "")
    assert "gpt2, superwords, 512 tokens; cl100k, superwords, 512 tokens: Words join" in reasons
    assert "cl100k, parity, 512 tokens: Parity-aware training balances" in reasons
    app.text_area(key="experiment_vetoes").set_value("regex:(").run()
    assert "Correct the veto" in app.error[0].value
    app.button_group(key="experiment_trainers").set_value(["plain"]).run()
    app.button_group(key="experiment_sizes").set_value([512, 1024, 2048, 4096]).run()
    app.multiselect(key="experiment_bases").set_value([]).run()
    monkeypatch.setattr(form, "MAX_BYTES_OF_ROWS", 3_000_000)
    app.run()
    assert "are too much for this page. Choose at most 4, or a shorter text" in page_text(app)
    press(app, "Measure")
    assert "Complete the form first" in page_text(app)
