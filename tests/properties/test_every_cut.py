"""Cutting a text into blocks, for threads or in a stream, never changes its pre-tokens.

Pre-tokens are compared directly, or with tokenizers that encode each as one token. With other
merges, a word that was cut could still have the same ids.
"""

from __future__ import annotations

from collections import Counter
from functools import partial, partialmethod
from io import BytesIO
from itertools import accumulate, chain
from pathlib import Path

import pytest

from bpe_core.corpus import SourceFile, count, count_corpus, stream_corpus, text_decoding
from bpe_core.corpus import count_compiled as compiled_counting
from bpe_core.corpus.count_compiled import count_documents, count_sections
from bpe_core.kernels import block_encoder, compile_kernels
from bpe_core.pretokenizers import SCANNERS, Pretokenizer, get_pretokenizer
from bpe_core.tokenizer import CompiledEncoder, compiled, shared_blocks
from bpe_core.types import PretokenCounts
from bpe_core.unicode import class_runs, unicode_class
from bpe_scale.stretches import FilePart, text_bounds
from tests.cut_texts import ASCII_TEXT, BEFORE, ENDINGS, TEXT, word_tokenizer
from tests.more_cases import first_of
from tests.scanned import scan

scanners = pytest.mark.parametrize("name", SCANNERS)


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    compile_kernels()


@pytest.mark.slow
@scanners
@pytest.mark.parametrize("room", first_of([24, 40, 8192], 24))
def test_a_scanner_ignores_what_follows_the_text_in_memory(name: str, room: int) -> None:
    pretokenizer = get_pretokenizer(name)
    for text in (before + ending for before in BEFORE for ending in ENDINGS):
        for after in ("", "s", "l", "'s", " ", "a", "é", "\u3000", "1"):
            found = scan(text, pretokenizer, room, after=after)
            assert found == pretokenizer.split(text), (text, after)


@pytest.mark.slow
@scanners
def test_each_prefix_of_a_text_is_scanned_as_if_nothing_followed(name: str) -> None:
    pretokenizer = get_pretokenizer(name)
    for at in range(len(TEXT) + 1):
        found = scan(TEXT[:at], pretokenizer, 24, after=TEXT[at:])
        assert found == pretokenizer.split(TEXT[:at])


@scanners
@pytest.mark.parametrize("room", first_of([24, 25, 31], 25))
def test_runs_of_every_length_stay_within_the_buffers(name: str, room: int) -> None:
    pretokenizer = get_pretokenizer(name)
    for unit in (
        "a",
        "A",
        "aB",
        "é",
        "日",
        "🙂",
        " ",
        "\u3000",
        "\n",
        "1",
        "!",
        "!\n",
        "'s",
        "\u0301",
    ):
        for n in range(1, 70):
            for text in (unit * n, f"x {unit * n}y"):
                assert scan(text, pretokenizer, room) == pretokenizer.split(text)


def wide_characters() -> list[str]:
    """Return non-ASCII characters whose first bytes alone would suggest another class."""
    found: dict[tuple[int, str, str], str] = {}
    starts, _ = class_runs()
    edges = sorted({0x80, *starts, *(start - 1 for start in starts[1:])})
    for code in edges:
        if code < 0x80 or 0xD800 <= code < 0xE000:
            continue
        for n_bits in (6, 12, 18)[: len(chr(code).encode()) - 1]:
            classes = unicode_class(code), unicode_class(code >> n_bits << n_bits)
            if classes[0] != classes[1]:
                found.setdefault((n_bits + code.bit_length(), *classes), chr(code))
    return sorted(set(found.values()))


@pytest.mark.slow
@scanners
def test_a_character_at_the_end_of_a_block_is_read_whole(name: str) -> None:
    pretokenizer = get_pretokenizer(name)
    characters = wide_characters()
    assert len(characters) > 40
    # The smallest buffers hold blocks of 8 bytes, so the character crosses the end of a block.
    for n_before in range(9):
        for before in ("a", " ", "!", "1"):
            for character in characters:
                text = f"{'a' * n_before}{before}{character}a {character} "
                assert scan(text, pretokenizer, 24) == pretokenizer.split(text), text


def assert_counts(found: PretokenCounts, texts: list[str], name: str) -> None:
    wanted = Counter(word for text in texts for word in get_pretokenizer(name).split(text))
    assert found.words == tuple(word.encode() for word in wanted)
    assert found.counts.tolist() == list(wanted.values())


