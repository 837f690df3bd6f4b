"""Choices kept in the address: one option is always chosen, whatever the address holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

CHOICES = [
    ("lessons", "lesson", "Hug words", "Four documents"),
    ("lessons", "step_of_1", "Words", "Pairs"),
    ("vocabulary", "vocabulary_of", "Your tokenizer", "GPT-2"),
    ("vocabulary", "seen_as", "Table", "Trie"),
    ("token_boundaries", "tokenizer", "Your tokenizer", "GPT-2"),
    ("lab", "lab_tokenizer", "Your tokenizer", "GPT-2"),
    ("compare", "measure", "Parity", "Tokens per word"),
    ("compare", "part", "Verdict", "Figures"),
    ("compare", "on", "Held-out text", "Your own text"),
]


@pytest.mark.parametrize(("page", "key", "first", "other"), CHOICES)
def test_an_unknown_option_counts_as_the_first(
    open_app: Callable[..., AppTest], page: str, key: str, first: str, other: str
) -> None:
    app = open_app(page, **{key: "<b>nothing of ours\u202e"})
    assert app.segmented_control(key=key).value == first
    assert not app.query_params.get(key)
    app.segmented_control(key=key).set_value(other).run()
    assert app.segmented_control(key=key).value == other


@pytest.mark.parametrize(
    ("page", "key"),
    [
        ("lessons", "marker"),
        ("lab", "lab_text"),
        ("vocabulary", "uses_on"),
        ("vocabulary", "min_uses"),
        ("token_boundaries", "special"),
    ],
)
def test_other_fields_bound_to_the_address_accept_any_value(
    open_app: Callable[..., AppTest], page: str, key: str
) -> None:
    app = open_app(page, **{key: "nothing of ours"})
    assert not app.error
