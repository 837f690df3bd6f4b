"""The commands `bpe extend`, `bpe shrink` and `bpe replace`, which adapt a tokenizer to text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bpe_core.cli.outputs import Bar, check_json, check_outputs, print_json
from bpe_core.cli.results import (
    change_words,
    check_beside,
    describe_gain,
    describe_held_out,
    describe_run,
    describe_terms,
    report_run,
    report_terms,
    write_beside,
)
from bpe_core.cli.sources import takes_sources
from bpe_core.cli.support import (
    FORMATS,
    TIE_BREAKS,
    Option,
    add_all,
    choice_option,
    fetch_missing,
    gather,
    json_option,
    note_what_lacks,
    out_option,
    parse_special_tokens,
    read_text,
    tokenizer_options,
)
from bpe_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bpe_core.adapting import Adapted, RemovalOrder
    from bpe_core.cli.sources import OpenedText, Sources
    from bpe_core.corpus import Corpus, TrainedOn, WordCounts
    from bpe_core.formats import BaseFiles
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.trainers import TermCost, TrainingRun
    from bpe_core.types import Format, TieBreak

_ORDERS = ("fewest-uses", "last-learned")


class _Opened(NamedTuple):
    """What a command works on."""

    base: BaseFiles
    words: WordCounts
    text: OpenedText

    @property
    def test(self) -> Corpus | None:
        """The held-out text."""
        return self.text.held_out

    @property
    def trained_on(self) -> TrainedOn:
        """What the new tokenizer has learned from."""
        from bpe_core.corpus import TrainedOn

        known = self.words.summary
        return TrainedOn(known.sha256, known.n_bytes, self.words.divided)


@dataclass(frozen=True, slots=True)
class _Request:
    """What all three commands are given."""

    base: str
    sources: Sources
    out: str
    force: bool
    format_name: Format | None
    pretokenizer: str | None
    special_tokens: tuple[str, ...]
    as_json: bool

    def open(self, addition: _Addition | None = None) -> _Opened:
        """Open the base, and count the text; raise first if the result could not be written."""
        from bpe_core.adapting import Adapted
        from bpe_core.formats import BaseFiles, format_by_name, row_files

        self.sources.check()
        check_json(self.out, wanted=self.as_json)
        special_tokens = parse_special_tokens(self.special_tokens)
        fetch_missing(self.base)
        base = BaseFiles.open(self.base, self.pretokenizer, special_tokens or None)
        if addition is not None:
            addition.check_coverage(base.tokenizer)
        # Written once unchanged, because a refusal after the whole run would come too late.
        unchanged = Adapted.of(base.tokenizer, base.tokenizer)
        inputs = [self.base, *self.sources.inputs()]
        if addition is not None and addition.terms_file:
            inputs.append(addition.terms_file)
        files = {**base.rewritten(unchanged, self.format_name), **row_files(unchanged)}
        is_file_name = format_by_name(self.out) not in (None, "transformers")
        check_outputs(
            files,
            self.out,
            inputs,
            force=self.force,
            note=f"{self.out} is written as a folder of several files." if is_file_name else None,
        )
        check_beside(files, self.out, self.sources, inputs, force=self.force)
        return _Opened(base, *self.sources.count(base.tokenizer.pretokenizer.name, self.out))

    def write(self, adapted: Adapted, base: BaseFiles) -> list[Path]:
        """Write the files of an adapted tokenizer and its rows; return their paths."""
        from bpe_core.formats import row_files, write_files

        files = base.rewritten(adapted, self.format_name)
        return write_files({**files, **row_files(adapted)}, self.out)

    def note_what_lacks(self, adapted: Adapted, base: BaseFiles) -> None:
        """Report on stderr which parts of an adapted tokenizer its files do not hold."""
        format = base.format_for(self.format_name)
        if format is not None and not base.files.keys() & base.rewritten(adapted, format).keys():
            note_what_lacks(adapted.tokenizer, format)


@dataclass(frozen=True, slots=True)
class _Removal:
    """Which tokens are removed."""

    order: RemovalOrder
    scripts: tuple[str, ...]
    pinned: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Addition:
    """Which tokens are made."""

    tie_break: TieBreak
    terms: tuple[str, ...]
    terms_file: str | None
    left_out: tuple[str, ...]
    character_coverage: float | None

    @property
    def coverage(self) -> float:
        """The share of the text whose characters become tokens."""
        from bpe_core.adapting import DEFAULT_COVERAGE

        return DEFAULT_COVERAGE if self.character_coverage is None else self.character_coverage

    def check_coverage(self, base: Tokenizer) -> None:
        """Raise ConfigError for a share of characters if the base spells none in bytes."""
        if self.character_coverage is not None and not base.table.byte_ids:
            raise ConfigError(
                "--character-coverage is for a base that spells rare characters in bytes, such as "
                "Llama 2's, and this one merges them like any others. Omit it."
            )

    def all_terms(self) -> list[str]:
        """Return the terms that were given, and those in the file."""
        return [*self.terms, *_read_terms(self.terms_file)]

    def left_out_tokens(self) -> list[bytes]:
        """Return the tokens not to make; raises InvalidTextError."""
        return [_encode_term(text) for text in self.left_out]


_removes: Option[Any] = add_all(
    choice_option(
        "--order", _ORDERS, default="fewest-uses", help="Which tokens are removed first."
    ),
    click.option(
        "--script",
        "scripts",
        multiple=True,
        metavar="NAME",
        help="Remove tokens of this script only, such as Latin or Han; may be repeated.",
    ),
    click.option(
        "--pin",
        "pinned",
        type=int,
        multiple=True,
        metavar="ID",
        help="An id that stays; may be repeated.",
    ),
    gather("removal", _Removal),
)
_adds: Option[Any] = add_all(
    choice_option(
        "--tie-break",
        TIE_BREAKS,
        default="smallest-pair",
        help="Which pair to merge when several are equally frequent.",
    ),
    click.option(
        "--term",
        "terms",
        multiple=True,
        metavar="TEXT",
        help="A word to make one token before others are learned; may be repeated.",
    ),
    click.option(
        "--terms",
        "terms_file",
        metavar="FILE",
        help="A UTF-8 file with more such words, one per line.",
    ),
    click.option(
        "--leave-out",
        "left_out",
        multiple=True,
        metavar="TEXT",
        help="A token not to add, with its space, such as ' Inc'; may be repeated.",
    ),
    click.option(
        "--character-coverage",
        type=float,
        metavar="SHARE",
        help="Of a base that spells rare characters in bytes: the share of the text whose "
        "characters become tokens, before others are learned.  [default: 0.9995]",
    ),
    gather("addition", _Addition),
)
_adapts: Option[Any] = add_all(
    click.argument("base"),
    takes_sources(),
    out_option("The folder to write the files to."),
    click.option(
        "--format",
        "format_name",
        type=click.Choice(FORMATS),
        help="What to write instead of the base's own format; transformers if that is a "
        "file of ranks, which holds no special tokens.",
    ),
    tokenizer_options,
    json_option,
    gather("request", _Request),
)
"""What all three commands are given."""


@click.command()
@_adapts
@click.option("--tokens", "n_tokens", type=int, required=True, help="How many tokens to add.")
@click.option(
    "--worth",
    type=click.FloatRange(0, 100, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    metavar="PERCENT",
    help="Report after how many new tokens no further hundred saves at least this percentage of "
    "the text's tokens.",
)
@_adds
def extend(request: _Request, n_tokens: int, worth: float, addition: _Addition) -> None:
    """Add tokens for the text of sources to a tokenizer; its own tokens keep their ids.

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
    from bpe_core.adapting import Adapted
    from bpe_core.adapting import extend as run_extension

    opened = request.open(addition)
    with Bar() as bar:
        run = run_extension(
            opened.base.tokenizer,
            opened.words,
            n_tokens,
            bar.show_training,
            tie_break=addition.tie_break,
            terms=addition.all_terms(),
            left_out=addition.left_out_tokens(),
            character_coverage=addition.coverage,
        )
    adapted = Adapted.of(opened.base.tokenizer, run.tokenizer)
    _write(request, opened, adapted, run.terms, run, worth / 100)


