"""Teach the fifth lesson: how GPT-2 learns new words, and why adding them as they are hurts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.adapting import extend
from bpe_core.corpus import Corpus
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import (
    ReferenceCorpus,
    TrainingRun,
    count_words,
    encode_word,
    extend_reference,
)
from bpe_core.views import token_for_browser
from ui.components import Option, Question, SymbolRow, Tile, Tiles, draw_symbol_rows
from ui.lessons import parts
from ui.lessons.parts import MAX_OPTIONS, Lesson, LessonStep, Ran, choose_number, choose_text
from ui.lessons.walk import encode_with_added
from ui.look import counted

FIRST_TEXT: Final = (
    "The nephrologist sees nephritis and nephrosis.\n"
    "Nephritis or nephrosis? A nephrologist knows.\n"
    "The nephron filters. Nephritis hurts the nephrons.\n"
    "A nephrologist treats nephritis, not neurosis."
)
FIRST_ADDED: Final = "neph"
N_TOKENS: Final = 8
_NAME: Final = "new_words"
_MAX_SHOWN: Final = 16


@dataclass(frozen=True, slots=True)
class Example:
    """The visitor's documents, and GPT-2 extended on them."""

    documents: tuple[str, ...]
    run: TrainingRun

    @property
    def sentence(self) -> str:
        """The first document."""
        return self.documents[0]

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The tokens of GPT-2 and the new ones."""
        return self.run.tokenizer.vocab


def read_input() -> Example:
    """Draw the field of the documents, and extend GPT-2 on them."""
    parts.text_input(_NAME, FIRST_TEXT, label="Change the documents, one per line", lines=4)
    documents = parts.split_documents(parts.own_text(_NAME, FIRST_TEXT)) or parts.split_documents(
        FIRST_TEXT
    )
    return Example(documents, extend(gpt2(), Corpus.from_documents(documents), N_TOKENS))


def _tiles(ids: Iterable[int], example: Example) -> Tiles:
    """Return tokens as tiles: white if GPT-2 has them, else coloured."""
    new = example.run.new_tokens
    return Tiles(tuple(Tile(example.vocab[id], id if id in new else None) for id in ids))


def ask_pieces(example: Example) -> Question:
    word = _longest_word(example)
    n = len(encode_word(gpt2(), word))
    return choose_number(
        f"How many tokens does GPT-2 need for “{word.strip()}”?",
        n,
        (1, 2, n + 1, len(word)),
        "GPT-2 has no single token for a word that was rare in its training text. It spells such a "
        "word with pieces of other words. Each piece takes a place in the model’s context and a "
        "step of its work.",
    )


def _longest_word(example: Example) -> str:
    words = count_words(example.documents, gpt2().pretokenizer.split)
    return max(words, key=lambda word: len(encode_word(gpt2(), word)))


def show_pieces(example: Example) -> Ran:
    rows = [
        SymbolRow(counted(len(ids), "token"), (_tiles(ids, example),)) for ids in _encoded(example)
    ]
    draw_symbol_rows(rows, key="words_pieces", caption="The documents as GPT-2 cuts them")
    longest = _longest_word(example)
    return Ran(
        (encode_word,),
        f"encode_word(gpt2(), {longest!r})",
        parts.printed(encode_word(gpt2(), longest)),
        f"These ids spell {parts.format_token(longest.encode())}.",
    )


def _encoded(example: Example) -> list[list[int]]:
    return [gpt2().encode(document) for document in example.documents[:_MAX_SHOWN]]


def _with_added(example: Example) -> tuple[str, str, int, list[int], list[int]]:
    """Return the text, the token to add, its id, and the ids of the text before and after."""
    text = parts.field_text("added_text", example.sentence)
    token = parts.field_word("added_token", FIRST_ADDED)
    new_id = max(gpt2().vocab) + 1
    ids = encode_with_added(gpt2(), {token: new_id}, text)
    return text, token, new_id, gpt2().encode(text), ids


def ask_added(example: Example) -> Question:
    parts.draw_field("added_text", example.sentence)
    parts.draw_field("added_token", FIRST_ADDED, label="Token to add", max_chars=40)
    _, token, new_id, before, ids = _with_added(example)
    more = len(ids) - len(before)
    effect = "" if new_id in ids else "The text does not contain this token. "
    return choose_text(
        f"The quick way is add_tokens: the text is cut at each “{token}” before GPT-2 sees it. "
        "How many tokens does the text take then?",
        ("fewer", "as many", "more"),
        1 + (more > 0) - (more < 0),
        f"{effect}It takes {_difference(more)} under GPT-2. The space in front stays behind as a "
        "token of its own, and a longer word that contains the new token is cut apart.",
    )


def show_added(example: Example) -> Ran:
    text, token, new_id, before, ids = _with_added(example)
    vocab = {**gpt2().vocab, new_id: token.encode()}
    with_added = Tiles(tuple(Tile(vocab[id], id if id == new_id else None) for id in ids))
    plain = Tiles(tuple(Tile(vocab[id]) for id in before))
    extended = example.run.tokenizer.encode(text)
    draw_symbol_rows(
        [
            SymbolRow(f"GPT-2: {len(before)}", (plain,)),
            SymbolRow(f"add_tokens: {len(ids)}", (with_added,)),
            SymbolRow(f"extended: {len(extended)}", (_tiles(extended, example),)),
        ],
        key="words_added",
        caption="The text under GPT-2, with an added token, and under the extended GPT-2",
    )
    return Ran(
        (encode_with_added,),
        f"encode_with_added(gpt2(), {{{token!r}: {new_id}}}, {text!r})",
        parts.printed(ids),
    )


def _difference(more: int) -> str:
    n = abs(more)
    if not n:
        return "exactly as many tokens as"
    return f"{n} {'more' if more > 0 else 'fewer'} token{'s' * (n != 1)} than"


def ask_merges(example: Example) -> Question | None:
    made = example.run.merges[:MAX_OPTIONS]
    if len(made) < 2:
        return None
    shown = sorted(made, key=lambda merge: example.vocab[merge.id])
    return Question(
        "Training continues where GPT-2’s ended: the words start as GPT-2’s tokens. Which of these "
        "pairs is joined first?",
        tuple(
            Option(tiles=tuple((token_for_browser(example.vocab[id]), -1) for id in merge.pair))
            for merge in shown
        ),
        (shown.index(made[0]),),
        "The most frequent pair is merged, again and again. A pair that spells a token that GPT-2 "
        "already has is never merged: that token has its own merges.",
    )


def show_merges(example: Example) -> Ran:
    new = example.run.new_tokens
    rows = [
        SymbolRow(
            f"{merge.rank + 1}. {merge.count or 0}×",
            (
                _tiles(merge.pair, example),
                _tiles((merge.id,), example),
                _tiles(new[merge.id], example),
            ),
        )
        for merge in example.run.merges
    ]
    if not rows:
        st.info("GPT-2 has each of these words as one token. Add rarer words.")
    else:
        draw_symbol_rows(
            rows,
            key="words_merges",
            caption="The new merges, with their counts",
            columns=("Pair", "New token", "GPT-2’s tokens for it"),
        )
    words = count_words(example.documents, gpt2().pretokenizer.split)
    naive = extend_reference(ReferenceCorpus(gpt2(), words), N_TOKENS)
    return Ran(
        (extend_reference,),
        f"extend_reference(ReferenceCorpus(gpt2(), words), {N_TOKENS}).new_tokens",
        parts.printed(naive.new_tokens),
        "The ids of GPT-2’s tokens that each new token replaces.",
    )


def ask_last(example: Example) -> Question:
    first = example.documents[-1]
    parts.draw_field("extended_text", first)
    text = parts.field_text("extended_text", first)
    before, after = len(gpt2().encode(text)), len(example.run.tokenizer.encode(text))
    return choose_number(
        f"This text is {counted(before, 'token')} under GPT-2. How many with the new merges?",
        after,
        (before, after - 3, before - 1),
        "The new merges come after all of GPT-2’s 50,000: a word is first cut exactly as before, "
        "and only then do new merges join what is left. No other word changes, and no text takes "
        "more tokens.",
    )


def show_last(example: Example) -> Ran:
    text = parts.field_text("extended_text", example.documents[-1])
    steps = (gpt2().encode(text), example.run.tokenizer.encode(text))
    draw_symbol_rows(
        [
            SymbolRow(f"GPT-2’s merges: {len(steps[0])}", (_tiles(steps[0], example),)),
            SymbolRow(f"then the new ones: {len(steps[1])}", (_tiles(steps[1], example),)),
        ],
        key="words_last",
        caption="The text after GPT-2’s merges, and after the new ones",
    )
    word = max(gpt2().pretokenizer.split(text), key=lambda word: len(encode_word(gpt2(), word)))
    return Ran(
        (encode_word,),
        f"encode_word(extended, {word!r})",
        parts.printed(encode_word(example.run.tokenizer, word)),
        "The merges of the extended GPT-2 are applied in their order, new ones last.",
    )


def _spelled_out(example: Example) -> tuple[str, list[int], list[int]]:
    """Return the text, its ids, and these with each new token spelled out."""
    text = parts.field_text("spelled_text", example.sentence)
    ids = example.run.tokenizer.encode(text)
    return text, ids, spelled(ids, example.run.new_tokens)


def ask_invariant(example: Example) -> Question:
    parts.draw_field("spelled_text", example.sentence)
    text, _, back = _spelled_out(example)
    return choose_text(
        "Encode this text with the extended GPT-2, and replace each new token with the GPT-2 "
        "tokens that it is made of. What comes back?",
        ("GPT-2’s own encoding", "Another encoding"),
        int(back != gpt2().encode(text)),
        "This holds for any text. So a model keeps what it knows: a new row of its embedding "
        "starts as the mean of the rows of those tokens, and every other row stays.",
    )


def show_invariant(example: Example) -> Ran:
    text, ids, back = _spelled_out(example)
    draw_symbol_rows(
        [
            SymbolRow("extended", (_tiles(ids, example),)),
            SymbolRow("spelled out", (_tiles(back, example),)),
            SymbolRow("GPT-2", (_tiles(gpt2().encode(text), example),)),
        ],
        key="words_invariant",
        caption="The text under the extended GPT-2, with new tokens spelled out, and under GPT-2",
    )
    st.page_link("pages/adapt.py", label="Extend a tokenizer for your own text →")
    return Ran(
        (spelled,),
        "spelled(extended.encode(text), new_tokens) == gpt2().encode(text)",
        f"{back == gpt2().encode(text)}",
    )


def spelled(ids: Iterable[int], new_tokens: Mapping[int, tuple[int, ...]]) -> list[int]:
    """Replace each new token with the base's tokens that spell it.

    >>> spelled([5, 9, 7], {9: (1, 2)})
    [5, 1, 2, 7]
    """
    return [part for id in ids for part in new_tokens.get(id, (id,))]


LESSON = Lesson(
    "Teach GPT-2 new words",
    "More tokens for a tokenizer that a model already uses, without losing what the model knows.",
    read_input,
    (
        LessonStep("Pieces", "New words come in pieces", ask_pieces, show_pieces),
        LessonStep("add_tokens", "The quick way, and what it breaks", ask_added, show_added),
        LessonStep("Merges", "Training goes on from GPT-2’s tokens", ask_merges, show_merges),
        LessonStep("Order", "Why new merges come last", ask_last, show_last),
        LessonStep("Test", "What stays the same", ask_invariant, show_invariant),
    ),
)
