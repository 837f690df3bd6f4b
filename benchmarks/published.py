"""Compare encoding with the published tokenizers that are on this machine with their own library.

`bpe fetch NAME...` brings them; what is not here is named and left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tiktoken import Encoding

from benchmarks import corpora
from benchmarks.encoding import ROUNDS, median_ratio, speed, timed
from benchmarks.report import against, table
from bpe_core.errors import BpeError
from bpe_core.formats import (
    CATALOGUE,
    ForeignTokenizer,
    Published,
    for_library,
    open_encoder,
    parse_json,
    read_description,
    read_ranks,
    read_tekken,
    run_by_library,
    special_texts,
)
from bpe_core.tokenizer import CompiledEncoder, Tokenizer, forget_words, gpt2

Encode = Callable[[str], Iterable[int]]
_BYTES = 1_000_000


class Compared(NamedTuple):
    """A published tokenizer, and what it is compared with."""

    name: str
    engine: str
    """What runs it if not this package; empty if it does."""
    own: Encode
    of_gpt2: Encode
    peer_name: str
    peer: Encode
    forget: Callable[[], None] = forget_words
    """Forgets the words that both have encoded."""


def by_name(folder: Path | None) -> list[str]:
    """Measure each tokenizer on three texts, one thread, after checking its ids."""
    texts = {
        "English": corpora.english(_BYTES).text,
        "mixed": corpora.mixed(_BYTES, folder).text,
        "code": corpora.code(_BYTES).text,
    }
    found, missing = _compared()
    rows: list[list[str]] = []
    for each in found:
        if each.engine:
            rows.append([each.name, f"run by {each.engine}", "", "", "", "", ""])
            continue
        for kind, text in texts.items():
            _first_call(each, kind, text)
            # Apart, because the libraries leave the processor's caches and the heap in disorder.
            times = [*_measured([each.own, each.of_gpt2], text), *_measured([each.peer], text)]
            new = _measured([each.own, each.of_gpt2], text, each.forget)
            n = len(text.encode())
            rows.append(
                [
                    each.name,
                    kind,
                    speed(n, times[0]),
                    f"{median_ratio(times[0], times[1]):.2f}",
                    f"{median_ratio(new[0], new[1]):.2f}",
                    f"{each.peer_name} {speed(n, times[2])}",
                    f"{median_ratio(times[2], times[0]):.1f}",
                ]
            )
    head = [
        "name",
        "text",
        "MB/s",
        "time / GPT-2's",
        "of new text",
        "its library, MB/s",
        "times as fast",
    ]
    how = (
        "One thread, warm; before timing, both give the same ids. Of new text, both had forgotten "
        "all words. Tokenizers with added tokens or a normalizer, and those of SentencePiece's "
        "family, are compared by whole calls, the others by kernels. The goals for that family: at "
        "most twice GPT-2's time, and 20 times as fast as its library."
    )
    return [how, "", table(head, rows), "", missing]


def worst_texts(folder: Path | None) -> list[str]:
    """Measure each tokenizer that runs here on worst-case texts, after checking its ids."""
    prose = corpora.mixed(_BYTES, folder).text
    warm_up = corpora.english(_BYTES).text
    texts = corpora.degenerate(_BYTES)
    found, missing = _compared()
    rows: list[list[str]] = []
    for each in found:
        if each.engine:
            continue
        each.own(warm_up)  # builds its tables
        of_prose = _first_call(each, "mixed", prose)
        row = [each.name, f"{1 / of_prose / 1e6:.1f}"]
        for kind, text in texts.items():
            row.append(against(_first_call(each, kind, text) / of_prose, 10))
        rows.append(row)
    how = (
        "The first call on a megabyte of each, one thread; the ids equal those of the publisher's "
        "library, or are compared on a tenth of the text if that library fails on the whole. The "
        "figures are the time per byte, as a multiple of that for mixed text."
    )
    head = ["name", "mixed, MB/s", *texts]
    return [how, "", table(head, rows), "", missing]


def _compared() -> tuple[list[Compared], str]:
    """Return the published tokenizers that are here, and a sentence on the others."""
    compiled_gpt2 = CompiledEncoder(gpt2().table, gpt2().pretokenizer)
    kernel_of_gpt2 = _kernel(compiled_gpt2)
    found: list[Compared] = []
    absent: list[str] = []
    for name, published in CATALOGUE.items():
        try:
            opened = open_encoder(name)
        except BpeError:
            absent.append(name)
            continue
        encoder = opened.encoder
        if isinstance(encoder, Tokenizer) and encoder.merged_by is encoder:
            peer = _peer(published, encoder)
            compiled = CompiledEncoder(encoder.table, encoder.pretokenizer)
            forget = partial(_forget, compiled, compiled_gpt2)
            found.append(Compared(name, "", _kernel(compiled), kernel_of_gpt2, *peer, forget))
        elif encoder.merged_by is not None:
            # What it does before the merges takes time too, so whole calls are compared.
            data = published.read()
            library = run_by_library(read_description({published.file_name: data}))
            peer_name = library.engine.split()[0]
            found.append(
                Compared(name, "", encoder.encode, gpt2().encode, peer_name, library.encode)
            )
        else:
            runs = encoder.encode
            found.append(Compared(name, opened.engine, runs, kernel_of_gpt2, "", runs))
    return found, f"Not fetched here: {', '.join(absent)}." if absent else ""


def _first_call(each: Compared, kind: str, text: str) -> float:
    """Return the seconds a byte that a first call takes; exit if its ids are not the library's."""
    started = time.perf_counter()
    ids = each.own(text)
    seconds = time.perf_counter() - started
    _check_same(each, kind, text, ids)
    return seconds / len(text.encode())


def _check_same(each: Compared, kind: str, text: str, ids: Iterable[int]) -> None:
    try:
        theirs = list(each.peer(text))
    except BaseException as error:
        # tiktoken's regex overflows its stack on a megabyte of spaces, by an exception that is
        # neither public nor an Exception.
        if type(error).__name__ != "PanicException":
            raise
        shorter = text[: len(text) // 10]
        _check_same(each, kind, shorter, each.own(shorter))
        return
    if list(ids) != theirs:
        raise SystemExit(f"{each.name} and {each.peer_name} encode {kind} text differently.")


def _kernel(encoder: CompiledEncoder) -> Encode:
    """Return the function that encodes in one thread, without checks and without a list."""
    return lambda text: encoder.encode(text, 1)


def _forget(*encoders: CompiledEncoder) -> None:
    for encoder in encoders:
        encoder.forget_words()


def _measured(
    functions: Sequence[Encode], text: str, forget: Callable[[], None] | None = None
) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for place, function in enumerate(functions):
            if forget is not None:
                forget()
            times[place].append(timed(partial(function, text)))
    return times


def _peer(published: Published, tokenizer: Tokenizer) -> tuple[str, Encode]:
    """Return the library that the tokenizer was published for, and its function."""
    pattern = tokenizer.pretokenizer.pattern or ""
    if published.package is None:
        special = set(tokenizer.special_tokens.values())
        ranks = {token: id for id, token in tokenizer.vocab.items() if id not in special}
        return "tiktoken", Encoding(
            published.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary
    data = published.read()
    if data.lstrip().startswith(b"{"):
        described = parse_json(data, published.file_name)
        if "model" in described:
            peer = ForeignTokenizer(for_library(described).decode(), special_texts(described))
            return "tokenizers", peer.encode
        found = read_tekken(described)
        ranks, pattern = dict(found.ids), found.pattern
    else:
        ranks = read_ranks(data)
    return "tiktoken", Encoding(
        published.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    ).encode_ordinary
