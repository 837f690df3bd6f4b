"""Parity-aware training learns what `tokenizers`' trainer learns, in the same order."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import bpe_core as bpe
from bpe_core.corpus import Corpus, Layout, count_pretokens, load_sample
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import GrowingVocabulary, beside_plain
from bpe_core.trainers.parity import ParityRule, learn_parity_reference
from bpe_core.types import TrainingConfig
from bpe_core.unicode import to_printable
from tests.new_process import ROOT

Texts = dict[str, list[str]]
ALPHABETS = ("ab", "abc", "bcd", "xy", "aé")


def draw(rng: random.Random) -> Texts:
    texts: Texts = {}
    for name in "pqr":
        letters = rng.choice(ALPHABETS)
        words = [
            "".join(rng.choice(letters) for _ in range(rng.randint(1, 6)))
            for _ in range(rng.randint(1, 4))
        ]
        texts[name] = [" ".join(rng.choice(words) for _ in range(rng.randint(1, 8)))]
    return texts


def by_tokenizers(
    texts: Texts, development: Texts | None, n_merges: int, **settings: Any
) -> list[tuple[str, str]]:
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer: Any = trainers.ParityBpeTrainer(num_merges=n_merges, show_progress=False, **settings)
    measured = (
        {} if development is None else {"dev_iterators": list(map(iter, development.values()))}
    )
    trainer.train_from_iterator(
        tokenizer, train_iterators=[iter(each) for each in texts.values()], **measured
    )
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(pair) for pair in merges]


def test_the_kernel_learns_what_the_reference_learns() -> None:
    from bpe_core.trainers import compiled

    rng = random.Random(7)
    cut = get_pretokenizer("gpt2")
    for number in range(150):
        config = TrainingConfig(
            256 + rng.randint(0, 40),
            special_tokens=(),
            min_frequency=rng.choice([0, 2, 3]),
            max_token_bytes=rng.choice([None, 3]),
        )
        window = rng.choice([None, 1, 2, 5, 100])
        rule = ParityRule(rng.choice([0, 1, 3, 60]), window, rng.choice([1.0, 1.5, 9.0]))
        training, development = draw(rng), draw(rng) if number % 2 else None

        def lay_out(texts: Texts, ids: dict[bytes, int]) -> list[Layout]:
            corpora = map(Corpus.from_documents, texts.values())
            return [Layout.of_symbols(count_pretokens(each, cut), "bytes", ids) for each in corpora]

        found: list[object] = []
        for learn in (learn_parity_reference, compiled.learn_parity):
            vocabulary = GrowingVocabulary(config, ())
            rows = lay_out(training, vocabulary.base_ids)
            measured = None if development is None else lay_out(development, vocabulary.base_ids)
            learned = learn(rows, measured, vocabulary, config, rule, lambda *_: False)
            merges = learned.merges
            arrays = (merges.tokens_saved, merges.joined_at, learned.picked, learned.lengths)
            figures = [array.tolist() for array in arrays]
            names = vocabulary.tokens
            found.append((merges.merges, merges.counts, merges.stop_reason, figures, names))
        assert found[0] == found[1], (training, development, config, rule)


@pytest.mark.parametrize(
    ("ours", "theirs", "measures"),
    [
        ({}, {}, True),
        ({}, {}, False),
        ({"hybrid_merges": 4}, {"global_merges": 4}, True),
        ({"min_frequency": 2}, {"min_frequency": 2}, True),
    ],
)
def test_merges_are_those_of_tokenizers(
    ours: dict[str, Any], theirs: dict[str, int], *, measures: bool
) -> None:
    rng = random.Random(5)
    for _ in range(125):
        texts, development = draw(rng), draw(rng) if measures else None
        expected = by_tokenizers(texts, development, 10, **theirs)
        settings = dict(ours)
        config = TrainingConfig(
            266, special_tokens=(), min_frequency=settings.pop("min_frequency", 0)
        )
        run = bpe.train_parity(texts, config, development, **settings)
        vocab = run.tokenizer.vocab
        merges = [
            (to_printable(vocab[m.left]), to_printable(vocab[m.right]))
            for m in run.tokenizer.merges
        ]
        assert merges == expected, (texts, development)
        assert run.picked_by is not None
        assert len(run.picked_by) == len(merges)
        measured = texts if development is None else development
        for name, lengths in run.lengths.items():
            assert len(lengths) == len(merges) + 1
            assert lengths[-1] == sum(len(run.tokenizer.encode(text)) for text in measured[name])


ORACLE = """
import json, sys
from tests.properties.test_parity_training import by_tokenizers
cases = json.load(sys.stdin)
print(json.dumps([by_tokenizers(*case, variant="window", **more) for case, more in cases]))
"""


def test_merges_with_a_window_are_those_of_tokenizers() -> None:
    rng = random.Random(5)
    cases: list[tuple[tuple[Texts, Texts | None, int], dict[str, float]]] = []
    ours: list[list[tuple[str, str]]] = []
    n_waits = 0
    for number in range(300):
        window, alpha = ((100, 2.0), (2, 1.0), (3, 1.0), (5, 1.5))[number % 4]
        hybrid = number % 3
        texts, development = draw(rng), draw(rng) if number % 5 else None

        def learn(
            window: int | None,
            texts: Texts = texts,
            development: Texts | None = development,
            hybrid: int = hybrid,
            alpha: float = alpha,
        ) -> bpe.Tokenizer:
            config = TrainingConfig(263, special_tokens=())
            return bpe.train_parity(
                texts, config, development, window=window, alpha=alpha, hybrid_merges=hybrid
            ).tokenizer

        tokenizer = learn(window)
        # `tokenizers` may not end once a language has no pair left.
        if any(len(tokenizer.encode(text)) <= len(text.split()) for [text] in texts.values()):
            continue
        n_waits += learn(None).merges != tokenizer.merges
        vocab = [to_printable(token) for token in tokenizer.vocab.values()]
        ours.append([(vocab[m.left], vocab[m.right]) for m in tokenizer.merges])
        settings = {"window_size": window, "alpha": alpha, "global_merges": hybrid}
        cases.append(((texts, development, 7), settings))
    assert min(len(cases), n_waits) > 30
    found = subprocess.run(  # in a process of its own, which can be ended
        [sys.executable, "-c", ORACLE],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=ROOT,
    )
    theirs = [[tuple(pair) for pair in merges] for merges in json.loads(found.stdout)]
    for mine, expected, case in zip(ours, theirs, cases, strict=True):
        assert mine == expected, case


def test_training_ends_where_no_language_has_a_pair() -> None:
    texts = {"a": ["hug"], "b": ["pug"]}
    for window in (None, 1, 2, 100):
        run = bpe.train_parity(texts, TrainingConfig(300, special_tokens=()), window=window)
        assert run.tokenizer.n_merges == 3


def test_counted_words_are_learned_from_as_their_text() -> None:
    texts = {"en": ["the sea and the way"] * 9, "de": ["das Meer und der Weg"] * 3}
    counted = {name: bpe.Corpus.from_documents(text).count("gpt2") for name, text in texts.items()}
    config = TrainingConfig(275)
    run, expected = (bpe.train_parity(each, config, each) for each in (counted, texts))
    assert run.merges == expected.merges
    assert run.corpus_bytes == expected.corpus_bytes
    assert run.lengths["de"].tolist() == expected.lengths["de"].tolist()
    corpora = {name: bpe.Corpus.from_word_counts({"hug": 3, name: 4}) for name in texts}
    plain = beside_plain(bpe.train_parity(corpora, TrainingConfig(258)), corpora).parity
    assert plain is not None
    assert len(plain.plain) == 2


def test_wrong_settings_are_refused() -> None:
    texts = {"a": ["hug"], "b": ["pug"]}
    config = TrainingConfig(260)
    with pytest.raises(bpe.BpeError, match="two or more"):
        bpe.train_parity({"a": ["hug"]}, config)
    with pytest.raises(bpe.BpeError, match="Expected alpha"):
        bpe.train_parity(texts, config, window=3, alpha=0.5)
    wrong: Any
    for wrong in (0.5, float("nan"), float("inf"), "2", 10**400):
        with pytest.raises(bpe.BpeError, match="Expected alpha"):
            bpe.train_parity(texts, config, alpha=wrong)
    for wrong in ([["hug"], ["pug"]], None, "hug"):
        with pytest.raises(bpe.BpeError, match="Expected corpora as a dict"):
            bpe.train_parity(wrong, config)
    for wrong in ({1: ["hug"], 2: ["pug"]}, {"a": ["hug"], 2: ["pug"]}):
        with pytest.raises(bpe.BpeError, match="name of each language of corpora"):
            bpe.train_parity(wrong, config)
        with pytest.raises(bpe.BpeError, match="name of each language of development"):
            bpe.train_parity(texts, config, wrong)
    wrong = [["hug"], ["pug"]]
    with pytest.raises(bpe.BpeError, match="Expected development as a dict"):
        bpe.train_parity(texts, config, wrong)
    with pytest.raises(bpe.BpeError, match="in only one"):
        bpe.train_parity(texts, config, {"a": ["hug"]})
    with pytest.raises(bpe.BpeError, match="own tie rule"):
        bpe.train_parity(texts, TrainingConfig(260, tie_break="first-seen"))
    for training, development in (
        ({"a": ["hug"], "b": [""]}, None),
        ({"b": [], "a": ["hug"]}, None),
        (texts, {"a": ["hug"], "b": [""]}),
    ):
        with pytest.raises(bpe.EmptyCorpusError, match="'b' has no text"):
            bpe.train_parity(training, config, development)
    files = Corpus.from_documents(["hug hug", ""], ["en/a.txt", "de/b.txt"])
    with pytest.raises(bpe.EmptyCorpusError, match="'de' has no text"):
        bpe.train(files, vocab_size=260, parity=True)


def test_a_part_has_the_languages_of_the_whole_corpus(tmp_path: Path) -> None:
    names = [f"a.zip/{folder}/{at}.txt" for folder in ("en", "de", "fr") for at in range(4)]
    texts = [f"line {at} of {name}\n" * (9 + at) for at, name in enumerate(names)]
    corpus = Corpus.from_documents(texts, names)
    two = Corpus.from_documents(texts[:8], names[:8])
    flat = Corpus.from_documents(texts[:8], [f"de/{at}.txt" for at in range(8)])
    for whole, by, n_left in [(corpus, "folder", 2), (corpus, "stretch", 3), (flat, "stretch", 8)]:
        training, held_out = whole.split(0.3, by=by)
        left = copy.deepcopy(training).by_language()
        assert [len(left), len(left | held_out.by_language())] == [n_left, len(whole.by_language())]
        for name, part in whole.split(0.3, by="stretch")[0].by_language().items():
            assert [*part.by_language()] == [name]
    assert [*corpus.sample(1_000).by_language()] == ["en", "de", "fr"]
    with pytest.raises(bpe.BpeError, match=r"has only '(en|de)'"):
        bpe.train(two.split(0.3, by="folder")[0], vocab_size=260, parity=True)
    held = two.hold_out(Corpus.from_documents(texts[4:8]))[0]
    assert [*held.by_language()] == ["en"]
    corpus.save(tmp_path)
    known: Any = SimpleNamespace(n_bytes=corpus.n_bytes, n_characters=corpus.n_characters)
    known.sha256, known.fingerprint = corpus.sha256, corpus.fingerprint
    on_disk = Corpus((), (), known=known, folder=tmp_path)
    run = bpe.train(on_disk, vocab_size=262, parity=True)
    assert run.parity is not None
    assert run.parity.languages == ("en", "de", "fr")
    assert run.tokenizer == bpe.train(corpus, vocab_size=262, parity=True).tokenizer


def test_many_files_are_grouped_at_once_and_refused_as_languages() -> None:
    class Read(list[str]):
        """Texts that note how often they are asked for."""

        n = 0

        def __getitem__(self, place: Any) -> Any:
            self.n += 1
            return super().__getitem__(place)

    names = [f"{at}.txt" for at in range(2_000)]
    texts = Read(["hug"] * len(names))
    corpus = Corpus(texts, tuple(names))
    assert len(corpus.by_language()) == len(names)
    assert texts.n == len(names)
    with pytest.raises(bpe.BpeError, match="at most 400 languages, got 2,000"):
        bpe.train(corpus, vocab_size=260, parity=True)


def test_a_run_holds_each_step_and_is_read_back(tmp_path: Path) -> None:
    texts = {"p": ["hug hugs pug"], "q": ["hug bun bun"], "r": ["öäö öäö ä"]}
    config = TrainingConfig(266, special_tokens=())
    run = bpe.train_parity(texts, config, hybrid_merges=2, window=3)
    run = beside_plain(run, texts)
    assert run.parity is not None
    assert run.pretokens.n_words == len(set(run.pretokens.words))  # "hug" is in two languages
    for step, merge in enumerate(run.merges):
        assert run.pair_counts(step)[merge.pair] == merge.count
        assert run.top_pairs(step, 1)[0][:2] == merge.pair
        lengths = sum(int(each[step]) for each in run.lengths.values())
        assert lengths == run.tokens_after[step] == run.layout_at(step).n_symbols
    bpe.save_run(run, tmp_path / "mine.bpe-run")
    again = bpe.load_run(tmp_path / "mine.bpe-run")
    assert again.tokenizer == run.tokenizer
    assert again.picked_by is not None
    assert run.picked_by is not None
    assert again.picked_by.tolist() == run.picked_by.tolist()
    assert again.picked_by.tolist()[:2] == ["", ""]
    for name, lengths in run.lengths.items():
        assert again.lengths[name].tolist() == lengths.tolist()
    assert again.parity is not None
    assert again.parity.to_dict() == run.parity.to_dict()
    assert again.tokens_after.tolist() == run.tokens_after.tolist()
    shorter = run.cut(260)
    small = TrainingConfig(260, special_tokens=())
    direct = bpe.train_parity(texts, small, hybrid_merges=2, window=3)
    assert shorter.tokenizer == direct.tokenizer
    assert shorter.lengths["r"].tolist() == direct.lengths["r"].tolist()
    assert shorter.picked_by is not None
    assert direct.picked_by is not None
    assert shorter.picked_by.tolist() == direct.picked_by.tolist()
    assert run.to_frame()["picked_by"].tolist() == run.picked_by.tolist()
    assert bpe.train(texts["p"], vocab_size=260).picked_by is None


def test_languages_are_served_more_evenly_than_by_plain_bpe() -> None:
    corpora = load_sample("multilingual").by_language()
    config = TrainingConfig(1_000, special_tokens=())
    run = beside_plain(bpe.train_parity(corpora, config), corpora)
    assert run.parity is not None
    texts = {name: list(corpus.documents) for name, corpus in corpora.items()}
    assert len(texts) == 25
    merges = by_tokenizers(texts, None, 1_000 - 256)
    vocab = run.tokenizer.vocab
    printable = [(to_printable(vocab[m.left]), to_printable(vocab[m.right])) for m in run.merges]
    assert printable == merges
    plain = bpe.train([text for each in texts.values() for text in each], config).tokenizer
    found = {name: sum(len(plain.encode(text)) for text in texts[name]) for name in texts}
    assert dict(zip(texts, run.parity.plain, strict=True)) == found
    fair = bpe.gini([int(each[-1]) for each in run.lengths.values()])
    assert fair < bpe.gini([*found.values()]) / 2
