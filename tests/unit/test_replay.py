"""The saved replay has the whole run, none of it as markup, and opens at a step that it has."""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui.merge_loop.player_run import replay_page, reported_step


class Parts(HTMLParser):
    """The elements of a page by tag, with their attributes, and the scripts' texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script":
            self.scripts[-1] += data


def run_element(page: str) -> tuple[dict[str, str | None], list[bytes]]:
    parts = Parts(page)
    [attributes] = [found for tag, found in parts.elements if found.get("id") == "run"]
    return attributes, [gzip.decompress(base64.b64decode(it)) for it in parts.scripts[:2]]


def list_elements(page: str) -> list[str]:
    return [tag for tag, _ in Parts(page).elements]


ELEMENTS = list_elements(replay_page(b"", b"", title="x"))


@settings(max_examples=25)
@given(
    message=st.binary(max_size=200),
    title=st.text(),
    text=st.text(),
    words=st.lists(st.lists(st.integers(0, 300) | st.text(max_size=3), max_size=4), max_size=4),
)
def test_the_page_has_the_same_elements_whatever_the_run_contains(
    message: bytes, title: str, text: str, words: list[list[int | str]]
) -> None:
    page = replay_page(message, message[::-1], title=title, step=7, text=text, words=words)
    assert list_elements(page) == ELEMENTS
    attributes, found = run_element(page)
    assert found == [message, message[::-1]]
    assert attributes["data-step"] == "7"
    assert json.loads(attributes["data-words"] or "") == words


def test_direction_controls_of_the_title_reach_nothing_else() -> None:
    page = replay_page(b"", b"", title="gnp\u202e\u2069.exe\u2066")
    assert "<title>\u2068gnpU+202EU+2069.exeU+2066\u2069: merge loop</title>" in page
    assert "<h1>gnpU+202EU+2069.exeU+2066</h1>" in page


def test_markup_in_the_title_and_the_words_stays_text() -> None:
    hostile = '</script><script>alert(1)</script><img src=x onerror="alert(1)">'
    page = replay_page(b"", b"", title=hostile, text=hostile, words=[[hostile]])
    assert page.count("<script") == 3
    assert "<img" not in page
    assert html.escape(hostile) in page


def test_the_content_policy_allows_no_requests_and_only_the_pages_script() -> None:
    parts = Parts(replay_page(b"", b"", title="x"))
    [policy] = [
        found["content"]
        for tag, found in parts.elements
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_same_run_gives_the_same_file() -> None:
    assert replay_page(b"run", b"merges", title="x") == replay_page(b"run", b"merges", title="x")


# A step that the browser's player reports is used only if the run has it


@pytest.mark.parametrize(
    ("report", "step"),
    [
        ("0", 0),
        ("9", 9),
        ("7.0", 7),
        ("10", None),
        ("-1", None),
        ("-0.5", None),
        ("1e999", None),
        ("-1e999", None),
        ("NaN", None),
        ("null", None),
        ('"7"', None),
        ("[7]", None),
    ],
)
def test_a_step_is_kept_within_the_run(report: str, step: int | None) -> None:
    assert reported_step(json.loads(report), 9) == step


def test_a_run_without_merges_has_one_step() -> None:
    assert reported_step(0, 0) == 0
    assert reported_step(math.nextafter(0, 1), 0) is None
