"""Test the Vocabulary page without a browser: the core's results reach the page."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from threading import Event
from typing import Any

import numpy as np
import pytest
import tokenizers
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.tokenizer import NamedEncoder
from bpe_core.types import Base
from bpe_core.vocabulary import (
    Audit,
    Pruned,
    Query,
    Reachability,
    Vocabulary,
    uses_in_corpus,
)
from tests.app.pages import OpenApp, all_sent, errors, page_text, press, sent, sent_table, upload
from tests.app.stored import store
from tests.app.training import draw_after
from tests.foreign_models import described, library_encoder, unigram, word_piece
from tests.waiting import MAX_WAIT_SECONDS, OfKind
from ui.storage import SAMPLE_RUN_ID, keep_tokenizer, load_run
from ui.vocabulary import inspecting
from ui.vocabulary.inspecting import COUNT, SEARCH, held_out_text
from ui.work.background import queue

HOSTILE = [
    "<script>window.harmed=1</script>",
    "\0",
    "\u202eevil\u202c",
    "![x](http://h/x)",
    "\U0001f9e9",
]


def ids_shown(app: AppTest) -> list[int]:
    return [row["id"] for row in sent(app, "record")["rows"]]


def findings(app: AppTest) -> dict[str, int | None]:
    return {one["key"]: one["n"] for one in sent(app, "chosen")["findings"]}


@pytest.mark.parametrize(
    "text",
    [
        "nation national nationally station stations ration",
        "हिन्दी हिन्दीभाषी हिन्दी हिन्दीभाषी",
        "ภาษาไทย ภาษา ภาษาไทย ภาษา",
        "我们学习 我们学习 我们学习",
        "🧩 🧩 1234 1234 …",
    ],
)
def test_the_page_opens_with_the_longest_words_and_the_families(
    open_app: OpenApp, text: str
) -> None:
    run = bpe.train([text], bpe.TrainingConfig(300, "o200k", special_tokens=()))
    vocab, parts = run.tokenizer.vocab, {merge.id: merge.pair for merge in run.merges}

    def letters(id: int) -> int:
        """Count the letters of a token by their categories; 0 if it has anything else."""
        word = vocab[id].decode(errors="replace").removeprefix(" ")
        kinds = [unicodedata.category(character)[0] for character in word]
        n = kinds.count("L")
        return n if n > 1 and kinds[0] == "L" and set(kinds) <= {"L", "M"} else 0

    def is_built_on(id: int, root: int) -> bool:
        return any(part == root or is_built_on(part, root) for part in parts.get(id, ()))

    app = open_app("vocabulary", run=store(run))
    words = [id for id in vocab if letters(id)]
    are = "is" if len(words) == 1 else "are"
    assert f"**{len(words):,} of its {len(vocab)} tokens** {are} made" in page_text(app)
    # A component without rows takes the field too.
    rows = next(data["rows"] for data in all_sent(app) if set(data) == {"rows"})
    assert bool(rows) == bool(words)
    for row in rows:
        ids = [token["id"] for token in row["tokens"]]
        if row["root"] is None:
            assert ids == sorted(words, key=lambda id: (-letters(id), id))[:5]
            continue
        long = [id for id in words if letters(id) > 2]
        family = [id for id in long if is_built_on(id, row["root"]["id"])]
        assert (ids, row["more"]) == (sorted(family)[:5], len(family[5:]))


def test_the_table_shows_the_search_in_the_address(open_app: OpenApp) -> None:
    app = open_app(
        "vocabulary",
        find="^ [a-z]+ing$",
        by="regex",
        bytes="5-9",
        space="yes",
        script="Latin",
        sort="-use",
    )
    run = load_run(SAMPLE_RUN_ID).run
    table = Vocabulary(run.tokenizer, run.count_uses())
    rows = table.find(
        Query(
            "^ [a-z]+ing$",
            by="regex",
            shortest=5,
            longest=9,
            leading_space=True,
            script="Latin",
            sort="use",
            descending=True,
        )
    )
    assert 10 < len(rows) < 100
    assert ids_shown(app) == table.ids[rows].tolist()


def test_the_table_is_shown_in_pages_of_a_hundred(open_app: OpenApp) -> None:
    app = open_app("vocabulary", page="3")
    assert ids_shown(app) == list(range(200, 300))
    data = sent(app, "record")
    assert (data["page"], data["pages"], data["n_found"]) == (3, 41, 4_096)
    app = open_app("vocabulary", page="999999")
    assert ids_shown(app) == list(range(4_000, 4_096))


@pytest.mark.parametrize(
    "query",
    [
        {"bytes": "x-", "page": "-1", "sort": "up", "by": "sql", "finding": "<b>", "token": "1e9"},
        {"script": "Klingon", "space": "maybe", "prefix": "zz", "seen_as": "Trie"},
        {"find": "x" * 5_000, "token": "99999999999", "vocabulary_of": "<b>", "uses_on": "\0"},
    ],
)
def test_a_damaged_address_is_ignored(open_app: OpenApp, query: dict[str, str]) -> None:
    app = open_app("vocabulary", **query)
    assert not app.error


def test_findings_match_the_core_and_filter_the_table(open_app: OpenApp) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    audited = Audit.of(run.tokenizer, run.count_uses())
    expected = {
        "never": list(audited.never_used),
        "scaffolds": list(audited.scaffolds),
        "residues": list(audited.residues(run.tokenizer)),
        "unreachable": list(Reachability.of(run.tokenizer).unreachable),
        "partial": list(audited.partial_utf8),
    }
    assert findings(open_app("vocabulary")) == {key: len(ids) for key, ids in expected.items()}
    for key, ids in expected.items():
        app = open_app("vocabulary", finding=key)
        assert ids_shown(app) == ids[:100]
        assert sent(app, "record")["n_found"] == len(ids)


def test_uses_are_counted_in_the_chosen_text(open_app: OpenApp) -> None:
    stored = load_run(SAMPLE_RUN_ID)
    app = open_app("vocabulary", uses_on="Held-out text", sort="-use")
    uses = uses_in_corpus(stored.run.tokenizer, stored.held_out)
    rows = sent(app, "record")["rows"]
    assert [row["uses"] for row in rows] == sorted(uses.tolist(), reverse=True)[:100]
    app = open_app("vocabulary", uses_on="Your text", text="for for for", sort="-use")
    first = sent(app, "record")["rows"][0]
    assert (first["token"], first["uses"]) == (" for", 2)


def test_the_card_shows_a_token_with_its_tree_and_the_tokens_built_on_it(
    open_app: OpenApp,
) -> None:
    app = open_app("vocabulary", vocabulary_of="GPT-2", token="262")
    card = sent(app, "tree")
    assert card["shown"] == {"id": 262, "token": " the", "kind": "merge", "rank": 6}
    assert [node["token"] for node in card["tree"]] == [" the", " t", "he", " ", "t", "h", "e"]
    assert card["built"][0]["token"] == " they"
    assert ["bytes", "20 74 68 65"] in card["facts"]
    assert " tokens are merged from it directly, " in card["built_sentence"]
    # A run without merges or held-out text can be shown too.
    config = bpe.TrainingConfig(2, alphabet="seen", special_tokens=())
    run_id = store(bpe.train(["ab"], config))
    for shown_as in ("Table", "Trie"):
        assert not open_app("vocabulary", run=run_id, seen_as=shown_as).error


def test_the_search_for_unreachable_tokens_can_be_waited_for_cancelled_and_repeated(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "FEW_TOKENS", 0)
    find = inspecting.find_unreachable
    go_on = Event()

    def found(*arguments: Any) -> Reachability | None:
        assert go_on.wait(MAX_WAIT_SECONDS)
        return find(*arguments)

    monkeypatch.setattr(inspecting, "find_unreachable", found)
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    app = open_app("vocabulary")
    assert findings(app)["unreachable"] is None
    go_on.set()
    draw_after(app, OfKind(SEARCH), inspecting.search(tokenizer).id)
    assert findings(app)["unreachable"] == len(Reachability.of(tokenizer).unreachable)
    go_on.clear()
    queue.forget(SEARCH, tokenizer.fingerprint)
    inspecting.search(tokenizer)
    queue.cancel(SEARCH, tokenizer.fingerprint)
    go_on.set()
    draw_after(app, OfKind(SEARCH), inspecting.search(tokenizer).id)
    assert "was cancelled" in page_text(app)
    assert findings(app)["unreachable"] is None
    press(app, "Begin again")
    assert "was cancelled" not in page_text(app)


def test_the_tokens_are_shown_before_their_uses_are_counted(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "FEW_BYTES", 0)
    go_on = Event()

    def counted(*_: object) -> None:
        assert go_on.wait(MAX_WAIT_SECONDS)

    with monkeypatch.context() as patched:
        patched.setattr(inspecting, "uses_in_corpus", counted)
        app = open_app("vocabulary", uses_on="Held-out text", find=" the")
        assert [row["uses"] for row in sent(app, "record")["rows"]] != []
        assert {row["uses"] for row in sent(app, "record")["rows"]} == {None}
        shown = findings(app)
        assert (shown["never"], shown["scaffolds"]) == (None, None)
        assert shown["partial"]
        press(app, "Cancel")
        go_on.set()
        stored = load_run(SAMPLE_RUN_ID)
        text = held_out_text(stored)
        assert text is not None
        draw_after(app, OfKind(COUNT), inspecting.count(stored.run.tokenizer, text).id)
        assert "counting of uses was cancelled" in page_text(app)
    press(app, "Begin again")
    draw_after(app, OfKind(COUNT), inspecting.count(stored.run.tokenizer, text).id)
    uses = uses_in_corpus(stored.run.tokenizer, stored.held_out)
    rows = sent(app, "record")["rows"]
    assert [row["uses"] for row in rows] == [uses[row["id"]] for row in rows]


@pytest.mark.parametrize(("make", "view"), [(word_piece, "Table"), (unigram, "Trie")])
def test_a_tokenizer_without_merges_has_a_table_a_trie_and_uses(
    open_app: OpenApp, make: Callable[[], tokenizers.Tokenizer], view: str
) -> None:
    foreign = library_encoder(described(make()))
    key = f"file-{keep_tokenizer({}, None, NamedEncoder('<b>other', foreign))}"
    app = open_app("vocabulary", seen_as=view, vocabulary_of="<b>other", **{"with": key})
    assert not app.error
    assert [one["key"] for one in sent(app, "chosen")["findings"]] == ["never", "partial"]
    card = sent(app, "tree")
    assert (card["tree"], card["built"], card["built_sentence"]) == ([], [], "")
    assert any(foreign.model in value for _, value in card["facts"])
    assert any("whose merges run here" in one.value for one in app.markdown)
    if view == "Table":
        table = sent(app, "record")
        assert not table["has_merges"]
        assert {row["kind"] for row in table["rows"]} == {"token", "special"}
        text = load_run(SAMPLE_RUN_ID).held_out
        uses = uses_in_corpus(foreign, text)
        expected = Counter(id for document in text.documents for id in foreign.encode(document))
        assert {id: int(uses[id]) for id in np.flatnonzero(uses).tolist()} == expected
        assert [row["uses"] for row in table["rows"]] == [uses[row["id"]] for row in table["rows"]]


def test_the_preview_of_pruning_matches_the_core(open_app: OpenApp) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    uses = run.count_uses()
    pruned = Pruned.of(run.tokenizer, uses, 10)
    app = open_app("vocabulary", min_uses="10 ×")
    table = sent_table(app, "The vocabulary before and after pruning")
    rows = {name: figures for name, figures, _ in table["rows"]}
    assert rows["Tokens in the vocabulary"][:2] == ["4,096", f"{pruned.tokenizer.vocab_size:,}"]
    before = int(uses.sum())
    after = sum(
        count * len(pruned.tokenizer.encode(word.decode()))
        for word, count in zip(run.pretokens.words, run.pretokens.counts.tolist(), strict=True)
    )
    assert rows["Tokens in the training text"][:2] == [f"{before:,}", f"{after:,}"]
    assert bool(app.get("download_button")) == bool(pruned.removed)


def test_hostile_tokens_are_sent_as_data_and_never_as_markup(open_app: OpenApp) -> None:
    run = bpe.train(
        bpe.Corpus.from_word_counts(dict.fromkeys(HOSTILE, 9)),
        bpe.TrainingConfig(500, pretokenizer="none", special_tokens=("<b>",), min_frequency=1),
    )
    run_id = store(run)
    tokenizer = run.tokenizer
    for text, view in zip(HOSTILE, cycle(("Table", "Trie")), strict=False):
        (id,) = [id for id, token in tokenizer.vocab.items() if token == text.encode()]
        app = open_app("vocabulary", run=run_id, token=str(id), find=text[:9], seen_as=view)
        assert sent(app, "tree")["shown"]["token"] == text
        for element in (*app.markdown, *app.header):
            assert text not in element.value


# The prolonged sound mark, half-width letters, letters next to kanji, and a separate accent.
JAPANESE = (
    "コーヒーとケーキのメニュー。スーパーカーのエンジンはメーカー製。サーバーのデータをコピーする。\n"
    "ｺｰﾋｰﾄｹｰｷ ｻｰﾊﾞｰﾉﾃﾞｰﾀ らーめん と ラーメン カフェのメニュー製品 Tシャツ cafe\u0301 café Ωメガ\n"
)


def shown_scripts(app: AppTest) -> dict[str, int]:
    return dict(next(d["scripts"] for d in all_sent(app) if "scripts" in d))


def shown_script_merges(app: AppTest) -> dict[str, int]:
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    (curves,) = [
        chart["data"] for chart in charts if "merges of the script" in json.dumps(chart["layout"])
    ]
    return {curve["name"]: curve["y"][-1] for curve in curves if "name" in curve}


@pytest.mark.parametrize("base", ["bytes", "characters"])
def test_both_pages_count_the_same_tokens_for_a_script(open_app: OpenApp, base: Base) -> None:
    corpus = bpe.Corpus.from_documents([JAPANESE] * 3)
    config = bpe.TrainingConfig(400, base=base, pretokenizer="gpt2", alphabet="seen")
    run = bpe.train(corpus, config)
    stored = store(run)
    tokens = shown_scripts(open_app("vocabulary", run=stored))
    merges = shown_script_merges(open_app("compare", run=stored, measure="Merges of scripts"))
    # Base symbols are tokens too, but no merge made them.
    letters = [token.decode(errors="ignore") for token in run.tokenizer.base_ids]
    n_letters = sum("ァ" <= one <= "ヺ" or ("ｦ" <= one <= "ﾝ" and one != "ｰ") for one in letters)
    assert (n_letters > 20) == (base == "characters")
    assert tokens["Katakana"] == merges["Katakana"] + n_letters
    assert merges["Katakana"] > 40
    assert tokens.keys() == merges.keys() | {"No letters"}


def test_the_rows_of_a_model_are_shown_from_the_file_of_the_command(open_app: OpenApp) -> None:
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    lines = ["id,bytes,kind,candidate,input_norm,bigram"]
    for id, token in tokenizer.vocab.items():
        is_candidate = id in (300, 301)
        lines.append(f"{id},{token.hex()},token,{is_candidate},{0.1 if is_candidate else 1.5},")
    data = "\n".join(lines).encode()
    app = upload(open_app("vocabulary"), "rows_file", ("rows.csv", data))
    assert not app.error
    assert f"**2 tokens** of {tokenizer.vocab_size:,} look as little trained" in page_text(app)
    listed = sent_table(app, "Tokens that look untrained")["rows"]
    assert [row["label"] for row in listed] == ["300", "301"]
    assert all(row["note"].startswith("length 0.1, ") for row in listed)
    assert findings(app)["untrained"] == 2
    app.query_params["finding"] = "untrained"
    assert ids_shown(app.run()) == [300, 301]
    upload(app, "rows_file", ("rows.csv", b"hug"))
    assert "has no rows" in errors(app)
    assert "untrained" not in findings(app)
    assert len(ids_shown(app)) == 100
