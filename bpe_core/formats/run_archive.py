"""Save a training run in one file: a NumPy .npz of plain arrays and JSON, without pickles.

What the run continues, if anything, is in the head of its archive.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast, get_args
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a
from bpe_core.corpus import NEVER, Split, check_split_by
from bpe_core.errors import (
    ArgumentTypeError,
    BpeError,
    FormatError,
    MissingFileError,
    NewerFormatError,
)
from bpe_core.files import ARCHIVE_DAMAGE, ARRAY_DAMAGE, open_regular
from bpe_core.formats.json_files import parse_json
from bpe_core.formats.load_save import write_files
from bpe_core.formats.native import tokenizer_from_dict, tokenizer_to_dict
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import (
    Continuation,
    RunOrigin,
    TermCost,
    TrainingRun,
    check_config,
    parse_history,
)
from bpe_core.types import PretokenCounts, StopReason, TrainingConfig, TrainingSettings


def continuation_to_dict(continues: Continuation) -> dict[str, object]:
    """Return the entries of an archive's head.

    The base has none of its own: it is the run's tokenizer without the new merges.

    >>> from bpe_core.tokenizer import gpt2
    >>> found = continuation_to_dict(Continuation(gpt2(), (5,), (b"hug",)))
    >>> found["base_merges"], found["counts"], found["left_out"]
    (50000, [5], ['687567'])
    """
    return {
        "base_merges": continues.base.n_merges,
        "counts": list(continues.counts),
        "left_out": [token.hex() for token in continues.left_out],
        "terms": [term_to_dict(cost) for cost in continues.terms],
        "characters": list(continues.characters),
        "character_coverage": continues.character_coverage,
    }


def parse_continuation(head: Mapping[str, Any], tokenizer: Tokenizer) -> Continuation:
    """Return what a head describes. Raises FormatError, and ConfigError for a wrong number.

    >>> from bpe_core.tokenizer import gpt2
    >>> head = {"base_merges": 49_999, "counts": [5]}
    >>> parse_continuation(head, gpt2()).counts
    (5,)
    """
    counts = _listed(head, "counts")
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise FormatError("Expected the counts of the new merges as whole numbers, 0 or more.")
    continues = Continuation(
        tokenizer.truncated(cast("int", head.get("base_merges"))),
        tuple(cast("list[int]", counts)),
        # Files of earlier versions have none of these.
        tuple(map(_token, _listed(head, "left_out", []))),
        tuple(map(parse_term, _listed(head, "terms", []))),
        _characters(_listed(head, "characters", []), tokenizer),
        _coverage(head.get("character_coverage", 0.0)),
    )
    if continues.n_term_merges > len(counts):
        raise FormatError("Its terms took more merges than it has.")
    if 0 in counts[continues.n_term_merges :]:
        raise FormatError("Expected a count of 1 or more for each merge that is not for a term.")
    return continues


def _characters(ids: list[object], tokenizer: Tokenizer) -> tuple[int, ...]:
    known = {*tokenizer.base_ids.values()} if tokenizer.table.byte_ids else set[int]()
    for id in ids:
        if not isinstance(id, int) or id not in known:
            raise FormatError(f"Expected the ids of characters that were added, got {id!r:.60}.")
    return tuple(cast("list[int]", ids))


def _coverage(found: object) -> float:
    if not isinstance(found, (int, float)) or not 0 <= found <= 1:
        raise FormatError(f"Expected a share of characters to cover, got {found!r:.60}.")
    return float(found)


def term_to_dict(cost: TermCost) -> dict[str, object]:
    """Return a term and its cost as JSON values.

    >>> parse_term(term_to_dict(TermCost(b"hug", None, reason="Cut."))).reason
    'Cut.'
    """
    is_text = isinstance(cost.term, str)
    return {
        "term": cost.term if isinstance(cost.term, str) else cost.term.hex(),
        "is_text": is_text,
        "token": None if cost.token is None else cost.token.hex(),
        "tokens_added": cost.tokens_added,
        "tokens_saved": cost.tokens_saved,
        "reason": cost.reason,
        "occurrences": cost.occurrences,
        "characters_added": cost.characters_added,
    }


def parse_term(found: object) -> TermCost:
    """Return what `term_to_dict` described; raise FormatError if it is damaged."""
    match found:
        case {
            "term": str(term),
            "is_text": bool(is_text),
            "token": str() | None as token,
            "tokens_added": int(added),
            "tokens_saved": int(saved),
            "reason": str() | None as reason,
        } if min(added, saved) >= 0:
            # Files of earlier versions do not have these.
            further = cast("Mapping[str, object]", found)
            occurrences, characters = further.get("occurrences"), further.get("characters_added", 0)
            if occurrences is not None and not (isinstance(occurrences, int) and occurrences >= 0):
                raise FormatError("Expected the occurrences of a term as a whole number.")
            if not (isinstance(characters, int) and characters >= 0):
                raise FormatError("Expected the characters of a term as a whole number.")
            made = None if token is None else _token(token)
            given = term if is_text else _token(term)
            return TermCost(given, made, added, saved, reason, occurrences, characters)
        case _:
            raise FormatError("Expected each term with what it cost, or with a reason.")


def _token(found: object) -> bytes:
    try:
        return bytes.fromhex(cast("str", found))
    except (TypeError, ValueError):
        raise FormatError("Expected the bytes of a token as a hexadecimal text.") from None


def _listed(
    head: Mapping[str, Any], name: str, default: list[object] | None = None
) -> list[object]:
    found = head.get(name, default)
    if not isinstance(found, list):
        raise FormatError(f"Expected a list as {name} in its head, got {found!r:.60}.")
    return cast("list[object]", found)


FILE_NAME: Final = "run.bpe-run"
"""The name of the file in a folder."""
_FORMAT = "bpe-explorer-run"
_VERSION = 1
_EXTENDED_VERSION = 2
"""Runs that continue a base: their head has more entries, and older versions refuse them."""
_ARRAYS = {
    "head": np.uint8,
    "words": np.uint8,
    "word_lengths": np.int64,
    "word_counts": np.int64,
    "joined_at": np.int32,
}
_PARITY_ARRAYS = {"picked": np.int32, "lengths": np.int64}
"""Parity-aware runs have these too."""
# Of 1 to 9. On a run of 500,000 merges, level 1 takes 3 s and 17 MB, and zlib's usual level 6 takes
# 13 s and 14 MB.
_COMPRESSION_LEVEL: Final = 1
_HEAD: Final[Mapping[str, tuple[str, type | tuple[type, ...]]]] = {
    "tokenizer": ("an object", dict),
    "config": ("an object", dict),
    "corpus_sha256": ("text", str),
    "corpus_bytes": ("a whole number", int),
    "stop_reason": ("text", str),
    "elapsed_seconds": ("a number", (int, float)),
}
_WHAT_TO_DO = "Train again, or use the original file."


def save_run(run: TrainingRun, path: str | os.PathLike[str]) -> None:
    """Write a run to one file, or into a folder, with all that `load_run` needs to build it again.

    Besides the tokenizer it holds the configuration, the words and their counts, the SHA-256 of the
    text and how that was divided from a corpus, and the version of bpe_core. Raises `ConfigError`
    for anything but a run, and `FormatError` if the file cannot be written.

    >>> import tempfile
    >>> import bpe_core as bpe
    >>> training, _ = bpe.Corpus.from_text("hug hugs\\n" * 100).split(0.1, seed=7)
    >>> run = bpe.train(training, bpe.TrainingConfig(260))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bpe.save_run(run, f"{folder}/mine.bpe-run")
    ...     again = bpe.load_run(f"{folder}/mine.bpe-run")
    >>> again.tokenizer == run.tokenizer, again.config == run.config, again.origin.split.seed
    (True, True, 7)
    """
    if not is_a(run, TrainingRun):
        raise ArgumentTypeError(f"Expected a TrainingRun, got {describe(run)}.")
    write_files({FILE_NAME: run_to_bytes(run)}, path)


def run_to_bytes(run: TrainingRun) -> bytes:
    """Return the bytes of a run's file.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(259, special_tokens=()))
    >>> run_to_bytes(run)[:2]
    b'PK'
    """
    head: dict[str, object] = {
        "format": _FORMAT,
        "version": _VERSION if run.base is None else _EXTENDED_VERSION,
        "tokenizer": tokenizer_to_dict(run.tokenizer),
        "config": run.config.to_dict(),
        "corpus_sha256": run.corpus_sha256,
        "corpus_bytes": run.corpus_bytes,
        "stop_reason": run.stop_reason,
        "elapsed_seconds": run.elapsed_seconds,
        "origin": asdict(run.origin),
    }
    if len(run.undone):
        head["undone"] = run.undone.tolist()
    if run.parity is not None:
        head["parity"] = run.parity.to_dict()
    if run.continues is not None:
        head |= continuation_to_dict(run.continues)
    words = run.pretokens.words
    arrays = {
        "head": np.frombuffer(json.dumps(head).encode(), np.uint8),
        "words": np.frombuffer(b"".join(words), np.uint8),
        "word_lengths": np.array([len(word) for word in words], dtype=np.int64),
        "word_counts": run.pretokens.counts,
        "joined_at": run.joined_at,
    }
    if run.parity is not None:
        arrays |= {"picked": run.parity.picked, "lengths": run.parity.lengths.ravel()}
    return _pack_npz(arrays)


def is_run(members: Iterable[str]) -> bool:
    """Return True for the names of the members of a run's file.

    >>> is_run(["head.npy"])
    False
    """
    parity = {f"{name}.npy" for name in _PARITY_ARRAYS}
    return {*members} - parity == {f"{name}.npy" for name in _ARRAYS}


def _pack_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return what `np.savez_compressed` writes, compressed less but in a quarter of the time."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def load_run(path: str | os.PathLike[str]) -> TrainingRun:
    """Read a saved run; raises `FormatError` for anything else.

    >>> load_run("no-such-run.npz")
    Traceback (most recent call last):
    bpe_core.errors.MissingFileError: There is no run at no-such-run.npz: it may have been removed.
    """
    try:
        # Opened here because np.load leaves its own file open if it is not an archive.
        with open_regular(Path(path)) as file, np.load(file, allow_pickle=False) as archive:
            has_parity = "picked" in archive
            kinds = _ARRAYS | _PARITY_ARRAYS if has_parity else _ARRAYS
            arrays = {name: _array(archive, name, kind) for name, kind in kinds.items()}
        return _parse_run(arrays)
    except FileNotFoundError:
        raise MissingFileError(f"There is no run at {path}: it may have been removed.") from None
    except NewerFormatError as error:
        raise NewerFormatError(f"{path} cannot be read. {error}") from error
    except PermissionError as error:
        raise FormatError(
            f"You are not permitted to read {path}. Change its permissions, or ask its owner for a "
            "copy."
        ) from error
    except BpeError as error:
        raise FormatError(f"{path} is damaged or not a saved run: {error} {_WHAT_TO_DO}") from error
    # What NumPy and zipfile say about a damaged file names their arguments, which helps nobody
    # here.
    except (*ARCHIVE_DAMAGE, *ARRAY_DAMAGE) as error:
        raise FormatError(f"{path} is damaged or not a saved run. {_WHAT_TO_DO}") from error


def _array(archive: Mapping[str, object], name: str, kind: type) -> NDArray[Any]:
    try:
        with np.errstate(invalid="ignore"):  # NumPy only warns of a size beyond 64 bits
            found = archive[name]
    except (*ARCHIVE_DAMAGE, *ARRAY_DAMAGE) as error:
        raise FormatError(f"Its array {name} is missing or cannot be read.") from error
    if not isinstance(found, np.ndarray):  # NumPy gives the bytes of any other file
        raise FormatError(f"Its entry {name} is not an array.")
    array = cast("NDArray[Any]", found)
    if array.dtype != kind or array.ndim != 1:
        raise FormatError(
            f"Expected {name} as a list of {kind.__name__}, got {array.dtype} in "
            f"{array.ndim} dimensions."
        )
    return array


def _parse_run(arrays: dict[str, NDArray[Any]]) -> TrainingRun:
    head = parse_json(arrays["head"].tobytes(), "Its head")
    format, version = head.get("format"), head.get("version")
    if format == _FORMAT and isinstance(version, int) and version > _EXTENDED_VERSION:
        raise NewerFormatError(
            f"It was saved by a newer version of BPE Explorer, as version {version} of its "
            f"format; this one reads version {_EXTENDED_VERSION}. Update BPE Explorer to open it."
        )
    if format != _FORMAT or version not in (_VERSION, _EXTENDED_VERSION):
        raise FormatError(
            f"Expected {_FORMAT!r} version {_VERSION} or {_EXTENDED_VERSION}, "
            f"got {format!r:.60} version {version!r:.60}."
        )
    for name, (what, kinds) in _HEAD.items():
        if not isinstance(head.get(name), kinds):
            raise FormatError(f"Expected {what} as {name} in its head, got {head.get(name)!r:.60}.")
    if head["stop_reason"] not in get_args(StopReason):
        raise FormatError(f"Unknown stop reason {head['stop_reason']!r:.60}.")
    config = read_config(head["config"])
    tokenizer = tokenizer_from_dict(head["tokenizer"])
    continues = None
    if head["version"] == _EXTENDED_VERSION:
        continues = parse_continuation(head, tokenizer)
    for slot in np.flatnonzero(_is_no_rank(arrays["joined_at"], tokenizer.n_merges))[:1]:
        raise FormatError(
            f"Entry {slot:,} of joined_at is {arrays['joined_at'][slot]:,}, and it has "
            f"{tokenizer.n_merges:,} merges."
        )
    parity = None
    if "parity" in head and "picked" in arrays:
        n_merges = tokenizer.n_merges
        parity = parse_history(head["parity"], arrays["picked"], arrays["lengths"], n_merges)
    run = TrainingRun(
        tokenizer=tokenizer,
        config=config,
        corpus_sha256=head["corpus_sha256"],
        corpus_bytes=head["corpus_bytes"],
        pretokens=_parse_pretokens(arrays),
        joined_at=arrays["joined_at"],
        undone=_parse_undone(head.get("undone", []), len(arrays["joined_at"]), tokenizer.n_merges),
        stop_reason=head["stop_reason"],
        elapsed_seconds=float(head["elapsed_seconds"]),
        continues=continues,
        origin=_parse_origin(head.get("origin")),
        parity=parity,
    )
    joined = run.joined_at != NEVER
    saved = -np.diff(run.tokens_after)
    counts = np.array([merge.count for merge in run.merges], np.int64)
    # A merge for a term that the text does not contain has a count of 0, and saves nothing.
    least = np.minimum(counts, 1)
    for done, _ in tokenizer.table.removals:  # which makes the text longer
        least[done - 1] = np.iinfo(np.int64).min
    if (run.layout_at(0).ids[joined] < 0).any() or (saved < least).any() or (saved > counts).any():
        raise FormatError("Its merges do not match its words.")
    return run


def _parse_undone(found: object, n_slots: int, n_merges: int) -> NDArray[np.int32]:
    try:
        undone = np.array(found, np.int64).reshape(-1, 4)
    except (TypeError, ValueError, OverflowError):
        raise FormatError("Expected four whole numbers for each joint that was undone.") from None
    slots, ranks, since, until = undone.T
    in_range = (slots > 0) & (slots < n_slots) & (ranks >= 0) & (ranks < since) & (since <= until)
    if not (in_range & (since <= n_merges) & ((until < n_merges) | (until == NEVER))).all():
        raise FormatError("A joint that was undone is outside its words or its merges.")
    return undone.astype(np.int32)


def _parse_origin(found: object) -> RunOrigin:
    match found:
        case None:  # files of earlier versions
            return RunOrigin()
        case {"version": str() | None as version, "split": None}:
            return RunOrigin(version)
        case {
            "version": str() | None as version,
            "split": {
                "corpus_sha256": str(sha256),
                "held_out_share": int() | float() as share,
                "seed": int(seed),
                "by": str(by),
            },
        }:
            return RunOrigin(version, Split(sha256, float(share), seed, check_split_by(by)))
        case _:
            raise FormatError(f"Expected a version and a split as origin, got {found!r:.60}.")


def _is_no_rank(joined_at: NDArray[Any], n_merges: int) -> NDArray[np.bool_]:
    return (joined_at < 0) | ((joined_at >= n_merges) & (joined_at != NEVER))


def read_config(fields: dict[str, Any]) -> TrainingConfig:
    """Return the settings that JSON holds; raise BpeError for invalid ones."""
    special = fields.get("special_tokens")
    if not isinstance(special, list):
        raise FormatError(f"Expected a list as special_tokens in its config, got {special!r:.60}.")
    fields = {**fields, "special_tokens": tuple(cast("list[Any]", special))}
    if unknown := fields.keys() - TrainingSettings.__annotations__:
        raise FormatError(f"Its config has the unknown entries {sorted(unknown)!s:.60}.")
    config = TrainingConfig(**fields)
    check_config(config)
    return config


def _parse_pretokens(arrays: dict[str, NDArray[Any]]) -> PretokenCounts:
    data, lengths, counts = arrays["words"], arrays["word_lengths"], arrays["word_counts"]
    if (
        len(lengths) != len(counts)
        or (lengths < 0).any()
        or lengths.sum() != len(data)
        or (counts < 1).any()
    ):
        raise FormatError("Its word counts do not match its words.")
    ends: list[int] = np.cumsum(lengths).tolist()
    text = data.tobytes()
    words = (text[start:end] for start, end in pairwise([0, *ends]))
    return PretokenCounts(tuple(words), counts)
