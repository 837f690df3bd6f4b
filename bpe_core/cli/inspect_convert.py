"""The commands `bpe inspect` and `bpe convert`, which take one tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from bpe_core.checks import counted
from bpe_core.cli.encode import show_encoded
from bpe_core.cli.outputs import (
    check_json,
    check_outputs,
    format_to_write,
    print_json,
    write_tokenizer,
)
from bpe_core.cli.results import check_note, has_neighbours, write_note
from bpe_core.cli.support import (
    format_option,
    json_option,
    load_merges,
    load_tokenizer,
    note_what_lacks,
    out_option,
    tokenizer_options,
    what_lacks,
)
from bpe_core.corpus import Location
from bpe_core.errors import FormatError

if TYPE_CHECKING:
    from bpe_core.tokenizer import Encoder, Tokenizer
    from bpe_core.types import Format

MAX_SPECIAL_TOKENS = 10


@click.command()
@click.argument("tokenizer")
@click.option("--text", help="Explain how this text becomes tokens.")
@click.option(
    "--merges",
    "n_merges",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the first merges to list.",
)
@click.option(
    "--opens-in",
    is_flag=True,
    help="Open it in each library that is installed, and compare 100,000 tokens.",
)
@tokenizer_options
def inspect(
    tokenizer: str,
    text: str | None,
    n_merges: int,
    *,
    opens_in: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Show a tokenizer's contents, or how it splits a text into tokens.

    Of a folder that bpe encode-corpus wrote, show what it holds, and verify its files.

    \b
    Examples:
      $ bpe inspect gpt2 --merges 3
      $ bpe inspect gpt2 --text "hugs"
      h u g s
        merge 762: u + g
        merge 10083: ug + s
      h ugs
    """
    from bpe_core.unicode import to_printable

    if text is not None and opens_in:
        raise click.UsageError("Give only one of --text and --opens-in.")
    if _is_encoded(tokenizer):
        show_encoded(tokenizer)
        return
    if opens_in:
        _list_readers(load_tokenizer(tokenizer, pretokenizer, special_tokens))
        return
    loaded = load_merges(tokenizer, pretokenizer, special_tokens)

    def write(id_: int) -> str:
        return to_printable(loaded.vocab[id_])

    if text is not None:
        for word in loaded.explain(text):
            click.echo(" ".join(map(write, word.symbols)))
            for step in word.steps:
                merge = step.merge
                click.echo(f"  merge {merge.rank}: {write(merge.left)} + {write(merge.right)}")
            if word.steps:
                click.echo(" ".join(map(write, word.ids)))
        return
    merges = loaded.merged_by
    click.echo(f"vocabulary      {loaded.vocab_size:,}")
    click.echo(f"merges          {len(merges.merges):,}")
    if merges.table.removals:
        removed = sorted(merges.table.removed)
        shown = " ".join(map(write, removed[:n_merges])) + (" ..." if removed[n_merges:] else "")
        click.echo(f"removed again   {counted(len(removed), 'token')} (PickyBPE): {shown}")
    click.echo(f"alphabet        {counted(len(merges.base_ids), merges.base[:-1])}")
    click.echo(f"pre-tokenizer   {merges.pretokenizer.name!r}")
    click.echo(f"end of word     {merges.end_of_word!r}")
    click.echo(f"special tokens  {len(loaded.special_tokens):,}")
    _list_special_tokens(loaded)
    click.echo(f"fingerprint     {loaded.fingerprint}")
    for merge in merges.merges[:n_merges]:
        count = "" if merge.count is None else f", {counted(merge.count, 'time')}"
        click.echo(f"merge {merge.rank}: {write(merge.left)} + {write(merge.right)}{count}")


@click.command()
@click.argument("source", metavar="TOKENIZER")
@click.argument("path", metavar="PATH", required=False)
@out_option("The same as PATH.", required=False)
@format_option
@click.option(
    "--check",
    is_flag=True,
    help="First open it in the library that the format is meant for, and compare 100,000 tokens.",
)
@json_option
@tokenizer_options
def convert(
    source: str,
    path: str | None,
    out: str | None,
    *,
    force: bool,
    format_name: str | None,
    check: bool,
    as_json: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Write a tokenizer in another format, or explain why that format cannot represent it.

    \b
    Examples:
      $ bpe convert mine.json mine.tiktoken --check
      $ bpe convert mine.json mine.bpe.json
      $ bpe convert mine.bpe.json tokenizer.json
      $ bpe convert mine.json folder --format transformers
    """
    from bpe_core.formats import dumps, find_note, places_for

    if (path is None) == (out is None):
        raise click.UsageError("Give one PATH to write to, as an argument or with --out.")
    out = cast("str", path or out)
    check_json(out, wanted=as_json)
    format, note = format_to_write(out, format_name)
    tokenizer = load_tokenizer(source, pretokenizer, special_tokens)
    files = dumps(tokenizer, format)
    check_outputs(files, out, [source], force=force, note=note)
    trained_on = find_note(Path(source)) if has_neighbours(out) else None
    if trained_on is not None:
        check_note(files, out, [source], force=force)
    if check:
        _check(tokenizer, format)
    told = write_tokenizer(files, out)
    if trained_on is not None:
        write_note(trained_on, out)
    note_what_lacks(tokenizer, format)
    for line in told:
        click.echo(line, err=True)
    if as_json:
        print_json(
            {
                "written": [*map(str, places_for(files, out))],
                "format": format,
                "vocab_size": tokenizer.vocab_size,
                "pretokenizer": tokenizer.pretokenizer.name,
                "special_tokens": dict(tokenizer.special_tokens),
                "lacks": what_lacks(tokenizer, format),
            }
        )


def _is_encoded(name: str) -> bool:
    """Return True for a folder that bpe encode-corpus wrote, by path or URL."""
    if not (Location(name).is_url or Path(name).is_dir()):
        return False
    from bpe_scale import Manifest

    return Manifest.is_in(name)


def _list_special_tokens(tokenizer: Encoder) -> None:
    """Print the first special tokens by id, one per line, and how many more there are."""
    in_order = sorted(tokenizer.special_tokens.items(), key=lambda each: each[1])
    for text, id_ in in_order[:MAX_SPECIAL_TOKENS]:
        click.echo(f"  {id_:>12}  {text!r}")
    if len(in_order) > MAX_SPECIAL_TOKENS:
        click.echo(f"  {'':>12}  and {len(in_order) - MAX_SPECIAL_TOKENS:,} more")


def _list_readers(tokenizer: Tokenizer) -> None:
    """Print how each installed library reads each format, or why there is no such file."""
    from bpe_core.formats import opens_in

    for format_name, opened in opens_in(tokenizer):
        click.echo(f"{format_name:<13} {opened.sentence}")


def _check(tokenizer: Tokenizer, format_name: Format) -> None:
    """Report on stderr that another library returns the same ids; raise `FormatError` otherwise."""
    from bpe_core.formats import check_opens

    opened = check_opens(tokenizer, format_name)
    if not opened.is_same:
        raise FormatError(f"{opened.sentence} Nothing was written.")
    click.echo(opened.sentence, err=True)
