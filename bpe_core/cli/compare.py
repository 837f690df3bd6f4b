"""The commands `bpe compare` and `bpe structure`."""

from __future__ import annotations

from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bpe_core.checks import printable
from bpe_core.cli.outputs import Bar, print_json
from bpe_core.cli.results import describe_gain, describe_held_out
from bpe_core.cli.sources import takes_sources
from bpe_core.cli.support import json_option, load_encoder, read_text
from bpe_core.errors import ConfigError, FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_core.cli.sources import Sources
    from bpe_core.comparison import Structure, TokenizerMetrics, TokenSaving
    from bpe_core.tokenizer import Encoder, NamedEncoder


@click.command()
@takes_sources(counted=False)
@click.option(
    "--tokenizer",
    "-t",
    "tokenizers",
    multiple=True,
    required=True,
    metavar="TOKENIZER",
    help="A tokenizer's file, or a name such as gpt2 or hf:org/model; may be repeated.",
)
@click.option(
    "--pretokenizer", metavar="NAME", help="gpt2, cl100k, ..., for files that do not name one."
)
@click.option(
    "--parity-to",
    "reference",
    metavar="LANGUAGE",
    help="Compare what the same sentences cost in each language, against this one. SOURCE... is a "
    "table with a column for each language, or a text file for each, with a sentence per line.",
)
@json_option
def compare(
    sources: Sources,
    tokenizers: tuple[str, ...],
    pretokenizer: str | None,
    reference: str | None,
    *,
    as_json: bool,
) -> None:
    """Compare tokenizers on text: tokens, bytes per token, words kept whole.

    With --held-out, only on what `bpe train` with the same options holds out of the same sources. A
    tokenizer that was trained on this text, or on a part of it, is named first, because its figures
    are better here than on new text.

    \b
    Examples:
      $ bpe compare mine.held-out.jsonl -t mine.json -t gpt2
      $ bpe compare notes.txt -t mine.json -t gpt2 --held-out 0.08
      $ bpe compare English.txt German.txt -t mine.json -t gpt2 --parity-to English
    """
    from bpe_core.comparison import compare as compare_tokenizers
    from bpe_core.comparison import (
        distinct_ends,
    )
    from bpe_core.formats import find_note
    from bpe_core.tokenizer import NamedEncoder

    sources.check()
    names = distinct_ends(tokenizers)
    encoders: list[NamedEncoder] = []
    with Bar() as bar:
        for given, name in zip(tokenizers, names, strict=True):
            bar.show("Opening tokenizers", len(encoders), len(tokenizers))
            encoder = _load(given, pretokenizer)
            encoders.append(NamedEncoder(name, encoder, trained_on=find_note(Path(given))))
    if reference is not None:
        _compare_languages(sources, encoders, reference, tokenizers if as_json else None)
        return
    corpus = sources.read_held_out()
    with Bar() as bar:
        found = compare_tokenizers(
            corpus, encoders, lambda done, of: bool(bar.show("Comparing", done, of))
        )
    gains = [found.gain(0, place) for place in range(1, len(names))]
    if as_json:
        figures = found.to_dict()
        named = zip(tokenizers, figures["rows"], strict=True)
        figures["rows"] = [{**row, "tokenizer": name} for name, row in named]
        figures["differences"] = [
            {"tokenizer": tokenizers[0], "against": name, **describe_gain(gain.whole)}
            for gain, name in zip(gains, tokenizers[1:], strict=True)
        ]
        print_json({**figures, "held_out": describe_held_out(corpus)})
        return
    rows = found.rows
    for sentence in found.trained_on_words:
        click.echo(sentence)
    click.echo(f"documents {found.n_documents:,}, bytes {found.n_bytes:,}, words {found.n_words:,}")
    table = [
        ("", *names),
        ("tokens", *(f"{row.n_tokens:,}" for row in rows)),
        *_per_token(rows),
        ("tokens per word", *(_or_dash(row.tokens_per_word, ".3f") for row in rows)),
        ("words kept whole", *(_or_dash(row.share_of_words_whole, ".1%") for row in rows)),
        ("vocabulary", *(f"{row.vocab_size:,}" for row in rows)),
        ("only this one knows", *(f"{row.n_exclusive:,}" for row in rows)),
        ("bytes without a token", *(f"{row.unknown_bytes + row.dropped_bytes:,}" for row in rows)),
    ]
    _print_table(table)
    for gain, name in zip(gains, names[1:], strict=True):
        click.echo(_difference(gain, names[0], name))
        if gain.has_enough_text and (carried := gain.carried_words):
            click.echo(f"  {carried}")
    if len(names) > 1 and found.blocks is not None:
        click.echo(found.blocks.method)


