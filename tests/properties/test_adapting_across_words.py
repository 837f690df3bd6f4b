"""Adapted models of SentencePiece's family, judged by `sentencepiece` and `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import sentencepiece
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import Adapted, Removals, extend, replace, shrink
from bpe_core.adapting.extending import add_characters
from bpe_core.formats import adapted_files
from bpe_core.formats.load_save import read_merges
from bpe_core.formats.sentencepiece_model import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    Piece,
    read_model,
    write_model,
)
from bpe_core.trainers import count_with_missing, spelled_by
from tests.adapting_reference import remove_reference
from tests.extending_reference import extend_for_terms

TEXTS = st.lists(
    st.one_of(
        st.text("abc ▁é漢字", max_size=16),
        st.builds(str.__mul__, st.sampled_from([" ", "a", "ab", " a", "aab "]), st.integers(1, 9)),
    ),
    min_size=1,
    max_size=6,
)
PIECES = st.one_of(st.text("abc", min_size=2, max_size=6), st.text("ab▁", min_size=2, max_size=4))


class Model(NamedTuple):
    """A base as both libraries have it."""

    model: bytes
    json: bytes

    @property
    def tokenizer(self) -> bpe.Tokenizer:
        """The merges of the model."""
        return read_merges({"base.model": self.model})


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw models with any pieces, also some that are never made, and the converter's merges."""
    drawn = draw(st.lists(PIECES, unique=True, max_size=14))
    # Without ▁ after another letter, texts can be cut at spaces.
    words = [text for text in drawn if "▁" not in text.lstrip("▁")]
    pieces = [Piece("<unk>", 0, UNKNOWN), Piece("<s>", 0, CONTROL), Piece("</s>", 0, CONTROL)]
    pieces += [Piece(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    pieces += [Piece(text, -1 - rank, NORMAL) for rank, text in enumerate(words)]
    pieces += [Piece(each, -100 - at, NORMAL) for at, each in enumerate("▁abc")]
    unused = draw(st.text("abc", min_size=3, max_size=6))
    known = {*words, *"▁abc"}
    cuts = ({unused[:cut], unused[cut:]} for cut in range(1, len(unused)))
    if unused not in known and not any(cut <= known for cut in cuts):
        pieces.append(Piece(unused, -7, UNUSED))
    prefix = draw(st.booleans())
    return Model(write_model(pieces, "BPE", dummy_prefix=prefix), as_json(pieces, prefix=prefix))


def as_json(pieces: Sequence[Piece], *, prefix: bool) -> bytes:
    """Return the tokenizer.json that Hugging Face's converter makes: every cut of every piece."""
    vocab = {piece.text: id for id, piece in enumerate(pieces)}
    normal = {piece.text: piece.score for piece in pieces if piece.type == NORMAL}
    merges = [
        [text[:cut], text[cut:]]
        for text in sorted(normal, key=lambda text: -normal[text])
        for cut in range(1, len(text))
        if text[:cut] in normal and text[cut:] in normal
    ]
    to_meta: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    ]
    prepend: list[dict[str, Any]] = [{"type": "Prepend", "prepend": "▁"}] if prefix else []
    added = [
        {"id": id, "content": piece.text, "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for id, piece in enumerate(pieces[:3])
    ]
    model = {"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": "<unk>"}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": added,
            "normalizer": {"type": "Sequence", "normalizers": [*prepend, *to_meta]},
            "pre_tokenizer": None,
            "model": {**model, "fuse_unk": True, "byte_fallback": True},
        }
    ).encode()


def encode_by_sentencepiece(data: bytes, texts: Sequence[str]) -> list[list[int]]:
    library = sentencepiece.SentencePieceProcessor()
    library.LoadFromSerializedProto(data)  # pyright: ignore[reportUnknownMemberType]
    return [library.encode(text) for text in texts]


def encode_by_tokenizers(data: bytes, texts: Sequence[str]) -> list[list[int]]:
    library = tokenizers.Tokenizer.from_str(data.decode())
    return [library.encode(text, add_special_tokens=False).ids for text in texts]


def check_invariant(adapted: Adapted, before: list[list[int]], after: list[list[int]]) -> None:
    for old, new in zip(before, after, strict=True):
        assert [part for id in new for part in adapted.parts.get(id, (id,))] == old
        assert len(new) <= len(old)


@given(models(), TEXTS, TEXTS, st.sampled_from([0, 0.9, 1]))
def test_new_tokens_spelled_in_the_base_are_its_encoding(
    base: Model, corpus: list[str], texts: list[str], coverage: float
) -> None:
    documents = bpe.Corpus.from_documents([*corpus, "ab"])
    run = extend(base.tokenizer, documents, 8, character_coverage=coverage)
    adapted = Adapted.of(base.tokenizer, run.tokenizer)
    texts = [*corpus, *texts]
    model = adapted_files(adapted, {"base.model": base.model})["base.model"]
    check_invariant(
        adapted, encode_by_sentencepiece(base.model, texts), encode_by_sentencepiece(model, texts)
    )
    in_json = Adapted.of(read_merges({"base.json": base.json}), run.tokenizer)
    written = adapted_files(in_json, {"base.json": base.json})["base.json"]
    check_invariant(
        in_json, encode_by_tokenizers(base.json, texts), encode_by_tokenizers(written, texts)
    )
    n_added = [len(json.loads(data)["model"]["merges"]) for data in (base.json, written)]
    assert n_added[1] - n_added[0] == len(run.merges)
    other = bpe.Corpus.from_documents([*texts, "漢"])
    curve = run.tokens_after_new(other)
    cuts = [run.with_new_tokens(kept) for kept in range(len(run.new_tokens) + 1)]
    assert cuts[0] == base.tokenizer
    assert curve.tolist() == [count_with_missing(cut, other) for cut in cuts]
    assert [*run.new_tokens] == run.new_ids


