"""Encode a corpus into a folder of shards, step by step, or estimate how large that would be."""

from __future__ import annotations

import io
import json
import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, islice
from os import PathLike, fspath
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, Self
from uuid import uuid4

import msgspec
import numpy as np
from numpy.typing import NDArray

from bpe_core.chat import ChatTemplate
from bpe_core.checks import check_choice, check_whole, describe, is_a, is_whole
from bpe_core.corpus import DecodingErrors, Location, Note, NoteGroup
from bpe_core.errors import ConfigError, CorpusError, EmptyCorpusError, FormatError
from bpe_core.files import ARRAY_DAMAGE
from bpe_core.formats import dumps, special_roles
from bpe_core.kernels import n_threads
from bpe_core.tokenizer import ChatReport, Encoder, Tokenizer, find_own, report_chats
from bpe_scale.encoded_folder import (
    NAME,
    OWN_NAME,
    TOKENIZER_NAME,
    Dtype,
    EosFacts,
    FileFacts,
    Format,
    Manifest,
    MaskedShards,
    ShardFacts,
    SourceFacts,
    TokenizerFacts,
    Totals,
    check_columns,
    check_files,
    dtype_for,
)
from bpe_scale.shards import (
    SPLITS,
    ShardToWrite,
    SharedTokenizer,
    StretchToEncode,
    cutting_pretokenizer,
    deal,
    encode_stretch,
    open_given,
    read_documents,
    share_tokenizer,
    write_shard_files,
)
from bpe_scale.stretches import Stretch, key_for
from bpe_scale.work import (
    DividedSources,
    Engine,
    Progress,
    Record,
    ThisProcess,
    WorkFolder,
    divide_sources,
    work_on,
)

SHARD_TOKENS: Final = 100_000_000
_MAX_TOKENS: Final = 10**18

AUTO: Final = "auto"
_STRETCH_BYTES: Final = 1 << 20
_MAX_SAMPLED: Final = 32
_MAX_SAMPLED_BYTES: Final = 1 << 26
_CHATS_AT_ONCE: Final = 5_000
"""How many conversations are encoded, and kept for another try, together."""
_CHATS_VERSION: Final = 2
"""Raised when the same conversations are encoded, or kept, in another way."""
_OUT_VERSION: Final = 1
_MAX_PACKED_BYTES: Final = 1 << 24
"""The beginning of a packed file that stands for the whole; it cannot be divided."""


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
    begun = key_for(_OUT_VERSION, place)
    _check_folder(place, is_begun=begun in folder.done(), overwrite=overwrite)
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
    folder.finish(begun, {})
    if NAME in Location(place).names():
        # It would describe the new shards wrongly until they are done.
        Location(place).delete([NAME])
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


