"""Read files into a corpus."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Final, cast

from bpe_core.checks import several
from bpe_core.corpus.archives import Budget
from bpe_core.corpus.composition import Place
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.file_kinds import HELD_OUT_ENDING
from bpe_core.corpus.filed_texts import FileTexts, TextsWriter
from bpe_core.corpus.held_out import HeldOut, Split, check_split_by
from bpe_core.corpus.notes import Note
from bpe_core.corpus.readers import (
    Document,
    ReadOptions,
    Source,
    expand_folder,
    read_source,
    reasons,
    skipped,
    source_name,
    source_size,
)
from bpe_core.corpus.text_decoding import DecodingErrors
from bpe_core.corpus.urls import Location
from bpe_core.errors import ConfigError, CorpusError, EmptyCorpusError, UnsupportedFileError

HELD_OUT_MARK: Final = b'{"held_out": {"by": '
"""How such a file begins."""


def held_out_lines(held_out: Corpus) -> Iterator[bytes]:
    """Yield the lines of the file for the held-out part of a corpus with text.

    >>> _, held_out = Corpus.from_text("a line\\n" * 100).split(0.08)
    >>> first = next(held_out_lines(held_out))
    >>> first.startswith(HELD_OUT_MARK), sorted(json.loads(first))
    (True, ['held_out', 'line', 'name', 'split', 'start', 'text', 'unit'])
    """
    how, split = held_out.how, held_out.divided
    if how is None or split is None:
        raise ConfigError("Expected the held-out part of a corpus, got another corpus.")
    head: dict[str, object] = {"held_out": asdict(how), "split": asdict(split)}
    units = held_out.units or range(len(held_out.documents))
    places = held_out.places or [Place(0, 1)] * len(held_out.documents)
    each = zip(held_out.names, units, places, held_out.documents, strict=True)
    for name, unit, place, text in each:
        row = {**head, "name": name, "unit": unit, **place._asdict(), "text": text}
        yield json.dumps(row).encode() + b"\n"
        head = {}


def read_held_out(path: Path, texts_file: Path | None = None) -> Corpus | None:
    """Read what `held_out_lines` wrote as the same held-out part; None for any other file.

    With `texts_file`, the documents are kept in a file to be made there. Raises CorpusError for a
    file that is damaged or cannot be read.
    """
    with Location(str(path)).reading() as file:
        if file.read(len(HELD_OUT_MARK)) != HELD_OUT_MARK:
            return None
        file.seek(0)
        texts: list[str] = []
        writer = None if texts_file is None else TextsWriter(texts_file)
        names: list[str] = []
        units: list[int] = []
        places: list[Place] = []
        try:
            head = json.loads(file.readline())
            how, split = HeldOut(**head["held_out"]), Split(**head["split"])
            check_split_by(split.by)
            file.seek(0)
            for line in file:
                row = json.loads(line)
                if writer is None:
                    texts.append(str(row["text"]))
                else:
                    writer.write([str(row["text"])])
                names.append(str(row["name"]))
                units.append(int(row["unit"]))
                places.append(Place(int(row["start"]), int(row["line"])))
        except (ConfigError, KeyError, TypeError, ValueError) as error:
            raise CorpusError(
                f"{path.name} is damaged at line {len(names) + 1:,}: {error}. Hold the text out "
                "again."
            ) from None
    documents = tuple(texts) if writer is None else writer.written()
    return Corpus(
        documents, tuple(names), places=tuple(places), divided=split, units=tuple(units), how=how
    )


def read_corpus(
    paths_or_uploads: Source | Iterable[Source],
    text_column: str | Mapping[str, str] | None = None,
    *,
    encoding: str | Mapping[str, str] | None = None,
    errors: DecodingErrors = "strict",
    max_archive_files: int | None = None,
    kept_column: str | None = None,
    on_progress: Callable[[float], None] | None = None,
    texts_file: Path | None = None,
) -> Corpus:
    """Read files into a corpus: any text, tables, JSON, and packed files or archives of these.

    A source is the path of a file or folder, or an object with a `name` and `getvalue()` or
    `read()`, such as an upload.
    A text file is one document. In csv, tsv, jsonl and parquet, each row of `text_column` is one:
    of one column for all tables, or of the one given for the name of a table, such as `a.csv` or
    `archive.zip/a.csv`. None, or a name that is not given, chooses a column of text named `text`,
    `content`, `body` or the like, or else the one with the most characters. A column that is named
    can hold anything but nested objects: numbers are read as they are written, lists of strings as
    lines, and chats (`messages`) as lines of roles and contents. JSON may be a list of strings or
    objects, an object of strings or lists, or several values one after another, on a line each or
    not, whether the file is called `.json` or `.jsonl`.

    All files of a folder and its subfolders are read, except hidden ones; files that are not text
    are skipped. `.gz`, `.bz2`, `.xz` and `.zst` are unpacked, and of a zip or tar
    archive each file is read. An archive of more than `max_archive_files` is refused.

    `encoding` is that of all text files, or of the files that it names; others are read by their
    byte order mark, as UTF-8, or by a guess. Bytes that do not fit are an error, or become U+FFFD
    with `errors="replace"`, and are counted in `notes`.

    `kept_column` names another column of all tables, such as the author. Its values become the
    corpus's `columns`, so that `split` can hold out all rows of some authors.

    Text that a command held out and wrote, such as `tokenizer.held-out.jsonl`, is the same held-out
    part again if it is the only source: its `how` says how it was chosen.

    With `texts_file`, the path of a file to be made, the documents are written there, and are read
    again one by one when they are needed: the memory taken is that of the largest file.

    `on_progress` is called from time to time with the fraction read so far; an exception it raises
    ends the reading. An archive may unpack to 16 MB or a hundred times its size, whichever is more,
    and all archives together to 512 MB. All tables together can have four million rows; `Budget` in
    `bpe_core.corpus.archives` has the other limits.

    A file that is empty or cannot be read is skipped and named in `notes`, as are lines that are
    not JSON, unless they are most of a file. If no file can be read, an error is raised:
    EmptyCorpusError, TextDecodingError, UnsupportedFileError, or CorpusError for a path that cannot
    be opened. ConfigError is raised for an unknown encoding.

    >>> import io
    >>> class Upload(io.BytesIO):
    ...     name = "words.csv"
    >>> read_corpus([Upload(b"id,text\\n1,hug\\n2,hugs\\n")], text_column="text").documents
    ('hug', 'hugs')
    """
    sources: list[Source]
    if isinstance(paths_or_uploads, Iterable) and not isinstance(paths_or_uploads, (str, bytes)):
        # An io.BytesIO is iterable as well, by lines, but it is one source.
        readable = hasattr(paths_or_uploads, "read") or hasattr(paths_or_uploads, "getvalue")
        remedy = "give a list of paths or uploads"
        sources = (
            [cast("Source", paths_or_uploads)]
            if readable
            else several(paths_or_uploads, "files", remedy)
        )
    else:
        sources = [paths_or_uploads]
    if not sources:
        raise EmptyCorpusError("No file given: name at least one.")
    choices = ReadOptions(text_column, encoding, errors, max_archive_files, kept_column)
    choices.check()
    sources = [file for source in sources for file in expand_folder(source)]
    if len(sources) == 1 and isinstance(first := sources[0], (str, PathLike)):
        path = Path(first)
        if path.name.endswith(HELD_OUT_ENDING) and path.is_file():
            held_out = read_held_out(path, texts_file)
            if held_out is not None:
                return held_out
    budget = Budget()
    documents: list[Document] = []
    notes: list[Note] = []
    failures: list[tuple[str, CorpusError]] = []
    report = on_progress or _ignore
    writer = None if texts_file is None else TextsWriter(texts_file)
    sizes = [source_size(source) for source in sources]
    total = sum(sizes) or 1
    n_read = 0
    for source, size in zip(sources, sizes, strict=True):
        before, own = n_read / total, size / total
        if n_read:
            report(before)
        n_read += size
        try:
            found, new_notes = read_source(
                source, choices, budget, lambda part, at=before, of=own: report(at + part * of)
            )
        except CorpusError as error:
            failures.append((source_name(source), error))
            notes.append(skipped(source_name(source), error))
            continue
        if writer is not None:
            writer.write(document.text for document in found)
            found = [document._replace(text="") for document in found]
        documents.extend(found)
        notes.extend(new_notes)
    if not documents:
        if len(failures) == 1:
            raise failures[0][1]
        kinds = {type(error) for _, error in failures}
        kind = kinds.pop() if len(kinds) == 1 else UnsupportedFileError
        raise kind(f"None of the files could be read. {reasons(failures)}")
    return Corpus(
        tuple(document.text for document in documents) if writer is None else writer.written(),
        tuple(document.name for document in documents),
        file_notes=tuple(notes),
        encodings=tuple(document.encoding for document in documents),
        columns=(
            {}
            if kept_column is None
            else {kept_column: tuple(document.value for document in documents)}
        ),
    )


def stream_corpus(paths: Iterable[str | PathLike[str]]) -> Corpus:
    """Make a corpus of text files, each one document, which are read only when they are needed.

    Counting reads them once, piece by piece, so they can be larger than memory. They must be UTF-8;
    a byte order mark is left out. Raises CorpusError for a path that cannot be opened,
    EmptyCorpusError, and UnsupportedFileError for tables, compressed files and other encodings,
    which `read_corpus` can read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "hug.txt")
    ...     _ = path.write_text("hug hugs")
    ...     stream_corpus([path]).n_bytes
    8
    """
    texts = FileTexts(paths)
    return Corpus(texts, tuple(path.name for path in texts.paths))


def _ignore(_: float) -> None:
    pass
