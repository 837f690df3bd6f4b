"""Encode a corpus into a folder of shards, step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import PathLike, fspath
from typing import Any, Final, NamedTuple

from bpe_core.checks import check_choice, check_whole, describe, is_a, is_whole
from bpe_core.corpus import (
    DecodingErrors,
    Note,
    delete_files,
    group_notes,
    names_in,
    shown,
    version_at,
    writing,
)
from bpe_core.errors import ConfigError, CorpusError, EmptyCorpusError, FormatError
from bpe_core.scale import DividedSources, Engine, Progress, Record, WorkFolder, work_on
from bpe_core.tokenizer import Tokenizer
from bpe_core.training_data.kept_columns import check_columns
from bpe_core.training_data.manifest import (
    NAME,
    OWN_NAME,
    TOKENIZER_NAME,
    FileFacts,
    Manifest,
    ShardFacts,
    SourceFacts,
    TokenizerFacts,
    Totals,
    read_manifest,
)
from bpe_core.training_data.preparing import AUTO, open_tokenizer
from bpe_core.training_data.shard_files import SPLITS, ShardToWrite, deal, write_shard_files
from bpe_core.training_data.shard_formats import Format
from bpe_core.training_data.stretch_ids import encode_stretch, read_documents, share_tokenizer

SHARD_TOKENS: Final = 100_000_000
_MAX_TOKENS: Final = 10**18


class EncodingProgress(NamedTuple):
    """The progress of encoding, as passed to `on_progress`."""

    source_bytes_done: int
    """Of the files as they are, packed or not; with those that an earlier run had encoded."""
    source_bytes: int
    source_bytes_found: int
    """Those that an earlier run had encoded."""
    n_bytes: int
    """The size of the text that is encoded."""
    n_tokens: int
    shards_done: int
    shards: int
    """0 until all text is encoded."""


def encode_corpus(
    sources: Iterable[str | PathLike[str]],
    tokenizer: Tokenizer | str | PathLike[str],
    out: str | PathLike[str],
    *,
    format: Format = "bin",
    shard_tokens: int = SHARD_TOKENS,
    pack: int | None = None,
    eos: str | None = AUTO,
    val_share: float = 0.0,
    shuffle_seed: int | None = None,
    text_column: str | None = None,
    keep_columns: Sequence[str] = (),
    errors: DecodingErrors = "strict",
    skip_damaged: bool = False,
    work: str | PathLike[str] | None = None,
    overwrite: bool = False,
    engine: Engine | None = None,
    stretch_bytes: int | None = None,
    on_progress: Callable[[EncodingProgress], None] | None = None,
) -> Manifest:
    """Encode files by path or URL into shards in the folder `out`, and return their manifest.

    Sources, `text_column`, `errors` and `engine` are those of `count_files`. The tokenizer is one,
    or the path or name of one. Text that spells a special token is ordinary text. `eos` is the
    special token that follows each document: by default the tokenizer's own; None for none.

    Formats: "bin" has ids of 16 bits, or 32 if the vocabulary needs them; "npy" the same as arrays;
    "megatron" .bin and .idx files; "parquet" a row for each document. A shard has about
    `shard_tokens` and whole documents, or with `pack` whole rows of that many tokens. `val_share`
    of the documents, chosen by a hash of their text, make shards named val. With `shuffle_seed`,
    the documents of each shard are shuffled. `keep_columns` writes columns of Parquet and JSON
    lines next to the ids in "parquet": strings, and other values as JSON.

    The same input gives the same bytes, whatever the engine. Encoded stretches are kept in the
    folder `work` (OUT.work, until it is finished), and the same call resumes after an interruption.
    With `skip_damaged`, the rest of a file that cannot be read is left out and noted. Raises
    ConfigError, CorpusError or a subclass, TokenizationError, and what `open_encoder` raises.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("The quick")
    ...     _ = encode_corpus([f"{folder}/a.txt"], "gpt2", f"{folder}/out")
    ...     np.fromfile(f"{folder}/out/train-00000.bin", np.uint16).tolist()
    [464, 2068, 50256]
    """
    check_choice("format", format, Format, ConfigError)
    _check_numbers(shard_tokens, pack, val_share, shuffle_seed)
    columns = check_columns(keep_columns, format, pack)
    opened = open_tokenizer(tokenizer, format, eos)
    place = WorkFolder.at(fspath(out)).url
    folder = WorkFolder.at(fspath(work) if work is not None else f"{place.rstrip('/')}.work")
    _check_folder(place, folder, overwrite=overwrite)
    doing = engine or opened.engine
    divided = opened.divide(
        sources,
        doing,
        text_column=text_column,
        errors=errors,
        stretch_bytes=stretch_bytes,
        skip_damaged=skip_damaged,
        written_to=(place, folder.url),
        columns=columns,
        saved_in=folder,
    )
    shared = share_tokenizer(opened.encoder, opened.path, folder)
    tasks = [
        opened.task(stretch, shared, float(val_share), columns) for stretch in divided.stretches
    ]
    n_source_bytes = sum(stretch.n_bytes for stretch in divided.stretches)
    progress = Progress(EncodingProgress(0, n_source_bytes, 0, 0, 0, 0, 0), on_progress)

    def note_stretches(records: Sequence[Record], n_found: int) -> None:
        n = sum(record["source_bytes"] for record in records)
        progress.add(
            source_bytes_done=n,
            source_bytes_found=n if n_found else 0,
            n_bytes=sum(record["n_bytes"] for record in records),
            n_tokens=sum(record["n_tokens"] for record in records),
        )

    def note_shards(records: Sequence[Record], _: int) -> None:
        progress.add(shards_done=len(records))

    encode = partial(
        encode_stretch,
        folder=folder,
        n_threads=doing.threads_for(len(tasks)),
        should_stop=doing.should_stop,
    )
    encoded = work_on(tasks, encode, folder, doing, note_stretches)
    shards = [
        ShardToWrite(
            shard,
            tuple(encoded[part.stretch] for part in shard.slices),
            opened.dtype,
            format,
            pack,
            shuffle_seed,
            place,
            columns,
        )
        for shard in deal((read_documents(folder, record) for record in encoded), shard_tokens)
    ]
    if all(each.shard.n_tokens < (pack or 1) for each in shards):
        raise EmptyCorpusError(
            f"The {sum(record['n_tokens'] for record in encoded):,} tokens of this corpus fill no "
            "row. Choose a smaller --pack, or more text."
        )
    progress.add(shards=len(shards))
    _forget_changed(shards, folder)
    if NAME in names_in(place):
        delete_files(place, [NAME])  # it would describe the new shards wrongly until they are done
    write = partial(write_shard_files, folder=folder)
    written = work_on(shards, write, folder, doing, note_shards)
    manifest = Manifest(
        format=format,
        dtype=opened.dtype,
        tokenizer=TokenizerFacts(
            shared.fingerprint,
            opened.encoder.vocab_size,
            _name_tokenizer(shared.path),
        ),
        eos=opened.ending,
        pack=pack,
        shard_tokens=int(shard_tokens),
        val_share=float(val_share),
        shuffle_seed=shuffle_seed,
        bytes=sum(record["n_bytes"] for record in encoded),
        documents=sum(record["documents"] for record in written),
        tokens=sum(record["tokens"] for record in written),
        skipped_rows=sum(record["n_skipped"] for record in encoded),
        replaced=sum(record["n_replaced"] for record in encoded),
        damaged=sum(record["n_damaged"] for record in encoded),
        notes=_notes(divided, encoded),
        splits=_totals(written),
        sources=_sources(encoded),
        shards=[_shard_facts(record) for record in written if record["files"]],
    )
    if not shared.path:
        _write(place, TOKENIZER_NAME, shared.read_file(folder))
    _finish(place, manifest)
    if work is None:
        folder.clear()
    return manifest


def _check_numbers(shard_tokens: Any, pack: Any, val_share: Any, shuffle_seed: Any) -> None:
    check_whole("shard_tokens", shard_tokens, 1, _MAX_TOKENS)
    check_whole("pack", 1 if pack is None else pack, 1, _MAX_TOKENS)
    if not is_a(val_share, int, float) or not 0 <= val_share < 1:
        raise ConfigError(f"Expected val_share from 0 to below 1, got {describe(val_share)}.")
    if shuffle_seed is not None and not is_whole(shuffle_seed):
        raise ConfigError(f"Expected a whole number as shuffle_seed, got {describe(shuffle_seed)}.")


def _check_folder(out: str, folder: WorkFolder, *, overwrite: bool) -> None:
    """Raise ConfigError if the output's folder has files that are not an encoded corpus."""
    names = names_in(out)
    if overwrite or not names:
        return
    # Others use names such as train-00000.parquet too. An interrupted run has no manifest yet.
    is_own = bool(folder.done()) or _has_manifest(out)
    others = [name for name in names if not (is_own and OWN_NAME.fullmatch(name))]
    if others:
        raise ConfigError(
            f"The folder {shown(out)} has other files, such as {others[0]!r:.80}. Choose another "
            "folder, or write there with --force (overwrite=True)."
        )


