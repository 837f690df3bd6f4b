"""GPT-4's and GPT-4o's tokenizers, from the files that OpenAI publishes, through tiktoken's loader.

A file that `bpe fetch` brought is taken first. The loader looks in its cache (the folder
TIKTOKEN_CACHE_DIR, or a temporary folder), then on the network, and checks the file's SHA-256.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Thread
from typing import Final, get_args

from bpe_core.errors import ConfigError, UnavailableError
from bpe_core.extras import needs_extra
from bpe_core.formats.opening import open_files
from bpe_core.published.cache import read_cached, state_of
from bpe_core.published.tiktoken_cache import EncodingName, of_encoding
from bpe_core.tokenizer.tokenizer import Tokenizer

MOST_SECONDS: Final = 30.0
_NAMES: Final = {"cl100k_base": "GPT-4’s tokenizer", "o200k_base": "GPT-4o’s tokenizer"}


@cache
def published_tokenizer(name: EncodingName, *, most_seconds: float = MOST_SECONDS) -> Tokenizer:
    """Return GPT-4's tokenizer, cl100k_base, or GPT-4o's, o200k_base; loaded once per process.

    Raises `UnavailableError` if its file is not cached and cannot be downloaded within
    `most_seconds`, `MissingExtraError` if tiktoken is not installed, and `ConfigError` for another
    name.

    >>> published_tokenizer("p50k_base")
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Unknown published tokenizer 'p50k_base'. Use one of \
'cl100k_base', 'o200k_base'.
    """
    if name not in get_args(EncodingName):
        raise ConfigError(
            f"Unknown published tokenizer {name!r}. Use one of "
            f"{', '.join(map(repr, get_args(EncodingName)))}."
        )
    fetched = of_encoding(name)
    if state_of(fetched) == "here":
        opened = open_files({fetched.file_name: read_cached(fetched)}).encoder
        if isinstance(opened, Tokenizer):
            return opened
    # Imported here because it takes 50 ms, and most comparisons do without it.
    with needs_extra("formats", f"Loading {name}"):
        import tiktoken

    from bpe_core.formats.from_memory import from_tiktoken

    found: list[Tokenizer] = []
    failures: list[Exception] = []

    def load() -> None:
        try:
            found.append(from_tiktoken(tiktoken.get_encoding(name)))
        except (OSError, ValueError, ImportError) as error:
            # requests' errors are OSErrors; tiktoken raises ValueError for a wrong SHA-256.
            failures.append(error)

    if not _within(most_seconds, load):
        raise UnavailableError(
            f"{_NAMES[name]}, {name}, was not downloaded within {most_seconds:g} seconds. Try "
            "again later, or put its file into the folder that TIKTOKEN_CACHE_DIR names."
        )
    if failures:
        raise UnavailableError(
            f"{_NAMES[name]}, {name}, is not on this machine and could not be downloaded. Check "
            "the network, open its .tiktoken file instead, or put that into the folder that "
            "TIKTOKEN_CACHE_DIR names."
        ) from failures[0]
    return found[0]


def _within(seconds: float, load: Callable[[], None]) -> bool:
    """Run `load` for at most `seconds`; tiktoken's download has no time limit of its own."""
    thread = Thread(target=load, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()