def encode_chats(
    sources: Iterable[tuple[str, Iterable[Any]]],
    template: ChatTemplate,
    encoder: Encoder,
    out: str | PathLike[str],
    *,
    name: str,
    shard_tokens: int = SHARD_TOKENS,
    work: str | PathLike[str] | None = None,
    overwrite: bool = False,
) -> tuple[Manifest, ChatReport]:
    """Render and encode conversations into Parquet shards with masks; return what was written.

    Sources are names with the conversations of each, as `report_chats` takes them; `name` is the
    tokenizer's, for the manifest. What is encoded is kept in the folder `work` (OUT.work, until it
    is finished), and the same call resumes after an interruption: a conversation that changed is
    encoded again, with those near it. Raises ConfigError, CorpusError or a subclass, and what
    `report_chats` raises.

    >>> import tempfile
    >>> from bpe_core.tokenizer import gpt2
    >>> template = ChatTemplate("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}")
    >>> talk = [{"role": "user", "content": "Hug?"}, {"role": "assistant", "content": "Yes"}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found, _ = encode_chats([("a", [talk])], template, gpt2(), f"{folder}/out", name="gpt2")
    >>> found.tokens, found.learned
    (10, 5)
    """
    _check_numbers(shard_tokens, None, 0.0, None)
    place = WorkFolder.at(fspath(out)).url
    folder = WorkFolder.at(fspath(work) if work is not None else f"{place.rstrip('/')}.work")
    done = folder.done()
    begun = key_for(_OUT_VERSION, place)
    _check_folder(place, is_begun=begun in done, overwrite=overwrite)
    folder.finish(begun, {})
    if NAME in Location(place).names():
        # It would describe the new shards wrongly until they are done.
        Location(place).delete([NAME])
    names: list[str] = []
    ends: list[int] = []
    figures: list[list[int]] = []

    def rows() -> Iterator[Any]:
        for source, conversations in sources:
            names.append(source)
            ends.append(ends[-1] if ends else 0)
            figures.append([0, 0, 0])
            for each in conversations:
                ends[-1] += 1
                yield each

    report = ChatReport()
    numbered = (f"{SPLITS[0]}-{number:05}.parquet" for number in count())
    listed = rows()
    with MaskedShards(numbered, f"{place.rstrip('/')}/", shard_tokens) as shards:
        while part := list(islice(listed, _CHATS_AT_ONCE)):
            encoded = _EncodedChats.of(part, template, encoder, folder, done)
            for number, n_bytes, ids, mask in encoded.rows():
                shards.add(ids, mask)
                of_source = figures[bisect_left(ends, report.conversations + number)]
                for at, figure in enumerate((n_bytes, 1, len(ids))):
                    of_source[at] += figure
            report.add(encoded.report)
    n_written = sum(shard.documents for shard in shards.written)
    if not n_written:
        Location(place).delete([file.name for each in shards.written for file in each.files])
        why = next((fault.example for fault in report.faults.values()), "There is none.")
        raise EmptyCorpusError(f"No conversation could be encoded. {why}")
    own = find_own(encoder)
    manifest = Manifest(
        format="parquet",
        dtype="<i4",
        tokenizer=TokenizerFacts(
            encoder.fingerprint, encoder.vocab_size, _name_tokenizer(name if own is None else "")
        ),
        eos=None,
        pack=None,
        shard_tokens=int(shard_tokens),
        val_share=0.0,
        shuffle_seed=None,
        bytes=sum(n_bytes for n_bytes, _, _ in figures),
        documents=n_written,
        tokens=report.tokens,
        skipped_rows=report.conversations - n_written,
        replaced=0,
        damaged=0,
        notes=[f"{kind}: {fault.example}" for kind, fault in report.faults.items()],
        splits={SPLITS[0]: Totals(n_written, report.tokens, len(shards.written))},
        sources=[SourceFacts(source, *each) for source, each in zip(names, figures, strict=True)],
        shards=shards.written,
        learned=report.learned,
    )
    if own is not None:
        (data,) = dumps(own, "native").values()
        _write(place, TOKENIZER_NAME, data)
    _finish(place, manifest)
    if work is None:
        folder.clear()
    return manifest, report


