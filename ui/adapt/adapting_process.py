"""Shrink or replace in a process of its own, so that pages do not share its interpreter.

`python -m ui.adapt.adapting_process FOLDER` reads a corpus, a tokenizer and choices from FOLDER,
writes the arrays of the result there, and one JSON object a line to standard output. It exits when
its standard input closes. It imports nothing of the app that takes long to start.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting.adapted import count_with_missing
from bpe_core.adapting.replace import replace
from bpe_core.adapting.shrink import remove_leaves
from bpe_core.child_process import follow_parent
from bpe_core.corpus.corpus_files import read_corpus_files
from bpe_core.errors import BpeError
from bpe_core.formats.continuation_json import term_to_dict
from bpe_core.formats.load_save import dumps
from ui.adapt.judged import judged
from ui.storage.base_tokenizer import read_base
from ui.work.work_process import Reporter, answers_of, work_and_answer, work_process

if TYPE_CHECKING:
    from ui.work.background import Task

CHOICES: Final = "choices.json"
TOKENIZER: Final = "adapted.bpe.json"
_ADVICE: Final = "Your corpus and choices are unchanged; a smaller corpus may work."


class AdaptingProcessError(BpeError):
    """The process that shrinks or replaces ended without a result."""


def ask_process(
    folder: Path, task: Task[Any], report: Callable[[int, int], None]
) -> dict[str, Any] | None:
    """Do the work in a folder; return what the process says of the result, None if cancelled.

    Raises BpeError with what the work raised, and AdaptingProcessError if the process was killed.
    """
    with work_process("ui.adapt.adapting_process", folder) as process:
        task.on_cancel(process.kill)
        for answer in answers_of(process, AdaptingProcessError, _ADVICE):
            match answer:
                case {"progress": [done, of]}:
                    report(done, of)
                case {"result": result}:
                    return result
                case _:
                    break
    if task.is_cancelled:
        return None
    raise AdaptingProcessError(
        "The process was stopped by the system, most likely because memory ran out. Use a smaller "
        "corpus if it happens again."
    )


def arrays_in(folder: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of the result, by name."""
    return {path.stem: np.load(path, allow_pickle=False) for path in folder.glob("result-*.npy")}


def _shrink(folder: Path, choices: Mapping[str, Any]) -> dict[str, Any]:
    training, held_out = read_corpus_files(folder).split(choices["share"], seed=choices["seed"])
    report = Reporter()
    removals = remove_leaves(
        *(read_base(folder), training),
        held_out=held_out if held_out.n_bytes else None,
        pinned=choices["pinned"],
        order=choices["order"],
        scripts=choices["scripts"] or None,
        on_progress=lambda done, of: report([done, of]),
    )
    assert removals is not None  # nothing asks it to stop
    _save(folder, "order", np.array(removals.order, np.int32))
    _save(folder, "uses", removals.uses)
    _save(folder, "tokens", removals.tokens_after)
    if removals.held_out_tokens_after is not None:
        _save(folder, "held_out", removals.held_out_tokens_after)
    return {}


def _replace(folder: Path, choices: Mapping[str, Any]) -> dict[str, Any]:
    base = read_base(folder)
    training, held_out = read_corpus_files(folder).split(choices["share"], seed=choices["seed"])
    n_tokens = choices["n_tokens"]
    report = Reporter()
    adapted = replace(
        *(base, training, n_tokens),
        lambda progress: report([n_tokens + progress.merges_done, 2 * n_tokens]),
        pinned=choices["pinned"],
        order=choices["order"],
        scripts=choices["scripts"] or None,
        terms=choices["terms"],
        on_removal=lambda done, _: report([done, 2 * n_tokens]),
    )
    where, text = judged(held_out, training)
    (folder / TOKENIZER).write_bytes(next(iter(dumps(adapted.tokenizer, "native").values())))
    _save(folder, "old_ids", adapted.old_ids)
    _save(folder, "removed", np.array(adapted.removed, np.int32))
    return {
        "parts": [[id, *parts] for id, parts in adapted.parts.items()],
        "terms": [term_to_dict(cost) for cost in adapted.terms],
        "where": where,
        "before": count_with_missing(base, text),
        "after": count_with_missing(adapted.tokenizer, text),
    }


def _save(folder: Path, name: str, array: NDArray[Any]) -> None:
    np.save(folder / f"result-{name}.npy", array, allow_pickle=False)


def _main(folder: Path) -> None:
    follow_parent()
    choices = json.loads((folder / CHOICES).read_bytes())
    work = _shrink if choices["n_tokens"] is None else _replace
    work_and_answer(lambda: {"result": work(folder, choices)}, choices["n_bytes"])


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
