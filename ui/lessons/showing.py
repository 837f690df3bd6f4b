"""Show a training run: words and pairs as tiles and bars, and sentences that hold for any words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bpe_core.trainers import reference
from bpe_core.types import Pair, StopReason
from ui.components import Bar, SymbolRow, Tile, Tiles, draw_symbol_rows, find_pair, pair_bars
from ui.lessons import parts
from ui.lessons.walk import Walk, walk
from ui.look import counted, plain_markdown

_MAX_BARS = 9
_MAX_ROWS = 16


def tile(id: int, walk: Walk) -> Tile:
    """Return a token as a tile: white if it existed before the first merge, else coloured."""
    return Tile(walk.run.vocab[id], id if id >= walk.n_start else None)


def tiles(ids: Iterable[int], walk: Walk, ring: Pair | None = None) -> Tiles:
    """Return a word as tiles, with a ring around each place where a pair would be joined."""
    ids = list(ids)
    rings = () if ring is None else find_pair(ids, ring)
    return Tiles(tuple(tile(id, walk) for id in ids), rings)


def word_rows(walk: Walk, step: int, *, key: str, ring: Pair | None = None) -> None:
    """Draw the words at a step, with their counts; only the most frequent if there are many."""
    words = walk.words_at(step)
    order = sorted(range(len(words)), key=lambda i: -walk.counts[i])[:_MAX_ROWS]
    shown = sorted(order)
    draw_symbol_rows(
        [SymbolRow(f"{walk.counts[i]:,}×", (tiles(words[i], walk, ring),)) for i in shown],
        key=key,
        caption="Words, with their counts and their symbols",
    )
    parts.note_shortened(_MAX_ROWS, len(words), "words", which="most frequent")


def whole_words(walk: Walk, *, key: str) -> None:
    """Draw the distinct words with their counts."""
    counted = sorted(zip(walk.words, walk.counts, strict=True), key=lambda one: -one[1])
    draw_symbol_rows(
        [SymbolRow(f"{n:,}×", (Tiles((Tile(word.encode()),)),)) for word, n in counted[:_MAX_ROWS]],
        key=key,
        caption="The distinct words, with their counts",
    )
    parts.note_shortened(_MAX_ROWS, len(counted), "words", which="most frequent")


def id_rows(ids: Sequence[int], walk: Walk, *, a_row: int, key: str, caption: str) -> None:
    """Draw tokens in order of id, `a_row` of them in each row."""
    rows = [ids[start : start + a_row] for start in range(0, len(ids), a_row)]
    draw_symbol_rows(
        [SymbolRow(parts.ids_name(row), (tiles(row, walk),)) for row in rows],
        key=key,
        caption=caption,
    )


def joined_rows(walk: Walk, step: int, pair: Pair, *, key: str) -> None:
    """Draw the words that a merge changes, before and after it."""
    merged = walk.merges[step].id
    rows: list[SymbolRow] = []
    before, after = walk.words_at(step), walk.words_at(step + 1)
    for ids, then, count in zip(before, after, walk.counts, strict=True):
        if ids != then:
            result = Tiles(
                tuple(tile(id, walk) for id in then),
                tuple((at, at + 1) for at, id in enumerate(then) if id == merged),
            )
            rows.append(SymbolRow(f"{count:,}×", (tiles(ids, walk, pair), result)))
    draw_symbol_rows(
        rows[:_MAX_ROWS],
        key=key,
        caption="The words that contain the pair, before and after it is joined",
        columns=("Before", "After"),
    )
    parts.note_shortened(_MAX_ROWS, len(rows), "words that change")


def bars_at(walk: Walk, step: int, *, key: str) -> None:
    """Draw the most frequent pairs at a step, with the next one and its ties marked."""
    counts = walk.pair_counts_at(step)
    winner = walk.next_pair_at(step)
    most = max(counts.values(), default=0)
    # The sort is stable: of equally frequent pairs the winner comes first, then the first seen.
    ordered = sorted(counts, key=lambda pair: (-counts[pair], pair != winner))
    bars = [
        Bar(
            tile(pair[0], walk),
            tile(pair[1], walk),
            counts[pair],
            "next" if pair == winner else "tie" if counts[pair] == most else "",
        )
        for pair in ordered[:_MAX_BARS]
    ]
    pair_bars(bars, caption="The most frequent pairs", key=key)
    parts.note_shortened(_MAX_BARS, len(ordered), "pairs")


def draw_encoding_steps(walk: Walk, symbols: Sequence[int], *, key: str) -> None:
    """Draw the encoding of a word: its symbols, and a row for each merge applied."""
    rows = [SymbolRow("start", (tiles(symbols, walk),))]
    before = list(symbols)
    steps = walk.encoding_steps(symbols)
    for merge, ids in steps[:_MAX_ROWS]:
        rows[-1] = SymbolRow(rows[-1].label, (tiles(before, walk, merge.pair),))
        rows.append(SymbolRow(f"merge {merge.rank + 1}", (tiles(ids, walk),)))
        before = ids
    draw_symbol_rows(rows, key=key, caption="The encoding of a word, merge by merge")
    parts.note_shortened(_MAX_ROWS, len(steps), "merges")


def show_merges(walk: Walk, *, key: str, start: int) -> parts.Ran:
    """Draw the words at the step of a slider, at first `start`; return the code that ran."""
    step = parts.merges_slider(len(walk.merges), key=f"{key}_step", start=start)
    word_rows(walk, step, key=f"{key}_merges", ring=walk.pair_joined_at(step))
    return parts.Ran(
        (reference.learn_merges,),
        "merges, splits, why = learn_merges(words, counts, vocabulary, config)",
        parts.printed(list(walk.merges), walk.run.vocab),
        parts.SPELLED,
    )


_WHY: dict[StopReason, str] = {
    "vocab-size": "the vocabulary is full",
    "no-pairs": "no pairs are left",
    "min-frequency": "no pair is frequent enough",
    "cancelled": "it was stopped",
}
_MAX_NAME = 40


def first_symbols(learned: Walk) -> str:
    """Describe the symbols of a word before the first merge."""
    marker = learned.config.end_of_word
    if marker is None:
        return "Each word starts as its characters, and its end is not marked."
    return (
        f"Each word starts as its characters, followed by the marker {marker}: one more symbol, "
        "which marks the end of the word. GPT-2 has no marker: there a space begins a word, so "
        "that a text’s spaces are kept."
    )


def winner(learned: Walk) -> str:
    """Describe the pair that is joined first, and its ties, as plain text."""
    counts, pair = learned.pair_counts_at(0), learned.next_pair_at(0)
    if pair is None:
        return "There are no pairs."
    n_tied = sum(count == counts[pair] for count in counts.values())
    rest = (
        f"as often as {counted(n_tied - 1, 'other pair')}: of these, the one seen first is joined."
        if n_tied > 1
        else "more often than any other pair."
    )
    name = parts.pair_name(pair, learned.run.vocab)
    return f"{name} occurs {counted(counts[pair], 'time')}, {rest}"


def winner_without_marker(learned: Walk) -> str:
    """Describe which pair would be joined first if the ends of words were not marked."""
    words = dict(zip(learned.words, learned.counts, strict=True))
    unmarked = walk(words, replace(learned.config, end_of_word=None))
    pair, other = learned.next_pair_at(0), unmarked.next_pair_at(0)
    if other is None:
        return "Without the marker there are no pairs: each word is one character."
    name = parts.pair_name(other, unmarked.run.vocab)
    if pair is not None and parts.pair_name(pair, learned.run.vocab) == name:
        return "Without the marker the same pair wins."
    return f"Without the marker {plain_markdown(name)} wins."


def size_rule(learned: Walk) -> str:
    """Describe what the size of the vocabulary is the sum of."""
    marker = "" if learned.config.end_of_word is None else ", the marker included,"
    return (
        f"Each round adds one token to the vocabulary. Its size is the number of symbols{marker} "
        "plus the number of merges."
    )


def size_sum(learned: Walk, step: int) -> str:
    """Return the size of the vocabulary after some merges, as a sum."""
    marker = "" if learned.run.end_of_word_id is None else ", the marker included,"
    return (
        f"{counted(learned.n_start, 'symbol')}{marker} + {counted(step, 'merge')} = "
        f"**{counted(learned.n_start + step, 'token')}**"
    )


def stopped(learned: Walk) -> str:
    """Return how many merges a training run made, and why it stopped."""
    n = counted(len(learned.merges), "merge")
    return f"It stopped after {n}: {_WHY[learned.run.stop_reason]}."


def rounds(learned: Walk, most: int) -> str:
    """Return how many rounds a training run took, and why it took fewer than `most`."""
    n = len(learned.merges)
    rest = "" if n == most else f" Then no pairs were left, after {n} of {most} rounds."
    return f"{counted(n, 'round')} of counting, choosing and joining.{rest}"


def room(learned: Walk) -> str:
    """Return how many merges the vocabulary has room for, and whether it was filled."""
    size, n = learned.config.vocab_size, len(learned.merges)
    most = size - learned.n_start
    rest = ""
    if not n:
        rest = " There are no pairs to merge: each piece is one symbol."
    elif n < most:
        rest = f" After {counted(n, 'merge')} no pairs are left: each piece is one token."
    return (
        f"The vocabulary size is {size:,}. It starts with {learned.n_start:,} tokens, which leaves "
        f"room for {counted(most, 'merge')}.{rest}"
    )


def byte_alphabet(learned: Walk) -> str:
    """Describe the bytes that a vocabulary starts with, and their order."""
    symbols = list(learned.run.base_ids)
    if len(symbols) == 1:
        return "The only byte that occurs in the text comes next."
    last = ", with the space last" if symbols[-1] == b" " else ""
    return (
        f"The {len(symbols):,} bytes that occur in the text come next, in the order of the "
        f"characters that GPT-2 writes for them{last}."
    )


def unused_symbols(learned: Walk) -> str:
    """Name the symbols of the vocabulary that no word contains; empty if there are none."""
    used = {id for ids in learned.starts for id in ids}
    names = [
        parts.format_token(learned.run.vocab[id]) for id in range(learned.n_start) if id not in used
    ]
    if not names:
        return ""
    one = len(names) == 1
    return (
        f"{plain_markdown(', '.join(names))} {'occurs' if one else 'occur'} in no word, since "
        f"words are cut there: {'a token' if one else 'tokens'} that no word needs."
    )


def list_size(learned: Walk) -> str:
    """Return the final size of the vocabulary."""
    n_merges = len(learned.merges)
    return (
        f"{counted(learned.n_start, 'symbol')} and {counted(n_merges, 'merge')} make "
        f"**{counted(learned.n_start + n_merges, 'token')}**."
    )


def first_difference(first: Walk, second: Walk) -> tuple[int, str]:
    """Return the first merge in which two training runs differ, or their number, and a sentence."""
    spelled = [
        [tuple(one.run.vocab[id] for id in merge.pair) for merge in one.merges]
        for one in (first, second)
    ]
    same = [a == b for a, b in zip(*spelled, strict=False)]
    if all(same) and len(spelled[0]) == len(spelled[1]):
        return len(same), "On these words both learn the same merges."
    place = same.index(False) if False in same else len(same)
    return place, f"They first differ at merge {place + 1:,}."


def lacking_bytes(pieces: Sequence[str]) -> str:
    """Explain that some pieces contain bytes that the vocabulary lacks."""
    names, one = plain_markdown(", ".join(pieces)), len(pieces) == 1
    return (
        f"{names} {'contains' if one else 'contain'} a byte that these documents don’t, and "
        f"{'is' if one else 'are'} left out. With all 256 bytes in the alphabet, as in GPT-2, this "
        "can’t happen."
    )


def lacking_characters(characters: Sequence[str]) -> str:
    """Explain that some characters have no symbol."""
    names = plain_markdown(", ".join(characters))
    return (
        f"{names} did not occur in training, so there is no symbol for "
        f"{'it' if len(characters) == 1 else 'them'}. The lesson “Why this way” shows how bytes "
        "solve this."
    )


def without_token(n_unknown: int, n_characters: int, n_bytes: int) -> str:
    """Return how many characters of a text have no token, while all its bytes have one."""
    return (
        f"{n_unknown:,} of {counted(n_characters, 'character')} "
        f"{'has' if n_unknown == 1 else 'have'} no token. Every one of the text’s "
        f"{counted(n_bytes, 'byte')} has one."
    )


def over_boundaries(over: Sequence[bool], whole: Walk, cut: Walk) -> str:
    """Return how many tokens cross a cut without and with cuts, and the pieces after."""
    made = [whole.run.vocab[merge.id] for merge in whole.merges]
    crossing = [token for token, is_over in zip(made, over, strict=True) if is_over]
    longest = parts.format_token(max(crossing, key=len, default=b""))
    name = longest if len(longest) <= _MAX_NAME else f"{longest[:_MAX_NAME]}…"
    such = f", such as “{name}”" if name else ""
    return (
        f"Without cuts {len(crossing)} of {counted(len(over), 'token')} cross a place where GPT-2 "
        f"cuts{such}. With cuts it is 0 of {len(cut.merges)}: no merge crosses a cut. The cut "
        f"text has {counted(sum(cut.counts), 'piece')}, words and signs, {len(cut.words):,} of "
        "them distinct."
    )