@scanners
def test_consecutive_documents_are_counted_separately(name: str) -> None:
    for at in range(len(TEXT) + 1):
        documents = [TEXT[:at], TEXT[at:], TEXT[:at]]
        assert_counts(count_documents(documents, get_pretokenizer(name)), documents, name)


@scanners
@pytest.mark.parametrize("look_back", first_of([1, 5, 1 << 16], 5))
def test_sections_are_cut_only_where_no_pretoken_changes(name: str, look_back: int) -> None:
    pretokenizer = get_pretokenizer(name)
    cut = 0
    for at in range(len(TEXT) + 1):
        pieces = [TEXT[:at], TEXT[at:]]
        found = [b"".join(part).decode() for part in pretokenizer.sections([pieces], look_back)]
        assert "".join(found) == TEXT
        assert [word for part in found for word in pretokenizer.split(part)] == (
            pretokenizer.split(TEXT)
        )
        cut += len(found) > 1
    assert (cut > 10) is (look_back < 100)


def split_words(text: str, name: str) -> list[bytes]:
    return [word.encode() for word in get_pretokenizer(name).split(text)]


def spelled(ids: list[int], name: str) -> list[bytes]:
    return [word_tokenizer(name).vocab[id] for id in ids]


@pytest.mark.slow
@scanners
@pytest.mark.parametrize("look_back", first_of([1, 5, 1 << 12], 5))
@pytest.mark.parametrize("n_threads", first_of([1, 2], 2))
def test_pieces_of_every_size_encode_like_the_whole(
    name: str, look_back: int, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = word_tokenizer(name)
    encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    written = tokenizer.pretokenizer.written  # may add a space, which this encoder does not
    monkeypatch.setattr(shared_blocks, "_LOOK_BACK", look_back)
    for size in range(1, len(TEXT) + 2):
        monkeypatch.setattr(compiled, "_PIECE", size)
        for text, kept in ((TEXT, 1 << 20), (TEXT, 0), (ASCII_TEXT, 1 << 20)):
            monkeypatch.setattr(block_encoder, "_MAX_KEPT", kept)
            ids = encoder.encode(written(text), n_threads).tolist()
            assert spelled(ids, name) == split_words(written(text), name)


@scanners
@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_batch_of_two_parts_encodes_them_independently(name: str, n_threads: int) -> None:
    tokenizer = word_tokenizer(name)
    encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    for at in range(len(TEXT) + 1):
        parts = [TEXT[:at], TEXT[at:], ""]
        written = [tokenizer.pretokenizer.written(part) for part in parts]
        ids, ends = encoder.encode_batch(written, n_threads)
        expected = [tokenizer.encode(part) for part in parts]
        assert ids.tolist() == list(chain(*expected))
        assert ends.tolist() == list(accumulate(map(len, expected)))


@scanners
@pytest.mark.parametrize("by_kernels", [False, True], ids=["plain", "kernels"])
def test_files_read_in_pieces_of_every_size_have_the_same_counts(
    name: str, by_kernels: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    monkeypatch.setattr(count, "use_kernels", lambda n_bytes: by_kernels)
    monkeypatch.setattr(count, "_BLOCK_CHARACTERS", 1)
    cut = partialmethod(Pretokenizer.sections, look_back=1)
    monkeypatch.setattr(Pretokenizer, "sections", cut)
    small = partial(count_sections, block_bytes=1)
    monkeypatch.setattr(compiled_counting, "count_sections", small)
    corpus = stream_corpus([path])
    for size in range(1, corpus.n_bytes + 1):
        monkeypatch.setattr(text_decoding, "_PIECE", size)
        found = count_corpus(corpus, get_pretokenizer(name))
        assert_counts(found.pretokens, [get_pretokenizer(name).written(TEXT)], name)


@scanners
def test_a_file_is_divided_between_machines_only_where_no_pretoken_changes(name: str) -> None:
    data = TEXT.encode()
    pretokenizer = get_pretokenizer(name)
    source = SourceFile("a.txt", "text", None, len(data), "")
    cuts: set[int] = set()
    for near in range(1, len(data)):
        part = FilePart(source, "", near, len(data), len(data))
        cut, end = text_bounds(BytesIO(data), part, name)
        if cut < end:
            assert near <= cut
            assert end == len(data)
            cuts.add(cut)
            parts = data[:cut].decode(), data[cut:].decode()
            assert [w for part in parts for w in pretokenizer.split(part)] == (
                pretokenizer.split(TEXT)
            )
    # Superwords are cut only after numbers, of which the text has few.
    assert len(cuts) > (1 if name == "superwords" else 5)
