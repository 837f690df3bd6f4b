"""Published files of SentencePiece's family, adapted, judged by their own libraries.

The invariant is checked by the libraries alone: replace each new id of the adapted file by the
base's ids that spell it, and what is left is what the library gives with the base's own file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
import sentencepiece
import tokenizers
from transformers import AutoTokenizer

import bpe_core as bpe
from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.formats import BaseFiles, adapted_files, dumps, write_files
from tests.differential.test_across_words import hostile_texts
from tests.more_cases import first_of
from tests.oracles import TOKENIZERS, one_at_a_time

# Each opens and writes files of up to 33 MB.
pytestmark = pytest.mark.slow

NAMES = ["llama2.json", "mistral-7b.model", "mistral-large.model"]
THAI = "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน  Straßenbahnhaltestellen überall, überall.\n" * 7
CORPUS = bpe.Corpus.from_text(THAI)
TEXTS = [*hostile_texts(300, seed=3), THAI, "Straßenbahn▁ภาษาไทย</s>überall <s>", ""]
# These take ten seconds each; what is replaced was also removed and added.
LARGE = ["gemma3.json", "gemini.json"]
Encode = Callable[[str], list[int]]


@cache
def base(name: str) -> BaseFiles:
    return BaseFiles.open(TOKENIZERS / name)


def library(files: Mapping[str, bytes]) -> Encode:
    """Return what the library of a file does, without any part of this package."""
    ((name, data),) = files.items()
    if name.endswith(".model"):
        return sentencepiece.SentencePieceProcessor(model_proto=data).encode
    peer = tokenizers.Tokenizer.from_str(data.decode())
    return lambda text: peer.encode(text, add_special_tokens=False).ids


@cache
def ids_before(name: str) -> list[list[int]]:
    """Return what the library gives with the base's own file, which it opens once."""
    return list(map(library(base(name).files), TEXTS))


name = one_at_a_time(base, ids_before)


def adapt(tokenizer: BaseFiles, how: str) -> Adapted:
    merges = tokenizer.tokenizer
    if how == "extended":
        return Adapted.of(merges, extend(merges, CORPUS, 12).tokenizer)
    if how == "shrunk":
        return shrink(merges, CORPUS, merges.vocab_size - 400)
    return replace(merges, CORPUS, 12)


@pytest.mark.parametrize("name", first_of([*NAMES, *LARGE], "llama2.json"), indirect=True)
def test_a_written_file_encodes_as_its_base_where_no_token_was_removed(name: str) -> None:
    files = base(name)
    for how in ["replaced"] if name in LARGE else ["extended", "shrunk", "replaced"]:
        adapted = adapt(files, how)
        after = library(adapted_files(adapted, files.files))
        n_new = n_changed = 0
        for text, expected in zip(TEXTS, ids_before(name), strict=True):
            ids = after(text)
            n_new += sum(int(adapted.old_ids[id]) == Adapted.NO_OLD_ID for id in ids)
            if set(expected).isdisjoint(adapted.removed):
                assert [part for id in ids for part in parts(adapted, id)] == expected, (how, text)
            else:
                n_changed += 1
        assert (n_new > 0) == (how != "shrunk")
        assert n_changed < len(TEXTS) // 2


def parts(adapted: Adapted, id: int) -> tuple[int, ...]:
    """Return the base's ids that spell an id of the adapted tokenizer."""
    old = int(adapted.old_ids[id])
    return adapted.parts[id] if old == Adapted.NO_OLD_ID else (old,)


@pytest.mark.parametrize("name", NAMES[:2], indirect=True)
def test_an_extension_of_a_base_with_a_first_space_is_a_folder_of_transformers(
    name: str, tmp_path: Path
) -> None:
    run = extend(base(name).tokenizer, CORPUS, 12)
    folder = tmp_path / "folder"
    write_files(dumps(run.tokenizer, "transformers"), folder)
    peers = [
        tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")),
        AutoTokenizer.from_pretrained(folder),
    ]
    for text in TEXTS:
        ids = run.tokenizer.encode(text, allowed_special="all")
        assert peers[0].encode(text, add_special_tokens=False).ids == ids, text
        assert peers[1].encode(text, add_special_tokens=False) == ids, text


def test_the_unknown_token_of_a_llama_2_style_folder_is_named(tmp_path: Path) -> None:
    config = bpe.TrainingConfig(
        600,
        base="characters",
        byte_fallback=True,
        pretokenizer="metaspace",
        special_tokens=("<unk>", "<s>", "</s>"),
    )
    folder = tmp_path / "folder"
    write_files(dumps(bpe.train(CORPUS, config).tokenizer, "transformers"), folder)
    peer = AutoTokenizer.from_pretrained(folder)
    assert (peer.unk_token, peer.bos_token, peer.eos_token) == ("<unk>", "<s>", "</s>")
    roles = json.loads((folder / "special_tokens_map.json").read_text())
    assert roles == {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
