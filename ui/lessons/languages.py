"""Teach the sixth lesson: why the same text takes more tokens in some languages than in others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.comparison import ScriptMerges, relative_costs
from bpe_core.corpus import Corpus, ParallelText, parallel_texts
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import Tokenizer, gpt2
from bpe_core.trainers import split_symbols, train
from bpe_core.types import TrainingConfig
from bpe_core.unicode import CUT_CHARACTERS, NO_LETTERS, token_script
from ui.components import Question, SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.host import cached
from ui.lessons import parts
from ui.lessons.parts import Lesson, LessonStep, Ran, choose_number, choose_text
from ui.look import plain_markdown
from ui.shell import bound, workspace

N_MERGES: Final = 200
_CUT: Final = "gpt2"
_OTHER_CUT: Final = "o200k"
_CUT_NAMES: Final = {_CUT: "GPT-2’s cut", _OTHER_CUT: "GPT-4o’s cut"}
_MIN_FROM_CUT: Final = 0.05
"""The least difference between two cuts' figures that is worth explaining."""
_ENGLISH: Final = "en"
_FIRST_LANGUAGE: Final = "hi"
"""For visitors who read English, and for those whose language is not in the sample."""
_NAME: Final = "taught_language"
_SENTENCE: Final = 0
_MAX_SCRIPTS: Final = 8
_MAX_EXAMPLES: Final = 6


@dataclass(frozen=True, slots=True)
class TaughtLanguage:
    """The visitor's language, and English."""

    own: ParallelText
    english: ParallelText


def read_input() -> TaughtLanguage:
    """Draw the choice of the language, at first the one that the visitor's browser asks for."""
    texts = {text.name: text for text in parallel_texts() if text.code != _ENGLISH}
    names = list(texts)
    first = _first_language(tuple(texts.values())).name
    chosen = workspace.query_text(_NAME)
    if not parts.is_printing():
        box = partial(st.selectbox, "Your language", names, index=names.index(first))
        chosen = bound(box, key=_NAME, usable=names)
    english = next(text for text in parallel_texts() if text.code == _ENGLISH)
    return TaughtLanguage(texts.get(chosen or first, texts[first]), english)


def _first_language(texts: tuple[ParallelText, ...]) -> ParallelText:
    asked = (st.context.locale or "").split("-")[0].lower()
    by_code = {text.code: text for text in texts}
    return by_code.get(asked, by_code[_FIRST_LANGUAGE])


def _count_tokens(tokenizer: Tokenizer, text: ParallelText) -> int:
    return sum(len(tokenizer.encode(sentence)) for sentence in text.sentences)


def _ratio(own: int, english: int) -> str:
    """Return how many times as many tokens as English another language takes.

    >>> _ratio(9, 4)
    '2.2 times'
    """
    return f"{own / english:.1f} times"


def _choose_ratio(text: str, right: str, because: str) -> Question:
    others = [f"{n:.1f} times" for n in (1, 2, 4, 7) if f"{n:.1f} times" != right]
    options = sorted([right, *others[:3]], key=lambda each: float(each.split()[0]))
    return choose_text(text, options, options.index(right), because)


def ask_count(example: TaughtLanguage) -> Question:
    for text in (example.own, example.english):
        st.markdown(plain_markdown(text.sentences[_SENTENCE], 200))
    counts = [len(gpt2().encode(t.sentences[_SENTENCE])) for t in (example.own, example.english)]
    totals = [_count_tokens(gpt2(), text) for text in (example.own, example.english)]
    return _choose_ratio(
        f"The same sentence in {example.own.name} and in English. How many times as many GPT-2 "
        "tokens does the first take?",
        _ratio(counts[0], counts[1]),
        f"{counts[0]} tokens against {counts[1]}. Over twelve such sentences it is "
        f"{_ratio(totals[0], totals[1])} as many: a text costs more, and less of it fits into a "
        "model’s context.",
    )


def show_count(example: TaughtLanguage) -> Ran:
    rows = [
        SymbolRow(
            text.name,
            (Tiles(tuple(Tile(gpt2().vocab[id], id) for id in ids)),),
            f"{len(ids)}",
        )
        for text in (example.own, example.english)
        for ids in (gpt2().encode(text.sentences[_SENTENCE]),)
    ]
    draw_symbol_rows(rows, key="languages_count", caption="The sentence as GPT-2 cuts it")
    counts = {text.name: _count_tokens(gpt2(), text) for text in (example.english, example.own)}
    return Ran(
        (relative_costs,),
        f"relative_costs({counts}, 'English')",
        parts.printed(relative_costs(counts, "English")),
        "The tokens of all twelve sentences.",
    )


