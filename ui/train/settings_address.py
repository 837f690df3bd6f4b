"""Keep the settings on Train in the address, so that a reload brings them back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final, cast

from bpe_core.errors import BpeError
from bpe_core.formats.run_archive import read_config
from bpe_core.types import TrainingConfig
from ui.shell import address

_NAME: Final = "settings"
_START: Final = "start"
_MAX_CHARACTERS: Final = 2_000
"""Longer special tokens and patterns are not kept: proxies limit the length of an address."""


def settings_to_address(config: TrainingConfig, start_total: int, filled: TrainingConfig) -> None:
    """Put settings in the address, unless the form is filled with them anyway.

    `start_total` is the number of tokens before the first merge.
    """
    text = settings_text(config, start_total)
    is_kept = config != filled and len(text) <= _MAX_CHARACTERS
    address.set_query(**{_NAME: text if is_kept else None})


def read_address_settings() -> tuple[TrainingConfig, int] | None:
    """Return the settings in the address and the tokens before the first merge, or None."""
    return read_settings(address.query_text(_NAME, _MAX_CHARACTERS) or "")


def settings_text(config: TrainingConfig, start_total: int) -> str:
    """Return the settings that differ from the defaults, and the tokens before the first merge.

    >>> settings_text(TrainingConfig(300, "cl100k"), 257)
    '{"vocab_size":300,"pretokenizer":"cl100k","start":257}'
    """
    usual = asdict(TrainingConfig())
    own = {name: value for name, value in asdict(config).items() if value != usual[name]}
    return json.dumps({**own, _START: start_total}, separators=(",", ":"))


def read_settings(text: str) -> tuple[TrainingConfig, int] | None:
    """Return what `settings_text` wrote, or None if it is damaged.

    >>> config, start_total = read_settings('{"vocab_size":300,"start":257}')
    >>> config.vocab_size, start_total
    (300, 257)
    >>> read_settings('{"vocab_size":"300","start":257}')
    """
    try:
        found: object = json.loads(text)
        if not isinstance(found, dict):
            return None
        fields = {**asdict(TrainingConfig()), **cast("dict[str, Any]", found)}
        start_total = fields.pop(_START, None)
        fields["special_tokens"] = list(fields["special_tokens"])
        config = read_config(fields)
    except (ValueError, TypeError, RecursionError, BpeError):
        return None
    return (config, start_total) if type(start_total) is int else None
