"""Train names the cut that would suit the text better, measured in the background."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.runs.sample_check import tokens_by_cut
from tests.app.pages import OpenApp, page_text, paste
from tests.waiting import wait_until
from ui.shell import workspace
from ui.storage.held_out_text import HELD_OUT_SEED
from ui.train.cuts import CutCheck, checks, find_better
from ui.train.presets import CUTS

# GPT-2's cut sets no limit to the length of a number, so every one of these is a token of its own.
NUMBERS = "".join(
    f"{n * 7_919 % 1_000_003:06} and {n * 104_729 % 1_000_003:06}\n" for n in range(900)
)


def measured(app: AppTest) -> AppTest:
    """Wait for the check of the cuts that the page began, and draw the page again."""
    check = app.session_state[workspace.state_key(CutCheck)]
    wait_until(checks(), check.id)
    return app.run()


def test_a_better_cut_is_named_and_used_at_a_press(open_app: OpenApp) -> None:
    app = paste(open_app(), NUMBERS)
    app.select_slider(key="settings_byte_size").set_value(1_536).run()
    measured(app)
    training, held_out = bpe.Corpus.from_text(NUMBERS).split(0.08, seed=HELD_OUT_SEED)
    tokens = tokens_by_cut(training, held_out, bpe.TrainingConfig(1_536), CUTS)
    assert tokens is not None
    better = find_better(tokens, "gpt2")
    assert better is not None
    cut, saved = better
    assert f"{CUTS[cut]}’s cut: {saved:.0%} fewer tokens." in page_text(app)
    app.button(key="settings_use_cut").click().run()
    assert app.segmented_control(key="settings_preset").value == CUTS[cut]
    assert app.number_input(key="settings_exact_byte_size_1536").value == 1_536
    assert "fewer tokens." not in page_text(app)


def test_custom_keeps_its_other_settings_when_it_uses_a_better_cut(open_app: OpenApp) -> None:
    app = paste(open_app(), NUMBERS)
    app.select_slider(key="settings_byte_size").set_value(1_536).run()
    app.segmented_control(key="settings_preset").set_value("Custom").run()
    app.number_input(key="settings_min_frequency").set_value(2).run()
    measured(app).button(key="settings_use_cut").click().run()
    assert app.segmented_control(key="settings_preset").value == "Custom"
    assert app.selectbox(key="settings_pretokenizer").value in set(CUTS) - {"gpt2"}
    assert app.number_input(key="settings_min_frequency").value == 2


def test_nothing_is_measured_where_no_other_cut_could_be_used(open_app: OpenApp) -> None:
    app = open_app()
    wait_until(checks(), app.session_state[workspace.state_key(CutCheck)].id)
    before = checks().count("finished")
    app.segmented_control(key="settings_preset").set_value("Classroom").run()
    app.segmented_control(key="corpus_source").set_value("Weighted words").run()
    app.segmented_control(key="settings_preset").set_value("GPT-2").run()
    assert checks().count("finished") == before
    assert checks().count("queued") == checks().count("running") == 0
    assert "fewer tokens." not in page_text(app)
