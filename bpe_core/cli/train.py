"""The commands `bpe train`, `train-parity`, `sample-check`, `count` and `merge-counts`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bpe_core.cli.outputs import (
    Bar,
    check_json,
    check_output,
    check_outputs,
    format_to_write,
    output_path,
    print_json,
    write_output,
    write_tokenizer,
)
from bpe_core.cli.results import (
    check_beside,
    describe_held_out,
    describe_run,
    describe_terms,
    report_run,
    report_terms,
    write_beside,
)
from bpe_core.cli.sources import report_counts, takes_sources
from bpe_core.cli.support import (
    ALPHABETS,
    BASES,
    TIE_BREAKS,
    Option,
    choice_option,
    format_option,
    json_option,
    note_what_lacks,
    out_option,
    pretokenizer_option,
)

if TYPE_CHECKING:
    from bpe_core.cli.sources import Sources
    from bpe_core.corpus import CountsSummary


_special_tokens: Option[Any] = click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    default=("<|endoftext|>",),
    show_default=True,
    metavar="TEXT",
    help="A special token, which takes one of the first ids; may be repeated. Give '' for none.",
)


@click.command()
@takes_sources()
@click.option(
    "--vocab-size", type=int, required=True, help="Special tokens, alphabet and merges in total."
)
@out_option("Where to write the tokenizer.")
@format_option
@pretokenizer_option
@choice_option(
    "--base", BASES, default="bytes", help="The symbols that words consist of before any merge."
)
@choice_option(
    "--alphabet", ALPHABETS, default="full", help="All 256 bytes, or only the symbols that occur."
)
@click.option("--end-of-word", metavar="TEXT", help="A marker that ends each word, such as </w>.")
@_special_tokens
@click.option(
    "--min-frequency", type=int, default=0, help="Merge only pairs that occur at least this often."
)
@choice_option(
    "--tie-break",
    TIE_BREAKS,
    default="smallest-pair",
    help="Which pair to merge when several are equally frequent.",
)
@click.option("--max-token-bytes", type=int, help="Make no token longer than this.")
@click.option(
    "--byte-fallback",
    is_flag=True,
    help="Spell characters outside the alphabet in bytes, as Llama 2 does; with --base characters "
    "and --pretokenizer metaspace or llama2.",
)
@click.option(
    "--character-coverage",
    type=float,
    default=1.0,
    show_default=True,
    help="With --byte-fallback: the share of the text that the alphabet's characters make up, such "
    "as 0.9995.",
)
@click.option(
    "--superwords-from",
    type=int,
    help="Once the vocabulary has this many tokens, let merges join up to four words (SuperBPE).",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Count a file or a folder NUMBER times, such as de=2 or fr=0.5; may be repeated.",
)
@click.option(
    "--picky",
    type=float,
    metavar="SHARE",
    help="Remove a token again once a merge takes more than this share of its uses, such as 0.9 "
    "(PickyBPE). Only the native format holds such a tokenizer, such as mine.bpe.json.",
)
@click.option(
    "--seed-token",
    "seeds",
    multiple=True,
    metavar="TEXT",
    help="A text that becomes a token before any other merge is learned; may be repeated.",
)
@click.option(
    "--veto",
    "vetoes",
    multiple=True,
    metavar="TEXT",
    help="A text that never becomes a token, or regex:PATTERN for tokens that match; may be "
    "repeated.",
)
@click.option(
    "--whole-characters",
    is_flag=True,
    help="Join a part of a character only with the rest of it.",
)
@click.option(
    "--run",
    "run_file",
    metavar="PATH",
    help="Also write the whole run, for bpe_core.load_run: merges, words, settings and hashes.",
)
@json_option
def train(
    sources: Sources,
    out: str,
    *,
    force: bool,
    format_name: str | None,
    run_file: str | None,
    as_json: bool,
    special_tokens: tuple[str, ...],
    weights: tuple[str, ...],
    **settings: Any,
) -> None:
    """Train a tokenizer on text files and tables, also packed ones, archives and folders of them.

    UTF-8 files of 64 MB or more in total are streamed, and folders, patterns such as '*.txt' and
    URLs are counted in stretches, as by bpe count, so they may be larger than memory. With
    --held-out, --held-out-file or --encoding, files are read one by one, each whole, and their
    documents kept on disk if there are 64 MB or more.

    Figures on the text that was trained on are better than on new text. With --held-out 0.1, a
    tenth is held out, written next to the tokenizer, and the line is shown that compares on it. A
    note next to the tokenizer, such as mine.training.json, says what it was trained on, as hashes.

    \b
    Examples:
      $ bpe train notes.txt --vocab-size 400 --held-out 0.1 --out mine.json
      $ cat notes.txt | bpe train - --vocab-size 300 --out - > mine.json
      $ bpe train notes.txt --vocab-size 4096 --base characters --byte-fallback \\
          --character-coverage 0.9995 --pretokenizer metaspace --special-token '<unk>' \\
          --special-token '<s>' --special-token '</s>' --out mine.model
      $ bpe train notes.txt --vocab-size 600 --superwords-from 400 --out superwords.json
      $ bpe train languages --vocab-size 400 --weight fr=2 --out weighed.json
      $ bpe train notes.txt --vocab-size 600 --picky 0.9 --out picky.bpe.json
      $ bpe train notes.txt --vocab-size 400 --seed-token mov --veto 'regex:[0-9]' --out asm.json
    """
    from bpe_core.corpus import Corpus
    from bpe_core.formats import WrittenKind, dumps, run_to_bytes
    from bpe_core.trainers import train as run_training
    from bpe_core.types import TrainingConfig

    tokens = tuple(token for token in special_tokens if token)
    config = TrainingConfig(special_tokens=tokens, **settings)
    format, note = format_to_write(out, format_name)
    if config.picky is not None and format != "native":
        raise click.UsageError(
            f"--picky removes tokens again, and the format {format} is a plain list of merges, "
            "which cannot say so. Use BPE Explorer's own: --format native, or --out mine.bpe.json."
        )
    check_json(out, wanted=as_json)
    weighed = _read_weights(weights)
    needs_text = config.superwords_from is not None or bool(weighed)
    sources = replace(sources, keeps_text=needs_text)
    sources.check()
    # Written once untrained, because a refusal after the whole run would come too late.
    untrained = run_training(Corpus.from_text("a"), config).tokenizer
    inputs = sources.inputs()
    files = dumps(untrained, format)
    check_outputs(files, out, inputs, force=force, note=note)
    check_beside(files, out, sources, inputs, force=force)
    if run_file is not None:
        if os.path.realpath(run_file) == os.path.realpath(out):
            raise click.UsageError("--run and --out name the same file.")
        check_output(WrittenKind.RUN, run_file, inputs, force=force)
    opened = sources.open(config.pretokenizer, out)
    text = opened.text
    if weighed and isinstance(text, Corpus):
        text = text.weighted(weighed)
    with Bar() as bar:
        run = run_training(text, config, bar.show_training, on_counting=bar.show_counting)
    told = write_tokenizer(dumps(run, format), out)
    if run_file is not None:
        write_output(run_to_bytes(run), run_file)
    written, to_compare = write_beside(opened, run.trained_on, out, "gpt2")
    note_what_lacks(run.tokenizer, format)
    n_tokens = report_run(run, opened.held_out)
    report_terms(run.terms)
    for line in (*told, *to_compare):
        click.echo(line, err=True)
    if as_json:
        held_out = describe_held_out(opened.held_out, n_tokens=n_tokens, file=written)
        more = {"held_out": held_out, "terms": describe_terms(run.terms)}
        print_json({"out": out, "format": format, **describe_run(run), **more})


def _read_weights(given: tuple[str, ...]) -> dict[str, float | Fraction]:
    """Return the weights by name; raise UsageError for one that cannot be read or comes twice."""
    weights: dict[str, float | Fraction] = {}
    for each in given:
        name, _, number = each.rpartition("=")
        if name in weights:
            raise click.UsageError(f"--weight is given twice for {name!r}. Omit one of them.")
        try:
            # A float where it can be: 1e999999999 as a fraction has a billion digits.
            weights[name] = Fraction(number) if "/" in number else float(number)
        except (ValueError, ZeroDivisionError):
            raise click.UsageError(f"Expected NAME=NUMBER, such as de=2, got {each!r}.") from None
    return weights


@click.command("train-parity")
@click.argument("languages", nargs=-1, required=True, metavar="[NAME=]PATH...")
@click.option(
    "--vocab-size", type=int, required=True, help="Special tokens, alphabet and merges in total."
)
@click.option(
    "--development",
    multiple=True,
    metavar="[NAME=]PATH",
    help="Text to measure a language by, which says the same in each; may be repeated, and is "
    "named like the languages.  [default: the training text]",
)
@click.option(
    "--hybrid-merges",
    type=int,
    default=0,
    show_default=True,
    help="How many merges all languages choose together first.",
)
@click.option(
    "--window",
    type=int,
    help="Let a language wait that picked more than twice its share of this many merges, such as "
    "100.",
)
@click.option(
    "--min-frequency",
    type=int,
    default=0,
    help="Merge only pairs that occur at least this often in the language that picks them.",
)
@_special_tokens
@out_option("Where to write the tokenizer.")
@format_option
@pretokenizer_option
@json_option
def train_parity(
    languages: tuple[str, ...],
    out: str,
    *,
    force: bool,
    format_name: str | None,
    as_json: bool,
    development: tuple[str, ...],
    hybrid_merges: int,
    window: int | None,
    special_tokens: tuple[str, ...],
    **settings: Any,
) -> None:
    """Train one tokenizer for several languages, so that none takes far more tokens than others.

    At each step, the language whose text is the longest in tokens picks the merge. Give a folder or
    file for each language, which is named after it unless NAME= says otherwise; or one folder that
    has these. The table counts each language's tokens before any merge, after plain BPE of the same
    size on all text together, and after this training. The Gini coefficient is 0 if all languages
    take equally many tokens, which is fair only where their texts say the same.

    \b
    Examples:
      $ bpe train-parity English.txt German.txt --vocab-size 300 --out fair.json
      $ bpe train-parity en=corpus de=texts --vocab-size 300 --hybrid-merges 20 --window 100 \\
          --development en=English.txt --development de=German.txt --out waiting.json
    """
    from bpe_core.comparison import gini
    from bpe_core.corpus import Corpus, read_corpus
    from bpe_core.formats import dumps
    from bpe_core.trainers import beside_plain
    from bpe_core.trainers import train as train_plainly
    from bpe_core.trainers import train_parity as run_training
    from bpe_core.types import TrainingConfig

    tokens = tuple(token for token in special_tokens if token)
    config = TrainingConfig(special_tokens=tokens, **settings)
    format, note = format_to_write(out, format_name)
    check_json(out, wanted=as_json)
    paths, measured_paths = _by_language(languages), _by_language(development)
    untrained = train_plainly(Corpus.from_text("a"), config).tokenizer
    inputs = [*paths.values(), *measured_paths.values()]
    check_outputs(dumps(untrained, format), out, inputs, force=force, note=note)
    corpora = {name: read_corpus(path) for name, path in paths.items()}
    measured = {name: read_corpus(path) for name, path in measured_paths.items()} or corpora
    with Bar() as bar:
        run = run_training(
            corpora,
            config,
            None if measured is corpora else measured,
            hybrid_merges=hybrid_merges,
            window=window,
            on_progress=bar.show_training,
        )
        run = beside_plain(run, measured, bar.show_training)
    note_what_lacks(run.tokenizer, format)
    told = write_tokenizer(dumps(run.tokenizer, format), out)
    history = run.parity
    assert history is not None
    rows = {
        name: {
            "n_tokens_before": int(n_tokens[0]),
            "n_plain_tokens": n_plain,
            "n_tokens": int(n_tokens[-1]),
            "n_merges_picked": int((history.picked_by == name).sum()),
        }
        for (name, n_tokens), n_plain in zip(run.lengths.items(), history.plain, strict=True)
    }
    fairness = {
        "plain_gini": gini([row["n_plain_tokens"] for row in rows.values()]),
        "gini": gini([row["n_tokens"] for row in rows.values()]),
    }
    for line in told:
        click.echo(line, err=True)
    if as_json:
        figures = {"vocab_size": len(run.tokenizer), "n_merges": run.tokenizer.n_merges}
        found = {**figures, "fingerprint": run.tokenizer.fingerprint, **fairness}
        print_json({"out": out, "format": format, **found, "languages": rows})
        return
    _show_parity(rows, fairness)


def _show_parity(rows: Mapping[str, Mapping[str, int]], fairness: Mapping[str, float]) -> None:
    """Print a table on stderr, because the tokenizer may go to standard output."""
    width = max(len("Gini coefficient"), *map(len, rows))
    heads = ("before merges", "plain BPE", "with parity", "merges picked")
    click.echo(" ".join([f"{'language':{width}}", *(f"{head:>13}" for head in heads)]), err=True)
    for name, row in rows.items():
        cells = (f"{number:13,}" for number in row.values())
        click.echo(" ".join([f"{name:{width}}", *cells]), err=True)
    cells = (f"{number:13.3f}" for number in fairness.values())
    click.echo(" ".join([f"{'Gini coefficient':{width}}", " " * 13, *cells]), err=True)


def _by_language(given: Sequence[str]) -> dict[str, str]:
    """Return the paths of languages by their names."""
    if len(given) == 1 and Path(given[0]).is_dir():
        inside = sorted(path for path in Path(given[0]).iterdir() if path.name[0] != ".")
        given = [str(path) for path in inside]
    found: dict[str, str] = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not equals or os.path.exists(each):
            folder_or_file = Path(each).resolve()
            is_folder = folder_or_file.is_dir()
            name, path = folder_or_file.name, each
            name = name if is_folder else name.partition(".")[0] or name
        if not name or not path:
            raise click.UsageError(f"Expected NAME=PATH or a path, got {each!r}.")
        if name in found:
            raise click.UsageError(
                f"{found[name]} and {path} are both named {name}. Name one of them by NAME=PATH."
            )
        found[name] = path
    return found


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
    from bpe_core.trainers import sample_check as check
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
    from bpe_core.formats import WrittenKind

    check_json(out, wanted=as_json)
    sources.check()
    check_output(WrittenKind.COUNTS, out, sources.inputs(), force=force, makes_folder=True)
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
    from bpe_core.corpus import merge_counts as merge
    from bpe_core.formats import WrittenKind

    check_json(out, wanted=as_json)
    check_output(WrittenKind.COUNTS, out, files, force=force, makes_folder=True)
    with output_path(out) as path:
        summary = merge(files, path)
    _report(summary, out, as_json=as_json)


def _report(summary: CountsSummary, out: str, *, as_json: bool) -> None:
    report_counts(summary)
    if as_json:
        figures = summary._asdict()
        del figures["characters"]  # for the trainer; there may be thousands
        print_json({"out": out, **figures})
