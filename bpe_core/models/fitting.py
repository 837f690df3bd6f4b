"""Fit the embedding rows of a model to an adapted tokenizer, without loading the model.

A kept token keeps its row. A new token has no row in the model, and starts from those of the tokens
that spell it in the base. The recipes:

- mean: the mean of its parts' rows, the usual start;
- calibrated: for the input, that mean made as long as its parts' rows are on average, because a
  mean of different directions is shorter; for the output, the mean weighted by the parts' lengths
  in bytes (after arXiv 2608.03494);
- last: weighted towards the last part, with weights that double from part to part (after
  AdaptiVocab, arXiv 2503.19693, whose weights grow in the same way);
- omp: where a donor model has the token, the sum of rows of shared tokens that comes near to it in
  the donor (`combine_shared`); otherwise the mean.

Rows are read and written in blocks. Every tensor with a row for each token is fitted: a second copy
of the embedding, and the bias of the output. All other tensors are copied as they are.

Where another model has a token that is new to the base, its row there says what the token means. A
row of the donor is no use in the base, whose directions are others; but the combination of shared
tokens that comes near to it in the donor is one in the base as well. Orthogonal matching pursuit
finds that combination: in each step it takes the shared token whose row has the largest inner
product with what is left of the target, and fits all coefficients again by least squares (Goddard
and Fernandes Neto, "Training-Free Tokenizer Transplantation via Orthogonal Matching Pursuit",
arXiv 2506.06607).

Rows are read in blocks, once for each step, so memory does not grow with the donor.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_choice, check_whole, is_whole
from bpe_core.errors import ConfigError, FormatError, MissingFileError
from bpe_core.formats import (
    ADDED_TOKENS,
    ROW_FILES,
    TOKENIZER_FILES,
    HubName,
    dumps,
    format_by_name,
    is_sidecar,
    open_encoder,
    parse_json,
    read_files_at,
    write_files,
)
from bpe_core.models.tensors import (
    BLOCK_BYTES,
    CONFIG,
    INDEX,
    INPUT_NAMES,
    OUTPUT_NAMES,
    SUFFIX,
    ModelRows,
    Rows,
    Tensor,
    from_float32,
    list_tensors,
    model_rows,
    open_rows,
    pack_header,
    read_header,
    read_json,
    reading,
)
from bpe_core.types import ENDINGS

N_ATOMS: Final = 64
_MAX_BYTES: Final = 256_000_000
"""The rows of all atoms of the targets that are fitted together, as float32."""
OnProgress = Callable[[str, int, int], object]


class Combination(NamedTuple):
    """A row as a sum of others."""

    ids: NDArray[np.int64]
    """int64[n]: the rows."""
    weights: NDArray[np.float64]
    """float64[n]"""


def combine_shared(
    donor: Rows,
    targets: Mapping[int, int],
    shared: Mapping[int, int],
    n_atoms: int,
    look: OnProgress,
) -> dict[int, Combination]:
    """Return new rows as sums of the base's rows.

    `targets` are the donor's ids of the new tokens, and `shared` the base's ids of the donor's
    tokens that both have.
    """
    wanted = np.fromiter(targets.values(), np.int64, len(targets))
    allowed = np.zeros(donor.n_rows, np.bool_)
    allowed[[*shared]] = True
    n_atoms = min(n_atoms, len(shared), donor.n_columns)
    found: dict[int, Combination] = {}
    size = max(1, _MAX_BYTES // (4 * donor.n_columns * max(1, n_atoms)))
    new_ids = [*targets]
    for first in range(0, len(wanted), size):
        rows = donor.take(wanted[first : first + size].tolist())
        atoms, weights = pursue(donor, allowed, rows, n_atoms, look)
        for id, its, of_them in zip(new_ids[first : first + size], atoms, weights, strict=True):
            base_ids = np.array([shared[atom] for atom in its.tolist()], np.int64)
            found[id] = Combination(base_ids, of_them)
    return found


def pursue(
    rows: Rows,
    allowed: NDArray[np.bool_],
    targets: NDArray[np.float32],
    n_atoms: int,
    look: OnProgress = lambda _, __, ___: None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return which allowed rows come near to each target as a sum, and their weights.

    They are int64[n_targets, n_atoms], in the order in which they were taken, and float64 of the
    same shape. The first of equal rows is taken.
    """
    n = len(targets)
    chosen = np.zeros((n, n_atoms), np.int64)
    atoms = np.zeros((n, n_atoms, rows.n_columns), np.float32)
    weights = np.zeros((n, n_atoms))
    wide = targets.astype(np.float64)
    left = targets
    for step in range(n_atoms):
        best = np.full(n, -1.0, np.float32)
        for first, block in rows.blocks():
            look(f"Choosing rows of the donor, step {step + 1}", first, rows.n_rows)
            products = np.abs(block @ left.T)
            products[~allowed[first : first + len(block)]] = -1
            taken = chosen[:, :step] - first
            which, place = np.nonzero((taken >= 0) & (taken < len(block)))
            products[taken[which, place], which] = -1
            top = products.argmax(axis=0)
            value = products[top, np.arange(n)]
            is_better = value > best
            best[is_better] = value[is_better]
            chosen[is_better, step] = top[is_better] + first
        atoms[:, step] = rows.take(chosen[:, step].tolist())
        own = atoms[:, : step + 1].astype(np.float64)
        gram = own @ own.transpose(0, 2, 1)
        fitted = np.linalg.pinv(gram, hermitian=True) @ (own @ wide[:, :, np.newaxis])
        weights[:, : step + 1] = fitted[:, :, 0]
        left = (wide - (fitted.transpose(0, 2, 1) @ own)[:, 0]).astype(np.float32)
    return chosen, weights


