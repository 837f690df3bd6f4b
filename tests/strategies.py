"""Hypothesis strategies shared by several tests."""

from __future__ import annotations

from hypothesis import strategies as st

from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Base, TrainingConfig

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
"""Any Unicode text without lone surrogates."""

word_counts = st.dictionaries(
    st.one_of(
        st.text("ab", min_size=1, max_size=12),
        st.text("abc", min_size=1, max_size=8),
        st.builds(str.__mul__, st.sampled_from("ab"), st.integers(1, 20)),
        st.text("aé你, |\0\t", min_size=1, max_size=6),
    ),
    st.one_of(st.integers(1, 3), st.integers(1, 2**40)),
    min_size=1,
    max_size=8,
)
"""Words full of runs and ties, as `Corpus.from_word_counts` takes them."""

fallback_configs = st.builds(
    TrainingConfig,
    vocab_size=st.integers(280, 330),
    pretokenizer=st.just("metaspace"),
    base=st.just("characters"),
    byte_fallback=st.just(True),
    character_coverage=st.sampled_from([1.0, 0.95, 0.8, 0.5]),
    special_tokens=st.sampled_from([("<|endoftext|>",), ("<unk>", "<s>", "</s>")]),
    min_frequency=st.sampled_from([0, 1, 2]),
    tie_break=st.sampled_from(["smallest-pair", "first-seen"]),
    max_token_bytes=st.sampled_from([None, None, 3, 5]),
)
"""Every option of training as SentencePiece's family does, with bytes for rare characters."""

plain_configs = st.builds(
    TrainingConfig,
    vocab_size=st.integers(265, 330),
    pretokenizer=st.sampled_from(["gpt2", "whitespace", "none"]),
    base=st.sampled_from(["bytes", "characters"]),
    alphabet=st.sampled_from(["full", "seen"]),
    end_of_word=st.sampled_from([None, "</w>"]),
    special_tokens=st.sampled_from([(), ("<|endoftext|>",), ("[CLS]", "[SEP]")]),
    min_frequency=st.sampled_from([0, 1, 2]),
    tie_break=st.sampled_from(["smallest-pair", "first-seen"]),
    max_token_bytes=st.sampled_from([None, None, 3, 5]),
)
"""Every other option of training, with room for the alphabet of `word_counts`."""

training_configs = plain_configs | fallback_configs

hostile_texts = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *"aZéſßЖא你あ각नüʰªǅ",
                *"0٣²Ⅷ½५",
                *" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000",
                *"'’\"!?.,_-/<>|&$\\`*#",
                *"\x00\x7f\xad\u200b\u200d\u200e\u202e\ufeff\ufffd\ue000\U0010ffff",
                *"\u0301\u0327\u20dd\ufe0f🙂🏽🇩",
                "'s",
                "'LL",
                "'ſ",
                "'ve",
                "<|endoftext|>",
                "</w>",
                "👩‍👩‍👧",
                "e\u0301",
                "a" * 30,
                " " * 9,
                "\r\n\r\n",
            ]
        ),
        st.characters(exclude_categories=["Cs"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    ),
    max_size=24,
).map("".join)
"""Texts made of what tokenizers get wrong: kinds of white space, marks, joiners, contractions."""


@st.composite
def tokenizers(
    draw: st.DrawFn,
    alphabet: str,
    *,
    n_merges: int,
    longest: int = 6,
    pretokenizer: str = "none",
    base: Base = "bytes",
    end_of_word: str | None = None,
) -> Tokenizer:
    """Draw tokenizers with any merges, including some that no training would learn.

    The ids of merged tokens follow those of the alphabet and the marker, in rank order. No token
    has more than `longest` bytes, not counting the marker.
    """
    symbols: list[bytes] = (
        sorted({bytes([byte]) for byte in alphabet.encode()})
        if base == "bytes"
        else [character.encode() for character in sorted(alphabet)]
    )
    marker = [] if end_of_word is None else [end_of_word.encode()]
    tokens = symbols + marker
    ending = set(range(len(symbols), len(tokens)))
    goes_on = list(range(len(symbols)))
    merges: dict[tuple[int, int], int] = {}
    for _ in range(draw(st.integers(0, n_merges))):
        left = goes_on[draw(st.integers(0, len(goes_on) - 1))]
        right = draw(st.integers(0, len(tokens) - 1))
        joined = tokens[left] + tokens[right]
        if (
            (left, right) in merges
            or joined in tokens
            or len(joined) > longest + len(b"".join(marker))
        ):
            continue
        merges[left, right] = len(tokens)
        if right in ending:
            ending.add(len(tokens))
        else:
            goes_on.append(len(tokens))
        tokens.append(joined)
    return Tokenizer(
        vocab=dict(enumerate(tokens)),
        merges=[(left, right, made) for (left, right), made in merges.items()],
        pretokenizer=pretokenizer,
        base=base,
        end_of_word=end_of_word,
    )
