"""Put measurements into words: the sentences and tables of the Lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bpe_core.lab import ContenderTime, Differences, GrowthPoint
from bpe_core.tokenizer import Tokenizer
from ui.components import FigureRow, SymbolRow, Tile, Tiles
from ui.lab.charts import speed_text
from ui.look import counted, size_text

MAX_WORDS = 8
_MAX_WORD_LENGTH = 24
"""The most tokens of a word shown in a row; longer words are left out."""


@dataclass(frozen=True, slots=True)
class EncoderWords:
    """The name and the explanation of an encoder, for readers."""

    title: str
    explanation: str


ENCODER_WORDS = {
    "list-index": EncoderWords(
        "List of merges",
        "Finds the rank of a pair by searching the list of merges, and looks up all pairs "
        "again after each merge. The simplest way to write it.",
    ),
    "hash-map": EncoderWords(
        "Hash map of ranks",
        "The same rule, with ranks in a dictionary. The other encoders are compared with it.",
    ),
    "trie": EncoderWords(
        "Trie with backtracking",
        "Takes whole tokens from left to right, and steps back if two of them would have been "
        "merged differently. Exact.",
    ),
    "longest-match": EncoderWords(
        "Longest match",
        "Always takes the longest matching token. It is not BPE: on some words it returns other "
        "tokens.",
    ),
    "engine-cold": EncoderWords(
        "Engine, first time", "This app’s compiled encoder, with none of the words cached."
    ),
    "engine-warm": EncoderWords("Engine, again", "The same, with the words of the text cached."),
    "tiktoken": EncoderWords("tiktoken", "OpenAI’s encoder, in Rust."),
    "tokenizers": EncoderWords(
        "tokenizers",
        "Hugging Face’s encoder, in Rust. It caches words, and creates an object for each token.",
    ),
}
TRAINER_WORDS = {
    "reference": "Reference",
    "engine": "Engine",
    "tokenizers": "tokenizers",
}


def encoder_title(name: str) -> str:
    """Return the name of an encoder or trainer for readers; empty for an unknown one."""
    return ENCODER_WORDS[name].title if name in ENCODER_WORDS else TRAINER_WORDS.get(name, "")


def encoding_rows(found: Sequence[ContenderTime]) -> list[FigureRow]:
    """Return the table of encoders: MB/s, factor to the hash map, part measured, equality."""
    hash_map = next(
        (one.megabytes_per_second for one in found if one.name == "hash-map" and not one.problem),
        0.0,
    )
    rows: list[FigureRow] = []
    for one in found:
        if one.problem is not None:
            rows.append(FigureRow(encoder_title(one.name), ("–", "–", "–", "not possible")))
            continue
        speed = one.megabytes_per_second
        times = speed_text(speed / hash_map) if hash_map else "–"
        part = "all" if one.is_whole else size_text(one.n_bytes)
        same = "equal" if one.is_equal else "differ"
        rows.append(FigureRow(encoder_title(one.name), (speed_text(speed), times, part, same)))
    return rows


def encoding_sentence(found: Sequence[ContenderTime]) -> list[tuple[str, bool]]:
    """Return the main result of the encoders, as pieces, each with whether it is bold."""
    speeds = {one.name: one.megabytes_per_second for one in found if one.problem is None}
    slow, trie, hash_map = (speeds.get(name) for name in ("list-index", "trie", "hash-map"))
    if not (slow and trie and hash_map):
        return [("Not every encoder supports this tokenizer.", False)]
    return [
        ("In plain Python the trie ", False),
        (compared(trie, hash_map), True),
        (" the hash map, and the hash map ", False),
        (compared(hash_map, slow), True),
        (" a list of merges.", False),
    ]


def compared(speed: float, other: float) -> str:
    """Compare two speeds in words; without a number if it would round to 1.

    >>> compared(3.0, 2.0), compared(1.0, 20.0), compared(1.03, 1.0)
    ('is 1.5 times as fast as', 'takes 20 times as long as', 'is as fast as')
    """
    times = speed_text(max(speed / other, other / speed))
    if times == speed_text(1.0):
        return "is as fast as"
    return f"is {times} times as fast as" if speed > other else f"takes {times} times as long as"


def encoding_aside(found: Sequence[ContenderTime], seconds: float) -> str:
    """Return which ids were equal, and how the time was measured."""
    able = [one for one in found if one.problem is None]
    differ = [encoder_title(one.name) for one in able if not one.is_equal]
    equal = len(able) - len(differ)
    equality = f"{equal} of {len(able)} encoders returned the same ids"
    equality += f"; {' and '.join(differ)} did not. " if differ else ". "
    return f"{equality}Medians of calls in turn, on one thread, {seconds:.0f} s in all."


def training_rows(found: Sequence[GrowthPoint]) -> tuple[list[str], list[FigureRow]]:
    """Return the table of trainers: a column for each trainer, a row for each size."""
    names = list(dict.fromkeys(one.name for one in found))
    by_size: dict[int, dict[str, GrowthPoint]] = {}
    for one in found:
        by_size.setdefault(one.n_bytes, {})[one.name] = one
    rows: list[FigureRow] = []
    for size, row in by_size.items():
        shown = {name: f"{one.seconds:,.3f}" for name, one in row.items()}
        least = shown[min(row, key=lambda name: row[name].seconds)]
        figures = tuple(
            shown[name] + ("" if row[name].is_equal else " differs") if name in row else "–"
            for name in names
        )
        fastest = tuple(place for place, name in enumerate(names) if shown.get(name) == least)
        rows.append(FigureRow(size_text(size), figures, fastest))
    return [encoder_title(name) for name in names], rows


def training_sentence(found: Sequence[GrowthPoint]) -> list[tuple[str, bool]]:
    """Return the main result of the trainers, as pieces, each with whether it is bold."""
    seconds = {(one.name, one.n_bytes): one.seconds for one in found}
    last = max((size for name, size in seconds if name == "engine"), default=0)
    ours, theirs = seconds.get(("engine", last), 0.0), seconds.get(("tokenizers", last), 0.0)
    if not (ours and theirs):
        return [("The engine and tokenizers were not measured at the same size.", False)]
    pieces = [
        (f"On {size_text(last)} of text the engine ", False),
        (compared(1 / ours, 1 / theirs), True),
        (" tokenizers.", False),
    ]
    reached = max((size for name, size in seconds if name == "reference"), default=last)
    if reached < last:
        pieces += [
            (" The reference, which recounts all pairs for each merge, was dropped after ", False),
            (f"{size_text(reached)}.", True),
        ]
    return pieces


def training_aside(found: Sequence[GrowthPoint], n_merges: int) -> str:
    """Return whether the merges were equal, and what the times include."""
    unequal = sorted({encoder_title(one.name) for one in found if not one.is_equal})
    equality = (
        f"The merges of {' and '.join(unequal)} differed from the others."
        if unequal
        else "All learned the same merges, in the same order, at every size."
    )
    return (
        f"{equality} Up to {n_merges:,} merges over all 256 bytes, including pre-tokenization. "
        "Hugging Face’s trainer uses all cores."
    )


def growth_by_name(
    found: Sequence[GrowthPoint],
) -> dict[str, tuple[list[int], list[float]]]:
    """Return the points of each trainer's curve, by its name for readers."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for one in found:
        sizes, seconds = curves.setdefault(encoder_title(one.name), ([], []))
        sizes.append(one.n_bytes)
        seconds.append(one.seconds)
    return curves


