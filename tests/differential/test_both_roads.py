"""Files read by `load` and `open_encoder` give the ids of the library that they are made for.

Either road may refuse a file, with a `FormatError`, but none may return other ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import loads, read_description
from bpe_core.formats.opening.engines import choose_engine
from bpe_core.tokenizer import NamedEncoder
from tests.small_tokenizer_files import (
    as_bytes,
    draw_file,
    draw_ranks,
    draw_ranks_text,
    draw_text,
    ranks_as_bytes,
    ranks_as_tekken,
    ranks_as_tokenizer_json,
)

GPT2 = bpe.get_pretokenizer("gpt2").pattern or ""
BYTES = {bytes([byte]): byte for byte in range(256)}
seeds = st.integers(0, 2**64 - 1)


# tokenizer.json


def open_peer(file: Mapping[str, Any], *, finds_special: bool) -> tokenizers.Tokenizer | None:
    """Return the library's tokenizer; None if it refuses the file or is itself undecided."""
    try:
        peer = tokenizers.Tokenizer.from_str(json.dumps({**file, "truncation": None}))
    except BaseException:  # also a panic in Rust, which is not an Exception
        return None
    looked_for = {each["content"] for each in file["added_tokens"] if each["normalized"]}
    normalized = peer.normalizer.normalize_str if peer.normalizer else str
    if len(set(map(normalized, looked_for))) < len(looked_for):
        return None  # of added tokens that become equal, the library finds a random one
    peer.encode_special_tokens = not finds_special
    return peer


def peer_ids(peer: tokenizers.Tokenizer, text: str) -> list[int] | None:
    try:
        return peer.encode(text, add_special_tokens=False).ids
    except BaseException:
        return None


def loaded(file: Mapping[str, Any]) -> bpe.Tokenizer | None:
    try:
        return loads({"tokenizer.json": as_bytes(dict(file))})
    except bpe.FormatError:
        return None


def opened(file: Mapping[str, Any]) -> NamedEncoder:
    return choose_engine(read_description({"tokenizer.json": as_bytes(dict(file))}))[1]


@given(seed=seeds)
def test_tokenizer_json_encodes_as_in_tokenizers(seed: int) -> None:
    random = Random(seed)
    file = draw_file(random)
    texts = [draw_text(random, file) for _ in range(6)]
    check_tokenizer_json(file, texts)


def check_tokenizer_json(file: dict[str, Any], texts: list[str]) -> None:
    finds_special = open_peer(file, finds_special=True)
    without = open_peer(file, finds_special=False)
    if finds_special is None or without is None:
        return
    encoder = opened(file)
    for text in texts:
        for peer, allowed in ((finds_special, "all"), (without, ())):
            expected = peer_ids(peer, text)
            if expected is None:
                with pytest.raises(bpe.TokenizationError):
                    encoder.encode(text, allowed)
            else:
                assert encoder.encode(text, allowed) == expected, (text, allowed, encoder.engine)
    tokenizer = loaded(file)
    if tokenizer is None:
        return
    # `load` makes special tokens of all added ones.
    is_special = all(each["special"] for each in file["added_tokens"])
    for text in texts:
        for peer, allowed in ((finds_special, "all"), (without, ())):
            if allowed == "all" or is_special:
                try:
                    ids = tokenizer.encode(text, allowed)
                except bpe.UnknownSymbolError:
                    continue  # the library leaves the symbol out
                assert ids == peer_ids(peer, text), (text, allowed)


def test_many_files_are_encoded_here_by_both_roads() -> None:
    files = [draw_file(Random(seed)) for seed in range(80)]
    known = [file for file in files if open_peer(file, finds_special=True) is not None]
    assert len(known) > 60
    assert sum(loaded(file) is not None for file in known) > 0.25 * len(known)
    assert sum(opened(file).engine == "bpe_core" for file in known) > 0.25 * len(known)


def plain_file(
    *added: tuple[str, int, bool], merges: tuple[tuple[str, str], ...] = (), first: int = 256
) -> dict[str, Any]:
    """Return a file of all bytes and some merges; added tokens are (text, id, is special)."""
    file = ranks_as_tokenizer_json(BYTES)
    file["model"] |= {"ignore_merges": False, "merges": [list(pair) for pair in merges]}
    file["model"]["vocab"] |= {a + b: first + rank for rank, (a, b) in enumerate(merges)}
    flags = dict.fromkeys(["single_word", "lstrip", "rstrip"], False)
    file["added_tokens"] = [
        {"content": text, "id": id, "special": special, "normalized": not special, **flags}
        for text, id, special in added
    ]
    return file


def test_an_added_token_that_contains_a_special_one_is_not_found() -> None:
    file = plain_file(("</s>", 256, True), ("[/INST]</s>", 257, False))
    expected = [91, 47, 73, 78, 83, 84, 93, 256]
    assert opened(file).encode("[/INST]</s>", "all") == expected
    assert loaded(file) is None
    check_tokenizer_json(file, ["[/INST]</s>", "[/INST]</s", "a[/INST]</s></s>"])


@pytest.mark.parametrize(
    ("ordinary", "is_alike"),
    [("<b>", True), ("a<", False), ("<s>>", False), ("s>", True), ("<s", True), ("x<s>x", False)],
)
def test_added_tokens_that_overlap_special_ones_are_refused_by_load_alone(
    ordinary: str, is_alike: bool
) -> None:
    file = plain_file(("<s>", 256, True), (ordinary, 257, False))
    assert (loaded(file) is not None) == is_alike
    check_tokenizer_json(file, [f"{ordinary}<s>", f"<s>{ordinary}", "a<s>>", "x<s>xx", "<s<b><"])


