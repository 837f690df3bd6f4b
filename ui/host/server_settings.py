"""Read the server's settings from environment variables, and check them.

`SETTINGS` is the table of all of them; `python -m ui.host.server_settings` prints it as Markdown,
and with `--check` reports invalid values.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from typing import Any, Final, Literal, get_args

from bpe_core.errors import BpeError
from bpe_core.formats import HubName

PREFIX: Final = "BPE_EXPLORER_"
Level = Literal["debug", "info", "warning", "error"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


class SettingError(BpeError):
    """An environment variable has an invalid value, or a name that is not a setting."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server's environment decides."""

    runs: str
    """The folder of the store; empty for the default, which `bpe_core.files.store` finds."""
    tokenizers: str
    """The folder of fetched tokenizers; empty for the one that `bpe_core.formats` finds."""
    hub: tuple[str, ...]
    """The models on the hub that visitors may fetch, as patterns such as "org/*"."""
    store_gigabytes: float
    days_kept: int
    uploads_megabytes: int
    cache_megabytes: int
    queue: int
    metrics: bool
    log_level: Level


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable."""

    name: str
    field: str
    """The name of its field in `Settings`."""
    default: str
    read: Callable[[str], Any]
    """Return the value for a text; raise ValueError for an invalid one."""
    expected: str
    """The valid values, as the end of a sentence."""
    meaning: str


def _number(
    text: str, kind: type[int] | type[float] = int, *, least: float, most: float
) -> int | float:
    number = kind(text)
    if not least <= number <= most:  # false for "nan" too
        raise ValueError(text)
    return number


def _models(text: str) -> tuple[str, ...]:
    if text in ("off", "any"):
        return ("*",) if text == "any" else ()
    patterns = tuple(text.replace(",", " ").split())
    for pattern in patterns:
        # A name in full, or one that ends in a star.
        HubName.parse(pattern[:-1] + "x" if pattern.endswith("*") else pattern)
        if HubName.fits(pattern) or "@" in pattern:
            raise ValueError(pattern)
    return patterns


def _choice(values: Mapping[str, Any], text: str) -> Any:
    if text.lower() not in values:
        raise ValueError(text)
    return values[text.lower()]


def _whole_setting(
    name: str, field: str, default: int, least: int, most: int, meaning: str
) -> Setting:
    read = partial(_number, least=least, most=most)
    expected = f"a whole number from {least} to {most}"
    return Setting(PREFIX + name, field, str(default), read, expected, meaning)


SETTINGS: Final = (
    Setting(
        f"{PREFIX}RUNS",
        "runs",
        "",
        str,
        "a folder",
        "The folder of the store: runs, and visitors' texts and files. Empty: `.runs` in a "
        "checkout that has it, otherwise `bpe-explorer/runs` in the user's data folder.",
    ),
    Setting(
        f"{PREFIX}TOKENIZERS",
        "tokenizers",
        "",
        str,
        "a folder",
        "The folder of fetched tokenizers. Empty: `bpe-explorer/tokenizers` in the user's cache "
        "folder.",
    ),
    Setting(
        f"{PREFIX}HUB",
        "hub",
        "any",
        _models,
        "off, any, or names such as org/model and org/*",
        "The models on Hugging Face's hub whose tokenizers visitors may fetch by name, separated "
        "by spaces. With `off`, the hub is never asked. With `HF_TOKEN`, or if the server's user "
        "has logged in by `hf auth login`, visitors can fetch what that account can read. "
        "`compose.yaml` sets `off`.",
    ),
    Setting(
        f"{PREFIX}STORE_GB",
        "store_gigabytes",
        "4",
        partial(_number, kind=float, least=0.01, most=100_000),
        "a number from 0.01 to 100000",
        "The size of the store in GB. Beyond it, the least recently opened entries are deleted.",
    ),
    _whole_setting(
        "DAYS_KEPT",
        "days_kept",
        90,
        2,
        3650,
        "Entries are deleted this many days after they were last opened.",
    ),
    _whole_setting(
        "UPLOADS_MB",
        "uploads_megabytes",
        2000,
        4,
        1_000_000,
        "The largest size of all visitors' uploaded files in memory, in MB, of which a tab may "
        "have a quarter. Beyond either, further files are refused. Streamlit's own "
        "`STREAMLIT_SERVER_MAX_UPLOAD_SIZE`, 200, is the largest size of one file in MB.",
    ),
    _whole_setting(
        "CACHE_MB",
        "cache_megabytes",
        500,
        100,
        1_000_000,
        "The size of all results kept in memory to open pages sooner, in MB. Beyond it, the least "
        "recently used are dropped.",
    ),
    _whole_setting(
        "QUEUE",
        "queue",
        16,
        1,
        1000,
        "The number of trainings that may wait. One runs at a time; visitors take turns, and each "
        "may have three that wait or run. More than these are refused.",
    ),
    Setting(
        f"{PREFIX}METRICS",
        "metrics",
        "0",
        partial(_choice, {"0": False, "1": True}),
        "0 or 1",
        "1 serves figures for Prometheus at `/metrics`.",
    ),
    Setting(
        f"{PREFIX}LOG_LEVEL",
        "log_level",
        "info",
        partial(_choice, {level: level for level in LEVELS}),
        "debug, info, warning or error",
        "The least severe events that are logged.",
    ),
)


def parse_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings in an environment; an empty value means the default.

    Raises SettingError for an invalid value or an unknown name that starts with the prefix.

    >>> parse_settings({"BPE_EXPLORER_QUEUE": "4"}).queue
    4
    """
    names = [setting.name for setting in SETTINGS]
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in names:
            near = get_close_matches(name, names, 1, cutoff=0.85)
            hint = f"Did you mean {near[0]}?" if near else f"Known settings: {', '.join(names)}."
            raise SettingError(f"{name} is not a setting. {hint}")
    return Settings(**{each.field: _value(each, environment.get(each.name)) for each in SETTINGS})


def _value(setting: Setting, text: str | None) -> Any:
    text = (text or "").strip() or setting.default
    try:
        return setting.read(text)
    except ValueError:
        raise SettingError(
            f"{setting.name} is {text!r}; expected {setting.expected}. "
            f"Without it, the value is {setting.default}."
        ) from None


@cache
def settings() -> Settings:
    """Return this process's settings; raise what `parse_settings` raises."""
    return parse_settings(os.environ)


def settings_table() -> str:
    """Return the table of all settings in Markdown, as it is in docs/operations.md."""
    rows = [
        f"| `{each.name}` | {f'`{each.default}`' if each.default else ''} | {each.expected} | "
        f"{each.meaning} |"
        for each in SETTINGS
    ]
    return "\n".join(["| variable | default | value | meaning |", "|---|---|---|---|", *rows])


def main(arguments: list[str]) -> None:
    """Print the table, or check the environment."""
    if arguments != ["--check"]:
        sys.stdout.write(settings_table() + "\n")
        return
    try:
        settings()
    except SettingError as error:
        sys.exit(f"BPE Explorer did not start: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
