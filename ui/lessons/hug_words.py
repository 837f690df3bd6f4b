"""Teach the first lesson: every step of BPE on five words with their counts."""

from __future__ import annotations

import streamlit as st

from bpe_core.corpus.word_counts import parse_word_counts
from bpe_core.trainers.base_vocabulary import split_symbols
from bpe_core.trainers.reference import (
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    learn_merges,
)
from bpe_core.types import TrainingConfig
from ui.lessons import parts, printing, sentences, tiles
from ui.lessons.parts import Learned, Lesson, LessonStep, Ran
from ui.lessons.shortcuts import look_up_all, look_up_without_return
from ui.lessons.walk import Walk, walk

FIRST_WORDS = "hug 10\nugg 5\nggi 3\ngin 3\ning 3"
FIRST_LONG_WORD = "hugging"
MARKER = "</w>"
_SOURCE = "The example says"
_MAX_MERGES = 40
_NAME = "words"


def read_input() -> Learned:
    parts.text_input(_NAME, FIRST_WORDS, label="Words and their counts. Edit them.", lines=5)
    marked = st.toggle("Mark the end of each word", value=True, key="marker", bind="query-params")
    return Learned(
        trained(parts.own_text(_NAME, FIRST_WORDS), marked), trained(FIRST_WORDS, marked)
    )


def trained(text: str, marked: bool) -> Walk:
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


def words(example: Learned) -> Ran:
    hugs = example.yours
    st.markdown("A corpus is a list of words with their counts. " + sentences.first_symbols(hugs))
    tiles.word_rows(hugs, 0, key="hug_words")
    word = hugs.words[0]
    return Ran(
        (split_symbols,),
        f"split_symbols({word.encode()!r}, 'characters')",
        printing.printed(split_symbols(word.encode(), "characters")),
        "The marker is added after these symbols." if hugs.config.end_of_word else "",
    )


def pairs(example: Learned) -> Ran:
    hugs = example.yours
    st.markdown(
        "Two neighbouring symbols are a pair. A word that occurs ten times counts each of its "
        "pairs ten times. No pair crosses from one word into the next."
    )
    tiles.bars_at(hugs, 0, key="hug_pairs")
    counts = count_pairs(hugs.starts, hugs.counts)
    if not counts:
        return parts.no_pair()
    theirs = example.theirs
    pair = theirs.find_pair("g", "g")
    found = theirs.pair_counts_at(0)[pair] if pair else 0
    parts.check_claim(
        "hug_gg",
        source=_SOURCE,
        stated="(g, g) occurs 5 times.",
        found=f"(g, g) occurs {found} times.",
        how=printing.format_sum(theirs, 0, pair) if pair else "",
        on_its_own=example.is_changed,
    )
    return Ran(
        (count_pairs,),
        "count_pairs(words, counts)",
        printing.printed(counts, hugs.run.vocab),
        printing.SPELLED,
    )


def choice(example: Learned) -> Ran:
    hugs = example.yours
    st.markdown(
        "The most frequent pair wins. Of equally frequent pairs, the one seen first wins here; "
        "another rule is the smallest ids. Either is fine, as long as it is stated."
    )
    tiles.bars_at(hugs, 0, key="hug_choice")
    counts = count_pairs(hugs.starts, hugs.counts)
    winner = hugs.next_pair_at(0)
    if winner is None:
        return parts.no_pair()
    _first_merge_claim(example)
    if hugs.config.end_of_word:
        st.markdown(f":gray[{sentences.winner_without_marker(hugs)}]")
    return Ran(
        (choose_pair,),
        "choose_pair(count_pairs(words, counts), 'first-seen')",
        printing.printed(choose_pair(counts, "first-seen"), hugs.run.vocab),
        printing.SPELLED,
    )


def _first_merge_claim(example: Learned) -> None:
    theirs = example.theirs
    first = theirs.merges[0]
    hu = theirs.find_pair("h", "u")
    pairs = [first.pair, hu] if hu else [first.pair]
    parts.check_claim(
        "hug_first",
        source=_SOURCE,
        stated="The most frequent pair is (h, u).",
        found=f"It is {printing.pair_name(first.pair, theirs.run.vocab)}, with {first.count}.",
        how="\n".join(printing.format_sum(theirs, 0, pair) for pair in pairs),
        on_its_own=example.is_changed,
    )


def join(example: Learned) -> Ran:
    hugs = example.yours
    st.markdown(
        "From left to right, wherever the pair occurs, its two symbols become one; no symbol is "
        "joined twice. The new symbol is a token with its own id and colour. Joining works on "
        "symbols, never on their letters."
    )
    if not hugs.merges:
        return parts.no_pair()
    merge = hugs.merges[0]
    tiles.joined_rows(hugs, 0, merge.pair, key="hug_join")
    replaced = "th u g".replace("h u", "hu")
    joined = " ".join(_joined_letters(["th", "u", "g"], ("h", "u")))
    parts.check_claim(
        "hug_replace",
        source="The example joins by replacing text",
        stated=f"th u g becomes {replaced} when (h, u) is joined.",
        found=f"It stays {joined}: none of its symbols is h.",
        how='"th u g".replace("h u", "hu") works on letters, and matches inside the symbol th',
    )
    changed = [i for i, ids in enumerate(hugs.words_at(0)) if ids != hugs.words_at(1)[i]]
    word = hugs.words_at(0)[changed[0]]
    return Ran(
        (apply_merge,),
        f"apply_merge(words[{changed[0]}], pair, new_id)",
        printing.printed(apply_merge(word, merge.pair, merge.id), hugs.run.vocab),
        printing.SPELLED,
    )


