"""The command `bpe sample-check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.options import (
    encoding_option,
    errors_option,
    pretokenizer_option,
    text_column_option,
)
from bpe_core.cli.streams import is_watched
from bpe_core.cli.support import read_whole_corpus

if TYPE_CHECKING:
    from bpe_core.corpus.text_decoding import DecodingErrors


@click.command("sample-check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--vocab-size", type=int, required=True, help="Special tokens, alphabet and merges in total."
)
@pretokenizer_option
@text_column_option
@encoding_option
@errors_option
def sample_check(
    files: tuple[str, ...],
    vocab_size: int,
    pretokenizer: str,
    text_column: str | None,
    encoding: str | None,
    errors: DecodingErrors,
) -> None:
    """Check whether a sample is large enough by training on 1/64, 1/32, ... and all of it.

    Each line compares one vocabulary with that of the whole sample: the share of its learned
    tokens, their overlap weighted by how often held-out text uses them, and bytes per token on that
    text. If the last lines hardly differ, more text would change little.

    \b
    Examples:
      $ bpe sample-check sample.txt --vocab-size 400
    """
    from bpe_core.runs.sample_check import sample_check as check
    from bpe_core.types import TrainingConfig

    corpus = read_whole_corpus(files, text_column, encoding, errors)
    config = TrainingConfig(vocab_size=vocab_size, pretokenizer=pretokenizer)
    found = check(corpus, config, on_progress=_show if is_watched() else None)
    click.echo("sample       bytes  merges  equal tokens  weighted Jaccard  bytes per token")
    for each in found:
        share = f"1/{round(1 / each.share)}"
        click.echo(
            f"{share:6} {each.n_bytes:11,} {each.n_merges:7,} {each.share_of_equal_tokens:13.1%} "
            f"{each.weighted_jaccard:17.3f} {each.bytes_per_token:16.3f}"
        )


def _show(done: int, of: int) -> None:
    click.echo(f"\r{done:,} of {of:,} merges", nl=done == of, err=True)
