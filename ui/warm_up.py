"""What a server makes ready before its first visitors, so that no first visit waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from bpe_core.errors import BpeError

_HERE = Path(__file__).parent
_QUIET_SECONDS = 2.0
_SECONDS_BETWEEN_LOOKS = 0.2

_last_asked = time.monotonic()


def note_asked() -> None:
    """Remembers that a page is being asked for: what is not urgent waits."""
    global _last_asked
    _last_asked = time.monotonic()


def ready_train() -> None:
    """Imports what Train imports, and reads and counts what it shows first: about a second.

    Where the sample is damaged the page says so itself.
    """
    from bpe_core.corpus.samples import load_sample, samples
    from bpe_core.types import TrainingConfig
    from ui.run import corpus_summary
    from ui.run.downloads import downloads
    from ui.run.results import run_curves
    from ui.storage.run_store import SAMPLE_RUN_ID
    from ui.train import corpus_form

    for name in ("settings_form", "training_card", "result_card"):
        import_module(f"ui.train.{name}")
    with suppress(BpeError):
        run_curves(SAMPLE_RUN_ID)
        downloads(SAMPLE_RUN_ID)
    corpus = load_sample(samples()[0].id)
    training, _ = corpus_summary.divided(corpus, corpus_form.HELD_OUT_PERCENT / 100)
    corpus_summary.script_shares(training, training.sha256)
    corpus_summary.pretoken_figures(training, training.sha256, TrainingConfig().pretokenizer)


def ready_rest(before_each: Callable[[], None] | None = None) -> None:
    """Does the same for the other pages, some seconds of work, in many small parts."""
    for part in _parts():
        if before_each is not None:
            before_each()
        with suppress(BpeError):
            part()


def ready_rest_in_background() -> None:
    """Starts `ready_rest` in a thread, which works while nobody asks for a page.

    Two threads of Python take turns, so a page that is asked for meanwhile would come at half the
    speed.
    """
    rest = partial(ready_rest, _wait_for_quiet)
    threading.Thread(target=rest, name="warm-up", daemon=True).start()


def _wait_for_quiet() -> None:
    while time.monotonic() - _last_asked < _QUIET_SECONDS:
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _parts() -> Iterator[Callable[[], object]]:
    for module in walk_packages([str(_HERE)], "ui."):
        yield partial(import_module, module.name)
    yield _ready_merge_loop
    yield _ready_gpt2
    yield _settle


def _ready_merge_loop() -> None:
    from ui.merge_loop import player_run
    from ui.shell import workspace
    from ui.storage.run_store import SAMPLE_RUN_ID

    player_run.player_run(SAMPLE_RUN_ID)
    player_run.player_block(SAMPLE_RUN_ID, None, workspace.Workspace().step)


def _ready_gpt2() -> None:
    from bpe_core.tokenizer.gpt2 import gpt2

    gpt2()


def _settle() -> None:
    from ui.shell.frame import settle_memory

    # Again, since much was imported after the first page was drawn.
    settle_memory.clear()
    settle_memory()