class _EncodedChats(NamedTuple):
    """Some conversations that follow each other, encoded."""

    report: ChatReport
    facts: NDArray[np.int64]
    """int64[n, 3]: of each that is not refused, its number, the bytes of its text, its tokens."""
    ids: NDArray[np.int64]
    """Of all, one after the other; as is the mask."""
    mask: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        conversations: Sequence[Any],
        template: ChatTemplate,
        encoder: Encoder,
        folder: WorkFolder,
        done: Mapping[str, str],
    ) -> Self:
        """Encode conversations, or read what an earlier run kept of them."""
        try:
            given = json.dumps(conversations, default=repr)
            key = key_for(_CHATS_VERSION, encoder.fingerprint, repr(template), given)
        except (TypeError, ValueError, RecursionError):
            key = ""  # one of them is no JSON: it is refused below, and nothing is kept
        if (name := done.get(key)) is not None:
            record = folder.record(name)
            if folder.is_whole(record):
                with suppress(*ARRAY_DAMAGE, msgspec.ValidationError):
                    return cls._read(record, folder)
        facts: list[tuple[int, int, int]] = []
        ids: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        masks: list[NDArray[np.bool_]] = [np.empty(0, np.bool_)]

        def add(
            number: int, text: str, of_text: NDArray[np.int64], mask: NDArray[np.bool_]
        ) -> None:
            facts.append((number, len(text.encode()), len(of_text)))
            ids.append(of_text)
            masks.append(mask)

        report = report_chats(template, conversations, encoder, on_ids=add)
        found = cls(
            report,
            np.array(facts, np.int64).reshape(-1, 3),
            np.concatenate(ids),
            np.concatenate(masks),
        )
        if not key:
            return found
        file_name = folder.new_name(key, "npy")
        with folder.writing(file_name) as file:
            for array in found[1:]:
                np.save(file, array, allow_pickle=False)
        kept = {"file": file_name, "report": msgspec.to_builtins(report)}
        folder.finish(key, kept, [file_name])
        return found

    @classmethod
    def _read(cls, record: Record, folder: WorkFolder) -> Self:
        with Location(folder.path(record["file"])).reading() as file:
            data = io.BytesIO(file.read())
        arrays = [np.load(data, allow_pickle=False) for _ in range(3)]
        return cls(msgspec.convert(record["report"], ChatReport), *arrays)

    def rows(self) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.bool_]]]:
        """Yield the number, the bytes of the text, the ids and the mask of each."""
        start = 0
        for number, n_bytes, n_tokens in self.facts.tolist():
            end = start + n_tokens
            yield number, n_bytes, self.ids[start:end], self.mask[start:end]
            start = end


def _check_numbers(shard_tokens: Any, pack: Any, val_share: Any, shuffle_seed: Any) -> None:
    check_whole("shard_tokens", shard_tokens, 1, _MAX_TOKENS)
    check_whole("pack", 1 if pack is None else pack, 1, _MAX_TOKENS)
    if not is_a(val_share, int, float) or not 0 <= val_share < 1:
        raise ConfigError(f"Expected val_share from 0 to below 1, got {describe(val_share)}.")
    if shuffle_seed is not None and not is_whole(shuffle_seed):
        raise ConfigError(f"Expected a whole number as shuffle_seed, got {describe(shuffle_seed)}.")


def _check_folder(out: str, *, is_begun: bool, overwrite: bool) -> None:
    """Raise ConfigError if the output's folder has files that are not an encoded corpus.

    `is_begun` is True if the work folder says that shards were written there.
    """
    names = Location(out).names()
    if overwrite or not names:
        return
    # Others use names such as train-00000.parquet too. An interrupted run has no manifest yet.
    is_own = is_begun or _has_manifest(out)
    others = [name for name in names if not (is_own and OWN_NAME.fullmatch(name))]
    if others:
        raise ConfigError(
            f"The folder {Location(out).shown} has other files, such as {others[0]!r:.80}. "
            "Choose another folder, or write there with --force (overwrite=True)."
        )


def _has_manifest(out: str) -> bool:
    try:
        Manifest.read(out)
    except (CorpusError, FormatError):
        return False
    return True


def _forget_changed(shards: Sequence[ShardToWrite], folder: WorkFolder) -> None:
    """Delete the records of shards whose files are missing or were written again since."""
    done = folder.done()
    for shard in shards:
        if name := done.get(shard.key):
            versions: dict[str, str] = folder.record(name)["versions"]
            if any(Location(shard.place(file)).version() != versions[file] for file in versions):
                Location(folder.url).delete([name])


def _finish(out: str, manifest: Manifest) -> None:
    """Write the manifest, and delete what earlier runs have left in the folder."""
    _write(out, NAME, manifest.to_json())
    names = {file.name for shard in manifest.shards for file in shard.files}
    names |= {NAME, manifest.tokenizer.file}
    old = [name for name in Location(out).names() if OWN_NAME.fullmatch(name) and name not in names]
    Location(out).delete(old)


def _write(folder: str, name: str, data: bytes) -> None:
    with Location(f"{folder.rstrip('/')}/{name}").writing() as file:
        file.write(data)


