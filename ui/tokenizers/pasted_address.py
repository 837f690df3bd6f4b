"""Find the run that a pasted address names, for Compare's shelf."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from bpe_core.errors import BpeError
from bpe_core.store.place import is_id
from ui.look.labels import plain_text
from ui.storage.run_store import SAMPLE_RUN_ID

_WHAT_TO_DO = "Open the run that you want to add, copy the address of its page, and paste it here."


class RunAddressError(BpeError):
    """A text that does not name a run to add."""


def parse_run_address(text: str) -> str:
    """Return the id of the run in an address of this app, or in a text that is an id by itself.

    Raises RunAddressError if there is none. Does not check whether the run is stored.

    >>> parse_run_address(f"https://example.org/compare?run={'a' * 32}&with=gpt4") == "a" * 32
    True
    """
    text = text.strip()
    if not text:
        raise RunAddressError(f"Expected the address of a run, got nothing. {_WHAT_TO_DO}")
    if is_id(text) or text == SAMPLE_RUN_ID:
        return text
    try:
        query = urlsplit(text).query
        named = parse_qs(query, max_num_fields=100).get("run")
    except ValueError:  # malformed brackets, or too many parameters
        named, query = None, ""
    if named is not None:
        return named[-1]
    if query:
        raise RunAddressError(f"This address has no “run=”. {_WHAT_TO_DO}")
    raise RunAddressError(
        f"Expected the address of a run, got “{plain_text(text, 60)}”. {_WHAT_TO_DO}"
    )