def _has_manifest(out: str) -> bool:
    try:
        read_manifest(out)
    except (CorpusError, FormatError):
        return False
    return True


def _forget_changed(shards: Sequence[ShardToWrite], folder: WorkFolder) -> None:
    """Delete the records of shards whose files are missing or were written again since."""
    done = folder.done()
    for shard in shards:
        if name := done.get(shard.key):
            versions: dict[str, str] = folder.record(name)["versions"]
            if any(version_at(shard.place(file)) != versions[file] for file in versions):
                delete_files(folder.url, [name])


def _finish(out: str, manifest: Manifest) -> None:
    """Write the manifest, and delete what earlier runs have left in the folder."""
    _write(out, NAME, manifest.to_json())
    names = {file.name for shard in manifest.shards for file in shard.files}
    names |= {NAME, manifest.tokenizer.file}
    old = [name for name in names_in(out) if OWN_NAME.fullmatch(name) and name not in names]
    delete_files(out, old)


def _write(folder: str, name: str, data: bytes) -> None:
    with writing(f"{folder.rstrip('/')}/{name}") as file:
        file.write(data)


def _name_tokenizer(path: str) -> str:
    """Return what a manifest calls a tokenizer: it names no path of this machine."""
    return os.path.basename(path) if os.path.exists(path) else path or TOKENIZER_NAME


