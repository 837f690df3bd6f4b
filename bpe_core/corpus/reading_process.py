"""Read large files into a corpus in a separate process with limited memory and time.

Decoding and cutting up a large text holds the interpreter's lock for tenths of a second at a time,
and everything else in the same process waits. `python -m bpe_core.corpus.reading_process FOLDER`
does what the folder's `question.json` asks, and writes one JSON object a line to standard output.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import regex

from bpe_core import errors
from bpe_core.child_process import child, follow_parent
from bpe_core.corpus.columns import TableColumns, columns_from_json, columns_to_json
from bpe_core.corpus.composition import file_of
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import read_corpus_files, write_corpus
from bpe_core.corpus.file_kinds import HEAD_BYTES, is_packed
from bpe_core.corpus.filed_corpus import FiledCorpus, Parts, figures_of, from_json, to_json
from bpe_core.corpus.notes import Note
from bpe_core.corpus.read_corpus import read_corpus
from bpe_core.corpus.readers import Choices, Upload, may_be_tables, size_of, tables_in
from bpe_core.errors import BpeError, UnsupportedFileError
from bpe_core.processes.limits import Limits, limit_this_process

LEAST_BYTES: Final = 4_000_000
"""The size from which files are worth a process, which takes half a second to start."""
_LEAST_MARKS: Final = 200_000
"""Each line or comma may be a row or a value, and 1.9 million rows of a 4 MB table took 5 to 20
seconds."""
MOST_BYTES_IN_MEMORY: Final = 20_000_000
"""A text of up to this size is returned as a `Corpus`, as if it had been read here."""
_MOST_BYTES: Final = 4 * 2**30
_MOST_TIMES_FILES: Final = 8
_MOST_SECONDS: Final = 900.0
_QUESTION: Final = "question.json"
_LEAST_STEP: Final = 0.05
_MOST_EXCERPTS: Final = 16
_WINDOW: Final = 200
_BEYOND_ASCII: Final = regex.compile(r"[^\x00-\x7f]")


def worth_a_process(uploads: Sequence[Upload]) -> bool:
    """Return whether files are so large, or may unpack to so much, that a process should read them.

    Any packed file may: 16 kB of JSON unpacked to 16 MB, which stopped everything else for 2
    seconds.

    >>> import io
    >>> class Upload(io.BytesIO):
    ...     name = "hug.txt"
    ...     size = 3
    >>> worth_a_process([Upload(b"hug")])
    False
    """
    if sum(map(size_of, uploads)) >= LEAST_BYTES:
        return True
    texts = [_data_of(upload) for upload in uploads]
    marks = sum(data.count(b"\n") + data.count(b",") for data in texts)
    return marks >= _LEAST_MARKS or any(is_packed(data[:HEAD_BYTES]) for data in texts)


def read_in_process(
    uploads: Sequence[Upload],
    choices: Choices,
    *,
    held_out_share: float,
    held_out_by: str = "document",
    place: Path,
    on_progress: Callable[[float], None],
) -> Corpus | FiledCorpus:
    """Read files as `read_corpus` does; a large corpus stays in a new folder in `place`.

    It is divided by `held_out_share` and `held_out_by` at the same time. Raises what `read_corpus`,
    `Corpus.split` and `on_progress` raise, UnsupportedFileError if the files take too much memory
    or time, and OSError if the folder cannot be written.
    """
    with _folder_of(uploads, place) as folder:
        question = {
            "names": [upload.name for upload in uploads],
            "choices": choices,
            "share": held_out_share,
            "by": held_out_by,
        }
        found = _ask(folder, question, on_progress)
        if found["is_small"]:
            corpus = read_corpus_files(folder)
            shutil.rmtree(folder, ignore_errors=True)
            return corpus
        return filed_corpus(folder, found | {"share": held_out_share, "by": held_out_by})


def describe_filed(
    corpus: FiledCorpus, held_out_share: float, held_out_by: str = "document"
) -> dict[str, Any]:
    """Return all but the text of a large corpus as JSON values, for `filed_corpus`.

    Raises what `FiledCorpus.divided` raises.
    """
    return {
        "n_bytes": corpus.n_bytes,
        "sha256": corpus.sha256,
        "n_sources": corpus.n_sources,
        "files": corpus.files,
        "notes": corpus.file_notes,
        "excerpts": [corpus.excerpts.documents, corpus.excerpts.names],
        "share": held_out_share,
        "by": held_out_by,
        "parts": [to_json(part) for part in corpus.divided(held_out_share, held_out_by)],
    }


def filed_corpus(folder: Path, described: Mapping[str, Any]) -> FiledCorpus:
    """Return the large corpus whose text is in a folder, which is deleted with it."""
    texts, names = described["excerpts"]
    return FiledCorpus(
        folder,
        n_bytes=described["n_bytes"],
        sha256=described["sha256"],
        n_sources=described["n_sources"],
        files=tuple(described["files"]),
        notes=tuple(Note(*note) for note in described["notes"]),
        excerpts=Corpus(tuple(texts), tuple(names)),
        parts={(described["share"], described["by"]): _parts_of(described["parts"])},
        divide=_divide,
    )


def read_beginning_in_process(
    uploads: Sequence[Upload],
    choices: Choices,
    most_characters: int,
    *,
    place: Path,
    on_progress: Callable[[float], None],
) -> tuple[Corpus, int]:
    """Read the first documents of files, `most_characters` in all; return the characters of all.

    Raises what `read_in_process` raises. Nothing is left in `place`.
    """
    with _folder_of(uploads, place) as folder:
        question: dict[str, Any] = {
            "names": [upload.name for upload in uploads],
            "choices": choices,
            "most_characters": most_characters,
        }
        found = _ask(folder, question, on_progress)
        corpus = read_corpus_files(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return corpus, found["n_characters"]


def describe_in_process(
    uploads: Sequence[Upload],
    choices: Choices,
    most: int,
    *,
    place: Path,
) -> list[tuple[str, TableColumns]]:
    """Describe tables as `tables_in` does. Raises what `read_in_process` raises."""
    tables = [upload for upload in uploads if may_be_tables(_data_of(upload), upload.name)]
    if not tables:
        return []
    with _folder_of(tables, place) as folder:
        question = {
            "names": [upload.name for upload in tables],
            "choices": choices,
            "most_tables": most,
        }
        found = _ask(folder, question, lambda _: None)
        shutil.rmtree(folder, ignore_errors=True)
    return [(name, columns_from_json(columns)) for name, columns in found["tables"]]


@contextmanager
def _folder_of(uploads: Sequence[Upload], place: Path) -> Generator[Path]:
    """Yield a new folder in `place` with the files; it is deleted if the block raises."""
    folder = Path(tempfile.mkdtemp(prefix=".unfinished-corpus-", dir=place))
    try:
        for number, upload in enumerate(uploads):
            (folder / f"upload-{number}").write_bytes(_data_of(upload))
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _divide(folder: Path, held_out_share: float, by: str) -> Parts:
    return _parts_of(_ask(folder, {"share": held_out_share, "by": by}, lambda _: None)["parts"])


def _parts_of(found: Sequence[dict[str, Any]]) -> Parts:
    training, held_out = map(from_json, found)
    return training, held_out


def _data_of(upload: Upload) -> bytes:
    get_value: Callable[[], bytes] | None = getattr(upload, "getvalue", None)
    return get_value() if get_value else upload.read()


def _ask(
    folder: Path, question: Mapping[str, Any], on_progress: Callable[[float], None]
) -> dict[str, Any]:
    (folder / _QUESTION).write_text(json.dumps(question, default=dict), "utf-8")
    module = "bpe_core.corpus.reading_process"
    with child(module, str(folder), most_seconds=_MOST_SECONDS) as process:
        for line in cast("IO[bytes]", process.stdout):
            answer = json.loads(line)
            if "part" in answer:
                on_progress(answer["part"])
            elif "error" in answer:
                name, text = answer["error"]
                raise getattr(errors, name)(text)
            else:
                return answer
    raise UnsupportedFileError(
        "These files take too much memory or time to read. Give fewer of them, or smaller ones."
    )


class _File:
    """An upload in the folder."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self.name = name
        self.size = path.stat().st_size

    def read(self) -> bytes:
        """Return its bytes."""
        return self._path.read_bytes()