def test_special_tokens_that_are_looked_for_in_two_steps_are_found_as_in_tokenizers() -> None:
    file = plain_file(("<s>", 256, True), ("a<s>", 257, True))
    file["added_tokens"][1]["normalized"] = True
    assert opened(file).engine == "bpe_core"
    check_tokenizer_json(file, ["a<s>", "aa<s>a", "<s>a<"])


@pytest.mark.parametrize("is_special", [True, False])
def test_an_added_token_that_is_listed_twice_is_found_as_in_tokenizers(is_special: bool) -> None:
    file = plain_file(("<s>", 256, is_special), ("<s>", 256, not is_special))
    assert opened(file).encode("a<s>", "all") == [97, 256]
    check_tokenizer_json(file, ["a<s>", "<s><s>", "<s"])
    with pytest.raises(bpe.FormatError, match="listed twice"):
        loads({"tokenizer.json": as_bytes(file)})


def test_an_added_token_behind_a_hole_has_the_id_that_tokenizers_gives_it() -> None:
    file = plain_file(("<s>", 258, True), merges=(("a", "b"),), first=257)
    assert opened(file).encode("<s>ab", "all") == [257, 257]
    with pytest.raises(bpe.FormatError, match="gives it the id 257"):
        loads({"tokenizer.json": as_bytes(file)})


def test_bytes_written_twice_are_left_to_tokenizers() -> None:
    file = plain_file()
    step = file["pre_tokenizer"]
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [step, step]}
    assert opened(file).encode(" a") == [196, 160, 97]
    with pytest.raises(bpe.FormatError, match="twice"):
        loads({"tokenizer.json": as_bytes(file)})


def test_a_special_token_that_merges_make_is_merged_where_it_is_ordinary_text() -> None:
    file = plain_file(("ab", 256, True), merges=(("a", "b"),))
    file["model"]["ignore_merges"] = True
    assert loaded(file) is not None
    check_tokenizer_json(file, ["ab", "aab", "ab ab", "xabx"])


# Ranks

LATE = [
    (["aaaa", "aaaaa", "aa"], "aaaaaa", [257, 97]),
    (["aab", "aaba", "aa"], "aabaab", [257, 97, 98]),
]


def by_tiktoken(ranks: dict[bytes, int], texts: list[str]) -> list[list[int]]:
    encoding = tiktoken.Encoding("peer", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
    return [encoding.encode_ordinary(text) for text in texts]


def check_ranks(ranks: dict[bytes, int], texts: list[str]) -> bool:
    """Check every file of the ranks by both roads; return whether `load` accepts them."""
    expected = by_tiktoken(ranks, texts)
    tekken = [[id + 3 for id in ids] for ids in expected]
    described = ranks_as_tokenizer_json(ranks)
    peer = tokenizers.Tokenizer.from_str(json.dumps(described))
    assert [peer.encode(text).ids for text in texts] == expected
    accepted: set[bool] = set()
    for name, data, ids in (
        ("mine.tiktoken", ranks_as_bytes(ranks), expected),
        ("tekken.json", ranks_as_tekken(ranks, GPT2), tekken),
        ("tokenizer.json", as_bytes(described), expected),
    ):
        given = "gpt2" if name == "mine.tiktoken" else None
        encoder = choose_engine(read_description({name: data}, given), given)[1]
        assert [encoder.encode(text) for text in texts] == ids, encoder.engine
        try:
            tokenizer = loads({name: data}, pretokenizer=given)
        except bpe.FormatError as error:
            assert "no order of merges" in str(error)  # noqa: PT017
            assert encoder.engine != "bpe_core"
            accepted.add(False)
            continue
        assert [tokenizer.encode(text) for text in texts] == ids
        assert encoder.engine == "bpe_core"
        accepted.add(True)
    (is_accepted,) = accepted
    return is_accepted


@pytest.mark.slow
@given(seed=seeds)
def test_ranks_encode_as_in_tiktoken(seed: int) -> None:
    random = Random(seed)
    ranks = draw_ranks(random)
    check_ranks(ranks, [draw_ranks_text(random, ranks) for _ in range(10)])


def test_most_ranks_are_encoded_here() -> None:
    n_accepted = sum(check_ranks(draw_ranks(Random(seed)), []) for seed in range(40))
    assert n_accepted > 25


@pytest.mark.parametrize(("tokens", "text", "expected"), LATE)
def test_ranks_that_no_order_of_merges_follows_are_left_to_tiktoken(
    tokens: list[str], text: str, expected: list[int]
) -> None:
    ranks = BYTES | {token.encode(): 256 + rank for rank, token in enumerate(tokens)}
    assert by_tiktoken(ranks, [text]) == [expected]
    assert not check_ranks(ranks, [text])


def test_late_tokens_that_cannot_interfere_are_merged_here() -> None:
    # As in Llama 3's file: `.:.:` has a lower rank than its part `.:.`.
    tokens = [".:", ".:.:", ".:."]
    ranks = BYTES | {token.encode(): 256 + rank for rank, token in enumerate(tokens)}
    assert check_ranks(ranks, [".:" * n + tail for n in range(6) for tail in ("", ".", ":")])
