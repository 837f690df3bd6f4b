"""Draw the words and pairs of a training run as tiles and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpe_core.trainers import reference
from bpe_core.types import Pair
from ui.components import Bar, SymbolRow, Tile, Tiles, draw_symbol_rows, find_pair, pair_bars
from ui.lessons import parts, printing
from ui.lessons.walk import Walk

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
        [SymbolRow(printing.ids_name(row), (tiles(row, walk),)) for row in rows],
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
        printing.printed(list(walk.merges), walk.run.vocab),
        printing.SPELLED,
    )
