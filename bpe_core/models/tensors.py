"""Read the embedding rows of a model from safetensors files, a block of rows at a time.

A safetensors file is a header, which says where each tensor lies, and the tensors' bytes; see
https://github.com/huggingface/safetensors. The format is read here because its own library reads no
bfloat16 into NumPy, and because the rows of a model on the hub are found by the header alone.

Of a model on the hub, `model_rows` downloads these rows first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError, MissingFileError, UnavailableError, explain
from bpe_core.formats import FetchProgress, HubName, downloading, parse_json
from bpe_core.processes import Limits, Report

if TYPE_CHECKING:
    from bpe_core.formats import HubFiles

CONFIG: Final = "config.json"
INDEX: Final = "model.safetensors.index.json"
SUFFIX: Final = ".safetensors"
BLOCK_BYTES: Final = 16_000_000
"""The rows that are in memory at a time, as float32."""
SIZES: Final = {"F32": 4, "F16": 2, "BF16": 2}
INPUT_NAMES: Final = (
    "embed_tokens.weight",
    "wte.weight",
    "embed_in.weight",
    "tok_embeddings.weight",
    "word_embeddings.weight",
    "backbone.embeddings.weight",
    "shared.weight",
)
"""How the names of input embeddings end, in the order in which they are looked for."""
OUTPUT_NAMES: Final = ("lm_head.weight", "embed_out.weight", "output.weight")
_MAX_HEADER: Final = 100_000_000
_PREFIX: Final = 8


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies in a safetensors file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    """In the file, in bytes."""
    end: int

    def check_rows(self, where: object) -> None:
        """Raise `FormatError` unless these are rows of numbers that can be read."""
        if self.dtype not in SIZES or len(self.shape) != 2:
            shape = "x".join(map(str, self.shape))
            raise FormatError(
                f"{self.name} in {where} is {self.dtype} of shape {shape}. Expected rows of "
                f"{', '.join(SIZES)}. Use the model's files before they were quantized."
            )


def parse_header(data: bytes, start: int, n_bytes: int, where: object) -> dict[str, Tensor]:
    """Return the tensors of a file of `n_bytes` by name; its tensors' bytes begin at `start`."""
    try:
        entries = parse_json(data, f"The header of {where}")
        tensors: dict[str, Tensor] = {}
        for name, entry in entries.items():
            if name == "__metadata__":
                continue
            low, high = map(int, entry["data_offsets"])
            shape = tuple(map(int, entry["shape"]))
            dtype = str(entry["dtype"])
            expected = SIZES.get(dtype, 0) * prod(shape)
            if not 0 <= low <= high <= n_bytes - start or expected not in (0, high - low):
                raise ValueError(name)
            tensors[name] = Tensor(name, dtype, shape, start + low, start + high)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FormatError(
            f"{where} is not a whole safetensors file: its header does not fit its contents. "
            "Download it again."
        ) from None
    return tensors


def header_size(prefix: bytes, n_bytes: int, where: object) -> int:
    """Return the size of a header from a file's first eight bytes.

    >>> header_size((2).to_bytes(8, "little"), 10, "a.safetensors")
    2
    """
    size = int.from_bytes(prefix, "little")
    if len(prefix) < _PREFIX or not 2 <= size <= min(_MAX_HEADER, n_bytes - _PREFIX):
        raise FormatError(
            f"{where} is not a safetensors file, or it is incomplete. Expected a model's weights "
            "in .safetensors files."
        )
    return size


def read_header(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by name."""
    with reading(path) as file:
        n_bytes = os.fstat(file.fileno()).st_size
        size = header_size(file.read(_PREFIX), n_bytes, path)
        return parse_header(file.read(size), _PREFIX + size, n_bytes, path)


@contextmanager
def reading(path: Path, advice: str = "Check the path of the model.") -> Iterator[BinaryIO]:
    """Open a file of a model; errors of the system become `FormatError`."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise MissingFileError(f"{path} does not exist. {advice}") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {explain(error, 'Check the path.')}") from None


