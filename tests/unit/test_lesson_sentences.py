"""Compare the lessons' sentences about any words with a second, simple trainer written here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import pytest
import regex

from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.trainers.reference import count_words
from bpe_core.types import TieBreak, TrainingConfig
from ui.lessons import four_documents, gpt2_cuts, hug_words, parts, sentences
from ui.lessons.shortcuts import crossing
from ui.lessons.walk import Walk, walk
from ui.look.labels import plain_markdown

INPUTS = {
    "the lesson's": "This is the Hugging Face Course.\nThis chapter is about tokenization.",
    "one letter": "a",
    "one word": "hug",
    "one letter again and again": "aaaa",
    "words of one letter": "a b a c",
    "runs": "aaaa aa aaa\naaaaaaa a",
    "emoji": "👩‍🚒 🧩🧩 👩‍🚒",
    "accents": "né né née né cafe\u0301",
    "ties": "ab cd ab cd ef",
    "spaces": "a   b  \t a  b \u3000 c  ",
    "contractions": "don't ''s don't ''s 'tis",
    "marker": "</w> a</w> </w>",
    "markup": "<img/src=x> *b* $x$ :red[r] `c`",
    "invisible": "\u202eab\u200b ab\u200b\x00",
    "many symbols": "The quick brown fox jumps over 13 lazy dogs! ABCDEFGHIJKLMNOPQRSTUVWXYZ #%@?",
    "long": "one two three four five six seven eight nine ten eleven twelve " * 30,
    "Japanese": "コーヒーとケーキ。コーヒー",
}
# A private-use character that stands for the marker, which is one symbol; no input has it.
MARKER = "\ue000"
GPT2 = regex.compile(
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
)
# GPT-2's order of bytes: printable ones come first.
ORDER = [*range(33, 127), *range(161, 173), *range(174, 256)]
ORDER += [byte for byte in range(256) if byte not in ORDER]

in_table = pytest.mark.parametrize("text", INPUTS.values(), ids=INPUTS)


@dataclass(frozen=True)
class Trained:
    pairs: list[tuple[str, str]]
    crosses: list[bool]


def learn(
    words: dict[str, int],
    most: int,
    *,
    ids: Sequence[str] | None = None,
    boundaries: Callable[[str], set[int]] = lambda word: set(),
) -> Trained:
    """Learn merges; ties go to the smallest pair by `ids`, or without it to the first pair seen."""
    stretches = {word: [(i, i + 1) for i in range(len(word))] for word in words}
    known = list(ids or ())
    found = Trained([], [])
    while len(found.pairs) < most:
        counts = Counter[tuple[str, str]]()
        for word, count in words.items():
            for (a, b), (_, c) in pairwise(stretches[word]):
                counts[word[a:b], word[b:c]] += count
        if not counts:
            break
        if ids is None:
            pair = max(counts, key=counts.__getitem__)
        else:
            pair = min(counts, key=lambda p: (-counts[p], known.index(p[0]), known.index(p[1])))
        known.append(pair[0] + pair[1])
        crosses = False
        for word in words:
            joined: list[tuple[int, int]] = []
            for start, end in stretches[word]:
                if joined and (word[slice(*joined[-1])], word[start:end]) == pair:
                    before = joined.pop()
                    joined.append((before[0], end))
                    crosses |= any(before[0] < place < end for place in boundaries(word))
                    # An empty span, so that a merged symbol is not merged again in this pass.
                    joined.append((end, end))
                else:
                    joined.append((start, end))
            stretches[word] = [one for one in joined if one[0] < one[1]]
        found.pairs.append(pair)
        found.crosses.append(crosses)
    return found


def as_bytes(text: str) -> str:
    """Return a text with one character for each byte of UTF-8."""
    return text.encode().decode("latin-1")


def make_hugs(text: str) -> tuple[dict[str, int], str]:
    counts = Counter(text.split())
    return dict(counts), "\n".join(f"{word} {count}" for word, count in counts.items())


@in_table
@pytest.mark.parametrize("marked", [True, False])
def test_the_sentences_on_the_hug_words_are_true_of_any_words(text: str, marked: bool) -> None:
    counts, written = make_hugs(text)
    learned = hug_words.trained(written, marked=marked)
    end = MARKER if marked else ""
    slow = learn({word + end: count for word, count in counts.items()}, 40)
    n_symbols = len(set("".join(counts)))
    n_merges = len(slow.pairs)
    assert ("marker" in sentences.first_symbols(learned)) == marked
    assert ("the marker" in sentences.size_rule(learned)) == marked
    said = sentences.winner(learned)
    if slow.pairs:
        count = learned.merges[0].count
        assert f" occurs {count} time{'' if count == 1 else 's'}, " in said
        tied = Counter(learned.pair_counts_at(0).values())[count or 0]
        assert ("as often as" in said) == (tied > 1)
    else:
        assert said == "There are no pairs."
    for step in range(n_merges + 1):
        total = n_symbols + marked + step
        said = sentences.size_sum(learned, step)
        assert said.endswith(f" = **{total:,} tokens**")
        assert sum(int(n) for n in regex.findall(r"\d+", said.partition("=")[0])) == total
    why = "the vocabulary is full" if n_merges == 40 else "no pairs are left"
    s = "" if n_merges == 1 else "s"
    assert sentences.stopped(learned) == f"It stopped after {n_merges} merge{s}: {why}."


@in_table
def test_the_winner_without_the_marker_is_stated(text: str) -> None:
    counts, written = make_hugs(text)
    said = sentences.winner_without_marker(hug_words.trained(written, marked=True))
    marked = learn({word + MARKER: count for word, count in counts.items()}, 1).pairs
    unmarked = learn(counts, 1).pairs
    if not unmarked:
        assert all(len(word) == 1 for word in counts)
        assert said == "Without the marker there are no pairs: each word is one character."
    elif marked == unmarked:
        assert said == "Without the marker the same pair wins."
    else:
        assert said.startswith("Without the marker \\(")
        assert said.endswith(" wins.")
        if "".join(unmarked[0]).isalnum():
            name = f"({unmarked[0][0]}, {unmarked[0][1]})"
            assert plain_markdown(name) in said


def list_documents(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


@in_table
def test_the_sentences_on_the_four_documents_are_true_of_any_documents(text: str) -> None:
    documents = list_documents(text)
    learned = four_documents.trained(documents)
    words = Counter(word + MARKER for document in documents for word in document.split())
    n_merges = len(learn(dict(words), 15).pairs)
    n_start = len(set("".join(documents))) + 1
    said = sentences.rounds(learned, 15)
    assert said.startswith(f"{n_merges} round{'' if n_merges == 1 else 's'} of counting")
    assert ("no pairs were left" in said) == (n_merges < 15)
    assert sentences.list_size(learned).endswith(f" make **{n_start + n_merges:,} tokens**.")
    spaces = sorted({c for document in documents for c in document if c.isspace()})
    unused = sentences.unused_symbols(learned)
    assert bool(unused) == bool(spaces)
    if unused:
        assert unused.count(",") == len(spaces)  # one after each, the last one before "since"
        assert (" occur in no word" in unused) == (len(spaces) > 1)
        assert unused.endswith("tokens that no word needs." if len(spaces) > 1 else "needs.")
    start = [learned.run.vocab[id].decode() for id in range(learned.n_start)]
    assert start == [*sorted(set("".join(documents))), "</w>"]


@in_table
def test_the_sentences_on_gpt2s_pretokens_are_true_of_any_documents(text: str) -> None:
    documents = list_documents(text)
    learned = gpt2_cuts.trained(documents, "first-seen")
    pieces = Counter(as_bytes(p) for document in documents for p in GPT2.findall(document))
    assert sum(pieces.values()) == sum(learned.counts)
    symbols = sorted(set("".join(pieces)), key=lambda c: ORDER.index(ord(c)))
    n_start = len(symbols) + 1
    size = max(50, n_start + 19)
    n_merges = len(learn(dict(pieces), size - n_start).pairs)
    said = sentences.room(learned)
    assert said.startswith(
        f"The vocabulary size is {size}. It starts with {n_start} tokens, which leaves room for "
        f"{size - n_start} merges."
    )
    end = {
        0: " There are no pairs to merge: each piece is one symbol.",
        1: " After 1 merge no pairs are left: each piece is one token.",
        size - n_start: "merges.",
    }.get(n_merges, f" After {n_merges} merges no pairs are left: each piece is one token.")
    assert said.endswith(end)
    # A token with a space after its first byte consists of white space only.
    tokens = [learned.run.vocab[merge.id] for merge in learned.merges]
    assert all(b" " not in token[1:] or not token.strip() for token in tokens)
    said = sentences.byte_alphabet(learned)
    assert ("the space last" in said) == (symbols[-1] == " " and len(symbols) > 1)
    assert (f"{len(symbols)} bytes" in said) == (len(symbols) > 1)
    assert [one.decode("latin-1") for one in learned.run.base_ids] == symbols
    smallest = learn(dict(pieces), size - n_start, ids=symbols)
    first = learn(dict(pieces), size - n_start)
    parted = [a != b for a, b in zip(first.pairs, smallest.pairs, strict=False)]
    other = gpt2_cuts.trained(documents, "smallest-pair")
    difference = sentences.first_difference(learned, other)
    if any(parted) or len(first.pairs) != len(smallest.pairs):
        place = parted.index(True) if any(parted) else len(parted)
        assert difference == (place, f"They first differ at merge {place + 1}.")
    else:
        assert difference == (len(parted), "On these words both learn the same merges.")


def trained_on_bytes(words: dict[str, int], pretokenizer: str, tie: TieBreak) -> Walk:
    config = TrainingConfig(256 + 14, pretokenizer=pretokenizer, special_tokens=(), tie_break=tie)
    return walk(words, config)


@in_table
@pytest.mark.parametrize("tie", ["first-seen", "smallest-pair"])
def test_tokens_that_cross_a_boundary_are_counted_with_their_words(
    text: str, tie: TieBreak
) -> None:
    documents = list_documents(text)
    split = get_pretokenizer("gpt2").split
    whole = trained_on_bytes(count_words(documents, get_pretokenizer("none").split), "none", tie)
    lines = Counter(documents)

    def boundaries(line: str) -> set[int]:
        pieces = GPT2.findall(line.encode("latin-1").decode())
        return set(accumulate(len(piece.encode()) for piece in pieces))

    slow = learn(
        {as_bytes(line): count for line, count in lines.items()},
        14,
        ids=None if tie == "first-seen" else [chr(byte) for byte in ORDER],
        boundaries=boundaries,
    )
    assert crossing(whole, split) == slow.crosses
    cut = trained_on_bytes(count_words(documents, split), "gpt2", tie)
    # No token of the pre-tokenized text crosses a boundary, since each word is between two of them.
    n_words = sum(len(GPT2.findall(line)) * count for line, count in lines.items())
    distinct = len({piece for line in lines for piece in GPT2.findall(line)})
    n = len(slow.crosses)
    assert sentences.over_boundaries(crossing(whole, split), cut) == (
        f"Without cuts {sum(slow.crosses)} of {n} token{'' if n == 1 else 's'} cross a "
        f"boundary between words, with cuts 0 of {len(cut.merges)}: no merge crosses a cut. "
        f"The cut text has {n_words:,} word{'' if n_words == 1 else 's'}, "
        f"{distinct:,} of them distinct."
    )


def test_a_token_that_ends_within_a_character_crosses_no_boundary() -> None:
    words = {"né né né né": 1}
    learned = trained_on_bytes(words, "none", "smallest-pair")
    made = [learned.run.vocab[merge.id] for merge in learned.merges]
    over = dict(zip(made, crossing(learned, get_pretokenizer("gpt2").split), strict=True))
    assert over[b"n\xc3"] is False
    assert any(over.values())


@in_table
def test_the_visitors_words_never_become_markup(text: str) -> None:
    counts, written = make_hugs(text)
    hugs = hug_words.trained(written, marked=True)
    said = [
        sentences.winner_without_marker(hugs),
        sentences.unused_symbols(four_documents.trained(list_documents(text))),
        sentences.lacking_bytes(list(counts)),
        sentences.lacking_characters(sorted(set(text))),
    ]
    for sentence in said:
        bare = regex.sub(r"\\[!-/:-@\[-`{-~]", "", sentence)
        assert not regex.search(r"[<>*$`\[\]]", bare)
        assert not regex.search(r"[\p{Cc}\u202a-\u202e]", sentence)


def test_the_sentences_are_true_of_a_text_cut_to_the_maximum_length() -> None:
    text = parts.cut_text("ab cd " * 1_000)
    learned = gpt2_cuts.trained(list_documents(text), "first-seen")
    assert "no pairs are left" in sentences.room(learned)