def differing_rows(found: Differences, tokenizer: Tokenizer) -> list[SymbolRow]:
    """Return the most frequent words that longest match cuts differently, with both cuts."""
    short = [word for word in found.words if len(word.ids) <= _MAX_WORD_LENGTH]
    return [
        SymbolRow(
            f"{word.count:,}×",
            (_tiles(word.ids, tokenizer), _tiles(word.longest_match_ids, tokenizer)),
        )
        for word in short[:MAX_WORDS]
    ]


def differing_sentence(found: Differences) -> str:
    """Return how many of a text's words longest match cuts differently."""
    if not found.n_pretokens:
        return "This text has no words."
    if not found.words:
        return (
            f"On all {counted(found.n_pretokens, 'pre-token')} of this text, longest match returns "
            "the same tokens as the merges."
        )
    share = found.n_differing / found.n_pretokens
    return (
        f"Longest match cuts {found.n_differing:,} of {counted(found.n_pretokens, 'pre-token')} "
        f"({share:.1%}) differently from the merges: {counted(len(found.words), 'distinct word')}."
    )


def _tiles(ids: Sequence[int], tokenizer: Tokenizer) -> Tiles:
    return Tiles(
        tuple(Tile(tokenizer.vocab[id], id if id in tokenizer.table.parts else None) for id in ids)
    )
