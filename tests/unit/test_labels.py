"""Tokens, runs and visitors' text as labels, in Markdown and from right to left."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_core.types import Characters, TrainingConfig
from bpe_core.views.packing import tokens_for_browser
from tests.strategies import texts
from ui.look import RunName, order_note, plain_markdown, plain_text, run_labels, token_label
from ui.look.labels import RIGHT_TO_LEFT


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
    assert all(LINKED.search(f"{address}b") for address in ADDRESSES if address != "a.b")
    found = parsed(plain_markdown(text, 500))
    assert not LINKED.search(found)
    assert found.replace("\u2060", "") == plain_text(text, 500)


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


# Text from right to left


@pytest.mark.parametrize("text", ["", "hug", "Größe 漢字 हिन्दी 😀 123 (a)", "a\u200db"])
def test_text_from_left_to_right_needs_no_note(text: str) -> None:
    assert order_note(text) == ""


@pytest.mark.parametrize("text", ["שלום", "an Arabic word: سلام", "فارسی", "ܫܠܡܐ"])
def test_right_to_left_letters_are_explained(text: str) -> None:
    assert order_note(text) == RIGHT_TO_LEFT


def test_direction_controls_are_named_once_and_never_shown() -> None:
    note = order_note("a\u202eb\u202ec\u2066d\u2069")
    assert note.endswith("U+202E, U+2066, U+2069.")
    assert note.isascii()
    assert order_note("שלום\u202e").startswith(RIGHT_TO_LEFT)


# Labels of runs


NOON = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)
A_MINUTE = timedelta(minutes=1)
CONFIG = TrainingConfig(vocab_size=300)


def run(
    id: str,
    title: str = "Hugs",
    config: TrainingConfig = CONFIG,
    at: datetime | None = None,
    size: int = 300,
) -> RunName:
    return RunName(id, title, size, config, at)


def labels(*runs: RunName, now: datetime = NOON) -> list[str]:
    return list(map(plain, run_labels(runs, now)))


def plain(label: str) -> str:
    """Return a label without its markup, as displayed."""
    return re.sub(r"\\(.)", r"\1", label.replace(" :gray[", ", ").removesuffix("]"))


# Surrogates too: a file name may have bytes that are not UTF-8.
WORDS = st.text(st.characters(categories=None), max_size=60)
HOSTILE = st.sampled_from(
    [
        "",
        " ",
        "a",
        "a ",
        "a\u200d",
        "A",
        "é",
        "e\u0301",
        "\u202ea",
        "<b>a</b>",
        r"\*",
        "*",
        "a" * 44,
        "a" * 45,
        "a" * 10_000,
        "a :gray[300 tokens]",
        "no. 2",
        "a, 300 tokens",
        "a, 300 tokens, no. 2",
    ]
)
CONFIGS = st.builds(
    TrainingConfig,
    vocab_size=st.sampled_from([300, 301]),
    pretokenizer=st.sampled_from(["gpt2", "cl100k", "regex:" + "a" * 30, "regex:" + "a" * 31]),
    base=st.sampled_from(["bytes", "characters"]),
    end_of_word=st.none() | HOSTILE,
    special_tokens=st.lists(HOSTILE, max_size=2).map(tuple),
)
TIMES = st.none() | st.sampled_from(
    [NOON, NOON - A_MINUTE, NOON + timedelta(microseconds=1), NOON - timedelta(days=400)]
)
RUNS = st.lists(
    st.builds(RunName, WORDS, HOSTILE | WORDS, st.sampled_from([300, 301]), CONFIGS, TIMES),
    max_size=9,
)


@given(runs=RUNS)
@example(runs=[run("1")] * 9)
@example(runs=[run("1"), run("2"), run("3", "Hugs, 300 tokens, no. 2", size=300)])
def test_labels_look_different(runs: list[RunName]) -> None:
    found = run_labels(runs, NOON)
    assert len(found) == len(runs)
    # U+200D joins nothing here, and U+2060 only breaks addresses so that they are not links.
    unjoined = [label.replace("\u200d", "").replace("\u2060", "") for label in found]
    seen = {" ".join(unicodedata.normalize("NFC", label).split()) for label in unjoined}
    assert len(seen) == len(runs)
    for label, shown in zip(found, unjoined, strict=True):
        label.encode()  # without an error, so Streamlit can send it
        assert shown.isprintable()


def test_labels_have_details_only_where_two_would_be_the_same() -> None:
    other = replace(CONFIG, pretokenizer="cl100k")
    assert labels(run("1"), run("2", size=301), run("3", "Pugs", other)) == [
        "Hugs, 300 tokens",
        "Hugs, 301 tokens",
        "Pugs, 300 tokens",
    ]
    assert labels(run("1"), run("2", config=other), run("3", "Pugs", other)) == [
        "Hugs, 300 tokens, pre-tokenizer gpt2",
        "Hugs, 300 tokens, pre-tokenizer cl100k",
        "Pugs, 300 tokens",
    ]


def test_labels_have_only_the_settings_that_distinguish_the_runs() -> None:
    classroom = TrainingConfig(300, "whitespace", "characters", "seen", "</w>", ())
    assert labels(run("1"), run("2", config=classroom)) == [
        "Hugs, 300 tokens, pre-tokenizer gpt2",
        "Hugs, 300 tokens, pre-tokenizer whitespace",
    ]
    ties = replace(CONFIG, tie_break="first-seen")
    cl100k = replace(CONFIG, pretokenizer="cl100k")
    assert labels(run("1"), run("2", config=ties), run("3", config=cl100k)) == [
        "Hugs, 300 tokens, pre-tokenizer gpt2, ties smallest-pair",
        "Hugs, 300 tokens, pre-tokenizer gpt2, ties first-seen",
        "Hugs, 300 tokens, pre-tokenizer cl100k",
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"base": "characters"}, ("base bytes", "base characters")),
        ({"alphabet": "seen"}, ("alphabet full", "alphabet seen")),
        ({"end_of_word": "</w>"}, ("no end-of-word marker", "marker </w>")),
        ({"special_tokens": ()}, ("special tokens <|endoftext|>", "no special tokens")),
        ({"tie_break": "first-seen"}, ("ties smallest-pair", "ties first-seen")),
        ({"min_frequency": 5}, ("minimum count 0", "minimum count 5")),
        ({"max_token_bytes": 8}, ("tokens of any length", "tokens up to 8 bytes")),
        ({"vocab_size": 5_000}, ("300 asked for", "5,000 asked for")),
    ],
)
def test_every_setting_has_a_description(
    settings: dict[str, object], said: tuple[str, str]
) -> None:
    other = TrainingConfig(**({"vocab_size": 300} | settings))  # pyright: ignore[reportArgumentType]
    assert labels(run("1"), run("2", config=other)) == [
        f"Hugs, 300 tokens, {word}" for word in said
    ]


def test_the_coverage_of_an_alphabet_has_a_description() -> None:
    whole, most = (
        TrainingConfig(300, "metaspace", alphabet=Characters(coverage=share))
        for share in (1, 0.9995)
    )
    assert labels(run("1", config=whole), run("2", config=most)) == [
        "Hugs, 300 tokens, coverage 1",
        "Hugs, 300 tokens, coverage 0.9995",
    ]


def test_runs_with_the_same_settings_have_their_time_in_the_visitors_time_zone() -> None:
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    earlier, last_year = NOON - A_MINUTE, NOON - timedelta(days=200)
    assert labels(
        run("sample"), run("1", at=NOON), run("2", at=earlier), run("3", at=last_year), now=tokyo
    ) == [
        "Hugs, 300 tokens",
        "Hugs, 300 tokens, trained at 21:00",
        "Hugs, 300 tokens, trained at 20:59",
        "Hugs, 300 tokens, trained on 15 October 2025 at 21:00",
    ]
    second = timedelta(seconds=1)
    assert labels(run("1", at=NOON), run("2", at=NOON + second), now=tokyo) == [
        "Hugs, 300 tokens, trained at 21:00:00",
        "Hugs, 300 tokens, trained at 21:00:01",
    ]


def test_runs_of_the_same_second_are_numbered_whatever_their_position() -> None:
    first, second = run("1", at=NOON), run("2", at=NOON + timedelta(microseconds=1))
    expected = ["Hugs, 300 tokens", "Hugs, 300 tokens, no. 2"]
    assert labels(first, second) == expected
    assert labels(second, first) == expected[::-1]
