"""Experiments: many tokenizers trained and measured at once, to choose one."""

from __future__ import annotations

from ui.experiments import draw_experiment
from ui.look import tooltip
from ui.shell import frame

frame.show_page(
    draw_experiment,
    "Experiments",
    "Which size, which cut, your own or an extended one? Measure them all on the same text.",
    help=tooltip("Token"),
)
