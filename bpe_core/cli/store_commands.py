"""The commands of `bpe store`: list, verify, remove and export what the app keeps on disk.

They use `bpe_core.files.store`, the store's disk layer, which knows nothing of the app.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bpe_core.checks import printable
from bpe_core.cli.outputs import (
    check_output,
    check_outputs,
    format_to_write,
    is_standard_output,
    write_output,
    write_tokenizer,
)
from bpe_core.cli.support import FORMATS, note_what_lacks, out_option

_MAX_TITLE_LENGTH = 60


@click.group()
def store() -> None:
    """List, check, remove or export the runs and files that the app keeps.

    The store is the folder that BPE_EXPLORER_RUNS names, or else .runs in a checkout that has one,
    or else bpe-explorer/runs in your data folder.

    \b
    Examples:
      $ bpe store list
      $ bpe store verify
    """


@store.command(name="list", short_help="List all entries.")
def list_entries() -> None:
    """List all entries: id, size, time of last opening (UTC), kind and title.

    \b
    Examples:
      $ bpe store list
    """
    from bpe_core.files import Store

    kept = Store()
    found = kept.entries()
    for entry in found:
        size = f"{entry.n_bytes / 1e6:,.2f} MB" if entry.is_permitted else ""
        kind = entry.kind or "unknown"
        title = safe(entry.title, _MAX_TITLE_LENGTH)
        if not entry.is_permitted:
            title = "(belongs to another user)"
        click.echo(
            f"{entry.name:39}  {size:>11}  {entry.opened:%Y-%m-%d %H:%M}  {safe(kind, 9):9}  "
            f"{title}".rstrip()
        )
    n_bytes = sum(entry.n_bytes for entry in found)
    noun = "entry" if len(found) == 1 else "entries"
    click.echo(f"{len(found):,} {noun}, {n_bytes / 1e6:,.2f} MB, in {kept.folder}", err=True)


@store.command(short_help="Compare the files with their checksums.")
@click.argument("names", metavar="[ID]...", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Compare each file with the checksum stored next to it; exit with 1 if one is damaged.

    Without an ID, all entries are checked.

    \b
    Examples:
      $ bpe store verify
    """
    from bpe_core.errors import FormatError
    from bpe_core.files import Store

    kept = Store()
    entries = [kept.entry(name) for name in names or [each.name for each in kept.entries()]]
    n_whole = n_without = n_wrong = 0
    for entry in entries:
        try:
            if entry.check():
                n_whole += 1
            else:
                n_without += 1
        except FormatError as error:
            n_wrong += 1
            click.echo(f"{entry.folder.name}: {safe(str(error), 200)}")
        except OSError as error:
            n_wrong += 1
            click.echo(f"{entry.folder.name}: cannot be read: {error.strerror}.")
    click.echo(f"{n_whole} whole, {n_wrong} damaged or unreadable", nl=False, err=True)
    older = f", {n_without} of an earlier version without checksums" if n_without else ""
    click.echo(older, err=True)
    if n_wrong:
        sys.exit(1)


@store.command(short_help="Delete entries for good.")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
def remove(names: tuple[str, ...]) -> None:
    """Delete entries for good; if one ID is unknown, none is deleted.

    \b
    Examples:
      $ bpe store remove 0123456789abcdef0123456789abcdef
    """
    from bpe_core.files import Store

    for entry in [Store().entry(name) for name in dict.fromkeys(names)]:
        name = entry.folder.name
        with Store.permitted(f"Entry {name}"):
            entry.delete()
        click.echo(f"Removed: {name}", err=True)


@store.command(short_help="Write an entry, or a run's tokenizer, to a file.")
@click.argument("name", metavar="ID")
@out_option("The file or folder to write.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="Write a run's tokenizer in this format.  [default: by the name of PATH, otherwise a zip "
    "file of the whole entry]",
)
def export(name: str, out: str, *, force: bool, format_name: str | None) -> None:
    """Write an entry as a zip file, or the tokenizer of a run in a format.

    A damaged entry is refused.

    \b
    Examples:
      $ bpe store export 0123456789abcdef0123456789abcdef --out run.zip
    """
    from bpe_core.errors import ConfigError
    from bpe_core.files import Entry, Store
    from bpe_core.formats import WrittenKind, dumps, format_by_name, load_run

    wants_tokenizer = format_name is not None or (
        not is_standard_output(out) and format_by_name(out) is not None
    )
    if wants_tokenizer and not Entry.is_id(name):
        raise ConfigError(
            f"Only a run has a tokenizer to write, and {name!r} is not the id of one. Omit "
            "--format and name a .zip file to export an upload."
        )
    entry = Store().entry(name)
    folder = entry.folder
    with Store.permitted(f"Entry {name}"):
        entry.check()
        if wants_tokenizer:
            format, note = format_to_write(out, format_name)
            run = load_run(folder / entry.RUN)
            files = dumps(run, format)
            check_outputs(files, out, [str(folder)], force=force, note=note)
            told = write_tokenizer(files, out)
            note_what_lacks(run.tokenizer, format)
            for line in told:
                click.echo(line, err=True)
        else:
            check_output(WrittenKind.ENTRY, out, [str(folder)], force=force)
            write_output(_zip_folder(folder), out)


def safe(text: str, longest: int) -> str:
    """Return a visitor's text as one line that cannot control a terminal, cut to `longest`.

    >>> safe("notes\\x1b[2J\\u202e.txt", 40)
    'notesU+001B[2JU+202E.txt'
    """
    shown = printable(text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _zip_folder(folder: Path) -> bytes:
    from io import BytesIO
    from zipfile import ZIP_STORED, ZipFile

    buffer = BytesIO()
    # Not compressed, because the files that are large are.
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for path in sorted(folder.iterdir()):
            if path.is_file() and not path.is_symlink():
                archive.write(path, f"{folder.name}/{path.name}")
    return buffer.getvalue()
