"""The command line: train, encode, decode, compare, inspect, convert and explore.

Only click is imported at the top: the rest is loaded by the command that needs it, so that help
and mistyped commands answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from bpe_core import __version__
from bpe_core.cli.support import (
    ErrorLineGroup,
    StandardInput,
    corpus_of,
    is_watched,
    load_tokenizer,
    read_ids,
    read_text,
    report_run,
    show_progress,
    write_tokenizer,
)

if TYPE_CHECKING:
    from bpe_core.types import Alphabet, Base, TieBreak

FORMATS = ("native", "huggingface", "gpt2", "tiktoken")
BASES = ("bytes", "characters")
ALPHABETS = ("full", "seen")
TIE_BREAKS = ("smallest-pair", "first-seen")


def _tokenizer_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that a .tiktoken file, or merges without a tokenizer.json, need."""
    special = click.option(
        "--special-token",
        "special_tokens",
        multiple=True,
        metavar="TEXT=ID",
        help="A special token that is missing from the tokenizer's file; may be repeated.",
    )
    pretokenizer = click.option(
        "--pretokenizer",
        metavar="NAME",
        help="gpt2, cl100k, ..., if the tokenizer's file does not name one.",
    )
    return pretokenizer(special(command))


@click.group(cls=ErrorLineGroup)
@click.version_option(version=__version__, prog_name="bpe")
def main() -> None:
    """Train, use and compare Byte-Pair-Encoding tokenizers.

    A file named - stands for standard input or output. TOKENIZER is the file or folder of a
    tokenizer, saved here or by another tool, or the word gpt2.

    \b
    Examples:
      $ bpe train notes.txt --vocab-size 400 --out mine.json
      $ echo -n "hugs" | bpe encode mine.json
      $ bpe compare notes.txt -t mine.json -t gpt2
    """


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--vocab-size", type=int, required=True, help="Special tokens, alphabet and merges in total."
)
@click.option("--out", required=True, metavar="PATH", help="Where to write the tokenizer.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    default="native",
    show_default=True,
    help="What to write; gpt2 writes a folder of two files.",
)
@click.option(
    "--pretokenizer",
    default="gpt2",
    show_default=True,
    metavar="NAME",
    help="gpt2, cl100k, o200k, whitespace, words-punctuation, none, or regex:PATTERN.",
)
@click.option(
    "--base",
    type=click.Choice(BASES),
    default="bytes",
    show_default=True,
    help="The symbols that words consist of before any merge.",
)
@click.option(
    "--alphabet",
    type=click.Choice(ALPHABETS),
    default="full",
    show_default=True,
    help="All 256 bytes, or only the symbols that occur.",
)
@click.option("--end-of-word", metavar="TEXT", help="A marker that ends each word, such as </w>.")
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    default=("<|endoftext|>",),
    show_default=True,
    metavar="TEXT",
    help="Takes one of the first ids; may be repeated. Give '' for none.",
)
@click.option(
    "--min-frequency", type=int, default=0, help="Merge only pairs that occur at least this often."
)
@click.option(
    "--tie-break",
    type=click.Choice(TIE_BREAKS),
    default="smallest-pair",
    show_default=True,
    help="Which pair to merge when several are equally frequent.",
)
@click.option("--max-token-bytes", type=int, help="Make no token longer than this.")
@click.option(
    "--text-column",
    metavar="NAME",
    help="The column that holds the text, in a csv, tsv, jsonl or parquet file.",
)
@click.option(
    "--held-out", type=float, default=0.0, help="A share of the text to measure on, such as 0.08."
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="A Dask scheduler, such as tcp://127.0.0.1:8786, whose workers count the words.",
)
def train(
    files: tuple[str, ...],
    vocab_size: int,
    out: str,
    format_name: str,
    pretokenizer: str,
    base: str,
    alphabet: str,
    end_of_word: str | None,
    special_tokens: tuple[str, ...],
    min_frequency: int,
    tie_break: str,
    max_token_bytes: int | None,
    text_column: str | None,
    held_out: float,
    scheduler: str | None,
) -> None:
    """Train a tokenizer on text files, tables, and gz or zip archives of them.

    Plain UTF-8 files of 64 MB or more in total are read as a stream, so they may be larger than
    memory, unless part of the text is held out.

    \b
    Examples:
      $ bpe train notes.txt --vocab-size 400 --out mine.json
      $ cat notes.txt | bpe train - --vocab-size 300 --out - > mine.json
    """
    from bpe_core.runs.train import train as run_training
    from bpe_core.types import TrainingConfig

    config = TrainingConfig(
        vocab_size=vocab_size,
        pretokenizer=pretokenizer,
        base=cast("Base", base),
        alphabet=cast("Alphabet", alphabet),
        end_of_word=end_of_word,
        special_tokens=tuple(token for token in special_tokens if token),
        min_frequency=min_frequency,
        tie_break=cast("TieBreak", tie_break),
        max_token_bytes=max_token_bytes,
    )
    corpus, test = corpus_of(files, config, text_column, held_out, scheduler)
    run = run_training(corpus, config, on_progress=show_progress if is_watched() else None)
    write_tokenizer(run.tokenizer, out, format_name)
    report_run(run, test)


