"""The command `bpe train`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

import click

from bpe_core.cli.options import (
    ALPHABETS,
    BASES,
    TIE_BREAKS,
    choice_option,
    encoding_option,
    errors_option,
    format_option,
    held_out_by_option,
    held_out_file_option,
    held_out_option,
    out_option,
    pretokenizer_option,
    scale_options,
    text_column_option,
)
from bpe_core.cli.outputs import (
    check_output,
    check_outputs,
    format_to_write,
    write_output,
    write_tokenizer,
)
from bpe_core.cli.scale import CountingPlan
from bpe_core.cli.streams import is_watched
from bpe_core.cli.support import (
    HeldOutChoice,
    note_what_lacks,
    open_corpus,
    report_run,
    show_progress,
)
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from bpe_core.corpus.text_decoding import DecodingErrors
    from bpe_core.counting.counts_file import WordCounts
    from bpe_core.types import Alphabet, Base, TieBreak


@click.command()
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--counts",
    metavar="PATH",
    help="Train on a Parquet file of words and counts, instead of FILE...; see: bpe count --help",
)
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
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    default=("<|endoftext|>",),
    show_default=True,
    metavar="TEXT",
    help="A special token, which takes one of the first ids; may be repeated. Give '' for none.",
)
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
@text_column_option
@encoding_option
@errors_option
@held_out_option
@held_out_by_option
@held_out_file_option
@click.option(
    "--run",
    "run_file",
    metavar="PATH",
    help="Also write the whole run, for bpe_core.load_run: merges, words, settings and hashes.",
)
@scale_options
def train(
    files: tuple[str, ...],
    counts: str | None,
    vocab_size: int,
    out: str,
    *,
    force: bool,
    format_name: str | None,
    pretokenizer: str,
    base: str,
    alphabet: str,
    end_of_word: str | None,
    special_tokens: tuple[str, ...],
    min_frequency: int,
    tie_break: str,
    max_token_bytes: int | None,
    byte_fallback: bool,
    character_coverage: float,
    text_column: str | None,
    encoding: str | None,
    errors: DecodingErrors,
    held_out: float,
    held_out_by: str,
    held_out_files: tuple[str, ...],
    scheduler: str | None,
    memory: str | None,
    processes: int | None,
    work: str | None,
    floor: int,
    run_file: str | None,
) -> None:
    """Train a tokenizer on text files and tables, also packed ones, archives and folders of them.

    UTF-8 files of 64 MB or more in total are streamed, and folders, patterns such as '*.txt' and
    URLs are counted in stretches, as by bpe count, so they may be larger than memory. With
    --held-out, --held-out-file or --encoding, all of the text is read into memory, and URLs are
    refused.

    \b
    Examples:
      $ bpe train notes.txt --vocab-size 400 --out mine.json
      $ cat notes.txt | bpe train - --vocab-size 300 --out - > mine.json
      $ bpe train notes.txt --vocab-size 4096 --base characters --byte-fallback \
        --character-coverage 0.9995 --pretokenizer metaspace --special-token '<unk>' \
        --special-token '<s>' --special-token '</s>' --out mine.model
    """
    from bpe_core.corpus.corpus import Corpus
    from bpe_core.formats.load_save import dumps
    from bpe_core.formats.run_archive import run_to_bytes
    from bpe_core.formats.written_kinds import RUN
    from bpe_core.runs.train import train as run_training
    from bpe_core.types import TrainingConfig

    config = TrainingConfig(
        vocab_size=vocab_size,
        pretokenizer=pretokenizer,
        base=cast("Base", base),
        alphabet=cast("Alphabet", alphabet),
        end_of_word=end_of_word,
        special_tokens=tuple(token for token in special_tokens if token),
        min_frequency=min_frequency,
        tie_break=cast("TieBreak", tie_break),
        max_token_bytes=max_token_bytes,
        byte_fallback=byte_fallback,
        character_coverage=character_coverage,
    )
    format, note = format_to_write(out, format_name)
    choice = HeldOutChoice(held_out, held_out_by, held_out_files)
    choice.check()
    in_memory = choice.is_any or encoding is not None
    plan = CountingPlan(scheduler, memory, processes, work, floor, in_memory)
    # Written once untrained, because a refusal after the whole run would come too late.
    untrained = run_training(Corpus.from_word_counts({"a": 1}), config).tokenizer
    inputs = plan.inputs(files) if counts is None else [counts]
    check_outputs(dumps(untrained, format), out, inputs, force=force, note=note)
    if run_file is not None:
        if os.path.realpath(run_file) == os.path.realpath(out):
            raise click.UsageError("--run and --out name the same file.")
        check_output(RUN, run_file, inputs, force=force)
    test = None
    if counts is not None:
        corpus = _read_counts(counts, files, held_out=choice.is_any, plan=plan)
    elif not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    elif plan.is_for(files):
        corpus = plan.counted(files, out, config, text_column, errors)
    else:
        corpus, test = open_corpus(files, text_column, encoding, errors, choice)
    run = run_training(corpus, config, on_progress=show_progress if is_watched() else None)
    note_what_lacks(run.tokenizer, format)
    write_tokenizer(dumps(run, format), out)
    if run_file is not None:
        write_output(run_to_bytes(run), run_file)
    report_run(run, test)


def _read_counts(
    counts: str, files: tuple[str, ...], *, held_out: bool, plan: CountingPlan
) -> WordCounts:
    if files or held_out or plan.is_for(()):
        raise ConfigError(
            "Words are already counted in a file of counts. Omit FILE..., --held-out and the "
            "options that count, or --counts."
        )
    from bpe_core.counting.counts_file import read_counts

    return read_counts(counts)