def _letter(text: ParallelText) -> str:
    """Return the letter beyond ASCII that is the most frequent one, or else any letter."""
    letters = Counter(filter(str.isalpha, "".join(text.sentences)))
    return max(letters, key=lambda letter: (not letter.isascii(), letters[letter]))


def ask_bytes(example: TaughtLanguage) -> Question:
    letter = _letter(example.own)
    rates = [
        len(joined.encode()) / len(joined)
        for joined in map("".join, (example.own.sentences, example.english.sentences))
    ]
    return choose_number(
        f"GPT-2 reads bytes. How many bytes is the letter {letter} in UTF-8?",
        len(letter.encode()),
        (1, 2, 3, 4),
        f"The sentences take {rates[0]:.1f} bytes per character, {rates[1]:.1f} in English. Where "
        "a letter is several bytes, the first merges only put letters together.",
    )


def show_bytes(example: TaughtLanguage) -> Ran:
    rows: list[SymbolRow] = []
    for text in (example.own, example.english):
        word = max(text.sentences[_SENTENCE].split()[0:2], key=len)[:8]
        symbols = split_symbols(word.encode(), "bytes")
        rows.append(
            SymbolRow(
                text.name,
                (
                    Tiles(tuple(Tile(one.encode()) for one in word)),
                    Tiles(tuple(Tile(one) for one in symbols)),
                ),
            )
        )
    draw_symbol_rows(
        rows,
        key="languages_bytes",
        caption="A word of each language as characters and as bytes",
        columns=("Characters", "Bytes"),
    )
    letter = _letter(example.own)
    return Ran(
        (split_symbols,),
        f"split_symbols({letter!r}.encode(), 'bytes')",
        parts.printed(split_symbols(letter.encode(), "bytes")),
    )


@cached()
def _gpt2_scripts() -> ScriptMerges:
    return ScriptMerges.of(gpt2())


def ask_merges(example: TaughtLanguage) -> Question:
    script = example.own.scripts[0]
    made = _count_by_script().get(script, 0)
    reason = (
        f"{example.own.name} shares its script with English, but most of these tokens are pieces "
        "of English words."
        if script == "Latin"
        else "The merges were learned from web pages that are mostly English: what is rare there "
        "earns few tokens, and stays in pieces."
    )
    return choose_number(
        f"GPT-2 learned 50,000 merges. How many of them made tokens in the {script} script?",
        made,
        (1_000, 5_000, 20_000, 100, 40_000),
        reason,
    )


def _count_by_script() -> dict[str, int]:
    spent = _gpt2_scripts()
    return {
        name: int(spent.after[place, -1])
        for place, name in enumerate(spent.names)
        if name not in (CUT_CHARACTERS, NO_LETTERS)
    }


def show_merges(example: TaughtLanguage) -> Ran:
    counts = _count_by_script()
    shown = list(counts)[:_MAX_SCRIPTS]
    script = example.own.scripts[0]
    if script not in shown:
        shown.append(script)
    by_script = _examples_by_script()
    draw_symbol_rows(
        [
            SymbolRow(
                name,
                (Tiles(tuple(Tile(gpt2().vocab[id], id) for id in by_script.get(name, ()))),),
                f"{counts.get(name, 0):,}",
            )
            for name in shown
        ],
        key="languages_merges",
        caption="The scripts of GPT-2’s tokens, with some of the last ones learned, and how many",
    )
    token = gpt2().vocab[gpt2().encode(example.own.sentences[_SENTENCE])[0]]
    return Ran(
        (token_script,),
        f"token_script({token!r})",
        parts.printed(token_script(token)),
    )


@cached()
def _examples_by_script() -> dict[str, list[int]]:
    """Return the ids of the last tokens that GPT-2 learned in each script."""
    found: dict[str, list[int]] = {}
    for merge in reversed(gpt2().merges):
        ids = found.setdefault(token_script(gpt2().vocab[merge.id]), [])
        if len(ids) < _MAX_EXAMPLES:
            ids.append(merge.id)
    return found


@dataclass(frozen=True, slots=True)
class OwnMerges:
    """Merges that a language learned from its own sentences with one cut, and what they gave."""

    tokenizer: Tokenizer
    n_pieces: int
    """How many pieces the cut makes of the sentences: no merge crosses from one to the next."""
    n_tokens: int


