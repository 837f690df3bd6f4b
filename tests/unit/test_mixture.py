"""What a tokenizer was trained on, on mixtures whose shares are known."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bpe_core as bpe
from bpe_core.cli import main
from bpe_core.corpus import count_pretokens
from bpe_core.vocabulary import mixtures
from bpe_core.vocabulary.mixtures import SampleSet
from tests.commands import run


def made_up(seed: int, n_bytes: int, *, draw: int) -> list[str]:
    """Return documents of a made-up language: the words follow `seed`, the text `draw`."""
    letters = random.Random(seed)
    syllables = ["".join(letters.choices("abdefgiklmnorstuz", k=2)) for _ in range(30)]
    words = ["".join(letters.choices(syllables, k=letters.randint(1, 3))) for _ in range(400)]
    text = random.Random(draw)
    weights = [1 / rank for rank in range(1, 401)]
    documents: list[str] = []
    while sum(map(len, documents)) < n_bytes:
        documents.append(" ".join(text.choices(words, weights, k=80)))
    return documents


TRUE = {"one": 0.55, "two": 0.3, "three": 0.15}
TRAINING = [
    text
    for seed, share in enumerate(TRUE.values())
    for text in made_up(seed, int(share * 300_000), draw=100 + seed)
]
SAMPLES = {name: made_up(seed, 60_000, draw=200 + seed) for seed, name in enumerate(TRUE)}
TOKENIZER = bpe.train(TRAINING, vocab_size=900).tokenizer


def test_known_shares_are_found_and_lie_in_their_intervals() -> None:
    found = bpe.mixture(TOKENIZER, SAMPLES)
    assert found.categories == tuple(TRUE)
    assert found.shares.sum() == pytest.approx(1)
    assert np.abs(found.shares - [*TRUE.values()]).max() < 0.02
    assert np.all(found.low <= found.shares)
    assert np.all(found.shares <= found.high)
    assert np.all(found.high - found.low < 0.1)
    assert found.fits
    for name, witnesses in found.witnesses.items():
        assert witnesses, name
        assert [each.rank for each in witnesses] == sorted(each.rank for each in witnesses)
        own = " ".join(SAMPLES[name])
        others = " ".join(" ".join(texts) for other, texts in SAMPLES.items() if other != name)
        for each in witnesses:
            text = each.token.decode()
            assert own.count(text) > others.count(text) / 2
            assert each.share >= 0.5


def test_a_tokenizer_with_superwords_is_refused() -> None:
    text = "by the by the by " * 9
    tokenizer = bpe.train([text], vocab_size=265, superwords_from=259).tokenizer
    with pytest.raises(bpe.ConfigError, match="Give one without superwords"):
        bpe.mixture(tokenizer, {"a": text, "b": text})


def test_a_missing_category_and_foreign_text_are_noticed() -> None:
    missing = {name: texts for name, texts in SAMPLES.items() if name != "one"}
    assert not bpe.mixture(TOKENIZER, missing, n_resamples=0).fits
    foreign = {"a": "Приве́т, мир! " * 50, "b": "こんにちは、世界。 " * 50}
    assert not bpe.mixture(TOKENIZER, foreign, n_resamples=0).fits


def test_counts_at_a_step_are_those_of_the_shorter_tokenizer() -> None:
    """Each step's pairs, against the texts encoded with the merges before it."""
    samples = {"one": SAMPLES["one"][:3], "two": SAMPLES["two"][:3]}
    counted = mixtures._count(TOKENIZER, samples, None, 12, lambda *_: None)
    for place, rank in enumerate(counted.ranks.tolist()):
        shorter = TOKENIZER.truncated(rank)
        merge = TOKENIZER.merges[rank]
        rows = np.flatnonzero(counted.step == place)
        for column, texts in enumerate(samples.values()):
            parts = mixtures._divide(texts, "")
            n = 0
            for part in parts:
                pretokens = count_pretokens(part, shorter.pretokenizer)
                for word, count in zip(pretokens.words, pretokens.counts, strict=True):
                    ids = shorter.encode(word.decode())
                    n += int(count) * [*pairwise(ids)].count(merge.pair)
            assert counted.counts[rows[0], column].sum() == n


