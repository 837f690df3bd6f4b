"""Test the lessons without a browser: every step draws its code, its tiles and its claim."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import all_sent
from ui.lessons.order import LESSONS
from ui.lessons.parts import MAX_TEXT_LENGTH, LessonTexts, cut_text
from ui.shell.workspace import state_key

STEPS = [
    (place, lesson.title, step.name)
    for place, lesson in enumerate(LESSONS, 1)
    for step in lesson.steps
]


def drawn(app: AppTest) -> list[dict[str, Any]]:
    return all_sent(app)


def claims(app: AppTest) -> list[tuple[str, str]]:
    return [(str(one["stated"]), str(one["found"])) for one in drawn(app) if "stated" in one]


def given(app: AppTest) -> str:
    return next(str(one["printed"]) for one in drawn(app) if "printed" in one)


@pytest.mark.parametrize(("place", "title", "name"), STEPS)
def test_a_step_shows_the_code_that_ran(
    open_app: Callable[..., AppTest], place: int, title: str, name: str
) -> None:
    app = open_app("lessons", lesson=title, **{f"step_of_{place}": name})
    assert not app.error
    lesson = LESSONS[place - 1]
    assert [header.value for header in app.header] == [
        step.heading for step in lesson.steps if step.name == name
    ]
    assert given(app)


def test_the_hug_words_show_the_mistakes_of_the_example(
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
    stated, found = claims(app)[1]
    assert stated == "vocab[256] = vocab['g'] + vocab['</w>']."
    assert "so 'g' is missing" in found
    assert "0 + 5 is 6, g</w>." in found
    app = open_app("lessons", step_of_1="Encode")
    assert claims(app)[0][1] == (
        "hugging is hu + ggi + n + g</w>. After hu the walk looks for ggi without returning to the "
        "root, and ends with an error."
    )
    app = open_app("lessons", step_of_1="Encode", marker="false")
    assert claims(app)[0][1].startswith("hugging is hug + gin + g. After hug the walk")


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("Words", "document. occurs 2 times."),
        ("Alphabet", "It starts as t, h, i, s, </w>."),
        ("Pairs", "(s, </w>) 8 and (h, i) 5."),
        ("Ties", "s</w> is first, then is</w>. is alone never becomes a token."),
        ("Merges", "s</w>, is</w>, th, the, the</w>, do, doc, … document, ir, .</w>, d</w>."),
        ("Vocabulary", "They end as T + h + is</w> and document + .</w>."),
    ],
)
def test_the_four_documents_check_the_claims_of_the_notebook(
    open_app: Callable[..., AppTest], step: str, found: str
) -> None:
    app = open_app("lessons", lesson="Four documents", step_of_2=step)
    assert [one for _, one in claims(app)] == [found]
    if step == "Alphabet":
        assert any("␣ occurs in no word" in one.value for one in app.markdown)
    if step == "Vocabulary":
        assert any("20 symbols and 15 merges make **35 tokens**" in m.value for m in app.markdown)
    # The notebook's claims are checked on its own documents, not on the visitor's.
    app = open_app("lessons", lesson="Four documents", step_of_2=step, documents="na nana\nnan")
    assert [one for _, one in claims(app)] == [found]
    assert "document" not in given(app)


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("Cuts", "This occurs 3 times, Ġis 2 times."),
        ("Alphabet", ",.CFHTabcdefghiklmnoprstuvwyzĠ"),
        ("Ties", "True here, where (Ġ, t) occurs 7 times. On the four documents it would be"),
        ("New text", "This + Ġis + Ġ + n + o + t + Ġa + Ġtoken"),
        ("GPT-2", "It is [464, 2068, 7586, 21831]."),
    ],
)
def test_gpt2_s_cuts_check_the_claims_of_the_notebook(
    open_app: Callable[..., AppTest], step: str, found: str
) -> None:
    app = open_app("lessons", lesson="GPT-2’s cuts", step_of_3=step)
    assert claims(app)[0][1].startswith(found)


def test_own_sentences_are_restored_from_the_address(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="GPT-2’s cuts", cut_sentences="na nana")
    assert any(one.get("text") == "na nana" for one in drawn(app))
    assert "' nana': 1" in given(app)


def test_both_tie_rules_learn_the_expected_merges(open_app: Callable[..., AppTest]) -> None:
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


def texts(app: AppTest) -> str:
    return "\n".join(one.value for one in app.markdown)


def test_bytes_leave_no_character_without_a_token(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Bytes", any_text="Is née 日?")
    assert "**2 of 9 characters**" in texts(app)
    assert "**12 bytes**" in texts(app)
    (characters,), (as_bytes,) = tiles(app)
    assert "".join(characters) == "Is née 日?"
    assert as_bytes[4:6] == [[0xC3], [0xA9]]


def test_without_pretokens_tokens_cross_words(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Cuts")
    assert "with cuts **0 of 14**: no merge crosses a cut" in texts(app)
    assert [" dog."] in [without for without, _ in tiles(app)]
    assert [" dog"] in [cut for _, cut in tiles(app)]


def test_longest_match_is_shown_not_to_be_bpe(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Longest match")
    assert tiles(app) == [[["un", "it"]], [["uni", "t"]]]
    assert claims(app)[0][1] == (
        "A trie alone is not BPE. GPT-2’s merges make ␣overw + rites, longest match ␣overwrite + s."
    )
    app = open_app("lessons", lesson="Why this way", step_of_4="Longest match", few_word="nun")
    assert "Both agree on nun" in texts(app)


def test_the_trie_backtracks_to_the_tokens_of_the_merges(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Why this way", step_of_4="Step back")
    rows = next(one["rows"] for one in drawn(app) if "rows" in one)
    assert [(row["cells"][0]["tokens"], row["note"]) for row in rows] == [
        (["uni"], "taken"),
        (["uni", "t"], "refused: a merge would cross the boundary before it"),
        (["uni"], "removed: no token can follow it"),
        (["un"], "taken"),
        (["un", "it"], "taken"),
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


def test_a_long_text_is_truncated_at_a_line_end_if_it_has_one() -> None:
    lines = "hug 10\n" * 1_000
    assert cut_text(lines) == lines[: 285 * 7 - 1]
    assert cut_text("hug" * 1_000) == ("hug" * 1_000)[:MAX_TEXT_LENGTH]
    assert cut_text("\n \n" + "a" * 5_000) == "\n \n" + "a" * (MAX_TEXT_LENGTH - 3)
    assert cut_text("a" * MAX_TEXT_LENGTH) == "a" * MAX_TEXT_LENGTH


@pytest.mark.parametrize(("typed", "used"), [("na " * 1_500, 2_000), ("na na\n" * 600, 1_997)])
def test_the_warning_on_a_long_text_states_how_much_is_used(
    open_app: Callable[..., AppTest], typed: str, used: int
) -> None:
    app = open_app("lessons", lesson="Four documents")
    app.session_state[state_key(LessonTexts)] = LessonTexts({"documents": typed})
    app.run()
    assert app.warning[0].value.startswith(f"Only the first {used:,} of {len(typed):,} characters")
    assert any(one.get("text") == typed for one in drawn(app))


def test_invalid_words_show_an_error_and_are_kept(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", words="hug ten\n<b>")
    assert "Line 1\\: expected a word" in app.error[0].value
    assert any(one.get("text") == "hug ten\n<b>" for one in drawn(app))
    press(app, "Reset to the example")
    assert not app.error


ANY_WORDS = ["<img/src=x/onerror=alert(1)> 3\n\u202eabc 2", "a 1", "</w> 5\né你😀 7"]


@pytest.mark.parametrize(
    ("words", "step"), list(zip(cycle(ANY_WORDS), STEPS, strict=False)), ids=str
)
def test_every_step_accepts_any_words(
    open_app: Callable[..., AppTest], words: str, step: tuple[int, str, str]
) -> None:
    place, title, name = step
    texts = {"words": words, "documents": words, "cut_sentences": words}
    open_app("lessons", lesson=title, **{f"step_of_{place}": name}, **texts)


@pytest.mark.parametrize(
    ("place", "step", "query", "sentence"),
    [
        (1, "Words", {"marker": "false"}, "characters, and its end is not marked."),
        (1, "Choice", {}, "Without the marker \\(u\\, g\\) wins. Switch it off to see."),
        (1, "Choice", {"words": "a 7"}, "Without the marker there are no pairs"),
        (1, "Choice", {"words": "hugs 7"}, "Without the marker the same pair wins."),
        (1, "Repeat", {"marker": "false"}, "of symbols plus the number of merges."),
        (
            1,
            "Encode",
            {"words": "abcdefghijklmnopqrst 7", "new_word": "abcdefghijklmnopqrst"},
            "The first 16 of 20 merges.",
        ),
        (1, "Repeat", {"words": "a 7"}, "1 symbol + 1 marker + 1 merge = **3 tokens**"),
        (2, "Alphabet", {"documents": "a\tb c"}, "U\\+0009\\, ␣ occur in no word"),
        (
            2,
            "Merges",
            {"documents": "na nana"},
            "Then no pairs were left, after 3 of 15 rounds.",
        ),
        (2, "Merges", {}, "15 rounds of counting, choosing and joining. Move the slider"),
        (2, "Vocabulary", {"documents": "a"}, "2 symbols and 1 merge make **3 tokens**."),
        (3, "Alphabet", {"cut_sentences": "aaaa"}, "The only byte that occurs in the text"),
        (3, "Alphabet", {"cut_sentences": "nà ne"}, "characters that GPT-2 writes for them."),
        (3, "Alphabet", {}, "GPT-2 writes for them, with the space last."),
        (
            3,
            "Merges",
            {"cut_sentences": "na nana"},
            "The vocabulary size is 50. It starts with 4 tokens, which leaves room for 46 merges. "
            "After 3 merges no pairs are left: each piece is one token.",
        ),
        (3, "Merges", {"cut_sentences": "a b"}, "leaves room for 46 merges. After 1 merge no pair"),
        (
            3,
            "Merges",
            {"cut_sentences": "a"},
            "There are no pairs to merge: each piece is one symbol",
        ),
        (3, "Merges", {}, "with 31 tokens, which leaves room for 19 merges. A token may begin"),
        (3, "Cuts", {"cut_sentences": "a " * 70}, "The first 60 of 71 pieces."),
        (4, "Cuts", {"cut_text": "né né né né"}, "with cuts **0 of 3**: no merge crosses a cut."),
        (
            4,
            "Bytes",
            {"any_text": "Z"},
            "**1 of 1 character** has no token. Every one of its **1 byte**",
        ),
    ],
)
def test_a_step_describes_the_visitor_s_words(
    open_app: Callable[..., AppTest], place: int, step: str, query: dict[str, str], sentence: str
) -> None:
    lesson = LESSONS[place - 1].title
    app = open_app("lessons", lesson=lesson, **{f"step_of_{place}": step}, **query)
    assert sentence in texts(app)


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
def test_a_text_without_words_shows_an_error(
    open_app: Callable[..., AppTest], place: int, step: str, name: str
) -> None:
    app = open_app("lessons", lesson=LESSONS[place - 1].title, **{f"step_of_{place}": step})
    app.session_state[state_key(LessonTexts)] = LessonTexts({name: " \n"})
    app.run()
    none = "There are no words" if name.endswith("words") else "There are no words to learn from"
    assert [re.split("[:.]", error.value.replace("\\", ""))[0] for error in app.error] == [none]


@pytest.mark.parametrize(("place", "step"), [(1, "Pairs"), (1, "Choice"), (3, "Ties"), (4, "Cuts")])
def test_a_step_without_pairs_explains_why(
    open_app: Callable[..., AppTest], place: int, step: str
) -> None:
    words = {"words": "a 3", "marker": "false", "cut_sentences": "a\na", "cut_text": "a\na"}
    lesson = LESSONS[place - 1].title
    app = open_app("lessons", lesson=lesson, **{f"step_of_{place}": step}, **words)
    assert [info.value for info in app.info] == [
        "Every word is a single symbol, so there are no pairs. Add a longer word."
    ]


def test_no_pair_is_ringed_after_the_last_merge(open_app: Callable[..., AppTest]) -> None:
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
