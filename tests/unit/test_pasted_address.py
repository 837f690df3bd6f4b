"""A pasted address is resolved to the run that it names, or refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.tokenizers.additions import RunAddressError, parse_run_address

ID = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    "text",
    [
        ID,
        f"  {ID}\n",
        f"http://127.0.0.1:8501/compare?run={ID}",
        f"https://example.org/bpe/merge_loop?step=7&run={ID}&with=gpt2%2Cgpt4#top",
        f"localhost:8501/?run={ID}",
        f"/train?run={ID}",
        f"?run={ID}",
    ],
)
def test_the_run_of_an_address_is_found(text: str) -> None:
    assert parse_run_address(text) == ID


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "got nothing"),
        (" \n", "got nothing"),
        ("hug", "got “hug”"),
        (ID[:-1], f"got “{ID[:-1]}”"),
        ("a" * 10_000, "got “aaaa"),
        ("https://example.org/compare", "got “https://example.org/compare”"),
        ("https://example.org/train?job=abc", "This address has no “run=”"),
        ("http://[::1", "got “http://[::1”"),
        ("?" + "a=1&" * 200, "got “?a=1&a=1"),
    ],
)
def test_the_error_for_an_address_without_a_run_says_what_to_do(text: str, said: str) -> None:
    with pytest.raises(RunAddressError) as caught:
        parse_run_address(text)
    assert said in str(caught.value)
    assert "paste it here" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@given(st.text() | st.from_regex(r"(https?://)?[\[\]:/?&=#%a-f0-9]*run=[%&\w]*"))
def test_any_text_names_a_run_or_is_refused(text: str) -> None:
    with suppress(RunAddressError):
        assert parse_run_address(text)
