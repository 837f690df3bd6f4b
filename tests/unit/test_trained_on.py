"""A comparison says how much of its text a tokenizer was trained on."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.cli.results import held_out_place
from bpe_core.corpus import (
    HELD_OUT_ENDING,
    TRAINED_ON_ENDING,
    TrainedOn,
    held_out_lines,
    trained_on,
)
from bpe_core.corpus.trained_on import hash_documents, pack_hashes
from bpe_core.formats import find_note
from tests.commands import run, succeed

TEXTS = [f"Document {n} is about {word}.\n" * 9 for n, word in enumerate(("hugs", "pugs") * 20)]
CORPUS = bpe.Corpus.from_documents(TEXTS)
TRAINING, HELD_OUT = CORPUS.split(0.2)
ONE = bpe.Corpus.from_text("".join(f"It is line {n}, and there are more.\n" for n in range(900)))
ONE_TRAINING, ONE_HELD_OUT = ONE.split(0.1)
OTHER = bpe.Corpus.from_documents(["Something else. " * 20])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with texts in files, in a table, and in one file."""
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    for number, text in enumerate(TEXTS):
        Path("texts", f"{number}.txt").write_text(text)
    Path("rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    Path("one.txt").write_text(ONE.documents[0])
    return tmp_path


def seen(training: bpe.Corpus, known: bpe.Corpus | None = None) -> TrainedOn:
    """Return what is known of a training, with the hashes of documents if any are given."""
    documents = None if known is None else pack_hashes(hash_documents(known.documents))
    return TrainedOn(training.sha256, training.n_bytes, training.divided, None, documents)


@pytest.mark.parametrize(
    ("known", "compared", "share"),
    [
        (seen(CORPUS), CORPUS, 1.0),
        (seen(CORPUS), HELD_OUT, 1.0),
        (seen(TRAINING), TRAINING, 1.0),
        (seen(TRAINING), HELD_OUT, 0.0),
        (seen(TRAINING), CORPUS, TRAINING.n_bytes / CORPUS.n_bytes),
        (seen(ONE_TRAINING), ONE, ONE_TRAINING.n_bytes / ONE.n_bytes),
        (seen(ONE_TRAINING), ONE_HELD_OUT, 0.0),
        # Nothing is known of other text without the hashes of documents.
        (seen(CORPUS), OTHER, None),
        (seen(TRAINING), CORPUS.split(0.2, seed=1)[1], None),
        (seen(CORPUS, CORPUS), OTHER, 0.0),
        (seen(CORPUS, CORPUS), bpe.Corpus.from_documents([TEXTS[3], TEXTS[3].upper()]), 0.5),
        (seen(CORPUS, CORPUS), CORPUS.hold_out(OTHER)[1], 0.0),
        (seen(ONE_TRAINING, ONE), ONE.split(0.2)[1], 1.0),
        (
            replace(seen(ONE_TRAINING, ONE), held_out_sha256=ONE_HELD_OUT.sha256),
            ONE.split(0.1, seed=5)[1],
            0.0,  # whose ends are the same
        ),
        (seen(CORPUS, CORPUS), bpe.Corpus.from_word_counts({"hug": 3}), None),
    ],
)
def test_the_share_of_a_text_that_training_saw(
    known: TrainedOn, compared: bpe.Corpus, share: float | None
) -> None:
    assert known.share_of(compared) == (share if share is None else pytest.approx(share))
    assert TrainedOn.from_dict(json.loads(json.dumps(known.to_dict()))) == known


def test_of_many_documents_a_sample_of_the_hashes_says_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trained_on, "_MAX_HASHES", 200)
    texts = [f"text {n}" for n in range(2_000)]
    known = TrainedOn("", 0, documents=pack_hashes(hash_documents(texts)))
    assert len(known.documents or b"") == 200 * 8
    for n_seen in (0, 1_000, 2_000):
        compared = bpe.Corpus.from_documents([*texts[:n_seen], *(f"new {n}" for n in range(2_000))])
        share = known.share_of(compared)
        assert share == pytest.approx(n_seen / (n_seen + 2_000), abs=0.1)
    assert known.share_of(OTHER) in (None, 0.0)


