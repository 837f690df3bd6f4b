"""What commands that learn report of their results, and what they write next to a tokenizer.

Results are sentences on stderr, and values for --json. Next to a tokenizer go the held-out text and
what it was trained on.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bpe_core.checks import counted
from bpe_core.cli.outputs import check_output, is_replaceable, write_output
from bpe_core.corpus import HELD_OUT_ENDING
from bpe_core.types import ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bpe_core.cli.sources import OpenedText, Sources
    from bpe_core.comparison import TextPart
    from bpe_core.corpus import Corpus, TrainedOn
    from bpe_core.trainers import TermCost, TrainingRun


_STOP_REASONS: Final = {
    "vocab-size": "the vocabulary is full",
    "no-pairs": "no pairs are left",
    "min-frequency": "no pair is frequent enough",
    "cancelled": "it was cancelled",
}


def report_run(run: TrainingRun, held_out: Corpus | None) -> int | None:
    """Report why training ended, bytes per token, and what was learned by heart.

    Return the tokens of the held-out text.
    """
    n_tokens = int(run.tokens_after[-1])
    characters = "" if run.continues is None else _count_characters(run.continues.characters)
    parts = [
        f"{characters}{counted(len(run.merges), 'merge')} in {run.elapsed_seconds:.1f} s; it "
        f"stopped because {_STOP_REASONS[run.stop_reason]}."
    ]
    if n_tokens:
        parts.append(f"{run.corpus_bytes / n_tokens:.2f} bytes per token")
    n_held_out = None if held_out is None else int(run.tokens_after_on(held_out)[-1])
    if held_out is not None and n_held_out:  # some pre-tokenizers drop all white space
        parts.append(f"({held_out.n_bytes / n_held_out:.2f} on held-out text)")
    click.echo(" ".join(parts), err=True)
    gap = None
    if held_out is not None and n_held_out and n_tokens:
        gap = run.corpus_bytes / n_tokens / (held_out.n_bytes / n_held_out) - 1
    if sentence := run.by_heart_sentence(gap):
        remedy = " --min-frequency 2 leaves these merges out." if "once" in sentence else ""
        click.echo(f"{sentence}{remedy}", err=True)
    return n_held_out


def _count_characters(added: Sequence[int]) -> str:
    """Return how many characters were added to a base before its new merges.

    >>> _count_characters([]), _count_characters([5]), _count_characters([5, 6])
    ('', '1 new character and ', '2 new characters and ')
    """
    n = len(added)
    return f"{n:,} new character{'s' * (n > 1)} and " if n else ""


def describe_run(run: TrainingRun) -> dict[str, Any]:
    """Return the figures of a run as JSON values."""
    return {
        "vocab_size": run.tokenizer.vocab_size,
        "n_merges": len(run.merges),
        "n_merges_once": run.n_merges_once,
        "stop_reason": run.stop_reason,
        "elapsed_seconds": run.elapsed_seconds,
        "fingerprint": run.tokenizer.fingerprint,
        "text": {
            "n_bytes": run.corpus_bytes,
            "sha256": run.corpus_sha256,
            "n_tokens": int(run.tokens_after[-1]),
        },
    }


def describe_held_out(test: Corpus | None, **figures: Any) -> dict[str, Any] | None:
    """Return what was held out, and how, as JSON values with figures on it; None without any."""
    if test is None or not test.n_bytes or test.how is None:
        return None
    return {
        "n_bytes": test.n_bytes,
        "by": test.how.by,
        "n_units": test.how.n_units,
        "share_within": test.how.share_within,
        "why_within": test.how.why_within,
        **figures,
    }


def describe_gain(part: TextPart) -> dict[str, Any]:
    """Return a difference and its 95 % interval as JSON values."""
    return {"percent_fewer": part.percent_fewer, "interval": [part.low, part.high]}


def change_words(before: int, after: int) -> str:
    """Return a number of tokens, the one that it replaces, and the change in per cent.

    >>> change_words(1000, 900), change_words(7, 7)
    ('900 tokens instead of 1,000, 10.0% fewer', '7 tokens instead of 7')
    """
    told = f"{counted(after, 'token')} instead of {before:,}"
    if not before or before == after:
        return told
    percent = 100 * abs(after - before) / before
    return f"{told}, {percent:.1f}% {'fewer' if after < before else 'more'}"


def report_terms(costs: Sequence[TermCost]) -> None:
    """Report on stderr what each term cost and saved, or why it is not a token."""
    for cost in costs:
        name = repr(cost.term)
        if cost.reason is not None:
            click.echo(f"{name} is not one token: {cost.reason}", err=True)
        elif not (n_added := cost.characters_added + cost.tokens_added):
            click.echo(f"{name} is one token already.", err=True)
        else:
            added = f"{n_added:,} token{'s' * (n_added > 1)}"
            saved = f"{cost.tokens_saved:,} saved in this text"
            absent = ". It does not occur there, so that text does not train its row"
            click.echo(
                f"{name} is one token: {added} added, {saved}{absent if cost.is_absent else ''}.",
                err=True,
            )


def describe_terms(costs: Sequence[TermCost]) -> list[dict[str, Any]]:
    """Return what each term cost as JSON values."""
    return [
        {
            "term": cost.term,
            "is_token": cost.token is not None,
            "characters_added": cost.characters_added,
            "tokens_added": cost.tokens_added,
            "tokens_saved": cost.tokens_saved,
            "occurrences": cost.occurrences,
            "reason": cost.reason,
        }
        for cost in costs
    ]


def held_out_place(out: str) -> Path:
    """Return where the text is written that was held out from the tokenizer of an output.

    >>> held_out_place("new/mine.bpe.json").as_posix(), held_out_place("adapted/").as_posix()
    ('new/mine.held-out.jsonl', 'adapted.held-out.jsonl')
    """
    path = Path(out)
    if path.name in ("", ".."):
        return path / HELD_OUT_ENDING.removeprefix(".")
    ending = next((each for each in ENDINGS.values() if path.name.endswith(each)), "")
    return path.with_name(f"{path.name.removesuffix(ending)}{HELD_OUT_ENDING}")


def check_beside(
    names: Iterable[str], out: str, sources: Sources, inputs: Iterable[str], *, force: bool
) -> None:
    """Raise ConfigError if what is written next to a tokenizer would replace another file.

    `names` are those of the tokenizer's files.
    """
    from bpe_core.formats import WrittenKind

    if not has_neighbours(out):
        return
    inputs = [*inputs]
    check_note(names, out, inputs, force=force)
    if sources.held_out:
        place = str(held_out_place(out))
        check_output(WrittenKind.HELD_OUT, place, inputs, force=force, makes_folder=True)


def has_neighbours(out: str) -> bool:
    """Return False for standard output, a device and a pipe."""
    return os.path.isdir(out) or is_replaceable(out)


def check_note(names: Iterable[str], out: str, inputs: Iterable[str], *, force: bool) -> None:
    """Raise ConfigError if the note on what a tokenizer was trained on would replace another file.

    `names` are those of the tokenizer's files.
    """
    from bpe_core.formats import WrittenKind, note_place

    place = str(note_place(names, out))
    check_output(WrittenKind.NOTE, place, inputs, force=force, makes_folder=True)


def write_note(trained_on: TrainedOn, out: str) -> None:
    """Write the note on what the tokenizer that was written to `out` was trained on."""
    from bpe_core.formats import note_for

    place, data = note_for(Path(out), trained_on)
    write_output(data, str(place))


def write_beside(
    opened: OpenedText, trained_on: TrainedOn, out: str, against: str
) -> tuple[str | None, list[str]]:
    """Write the held-out text and the note on what was trained on.

    Returns the path of the held-out text if it was written, and what to tell: where that is, and
    how to compare on new text `against` another tokenizer. It is told once everything is written,
    because whoever reads standard error may stop reading.
    """
    from bpe_core.corpus import Location, held_out_lines

    if not has_neighbours(out):
        return None, []
    test = opened.held_out
    held_out_sha256 = None if test is None else test.sha256
    documents = opened.hash_documents()
    write_note(replace(trained_on, held_out_sha256=held_out_sha256, documents=documents), out)
    if test is None:
        advice = (
            "All of this text was trained on, so figures on it are better than on new text. "
            "To compare on new text, hold some out: --held-out 0.1"
        )
        return None, [advice] if opened.can_hold_out else []
    if not test.n_bytes or test.how is None:
        return None, []
    texts, written, told = opened.held_out_names, None, list[str]()
    if not texts:
        written = str(held_out_place(out))
        with Location(written).writing() as file:
            file.writelines(held_out_lines(test))
        told.append(f"Held-out text: {written}")
        texts = (written,)
    line = shlex.join(["bpe", "compare", *texts, "-t", out, "-t", against])
    return written, [*told, f"To compare on it: {line}"]
