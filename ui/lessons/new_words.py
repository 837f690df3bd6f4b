"""Teach the fifth lesson: how GPT-2 learns new words, and why adding them as they are hurts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.adapting.extend import extend
from bpe_core.adapting.reference import encode_word, extend_reference
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.run import TrainingRun
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.trainers.reference import count_words
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.lessons import parts, printing
from ui.lessons.parts import Lesson, LessonStep, Ran
from ui.lessons.shortcuts import encode_with_added

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
    parts.text_input(_NAME, FIRST_TEXT, label="Documents, one per line. Edit them.", lines=4)
    documents = parts.split_documents(parts.own_text(_NAME, FIRST_TEXT)) or parts.split_documents(
        FIRST_TEXT
    )
    return Example(documents, extend(gpt2(), Corpus.from_documents(documents), N_TOKENS))


def _tiles(ids: Iterable[int], example: Example) -> Tiles:
    """Return tokens as tiles: white if GPT-2 has them, else coloured."""
    new = example.run.new_tokens
    return Tiles(tuple(Tile(example.vocab[id], id if id in new else None) for id in ids))


def pieces(example: Example) -> Ran:
    st.markdown(
        "GPT-2 has no single token for a word that was rare in its training text. It spells such a "
        "word with pieces of other words. Each piece takes a place in the model’s context and a "
        "step of its work."
    )
    rows = [SymbolRow(f"{len(ids)} tokens", (_tiles(ids, example),)) for ids in _encoded(example)]
    symbol_rows(rows, key="words_pieces", caption="The documents as GPT-2 cuts them")
    words = count_words(example.documents, gpt2().pretokenizer.split)
    longest = max(words, key=lambda word: len(encode_word(gpt2(), word)))
    return Ran(
        (encode_word,),
        f"encode_word(gpt2(), {longest!r})",
        printing.printed(encode_word(gpt2(), longest)),
        f"These ids spell {printing.format_token(longest.encode())}.",
    )


def _encoded(example: Example) -> list[list[int]]:
    return [gpt2().encode(document) for document in example.documents[:_MAX_SHOWN]]


def added(example: Example) -> Ran:
    st.markdown(
        "The quick way is `add_tokens`: the text is searched for the new token, and cut there, "
        "before GPT-2 sees it. But then the space in front stays behind as a token of its own, and "
        "a longer word that contains the new token is cut apart."
    )
    text = parts.one_text("added_text", example.sentence)
    token = parts.one_word("added_token", FIRST_ADDED, label="Token to add")
    new_id = max(gpt2().vocab) + 1
    ids = encode_with_added(gpt2(), {token: new_id}, text)
    before = gpt2().encode(text)
    vocab = {**gpt2().vocab, new_id: token.encode()}
    with_added = Tiles(tuple(Tile(vocab[id], id if id == new_id else None) for id in ids))
    plain = Tiles(tuple(Tile(vocab[id]) for id in before))
    extended = example.run.tokenizer.encode(text)
    symbol_rows(
        [
            SymbolRow(f"GPT-2: {len(before)}", (plain,)),
            SymbolRow(f"add_tokens: {len(ids)}", (with_added,)),
            SymbolRow(f"extended: {len(extended)}", (_tiles(extended, example),)),
        ],
        key="words_added",
        caption="The text under GPT-2, with an added token, and under the extended GPT-2",
    )
    spaces = sum(vocab[id] == b" " for id in ids) - sum(vocab[id] == b" " for id in before)
    more = len(ids) - len(before)
    if spaces > 0:
        st.markdown(
            f"With the added token, {'a space is a token' if spaces == 1 else 'spaces are tokens'} "
            "that the model hardly ever saw there. "
            f"The text takes {_difference(more)} under GPT-2."
        )
    elif new_id in ids:
        st.markdown(f"The text takes {_difference(more)} under GPT-2.")
    else:
        st.markdown("The text does not contain this token, so nothing changes.")
    return Ran(
        (encode_with_added,),
        f"encode_with_added(gpt2(), {{{token!r}: {new_id}}}, {text!r})",
        printing.printed(ids),
    )


def _difference(more: int) -> str:
    n = abs(more)
    if not n:
        return "exactly as many tokens as"
    return f"{n} {'more' if more > 0 else 'fewer'} token{'s' * (n != 1)} than"


def merges(example: Example) -> Ran:
    st.markdown(
        "Instead, training continues where GPT-2’s ended. The words start as GPT-2’s tokens, not "
        "as bytes, and the most frequent pair of them is merged, again and again. A pair that "
        "spells a token that GPT-2 already has is never merged: that token has its own merges."
    )
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
        symbol_rows(
            rows,
            key="words_merges",
            caption="The new merges, with their counts",
            columns=("Pair", "New token", "GPT-2’s tokens for it"),
        )
    words = count_words(example.documents, gpt2().pretokenizer.split)
    naive = extend_reference(gpt2(), words, N_TOKENS)
    return Ran(
        (extend_reference,),
        f"extend_reference(gpt2(), words, {N_TOKENS}).new_tokens",
        printing.printed(naive.new_tokens),
        "The ids of GPT-2’s tokens that each new token replaces.",
    )


def last(example: Example) -> Ran:
    st.markdown(
        "The new merges come after all of GPT-2’s 50,000. So a word is first cut exactly as "
        "before, and only then do new merges join what is left. No other word changes, and no text "
        "takes more tokens. A new merge that came first could take a piece that one of GPT-2’s own "
        "merges needs, and a word that the model knows would be cut differently."
    )
    text = parts.one_text("extended_text", example.documents[-1])
    steps = (gpt2().encode(text), example.run.tokenizer.encode(text))
    symbol_rows(
        [
            SymbolRow(f"GPT-2’s merges: {len(steps[0])}", (_tiles(steps[0], example),)),
            SymbolRow(f"then the new ones: {len(steps[1])}", (_tiles(steps[1], example),)),
        ],
        key="words_last",
        caption="The text after GPT-2’s merges, and after the new ones",
    )
    saved = len(steps[0]) - len(steps[1])
    st.markdown(f"That saves {saved} of {len(steps[0])} tokens." if saved else "Nothing changes.")
    word = max(gpt2().pretokenizer.split(text), key=lambda word: len(encode_word(gpt2(), word)))
    return Ran(
        (encode_word,),
        f"encode_word(extended, {word!r})",
        printing.printed(encode_word(example.run.tokenizer, word)),
        "The merges of the extended GPT-2 are applied in their order, new ones last.",
    )


def invariant(example: Example) -> Ran:
    st.markdown(
        "This must hold for any text: replace each new token with the GPT-2 tokens that spell it, "
        "and GPT-2’s own encoding comes back. So a model keeps what it knows: a new row of its "
        "embedding starts as the mean of the rows of those tokens, and every other row stays."
    )
    text = parts.one_text("spelled_text", example.sentence)
    ids, new = example.run.tokenizer.encode(text), example.run.new_tokens
    back = spelled(ids, new)
    symbol_rows(
        [
            SymbolRow("extended", (_tiles(ids, example),)),
            SymbolRow("spelled out", (_tiles(back, example),)),
            SymbolRow("GPT-2", (_tiles(gpt2().encode(text), example),)),
        ],
        key="words_invariant",
        caption="The text under the extended GPT-2, with new tokens spelled out, and under GPT-2",
    )
    is_same = back == gpt2().encode(text)
    st.markdown(
        f"{len(ids)} tokens, spelled out {len(back)}: "
        f"{'the same as GPT-2’s' if is_same else 'not the same as GPT-2’s'}."
    )
    st.page_link("pages/adapt.py", label="Extend a tokenizer for your own text →")
    return Ran(
        (spelled,),
        "spelled(extended.encode(text), new_tokens) == gpt2().encode(text)",
        f"{is_same}",
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
        LessonStep("Pieces", "New words come in pieces", pieces),
        LessonStep("add_tokens", "The quick way, and what it breaks", added),
        LessonStep("Merges", "Training goes on from GPT-2’s tokens", merges),
        LessonStep("Order", "Why new merges come last", last),
        LessonStep("Test", "What stays the same", invariant),
    ),
)