@given(models(), st.text("a é漢字", max_size=40))
def test_characters_that_the_base_lacks_are_added_by_frequency(base: Model, text: str) -> None:
    run = extend(
        base.tokenizer, bpe.Corpus.from_documents([f"{text}漢漢é"]), 2, character_coverage=1
    )
    counts = {each: f"{text}漢漢é".count(each) for each in "é漢字" if each in f"{text}漢é"}
    first = sorted(counts, key=lambda each: (-counts[each], each))[:2]
    added = [base.tokenizer.vocab_size + place for place in range(len(first))]
    assert [run.tokenizer.vocab[id].decode() for id in added] == first
    spelled = [[base.tokenizer.vocab[part] for part in run.new_tokens[id]] for id in added]
    assert [b"".join(parts).decode() for parts in spelled] == first
    assert all(len(part) == 1 for parts in spelled for part in parts)
    in_json = Adapted.of(read_merges({"base.json": base.json}), run.tokenizer)
    assert dict(in_json.parts) == run.new_tokens
    with TemporaryDirectory() as folder:
        bpe.save_run(run, f"{folder}/run.npz")
        again = bpe.load_run(f"{folder}/run.npz")
    assert again.new_tokens == run.new_tokens
    for given_base in (run.given_base, again.given_base):
        # A model has no rows for the characters that were added.
        assert given_base is not None
        assert given_base.fingerprint == base.tokenizer.fingerprint
        assert dict(Adapted.of(given_base, run.tokenizer).parts) == run.new_tokens


@given(models(), TEXTS)
def test_it_learns_what_the_naive_twin_learns(base: Model, corpus: list[str]) -> None:
    words: dict[str, int] = {}
    cut = base.tokenizer.pretokenizer
    for text in [*corpus, "ab"]:
        for word in cut.split(cut.written(text)):
            words[word] = words.get(word, 0) + 1
    run = extend(
        base.tokenizer, bpe.Corpus.from_word_counts(words), 8, terms=["abca", b"bb", b"a b"]
    )
    assert run.continues is not None
    characters = [
        run.tokenizer.vocab[id] for id in run.new_tokens if id not in run.tokenizer.table.parts
    ]
    longer, n = add_characters(base.tokenizer, characters), 8 - len(characters)
    naive = extend_for_terms(longer, words, n, terms=["abca", b"bb", b"a b"])
    assert list(run.merges) == naive.merges
    assert run.new_tokens == spelled_by(naive.merges, run.continues.new_characters)
    assert [(cost.token, cost.tokens_added, cost.tokens_saved) for cost in run.terms] == naive.terms


@given(models(), TEXTS, st.data())
def test_what_is_left_is_encoded_as_by_the_libraries(
    base: Model, texts: list[str], data: st.DataObject
) -> None:
    # Counting does not tell a text's own first space from the one that is put in front.
    corpus = bpe.Corpus.from_documents([*(text.lstrip(" ▁") for text in texts), "ab"])
    removals = Removals.of(base.tokenizer, corpus)
    order, sizes = remove_reference(base.tokenizer, corpus)
    assert list(removals.order) == order
    assert removals.tokens_after.tolist() == sizes
    size = base.tokenizer.vocab_size - data.draw(st.integers(0, len(order)))
    adapted = shrink(base.tokenizer, corpus, size)
    files = adapted_files(adapted, {"base.model": base.model})
    by_model = encode_by_sentencepiece(files["base.model"], texts)
    written = adapted_files(adapted, {"base.json": base.json})["base.json"]
    assert encode_by_tokenizers(written, texts) == by_model
    pieces, old = read_model(files["base.model"]).pieces, read_model(base.model).pieces
    assert list(pieces) == [old[id] for id in adapted.old_ids.tolist()]


@given(models(), TEXTS, st.integers(1, 4))
def test_replacing_keeps_the_size_and_both_libraries_agree(
    base: Model, texts: list[str], n_tokens: int
) -> None:
    try:
        adapted = replace(base.tokenizer, bpe.Corpus.from_documents([*texts, "ab"]), n_tokens)
    except bpe.ConfigError:
        return  # too few tokens can go or be made
    model = adapted_files(adapted, {"base.model": base.model})["base.model"]
    written = adapted_files(adapted, {"base.json": base.json})["base.json"]
    assert len(read_model(model).pieces) == len(read_model(base.model).pieces)
    assert encode_by_sentencepiece(model, texts) == encode_by_tokenizers(written, texts)
