"""The command `bpe undertrained`, which reads the embedding rows of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.options import json_option
from bpe_core.cli.outputs import Bar, print_json, write_text
from bpe_core.cli.support import fetch_missing
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from bpe_core.models import Undertrained

_MAX_LISTED = 30


@click.command()
@click.argument("model")
@click.option(
    "--tokenizer",
    "-t",
    metavar="TOKENIZER",
    help="The model's tokenizer, if it is not next to its weights.",
)
@click.option("--input-tensor", metavar="NAME", help="The input rows, under an unusual name.")
@click.option("--output-tensor", metavar="NAME", help="The output rows, under an unusual name.")
@click.option("--csv", "csv_path", metavar="PATH", help="Write the figures of all tokens as CSV.")
@json_option
def undertrained(
    model: str,
    tokenizer: str | None,
    input_tensor: str | None,
    output_tensor: str | None,
    csv_path: str | None,
    *,
    as_json: bool,
) -> None:
    """Find the tokens that a model hardly learned, from its embedding rows alone.

    MODEL is a folder, a .safetensors file, or hf:org/model, of which only the embedding rows are
    downloaded. The weights are read a block of rows at a time, and no model is run. Rows like those
    of known-unused tokens are listed: of tokens that no text encodes to, of bytes that UTF-8 never
    has, of reserved names, and rows without a token.

    The exit status is 0 even if tokens were found, and 1 after an error.

    \b
    Examples:
      $ bpe undertrained hf:org/model
      $ bpe undertrained folder --csv rows.csv
      $ bpe undertrained model.safetensors --tokenizer gpt2 --json
    """
    from bpe_core.models import undertrained as find

    if as_json and csv_path == "-":
        raise ConfigError("--json prints on standard output too. Name a file with --csv.")
    fetch_missing(tokenizer or model)
    with Bar() as bar:
        found = find(
            model,
            tokenizer,
            input_tensor=input_tensor,
            output_tensor=output_tensor,
            on_progress=bar.show,
        )
    if csv_path is not None:
        write_text(found.to_csv(), csv_path)
    if as_json:
        print_json(found.to_dict())
    elif csv_path != "-":
        _print(found)


def _print(found: Undertrained) -> None:
    from bpe_core.models import SOURCES
    from bpe_core.unicode import to_printable

    tied = "used for output too" if found.is_tied else "output rows are separate"
    click.echo(
        f"{found.n_rows:,} rows of {found.n_columns:,} ({found.dtype}), {tied}; "
        f"{len(found.tokens):,} tokens"
    )
    sources = [*found.known.values()]
    counts = {words: sources.count(source) for source, words in SOURCES.items()}
    listed = [f"{n:,} {words}" for words, n in counts.items() if n]
    click.echo(f"known to be unused: {'; '.join(listed) or 'none'}")
    candidates = found.candidates
    for name, share in found.separations.items():
        click.echo(f"{name:14} {share:7.1%} of known-unused rows look less trained than the others")
    if found.indicator is None:
        click.echo("No indicator separates the two, so only rows of zeros are listed.")
    else:
        click.echo(f"candidates: {found.indicator} up to {found.threshold:.4g}")
    click.echo(f"{len(candidates):,} tokens look as little trained as those")
    if not candidates:
        return
    values = found.values(found.indicator or "input norm")
    click.echo(f"{'id':>8}  {'value':>9}  {'kind':13}  token")
    for id in candidates[:_MAX_LISTED]:
        kind, token = found.kind(id), to_printable(found.tokens[id])
        click.echo(f"{id:>8}  {values[id]:>9.4g}  {kind:13}  {token}")
    if len(candidates) > _MAX_LISTED:
        click.echo(f"and {len(candidates) - _MAX_LISTED:,} more; --csv or --json lists all")