def test_a_run_in_place_of_its_tokenizer_says_what_it_saw(tmp_path: Path) -> None:
    run_of_all, run_of_part = bpe.train(CORPUS, vocab_size=300), bpe.train(TRAINING, vocab_size=300)
    bpe.save(run_of_all, tmp_path / "mine.bpe.json")
    given = [run_of_all, run_of_part, run_of_all.tokenizer, tmp_path / "mine.bpe.json", "gpt2"]
    found = bpe.compare(HELD_OUT, given)
    assert found.shares_trained_on == (1.0, 0.0, None, 1.0, None)
    assert found.to_frame()["share_trained_on"].tolist()[:2] == [1.0, 0.0]
    assert found.rows[0] == found.rows[2] == found.rows[3]
    assert bpe.compare(OTHER, given).shares_trained_on == (None,) * 5
    text = bpe.train([TEXTS[0]], vocab_size=260)
    assert bpe.compare(TEXTS[0], [text]).shares_trained_on == (1.0,)


@pytest.mark.parametrize("source", ["texts", "rows.jsonl", "one.txt"])
def test_what_was_held_out_is_written_and_compared_as_the_same_part(
    folder: Path, source: str
) -> None:
    line = ("train", source, "--vocab-size", "300", "--held-out", "0.2", "--out", "mine.json")
    told = succeed(*line).stderr.splitlines()
    assert "Held-out text: mine.held-out.jsonl" in told
    shown = "To compare on it: bpe compare mine.held-out.jsonl -t mine.json -t gpt2"
    assert shown in told
    written = succeed(*shown.split()[5:])
    again = succeed(*f"compare {source} -t mine.json -t gpt2 --held-out 0.2".split())
    assert written.stdout == again.stdout
    assert "was trained on" not in written.stdout
    held_out = bpe.read_corpus("mine.held-out.jsonl")
    _, expected = bpe.read_corpus(source).split(0.2)
    for name in ("documents", "names", "how", "divided", "places", "n_sources"):
        assert getattr(held_out, name) == getattr(expected, name)
    # An earlier result is replaced, and no other file.
    succeed(*line)
    Path("mine.held-out.jsonl").write_text('{"text": "mine"}\n')
    assert "mine.held-out.jsonl exists" in run(*line).stderr


@pytest.mark.parametrize("source", ["texts", "rows.jsonl", "one.txt"])
def test_compare_says_first_that_a_tokenizer_was_trained_on_the_text(
    folder: Path, source: str
) -> None:
    told = succeed("train", source, "--vocab-size", "300", "--out", "all.json").stderr
    assert "To compare on new text, hold some out: --held-out 0.1" in told
    train = f"train {source} --vocab-size 300 --held-out 0.2 --out part.json"
    succeed(*train.split())
    compare = f"compare {source} -t all.json -t part.json -t gpt2".split()
    first, second, then = succeed(*compare).stdout.splitlines()[:3]
    better = "this text: its figures are better here than on new text."
    assert first == f"all.json was trained on {better}"
    assert re.fullmatch(rf"part\.json was trained on [78]\d% of {re.escape(better)}", second)
    assert then.startswith("documents ")
    rows = json.loads(succeed(*compare, "--json").stdout)["rows"]
    shares = [row["share_trained_on"] for row in rows]
    assert shares[0] == 1
    assert 0.7 < shares[1] < 0.9
    assert shares[2] is None
    other_seed = (*compare, "--held-out", "0.2", "--seed", "1", "--json")
    shares = [row["share_trained_on"] for row in json.loads(succeed(*other_seed).stdout)["rows"]]
    assert shares[0] == 1
    if source == "one.txt":
        assert shares[1] == 0  # the ends of a single text are the same with any seed
    else:
        assert 0 < shares[1] < 1


def test_other_documents_of_a_folder_are_told_from_those_trained_on(folder: Path) -> None:
    Path("new").mkdir()
    for number in range(10):
        shutil.move(f"texts/{number}.txt", "new")
    for options in ((), ("--held-out", "0.2"), ("--encoding", "utf-8")):
        succeed("train", "texts", "--vocab-size", "300", "--out", "mine.json", *options)
        assert "trained on" not in succeed("compare", "new", "-t", "mine.json").stdout
        both = succeed("compare", "new", "texts/30.txt", "texts/31.txt", "-t", "mine.json").stdout
        assert both.startswith("mine.json was trained on ")


