"""The lessons without a browser: every step of each draws its code, its tiles and its claim."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ui.lessons.order import LESSONS
from ui.lessons.parts import LONGEST_TEXT, cut_text
from ui.shell.workspace import Workspace

STEPS = [
    (place, lesson.title, step.name)
    for place, lesson in enumerate(LESSONS, 1)
    for step in lesson.steps
]


def drawn(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]


def claims(app: AppTest) -> list[tuple[str, str]]:
    return [(str(one["said"]), str(one["found"])) for one in drawn(app) if "said" in one]


def given(app: AppTest) -> str:
    return next(str(one["printed"]) for one in drawn(app) if "printed" in one)


@pytest.mark.parametrize(("place", "title", "name"), STEPS)
def test_a_step_shows_the_code_that_ran(
    open_app: Callable[..., AppTest], place: int, title: str, name: str
) -> None:
    app = open_app("lessons", lesson=title, **{f"step_of_{place}": name})
    assert not app.exception
    assert not app.error
    lesson = LESSONS[place - 1]
    assert [header.value for header in app.header] == [
        step.heading for step in lesson.steps if step.name == name
    ]
    assert given(app)


def test_the_hug_words_show_what_the_example_gets_wrong(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lessons", step_of_1="Pairs")
    assert claims(app) == [("(g, g) occurs 5 times.", "(g, g) occurs 8 times.")]
    for count in ("('u', 'g'): 15", "('g', '</w>'): 18", "('i', 'n'): 6", "('n', 'g'): 3"):
        assert count in given(app)
    app = open_app("lessons", step_of_1="Choice")
    assert claims(app) == [("The most frequent pair is (h, u).", "It is (g, </w>), with 18.")]
    app = open_app("lessons", step_of_1="Choice", marker="false")
    assert claims(app) == [("The most frequent pair is (h, u).", "It is (u, g), with 15.")]
    app = open_app("lessons", step_of_1="Repeat")
    assert claims(app)[0][1] == "Its loop makes 24 merges, so it ends with 281."
    said, found = claims(app)[1]
    assert said == "vocab[256] = vocab['g'] + vocab['</w>']."
    assert "none that is 'g'" in found
    assert "0 + 5 is 6, g</w>." in found
    app = open_app("lessons", step_of_1="Encode")
    assert claims(app)[0][1] == (
        "hugging is hu · ggi · n · g</w>. Behind hu the walk looks for ggi without going back to "
        "the root, and ends in an error."
    )
    app = open_app("lessons", step_of_1="Encode", marker="false")
    assert claims(app)[0][1].startswith("hugging is hug · gin · g. Behind hug the walk")


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("Words", "document. occurs 2 times."),
        ("Alphabet", "It starts as t, h, i, s, </w>."),
        ("Pairs", "(s, </w>) 8 and (h, i) 5."),
        ("Ties", "s</w> is first, then is</w>. is alone never becomes a token."),
        ("Merges", "s</w>, is</w>, th, the, the</w>, do, doc, … document, ir, .</w>, d</w>."),
        ("Vocabulary", "They end as T·h·is</w> and document·.</w>."),
    ],
)
def test_the_four_documents_show_the_truth_of_the_notebook(
    open_app: Callable[..., AppTest], step: str, found: str
) -> None:
    app = open_app("lessons", lesson="Four documents", step_of_2=step)
    assert [one for _, one in claims(app)] == [found]
    if step == "Alphabet":
        assert any("␣ stands in no word" in one.value for one in app.markdown)
    if step == "Vocabulary":
        assert any("20 symbols and 15 merges make **35 tokens**" in m.value for m in app.markdown)
    # The visitor's own documents change what is shown, not what the notebook's are held against.
    app = open_app("lessons", lesson="Four documents", step_of_2=step, documents="na nana\nnan")
    assert not app.exception
    assert [one for _, one in claims(app)] == [found]
    assert "document" not in given(app)


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("Cuts", "This occurs 3 times, Ġis 2 times."),
        ("Alphabet", ",.CFHTabcdefghiklmnoprstuvwyzĠ"),
        ("Ties", "Right here, where (Ġ, t) occurs 7 times. On the four documents it would be"),
        ("New text", "This · Ġis · Ġ · n · o · t · Ġa · Ġtoken"),
        ("GPT-2", "It is [464, 2068, 7586, 21831]."),
    ],
)
def test_gpt2_s_cuts_show_the_truth_of_the_notebook(
    open_app: Callable[..., AppTest], step: str, found: str
) -> None:
    app = open_app("lessons", lesson="GPT-2’s cuts", step_of_3=step)
    assert claims(app)[0][1].startswith(found)


def test_sentences_of_one_s_own_come_back_by_the_address(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="GPT-2’s cuts", cut_sentences="na nana")
    assert any(one.get("text") == "na nana" for one in drawn(app))
    assert "' nana': 1" in given(app)


def test_both_tie_rules_learn_what_they_should(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="GPT-2’s cuts", step_of_3="Ties")
    rows = next(one["rows"] for one in drawn(app) if one.get("columns"))
    learned = [
        " ".join("·".join(row["cells"][column]["tokens"]).replace(" ", "Ġ") for row in rows)
        for column in (0, 1)
    ]
    assert learned == [
        "Ġ·t i·s e·r Ġ·a Ġt·o e·n T·h Th·is o·u s·e Ġto·k Ġtok·en n·d Ġ·is Ġt·h Ġth·e i·n Ġa·b "
        "Ġtoken·i",
        "Ġ·t e·r i·s Ġ·a e·n Ġt·o T·h k·en n·d o·u s·e Ġto·ken Th·is a·t h·e h·o i·n i·o i·z",
    ]
    assert given(app) == "[('i', 's'), ('e', 'r')]"


def tiles(app: AppTest) -> list[list[list[str]]]:
    rows = next(one["rows"] for one in drawn(app) if "rows" in one)
    return [[cell["tokens"] for cell in row["cells"]] for row in rows]


def said(app: AppTest) -> str:
    return "\n".join(one.value for one in app.markdown)


def test_bytes_leave_no_character_without_a_token(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Bytes", any_text="Is née 日?")
    assert "**2 of 9 characters**" in said(app)
    assert "**12 bytes**" in said(app)
    (characters,), (as_bytes,) = tiles(app)
    assert "".join(characters) == "Is née 日?"
    assert as_bytes[4:6] == [[0xC3], [0xA9]]


def test_without_cuts_tokens_reach_over_words(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Cuts")
    assert "**0 of 14** with them" in said(app)
    assert [" dog."] in [without for without, _ in tiles(app)]
    assert [" dog"] in [cut for _, cut in tiles(app)]


def test_longest_match_is_shown_not_to_be_bpe(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Longest match")
    assert tiles(app) == [[["un", "it"]], [["uni", "t"]]]
    assert claims(app)[0][1] == (
        "A trie alone is not BPE. GPT-2’s merges give ␣overw·rites, longest match ␣overwrite·s."
    )
    app = open_app("lessons", lesson="Why this way", step_of_4="Longest match", few_word="nun")
    assert "Both agree on nun" in said(app)


def test_the_trie_steps_back_to_what_the_merges_give(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Step back")
    rows = next(one["rows"] for one in drawn(app) if "rows" in one)
    assert [(row["cells"][0]["tokens"], row["note"]) for row in rows] == [
        (["uni"], "fits"),
        (["uni", "t"], "a merge would cross the border before it"),
        (["uni"], "taken back: nothing goes on"),
        (["un"], "fits"),
        (["un", "it"], "fits"),
    ]
    assert app.get("page_link")


def test_next_and_back_lead_through_the_steps(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons")
    press(app, "Next")
    assert app.header[0].value == "Count the neighbours"
    assert app.query_params["step_of_1"] in ("Pairs", ["Pairs"])
    press(app, "Back")
    assert app.header[0].value == "From words to symbols"
    assert button(app, "Back").disabled


def test_a_long_text_is_cut_at_a_line_or_hard_where_there_is_none() -> None:
    lines = "hug 10\n" * 1_000
    assert cut_text(lines) == lines[: 285 * 7 - 1]
    assert cut_text("hug" * 1_000) == ("hug" * 1_000)[:LONGEST_TEXT]
    assert cut_text("\n \n" + "a" * 5_000) == "\n \n" + "a" * (LONGEST_TEXT - 3)
    assert cut_text("a" * LONGEST_TEXT) == "a" * LONGEST_TEXT


@pytest.mark.parametrize(("typed", "used"), [("na " * 1_500, 2_000), ("na na\n" * 600, 1_997)])
def test_what_is_said_of_a_long_text_is_what_is_done(
    open_app: Callable[..., AppTest], typed: str, used: int
) -> None:
    app = open_app("lessons", lesson="Four documents")
    app.session_state["workspace"] = Workspace(lesson_texts={"documents": typed})
    app.run()
    assert not app.exception
    assert app.warning[0].value.startswith(f"Only the first {used:,} of {len(typed):,} characters")
    assert any(one.get("text") == typed for one in drawn(app))


def test_words_that_cannot_be_read_are_said_and_kept(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", words="hug ten\n<b>")
    assert not app.exception
    assert "Line 1 is" in app.error[0].value
    assert any(one.get("text") == "hug ten\n<b>" for one in drawn(app))
    press(app, "As in the lesson")
    assert not app.error


@pytest.mark.parametrize(
    "words", ["<img/src=x/onerror=alert(1)> 3\n\u202eabc 2", "a 1", "</w> 5\né你😀 7"]
)
@pytest.mark.parametrize(("place", "title", "name"), STEPS)
def test_any_words_can_be_taken_through_any_step(
    open_app: Callable[..., AppTest], words: str, place: int, title: str, name: str
) -> None:
    texts = {"words": words, "documents": words, "cut_sentences": words}
    app = open_app("lessons", lesson=title, **{f"step_of_{place}": name}, **texts)
    assert not app.exception


@pytest.mark.parametrize(
    ("place", "step", "query", "sentence"),
    [
        (1, "Words", {"marker": "false"}, "characters, and nothing marks where it ends."),
        (1, "Choice", {}, "Without the marker \\(u\\, g\\) wins: switch it off and see."),
        (1, "Choice", {"words": "a 7"}, "Without the marker there is no pair"),
        (1, "Choice", {"words": "hugs 7"}, "Without the marker the same pair wins."),
        (1, "Repeat", {"marker": "false"}, "its size is the symbols and the merges together."),
        (
            1,
            "Encode",
            {"words": "abcdefghijklmnopqrst 7", "new_word": "abcdefghijklmnopqrst"},
            "The first 16 of 20 merges.",
        ),
        (1, "Repeat", {"words": "a 7"}, "1 symbol + 1 marker + 1 merge = **3 tokens**"),
        (2, "Alphabet", {"documents": "a\tb c"}, "U\\+0009\\, ␣ stand in no word"),
        (
            2,
            "Merges",
            {"documents": "na nana"},
            "Then no pair is left, so 3 of 15 rounds are made.",
        ),
        (2, "Merges", {}, "15 rounds of counting, choosing and joining. Move through them"),
        (2, "Vocabulary", {"documents": "a"}, "2 symbols and 1 merge make **3 tokens**."),
        (3, "Alphabet", {"cut_sentences": "aaaa"}, "Then comes the only byte that occurs"),
        (3, "Alphabet", {"cut_sentences": "nà ne"}, "characters that stand for them."),
        (3, "Alphabet", {}, "characters that stand for them: the space last."),
        (
            3,
            "Merges",
            {"cut_sentences": "na nana"},
            "The vocabulary may have 50 tokens: 4 to start with leave room for 46 merges. After 3 "
            "merges no pair is left: each piece is one token.",
        ),
        (3, "Merges", {"cut_sentences": "a b"}, "leave room for 46 merges. After 1 merge no pair"),
        (
            3,
            "Merges",
            {"cut_sentences": "a"},
            "There is no pair to merge: each piece is one symbol",
        ),
        (3, "Merges", {}, "tokens: 31 to start with leave room for 19 merges. A token may begin"),
        (3, "Cuts", {"cut_sentences": "a " * 70}, "The first 60 of 71 pieces."),
        (4, "Cuts", {"cut_text": "né né né né"}, "**0 of 3** with them: no merge crosses a cut."),
        (
            4,
            "Bytes",
            {"any_text": "Z"},
            "**1 of 1 character** has no token. Of its **1 byte** every",
        ),
    ],
)
def test_a_step_says_what_becomes_of_the_visitors_words(
    open_app: Callable[..., AppTest], place: int, step: str, query: dict[str, str], sentence: str
) -> None:
    lesson = LESSONS[place - 1].title
    app = open_app("lessons", lesson=lesson, **{f"step_of_{place}": step}, **query)
    assert not app.exception
    assert sentence in said(app)


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
@pytest.mark.parametrize(
    ("place", "step", "name"),
    [
        (1, "Words", "words"),
        (2, "Words", "documents"),
        (3, "Cuts", "cut_sentences"),
        (4, "Cuts", "cut_text"),
        (4, "Step back", "few_words"),
    ],
)
def test_without_a_word_there_is_nothing_to_learn_from(
    open_app: Callable[..., AppTest], place: int, step: str, name: str, text: str
) -> None:
    app = open_app("lessons", lesson=LESSONS[place - 1].title, **{f"step_of_{place}": step})
    app.session_state["workspace"] = Workspace(lesson_texts={name: text})
    app.run()
    assert not app.exception
    none = "There are no words" if name.endswith("words") else "There are no words to learn from"
    assert [re.split("[:.]", error.value.replace("\\", ""))[0] for error in app.error] == [none]


@pytest.mark.parametrize(("place", "step"), [(1, "Pairs"), (1, "Choice"), (3, "Ties"), (4, "Cuts")])
def test_where_no_pair_is_left_the_step_says_so(
    open_app: Callable[..., AppTest], place: int, step: str
) -> None:
    words = {"words": "a 3", "marker": "false", "cut_sentences": "a\na", "cut_text": "a\na"}
    lesson = LESSONS[place - 1].title
    app = open_app("lessons", lesson=lesson, **{f"step_of_{place}": step}, **words)
    assert not app.exception
    assert [info.value for info in app.info] == [
        "Every word is one symbol: there is no pair. Give a longer word."
    ]


def test_at_the_end_no_pair_is_ringed(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Four documents", step_of_2="Merges")
    slider = app.slider[0]
    for step, is_ringed in ((14, True), (15, False)):
        slider = app.slider[0].set_value(step)
        slider.run()
        rows = next(one["rows"] for one in drawn(app) if "rows" in one)
        assert any(cell["rings"] for row in rows for cell in row["cells"]) == is_ringed


def button(app: AppTest, label: str):
    return next(one for one in app.button if one.label == label)


def press(app: AppTest, label: str) -> None:
    button(app, label).click().run()
