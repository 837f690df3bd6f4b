"""The commands that adapt a tokenizer: what they write, keep and refuse."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from transformers import AutoTokenizer

import bpe_core as bpe
from bpe_core.adapting import Advice
from bpe_core.corpus import load_sample
from bpe_core.formats import CATALOGUE, dumps, write_files
from bpe_core.unicode import token_script
from tests.commands import run, succeed
from tests.oracles import TOKENIZERS
from tests.unit.test_across_words import described

TEXT = "Die Straße zum Fluss, der Fluss zur Straße, die Flüsse und Straßen. " * 30


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def small() -> bpe.Tokenizer:
    """Return a tokenizer that is adapted in a moment, with tokens of several scripts."""
    corpus = bpe.Corpus.from_documents(
        [d for name in ("multilingual", "alice") for d in load_sample(name).documents]
    )
    return bpe.train(corpus, bpe.TrainingConfig(2_000, pretokenizer="gpt2")).tokenizer


@pytest.fixture
def base(small: bpe.Tokenizer, tmp_path: Path) -> Path:
    """Return the small tokenizer's file."""
    bpe.save(small, tmp_path / "base.bpe.json")
    return tmp_path / "base.bpe.json"


@pytest.mark.parametrize(
    ("command", "option", "number", "size"),
    [
        ("extend", "--tokens", 8, 2_008),
        ("shrink", "--size", 900, 900),
        ("replace", "--tokens", 8, 2_000),
    ],
)
def test_a_folder_comes_back_as_a_folder_with_the_rows(
    command: str,
    option: str,
    number: int,
    size: int,
    small: bpe.Tokenizer,
    text: Path,
    tmp_path: Path,
) -> None:
    base, out = tmp_path / "base", tmp_path / "out"
    write_files({**dumps(small, "transformers"), "chat_template.jinja": b"{{ x }}"}, base)
    shutil.copy(base / "special_tokens_map.json", base / "chat_template.jinja")
    result = succeed(command, base, text, option, str(number), "--out", out)
    peer = tokenizers.Tokenizer.from_file(str(out / "tokenizer.json"))
    assert peer.get_vocab_size() == size
    assert np.load(out / "old_ids.npy").shape == (size,)
    assert len(np.load(out / "parts.npy")) == size
    assert (out / "chat_template.jinja").read_bytes() == (base / "chat_template.jinja").read_bytes()
    decoder = json.loads((out / "tokenizer_config.json").read_text())["added_tokens_decoder"]
    assert list(decoder) == [str(peer.token_to_id("<|endoftext|>"))]
    n_tokens = len(peer.encode(TEXT).ids)
    assert f"takes {n_tokens:,} tokens instead of" in result.stderr
    fewer = 100 * (1 - n_tokens / len(small.encode(TEXT)))
    change = f", {fewer:.1f}% fewer" if fewer else ""
    assert result.stderr.splitlines()[-3].endswith(f"{change}.")
    assert f"became {size:,}" in result.stderr


