"""The commands `bpe extend`, `bpe shrink` and `bpe replace`, which adapt a tokenizer to text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from bpe_core.cli.downloads import fetch_watched
from bpe_core.cli.options import (
    FORMATS,
    TIE_BREAKS,
    choice_option,
    encoding_option,
    errors_option,
    held_out_by_option,
    held_out_file_option,
    held_out_option,
    out_option,
    text_column_option,
    tokenizer_options,
)
from bpe_core.cli.outputs import check_outputs
from bpe_core.cli.streams import is_watched
from bpe_core.cli.support import (
    HeldOutChoice,
    note_what_lacks,
    open_corpus,
    parse_special_tokens,
    read_text,
    report_run,
    show_progress,
    show_removals,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bpe_core.adapting.adapted import Adapted
    from bpe_core.adapting.shrink import RemovalOrder
    from bpe_core.corpus.corpus import Corpus
    from bpe_core.counting.words import CountedCorpus
    from bpe_core.formats.adapted.adapting_base import BaseFiles
    from bpe_core.runs.continuation import TermCost
    from bpe_core.types import TieBreak

Command = TypeVar("Command", bound="Callable[..., Any]")
_ORDERS = ("fewest-uses", "last-learned")


def _common(command: Command) -> Command:
    """Add the arguments and options of all three commands."""
    added: Any = command
    for option in (
        tokenizer_options,
        encoding_option,
        errors_option,
        text_column_option,
        held_out_file_option,
        held_out_by_option,
        held_out_option,
        click.option(
            "--format",
            "format_name",
            type=click.Choice(FORMATS),
            help="What to write instead of the base's own format; transformers if that is a "
            "file of ranks, which holds no special tokens.",
        ),
        out_option("The folder to write the files to."),
        click.argument("files", nargs=-1, required=True, metavar="FILE..."),
        click.argument("base"),
    ):
        added = option(added)
    return added


pin_option = click.option(
    "--pin",
    "pinned",
    type=int,
    multiple=True,
    metavar="ID",
    help="An id that stays; may be repeated.",
)

order_option = choice_option(
    "--order", _ORDERS, default="fewest-uses", help="Which tokens are removed first."
)
script_option = click.option(
    "--script",
    "scripts",
    multiple=True,
    metavar="NAME",
    help="Remove tokens of this script only, such as Latin or Han; may be repeated.",
)


def _term_options(command: Command) -> Command:
    """Add the options for terms."""
    added: Any = click.option(
        "--terms",
        "terms_file",
        metavar="FILE",
        help="A UTF-8 file with more such words, one per line.",
    )(command)
    return click.option(
        "--term",
        "terms",
        multiple=True,
        metavar="TEXT",
        help="A word to make one token before others are learned; may be repeated.",
    )(added)


_leave_out_option = click.option(
    "--leave-out",
    "left_out",
    multiple=True,
    metavar="TEXT",
    help="A token not to add, with its space, such as ' Inc'; may be repeated.",
)


@click.command()
@_common
@click.option("--tokens", "n_tokens", type=int, required=True, help="How many tokens to add.")
@choice_option(
    "--tie-break",
    TIE_BREAKS,
    default="smallest-pair",
    help="Which pair to merge when several are equally frequent.",
)
@_term_options
@_leave_out_option
def extend(
    base: str,
    files: tuple[str, ...],
    n_tokens: int,
    tie_break: str,
    terms: tuple[str, ...],
    terms_file: str | None,
    left_out: tuple[str, ...],
    **common: Any,
) -> None:
    """Add tokens for the text of files to a tokenizer; its own tokens keep their ids.

    BASE is a file, a folder, or the name of a published tokenizer. The base's files are written
    again with nothing else changed, together with old_ids.npy, parts.npy and embedding_rows.json:
    the embedding rows that each new row starts from. A file of ranks, such as Llama 3's, becomes a
    folder for transformers, which holds the special tokens too.

    \b
    Examples:
      $ bpe extend gpt2 notes.txt --tokens 1000 --out adapted
      $ bpe extend tokenizer.json notes.txt --tokens 1000 --out extended
      $ bpe extend gpt2 notes.txt --tokens 1000 --term Kubernetes --out adapted
    """
    from bpe_core.adapting.adapted import trace_ids
    from bpe_core.adapting.extend import extend as run_extension

    opened, corpus, test = _open(base, files, common, terms_file)
    run = run_extension(
        opened.tokenizer,
        corpus,
        n_tokens,
        show_progress if is_watched() else None,
        tie_break=cast("TieBreak", tie_break),
        terms=[*terms, *_read_terms(terms_file)],
        left_out=[_encode_term(text) for text in left_out],
    )
    report_run(run, test)
    _report_terms(run.terms)
    _write(trace_ids(opened.tokenizer, run.tokenizer), opened, corpus, test, common)


@click.command()
@_common
@click.option("--size", "vocab_size", type=int, required=True, help="How many tokens to keep.")
@order_option
@script_option
@pin_option
def shrink(
    base: str,
    files: tuple[str, ...],
    vocab_size: int,
    order: str,
    scripts: tuple[str, ...],
    pinned: tuple[int, ...],
    **common: Any,
) -> None:
    """Remove the tokens that the text of files uses least, and renumber the others.

    The alphabet and special tokens stay. Writes the same files as `bpe extend`.

    \b
    Examples:
      $ bpe shrink gpt2 notes.txt --size 20000 --out adapted
    """
    from bpe_core.adapting.shrink import shrink as run_shrinking

    opened, corpus, test = _open(base, files, common)
    adapted = run_shrinking(
        opened.tokenizer,
        corpus,
        vocab_size,
        order=cast("RemovalOrder", order),
        pinned=pinned,
        scripts=scripts or None,
        on_progress=show_removals if is_watched() else None,
    )
    _end_progress()
    _write(adapted, opened, corpus, test, common)


@click.command()
@_common
@click.option("--tokens", "n_tokens", type=int, required=True, help="How many tokens to replace.")
@order_option
@script_option
@pin_option
@_term_options
@_leave_out_option
def replace(
    base: str,
    files: tuple[str, ...],
    n_tokens: int,
    order: str,
    scripts: tuple[str, ...],
    pinned: tuple[int, ...],
    terms: tuple[str, ...],
    terms_file: str | None,
    left_out: tuple[str, ...],
    **common: Any,
) -> None:
    """Replace the tokens that the text of files uses least with new ones, at the same size.

    Writes the same files as `bpe extend`.

    \b
    Examples:
      $ bpe replace gpt2 notes.txt --tokens 5 --out adapted
      $ bpe replace gpt2 notes.txt --tokens 5 --script Han --term Kubernetes --out adapted
    """
    from bpe_core.adapting.replace import replace as run_replacing

    opened, corpus, test = _open(base, files, common, terms_file)
    watched = is_watched()
    adapted = run_replacing(
        opened.tokenizer,
        corpus,
        n_tokens,
        show_progress if watched else None,
        pinned=pinned,
        scripts=scripts or None,
        order=cast("RemovalOrder", order),
        terms=[*terms, *_read_terms(terms_file)],
        left_out=[_encode_term(text) for text in left_out],
        on_removal=show_removals if watched else None,
    )
    _end_progress()
    _report_terms(adapted.terms)
    _write(adapted, opened, corpus, test, common)


def _read_terms(name: str | None) -> list[str]:
    """Return the terms in a file, one per line; space at the end of a line is dropped."""
    if name is None:
        return []
    text = read_text(name).removeprefix("\ufeff")
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _encode_term(text: str) -> bytes:
    from bpe_core.pretokenizers.special_tokens import check_text

    check_text(text)
    return text.encode()


def _report_terms(costs: Sequence[TermCost]) -> None:
    """Report on stderr what each term cost and saved, or why it is not a token."""
    for cost in costs:
        name = repr(cost.term)
        if cost.reason is not None:
            click.echo(f"{name} is not one token: {cost.reason}", err=True)
        elif not cost.tokens_added:
            click.echo(f"{name} is one token already.", err=True)
        else:
            added = f"{cost.tokens_added:,} token{'s' * (cost.tokens_added > 1)}"
            saved = f"{cost.tokens_saved:,} saved in this text"
            absent = ". It does not occur there, so that text does not train its row"
            click.echo(
                f"{name} is one token: {added} added, {saved}{absent if cost.is_absent else ''}.",
                err=True,
            )


def _end_progress() -> None:
    """End the line that shows progress."""
    if is_watched():
        click.echo(err=True)


def _open(
    base: str, files: tuple[str, ...], common: dict[str, Any], terms_file: str | None = None
) -> tuple[BaseFiles, Corpus | CountedCorpus, Corpus | None]:
    """Open the base, the corpus and held-out text; raise if the result could not be written.

    Large text files are counted as a stream, once.
    """
    from bpe_core.adapting.adapted import trace_ids
    from bpe_core.counting.streamed import StreamedCorpus
    from bpe_core.formats.adapted.adapted_files import row_files
    from bpe_core.formats.adapted.adapting_base import open_base
    from bpe_core.formats.format_by_name import format_by_name, is_folder
    from bpe_core.runs.count import count
    from bpe_core.runs.progress import Watch

    choice = HeldOutChoice(common["held_out"], common["held_out_by"], common["held_out_files"])
    choice.check()
    special_tokens = parse_special_tokens(common["special_tokens"])
    fetch_watched(base)
    opened = open_base(base, common["pretokenizer"], special_tokens or None)
    # Written once unchanged, because a refusal after the whole run would come too late.
    unchanged = trace_ids(opened.tokenizer, opened.tokenizer)
    inputs = [base, *files, *([terms_file] if terms_file else [])]
    named = format_by_name(common["out"])
    is_file_name = named is not None and not is_folder(common["out"])
    check_outputs(
        {**_written(unchanged, opened, common), **row_files(unchanged)},
        common["out"],
        inputs,
        force=common["force"],
        note=f"{common['out']} is written as a folder of several files." if is_file_name else None,
    )
    columns_and_encoding = common["text_column"], common["encoding"], common["errors"]
    corpus, test = open_corpus(files, *columns_and_encoding, choice)
    if not isinstance(corpus, StreamedCorpus):
        return opened, corpus, test
    watch = Watch(1, time.perf_counter(), None, None)
    return opened, count(corpus, opened.tokenizer.pretokenizer.name, None, watch), test


def _write(
    adapted: Adapted,
    opened: BaseFiles,
    corpus: Corpus | CountedCorpus,
    test: Corpus | None,
    common: dict[str, Any],
) -> None:
    """Write the adapted tokenizer and the rows; report on stderr what was gained."""
    from bpe_core.adapting.adapted import count_with_missing
    from bpe_core.comparison.interval_words import describe_interval
    from bpe_core.formats.adapted.adapted_files import format_for, row_files
    from bpe_core.formats.load_save import write_files

    files = _written(adapted, opened, common)
    written = write_files({**files, **row_files(adapted)}, common["out"])
    format_name = format_for(opened.files, opened.tokenizer, common["format_name"])
    if format_name is not None and not opened.files.keys() & files.keys():
        note_what_lacks(adapted.tokenizer, format_name)
    told = f"{adapted.base.vocab_size:,} tokens became {adapted.tokenizer.vocab_size:,}."
    for name, text in (("This text", corpus), ("Held-out text", test)):
        if text is not None and text.n_bytes:
            before, after = (
                count_with_missing(each, text) for each in (adapted.base, adapted.tokenizer)
            )
            told += f" {name} takes {after:,} tokens instead of {before:,}{_change(before, after)}"
            if text is test and test is not None and before != after:
                how_sure = describe_interval(test, adapted.tokenizer, adapted.base)
                told += f"{how_sure.in_brackets}. {how_sure.method}"
            else:
                told += "."
    click.echo(told, err=True)
    click.echo(f"Written: {', '.join(map(str, written))}", err=True)


def _change(before: int, after: int) -> str:
    """Return the change in a number of tokens, in per cent; nothing if there is none."""
    if not before or before == after:
        return ""
    return f", {100 * abs(after - before) / before:.1f}% {'fewer' if after < before else 'more'}"


def _written(adapted: Adapted, opened: BaseFiles, common: dict[str, Any]) -> dict[str, bytes]:
    from bpe_core.formats.adapted.adapted_files import adapted_files, format_for
    from bpe_core.formats.huggingface import FILE_NAME
    from bpe_core.formats.load_save import dumps
    from bpe_core.formats.transformers_folder import role_files

    format_name = format_for(opened.files, opened.tokenizer, common["format_name"])
    if format_name is None:
        return adapted_files(adapted, opened.files)
    if format_name in ("huggingface", "transformers") and FILE_NAME in opened.files:
        # The base's own files hold more, such as a chat template or another normalizer.
        own = adapted_files(adapted, opened.files)
        is_folder = format_name == "transformers"
        return (
            {**role_files(adapted.tokenizer), **own} if is_folder else {FILE_NAME: own[FILE_NAME]}
        )
    return dumps(adapted.tokenizer, format_name)
