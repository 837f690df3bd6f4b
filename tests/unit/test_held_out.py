"""Whole units are held out, alike by file type and script; ends of documents where they are few."""

from __future__ import annotations

import pickle
import random
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pandas
import pytest

import bpe_core as bpe
from bpe_core.corpus import FileShare, HeldOut, Place, Split
from bpe_core.corpus.composition import ScriptShare, measure_composition
from bpe_core.corpus.copies import find_copies

SHARE = 0.08
# Smaller shares are not compared, because too few blocks or documents are held out of them.
MIN_SHARE = 0.02

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


def mixed_corpus() -> bpe.Corpus:
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
    return bpe.Corpus.from_documents(list(texts.values()), list(texts))


def placed(corpus: bpe.Corpus) -> Iterator[tuple[str, str, Place]]:
    return zip(corpus.documents, corpus.names, corpus.places, strict=True)


@pytest.fixture(scope="module")
def mixed() -> bpe.Corpus:
    return mixed_corpus()


def shares(found: Iterable[FileShare] | Iterable[ScriptShare]) -> dict[str, float]:
    return {part.name: part.share for part in found}


def count_lines(documents: Sequence[str]) -> Counter[str]:
    return Counter(line for text in documents for line in text.splitlines())


# The number of files of each type; the files of one type are in one language.
FILES = {".de": 30, ".en": 20, ".ru": 8, ".el": 5}


def chapters(smallest: int, largest: int, longest_line: int = 25) -> bpe.Corpus:
    """Make a corpus of files in several languages, each with its own file type."""
    draw = random.Random(smallest)
    texts = {
        f"{language}/{n}{kind}": prose(
            language, draw.randrange(smallest, largest), seed=n, longest=longest_line
        )
        for (kind, times), language in zip(FILES.items(), WORDS, strict=True)
        for n in range(times)
    }
    return bpe.Corpus.from_documents(list(texts.values()), list(texts))


def test_parts_depend_only_on_the_seed(mixed: bpe.Corpus) -> None:
    training, held_out = mixed.split(SHARE, seed=3)
    again = mixed.split(SHARE, seed=3)
    assert again == (training, held_out)
    assert again[1].places == held_out.places
    _, other = mixed.split(SHARE, seed=4)
    assert other != held_out
    small = [name for name in held_out.names if name.endswith(".py")]
    assert small != [name for name in other.names if name.endswith(".py")]


def test_a_text_without_any_boundary_is_all_used_for_training() -> None:
    corpus = bpe.Corpus.from_text("a" * 100_000)
    training, held_out = corpus.split(SHARE)
    assert (training, held_out.n_bytes) == (corpus, 0)


