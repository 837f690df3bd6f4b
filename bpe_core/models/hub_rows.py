"""Find a model's embedding rows, and download them first if it is on the hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bpe_core.errors import FormatError, UnavailableError
from bpe_core.formats import parse_json
from bpe_core.models.tensors import (
    CONFIG,
    INDEX,
    SUFFIX,
    ModelRows,
    Tensor,
    choose_tensors,
    header_size,
    make_header,
    open_rows,
    parse_header,
    read_index,
)
from bpe_core.processes import GB, Limits, Report
from bpe_core.published import (
    FetchProgress,
    HubName,
    downloading,
    find_cached,
    is_hub_name,
    parse_hub_name,
    prepare_client,
    snapshot_folder,
)

if TYPE_CHECKING:
    from bpe_core.published import HubFiles

_WHOLE: Final = f"model{SUFFIX}"
_MAX_JSON: Final = 50_000_000
_LIMITS: Final = Limits(seconds=7_200, memory=2 * GB)
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
    if not is_hub_name(given):
        yield open_rows(given, input_tensor, output_tensor)
        return
    name = parse_hub_name(given)
    cached = find_cached(name)
    if cached is not None and any(snapshot_folder(cached).glob(f"*{SUFFIX}")):
        yield open_rows(snapshot_folder(cached), input_tensor, output_tensor)
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
    prepare_client()
    from bpe_core.published import open_hub_files

    report(None, must_arrive=True)
    with open_hub_files(name) as hub:
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
