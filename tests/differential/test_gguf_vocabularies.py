"""The vocabularies and texts of llama.cpp's own tests give the ids of each model's tokenizer.

Hugging Face's library made the ids with the tokenizer that each model was published with.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.formats import read_description, read_files_at
from bpe_core.formats.opening.engines import choose_engine
from bpe_core.tokenizer import NamedEncoder
from tests.more_cases import first_of
from tests.oracles import TOKENIZERS

FOLDER = TOKENIZERS / "llama.cpp"
BETWEEN = "\n__ggml_vocab_test__\n"
TESTED = (
    "bert-bge",
    "command-r",
    "deepseek-coder",
    "deepseek-llm",
    "falcon",
    "gemma-4",
    "gpt-2",
    "llama-bpe",
    "llama-spm",
    "mpt",
    "phi-3",
    "qwen2",
    "qwen35",
    "refact",
    "starcoder",
)
# Vocabularies without expected ids.
OPENED = {"baichuan": "BPE", "nomic-bert-moe": "Unigram"}
REFUSED = {"aquila": "tokenizer.ggml.pre", "gpt-neox": "tokenizer.ggml.pre"}


def test_every_vocabulary_is_accounted_for() -> None:
    files = {path.stem.removeprefix("ggml-vocab-") for path in FOLDER.glob("*.gguf")}
    assert files == {*TESTED, *OPENED, *REFUSED}
    with_ids = {
        path.name.split(".")[0].removeprefix("ggml-vocab-") for path in FOLDER.glob("*.out")
    }
    assert with_ids == set(TESTED)


def opened(file: Path) -> NamedEncoder:
    """Open a file as `open_encoder` does, but without the trial in another process.

    The trial takes as long as opening. One file, Baichuan's, covers it.
    """
    return choose_engine(read_description(read_files_at(file)))[1]


@pytest.mark.parametrize("name", first_of(TESTED, "bert-bge", "gpt-2", "llama-spm", "qwen2"))
def test_ids_equal_those_of_the_models_own_tokenizer(name: str) -> None:
    file = FOLDER / f"ggml-vocab-{name}.gguf"
    encoder = opened(file)
    texts = file.with_suffix(".gguf.inp").read_bytes().decode().split(BETWEEN)
    lines = file.with_suffix(".gguf.out").read_text().splitlines()
    assert len(texts) >= 46
    for text, line in zip(texts, lines, strict=False):
        assert encoder.encode(text) == [int(id) for id in line.split()], text


@pytest.mark.parametrize(("name", "model"), OPENED.items())
def test_vocabularies_without_expected_ids_open(name: str, model: str) -> None:
    file = FOLDER / f"ggml-vocab-{name}.gguf"
    encoder = bpe.open_encoder(file) if name == "baichuan" else opened(file)
    assert encoder.model == model
    assert encoder.engine.startswith("sentencepiece")
    assert len(encoder.encode("Hello world")) > 1


@pytest.mark.parametrize(("name", "what"), REFUSED.items())
def test_vocabularies_without_a_cut_are_refused_by_what_is_missing(name: str, what: str) -> None:
    with pytest.raises(bpe.FormatError, match=what):
        bpe.open_encoder(FOLDER / f"ggml-vocab-{name}.gguf")