def _joined_letters(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """Apply a merge to symbols given as text, by numbering them for `apply_merge`."""
    numbers = {symbol: number for number, symbol in enumerate(dict.fromkeys((*symbols, *pair)))}
    spelled = [*numbers, "".join(pair)]
    ids = apply_merge(
        [numbers[symbol] for symbol in symbols], (numbers[pair[0]], numbers[pair[1]]), len(numbers)
    )
    return [spelled[id] for id in ids]


def repeat(example: Learned) -> Ran:
    hugs = example.yours
    st.markdown(f"Count, choose and join, over and over. {sentences.size_rule(hugs)}")
    step = parts.merges_slider(len(hugs.merges), key="hug_step", start=3)
    tiles.word_rows(hugs, step, key="hug_repeat", ring=hugs.pair_joined_at(step))
    st.markdown(sentences.size_sum(hugs, step))
    merges_of_280 = 280 - 256
    parts.check_claim(
        "hug_size",
        source=_SOURCE,
        stated="280 = 256 bytes + 23 merges + </w>.",
        found=f"Its loop makes {merges_of_280} merges, so it ends with {256 + merges_of_280 + 1}.",
        how=f"280 − 256 = {merges_of_280} merges\n"
        f"256 bytes + {merges_of_280} merges + 1 marker = {256 + merges_of_280 + 1}",
    )
    _vocabulary_claim(example)
    return Ran(
        (learn_merges,),
        "merges, splits, stop_reason = learn_merges(words, counts, ...)",
        printing.printed(list(hugs.merges), hugs.run.vocab),
        sentences.stopped(hugs),
    )


def _vocabulary_claim(example: Learned) -> None:
    """Check the example's vocabulary, which looks spellings up in a table keyed by numbers."""
    theirs = example.theirs
    vocab, first = theirs.run.vocab, theirs.merges[0]
    left, right = (printing.format_token(vocab[id]) for id in first.pair)
    table = {number: bytes([number]) for number in range(256)}
    parts.check_claim(
        "hug_vocabulary",
        source=_SOURCE,
        stated=f"vocab[256] = vocab['{left}'] + vocab['{right}'].",
        found=f"The keys of its table are numbers, so '{left}' is missing and training ends with "
        f"an error. With ids, {first.left} + {first.right} is {first.id}, "
        f"{printing.format_token(vocab[first.id])}.",
        how=f"vocab = {{0: b'\\x00', … 255: b'\\xff'}}\n"
        f"vocab['{left}'] → {look_up_all(table, (left, right))}",
        on_its_own=example.is_changed,
    )


def encode(example: Learned) -> Ran:
    hugs = example.yours
    st.markdown(
        "A new word is not counted. It starts as single symbols, like the training words, and the "
        "merges are applied to it in the order in which they were learned, until none applies."
    )
    word = parts.one_word("new_word", FIRST_LONG_WORD)
    symbols = hugs.base_symbols(word)
    if symbols is None:
        lacking = sorted({c for c in word if c.encode() not in hugs.run.base_ids})
        st.info(sentences.lacking_characters(lacking))
        return Ran((encode_reference,), f"start({word!r})", "None")
    tiles.draw_encoding_steps(hugs, symbols, key="hug_encode")
    _encoder_claim(example)
    ids = hugs.encode(symbols)
    return Ran(
        (encode_reference,),
        f"encode_reference({symbols}, merges)",
        printing.printed(ids),
        printing.legend(ids, hugs.run.vocab),
    )


def _encoder_claim(example: Learned) -> None:
    """Check the example's encoder, whose walk in a trie does not return to the root."""
    theirs = example.theirs
    vocab = theirs.run.vocab
    tokens = [vocab[id] for id in theirs.encode(theirs.base_symbols(FIRST_LONG_WORD) or ())]
    names = [printing.format_token(token) for token in tokens]
    ids, end = look_up_without_return(vocab, tokens)
    parts.check_claim(
        "hug_encoder",
        source="The example’s encoder",
        stated="looks all tokens of a word up in one walk through a trie.",
        found=f"{FIRST_LONG_WORD} is {' + '.join(names)}. After {names[len(ids) - 1]} the walk "
        f"looks for {names[len(ids)]} without returning to the root, and ends with an error.",
        how=f"root → {' → '.join(names[: len(ids)])}: {', '.join(map(str, ids))}\n"
        f"no token begins with {printing.format_token(end)}",
        on_its_own=example.is_changed,
    )


LESSON = Lesson(
    "Hug words",
    "Five words with their counts are enough to learn byte-pair encoding by hand.",
    read_input,
    (
        LessonStep("Words", "From words to symbols", words),
        LessonStep("Pairs", "Count the neighbours", pairs),
        LessonStep("Choice", "Choose the most frequent", choice),
        LessonStep("Join", "Join it everywhere", join),
        LessonStep("Repeat", "Repeat", repeat),
        LessonStep("Encode", "Encode a new word", encode),
    ),
)