def test_the_gain_on_held_out_text_has_an_interval_or_the_reason_why_not(
    base: Path, text: Path, tmp_path: Path
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for n in range(300):
        (texts / f"{n}.txt").write_text(f"{TEXT}{n * n}\n" * (1 + n % 3), encoding="utf-8")
    options = "--tokens", "8", "--held-out", "0.2", "--out", tmp_path / "out"
    many = succeed("extend", base, texts, *options)
    told = many.stderr.splitlines()[-4]
    assert re.search(r"Held-out text .* (fewer|more) \(95% interval [^)]+\)\.", told), told
    assert "95% intervals over whole documents, 2,000 resamples. They answer for" in told
    one = run("extend", base, text, *options)
    assert "95%" not in one.stderr
    assert "No interval: it takes 20 documents" in one.stderr.splitlines()[-4]


@pytest.mark.slow
def test_published_names_and_another_format(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_TOKENIZERS", str(TOKENIZERS))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = succeed("extend", "llama3", text, "--tokens", "3", "--out", tmp_path / "a")
    assert not (tmp_path / "a" / "llama3.tiktoken").exists()
    assert "no chat template" in result.stderr
    ids = bpe.load(tmp_path / "a").special_tokens
    assert ids == CATALOGUE["llama3"].special_tokens
    peer = AutoTokenizer.from_pretrained(tmp_path / "a")
    assert (peer.bos_token, peer.eos_token) == ("<|begin_of_text|>", "<|end_of_text|>")
    assert peer.encode("a<|eot_id|>") == [128_000, 64, 128_009]
    ranks = ("--format", "tiktoken", "--out", tmp_path / "ranks")
    result = run("extend", "llama3", text, "--tokens", "3", *ranks)
    assert (tmp_path / "ranks" / "tokenizer.tiktoken").is_file()
    assert "holds no special tokens. Pass them with their ids: <|begin_of_text|> is 128,000" in (
        result.stderr
    )


@pytest.mark.slow
@pytest.mark.more(why="other formats of large files; small ones are above")
def test_published_names_of_other_formats(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_TOKENIZERS", str(TOKENIZERS))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    succeed("extend", "claude-2", text, "--tokens", "3", "--out", tmp_path / "b")
    written = tmp_path / "b" / "claude-2.json"
    assert bpe.open_encoder(written).encode("ﬁ") == bpe.open_encoder("claude-2").encode("fi")
    succeed("extend", "starcoder", text, "--tokens", "3", "--out", tmp_path / "gguf")
    (written,) = (tmp_path / "gguf").glob("*.gguf")
    assert bpe.load(written).vocab_size == bpe.load(TOKENIZERS / "starcoder.gguf").vocab_size + 3
    succeed("extend", "mistral-7b", text, "--tokens", "3", "--out", tmp_path / "d")
    (model,) = (tmp_path / "d").glob("*.model")
    assert bpe.load(model).vocab_size == 32_003


@pytest.mark.parametrize("command", ["extend", "replace"])
@pytest.mark.parametrize(
    ("share", "added"), [("0", set[str]()), ("0.9", {"漢"}), ("1", {"漢", "字"})]
)
def test_characters_are_added_to_cover_a_share_of_the_text(
    command: str, share: str, added: set[str], tmp_path: Path
) -> None:
    base, text, out = tmp_path / "tokenizer.json", tmp_path / "notes.txt", tmp_path / "out"
    base.write_text(json.dumps(described()), encoding="utf-8")
    text.write_text("漢漢漢字 baba baba", encoding="utf-8")
    options = "--tokens", "2", "--character-coverage", share, "--out", out
    succeed(command, base, text, *options)
    tokens = json.loads((out / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    assert tokens.keys() & {"漢", "字"} == added


def test_impossible_numbers_and_paths_are_one_line(base: Path, text: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("shrink", base, text, "--size", "5"), "cannot shrink below 257"),
        (("replace", base, text, "--tokens", "1744"), "1,743 can be removed, not 1,744."),
        (("replace", base, text, "--tokens", "99999"), "from 1 to 2,000, got 99999"),
        (("extend", base, text, "--tokens", "0"), "Expected --tokens as a whole number"),
        (
            ("extend", base, text, "--tokens", "3", "--character-coverage", "0.9"),
            "--character-coverage is for a base that spells rare characters in bytes",
        ),
        (
            ("shrink", base, text, "--size", "1000", "--script", "Klingon"),
            "There is no script 'Klingon'. The names of scripts are: Latin, ",
        ),
        (("replace", base, text, "--tokens", "1500"), "Replace fewer"),
        (("extend", tmp_path / "none.json", text, "--tokens", "3"), "does not exist"),
    ):
        result = run(*arguments, "--out", tmp_path / "out")
        assert result.exit_code == 1
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command",
    [("extend", "--tokens", "3"), ("shrink", "--size", "300"), ("replace", "--tokens", "3")],
)
def test_a_base_that_cannot_be_written_is_refused_before_the_run(
    command: tuple[str, ...], text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "seen.bpe.json"
    bpe.save(bpe.train([TEXT], vocab_size=300, alphabet="seen").tokenizer, base)

    def run_is_not_begun(*_: object, **__: object) -> None:
        raise AssertionError("The run began.")

    # First the one that imports the others, which would keep what stands in for them.
    for module in ("replace", "shrink", "extend"):
        monkeypatch.setattr(f"bpe_core.adapting.{module}", run_is_not_begun)
    name, *given = command
    options = [*given, "--format", "tiktoken", "--out", tmp_path / "out"]
    refused = run(name, base, text, *options)
    assert refused.exit_code == 1
    assert "tiktoken needs all 256 bytes as tokens" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_terms_are_tried_first_and_tokens_left_out(
    small: bpe.Tokenizer, base: Path, text: Path, tmp_path: Path
) -> None:
    terms = tmp_path / "terms.txt"
    terms.write_text("\ufeffFluss \n\n  \nFlüsse\r\nZwei Worte\n", encoding="utf-8")
    result = succeed(
        "extend",
        base,
        text,
        "--tokens",
        "20",
        "--out",
        tmp_path / "a",
        "--term",
        "Straßen",
        "--terms",
        terms,
        "--leave-out",
        " zur",
        "--format",
        "huggingface",
    )
    lines = [line for line in result.stderr.splitlines() if "one token" in line]
    assert lines[0].startswith("'Straßen' is one token: ")
    assert lines[0].endswith(" saved in this text.")
    assert lines[1].startswith("'Fluss' is one token: ")
    assert lines[2].startswith("'Flüsse' is one token: ")
    assert lines[3].startswith("'Zwei Worte' is not one token: The pre-tokenizer cuts it")
    assert len(lines) == 4
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "a" / "tokenizer.json"))
    assert [len(peer.encode(word).ids) for word in (" Straßen", " Fluss", " Flüsse", " zur")] == [
        1,
        1,
        1,
        2,
    ]
    again = run(
        "extend",
        base,
        text,
        "--tokens",
        "20",
        "--out",
        tmp_path / "b",
        "--term",
        " the",
        "--term",
        "Kubernetes",
    )
    assert "' the' is one token already." in again.stderr
    n_added = len(small.encode("Kubernetes")) - 1
    assert (
        f"'Kubernetes' is one token: {n_added} tokens added, 0 saved in this text. It does not "
        "occur there, so that text does not train its row." in again.stderr
    )


def test_replacing_takes_terms_and_scripts(
    small: bpe.Tokenizer, base: Path, text: Path, tmp_path: Path
) -> None:
    terms = (
        "--script",
        "Han",
        "--script",
        "Cyrillic",
        "--term",
        "Straßen",
        "--leave-out",
        " Fluss",
    )
    out = ("--out", tmp_path / "out")
    result = succeed("replace", base, text, "--tokens", "6", *terms, *out)
    assert "'Straßen' is one token: " in result.stderr
    assert b" Fluss" not in bpe.load(tmp_path / "out").vocab.values()
    kept = set(np.load(tmp_path / "out" / "old_ids.npy").tolist())
    gone = {id for id in small.vocab if id not in kept}
    assert len(gone) == 6
    assert {token_script(small.vocab[id]) for id in gone} <= {"Han", "Cyrillic"}


def test_wrong_terms_are_one_line(base: Path, text: Path, tmp_path: Path) -> None:
    for option, value, message in (
        ("--terms", tmp_path / "none.txt", "cannot be read"),
        ("--term", "", "Expected terms"),
        ("--leave-out", "", "Expected tokens to leave out"),
    ):
        result = run(
            "extend", base, text, "--tokens", "3", "--out", tmp_path / "out", option, value
        )
        assert result.exit_code == 1
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_the_advice_says_which_tokens_are_too_rare_to_train_a_row() -> None:
    for n_tokens, n_rare, told in (
        (1, 1, "It occurs fewer than 100 times in the training text, too rarely to train a row."),
        (2, 2, "Each of them occurs fewer than 100 times"),
        (2, 1, "1 of them occurs fewer"),
        (1_300, 1_200, "1,200 of them occur fewer"),
    ):
        assert f". {told}" in Advice(n_tokens, 2_000, 0.001, (), n_rare, False).sentence
    assert "100 times" not in Advice(2, 2_000, 0.001, (), 0, False).sentence


@pytest.mark.parametrize("worth", [0.0002, 0.004, 0.5])
def test_as_many_tokens_are_advised_as_the_definition_says(worth: float) -> None:
    text = "".join(load_sample("alice").documents[:4])
    learned = bpe.extend(bpe.gpt2(), bpe.Corpus.from_text(text), n_tokens=330)
    after, kept, n = learned.tokens_after, 0, len(learned.merges)
    assert n > 200
    for start in range(0, n, 100):
        end = min(start + 100, n)
        if (after[start] - after[end]) / after[0] * 100 / (end - start) >= worth:
            kept = end
    found = Advice.of(learned, after, worth)
    assert (found.n_tokens, found.goes_on) == (kept, kept == n)
    assert kept == {0.0002: n, 0.004: found.n_tokens, 0.5: 0}[worth]
    uses = Counter(learned.truncated(kept).encode(text))
    assert found.n_rare == sum(uses[50_257 + place] < 100 for place in range(kept))
    assert f"{100 * worth:.2g}%" in found.sentence
    # It was asked for more tokens than the text has.
    assert (n < 330, found.ran_out, "try more" in found.sentence) == (True, True, False)
    for wrong in (0, 1, float("nan")):
        with pytest.raises(bpe.ConfigError, match="between 0 and 1"):
            Advice.of(learned, after, wrong)


def test_the_command_says_how_many_tokens_are_worth_adding(text: Path, tmp_path: Path) -> None:
    given = ("extend", "gpt2", text, "--tokens", "9", "--json")
    for number, more in enumerate(([], ["--held-out", "0.2"], ["--worth", "0.5"])):
        done = succeed(*given, *more, "--out", tmp_path / f"{number}")
        advice = json.loads(done.stdout)["advice"]
        assert advice["on"] == ("Held-out text" if "--held-out" in more else "This text")
        assert f"{advice['on']}: {advice['sentence']}" in done.stderr
        assert (advice["n_tokens"], len(advice["saved"])) == (9, 1)
        assert advice["worth"] == (0.005 if "--worth" in more else 0.001)
    assert run(*given, "--worth", "0", "--out", tmp_path / "no").exit_code == 2
