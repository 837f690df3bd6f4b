"""Download a tokenizer that a command is given by its name."""

from __future__ import annotations

from pathlib import Path

from bpe_core.cli.progress import Bar


def fetch_missing(name: str) -> None:
    """Fetch a published tokenizer that is not here yet, with its progress on stderr.

    A name that is a file's is left alone. Raises what `fetch` raises.
    """
    if not Path(name).exists() and _is_missing(name):
        from bpe_core.published.fetch import fetch

        with Bar() as bar:
            fetch(name, bar.show_download)


def _is_missing(name: str) -> bool:
    from bpe_core.published.cache import cached_state
    from bpe_core.published.catalogue import find_published, published
    from bpe_core.published.hub_names import find_cached, is_hub_name, parse_hub_name

    if is_hub_name(name):
        return find_cached(parse_hub_name(name)) is None
    return find_published(name) is not None and cached_state(published(name)) == "missing"
