"""Helpers shared by the commands: load tokenizers, read input, report errors as one line."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bpe_core.cli.downloads import fetch_watched
from bpe_core.cli.streams import (
    abandon_output,
    describe_output_error,
    is_watched,
    open_missing_streams,
    print_error,
)
from bpe_core.corpus.urls import files_at, is_pattern
from bpe_core.errors import (
    BpeError,
    ConfigError,
    CorpusError,
    FormatError,
    TextDecodingError,
    TokenizationError,
)

if TYPE_CHECKING:
    from bpe_core.corpus.corpus import Corpus
    from bpe_core.corpus.text_decoding import DecodingErrors
    from bpe_core.counting.streamed import StreamedCorpus
    from bpe_core.formats.running.run_across_words import AcrossWordsTokenizer
    from bpe_core.runs.run import TrainingRun
    from bpe_core.tokenizer.protocol import Encoder
    from bpe_core.tokenizer.tokenizer import Tokenizer
    from bpe_core.types import TrainingProgress

_MIN_BYTES_TO_STREAM = 64 << 20
_STOP_REASONS = {
    "vocab-size": "the vocabulary is full",
    "no-pairs": "no pairs are left",
    "min-frequency": "no pair is frequent enough",
    "cancelled": "it was cancelled",
}


class ErrorLineGroup(click.Group):
    """Commands whose errors end as one line on stderr and exit status 1."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command; an error of standard output ends it without a traceback."""
        open_missing_streams()
        try:
            try:
                return super().main(*arguments, **options)
            finally:
                sys.stdout.flush()  # at Python's end, an error would be printed as a traceback
        except (OSError, UnicodeEncodeError) as error:
            # A reader that closes the pipe early, such as head, has seen enough.
            if not isinstance(error, BrokenPipeError):
                print_error(describe_output_error(error))
            abandon_output()
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; raise a `ClickException`, which is one line, for an error of its input."""
        try:
            return super().invoke(ctx)
        except BpeError as error:
            raise click.ClickException(" ".join(str(error).split())) from None
        except MemoryError:
            raise click.ClickException(
                "There is not enough memory. Use a smaller input, or a machine with more."
            ) from None
        except OSError as error:
            if error.filename is None:  # while standard output was written
                raise
            raise click.ClickException(
                f"{str(error.filename)!r}: {error.strerror}. Check the path and its permissions."
            ) from None


class StandardInput:
    """Standard input, read like a file."""

    name = "standard input"

    def read(self) -> bytes:
        """Read all of it; raises `CorpusError` if it is closed or a folder."""
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise CorpusError("Standard input is closed. Name a file, or pipe text to the command.")
        try:
            return sys.stdin.buffer.read()
        except OSError as error:
            raise CorpusError(
                f"Standard input cannot be read: {error.strerror}. Name a file, or pipe text to "
                "the command."
            ) from None


class HeldOutChoice(NamedTuple):
    """What to measure on: a part of the corpus, or other files."""

    share: float
    by: str
    files: tuple[str, ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether there is anything to measure on."""
        return bool(self.share or self.files)

    @property
    def column(self) -> str | None:
        """The column of a table by which text is held out, or None."""
        kind, _, name = self.by.partition(":")
        return name if kind == "column" and self.share else None

    def check(self) -> None:
        """Raise ConfigError for an unknown unit, one without a share, and a share with files."""
        from bpe_core.corpus.held_out import check_by

        check_by(self.by)
        if self.by != "document" and not self.share:
            raise ConfigError(
                f"Nothing is held out by {self.by} without a share. Add it, such as --held-out "
                "0.08, or omit --held-out-by."
            )
        if self.share and self.files:
            raise ConfigError("Give either --held-out or --held-out-file, not both.")


def open_corpus(
    files: tuple[str, ...],
    text_column: str | None,
    encoding: str | None,
    errors: DecodingErrors,
    held_out: HeldOutChoice,
) -> tuple[Corpus | StreamedCorpus, Corpus | None]:
    """Return a corpus of files, and the held-out text; without any, a large corpus is streamed.

    Documents that are also in a held-out file are left out of the corpus.
    """
    if held_out.share:
        return split_corpus(files, text_column, encoding, errors, held_out)
    if not held_out.files:
        return read_or_stream(files, text_column, encoding, errors), None
    corpus = read_whole_corpus(files, text_column, encoding, errors)
    own = read_whole_corpus(held_out.files, text_column, encoding, errors)
    training, test = corpus.hold_out(own)
    if n := corpus.n_sources - training.n_sources:
        what = "1 document that is" if n == 1 else f"{n:,} documents that are"
        click.echo(f"Left out of the training text: {what} in the held-out text too.", err=True)
    return training, test


