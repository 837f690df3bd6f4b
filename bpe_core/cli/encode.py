"""The commands `bpe encode`, `bpe readers`, `bpe decode` and `bpe encode-corpus`.

Also here: what `bpe inspect` shows of an encoded corpus.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.chat import (
    choose_template,
    conversations,
    print_report,
    read_json,
    set_option,
    set_variables,
    template_option,
    tools_option,
)
from bpe_core.cli.outputs import (
    Bar,
    StandardInput,
    check_output,
    is_standard_output,
    print_json,
    write_output,
    write_text,
)
from bpe_core.cli.sources import Workers, engine_options
from bpe_core.cli.support import (
    errors_option,
    fetch_missing,
    json_option,
    load_encoder,
    out_option,
    read_ids,
    read_text,
    text_column_option,
    tokenizer_options,
)
from bpe_core.corpus import Location
from bpe_core.errors import ConfigError, explain

if TYPE_CHECKING:
    from bpe_core.corpus import DecodingErrors
    from bpe_scale import EncodingProgress, EosFacts, Estimate, Format, Manifest

_POWERS: Final = {"": 0, "K": 3, "M": 6, "G": 9, "B": 9}
_SECONDS_BETWEEN_REPORTS: Final = 0.5
_MAX_TOKENS_SHOWN: Final = 32
_PIECE: Final = 1 << 20


@click.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@click.option("--tokens", is_flag=True, help="Print each id with its token, one per line.")
@click.option("--allow-special", is_flag=True, help="Recognise special tokens in the text.")
@click.option(
    "--skip-unknown",
    is_flag=True,
    help="Skip symbols missing from the alphabet instead of stopping.",
)
@out_option("Where to write instead of standard output.", required=False)
@tokenizer_options
def encode(
    tokenizer: str,
    file: str,
    out: str | None,
    *,
    force: bool,
    tokens: bool,
    allow_special: bool,
    skip_unknown: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Print the ids of a text, read from FILE or standard input.

    Tokens are written as GPT-2 writes them: a space as Ġ, other unprintable bytes as letters from
    U+0100 on.

    \b
    Examples:
      $ echo -n "The quick brown fox" | bpe encode gpt2
      464 2068 7586 21831
      $ echo -n "hugs" | bpe encode --tokens gpt2
      71 h
      10339 ugs
    """
    from bpe_core.formats import WrittenKind
    from bpe_core.tokenizer import find_own
    from bpe_core.unicode import to_printable

    out = out or "-"
    check_output(None if tokens else WrittenKind.IDS, out, [tokenizer, file], force=force)
    loaded = load_encoder(tokenizer, pretokenizer, special_tokens)
    text, allowed = read_text(file), "all" if allow_special else ()
    # Other libraries decide by themselves what happens to unknown symbols.
    own = find_own(loaded) if skip_unknown else None
    ids = loaded.encode(text, allowed) if own is None else own.encode(text, allowed, errors="skip")
    if tokens:
        lines = [f"{id_} {to_printable(loaded.vocab[id_])}\n" for id_ in ids]
    else:
        lines = [" ".join(map(str, ids)), "\n"]
    write_text("".join(lines), out)


