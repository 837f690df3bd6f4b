"""SentencePiece's family, run here, gives the ids of its libraries on real files.

The texts are hostile: runs of spaces, typed ▁, added tokens inside words, characters that are not
tokens, and the places where Gemma's merges join across a space.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bpe_core.corpus import load_sample
from bpe_core.formats import open_encoder, read_description, run_by_library
from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.vocabulary import Reachability
from tests.more_cases import first_of
from tests.oracles import TOKENIZERS, merge_whole, one_at_a_time

LLAMA_CPP = TOKENIZERS / "llama.cpp"
FILES = {
    "Llama 2": TOKENIZERS / "llama2.json",
    "Gemma 3": TOKENIZERS / "gemma3.json",
    "Gemini": TOKENIZERS / "gemini.json",
    "Mistral 7B": TOKENIZERS / "mistral-7b.model",
    "Llama, GGUF": LLAMA_CPP / "ggml-vocab-llama-spm.gguf",
    "Phi 3, GGUF": LLAMA_CPP / "ggml-vocab-phi-3.gguf",
    "Gemma 4, GGUF": LLAMA_CPP / "ggml-vocab-gemma-4.gguf",
}
WORDS = ("a", "b", "Hello", " world", "The", " the", "ing", "'s", "2024", "3.14", "def f(x):\n    ")
SPACES = (" ", "  ", "   ", " " * 17, " " * 33, " " * 70, "▁", "▁▁", "▁ ", " ▁")
BREAKS = ("\n", "\n\n\n", "\t", "\t\t", "\r\n", "\x00", "\u3000", "\u00a0", "\u0085", "\ufeff")
SCRIPTS = ("é", "e\u0301", "漢", "漣", "カ", "한글", "क्ष", "שלום", "สวัสดี", "Съешь", "½", "𝒳", "ﬁ")
RARE = ("😀", "👩‍👩‍👧🏽", "\U000b3000", "\ud7ff", "\ue000", "\U0010ffff")
TOKENS = ("<0xE2>", "<s>", "</s>", "<unk>", "<pad>", "<eos>", "<start_of_turn>", "[toxicity=0]")
MARKUP = (">", " >", "> ", "> </", ">  </div> ", "<table>", "</h1>", "<", "</")
RUNS = ("======", " ======", " ==========", "/******/", "/*", "*****/", " SSSR", " YYYY", "------")
PIECES = (*WORDS, *SPACES, *BREAKS, *SCRIPTS, *RARE, *TOKENS, *MARKUP, *RUNS)


def hostile_texts(n: int, seed: int) -> Iterator[str]:
    drawn = random.Random(seed)
    prose = "\n".join(load_sample("multilingual").documents)
    for kind in range(n):
        start = drawn.randrange(len(prose) - 200)
        if kind % 5 < 3:
            yield "".join(drawn.choices(PIECES, k=drawn.randint(0, 14)))
        elif kind % 5 == 3:
            yield prose[start : start + drawn.randint(1, 60)] + drawn.choice(PIECES)
        else:
            highest = drawn.choice([0x2FF, 0xD7FF, 0x10FFFF])
            codes = (drawn.randint(0, highest) for _ in range(drawn.randint(1, 12)))
            yield "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


@cache
def opened(name: str) -> Tokenizer:
    encoder = open_encoder(FILES[name]).encoder
    assert isinstance(encoder, Tokenizer), encoder
    return encoder


@cache
def library(name: str) -> Encoder:
    file = FILES[name]
    encoder = run_by_library(read_description({file.name: file.read_bytes()}))
    assert isinstance(encoder, Encoder)
    return encoder


name = one_at_a_time(opened, library)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(FILES, "Llama 2", "Llama, GGUF"), indirect=True)
def test_ids_and_places_are_those_of_the_library(name: str) -> None:
    ours, theirs = opened(name), library(name)
    assert theirs.engine.startswith(("tokenizers", "sentencepiece"))
    texts = list(hostile_texts(3_000, seed=1))
    for text, expected in zip(texts, theirs.place_tokens(texts), strict=True):
        assert ours.encode(text) == expected.ids[expected.ids >= 0].tolist(), text
    # A long text is encoded by the kernels, which short ones don't use.
    whole = "".join(texts)
    (columns,) = ours.place_tokens([whole])
    assert columns.ids.tolist() == theirs.encode(whole)
    assert columns.byte_starts.tolist() == [0, *columns.byte_ends[:-1].tolist()]
    assert int(columns.byte_ends[-1]) == len(whole.encode())


@pytest.mark.parametrize(
    "name", first_of(["Llama 2", "Gemma 3", "Gemini"], "Llama 2", "Gemma 3"), indirect=True
)
@pytest.mark.slow
def test_special_tokens_are_found_as_by_the_library(name: str) -> None:
    ours, theirs = opened(name), library(name)
    for text in hostile_texts(1_000, seed=2):
        assert ours.encode(text, "all") == theirs.encode(text, "all"), text


@pytest.mark.parametrize("name", first_of(FILES, "Llama 2", "Llama, GGUF"), indirect=True)
@pytest.mark.slow
def test_cuts_change_nothing(name: str) -> None:
    ours = opened(name)
    added = [each["content"] for each in _added(FILES[name])]
    texts = [text for text in hostile_texts(1_000, 3) if not any(each in text for each in added)]
    assert len(texts) > 300
    for text in texts:
        assert ours.encode(text) == merge_whole(ours, text), text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Llama 2", "Gemma 3"], indirect=True)
def test_gemma_joins_across_the_one_space_that_its_merges_cross(name: str) -> None:
    ours = opened(name)
    found = ours.pretokenizer.name, ours.written(ours.encode("x> </")[-1])
    assert found == {"Llama 2": ("sentencepiece", "▁</"), "Gemma 3": ("gemma3", ">▁</")}[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Llama 2"], indirect=True)
def test_the_audit_finds_what_no_text_uses(name: str) -> None:
    llama = opened(name)
    found = Reachability.of(llama.merged_by)
    written = {llama.written(id) for id in found.unreachable}
    # Characters of ASCII that are tokens need no byte, and these are in no UTF-8.
    assert {"<0x41>", "<0xC0>", "<0xFF>"} <= written
    assert all(text is not None and text.startswith("<0x") for text in written)
    assert not found.undecided


def test_bytes_and_spaces_are_shown_as_the_file_writes_them() -> None:
    mistral = opened("Mistral 7B")
    assert [mistral.written(id) for id in mistral.encode("of\x00 漣")] == [
        "▁of", "<0x00>", "▁", "<0xE6>", "<0xBC>", "<0xA3>"
    ]  # fmt: skip
    (word,) = mistral.explain("the")
    assert word.text == " the"
    assert mistral.written(word.symbols[0]) == "▁"
    assert [mistral.written(id) for id in word.ids] == ["▁the"]


def _added(file: Path) -> list[dict[str, str]]:
    if file.suffix == ".json":
        return json.loads(file.read_bytes())["added_tokens"]
    special = opened(next(name for name, each in FILES.items() if each == file)).merged_by
    return [{"content": text} for text in special.special_tokens]
