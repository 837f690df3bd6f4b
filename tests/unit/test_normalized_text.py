"""Text is normalized before it is cut: counted, learned from, encoded, placed and written so."""

from __future__ import annotations

import json
import pickle
import unicodedata
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given

import bpe_core as bpe
from bpe_core.adapting import Adapted
from bpe_core.corpus import count_pretokens, load_sample, stream_corpus
from bpe_core.formats import adapted_files, dumps, loads
from bpe_core.pretokenizers import NORMALIZERS, get_pretokenizer
from bpe_core.tokenizer import boundaries
from bpe_core.types import Format
from bpe_core.vocabulary import Reachability, SourceLines
from tests.strategies import hostile_texts
from ui.run.corpus_summary import pretoken_figures
from ui.tokenizers.normalized import list_changes

FORMS = [*NORMALIZERS]
PROSE = "Crème brûlée, naïve cafés; được không? 한국어 텍스트 ﬁne ① Å\n" * 8
TEXTS = [
    "",
    PROSE,
    unicodedata.normalize("NFD", PROSE),
    "e\u0301<|endoftext|>\u0301 \u1100\u1161\u11a8",
]
SMALL = bpe.train(
    [*load_sample("notebook").documents, PROSE], bpe.TrainingConfig(500, pretokenizer="gpt2")
).tokenizer


def base_of(form: str, cut: str = "gpt2") -> bpe.Tokenizer:
    return SMALL.with_changes(pretokenizer=f"{form}+{cut}")


