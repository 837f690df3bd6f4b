"""The command `bpe experiment`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.outputs import Bar, print_json, write_output
from bpe_core.cli.sources import Workers
from bpe_core.cli.support import gather, json_option
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from bpe_core.experiments import Experiment

_HEADS: tuple[str, ...] = (
    "tokenizer",
    "vocabulary",
    "bytes per token",
    "saves",
    "bits per byte",
    "Rényi",
    "dead",
    "parity",
    "Gini",
)


@click.command()
@click.argument("file", metavar="FILE.toml")
@click.option(
    "--out",
    "-o",
    metavar="FOLDER",
    help="Also write table.csv, table.json, table.tex, and experiment.toml, which repeats it all.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="A Dask scheduler, such as tcp://127.0.0.1:8786, whose workers train and measure. They "
    "must reach the same files.",
)
@click.option(
    "--work",
    metavar="FOLDER",
    help="Where measured rows are kept; a command that was killed resumes from there.  [default: "
    "FILE.work]",
)
@json_option
@gather("workers", Workers)
def experiment(file: str, out: str | None, workers: Workers, *, as_json: bool) -> None:
    """Train and measure all combinations of corpora, cuts, alphabets, bases and sizes.

    Prints the answer in one sentence, and a row for each tokenizer, measured on one held-out text.
    FILE.toml lists the combinations; docs/experiments.md says how. The sizes of one training are
    cuts of one run. Run again after a kill, or with more sizes, it measures only what is missing.

    Exits with 0 once all rows are measured, and with 1 after an error.

    \b
    Examples:
      $ bpe experiment sizes.toml
      $ bpe experiment sizes.toml --out results
    """
    from bpe_core.experiments import experiment as run

    if out is not None:
        if Path(out).exists() and not Path(out).is_dir():
            raise ConfigError(f"--out {out} is a file. Name a folder.")
        Path(out).mkdir(parents=True, exist_ok=True)
    work = workers.work or f"{file.removesuffix('.toml')}.work"
    with workers.engine() as engine, Bar() as bar:
        found = run(
            file,
            work=work,
            on_progress=lambda progress: bar.show(
                f"Measured {progress.rows_done} of {counted(progress.rows, 'row')}",
                progress.share,
                1,
            ),
            engine=engine,
        )
    if out is not None:
        written = {
            "table.csv": found.to_csv(),
            "table.json": found.to_json(),
            "table.tex": found.to_latex(),
            "experiment.toml": found.to_toml(out),
        }
        for name, text in written.items():
            write_output(text.encode(), str(Path(out, name)))
        click.echo(f"Written: {', '.join(str(Path(out, name)) for name in written)}", err=True)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(printable(found.answer))
    _print_rows(found)


def _print_rows(found: Experiment) -> None:
    table: list[tuple[str, ...]] = [_HEADS]
    for row in found.table:
        parity = row["mean_parity"]
        table.append(
            (
                printable(row["tokenizer"]),
                f"{row['vocab_size']:,}",
                f"{row['bytes_per_token']:.3f}",
                f"{row['percent_fewer']:.1f}%",
                f"{row['bits_per_byte']:.3f}",
                f"{row['renyi_efficiency']:.3f}",
                f"{row['n_dead']:,}",
                "-" if parity is None else f"{parity:.2f}",
                "-" if parity is None else f"{row['gini']:.3f}",
            )
        )
    widths = [max(len(line[column]) for line in table) for column in range(len(_HEADS))]
    for line in table:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        click.echo("  ".join(cells).rstrip())
    for sentence in found.refusals:
        click.echo(f"not trained: {printable(sentence)}")
    against = found.rows[found.against].name
    click.echo(f"saves: fewer tokens than {printable(against)} on the held-out text")
