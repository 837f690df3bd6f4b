"""Teach the first lesson: every step of BPE on five words with their counts."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from bpe_core.corpus import parse_word_counts
from bpe_core.trainers import (
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    reference,
    split_symbols,
)
from bpe_core.types import Pair, TrainingConfig
from ui.components import Claim, Question
from ui.lessons import parts, showing
from ui.lessons.parts import (
    Lesson,
    LessonSource,
    LessonStep,
    Ran,
    choose_most_frequent,
    choose_number,
)
from ui.lessons.walk import Walk, look_up_all, look_up_without_return, walk
from ui.look import counted, plain_markdown
from ui.shell import SWITCH, bound

FIRST_WORDS: Final = "hug 10\nugg 5\nggi 3\ngin 3\ning 3"
FIRST_LONG_WORD: Final = "hugging"
MARKER: Final = "</w>"
_MAX_MERGES: Final = 40
_N_ASKED: Final = 3
_NAME: Final = "words"
_WORD: Final = "new_word"


def read_input() -> Walk:
    parts.text_input(_NAME, FIRST_WORDS, label="Change the words and their counts", lines=5)
    switch = partial(st.toggle, "Mark the end of each word", value=True)
    marked = parts.is_printing() or bound(switch, key="marker", usable=SWITCH)
    return trained(parts.own_text(_NAME, FIRST_WORDS), marked=marked)


def trained(text: str, *, marked: bool) -> Walk:
    counts = parse_word_counts(text)
    marker = MARKER if marked else None
    n_start = len({character for word in counts for character in word}) + marked
    config = TrainingConfig(
        n_start + _MAX_MERGES,
        base="characters",
        end_of_word=marker,
        special_tokens=(),
        tie_break="first-seen",
    )
    return walk(counts, config)


def ask_words(hugs: Walk) -> Question:
    st.markdown("A corpus is a list of words with their counts.")
    st.markdown(
        plain_markdown(
            ", ".join(f"{w} {n}" for w, n in zip(hugs.words, hugs.counts, strict=True)), 200
        )
    )
    n = len(hugs.starts[0])
    # The switch that marks the ends is drawn below the question.
    marker = hugs.config.end_of_word
    marked = f"The end of each word is marked with the symbol {marker}. " if marker else ""
    return choose_number(
        f"{marked}How many symbols does {hugs.words[0]} start as?",
        n,
        (1, len(hugs.words[0]), n + 1, hugs.counts[0]),
        showing.first_symbols(hugs),
    )


def show_words(hugs: Walk) -> Ran:
    showing.word_rows(hugs, 0, key="hug_words")
    word = hugs.words[0]
    return Ran(
        (split_symbols,),
        f"split_symbols({word.encode()!r}, 'characters')",
        parts.printed(split_symbols(word.encode(), "characters")),
        "The marker is added after these symbols." if hugs.config.end_of_word else "",
    )


def ask_pairs(hugs: Walk) -> Question | None:
    pair = _counted_pair(hugs)
    showing.word_rows(hugs, 0, key="hug_pairs")
    if pair is None:
        return None
    terms = hugs.terms(0, pair)
    return choose_number(
        f"How often does the pair {parts.pair_name(pair, hugs.run.vocab)} occur?",
        hugs.pair_counts_at(0)[pair],
        (len(terms), terms[0].count, sum(hugs.counts)),
        f"{parts.format_sum(hugs, pair)}. A word that occurs ten times counts each of its "
        "pairs ten times. No pair crosses from one word into the next.",
    )


def _counted_pair(hugs: Walk) -> Pair | None:
    """Return the pair to count: in several words if there is one, but not the most frequent."""
    counts = hugs.pair_counts_at(0)
    winner = hugs.next_pair_at(0)
    ordered = sorted(counts, key=lambda p: (p == winner, -len(hugs.terms(0, p)), -counts[p]))
    return ordered[0] if ordered else None


def show_pairs(hugs: Walk) -> Ran:
    counts = count_pairs(hugs.starts, hugs.counts)
    pair = _counted_pair(hugs)
    if pair is None:
        return parts.no_pair()
    showing.word_rows(hugs, 0, key="hug_pairs_ringed", ring=pair)
    return Ran(
        (count_pairs,),
        "count_pairs(words, counts)",
        parts.printed(counts, hugs.run.vocab),
        parts.SPELLED,
    )


def ask_choice(hugs: Walk) -> Question | None:
    showing.word_rows(hugs, 0, key="hug_choice_words")
    winner = hugs.next_pair_at(0)
    because = "" if winner is None else showing.winner(hugs)
    return choose_most_frequent("Which pair is joined first?", hugs, because)


def show_choice(hugs: Walk) -> Ran:
    counts = count_pairs(hugs.starts, hugs.counts)
    if not counts:
        return parts.no_pair()
    showing.bars_at(hugs, 0, key="hug_choice")
    if hugs.config.end_of_word:
        switch = "" if parts.is_printing() else " Switch it off to see."
        st.markdown(f":gray[{showing.winner_without_marker(hugs)}{switch}]")
    return Ran(
        (choose_pair,),
        "choose_pair(count_pairs(words, counts), 'first-seen')",
        parts.printed(choose_pair(counts, "first-seen"), hugs.run.vocab),
        parts.SPELLED,
    )


def ask_join(hugs: Walk) -> Question | None:
    if not hugs.merges:
        return None
    pair = hugs.merges[0].pair
    showing.word_rows(hugs, 0, key="hug_join_words")
    n = len(hugs.terms(0, pair))
    return choose_number(
        f"{parts.pair_name(pair, hugs.run.vocab)} is joined. In how many of these "
        f"{counted(len(hugs.words), 'word')}?",
        n,
        (len(hugs.words), n - 1, n + 1),
        "Wherever the pair occurs, from left to right, its two symbols become one: a token with "
        "an id of its own.",
    )


def show_join(hugs: Walk) -> Ran:
    if not hugs.merges:
        return parts.no_pair()
    merge = hugs.merges[0]
    showing.joined_rows(hugs, 0, merge.pair, key="hug_join")
    changed = [i for i, ids in enumerate(hugs.words_at(0)) if ids != hugs.words_at(1)[i]]
    word = hugs.words_at(0)[changed[0]]
    return Ran(
        (apply_merge,),
        f"apply_merge(words[{changed[0]}], pair, new_id)",
        parts.printed(apply_merge(word, merge.pair, merge.id), hugs.run.vocab),
        parts.SPELLED,
    )


def ask_repeat(hugs: Walk) -> Question:
    n = min(_N_ASKED, len(hugs.merges))
    return choose_number(
        f"The vocabulary starts with {counted(hugs.n_start, 'symbol')}"
        f"{', the marker included' if hugs.config.end_of_word else ''}. Count, choose and join "
        f"{counted(n, 'time')}: how large is it then?",
        hugs.n_start + n,
        (hugs.n_start, n, hugs.n_start + 2 * n, hugs.n_start - n),
        showing.size_rule(hugs),
    )


def show_repeat(hugs: Walk) -> Ran:
    step = parts.merges_slider(len(hugs.merges), key="hug_step", start=_N_ASKED)
    showing.word_rows(hugs, step, key="hug_repeat", ring=hugs.pair_joined_at(step))
    st.markdown(showing.size_sum(hugs, step))
    return Ran(
        (reference.learn_merges,),
        "merges, splits, stop_reason = learn_merges(words, counts, ...)",
        parts.printed(list(hugs.merges), hugs.run.vocab),
        showing.stopped(hugs),
    )


def ask_encode(hugs: Walk) -> Question | None:
    parts.draw_field(_WORD, FIRST_LONG_WORD, label="Word to encode", max_chars=40)
    word = parts.field_word(_WORD, FIRST_LONG_WORD)
    symbols = hugs.base_symbols(word)
    if symbols is None:
        return None
    showing.word_rows(hugs, len(hugs.merges), key="hug_learned")
    return choose_number(
        f"The words are learned. How many tokens does {word} take?",
        len(hugs.encode(symbols)),
        (1, 2, len(symbols), 5),
        "Nothing is counted. The word starts as symbols, and the merges are applied in the order "
        "in which they were learned, until none applies.",
    )


def show_encode(hugs: Walk) -> Ran:
    word = parts.field_word(_WORD, FIRST_LONG_WORD)
    symbols = hugs.base_symbols(word)
    if symbols is None:
        lacking = sorted({c for c in word if c.encode() not in hugs.run.base_ids})
        st.info(showing.lacking_characters(lacking))
        return Ran((encode_reference,), f"start({word!r})", "None")
    showing.draw_encoding_steps(hugs, symbols, key="hug_encode")
    ids = hugs.encode(symbols)
    return Ran(
        (encode_reference,),
        f"encode_reference({symbols}, merges)",
        parts.printed(ids),
        parts.legend(ids, hugs.run.vocab),
    )


def find_claims() -> tuple[Claim, ...]:
    """Check what the teaching module states about these words."""
    hugs = trained(FIRST_WORDS, marked=True)
    vocab, counts, first = hugs.run.vocab, hugs.pair_counts_at(0), hugs.merges[0]
    gg, hu = hugs.find_pair("g", "g"), hugs.find_pair("h", "u")
    replaced = "th u g".replace("h u", "hu")
    left, right = (parts.format_token(vocab[id]) for id in first.pair)
    table = {number: bytes([number]) for number in range(256)}
    n_merges = 280 - 256
    return (
        Claim(
            "(g, g) occurs 5 times.",
            f"(g, g) occurs {counts[gg] if gg else 0} times.",
            parts.format_sum(hugs, gg) if gg else "",
        ),
        Claim(
            "The most frequent pair is (h, u).",
            f"It is {parts.pair_name(first.pair, vocab)}, with {first.count}.",
            "\n".join(parts.format_sum(hugs, pair) for pair in (first.pair, hu) if pair),
        ),
        Claim(
            f"th u g becomes {replaced} when (h, u) is joined.",
            f"It stays {' '.join(_joined_letters(['th', 'u', 'g'], ('h', 'u')))}: none of its "
            "symbols is h.",
            '"th u g".replace("h u", "hu") works on letters, and matches inside the symbol th',
        ),
        Claim(
            "280 = 256 bytes + 23 merges + </w>.",
            f"Its loop makes {n_merges} merges, so it ends with {256 + n_merges + 1}.",
            f"280 − 256 = {n_merges} merges\n"
            f"256 bytes + {n_merges} merges + 1 marker = {256 + n_merges + 1}",
        ),
        Claim(
            f"vocab[256] = vocab['{left}'] + vocab['{right}'].",
            f"The keys of its table are numbers, so '{left}' is missing and training ends with an "
            f"error. With ids, {first.left} + {first.right} is {first.id}, "
            f"{parts.format_token(vocab[first.id])}.",
            f"vocab = {{0: b'\\x00', … 255: b'\\xff'}}\n"
            f"vocab['{left}'] → {look_up_all(table, (left, right))}",
        ),
        _check_encoder(hugs),
    )


def _joined_letters(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """Apply a merge to symbols given as text, by numbering them for `apply_merge`."""
    numbers = {symbol: number for number, symbol in enumerate(dict.fromkeys((*symbols, *pair)))}
    spelled = [*numbers, "".join(pair)]
    ids = apply_merge(
        [numbers[symbol] for symbol in symbols], (numbers[pair[0]], numbers[pair[1]]), len(numbers)
    )
    return [spelled[id] for id in ids]


def _check_encoder(hugs: Walk) -> Claim:
    """Check the module's encoder, whose walk in a trie does not return to the root."""
    vocab = hugs.run.vocab
    tokens = [vocab[id] for id in hugs.encode(hugs.base_symbols(FIRST_LONG_WORD) or ())]
    names = [parts.format_token(token) for token in tokens]
    ids, end = look_up_without_return(vocab, tokens)
    return Claim(
        "Its encoder looks all tokens of a word up in one walk through a trie.",
        f"{FIRST_LONG_WORD} is {' + '.join(names)}. After {names[len(ids) - 1]} the walk looks for "
        f"{names[len(ids)]} without returning to the root, and ends with an error.",
        f"root → {' → '.join(names[: len(ids)])}: {', '.join(map(str, ids))}\n"
        f"no token begins with {parts.format_token(end)}",
    )


LESSON = Lesson(
    "Hug words",
    "Five words with their counts are enough to learn byte-pair encoding by hand.",
    read_input,
    (
        LessonStep("Words", "From words to symbols", ask_words, show_words),
        LessonStep("Pairs", "Count the neighbours", ask_pairs, show_pairs),
        LessonStep("Choice", "Choose the most frequent", ask_choice, show_choice),
        LessonStep("Join", "Join it everywhere", ask_join, show_join),
        LessonStep("Repeat", "Repeat", ask_repeat, show_repeat),
        LessonStep("Encode", "Encode a new word", ask_encode, show_encode),
    ),
    (LessonSource(parts.MODULE, find_claims),),
)