def _main(folder: Path) -> None:
    follow_parent()
    question = json.loads((folder / _QUESTION).read_bytes())
    size = sum(path.stat().st_size for path in folder.iterdir())
    limit_this_process(Limits(_MOST_SECONDS, _MOST_BYTES + _MOST_TIMES_FILES * size))
    try:
        if "most_tables" in question:
            _write(_described(folder, question))
        elif "names" in question:
            _write(_read(folder, question))
        else:
            _write(_divided(folder, question))
    except BpeError as error:
        _write({"error": [type(error).__name__, str(error)]})


def _read(folder: Path, question: Mapping[str, Any]) -> dict[str, Any]:
    files = _files_of(folder, question)
    last = 0.0

    def report(part: float) -> None:
        nonlocal last
        # Dividing the corpus and describing it takes about as long as reading it.
        if part / 2 - last >= _LEAST_STEP:
            last = part / 2
            _write({"part": last})

    choices = Choices(*question["choices"])
    corpus = read_corpus(files, **choices._asdict(), on_progress=report)
    for path in folder.glob("upload-*"):
        path.unlink()
    if "most_characters" in question:
        write_corpus(folder, _beginning(corpus, question["most_characters"]))
        return {"n_characters": corpus.n_characters + max(0, len(corpus.documents) - 1)}
    write_corpus(folder, corpus)
    if corpus.n_bytes <= MOST_BYTES_IN_MEMORY:
        return {"is_small": True}
    _write({"part": 0.6})
    return {
        "is_small": False,
        "n_bytes": corpus.n_bytes,
        "sha256": corpus.sha256,
        "n_sources": corpus.n_sources,
        "files": list(dict.fromkeys(map(file_of, corpus.names))),
        "parts": _parts(corpus, question),
        "notes": corpus.file_notes,
        "excerpts": _excerpts(corpus),
    }