def split_corpus(
    files: tuple[str, ...],
    text_column: str | None,
    encoding: str | None,
    errors: DecodingErrors,
    held_out: HeldOutChoice,
) -> tuple[Corpus, Corpus]:
    """Read a corpus of files, split it, and report on stderr what was held out."""
    from bpe_core.comparison.interval_words import unit_noun

    corpus = read_whole_corpus(files, text_column, encoding, errors, held_out.column)
    training, test = corpus.split(held_out.share, by=held_out.by)
    how = test.how
    if how is None or not test.n_bytes:
        click.echo("Too little text to hold any back.", err=True)
        return training, test
    noun = unit_noun(how, how.n_units)
    flatters = ""
    if how.share_within:
        flatters = f"; {how.share_within:.0%} of it is from within documents that training saw"
    click.echo(
        f"Held out: {test.n_bytes:,} bytes, {how.n_units:,} {noun}{flatters}.",
        err=True,
    )
    return training, test


def read_or_stream(
    files: tuple[str, ...], text_column: str | None, encoding: str | None, errors: DecodingErrors
) -> Corpus | StreamedCorpus:
    """Return a corpus of files, streamed if they are large and plain text."""
    if text_column is None and encoding is None and errors == "strict" and _are_large(files):
        from bpe_core.counting.streamed import stream_corpus

        # A file that can't be streamed may still be readable; if not, the reader raises a better
        # error.
        with suppress(CorpusError):
            return stream_corpus(files)
    return read_whole_corpus(files, text_column, encoding, errors)


def read_whole_corpus(
    files: tuple[str, ...],
    text_column: str | None,
    encoding: str | None,
    errors: DecodingErrors = "strict",
    kept_column: str | None = None,
) -> Corpus:
    """Read a corpus of files, and report on stderr what its reader noticed."""
    from bpe_core.corpus.read_corpus import read_corpus

    sources = [
        source
        for name in files
        for source in ([StandardInput()] if name == "-" else _paths_named(name))
    ]
    corpus = read_corpus(
        sources, text_column, encoding=encoding, errors=errors, kept_column=kept_column
    )
    for note in corpus.notes:
        click.echo(note, err=True)
    return corpus


def _paths_named(name: str) -> list[str]:
    """Return the files that a pattern such as *.txt finds, or the path as it is."""
    if Path(name).exists() or not is_pattern(name):
        return [name]
    return [file.url for file in files_at(name)[0]]


def _are_large(files: tuple[str, ...]) -> bool:
    paths = [Path(name) for name in files if name != "-"]
    if len(paths) < len(files) or not all(path.is_file() for path in paths):
        return False
    return sum(path.stat().st_size for path in paths) >= _MIN_BYTES_TO_STREAM


def load_tokenizer(
    name: str, pretokenizer: str | None, special_tokens: tuple[str, ...]
) -> Tokenizer:
    """Load a tokenizer from a file, or a published one by name if there is no such file.

    A model on the hub is fetched first if it is not in the cache. Raises FormatError if only
    another library can run the tokenizer.
    """
    fetch_watched(name)
    specials = parse_special_tokens(special_tokens)
    from bpe_core.formats.description import check_not_overruled
    from bpe_core.formats.load_save import load

    if name == "gpt2" and not Path(name).exists():
        from bpe_core.tokenizer.gpt2 import gpt2

        check_not_overruled(name, gpt2(), pretokenizer, specials or None)
        return gpt2()
    if _is_published(name):
        from bpe_core.formats.opening.open_encoder import open_encoder
        from bpe_core.tokenizer.equivalent_tokenizer import equivalent_tokenizer

        opened = open_encoder(name)
        merges = equivalent_tokenizer(opened)
        if merges is None:
            raise FormatError(
                f"{opened.name} cannot be loaded as plain byte-pair encoding; bpe encode and bpe "
                f"compare can use it. {opened.provenance}"
            )
        check_not_overruled(name, merges, pretokenizer, specials or None)
        return merges
    return load(name, pretokenizer=pretokenizer, special_tokens=specials or None)


def parse_special_tokens(options: tuple[str, ...]) -> dict[str, int]:
    """Return the special tokens that options give as TEXT=ID."""
    specials: dict[str, int] = {}
    for option in options:
        text, _, id_ = option.rpartition("=")
        if not text or not re.fullmatch("[0-9]{1,18}", id_):
            raise ConfigError(
                f"Expected --special-token TEXT=ID, such as '<|endoftext|>=50256', got {option!r}."
            )
        specials[text] = int(id_)
    return specials


