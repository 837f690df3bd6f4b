"""What commands that learn write next to a tokenizer: held-out text, and what it was trained on."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bpe_core.cli.outputs import check_output, is_replaceable, write_output
from bpe_core.corpus import HELD_OUT_ENDING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe_core.cli.sources import OpenedText, Sources
    from bpe_core.corpus import TrainedOn

_ENDINGS = (".bpe.json", ".json", ".tiktoken", ".model", ".gguf")


def held_out_place(out: str) -> Path:
    """Return where the text is written that was held out from the tokenizer of an output.

    >>> held_out_place("new/mine.bpe.json").as_posix(), held_out_place("adapted/").as_posix()
    ('new/mine.held-out.jsonl', 'adapted.held-out.jsonl')
    """
    path = Path(out)
    if path.name in ("", ".."):
        return path / HELD_OUT_ENDING.removeprefix(".")
    ending = next((each for each in _ENDINGS if path.name.endswith(each)), "")
    return path.with_name(f"{path.name.removesuffix(ending)}{HELD_OUT_ENDING}")


def check_beside(
    names: Iterable[str], out: str, sources: Sources, inputs: Iterable[str], *, force: bool
) -> None:
    """Raise ConfigError if what is written next to a tokenizer would replace another file.

    `names` are those of the tokenizer's files.
    """
    from bpe_core.formats import HELD_OUT

    if not has_neighbours(out):
        return
    inputs = [*inputs]
    check_note(names, out, inputs, force=force)
    if sources.held_out:
        place = str(held_out_place(out))
        check_output(HELD_OUT, place, inputs, force=force, makes_folder=True)


def has_neighbours(out: str) -> bool:
    """Return False for standard output, a device and a pipe."""
    return os.path.isdir(out) or is_replaceable(out)


def check_note(names: Iterable[str], out: str, inputs: Iterable[str], *, force: bool) -> None:
    """Raise ConfigError if the note on what a tokenizer was trained on would replace another file.

    `names` are those of the tokenizer's files.
    """
    from bpe_core.formats import NOTE, note_place, noted_file

    place = str(note_place(noted_file(names, out)))
    check_output(NOTE, place, inputs, force=force, makes_folder=True)


def write_note(trained_on: TrainedOn, out: str) -> None:
    """Write the note on what the tokenizer that was written to `out` was trained on."""
    from bpe_core.formats import note_for

    place, data = note_for(Path(out), trained_on)
    write_output(data, str(place))


def write_beside(opened: OpenedText, trained_on: TrainedOn, out: str, against: str) -> str | None:
    """Write the held-out text and the note; say how to compare on new text `against` another.

    Returns the path of the held-out text if it was written.
    """
    from bpe_core.corpus import held_out_lines, writing

    if not has_neighbours(out):
        return None
    test = opened.held_out
    held_out_sha256 = None if test is None else test.sha256
    documents = opened.hash_documents()
    write_note(replace(trained_on, held_out_sha256=held_out_sha256, documents=documents), out)
    if test is None:
        if opened.can_hold_out:
            click.echo(
                "All of this text was trained on, so figures on it are better than on new text. "
                "To compare on new text, hold some out: --held-out 0.1",
                err=True,
            )
        return None
    if not test.n_bytes or test.how is None:
        return None
    texts, written = opened.held_out_names, None
    if not texts:
        written = str(held_out_place(out))
        with writing(written) as file:
            file.writelines(held_out_lines(test))
        click.echo(f"Held-out text: {written}", err=True)
        texts = (written,)
    line = shlex.join(["bpe", "compare", *texts, "-t", out, "-t", against])
    click.echo(f"To compare on it: {line}", err=True)
    return written