def _name_tokenizer(path: str) -> str:
    """Return what a manifest calls a tokenizer: it names no path of this machine."""
    return os.path.basename(path) if os.path.exists(path) else path or TOKENIZER_NAME


def _notes(divided: DividedSources, encoded: Sequence[Record]) -> list[str]:
    notes = [*divided.notes, *(Note(*note) for record in encoded for note in record["notes"])]
    columns = [f"{name}: took the column {column!r}." for name, column in divided.columns]
    return [*columns, *(group.sentence for group in NoteGroup.of(notes))]


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


class Estimate(NamedTuple):
    """What a whole corpus is likely to give, by what a sample of it gave."""

    source_bytes: int
    """The size of all files as they are, packed or not."""
    sampled_bytes: int
    """The size of the sample, measured likewise."""
    n_tokens: int
    out_bytes: int
    """The size of the ids; a Parquet file is smaller, because it is compressed."""
    seconds: float
    """In one process on this machine, with all its threads."""


class OpenedTokenizer(NamedTuple):
    """A tokenizer, and how it encodes a corpus."""

    encoder: Encoder
    path: str
    """Its path or name; empty if it was given as itself."""
    ending: EosFacts | None
    """What follows each document."""
    dtype: Dtype
    """The type of its ids in the files."""

    @property
    def engine(self) -> ThisProcess:
        """The engine for this process: several stretches at a time if that is faster."""
        merges = self.encoder.merged_by
        # The regex package makes objects of all matches, so threads would only wait for each other,
        # and their time would count against the limit for a pattern.
        is_cut_by_regex = merges is not None and merges.pretokenizer.cut.startswith("regex:")
        return ThisProcess(1 if is_cut_by_regex else n_threads())

    def divide(
        self,
        sources: Iterable[str | PathLike[str]],
        engine: Engine,
        *,
        text_column: str | None,
        errors: DecodingErrors,
        skip_damaged: bool,
        stretch_bytes: int | None = None,
        written_to: Iterable[str] = (),
        columns: Sequence[str] = (),
        saved_in: WorkFolder,
    ) -> DividedSources:
        """Divide sources where it can encode the parts, and check that `columns` can be kept.

        Raises what `divide_sources` and `check_files` raise, and EmptyCorpusError for files without
        text.
        """
        divided = divide_sources(
            sources,
            engine,
            pretokenizer=cutting_pretokenizer(self.encoder),
            text_column=text_column,
            errors=errors,
            stretch_bytes=stretch_bytes,
            skip_damaged=skip_damaged,
            written_to=written_to,
            lists_columns=bool(columns),
            saved_in=saved_in,
        )
        check_files(columns, divided.files)
        if not divided.stretches:
            raise EmptyCorpusError("The corpus is empty: give at least one character.")
        return divided

    def task(
        self,
        stretch: Stretch,
        shared: SharedTokenizer,
        val_share: float = 0.0,
        columns: tuple[str, ...] = (),
    ) -> StretchToEncode:
        """Return the task of encoding a stretch."""
        eos_id = self.ending.id if self.ending is not None else None
        return StretchToEncode(stretch, shared, eos_id, val_share, self.dtype, columns)


def open_tokenizer(
    tokenizer: Tokenizer | str | PathLike[str], format: Format, eos: str | None
) -> OpenedTokenizer:
    """Open a tokenizer to encode a corpus; raises what `open_given` and `find_eos` raise.

    >>> open_tokenizer("gpt2", "bin", None).dtype
    '<u2'
    """
    encoder, path = open_given(tokenizer)
    dtype = dtype_for(format, max(encoder.vocab) + 1)
    return OpenedTokenizer(encoder, path, find_eos(encoder, eos), dtype)


