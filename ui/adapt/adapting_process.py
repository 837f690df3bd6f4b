"""Shrink or replace in a process of its own, so that pages do not share its interpreter.

`python -m ui.adapt.adapting_process FOLDER` reads a corpus, a tokenizer and choices from FOLDER,
writes the arrays of the result there, and one JSON object a line to standard output. It exits when
its standard input closes. It imports nothing of the app that takes long to start.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting.adapted import count_with_missing
from bpe_core.adapting.gains import gain_by_kind
from bpe_core.adapting.replace import extend_to_size, removals_to_replace
from bpe_core.adapting.shrink import remove_leaves
from bpe_core.child_process import follow_parent
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import read_corpus_files
from bpe_core.corpus.samples import load_sample
from bpe_core.counting.words import CountedCorpus
from bpe_core.errors import BpeError
from bpe_core.formats.continuation_json import term_to_dict
from bpe_core.runs.count import count
from bpe_core.runs.progress import Watch
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.general_texts import GENERAL_TEXTS
from ui.adapt.judged import HELD_OUT, TRAINING
from ui.adapt.swapped import sizes_up_to
from ui.storage.base_tokenizer import read_base
from ui.work.work_process import Reporter, answers_of, work_and_answer, work_process

if TYPE_CHECKING:
    from ui.work.task import Task

CHOICES: Final = "choices.json"
_ADVICE: Final = "Your corpus and choices are unchanged; a smaller corpus may work."


class AdaptingProcessError(BpeError):
    """The process that shrinks or replaces ended without a result."""


def ask_process(
    folder: Path, task: Task[Any], report: Callable[[int, int], None]
) -> dict[str, Any] | None:
    """Do the work in a folder; return what the process reports of the result, None if cancelled.

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
    base = read_base(folder)
    training, held_out = _texts(folder, choices, base)
    report = Reporter()
    removals = remove_leaves(
        *(base, training),
        held_out=held_out,
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
    training, held_out = _texts(folder, choices, base)
    n_tokens = choices["n_tokens"]
    sizes = sizes_up_to(n_tokens)
    terms = [*choices["terms"], *map(bytes.fromhex, choices["made_again"])]
    of = n_tokens + sum(sizes)
    report = Reporter()
    removals = removals_to_replace(
        *(base, training, n_tokens),
        pinned=choices["pinned"],
        order=choices["order"],
        scripts=choices["scripts"] or None,
        terms=terms,
        on_removal=lambda done, _: report([done, of]),
    )
    assert removals is not None  # nothing asks it to stop
    _save(folder, "removed", np.array(removals.order, np.int32))
    general = {id: _counted(load_sample(id), base) for id in GENERAL_TEXTS}
    on_general = {id: [count_with_missing(base, text)] for id, text in general.items()}
    if held_out is not None and not count_with_missing(base, held_out):
        held_out = None  # nothing that the pre-tokenizer makes a word
    tokens = [
        int(removals.tokens_after[0]) if held_out is None else count_with_missing(base, held_out)
    ]
    found: list[dict[str, Any]] = []
    done = n_tokens
    # The largest first: a corpus with too few pairs is reported at once.
    for n in reversed(sizes):
        run = extend_to_size(
            *(removals.at(base.vocab_size - n), training),
            lambda progress, done=done: report([done + progress.merges_done, of]),
            terms=terms,
            left_out=map(bytes.fromhex, choices["left_out"]),
        )
        assert run is not None
        done += n
        curve = run.tokens_after if held_out is None else run.tokens_after_on(held_out)
        merges = [(merge.left, merge.right, merge.id) for merge in run.merges]
        _save(folder, f"merges-{n}", np.array(merges, np.int32))
        counts = [merge.count or 0 for merge in run.merges]
        _save(folder, f"counts-{n}", np.array(counts, np.int64))
        _save(folder, f"saved-{n}", -np.diff(run.tokens_after))
        tokens.insert(1, int(curve[-1]))
        for id, text in general.items():
            on_general[id].insert(1, count_with_missing(run.tokenizer, text))
        found.insert(
            0,
            {
                "n_tokens": n,
                "more": int(curve[0]) - tokens[0],
                "kinds": gain_by_kind(run, curve, n),
                "terms": [term_to_dict(cost) for cost in run.terms],
            },
        )
    return {
        "sizes": found,
        "where": TRAINING if held_out is None else HELD_OUT,
        "n_bytes": training.n_bytes if held_out is None else held_out.n_bytes,
        "tokens": tokens,
        "general_id": choices["general_id"],
        "general": {id: (text.n_bytes, on_general[id]) for id, text in general.items()},
    }


def _texts(
    folder: Path, choices: Mapping[str, Any], base: Tokenizer
) -> tuple[CountedCorpus, Corpus | None]:
    """Return the counted training text, whose text is then released, and the held-out text."""
    training, held_out = read_corpus_files(folder, stays_on_disk=True).split(
        choices["share"], choices["seed"], choices["by"]
    )
    return _counted(training, base), held_out if held_out.n_bytes else None


def _counted(corpus: Corpus, base: Tokenizer) -> CountedCorpus:
    watch = Watch(0, time.perf_counter(), None, None)
    return count(corpus, base.pretokenizer.name, None, watch)


def _save(folder: Path, name: str, array: NDArray[Any]) -> None:
    np.save(folder / f"result-{name}.npy", array, allow_pickle=False)


def _main(folder: Path) -> None:
    follow_parent()
    choices = json.loads((folder / CHOICES).read_bytes())
    work = _shrink if choices["n_tokens"] is None else _replace
    work_and_answer(lambda: {"result": work(folder, choices)}, choices["n_bytes"])


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