@cached()
def learn_own(code: str, cut: str) -> OwnMerges:
    """Learn merges from a language's own sentences, and count its tokens with them."""
    text = next(text for text in parallel_texts() if text.code == code)
    config = TrainingConfig(256 + N_MERGES, special_tokens=(), pretokenizer=cut)
    tokenizer = train(Corpus.from_documents(list(text.sentences)), config).tokenizer
    n_pieces = sum(len(get_pretokenizer(cut).split(sentence)) for sentence in text.sentences)
    return OwnMerges(tokenizer, n_pieces, _count_tokens(tokenizer, text))


def _own_and_english(example: TaughtLanguage, cut: str) -> tuple[OwnMerges, OwnMerges]:
    return learn_own(example.own.code, cut), learn_own(example.english.code, cut)


def ask_own(example: TaughtLanguage) -> Question:
    own, english = _own_and_english(example, _CUT)
    with_gpt2 = [_count_tokens(gpt2(), text) for text in (example.own, example.english)]
    return _choose_ratio(
        f"Now each language gets up to {N_MERGES} merges, learned from its own sentences, which "
        "GPT-2’s rule cuts into pieces. How many times as many tokens as English does "
        f"{example.own.name} take then?",
        _ratio(own.n_tokens, english.n_tokens),
        f"{own.n_tokens} tokens against {english.n_tokens}; with GPT-2’s merges it was "
        f"{_ratio(*with_gpt2)} as many. That difference comes from the merges: GPT-2’s were "
        f"learned from other texts. {cut_sentence(example)}",
    )


def cut_sentence(example: TaughtLanguage) -> str:
    """Describe how much of what is left comes from the cut, by the figures with another one."""
    own, english = _own_and_english(example, _CUT)
    own_too, english_too = _own_and_english(example, _OTHER_CUT)
    ratios = [own.n_tokens / english.n_tokens, own_too.n_tokens / english_too.n_tokens]
    name = example.own.name
    if ratios[0] - ratios[1] < _MIN_FROM_CUT:
        return (
            f"Another cut changes little here: with GPT-4o’s it is {ratios[1]:.2f} instead of "
            f"{ratios[0]:.2f} times. What is left comes from how {name} is written, and from these "
            "sentences."
        )
    fewer = len(own.tokenizer.merges)
    stopped = f", and after {fewer} merges no pairs are left" if fewer < N_MERGES else ""
    return (
        f"Part of the rest comes from the cut. GPT-2’s also cuts inside words, at vowel signs and "
        f"other marks: it makes {own.n_pieces} pieces of these sentences, GPT-4o’s "
        f"{own_too.n_pieces}. No merge crosses from one piece to the next{stopped}. With GPT-4o’s "
        f"cut it is {ratios[1]:.2f} instead of {ratios[0]:.2f} times."
    )


def show_own(example: TaughtLanguage) -> Ran:
    texts = (example.own, example.english)
    rows: list[SymbolRow] = []
    for text in texts:
        cells: list[Tiles] = []
        for cut in _CUT_NAMES:
            tokenizer = learn_own(text.code, cut).tokenizer
            ids = tokenizer.encode(text.sentences[_SENTENCE])
            cells.append(
                Tiles(tuple(Tile(tokenizer.vocab[id], id if id > 255 else None) for id in ids))
            )
        note = " and ".join(f"{len(cell.tiles)}" for cell in cells)
        rows.append(SymbolRow(text.name, tuple(cells), note))
    draw_symbol_rows(
        rows,
        key="languages_own",
        caption="The sentence with merges of its own language, and its number of tokens",
        columns=tuple(_CUT_NAMES.values()),
    )
    st.page_link("pages/compare.py", label="Compare 25 languages with your tokenizer →")
    counts = {
        cut: {text.name: learn_own(text.code, cut).n_tokens for text in texts} for cut in _CUT_NAMES
    }
    return Ran(
        (relative_costs,),
        f"{{cut: relative_costs(counts, 'English') for cut, counts in {counts}.items()}}",
        parts.printed({cut: relative_costs(each, "English") for cut, each in counts.items()}),
        "The tokens of all twelve sentences with each cut.",
    )


LESSON = Lesson(
    "Why token counts differ between languages",
    "The same sentence in your language and in English, and where the difference comes from.",
    read_input,
    (
        LessonStep("Count", "The same sentence, twice", ask_count, show_count),
        LessonStep("Bytes", "Letters of several bytes", ask_bytes, show_bytes),
        LessonStep("Merges", "Whose words the merges are", ask_merges, show_merges),
        LessonStep("Own merges", "Merges of its own", ask_own, show_own),
    ),
)