def load_encoder(name: str, pretokenizer: str | None, special_tokens: tuple[str, ...]) -> Encoder:
    """Load what `load_tokenizer` loads, or else an encoder that another library runs."""
    from bpe_core.formats.opening.open_encoder import open_plainest
    from bpe_core.published.hub_names import is_hub_name

    if not special_tokens and (is_hub_name(name) or Path(name).exists()):
        fetch_watched(name)
        return open_plainest(name, pretokenizer).encoder
    try:
        return load_tokenizer(name, pretokenizer, special_tokens)
    except FormatError:
        if special_tokens or not _is_published(name):
            raise
        return open_plainest(name, pretokenizer).encoder


def load_merges(
    name: str, pretokenizer: str | None, special_tokens: tuple[str, ...]
) -> Tokenizer | AcrossWordsTokenizer:
    """Load a tokenizer whose merges bpe_core applies; raises FormatError for all others."""
    from bpe_core.formats.running.run_across_words import AcrossWordsTokenizer
    from bpe_core.tokenizer.tokenizer import Tokenizer

    encoder = load_encoder(name, pretokenizer, special_tokens)
    if isinstance(encoder, Tokenizer | AcrossWordsTokenizer):
        return encoder
    return load_tokenizer(name, pretokenizer, special_tokens)  # raises, and says why


def _is_published(name: str) -> bool:
    from bpe_core.published.catalogue import find_published

    return not Path(name).exists() and find_published(name) is not None


def read_text(name: str) -> str:
    """Read UTF-8 unchanged: a byte order mark and line ends are part of the text."""
    try:
        data = StandardInput().read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CorpusError(f"{name!r} cannot be read: {error.strerror}. Check the path.") from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TextDecodingError(
            f"{StandardInput.name if name == '-' else name} is not UTF-8 at byte {error.start:,} "
            f"(0x{data[error.start]:02X}). Save it as UTF-8."
        ) from None


def read_ids(name: str) -> list[int]:
    """Read ids separated by white space or commas, optionally in one pair of brackets."""
    text = read_text(name).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    words = re.split(r"\s*,\s*|\s+", text) if text else []
    for number, word in enumerate(words, start=1):
        if not re.fullmatch("-?[0-9]{1,18}", word):
            raise TokenizationError(
                f"Number {number:,} of {len(words):,} ids is {word[:40]!r}, not a whole number. "
                "Separate ids by white space or commas, or give a JSON list."
            )
    return list(map(int, words))


def note_what_lacks(tokenizer: Tokenizer, format_name: str) -> None:
    """Report on stderr which parts of a tokenizer the files of a format do not hold."""
    from bpe_core.formats.tiktoken_file import what_ranks_lack
    from bpe_core.formats.transformers_folder import published_with

    if format_name == "tiktoken" and (lack := what_ranks_lack(tokenizer)):
        click.echo(lack, err=True)
    published = published_with(tokenizer.special_tokens)
    if format_name == "transformers" and published is not None:
        click.echo(
            f"The folder has no chat template, because the file of {published.title} has none. "
            "Copy it from the folder of your model.",
            err=True,
        )


def show_progress(progress: TrainingProgress) -> None:
    """Show the progress of training on one line of stderr."""
    if progress.seconds_compiling is not None:
        click.echo(
            f"\rCompiling the engine, once on this machine, {progress.seconds_compiling:.0f} s",
            nl=False,
            err=True,
        )
        return
    click.echo(
        f"\r{progress.merges_done:,} of {progress.merges_wanted:,} merges, "
        f"{progress.elapsed_seconds:.1f} s",
        nl=False,
        err=True,
    )


def show_removals(done: int, of: int) -> None:
    """Show the progress of shrinking on one line of stderr, shorter than that of training."""
    click.echo(f"\r{done:,} of {of:,} removed", nl=False, err=True)


def report_run(run: TrainingRun, held_out: Corpus | None) -> None:
    """Report on stderr why training ended, and bytes per token on both texts."""
    if is_watched():
        click.echo(err=True)
    n_tokens = int(run.tokens_after[-1])
    parts = [
        f"{len(run.merges):,} merges in {run.elapsed_seconds:.1f} s; it stopped because "
        f"{_STOP_REASONS[run.stop_reason]}."
    ]
    if n_tokens:
        parts.append(f"{run.corpus_bytes / n_tokens:.2f} bytes per token")
    n_held_out = int(run.tokens_after_on(held_out)[-1]) if held_out is not None else 0
    if held_out is not None and n_held_out:  # some pre-tokenizers drop all white space
        parts.append(f"({held_out.n_bytes / n_held_out:.2f} on held-out text)")
    click.echo(" ".join(parts), err=True)
