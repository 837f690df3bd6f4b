"""Fit the embedding rows of a model to an adapted tokenizer, without loading the model.

A kept token keeps its row. A new token has no row in the model, and starts from those of the tokens
that spell it in the base. The recipes:

- mean: the mean of its parts' rows, the usual start;
- calibrated: for the input, that mean made as long as its parts' rows are on average, because a
  mean of different directions is shorter; for the output, the mean weighted by the parts' lengths
  in bytes (after arXiv 2608.03494);
- last: weighted towards the last part, with weights that double from part to part (after
  AdaptiVocab, arXiv 2503.19693, whose weights grow in the same way).

Rows are read and written in blocks. All other tensors are copied as they are.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_choice, check_whole
from bpe_core.errors import ConfigError, FormatError, MissingFileError
from bpe_core.formats import OLD_IDS, PARTS, open_encoder, parse_json
from bpe_core.models.tensors import (
    BLOCK_BYTES,
    CONFIG,
    INDEX,
    SUFFIX,
    ModelRows,
    Rows,
    Tensor,
    from_float32,
    list_tensors,
    open_rows,
    pack_header,
    read_header,
    read_json,
    reading,
)

Recipe = Literal["mean", "calibrated", "last"]
RECIPES: Final[tuple[Recipe, ...]] = get_args(Recipe)
_NOT_COPIED: Final = (".bin", ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx")
_CHUNK: Final = 1 << 22
_MIN_MULTIPLE, _MAX_MULTIPLE = 8, 256


@dataclass(frozen=True, slots=True, eq=False)
class FittedRows:
    """What was written, and the lengths of rows before and after."""

    folder: Path
    recipe: Recipe
    n_rows_before: int
    n_rows: int
    """With padding."""
    n_tokens: int
    """The largest id of the adapted tokenizer, and one."""
    n_new: int
    is_tied: bool
    norms: Mapping[str, tuple[float, float, float]] = field(repr=False)
    """For "input" and "output": the mean length of the model's rows, of the kept rows, and of the
    new ones; nan if there are none."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON."""
        names = ("before", "kept", "new")
        return {
            "folder": str(self.folder),
            "recipe": self.recipe,
            "n_rows_before": self.n_rows_before,
            "n_rows": self.n_rows,
            "n_tokens": self.n_tokens,
            "n_padding": self.n_rows - self.n_tokens,
            "n_new": self.n_new,
            "tied": self.is_tied,
            "norms": {
                name: dict(zip(names, norms, strict=True)) for name, norms in self.norms.items()
            },
        }


def fit_rows(
    model: str | os.PathLike[str],
    adapted: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    recipe: Recipe = "mean",
    pad_to: int | None = None,
    on_progress: Callable[[str, int, int], object] | None = None,
) -> FittedRows:
    """Write a model's folder with embedding rows for an adapted tokenizer.

    `model` is the base model's folder, and `adapted` the folder that `bpe extend`, `shrink` or
    `replace` wrote, with old_ids.npy and parts.npy. `out` gets the resized tensors, all others as
    they are, config.json with the new `vocab_size`, and the adapted tokenizer's files. The number
    of rows is a multiple of `pad_to`. By default, an extended tokenizer that fits into the base's
    rows keeps their number, and otherwise it is a multiple of the largest power of two, from 8 to
    256, that the base's number is one of. Rows without a token stay as they are, or are the mean of
    all rows if the number changes.

    Raises `FormatError` for files that are not these, and `ConfigError` if `out` exists, or if the
    adapted tokenizer is of another model.

    >>> import tempfile, numpy as np, bpe_core as bpe
    >>> from pathlib import Path
    >>> from safetensors.numpy import load_file, save_file
    >>> from bpe_core.adapting import trace_ids
    >>> from bpe_core.formats import dumps, row_files, write_files
    >>> base = bpe.gpt2().truncated(0)
    >>> run = bpe.extend(base, bpe.Corpus.from_text("hug hug"), n_tokens=1)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Path(place, "model").mkdir()
    ...     rows = np.ones((50257, 2), np.float32)
    ...     save_file({"wte.weight": rows}, f"{place}/model/model.safetensors")
    ...     files = dumps(run.tokenizer, "native") | row_files(trace_ids(base, run.tokenizer))
    ...     _ = write_files(files, f"{place}/adapted/")
    ...     fitted = bpe.fit_rows(f"{place}/model", f"{place}/adapted", f"{place}/new")
    ...     load_file(f"{place}/new/model.safetensors")["wte.weight"].shape
    (50258, 2)
    """
    check_choice("recipe", recipe, Recipe, ConfigError)
    if pad_to is not None:
        check_whole("pad_to", pad_to, 1)
    given, source, target = Path(model), Path(adapted), Path(out)
    if not given.is_dir():
        raise MissingFileError(f"{given} is not a folder. Expected the folder of a model.")
    if target.exists():
        raise ConfigError(f"{target} exists. Name a folder that does not exist yet.")
    old_ids, parts = _read_ids(source, OLD_IDS, 1), _read_ids(source, PARTS, 2)
    found = open_rows(given)
    n_before = found.input.n_rows
    if (
        len(old_ids) != len(parts)
        or max(old_ids.max(initial=-1), parts.max(initial=-1)) >= n_before
    ):
        raise ConfigError(
            f"{source} has ids of a base with more rows than the {n_before:,} of {given}. Give the "
            "model whose tokenizer was adapted."
        )
    places = np.flatnonzero(old_ids >= 0)
    only_adds = np.array_equal(old_ids[places], places)
    if pad_to is None and only_adds and len(old_ids) <= n_before:
        n_rows = n_before  # new tokens take rows that no token had
    else:
        n_rows = _padded(len(old_ids), n_before, pad_to)
    sizes = _part_sizes(source, given, recipe)
    plans = {"input": found.input, **({"output": found.output} if found.output else {})}
    target.mkdir(parents=True)
    try:
        norms = _write(found, plans, target, old_ids, parts, n_rows, recipe, sizes, on_progress)
        _write_rest(given, source, target, n_rows)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    n_new = int((old_ids < 0).sum())
    is_tied = found.output is None
    return FittedRows(target, recipe, n_before, n_rows, len(old_ids), n_new, is_tied, norms)


