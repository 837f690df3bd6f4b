"""The Lab's sentences and tables: what was measured, said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bpe_core.lab.contenders import Differences
from bpe_core.lab.growth import GrowthPoint
from bpe_core.lab.measuring import Measured
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.figures import Row
from ui.components.symbol_rows import SymbolRow, Tile, Tiles
from ui.lab.charts import size_text, speed_text

MOST_WORDS = 8
_LONGEST_WORD = 24
"""Tokens of one word in a row; more would be a wall of tiles."""


@dataclass(frozen=True, slots=True)
class EncoderWords:
    """What a reader is told of an encoder."""

    title: str
    explained: str


ENCODER_WORDS = {
    "list-index": EncoderWords(
        "List of merges",
        "Looks every pair up by walking through the list of merges, and all pairs again after "
        "each merge. It is how one writes it first.",
    ),
    "hash-map": EncoderWords(
        "Hash map of ranks",
        "The same rule, but a dictionary gives a pair’s rank at once. The others must equal it.",
    ),
    "trie": EncoderWords(
        "Trie with backtracking",
        "Takes whole tokens from left to right and steps back where two of them would have "
        "merged otherwise. Exact.",
    ),
    "longest-match": EncoderWords(
        "Longest match",
        "Takes the longest token that fits, and never looks back. It is not BPE: on some words "
        "it gives other tokens.",
    ),
    "engine-cold": EncoderWords(
        "Engine, first time", "This app’s compiled encoder, on words that it has not seen yet."
    ),
    "engine-warm": EncoderWords(
        "Engine, again", "The same, once it remembers the words of the text."
    ),
    "tiktoken": EncoderWords("tiktoken", "OpenAI’s encoder, in Rust."),
    "tokenizers": EncoderWords(
        "tokenizers", "Hugging Face’s, in Rust; it remembers words, and makes an object a token."
    ),
}
TRAINER_WORDS = {
    "reference": "Reference",
    "engine": "Engine",
    "tokenizers": "tokenizers",
}


def encoder_title(name: str) -> str:
    """An encoder's name for readers; empty for none."""
    return ENCODER_WORDS[name].title if name in ENCODER_WORDS else TRAINER_WORDS.get(name, "")


def encoding_rows(found: Sequence[Measured]) -> list[Row]:
    """The table of encoders: MB/s, times the hash map's, the part measured, equality."""
    hash_map = next(
        (one.megabytes_per_second for one in found if one.name == "hash-map" and not one.problem),
        0.0,
    )
    rows: list[Row] = []
    for one in found:
        if one.problem is not None:
            rows.append(Row(encoder_title(one.name), ("–", "–", "–", "can’t take it")))
            continue
        speed = one.megabytes_per_second
        times = speed_text(speed / hash_map) if hash_map else "–"
        part = "all" if one.is_whole else size_text(one.n_bytes)
        same = "equal" if one.is_equal else "differ"
        rows.append(Row(encoder_title(one.name), (speed_text(speed), times, part, same)))
    return rows


def encoding_sentence(found: Sequence[Measured]) -> list[tuple[str, bool]]:
    """What the measurement says, in pieces, each with whether it is bold."""
    speeds = {one.name: one.megabytes_per_second for one in found if one.problem is None}
    slow, trie, hash_map = (speeds.get(name) for name in ("list-index", "trie", "hash-map"))
    if not (slow and trie and hash_map):
        return [("Not all encoders could take this tokenizer.", False)]
    return [
        ("In plain Python the trie is ", False),
        (compared(trie, hash_map), True),
        (" the hash map, and the hash map is ", False),
        (compared(hash_map, slow), True),
        (" a list of merges.", False),
    ]


def compared(speed: float, other: float) -> str:
    """How fast one is beside another; without a number where that would read as once.

    >>> compared(3.0, 2.0), compared(1.0, 20.0), compared(1.03, 1.0)
    ('1.5 times as fast as', '20 times as slow as', 'as fast as')
    """
    times = speed_text(max(speed / other, other / speed))
    if times == speed_text(1.0):
        return "as fast as"
    return f"{times} times as {'fast' if speed > other else 'slow'} as"


