"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

import click

FORMATS = ("native", "huggingface", "transformers", "gpt2", "tiktoken", "gguf", "sentencepiece")
BASES = ("bytes", "characters")
ALPHABETS = ("full", "seen")
TIE_BREAKS = ("smallest-pair", "first-seen")

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]


def add_all(*options: Option[Any]) -> Option[Any]:
    """Return a decorator that adds several options, in this order in the help."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def gather(name: str, kind: type[Any]) -> Option[Any]:
    """Return a decorator that gathers the options named like the fields of a dataclass into one."""

    def decorate(command: Any) -> Any:
        @wraps(command)
        def run(**given: Any) -> Any:
            own = given.keys() & {each.name for each in fields(kind)}
            gathered = kind(**{each: given.pop(each) for each in own})
            return command(**{name: gathered}, **given)

        return run

    return decorate


def choice_option(name: str, choices: tuple[str, ...], *, default: str, help: str) -> Option[Any]:
    """Return an option with a few possible values."""
    return click.option(
        name, type=click.Choice(choices), default=default, show_default=True, help=help
    )


format_option: Option[Any] = click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="What to write; transformers and gpt2 write a folder of several files.  [default: by the "
    "name of PATH: .tiktoken, .gguf, .model (sentencepiece), .bpe.json (native), a folder "
    "(transformers), otherwise huggingface]",
)


pretokenizer_option: Option[Any] = click.option(
    "--pretokenizer",
    default="gpt2",
    show_default=True,
    metavar="NAME",
    help="gpt2, cl100k, o200k, llama3, qwen2, tekken, deepseek-v3, starcoder, falcon, whitespace, "
    "words-punctuation, metaspace, llama2, superwords, digits-from-right, none, or regex:PATTERN.",
)


def out_option(help: str, *, required: bool = True) -> Option[Any]:
    """Return the options for the output: its path, and whether anything may be overwritten."""
    return add_all(
        click.option("--out", "-o", required=required, metavar="PATH", help=help),
        click.option(
            "--force", is_flag=True, help="Overwrite a file that was not written by this command."
        ),
    )


json_option: Option[Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print the results as one JSON object."
)
counts_option: Option[Any] = click.option(
    "--counts",
    metavar="PATH",
    help="Learn from a Parquet file of words and counts, instead of SOURCE...; see: bpe count "
    "--help",
)
held_out_option: Option[Any] = click.option(
    "--held-out", type=float, default=0.0, help="The share of the text to hold out, such as 0.08."
)
held_out_by_option: Option[Any] = click.option(
    "--held-out-by",
    metavar="UNIT",
    help="What to hold out whole: document, folder, folder:2 (two levels deep), column:NAME of a "
    "table, or stretch, which takes the ends of documents.  [default: folder, at the "
    "first level that has 20, otherwise document]",
)
seed_option: Option[Any] = click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Another number holds out other text.",
)
held_out_file_option: Option[Any] = click.option(
    "--held-out-file",
    "held_out_files",
    multiple=True,
    metavar="PATH",
    help="A file or folder of your own to measure on instead; may be repeated.",
)
text_column_option: Option[Any] = click.option(
    "--text-column",
    metavar="NAME",
    help="The column that holds the text, in a csv, tsv, jsonl or parquet file.  "
    "[default: text, content, body or the like, otherwise the largest]",
)
encoding_option: Option[Any] = click.option(
    "--encoding",
    metavar="NAME",
    help="The encoding of all text files, such as cp1252.  [default: UTF-8, otherwise a guess]",
)


errors_option: Option[Any] = click.option(
    "--errors",
    type=click.Choice(("strict", "replace")),
    default="strict",
    show_default=True,
    help="If bytes do not fit the encoding: stop, or replace them with U+FFFD and count them.",
)

tokenizer_options: Option[Any] = add_all(
    click.option(
        "--pretokenizer",
        metavar="NAME",
        help="gpt2, cl100k, ..., if the tokenizer's file does not name one.",
    ),
    click.option(
        "--special-token",
        "special_tokens",
        multiple=True,
        metavar="TEXT=ID",
        help="A special token that is missing from the tokenizer's file; may be repeated.",
    ),
)
"""What a .tiktoken file, or merges without a tokenizer.json, lack."""