def find_eos(encoder: Encoder, eos: str | None) -> EosFacts | None:
    """Return the special token that ends documents: the named one, by default the tokenizer's.

    Raises ConfigError if there is none.

    >>> from bpe_core.tokenizer import gpt2
    >>> find_eos(gpt2(), "auto")
    EosFacts(token='<|endoftext|>', id=50256)
    """
    if eos is None:
        return None
    known = encoder.special_tokens
    token = special_roles(known).get("eos_token") if eos == AUTO else eos
    if isinstance(token, str) and token in known:
        return EosFacts(token, known[token])
    names = ", ".join(sorted(known, key=known.__getitem__)[:8]) or "none"
    problem = "no known end-of-text token" if eos == AUTO else f"no special token {eos!r:.60}"
    raise ConfigError(
        f"The tokenizer has {problem}; its special tokens: {names}. Name one with --eos (eos=), or "
        "'none' (None) to put nothing between documents."
    )


def estimate_corpus(
    sources: Iterable[str | os.PathLike[str]],
    tokenizer: Tokenizer | str | os.PathLike[str],
    *,
    format: Format = "bin",
    eos: str | None = AUTO,
    text_column: str | None = None,
    keep_columns: Sequence[str] = (),
    errors: DecodingErrors = "strict",
    skip_damaged: bool = False,
) -> Estimate:
    """Encode some stretches spread over a corpus, and extrapolate; arguments as `encode_corpus`.

    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("hug " * 1_000)
    ...     estimate_corpus([folder], "gpt2").n_tokens
    1003
    """
    columns = check_columns(keep_columns, format, None)
    opened = open_tokenizer(tokenizer, format, eos)
    engine = opened.engine
    with TemporaryDirectory(prefix="bpe-estimate-") as work:
        folder = WorkFolder(work)
        divided = opened.divide(
            sources,
            engine,
            text_column=text_column,
            errors=errors,
            skip_damaged=skip_damaged,
            stretch_bytes=_STRETCH_BYTES,
            columns=columns,
            saved_in=folder,
        )
        source_bytes = sum(stretch.n_bytes for stretch in divided.stretches)
        shared = share_tokenizer(opened.encoder, opened.path, folder)
        tasks = [opened.task(each, shared) for each in _choose(divided.stretches, folder)]
        encode = partial(encode_stretch, folder=folder, n_threads=engine.threads_for(len(tasks)))
        encode(tasks[0])  # untimed: this opens the tokenizer and fills caches
        started = time.perf_counter()
        records = [record for _, record in engine.run(encode, tasks)]
        seconds = time.perf_counter() - started
    sampled = sum(task.stretch.n_bytes for task in tasks)
    share = source_bytes / sampled
    n_tokens = sum(record["n_tokens"] for record in records)
    if not n_tokens:
        raise EmptyCorpusError("The sample has no text: give at least one character.")
    return Estimate(
        source_bytes,
        sampled,
        round(n_tokens * share),
        round(n_tokens * share) * np.dtype(opened.dtype).itemsize,
        seconds * share,
    )


def _choose(stretches: list[Stretch], folder: WorkFolder) -> list[Stretch]:
    """Return stretches spread over all, as many as are quickly encoded; at least one."""
    places: list[int] = (
        np.linspace(0, len(stretches) - 1, _MAX_SAMPLED).round().astype(int).tolist()
    )
    spread = [_shorten(stretches[place], folder) for place in sorted({*places})]
    chosen: list[Stretch] = []
    n_bytes = 0
    for stretch in sorted(spread, key=lambda each: each.n_bytes):
        n_bytes += stretch.n_bytes
        if chosen and n_bytes > _MAX_SAMPLED_BYTES:
            break
        chosen.append(stretch)
    return chosen


def _shorten(stretch: Stretch, folder: WorkFolder) -> Stretch:
    """Return the beginning of a large packed file, copied to the folder; others as they are."""
    part, source = stretch.parts[0], stretch.parts[0].source
    if source.packing is None or source.kind == "whole" or source.size <= _MAX_PACKED_BYTES:
        return stretch
    copy = f"{uuid4().hex}.packed"
    with source.location.reading() as file, folder.writing(copy) as short:
        short.write(file.read(_MAX_PACKED_BYTES))
    begun = source._replace(url=folder.path(copy), size=_MAX_PACKED_BYTES)
    # It ends in the middle, so it reads as a damaged file does.
    return stretch._replace(parts=(part._replace(source=begun),), skip_damaged=True)
