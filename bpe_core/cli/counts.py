"""The commands on files of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.options import encoding_option, pretokenizer_option, text_column_option
from bpe_core.cli.support import read_or_stream

if TYPE_CHECKING:
    from bpe_core.counting.counts_file import CountsSummary


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--out", required=True, metavar="PATH", help="Where to write words and counts.")
@pretokenizer_option
@text_column_option
@encoding_option
def count(
    sources: tuple[str, ...],
    out: str,
    pretokenizer: str,
    text_column: str | None,
    encoding: str | None,
) -> None:
    """Count the words of text files, tables and archives into a Parquet file.

    Counts can be merged, and trained on: the tokenizer equals one trained on the text.

    \b
    Examples:
      $ bpe count notes.txt --out counts.parquet
      $ bpe train --counts counts.parquet --vocab-size 400 --out counted.json
    """
    from bpe_core.counting.counts_cut import count_words
    from bpe_core.counting.counts_file import write_counts

    counts = count_words(read_or_stream(sources, text_column, encoding), pretokenizer)
    write_counts(counts, out)
    report_counts(counts.summary)


@click.command("merge-counts")
@click.argument("files", nargs=-1, required=True, metavar="COUNTS...")
@click.option("--out", required=True, metavar="PATH", help="Where to write the sum.")
def merge_counts(files: tuple[str, ...], out: str) -> None:
    """Add up files of words and counts, made here or by another tool.

    \b
    Examples:
      $ bpe merge-counts counts.parquet counts.parquet --out twice.parquet
    """
    from bpe_core.counting.counts_file import merge_counts as merge

    report_counts(merge(files, out))


def report_counts(summary: CountsSummary) -> None:
    """Report on stderr what was counted and what was dropped."""
    line = f"{summary.n_bytes:,} bytes of text."
    if summary.dropped_words:
        line += (
            f" Dropped {summary.dropped_words:,} words that occur fewer than {summary.floor:,} "
            f"times, {summary.dropped_occurrences:,} occurrences in all."
        )
    click.echo(line, err=True)
