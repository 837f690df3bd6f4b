"""The commands `bpe check` and `bpe diff`, which end with status 0, 1 or 2 for other programs."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.outputs import Bar, print_json, write_output
from bpe_core.cli.support import fetch_missing, json_option, load_encoder
from bpe_core.errors import BpeError, ConfigError, FormatError

if TYPE_CHECKING:
    from bpe_core.diagnosis import Diff

_MAX_SHOWN: Final = 100
_SHARE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(%?)")


class _Unreadable(click.ClickException):
    """What a tokenizer or a text that cannot be read ends with, as in diff and grep."""

    exit_code = 2


@contextmanager
def errors_end_with_2() -> Generator[None]:
    """End with status 2 for an error, because 1 is a result of these commands."""
    try:
        yield
    except BpeError as error:
        raise _Unreadable(printable(" ".join(str(error).split()))) from None


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--on",
    "texts",
    multiple=True,
    metavar="FILE",
    help="Count the tokens of these files with both too; may be repeated.",
)
@click.option(
    "--fail-above",
    "limit",
    metavar="SHARE",
    help="End with status 1 only if B needs this share more tokens on the files: 2% or 0.02.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="End with status 1 only if the differences are not those in FILE. A file that does not "
    "exist yet is written.",
)
@json_option
def diff(
    a: str,
    b: str,
    texts: tuple[str, ...],
    limit: str | None,
    baseline: str | None,
    *,
    as_json: bool,
) -> None:
    """Prove that two tokenizers are equal, or print the shortest text that differs.

    A and B are files, folders or names, as everywhere. The answer is one of: equal (same file
    form); equal (proved); different (witness), with a text to which they give other ids; no
    difference found, with the number of texts that were tried.

    Exit status: 0 if no text is known to differ, 1 if one does, 2 if something cannot be read.
    With --fail-above or --baseline, 1 means that the limit is passed or the differences changed.

    \b
    Examples:
      $ bpe diff gpt2 gpt2
      $ bpe diff mine.json gpt2 --on notes.txt --fail-above 2% --json
      $ bpe diff mine.json gpt2 --baseline tokenizer-diff.json
    """
    with errors_end_with_2():
        share = None if limit is None else _parse_share(limit)
        if share is not None and not texts:
            raise ConfigError("--fail-above needs text to count: name files with --on.")
        from bpe_core.corpus import read_corpus
        from bpe_core.diagnosis import diff as compare

        corpus = read_corpus(list(texts)) if texts else None
        found = compare(load_encoder(a, None, ()), load_encoder(b, None, ()), corpus)
        status, notes = _judge(found, share, baseline)
    if as_json:
        print_json({"a": a, "b": b, **found.to_dict(), "exit_status": status, "notes": notes})
    else:
        _print_diff(a, b, found)
        for note in notes:
            click.echo(note)
    if status:
        click.get_current_context().exit(status)


@click.command()
@click.argument("tokenizer", metavar="TOKENIZER")
@click.option("--strict", is_flag=True, help="End with status 1 for warnings too.")
@json_option
def check(tokenizer: str, *, strict: bool, as_json: bool) -> None:
    """Check a tokenizer for faults: each with an example, and what to do about it.

    The files next to it are checked too: the model's config.json, a second vocabulary, the chat
    template. docs/check.md lists the checks.

    Exit status: 0 without errors, 1 with an error (with --strict, with a warning), 2 if the
    tokenizer cannot be read.

    \b
    Examples:
      $ bpe check gpt2
      $ bpe check mine.json --strict --json
    """
    with errors_end_with_2(), Bar() as bar:
        fetch_missing(tokenizer)
        from bpe_core.diagnosis import check as check_all

        found = check_all(tokenizer, lambda done, of: bar.show("Checking", done, of))
    status = int(bool(found.n_errors or (strict and found.n_warnings)))
    if as_json:
        print_json({"tokenizer": tokenizer, **found.to_dict(), "exit_status": status})
    else:
        for each in found.findings:
            click.echo(f"{each.severity}: {each.name}: {printable(each.message)}")
            click.echo(f"  for example {printable(each.example)}")
            click.echo(f"  {each.remedy}")
        for name, why in found.skipped.items():
            click.echo(f"skipped: {name}: {printable(why)}")
        click.echo(
            f"{counted(found.n_errors, 'error')}, {counted(found.n_warnings, 'warning')}, "
            f"{counted(len(found.passed), 'check')} passed"
        )
    if status:
        click.get_current_context().exit(status)


def _judge(found: Diff, share: float | None, baseline: str | None) -> tuple[int, list[str]]:
    """Return the exit status of a comparison, and what is to be said about it."""
    notes: list[str] = []
    status = int(found.equal is False) if share is None and baseline is None else 0
    if share is not None and baseline is None and found.costs is not None:
        is_above = found.costs.change > share
        status = int(is_above)
        notes.append(
            f"B needs {found.costs.change:+.2%} tokens, {'above' if is_above else 'within'} the "
            f"limit of {share:.2%}."
        )
    if baseline is not None:
        now = found.summary()
        if not Path(baseline).exists():
            write_output(json.dumps(now, indent=2, sort_keys=True).encode() + b"\n", baseline)
            return 0, [*notes, f"Written: {baseline}. Commit it; later differences are errors."]
        changed = _list_changes(_read_baseline(baseline), now, share or 0.0)
        status = int(bool(changed))
        notes += changed or [f"The differences are those in {baseline}."]
        if changed:
            notes.append(f"If that is right, delete {baseline} and run the command again.")
    return status, notes


def _read_baseline(path: str) -> dict[str, Any]:
    try:
        read: object = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(
            f"{path} cannot be read as a baseline: {error}. Name one that bpe diff wrote, or a new "
            "file."
        ) from None
    if not isinstance(read, dict) or "equal" not in read:
        raise FormatError(f"{path} is not a baseline that bpe diff wrote. Name one, or a new file.")
    return cast("dict[str, Any]", read)


def _list_changes(before: dict[str, Any], now: dict[str, Any], tolerance: float) -> list[str]:
    """Return what is not as a baseline says, a sentence each.

    >>> _list_changes({"equal": True, "change": 0.01}, {"equal": False, "change": 0.02}, 0.02)
    ['equal is False, and was True.']
    """
    changed: list[str] = []
    for name in [*now, *(each for each in before if each not in now)]:
        old, new = before.get(name), now.get(name)
        if name == "change" and isinstance(old, (int, float)) and isinstance(new, (int, float)):
            if new > old + tolerance + 1e-9:
                changed.append(f"B needs {new:+.2%} tokens, and needed {old:+.2%}.")
        elif old != new:
            changed.append(f"{name} is {new!r:.200}, and was {old!r:.200}.")
    return changed


def _parse_share(text: str) -> float:
    """Return a share that is written as per cent or as a number.

    >>> _parse_share("2%"), _parse_share("0.02")
    (0.02, 0.02)
    """
    found = _SHARE.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"Expected --fail-above as 2% or 0.02, got {text!r:.40}.")
    return float(found[1]) / (100 if found[2] else 1)


def _print_diff(a: str, b: str, found: Diff) -> None:
    click.echo(f"A {printable(a)}, B {printable(b)}: {found.ids.words}")
    click.echo(f"  {printable(found.why)}")
    if found.ids.equal is False and found.tokens is not found.ids:
        click.echo(f"same tokens, whatever their ids: {found.tokens.words}")
        click.echo(f"  {printable(found.tokens.why)}")
    for name, one, other in found.steps:
        click.echo(f"{name}: {_shorten(printable(one))} -> {_shorten(printable(other))}")
    vocabulary, merges = found.vocabulary, found.merges
    click.echo(
        f"ids: {vocabulary.n_kept:,} kept, {len(vocabulary.other_token):,} mean another token; "
        f"tokens: {len(vocabulary.gone):,} gone, {len(vocabulary.new):,} new, "
        f"{vocabulary.n_renumbered:,} renumbered"
    )
    if merges is not None:
        click.echo(
            f"merges that can apply: {merges.n_kept:,} in both ({merges.n_moved:,} moved), "
            f"{len(merges.gone):,} gone, {len(merges.new):,} new"
        )
    costs = found.costs
    if costs is not None:
        click.echo(
            f"on {counted(costs.n_documents, 'document')}: {costs.n_a:,} tokens -> {costs.n_b:,} "
            f"({costs.change:+.2%}); {costs.n_changed:,} with other ids"
        )
        for word in costs.words[:10]:
            times = counted(word.count, "occurrence")
            click.echo(f"  {printable(repr(word.word))}: {word.n_a} -> {word.n_b}, {times}")


def _shorten(text: str) -> str:
    """Return a text, or as much of it as fits a line.

    >>> _shorten("a"), _shorten(", ".join(map(str, range(90))))[-18:]
    ('a', '25, 26 and 63 more')
    """
    if len(text) <= _MAX_SHOWN:
        return text
    parts = text.split(", ")
    n = text[:_MAX_SHOWN].count(", ")
    return (
        f"{', '.join(parts[:n])} and {len(parts) - n:,} more" if n else f"{text:.{_MAX_SHOWN}}..."
    )
