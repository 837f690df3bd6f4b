"""Open Adapt in AppTest, and read what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from streamlit.testing.v1 import AppTest

from bpe_core.corpus.samples import load_sample
from bpe_core.formats.load_save import dumps
from bpe_core.formats.opening.opening import open_files
from bpe_core.runs.train import train
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig
from tests.app.pages import OpenApp, paste
from ui.storage.upload_store import keep_tokenizer

TEXT = "".join(f"Schifffahrtsgesellschaft {n} und Donaudampfschifffahrt\n" for n in range(400))


@cache
def small_base() -> Tokenizer:
    """Return a tokenizer that is sooner reduced than GPT-2 and has tokens of many scripts."""
    return train(load_sample("multilingual"), TrainingConfig(4_000)).tokenizer


def open_with_base(open_app: OpenApp, files: Mapping[str, bytes], mode: str = "Extend") -> AppTest:
    """Open Adapt on a tokenizer from files, with a text pasted."""
    key = f"file-{keep_tokenizer(dict(files), None, open_files(dict(files)))}"
    return paste(choose(open_app("adapt", **{"with": key, "base": key}), mode), TEXT)


def open_small_base(open_app: OpenApp, mode: str) -> AppTest:
    """Open Adapt on `small_base`, with a text pasted."""
    return open_with_base(open_app, dumps(small_base(), "huggingface"), mode)


def choose(app: AppTest, mode: str) -> AppTest:
    """Choose what is done to the tokenizer."""
    return app.segmented_control(key="adapt").set_value(mode).run()


def read_verdict(app: AppTest) -> str:
    """Return the sentence about the result, and what is beside it."""
    for element in app.get("bidi_component"):
        data = json.loads(element.proto.json)
        if "sentence" in data:
            return "".join(text for text, _ in data["sentence"]) + " " + data["aside"]
    return ""