@main.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@click.option("--tokens", is_flag=True, help="Print each id with its token, one per line.")
@click.option("--allow-special", is_flag=True, help="Recognise special tokens in the text.")
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Skip symbols missing from the alphabet instead of stopping.",
)
@_tokenizer_options
def encode(
    tokenizer: str,
    file: str,
    tokens: bool,
    allow_special: bool,
    skip_unknown: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Print the ids of a text: FILE, or standard input.

    Tokens are written as GPT-2 writes them: a space as Ġ, other bytes that do not print as the
    letters from U+0100 on.

    \b
    Examples:
      $ echo -n "The quick brown fox" | bpe encode gpt2
      464 2068 7586 21831
      $ echo -n "hugs" | bpe encode --tokens gpt2
      71 h
      10339 ugs
    """
    from bpe_core.unicode.byte_alphabet import to_printable

    loaded = load_tokenizer(tokenizer, pretokenizer, special_tokens)
    ids = loaded.encode(
        read_text(file),
        allowed_special="all" if allow_special else (),
        errors="skip" if skip_unknown else "strict",
    )
    if tokens:
        for id_ in ids:
            click.echo(f"{id_} {to_printable(loaded.vocab[id_])}")
    else:
        click.echo(" ".join(map(str, ids)))


@main.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@_tokenizer_options
def decode(
    tokenizer: str, file: str, pretokenizer: str | None, special_tokens: tuple[str, ...]
) -> None:
    """Print the text that ids stand for: FILE, or standard input.

    Ids are separated by white space or commas, or given as a JSON list. Nothing is added, not even
    a line end, and bytes that are not valid UTF-8 are written as they are.

    \b
    Examples:
      $ echo 464 2068 7586 21831 | bpe decode gpt2
      The quick brown fox
      $ echo -n "as it was" | bpe encode gpt2 | bpe decode gpt2
      as it was
    """
    loaded = load_tokenizer(tokenizer, pretokenizer, special_tokens)
    sys.stdout.buffer.write(loaded.decode_bytes(read_ids(file)))


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--tokenizer",
    "-t",
    "names",
    multiple=True,
    required=True,
    metavar="TOKENIZER",
    help="A tokenizer's file, or gpt2; may be repeated.",
)
@click.option(
    "--text-column",
    metavar="NAME",
    help="The column that holds the text, in a csv, tsv, jsonl or parquet file.",
)
def compare(files: tuple[str, ...], names: tuple[str, ...], text_column: str | None) -> None:
    """Compare tokenizers on files: tokens, bytes per token, words kept whole.

    \b
    Examples:
      $ bpe compare notes.txt -t mine.json -t gpt2
    """
    from bpe_core.comparison.comparison import compare as compare_tokenizers
    from bpe_core.corpus.corpus import read_corpus

    tokenizers = [load_tokenizer(name, None, ()) for name in names]
    corpus = read_corpus([StandardInput() if name == "-" else name for name in files], text_column)
    found = compare_tokenizers(corpus, tokenizers)
    rows = found.rows
    click.echo(f"documents {found.n_documents:,}, bytes {found.n_bytes:,}, words {found.n_words:,}")
    table = [
        ("", *(Path(name).name for name in names)),
        ("tokens", *(f"{row.n_tokens:,}" for row in rows)),
        ("bytes per token", *(f"{row.bytes_per_token:.3f}" for row in rows)),
        ("characters per token", *(f"{row.characters_per_token:.3f}" for row in rows)),
        ("tokens per word", *(f"{row.tokens_per_word:.3f}" for row in rows)),
        ("words kept whole", *(f"{row.share_of_words_whole:.1%}" for row in rows)),
        ("vocabulary", *(f"{row.vocab_size:,}" for row in rows)),
        ("only this one knows", *(f"{row.n_exclusive:,}" for row in rows)),
        ("bytes without a token", *(f"{row.unknown_bytes + row.dropped_bytes:,}" for row in rows)),
    ]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        click.echo("  ".join(cells).rstrip())


@main.command()
@click.argument("tokenizer")
@click.option("--text", help="Explain how this text becomes tokens.")
@click.option(
    "--merges",
    "n_merges",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the first merges to list.",
)
@_tokenizer_options
def inspect(
    tokenizer: str,
    text: str | None,
    n_merges: int,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Show a tokenizer's contents, or how it splits a text into tokens.

    \b
    Examples:
      $ bpe inspect gpt2 --merges 3
      $ bpe inspect gpt2 --text "hugs"
      h u g s
        merge 762: u + g
        merge 10083: ug + s
      h ugs
    """
    from bpe_core.unicode.byte_alphabet import to_printable

    loaded = load_tokenizer(tokenizer, pretokenizer, special_tokens)

    def write(id_: int) -> str:
        return to_printable(loaded.vocab[id_])

    if text is not None:
        for word in loaded.explain(text):
            click.echo(" ".join(map(write, word.symbols)))
            for step in word.steps:
                merge = step.merge
                click.echo(f"  merge {merge.rank}: {write(merge.left)} + {write(merge.right)}")
            if word.steps:
                click.echo(" ".join(map(write, word.ids)))
        return
    click.echo(f"vocabulary      {loaded.vocab_size:,}")
    click.echo(f"merges          {len(loaded.merges):,}")
    click.echo(f"alphabet        {len(loaded.base_ids):,} {loaded.base}")
    click.echo(f"pre-tokenizer   {loaded.pretokenizer.name!r}")
    click.echo(f"end of word     {loaded.end_of_word!r}")
    click.echo(f"special tokens  {dict(loaded.special_tokens)!r}")
    click.echo(f"fingerprint     {loaded.fingerprint}")
    for merge in loaded.merges[:n_merges]:
        count = "" if merge.count is None else f", {merge.count:,} times"
        click.echo(f"merge {merge.rank}: {write(merge.left)} + {write(merge.right)}{count}")


@main.command()
@click.argument("source", metavar="TOKENIZER")
@click.argument("out", metavar="PATH")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    required=True,
    help="What to write; gpt2 writes a folder of two files.",
)
@_tokenizer_options
def convert(
    source: str,
    out: str,
    format_name: str,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Write a tokenizer in another format, or explain why that format cannot represent it.

    \b
    Examples:
      $ bpe convert mine.json tokenizer.json --format huggingface
      $ bpe convert tokenizer.json again.json --format native
    """
    write_tokenizer(load_tokenizer(source, pretokenizer, special_tokens), out, format_name)


@main.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=8501,
    show_default=True,
    help="The port to serve on.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address to serve on; 0.0.0.0 lets other machines in.",
)
def explore(port: int, host: str) -> None:
    """Start the app in this terminal; open the address that it prints in a browser.

    Needs the extra: pip install "bpe-explorer[app]". Finished runs are kept in
    ~/.local/share/bpe-explorer/runs, or the folder that BPE_EXPLORER_RUNS names.

    \b
    Examples:
      $ bpe explore
      $ bpe explore --port 8600
    """
    from bpe_core.cli.explore import start_app

    start_app(port, host)