def _files_of(folder: Path, question: Mapping[str, Any]) -> list[_File]:
    return [
        _File(folder / f"upload-{number}", name) for number, name in enumerate(question["names"])
    ]


def _beginning(corpus: Corpus, most_characters: int) -> Corpus:
    documents: list[str] = []
    for document in corpus.documents:
        if most_characters < 0:
            break
        documents.append(document[:most_characters])
        most_characters -= len(document) + 1
    n = len(documents)
    return Corpus(
        tuple(documents),
        corpus.names[:n],
        file_notes=corpus.file_notes,
        encodings=corpus.encodings[:n],
    )


def _described(folder: Path, question: Mapping[str, Any]) -> dict[str, Any]:
    files = _files_of(folder, question)
    tables = tables_in(files, Choices(*question["choices"]), question["most_tables"])
    return {"tables": [(name, columns_to_json(columns)) for name, columns in tables]}


def _divided(folder: Path, question: Mapping[str, Any]) -> dict[str, Any]:
    return {"parts": _parts(read_corpus_files(folder, stays_on_disk=True), question)}


def _parts(corpus: Corpus, question: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = corpus.split(question["share"], by=question["by"])
    return [to_json(figures_of(part)) for part in parts]


def _excerpts(corpus: Corpus) -> tuple[list[str], list[str]]:
    """Return texts by which guesses can be judged, and the names of their documents."""
    wanted = {note.file for note in corpus.file_notes if note.kind in ("encoding", "undecodable")}
    texts: list[str] = []
    names: list[str] = []
    for text, name in zip(corpus.documents, corpus.names, strict=True):
        file = next((file for file in wanted if name == file or name.startswith(f"{file} ")), None)
        found = _BEYOND_ASCII.search(text) if file is not None else None
        if file is not None and found and len(texts) < _MOST_EXCERPTS:
            wanted.remove(file)
            texts.append(text[max(0, found.start() - _WINDOW) : found.start() + _WINDOW])
            names.append(name)
    return texts, names


def _write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
