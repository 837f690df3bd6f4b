"""The command line: a module for each command, or for a few that belong together.

Only click is imported at the top of these modules. The rest is loaded by the command that needs it,
so help and mistyped commands answer immediately.
"""

from __future__ import annotations

import click

from bpe_core import __version__
from bpe_core.cli.adapt import extend, replace, shrink
from bpe_core.cli.chat import chat
from bpe_core.cli.compare import compare, structure
from bpe_core.cli.diagnose import check, diff
from bpe_core.cli.encode import decode, encode, encode_corpus, readers
from bpe_core.cli.experiment import experiment
from bpe_core.cli.inspect_convert import convert, inspect
from bpe_core.cli.models import fit_rows, mixture, undertrained
from bpe_core.cli.store_commands import store
from bpe_core.cli.support import ErrorLineGroup, fetch
from bpe_core.cli.train import count, merge_counts, sample_check, train, train_parity


@click.group(cls=ErrorLineGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=__version__, prog_name="bpe")
def main() -> None:
    """Train, use and compare Byte-Pair-Encoding tokenizers.

    A file named - is standard input or output. TOKENIZER is the file or folder of a
    tokenizer, saved here or by another tool, or the name of a published one: gpt2,
    a name that `bpe fetch` lists, a model of OpenAI's such as gpt-4o, or hf:org/model
    for any model on Hugging Face's hub. What is not here yet is fetched, once.

    \b
    Examples:
      $ bpe train notes.txt --vocab-size 400 --out mine.json
      $ echo -n "hugs" | bpe encode mine.json
      $ bpe compare notes.txt -t mine.json -t gpt2
    """


@main.command()
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=8501,
    show_default=True,
    help="The port to serve on.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="The address to serve on; 0.0.0.0 lets other machines in, by this machine's address. "
    "[default: 127.0.0.1, or 0.0.0.0 with --classroom]",
)
@click.option(
    "--classroom",
    is_flag=True,
    help="Let everyone on your networks in, and show the address and its QR code.",
)
def explore(port: int, host: str | None, *, classroom: bool) -> None:
    """Start the app in this terminal; open the address that it prints in a browser.

    Needs the extra: pip install "bpe-explorer[app]". Finished runs are kept in
    ~/.local/share/bpe-explorer/runs, or the folder that BPE_EXPLORER_RUNS names; a checkout that
    has a folder .runs keeps using it. See also: bpe store --help

    Other machines reach it by a name only if STREAMLIT_SERVER_ALLOWED_HOSTS lists that name.

    \b
    Examples:
      $ bpe explore
      $ bpe explore --port 8600
      $ bpe explore --classroom
    """
    from bpe_core.cli.explore import start_app

    start_app(port, host or ("0.0.0.0" if classroom else "127.0.0.1"), classroom=classroom)


for command in (
    train,
    train_parity,
    count,
    merge_counts,
    sample_check,
    encode,
    encode_corpus,
    readers,
    decode,
    chat,
    check,
    compare,
    diff,
    structure,
    experiment,
    inspect,
    convert,
    extend,
    shrink,
    replace,
    undertrained,
    fit_rows,
    mixture,
    fetch,
    store,
):
    main.add_command(command)