@pytest.mark.parametrize(
    ("command", "out", "compared"),
    [
        ("train rows.jsonl --vocab-size 300 --format transformers --out OUT", "mine/", "mine"),
        ("train rows.jsonl --vocab-size 300 --format gpt2 --out OUT", "mine", "mine"),
        ("train rows.jsonl --vocab-size 300 --out OUT", "mine.tiktoken", "mine.tiktoken"),
        ("extend base.json rows.jsonl --tokens 3 --out OUT", "mine", "mine"),
        ("shrink base.json rows.jsonl --size 280 --out OUT", "mine", "mine"),
        ("replace base.json rows.jsonl --tokens 1 --out OUT", "mine", "mine"),
    ],
)
def test_every_command_that_learns_writes_a_note_next_to_every_format(
    folder: Path, command: str, out: str, compared: str
) -> None:
    succeed("train", "one.txt", "--vocab-size", "290", "--out", "base.json")
    line = command.replace("OUT", out).split()
    succeed(*line, "--held-out", "0.2")
    found = find_note(Path(compared))
    assert found is not None
    assert found.share_of(bpe.read_corpus("rows.jsonl").split(0.2)[1]) == 0
    held_out = bpe.read_corpus("mine.held-out.jsonl")
    assert found.share_of(held_out) == 0
    told = succeed("compare", "rows.jsonl", "-t", compared, "--pretokenizer", "gpt2").stdout
    assert told.startswith(f"{compared} was trained on ")
    assert "mine" in succeed(*line, "--held-out", "0.2").stderr  # and replaces its own files


def test_a_note_counts_for_the_file_that_it_was_written_for(folder: Path) -> None:
    succeed("train", "one.txt", "--vocab-size", "300", "--out", "mine.json")
    succeed("train", "rows.jsonl", "--vocab-size", "300", "--out", "other.json")
    known = find_note(Path("mine.json"))
    assert known is not None
    # A converted file has the note too.
    succeed("convert", "mine.json", "copy.tiktoken")
    assert find_note(Path("copy.tiktoken")) == known
    assert bpe.open_encoder("mine.json").trained_on == known
    Path("mine.training.json").write_text("mine")
    again = ("convert", "copy.tiktoken", "mine.json", "--pretokenizer", "gpt2")
    assert "mine.training.json exists" in run(*again).stderr
    for damaged in ("{", "[]", "{}"):
        Path("mine.training.json").write_text(damaged)
        assert bpe.open_encoder("mine.json").trained_on is None
    shutil.copy("other.json", "copy.tiktoken")
    assert find_note(Path("copy.tiktoken")) is None
    assert find_note(Path("missing.json")) is None


def test_what_a_training_writes_is_no_text_of_its_folder(folder: Path) -> None:
    for source in ("texts", "texts/*.*", f"file://{folder}/texts"):
        for options in (("--held-out", "0.2"), ()):
            line = ("train", source, "--vocab-size", "300", "--out", "texts/mine.tiktoken")
            n_bytes = json.loads(succeed(*line, *options, "--json").stdout)["text"]["n_bytes"]
            Path("texts/mine.tiktoken").unlink()
            assert n_bytes <= CORPUS.n_bytes
    assert {path.name for path in Path("texts").iterdir() if not path.name.endswith(".txt")} == {
        f"mine{HELD_OUT_ENDING}",
        f"mine.tiktoken{TRAINED_ON_ENDING}",
    }


def test_a_damaged_file_of_held_out_text_is_named(folder: Path) -> None:
    lines = [*held_out_lines(HELD_OUT)]
    Path("a.held-out.jsonl").write_bytes(b"".join(lines[:2]) + b'{"name": "x"}\n')
    with pytest.raises(bpe.CorpusError, match=r"a\.held-out\.jsonl is damaged at line 3: 'text'"):
        bpe.read_corpus("a.held-out.jsonl")
    Path("a.held-out.jsonl").write_text('{"text": "mine"}\n')
    assert bpe.read_corpus("a.held-out.jsonl").documents == ("mine",)
    with pytest.raises(bpe.ConfigError, match="held-out part"):
        next(held_out_lines(CORPUS))


def test_held_out_text_is_named_after_the_output() -> None:
    named = {"a.json": "a", "b/a.bpe.json": "b/a", "a/": "a", "a.tiktoken": "a", "a": "a"}
    for out, start in named.items():
        assert held_out_place(out).as_posix() == f"{start}{HELD_OUT_ENDING}"
    assert held_out_place(".").as_posix() == "held-out.jsonl"


def test_a_seed_needs_a_share_and_chooses_what_is_held_out(folder: Path) -> None:
    line = ("train", "texts", "--vocab-size", "300", "--out", "mine.json")
    assert "--seed chooses which text is held out" in run(*line, "--seed", "3").stderr
    held_out: list[str] = []
    for options in ((), ("--seed", "0"), ("--seed", "3")):
        succeed(*line, "--held-out", "0.2", *options)
        held_out.append(bpe.read_corpus("mine.held-out.jsonl").sha256)
    assert held_out[0] == held_out[1] != held_out[2]
