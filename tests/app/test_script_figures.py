"""Vocabulary's filter and Compare's merges count the scripts of a run by one rule."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.types import Base
from tests.app.pages import OpenApp, all_sent
from tests.app.stored import store

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
    return {curve["name"]: curve["y"][-1] for curve in curves}


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
