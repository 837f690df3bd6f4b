"""Training learns the same merges and vocabulary, in order, as Hugging Face's `BpeTrainer`.

Texts are passed whole to `train_from_iterator`, since `train` would cut files into lines.
"""

from __future__ import annotations

import argparse
import inspect
import json
import textwrap
from collections.abc import Sequence
from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.tokenizer import Tokenizer as BpeTokenizer
from bpe_core.types import Alphabet
from bpe_core.unicode import to_printable
from tests.strategies import texts

MULTILINGUAL = """\
The train leaves at seven, and we'll be there by noon — won't we? 1234567 ①②③ x² ½
Der Zug fährt um sieben; größere Straßen, ähnliche Übergänge, Äpfel.
Le train part à sept heures : c'est l'été, déjà vu, où êtes-vous ?
Поезд отправляется в семь часов. Мы приедем к полудню, не так ли?
Το τρένο φεύγει στις επτά. Θα είμαστε εκεί το μεσημέρι.
列车七点出发，我们中午就到了。列车很快，很准时。
電車は七時に出ます。お昼までには着きますよね。カタカナもひらがなも。
기차는 일곱 시에 떠납니다. 우리는 정오까지 도착할 것입니다.
القطار يغادر في السابعة، وسنصل عند الظهر إن شاء الله.
הרכבת יוצאת בשבע, ונגיע עד הצהריים.
ट्रेन सात बजे चलती है और हम दोपहर तक पहुँच जाएँगे।
รถไฟออกเจ็ดโมงเช้า เราจะถึงตอนเที่ยง รถไฟเร็วมาก
ரயில் ஏழு மணிக்குப் புறப்படுகிறது. நாங்கள் நண்பகலில் சேருவோம்.
👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪 e\u0301 n\u0303 \u200f\u202e \ufeff \x85 \x1c \u3000\u2028
\tif x:\r\n\t\treturn "aaaa aaaaaaa", 'bbbb'   \r\n\r\n\n   \n
"""


def train_huggingface(
    documents: Sequence[str],
    vocab_size: int,
    special_tokens: Sequence[str] = (),
    min_frequency: int = 0,
    alphabet: Alphabet = "full",
) -> tuple[list[tuple[str, str]], dict[str, int]]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=list(special_tokens),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet == "full" else [],
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return [tuple(pair) for pair in model["merges"]], model["vocab"]


def assert_equal_to_huggingface(documents: Sequence[str], config: bpe.TrainingConfig) -> None:
    tokenizer = bpe.train(bpe.Corpus.from_documents(documents), config).tokenizer
    merges, ids = train_huggingface(
        documents,
        config.vocab_size,
        config.special_tokens,
        config.min_frequency,
        "full" if config.alphabet == "bytes" else "seen",
    )
    assert_equals_huggingfaces(tokenizer, merges, ids)


def assert_equals_huggingfaces(
    ours: BpeTokenizer, merges: list[tuple[str, str]], ids: dict[str, int]
) -> None:
    vocab = ours.vocab
    assert [(to_printable(vocab[m.left]), to_printable(vocab[m.right])) for m in ours.merges] == (
        merges
    )
    special = {id: token for token, id in ours.special_tokens.items()}
    assert {special.get(id) or to_printable(token): id for id, token in vocab.items()} == ids


@pytest.mark.parametrize("vocab_size", [300, 2_000, 20_000])
def test_the_python_language_reference_equals_huggingface(vocab_size: int) -> None:
    documents = [topics[name] for name in sorted(topics)]
    assert_equal_to_huggingface(documents, bpe.TrainingConfig(vocab_size))


def test_the_language_reference_as_one_document_equals_huggingface() -> None:
    text = "\n".join(topics[name] for name in sorted(topics))
    assert_equal_to_huggingface([text], bpe.TrainingConfig(3_000, special_tokens=()))


def test_source_code_equals_huggingface() -> None:
    sources = [inspect.getsource(module) for module in (argparse, inspect, textwrap, pytest, json)]
    assert_equal_to_huggingface(
        sources, bpe.TrainingConfig(3_000, special_tokens=("<pad>", "[MASK]"))
    )


@pytest.mark.parametrize("alphabet", ["full", "seen"])
def test_many_scripts_equal_huggingface(alphabet: Alphabet) -> None:
    assert_equal_to_huggingface([MULTILINGUAL], bpe.TrainingConfig(2_000, alphabet=alphabet))


@pytest.mark.parametrize("min_frequency", [1, 2, 3, 50])
def test_a_minimum_frequency_equals_huggingface(min_frequency: int) -> None:
    config = bpe.TrainingConfig(5_000, min_frequency=min_frequency)
    assert_equal_to_huggingface([topics["for"], topics["while"], MULTILINGUAL], config)


def test_a_merge_that_spells_a_special_token_does_not_make_it() -> None:
    # Only here do the libraries differ: in Hugging Face, the merge makes the special token itself.
    text = "ab ab abc abc"
    theirs, their_ids = train_huggingface([text], 259, ["ab"])
    assert theirs[0] == ("a", "b")
    assert their_ids["ab"] == 0
    ours = bpe.train(
        bpe.Corpus.from_text(text), bpe.TrainingConfig(259, special_tokens=("ab",))
    ).tokenizer
    first = ours.merges[0]
    assert (ours.vocab[first.left], ours.vocab[first.right]) == (b"a", b"b")
    assert ours.vocab[first.id] == b"ab"
    assert first.id != ours.special_tokens["ab"]
    assert ours.special_tokens["ab"] not in ours.encode(text)


def test_long_runs_of_one_letter_equal_huggingface() -> None:
    runs = " ".join("a" * n + "b" * (n % 5) for n in range(1, 200))
    assert_equal_to_huggingface([runs], bpe.TrainingConfig(500))


def test_a_vocabulary_of_only_the_base_equals_huggingface() -> None:
    assert_equal_to_huggingface(["hug hugs"], bpe.TrainingConfig(257))


@given(st.lists(texts, min_size=1, max_size=4).filter(any), st.integers(257, 400))
def test_any_texts_equal_huggingface(documents: list[str], vocab_size: int) -> None:
    assert_equal_to_huggingface(documents, bpe.TrainingConfig(vocab_size))


@given(
    st.lists(st.text("ab ", max_size=120), min_size=1, max_size=4).filter(any),
    st.integers(257, 400),
    st.sampled_from([0, 1, 2, 3]),
)
def test_texts_of_two_letters_equal_huggingface(
    documents: list[str], vocab_size: int, min_frequency: int
) -> None:
    config = bpe.TrainingConfig(vocab_size, min_frequency=min_frequency)
    assert_equal_to_huggingface(documents, config)


@given(
    st.lists(
        st.sampled_from(
            [
                "e",
                "t",
                "a",
                "th",
                "he",
                "in",
                "'s",
                "\n",
                "\t",
                "é",
                "你",
                ",",
                ".",
                "!!",
                "12",
                "😀",
            ]
        ),
        min_size=1,
    ),
    st.integers(100, 200),
)
def test_texts_with_a_seen_alphabet_equal_huggingface(pieces: list[str], vocab_size: int) -> None:
    config = bpe.TrainingConfig(vocab_size, alphabet="seen")
    assert_equal_to_huggingface(["".join(pieces), " ".join(pieces)], config)
