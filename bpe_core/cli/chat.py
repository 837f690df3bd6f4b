"""The command `bpe chat`, and the options of chats that `bpe encode-corpus` has too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, cast

import click

from bpe_core.checks import counted, printable
from bpe_core.cli.outputs import (
    check_output,
    is_watched,
    output_path,
    print_json,
    write_text,
)
from bpe_core.cli.support import (
    fetch_missing,
    out_option,
    read_lines,
    read_text,
)
from bpe_core.corpus import Location
from bpe_core.errors import BpeError, ChatTemplateError, ConfigError

if TYPE_CHECKING:
    from bpe_core.chat import ChatTemplate
    from bpe_core.tokenizer import ChatReport, Encoder, NamedEncoder

_ROWS_AT_ONCE: Final = 1_000
_READ_BY: Final = {
    "": (
        "--out",
        "--add-generation-prompt",
        "--continue-final-message",
        "--ids",
        "--tools",
        "--set",
    ),
    "--report": ("--tools", "--set", "--context", "--masks", "--json"),
    "--drift": ("--json",),
}
"""The options of `bpe chat` by what it does; the others would do nothing."""

template_option = click.option(
    "--template",
    "given_template",
    metavar="FILE",
    help="A template in Jinja's language, instead of the one in the tokenizer's files; or the name "
    "of one of several that they have.",
)
tools_option = click.option(
    "--tools", metavar="FILE", help="The tools that the model may call: a JSON list of schemas."
)
set_option = click.option(
    "--set",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a variable that the template reads, such as enable_thinking=false. The value is "
    "JSON, or else a text.",
)


@click.command()
@click.argument("tokenizer")
@click.argument("messages", default="-")
@template_option
@click.option(
    "--add-generation-prompt",
    is_flag=True,
    help="Add the beginning of the answer that the model is to write.",
)
@click.option(
    "--continue-final-message",
    is_flag=True,
    help="End within the last message, for the model to go on.",
)
@tools_option
@set_option
@click.option("--ids", is_flag=True, help="Print ids instead of text.")
@click.option(
    "--report",
    is_flag=True,
    help="Read a conversation from each line of MESSAGES, and print tokens, learned tokens and "
    "faults.",
)
@click.option("--context", type=click.IntRange(1), help="With --report, count what is longer.")
@click.option(
    "--masks",
    metavar="FILE",
    help="With --report, write ids and masks as Parquet, in the columns input_ids and "
    "assistant_masks.",
)
@click.option(
    "--drift",
    is_flag=True,
    help="Read ids from each line of MESSAGES, and print where they differ from those of their "
    "text.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="With --report or --drift, print figures as JSON."
)
@out_option("Where to write instead of standard output.", required=False)
def chat(
    tokenizer: str,
    messages: str,
    given_template: str | None,
    out: str | None,
    *,
    force: bool,
    add_generation_prompt: bool,
    continue_final_message: bool,
    tools: str | None,
    variables: tuple[str, ...],
    ids: bool,
    report: bool,
    context: int | None,
    masks: str | None,
    drift: bool,
    as_json: bool,
) -> None:
    """Print what a model is given for MESSAGES, a JSON list, by the tokenizer's chat template.

    MESSAGES may also be an object of messages and whatever else the template reads, such as tools.
    --set names a variable; one that the template does not read is reported, with those it reads.

    TOKENIZER is a folder with a tokenizer_config.json or chat_template.jinja, a GGUF file, or a
    model of the hub, such as hf:Qwen/Qwen3-8B. How many tokens the template adds, and what a model
    would read otherwise than it was meant, such as a special token that somebody typed, is reported
    on stderr.

    \b
    Examples:
      $ echo '{{ messages[0].role }}: {{ messages[0].content }}' > chat.jinja
      $ echo '[{"role": "user", "content": "Hi"}]' | bpe chat gpt2 --template chat.jinja
      user: Hi
      $ echo '{"messages": [{"role": "user", "content": "Hi"}]}' > talks.jsonl
      $ bpe chat gpt2 talks.jsonl --template chat.jinja --report --masks masks.parquet
    """
    from bpe_core.chat import ChatTemplate
    from bpe_core.formats import WrittenKind, open_encoder
    from bpe_core.tokenizer import boundaries, read_conversation

    modes = [name for name, is_on in (("--report", report), ("--drift", drift)) if is_on]
    if len(modes) > 1:
        raise click.UsageError("Give only one of --report and --drift.")
    given = {
        "--out": out,
        "--add-generation-prompt": add_generation_prompt,
        "--continue-final-message": continue_final_message,
        "--ids": ids,
        "--tools": tools,
        "--set": variables,
        "--context": context,
        "--masks": masks,
        "--json": as_json,
    }
    mode = "".join(modes)
    unread = [name for name, value in given.items() if value and name not in _READ_BY[mode]]
    if unread:
        others = [other for other, names in _READ_BY.items() if other and unread[0] in names]
        said = f"cannot be used with {mode}" if mode else f"needs {' or '.join(others)}"
        raise click.UsageError(f"{unread[0]} {said}.")
    out = out or "-"
    inputs = [tokenizer, messages, *filter(None, (given_template, tools))]
    check_output(WrittenKind.IDS if ids else None, out, inputs, force=force)
    fetch_missing(tokenizer)
    try:
        opened = open_encoder(tokenizer)
    except ConfigError:  # a file of ranks names no pre-tokenizer
        raise ChatTemplateError(
            f"{tokenizer} says neither how it cuts text nor which special tokens it has. Write a "
            "file that does with bpe convert, and name that."
        ) from None
    if drift:
        found = opened.chat
        if given_template is not None:
            found = choose_template(found, given_template, tokenizer)
        _print_drift(opened, found, messages, as_json=as_json)
        return
    template = choose_template(opened.chat, given_template, tokenizer)
    if report:
        given = set_variables(template, variables)
        if tools is not None:
            given["tools"] = read_json(tools, "The tools are")
        talks = conversations(messages, given)
        if masks is not None:
            check_output("Parquet", masks, inputs, force=force)
        found = _report_chats(template, talks, opened, context, masks)
        print_report(found, as_json=as_json)
        return
    parsed = read_json(messages, "The messages are")
    given = set_variables(template, variables)
    if isinstance(parsed, dict):
        given = {**cast("dict[str, Any]", parsed), **given}
    if tools is not None:
        given["tools"] = read_json(tools, "The tools are")
    for name in ChatTemplate.NOT_VARIABLES:
        given.pop(name, None)
    conversation = read_conversation(
        template,
        ChatTemplate.check_messages(cast("object", parsed)),
        opened.encoder,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        **given,
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


def _json_lines(name: str) -> Iterator[Any]:
    """Yield the values on the lines of a file, or the rows of a Parquet file, as they are read."""
    if name.endswith(".parquet"):
        from bpe_core.corpus import damage_named, open_parquet_file

        with Location(name).reading() as file, damage_named(name):
            rows = open_parquet_file(file, name).file
            for batch in rows.iter_batches(batch_size=_ROWS_AT_ONCE):
                yield from batch.to_pylist()
        return
    for number, line in enumerate(read_lines(name), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ChatTemplateError(
                    f"Line {number:,} of {name} is not valid JSON: {error}. Expected a "
                    "conversation on each line."
                ) from None


def conversations(name: str, given: Mapping[str, Any]) -> Iterator[Any]:
    """Yield conversations, each with the variables that are given unless it has its own.

    Null is no value of its own, and a text no tools.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.jsonl").write_text('[{"role": "user"}]')
    ...     list(conversations(f"{folder}/a.jsonl", {"tools": []}))
    [{'tools': [], 'messages': [{'role': 'user'}]}]
    """
    for each in _json_lines(name):
        if isinstance(each, dict):
            own = {
                name: value
                for name, value in cast("dict[str, Any]", each).items()
                if name not in given
                or not (value is None or (name == "tools" and isinstance(value, str)))
            }
            yield {**given, **own}
        else:
            yield {**given, "messages": each} if given else each


def _report_chats(
    template: ChatTemplate,
    talks: Iterable[Any],
    encoder: Encoder,
    context: int | None,
    masks: str | None,
) -> ChatReport:
    """Report on conversations; write their ids and masks as Parquet if a file is named."""
    from bpe_core.tokenizer import report_chats

    if masks is None:
        return report_chats(template, talks, encoder, context=context)
    from bpe_scale import MaskedShards

    with output_path(masks) as path, MaskedShards([path]) as rows:

        def add(_: int, __: str, ids: Any, mask: Any) -> None:
            rows.add(ids, mask)

        return report_chats(template, talks, encoder, context=context, on_ids=add)


def print_report(report: ChatReport, *, as_json: bool) -> None:
    """Print what was found in conversations, for people or as JSON."""
    from bpe_core.chat import ChatTemplate

    if as_json:
        faults = {kind: each._asdict() for kind, each in report.faults.items()}
        print_json({**asdict(report), "faults": faults})
        return
    click.echo(f"{counted(report.conversations, 'conversation')}")
    share = f" ({report.learned / report.tokens:.1%})" if report.tokens else ""
    click.echo(
        f"{counted(report.tokens, 'token')}, {report.learned:,} learned{share}; the longest has "
        f"{report.longest:,}"
    )
    for how, n in report.learned_by.items():
        click.echo(f"masks by {how or 'nothing'}: {counted(n, 'conversation')}")
    if report.not_compared:
        click.echo(
            f"more than {ChatTemplate.MAX_GROWN:,} messages, so no beginnings compared: "
            f"{counted(report.not_compared, 'conversation')}"
        )
    if report.context is not None:
        click.echo(f"longer than {report.context:,} tokens: {report.cut_off:,}")
    click.echo(f"{'role':<16}{'turns':>10}{'tokens':>12}{'a turn':>9}{'learned':>12}")
    for role, each in report.roles.items():
        mean = each.tokens / each.turns
        click.echo(
            f"{printable(role)[:15]:<16}{each.turns:>10,}{each.tokens:>12,}{mean:>9,.1f}"
            f"{each.learned:>12,}"
        )
    if not report.faults:
        click.echo("no faults")
    for kind, fault in report.faults.items():
        click.echo(
            f"{kind}: {counted(fault.conversations, 'conversation')}, first {fault.first:,}: "
            f"{fault.example}"
        )


def _print_drift(
    opened: NamedEncoder, template: ChatTemplate | None, name: str, *, as_json: bool
) -> None:
    """Print where the ids on each line differ from those that their text is encoded to."""
    from bpe_core.tokenizer import find_drift, listed_ids

    n_lines, n_drifted = 0, 0
    for number, value in enumerate(_json_lines(name), start=1):
        ids = listed_ids(value)
        if ids is None:
            raise ChatTemplateError(
                f"Row {number:,} of {name} has no ids. Expected a JSON list of ids on each line, "
                "or an object with input_ids."
            )
        try:
            found = find_drift(cast("list[int]", ids), opened, template)
        except BpeError as error:
            raise type(error)(f"Row {number:,} of {name}: {error}") from None
        n_lines, n_drifted = n_lines + 1, n_drifted + bool(found)
        for each in found:
            if as_json:
                print_json({"line": number, **each._asdict()})
                continue
            whose = f" ({each.role})" if each.role else ""
            given, encoded = (" ".join(map(str, cut)) for cut in (each.given, each.encoded))
            click.echo(f"{number:,}: byte {each.start:,}{whose} {printable(each.text)!r}")
            click.echo(f"  given    {given}\n  encoded  {encoded}")
    click.echo(f"{n_drifted:,} of {counted(n_lines, 'line')} differ.", err=True)


def choose_template(found: ChatTemplate | None, given: str | None, tokenizer: str) -> ChatTemplate:
    """Return the template that --template names, or the tokenizer's own."""
    from bpe_core.chat import ChatTemplate

    if given is not None:
        found = found or ChatTemplate({})
        named = not isinstance(found.source, str) and given in found.source
        return found.chosen(given) if named else replace(found, source=read_text(given))
    if found is None:
        raise ChatTemplateError(
            f"{tokenizer} has no chat template. Name the folder of a model, with its "
            "tokenizer_config.json or chat_template.jinja, or a model of the hub, such as "
            "hf:Qwen/Qwen3-8B, or add --template FILE."
        )
    return found


