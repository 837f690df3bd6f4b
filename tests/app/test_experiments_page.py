"""Experiment: from a choice to the answer, and the same table as the library's."""

from __future__ import annotations

import tomllib

import bpe_core as bpe
from bpe_core.experiments.table import MEASURED_ON_THE_MACHINE
from tests.app.pages import OpenApp, page_text, paste, press, read_query, sent
from tests.waiting import OfKind, wait_until
from ui.experiments.work import EXPERIMENT
from ui.storage import load_run
from ui.work import queue

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
    assert "Size and bits per byte" in " ".join(each.value for each in app.subheader)
    # Each row is a run of its size.
    assert len(result.run_ids) == 4
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
    press(app, "Open on every page")
    chosen = result.found.rows[result.found.recommended].name
    assert read_query(app)["run"] == result.run_ids[chosen]
    # Nothing to try is said, not refused with an error.
    app = paste(open_app("experiments"), TEXT)
    app.button_group(key="experiment_sizes").set_value([]).run()
    assert "Choose at least one size" in page_text(app)