@pytest.mark.parametrize(
    "corpus",
    [
        bpe.Corpus.from_text("a"),
        bpe.Corpus.from_text("one line"),
        bpe.Corpus.from_documents(["This is the first document.", "And the second."]),
        bpe.Corpus.from_word_counts({"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3}),
        bpe.Corpus.from_word_counts({"hug": 10}),
    ],
)
@pytest.mark.parametrize("share", [0, SHARE])
def test_a_tiny_corpus_is_all_used_for_training(corpus: bpe.Corpus, share: float) -> None:
    training, held_out = corpus.split(share)
    assert training == corpus
    assert held_out.n_bytes == 0


def test_frequent_words_are_split_by_count_and_rare_ones_are_held_out_whole() -> None:
    frequent = {f"often{n}": 10_000 // n for n in range(1, 50)}
    rare = {f"{'слово' if n % 3 else 'rare'}{n}": n % 7 + 1 for n in range(2_000)}
    corpus = bpe.Corpus.from_word_counts({**frequent, **rare})
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
    corpus = bpe.Corpus.from_documents(rows, names)
    training, held_out = corpus.split(SHARE)
    assert sorted([*training.documents, *held_out.documents]) == sorted(rows)
    found = shares(held_out.composition().files)
    assert found.keys() == {"a.csv", "b.jsonl"}
    for name, share in shares(corpus.composition().files).items():
        assert found[name] == pytest.approx(share, rel=0.1)


def test_positions_in_the_source_survive_a_second_split_and_pickling(mixed: bpe.Corpus) -> None:
    training, _ = mixed.split(SHARE)
    _, again = training.split(SHARE)
    for text, name, (start, line) in placed(again):
        source = mixed.documents[mixed.names.index(name)]
        assert source.startswith(text, start)
        assert line == source.count("\n", 0, start) + 1
    assert pickle.loads(pickle.dumps(again)).places == again.places  # noqa: S301 - pickled here


def test_the_composition_of_weighted_words_has_scripts_but_no_files() -> None:
    files, types, scripts = measure_composition((), (), {"да": 2, "ok": 1})
    assert (files, types) == ((), ())
    assert shares(scripts) == {"Cyrillic letters": 4 / 6, "Latin letters": 2 / 6}


@pytest.mark.parametrize(
    ("corpus", "share"),
    [
        pytest.param(chapters(5_000, 30_000), SHARE, id="chapters"),
        pytest.param(chapters(5_000, 30_000, longest_line=200), SHARE, id="paragraphs"),
        pytest.param(chapters(2_000, 6_000), SHARE, id="notes"),
        pytest.param(chapters(5_000, 30_000), 0.02, id="chapters, little held out"),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_strata_of_few_files_have_their_share_too(
    corpus: bpe.Corpus, share: float, seed: int
) -> None:
    held_out = corpus.split(share, seed)[1].composition()
    whole = corpus.composition()
    for kind in whole.types:
        assert shares(held_out.types)[kind.name] == pytest.approx(kind.share, rel=0.1), kind
    for script in whole.scripts:
        if script.name.endswith(" letters"):
            found = shares(held_out.scripts)[script.name]
            assert found == pytest.approx(script.share, rel=0.1), script


def test_every_document_has_the_same_chance_to_be_held_out_whole() -> None:
    names = [f"{n % 7}/{n}.txt" for n in range(100)]
    draw = random.Random(0)
    texts = [prose("English", draw.randrange(300, 6_000), seed=n) for n in range(100)]
    corpus = bpe.Corpus.from_documents(texts, names)
    times = Counter[str]()
    for seed in range(400):
        _, held_out = corpus.split(0.1, seed)
        assert set(held_out.documents) <= set(texts)
        assert held_out.n_bytes / corpus.n_bytes == pytest.approx(0.1, rel=0.15)
        times.update(held_out.names)
    assert times.total() / 400 == pytest.approx(10, rel=0.1)
    assert all(15 <= times[name] <= 75 for name in names)


def test_nothing_of_a_whole_document_is_trained_on(mixed: bpe.Corpus) -> None:
    training, held_out = mixed.split(SHARE)
    for side, other in ((training, held_out), (held_out, training)):
        for text, name, (start, _) in placed(side):
            source = mixed.documents[mixed.names.index(name)]
            assert source.startswith(text, start)
            assert (name in other.names) == (len(text) < len(source))
    assert held_out.how is not None
    assert held_out.how.n_units == len(set(held_out.units)) == held_out.n_sources
    # The large texts are few, so their ends are held out.
    within = sum(
        len(text)
        for text, name, _ in placed(held_out)
        if len(text) < len(mixed.documents[mixed.names.index(name)])
    )
    assert held_out.how.share_within == pytest.approx(within / held_out.n_characters)
    assert 0.3 < held_out.how.share_within < 0.9
    assert held_out.how.why_within == "few"


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_of_one_text_both_ends_are_held_out_with_a_margin(end: str) -> None:
    text = "".join(f"line {n} of the text{end}" for n in range(20_000))
    training, held_out = bpe.Corpus.from_text(text).split(SHARE)
    assert [place.start for place in held_out.places] == [0, len(text) - len(held_out.documents[1])]
    assert len(held_out.documents[0]) == pytest.approx(SHARE / 2 * len(text), rel=0.01)
    assert held_out.n_characters == pytest.approx(SHARE * len(text), rel=0.01)
    (middle,) = training.documents
    first = training.places[0].start - len(held_out.documents[0])
    last = held_out.places[1].start - training.places[0].start - len(middle)
    assert first == pytest.approx(1_000, abs=40)
    assert last == pytest.approx(1_000, abs=40)
    for document in (*held_out.documents, middle):
        assert document.startswith("line ")
        assert document.endswith(end)
        assert not document.startswith("\n")
    assert held_out.how == HeldOut("document", 1, share_within=1.0, why_within="few")


@pytest.mark.parametrize("words", ["some words in one line ", "文は続く。また続く、"])
def test_one_long_line_is_cut_between_words(words: str) -> None:
    text = words * 20_000
    training, held_out = bpe.Corpus.from_text(text).split(SHARE)
    assert held_out.n_characters / len(text) == pytest.approx(SHARE, rel=0.05)
    for side in (training, held_out):
        for piece, _, (start, line) in placed(side):
            assert line == 1
            assert start == 0 or piece[0] == " " or text[start - 1] in "。、"


def test_of_a_document_larger_than_its_share_only_the_ends_are_held_out() -> None:
    texts = [prose("English", 3_000, seed=n) for n in range(60)]
    huge = prose("English", 300_000, seed=99)
    corpus = bpe.Corpus.from_documents(
        [*texts, huge], [*(f"{n}.txt" for n in range(60)), "huge.txt"]
    )
    _, held_out = corpus.split(SHARE)
    of_huge = [len(text) for text, name, _ in placed(held_out) if name == "huge.txt"]
    assert len(of_huge) == 2
    assert sum(of_huge) == pytest.approx(SHARE * 300_000, rel=0.02)
    assert all(text in texts for text, name, _ in placed(held_out) if name != "huge.txt")
    assert held_out.how is not None
    assert held_out.how.why_within == "huge"


def test_copies_are_on_one_side() -> None:
    draw = random.Random(3)
    texts: list[str] = []
    for n in range(60):
        lines = [f"line {draw.random()} of {n}\n" for _ in range(40)]
        for _ in range(3):
            # A tenth of the lines differs from copy to copy.
            changed = [f"{line[:-1]} {draw.random()}\n" for line in lines[:4]]
            texts.append("".join(changed + lines[4:]))
    corpus = bpe.Corpus.from_documents(texts, [f"{n % 5}/{n}.c" for n in range(180)])
    for seed in range(5):
        for by in ("document", "folder"):
            training, held_out = corpus.split(0.3, seed, by)
            sides = (count_lines(side.documents).keys() for side in (training, held_out))
            assert not set.intersection(*map(set, sides)), by
        _, held_out = corpus.split(0.3, seed)
        assert held_out.n_bytes / corpus.n_bytes == pytest.approx(0.3, rel=0.1)
        assert held_out.how == HeldOut("document", len(held_out.documents) // 3, 0.0)


def web_pages(n_pages: int) -> list[str]:
    """Make pages of two web sites that differ in less than half of their lines."""
    draw = random.Random(7)
    pages: list[str] = []
    for n in range(n_pages):
        site = n % 2
        head = [f"<{'head' if site else 'meta'} {line}>\n" for line in range(20)]
        # Pages of one kind share more, down to the lines of their own.
        head += [f"<nav {site} {n % 4} {line}>\n" for line in range(8)]
        body = [f"<p>{draw.random()} on page {n}</p>\n" for _ in range(draw.randrange(9, 20))]
        pages.append("".join([*head, *body, "</html>\n"]))
    return pages


def test_what_most_documents_share_does_not_make_them_copies() -> None:
    pages = web_pages(400)
    # A page with some changed lines is still a copy, and so is a licence with another year.
    copies = [page.replace("<p>0.1", "<p>0.9") for page in pages[:10]]
    licence = prose("English", 5_000, seed=1)
    licences = [f"Copyright {1_900 + n}\n{licence}" for n in range(60)]
    found = find_copies([*pages, *copies, *licences])
    assert found == [*range(400), *range(10), *([410] * 60)]
    # The same with few pages, where no line need be boilerplate.
    assert find_copies(web_pages(8)) == [0, 1, 2, 3, 0, 1, 2, 3]


def test_pages_of_a_web_site_are_held_out_whole() -> None:
    pages = web_pages(400)
    names = [f"{n // 20}/{n}.html" for n in range(400)]
    corpus = bpe.Corpus.from_documents(pages, names)
    for by in ("document", "folder"):
        training, held_out = corpus.split(SHARE, by=by)
        assert held_out.how is not None
        assert held_out.how.share_within == 0
        assert held_out.n_bytes / corpus.n_bytes == pytest.approx(SHARE, rel=0.4)
        assert training.n_sources + held_out.n_sources == 400
    # Of versions of a few pages, whole ones cannot be held out.
    versions = [f"{page}<p>{n}</p>\n" for page in pages[:12] for n in range(20)]
    _, held_out = bpe.Corpus.from_documents(versions).split(SHARE)
    assert held_out.how is not None
    assert (held_out.how.share_within, held_out.how.why_within) == (1.0, "alike")
    # Pages of a text of one's own are new, although the site is the same.
    own = bpe.Corpus.from_documents(web_pages(420)[400:])
    assert corpus.hold_out(own)[0].n_sources == 400


@cache
def folders() -> bpe.Corpus:
    """Make a corpus of folders in two levels, with documents in two scripts."""
    draw = random.Random(8)
    texts: dict[str, str] = {}
    for n in range(60):
        language = "Russian" if n % 3 == 0 else "English"
        for file in range(draw.randrange(1, 9)):
            text = prose(language, draw.randrange(500, 3_000), seed=100 * n + file)
            texts[f"all.zip/{n % 12}/{n}/{file}.txt"] = text
    return bpe.Corpus.from_documents(list(texts.values()), list(texts))


@pytest.mark.parametrize(("by", "depth"), [("folder", 3), ("folder:2", 3), ("folder:1", 2)])
def test_whole_folders_are_held_out(by: str, depth: int) -> None:
    corpus = folders()
    for seed in range(4):
        training, held_out = corpus.split(0.1, seed, by)
        sides = [
            {"/".join(name.split("/")[:depth]) for name in side.names}
            for side in (training, held_out)
        ]
        assert not sides[0] & sides[1]
        assert training.n_bytes + held_out.n_bytes == corpus.n_bytes
        assert held_out.how == HeldOut(by, len(sides[1]), 0.0)
        assert 0.04 < held_out.n_bytes / corpus.n_bytes < 0.17
        assert len(set(held_out.units)) == len(sides[1])


def test_copies_and_large_folders_leave_the_held_out_folders_their_share() -> None:
    sizes = [900] * 60 + [50_000] * 2
    texts = {
        f"{n}/{m}.txt": prose("English", size, seed=9 * n + m)
        for n, size in enumerate(sizes)
        for m in range(3)
    }
    # Most of the small folders have copies of the same documents.
    for n in range(40):
        texts[f"{n}/copy.txt"] = prose("English", 3_000, seed=1_000)
    corpus = bpe.Corpus.from_documents(list(texts.values()), list(texts))
    for seed in range(3):
        training, held_out = corpus.split(SHARE, seed, "folder")
        assert held_out.n_bytes / corpus.n_bytes == pytest.approx(SHARE, rel=0.1)
        assert training.n_bytes + held_out.n_bytes == corpus.n_bytes
        assert not set(held_out.documents) & set(training.documents)


NESTED = [f"{n % 30}/a/{n % 50}/{n}.txt" for n in range(len(folders().documents))]
HALF_EMPTY = [f"the {n} of {n}\n" if n % 2 else "" for n in range(80)]


def three_each(n_folders: int, *, sizes: Sequence[int] = ()) -> bpe.Corpus:
    """Make a corpus of folders with three documents each, whose first ones have other `sizes`."""
    texts = {
        f"{n}/{m}.txt": prose("English", [*sizes, *[900] * n_folders][n], seed=3 * n + m)
        for n in range(n_folders)
        for m in range(3)
    }
    return bpe.Corpus.from_documents(list(texts.values()), list(texts))


@pytest.mark.parametrize(
    ("corpus", "by"),
    [
        # The first level has 12 folders, and 30.
        (folders(), "folder"),
        (bpe.Corpus.from_documents(folders().documents, NESTED), "folder:1"),
        (three_each(20), "folder"),
        (three_each(19), "document"),
        # No whole folders come near a tenth of the text.
        (three_each(25, sizes=[200_000]), "document"),
        # Only folders with text count.
        (bpe.Corpus.from_documents(HALF_EMPTY, [f"{n}/a.txt" for n in range(80)]), "folder"),
        (bpe.Corpus.from_documents(HALF_EMPTY, [f"{n % 30}/a.txt" for n in range(80)]), "document"),
        (bpe.Corpus.from_documents(HALF_EMPTY, [f"a.csv row {n}" for n in range(80)]), "document"),
    ],
)
def test_whole_folders_are_held_out_by_default_if_there_are_twenty(
    corpus: bpe.Corpus, by: str
) -> None:
    for seed in range(3):
        found = corpus.split(0.1, seed)
        assert found == corpus.split(0.1, seed, by)
        assert [part.divided for part in found] == [Split(corpus.sha256, 0.1, seed, by)] * 2
        assert found[1].how is not None
        assert found[1].how.by == by
    chosen = corpus.split(0.1, by="document")[1].how
    assert chosen is not None
    assert chosen.by == "document"


def test_what_cannot_be_held_out_by_is_refused() -> None:
    corpus = folders()
    for by in ("folders", "folder:0", "folder:x", "", "column:", "line", 3):
        with pytest.raises(bpe.ConfigError, match="as what to hold out by"):
            corpus.split(0.1, by=by)  # pyright: ignore[reportArgumentType]
    with pytest.raises(bpe.ConfigError, match="whose values are known"):
        corpus.split(0.1, by="column:author")
    with pytest.raises(bpe.ConfigError, match="in one unit"):
        bpe.Corpus.from_documents(["a\n" * 50, "b\n" * 50]).split(0.1, by="folder")


def test_stretches_of_every_document_are_held_out_if_asked_for() -> None:
    corpus = folders()
    training, held_out = corpus.split(0.2, by="stretch")
    assert held_out.how is not None
    assert (held_out.how.share_within, held_out.how.why_within) == (1.0, "")
    assert held_out.how.n_units == held_out.n_sources
    assert held_out.n_bytes / corpus.n_bytes == pytest.approx(0.2, rel=0.05)
    assert set(held_out.names) <= set(training.names)


def test_a_text_of_its_own_is_held_out_without_its_copies_in_the_training_text(
    tmp_path: Path,
) -> None:
    corpus = folders()
    lines = corpus.documents[7].splitlines(keepends=True)
    own = bpe.Corpus.from_documents(
        [prose("German", 900, seed=1), "".join([*lines[1:], "A new end.\n"])]
    )
    training, held_out = corpus.hold_out(own)
    assert training.names == (*corpus.names[:7], *corpus.names[8:])
    assert held_out == own
    assert held_out.how == HeldOut("file", n_units=2, share_within=0.0)
    assert training.divided == held_out.divided
    assert training.divided == Split(corpus.sha256, 0.0, 0, f"file:{own.sha256}")
    run = bpe.train(training, bpe.TrainingConfig(260))
    bpe.save_run(run, tmp_path / "own.bpe-run")
    assert bpe.load_run(tmp_path / "own.bpe-run").origin.split == training.divided
    with pytest.raises(bpe.ConfigError, match="none is left to train on"):
        corpus.hold_out(corpus)
    words = bpe.Corpus.from_word_counts({"hug": 3})
    assert words.hold_out(own)[0] == words


def test_how_text_was_held_out_survives_a_sample_and_pickling() -> None:
    _, held_out = folders().split(0.2, by="folder")
    sample = held_out.sample(5_000)
    assert sample.how == held_out.how
    assert set(sample.units) <= set(held_out.units)
    again = pickle.loads(pickle.dumps(held_out))  # noqa: S301 - pickled here
    assert (again.units, again.how) == (held_out.units, held_out.how)


@pytest.mark.parametrize("seed", range(2))
def test_a_sample_is_like_its_corpus(mixed: bpe.Corpus, seed: int) -> None:
    sample = mixed.sample(200_000, seed)
    assert sample == mixed.sample(200_000, seed) != mixed.sample(200_000, seed + 1)
    assert sample.n_bytes == pytest.approx(200_000, rel=0.01)
    for of_whole, of_part in zip(mixed.composition(), sample.composition(), strict=True):
        for name, share in shares(of_whole).items():
            if share >= MIN_SHARE:
                assert shares(of_part)[name] == pytest.approx(share, rel=0.05), name
    german = [start for _, name, (start, _) in placed(sample) if name == "german.txt"]
    tenths = Counter(10 * start // len(mixed.documents[0]) for start in german)
    assert len(tenths) == 10


def by_author() -> dict[str, list[str]]:
    texts = [prose("English", 600, seed=n).replace("\n", " ") for n in range(120)]
    return {
        "id": [str(n) for n in range(120)],
        "text": texts,
        "who": [f"a{n % 30}" for n in range(120)],
    }


@pytest.mark.usefixtures("parquet_here")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_all_rows_with_a_value_of_a_column_are_held_out(kind: str, tmp_path: Path) -> None:
    found = by_author()
    path = tmp_path / f"posts.{kind}"
    frame = pandas.DataFrame(found)
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    corpus = bpe.read_corpus(path, "text", kept_column="who")
    assert list(corpus.columns["who"]) == found["who"]
    training, held_out = corpus.split(0.1, by="column:who")
    assert not set(training.columns["who"]) & set(held_out.columns["who"])
    assert held_out.how == HeldOut("column:who", len(set(held_out.columns["who"])), 0.0)
    assert training.n_bytes + held_out.n_bytes == corpus.n_bytes
    assert 0.05 < held_out.n_bytes / corpus.n_bytes < 0.15
    with pytest.raises(bpe.ConfigError, match="known are: 'who'"):
        corpus.split(0.1, by="column:id")
    with pytest.raises(bpe.CorpusError, match="'nobody'"):
        bpe.read_corpus(path, "text", kept_column="nobody")
    corpus.save(tmp_path)
    assert bpe.Corpus.open(tmp_path).columns == corpus.columns


def test_columns_of_documents_need_a_value_for_each() -> None:
    corpus = bpe.Corpus.from_documents(["ab", "c"] * 30, columns={"who": ["x", "y"] * 30})
    assert set(corpus.split(0.5, by="column:who")[1].documents) in ({"ab"}, {"c"})
    with pytest.raises(bpe.ConfigError, match="Expected 2 values as who"):
        bpe.Corpus.from_documents(["a", "b"], columns={"who": ["x"]})


@pytest.mark.parametrize("by", ["document", "folder", "stretch"])
def test_a_corpus_on_disk_is_split_alike_and_never_held_whole(by: str, tmp_path: Path) -> None:
    documents = [prose("Greek", 30_000, seed, longest=200) for seed in range(200)]
    # One that shares most lines, and one that is equal.
    documents += [f"{documents[0]}one more\n", documents[1]]
    names = [f"{seed % 50}/{seed}.txt" for seed in range(len(documents))]
    corpus = bpe.Corpus.from_documents(documents, names)
    expected = corpus.split(SHARE, by=by)
    corpus.save(tmp_path)
    tracemalloc.start()
    filed = bpe.Corpus.open(tmp_path, stays_on_disk=True)
    parts = filed.split(SHARE, by=by)
    assert parts == expected
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < corpus.n_bytes / 3
    for part, kept in zip(parts, expected, strict=True):
        assert part.documents[:] == kept.documents
        assert (part.names, part.places) == (kept.names, kept.places)
        assert (part.units, part.how) == (kept.units, kept.how)