def read_json(name: str, what: str) -> object:
    """Read a file of JSON; `what` begins the sentence on one that is damaged."""
    try:
        return json.loads(read_text(name))
    except (ValueError, RecursionError) as error:
        raise ChatTemplateError(f"{what} not valid JSON: {error}.") from None


def set_variables(template: ChatTemplate, options: tuple[str, ...]) -> dict[str, Any]:
    """Return what --set gives, as NAME=VALUE."""
    from bpe_core.chat import ChatTemplate

    given: dict[str, Any] = {}
    for option in options:
        name, is_set, value = option.partition("=")
        if not is_set or not name.isidentifier():
            raise ChatTemplateError(
                f"Expected --set NAME=VALUE, such as enable_thinking=false, got {option!r:.80}."
            )
        if name in ChatTemplate.NOT_VARIABLES:
            raise ChatTemplateError(
                f"{name} cannot be given by --set. The file has the messages, and options whether "
                "the template goes on after them."
            )
        try:
            given[name] = json.loads(value)
        except (ValueError, RecursionError):
            given[name] = value
    if given:
        read = template.reads().variables
        for name in given.keys() - {*read}:
            offered = ", ".join(read)
            click.echo(
                f"The template does not read {printable(name)}. It reads {printable(offered)}.",
                err=True,
            )
    return given