def _read_ids(folder: Path, name: str, n_dimensions: int) -> NDArray[np.int32]:
    path = folder / name
    with reading(path) as file:
        try:
            ids: NDArray[Any] = np.load(io.BytesIO(file.read()), allow_pickle=False)
        except (ValueError, EOFError):
            ids = np.zeros(())
    if ids.ndim != n_dimensions or ids.dtype != np.int32:
        raise FormatError(
            f"{path} is not what bpe extend, shrink and replace write. Adapt the tokenizer again."
        )
    return ids


def _padded(n_ids: int, n_before: int, pad_to: int | None) -> int:
    """Return the number of rows, a multiple of `pad_to`, or of what the base's number suggests.

    >>> _padded(50_310, 50_304, None), _padded(50_310, 50_257, None), _padded(50_310, 50_257, 64)
    (50432, 50310, 50368)
    """
    if pad_to is None:
        found = min(n_before & -n_before, _MAX_MULTIPLE)
        pad_to = found if found >= _MIN_MULTIPLE else 1
    return -(-n_ids // pad_to) * pad_to


def _part_sizes(adapted: Path, model: Path, recipe: Recipe) -> Mapping[int, bytes]:
    """Return the base's tokens, whose lengths are weights; empty for recipes without them."""
    if recipe != "calibrated":
        return {}
    try:
        return open_encoder(model).vocab
    except (FormatError, MissingFileError):
        raise ConfigError(
            f"The recipe calibrated weighs parts by their bytes, and {model} has no tokenizer. Put "
            "the base's tokenizer there, or choose another recipe."
        ) from None


def combine(
    rows: NDArray[np.float32], sizes: NDArray[np.float64], recipe: Recipe, *, is_output: bool
) -> NDArray[np.float32]:
    """Return the first row of a new token from its parts' rows, float32[n_parts, n_columns].

    >>> rows = np.array([[3, 0], [0, 3]], np.float32)
    >>> combine(rows, np.ones(2), "last", is_output=False).tolist()
    [1.0, 2.0]
    """
    wide = rows.astype(np.float64)
    if recipe == "last":
        weights = 2.0 ** np.arange(len(rows))
    elif recipe == "calibrated" and is_output:
        weights = sizes
    else:
        weights = np.ones(len(rows))
    mean = weights @ wide / weights.sum()
    if recipe == "calibrated" and not is_output:
        length = np.linalg.norm(mean)
        if length > 0:
            mean *= np.linalg.norm(wide, axis=1).mean() / length
    return mean.astype(np.float32)


def _write(
    found: ModelRows,
    plans: Mapping[str, Rows],
    target: Path,
    old_ids: NDArray[np.int32],
    parts: NDArray[np.int32],
    n_rows: int,
    recipe: Recipe,
    vocab: Mapping[int, bytes],
    on_progress: Callable[[str, int, int], object] | None,
) -> dict[str, tuple[float, float, float]]:
    """Write all files of weights; return lengths of rows."""
    norms: dict[str, tuple[float, float, float]] = {}
    files = sorted({*list_tensors(found.folder).values()})
    for number, path in enumerate(files):
        if on_progress is not None:
            on_progress("Writing weights", number, len(files))
        changed = {
            plan.tensor.name: (which, plan) for which, plan in plans.items() if plan.path == path
        }
        header = read_header(path)
        order = sorted(header.values(), key=lambda tensor: tensor.start)
        entries = _entries(path, order, dict.fromkeys(changed, n_rows))
        with reading(path) as source, (target / path.name).open("wb") as file:
            file.write(pack_header(entries))
            for tensor in order:
                if tensor.name in changed:
                    which, plan = changed[tensor.name]
                    norms[which] = _write_rows(
                        file, plan, old_ids, parts, n_rows, recipe, vocab, which == "output"
                    )
                    continue
                source.seek(tensor.start)
                left = tensor.end - tensor.start
                while left:
                    data = source.read(min(left, _CHUNK))
                    file.write(data)
                    left -= len(data)
    return norms


def _entries(path: Path, order: list[Tensor], resized: Mapping[str, int]) -> dict[str, Any]:
    with reading(path) as file:
        size = int.from_bytes(file.read(8), "little")
        known = parse_json(file.read(size), f"The header of {path}")
    entries: dict[str, Any] = {}
    if "__metadata__" in known:
        entries["__metadata__"] = known["__metadata__"]
    place = 0
    for tensor in order:
        shape, n_bytes = [*tensor.shape], tensor.end - tensor.start
        if tensor.name in resized:
            n_bytes = n_bytes // max(1, shape[0]) * resized[tensor.name]
            shape[0] = resized[tensor.name]
        entries[tensor.name] = {
            "dtype": tensor.dtype,
            "shape": shape,
            "data_offsets": [place, place + n_bytes],
        }
        place += n_bytes
    return entries


def _write_rows(
    file: Any,
    plan: Rows,
    old_ids: NDArray[np.int32],
    parts: NDArray[np.int32],
    n_rows: int,
    recipe: Recipe,
    vocab: Mapping[int, bytes],
    is_output: bool,  # noqa: FBT001 - one call
) -> tuple[float, float, float]:
    total = np.zeros(plan.n_columns)
    lengths: list[NDArray[np.float64]] = []
    for _, block in plan.blocks():
        total += block.sum(axis=0, dtype=np.float64)
        lengths.append(np.linalg.norm(block.astype(np.float64), axis=1))
    before = float(np.concatenate(lengths).mean())
    mean = (total / max(1, plan.n_rows)).astype(np.float32)
    kept: list[float] = []
    new: list[float] = []
    size = max(1, BLOCK_BYTES // (4 * max(1, plan.n_columns)))
    for first in range(0, n_rows, size):
        ids = range(first, min(first + size, n_rows))
        block = plan.take(ids) if n_rows == plan.n_rows else np.tile(mean, (len(ids), 1))
        own = [id for id in ids if id < len(old_ids) and old_ids[id] >= 0]
        if own:
            block[np.array(own) - first] = plan.take(old_ids[own].tolist())
        for id in ids:
            if id < len(old_ids) and old_ids[id] < 0:
                its = [int(part) for part in parts[id] if part >= 0]
                if its:
                    sizes = np.array([len(vocab.get(part, b"?")) for part in its], np.float64)
                    rows = plan.take(its)
                    block[id - first] = combine(rows, sizes, recipe, is_output=is_output)
                new.append(float(np.linalg.norm(block[id - first].astype(np.float64))))
        kept += np.linalg.norm(
            block[[id - first for id in own]].astype(np.float64), axis=1
        ).tolist()
        file.write(from_float32(block, plan.tensor.dtype))
    nan = float("nan")
    return before, float(np.mean(kept)) if kept else nan, float(np.mean(new)) if new else nan


def _write_rest(model: Path, adapted: Path, target: Path, n_rows: int) -> None:
    """Write the config, the index, and the files next to the weights; the adapted ones win."""
    for folder in (model, adapted):
        for path in sorted(folder.iterdir()):
            skipped = path.suffix in (SUFFIX, *_NOT_COPIED) or path.name in (CONFIG, INDEX)
            if path.is_file() and not skipped:
                shutil.copyfile(path, target / path.name)
    if (model / CONFIG).is_file():
        config = read_json(model / CONFIG)
        inner = config.get("text_config")
        holder = inner if isinstance(inner, dict) and "vocab_size" in inner else config
        holder["vocab_size"] = n_rows
        (target / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    if (model / INDEX).is_file():
        index = read_json(model / INDEX)
        total = sum(
            tensor.end - tensor.start
            for path in target.glob(f"*{SUFFIX}")
            for tensor in read_header(path).values()
        )
        index["metadata"] = {**(index.get("metadata") or {}), "total_size": total}
        (target / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
