"""`bpe undertrained` and `bpe fit-rows`, on a model's rows, and `bpe mixture`, on merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from bpe_core.cli.outputs import Bar, print_json, write_text
from bpe_core.cli.support import fetch_missing, json_option
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from bpe_core.corpus import Corpus
    from bpe_core.models import Recipe, Undertrained

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


@click.command("fit-rows")
@click.argument("model")
@click.argument("adapted")
@click.option("--out", "-o", required=True, metavar="FOLDER", help="The folder to make.")
@click.option(
    "--recipe",
    type=click.Choice(("mean", "calibrated", "last", "omp")),
    default="mean",
    show_default=True,
    help="How a new row starts from the rows of its parts, or with omp from those of a donor.",
)
@click.option(
    "--donor",
    metavar="MODEL",
    help="For omp: a folder or hf:org/model of another model, which has some of the new tokens.",
)
@click.option(
    "--atoms",
    "n_atoms",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    help="For omp: a row is the sum of at most this many rows.",
)
@click.option(
    "--pad-to",
    type=click.IntRange(1),
    metavar="N",
    help="Make the number of rows a multiple of N.  [default: as the model's is]",
)
@json_option
def fit_rows(
    model: str,
    adapted: str,
    out: str,
    recipe: Recipe,
    donor: str | None,
    n_atoms: int,
    pad_to: int | None,
    *,
    as_json: bool,
) -> None:
    """Write a model's folder with embedding rows for an adapted tokenizer.

    MODEL is the folder of the base model, ADAPTED what bpe extend, shrink or replace wrote to a
    folder. Rows are read and written in blocks, and no model is loaded. A kept token keeps its row;
    a new one starts from the rows of the tokens that spelled it. With --recipe omp, a new token
    that the donor has starts from the combination of tokens of both models that comes near to its
    row in the donor.

    The exit status is 0, and 1 after an error; then FOLDER is not there.

    \b
    Examples:
      $ bpe fit-rows model adapted --out new-model
      $ bpe fit-rows model adapted --out new-model --recipe calibrated --pad-to 64
      $ bpe fit-rows model adapted --out new-model --recipe omp --donor other-model
    """
    from bpe_core.models import fit_rows as fit

    with Bar() as bar:
        found = fit(
            model,
            adapted,
            out,
            recipe=recipe,
            donor=donor,
            n_atoms=n_atoms,
            pad_to=pad_to,
            on_progress=bar.show,
        )
    if as_json:
        print_json(found.to_dict())
        return
    padding = found.n_rows - found.n_tokens
    click.echo(
        f"{found.n_rows_before:,} rows before, {found.n_rows:,} now: {found.n_tokens:,} for ids, "
        f"{found.n_new:,} of them new, and {padding:,} for padding"
    )
    if donor is not None:
        click.echo(f"{found.n_from_donor:,} of the new tokens are in the donor; others are means")
    for name, (before, kept, new) in found.norms.items():
        click.echo(
            f"mean length of {name} rows: {before:.4g} before, {kept:.4g} kept, {new:.4g} new"
        )


@click.command()
@click.argument("tokenizer")
@click.option(
    "--sample",
    "samples",
    multiple=True,
    metavar="CATEGORY=PATH",
    help="A file, folder or pattern with text of a category, such as German=de/; one for each.",
)
@click.option(
    "--samples",
    "shipped",
    type=click.Choice(("kinds", "languages")),
    help="Use the samples that come with this package too: six kinds of text, or 25 languages with "
    "a few sentences each.",
)
@click.option(
    "--merges",
    "n_merges",
    type=click.IntRange(1),
    help="Look at this many first merges.  [default: what the samples can judge]",
)
@click.option(
    "--resamples",
    type=click.IntRange(0, 1_000),
    default=20,
    show_default=True,
    help="How often to draw again for the intervals.",
)
@json_option
def mixture(
    tokenizer: str,
    samples: tuple[str, ...],
    shipped: Literal["kinds", "languages"] | None,
    n_merges: int | None,
    resamples: int,
    *,
    as_json: bool,
) -> None:
    """Infer what a tokenizer was trained on from the order of its merges.

    Give a sample of each category that the training text may have had. The shares are those for
    which the merges were the most frequent pairs, or nearly. TOKENIZER may be the name of a
    published one, which few samples explain, so look at the last line first. Needs the extra: pip
    install "bpe-explorer[mixture]".

    The exit status is 0 even if the samples do not fit, and 1 after an error.

    \b
    Examples:
      $ bpe mixture mine.json --sample prose=notes.txt --sample code='corpus/*.txt'
      $ bpe mixture gpt2 --samples kinds
    """
    from bpe_core.cli.support import load_encoder
    from bpe_core.vocabulary import mixture as infer
    from bpe_core.vocabulary import shipped_samples

    if not samples and shipped is None:
        raise ConfigError("Give samples: --sample CATEGORY=PATH for each category, or --samples.")
    texts: dict[str, Corpus] = {} if shipped is None else shipped_samples(shipped)
    for given in samples:
        name, sign, path = given.partition("=")
        if not (name and sign and path):
            raise ConfigError(f"Expected --sample CATEGORY=PATH, got {given!r:.80}.")
        if name in texts:
            raise ConfigError(f"The category {name!r:.80} has two samples. Give one, a folder.")
        texts[name] = _read(path)
    encoder = load_encoder(tokenizer, None, ())
    with Bar() as bar:
        found = infer(
            encoder, texts, n_merges=n_merges, n_resamples=resamples, on_progress=bar.show
        )
    if as_json:
        print_json({"tokenizer": tokenizer, **found.to_dict()})
        return
    from bpe_core.checks import printable
    from bpe_core.unicode import to_printable

    width = max(len(printable(name)) for name in found.categories)
    columns = zip(found.categories, found.shares, found.low, found.high, strict=True)
    for name, share, low, high in columns:
        merges = "  ".join(to_printable(each.token) for each in found.witnesses[name])
        line = f"{printable(name):{width}}  {share:6.1%}  ({low:.1%} to {high:.1%})  {merges}"
        click.echo(line.rstrip())
    click.echo(
        f"from {found.n_steps:,} of the first {found.n_merges:,} merges; the samples explain "
        f"{found.fit:.0%} of them"
    )
    if not found.fits:
        click.echo(
            "The samples do not fit, so these shares are not sound. A category may be missing."
        )


def _read(path: str) -> Corpus:
    from bpe_core.corpus import Location, read_corpus

    return read_corpus([file.url for file in Location(path).files()[0]])


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
