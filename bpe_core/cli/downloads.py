"""Show the download of a tokenizer that a command is given by its name."""

from __future__ import annotations

from bpe_core.cli.progress import Bar
from bpe_core.cli.streams import is_watched


def fetch_watched(name: str) -> None:
    """Fetch a model on the hub that is not in the cache, with its progress on stderr."""
    from bpe_core.published.hub_names import find_cached, is_hub_name, parse_hub_name

    if is_watched() and is_hub_name(name) and find_cached(parse_hub_name(name)) is None:
        from bpe_core.published.fetch import fetch

        with Bar() as bar:
            fetch(name, bar.show_download)
