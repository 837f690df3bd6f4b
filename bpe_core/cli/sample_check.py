"""The command `bpe sample-check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.options import json_option, pretokenizer_option
from bpe_core.cli.outputs import print_json
from bpe_core.cli.progress import Bar
from bpe_core.cli.sources import takes_sources

if TYPE_CHECKING:
    from bpe_core.cli.sources import Sources


@click.command("sample-check")
@takes_sources(held_out=False, counted=False)
@click.option(
    "--vocab-size", type=int, required=True, help="Special tokens, alphabet and merges in total."
)
@pretokenizer_option
@json_option
def sample_check(sources: Sources, vocab_size: int, pretokenizer: str, *, as_json: bool) -> None:
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

    corpus = sources.read()
    config = TrainingConfig(vocab_size=vocab_size, pretokenizer=pretokenizer)
    with Bar() as bar:
        found = check(
            corpus, config, on_progress=lambda done, of: bar.show("Learning merges", done, of)
        )
    if as_json:
        print_json({"samples": [each._asdict() for each in found]})
        return
    click.echo("sample       bytes  merges  equal tokens  weighted Jaccard  bytes per token")
    for each in found:
        share = f"1/{round(1 / each.share)}"
        click.echo(
            f"{share:6} {each.n_bytes:11,} {each.n_merges:7,} {each.share_of_equal_tokens:13.1%} "
            f"{each.weighted_jaccard:17.3f} {each.bytes_per_token:16.3f}"
        )