Recipe = Literal["mean", "calibrated", "last", "omp"]
_NOT_COPIED: Final = (".bin", ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx")
_VOCABULARIES: Final = (ENDINGS["sentencepiece"], ENDINGS["tiktoken"])
_OF_BASE: Final = (*TOKENIZER_FILES, ADDED_TOKENS, *_VOCABULARIES, ".training.json")
"""How the names of the base's tokenizer files end."""
_GENERATION, _TOKENIZER_CONFIG = "generation_config.json", "tokenizer_config.json"
_ID_KEYS: Final = ("token_id", "token_ids", "token_index")
_ID_LISTS: Final = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids")
_PER_TOKEN: Final = tuple(
    name.removesuffix(".weight")
    for name in (*INPUT_NAMES, *OUTPUT_NAMES, "embed_tokens_per_layer", "shared_head.head")
)
_IN_LAYER: Final = re.compile(r"\.\d+\.")
_POSITIONS: Final = re.compile(r"wpe|position")
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
    n_from_donor: int
    """New tokens that the donor has, if the recipe is omp."""
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
            "n_from_donor": self.n_from_donor,
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
    donor: str | os.PathLike[str] | None = None,
    n_atoms: int = N_ATOMS,
    pad_to: int | None = None,
    on_progress: Callable[[str, int, int], object] | None = None,
) -> FittedRows:
    """Write a model's folder with embedding rows for an adapted tokenizer.

    `model` is the base model's folder, and `adapted` the folder that `bpe extend`, `shrink` or
    `replace` wrote, with old_ids.npy and parts.npy. `out` gets the resized tensors, all others as
    they are, config.json with the new `vocab_size`, and the adapted tokenizer's files in place of
    the base's. Ids in config.json, generation_config.json and tokenizer_config.json, such as
    `eos_token_id`, are renumbered. The number of rows is a multiple of `pad_to`. By default, an
    extended tokenizer that fits into the base's rows keeps their number, and otherwise it is a
    multiple of the largest power of two, from 8 to 256, that the base's number is one of. Rows
    without a token stay as they are, or are the mean of all rows if the number changes.

    The recipe "omp" needs a `donor`, another model's folder or hf:org/model with its tokenizer: a
    new token that the donor has starts from the sum of at most `n_atoms` rows of tokens that both
    models have, and any other one from the mean of its parts' rows.

    Raises `FormatError` for files that are not these, and `ConfigError` if `out` exists, if the
    adapted tokenizer is of another model, if it lacks a token whose id a configuration names, or if
    a tensor that is not known may have a row for each token.

    >>> import tempfile, numpy as np, bpe_core as bpe
    >>> from pathlib import Path
    >>> from safetensors.numpy import load_file, save_file
    >>> from bpe_core.adapting import Adapted
    >>> from bpe_core.formats import dumps, row_files, write_files
    >>> base = bpe.gpt2().truncated(0)
    >>> run = bpe.extend(base, bpe.Corpus.from_text("hug hug"), n_tokens=1)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Path(place, "model").mkdir()
    ...     rows = np.ones((50257, 2), np.float32)
    ...     save_file({"wte.weight": rows}, f"{place}/model/model.safetensors")
    ...     files = dumps(run.tokenizer, "native") | row_files(Adapted.of(base, run.tokenizer))
    ...     _ = write_files(files, f"{place}/adapted/")
    ...     fitted = bpe.fit_rows(f"{place}/model", f"{place}/adapted", f"{place}/new")
    ...     load_file(f"{place}/new/model.safetensors")["wte.weight"].shape
    (50258, 2)
    """
    check_choice("recipe", recipe, Recipe, ConfigError)
    check_whole("n_atoms", n_atoms, 1)
    if (recipe == "omp") != (donor is not None):
        raise ConfigError("The recipe omp and a donor need each other. Give both, or neither.")
    if pad_to is not None:
        check_whole("pad_to", pad_to, 1)
    given, source, target = Path(model), Path(adapted), Path(out)
    if not given.is_dir():
        raise MissingFileError(f"{given} is not a folder. Expected the folder of a model.")
    if target.exists():
        raise ConfigError(f"{target} exists. Name a folder that does not exist yet.")
    ids_file, parts_file, _ = ROW_FILES
    old_ids, parts = _read_ids(source, ids_file, 1), _read_ids(source, parts_file, 2)
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
    moves = not only_adds or n_rows != n_before
    plans = _plan(found, moves=moves)
    settings = _settings(given, source, old_ids, n_rows, moves=moves)
    sums: _Sums = {False: {}, True: {}}
    if donor is not None:
        sums = _transplant(given, source, donor, old_ids, n_atoms, on_progress or _tell_nobody)
    target.mkdir(parents=True)
    try:
        _write_rest(given, source, target, settings)
        first = _FirstRows(old_ids, parts, recipe, sizes, sums)
        norms = _write(found, plans, target, first, n_rows, on_progress)
        _write_index(given, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    n_new = int((old_ids < 0).sum())
    is_tied = found.output is None
    n_sums = len(sums[False])
    return FittedRows(target, recipe, n_before, n_rows, len(old_ids), n_new, n_sums, is_tied, norms)


_Sums = Mapping[bool, Mapping[int, Combination]]
"""For input rows (False) and output rows (True): the new ids that the donor has."""


def _tell_nobody(_what: str, _done: int, _of: int) -> None:
    pass


def _transplant(
    model: Path,
    adapted: Path,
    donor: str | os.PathLike[str],
    old_ids: NDArray[np.int32],
    n_atoms: int,
    on_progress: Callable[[str, int, int], object],
) -> _Sums:
    """Return new rows as sums of the base's rows, for the tokens that the donor has."""
    base, vocab = _open_vocab(model), open_encoder(adapted).vocab
    with model_rows(donor, on_progress=on_progress) as found:
        named = os.fspath(donor) if HubName.fits(os.fspath(donor)) else found.folder
        # Of tokens with the same bytes, the first one stands for all.
        id_of: dict[bytes, int] = {}
        for id, token in _open_vocab(named).items():
            if token and id < found.input.n_rows:
                id_of.setdefault(token, id)
        new = [id for id in np.flatnonzero(old_ids < 0).tolist() if id in vocab]
        targets = {id: id_of[vocab[id]] for id in new if vocab[id] in id_of}
        shared = {id_of[token]: id for id, token in base.items() if token in id_of}
        if not targets or not shared:
            return {False: {}, True: {}}

        def combine_rows(rows: Rows) -> Mapping[int, Combination]:
            return combine_shared(rows, targets, shared, n_atoms, on_progress)

        of_input = combine_rows(found.input)
        return {
            False: of_input,
            True: of_input if found.output is None else combine_rows(found.output),
        }


def _read_ids(folder: Path, name: str, n_dimensions: int) -> NDArray[np.int32]:
    path = folder / name
    with reading(path, "bpe extend, shrink and replace write it with --out FOLDER.") as file:
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
    return _open_vocab(model) if recipe == "calibrated" else {}


def _open_vocab(model: str | os.PathLike[str]) -> Mapping[int, bytes]:
    """Return the tokens of a model."""
    try:
        return open_encoder(model).vocab
    except (FormatError, MissingFileError):
        raise ConfigError(
            f"This recipe needs the bytes of the model's tokens, and {model} has no tokenizer. Put "
            "the model's tokenizer there, or choose another recipe."
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


class _Plan(NamedTuple):
    """A tensor with a row for each token."""

    rows: Rows
    which: Literal["input", "output"] | None
    """Whose lengths are reported; None for any other tensor."""
    is_output: bool
    """Whether a new row is made as those of the output are."""


@dataclass(frozen=True, slots=True, eq=False)
class _FirstRows:
    """What new rows start from."""

    old_ids: NDArray[np.int32]
    parts: NDArray[np.int32]
    recipe: Recipe
    vocab: Mapping[int, bytes]
    """The base's tokens, for the recipe calibrated."""
    sums: _Sums

    def make(self, rows: Rows, id: int, *, is_output: bool) -> NDArray[np.float32] | None:
        """Return the first row of a new token; None if nothing spells it."""
        found = self.sums[is_output].get(id)
        if found is not None:
            total = found.weights @ rows.take(found.ids.tolist()).astype(np.float64)
            return total.astype(np.float32)
        its = [int(part) for part in self.parts[id] if part >= 0]
        if not its:
            return None
        sizes = np.array([len(self.vocab.get(part, b"?")) for part in its], np.float64)
        return combine(rows.take(its), sizes, self.recipe, is_output=is_output)


def _plan(found: ModelRows, *, moves: bool) -> dict[str, _Plan]:
    """Return the tensors with a row for each token, by name.

    Raises `ConfigError` for a tensor that may be one and is not known, if rows move.
    """
    n_rows = found.input.n_rows
    plans = {found.input.tensor.name: _Plan(found.input, "input", is_output=False)}
    if found.output is not None:
        plans[found.output.tensor.name] = _Plan(found.output, "output", is_output=True)
    for path in sorted({*list_tensors(found.folder).values()}):
        for tensor in read_header(path).values():
            if tensor.name in plans or n_rows not in tensor.shape:
                continue
            is_bias = tensor.name.endswith(".bias") and len(tensor.shape) == 1
            is_known = len(tensor.shape) == 2 or is_bias
            if tensor.shape[0] == n_rows and is_known and _is_per_token(tensor.name):
                # A bias is read as rows of one number.
                shape = (n_rows, 1) if is_bias else tensor.shape
                rows = Rows(path, replace(tensor, shape=shape))
                plans[tensor.name] = _Plan(rows, None, is_bias)
            elif (
                moves
                and n_rows != found.input.n_columns
                and not _IN_LAYER.search(tensor.name)
                and not _POSITIONS.search(tensor.name)
            ):
                shape = "x".join(map(str, tensor.shape))
                raise ConfigError(
                    f"{tensor.name} in {path.name} is of shape {shape}, and may have a number for "
                    f"each of the {n_rows:,} rows. It is not known how to fit it. Remove it from "
                    "the model, or resize the model with its own library."
                )
    return plans


def _is_per_token(name: str) -> bool:
    """Return True for the name of a tensor with a row for each token.

    >>> [*map(_is_per_token, ("lm_head.bias", "model.decoder.embed_tokens.weight", "norm.bias"))]
    [True, True, False]
    >>> _is_per_token("encoder.layer.0.output.bias")
    False
    """
    stem = name.removesuffix(".weight").removesuffix(".bias")
    found = any(stem == known or stem.endswith(f".{known}") for known in _PER_TOKEN)
    return found and not (_IN_LAYER.search(name) and stem.endswith(".output"))


def _write(
    found: ModelRows,
    plans: Mapping[str, _Plan],
    target: Path,
    first: _FirstRows,
    n_rows: int,
    on_progress: Callable[[str, int, int], object] | None,
) -> dict[str, tuple[float, float, float]]:
    """Write all files of weights; return lengths of rows."""
    norms: dict[str, tuple[float, float, float]] = {}
    files = sorted({*list_tensors(found.folder).values()})
    for number, path in enumerate(files):
        if on_progress is not None:
            on_progress("Writing weights", number, len(files))
        changed = {name: plan for name, plan in plans.items() if plan.rows.path == path}
        header = read_header(path)
        order = sorted(header.values(), key=lambda tensor: tensor.start)
        entries = _entries(path, order, dict.fromkeys(changed, n_rows))
        with reading(path) as source, (target / path.name).open("wb") as file:
            file.write(pack_header(entries))
            for tensor in order:
                if tensor.name in changed:
                    plan = changed[tensor.name]
                    lengths = _write_rows(file, plan, first, n_rows)
                    if plan.which is not None:
                        norms[plan.which] = lengths
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
    file: Any, planned: _Plan, new_rows: _FirstRows, n_rows: int
) -> tuple[float, float, float]:
    plan, old_ids = planned.rows, new_rows.old_ids
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
                made = new_rows.make(plan, id, is_output=planned.is_output)
                if made is not None:
                    block[id - first] = made
                new.append(float(np.linalg.norm(block[id - first].astype(np.float64))))
        kept += np.linalg.norm(
            block[[id - first for id in own]].astype(np.float64), axis=1
        ).tolist()
        file.write(from_float32(block, plan.tensor.dtype))
    nan = float("nan")
    return before, float(np.mean(kept)) if kept else nan, float(np.mean(new)) if new else nan


def _settings(
    model: Path, adapted: Path, old_ids: NDArray[np.int32], n_rows: int, *, moves: bool
) -> dict[str, dict[str, Any]]:
    """Return the model's configuration files by name, with the new ids and number of rows.

    Raises `ConfigError` for the id of a token that the adapted tokenizer does not have.
    """
    new_ids = {old: new for new, old in enumerate(old_ids.tolist()) if old >= 0}
    if not moves:
        new_ids |= {id: id for id in range(len(old_ids), n_rows)}

    def renumber(value: object, where: str) -> Any:
        if isinstance(value, list):
            return [renumber(each, where) for each in cast("list[object]", value)]
        if not is_whole(value) or cast("int", value) < 0:
            return value
        id = cast("int", value)
        if id not in new_ids:
            raise ConfigError(
                f"{where} is {id}, and the adapted tokenizer does not have that token. Adapt again "
                "and pin it, or correct the file."
            )
        return new_ids[id]

    def renumber_all(settings: dict[str, Any], name: str) -> None:
        for key, value in settings.items():
            if key.endswith(_ID_KEYS) or key in _ID_LISTS:
                settings[key] = renumber(value, f"{key} in {name}")

    found: dict[str, dict[str, Any]] = {}
    for name in (CONFIG, _GENERATION, _TOKENIZER_CONFIG):
        if not (model / name).is_file() or (
            name == _TOKENIZER_CONFIG and (adapted / name).is_file()
        ):
            continue
        found[name] = settings = read_json(model / name)
        renumber_all(settings, name)
        inner = settings.get("text_config")
        if isinstance(inner, dict):
            renumber_all(cast("dict[str, Any]", inner), name)
        if name == CONFIG:
            holder = inner if isinstance(inner, dict) and "vocab_size" in inner else settings
            holder["vocab_size"] = n_rows
        decoder = settings.get("added_tokens_decoder")
        if isinstance(decoder, dict):
            settings["added_tokens_decoder"] = {
                str(renumber(int(id), f"A key of added_tokens_decoder in {name}")): token
                for id, token in cast("dict[str, Any]", decoder).items()
                if id.isdecimal()
            }
    return found


def _write_rest(
    model: Path, adapted: Path, target: Path, settings: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write the files next to the weights: the adapted tokenizer's, and the model's others.

    Raises `FormatError` unless the folder is then read as the adapted tokenizer.
    """
    try:
        of_base = _main_files(model)
    except FormatError:  # it has no tokenizer
        of_base = []
    for path in sorted(model.iterdir()):
        skipped = path.suffix in (SUFFIX, *_NOT_COPIED) or path.name in (INDEX, *settings, *of_base)
        if path.is_file() and not skipped and not path.name.endswith(_OF_BASE):
            shutil.copyfile(path, target / path.name)
    own = _main_files(adapted)
    for path in sorted(adapted.iterdir()):
        skipped = path.suffix in (SUFFIX, *_NOT_COPIED) or path.name in (CONFIG, INDEX)
        if path.is_file() and (path.name in own or not skipped):
            is_other = path.name in own and path.name not in TOKENIZER_FILES
            ending = ENDINGS[format_by_name(path) or "huggingface"]
            name = f"tokenizer{ending}" if is_other else path.name
            shutil.copyfile(path, target / name)
    for name, content in settings.items():
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (target / name).write_text(text, encoding="utf-8")
    try:
        wanted = open_encoder(adapted)
    except ConfigError as error:
        raise ConfigError(
            f"The files of {adapted} do not make a tokenizer by themselves: {error} Adapt it again "
            "with --format huggingface."
        ) from None
    if len(own) > 1 and wanted.merged_by is not None:
        # A pair of files does not say how text is cut, which config.json may then decide.
        write_files(dumps(wanted.merged_by, "huggingface"), f"{target}{os.sep}")
    if not wanted.vocab.items() <= open_encoder(target).vocab.items():
        raise FormatError(
            f"With the other files of {model}, the tokenizer of {adapted} is read with other ids. "
            "Adapt the tokenizer of that folder."
        )


def _main_files(folder: Path) -> list[str]:
    """Return the names of the files that a folder's tokenizer is read from."""
    return [name for name in read_files_at(folder) if not is_sidecar(name)]


def _write_index(model: Path, target: Path) -> None:
    """Write the index of a sharded model, with the new size of all tensors."""
    if (model / INDEX).is_file():
        index = read_json(model / INDEX)
        total = sum(
            tensor.end - tensor.start
            for path in target.glob(f"*{SUFFIX}")
            for tensor in read_header(path).values()
        )
        index["metadata"] = {**(index.get("metadata") or {}), "total_size": total}
        (target / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
