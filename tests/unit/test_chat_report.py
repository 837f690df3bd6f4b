"""Many conversations reported, their masks written, and ids that drifted."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import bpe_core as bpe
from bpe_core.chat import ChatTemplate
from bpe_core.cli import main
from bpe_core.tokenizer import ChatReport, find_drift, report_chats
from bpe_scale import encoding
from tests.unit.test_decode_stream import ENCODERS

END = "<|endoftext|>"
SOURCE = (
    "{% if messages[0].content == 'no' %}{{ raise_exception('No no.') }}{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}" + END + "{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
USER, ANSWER = {"role": "user", "content": "Hug?"}, {"role": "assistant", "content": "Yes."}
ROWS: list[Any] = [
    {"messages": [USER, ANSWER]},
    [USER, ANSWER, USER, ANSWER],
    {"conversations": [{"from": "human", "value": "Hug?"}, {"from": "gpt", "value": "Yes."}]},
    {"messages": [{"role": "user", "content": "no"}]},
    {"messages": [{"content": "Hug?"}]},
    [{"role": "user", "content": f"a {END}"}, ANSWER],
    [{"role": "user", "content": f"b {END}"}],
    [{"role": "user", "content": "\ud800"}],
    [USER, ANSWER] * 101,
]


def test_conversations_are_reported_and_their_masks_written(tmp_path: Path) -> None:
    rows, template, masks = (tmp_path / name for name in ("a.jsonl", "t.jinja", "m.parquet"))
    rows.write_text("\n".join(map(json.dumps, ROWS)) + "\n")
    template.write_text(SOURCE)
    base = ["chat", "gpt2", str(rows), "--template", str(template), "--report", "--context", "20"]
    shown = CliRunner().invoke(main, [*base, "--masks", str(masks), "--json"])
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)
    assert (found["conversations"], found["cut_off"]) == (9, 2)
    assert found["learned_by"] == {"prefixes": 4, "": 1, "text": 1}
    assert found["not_compared"] == 1
    assert set(found["faults"]) == {"refused", "typed-token"}
    assert found["faults"]["refused"]["conversations"] == 3
    assert found["faults"]["refused"]["first"] == 4
    assert "refuses these messages: No no." in found["faults"]["refused"]["example"]
    assert found["faults"]["typed-token"] | {"example": ""} == {
        "conversations": 2,
        "first": 6,
        "example": "",
    }
    assert found["roles"]["assistant"]["turns"] == 5 + 101
    table = pq.read_table(masks).to_pylist()  # pyright: ignore[reportUnknownMemberType]
    assert len(table) == 6
    assert sum(each["n_tokens"] for each in table) == found["tokens"]
    assert sum(sum(each["assistant_masks"]) for each in table) == found["learned"] == 15 + 303
    ids = [i for i, m in zip(table[0]["input_ids"], table[0]["assistant_masks"], strict=True) if m]
    assert bpe.gpt2().decode(ids) == f"Yes.{END}"
    lines = CliRunner().invoke(main, base).stdout
    assert "9 conversations" in lines
    assert "longer than 20 tokens: 2" in lines
    assert "more than 200 messages, so no beginnings compared: 1 conversation\n" in lines
    assert "refused: 3 conversations, first 4: " in lines
    rows.write_text("{\n")
    assert "Line 1 of" in CliRunner().invoke(main, base).stderr


def test_rows_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    template, rows = tmp_path / "t.jinja", tmp_path / "a.parquet"
    template.write_text(SOURCE)
    base = ["chat", "gpt2", str(rows), "--template", str(template), "--report"]
    pq.write_table(pa.table({"messages": [[USER, ANSWER]] * 2_500}), rows)
    assert "2,500 conversations" in CliRunner().invoke(main, base).stdout
    rows.write_bytes(b"\0" * 100)
    damaged = CliRunner().invoke(main, base)
    assert (damaged.exit_code, "a.parquet is not a Parquet file" in damaged.stderr) == (1, True)
    rows.unlink()
    missing = CliRunner().invoke(main, base).stderr
    assert "a.parquet" in missing
    assert "utput" not in missing
    base[2] = str(rows.with_suffix(".jsonl"))
    Path(base[2]).write_bytes(b"[1]\n[\xff]\n")
    assert "is not UTF-8 at byte 5 (0xFF)" in CliRunner().invoke(main, base).stderr
    base[2] = "-"
    piped = CliRunner().invoke(main, base, input=json.dumps([USER]) + "\n\n" + json.dumps([USER]))
    assert "2 conversations" in piped.stdout


ENDLESS = "{% for a in range(9999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def test_a_template_without_end_ends_the_report() -> None:
    with pytest.raises(bpe.ChatTemplateError, match="did not finish in 2 seconds"):
        report_chats(ChatTemplate(ENDLESS), [[USER]] * 3_000, bpe.gpt2())


def test_a_conversation_without_end_leaves_the_others() -> None:
    template = ChatTemplate("{% if messages[1:] %}" + ENDLESS + "{% endif %}" + SOURCE)
    report = report_chats(template, [[USER]] * 20 + [[USER, ANSWER]] + [[USER]] * 20, bpe.gpt2())
    assert (report.conversations, report.roles["user"].turns) == (41, 40)
    assert report.faults["refused"] == (1, 21, "The chat template did not finish in 2 seconds.")


def test_drift_is_found_where_ids_were_changed_and_nowhere_else() -> None:
    random, gpt2, text = Random(0), bpe.gpt2(), "hugs hugging the hug 漢字 kindness "
    merges = {merge.id: (merge.left, merge.right) for merge in bpe.gpt2().merges}
    n_drifted = 0
    for _ in range(200):
        ids = gpt2.encode("".join(random.choices(text.split(" "), k=8)))
        assert find_drift(ids, gpt2) == []
        place = random.choice([i for i, id in enumerate(ids) if id in merges])
        changed = [*ids[:place], *merges[ids[place]], *ids[place + 1 :]]
        found = find_drift(changed, gpt2)
        start = len(gpt2.decode_bytes(ids[:place]))
        assert [(each.start, each.encoded) for each in found] == [(start, (ids[place],))]
        assert found[0].given == merges[ids[place]]
        n_drifted += 1
    assert n_drifted == 200


def test_drift_is_found_where_the_decoder_leaves_out_the_first_space() -> None:
    config = bpe.TrainingConfig(
        300, "metaspace", "characters", "seen", special_tokens=("<unk>",), byte_fallback=True
    )
    tokenizer = bpe.train(["the bare bytes of the text"] * 9, config).tokenizer
    the, bare, bytes_ = tokenizer.encode("the bare bytes")
    assert tokenizer.decode([the]) == "the"
    id_of = {token: id for id, token in tokenizer.vocab.items()}
    letters = tuple(id_of[letter.encode()] for letter in " bare")
    (found,) = find_drift([the, *letters, bytes_], tokenizer)
    assert found[:5] == (3, 8, " bare", letters, (bare,))


@pytest.mark.parametrize("name", ["bytes as pieces", "SentencePiece's Unigram"])
def test_drift_by_another_library_decodes_each_id_a_few_times(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = ENCODERS[name]()
    special = [id for token, id in encoder.special_tokens.items() if token in ("[SEP]", "</s>")]
    kept = encoder.encode("the hug, hugs hugging 漢字 é about the ab " * 200)
    assert find_drift(kept + special, encoder) == []
    by = {encoder.written(id): id for id in encoder.vocab}
    place, halves = next(
        (place, (by[piece[:at]], by[rest]))
        for place, id in enumerate(kept)
        if "<" not in (piece := encoder.written(id) or "") and place
        for at in range(1, len(piece))
        for rest in (piece[at:], f"##{piece[at:]}")
        if piece[:at] in by and rest in by
    )
    changed = [*kept[:place], *halves, *kept[place + 1 :], *special]
    n_decoded, decode = 0, type(encoder).decode_bytes

    def count(self: bpe.Encoder, ids: list[int]) -> bytes:
        nonlocal n_decoded
        n_decoded += len(ids)
        return decode(self, ids)

    monkeypatch.setattr(type(encoder), "decode_bytes", count)
    found = find_drift(changed, encoder)
    assert n_decoded < 120 * len(changed)
    assert [(each.given, each.encoded) for each in found] == [(halves, (kept[place],))]
    assert found[0].start == len(encoder.decode_bytes(kept[:place]))


def test_drift_is_in_the_turn_of_whom_it_is(tmp_path: Path) -> None:
    template, gpt2 = ChatTemplate(SOURCE), bpe.gpt2()
    text = template.render([USER, {"role": "assistant", "content": " hugs"}, USER])
    ids = gpt2.encode(text, "all")
    for said, role in (("Hug", "user"), (" hugs", "assistant")):
        (id,) = gpt2.encode(said)
        place = len(ids) - 1 - ids[::-1].index(id)
        changed = [*ids[:place], *gpt2.encode(said[:-1]), *gpt2.encode(said[-1]), *ids[place + 1 :]]
        (found,) = find_drift(changed, gpt2, template)
        assert (found.text, found.role) == (said, role)
    lines = tmp_path / "ids.jsonl"
    lines.write_text(f"[464]\n{json.dumps({'input_ids': [71, 1018, 82]})}\n")
    shown = CliRunner().invoke(main, ["chat", "gpt2", str(lines), "--drift"])
    assert shown.stdout == "2: byte 1 'ugs'\n  given    1018 82\n  encoded  10339\n"
    assert "1 of 2 lines differ." in shown.stderr
    file = tmp_path / "t.jinja"
    file.write_text(SOURCE)
    lines.write_text(json.dumps(changed))
    base = ["chat", "gpt2", str(lines), "--drift"]
    assert (
        " (assistant) ' hugs'\n"
        in CliRunner().invoke(main, [*base, "--template", str(file)]).stdout
    )
    lines.write_text("[464]\n[464, -1]\n")
    wrong = CliRunner().invoke(main, ["chat", "gpt2", str(lines), "--drift"])
    assert (wrong.exit_code, "Row 2 of" in wrong.stderr) == (1, True)
    lines.write_text('{"text": "hug"}\n')
    wrong = CliRunner().invoke(main, ["chat", "gpt2", str(lines), "--drift"])
    assert "Row 1 of" in wrong.stderr
    assert "has no ids" in wrong.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--report --drift", "only one of --report and --drift"),
        ("--masks m.parquet", "--masks needs --report."),
        ("--context 20", "--context needs --report."),
        ("--json", "--json needs --report or --drift."),
        ("--report --ids", "--ids cannot be used with --report."),
        ("--report --out x.txt", "--out cannot be used with --report."),
        ("--drift --masks m.parquet", "--masks cannot be used with --drift."),
        ("--drift --set a=1", "--set cannot be used with --drift."),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(options: str, said: str) -> None:
    refused = CliRunner().invoke(main, ["chat", "gpt2", "x.jsonl", *options.split()])
    assert (refused.exit_code, said in refused.stderr) == (2, True), refused.stderr


def test_a_corpus_of_conversations_is_encoded_with_masks(tmp_path: Path) -> None:
    tokenizer = bpe.train(["hug hugs"], vocab_size=260).tokenizer
    folder, rows, out = tmp_path / "model", tmp_path / "a.jsonl", tmp_path / "out"
    bpe.save(tokenizer, folder, format="transformers")
    (folder / "chat_template.jinja").write_text(SOURCE)
    rows.write_text("\n".join(map(json.dumps, ROWS[:4])))
    more = tmp_path / "more"
    more.mkdir()
    (more / "b.jsonl").write_text(json.dumps(ROWS[0]))
    base = ["encode-corpus", str(rows), str(more), "--chat", "-t", str(folder), "--out", str(out)]
    parquet = [*base, "--format", "parquet"]

    def use(arguments: list[str]) -> Result:
        return CliRunner().invoke(main, arguments)

    shown = use([*parquet, "--shard-tokens", "60", "--json"])
    assert shown.exit_code == 0, shown.output
    report = json.loads(shown.stdout)
    assert report["faults"]["refused"]["first"] == 4
    names = sorted(path.name for path in out.glob("*.parquet"))
    assert names == ["train-00000.parquet", "train-00001.parquet", "train-00002.parquet"]
    tables = [pq.read_table(out / name) for name in names]  # pyright: ignore[reportUnknownMemberType]
    assert tables[0].column_names == ["input_ids", "assistant_masks", "n_tokens"]
    listed = [row for table in tables for row in table.to_pylist()]
    assert len(listed) == 4
    assert [row["n_tokens"] for row in listed] == [len(row["input_ids"]) for row in listed]
    assert sum(row["n_tokens"] for row in listed) == report["tokens"]
    assert sum(sum(row["assistant_masks"]) for row in listed) == report["learned"]
    manifest = json.loads((out / "manifest.json").read_text())
    assert [(each["name"], each["documents"]) for each in manifest["sources"]] == [
        ("a.jsonl", 3),
        ("more/b.jsonl", 1),
    ]
    texts = [tokenizer.decode(row["input_ids"]) for row in listed]
    assert manifest["bytes"] == sum(len(text.encode()) for text in texts)
    inspected = use(["inspect", str(out)]).stdout
    assert f"learned         {report['learned']} tokens" in inspected
    assert "4 documents, 3 shards" in inspected
    assert "3 files, by the SHA-256 of the manifest" in inspected

    (out / "own.txt").write_text("")
    again = use(parquet)
    assert (again.exit_code, "--force" in again.stderr) == (1, True)
    (out / "own.txt").unlink()
    assert use(parquet).exit_code == 0
    assert [path.name for path in out.glob("*.parquet")] == ["train-00000.parquet"]
    assert "1 file, by the SHA-256" in use(["inspect", str(out)]).stdout
    assert "with --format parquet" in use(base).stderr
    rows.write_text('{"text": "hug"}')
    none = use(["encode-corpus", str(rows), *parquet[3:], "--force"])
    assert (none.exit_code, "No conversation could be encoded." in none.stderr) == (1, True)
    rows.with_suffix(".gz").write_bytes(b"")
    packed = use(["encode-corpus", str(rows.with_suffix(".gz")), *parquet[3:], "--force"])
    assert "Unpack a.gz first" in packed.stderr


def test_a_killed_encoding_of_conversations_resumes_and_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_CHATS_AT_ONCE", 2)
    template = ChatTemplate(SOURCE)
    talks = [
        [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": "hug " * (n % 5)}]
        for n in range(6)
    ]
    talks[2] = []
    n_read = 0

    def use(out: str, talks: list[Any], *, dies: bool = False, **more: Any) -> tuple[Any, Any]:
        nonlocal n_read
        n_read = 0

        def count(template: Any, part: list[Any], *others: Any, **named: Any) -> ChatReport:
            nonlocal n_read
            n_read += len(part)
            if dies and n_read > 4:
                raise KeyboardInterrupt
            return report_chats(template, part, *others, **named)

        monkeypatch.setattr(encoding, "report_chats", count)
        sources = [("a", talks[:3]), ("b", talks[3:])]
        return encoding.encode_chats(
            sources, template, bpe.gpt2(), tmp_path / out, name="gpt2", shard_tokens=40, **more
        )

    def files(out: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (tmp_path / out).iterdir()}

    manifest, whole = use("whole", talks)
    assert n_read == 6
    assert whole == report_chats(template, talks, bpe.gpt2())
    assert [(each.name, each.documents) for each in manifest.sources] == [("a", 2), ("b", 3)]
    with pytest.raises(KeyboardInterrupt):
        use("out", talks, dies=True)
    kept = len([*(tmp_path / "out.work").glob("*.npy")])
    assert kept == 2
    _, resumed = use("out", talks)
    assert n_read == 2
    assert resumed == whole
    assert files("out") == files("whole")
    assert not (tmp_path / "out.work").exists()
    # What changed is encoded again, and so is what was cut short; the rest is not.
    with pytest.raises(KeyboardInterrupt):
        use("out", talks, dies=True)
    first, *_ = (tmp_path / "out.work").glob("*.npy")
    first.write_bytes(first.read_bytes()[:-1])
    use("out", [*talks[:5], talks[0]])
    assert n_read == 4
    own = tmp_path / "own"
    use("out", talks, work=own)
    use("out", talks, work=own)
    assert n_read == 0
    # What is damaged without a change of its size is encoded again too.
    for path in own.glob("*.npy"):
        path.write_bytes(b"?" * path.stat().st_size)
    assert use("out", talks, work=own)[1] == whole
    assert n_read == 6
    # A folder with work for another output says nothing about this one's files.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "train-00000.parquet").write_text("of somebody else")
    with pytest.raises(bpe.ConfigError, match="train-00000"):
        use("other", talks, work=own)


def test_conversations_are_encoded_by_a_given_template_with_tools(tmp_path: Path) -> None:
    rows, template, tools = (tmp_path / name for name in ("a.jsonl", "t.jinja", "tools.json"))
    own = {"messages": [USER, ANSWER], "mood": "own"}
    # What is null, and tools that are a text, are not given.
    other = {"messages": [USER, ANSWER], "tools": None, "mood": None}
    told = {**ROWS[2], "tools": "[]"}
    rows.write_text("\n".join(map(json.dumps, [[USER, ANSWER], own, ROWS[2], other, told])))
    template.write_text("{{ tools[0].name }} {{ mood }} " + SOURCE)
    tools.write_text('[{"name": "weather"}]')
    base = ["--template", str(template), "--tools", str(tools), "--set", "mood=calm"]
    out = ["--out", str(tmp_path / "out"), "--format", "parquet"]
    run = CliRunner().invoke(
        main, ["encode-corpus", str(rows), "-t", "gpt2", *out, "--chat", *base]
    )
    assert run.exit_code == 0, run.output
    table = pq.read_table(tmp_path / "out" / "train-00000.parquet")  # pyright: ignore[reportUnknownMemberType]
    texts = [bpe.gpt2().decode(ids) for ids in table["input_ids"].to_pylist()]
    assert [text.split("<")[0] for text in texts] == [
        "weather calm ",
        "weather own ",
        *["weather calm "] * 3,
    ]
    shown = CliRunner().invoke(main, ["chat", "gpt2", str(rows), "--report", "--json", *base])
    assert json.loads(shown.stdout)["tokens"] == sum(table["n_tokens"].to_pylist())
    wrong = CliRunner().invoke(main, ["encode-corpus", str(rows), "-t", "gpt2", *out, *base])
    assert (wrong.exit_code, "--template needs --chat" in wrong.stderr) == (1, True)


def test_conversations_that_are_no_json_are_refused_and_the_others_encoded(tmp_path: Path) -> None:
    circular: list[Any] = []
    circular.append(circular)
    wrong = [{(1, 2): 3}, json.loads("[" * 500 + "]" * 500), circular, 10**5_000, {1: 10**5_000}]
    hug = [{"role": "user", "content": "Hug?"}, {"role": "assistant", "content": "Yes"}]
    talks = [*([{**hug[0], "more": each}] for each in wrong), hug]
    manifest, report = encoding.encode_chats(
        [("a", talks)], ChatTemplate(SOURCE), bpe.gpt2(), tmp_path / "out", name="gpt2"
    )
    assert report.faults["refused"].conversations == manifest.skipped_rows
    assert manifest.documents == len(talks) - manifest.skipped_rows
    assert manifest.skipped_rows >= 4


@pytest.mark.parametrize(
    "given",
    [
        "--pack 64",
        "--eos none",
        "--val-share 0.1",
        "--shuffle-seed 1",
        "--text-column text",
        "--keep-column url",
        "--errors replace",
        "--skip-damaged",
        "--dry-run",
        "--processes 2",
        "--pretokenizer gpt2",
        "--special-token a=1",
    ],
)
def test_an_option_that_conversations_do_not_take_is_refused(given: str) -> None:
    base = "encode-corpus a.jsonl --chat -t gpt2 --out out --format parquet"
    wrong = CliRunner().invoke(main, [*base.split(), *given.split()])
    assert wrong.exit_code == 1
    assert f"--chat does not take {given.split()[0]}: " in wrong.stderr