def to_float32(data: bytes | bytearray | memoryview, dtype: str) -> NDArray[np.float32]:
    """Return numbers of one of the types in `SIZES` as float32.

    >>> to_float32(b"\\x80\\x3f", "BF16").tolist()
    [1.0]
    """
    if dtype == "BF16":
        # The upper half of a float32.
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(data, "<f2" if dtype == "F16" else "<f4").astype(np.float32)


def from_float32(rows: NDArray[np.float32], dtype: str) -> bytes:
    """Return numbers in one of the types in `SIZES`, rounded to the nearest, ties to even.

    >>> from_float32(np.array([1.0], np.float32), "BF16").hex()
    '803f'
    """
    rows = np.ascontiguousarray(rows, np.float32)
    if dtype == "BF16":
        bits = rows.view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(rows), 0x7FC0, rounded).astype("<u2").tobytes()
    return rows.astype("<f2" if dtype == "F16" else "<f4").tobytes()


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a tensor in a file."""

    path: Path
    tensor: Tensor

    def __post_init__(self) -> None:
        self.tensor.check_rows(self.path.name)

    @property
    def n_rows(self) -> int:
        """One for each id, and often some more."""
        return self.tensor.shape[0]

    @property
    def n_columns(self) -> int:
        """The width of the model."""
        return self.tensor.shape[1]

    @property
    def row_bytes(self) -> int:
        """The size of a row in the file."""
        return self.n_columns * SIZES[self.tensor.dtype]

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield all rows in order, in blocks: the number of the first row, and the rows."""
        size = max(1, BLOCK_BYTES // (4 * max(1, self.n_columns)))
        with reading(self.path) as file:
            file.seek(self.tensor.start)
            for first in range(0, self.n_rows, size):
                data = file.read(min(size, self.n_rows - first) * self.row_bytes)
                yield first, self._rows(data)

    def take(self, ids: Iterable[int]) -> NDArray[np.float32]:
        """Return some rows: float32[n_ids, n_columns]."""
        with reading(self.path) as file:
            parts: list[bytes] = []
            for id in ids:
                file.seek(self.tensor.start + id * self.row_bytes)
                parts.append(file.read(self.row_bytes))
        return self._rows(b"".join(parts))

    def _rows(self, data: bytes) -> NDArray[np.float32]:
        return to_float32(data, self.tensor.dtype).reshape(-1, self.n_columns)


@dataclass(frozen=True, slots=True)
class ModelRows:
    """The embedding rows of a model."""

    name: str
    """As it was given."""
    folder: Path
    config: Mapping[str, Any]
    """Empty if there is no config.json."""
    input: Rows
    output: Rows | None
    """None if the model uses the input rows for its output too."""


def open_rows(
    path: str | os.PathLike[str],
    input_tensor: str | None = None,
    output_tensor: str | None = None,
) -> ModelRows:
    """Find the embedding rows of a model: a folder, a .safetensors file or its index.

    Raises `FormatError` if there are none, and `MissingFileError` for a path that does not exist.
    """
    given = Path(path)
    folder = given if given.is_dir() else given.parent
    places = list_tensors(given)
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    input_name, output_name = choose_tensors(
        list(places), config, given, input_tensor, output_tensor
    )

    def rows(name: str) -> Rows:
        header = read_header(places[name])
        if name not in header:
            raise FormatError(f"{places[name]} has no {name}, which its index says it has.")
        return Rows(places[name], header[name])

    found = rows(input_name)
    output = None if output_name is None else rows(output_name)
    return ModelRows(str(path), folder, config, found, output)


def list_tensors(given: Path) -> dict[str, Path]:
    """Return the file of each tensor of a model."""
    folder = given if given.is_dir() else given.parent
    if not given.exists():
        raise MissingFileError(
            f"{given} does not exist. Expected the folder of a model, a .safetensors file, or "
            "hf:org/model."
        )
    index = folder / INDEX
    is_shard = "-of-" in given.name
    if index.is_file() and (given.is_dir() or given == index or is_shard):
        return {name: folder / file for name, file in read_index(read_json(index), index).items()}
    if given.is_dir():
        files = sorted(given.glob(f"*{SUFFIX}"))
        whole = given / f"model{SUFFIX}"
        files = [whole] if whole in files else files
        if not files:
            has_others = any(given.glob("*.bin")) or any(given.glob("*.pt*"))
            also = (
                " It has weights in another format; save them as safetensors, with "
                "model.save_pretrained(folder)."
                if has_others
                else ""
            )
            raise FormatError(f"{given} has no .safetensors file.{also}")
    else:
        files = [given]
    return {name: file for file in files for name in read_header(file)}


def read_index(index: Mapping[str, Any], where: object) -> dict[str, str]:
    """Return the file of each tensor, as the index of a sharded model lists them."""
    found = index.get("weight_map")
    if not isinstance(found, dict) or not found:
        raise FormatError(f"{where} lists no tensors under weight_map. Download it again.")
    files = {str(name): str(file) for name, file in found.items()}
    for file in files.values():
        if "/" in file or "\\" in file or file.startswith("."):
            raise FormatError(f"{where} names a file outside its folder, {file!r:.80}.")
    return files


def choose_tensors(
    names: list[str],
    config: Mapping[str, Any],
    where: object,
    input_tensor: str | None = None,
    output_tensor: str | None = None,
) -> tuple[str, str | None]:
    """Return the names of the input and output embedding; None for the latter if it is the same.

    >>> choose_tensors(["lm_head.weight", "model.embed_tokens.weight"], {}, "model")
    ('model.embed_tokens.weight', 'lm_head.weight')
    """
    for given in (input_tensor, output_tensor):
        if given is not None and given not in names:
            raise FormatError(
                f"{where} has no tensor {given!r:.80}. It has {_some(names)}. Check the name."
            )
    found = input_tensor or _ending(names, INPUT_NAMES)
    if found is None:
        raise FormatError(
            f"{where} has no input embedding under a known name. It has {_some(names)}. Name it "
            "with input_tensor."
        )
    text_config = config.get("text_config")
    inner: Mapping[str, Any] = text_config if isinstance(text_config, dict) else {}
    tied = config.get("tie_word_embeddings", inner.get("tie_word_embeddings"))
    if output_tensor is not None or tied is True:
        return found, output_tensor
    return found, _ending(names, OUTPUT_NAMES)


def _ending(names: list[str], endings: tuple[str, ...]) -> str | None:
    """Return the shortest name that ends with one of these, the first of which counts most."""
    for ending in endings:
        found = [name for name in names if name == ending or name.endswith(f".{ending}")]
        if found:
            return min(found, key=lambda name: (len(name), name))
    return None


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return (", ".join(f"{name:.80}" for name in sorted(names)[:5]) or "no tensor") + more


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; raises `FormatError` for anything else."""
    with reading(path) as file:
        return parse_json(file.read(), str(path))


def write_tensors(
    path: str | os.PathLike[str], tensors: Mapping[str, NDArray[np.float32]], dtype: str = "F32"
) -> None:
    """Write arrays as one safetensors file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tensors(f"{folder}/a.safetensors", {"wte.weight": np.ones((2, 3), np.float32)})
    ...     Rows(Path(folder, "a.safetensors"), read_header(Path(folder, "a.safetensors"))[
    ...         "wte.weight"]).take([1]).tolist()
    [[1.0, 1.0, 1.0]]
    """
    shapes = {name: (dtype, array.shape) for name, array in tensors.items()}
    with open(path, "wb") as file:
        file.write(make_header(shapes))
        for array in tensors.values():
            file.write(from_float32(array, dtype))


def make_header(
    tensors: Mapping[str, tuple[str, tuple[int, ...]]], metadata: Mapping[str, str] | None = None
) -> bytes:
    """Return the header of a file of tensors, which follow each other in this order.

    Each is given by its type and shape; the type must be one of `SIZES`.
    """
    entries: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    place = 0
    for name, (dtype, shape) in tensors.items():
        end = place + SIZES[dtype] * prod(shape)
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, end]}
        place = end
    return pack_header(entries)


def pack_header(entries: Mapping[str, Any]) -> bytes:
    """Return a header with its size in front, filled up with spaces to eight bytes."""
    data = json.dumps(entries, separators=(",", ":")).encode()
    data += b" " * (-len(data) % _PREFIX)
    return len(data).to_bytes(_PREFIX, "little") + data


_WHOLE: Final = f"model{SUFFIX}"
_MAX_JSON: Final = 50_000_000
_LIMITS: Final = Limits(seconds=7_200, memory=2 * Limits.GB)
OnProgress = Callable[[str, int, int], object]


@contextmanager
def model_rows(
    model: str | os.PathLike[str],
    input_tensor: str | None = None,
    output_tensor: str | None = None,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Generator[ModelRows]:
    """Open the embedding rows of a model; those of a model on the hub are deleted after the block.

    What the cache of the hub's client has of its weights is not downloaded again. Raises what
    `open_rows` raises, and `UnavailableError` for a model that cannot be downloaded.
    """
    given = os.fspath(model)
    if not HubName.fits(given):
        yield open_rows(given, input_tensor, output_tensor)
        return
    name = HubName.parse(given)
    cached = name.cached()
    if cached is not None and any(cached.folder().glob(f"*{SUFFIX}")):
        yield open_rows(cached.folder(), input_tensor, output_tensor)
        return

    def follow(progress: FetchProgress) -> None:
        if on_progress is not None:
            on_progress("Downloading rows", progress.done_bytes, progress.total_bytes)

    with downloading(
        name,
        download_rows,
        follow,
        should_stop,
        limits=_LIMITS,
        input_tensor=input_tensor,
        output_tensor=output_tensor,
    ) as (_, folder):
        yield open_rows(folder, input_tensor, output_tensor)


def download_rows(
    name: HubName,
    folder: Path,
    report: Report[FetchProgress | None],
    input_tensor: str | None,
    output_tensor: str | None,
) -> str:
    """Download the embedding rows of a model as one file; return its commit. Runs in a process."""
    from bpe_core.formats import HubFiles

    report(None, must_arrive=True)
    with HubFiles.open(name) as hub:
        config: Mapping[str, Any] = {}
        if CONFIG in hub.sizes:
            data = hub.read(CONFIG, 0, min(hub.sizes[CONFIG], _MAX_JSON))
            (folder / CONFIG).write_bytes(data)
            config = parse_json(data, f"{CONFIG} of {name.short}")
        file_of: dict[str, str] = {}
        if INDEX in hub.sizes:
            what = f"{INDEX} of {name.short}"
            data = hub.read(INDEX, 0, min(hub.sizes[INDEX], _MAX_JSON))
            file_of = read_index(parse_json(data, what), what)
        elif _WHOLE in hub.sizes:
            file_of = dict.fromkeys(_header(hub, _WHOLE), _WHOLE)
        else:
            raise FormatError(
                f"{name.short} has no {_WHOLE} and no {INDEX}. Only models saved as safetensors "
                "can be read."
            )
        chosen = choose_tensors([*file_of], config, name.short, input_tensor, output_tensor)
        headers = {file: _header(hub, file) for file in {file_of[each] for each in chosen if each}}
        wanted: dict[str, Tensor] = {}
        for each in filter(None, chosen):
            if each not in headers[file_of[each]]:
                raise FormatError(f"{file_of[each]} of {name.short} has no {each}.")
            wanted[each] = headers[file_of[each]][each]
            wanted[each].check_rows(name.short)
        total = sum(tensor.end - tensor.start for tensor in wanted.values())
        done = 0
        with (folder / _WHOLE).open("wb") as file:
            file.write(make_header({n: (t.dtype, t.shape) for n, t in wanted.items()}))
            for each, tensor in wanted.items():
                for chunk in hub.stream(file_of[each], tensor.start, tensor.end):
                    file.write(chunk)
                    done += len(chunk)
                    report(FetchProgress(name.repo, done, total), must_arrive=done == total)
        return hub.commit


def _header(hub: HubFiles, file: str) -> dict[str, Tensor]:
    if file not in hub.sizes:
        raise UnavailableError(f"The hub does not have {file}, which the model's index names.")
    n_bytes = hub.sizes[file]
    size = header_size(hub.read(file, 0, 8), n_bytes, file)
    return parse_header(hub.read(file, 8, 8 + size), 8 + size, n_bytes, file)