def library_form(form: str, text: str) -> str:
    return getattr(tokenizers.normalizers, form)().normalize_str(text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cut", ["gpt2", "whitespace", "none", "regex:[aeiou]"])
@pytest.mark.parametrize("size", [1, 400])
def test_a_corpus_is_normalized_wherever_it_is(
    form: str, cut: str, size: int, tmp_path: Path
) -> None:
    # The larger one is counted by kernels.
    texts = [text * size for text in TEXTS]
    cutter = get_pretokenizer(f"{form}+{cut}")
    plain = bpe.Corpus.from_documents([library_form(form, text) for text in texts])
    expected = count_pretokens(plain, get_pretokenizer(cut))
    given = bpe.Corpus.from_documents(texts)
    paths = [tmp_path / f"{number}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    streamed = bpe.count_words(stream_corpus(paths), cutter.name)
    in_stretches = tmp_path / "counts.parquet"
    sources, work = [path for path in paths if path.stat().st_size], tmp_path / "work"
    bpe.count_files(sources, in_stretches, work=work, pretokenizer=cutter.name)
    for found in (
        count_pretokens(given, cutter),
        streamed.pretokens,
        bpe.read_counts(in_stretches).pretokens,
    ):
        assert dict(zip(found.words, found.counts.tolist(), strict=True)) == dict(
            zip(expected.words, expected.counts.tolist(), strict=True)
        )
    assert pretoken_figures(given, cutter.name) == pretoken_figures(plain, cut)


@pytest.mark.parametrize("form", FORMS)
def test_training_and_extending_learn_from_the_normal_form(form: str) -> None:
    plain = [library_form(form, text) for text in TEXTS]
    for alphabet in ("full", "seen"):
        config = {"vocab_size": 330, "alphabet": alphabet}
        run = bpe.train(TEXTS, pretokenizer=f"{form}+gpt2", **config)
        assert run.merges == bpe.train(plain, pretokenizer="gpt2", **config).merges
        assert loads(dumps(run.tokenizer, "huggingface")) == run.tokenizer
        assert loads(dumps(run.tokenizer, "native")) == run.tokenizer
    terms = ["cafe\u0301s", "e\u0301".encode()]
    run = bpe.extend(base_of(form), TEXTS, n_tokens=20, terms=terms)
    assert [cost.term for cost in run.terms] == terms
    is_kept = library_form(form, "e\u0301") == "e\u0301"
    forms = [library_form(form, terms[0]), *(terms[1:] if is_kept else [])]
    assert run.merges == bpe.extend(SMALL, plain, n_tokens=20, terms=forms).merges
    assert ("normalizer changes it" in (run.terms[1].reason or "")) != is_kept


def made_of(base: bpe.Tokenizer) -> dict[str, Adapted]:
    run = bpe.extend(base, TEXTS, n_tokens=20)
    return {
        "extend": Adapted.of(base, run.tokenizer),
        "shrink": bpe.shrink(base, TEXTS, vocab_size=base.vocab_size - 30),
        "replace": bpe.replace(base, TEXTS, n_tokens=9),
    }


@pytest.mark.parametrize("form", FORMS)
def test_the_written_file_normalizes_and_its_library_gives_these_ids(form: str) -> None:
    base = base_of(form)
    files = dumps(base, "huggingface")
    for adapted in made_of(base).values():
        (written,) = adapted_files(adapted, files).values()
        assert json.loads(written)["normalizer"] == {"type": form}
        peer = tokenizers.Tokenizer.from_str(written.decode())
        for text in TEXTS:
            theirs = peer.encode(text, add_special_tokens=False).ids
            assert adapted.tokenizer.encode(text, "all") == theirs
        assert loads({"tokenizer.json": written}) == adapted.tokenizer


@pytest.mark.parametrize("format", ["gguf", "gpt2", "tiktoken"])
def test_a_format_without_normalizers_refuses_one_by_name(format: Format) -> None:
    with pytest.raises(bpe.ConfigError, match="cannot express that text is normalized to NFKC"):
        dumps(base_of("NFKC"), format)


def test_tokens_that_no_normalized_text_has_are_unreachable() -> None:
    tokens = {256: "e\u0301".encode(), 257: "é".encode(), 258: b"e\xcc"}
    merges = [(0x65, 0xCC, 258), (258, 0x81, 256), (0xC3, 0xA9, 257)]
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, **tokens}
    for name, expected in (("none", set[int]()), ("NFC+none", {256}), ("NFD+none", {257})):
        tokenizer = bpe.Tokenizer(vocab=vocab, merges=merges, pretokenizer=name)
        found = Reachability.of(tokenizer)
        assert {id for id in tokens if id in found.unreachable} == expected
        assert set(found.unreachable.values()) >= ({"normalizer"} if expected else set())
        assert not {*tokens} & {*found.undecided}


def test_the_line_of_a_token_is_shown_as_it_was_given() -> None:
    corpus = bpe.Corpus.from_text("ok\nun cafe\u0301 cafe\u0301s")
    run = bpe.train(corpus, vocab_size=265, special_tokens=(), pretokenizer="NFC+gpt2")
    id = run.tokenizer.token_to_id(" café")
    assert id is not None
    (line,) = SourceLines.find(run, corpus, id).lines
    assert [line.text[start:end] for start, end in line.spans] == [" cafe\u0301"] * 2
    assert list_changes(run.tokenizer, line.text)


def test_names() -> None:
    tokenizer = base_of("NFC")
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer != SMALL  # noqa: S301
    assert tokenizer.fingerprint != SMALL.fingerprint
    for wrong in ("NFC+no-such", "NFX+gpt2", "NFC+NFC+gpt2"):
        with pytest.raises(bpe.ConfigError, match="no pre-tokenizer named"):
            get_pretokenizer(wrong)
    with pytest.raises(bpe.ConfigError, match="not done after a normalizer"):
        get_pretokenizer("NFC+metaspace")


@pytest.mark.parametrize("form", ["NFC", "NFKD"])
@pytest.mark.parametrize("cut", ["gpt2", "whitespace"])
@given(text=hostile_texts)
def test_each_byte_of_a_text_is_in_one_token(form: str, cut: str, text: str) -> None:
    tokenizer = base_of(form, cut)
    for allowed in ((), "all"):
        placed = tokenizer.segments(text, allowed)
        assert [each.id for each in placed if each.id is not None] == tokenizer.encode(
            text, allowed
        )
        data, at = text.encode(), 0
        for each in placed:
            assert each.byte_start == at
            at = each.byte_end
        assert at == len(data)
        found = boundaries(text, tokenizer, allowed)
        assert found.byte_ends.tolist() == [each.byte_end for each in placed]
    written = tokenizer.pretokenizer.written(text)
    explained = tokenizer.explain(text)
    assert [each.text for each in explained] == tokenizer.pretokenizer.split(written)
    assert [id for each in explained for id in each.ids] == tokenizer.encode(text)


def test_several_tokens_of_one_character_leave_all_but_the_last_empty() -> None:
    jamo = unicodedata.normalize("NFD", "한")
    tokenizer = bpe.train(
        ["a"], vocab_size=257, pretokenizer="NFC+gpt2", special_tokens=()
    ).tokenizer
    placed = tokenizer.segments(f"a {jamo}")
    assert [(each.start, each.end) for each in placed] == [(0, 1), (1, 2), (2, 2), (2, 2), (2, 5)]
    assert [each.byte_end - each.byte_start for each in placed] == [1, 1, 0, 0, 9]


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("NFC", {"Ångström": True, "<think>": False}),  # one is looked for in the normalized text
        ("NFD", {"ab": True, "bc": False}),  # one search would find another token in abc
    ],
)
def test_load_reads_a_file_whose_added_tokens_are_found_in_any_text(
    form: str, texts: dict[str, bool], tmp_path: Path
) -> None:
    described = json.loads(dumps(base_of(form), "huggingface")["tokenizer.json"])
    for id, (text, normalized) in enumerate(texts.items(), SMALL.vocab_size):
        described["added_tokens"].append(
            {"id": id, "content": text, "special": False, "normalized": normalized}
            | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        )
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(described))
    peer = tokenizers.Tokenizer.from_file(str(path))
    loaded = bpe.load(path)
    assert {each.text for each in loaded.added} >= {*texts}
    for text in [*TEXTS, "A\u030angström Ångström <think>e\u0301</think>", "abc bcab abbc"]:
        assert loaded.encode(text, "all") == peer.encode(text, add_special_tokens=False).ids
    for format in ("huggingface", "native"):
        assert loads(dumps(loaded, format)) == loaded
    assert bpe.open_encoder(path).encoder == loaded
