"""The held-out part resembles the corpus: by file, by file type and by script."""

from __future__ import annotations

import inspect
import pickle
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from bpe_core.corpus.composition import FileShare, ScriptShare, composition_of
from bpe_core.corpus.corpus import Corpus, Place
from bpe_core.corpus.read_corpus import read_corpus

SHARE = 0.08
# Smaller shares are not compared, because too few blocks or documents are held out of them.
LEAST_SHARE = 0.02

WORDS = {
    "German": "der die das und nicht über Straße Möglichkeit Gesellschaft können für größer",
    "English": "the a and of which through possible society people would larger for nothing",
    "Russian": "и в не на что общество возможность люди через больше улица ничего для",
    "Greek": "και το να του η της με που για κοινωνία δρόμος τίποτα μεγαλύτερο",
}


def prose(language: str, n_bytes: int, seed: int, longest: int = 25) -> str:
    """Return numbered lines in a language, each of which occurs once, and some blank lines."""
    draw = random.Random(seed)
    words = WORDS[language].split()
    lines: list[str] = []
    size = 0
    while size < n_bytes:
        if draw.random() < 0.1:
            lines.append("\n")
        lines.append(
            f"{len(lines)} {' '.join(draw.choices(words, k=draw.randrange(2, longest)))} {seed}.\n"
        )
        size += len(lines[-1].encode())
    return "".join(lines)


def code(n_lines: int, seed: int) -> str:
    return "".join(
        f"{'    ' * (n % 3)}value_{seed}_{n} = function({n}, other={seed}) # note\n"
        for n in range(n_lines)
    )


def mixed_corpus() -> Corpus:
    """Make a corpus like a zip of large texts, chapters, and hundreds of small files of code."""
    texts = {
        "german.txt": prose("German", 1_300_000, seed=1),
        "english.txt": prose("English", 800_000, seed=2),
        "russian.md": prose("Russian", 600_000, seed=3),
        "greek.html": prose("Greek", 200_000, seed=4),
    }
    draw = random.Random(5)
    for n in range(300):
        texts[f"project/module_{n}.py"] = code(round(draw.lognormvariate(2.5, 1.2)) + 1, seed=n)
    # Smaller chapters are held out whole, larger ones in blocks.
    for n in range(60):
        texts[f"chapters/{n}.rst"] = prose("English", draw.randrange(5_000, 30_000), seed=100 + n)
    return Corpus.from_documents(list(texts.values()), list(texts))


def placed(corpus: Corpus) -> Iterator[tuple[str, str, Place]]:
    return zip(corpus.documents, corpus.names, corpus.places, strict=True)


@pytest.fixture(scope="module")
def mixed() -> Corpus:
    return mixed_corpus()


def shares(found: Iterable[FileShare] | Iterable[ScriptShare]) -> dict[str, float]:
    return {part.name: part.share for part in found}


def lines_of(documents: Sequence[str]) -> Counter[str]:
    return Counter(line for text in documents for line in text.splitlines())


@pytest.mark.parametrize("seed", range(4))
def test_shares_by_file_type_and_script_agree_within_a_tenth(mixed: Corpus, seed: int) -> None:
    assert_shares_agree(mixed, seed)


def test_a_zip_read_from_disk_is_split_as_its_files_are(mixed: Corpus, tmp_path: Path) -> None:
    with ZipFile(tmp_path / "mixed.zip", "w", ZIP_DEFLATED) as archive:
        for name, text in zip(mixed.names, mixed.documents, strict=True):
            archive.writestr(name, text)
    read = read_corpus(tmp_path / "mixed.zip")
    assert read == mixed
    assert read.names == tuple(f"mixed.zip/{name}" for name in mixed.names)
    assert_shares_agree(read, seed=0)
    assert read.split(SHARE, seed=0) == mixed.split(SHARE, seed=0)


# The number of files of each type; the files of one type are in one language.
FILES = {".de": 30, ".en": 20, ".ru": 8, ".el": 5}


