"""Conversations of real chat templates are rendered and encoded as transformers does."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from jinja2.exceptions import SecurityError, TemplateError, UndefinedError
from transformers import AutoTokenizer
from transformers.utils.chat_template_utils import render_jinja_template

import bpe_core as bpe
from bpe_core.chat import ChatTemplate
from bpe_core.formats import is_sidecar, read_description, read_files_at
from bpe_core.formats.gguf.gguf_header import parse_gguf
from bpe_core.formats.gguf.gguf_vocabulary import find_chat
from bpe_core.formats.sidecars import Sidecars
from bpe_core.tokenizer import Conversation, NamedEncoder, boundaries, read_conversations
from scripts.get_tokenizers import CHAT, CHAT_PACKAGES, VOCABULARIES
from tests.more_cases import first_of
from tests.oracles import one_at_a_time
from tests.talks import draw_talk, draw_tool

GGUF = ("command-r", "gemma-4", "phi-3", "qwen2", "qwen35")
TALK = [
    {"role": "user", "content": " What is 漢字 <|im_end|>?\n"},
    {"role": "assistant", "content": "Letters.\n\n```py\nx = {'a': [1]}\n```"},
    {"role": "user", "content": "Thanks 👩‍👩‍👧!  "},
]
CONVERSATIONS = {
    "a talk": TALK,
    "instructions first": [{"role": "system", "content": "Be <b>kind</b> & brief."}, *TALK],
    "a question": TALK[:1],
    "an answer last": TALK[:2],
    "nothing": [{"role": "user", "content": ""}],
    "twice the same role": [TALK[0], TALK[0]],
    "keys without a value": [
        {"role": "user", "content": "x", "tool_calls": None, "name": None},
        {"role": "assistant", "content": None, "tool_calls": None, "reasoning_content": None},
    ],
    **{
        f"{name} of a model": [TALK[0], {**TALK[1], name: "Han is a script.", "unused": None}]
        for name in ("reasoning_content", "reasoning", "thinking")
    },
}
SOURCES = (
    "{{ messages | tojson }}",
    "{% for m in messages %}{{ m.thinking }}-{{ m.reasoning_content }} {% endfor %}",
    "{{ dict(a=1) | tojson }}{{ dict.fromkeys('ab', 1) | tojson }}{{ dict.__class__ }}",
    "{% set ns = namespace(self=1, values=2) %}{% set ns.a = 3 %}{{ ns.self }}{{ ns.a }}",
    "{% set ns = namespace({'a': 1}) %}{{ ns.a }}{{ ns._a }}",
    "{% set ns = namespace(_a=1) %}",
    "{% set ns = namespace({'__class__': 1}) %}",
    "{% set ns = namespace() %}{% set ns._a = 1 %}",
    "{% set a = 1 %}{% generation %}{% set a = 2 %}{{ a }}{% endgeneration %}{{ a }}",
    "{% for m in messages %}{% if loop.index == 2 %}{% break %}{% endif %}{{ m.role }}{% endfor %}",
)


pytestmark = pytest.mark.usefixtures("rendered_here")


@cache
def opened(name: str) -> NamedEncoder:
    return bpe.open_encoder(CHAT / name)


@cache
def peer(name: str) -> Any:
    return AutoTokenizer.from_pretrained(CHAT / name)


@cache
def template(name: str) -> ChatTemplate:
    found = read_description(read_files_at(VOCABULARIES / f"ggml-vocab-{name}.gguf")).chat
    assert found is not None
    return found


name = one_at_a_time(opened, peer, template)


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize("talk", CONVERSATIONS)
@pytest.mark.parametrize("name", first_of(CHAT_PACKAGES, "qwen3", "llama3.1"), indirect=True)
def test_a_folder_is_rendered_and_encoded_as_by_transformers(name: str, talk: str) -> None:
    messages, chat = CONVERSATIONS[talk], opened(name).chat
    assert chat is not None
    for generation in (False, True):
        try:
            expected = peer(name).apply_chat_template(
                messages, tokenize=False, add_generation_prompt=generation
            )
        except TemplateError as error:
            what = "is not there" if isinstance(error, UndefinedError) else "refuses these messages"
            said = re.escape(" ".join(str(error).split())[:40])
            with pytest.raises(bpe.ChatTemplateError, match=f"{what}: {said}"):
                chat.render(messages, add_generation_prompt=generation)
            continue
        assert chat.render(messages, add_generation_prompt=generation) == expected
        ids = peer(name).encode(expected, add_special_tokens=False)
        assert opened(name).encode(expected, "all") == ids


@pytest.mark.parametrize("name", first_of(CHAT_PACKAGES, "qwen3", "llama3.1"), indirect=True)
def test_a_template_gets_the_tokens_that_transformers_gives_it(name: str) -> None:
    chat = opened(name).chat
    assert chat is not None
    assert chat.tokens == peer(name).special_tokens_map
    assert chat.source == peer(name).chat_template


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize("source", SOURCES)
def test_a_template_can_do_what_it_can_in_transformers(source: str) -> None:
    for talk in CONVERSATIONS.values():
        messages = [{key: each for key, each in m.items() if each is not None} for m in talk]
        try:
            (expected,), _ = render_jinja_template([messages], chat_template=source)
        except SecurityError:
            with pytest.raises(bpe.ChatTemplateError, match="no template may do"):
                ChatTemplate(source).render(talk)
            continue
        assert ChatTemplate(source).render(talk) == expected


@pytest.mark.parametrize("name", first_of(CHAT_PACKAGES, "qwen3", "llama3.1"), indirect=True)
def test_the_token_that_a_library_adds_to_every_text_is_known(name: str) -> None:
    chat = opened(name).chat
    assert chat is not None
    with_added, without = (peer(name).encode("hug", add_special_tokens=a) for a in (True, False))
    first = with_added[: len(with_added) - len(without)]
    assert peer(name).decode(first) == chat.first_token


@pytest.mark.parametrize("talk", [name for name in CONVERSATIONS if "value" not in name])
@pytest.mark.parametrize("name", first_of(GGUF, "qwen2"), indirect=True)
def test_a_template_in_gguf_is_rendered_as_by_transformers(name: str, talk: str) -> None:
    chat = template(name)
    try:
        (expected,), _ = render_jinja_template(
            [CONVERSATIONS[talk]],
            chat_template=chat.named(),
            add_generation_prompt=True,
            **cast("dict[str, Any]", dict(chat.tokens)),
        )
    except Exception:
        with pytest.raises(bpe.ChatTemplateError):
            chat.render(CONVERSATIONS[talk], add_generation_prompt=True)
        return
    assert chat.render(CONVERSATIONS[talk], add_generation_prompt=True) == expected


@cache
def source_of(name: str) -> ChatTemplate:
    """Return the template of a folder or a GGUF file, without its tokenizer."""
    if name in GGUF:
        keys = parse_gguf((VOCABULARIES / f"ggml-vocab-{name}.gguf").read_bytes())
        in_gguf = find_chat(keys, cast("list[str]", keys["tokenizer.ggml.tokens"]))
        assert in_gguf is not None
        return in_gguf
    files = {
        each.name: each.read_bytes() for each in (CHAT / name).iterdir() if is_sidecar(each.name)
    }
    found = Sidecars(files).chat()
    assert found is not None
    return found


def rendered_by_transformers(
    chat: ChatTemplate, talk: dict[str, Any], **options: Any
) -> str | None:
    """Return what transformers renders, or None if the template or transformers refuses."""
    messages = [{k: v for k, v in m.items() if v is not None} for m in talk["messages"]]
    others = {**chat.tokens, **talk, **options}
    del others["messages"]
    source = chat.named(with_tools="tools" in talk)
    try:
        (text,), _ = render_jinja_template([messages], chat_template=source, **others)
    except Exception:
        return None
    return text


@pytest.mark.parametrize("n", [8, pytest.param(1_000, marks=pytest.mark.more)])
@pytest.mark.parametrize("name", [*CHAT_PACKAGES, *GGUF])
def test_conversations_with_tools_are_rendered_as_by_transformers(name: str, n: int) -> None:
    chat, random = source_of(name), Random(name)
    talks = [draw_talk(random) for _ in range(n)]
    n_written = 0
    for adds in (False, True):
        rendered = chat.render_each(talks, add_generation_prompt=adds)
        for talk, found in zip(talks, rendered, strict=True):
            expected = rendered_by_transformers(chat, talk, add_generation_prompt=adds)
            assert (None if found.error else found.text) == expected
            n_written += expected is not None
    assert n_written > n // 8
    for talk in talks[: max(2, n // 50)]:
        for part in (True, "reasoning_content"):
            expected = rendered_by_transformers(chat, talk, continue_final_message=part)
            try:
                text = chat.render(continue_final_message=part, **talk)
            except bpe.ChatTemplateError:
                text = None
            assert text == expected


def test_what_a_template_reads_is_found_in_every_template() -> None:
    found = {
        name: source_of(name).reads() for name in ("qwen3", "llama3.1", "mistral-nemo", "command-r")
    }
    given = {name: set(each.variables) - {*source_of(name).tokens} for name, each in found.items()}
    assert given == {
        "qwen3": {"add_generation_prompt", "enable_thinking", "messages", "tools"},
        "llama3.1": {"add_generation_prompt", "messages"},
        "mistral-nemo": {"messages", "system_message", "tools"},
        "command-r": {"add_generation_prompt", "messages"},
    }
    assert {"reasoning_content", "tool_calls", "content"} <= set(found["qwen3"].fields)
    assert "<tools>" in " ".join(found["qwen3"].words)


def test_several_templates_of_a_folder_are_those_of_transformers(tmp_path: Path) -> None:
    bpe.save(bpe.train(["hug hugs"], vocab_size=260).tokenizer, tmp_path, format="transformers")
    further = tmp_path / "additional_chat_templates"
    further.mkdir()
    for name in ("rag", "tool_use"):
        (further / f"{name}.jinja").write_text(f"{name} {{{{ messages[0].content }}}}")
    (tmp_path / "chat_template.jinja").write_text("default {{ messages[0].content }}")
    chat, theirs = bpe.open_encoder(tmp_path).chat, AutoTokenizer.from_pretrained(tmp_path)
    assert chat is not None
    assert chat.source == theirs.chat_template
    for tools in (None, [draw_tool(Random(0))]):
        expected = theirs.apply_chat_template(TALK[:1], tools=tools, tokenize=False)
        assert chat.render(TALK[:1], tools=tools) == expected
    expected = theirs.apply_chat_template(TALK[:1], chat_template="rag", tokenize=False)
    assert chat.chosen("rag").render(TALK[:1]) == expected


ANSWER = "{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}"
GENERATIONS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}"
    + ANSWER
    + "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}",
    "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
    "{% endgeneration %}\n{% else %}{{ m.content }}{% endif %}|{% endfor %}",
)


@pytest.mark.parametrize("n", [40, pytest.param(1_000, marks=pytest.mark.more)])
@pytest.mark.parametrize("source", GENERATIONS)
def test_masks_are_those_of_transformers(source: str, n: int, tmp_path: Path) -> None:
    specials = ("<|im_start|>", "<|im_end|>")
    run = bpe.train(["hug hugs 漢字 kind"] * 3, vocab_size=270, special_tokens=specials)
    bpe.save(run.tokenizer, tmp_path, format="transformers")
    theirs, random = AutoTokenizer.from_pretrained(tmp_path), Random(source)
    talks = [draw_talk(random)["messages"] for _ in range(n)]
    for message in (each for talk in talks for each in talk):
        message["content"] = message["content"] or "hug"
    found = read_conversations(
        ChatTemplate(source), [{"messages": talk} for talk in talks], run.tokenizer
    )
    n_learned = 0
    for talk, each in zip(talks, found, strict=True):
        assert isinstance(each, Conversation)
        expected = theirs.apply_chat_template(
            talk, chat_template=source, return_assistant_tokens_mask=True, return_dict=True
        )
        cut = boundaries(each.text, run.tokenizer, "all")
        assert cut.ids.tolist() == expected["input_ids"]
        ours, theirs_too = each.mask(cut), np.array(expected["assistant_masks"], bool)
        # Of a character in several tokens that ends an answer, transformers takes the first alone.
        data, starts = each.text.encode(), np.concatenate([[0], cut.byte_ends[:-1]])
        rest = np.array([data[start] & 0xC0 == 0x80 for start in starts], bool)
        assert not (theirs_too & ~ours).any()
        assert not (ours & ~theirs_too & ~rest).any()
        n_learned += int(theirs_too.sum())
    assert n_learned
