"""Tokenizers are exported, read back, and read by the tools that define the formats."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import dumps, load, loads, native, save, write_files
from bpe_core.formats.checking.probe import last_tokens
from bpe_core.formats.folder_files import FORMATS
from bpe_core.formats.listed_merges import ranks_imply, recover_merges
from bpe_core.formats.patterns import STEPS, name_steps
from bpe_core.tokenizer import END_OF_TEXT, gpt2
from bpe_core.tokenizer.rank_merging import merge_by_scan
from bpe_core.types import Format
from tests.oracles import tiktoken_gpt2, tokenizers_gpt2
from tests.strategies import hostile_texts
from tests.strategies import tokenizers as any_tokenizers
from tests.zipping import make_zip
from ui.tokenizers.shelf import file_groups

TEXT = (
    "low lower lowest, newest newer! aaaa aaab abab é 你好 🙂🙂 it's \x00\t  'tis 2042\r\n# # a\n\n"
    * 3
)


def read_huggingface(data: bytes) -> bpe.Tokenizer:
    return loads({"tokenizer.json": data})


def trained(vocab_size: int = 330, text: str = TEXT, **choices: Any) -> bpe.Tokenizer:
    return bpe.train([text], bpe.TrainingConfig(vocab_size, **choices)).tokenizer


BYTE_TOKENIZERS = {
    "gpt2": trained(),
    "cl100k": trained(pretokenizer="cl100k", special_tokens=("<|endoftext|>", "[CLS]")),
    "o200k": trained(pretokenizer="o200k", special_tokens=()),
    "regex": trained(pretokenizer=r"regex: ?[a-z]+|\s+"),
    "none": trained(pretokenizer="none"),
}
DROPPING = {
    "whitespace": trained(pretokenizer="whitespace"),
    "words-punctuation": trained(pretokenizer="words-punctuation"),
    "whitespace characters": trained(90, pretokenizer="whitespace", base="characters"),
    "gpt2 characters": trained(90, base="characters"),
    "o200k characters": trained(90, base="characters", pretokenizer="o200k"),
    "seen bytes": trained(100, alphabet="seen"),
}
WITH_MARKER = {
    "marker": trained(300, pretokenizer="whitespace", end_of_word="</w>"),
    "marker, characters": trained(
        90, pretokenizer="whitespace", base="characters", end_of_word="</w>"
    ),
    "spaced pattern": trained(pretokenizer="regex:  a "),
}
LLAMA_CHOICES: dict[str, Any] = {
    "base": "characters",
    "byte_fallback": True,
    "character_coverage": 0.99,
    "pretokenizer": "metaspace",
    "special_tokens": ("<unk>", "<s>", "</s>"),
}
LLAMA = trained(text=TEXT.replace("\0", ""), **LLAMA_CHOICES)
ALL = BYTE_TOKENIZERS | DROPPING | WITH_MARKER | {"GPT-2": gpt2(), "Llama": LLAMA}


def specials_for(format: Format, tokenizer: bpe.Tokenizer) -> Mapping[str, int] | None:
    return tokenizer.special_tokens if format == "tiktoken" else None


def pretokenizer_for(format: Format, tokenizer: bpe.Tokenizer) -> str | None:
    return tokenizer.pretokenizer.name if format in ("gpt2", "tiktoken") else None


# Round trips


@pytest.mark.parametrize("name", ALL)
def test_the_native_format_keeps_everything(name: str, tmp_path: Path) -> None:
    tokenizer = ALL[name]
    save(tokenizer, tmp_path / "tokenizer.bpe.json", format="native")
    again = load(tmp_path / "tokenizer.bpe.json")
    assert again == tokenizer
    assert again.fingerprint == tokenizer.fingerprint
    assert again.merges == tokenizer.merges
    assert again.pretokenizer == tokenizer.pretokenizer
    assert again.encode(TEXT, errors="skip") == tokenizer.encode(TEXT, errors="skip")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        (name, format)
        for name in BYTE_TOKENIZERS
        for format in FORMATS
        # llama.cpp has no name for the other pre-tokenizers.
        if format != "sentencepiece" and (format != "gguf" or name in ("gpt2", "o200k"))
    ],
)
def test_byte_tokenizers_survive_every_format(name: str, format: Format, tmp_path: Path) -> None:
    tokenizer = BYTE_TOKENIZERS[name]
    save(tokenizer, tmp_path / "saved", format=format)
    again = load(
        tmp_path / "saved",
        pretokenizer=pretokenizer_for(format, tokenizer),
        special_tokens=specials_for(format, tokenizer),
    )
    assert again == tokenizer


@pytest.mark.parametrize("name", DROPPING)
def test_hugging_face_files_keep_everything_they_can_represent(name: str) -> None:
    tokenizer = DROPPING[name]
    assert loads(dumps(tokenizer, "huggingface")) == tokenizer


@pytest.mark.parametrize("format", ["huggingface", "transformers", "sentencepiece", "native"])
def test_characters_with_bytes_for_the_rest_survive(format: Format, tmp_path: Path) -> None:
    save(LLAMA, tmp_path / "saved", format=format)
    assert load(tmp_path / "saved") == LLAMA
    assert load(tmp_path / "saved").merges[0].pair == LLAMA.merges[0].pair


@pytest.mark.slow
@pytest.mark.parametrize("format", ["huggingface", "tiktoken", "gguf"])
def test_gpt2_survives_every_format(format: Format) -> None:
    again = loads(dumps(gpt2(), format), pretokenizer="gpt2", special_tokens={END_OF_TEXT: 50256})
    assert again == gpt2()


# Reading by other tools


@pytest.mark.parametrize("name", [*BYTE_TOKENIZERS, "whitespace", "words-punctuation"])
@given(text=hostile_texts)
def test_hugging_face_encodes_the_same_with_an_exported_tokenizer(name: str, text: str) -> None:
    tokenizer = (BYTE_TOKENIZERS | DROPPING)[name]
    peer = exported_to_huggingface(name)
    assert peer.encode(text).ids == tokenizer.encode(text, allowed_special="all")
    assert peer.get_vocab_size() == tokenizer.vocab_size


@pytest.mark.parametrize("name", ["gpt2 characters", "whitespace characters", "seen bytes"])
@given(text=st.text(sorted(set(TEXT)), max_size=40))
def test_hugging_face_encodes_the_same_with_a_seen_alphabet(name: str, text: str) -> None:
    peer, tokenizer = exported_to_huggingface(name), DROPPING[name]
    ids = tokenizer.encode(text)
    assert peer.encode(text).ids == ids
    if not tokenizer.pretokenizer.drops_text:
        assert peer.decode(ids) == tokenizer.decode(ids) == text


@cache
def exported_to_huggingface(name: str) -> tokenizers.Tokenizer:
    (data,) = dumps(ALL[name], "huggingface").values()
    return tokenizers.Tokenizer.from_str(data.decode())


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "regex"])
@given(text=hostile_texts)
def test_tiktoken_encodes_the_same_with_an_exported_tokenizer(name: str, text: str) -> None:
    tokenizer = BYTE_TOKENIZERS[name]
    assert exported_to_tiktoken(name).encode(text, allowed_special="all") == tokenizer.encode(
        text, allowed_special="all"
    )


@cache
def exported_to_tiktoken(name: str) -> tiktoken.Encoding:
    tokenizer = ALL[name]
    (data,) = dumps(tokenizer, "tiktoken").values()
    lines = (line.split() for line in data.splitlines())
    pattern = tokenizer.pretokenizer.pattern or ""
    if name == "regex":
        pattern = rf"{pattern}|(?:(?!{pattern})[\s\S])+"
    return tiktoken.Encoding(
        name,
        pat_str=pattern,
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens=dict(tokenizer.special_tokens),
    )


def test_hugging_face_reads_the_pair_of_gpt2_files(tmp_path: Path) -> None:
    save(BYTE_TOKENIZERS["gpt2"], tmp_path, format="gpt2")
    peer = tokenizers.ByteLevelBPETokenizer(
        str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    )
    assert peer.encode(TEXT).ids == BYTE_TOKENIZERS["gpt2"].encode(TEXT)


# Conversion from other libraries' objects


@pytest.mark.slow
def test_tokenizers_of_other_libraries_are_converted_exactly() -> None:
    assert bpe.from_tiktoken(tiktoken_gpt2()) == gpt2()
    # Copy the oracle, because other tests share it.
    peer = tokenizers.Tokenizer.from_str(tokenizers_gpt2().to_str())
    peer.add_special_tokens([END_OF_TEXT])
    assert bpe.from_huggingface(peer) == gpt2()
    for name in ("gpt2", "cl100k", "o200k"):
        assert bpe.from_tiktoken(exported_to_tiktoken(name)) == BYTE_TOKENIZERS[name]


def test_a_tokenizer_that_hugging_face_trained_is_read_exactly() -> None:
    peer = tokenizers.ByteLevelBPETokenizer()
    peer.train_from_iterator([TEXT], vocab_size=300, special_tokens=["<s>"], show_progress=False)
    tokenizer = bpe.from_huggingface(tokenizers.Tokenizer.from_str(peer.to_str()))
    assert tokenizer.encode(TEXT) == peer.encode(TEXT).ids
    assert tokenizer.special_tokens == {"<s>": 0}


def test_a_tiktoken_pattern_that_could_drop_text_is_refused() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    words = tiktoken.Encoding("w", pat_str=r"\w+", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(bpe.FormatError, match="drops text that other patterns do not match"):
        bpe.from_tiktoken(words)


# What a format cannot represent


@pytest.mark.parametrize(
    ("tokenizer", "format", "message"),
    [
        *(
            (tokenizer, format, "native")
            for name, tokenizer in WITH_MARKER.items()
            if name != "spaced pattern"
            for format in ("huggingface", "gpt2", "tiktoken")
        ),
        (LLAMA, "gpt2", "only byte tokens|all 256 bytes"),
        (LLAMA, "tiktoken", "only byte tokens|all 256 bytes"),
        (LLAMA, "gguf", "only byte tokens|all 256 bytes"),
        (trained(**LLAMA_CHOICES), "sentencepiece", "a null character"),
        (DROPPING["whitespace"], "tiktoken", "drops white space"),
        (DROPPING["gpt2 characters"], "tiktoken", "only byte tokens"),
        (DROPPING["seen bytes"], "tiktoken", "all 256 bytes"),
        (trained(special_tokens=("<a>", "<", "<a>b")), "tiktoken", "'<a>' begins with '<'"),
        (
            trained(pretokenizer=r"regex:(?r)\p{Sentence_Break=Lower}+"),
            "huggingface",
            r"Save (it|this tokenizer) in the native format",
        ),
    ],
)
def test_a_tokenizer_that_a_format_cannot_hold_is_refused(
    tokenizer: bpe.Tokenizer, format: Format, message: str
) -> None:
    with pytest.raises(bpe.ConfigError, match=message):
        dumps(tokenizer, format)


def test_merges_not_in_order_of_id_are_refused_for_tiktoken() -> None:
    base = {byte: bytes([byte]) for byte in range(256)}
    tokenizer = bpe.Tokenizer(
        vocab={**base, 256: b"bc", 257: b"ab"},
        merges=[(97, 98, 257), (98, 99, 256)],
        pretokenizer="gpt2",
    )
    with pytest.raises(bpe.ConfigError, match="order of ids"):
        dumps(tokenizer, "tiktoken")
    assert loads(dumps(tokenizer, "huggingface")).encode("abc") == [257, 99]


@given(tokenizer=any_tokenizers("ab", n_merges=9, longest=9), data=st.data())
def test_ranks_imply_merges_exactly_if_the_merges_can_be_recovered(
    tokenizer: bpe.Tokenizer, data: st.DataObject
) -> None:
    ranks = {token: id for id, token in tokenizer.vocab.items()}
    merges = list(tokenizer.table.triples)
    if data.draw(st.booleans()):
        merges = data.draw(st.permutations(merges))
    try:
        recovered = recover_merges(ranks)
    except bpe.FormatError:
        recovered = None
    # `ranks_imply` leaves merges that are out of order to the search.
    made = [id for *_, id in merges]
    assert ranks_imply(ranks, merges) == (recovered == merges and made == sorted(made))


def test_a_probe_uses_only_the_start_of_long_tokens() -> None:
    n_letters = 3_000
    pairs = [(0, 0), *((id, 0) for id in range(1, n_letters - 1))]
    tokenizer = bpe.Tokenizer(
        vocab={id: b"a" * (id + 1) for id in range(n_letters)},
        merges=[(left, right, id) for id, (left, right) in enumerate(pairs, start=1)],
        pretokenizer="none",
    )
    assert 500 < len(last_tokens(tokenizer, 500)) < 20_000


def test_a_special_token_spelled_like_another_token_is_refused_for_text_formats() -> None:
    base = {byte: bytes([byte]) for byte in range(256)}
    tokenizer = bpe.Tokenizer(
        vocab={**base, 256: b"a"}, merges=[], pretokenizer="gpt2", special_tokens={"a": 256}
    )
    for format in ("huggingface", "gpt2"):
        with pytest.raises(bpe.ConfigError, match="both be written 'a'"):
            dumps(tokenizer, format)
    assert loads(dumps(tokenizer, "native")) == tokenizer


def test_a_special_token_that_looks_ordinary_is_refused_for_gpt2_files() -> None:
    tokenizer = trained(100, alphabet="seen", special_tokens=("<s>", "("))
    with pytest.raises(bpe.ConfigError, match=r"'\(' would be read as an ordinary one"):
        dumps(tokenizer, "gpt2")
    assert loads(dumps(tokenizer, "huggingface")) == tokenizer


def test_the_error_for_an_unknown_format_lists_the_formats(tmp_path: Path) -> None:
    with pytest.raises(bpe.ConfigError, match="gpt2, tiktoken, gguf, sentencepiece, native"):
        save(gpt2(), tmp_path / "x", format="pickle")  # pyright: ignore[reportArgumentType]
    assert list(tmp_path.iterdir()) == []


# Files


def test_either_of_the_gpt2_files_can_be_named(tmp_path: Path) -> None:
    save(BYTE_TOKENIZERS["gpt2"], tmp_path, format="gpt2")
    for name in ("vocab.json", "merges.txt"):
        assert load(tmp_path / name) == BYTE_TOKENIZERS["gpt2"]


# Damaged and mismatched files


def native_changed(**changes: object) -> bytes:
    described = native.tokenizer_to_dict(BYTE_TOKENIZERS["none"])
    return json.dumps({**described, **changes}).encode()


def huggingface_changed(part: str, value: object) -> bytes:
    described = json.loads(dumps(BYTE_TOKENIZERS["gpt2"], "huggingface")["tokenizer.json"])
    *path, last = part.split(".")
    holder = described
    for step in path:
        holder = holder[step]
    holder[last] = value
    return json.dumps(described).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", r"not valid JSON.*line 1, column 2"),
        (b'{"a": "\xff"}', "not valid UTF-8 at byte 7"),
        (b"{}", "neither a tokenizer.json nor"),
        (b'{"model": ' + b"[" * 100_000, "JSON|deeply"),
        (b'{"format": ' + b"1" * 5_000 + b"}", "too long"),
        (native_changed(version=99), "version 99"),
        (native_changed(base="words"), "got 'words'"),
        (native_changed(tokens=[[0]]), r"id and a text as entry 0 of .* tokens, got \[0\]"),
        (native_changed(tokens=[[0, "\u4f60"]]), "does not represent a byte"),
        (native_changed(tokens=[[-1, "a"]]), "Expected an id and a text as entry 0"),
        (native_changed(tokens=[[0, "a"], [0, "b"]]), "two tokens with the id 0"),
        (native_changed(merges=[[0, 1, "x"]]), "Expected three ids as entry 0 of .* merges"),
        (native_changed(merges=[[0, 9999, 10000]]), "at least one is not a token"),
        (native_changed(counts=[1.5]), "whole number as entry 0 of .* counts, got 1.5"),
        (native_changed(counts=[1]), "1 counts"),
        (
            native_changed(special_tokens=["x"]),
            "Expected an object of tokens and ids as special_tokens, got list",
        ),
        (native_changed(pretokenizer="regex:("), "not a valid regular expression"),
        (native_changed(end_of_word=7), "text or null as .* end_of_word, got 7"),
        (huggingface_changed("model.type", "Unigram"), "Expected a BPE model, got 'Unigram'"),
        (huggingface_changed("model.byte_fallback", True), "not run here"),
        (huggingface_changed("model.end_of_word_suffix", "</w>"), "end_of_word_suffix"),
        (huggingface_changed("normalizer", {"type": "Nmt"}), r"normalizer \(Nmt\)"),
        (huggingface_changed("pre_tokenizer", {"type": "Metaspace"}), "Metaspace"),
        (huggingface_changed("pre_tokenizer.add_prefix_space", True), "no exact equivalent"),
        (huggingface_changed("model.merges", [["a", "?b"]]), r"Merge 0 .* not in the vocabulary"),
        (huggingface_changed("model.merges", ["a"]), "Expected two tokens in merge 0"),
        (huggingface_changed("model.vocab", {"a": "b"}), "Expected an id from 0 for 'a'"),
        (huggingface_changed("model", 7), "Expected an object as the model"),
        (b"not a tokenizer", "token in base 64, .* in line 1, got b'not a tokenizer'"),
        (b"YQ== 0\nYQ== 1\n", "Line 2 repeats"),
        (b"YQ== 0\nYg== 0\n", "b'a' and b'b' have the same rank, 0"),
        (b"YWI= 0\n", "which is not a token itself"),
    ],
)
def test_the_error_for_a_damaged_file_says_what_is_wrong_and_where(
    data: bytes, message: str
) -> None:
    with pytest.raises(bpe.FormatError, match=message):
        loads({"file": data}, pretokenizer=None if data.startswith(b"{") else "gpt2")


@pytest.mark.parametrize(
    ("vocab", "merges", "message"),
    [
        (b'{"a": 0}', b"#version: 0.2\na  a\n", r"in merges.txt, line 2, got 'a  a'"),
        (b'{"a": 0}', b"a a\n", "'aa', which is not in the vocabulary"),
        (b'{"a": 0, "b": 0}', b"", "belongs to both"),
        (b'{"a": 0}', b"\xff", "not UTF-8 at byte 0"),
        (b"[]", b"", "Expected a JSON object in vocab.json"),
    ],
)
def test_the_error_for_damaged_gpt2_files_says_what_is_wrong_and_where(
    vocab: bytes, merges: bytes, message: str
) -> None:
    with pytest.raises(bpe.FormatError, match=message):
        loads({"vocab.json": vocab, "merges.txt": merges})


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=16),
    st.sampled_from([1, 1_000]),
)
def test_merges_recovered_from_ranks_join_the_parts_that_each_token_encodes_to(
    joined: list[tuple[int, int]], rank_of_b: int
) -> None:
    ranks = {b"a": 0, b"b": rank_of_b}
    for left, right in joined:
        tokens = list(ranks)
        token = tokens[left % len(tokens)] + tokens[right % len(tokens)]
        ranks.setdefault(token, len(ranks))
    merges: list[tuple[int, int, int]] = []
    for token in list(ranks)[2:]:
        before = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
        symbols = [ranks[bytes([byte])] for byte in token]
        parts = merge_by_scan(symbols, before, [made for _, _, made in merges])
        if len(parts) != 2:
            return  # a token that merges make late or never; see test_whole_words
        merges.append((parts[0], parts[1], ranks[token]))
    assert recover_merges(ranks) == merges


def test_a_token_too_long_to_look_for_its_merges_is_named() -> None:
    ranks = {b"a": 0, b"b" * 40_000: 1, b"b": 2}
    with pytest.raises(
        bpe.FormatError, match=r"rank 1, has 40,000 bytes \(b'bbb.* Remove such tokens"
    ):
        recover_merges(ranks)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("tokenizer.json", b"\x89PNG\r\n", "tokenizer.json is not valid UTF-8 at byte 0"),
        ("tokenizer.json", b"", "tokenizer.json is not valid JSON"),
        ("tokenizer.json", b"[1, 2]", "Expected a JSON object in tokenizer.json, got list"),
        ("big.txt", b"", "big.txt is not a tokenizer: .* The file is empty"),
        ("big.txt", b"Once upon\na time", "big.txt is not a tokenizer: .* in line 1, got b'Once"),
        ("merges.txt", b"#version: 0.2\na b\n", "only merges. .* vocab.json"),
    ],
)
def test_an_invalid_file_is_reported_before_a_missing_pretokenizer(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(bpe.FormatError, match=message):
        load(tmp_path / name)


@pytest.mark.parametrize("format", ["tiktoken", "gpt2"])
def test_the_error_for_a_wrong_pretokenizer_does_not_blame_the_files(format: Format) -> None:
    files = dumps(BYTE_TOKENIZERS["gpt2"], format)
    with pytest.raises(bpe.ConfigError, match=r"^There is no pre-tokenizer named 'nope'"):
        loads(files, pretokenizer="nope")


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_an_invalid_path_is_a_clear_error(path: str, tmp_path: Path) -> None:
    with pytest.raises(bpe.FormatError, match="is not a path"):
        load(tmp_path / path)
    with pytest.raises(bpe.FormatError, match="is not a path"):
        save(BYTE_TOKENIZERS["none"], tmp_path / path)


def test_json_is_read_with_a_byte_order_mark_and_under_any_name() -> None:
    for format in ("native", "huggingface"):
        (data,) = dumps(BYTE_TOKENIZERS["gpt2"], format).values()
        assert loads({"mine": b"\xef\xbb\xbf" + data}) == BYTE_TOKENIZERS["gpt2"]


@pytest.mark.parametrize("lacks", ["vocab.json", "merges.txt"])
def test_the_error_for_one_of_gpt2s_two_files_names_the_missing_one(
    lacks: str, tmp_path: Path
) -> None:
    save(BYTE_TOKENIZERS["gpt2"], tmp_path, format="gpt2")
    (tmp_path / lacks).unlink()
    with pytest.raises(bpe.FormatError, match=f"but not {lacks}. Add it"):
        load(tmp_path)
    save(BYTE_TOKENIZERS["gpt2"], tmp_path)
    assert load(tmp_path) == BYTE_TOKENIZERS["gpt2"]


def test_a_tokenizer_json_is_read_rather_than_the_two_files_next_to_it(tmp_path: Path) -> None:
    pair = BYTE_TOKENIZERS["gpt2"]
    files = dumps(BYTE_TOKENIZERS["none"], "huggingface") | dumps(pair, "gpt2")
    write_files(files, tmp_path)
    archive = tmp_path / "all.zip"
    archive.write_bytes(make_zip(files))
    for path in (tmp_path, archive):
        assert load(path) == bpe.open_encoder(path).encoder == BYTE_TOKENIZERS["none"]
    assert load(tmp_path / "vocab.json") == pair
    assert [*file_groups([*files.items()])[0]] == ["tokenizer.json"]


def test_arguments_that_contradict_a_file_are_refused() -> None:
    files = dumps(BYTE_TOKENIZERS["none"], "native")
    with pytest.raises(bpe.ConfigError, match="Leave out the pre-tokenizer"):
        loads(files, pretokenizer="gpt2")
    with pytest.raises(bpe.ConfigError, match="Leave out special tokens"):
        loads(files, special_tokens={"x": 1})


def test_a_file_that_names_its_pretokenizer_is_opened_by_no_other(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save(BYTE_TOKENIZERS["gpt2"], path)
    for door in (load, bpe.open_encoder):
        assert door(path, pretokenizer="gpt2").encode("hug") == [72, 85, 71]
        with pytest.raises(bpe.ConfigError, match=r"is 'gpt2', not 'llama3'\. Leave out the pre"):
            door(path, pretokenizer="llama3")
    with pytest.raises(bpe.ConfigError, match="The pre-tokenizer of GPT-2 is 'gpt2'"):
        bpe.open_encoder("gpt2", "llama3")
    model = tokenizers.models.WordPiece({"a": 0}, unk_token="a")
    tokenizers.Tokenizer(model).save(str(path))
    with pytest.raises(
        bpe.ConfigError, match=r"itself says how text is cut, and tokenizers .* cuts"
    ):
        bpe.open_encoder(path, "gpt2")


def test_special_tokens_of_gpt2_files_are_those_that_no_merge_makes() -> None:
    again = loads(dumps(BYTE_TOKENIZERS["gpt2"], "gpt2"))
    assert again.special_tokens == {END_OF_TEXT: 0}


@pytest.mark.parametrize("trait", ["lstrip", "rstrip", "single_word"])
def test_an_added_token_that_depends_on_its_surroundings_is_refused(trait: str) -> None:
    added = {"id": 0, "content": END_OF_TEXT, "special": True}
    plain = read_huggingface(huggingface_changed("added_tokens", [{**added, trait: False}]))
    assert plain.special_tokens == {END_OF_TEXT: 0}
    with pytest.raises(bpe.FormatError, match=f"has {trait} set, so"):
        read_huggingface(huggingface_changed("added_tokens", [{**added, trait: True}]))


@pytest.mark.parametrize("name", ["gpt2", "o200k", "whitespace", "words-punctuation"])
@pytest.mark.parametrize(
    ("behavior", "invert"),
    [
        ("Removed", False),
        ("Removed", None),
        ("Isolated", True),
        ("MergedWithPrevious", False),
        ("MergedWithNext", True),
        ("Contiguous", False),
    ],
)
def test_a_split_with_another_behavior_is_refused(
    name: str, behavior: str, invert: bool | None
) -> None:
    # Removing the matches leaves only the text between them: for "to be", the space.
    pattern = {"Regex": bpe.get_pretokenizer(name).pattern}
    split = {"type": "Split", "pattern": pattern, "behavior": behavior}
    split |= {} if invert is None else {"invert": invert}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    parts = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    with pytest.raises(bpe.FormatError, match="no exact equivalent"):
        read_huggingface(huggingface_changed("pre_tokenizer", parts))


@pytest.mark.parametrize("pattern", ["^a", r"\h", "[a-z&&[^a]]", "[a-c[12]]", "a{,2}"])
def test_a_pattern_that_hugging_face_interprets_differently_is_refused(pattern: str) -> None:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    parts = {"type": "Sequence", "pretokenizers": [{**split, "invert": False}, byte_level]}
    with pytest.raises(bpe.FormatError, match="Encode with that library instead"):
        read_huggingface(huggingface_changed("pre_tokenizer", parts))


def test_an_unknown_token_is_refused_if_it_could_be_used() -> None:
    model = json.loads(dumps(DROPPING["gpt2 characters"], "huggingface")["tokenizer.json"])
    model["model"]["unk_token"] = END_OF_TEXT
    with pytest.raises(
        bpe.FormatError, match=r"only .* characters, and the model uses the token '<.endoftext"
    ):
        read_huggingface(json.dumps(model).encode())
    # With all bytes in the vocabulary, the unknown token is never used.
    assert read_huggingface(huggingface_changed("model.unk_token", END_OF_TEXT)).encode("a")


def test_ignore_merges_looks_up_whole_words_first() -> None:
    model = json.loads(dumps(BYTE_TOKENIZERS["gpt2"], "huggingface")["tokenizer.json"])["model"]
    with_island = {**model, "ignore_merges": True, "vocab": {**model["vocab"], "zqz": 9_999}}
    tokenizer = read_huggingface(huggingface_changed("model", with_island))
    assert tokenizer.table.whole_words_first
    assert tokenizer.encode("zqz") == [9_999]
    assert tokenizer.encode(TEXT) == BYTE_TOKENIZERS["gpt2"].encode(TEXT)


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ([{"type": "Digits", "individual_digits": True}], "starcoder"),
        (STEPS["deepseek-v3"], "deepseek-v3"),
    ],
)
def test_several_steps_that_cut_as_a_named_pretokenizer_are_read_and_written(
    steps: list[dict[str, object]], name: str
) -> None:
    by_regex = name == "starcoder"
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": by_regex}
    # One sequence in another, as some files have it.
    parts = {"type": "Sequence", "pretokenizers": [*steps, byte_level]}
    nested = {"type": "Sequence", "pretokenizers": [parts]}
    tokenizer = read_huggingface(huggingface_changed("pre_tokenizer", nested))
    assert tokenizer.pretokenizer.name == name
    # Writing checks the file on a probe, with the library.
    written = dumps(tokenizer, "huggingface")["tokenizer.json"]
    found = json.loads(written)["pre_tokenizer"]["pretokenizers"]
    assert [step["type"] for step in found] == [step["type"] for step in [*steps, byte_level]]
    assert read_huggingface(written) == tokenizer


@pytest.mark.parametrize("name", ["llama3", "qwen2", "tekken", "falcon"])
def test_a_named_pattern_is_written_and_read(name: str) -> None:
    gpt2 = BYTE_TOKENIZERS["gpt2"]
    merges = [(merge.left, merge.right, merge.id) for merge in gpt2.merges]
    tokenizer = bpe.Tokenizer(
        vocab=gpt2.vocab,
        merges=merges,
        pretokenizer=name,
        special_tokens=gpt2.special_tokens,
    )
    assert read_huggingface(dumps(tokenizer, "huggingface")["tokenizer.json"]) == tokenizer


def test_an_empty_sequence_of_normalizers_is_none() -> None:
    empty = {"type": "Sequence", "normalizers": []}
    assert read_huggingface(huggingface_changed("normalizer", empty)).encode("a")


def test_patterns_of_other_tools_are_recognised() -> None:
    pattern = bpe.get_pretokenizer("o200k").pattern
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    parts = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    tokenizer = read_huggingface(huggingface_changed("pre_tokenizer", parts))
    assert tokenizer.pretokenizer.name == "o200k"


def test_deepseeks_pattern_is_known_with_line_ends_as_characters_too() -> None:
    # DeepSeek's own file has the characters themselves.
    described = json.loads(json.dumps(STEPS["deepseek-v3"]))
    last = described[-1]["pattern"]
    last["Regex"] = last["Regex"].replace(r"\r", "\r").replace(r"\n", "\n")
    assert name_steps(described) == "deepseek-v3"