@click.command()
@_adapts
@click.option("--size", "vocab_size", type=int, required=True, help="How many tokens to keep.")
@_removes
def shrink(request: _Request, vocab_size: int, removal: _Removal) -> None:
    """Remove the tokens that the text of sources uses least, and renumber the others.

    The alphabet and special tokens stay. Writes the same files as `bpe extend`.

    \b
    Examples:
      $ bpe shrink gpt2 notes.txt --size 20000 --out adapted
    """
    from bpe_core.adapting import shrink as run_shrinking

    opened = request.open()
    with Bar() as bar:
        adapted = run_shrinking(
            opened.base.tokenizer,
            opened.words,
            vocab_size,
            order=removal.order,
            pinned=removal.pinned,
            scripts=removal.scripts or None,
            on_progress=bar.show_removals,
        )
    _write(request, opened, adapted)


@click.command()
@_adapts
@click.option("--tokens", "n_tokens", type=int, required=True, help="How many tokens to replace.")
@_removes
@_adds
def replace(request: _Request, n_tokens: int, removal: _Removal, addition: _Addition) -> None:
    """Replace the tokens that the text of sources uses least with new ones, at the same size.

    Writes the same files as `bpe extend`.

    \b
    Examples:
      $ bpe replace gpt2 notes.txt --tokens 5 --out adapted
      $ bpe replace gpt2 notes.txt --tokens 5 --script Han --term Kubernetes --out adapted
    """
    from bpe_core.adapting import replace as run_replacing

    opened = request.open(addition)
    with Bar() as bar:
        adapted = run_replacing(
            opened.base.tokenizer,
            opened.words,
            n_tokens,
            bar.show_training,
            pinned=removal.pinned,
            scripts=removal.scripts or None,
            order=removal.order,
            terms=addition.all_terms(),
            left_out=addition.left_out_tokens(),
            tie_break=addition.tie_break,
            character_coverage=addition.coverage,
            on_removal=bar.show_removals,
        )
    _write(request, opened, adapted, adapted.terms)


