"""Held-out text as JSON lines: a row for each document, and in the first how it was held out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_texts import TextsWriter
from bpe_core.corpus.held_out import HeldOut, Split, check_split_by
from bpe_core.corpus.spans import Place
from bpe_core.corpus.urls import reading
from bpe_core.errors import ConfigError, CorpusError

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
    with reading(str(path)) as file:
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
