"""Show downloads on one line of stderr, for commands that are given a tokenizer by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.streams import is_watched

if TYPE_CHECKING:
    from bpe_core.published.fetch import FetchProgress


def fetch_watched(name: str) -> None:
    """Fetch a model on the hub that is not in the cache, with its progress on stderr."""
    from bpe_core.published.hub_names import find_cached, is_hub_name, parse_hub_name

    if is_watched() and is_hub_name(name) and find_cached(parse_hub_name(name)) is None:
        from bpe_core.published.fetch import fetch

        fetch(name, show_download)
        end_download()


def show_download(progress: FetchProgress) -> None:
    """Show the progress of a download on one line of stderr."""
    click.echo(
        f"\r{progress.source}: {progress.done_bytes / 1e6:.1f} of "
        f"{progress.total_bytes / 1e6:.1f} MB\x1b[K",
        nl=False,
        err=True,
    )


def end_download() -> None:
    """End the line of `show_download`."""
    if is_watched():
        click.echo(err=True)