def _read_terms(name: str | None) -> list[str]:
    """Return the terms in a file, one per line; space at the end of a line is dropped."""
    if name is None:
        return []
    text = read_text(name).removeprefix("\ufeff")
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _encode_term(text: str) -> bytes:
    from bpe_core.tokenizer import check_text

    check_text(text)
    return text.encode()


def _write(
    request: _Request,
    opened: _Opened,
    adapted: Adapted,
    terms: Sequence[TermCost] = (),
    run: TrainingRun | None = None,
    worth: float = 0.0,
) -> None:
    """Write the adapted tokenizer and the rows; report what was gained, on stderr and as JSON."""
    from bpe_core.comparison import compare
    from bpe_core.trainers import count_with_missing

    written = request.write(adapted, opened.base)
    file, to_compare = write_beside(opened.text, opened.trained_on, request.out, request.base)
    figures: dict[str, Any] = {}
    if run is not None:
        report_run(run, opened.test)
        characters = () if run.continues is None else run.continues.characters
        figures = {**describe_run(run), "n_characters_added": len(characters)}
        figures["advice"] = _advise(run, opened.test, worth)
    report_terms(terms)
    request.note_what_lacks(adapted, opened.base)
    both = adapted.base, adapted.tokenizer
    sizes = {"base_vocab_size": both[0].vocab_size, "vocab_size": both[1].vocab_size}
    told = "{base_vocab_size:,} tokens became {vocab_size:,}.".format_map(sizes)
    before, after = (count_with_missing(each, opened.words) for each in both)
    told += f" This text takes {change_words(before, after)}."
    of_text = {"n_bytes": opened.words.summary.n_bytes, "n_base_tokens": before, "n_tokens": after}
    held_out: dict[str, Any] | None = None
    if opened.test is not None and opened.test.n_bytes:
        before, after = (count_with_missing(each, opened.test) for each in both)
        compared = compare(opened.test, [adapted.tokenizer, adapted.base])
        saving = compared.gain()
        how_sure = compared.interval_words(saving)
        told += f" Held-out text takes {change_words(before, after)}"
        told += f"{how_sure.in_brackets}. {how_sure.method}" if before != after else "."
        gain = {"n_base_tokens": before, "n_tokens": after, **describe_gain(saving.whole)}
        held_out = describe_held_out(opened.test, **gain, file=file)
    advice = [] if run is None else [f"{figures['advice']['on']}: {figures['advice']['sentence']}"]
    for line in (*advice, told, f"Written: {', '.join(map(str, written))}", *to_compare):
        click.echo(line, err=True)
    if request.as_json:
        print_json(
            {
                "written": [*map(str, written)],
                **sizes,
                **figures,
                "terms": describe_terms(terms),
                "text": of_text,
                "held_out": held_out,
            }
        )


def _advise(run: TrainingRun, held_out: Corpus | None, worth: float) -> dict[str, Any]:
    """Return how many tokens are worth adding, on held-out text if there is some."""
    from bpe_core.adapting import Advice

    if held_out is not None and held_out.n_bytes:
        name, after = "Held-out text", run.tokens_after_new(held_out)
    else:
        name, after = "This text", run.tokens_after_new()
    advice = Advice.of(run, after, worth)
    return {"on": name, **advice.to_dict()}