def encoding_aside(found: Sequence[Measured], seconds: float) -> str:
    """Which ids were equal, and how it was measured."""
    able = [one for one in found if one.problem is None]
    differ = [encoder_title(one.name) for one in able if not one.is_equal]
    equal = len(able) - len(differ)
    said = f"{equal} of {len(able)} encoders gave the same ids"
    said += f"; {' and '.join(differ)} did not. " if differ else ". "
    return (
        f"{said}Medians of calls in turn, one thread, {seconds:.0f} s in all. This is one "
        "machine’s figure, now, with whatever else it is doing."
    )


def training_rows(found: Sequence[GrowthPoint]) -> tuple[list[str], list[Row]]:
    """The table of trainers: a column each, a row a size."""
    names = list(dict.fromkeys(one.name for one in found))
    by_size: dict[int, dict[str, GrowthPoint]] = {}
    for one in found:
        by_size.setdefault(one.n_bytes, {})[one.name] = one
    rows: list[Row] = []
    for size, row in by_size.items():
        shown = {name: f"{one.seconds:,.3f}" for name, one in row.items()}
        least = shown[min(row, key=lambda name: row[name].seconds)]
        figures = tuple(
            shown[name] + ("" if row[name].is_equal else " differs") if name in row else "–"
            for name in names
        )
        fastest = tuple(place for place, name in enumerate(names) if shown.get(name) == least)
        rows.append(Row(size_text(size), figures, fastest))
    return [encoder_title(name) for name in names], rows


def training_sentence(found: Sequence[GrowthPoint]) -> list[tuple[str, bool]]:
    """What the measurement of trainers says, in pieces, each with whether it is bold."""
    seconds = {(one.name, one.n_bytes): one.seconds for one in found}
    last = max((size for name, size in seconds if name == "engine"), default=0)
    ours, theirs = seconds.get(("engine", last), 0.0), seconds.get(("tokenizers", last), 0.0)
    if not (ours and theirs):
        return [("The engine and tokenizers have no size in common.", False)]
    pieces = [
        (f"On {size_text(last)} of text the engine is ", False),
        (compared(1 / ours, 1 / theirs), True),
        (" tokenizers.", False),
    ]
    reached = max((size for name, size in seconds if name == "reference"), default=last)
    if reached < last:
        pieces += [
            (" The reference, which counts all anew for each merge, left after ", False),
            (f"{size_text(reached)}.", True),
        ]
    return pieces


def training_aside(found: Sequence[GrowthPoint], n_merges: int) -> str:
    """Whether the merges were equal, and what the figures hold."""
    unequal = sorted({encoder_title(one.name) for one in found if not one.is_equal})
    equality = (
        f"The merges of {' and '.join(unequal)} were not those of the others."
        if unequal
        else "All learned the same merges, in the same order, at every size."
    )
    return (
        f"{equality} Up to {n_merges:,} merges over all 256 bytes, the cutting into words "
        "included. Who would take more than 5 s leaves the field. tokenizers uses all cores."
    )


def growth_by_name(
    found: Sequence[GrowthPoint],
) -> dict[str, tuple[list[int], list[float]]]:
    """The points of each trainer's curve, under its name for readers."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for one in found:
        sizes, seconds = curves.setdefault(encoder_title(one.name), ([], []))
        sizes.append(one.n_bytes)
        seconds.append(one.seconds)
    return curves


def differing_rows(found: Differences, tokenizer: Tokenizer) -> list[SymbolRow]:
    """The most frequent words that longest match cuts otherwise, both ways."""
    short = [word for word in found.words if len(word.ids) <= _LONGEST_WORD]
    return [
        SymbolRow(
            f"{word.count:,}×",
            (_tiles(word.ids, tokenizer), _tiles(word.longest_match_ids, tokenizer)),
        )
        for word in short[:MOST_WORDS]
    ]


def differing_sentence(found: Differences) -> str:
    """How many of a text's words longest match cuts otherwise."""
    if not found.n_pretokens:
        return "This text has no word."
    if not found.words:
        return (
            f"On all {found.n_pretokens:,} pre-tokens of this text longest match happens to give "
            "what the merges give."
        )
    share = found.n_differing / found.n_pretokens
    return (
        f"Longest match cuts {found.n_differing:,} of {found.n_pretokens:,} pre-tokens otherwise "
        f"than the merges do, {share:.1%}: {len(found.words):,} different words."
    )


def _tiles(ids: Sequence[int], tokenizer: Tokenizer) -> Tiles:
    return Tiles(
        tuple(Tile(tokenizer.vocab[id], None if tokenizer.parts(id) is None else id) for id in ids)
    )
