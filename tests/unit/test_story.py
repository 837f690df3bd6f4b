"""What the start page's scenes show of published models is what those encode."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from bpe_core.formats import VARIABLE
from bpe_core.tokenizer import gpt2
from tests.oracles import TOKENIZERS, opened_by_name
from ui.components import story_data
from ui.tokenizers import read_as, read_as_model


def test_the_stored_readings_and_prices_are_those_of_the_models() -> None:
    gpt4o = opened_by_name("o200k_base")
    for stored in story_data()["readings"].values():
        assert json.loads(json.dumps(asdict(read_as("GPT-4o", gpt4o, stored["text"])))) == stored
    for price in story_data()["prices"]:
        assert price["GPT-2"] == len(gpt2().encode(price["text"]))
        assert price["GPT-4o"] == len(gpt4o.encode(price["text"]))


def test_a_sentence_is_read_as_gpt4o_does_or_else_as_gpt2(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "मेरा नाम 🧩 hugs"
    monkeypatch.setenv(VARIABLE, str(TOKENIZERS))
    found = read_as_model(text)
    assert (found.model, [*found.ids]) == ("GPT-4o", opened_by_name("o200k_base").encode(text))
    assert "".join(token for token in found.tokens if isinstance(token, str)).endswith(" hugs")
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.mktemp("empty")))
    found = read_as_model(text)
    assert (found.model, [*found.ids]) == ("GPT-2", gpt2().encode(text))
    assert any(isinstance(token, list) for token in found.tokens)
