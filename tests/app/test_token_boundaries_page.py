"""Token boundaries encodes the visitor's text, or that of the address, as chosen."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.formats import VARIABLE, dumps
from bpe_core.formats.opening.opening import open_files
from bpe_core.tokenizer import READERS, NamedEncoder, gpt2
from tests.app.pages import OpenApp, errors, in_address, page_text, sent, sent_table
from tests.foreign_models import described, library_encoder, word_piece
from tests.oracles import TOKENIZERS, opened_by_name
from tests.unit.test_token_view_packing import unpacked
from tests.zipping import make_zip
from ui.corpus import own_texts
from ui.storage import SAMPLE_RUN_ID, keep_tokenizer, load_run
from ui.token_boundaries import conversation, opened_file
from ui.vocabulary.inspecting import OWN_TEXT


def view(app: AppTest) -> dict[str, Any]:
    """Return the data sent to the token view."""
    return sent(app, "packed")


def ids(app: AppTest) -> list[int]:
    return (unpacked(view(app)["packed"]["ids"]) - 1).tolist()


def test_the_page_opens_with_tokens_of_the_sample_run(open_app: OpenApp) -> None:
    app = open_app("token_boundaries")
    text = view(app)["text"]
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    assert ids(app) == tokenizer.encode(text, allowed_special="all")
    assert "text" not in app.query_params


def test_the_address_holds_text_and_tokenizer(open_app: OpenApp) -> None:
    text = "A <b>bold</b> 🧩\r\n<|endoftext|>"
    app = open_app("token_boundaries", text=text, tokenizer="GPT-2")
    assert view(app)["text"] == text
    assert ids(app) == gpt2().encode(text, allowed_special="all")
    # GPT-2's training text was never published, so there are no lines of it.
    assert sent(app, "sentence")["lines"] == []
    app.toggle(key="special").set_value(False).run()
    assert ids(app) == gpt2().encode(text)
    assert view(app)["code_options"] == ""
    app = open_app("token_boundaries", text="")
    assert not app.error
    assert ids(app) == []


def test_a_tokenizer_that_merges_across_words_shows_its_steps(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(TOKENIZERS))
    text = "unbelievably naïve"
    app = open_app("token_boundaries", text=text, **{"with": "mistral-7b"})
    app.segmented_control(key="tokenizer").set_value("Mistral 7B").run()
    assert not app.error
    encoder = opened_by_name("mistral-7b").encoder
    assert ids(app) == encoder.encode(text)
    assert view(app)["packed"]["table"]["n_merges"] > 28_000
    assert any("Each step merges" in one.value for one in app.markdown)


def test_small_letters_and_lost_accents_are_shown_as_changes(open_app: OpenApp) -> None:
    foreign = library_encoder(described(word_piece()))
    key = f"file-{keep_tokenizer({}, None, NamedEncoder('mine', foreign))}"
    choices = {"tokenizer": "mine", "with": key}
    app = open_app("token_boundaries", text="Über naïve words", **choices)
    assert ids(app) == [
        each.id if each.id is not None else -1 for each in foreign.segments("Über naïve words")
    ]
    changed = [piece for piece in sent(app, "pieces")["pieces"] if piece[0] != piece[1]]
    assert changed == [["Ü", "u"], ["ï", "i"]]
    assert any(each and each.startswith("##") for each in view(app)["packed"]["table"]["written"])


def test_an_uploaded_file_is_shown_and_an_unreadable_one_is_refused(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("token_boundaries", tokenizer="GPT-2")
    open_file(app, "naïve")
    assert view(app)["text"] == "naïve"
    open_file(app, b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert len(app.error) == 1
    assert view(app)["text"] == "naïve"
    # The message stays, and the file is not read again.
    with monkeypatch.context() as patched:
        patched.setattr(opened_file, "read_beginning", None)
        app.run()
    assert len(app.error) == 1
    app.button[0].click().run()
    assert not app.error


def field_text(app: AppTest) -> str:
    """Return the text sent to the text field."""
    return sent(app, "label")["text"]


def test_only_the_beginning_of_a_long_text_is_sent_but_all_tokens_are_counted(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_texts, "MAX_CHARACTERS", 1_000)
    line = "a line of an opened file\n"
    app = open_app("token_boundaries", tokenizer="GPT-2")
    open_file(app, line * 40_000)
    assert field_text(app) == view(app)["text"] == (line * 40)[:1_000]
    assert sum(len(c.proto.json) for c in app.get("bidi_component")) < 50_000
    assert "1,000,000 characters. Only the first 1,000 are read" in warning(app)
    monkeypatch.setattr(own_texts, "MAX_TOKENS", 5)
    text = "one two three 漢字 five"
    app = open_app("token_boundaries", tokenizer="GPT-2", text=text)
    every = gpt2().encode(text)
    # The fifth token ends inside a character, so the token with the rest of it is shown too.
    assert ids(app) == every[:6]
    assert view(app)["text"] == "one two three 漢"
    assert f"{len(every)} tokens. Only the first 6 are shown" in warning(app)


def open_file(app: AppTest, data: str | bytes, name: str = "long.txt") -> AppTest:
    given = data.encode() if isinstance(data, str) else data
    return app.file_uploader(key="boundaries_file").upload(name, given, "text/plain").run()


def warning(app: AppTest) -> str:
    """Return the first warning, without its escapes."""
    return app.warning[0].value.replace("\\", "")


def test_a_text_too_long_for_the_address_is_kept_under_an_id_in_it(open_app: OpenApp) -> None:
    app = open_app("token_boundaries", text="x" * 1_000)
    assert "text_id" not in app.query_params
    assert "Too long for the address" not in page_text(app)
    text = "naïve <b> \r\n" * 100
    open_file(app, text)
    assert "Too long for the address" in page_text(app)
    assert "text" not in app.query_params
    text_id = in_address(app, "text_id")
    for page in ("token_boundaries", "vocabulary"):
        again = open_app(page, text_id=text_id, uses_on=OWN_TEXT)
        assert field_text(again) == text
        assert in_address(again, "text_id") == text_id
    open_file(app, "short")
    assert app.query_params["text"] == "short"
    assert "text_id" not in app.query_params


def test_editing_updates_the_visitors_own_link_and_nobody_elses(open_app: OpenApp) -> None:
    mine = open_file(open_app("token_boundaries"), "a" * 1_001)
    text_id = in_address(mine, "text_id")
    other = open_file(open_app("token_boundaries", text_id=text_id), "b" * 1_001)
    assert in_address(other, "text_id") != text_id
    open_file(mine, "c" * 1_001)
    assert in_address(mine, "text_id") == text_id
    assert field_text(open_app("token_boundaries", text_id=text_id)) == "c" * 1_001
    assert (
        field_text(open_app("token_boundaries", text_id=in_address(other, "text_id")))
        == "b" * 1_001
    )


@pytest.mark.parametrize("text_id", ["a" * 32, "../../etc"])
def test_an_id_without_a_text_shows_a_warning_and_the_first_text(
    open_app: OpenApp, text_id: str
) -> None:
    app = open_app("token_boundaries", text_id=text_id)
    problem = "no longer kept on this server" if text_id == "a" * 32 else "malformed"
    assert problem in app.warning[0].value
    assert "unbelievably" in field_text(app)
    assert "text_id" not in app.query_params


def test_a_text_that_the_server_cannot_keep_stays_on_the_page(
    open_app: OpenApp, tmp_path: Path
) -> None:
    app = open_app("token_boundaries")
    (tmp_path / "runs").write_text("a file where the folder should be")
    open_file(app, "a" * 1_001)
    assert "cannot keep anything now" in app.warning[0].value
    assert view(app)["text"] == "a" * 1_001
    assert "text_id" not in app.query_params


def test_guesses_and_skipped_files_are_reported(open_app: OpenApp) -> None:
    app = open_app("token_boundaries")
    open_file(app, "naïve café\n".encode("cp1252") * 9)
    assert "read as cp1252" in warning(app)
    files = {"a.txt": b"hug", "b.txt": b"pug", "c.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256))}
    open_file(app, make_zip(files), "some.zip")
    assert field_text(app) == "hug\npug"
    assert "c.png" in warning(app)


CHAT_TEMPLATE = (
    "{% for m in messages %}<|endoftext|>{{ m.role }}: {{ m.content | trim }}{% endfor %}"
)


@pytest.fixture
def chat_shelf(tokenizer_json: bytes) -> str:
    """Keep a tokenizer with a chat template; return what the address lists."""
    config = json.dumps({"chat_template": CHAT_TEMPLATE}).encode()
    files = {"tokenizer.json": tokenizer_json, "tokenizer_config.json": config}
    return f"gpt2,file-{keep_tokenizer(files, None, open_files(files))}"


@pytest.fixture(scope="module")
def tokenizer_json() -> bytes:
    return dumps(load_run(SAMPLE_RUN_ID).run.tokenizer, "huggingface")["tokenizer.json"]


def test_a_conversation_is_rendered_by_the_template_and_its_share_is_counted(
    open_app: OpenApp, chat_shelf: str
) -> None:
    chat = json.dumps([["system", " Be kind "], ["user", "Hug <b>?"], ["user", "a <|endoftext|>"]])
    choices = {"part": "Conversation", "with": chat_shelf, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", chat=chat, **choices)
    written = "<|endoftext|>system: Be kind<|endoftext|>user: Hug <b>?<|endoftext|>user: a "
    assert view(app)["text"] == written + "<|endoftext|>"
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    assert ids(app) == tokenizer.encode(view(app)["text"], allowed_special="all")
    (share,) = [each.value for each in app.markdown if "of the template" in each.value]
    assert share.startswith(f"**{len(ids(app))} tokens**: ")
    assert warning(app).startswith("Message 3 (user) contains <|endoftext|>, which")


TOOLS_TEMPLATE = (
    "{% for t in tools or [] %}[{{ t.function.name }}]{% endfor %}{{ mood }}{% for m in messages %}"
    "<|{{ m.role }}|>{{ m.content }}<|endoftext|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def keep_with_tools(tokenizer_json: bytes) -> str:
    """Return the key of a kept tokenizer whose chat template reads tools."""
    config = json.dumps({"chat_template": TOOLS_TEMPLATE}).encode()
    files = {"tokenizer.json": tokenizer_json, "tokenizer_config.json": config}
    return keep_tokenizer(files, None, open_files(files))


def mask_of(app: AppTest) -> str:
    """Return what is learned from and what is not, as HTML."""
    bodies = [each.proto.body for each in app.get("html")]
    (mask,) = [body for body in bodies if "class='chat-mask' tabindex" in body]
    return mask


def test_an_example_with_tools_is_rendered_and_what_is_learned_is_shown(
    open_app: OpenApp, tokenizer_json: bytes
) -> None:
    key = keep_with_tools(tokenizer_json)
    choices = {"part": "Conversation", "with": f"file-{key}", "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)
    app.selectbox(key="chat_example").set_value("Tools").run()
    assert view(app)["text"].startswith("[weather]<|user|>Does it rain in Oslo?<|endoftext|>")
    app.text_input(key="chat_set_mood").set_value("calm").run()
    assert view(app)["text"].startswith("[weather]calm<|user|>")
    (learned,) = [each.value for each in app.markdown if "learns to write" in each.value]
    assert learned.endswith("; 0 faults.")
    mask = mask_of(app)
    said = re.findall("<span class='learned'>(.*?)</span>", mask)
    assert "".join(said) == "&lt;|endoftext|&gt;Yes, it rains.&lt;|endoftext|&gt;"
    # The JSON is the same conversation, and what it lacks is in no field then.
    app.segmented_control(key="chat_view").set_value("JSON").run()
    given = app.text_area(key="chat_json")
    raw = json.loads(given.value or "")
    assert raw == {**conversation.EXAMPLES["Tools"], "mood": "calm"}
    assert view(app)["text"].startswith("[weather]calm<|user|>")
    given.set_value(json.dumps({**raw, "mood": "12", "tone": 1})).run()
    assert "[weather]12<|user|>" in view(app)["text"]
    said = [each.value.replace("\\", "") for each in app.caption]
    assert "The template does not read tone." in said
    app.segmented_control(key="chat_view").set_value("Messages").run()
    assert app.text_input(key="chat_set_mood").value == '"12"'
    assert app.text_area(key="chat_text_3").value == "Yes, it rains."
    app.segmented_control(key="chat_view").set_value("JSON").run()
    given = app.text_area(key="chat_json")
    assert json.loads(given.value or "") == {**raw, "mood": "12", "tone": 1}
    given.set_value('[{"role": "user", "content": "é"}, {"role": "assistant", "content": "é🙂漢"}]')
    app.run()
    mask = mask_of(app)
    assert "\N{REPLACEMENT CHARACTER}" not in mask
    said = re.findall("<span class='learned'>(.*?)</span>", mask)
    assert "".join(said) == "é🙂漢&lt;|endoftext|&gt;"
    given.set_value('{"messages": [{"role": "user", "content": "<b>"}], "template": 1}').run()
    assert view(app)["text"].endswith("<|user|><b><|endoftext|>")
    many = json.dumps([{"role": "user", "content": ""}] * 201)
    for wrong, why in (
        ("{", "not valid JSON"),
        ("[]", "from 1 to 10,000 messages"),
        (many, "at most 200 messages, got 201"),
    ):
        app.text_area(key="chat_json").set_value(wrong).run()
        assert why in app.error[0].value.replace("\\", "")


SEVERAL = {
    "default": "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for p in m.content %}[{{ p.type }}]{{ p.text }}{% endfor %}{% endif %}"
    "{% endfor %}",
    "rag": "{{ documents[0].title }}: {{ messages[0].content }}",
}


def test_parts_several_templates_and_an_answer_that_goes_on(
    open_app: OpenApp, tokenizer_json: bytes
) -> None:
    listed = [{"name": name, "template": source} for name, source in SEVERAL.items()]
    config = json.dumps({"chat_template": listed}).encode()
    files = {"tokenizer.json": tokenizer_json, "tokenizer_config.json": config}
    key = f"file-{keep_tokenizer(files, None, open_files(files))}"
    choices = {"part": "Conversation", "with": key, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)
    app.selectbox(key="chat_example").set_value("Images and sound").run()
    assert app.text_area(key="chat_parts_0").value == "image, audio"
    written = "<|user|>[image][audio][text]What is this?<|assistant|>A cat that purrs."
    assert view(app)["text"] == written
    app.toggle(key="continue").set_value(True).run()
    assert view(app)["text"] == written
    app.text_area(key="chat_parts_0").set_value("image, image").run()
    assert view(app)["text"].startswith("<|user|>[image][image][text]What")
    again = open_app("token_boundaries", chat=in_address(app, "chat"), **choices)
    assert view(again)["text"].startswith("<|user|>[image][image][text]What")
    app.text_area(key="chat_parts_0").set_value("a b").run()
    assert "Expected kinds of parts" in app.error[0].value
    app.toggle(key="continue").set_value(False).run()
    app.selectbox(key="chat_example").set_value("Documents").run()
    app.selectbox(key="chat_template_default rag").set_value("rag").run()
    assert view(app)["text"] == "Oslo: Does it rain in Oslo?"
    # What fields cannot show stays in the JSON.
    app.segmented_control(key="chat_view").set_value("JSON").run()
    odd = json.dumps([{"role": "user", "content": "Hug?", "mood": "calm"}])
    app.text_area(key="chat_json").set_value(odd).run()
    app.segmented_control(key="chat_view").set_value("Messages").run()
    assert "other messages" in app.info[0].value
    app.segmented_control(key="chat_view").set_value("JSON").run()
    assert app.text_area(key="chat_json").value == odd


def test_ids_that_drift_are_shown_with_both_cuts_and_whose_turn_it_was(
    open_app: OpenApp, tokenizer_json: bytes
) -> None:
    key = keep_with_tools(tokenizer_json)
    choices = {"part": "Conversation", "with": f"gpt2,file-{key}", "tokenizer": "GPT-2"}
    app = open_app("token_boundaries", **choices)
    app.segmented_control(key="chat_view").set_value("Ids").run()

    def drift(ids: str) -> str:
        app.text_area(key="drift_ids").set_value(ids).run()
        assert not app.exception
        tables = [each.proto.body for each in app.get("html") if "<table>" in each.proto.body]
        return re.sub(r"<t[dh]>", " | ", re.sub("<small>", ":", "".join(tables)))

    both = "<span class='token'>ug:1018</small></span><span class='token'>s:82</small></span>"
    given = "[71, 1018, 82]"
    for ids in (given, "71 1018, 82", f'{{"input_ids": {given}}}', f"[{given}]"):
        table = drift(ids)
        assert f"byte 1</td> | {both}</td> | <span class='token'>ugs:10339</small>" in table, ids
        assert "Whose turn" not in table
    assert drift("[71, 10339]") == ""
    assert "No difference" in page_text(app)
    assert "sequence 2, byte 1" in drift("[71, 10339]\n[71, 1018, 82]")
    assert "1 of 2 sequences: 1 place" in page_text(app)
    for wrong, why in (
        ("", "There are no ids"),
        ("[71, 1.5]", "Line 1 has no ids"),
        ("[71]\n[true]", "Line 2 has no ids"),
        ("[71]\nhug", "Line 2 has neither ids nor valid JSON"),
        ("[999999]", "Sequence 1"),
        (str([71] * 2_001), "Expected at most 2,000 ids"),
    ):
        drift(wrong)
        assert why in app.error[0].value.replace("\\", ""), wrong
    # By the template, it is the assistant's turn.
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    before = own.encode("<|user|>?<|endoftext|><|assistant|>", "all")
    changed = [*before, *(own.encode(letter)[0] for letter in "the"), *own.encode(" end")]
    app.segmented_control(key="chat_view").set_value("Messages").run()
    app.segmented_control(key="tokenizer").set_value("tokenizer.json").run()
    app.segmented_control(key="chat_view").set_value("Ids").run()
    table = drift(str(changed))
    assert " | assistant</td>" in table


@pytest.mark.parametrize("tokenizer", ["Your tokenizer", "GPT-2"])
def test_a_tokenizer_without_a_template_shows_an_example_of_one(
    open_app: OpenApp, tokenizer: str
) -> None:
    app = open_app("token_boundaries", part="Conversation", tokenizer=tokenizer)
    said = app.info[0].value.replace("\\", "")
    assert "has no chat template, so this example writes the conversation in ChatML" in said
    assert "here they are ordinary text" in said
    assert view(app)["text"] == (
        "<|im_start|>user\nWhat are you?<|im_end|>\n"
        "<|im_start|>assistant\nA model. I read tokens.<|im_end|>\n"
    )
    if tokenizer == "GPT-2":
        assert ids(app) == gpt2().encode(view(app)["text"])
    app.toggle(key="answer").set_value(True).run()
    assert view(app)["text"].endswith("<|im_end|>\n<|im_start|>assistant\n")


def test_an_example_says_nothing_of_ordinary_text_if_its_marks_are_special(
    open_app: OpenApp,
) -> None:
    config = bpe.TrainingConfig(262, special_tokens=("<|im_start|>", "<|im_end|>"))
    run = bpe.train(bpe.Corpus.from_text("hug hugs"), config)
    files = dumps(run.tokenizer, "huggingface")
    key = f"file-{keep_tokenizer(files, None, open_files(files))}"
    choices = {"part": "Conversation", "with": key, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)
    assert "ordinary text" not in app.info[0].value
    assert "so this example" in app.info[0].value
    assert not app.warning


def test_messages_are_added_removed_and_kept_in_the_address(
    open_app: OpenApp, chat_shelf: str
) -> None:
    choices = {"part": "Conversation", "with": chat_shelf, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)
    assert "chat" not in app.query_params
    first = view(app)["text"]
    app.button(key="chat_add").click().run()
    assert app.selectbox(key="chat_role_2").value == "user"
    app.text_area(key="chat_text_2").set_value("Bye").run()
    assert view(app)["text"] == f"{first}<|endoftext|>user: Bye"
    app.button(key="chat_remove_0").click().run()
    kept = [["assistant", "A model. I read tokens."], ["user", "Bye"]]
    assert json.loads(app.query_params["chat"]) == kept
    again = open_app("token_boundaries", chat=json.dumps(kept), **choices)
    assert view(again)["text"] == view(app)["text"]


FIELDS_TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content %}({{ m.reasoning_content }})"
    "{% endif %}{% for c in m.tool_calls or [] %}[{{ c.function.name }} "
    "{{ c.function.arguments | tojson }}]{% endfor %}{% if m.role == 'tool' %}{{ m.name }} "
    "{{ m.tool_call_id }}: {% endif %}{{ m.content }}{% endfor %}"
)


def test_reasoning_calls_and_results_of_tools_are_fields_of_messages(
    open_app: OpenApp, tokenizer_json: bytes
) -> None:
    files = {"tokenizer.json": tokenizer_json, "chat_template.jinja": FIELDS_TEMPLATE.encode()}
    key = keep_tokenizer(files, None, open_files(files))
    choices = {"part": "Conversation", "with": f"file-{key}", "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)
    app.text_area(key="chat_reasoning_content_1").set_value("Hm.").run()
    call = {"id": "c1", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    app.text_area(key="chat_tool_calls_1").set_value(json.dumps([call])).run()
    app.button(key="chat_add").click().run()
    app.selectbox(key="chat_role_2").set_value("tool").run()
    app.text_input(key="chat_tool_call_id_2").set_value("c1").run()
    app.text_input(key="chat_name_2").set_value("weather").run()
    app.text_area(key="chat_text_2").set_value("<b>").run()
    written = (
        '<|user|>What are you?<|assistant|>(Hm.)[weather {"city": "Oslo"}]A model. I read tokens.'
        "<|tool|>weather c1: <b>"
    )
    assert view(app)["text"] == written
    again = open_app("token_boundaries", chat=in_address(app, "chat"), **choices)
    assert view(again)["text"] == written
    # The raw view begins with what the fields hold.
    again.segmented_control(key="chat_view").set_value("JSON").run()
    raw = json.loads(again.text_area(key="chat_json").value or "")["messages"]
    assert (raw[1]["tool_calls"], raw[2]["tool_call_id"]) == ([call], "c1")
    assert view(again)["text"] == written
    for wrong, why in (("{", "not valid JSON"), ("[1]", "JSON list of objects")):
        app.text_area(key="chat_tool_calls_1").set_value(wrong).run()
        assert why in app.error[0].value.replace("\\", "")
    app.selectbox(key="chat_role_1").set_value("user").run()
    assert not app.error
    assert "weather {" not in view(app)["text"]


def test_messages_as_fields_and_as_json_lose_nothing(open_app: OpenApp, chat_shelf: str) -> None:
    choices = {"part": "Conversation", "with": chat_shelf, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)

    def show(view: str) -> None:
        app.segmented_control(key="chat_view").set_value(view).run()
        assert "error in the app" not in errors(app)

    # A field that is wrong stays where it is, and so do the messages.
    app.selectbox(key="chat_example").set_value("Tools").run()
    calls = app.text_area(key="chat_tool_calls_1").value or ""
    app.text_area(key="chat_tool_calls_1").set_value("[{").run()
    show("JSON")
    assert app.segmented_control(key="chat_view").value == "Messages"
    assert "not valid JSON" in app.error[0].value
    assert app.text_area(key="chat_tool_calls_1").value == "[{"
    app.text_area(key="chat_tool_calls_1").set_value(calls).run()
    show("JSON")
    raw = app.text_area(key="chat_json").value or ""
    assert json.loads(raw) == conversation.EXAMPLES["Tools"]
    # What fields cannot show stays in the JSON.
    parts = [{"type": "image"}, {"type": "text", "text": "x"}]
    for message in (
        {"role": "assistant", "content": parts},
        {"role": "system", "content": parts},
        {"role": "assistant", "content": "x", "reasoning_content": ""},
        {"role": "user", "content": parts[1:]},
        {"role": "user", "content": []},
        {"role": "tool", "content": "x", "name": ""},
    ):
        odd = json.dumps([message])
        app.text_area(key="chat_json").set_value(odd).run()
        show("Messages")
        assert "other messages" in app.info[0].value
        show("JSON")
        assert app.text_area(key="chat_json").value == odd
    # A lone surrogate can be shown escaped.
    call = {"function": {"name": "a\ud800"}}
    whole = {
        "messages": [{"role": "assistant", "content": "x", "tool_calls": [call]}],
        "tools": [call],
        "mood": "\ud800",
        "\ud800": 1,
    }
    app.text_area(key="chat_json").set_value(json.dumps(whole)).run()
    show("Messages")
    assert not [each for each in app.info if "other messages" in each.value]
    show("JSON")
    assert json.loads(app.text_area(key="chat_json").value or "") == whole


@pytest.mark.parametrize(
    ("chat", "written"),
    [
        *((chat, "user: What are you?") for chat in ("[" * 900, '{"a": 1}', '[["user"]]')),
        ('[["root", "a"]]', "user: What are you?"),
        ('[["user", "a\\ud800"]]', "user: a?"),
    ],
)
def test_a_damaged_conversation_in_the_address_gives_the_first_one(
    open_app: OpenApp, chat_shelf: str, chat: str, written: str
) -> None:
    choices = {"part": "Conversation", "with": chat_shelf, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", chat=chat, **choices)
    assert written in view(app)["text"]


def test_a_template_that_refuses_says_why_and_keeps_the_messages(
    open_app: OpenApp, tokenizer_json: bytes
) -> None:
    source = "{{ raise_exception('Roles must <b>alternate</b>') }}"
    files = {"tokenizer.json": tokenizer_json, "chat_template.jinja": source.encode()}
    key = f"file-{keep_tokenizer(files, None, open_files(files))}"
    choices = {"part": "Conversation", "with": key, "tokenizer": "tokenizer.json"}
    app = open_app("token_boundaries", **choices)
    assert errors(app).endswith("refuses these messages: Roles must <b>alternate</b>")
    assert app.text_area(key="chat_text_0").value == "What are you?"


def test_one_vocabulary_is_cut_in_five_ways_and_the_end_of_a_prompt_is_marked(
    open_app: OpenApp,
) -> None:
    text = "hypopituitarism in Northamptonshire, th"
    app = open_app("token_boundaries", text=text, tokenizer="GPT-2")
    rows = sent_table(app, "The text as each reader cuts it")
    notes = [row["note"] for row in rows["rows"]]
    assert rows["rows"][0]["label"] == "Merges"
    counts = [len(bpe.encode_by("gpt2", text, reader)) for reader in READERS]
    assert [int(note.split()[0]) for note in notes] == counts
    assert counts[3] < counts[0]
    assert rows["rows"][0]["cells"][0]["rings"] == []
    assert rows["rows"][3]["cells"][0]["rings"]
    packed = view(app)
    assert packed["unsettled"] == counts[0] - 1
    assert "With “e” added, “␣th” would be “␣the”." in packed["end_note"]
    app.slider(key="dropout").set_value(1.0).run()
    rows = sent_table(app, "The text as each reader cuts it")
    assert int(rows["rows"][4]["note"].split()[0]) == len(text)
    assert errors(app) == ""
