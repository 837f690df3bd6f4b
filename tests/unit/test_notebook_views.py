"""Views for notebooks: what they hold, their still pictures, and their widgets."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.views import (
    PlayedRun,
    View,
    summarize_run,
    summarize_tokenizer,
)
from bpe_core.views.notebook import MAX_COMPARED, MAX_TOKENS

GPT2 = bpe.gpt2()
RUN = bpe.train(["hug hugs hugging, a pug and a mug"] * 9, vocab_size=270)
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)"> &lt; </div></script>\u202e<!--'
ALLOWED = {"p", "b", "span", "table", "tr", "th", "td", "code"}


class Seen(HTMLParser):
    """The tags of some HTML, the names of their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_tokenizer() -> bpe.Tokenizer:
    """Return a tokenizer with markup in a token, a special token and its pattern."""
    vocab = dict(enumerate(bytes([n]) for n in range(256)))
    vocab |= {256: b"<i", 257: b"<i>", 258: HOSTILE.encode()}
    merges = [(ord("<"), ord("i"), 256), (256, ord(">"), 257)]
    pattern = "regex:<script>|[^<]+|<"
    return bpe.Tokenizer(
        vocab=vocab, merges=merges, pretokenizer=pattern, special_tokens={HOSTILE: 258}
    )


def read_data(view: View) -> Any:
    return json.loads(view.parts["data"])


def saved_parts(view: View) -> dict[str, bytes]:
    """Return the parts that the output of a cell holds, as a browser reads them."""
    found = re.findall(r'data-part="(\w+)">([^<]*)</script>', view._repr_html_())
    return {name: gzip.decompress(base64.b64decode(text)) for name, text in found}


@pytest.mark.parametrize(
    "still",
    [
        GPT2.view(HOSTILE).still,
        hostile_tokenizer().view(HOSTILE + "<i>", allowed_special=[HOSTILE]).still,
        bpe.compare(HOSTILE, [GPT2, hostile_tokenizer()]).view().still,
        bpe.train([HOSTILE] * 9, vocab_size=300, special_tokens=(HOSTILE,)).player().still,
        summarize_tokenizer(hostile_tokenizer()),
        summarize_run(bpe.train([HOSTILE] * 9, vocab_size=300, special_tokens=(HOSTILE,))),
    ],
)
def test_no_text_becomes_markup_in_a_still_picture(still: str) -> None:
    seen = Seen(still)
    assert seen.tags <= ALLOWED
    assert seen.attributes <= {"style"}
    assert "\u202e" not in still


def test_a_still_picture_shows_the_text() -> None:
    text = "The quick\n\tbrown <fox>"
    shown = Seen(GPT2.view(text).still).text
    assert shown == "8 tokens" + text.replace("\n", "↵\n").replace("\t", "→")


def test_hostile_text_reaches_a_saved_notebook_only_escaped_or_packed() -> None:
    view = GPT2.view(HOSTILE)
    html = view._repr_html_()
    assert "alert(1)</script>" not in html
    assert html.count("<script") == html.count("</script>") == len(view.parts) + 3
    assert read_data(view)["text"] == HOSTILE


def test_a_saved_output_holds_the_widget_and_all_of_its_data() -> None:
    view = RUN.player()
    state = view.widget().get_state()
    parts = saved_parts(view)
    assert parts.pop("script").decode() == state["_esm"]
    assert parts == state["parts"] == view._display_().parts
    assert parts["merges"] == PlayedRun(RUN, player_key(view)).pack_merges(0, len(RUN.merges))


def player_key(view: View) -> str:
    packed = view.parts["run"]
    size = int.from_bytes(packed[:4], "little")
    return json.loads(packed[4 : 4 + size])["player"]


def test_players_have_one_key_only_if_they_show_the_same() -> None:
    first, again, other = RUN.player(step=1), RUN.player(step=1), RUN.player(step=2)
    assert first._repr_html_() == again._repr_html_()
    assert player_key(first) != player_key(other)
    assert player_key(first) != player_key(RUN.player(step=1, words="hug"))


def test_a_player_opens_at_a_step_with_own_words() -> None:
    opened = json.loads(RUN.player(step=2, words="a hug").parts["opened"])
    assert (opened["step"], opened["text"], len(opened["words"])) == (2, "a hug", 2)


def test_a_run_without_merges_has_a_player() -> None:
    run = bpe.train(["hug"], vocab_size=257)
    assert repr(run.player()) == "<View of 0 merges>"
    assert "0" in Seen(run._repr_html_()).text


def test_a_long_text_is_cut_and_says_so() -> None:
    view = GPT2.view("the " * (MAX_TOKENS + 1))
    data = read_data(view)
    assert repr(view) == f"<View of {MAX_TOKENS + 2:,} tokens>"
    assert data["text"] == ("the " * MAX_TOKENS).rstrip(" ")
    assert data["special_note"] == f"Only the first {MAX_TOKENS:,} of {MAX_TOKENS + 2:,} are shown."
    assert "and 49,702 more tokens" in view.still
    assert not read_data(GPT2.view("the " * 9))["special_note"]


def test_a_long_text_is_cut_under_several_tokenizers() -> None:
    text = "the " * (MAX_COMPARED // 4 + 1)
    data = read_data(bpe.compare(text, [GPT2, GPT2]).view())
    assert len(data["text"]) == MAX_COMPARED
    assert data["source"] == f"the first {MAX_COMPARED:,} of {len(text):,} characters"
    assert read_data(bpe.compare("the", [GPT2]).view())["source"] == ""


def test_compared_tokenizers_have_their_names() -> None:
    data = read_data(bpe.compare("hug", ["gpt2", RUN.tokenizer]).view())
    assert [reading["name"] for reading in data["readings"]] == ["GPT-2", "Tokenizer 2"]


def test_a_named_tokenizer_shows_the_same_tokens() -> None:
    named = read_data(bpe.open_encoder("gpt2").view("The quick"))
    assert named["packed"] == read_data(GPT2.view("The quick"))["packed"]
    assert named["name"] == "GPT-2"


def test_special_tokens_are_recognised_if_allowed() -> None:
    text = "a<|endoftext|>"
    assert len(GPT2.encode(text)) > 2
    assert repr(GPT2.view(text)) == f"<View of {len(GPT2.encode(text))} tokens>"
    assert repr(GPT2.view(text, allowed_special="all")) == "<View of 2 tokens>"


def test_wrong_arguments_raise_errors() -> None:
    with pytest.raises(bpe.OutOfRangeError, match=r"the step .* got 99 "):
        RUN.player(step=99)
    with pytest.raises(bpe.InvalidTextError):
        RUN.player(words="\ud800")
    wrong: Any = 5
    with pytest.raises(bpe.ArgumentTypeError, match="Expected a str as text, got"):
        RUN.player(words=wrong)
    with pytest.raises(bpe.InvalidTextError):
        GPT2.view("\ud800")
    with pytest.raises(bpe.ConfigError, match="Expected at most 200 characters of words, got 201"):
        RUN.player(words="x" * 201)
    corpus = bpe.Corpus.from_text("hug")
    with pytest.raises(bpe.ConfigError, match=re.escape("bpe.compare(text, tokenizers).view()")):
        bpe.compare(corpus, [GPT2]).view()


def test_a_saved_output_needs_neither_streamlit_nor_anywidget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("streamlit", "anywidget", "ui"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "data-bpe-view" in RUN.player()._repr_html_()
