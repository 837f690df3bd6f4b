"""Keep the corpora uploaded on Train, Adapt and Compare, so that a reload brings them back."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import (
    Filed,
    FiledCorpus,
    link_corpus,
    read_corpus_files,
    write_corpus,
)
from bpe_core.corpus.reading_process import filed_corpus
from bpe_core.files.store import (
    DETAILS,
    UNFINISHED,
    UPLOAD_PREFIX,
    new_id,
    refused_as_not_permitted,
    store_folder,
    touch,
)
from ui.storage.new_entries import kept_folder
from ui.storage.upload_store import reading_upload, upload_folder


@dataclass(frozen=True, slots=True)
class UploadedCorpus:
    """An uploaded corpus and the name of its text, which is user input."""

    corpus: Corpus | FiledCorpus
    title: str


def keep_uploaded(kept: UploadedCorpus) -> str:
    """Keep an uploaded corpus, and return its new id; raise NotKeptError."""
    upload_id = new_id()
    corpus = kept.corpus
    with kept_folder(f"{UPLOAD_PREFIX}{upload_id}") as folder:
        details: dict[str, Any] = {"kind": "corpus", "names": [kept.title], "filed": None}
        if isinstance(corpus, FiledCorpus):
            link_corpus(corpus.folder, folder)
            details["filed"] = msgspec.to_builtins(corpus.filed)
        else:
            write_corpus(folder, corpus)
        (folder / DETAILS).write_text(json.dumps(details), "ascii")
    return upload_id


def load_uploaded(upload_id: str) -> UploadedCorpus:
    """Return the corpus kept under an id.

    Raises UploadNotFoundError for an unknown or malformed id, and FormatError for damaged files.
    """
    folder = upload_folder(upload_id)
    touch(folder)
    with (
        refused_as_not_permitted("What is kept at this address"),
        reading_upload("corpus", folder) as details,
    ):
        title = str(details["names"][0])
        if details["filed"] is None:
            return UploadedCorpus(read_corpus_files(folder), title)
        filed = msgspec.convert(details["filed"], Filed)
        return UploadedCorpus(filed_corpus(_linked(folder), filed), title)


def _linked(folder: Path) -> Path:
    """Return a new folder with the files of a large corpus, which are deleted with the corpus."""
    linked = Path(tempfile.mkdtemp(prefix=f"{UNFINISHED}corpus-", dir=store_folder()))
    try:
        link_corpus(folder, linked)
    except BaseException:
        shutil.rmtree(linked, ignore_errors=True)
        raise
    return linked