@click.command()
@click.argument("tokenizers", metavar="TOKENIZER...", nargs=-1, required=True)
@click.option(
    "--text",
    "text_file",
    metavar="FILE",
    help="The text whose characters are looked at.  [default: a sample of many languages]",
)
@click.option(
    "--code",
    "code_file",
    metavar="FILE",
    help="The code whose names and indentations are looked at.  [default: a short sample]",
)
@json_option
def structure(
    tokenizers: tuple[str, ...], text_file: str | None, code_file: str | None, *, as_json: bool
) -> None:
    """Measure how tokenizers cut numbers, code and characters.

    The figures describe a tokenizer, and rank none: a model can learn most cuts that are always the
    same. docs/check.md defines them.

    The exit status is 0, and 1 after an error.

    \b
    Examples:
      $ bpe structure gpt2 mine.json
      $ bpe structure gpt2 --text notes.txt --json
    """
    from bpe_core.comparison import Structure, distinct_ends
    from bpe_core.comparison import structure as measure
    from bpe_core.corpus import load_sample

    if text_file == "-" == code_file:
        raise ConfigError("Only one of --text and --code can be standard input. Name a file.")
    sample = "".join(load_sample("multilingual").documents) if text_file is None else ""
    text = sample if text_file is None else read_text(text_file)
    code = Structure.CODE if code_file is None else read_text(code_file)
    found: list[Structure] = []
    with Bar() as bar:
        for name in tokenizers:
            bar.show("Measuring", len(found), len(tokenizers))
            found.append(measure(load_encoder(name, None, ()), text, code))
    if as_json:
        named = zip(tokenizers, found, strict=True)
        print_json({"tokenizers": [{"tokenizer": name, **one.to_dict()} for name, one in named]})
        return
    shares = {
        "numbers in groups of three": [each.groups_of_three for each in found],
        "agreement with those groups": [each.group_f1 for each in found],
        "names in code kept whole": [each.identifiers_whole for each in found],
        "indentations kept whole": [each.indentation_whole for each in found],
        "characters beyond ASCII cut": [each.characters_cut for each in found],
    }
    _print_table(
        [
            ("", *map(printable, distinct_ends(tokenizers))),
            ("ways to cut 0 to 9999", *(f"{each.number_cuts:,}" for each in found)),
            *(
                (name, *(_or_dash(nan if each is None else each, ".1%") for each in values))
                for name, values in shares.items()
            ),
        ]
    )


def _compare_languages(
    sources: Sources,
    tokenizers: Sequence[NamedEncoder],
    reference: str,
    given: Sequence[str] | None,
) -> None:
    """Print what each language costs; as JSON with the tokenizers as they were given, if at all."""
    from bpe_core.comparison import parity

    texts = sources.read_parallel()
    with Bar() as bar:
        found = parity(
            {text.name: text.sentences for text in texts},
            tokenizers,
            reference,
            lambda done, of: bool(bar.show("Comparing", done, of)),
        )
    if given is not None:
        figures = found.to_dict()
        named = zip(given, figures["rows"], strict=True)
        print_json({**figures, "rows": [{**row, "tokenizer": name} for name, row in named]})
        return
    n, costs = len(texts[0].sentences), found.costs
    click.echo(
        f"{n:,} {'sentence' if n == 1 else 'sentences'} in {len(texts)} languages; parity: tokens "
        f"for each token of {printable(found.reference)}"
    )
    table = [("", *found.tokenizers)]
    for place, language in enumerate(found.languages):
        cells = (f"{one.metrics[place].n_tokens:,} ({one.parity[place]:.2f})" for one in costs)
        table.append((printable(language), *cells))
    table += [
        ("all languages", *(f"{one.n_tokens:,}" for one in costs)),
        ("mean parity", *(f"{one.mean_parity:.2f}" for one in costs)),
        ("Gini coefficient", *(f"{one.gini:.3f}" for one in costs)),
        ("Rényi efficiency", *(f"{one.renyi_efficiency:.3f}" for one in costs)),
    ]
    if any(row.unknown_bytes for one in costs for row in one.metrics):
        unknown = (sum(row.unknown_bytes for row in one.metrics) for one in costs)
        table.append(("bytes without a token", *(f"{n:,}" for n in unknown)))
    _print_table(table)


def _print_table(table: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        click.echo("  ".join(cells).rstrip())


def _load(name: str, pretokenizer: str | None) -> Encoder:
    try:
        return load_encoder(name, None, ())
    except (ConfigError, FormatError):
        if pretokenizer is None:
            raise
        return load_encoder(name, pretokenizer, ())


def _or_dash(figure: float, form: str) -> str:
    """Return a figure, or a dash if the text has no words to count."""
    return "-" if isnan(figure) else format(figure, form)


def _per_token(rows: Sequence[TokenizerMetrics]) -> list[tuple[str, ...]]:
    """Return the lines of figures per token: on all text, or on covered text if some is not."""
    if any(row.uncovered_bytes for row in rows):
        in_bytes = [row.covered_bytes_per_token for row in rows]
        in_characters = [row.covered_characters_per_token for row in rows]
        covered = "covered "
    else:
        in_bytes = [row.bytes_per_token for row in rows]
        in_characters = [row.characters_per_token for row in rows]
        covered = ""
    return [
        (f"{covered}bytes per token", *(f"{figure:.3f}" for figure in in_bytes)),
        (f"{covered}characters per token", *(f"{figure:.3f}" for figure in in_characters)),
    ]


def _difference(gain: TokenSaving, own: str, other: str) -> str:
    """Return how many fewer or more tokens the first needs, or what a verdict lacks."""
    whole = gain.whole
    if not gain.has_enough_text:
        return (
            f"{own} against {other}: too little text for a verdict, which needs {gain.MIN_TOKENS} "
            "tokens of each. Give more text."
        )
    interval = f" ({whole.interval_words})" if whole.has_interval else ""
    if whole.own == whole.theirs and (not interval or whole.low == whole.high == 0):
        return f"{own} needs as many tokens as {other}"
    percent = f"{abs(whole.percent_fewer):.1f}%"
    way = "fewer" if whole.percent_fewer > 0 else "more"
    unclear = ", so there is no clear difference" if whole.way == "unclear" else ""
    return f"{own} needs {percent} {way} tokens than {other}{interval}{unclear}"