def chapters(smallest: int, largest: int, longest_line: int = 25) -> Corpus:
    """Make a corpus of files in several languages, each with its own file type."""
    draw = random.Random(smallest)
    texts = {
        f"{language}/{n}{kind}": prose(
            language, draw.randrange(smallest, largest), seed=n, longest=longest_line
        )
        for (kind, times), language in zip(FILES.items(), WORDS, strict=True)
        for n in range(times)
    }
    return Corpus.from_documents(list(texts.values()), list(texts))


@pytest.mark.parametrize(
    ("corpus", "share"),
    [
        pytest.param(chapters(5_000, 30_000), 0.02, id="chapters, little held out"),
        pytest.param(chapters(5_000, 30_000), SHARE, id="chapters"),
        pytest.param(chapters(5_000, 30_000, longest_line=200), SHARE, id="paragraphs"),
        pytest.param(chapters(2_000, 6_000), 0.02, id="notes, little held out"),
        pytest.param(chapters(2_000, 6_000), SHARE, id="notes"),
        pytest.param(chapters(300, 1_000), SHARE, id="snippets"),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_few_small_files_have_their_share_by_type_and_script(
    corpus: Corpus, share: float, seed: int
) -> None:
    held_out = corpus.split(share, seed)[1].composition()
    whole = corpus.composition()
    for kind in whole.types:
        assert shares(held_out.types)[kind.name] == pytest.approx(kind.share, rel=0.1), kind
    for script in whole.scripts:
        if script.name.endswith(" letters"):
            found = shares(held_out.scripts)[script.name]
            assert found == pytest.approx(script.share, rel=0.1), script


def test_folders_of_one_file_type_have_their_share() -> None:
    of_types = chapters(5_000, 30_000)
    corpus = Corpus.from_documents(of_types.documents, [f"{name}.txt" for name in of_types.names])
    for seed in range(4):
        _, held_out = corpus.split(SHARE, seed)
        found, expected = (
            Counter[str](
                name.split("/")[0]
                for text, name in zip(part.documents, part.names, strict=True)
                for _ in text
            )
            for part in (held_out, corpus)
        )
        for folder, size in expected.items():
            assert found[folder] / found.total() == pytest.approx(size / expected.total(), rel=0.1)


def test_each_file_too_small_for_a_block_of_its_own_has_the_same_chance() -> None:
    names = [f"{n}.txt" for n in range(400)]
    corpus = Corpus.from_documents([prose("English", 2_500, seed=n) for n in range(400)], names)
    times = Counter[str](
        name for seed in range(50) for name in set(corpus.split(SHARE, seed)[1].names)
    )
    # Each split takes a block of 512 characters from one in two or three files.
    assert times.total() / 50 == pytest.approx(400 * SHARE * 2_500 / 512, rel=0.1)
    assert all(8 <= times[name] <= 35 for name in names)


def assert_shares_agree(corpus: Corpus, seed: int) -> None:
    whole = corpus.composition()
    training, held_out = corpus.split(SHARE, seed=seed)
    assert held_out.n_bytes / corpus.n_bytes == pytest.approx(SHARE, rel=0.05)
    for part in (held_out.composition(), training.composition()):
        for of_whole, of_part in zip(whole, part, strict=True):
            found = shares(of_part)
            expected = {n: s for n, s in shares(of_whole).items() if s >= LEAST_SHARE}
            assert len(expected) >= 3
            for name, share in expected.items():
                assert found[name] == pytest.approx(share, rel=0.1), name


@pytest.mark.parametrize("seed", range(4))
def test_blocks_are_spread_over_the_length_of_a_document(mixed: Corpus, seed: int) -> None:
    _, held_out = mixed.split(SHARE, seed=seed)
    german = mixed.documents[0]
    held_out_bytes = [0] * 10
    assert held_out.names.count("german.txt") % 10 == 0  # so that each tenth can have equally many
    for text, name, (start, _) in placed(held_out):
        assert mixed.documents[mixed.names.index(name)].startswith(text, start)
        if name == "german.txt":
            held_out_bytes[10 * start // len(german)] += len(text)
    for part in held_out_bytes:
        assert part == pytest.approx(sum(held_out_bytes) / 10, rel=0.05)


def test_blocks_are_whole_lines_and_a_line_that_occurs_once_is_in_one_part_only(
    mixed: Corpus,
) -> None:
    training, held_out = mixed.split(SHARE)
    assert all(text.endswith("\n") for text in held_out.documents)
    for text, name, (start, _) in placed(held_out):
        source = mixed.documents[mixed.names.index(name)]
        assert start == 0 or source[start - 1] == "\n", text
    sides = lines_of(training.documents), lines_of(held_out.documents)
    once = {line for line, count in lines_of(mixed.documents).items() if count == 1}
    assert not once & sides[0].keys() & sides[1].keys()
    assert sides[0] + sides[1] == lines_of(mixed.documents)


def test_blocks_are_small_and_numerous_enough_to_resample(mixed: Corpus) -> None:
    _, held_out = mixed.split(SHARE)
    sizes = [len(text) for text in held_out.documents]
    assert len(sizes) >= 64
    assert max(sizes) < 0.06 * sum(sizes)


def test_pieces_of_a_document_count_as_one_source(mixed: Corpus) -> None:
    training, held_out = mixed.split(SHARE)
    for part in (training, held_out):
        assert part.n_sources == len(set(part.names)) < len(part.documents)
    assert mixed.n_sources == len(mixed.documents)


def test_parts_depend_only_on_the_seed(mixed: Corpus) -> None:
    training, held_out = mixed.split(SHARE, seed=3)
    again = mixed.split(SHARE, seed=3)
    assert again == (training, held_out)
    assert again[1].places == held_out.places
    _, other = mixed.split(SHARE, seed=4)
    assert other != held_out
    small = [name for name in held_out.names if name.endswith(".py")]
    assert small != [name for name in other.names if name.endswith(".py")]


def test_small_documents_are_held_out_whole(mixed: Corpus) -> None:
    _, held_out = mixed.split(SHARE)
    for text, name in zip(held_out.documents, held_out.names, strict=True):
        source = mixed.documents[mixed.names.index(name)]
        if len(source) < 2_000:
            assert text == source


def test_pieces_around_a_block_become_separate_documents(mixed: Corpus) -> None:
    training, held_out = mixed.split(SHARE)
    for source, name in zip(mixed.documents[:4], mixed.names[:4], strict=True):
        pieces = sorted(
            (start, text)
            for side in (training, held_out)
            for text, of, (start, _) in placed(side)
            if of == name
        )
        assert "".join(text for _, text in pieces) == source
        assert len(pieces) > 10


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_stay_whole_whatever_their_line_ending(end: str) -> None:
    corpus = Corpus.from_text("".join(f"line {n} of the text{end}" for n in range(2_000)))
    training, held_out = corpus.split(SHARE)
    assert held_out.n_bytes / corpus.n_bytes == pytest.approx(SHARE, rel=0.05)
    for text in held_out.documents:
        assert text.startswith("line ")
        assert text.endswith(end)
    for text in training.documents:
        assert not text.startswith("\n")


@pytest.mark.parametrize("words", ["some words in one line ", "文は続く。また続く、"])
def test_one_long_line_is_cut_between_words(words: str) -> None:
    text = words * 20_000
    corpus = Corpus.from_text(text)
    training, held_out = corpus.split(SHARE)
    assert held_out.n_bytes / corpus.n_bytes == pytest.approx(SHARE, rel=0.05)
    assert len(held_out.documents) >= 10
    for side in (training, held_out):
        for piece, _, (start, line) in placed(side):
            assert line == 1
            assert start == 0 or piece[0] == " " or text[start - 1] in "。、"


def test_a_text_without_any_boundary_is_all_used_for_training() -> None:
    corpus = Corpus.from_text("a" * 100_000)
    training, held_out = corpus.split(SHARE)
    assert (training, held_out.n_bytes) == (corpus, 0)


@pytest.mark.parametrize(
    "corpus",
    [
        Corpus.from_text("a"),
        Corpus.from_text("one line"),
        Corpus.from_documents(["This is the first document.", "And the second."]),
        Corpus.from_word_counts({"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3}),
        Corpus.from_word_counts({"hug": 10}),
    ],
)
@pytest.mark.parametrize("share", [0, SHARE])
def test_a_tiny_corpus_is_all_used_for_training(corpus: Corpus, share: float) -> None:
    training, held_out = corpus.split(share)
    assert training == corpus
    assert held_out.n_bytes == 0


@pytest.mark.parametrize("corpus", [Corpus.from_text("a"), Corpus.from_word_counts({"hug": 1})])
def test_some_text_is_always_left_for_training(corpus: Corpus) -> None:
    assert corpus.split(0.99)[0] == corpus


def test_frequent_words_are_split_by_count_and_rare_ones_are_held_out_whole() -> None:
    frequent = {f"often{n}": 10_000 // n for n in range(1, 50)}
    rare = {f"{'слово' if n % 3 else 'rare'}{n}": n % 7 + 1 for n in range(2_000)}
    corpus = Corpus.from_word_counts({**frequent, **rare})
    training, held_out = corpus.split(SHARE)
    assert training.word_counts is not None
    assert held_out.word_counts is not None
    assert Counter(training.word_counts) + Counter(held_out.word_counts) == corpus.word_counts
    for word, count in frequent.items():
        assert held_out.word_counts[word] == pytest.approx(SHARE * count, rel=0.02, abs=1)
    assert not held_out.word_counts.keys() & training.word_counts.keys() & rare.keys()
    found = shares(held_out.scripts())
    for name, share in shares(corpus.scripts()).items():
        assert found[name] == pytest.approx(share, rel=0.1), name


def test_rows_of_a_table_count_as_one_file_and_are_held_out_like_small_documents() -> None:
    rows = [f"row {n} " + "words " * (n % 40) for n in range(3_000)]
    names = [f"a.csv row {n}" if n % 3 else f"b.jsonl line {n}" for n in range(3_000)]
    corpus = Corpus.from_documents(rows, names)
    training, held_out = corpus.split(SHARE)
    assert sorted(training.documents + held_out.documents) == sorted(rows)
    found = shares(held_out.composition().files)
    assert found.keys() == {"a.csv", "b.jsonl"}
    for name, share in shares(corpus.composition().files).items():
        assert found[name] == pytest.approx(share, rel=0.1)


def test_positions_in_the_source_survive_a_second_split_and_pickling(mixed: Corpus) -> None:
    training, _ = mixed.split(SHARE)
    _, again = training.split(SHARE)
    for text, name, (start, line) in placed(again):
        source = mixed.documents[mixed.names.index(name)]
        assert source.startswith(text, start)
        assert line == source.count("\n", 0, start) + 1
    assert pickle.loads(pickle.dumps(again)).places == again.places  # noqa: S301 - pickled here


def test_the_composition_of_weighted_words_has_scripts_but_no_files() -> None:
    files, types, scripts = composition_of((), (), {"да": 2, "ok": 1})
    assert (files, types) == ((), ())
    assert shares(scripts) == {"Cyrillic letters": 4 / 6, "Latin letters": 2 / 6}


def test_one_long_document_gives_enough_blocks_to_resample() -> None:
    text = "".join(f"line {n} of a long document\n" for n in range(40_000))
    _, held_out = Corpus.from_text(text).split(0.1)
    assert 120 <= len(held_out.documents) <= 136


def test_the_arguments_of_split_keep_their_names_order_and_defaults() -> None:
    share, seed = list(inspect.signature(Corpus.split).parameters.values())[1:]
    assert (share.name, share.default) == ("held_out_share", inspect.Parameter.empty)
    assert (seed.name, seed.default) == ("seed", 0)
    assert {share.kind, seed.kind} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
