"""The commands `bpe encode` and `bpe decode`."""

from __future__ import annotations

import click

from bpe_core.cli.options import out_option, tokenizer_options
from bpe_core.cli.outputs import check_output, write_output, write_text
from bpe_core.cli.support import load_encoder, load_merges, read_ids, read_text


@click.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@click.option("--tokens", is_flag=True, help="Print each id with its token, one per line.")
@click.option("--allow-special", is_flag=True, help="Recognise special tokens in the text.")
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Skip symbols missing from the alphabet instead of stopping.",
)
@out_option("Where to write instead of standard output.", required=False)
@tokenizer_options
def encode(
    tokenizer: str,
    file: str,
    out: str | None,
    *,
    force: bool,
    tokens: bool,
    allow_special: bool,
    skip_unknown: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Print the ids of a text, read from FILE or standard input.

    Tokens are written as GPT-2 writes them: a space as Ġ, other unprintable bytes as letters from
    U+0100 on.

    \b
    Examples:
      $ echo -n "The quick brown fox" | bpe encode gpt2
      464 2068 7586 21831
      $ echo -n "hugs" | bpe encode --tokens gpt2
      71 h
      10339 ugs
    """
    from bpe_core.formats.written_kinds import IDS
    from bpe_core.tokenizer.tokenizer import Tokenizer
    from bpe_core.unicode.byte_alphabet import to_printable

    out = out or "-"
    check_output(None if tokens else IDS, out, [tokenizer, file], force=force)
    loaded = load_encoder(tokenizer, pretokenizer, special_tokens)
    text, allowed = read_text(file), "all" if allow_special else ()
    # Other libraries decide by themselves what happens to unknown symbols.
    ids = (
        loaded.encode(text, allowed, errors="skip")
        if skip_unknown and isinstance(loaded, Tokenizer)
        else loaded.encode(text, allowed)
    )
    if tokens:
        lines = [f"{id_} {to_printable(loaded.vocab[id_])}\n" for id_ in ids]
    else:
        lines = [" ".join(map(str, ids)), "\n"]
    write_text("".join(lines), out)


@click.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@out_option("Where to write instead of standard output.", required=False)
@tokenizer_options
def decode(
    tokenizer: str,
    file: str,
    out: str | None,
    *,
    force: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Print the text of ids, read from FILE or standard input.

    Ids are separated by white space or commas, or given as a JSON list. Nothing is added, not even
    a line end, and bytes that are not valid UTF-8 are written as they are.

    \b
    Examples:
      $ echo 464 2068 7586 21831 | bpe decode gpt2
      The quick brown fox
      $ echo -n "as it was" | bpe encode gpt2 | bpe decode gpt2
      as it was
    """
    out = out or "-"
    check_output(None, out, [tokenizer, file], force=force)
    loaded = load_merges(tokenizer, pretokenizer, special_tokens)
    write_output(loaded.decode_bytes(read_ids(file)), out)
