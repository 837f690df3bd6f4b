"""Teach the seventh lesson: three other ways to train, each a change to one line of the loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

import streamlit as st

from bpe_core.corpus import Layout
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import (
    GrowingVocabulary,
    ParityRule,
    ReferenceRun,
    count_words,
    learn_parity_reference,
    train_picky_reference,
    train_superwords_reference,
)
from bpe_core.types import Merge, TrainingConfig
from bpe_core.views import token_for_browser
from ui.components import Option, Question, SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.lessons import parts
from ui.lessons.parts import MAX_OPTIONS, Lesson, LessonStep, Ran, choose_number
from ui.look import counted

N_WITHIN: Final = 12
N_ACROSS: Final = 6
N_REFINED: Final = 8
N_SHARED: Final = 12
_PICKY: Final = 0.9
_N_BYTES: Final = 256
_JOINED = (
    "joined_text",
    "by the way by the sea\nthe way by the sea\nby the way of the sea\nthe end of the sea",
)
_REFINED = (
    "refined_text",
    "she sells sea shells\nshe sells them by the sea\nthe shells she sells are sea shells",
)
_SHARED = ("shared_text", "the sea and the land, the land and the sea\nморе и земля, земля и море")
_MAX_SHOWN: Final = 16
_MAX_LANGUAGES: Final = 6


def read_input() -> None:
    """Draw nothing: each step of this lesson draws its own field."""


def _documents(name: str, first: str) -> tuple[str, ...]:
    return parts.split_documents(parts.own_text(name, first)) or parts.split_documents(first)


def _tiles(ids: Iterable[int], vocab: Mapping[int, bytes]) -> Tiles:
    """Return tokens as tiles: white if they are bytes, coloured if a merge made them."""
    return Tiles(tuple(Tile(vocab[id], id if id >= _N_BYTES else None) for id in ids))


def _learn_superwords(after: str) -> tuple[ReferenceRun, list[list[int]]]:
    """Return what is learned if merges stay within the words of GPT-2's cut, then of another cut.

    Also return the ids of each document.
    """
    documents = _documents(*_JOINED)
    cut, cut_after = (get_pretokenizer(name).split for name in ("gpt2", after))
    config = TrainingConfig(
        _N_BYTES + N_WITHIN + N_ACROSS, special_tokens=(), superwords_from=_N_BYTES + N_WITHIN
    )
    run = train_superwords_reference(documents, config, cut, cut_after)
    splits = dict(zip(count_words(documents, cut_after), run.splits, strict=True))
    return run, [[*chain.from_iterable(map(splits.__getitem__, cut_after(d)))] for d in documents]


def ask_superwords(_: None) -> Question | None:
    parts.text_input(*_JOINED, label="Change the documents, one per line", lines=4)
    first = _documents(*_JOINED)[0]
    plain, before = _learn_superwords("gpt2")
    if len(plain.merges) < N_WITHIN:
        return None
    n_plain, n = len(before[0]), len(_learn_superwords("superwords")[1][0])
    return choose_number(
        f"The first {N_WITHIN} merges stay within words, and the next {N_ACROSS} may join words. "
        f"Plain BPE with as many merges takes {counted(n_plain, 'token')} for "
        f"“{first}”. How many does this take?",
        n,
        (n_plain, n + 1, len(first.split()), 1),
        "SuperBPE learns words first, then what stands next to each other often. One token can be "
        "several words, so a text takes fewer tokens.",
    )


def show_superwords(_: None) -> Ran:
    (plain, before), (run, after) = map(_learn_superwords, ("gpt2", "superwords"))
    if len(plain.merges) < N_WITHIN:
        st.info(
            f"These words have only {counted(len(plain.merges), 'merge')}, so superwords began "
            f"before merge {N_WITHIN + 1}. Use more words."
        )
    draw_symbol_rows(
        [
            SymbolRow(
                f"{len(ids)} → {len(joined)}",
                (_tiles(ids, plain.vocab), _tiles(joined, run.vocab)),
            )
            for ids, joined in list(zip(before, after, strict=True))[:_MAX_SHOWN]
        ],
        key="ways_superwords",
        caption="The documents under plain BPE and with superwords, and how many tokens they take",
        columns=("Plain BPE", "Superwords"),
    )
    parts.note_shortened(_MAX_SHOWN, len(after), "documents")
    return Ran(
        (train_superwords_reference,),
        "train_superwords_reference(documents, config, cut, cut_superwords).merges",
        parts.printed(run.merges[N_WITHIN:], run.vocab),
        f"Merges from the {N_WITHIN + 1}th on. {parts.SPELLED}",
    )


@dataclass(frozen=True, slots=True)
class Refined:
    """What PickyBPE learned."""

    tokens: Mapping[int, bytes]
    merges: list[Merge]
    removals: list[tuple[int, int]]


def _learn_refined() -> Refined:
    config = TrainingConfig(_N_BYTES + N_REFINED, special_tokens=(), picky=_PICKY)
    vocabulary = GrowingVocabulary(config, ())
    words = count_words(_documents(*_REFINED), get_pretokenizer("gpt2").split)
    merges, removals, _, _ = train_picky_reference(
        [vocabulary.start(word.encode()) for word in words], [*words.values()], vocabulary, config
    )
    return Refined(dict(enumerate(vocabulary.tokens)), merges, removals)


def ask_removals(_: None) -> Question | None:
    parts.text_input(*_REFINED, label="Change the documents, one per line", lines=3)
    found = _learn_refined()
    removed = dict.fromkeys(id for _, id in found.removals)
    left = [each.id for each in found.merges if each.id not in removed]
    if not removed or not left:
        return None
    shown = sorted([*list(removed)[:1], *left[-MAX_OPTIONS + 1 :]])
    return Question(
        f"{counted(len(found.merges), 'token')} are made here. PickyBPE takes a token out again "
        f"once a merge uses up more than {_PICKY:.0%} of its places. Which of these goes?",
        tuple(Option(tiles=((token_for_browser(found.tokens[id]), id),)) for id in shown),
        (shown.index(next(iter(removed))),),
        "It was only a step towards a longer token, and hardly stands alone. Its place in the "
        "vocabulary is free for a token that is used more.",
    )


def show_removals(_: None) -> Ran:
    found = _learn_refined()
    after: dict[int, list[int]] = {}
    for done, id in found.removals:
        after.setdefault(done, []).append(id)
    rows = [
        SymbolRow(
            f"{merge.rank + 1}. {merge.count or 0}×",
            (
                _tiles((merge.id,), found.tokens),
                _tiles(after.get(merge.rank + 1, ()), found.tokens),
            ),
        )
        for merge in found.merges
    ]
    if not found.removals:
        st.info("No merge uses up enough of a token here. Add words with a part in common.")
    draw_symbol_rows(
        rows,
        key="ways_removals",
        caption="The tokens made, with the counts of their pairs, and those taken out",
        columns=("Made", "Taken out"),
    )
    return Ran(
        (train_picky_reference,),
        "merges, removals, splits, why = train_picky_reference(words, counts, vocabulary, config)",
        parts.printed(
            [(done, parts.format_token(found.tokens[id])) for done, id in found.removals]
        ),
        "After how many merges each token is taken out. " + parts.SPELLED,
    )


@dataclass(frozen=True, slots=True)
class Shared:
    """What languages that take turns learned."""

    tokens: Mapping[int, bytes]
    merges: list[tuple[int, int, int]]
    picked: list[int]
    lengths: list[list[int]]


def _learn_shared() -> Shared:
    config = TrainingConfig(_N_BYTES + N_SHARED, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    texts = [count_words([line], get_pretokenizer("gpt2").split) for line in _documents(*_SHARED)]
    layouts = [
        Layout.of_words([vocabulary.start(word.encode()) for word in words], [*words.values()])
        for words in texts[:_MAX_LANGUAGES]
    ]
    learned = learn_parity_reference(
        layouts, None, vocabulary, config, ParityRule(), lambda done, saved, count: False
    )
    return Shared(
        dict(enumerate(vocabulary.tokens)),
        learned.merges.merges,
        learned.picked.tolist(),
        learned.lengths.tolist(),
    )


def ask_parity(_: None) -> Question | None:
    parts.text_input(*_SHARED, label="Change the texts, a language per line", lines=2)
    found = _learn_shared()
    if len(found.lengths) < 2 or not found.merges:
        return None
    starts, ends = zip(*((each[0], each[-1]) for each in found.lengths), strict=True)
    n = found.picked.count(0)
    return choose_number(
        f"Each line is a language, and they say the same. They start as "
        f"{' and '.join(map(str, starts))} bytes. At each of "
        f"{counted(len(found.merges), 'step')}, the line that takes the most tokens picks its most "
        "frequent pair. How often does the first line pick?",
        n,
        (0, len(found.merges) // 2, len(found.merges)),
        f"At the end they take {' and '.join(map(str, ends))} tokens. Plain BPE counts all lines "
        "together, so the language with the most text gets most of the merges.",
    )


def show_parity(_: None) -> Ran:
    found = _learn_shared()
    if len(found.lengths) < 2:
        st.info("There is only one language. Add a second line.")
    draw_symbol_rows(
        [
            SymbolRow(
                f"{at + 1}. line {picker + 1}",
                (_tiles(merge[2:], found.tokens),),
                " : ".join(str(each[at + 1]) for each in found.lengths),
            )
            for at, (merge, picker) in enumerate(zip(found.merges, found.picked, strict=True))
        ],
        key="ways_parity",
        caption="Each merge, the line that picked it, and how many tokens each line takes then",
    )
    parts.note_shortened(_MAX_LANGUAGES, len(_documents(*_SHARED)), "languages")
    return Ran(
        (learn_parity_reference,),
        "learn_parity_reference(words, None, vocabulary, config, rule, never).picked",
        parts.printed(found.picked),
        "The number of the language that picked each merge, from 0.",
    )


LESSON = Lesson(
    "Other ways to train",
    "Three methods that change one thing in the loop: where words end, which tokens stay, and who "
    "picks the next pair.",
    read_input,
    (
        LessonStep("Superwords", "Let words join", ask_superwords, show_superwords),
        LessonStep("Removals", "Take tokens out again", ask_removals, show_removals),
        LessonStep("Parity", "Let languages take turns", ask_parity, show_parity),
    ),
)