def test_the_program_is_solved_as_by_all_its_constraints_together() -> None:
    counted = mixtures._count(TOKENIZER, SAMPLES, 200, 30, lambda *_: None)
    whole, steps = np.ones((3, mixtures.N_PARTS)), np.ones(len(counted.ranks))
    frequency = counted.frequencies(whole)
    firsts = np.searchsorted(counted.step, np.arange(len(counted.ranks)))
    lead = frequency[firsts][counted.step] - frequency
    lead /= np.abs(lead).max()
    rivals = np.setdiff1d(np.arange(len(counted.step)), firsts)
    shares, _, _ = mixtures._program(
        lead[rivals], counted.step[rivals], counted.pair[rivals], steps
    )
    assert mixtures._solve(counted, whole, steps) == pytest.approx(shares, abs=1e-3)


def test_the_command(tmp_path: Path) -> None:
    bpe.save(TOKENIZER, tmp_path / "mine.json")
    options: list[str] = []
    for name, texts in SAMPLES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("\n".join(texts))
        options += ["--sample", f"{name}={tmp_path / name}"]
    tokenizer = str(tmp_path / "mine.json")

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["mixture", tokenizer, *arguments])
        return done.exit_code, done.output

    status, printed = run(*options, "--resamples", "2")
    assert status == 0
    assert "one     54" in printed
    assert "the samples explain" in printed
    status, printed = run(*options, "--resamples", "0", "--json")
    found = json.loads(printed)
    assert [each["category"] for each in found["categories"]] == [*TRUE]
    assert found["fits"]
    (tmp_path / "empty.txt").write_text("")
    errors = {
        ("--sample", "x"): "Expected --sample CATEGORY=PATH",
        tuple(options[:2]): "Expected 2 to 40 categories, got 1",
        (*options, *options[:2]): "has two samples",
        (*options, "--sample", f"e={tmp_path}/none"): "cannot be read",
        (*options, "--sample", f"e={tmp_path}/empty.txt"): "empty",
    }
    for arguments, message in errors.items():
        status, printed = run(*arguments)
        assert (status, message in printed) == (1, True), printed


def test_wrong_arguments() -> None:
    with pytest.raises(bpe.ConfigError, match="has no merges"):
        bpe.mixture(TOKENIZER.truncated(0), SAMPLES)
    with pytest.raises(bpe.ArgumentTypeError, match="a dict from categories"):
        bpe.mixture(TOKENIZER, ["text"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(bpe.CorpusError, match="'b' has fewer than 4 words"):
        bpe.mixture(TOKENIZER, {"a": "hug hug hug hug", "b": "hug"})
    with pytest.raises(bpe.ConfigError, match="merges of this tokenizer are not known"):
        bpe.mixture(None, SAMPLES)  # pyright: ignore[reportArgumentType]


def test_the_command_takes_shipped_samples_alone_or_with_own_ones(tmp_path: Path) -> None:
    given = ("mixture", "gpt2", "--resamples", "0", "--merges", "60", "--json")
    own = tmp_path / "own.txt"
    own.write_text("hug hugs hugging " * 60, encoding="utf-8")
    sets: list[SampleSet] = ["kinds", "languages"]
    for which in sets:
        more = ("--sample", f"Hugs={own}") if which == "languages" else ()
        printed = json.loads(run(*given, "--samples", which, *more).stdout)
        names = [row["category"] for row in printed["categories"]]
        assert names == [*mixtures.shipped_samples(which), *(["Hugs"] if more else [])]
        # No few samples stand for a published tokenizer's training text, and that is said.
        assert printed["fits"] is False
    assert "--samples" in run("mixture", "gpt2").output
    both = run(*given, "--samples", "kinds", "--sample", f"English story={own}")
    assert (both.exit_code, "has two samples" in both.output) == (1, True)
