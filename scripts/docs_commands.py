"""Describe the command line for the documentation, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click


def describe(command: click.Command, parent: click.Context | None = None, name: str = "bpe") -> str:
    """Return the sections of a command and of all its subcommands in Markdown.

    >>> @click.command()
    ... @click.option("--size", default=3, show_default=True, help="How many <b>.")
    ... def cut(size):
    ...     '''Cut a text.
    ...
    ...     \\b
    ...     Examples:
    ...       $ bpe cut --size 2
    ...     '''
    >>> print(describe(cut, name="bpe cut"))
    ## bpe cut
    <BLANKLINE>
    Cut a text.
    <BLANKLINE>
    ```console
    $ bpe cut --size 2
    ```
    <BLANKLINE>
    `bpe cut [OPTIONS]`
    <BLANKLINE>
    | option | meaning |
    |---|---|
    | `--size INTEGER` | How many &lt;b>.  [default: 3] |
    | `--help` | Show this message and exit. |
    """
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    return "\n\n".join(_sections(command, context))


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    path = context.command_path
    yield f"{'#' * max(len(path.split()), 2)} {path}"
    text, _, examples = inspect.cleandoc(command.help or "").partition("\b\nExamples:\n")
    yield _escaped(text.strip())
    if examples:
        yield f"```console\n{inspect.cleandoc(examples)}\n```"
    yield f"`{' '.join([path, *command.collect_usage_pieces(context)])}`"
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [
        f"| `{record[0]}` | {_escaped(record[1])} |" for record in records if record and record[1]
    ]
    yield "\n".join(["| option | meaning |", "|---|---|", *rows])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand
            yield describe(subcommand, context, name)


def _escaped(text: str) -> str:
    return re.sub(r"[<|*]", lambda found: {"<": "&lt;"}.get(found[0], f"\\{found[0]}"), text)