def _notes(divided: DividedSources, encoded: Sequence[Record]) -> list[str]:
    notes = [*divided.notes, *(Note(*note) for record in encoded for note in record["notes"])]
    columns = [f"{name}: took the column {column!r}." for name, column in divided.columns]
    return [*columns, *(group.sentence for group in group_notes(notes))]


def _totals(written: Sequence[Record]) -> dict[str, Totals]:
    totals: dict[str, Totals] = {}
    for split in SPLITS:
        found = [record for record in written if record["split"] == split and record["files"]]
        if found:
            totals[split] = Totals(
                sum(record["documents"] for record in found),
                sum(record["tokens"] for record in found),
                len(found),
            )
    return totals


def _sources(encoded: Sequence[Record]) -> list[SourceFacts]:
    """Add up the figures of each file over its stretches."""
    totals: dict[str, list[int]] = {}
    for record in encoded:
        for name, *figures in record["sources"]:
            total = totals.setdefault(name, [0, 0, 0])
            for place, figure in enumerate(figures):
                total[place] += figure
    return [
        SourceFacts(name, n_bytes, n_documents, n_tokens)
        for name, (n_documents, n_tokens, n_bytes) in totals.items()
    ]


def _shard_facts(record: Record) -> ShardFacts:
    return ShardFacts(
        record["split"],
        record["documents"],
        record["tokens"],
        record["rows"],
        record["left_out_tokens"],
        [FileFacts(**file) for file in record["files"]],
    )
