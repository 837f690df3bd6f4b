"""Merges that never apply can be left out, in whatever order a file lists them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sentencepiece
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.formats import adapted_files, dumps, loads
from bpe_core.formats.listed_merges import find_live_merges
from bpe_core.formats.sentencepiece_model import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    write_model,
)
from bpe_core.formats.token_parts import Triple, to_list, to_triples
from bpe_core.tokenizer import merge_symbols
from tests.oracles import merge_whole

WORDS = st.text("ab", min_size=2, max_size=6)
BYTES = bpe.Tokenizer(
    vocab={byte: bytes([byte]) for byte in range(256)}, merges=[], pretokenizer="gpt2"
)


@st.composite
def listed_merges(draw: st.DrawFn) -> tuple[list[Triple], dict[int, str]]:
    """Draw ways in which some texts of two letters make others, in any order.

    What nothing makes has no text here, but may be a part of others.
    """
    made = draw(st.lists(WORDS, unique=True, max_size=10))
    ids = {text: id for id, text in enumerate(["a", "b", *made])}
    cuts = [
        (ids[text[:cut]], ids[text[cut:]], ids[text])
        for text in made
        for cut in range(1, len(text))
        if text[:cut] in ids and text[cut:] in ids
    ]
    listed = draw(st.one_of(st.permutations(cuts), st.permutations(cuts).map(lambda all: all[1:])))
    known = {0, 1, *(made for _, _, made in listed)}
    return listed, {id: text for text, id in ids.items() if id in known}


@given(listed_merges(), st.lists(st.text("ab", max_size=16), max_size=8))
def test_live_merges_join_as_the_whole_list_does(
    drawn: tuple[list[Triple], dict[int, str]], texts: list[str]
) -> None:
    listed, text_of = drawn

    def merged(merges: list[Triple], text: str) -> list[int]:
        ranks = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
        symbols = ["ab".index(character) for character in text]
        return merge_symbols(symbols, ranks, [made for _, _, made in merges])

    live = to_list(find_live_merges(to_triples(listed), text_of))
    assert len({made for _, _, made in live}) == len(live)
    for text in [*texts, *text_of.values()]:
        assert merged(live, text) == merged(listed, text)


@given(listed_merges(), st.booleans(), st.text("ab ", min_size=1, max_size=40), st.integers(1, 4))
def test_a_file_with_any_list_of_merges_is_read_and_adapted_as_tokenizers_reads_it(
    drawn: tuple[list[Triple], dict[int, str]], whole: bool, text: str, n: int
) -> None:
    listed, text_of = drawn
    described = json.loads(dumps(BYTES, "huggingface")["tokenizer.json"])
    ids = described["model"]["vocab"]
    ids |= {made: 256 + at for at, made in enumerate(sorted({*text_of.values()} - {"a", "b"}))}
    pairs = [(text_of.get(left), text_of.get(right)) for left, right, _ in listed]
    described["model"]["merges"] = [pair for pair in pairs if None not in pair]
    described["model"]["ignore_merges"] = whole
    files = {"tokenizer.json": json.dumps(described).encode()}
    try:
        base = loads(files)
    except bpe.FormatError as error:
        assert "no order of merges" in str(error)  # noqa: PT017
        return
    n_more = base.vocab_size - 256
    made = [
        Adapted.of(base, base),
        Adapted.of(base, extend(base, [text], n).tokenizer),
        shrink(base, [text], base.vocab_size - min(n, n_more)),
    ]
    with suppress(bpe.ConfigError):  # the text may have too few pairs
        made.append(replace(base, [text], min(n, n_more)))
    for adapted in made:
        (written,) = adapted_files(adapted, files).values()
        peer = tokenizers.Tokenizer.from_str(written.decode())
        for each in (text, text.replace(" ", ""), " ".join(ids)[1_000:]):
            assert adapted.tokenizer.encode(each) == peer.encode(each).ids


def test_two_merges_of_one_pair_are_refused() -> None:
    texts = {0: "a", 1: "aa"}
    with pytest.raises(bpe.FormatError, match="same pair"):
        find_live_merges(to_triples([(0, 0, 1), (0, 0, 1)]), texts)


@st.composite
def models(draw: st.DrawFn) -> bytes:
    """Draw a SentencePiece model with bytes, of pieces that may be alike, tied or unused."""
    pieces = [Piece("<unk>", 0, UNKNOWN), Piece("<s>", 0, CONTROL)]
    pieces += [Piece(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    characters = draw(st.permutations("▁ab>é"))
    pieces += [Piece(each, -100, NORMAL) for each in characters]
    texts = st.lists(st.text("▁▁ab>é", min_size=2, max_size=5), unique=True, max_size=14)
    kinds = st.sampled_from([NORMAL] * 12 + [USER_DEFINED, UNUSED])
    # Most scores differ.
    scores = draw(st.permutations([*range(16), 0, 0]))
    for text, score in zip(draw(texts), scores, strict=False):
        pieces.append(Piece(text, -score, draw(kinds)))
    if draw(st.booleans()):
        pieces += [Piece("▁" * n, -200, NORMAL) for n in (2, 3, 4)]
    unique = {piece.text: piece for piece in pieces}
    return write_model(list(unique.values()), "BPE", dummy_prefix=draw(st.booleans()))


@pytest.mark.slow
@given(models(), st.lists(st.text("▁   ab>é漢<s", max_size=24), min_size=1, max_size=8))
def test_any_model_gives_the_ids_of_sentencepiece(model: bytes, texts: list[str]) -> None:
    peer = sentencepiece.SentencePieceProcessor(model_proto=model)
    with TemporaryDirectory() as folder:
        file = Path(folder, "any.model")
        file.write_bytes(model)
        encoder = bpe.open_encoder(file).encoder
    for text in texts:
        assert encoder.encode(text) == peer.encode(text), encoder.engine
        if isinstance(encoder, bpe.Tokenizer):
            covered = [each.byte_end for each in encoder.segments(text)]
            assert not text or covered[-1] == len(text.encode())
            if not any(not each.is_special for each in encoder.added):
                assert merge_whole(encoder, text) == encoder.encode(text)
