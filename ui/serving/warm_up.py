"""Import modules and fill caches when a server starts, so that the first visits are fast."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from bpe_core.errors import BpeError

_UI = Path(__file__).parents[1]
_QUIET_SECONDS = 2.0
_SECONDS_BETWEEN_CHECKS = 0.2

_last_request = time.monotonic()


def note_request() -> None:
    """Note that a page is being requested, so that warming up waits."""
    global _last_request
    _last_request = time.monotonic()


def warm_up_start() -> None:
    """Import what the first page needs; whatever else came first would delay its visitor."""
    for name in ("shell.frame", "shell.recent_runs", "components.start_loop"):
        import_module(f"ui.{name}")


def settle_memory() -> None:
    """Exclude the imported modules from garbage collection.

    Without the freeze, each full collection walks all modules and holds the interpreter's lock for
    tens of milliseconds. Streamlit's own collection after each rerun is off in
    .streamlit/config.toml; Python's remain.
    """
    gc.collect()
    gc.freeze()


def warm_up_rest(before_each: Callable[[], None] | None = None) -> None:
    """Do the same for the other pages: several seconds of work, in many small parts.

    A damaged sample is not an error here, because the page reports it.
    """
    for part in _parts():
        if before_each is not None:
            before_each()
        with suppress(BpeError):
            part()


def warm_up_rest_in_background() -> None:
    """Start `warm_up_rest` in a thread that pauses while pages are requested.

    Python threads take turns, so a page drawn at the same time would take twice as long.
    """
    rest = partial(warm_up_rest, _wait_for_quiet)
    threading.Thread(target=rest, name="warm-up", daemon=True).start()


def _wait_for_quiet() -> None:
    while time.monotonic() - _last_request < _QUIET_SECONDS:
        time.sleep(_SECONDS_BETWEEN_CHECKS)


def _parts() -> Iterator[Callable[[], object]]:
    # Train first, because it computes the most before it shows anything.
    for name in ("train.forms", "train.result_card", "run.training_card"):
        yield partial(import_module, f"ui.{name}")
    yield _compute_what_train_shows
    for module in walk_packages([str(_UI)], "ui."):
        yield partial(import_module, module.name)
    yield _warm_up_merge_loop
    # These encode long texts.
    yield partial(import_module, "bpe_core.tokenizer.compiled")
    yield partial(import_module, "bpe_core.tokenizer.kept_tables")
    yield _load_gpt2
    yield _settle


def _compute_what_train_shows() -> None:
    from bpe_core.corpus import load_sample, samples
    from bpe_core.types import TrainingConfig
    from ui.corpus import HELD_OUT_PERCENT
    from ui.run import corpus_summary, downloads, run_curves
    from ui.storage import SAMPLE_RUN_ID

    run_curves(SAMPLE_RUN_ID)
    downloads(SAMPLE_RUN_ID)
    corpus = load_sample(samples()[0].id)
    parts = corpus_summary.divided(corpus, HELD_OUT_PERCENT / 100)
    for part in parts:
        corpus_summary.composition(part)
    training, config = parts[0], TrainingConfig()
    corpus_summary.pretoken_figures(training, config.pretokenizer)
    corpus_summary.largest_size(training, config)


def _warm_up_merge_loop() -> None:
    from ui.merge_loop import player_run
    from ui.run import results
    from ui.storage import SAMPLE_RUN_ID

    player_run.player_run(SAMPLE_RUN_ID)
    player_run.player_block(SAMPLE_RUN_ID, None, results.opening_step(SAMPLE_RUN_ID))


def _load_gpt2() -> None:
    from bpe_core.tokenizer import gpt2

    gpt2()


def _settle() -> None:
    from ui.host import server_cache

    server_cache.note_lasting()
    # Once more, because most modules were imported since the server started.
    settle_memory()
