"""Tokens as labels, and visitors' text in Markdown."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.views.token_packing import tokens_for_browser
from tests.strategies import texts
from ui.look.labels import plain_markdown, plain_text, token_label


@pytest.mark.parametrize(
    ("token", "label"),
    [
        (b"", ""),
        (b" the", "␣the"),
        ("é".encode(), "é"),
        (b"\xe6\x97", "<E6 97>"),
        (b"\x97a", "<97>a"),
        (b"\t\r\n", "→U+000D↵"),
        ("\u202e".encode(), "U+202E"),
        ("\ufeff".encode(), "U+FEFF"),
        ("👩‍🚒".encode(), "👩‍🚒"),
        ("\u200d".encode(), "U+200D"),
        (b"<script>", "<script>"),
    ],
)
def test_a_label_shows_each_part_of_a_token(token: bytes, label: str) -> None:
    assert token_label(token) == label


@given(st.binary(max_size=60))
def test_a_label_is_one_short_line_of_valid_text(token: bytes) -> None:
    label = token_label(token)
    assert len(label) <= 40
    assert label.encode("utf-8").decode("utf-8") == label
    assert "\ufffd" not in label or "\ufffd".encode() in token
    assert "\n" not in label


@given(st.lists(st.binary(max_size=8)))
def test_token_labels_for_the_browser_survive_json(tokens: list[bytes]) -> None:
    sent = json.loads(json.dumps(tokens_for_browser(dict(enumerate(tokens)))))
    received = [t.encode("utf-8") if isinstance(t, str) else bytes(t) for t in sent]
    assert received == tokens


# What remark-gfm links in parsed text, without backslashes, and what Streamlit replaces.
LINKED = re.compile(
    r"https?://|www\.|[-.\w+]@[-\w]|:streamlit:|->|<-|--|>=|<=|~=", re.IGNORECASE | re.ASCII
)
ADDRESSES = ("https://", "HTTP://", "www.", "WwW.", "me@", "a.b", ":streamlit:", "->", "<-", "--")


def parsed(markdown: str) -> str:
    return re.sub(r"\\(.)", r"\1", markdown)


@given(st.lists(st.sampled_from(ADDRESSES) | texts, max_size=8).map("".join))
def test_nothing_in_visitors_text_becomes_a_link_or_a_picture(text: str) -> None:
    found = parsed(plain_markdown(text, 500))
    assert not LINKED.search(found)
    assert found.replace("\u2060", "") == plain_text(text, 500)


def test_the_pattern_for_links_finds_what_it_should() -> None:
    assert all(LINKED.search(address + "b") for address in ADDRESSES if address != "a.b")


@given(texts)
def test_visitors_text_becomes_one_line_without_markup(text: str) -> None:
    escaped = plain_markdown(text)
    assert "\n" not in escaped
    assert len(escaped.replace("\u2060", "")) <= 2 * 60
    position = 0
    while position < len(escaped):
        if escaped[position] == "\\":
            position += 2
            continue
        assert escaped[position] not in "*_[]<>$:`#!|~&"
        position += 1
