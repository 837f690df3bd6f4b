"""Chat templates: what they may do, where a message stands in the text, and what is reported."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bpe_core as bpe
from bpe_core.chat import ChatTemplate
from bpe_core.cli import main
from bpe_core.formats import dumps
from bpe_core.formats.opening.opening import open_files
from bpe_core.formats.sidecars import Sidecars, first_token
from bpe_core.tokenizer import boundaries, read_conversation

PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}\n{% endfor %}"
HUG = [{"role": "user", "content": "hug"}]


def user(content: object) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        pytest.param(
            "{% for a in range(9999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "finish",
            marks=pytest.mark.slow,
        ),
        ("{{ 'a' * 10 ** 10 }}", "1.0 GB of memory"),
        pytest.param(
            "{{ messages | tojson(indent=10 ** 9) }}",
            "1.0 GB of memory|finish",
            marks=pytest.mark.slow,
        ),
        ("{% for a in range(9999) %}{{ 'x' * 10000 }}{% endfor %}", "more than 4,000,000 charac"),
        ("{{ range(10 ** 9) | length }}", r"Line 1 .* failed \(OverflowError\)"),
        ("\n{{ messages[0].content + 1 }}", r"Line 2 .* failed \(TypeError\)"),
        ("{% macro f() %}\n{{ 1 / 0 }}{% endmacro %}\n{{ f() }}", r"Line 2 .*ZeroDivisionError"),
        ("\n{% set messages.a = 1 %}", r"failed \(cannot assign attribute on non-"),
        ("{{ ''.__class__.__mro__ }}", "no template may do.*'__class__'"),
        ("{{ messages.append(1) }}", "no template may do.*'append'"),
        ("{{ cycler.__init__.__globals__ }}", "Line 1 .* no template may do.*'__init__'"),
        ("{% set found = namespace(_a=1) %}", "no template may do.*'_a'"),
        ("{% set found = namespace() %}{% set found._a = 1 %}", "no template may do.*'_a'"),
        ("{% include 'secrets' %}", "failed"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", r"failed \(RecursionError\)"),
        ("{{ nothing.here }}", "Line 1 .* not there: 'nothing' is undefined"),
        ("a\n{% if %}", "an error on line 2"),
        ("{{ raise_exception('Roles must <b>alternate</b>') }}", "refuses these messages: Roles"),
        ("{{ raise_exception(5) }}", "refuses these messages: 5"),
        (r"{{ raise_exception('\x1b[31mred') }}", r"messages: U\+001B\[31mred"),
        (r"{{ raise_exception('\ud800') }}", r"messages: U\+D800"),
        (r"{{ '\ud800' }}", "writes a lone surrogate"),
        ("\ud800", "cannot be passed on: a lone surrogate"),
    ],
)
def test_a_template_that_fails_says_how_and_ends(source: str, problem: str):
    with pytest.raises(bpe.ChatTemplateError, match=problem):
        ChatTemplate(source).render(HUG)


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ raise_exception('No.') if m.role == 'tool' }}", "Message 3 (tool): The chat template"),
        ("{{ m.content + '.' }}", "Message 2 (assistant): Line 1 of the chat template failed"),
        ("{{ raise_exception('No.') if loop.first }}", "Message 1 (user): The chat template"),
        ("{{ raise_exception('Two.') if loop.length == 4 }}", "Message 4 (user): The chat"),
        ("{{ raise_exception('Even.') if loop.length is even }}", "Message 4 (user): The chat"),
        ("{% endfor %}{{ nothing.here }}{% for m in [] %}", "Line 1 of the chat template needs"),
    ],
)
def test_a_template_that_refuses_says_which_message(source: str, said: str):
    roles = ("user", "assistant", "tool", "user")
    talk = [{"role": role, "content": 1 if role == "assistant" else "?"} for role in roles]
    with pytest.raises(bpe.ChatTemplateError) as refused:
        ChatTemplate(f"{{% for m in messages %}}{source}{{% endfor %}}").render(talk)
    assert str(refused.value).startswith(said)


@pytest.mark.usefixtures("rendered_here")
def test_only_the_first_conversation_that_a_process_refuses_is_searched():
    """Each search takes time, of which all conversations of a process have little."""
    source = "{% for m in messages %}{{ raise_exception('No.') if m.role == 'tool' }}{% endfor %}"
    talk = {"messages": [{"role": role} for role in ("user", "tool", "user")]}
    fine = {"messages": [{"role": "user"}]}
    # The first of several has a process of its own.
    found = ChatTemplate(source).render_each([fine, fine, talk, talk, talk])
    assert [each.error.partition("The chat")[0] for each in found] == [
        *("", "", "Message 2 (tool): ", "", "")
    ]
    assert all(each.error.endswith("refuses these messages: No.") for each in found[2:])


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ("hug", "Expected a list of messages"),
        ({"message": HUG}, "Expected a list of messages"),
        ([], "Expected from 1 to 10,000 messages, got 0"),
        ([*HUG, {"content": "hug"}], "Message 2 has no role"),
        (["hug"], "Message 1 has no role"),
        (json.loads('[{"role": "user", "content": ' + "[" * 99 + "]" * 99 + "}]"), "at most 100"),
        ({"messages": HUG, "tools": json.loads('{"a":' * 600 + "1" + "}" * 600)}, "at most 100"),
    ],
)
def test_messages_of_another_form_are_refused(messages: object, problem: str):
    with pytest.raises(bpe.ChatTemplateError, match=problem):
        ChatTemplate.check_messages(messages)


def test_what_is_nested_as_deeply_as_is_allowed_is_rendered():
    deep = "[" * 97 + "]" * 97
    template = ChatTemplate("{{ messages[0].content | tojson }}")
    messages = user(json.loads(deep))
    assert template.render(messages) == deep
    with pytest.raises(bpe.ChatTemplateError, match="at most 100"):
        template.render(messages, tools=[{"name": messages}])


def test_a_template_is_given_what_transformers_gives_it():
    source = (
        "{% generation %}{{ bos_token }}{% set a = 1 %}{% endgeneration %}{{ tools is none }} "
        "{{ messages | tojson }}{% for m in messages %}{% break %}{% endfor %}"
        "{% if add_generation_prompt %} {{ strftime_now('%Y') | length }}{% endif %}"
    )
    text = ChatTemplate(source, {"bos_token": "<s>"}).render(user("é<"), add_generation_prompt=True)
    assert text == '<s>True [{"role": "user", "content": "é<"}] 4'


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize(
    ("source", "contents", "expected"),
    [
        (PLAIN, [" user ", "s"], [(8, 12), (21, 22)]),  # the role's own letters are not it
        (PLAIN, ["", "a"], [(8, 8), (17, 18)]),
        ("{{ messages[1].content }}-{{ messages[0].content }}", ["a", "b"], [(0, 1), (2, 3)]),
        ("{{ messages[0].content }}", ["a", "b"], [(0, 1)]),
        # Marks are longer than the messages here, so they are not where the messages are.
        ("{{ messages[0].content | length }}:{{ messages[0].content }}", ["abc", "b"], [(2, 5)]),
    ],
)
def test_where_each_message_stands_in_the_text(
    source: str, contents: list[str], expected: list[tuple[int, int]]
):
    messages = [{"role": "user", "content": content} for content in contents]
    found = read_conversation(ChatTemplate(source), messages, bpe.gpt2())
    assert list(found.messages) == expected


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize("number", ["99", "9" * 5_000, "0"])
def test_a_template_that_writes_marks_of_its_own_is_searched(number: str):
    mark = f"\U000ffff0{number}\U000ffff1"
    source = f"{mark}{{{{ messages[0].content }}}}"
    found = read_conversation(ChatTemplate(source), HUG, bpe.gpt2())
    assert [found.text[a:b] for a, b in found.messages] == ["hug"]


def test_a_special_token_in_a_role_is_reported():
    messages = [{"role": "<|endoftext|>\x1b", "content": "hug"}]
    (problem,) = read_conversation(ChatTemplate(PLAIN), messages, bpe.gpt2()).problems
    assert problem.startswith("The role of message 1 contains <|endoftext|>")


@pytest.mark.parametrize("content", ["a\ud800", 2**70])
def test_what_cannot_be_passed_to_a_process_is_refused(content: object):
    with pytest.raises(bpe.ChatTemplateError, match="cannot be passed on"):
        ChatTemplate(PLAIN).render(user(content))


@pytest.mark.usefixtures("rendered_here")
def test_a_token_with_any_byte_of_a_message_is_the_messages():
    found = read_conversation(
        ChatTemplate("{{ messages[0].content }}gs漢"), user(" hu"), bpe.gpt2()
    )
    tokens = boundaries(found.text, bpe.gpt2())
    assert [bpe.gpt2().vocab[id] for id in tokens.ids.tolist()][:1] == [b" hugs"]
    assert found.n_message_tokens(tokens) == 1
    empty = read_conversation(ChatTemplate(""), HUG, bpe.gpt2())
    assert empty.n_message_tokens(boundaries("", bpe.gpt2())) == 0


@pytest.mark.usefixtures("rendered_here")
def test_parts_of_a_message_are_found_too():
    source = "{% for p in messages[0].content %}[{{ p.text or p.type }}]{% endfor %}"
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    found = read_conversation(ChatTemplate(source), user(parts), bpe.gpt2())
    assert (found.text, found.messages) == ("[a][image][b]", ((1, 2), (11, 12)))


@pytest.mark.usefixtures("rendered_here")
def test_what_a_model_would_read_otherwise_is_reported():
    tokens = {"bos_token": "<s>"}

    def problems(template: ChatTemplate, content: str = "hug") -> tuple[str, ...]:
        return read_conversation(template, user(content), bpe.gpt2()).problems

    assert problems(ChatTemplate(PLAIN, tokens)) == ()
    (twice,) = problems(ChatTemplate("{{ bos_token }}<s>{{ messages[0].content }}", tokens))
    assert twice == "The conversation begins with <s> twice."
    source = "{{ bos_token }}{{ messages[0].content }}"
    assert problems(ChatTemplate(source, tokens)) == ()
    (added,) = problems(ChatTemplate(source, tokens, "<s>"))
    assert "the tokenizer adds <s> to every text" in added
    (typed,) = problems(ChatTemplate(PLAIN), "hug <|endoftext|>")
    assert typed.startswith("Message 1 (user) contains <|endoftext|>, which is read as that spec")
    (gone,) = problems(ChatTemplate("nothing"))
    assert gone == "Message 1 (user) is left out or changed by the template."


def test_one_of_several_templates_is_rendered():
    assert ChatTemplate({"tool_use": "b", "default": "a"}).render(HUG) == "a"
    with pytest.raises(bpe.ChatTemplateError, match="none is called default: rag, tool_use"):
        ChatTemplate({"tool_use": "b", "rag": "c"}).render(HUG)


CONFIG = {"chat_template": PLAIN, "bos_token": {"content": "<s>"}}


def test_a_template_is_found_beside_a_vocabulary():
    def found(files: dict[str, object]) -> ChatTemplate | None:
        data = {
            name: value if isinstance(value, bytes) else json.dumps(value).encode()
            for name, value in files.items()
        }
        return Sidecars(data).chat()

    assert found({}) is None
    assert found({"tokenizer_config.json": {"chat_template": None}}) is None
    assert found({"tokenizer_config.json": CONFIG}) == ChatTemplate(PLAIN, {"bos_token": "<s>"})
    named = {"tool_use": "b", "default": "a"}
    listed = [{"name": name, "template": source} for name, source in named.items()]
    for several in (named, listed):
        assert found({"tokenizer_config.json": {"chat_template": several}}) == ChatTemplate(named)
    assert found({"tokenizer_config.json": {"chat_template": [7, {"name": "a"}]}}) is None
    both = {"tokenizer_config.json": CONFIG, "chat_template.jinja": b"c"}
    assert found(both) == ChatTemplate("c", {"bos_token": "<s>"})
    roles = {"special_tokens_map.json": {"eos_token": "</s>"}, "chat_template.jinja": b"c"}
    assert found(roles) == ChatTemplate("c", {"eos_token": "</s>"})


def test_the_first_token_is_that_of_any_post_processor():
    single = [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]
    template = {"type": "TemplateProcessing", "single": single}
    steps = {"type": "Sequence", "processors": [{"type": "ByteLevel"}, template]}
    assert first_token({"post_processor": steps}) == "<s>"
    assert first_token({"post_processor": template | {"single": single[::-1]}}) == ""
    assert first_token({"post_processor": None}) == first_token({"post_processor": 3}) == ""


def tokenizer_json() -> bytes:
    run = bpe.train(["hug hugs hugging"], vocab_size=260)
    return dumps(run.tokenizer, "huggingface")["tokenizer.json"]


def test_an_opened_tokenizer_has_its_template():
    files = {
        "tokenizer.json": tokenizer_json(),
        "tokenizer_config.json": json.dumps(CONFIG).encode(),
    }
    opened = open_files(files)
    assert opened.chat is not None
    assert opened.chat.render(HUG) == "<|user|>hug\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        for name, data in files.items():
            written.writestr(f"model/{name}", data)
        written.writestr("model/chat_template.jinja", "c")
    zipped = open_files({"model.zip": archive.getvalue()})
    assert zipped.chat == ChatTemplate("c", opened.chat.tokens, opened.chat.first_token)


def test_the_command_prints_the_text_or_ids_and_reports_shares(tmp_path: Path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    (folder / "tokenizer_config.json").write_text(json.dumps(CONFIG))
    messages = json.dumps({"messages": user("hug <|endoftext|>")})
    shown = CliRunner().invoke(main, ["chat", str(folder)], input=messages)
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout == "<|user|>hug <|endoftext|>\n"
    assert shown.stderr.splitlines()[0].startswith("12 tokens: 3 of messages, 9 (75%) of the templ")
    assert "contains <|endoftext|>" in shown.stderr
    ids = CliRunner().invoke(main, ["chat", str(folder), "--ids"], input=messages)
    tokenizer = bpe.load(folder)
    expected = tokenizer.encode(shown.stdout, allowed_special="all")
    assert list(map(int, ids.stdout.split())) == expected


def test_the_command_says_what_is_missing(tmp_path: Path):
    def refused(arguments: list[str], given: str) -> str:
        result = CliRunner().invoke(main, ["chat", *arguments], input=given)
        assert result.exit_code == 1
        return result.stderr

    assert "gpt2 has no chat template. Name the folder of a model" in refused(["gpt2"], "[]")
    several = tmp_path / "several"
    several.mkdir()
    (several / "tokenizer.json").write_bytes(tokenizer_json())
    config = {"chat_template": {"rag": "[rag]"}}
    (several / "tokenizer_config.json").write_text(json.dumps(config))
    assert "none is called default: rag" in refused([str(several)], json.dumps(HUG))
    chosen = CliRunner().invoke(
        main, ["chat", str(several), "--template", "rag"], input=json.dumps(HUG)
    )
    assert chosen.stdout == "[rag]"
    file = tmp_path / "own.jinja"
    file.write_text(PLAIN)
    own = ["gpt2", "--template", str(file)]
    assert "The messages are not valid JSON" in refused(own, "[")
    assert "Expected a list of messages" in refused(own, "3")
    ranks = tmp_path / "own.tiktoken"
    ranks.write_text("YQ== 0")
    without = f"{ranks} says neither how it cuts text nor which special tokens it has."
    assert without in refused([str(ranks), "--template", str(file)], "[]")
    shown = CliRunner().invoke(main, ["chat", *own], input=json.dumps(HUG))
    assert shown.stdout == "<|user|>hug\n"


def test_what_a_template_reads_is_set_by_options_or_beside_the_messages(tmp_path: Path):
    template, tools, given = (tmp_path / name for name in ("own.jinja", "tools.json", "in.json"))
    template.write_text(
        "{{ tools[0].name }} {{ warm and 'warm' }} {{ city }} {{ messages[0].content }}!"
    )
    tools.write_text('[{"name": "weather"}]')
    given.write_text(
        json.dumps({"messages": user("hug"), "city": "Oslo", "warm": False, "template": 1})
    )
    base = ["chat", "gpt2", str(given), "--template", str(template)]
    options = ["--tools", str(tools), "--set", "warm=true", "--set", "wind=no"]
    shown = CliRunner().invoke(main, [*base, *options])
    assert shown.stdout == "weather warm Oslo hug!", shown.stderr
    reads = "It reads city, messages, tools, warm."
    assert f"The template does not read wind. {reads}" in shown.stderr
    continued = CliRunner().invoke(main, [*base, *options, "--continue-final-message"])
    assert continued.stdout == "weather warm Oslo hug"
    wrong = CliRunner().invoke(main, [*base, "--set", "warm"])
    assert (wrong.exit_code, "Expected --set NAME=VALUE" in wrong.stderr) == (1, True)
    wrong = CliRunner().invoke(main, [*base, "--set", "messages=5"])
    assert (wrong.exit_code, "cannot be given by --set" in wrong.stderr) == (1, True)
    tools.write_text("[")
    assert "The tools are not valid JSON" in CliRunner().invoke(main, [*base, *options]).stderr


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize(
    ("source", "messages", "name", "expected"),
    [
        ("<{{ messages[0].content }}>", user("hug "), True, "<hug "),
        ("<{{ messages[0].content | trim }}>", user("hug "), True, "<hug"),
        (
            "{% for p in messages[0].content %}[{{ p.text or p.type }}]{% endfor %}",
            user([{"type": "text", "text": "a"}, {"type": "image"}]),
            True,
            "[a",
        ),
        (
            "{{ messages[0].thinking }}.{{ messages[0].content }}",
            [{"role": "assistant", "content": "b", "reasoning": "a"}],
            "reasoning_content",
            "a",
        ),
    ],
)
def test_the_last_message_is_continued(source: str, messages: Any, name: bool | str, expected: str):
    text = ChatTemplate(source).render(messages, continue_final_message=name)
    assert text == expected


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize(
    ("source", "message", "problem"),
    [
        ("{{ messages[0].content }}", {"role": "user"}, "has no content to continue"),
        ("{{ messages[0].role }}", HUG[0], "does not read content of a message"),
        ("{{ messages[0].content | length }}", HUG[0], "leaves it out"),
        ("{{ messages[0].content }}", user([{"type": "image"}])[0], "has no text to continue"),
    ],
)
def test_what_cannot_be_continued_is_refused(source: str, message: Any, problem: str):
    with pytest.raises(bpe.ChatTemplateError, match=problem):
        ChatTemplate(source).render([message], continue_final_message=True)


def test_an_answer_is_begun_or_continued():
    with pytest.raises(bpe.ChatTemplateError, match="Choose one"):
        ChatTemplate(PLAIN).render(HUG, add_generation_prompt=True, continue_final_message=True)


@pytest.mark.usefixtures("rendered_here")
def test_one_conversation_that_is_refused_leaves_the_others():
    template = ChatTemplate("{{ messages[0].content + '!' }}")
    found = template.render_each([{"messages": user(each)} for each in ("a", 5, "b")])
    assert [each.text for each in found] == ["a!", "", "b!"]
    assert "Line 1 of the chat template failed" in found[1].error


def test_a_template_of_a_zip_has_others_in_their_folder():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("model/tokenizer.json", tokenizer_json())
        written.writestr("model/chat_template.jinja", "c")
        written.writestr("model/additional_chat_templates/rag.jinja", "r")
        written.writestr("model/additional_chat_templates/old/rag.jinja", "no")
    chat = open_files({"model.zip": archive.getvalue()}).chat
    assert chat is not None
    assert chat.source == {"default": "c", "rag": "r"}


def test_what_a_template_reads_is_found_without_running_it():
    source = (
        "{% set a = 1 %}{% if b %}{% set c = 2 %}{% endif %}{% for m in messages %}{{ c }}"
        "{% if day is not defined %}{% set day = '1' %}{% endif %}{{ m['content'] }}{{ m.name }}"
        "{% generation %}<image>{{ a }}{% endgeneration %}{% endfor %}{{ raise_exception('x') }}"
    )
    found = ChatTemplate(source).reads()
    assert found.variables == ("b", "day", "messages")
    assert found.fields == ("content", "name")
    assert "<image>" in found.words
    assert found.marks_answers
    with pytest.raises(bpe.ChatTemplateError, match="an error on line 2"):
        ChatTemplate("a\n{% if %}").reads()
