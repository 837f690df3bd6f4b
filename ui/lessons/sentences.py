"""What the lessons say of a training in sentences, as Markdown: true whatever its words were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bpe_core.lessons.walk import Walk, walk
from bpe_core.types import StopReason
from ui.lessons import printing
from ui.look.labels import plain_markdown

_WHY: dict[StopReason, str] = {
    "vocab-size": "the vocabulary is full",
    "no-pairs": "no pair is left",
    "min-frequency": "no pair is frequent enough",
    "cancelled": "it was stopped",
}


def counted(n: int, one: str) -> str:
    """A number of things.

    >>> counted(1, "merge"), counted(1_200, "merge")
    ('1 merge', '1,200 merges')
    """
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def first_symbols(learned: Walk) -> str:
    """What a word starts as: its characters, and the marker where there is one."""
    marker = learned.config.end_of_word
    if marker is None:
        return "Each word starts as its characters, and nothing marks where it ends."
    return (
        f"Each word starts as its characters. The marker `{marker}` is one more symbol: it stands "
        "where a word ends."
    )


def winner_without_marker(learned: Walk) -> str:
    """Which pair would be the first to be joined if the ends of words were not marked."""
    words = dict(zip(learned.words, learned.counts, strict=True))
    unmarked = walk(words, replace(learned.config, end_of_word=None))
    pair, other = learned.next_pair_at(0), unmarked.next_pair_at(0)
    if other is None:
        return "Without the marker there is no pair: each word is one character."
    name = printing.pair_name(other, unmarked.run.vocab)
    if pair is not None and printing.pair_name(pair, learned.run.vocab) == name:
        return "Without the marker the same pair wins."
    return f"Without the marker {plain_markdown(name)} wins: switch it off and see."


def size_rule(learned: Walk) -> str:
    """What the size of a vocabulary is made of."""
    parts = (
        "the symbols and" if learned.config.end_of_word is None else "the symbols, the marker and"
    )
    return f"Each round adds one token to the vocabulary: its size is {parts} the merges together."


def size_sum(learned: Walk, step: int) -> str:
    """The size of the vocabulary after some merges, as a sum."""
    marker = learned.run.end_of_word_id is not None
    symbols = counted(learned.n_start - marker, "symbol")
    return (
        f"{symbols}{' + 1 marker' if marker else ''} + {counted(step, 'merge')} = "
        f"**{learned.n_start + step:,} tokens**"
    )


def stopped(learned: Walk) -> str:
    """How many merges a training made, and why it made no more."""
    n = counted(len(learned.merges), "merge")
    return f"It stopped after {n}: {_WHY[learned.run.stop_reason]}."


def rounds(learned: Walk, most: int) -> str:
    """How many rounds a training took of those that it might have taken."""
    n = len(learned.merges)
    rest = "" if n == most else f" Then no pair is left, so {n} of {most} rounds are made."
    return f"{counted(n, 'round')} of counting, choosing and joining.{rest}"


def room(learned: Walk) -> str:
    """How many merges the vocabulary has room for, and whether there were as many pairs."""
    size, n = learned.config.vocab_size, len(learned.merges)
    most = size - learned.n_start
    rest = ""
    if not n:
        rest = " There is no pair to merge: each piece is one symbol."
    elif n < most:
        rest = f" After {counted(n, 'merge')} no pair is left: each piece is one token."
    return (
        f"The vocabulary may have {size:,} tokens: {learned.n_start:,} to start with leave room "
        f"for {counted(most, 'merge')}.{rest}"
    )


def byte_alphabet(learned: Walk) -> str:
    """Which bytes a vocabulary starts with, and in which order."""
    symbols = list(learned.run.base_ids)
    if len(symbols) == 1:
        return "Then comes the only byte that occurs in the text."
    last = ": the space last" if symbols[-1] == b" " else ""
    return (
        f"Then come the {len(symbols):,} bytes that occur in the text, in the order of the "
        f"characters that stand for them{last}."
    )


def unused_symbols(learned: Walk) -> str:
    """Which symbols of the vocabulary are in no word; empty where all are."""
    used = {id for ids in learned.starts for id in ids}
    names = [
        printing.name_of(learned.run.vocab[id]) for id in range(learned.n_start) if id not in used
    ]
    if not names:
        return ""
    one = len(names) == 1
    return (
        f"{plain_markdown(', '.join(names))} {'stands' if one else 'stand'} in no word, since "
        f"words are cut there: {'a token' if one else 'tokens'} that no word needs."
    )


def list_size(learned: Walk) -> str:
    """How many tokens a vocabulary has at the end."""
    n_merges = len(learned.merges)
    return (
        f"{counted(learned.n_start, 'symbol')} and {counted(n_merges, 'merge')} make "
        f"**{learned.n_start + n_merges:,} tokens**."
    )


def where_rules_part(first: Walk, second: Walk) -> tuple[int, str]:
    """The first merge in which two trainings differ, or their number of merges; and a sentence."""
    spelled = [
        [tuple(one.run.vocab[id] for id in merge.pair) for merge in one.merges]
        for one in (first, second)
    ]
    same = [a == b for a, b in zip(*spelled, strict=False)]
    if all(same) and len(spelled[0]) == len(spelled[1]):
        return len(same), "Here both learn the same."
    part = same.index(False) if False in same else len(same)
    return part, f"They part at merge {part + 1:,}."


def lacking_bytes(pieces: Sequence[str]) -> str:
    """That some pieces of a text can't be encoded by a vocabulary of the bytes seen."""
    names, one = plain_markdown(", ".join(pieces)), len(pieces) == 1
    return (
        f"{names} {'has' if one else 'have'} a byte that these documents don’t, and "
        f"{'is' if one else 'are'} left out: with all 256 in the alphabet, as in GPT-2, this can’t "
        "happen."
    )


def lacking_characters(characters: Sequence[str]) -> str:
    """That some characters have no symbol."""
    names = plain_markdown(", ".join(characters))
    return (
        f"The training never saw {names}: there is no symbol for "
        f"{'it' if len(characters) == 1 else 'them'}. The last lesson shows how bytes end this."
    )


def without_token(n_unknown: int, n_characters: int, n_bytes: int) -> str:
    """How many characters of a text have no token, and how many of its bytes."""
    return (
        f"After the four documents, **{n_unknown:,} of {counted(n_characters, 'character')}** "
        f"{'has' if n_unknown == 1 else 'have'} no token. Of its **{counted(n_bytes, 'byte')}** "
        "every one has."
    )


def over_borders(over: Sequence[bool], cut: Walk) -> str:
    """How many tokens reach over a border with and without cuts, and what the cut text holds."""
    return (
        f"**{sum(over)} of {counted(len(over), 'token')}** reach over a border without cuts, "
        f"**0 of {len(cut.merges)}** with them: no merge crosses a cut. Cut, the text has "
        f"{counted(sum(cut.counts), 'word')}, {len(cut.words):,} of them distinct."
    )