@click.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@click.option("--allow-special", is_flag=True, help="Recognise special tokens in the text.")
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="The probability with which a merge is passed over.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed of dropout."
)
@json_option
@tokenizer_options
def readers(
    tokenizer: str,
    file: str,
    *,
    allow_special: bool,
    dropout: float,
    seed: int,
    as_json: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Cut a text with one vocabulary in five ways: FILE or standard input.

    For each way: its tokens, their Rényi efficiency (alpha 2.5, of the vocabulary's size), and the
    first of them. Below it, how many of the last tokens another text would change, for texts of up
    to 10,000 characters: a model that continues the text keeps them.

    \b
    Examples:
      $ echo -n " Northamptonshire" | bpe readers gpt2
      $ bpe readers mine.json notes.txt --dropout 0.3 --json
    """
    from bpe_core.comparison import renyi
    from bpe_core.tokenizer import MAX_PROMPT, READERS, encode_by, unstable_end
    from bpe_core.unicode import to_printable

    loaded = load_encoder(tokenizer, pretokenizer, special_tokens)
    text, allowed = read_text(file), "all" if allow_special else ()
    rows: list[dict[str, Any]] = []
    for reader in READERS:
        ids = encode_by(loaded, text, reader, dropout=dropout, seed=seed, allowed_special=allowed)
        efficiency = renyi(ids, vocab_size=loaded.vocab_size) if ids else None
        rows.append({"reader": reader, "tokens": len(ids), "efficiency": efficiency, "ids": ids})
    end = unstable_end(loaded, text, allowed) if len(text) <= MAX_PROMPT else None
    if as_json:
        print_json({"readers": rows, "unstable_end": None if end is None else end._asdict()})
        return
    widest = max(len(f"{row['tokens']:,}") for row in rows)
    for row in rows:
        shown = " ".join(to_printable(loaded.vocab[id]) for id in row["ids"][:_MAX_TOKENS_SHOWN])
        more = " …" if row["tokens"] > _MAX_TOKENS_SHOWN else ""
        efficiency = "" if row["efficiency"] is None else f"{row['efficiency']:.3f}"
        counts = f"{row['tokens']:>{widest},}  {efficiency}"
        click.echo(f"{row['reader']:13}  {counts}  {shown}{more}".rstrip())
    if end is not None and end.n_unstable:
        becomes = " ".join(to_printable(loaded.vocab[id]) for id in end.ids)
        click.echo(
            f"Unstable at the end: {counted(end.n_unstable, 'token')}. With {end.added!r} added: "
            f"{becomes}"
        )
    elif end is not None:
        click.echo("Unstable at the end: no token.")


@click.command()
@click.argument("tokenizer")
@click.argument("file", default="-")
@out_option("Where to write instead of standard output.", required=False)
@tokenizer_options
def decode(
    tokenizer: str,
    file: str,
    out: str | None,
    *,
    force: bool,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Print the text of ids, read from FILE or standard input.

    Ids are separated by white space or commas, or given as a JSON list. Nothing is added, not even
    a line end, and bytes that are not valid UTF-8 are written as they are.

    \b
    Examples:
      $ echo 464 2068 7586 21831 | bpe decode gpt2
      The quick brown fox
      $ echo -n "as it was" | bpe encode gpt2 | bpe decode gpt2
      as it was
    """
    out = out or "-"
    check_output(None, out, [tokenizer, file], force=force)
    loaded = load_encoder(tokenizer, pretokenizer, special_tokens)
    write_output(loaded.decode_bytes(read_ids(file)), out)


@click.command("encode-corpus")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--tokenizer", "-t", required=True, metavar="TOKENIZER", help="What encodes.")
@out_option("The folder to write: shards, and a manifest that describes them.")
@click.option(
    "--format",
    type=click.Choice(("bin", "megatron", "npy", "parquet")),
    default="bin",
    show_default=True,
    help="bin: ids of 16 or 32 bits, for np.memmap; megatron: .bin and .idx; npy: arrays; parquet: "
    "the columns input_ids and n_tokens.",
)
@click.option(
    "--shard-tokens",
    default="100M",
    show_default=True,
    metavar="N",
    help="About how many tokens a shard holds.",
)
@click.option(
    "--pack", metavar="N", help="Join documents, and cut them into rows of exactly N tokens."
)
@click.option(
    "--eos",
    default="auto",
    metavar="TOKEN",
    help="The special token after each document, or none.  [default: the tokenizer's own]",
)
@click.option(
    "--val-share",
    type=float,
    default=0.0,
    help="The share of the documents for shards named val, such as 0.01; a hash of their text "
    "chooses them.",
)
@click.option("--shuffle-seed", type=int, help="Shuffle the documents of each shard.")
@text_column_option
@click.option(
    "--keep-column",
    "keep_columns",
    multiple=True,
    metavar="NAME",
    help="Write this column of Parquet or JSON lines next to the ids, with --format parquet. Give "
    "it once for each column.",
)
@click.option(
    "--chat",
    "is_chat",
    is_flag=True,
    help="Read conversations from JSON lines or Parquet, render each by the tokenizer's chat "
    "template, and write ids and the mask of what is learned, with --format parquet. Takes no "
    "other option but --shard-tokens, --work, and the next three.",
)
@template_option
@tools_option
@set_option
@errors_option
@click.option(
    "--skip-damaged",
    is_flag=True,
    help="Leave out what cannot be read of damaged files, and list them.",
)
@click.option(
    "--dry-run", is_flag=True, help="Encode a sample, and estimate tokens, disk and time."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print progress and the result as JSON, one object per line.",
)
@engine_options
@tokenizer_options
def encode_corpus(
    sources: tuple[str, ...],
    tokenizer: str,
    out: str,
    *,
    force: bool,
    format: Format,
    shard_tokens: str,
    pack: str | None,
    eos: str,
    val_share: float,
    shuffle_seed: int | None,
    text_column: str | None,
    keep_columns: tuple[str, ...],
    is_chat: bool,
    given_template: str | None,
    tools: str | None,
    variables: tuple[str, ...],
    errors: DecodingErrors,
    skip_damaged: bool,
    dry_run: bool,
    as_json: bool,
    workers: Workers,
    pretokenizer: str | None,
    special_tokens: tuple[str, ...],
) -> None:
    """Encode files, folders or URLs into shards of token ids for training.

    Sources are those of bpe count: text (a file is a document), JSON lines and Parquet (a row is
    one), packed or not, and larger than memory. The same sources, options and tokenizer give the
    same bytes. A command that was killed resumes where it stopped. bpe inspect FOLDER shows and
    verifies the result.

    \b
    Examples:
      $ bpe encode-corpus notes.txt -t gpt2 --out tokens
      $ bpe encode-corpus notes.txt -t mine.json --pack 64 --format npy --out rows
    """
    from bpe_core.tokenizer import find_own
    from bpe_scale import encode_corpus as encode_sources
    from bpe_scale import find_eos

    if is_chat:
        n = parse_count(shard_tokens, "--shard-tokens")
        _encode_chats(
            sources,
            tokenizer,
            out,
            workers.work,
            (given_template, tools, variables),
            force=force,
            n=n,
            as_json=as_json,
        )
        return
    unread = {"--template": given_template, "--tools": tools, "--set": variables}
    if wanting := [option for option, value in unread.items() if value]:
        raise ConfigError(f"{wanting[0]} needs --chat: it is about conversations.")
    workers.check()
    encoder = load_encoder(tokenizer, pretokenizer, special_tokens)
    # Other encoders are opened by name, by the workers too.
    given = find_own(encoder) or tokenizer
    ending = find_eos(encoder, None if eos == "none" else eos)
    end_token = ending.token if ending is not None else None
    if dry_run:
        from bpe_scale import estimate_corpus

        with _saved_input(sources, out) as names:
            found = estimate_corpus(
                names,
                given,
                format=format,
                eos=end_token,
                text_column=text_column,
                keep_columns=keep_columns,
                errors=errors,
                skip_damaged=skip_damaged,
            )
        if as_json:
            print_json(found._asdict())
        else:
            click.echo(_describe_estimate(found))
        return
    if is_standard_output(out):
        raise ConfigError("The result has several files. Name a folder with --out.")
    check_output("a JSON object", f"{out}/manifest.json", [], force=force, makes_folder=True)
    click.echo(f"After each document: {_describe_eos(ending)}.", err=True)
    with (
        _saved_input(sources, out) as names,
        workers.engine() as engine,
        Bar() as bar,
    ):
        manifest = encode_sources(
            names,
            given,
            out,
            format=format,
            shard_tokens=parse_count(shard_tokens, "--shard-tokens"),
            pack=parse_count(pack, "--pack") if pack is not None else None,
            eos=end_token,
            val_share=val_share,
            shuffle_seed=shuffle_seed,
            text_column=text_column,
            keep_columns=keep_columns,
            errors=errors,
            skip_damaged=skip_damaged,
            work=workers.work,
            overwrite=force,
            engine=engine,
            on_progress=_Progress(None if as_json else bar).show,
        )
    for note in manifest.notes:
        click.echo(printable(note), err=True)
    if manifest.skipped_rows:
        click.echo(f"Skipped {counted(manifest.skipped_rows, 'row')} without text.", err=True)
    if as_json:
        print_json({"event": "finished", **_figures(manifest)})
    else:
        click.echo(_summary(manifest), err=True)


_CHAT_OPTIONS: Final = {"--tokenizer", "--out", "--force", "--format", "--shard-tokens"} | {
    "--chat",
    "--json",
    "--work",
    "--template",
    "--tools",
    "--set",
}


def _encode_chats(
    sources: tuple[str, ...],
    tokenizer: str,
    out: str,
    work: str | None,
    rendering: tuple[str | None, str | None, tuple[str, ...]],
    *,
    force: bool,
    n: int,
    as_json: bool,
) -> None:
    """Write ids and masks of conversations into a folder of Parquet files, and report on them."""
    from bpe_core.corpus import SourceFile
    from bpe_core.formats import open_encoder
    from bpe_scale import encode_chats

    context = click.get_current_context()
    options = {option.name or "": option.opts[0] for option in context.command.params}
    given = [
        option
        for name, option in options.items()
        if option.startswith("-")
        and option not in _CHAT_OPTIONS
        and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise ConfigError(
            f"--chat does not take {' and '.join(given)}: each conversation is a row, as the chat "
            f"template writes it. Omit {'it' if len(given) == 1 else 'them'}."
        )
    if context.params["format"] != "parquet" or is_standard_output(out):
        raise ConfigError("Conversations are written with --format parquet, into a folder.")
    fetch_missing(tokenizer)
    opened = open_encoder(tokenizer)
    given_template, tools, variables = rendering
    template = choose_template(opened.chat, given_template, tokenizer)
    more = set_variables(template, variables)
    if tools is not None:
        more["tools"] = read_json(tools, "The tools are")
    check_output(
        "a JSON object", f"{out}/manifest.json", [*sources], force=force, makes_folder=True
    )
    files = [("standard input", "-")] if "-" in sources else []
    for source in SourceFile.find(name for name in sources if name != "-"):
        if source.packing is not None:
            raise ConfigError(f"--chat reads JSON lines and Parquet. Unpack {source.name} first.")
        files.append((source.name, source.url))
    manifest, report = encode_chats(
        ((name, conversations(url, more)) for name, url in files),
        template,
        opened.encoder,
        out,
        name=tokenizer,
        shard_tokens=n,
        work=work,
        overwrite=force,
    )
    print_report(report, as_json=as_json)
    click.echo(_summary(manifest), err=True)


def show_encoded(folder: str) -> None:
    """Print what a folder of shards holds, and check all files against the manifest.

    Raises IntegrityError for a file that is missing or was changed.
    """
    from bpe_core.unicode import to_printable
    from bpe_scale import Manifest

    manifest = Manifest.read(folder)
    click.echo(f"format          {manifest.format} {manifest.dtype}")
    tokenizer, ending = manifest.tokenizer, manifest.eos
    size = counted(tokenizer.vocab_size, "token")
    click.echo(f"tokenizer       {printable(tokenizer.file)}, {size}")
    click.echo(f"fingerprint     {printable(tokenizer.fingerprint)}")
    click.echo(f"after documents {_describe_eos(ending)}")
    files = counted(len(manifest.sources), "file")
    click.echo(f"text            {counted(manifest.bytes, 'byte')} in {files}")
    for split, totals in manifest.splits.items():
        click.echo(
            f"{split!r:<15} {counted(totals.tokens, 'token')}, "
            f"{counted(totals.documents, 'document')}, {counted(totals.shards, 'shard')}"
        )
    if manifest.learned is not None:
        share = manifest.learned / manifest.tokens if manifest.tokens else 0
        click.echo(f"learned         {counted(manifest.learned, 'token')} ({share:.1%})")
    manifest.verify(folder)
    ids, vocab = manifest.read_first_document(folder, _MAX_TOKENS_SHOWN + 1)
    shown = [to_printable(vocab[id]) if id in vocab else str(id) for id in ids[:_MAX_TOKENS_SHOWN]]
    more = " ..." if len(ids) > _MAX_TOKENS_SHOWN else ""
    click.echo(f"begins with     {' '.join(shown)}{more}")
    n_files = sum(len(shard.files) for shard in manifest.shards)
    click.echo(f"verified        {counted(n_files, 'file')}, by the SHA-256 of the manifest")


def _describe_eos(ending: EosFacts | None) -> str:
    return "nothing" if ending is None else f"{printable(ending.token)} ({ending.id})"


def parse_count(count: str, option: str) -> int:
    """Return a number such as 100M or 4096.

    >>> parse_count("1.5M", "--shard-tokens")
    1500000
    """
    # A fraction needs a unit, so that it is a whole number too.
    pattern = r"([0-9]{1,15})(?:\.([0-9]{1,3})(?=[KMGB]))?([KMGB]?)"
    found = re.fullmatch(pattern, count, re.IGNORECASE)
    if not found:
        raise ConfigError(f"Expected {option} N such as 4096 or 100M, got {count!r:.60}.")
    thousandths = int(found[1] + (found[2] or "").ljust(3, "0"))
    return thousandths * 10 ** _POWERS[found[3].upper()] // 1_000


@contextmanager
def _saved_input(sources: tuple[str, ...], out: str) -> Generator[tuple[str, ...]]:
    """Yield the sources with standard input saved in a file next to the output, for a while."""
    if "-" not in sources:
        yield sources
        return
    if Location(out).is_url:
        raise ConfigError("Standard input is first saved next to --out: name a folder, not a URL.")
    path = Path(f"{out.rstrip('/')}.stdin")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _save_input(path)
        yield tuple(str(path) if name == "-" else name for name in sources)
    finally:
        path.unlink(missing_ok=True)


def _save_input(path: Path) -> None:
    given = StandardInput()
    try:
        with path.open("wb") as file:
            shutil.copyfileobj(given, file, _PIECE)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {explain(error, 'Choose another --out.')}"
        ) from None


class _Progress:
    """Shows the progress of encoding by a bar, or prints it as lines of JSON without one."""

    def __init__(self, bar: Bar | None) -> None:
        self._bar = bar
        self._started = self._reported = time.monotonic()
        self._found: EncodingProgress | None = None

    def show(self, progress: EncodingProgress) -> None:
        """Show the progress, at most twice a second except at the end of the text."""
        found = self._found = self._found or progress
        now = time.monotonic()
        done, of = progress.source_bytes_done, progress.source_bytes
        if now - self._reported < _SECONDS_BETWEEN_REPORTS and done < of:
            return
        self._reported = now
        seconds = max(now - self._started, 1e-3)
        byte_rate = (progress.n_bytes - found.n_bytes) / seconds
        token_rate = (progress.n_tokens - found.n_tokens) / seconds
        if self._bar is None:
            rates = {"bytes_per_second": byte_rate, "tokens_per_second": token_rate}
            print_json({"event": "progress", **progress._asdict(), "seconds": seconds, **rates})
        elif progress.shards:
            self._bar.show("Writing shards", progress.shards_done, progress.shards)
        else:
            note = f"{byte_rate / 1e6:.0f} MB/s, {token_rate / 1e6:.1f} M tokens/s"
            self._bar.show("Encoding", done, of, note)


def _figures(manifest: Manifest) -> dict[str, Any]:
    names = ("documents", "tokens", "bytes", "skipped_rows", "replaced", "damaged", "notes")
    splits = {
        name: {"documents": totals.documents, "tokens": totals.tokens, "shards": totals.shards}
        for name, totals in manifest.splits.items()
    }
    return {**{name: getattr(manifest, name) for name in names}, "splits": splits}


def _summary(manifest: Manifest) -> str:
    ratio = manifest.bytes / manifest.tokens
    lines = [
        f"{counted(manifest.documents, 'document')}, {counted(manifest.bytes, 'byte')} of text, "
        f"{counted(manifest.tokens, 'token')} ({ratio:.2f} bytes per token) in "
        f"{counted(len(manifest.shards), 'shard')}."
    ]
    if "val" in manifest.splits:
        val = manifest.splits["val"]
        documents = counted(val.documents, "document")
        lines.append(f"Of these, val has {documents} and {counted(val.tokens, 'token')}.")
    if left_out := sum(shard.left_out_tokens for shard in manifest.shards):
        lines.append(f"Left out {counted(left_out, 'token')} after the last packed row of a shard.")
    return " ".join(lines)


def _describe_estimate(found: Estimate) -> str:
    return (
        f"About {counted(found.n_tokens, 'token')}, estimated from "
        f"{found.sampled_bytes / 1e6:,.1f} of {found.source_bytes / 1e6:,.1f} MB of sources. They "
        f"take {found.out_bytes / 1e6:,.1f} MB "
        "on disk, as much again in the work folder until the end, and "
        f"{found.seconds:,.0f} s to encode in one process."
    )
