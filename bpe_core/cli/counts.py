"""The commands on files of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bpe_core.cli.options import json_option, out_option, pretokenizer_option
from bpe_core.cli.outputs import check_json, check_output, output_path, print_json
from bpe_core.cli.scale import report_counts
from bpe_core.cli.sources import takes_sources

if TYPE_CHECKING:
    from bpe_core.cli.sources import Sources
    from bpe_core.counting.counts_file import CountsSummary


@click.command()
@takes_sources(held_out=False)
@out_option("Where to write words and counts.")
@pretokenizer_option
@json_option
def count(sources: Sources, out: str, *, force: bool, pretokenizer: str, as_json: bool) -> None:
    """Count the words of files, folders or URLs into a Parquet file.

    Counts can be merged, and trained on: the tokenizer equals one trained on the text. Folders,
    patterns such as '*.txt' and URLs such as s3://bucket/corpus are counted in stretches, and so
    is anything with --scheduler, --memory, --work or --floor. Then text, JSON lines and Parquet,
    packed or not, may be larger than memory. Hidden files of a folder are left out; those of a
    folder or pattern that are not text, or hold counts, are skipped and named.

    \b
    Examples:
      $ bpe count notes.txt --out counts.parquet
      $ bpe count notes.txt --floor 2 --out often.parquet
      $ bpe train --counts counts.parquet --vocab-size 400 --out counted.json
    """
    from bpe_core.formats.written_kinds import COUNTS

    check_json(out, wanted=as_json)
    sources.check()
    check_output(COUNTS, out, sources.inputs(), force=force, makes_folder=True)
    with output_path(out) as path:
        summary = sources.write_counts(pretokenizer, path)
    _report(summary, out, as_json=as_json)


@click.command("merge-counts")
@click.argument("files", nargs=-1, required=True, metavar="COUNTS...")
@out_option("Where to write the sum.")
@json_option
def merge_counts(files: tuple[str, ...], out: str, *, force: bool, as_json: bool) -> None:
    """Add up files of words and counts, made here or by another tool.

    \b
    Examples:
      $ bpe merge-counts counts.parquet counts.parquet --out twice.parquet
    """
    from bpe_core.counting.counts_file import merge_counts as merge
    from bpe_core.formats.written_kinds import COUNTS

    check_json(out, wanted=as_json)
    check_output(COUNTS, out, files, force=force, makes_folder=True)
    with output_path(out) as path:
        summary = merge(files, path)
    _report(summary, out, as_json=as_json)


def _report(summary: CountsSummary, out: str, *, as_json: bool) -> None:
    report_counts(summary)
    if as_json:
        figures = summary._asdict()
        del figures["characters"]  # for the trainer; there may be thousands
        print_json({"out": out, **figures})
