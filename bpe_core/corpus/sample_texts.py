"""Built-in corpora: texts that ship with Python, stories, a multilingual one, and toys."""

from __future__ import annotations

import csv
import io
import json
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np

from bpe_core.corpus.columns import has_more_cells
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.read import read_corpus
from bpe_core.corpus.text_decoding import decode_text
from bpe_core.errors import ConfigError, CorpusError
from bpe_core.unicode import CodePoints, find_script

_MAX_LANGUAGES = 200
_MAX_BYTES = 25_000_000
_MAX_SENTENCES = 300_000
"""In all languages together. A table of 25 million short lines took more than 5 GB."""
_HELP_MODULES = (
    "array",
    "base64",
    "binascii",
    "bisect",
    "builtins",
    "calendar",
    "cmath",
    "codecs",
    "collections",
    "contextlib",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "gc",
    "glob",
    "hashlib",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "locale",
    "math",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "random",
    "re",
    "select",
    "shutil",
    "socket",
    "statistics",
    "string",
    "struct",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "types",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "warnings",
    "weakref",
    "zipfile",
    "zlib",
)
_MIN_HELP = 150
"""Shorter docstrings, in characters, say little more than a name."""
_LIBRARY_MODULES = (
    "__future__",
    "_collections_abc",
    "_pyio",
    "abc",
    "argparse",
    "ast",
    "base64",
    "bdb",
    "bisect",
    "calendar",
    "cmd",
    "codecs",
    "collections/__init__",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "difflib",
    "dis",
    "doctest",
    "email/message",
    "enum",
    "fractions",
    "ftplib",
    "functools",
    "gettext",
    "glob",
    "gzip",
    "heapq",
    "html/parser",
    "http/client",
    "http/cookiejar",
    "imaplib",
    "inspect",
    "ipaddress",
    "json/decoder",
    "json/encoder",
    "locale",
    "logging/__init__",
    "mailbox",
    "mimetypes",
    "optparse",
    "os",
    "pdb",
    "pickle",
    "pickletools",
    "platform",
    "plistlib",
    "pprint",
    "pydoc",
    "queue",
    "random",
    "sched",
    "selectors",
    "shutil",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "statistics",
    "string",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "trace",
    "traceback",
    "turtle",
    "typing",
    "unittest/case",
    "unittest/mock",
    "urllib/parse",
    "urllib/request",
    "uuid",
    "warnings",
    "weakref",
    "zipfile",
    "zipfile/__init__",
)
_LIBRARY_MOST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A corpus that ships with the package, or with Python."""

    id: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class ParallelText:
    """The same sentences in one of many languages."""

    code: str
    """ISO 639-1."""
    name: str
    scripts: tuple[str, ...]
    sentences: tuple[str, ...]

    @classmethod
    def read(cls, files: Sequence[tuple[str, bytes]]) -> tuple[ParallelText, ...]:
        """Read parallel sentences: a table, or a text file for each language.

        A table is CSV or TSV with one column per language, and the languages' names in its first
        row. Text files are named after their languages and have one sentence per line, in the same
        order. Raises `CorpusError` if a sentence is missing, if two files name the same language,
        for fewer than two languages, and for more than 25 MB or 300,000 sentences.

        >>> table = b"English\\tGerman\\nGood morning.\\tGuten Morgen.\\n"
        >>> [(text.name, text.sentences) for text in ParallelText.read([("two.tsv", table)])]
        [('English', ('Good morning.',)), ('German', ('Guten Morgen.',))]
        """
        if (n_bytes := sum(len(data) for _, data in files)) > _MAX_BYTES:
            raise CorpusError(
                f"These sentences take {n_bytes:,} bytes, more than the {_MAX_BYTES:,} that are "
                "compared. Give fewer sentences."
            )
        columns: dict[str, list[str]] = {}
        n_sentences = 0
        if len(files) == 1:
            ((name, data),) = files
            columns = _split_columns(decode_text(data, name).text, name)
        else:
            for name, data in files:
                language = name.rpartition(".")[0] or name
                if language in columns:
                    raise CorpusError(
                        f"Two files name the language {language!r:.60}. Rename one of them."
                    )
                text = decode_text(data, name).text.removesuffix("\n")
                n_sentences += text.count("\n") + 1
                if n_sentences > _MAX_SENTENCES:
                    raise _too_many_sentences()
                lines = text.split("\n")
                columns[language] = [line.removesuffix("\r") for line in lines]
        if not 2 <= len(columns) <= _MAX_LANGUAGES:
            raise CorpusError(
                f"Expected 2 to {_MAX_LANGUAGES} languages, found {len(columns):,}. Give a table "
                "with one column per language, or one text file per language."
            )
        return cls.from_columns(columns)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[str]]) -> tuple[ParallelText, ...]:
        """Return the sentences of each named language; raises CorpusError if one is missing."""
        _check_parallel(columns)
        return tuple(
            cls("", name, _find_scripts(sentences), tuple(sentences))
            for name, sentences in columns.items()
        )


def samples() -> tuple[Sample, ...]:
    """Return the corpora that `load_sample` can load.

    >>> [sample.id for sample in samples()][:3]
    ['python-help', 'python-library', 'alice']
    """
    return tuple(sample for sample, _ in _SAMPLES.values())


@cache
def load_sample(sample_id: str) -> Corpus:
    """Load a sample by its id; raises ConfigError if there is none with that id.

    The two that ship with Python differ between its versions.

    >>> load_sample("notebook").documents[0]
    'This is the first document.'
    """
    if sample_id not in _SAMPLES:
        raise ConfigError(
            f"Unknown sample {sample_id!r}: choose one of {', '.join(map(repr, _SAMPLES))}."
        )
    return _SAMPLES[sample_id][1]()


@cache
def parallel_texts() -> tuple[ParallelText, ...]:
    """Return the multilingual sample, sentence by sentence, to compare languages.

    The n-th sentence has the same meaning in every language. Written for this project.

    >>> [text.sentences[8] for text in parallel_texts() if text.code in ("en", "es")]
    ['When it rains, the whole street smells of wet earth.', \
'Cuando llueve, toda la calle huele a tierra mojada.']
    """
    return tuple(
        ParallelText(text["code"], text["name"], tuple(text["scripts"]), tuple(text["sentences"]))
        for text in json.loads(_data("multilingual.json"))
    )


def _data(name: str) -> str:
    return files("bpe_core").joinpath("data", name).read_text(encoding="utf-8")


def _python_help() -> Corpus:
    # Imported here because it takes 0.1 s and only this sample needs it.
    from pydoc_data.topics import topics

    texts = {name: topics[name] for name in sorted(topics) if not _repeats(name, topics)}
    for module in _HELP_MODULES:
        try:
            found = import_module(module)
        except ImportError:  # one that was left out when Python was built
            continue
        for name in sorted(getattr(found, "__all__", vars(found))):
            # A server sets hooks of its own, as sys.unraisablehook; Python keeps the first ones.
            firsts = f"__{name}__", f"_{name}_orig", name
            each = next((vars(found)[one] for one in firsts if one in vars(found)), None)
            origin = (getattr(each, "__module__", None) or module).partition(".")[0]
            # Notebooks, among others, add functions of their own to Python's.
            text = _docstrings(each) if origin in sys.stdlib_module_names else ""
            if name[0] != "_" and len(text) >= _MIN_HELP and text not in texts.values():
                texts[f"{module}: {name}"] = text
    return Corpus.from_documents(list(texts.values()), list(texts))


def _repeats(name: str, topics: Mapping[str, str]) -> bool:
    """Return whether most lines of a topic are in shorter ones: whole chapters are topics, too."""
    text = topics[name]
    shorter = chain.from_iterable(
        other.splitlines() for other in topics.values() if len(other) < len(text)
    )
    lines = set(text.splitlines())
    return 2 * len(lines & set(shorter)) > len(lines)


def _docstrings(found: object) -> str:
    """Return the docstrings of a function, or of a class and its methods; empty for anything else.

    >>> print(_docstrings(len))
    Return the number of items in a container.
    """
    if not callable(found) or (isinstance(found, type) and issubclass(found, BaseException)):
        return ""
    members = sorted(vars(found).items()) if isinstance(found, type) else []
    methods = [method for name, method in members if name[0] != "_" and callable(method)]
    texts = (getattr(each, "__doc__", None) for each in (found, *methods))
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _python_library() -> Corpus:
    folder = Path(sysconfig.get_path("stdlib"))
    paths: list[Path] = []
    size = 0
    for module in _LIBRARY_MODULES:
        path = folder / f"{module}.py"
        # zipfile became a package in Python 3.12, so only one of its two paths exists.
        if path.is_file() and size + path.stat().st_size <= _LIBRARY_MOST_BYTES:
            size += path.stat().st_size
            paths.append(path)
    return read_corpus(paths)


def _story(sample_id: str) -> Corpus:
    chapters: dict[str, str] = json.loads(_data("stories.json"))[sample_id]
    return Corpus.from_documents(list(chapters.values()), list(chapters))


def _multilingual() -> Corpus:
    texts = parallel_texts()
    return Corpus.from_documents(
        ["\n".join(text.sentences) + "\n" for text in texts], [text.name for text in texts]
    )


def _notebook() -> Corpus:
    return Corpus.from_documents(
        [
            "This is the first document.",
            "This document is the second document.",
            "And this is the third one.",
            "Is this the first document?",
        ]
    )


def _hug_words() -> Corpus:
    return Corpus.from_word_counts({"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3})


def _pretokenization_notebook() -> Corpus:
    return Corpus.from_documents(
        [
            "This is the Hugging Face Course.",
            "This chapter is about tokenization.",
            "This section shows several tokenizer algorithms.",
            "Hopefully, you will be able to understand how they are trained and generate tokens.",
        ]
    )


_SAMPLES: dict[str, tuple[Sample, Callable[[], Corpus]]] = {
    sample.id: (sample, load)
    for sample, load in (
        (
            Sample(
                "python-help",
                "Python’s built-in help",
                "What help() says on the language, on functions and on classes: English prose with "
                "code, about 0.7 MB. It differs a little between versions of Python.",
            ),
            _python_help,
        ),
        (
            Sample(
                "python-library",
                "Python’s library source",
                "Modules of Python’s standard library: code with comments, about 2 MB.",
            ),
            _python_library,
        ),
        (
            Sample(
                "alice",
                "Alice’s Adventures in Wonderland",
                "Lewis Carroll’s story in twelve chapters, English, about 0.1 MB.",
            ),
            partial(_story, "alice"),
        ),
        (
            Sample(
                "chaperon-rouge",
                "Le Petit Chaperon rouge",
                "Charles Perrault’s Little Red Riding Hood, French, two pages.",
            ),
            partial(_story, "chaperon-rouge"),
        ),
        (
            Sample(
                "rotkaeppchen",
                "Rotkäppchen",
                "The Brothers Grimm’s Little Red Riding Hood, German, three pages.",
            ),
            partial(_story, "rotkaeppchen"),
        ),
        (
            Sample(
                "kong-yiji",
                "孔乙己 (Kong Yiji)",
                "Lu Xun’s story of a scholar who never passed an examination, Chinese.",
            ),
            partial(_story, "kong-yiji"),
        ),
        (
            Sample(
                "multilingual",
                "Many languages",
                "The same everyday sentences in 25 languages and 15 scripts, one document each.",
            ),
            _multilingual,
        ),
        (
            Sample(
                "notebook",
                "Four short documents",
                "The corpus of the four-document notebook, small enough to follow by hand.",
            ),
            _notebook,
        ),
        (
            Sample(
                "hug-words",
                "The hug words",
                "Five words with their counts: hug 10, ugg 5, ggi 3, gin 3, ing 3.",
            ),
            _hug_words,
        ),
        (
            Sample(
                "pretokenization-notebook",
                "Four sentences on tokenization",
                "The corpus of the GPT-2 pre-tokenization notebook.",
            ),
            _pretokenization_notebook,
        ),
    )
}


def _check_parallel(columns: Mapping[str, Sequence[str]]) -> None:
    """Raise CorpusError if a sentence is missing."""
    lengths = {name: len(sentences) for name, sentences in columns.items()}
    if len(set(lengths.values())) > 1:
        raise CorpusError(
            f"The languages have different numbers of sentences, from {min(lengths.values()):,} to "
            f"{max(lengths.values()):,}. Give the same sentences, in the same order, for each."
        )
    for name, sentences in columns.items():
        for number, sentence in enumerate(sentences, start=1):
            if not sentence.strip():
                raise CorpusError(f"Sentence {number:,} of {name!r:.60} is empty.")


def _split_columns(text: str, name: str) -> dict[str, list[str]]:
    first_line = text.partition("\n")[0]
    delimiter = max("\t,;", key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    # Checked before a row of millions of cells is in memory.
    if has_more_cells(text, delimiter, _MAX_SENTENCES):
        raise _too_many_sentences()
    rows: list[list[str]] = []
    n_cells = 0
    try:
        for row in reader:
            n_cells += max(1, len(row))
            # The first row names the languages.
            if n_cells > _MAX_SENTENCES + _MAX_LANGUAGES:
                raise _too_many_sentences()
            rows.append(row)
    except csv.Error:
        raise CorpusError(
            f"{name} is not a table of values separated by {delimiter!r} at line "
            f"{reader.line_num:,}. Check the quotes there."
        ) from None
    rows = [row for row in rows if row]
    names = [cell.strip() for cell in rows[0]] if rows else []
    if len(rows) < 2 or not all(names) or len(set(names)) < len(names):
        raise CorpusError(
            f"{name} needs a first row that names each language once, then one row per sentence."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise CorpusError(
                f"{name}, row {number:,}, has {len(row):,} cells; the first row has {len(names):,}."
            )
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(names)}


def _too_many_sentences() -> CorpusError:
    return CorpusError(
        f"There are more than {_MAX_SENTENCES:,} sentences in all languages together. Give fewer."
    )


def _find_scripts(sentences: Sequence[str]) -> tuple[str, ...]:
    found: Counter[str] = Counter()
    characters, counts = np.unique(CodePoints("".join(sentences)).points, return_counts=True)
    for character, count in zip(characters.tolist(), counts.tolist(), strict=True):
        if name := find_script(chr(character)):
            found[name] += count
    return tuple(name for name, _ in found.most_common())
