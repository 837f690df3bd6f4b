"""Ids that arrive one by one are decoded as all at once, at every cut."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from random import Random

import pytest
import sentencepiece
from tokenizers import decoders

import bpe_core as bpe
from bpe_core.formats.opening.opening import open_files
from tests import foreign_models as models
from tests.foreign_models import described, library_encoder

TEXT = "  the  hug, hugs 漢字 é 👩‍👩‍👧 the\n\n hug\ufffd hug  "


def trained(**settings: object) -> bpe.Tokenizer:
    text = "the hug hugs hugging the hugs é 漢 "
    return bpe.train([text * 3], vocab_size=300, **settings).tokenizer  # pyright: ignore


def byte_pieces() -> bpe.Encoder:
    peer = models.byte_fallback()
    peer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return library_encoder(described(peer))


def with_sentencepiece(model_type: str) -> bpe.Encoder:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(["the hug hugs hugging the hugs"] * 9),
        model_writer=model,
        vocab_size=290,
        model_type=model_type,
        byte_fallback=True,
        minloglevel=2,
        hard_vocab_limit=False,
    )
    return open_files({"own.model": model.getvalue()}).encoder


ENCODERS: dict[str, Callable[[], bpe.Encoder]] = {
    "GPT-2": bpe.gpt2,
    "the end of a word": lambda: trained(
        base="characters", end_of_word="</w>", pretokenizer="whitespace"
    ),
    "a space in front": lambda: library_encoder(described(models.byte_level(prefix_space=True))),
    "WordPiece": lambda: library_encoder(described(models.word_piece())),
    "Unigram": lambda: library_encoder(described(models.unigram())),
    "bytes as pieces": byte_pieces,
    "SentencePiece's Unigram": lambda: with_sentencepiece("unigram"),
    "SentencePiece's BPE": lambda: with_sentencepiece("bpe"),
}


def check_every_cut(encoder: bpe.Encoder, ids: Sequence[int]) -> None:
    stream = encoder.decode_stream()
    so_far = ""
    for n, id in enumerate(ids, start=1):
        so_far += stream.push(id)
        whole = encoder.decode(ids[:n])
        assert stream.n_bytes == len(bytes(encoder.decode_bytes(ids[:n])))
        # Each cut has a stream of its own, since finishing begins a new one.
        other = encoder.decode_stream()
        assert "".join(map(other.push, ids[:n])) == so_far
        assert so_far + other.finish() == whole
    assert so_far + stream.finish() == encoder.decode(ids)
    assert stream.finish() == ""


@pytest.mark.parametrize("n", [4, pytest.param(200, marks=pytest.mark.more)])
@pytest.mark.parametrize("name", ENCODERS)
def test_a_stream_is_decoded_as_all_at_once_at_every_cut(name: str, n: int):
    encoder, random = ENCODERS[name](), Random(name)
    if name != "the end of a word":
        check_every_cut(encoder, encoder.encode(TEXT, "all"))
    known = [*encoder.vocab]
    odd = [id for id, token in encoder.vocab.items() if b" " in token or token >= b"\x80"]
    for _ in range(n):
        check_every_cut(encoder, random.choices(known, k=30) + random.choices(odd or known, k=40))


def test_a_character_is_returned_once_it_is_whole():
    for name in ("GPT-2", "SentencePiece's Unigram", "SentencePiece's BPE"):
        encoder = ENCODERS[name]()
        stream = encoder.decode_stream()
        texts = [stream.push(id) for id in encoder.encode("漢字漢")]
        assert [text for text in texts if text.strip()] == ["漢", "字", "漢"]
    cut = ENCODERS["GPT-2"]().decode_stream()
    assert (cut.push(10263), cut.finish(), cut.finish()) == (" ", "\ufffd", "")


def test_a_stream_goes_on_after_an_unknown_id():
    stream = bpe.gpt2().decode_stream()
    assert stream.push(10263) == " "
    with pytest.raises(bpe.InvalidTokenIdError):
        stream.push(99_999)
    with pytest.raises(bpe.ArgumentTypeError):
        stream.push("hug")  # pyright: ignore[reportArgumentType]
    assert stream.finish() == "\ufffd"
