"""Small tokenizers of Hugging Face's library, one of each kind."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from bpe_core.corpus import load_sample, parallel_texts
from bpe_core.formats import ForeignTokenizer
from bpe_core.formats.description import Description, Given, plain_tokenizer
from bpe_core.formats.huggingface import describe_huggingface, library_source
from bpe_core.tokenizer import Tokenizer

_TEXTS = [
    load_sample("notebook").documents[0],
    *(" ".join(text.sentences[:6]) for text in parallel_texts() if text.code in "en de ru hi"),
]


@cache
def word_piece() -> tokenizers.Tokenizer:
    """Return a model like uncased BERT: lower case, no accents, [UNK] for unknown text."""
    peer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    peer.normalizer = normalizers.BertNormalizer()
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]"]
    peer.train_from_iterator(
        _TEXTS,
        trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False),
    )
    peer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return peer


@cache
def unigram() -> tokenizers.Tokenizer:
    """Return a model like T5: compatibility forms folded, spaces written as ▁, one prepended."""
    peer = tokenizers.Tokenizer(models.Unigram())
    peer.normalizer = normalizers.NFKC()
    peer.pre_tokenizer = pre_tokenizers.Metaspace()
    peer.decoder = decoders.Metaspace()
    peer.train_from_iterator(
        _TEXTS,
        trainers.UnigramTrainer(
            vocab_size=200, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
        ),
    )
    return peer


@cache
def byte_fallback() -> tokenizers.Tokenizer:
    """Return a model like Llama 2: characters, and bytes for those outside the vocabulary."""
    vocab = {"<unk>": 0} | {f"<0x{byte:02X}>": byte + 1 for byte in range(256)}
    for token in ("▁", "a", "b", "é", "▁a", "ab", "▁ab"):
        vocab[token] = len(vocab)
    merges = [("▁", "a"), ("a", "b"), ("▁a", "b")]
    peer = tokenizers.Tokenizer(
        models.BPE(vocab, merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True)
    )
    peer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return peer


@cache
def byte_level(*, prefix_space: bool = False, vocab_size: int = 400) -> tokenizers.Tokenizer:
    """Return a model like GPT-2, or with `prefix_space` one that prepends a space."""
    peer = tokenizers.Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    peer.decoder = decoders.ByteLevel()
    peer.post_processor = processors.ByteLevel(trim_offsets=True)
    peer.train_from_iterator(
        _TEXTS,
        trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=["<s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return peer


def described(peer: tokenizers.Tokenizer) -> dict[str, Any]:
    """Return the contents of a tokenizer's tokenizer.json."""
    return json.loads(peer.to_str())


def read(described: dict[str, Any]) -> Description:
    """Return what a parsed tokenizer.json says."""
    return describe_huggingface(Given("tokenizer.json", b""), described)


def library_encoder(described: dict[str, Any]) -> ForeignTokenizer:
    """Return the encoder of a parsed tokenizer.json that `tokenizers` runs."""
    found = read(described)
    return ForeignTokenizer(library_source(found).decode(), found.special)


def native_encoder(described: dict[str, Any]) -> Tokenizer:
    """Return the encoder of a parsed tokenizer.json whose merges run here."""
    found = read(described)
    merges, added = plain_tokenizer(found), found.added_tokens
    cut = merges.pretokenizer.name
    return Tokenizer.from_table(merges.table, cut, added, leaves_out=True)
