"""The commands `bpe encode`, `bpe decode` and `bpe chat`."""

from __future__ import annotations

import json
from dataclasses import replace

import click

from bpe_core.checks import counted
from bpe_core.cli.fetch import fetch_missing
from bpe_core.cli.options import out_option, tokenizer_options
from bpe_core.cli.outputs import check_output, write_output, write_text
from bpe_core.cli.streams import is_watched
from bpe_core.cli.support import load_encoder, read_ids, read_text
from bpe_core.errors import ChatTemplateError, ConfigError


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
    from bpe_core.formats import IDS
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.unicode import to_printable

    out = out or "-"
    check_output(None if tokens else IDS, out, [tokenizer, file], force=force)
    loaded = load_encoder(tokenizer, pretokenizer, special_tokens)
    text, allowed = read_text(file), "all" if allow_special else ()
    # Other libraries decide by themselves what happens to unknown symbols.
    ids = (
        loaded.encode(text, allowed, errors="skip")
        if skip_unknown and isinstance(loaded, Tokenizer)
        else loaded.encode(text, allowed)
    )
    if tokens:
        lines = [f"{id_} {to_printable(loaded.vocab[id_])}\n" for id_ in ids]
    else:
        lines = [" ".join(map(str, ids)), "\n"]
    write_text("".join(lines), out)


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


@click.command()
@click.argument("tokenizer")
@click.argument("messages", default="-")
@click.option(
    "--template",
    "given_template",
    metavar="FILE",
    help="A template in Jinja's language, instead of the one in the tokenizer's files; or the name "
    "of one of several that they have.",
)
@click.option(
    "--add-generation-prompt",
    is_flag=True,
    help="Add the beginning of the answer that the model is to write.",
)
@click.option("--ids", is_flag=True, help="Print ids instead of text.")
@out_option("Where to write instead of standard output.", required=False)
def chat(
    tokenizer: str,
    messages: str,
    given_template: str | None,
    out: str | None,
    *,
    force: bool,
    add_generation_prompt: bool,
    ids: bool,
) -> None:
    """Print what a model is given for MESSAGES, a JSON list, by the tokenizer's chat template.

    TOKENIZER is a folder with a tokenizer_config.json or chat_template.jinja, a GGUF file, or a
    model of the hub, such as hf:Qwen/Qwen3-8B. How many tokens the template adds, and what a model
    would read otherwise than it was meant, such as a special token that somebody typed, is reported
    on stderr.

    \b
    Examples:
      $ echo '{{ messages[0].role }}: {{ messages[0].content }}' > chat.jinja
      $ echo '[{"role": "user", "content": "Hi"}]' | bpe chat gpt2 --template chat.jinja
      user: Hi
    """
    from bpe_core.chat import ChatTemplate, check_messages
    from bpe_core.formats import IDS, open_encoder
    from bpe_core.tokenizer import boundaries, read_conversation

    out = out or "-"
    inputs = [tokenizer, messages, *([given_template] if given_template else [])]
    check_output(IDS if ids else None, out, inputs, force=force)
    fetch_missing(tokenizer)
    try:
        opened = open_encoder(tokenizer)
    except ConfigError:  # a file of ranks names no pre-tokenizer
        raise ChatTemplateError(
            f"{tokenizer} says neither how it cuts text nor which special tokens it has. Write a "
            "file that does with bpe convert, and name that."
        ) from None
    template = opened.chat
    if given_template is not None:
        template = template or ChatTemplate({})
        named = not isinstance(template.source, str) and given_template in template.source
        source = template.named(given_template) if named else read_text(given_template)
        template = replace(template, source=source)
    if template is None:
        raise ChatTemplateError(
            f"{tokenizer} has no chat template. Name the folder of a model, with its "
            "tokenizer_config.json or chat_template.jinja, or a model of the hub, such as "
            "hf:Qwen/Qwen3-8B, or add --template FILE."
        )
    try:
        parsed: object = json.loads(read_text(messages))
    except (ValueError, RecursionError) as error:
        raise ChatTemplateError(f"The messages are not valid JSON: {error}.") from None
    conversation = read_conversation(
        template,
        check_messages(parsed),
        opened.encoder,
        add_generation_prompt=add_generation_prompt,
    )
    found = boundaries(conversation.text, opened.encoder, "all")
    token_ids = found.ids[found.ids >= 0].tolist()
    n, n_theirs = len(token_ids), conversation.n_message_tokens(found)
    text = " ".join(map(str, token_ids)) + "\n" if ids else conversation.text
    write_text(text, out)
    if is_watched() and out == "-" and not text.endswith("\n"):
        click.echo(err=True)
    share = f" ({(n - n_theirs) / n:.0%})" if n else ""
    click.echo(
        f"{counted(n, 'token')}: {n_theirs:,} of messages, {n - n_theirs:,}{share} of the "
        "template.",
        err=True,
    )
    for problem in conversation.problems:
        click.echo(problem, err=True)
