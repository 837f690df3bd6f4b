"""Hypothesis strategies for bases and what to extend them by, and helpers for the results."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.types import TieBreak
from tests.extending_reference import TermExtension, extend_for_terms
from tests.strategies import tokenizers

WORDS = st.dictionaries(
    st.one_of(
        st.text("abc", min_size=1, max_size=9),
        st.builds(str.__mul__, st.sampled_from(["a", "b", "ab"]), st.integers(1, 14)),
        st.sampled_from(["abcab", "<cab>", "</w>", "éa", "aéa", "a?b", "вa", "aввa"]),
    ),
    st.one_of(st.integers(1, 3), st.integers(1, 2**40)),
    min_size=1,
    max_size=8,
)
"""Words full of runs and ties, some with symbols that the bases lack."""


TERMS = st.one_of(
    st.text("abc", min_size=1, max_size=6),
    st.sampled_from(["abcab", "aaaa", "a" * 14, "<cab>", "éa", " ab", "a?b", "</w>", "ab</w>"]),
    st.text("abcé", min_size=1, max_size=5).map(str.encode),
    st.sampled_from([b"c</w>", b"abc</w>", b"</w>", b"aa" * 5]),
)
"""Terms that occur in the words, whole or in part, and terms that cannot be tokens."""


@st.composite
def bases(draw: st.DrawFn) -> bpe.Tokenizer:
    """Draw tokenizers with any merges, special tokens, gaps between ids, and unreachable tokens."""
    kind = draw(st.sampled_from(["bytes", "full", "characters", "fallback", "marked", "falcon"]))
    found = draw(
        tokenizers(
            "abcв" if kind == "falcon" else "abcéв<>/w",
            n_merges=12,
            base="characters" if kind in ("characters", "fallback") else "bytes",
            end_of_word="</w>" if kind == "marked" else None,
        )
    )
    merges = [(m.left, m.right, m.id) for m in found.merges]
    if kind == "falcon":  # whose merges join no byte like ² with others
        number = "в".encode()[1:]
        crossed = {
            id for id, token in found.vocab.items() if number in token and token.strip(number)
        }
        merges = [merge for merge in merges if merge[-1] not in crossed]
    tokens = dict(found.vocab)
    if kind == "full":
        known = set(tokens.values())
        missing = [bytes([byte]) for byte in range(256) if bytes([byte]) not in known]
        tokens |= dict(enumerate(missing, len(tokens)))
    special: dict[str, int] = {}
    for text in draw(st.lists(st.sampled_from(["<s>", "ab", "cab", "abc", "aaaa"]), unique=True)):
        if text == "<s>" or draw(st.booleans()):
            special[text] = len(tokens)
        tokens[len(tokens)] = text.encode()  # without a merge, unless `found` has it too
    fallback: list[int] = []
    if kind == "fallback":  # as in SentencePiece's family
        fallback = list(range(len(tokens), len(tokens) + 256))
        tokens |= {id: bytes([byte]) for byte, id in enumerate(fallback)}
    n_ids = len(tokens)
    # Move the ids apart and out of order.
    step, offset = draw(st.sampled_from([(1, 0), (2, 3), (3, 0)]))
    order = list(range(n_ids))
    if draw(st.booleans()):
        order.reverse()
    new_id = {old: step * order[old] + offset for old in tokens}
    marker = found.table.end_of_word_id
    return bpe.Tokenizer(
        vocab={new_id[old]: token for old, token in tokens.items()},
        merges=[(new_id[left], new_id[right], new_id[made]) for left, right, made in merges],
        pretokenizer="falcon" if kind == "falcon" else "none",
        base=found.base,
        special_tokens={text: new_id[old] for text, old in special.items()},
        end_of_word=found.end_of_word,
        end_of_word_id=None if marker is None else new_id[marker],
        whole_words_first=kind not in ("fallback", "marked") and draw(st.booleans()),
        byte_fallback=[new_id[old] for old in fallback],
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A base, the words to extend it for, and the settings."""

    base: bpe.Tokenizer
    words: dict[str, int]
    n_tokens: int
    min_frequency: int
    tie_break: TieBreak
    max_token_bytes: int | None
    left_out: tuple[bytes, ...] = ()
    terms: tuple[str | bytes, ...] = ()

    def extended(self) -> bpe.TrainingRun:
        """Extend the base with `extend`."""
        return extend(
            self.base,
            bpe.Corpus.from_word_counts(self.words),
            self.n_tokens,
            min_frequency=self.min_frequency,
            tie_break=self.tie_break,
            max_token_bytes=self.max_token_bytes,
            left_out=self.left_out,
            terms=self.terms,
        )

    def by_reference(self) -> TermExtension:
        """Extend the base with `extend_for_terms`."""
        return extend_for_terms(
            self.base,
            self.words,
            self.n_tokens,
            min_frequency=self.min_frequency,
            tie_break=self.tie_break,
            max_token_bytes=self.max_token_bytes,
            left_out=self.left_out,
            terms=self.terms,
        )


LEFT_OUT = st.lists(
    st.one_of(
        st.text("abc", min_size=2, max_size=4).map(str.encode),
        st.sampled_from([b"\xa9a", b"c</w>", b"bc</w>", b"bb" * 200]),
    ),
    max_size=3,
    unique=True,
)


@st.composite
def draw_cases(draw: st.DrawFn) -> Case:
    """Draw cases; most terms are words of the corpus or parts of them."""
    words = draw(WORDS)
    terms: list[str | bytes] = []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.integers(0, 3)) == 0:
            terms.append(draw(TERMS))
            continue
        word = draw(st.sampled_from(sorted(words)))
        start = draw(st.integers(0, len(word) - 1))
        part = word[start : draw(st.integers(start + 1, len(word)))]
        terms.append(draw(st.sampled_from([word, part, part.encode()])))
    return Case(
        base=draw(bases()),
        words=words,
        n_tokens=draw(st.integers(1, 30)),
        min_frequency=draw(st.sampled_from([0, 1, 2])),
        tie_break=draw(st.sampled_from(["smallest-pair", "first-seen"])),
        max_token_bytes=draw(st.sampled_from([None, None, None, 3, 5])),
        left_out=tuple(draw(LEFT_OUT)),
        terms=tuple(terms),
    )


cases = draw_cases()


def spell_in_base(run: bpe.TrainingRun, ids: list[int]) -> list[int]:
    """Replace each new token with its parts in the base."""
    new = run.new_tokens
    return [old for id in ids for old in new.get(id, (id,))]
