"""Open the files of a tokenizer to adapt: which of them define it, and which are kept with it."""

from __future__ import annotations

import json
import zipfile
from codecs import BOM_UTF8
from pathlib import Path

import pytest
import tokenizers

import bpe_core as bpe
from bpe_core.adapting import Adapted, extend, shrink
from bpe_core.formats import BaseFiles, adapted_files, dumps, loads, write_files
from bpe_core.formats.gpt2_files import write_gpt2_files

TEXT = "Der Fluss fließt, die Flüsse fließen; 12 Schiffe im Jahr 1912. " * 9
CORPUS = bpe.Corpus.from_text(TEXT)


@pytest.fixture
def qwen_like() -> bpe.Tokenizer:
    """Train a tokenizer with Qwen's pre-tokenizer, and with added tokens after its vocabulary."""
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    plain = bpe.train(
        CORPUS, bpe.TrainingConfig(290, pretokenizer="qwen2", special_tokens=())
    ).tokenizer
    return bpe.Tokenizer(
        vocab={**plain.vocab, **{290 + i: text.encode() for i, text in enumerate(special)}},
        merges=[(merge.left, merge.right, merge.id) for merge in plain.merges],
        pretokenizer="qwen2",
        special_tokens={text: 290 + i for i, text in enumerate(special)},
    )


def write_pair(tokenizer: bpe.Tokenizer) -> dict[str, bytes]:
    """Return the two files kept next to a tokenizer.json, without the added tokens."""
    files = write_gpt2_files(tokenizer)
    ids = json.loads(files["vocab.json"])
    ordinary = {text: id for text, id in ids.items() if text not in tokenizer.special_tokens}
    return {**files, "vocab.json": json.dumps(ordinary).encode()}


@pytest.mark.parametrize("how", ["extend", "shrink"])
def test_a_tokenizer_json_goes_before_the_two_files_beside_it(
    how: str, qwen_like: bpe.Tokenizer, tmp_path: Path
) -> None:
    write_files({**dumps(qwen_like, "transformers"), **write_pair(qwen_like)}, tmp_path)
    base = BaseFiles.open(tmp_path)
    assert base.tokenizer == qwen_like
    assert base.files.keys() == {path.name for path in tmp_path.iterdir()}
    if how == "extend":
        adapted = Adapted.of(qwen_like, extend(qwen_like, CORPUS, 7).tokenizer)
    else:
        adapted = shrink(qwen_like, CORPUS, 280)
    files = adapted_files(adapted, base.files)
    assert files.keys() == base.files.keys()
    peer = tokenizers.Tokenizer.from_str(files["tokenizer.json"].decode())
    assert peer.encode(TEXT).ids == adapted.tokenizer.encode(TEXT)
    special = adapted.tokenizer.special_tokens
    decoder = json.loads(files["tokenizer_config.json"])["added_tokens_decoder"]
    assert {each["content"]: int(id) for id, each in decoder.items()} == special
    written = {name: files[name] for name in ("vocab.json", "merges.txt")}
    pair = loads(written, pretokenizer="qwen2", special_tokens=special)
    assert pair == adapted.tokenizer
    assert not special.keys() & json.loads(files["vocab.json"]).keys()


