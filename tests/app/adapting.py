"""Open Adapt in AppTest, and read what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.corpus import load_sample
from bpe_core.formats import dumps
from bpe_core.formats.opening.opening import open_files
from tests.app.pages import OpenApp, all_sent, in_address, paste
from tests.app.training import until_ended
from ui.storage import (
    BaseName,
    CorpusOrigin,
    StoredRun,
    Trained,
    divide,
    keep_tokenizer,
    load_run,
    store_run_to_show,
)

TEXT = "".join(f"Schifffahrtsgesellschaft {n} und Donaudampfschifffahrt\n" for n in range(400))
N_TOKENS = 12


@cache
def extended(text: str, terms: tuple[str, ...]) -> Trained:
    """Extend GPT-2 by 12 tokens for a pasted text, as the page does."""
    corpus = bpe.Corpus.from_text(text, "pasted text")
    training, held_out = divide(corpus, 0.08, "document")
    return Trained(
        "GPT-2 + Pasted text",
        extend(bpe.gpt2(), training, N_TOKENS, terms=terms),
        held_out,
        training=training,
        came_from=(CorpusOrigin("paste", "", 8), corpus),
        base=BaseName("gpt2", "GPT-2"),
    )


def open_extended(
    open_app: OpenApp, text: str = TEXT, terms: tuple[str, ...] = (), **query: str
) -> tuple[AppTest, StoredRun]:
    """Open Adapt on a link to a run that extends GPT-2 by 12 tokens."""
    run_id = store_run_to_show(extended(text, terms))
    return open_app("adapt", run=run_id, **query), load_run(run_id)


@cache
def small_base() -> bpe.Tokenizer:
    """Return a tokenizer that is sooner reduced than GPT-2 and has tokens of many scripts."""
    return bpe.train(load_sample("multilingual"), bpe.TrainingConfig(4_000)).tokenizer


def open_with_base(
    open_app: OpenApp, files: Mapping[str, bytes], mode: str = "Extend", text: str = TEXT
) -> AppTest:
    """Open Adapt on a tokenizer from files, with a text pasted."""
    key = f"file-{keep_tokenizer(dict(files), None, open_files(dict(files)))}"
    return paste(choose(open_app("adapt", **{"with": key, "base": key}), mode), text)


def open_small_base(open_app: OpenApp, mode: str) -> AppTest:
    """Open Adapt on `small_base`, with a text pasted."""
    return open_with_base(open_app, dumps(small_base(), "huggingface"), mode)


def choose(app: AppTest, mode: str) -> AppTest:
    """Choose what is done to the tokenizer."""
    return app.segmented_control(key="adapt").set_value(mode).run()


def run_extension(app: AppTest, key: str = "extend") -> StoredRun:
    """Press a button that extends a tokenizer, and return the run."""
    until_ended(app.button(key=key).click().run())
    return load_run(in_address(app, "run"))


def read_kinds(app: AppTest) -> dict[str, list[int]]:
    """Return the new tokens and the tokens saved, by the kind of the new tokens."""
    (table,) = (d for d in all_sent(app) if "by the kind of the new tokens" in d.get("caption", ""))
    return {
        name: [int(text.replace(",", "").replace("−", "-")) for text in figures[:2]]
        for name, figures, _ in table["rows"]
    }


def read_verdict(app: AppTest) -> str:
    """Return the sentence about the result, and what is beside it."""
    for element in app.get("bidi_component"):
        data = json.loads(element.proto.json)
        if "sentence" in data:
            return "".join(text for text, _ in data["sentence"]) + " " + data["aside"]
    return ""
