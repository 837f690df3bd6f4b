"""Test the lessons without a browser: every step asks, then draws its code and its tiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.corpus import parallel_texts
from tests.app.pages import all_sent, press
from ui.corpus.own_texts import OwnText, OwnTexts
from ui.lessons import LESSONS
from ui.lessons.languages import N_MERGES, TaughtLanguage
from ui.lessons.parts import MAX_TEXT_LENGTH, Answers, cut_text

STEPS = [
    (place, lesson.title, step.name)
    for place, lesson in enumerate(LESSONS, 1)
    for step in lesson.steps
]

RIGHT: dict[tuple[int, str], list[Any]] = {
    (1, "Words"): ["4"],
    (1, "Pairs"): ["15"],
    (1, "Choice"): [["g", "</w>"]],
    (1, "Join"): ["3"],
    (1, "Repeat"): ["9"],
    (1, "Encode"): ["4"],
    (2, "Words"): ["13"],
    (2, "Alphabet"): ["20"],
    (2, "Pairs"): [["s", "</w>"]],
    (2, "Merges"): [["s</w>"]],
    (2, "Vocabulary"): ["2"],
    (3, "Bytes"): ["6"],
    (3, "Ties"): ["No, but the first are the same"],
    (3, "New text"): ["9"],
    (3, "GPT-2"): ["4"],
    (4, "Cuts"): ["8"],
    (4, "Longest match"): [["un", "it"]],
    (4, "Step back"): ["4"],
    (5, "Pieces"): ["4"],
    (5, "add_tokens"): ["as many"],
    (5, "Merges"): [[" ne", "ph"]],
    (5, "Test"): ["GPT-2’s own encoding"],
    (7, "Superwords"): ["2"],
    (7, "Removals"): [["ll"]],
    (7, "Parity"): ["5"],
}
"""The right answers to the questions about the examples."""


def given(app: AppTest) -> str:
    return next(str(one["printed"]) for one in all_sent(app) if "printed" in one)


def question(app: AppTest) -> dict[str, Any]:
    return next(one for one in all_sent(app) if "because" in one)


def right_options(asked: dict[str, Any]) -> list[Any]:
    options = [asked["options"][place] for place in asked["right"]]
    return [option["text"] or option["tokens"] for option in options]


def open_shown(open_app: Callable[..., AppTest], place: int, name: str, **query: str) -> AppTest:
    """Open a step whose question was answered."""
    title = LESSONS[place - 1].title
    answers = Answers({f"{title}_{name}": -1})
    return open_app("lessons", answers, lesson=title, **{f"step_of_{place}": name}, **query)


@pytest.mark.parametrize(
    ("place", "name", "query", "right"),
    [
        (1, "Words", {"marker": "false"}, ["3"]),
        (1, "Choice", {"marker": "false"}, [["u", "g"]]),
        (4, "Bytes", {"any_text": "Is née 日?"}, ["2"]),
        (6, "Bytes", {"taught_language": "Greek"}, ["2"]),
        (6, "Bytes", {"taught_language": "Thai"}, ["3"]),
    ],
)
def test_the_right_answer_is_computed_from_the_visitors_words(
    open_app: Callable[..., AppTest],
    place: int,
    name: str,
    query: dict[str, str],
    right: list[Any],
) -> None:
    lesson = LESSONS[place - 1].title
    app = open_app("lessons", lesson=lesson, **{f"step_of_{place}": name}, **query)
    assert right_options(question(app)) == right


@pytest.mark.parametrize("marked", [True, False])
def test_the_first_question_says_itself_whether_the_ends_are_marked(
    open_app: Callable[..., AppTest], marked: bool
) -> None:
    app = open_app("lessons", lesson=LESSONS[0].title, marker=str(marked).lower())
    asked = question(app)["text"]
    assert ("The end of each word is marked with the symbol </w>." in asked) == marked
    assert asked.endswith("How many symbols does hug start as?")


def test_the_questions_on_bytes_and_cuts_need_nothing_that_is_not_on_the_page(
    open_app: Callable[..., AppTest],
) -> None:
    asked = question(open_app("lessons", lesson=LESSONS[3].title, step_of_4="Bytes"))["text"]
    assert "these characters alone: A I T c d e f h i m n o r s t u . ? How many" in asked
    asked = question(open_app("lessons", lesson=LESSONS[3].title, step_of_4="Cuts"))["text"]
    assert asked.startswith("GPT-2 cuts a text into words, each with the space before it")
    assert asked.endswith("how many cross a place where GPT-2 cuts?")


def test_the_size_of_the_hug_words_vocabulary_is_one_count(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_shown(open_app, 1, "Repeat")
    assert "starts with 6 symbols, the marker included." in question(app)["text"]
    assert "symbols, the marker included, plus the number of merges" in question(app)["because"]
    assert "6 symbols, the marker included, + 3 merges = **9 tokens**" in texts(app)


def test_ties_shows_a_step_at_which_the_rules_differ(open_app: Callable[..., AppTest]) -> None:
    app = open_shown(open_app, 2, "Ties")
    assert right_options(question(app)) == ["It depends on the rule"]
    assert "(th, e): this lesson joins it" in question(app)["because"]
    assert given(app) == "(('th', 'e'), ('c', 'u'))"
    app = open_shown(open_app, 2, "Ties", documents="na nana")
    assert not any("because" in one for one in all_sent(app))
    assert "both rules for ties choose the same pair" in app.info[0].value


@pytest.mark.parametrize(
    ("place", "stated", "found"),
    [
        (1, "(g, g) occurs 5 times.", "(g, g) occurs 8 times."),
        (1, "The most frequent pair is (h, u).", "It is (g, </w>), with 18."),
        (1, "th u g becomes thu g", "It stays th u g: none of its symbols is h."),
        (1, "280 = ", "Its loop makes 24 merges, so it ends with 281."),
        (1, "vocab[256] = vocab['g'] + vocab['</w>'].", "0 + 5 is 6, g</w>."),
        (1, "Its encoder", "hugging is hu + ggi + n + g</w>. After hu the walk looks for ggi"),
        (2, "document. occurs 3 times.", "document. occurs 2 times."),
        (2, "“this” starts as", "It starts as t, h, i, s, </w>."),
        (2, "(s, </w>) 7 and (h, i) 4.", "(s, </w>) 8 and (h, i) 5."),
        (2, "is and th", "s</w> is first, then is</w>. is alone never becomes a token."),
        (2, "The words end", "They end as T + h + is</w> and document + .</w>."),
        (3, "The first merge", "True here, where (Ġ, t) occurs 7 times. On the four documents"),
        (3, "Its last cell", "This + Ġis + Ġ + n + o + t + Ġa + Ġtoken"),
        (3, "The quick brown fox is", "It is [464, 2068, 7586, 21831]."),
        (4, "Tries for", "make ␣overw + rites, longest match ␣overwrite + s."),
        (4, "Trie = 5–10x", "Its two loops time the same encoder."),
    ],
)
def test_a_lesson_s_note_corrects_its_sources(place: int, stated: str, found: str) -> None:
    claims = [claim for source in LESSONS[place - 1].sources for claim in source.find_claims()]
    assert [found in claim.found for claim in claims if claim.stated.startswith(stated)] == [True]


@pytest.mark.parametrize("place", [1, len(LESSONS)])
def test_the_last_step_names_the_sources_and_leads_on(
    open_app: Callable[..., AppTest], place: int
) -> None:
    lesson = LESSONS[place - 1]
    names = [step.name for step in lesson.steps]
    app = open_app("lessons", lesson=lesson.title, **{f"step_of_{place}": names[-2]})
    assert question(app)["answer"] is None
    assert not any("printed" in one or "claims" in one for one in all_sent(app))
    press(app, "Next")
    assert sum("claims" in one for one in all_sent(app)) == len(lesson.sources)
    if place == len(LESSONS):
        assert app.get("page_link")[-1].proto.page == "train"
        return
    following = LESSONS[place]
    press(app, f"Next lesson: {following.title}")
    assert app.header[0].value == following.steps[0].heading


@pytest.mark.parametrize("place", range(1, len(LESSONS) + 1))
def test_a_lesson_is_drawn_for_print_with_a_link_to_each_step(
    open_app: Callable[..., AppTest], place: int
) -> None:
    lesson = LESSONS[place - 1]
    app = open_app("lessons", lesson=lesson.title, print="true")
    assert not app.error
    asked = [one for one in all_sent(app) if "because" in one]
    n = len(lesson.steps)
    assert [one["answer"] for one in asked] == [None] * n + [-1] * n
    for step, one in zip(lesson.steps, asked[:n], strict=True):
        assert 2 <= len(one["options"]) <= 5
        assert right_options(one) == RIGHT.get((place, step.name), right_options(one)) != []
        assert one["because"]
    assert not app.text_input
    links = [one.value for one in app.markdown if "on the screen" in one.value]
    assert len(links) == n
    assert all("?lesson=" in link and "&step_of_" in link for link in links)


def test_each_language_of_the_sample_can_be_taught_and_what_its_cut_costs_is_recounted() -> None:
    own, english = {text.name: text for text in parallel_texts()}, parallel_texts()[0]
    assert own.pop("English") == english
    runs = {
        (text.name, cut): bpe.train(
            bpe.Corpus.from_documents(text.sentences),
            bpe.TrainingConfig(256 + N_MERGES, special_tokens=(), pretokenizer=cut),
        )
        for text in parallel_texts()
        for cut in ("gpt2", "o200k")
    }
    n_tokens = {key: int(run.tokens_after[-1]) for key, run in runs.items()}
    costly: dict[str, str] = {}
    for name, text in own.items():
        questions = [step.ask(TaughtLanguage(text, english)) for step in LESSONS[5].steps]
        assert all(asked and asked.right for asked in questions), name
        gpt2, o200k = (n_tokens[name, cut] / n_tokens["English", cut] for cut in ("gpt2", "o200k"))
        said = questions[-1].because if questions[-1] else ""
        assert f"{n_tokens[name, 'gpt2']} tokens against {n_tokens['English', 'gpt2']};" in said
        figures = f"it is {o200k:.2f} instead of {gpt2:.2f} times."
        if "comes from the cut" not in said:
            assert f"Another cut changes little here: with GPT-4o’s {figures}" in said
            assert gpt2 - o200k < 0.05
            continue
        assert said.endswith(f"With GPT-4o’s cut {figures}")
        n_merges = len(runs[name, "gpt2"].merges)
        assert (f"after {n_merges} merges no pairs are left" in said) == (n_merges < N_MERGES)
        pieces = [
            sum(len(bpe.get_pretokenizer(cut).split(one)) for one in text.sentences)
            for cut in ("gpt2", "o200k")
        ]
        assert f"{pieces[0]} pieces of these sentences, GPT-4o’s {pieces[1]}." in said
        costly[name] = figures
    assert costly == {
        "Hindi": "it is 1.33 instead of 1.83 times.",
        "Bengali": "it is 1.22 instead of 1.94 times.",
        "Tamil": "it is 1.39 instead of 2.47 times.",
        "Thai": "it is 1.22 instead of 1.29 times.",
    }


def test_both_tie_rules_learn_the_expected_merges(open_app: Callable[..., AppTest]) -> None:
    app = open_shown(open_app, 3, "Ties")
    rows = next(one["rows"] for one in all_sent(app) if one.get("columns"))
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
    rows = next(one["rows"] for one in all_sent(app) if "rows" in one)
    return [[cell["tokens"] for cell in row["cells"]] for row in rows]


def texts(app: AppTest) -> str:
    because = [one["because"] for one in all_sent(app) if "because" in one]
    return "\n".join([*because, *(one.value for one in app.markdown)])


def test_longest_match_is_shown_not_to_be_bpe(open_app: Callable[..., AppTest]) -> None:
    app = open_shown(open_app, 4, "Longest match")
    assert tiles(app) == [[["un", "it"]], [["uni", "t"]]]
    app = open_shown(open_app, 4, "Longest match", few_word="nun")
    assert "Both agree here" in texts(app)


def test_the_trie_backtracks_to_the_tokens_of_the_merges(open_app: Callable[..., AppTest]) -> None:
    app = open_shown(open_app, 4, "Step back")
    rows = next(one["rows"] for one in all_sent(app) if "rows" in one)
    assert [(row["label"], row["cells"][0]["tokens"], row["note"]) for row in rows] == [
        ("1", ["uni"], "taken"),
        ("2", ["uni", "t"], "refused: a merge would cross the boundary before it"),
        ("back", ["uni"], "removed: no token can follow it"),
        ("3", ["un"], "taken"),
        ("4", ["un", "it"], "taken"),
    ]
    assert right_options(question(app)) == ["4"], "the last number"
    assert app.get("page_link")


def test_a_long_text_is_truncated_at_a_line_end_if_it_has_one() -> None:
    lines = "hug 10\n" * 1_000
    assert cut_text(lines) == lines[: 285 * 7 - 1]
    assert cut_text("hug" * 1_000) == ("hug" * 1_000)[:MAX_TEXT_LENGTH]
    assert cut_text("\n \n" + "a" * 5_000) == "\n \n" + "a" * (MAX_TEXT_LENGTH - 3)
    assert cut_text("a" * MAX_TEXT_LENGTH) == "a" * MAX_TEXT_LENGTH


def test_the_warning_on_a_long_text_states_how_much_is_used(
    open_app: Callable[..., AppTest],
) -> None:
    typed = "na na\n" * 600
    app = open_app("lessons", OwnTexts({"documents": OwnText(typed)}), lesson="Four documents")
    assert app.warning[0].value.startswith(f"Only the first 1,997 of {len(typed):,} characters")
    assert any(one.get("text") == typed for one in all_sent(app))


def test_invalid_words_show_an_error_and_are_kept(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lessons", lesson="Hug words", words="hug ten\n<b>")
    assert "Line 1\\: expected a word" in app.error[0].value
    assert any(one.get("text") == "hug ten\n<b>" for one in all_sent(app))
    press(app, "Reset to the example")
    assert not app.error


ANY_WORDS = ["<img/src=x/onerror=alert(1)> 3\n\u202eabc 2", "a 1", "</w> 5\né你😀 7"]


@pytest.mark.parametrize(
    ("words", "lesson"),
    [(words, LESSONS[0].title) for words in ANY_WORDS]
    + [(words, lesson.title) for words, lesson in zip(cycle(ANY_WORDS), LESSONS[1:], strict=False)],
)
def test_every_step_accepts_any_words(
    open_app: Callable[..., AppTest], words: str, lesson: str
) -> None:
    fields = ("words", "documents", "cut_sentences", "cut_text", "few_words", "new_words")
    fields += ("joined_text", "refined_text", "shared_text")
    open_app("lessons", lesson=lesson, print="true", **dict.fromkeys(fields, words))


@pytest.mark.parametrize(
    ("place", "step", "query", "sentence"),
    [
        (1, "Words", {"marker": "false"}, "characters, and its end is not marked."),
        (1, "Choice", {}, "Without the marker \\(u\\, g\\) wins. Switch it off to see."),
        (1, "Repeat", {"marker": "false"}, "of symbols plus the number of merges."),
        (
            1,
            "Encode",
            {"words": "abcdefghijklmnopqrst 7", "new_word": "abcdefghijklmnopqrst"},
            "The first 16 of 20 merges.",
        ),
        (1, "Repeat", {"words": "a 7"}, "2 symbols, the marker included, + 1 merge = **3 tokens**"),
        (2, "Alphabet", {"documents": "a\tb c"}, "U\\+0009\\, ␣ occur in no word"),
        (
            2,
            "Merges",
            {"documents": "na nana"},
            "Then no pairs were left, after 3 of 15 rounds.",
        ),
        (2, "Vocabulary", {"documents": "a"}, "2 symbols and 1 merge make **3 tokens**."),
        (3, "Alphabet", {"cut_sentences": "nà ne"}, "characters that GPT-2 writes for them."),
        (
            3,
            "Merges",
            {"cut_sentences": "na nana"},
            "The vocabulary size is 50. It starts with 4 tokens, which leaves room for 46 merges. "
            "After 3 merges no pairs are left: each piece is one token.",
        ),
        (3, "Cuts", {"cut_sentences": "a " * 70}, "The first 60 of 71 pieces."),
        (4, "Cuts", {"cut_text": "né né né né"}, "With cuts it is 0 of 3: no merge crosses a cut."),
        (3, "Cuts", {"cut_sentences": "One\nTwo\nThree"}, "One\n\nTwo\n\nThree"),
        (
            4,
            "Bytes",
            {"any_text": "Z"},
            "1 of 1 character has no token. Every one of the text’s 1 byte",
        ),
    ],
)
def test_a_step_describes_the_visitor_s_words(
    open_app: Callable[..., AppTest], place: int, step: str, query: dict[str, str], sentence: str
) -> None:
    assert sentence in texts(open_shown(open_app, place, step, **query))


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
    typed, title = OwnTexts({name: OwnText(" \n")}), LESSONS[place - 1].title
    app = open_app("lessons", typed, lesson=title, **{f"step_of_{place}": step})
    none = "There are no words" if name.endswith("words") else "There are no words to learn from"
    assert [re.split("[:.]", error.value.replace("\\", ""))[0] for error in app.error] == [none]


def test_other_ways_show_their_reference_and_what_it_learned(
    open_app: Callable[..., AppTest],
) -> None:
    for step, reference, expected in (
        ("Superwords", "train_superwords_reference", "('by', ' the way')"),
        ("Removals", "train_picky_reference", "(5, 'll')"),
        ("Parity", "learn_parity_reference", "[1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1]"),
    ):
        app = open_shown(open_app, 7, step)
        code = next(one for one in all_sent(app) if "printed" in one)
        assert [shown["name"] for shown in code["pieces"]] == [reference]
        assert expected in code["printed"]
    for step, said in (
        ("Superwords", "These words have only 7 merges, so superwords began before merge 13."),
        ("Removals", "No merge uses up enough of a token here."),
        ("Parity", "There is only one language."),
    ):
        texts = {"joined_text": "by the way", "refined_text": "a b", "shared_text": "one line"}
        app = open_shown(open_app, 7, step, **texts)
        assert said in app.info[0].value


@pytest.mark.parametrize(("place", "step"), [(1, "Pairs"), (3, "Ties")])
def test_a_step_without_pairs_explains_why(
    open_app: Callable[..., AppTest], place: int, step: str
) -> None:
    words = {"words": "a 3", "marker": "false", "cut_sentences": "a\na", "cut_text": "a\na"}
    app = open_shown(open_app, place, step, **words)
    assert [info.value for info in app.info] == [
        "Every word is a single symbol, so there are no pairs. Add a longer word."
    ]


def test_no_pair_is_ringed_after_the_last_merge(open_app: Callable[..., AppTest]) -> None:
    app = open_shown(open_app, 2, "Merges")
    slider = app.slider[0]
    for step, is_ringed in ((14, True), (15, False)):
        slider = app.slider[0].set_value(step)
        slider.run()
        rows = next(one["rows"] for one in all_sent(app) if "rows" in one)
        assert any(cell["rings"] for row in rows for cell in row["cells"]) == is_ringed