@pytest.mark.parametrize("mark", [b"", BOM_UTF8])
def test_a_byte_order_mark_is_kept(mark: bytes, qwen_like: bpe.Tokenizer) -> None:
    files = {**dumps(qwen_like, "transformers"), "added_tokens.json": b'{"<|im_end|>": 292}'}
    marked = {name: mark + data for name, data in files.items()}
    adapted = shrink(qwen_like, CORPUS, 280)
    written = adapted_files(adapted, marked)
    assert written == {name: mark + data for name, data in adapted_files(adapted, files).items()}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("tokenizer_config.json", b'{"a": "\xff"}', "not valid UTF-8"),
        ("tokenizer_config.json", '{"a": "é"}'.encode("utf-16"), "Save it as UTF-8"),
        ("tokenizer_config.json", b'{"added_tokens_decoder": [1]}', "got list"),
        ("tokenizer_config.json", b'{"added_tokens_decoder": null}', "got NoneType"),
        ("tokenizer_config.json", b'{"added_tokens_decoder": {"x": {}}}', "Expected ids as keys"),
        ("added_tokens.json", b'{"<|im_end|>": "292"}', "Expected an id"),
        ("added_tokens.json", b'{"<|im_end|>": 2.5}', "Expected an id"),
        ("added_tokens.json", b"[1]", "Expected a JSON object"),
    ],
)
def test_damaged_files_beside_are_named(
    name: str, data: bytes, message: str, qwen_like: bpe.Tokenizer
) -> None:
    files = {**dumps(qwen_like, "huggingface"), name: data}
    with pytest.raises(bpe.FormatError, match=message) as raised:
        adapted_files(shrink(qwen_like, CORPUS, 280), files)
    assert name in str(raised.value)


def test_a_config_without_added_tokens_is_kept(qwen_like: bpe.Tokenizer) -> None:
    config = b'{"model_max_length": 512}'
    files = {**dumps(qwen_like, "huggingface"), "tokenizer_config.json": config}
    written = adapted_files(shrink(qwen_like, CORPUS, 280), files)
    assert written["tokenizer_config.json"] == config


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("padding", {"pad_id": "290"}),
        ("post_processor", {"special_tokens": {"<|im_end|>": {"ids": ["x"]}}}),
    ],
)
def test_ids_of_another_form_in_a_tokenizer_json_are_named(
    part: str, value: object, qwen_like: bpe.Tokenizer
) -> None:
    described = json.loads(dumps(qwen_like, "huggingface")["tokenizer.json"])
    data = json.dumps({**described, part: value}).encode()
    with pytest.raises(bpe.FormatError, match=part):
        adapted_files(shrink(qwen_like, CORPUS, 280), {"tokenizer.json": data})


def test_a_zip_is_unpacked_and_written_as_its_folder(
    qwen_like: bpe.Tokenizer, tmp_path: Path
) -> None:
    files = {**dumps(qwen_like, "transformers"), "chat_template.jinja": b"{{ x }}"}
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"mine/{name}", data)
        archive.writestr("mine/config.json", "{}")
        archive.writestr("other/added_tokens.json", "{}")
    base = BaseFiles.open(path)
    adapted = Adapted.of(qwen_like, extend(qwen_like, CORPUS, 7).tokenizer)
    assert adapted_files(adapted, base.files) == adapted_files(adapted, files)


def test_a_pair_with_longer_names_keeps_them(qwen_like: bpe.Tokenizer) -> None:
    files = dumps(qwen_like, "gpt2")
    adapted = shrink(qwen_like, CORPUS, 280)
    written = adapted_files(adapted, {f"my-{name}": data for name, data in files.items()})
    expected = adapted_files(adapted, files)
    assert written == {f"my-{name}": data for name, data in expected.items()}


def test_files_that_would_not_read_back_are_refused(qwen_like: bpe.Tokenizer) -> None:
    adapted = shrink(qwen_like, CORPUS, 280)
    twice = b'{"<|im_end|>": 292, "<|im_end|>": 292}'
    files = {**dumps(qwen_like, "huggingface"), "added_tokens.json": twice}
    assert json.loads(adapted_files(adapted, files)["added_tokens.json"]) == {"<|im_end|>": 279}
    # A vocab.json of another tokenizer next to the tokenizer.json.
    other = bpe.train(bpe.Corpus.from_text("hug hugs hugging"), bpe.TrainingConfig(262)).tokenizer
    files = {**dumps(qwen_like, "huggingface"), **dumps(other, "gpt2")}
    with pytest.raises(bpe.BpeError):
        adapted_files(adapted, files)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(bpe.MissingFileError, match=r"a\.json does not exist\. Check the path\."):
        BaseFiles.open(tmp_path / "a.json")
