"""The file of a comparison holds every figure, and what it takes to repeat and cite them."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample, parallel_texts
from bpe_core.tokenizer import gpt2_golden_result
from tests import foreign_models as models
from tests.foreign_models import library_encoder
from tests.language_costs import compare_languages
from ui.compare.record import comparison_record, languages_record, scripts_record, to_json
from ui.compare.terms import AFTER_A_SPACE, FIRST_TERMS, TermChoice, terms_record
from ui.compare.verdict import Judged
from ui.compare.wording import FIGURES, LANGUAGES, uncovered_words, verdict_sentence
from ui.run.page_parts import composition_groups
from ui.storage.run_store import compose_both
from ui.tokenizers import Member

HOSTILE = "</script>&amp;\u202e\ud800"
OWN = bpe.train(load_sample("multilingual"), bpe.TrainingConfig(400)).tokenizer
FOREIGN = library_encoder(models.described(models.word_piece()))
MEMBERS = [
    Member("own", "Yours", OWN, ""),
    Member("gpt2", HOSTILE, bpe.gpt2(), "Published"),
    Member("file-1", "third", FOREIGN, ""),
]
CORPUS = bpe.Corpus.from_documents(
    ["hug the pug\n" * (20 + n % 3) if n % 2 else "x = 1\n" * 30 for n in range(60)],
    [f"{'a' if n % 2 else 'b'}.csv row {n}" for n in range(60)],
)


def record_of(corpus: bpe.Corpus) -> dict[str, Any]:
    """Return what a program reads from the file of a comparison on this text."""
    comparison = bpe.compare(corpus, [member.encoder for member in MEMBERS])
    gains = tuple(comparison.gain(0, place) for place in (1, 2))
    judged = Judged(
        place=1,
        gains=gains,
        sentence=verdict_sentence(
            comparison, gains[0], "On held-out text", own_name="Yours", other="GPT-2"
        ),
        aside=uncovered_words(comparison, own_name="Yours", other="GPT-2"),
        has_verdict=gains[0].has_enough_text,
    )
    record = comparison_record(
        title=HOSTILE,
        where="held-out text",
        text_sha256=corpus.sha256,
        judged=judged,
        members=MEMBERS,
        comparison=comparison,
        made_on=date(2031, 5, 3),
    )
    found = json.loads(to_json(record), parse_constant=pytest.fail)
    assert found["verdict"]["sentence"] == "".join(text for text, _ in judged.sentence)
    assert found["verdict"]["aside"] == judged.aside
    for member, row, read in zip(MEMBERS, comparison.rows, found["tokenizers"], strict=True):
        assert read["fingerprint"] == member.encoder.fingerprint
        assert read["engine"] == member.encoder.engine
        assert {name: read[name] for name in row.to_dict()} == row.to_dict()
    return found


def test_a_comparison_has_its_figures_settings_hashes_and_versions() -> None:
    found = record_of(CORPUS)
    assert found["bpe_core"] == bpe.__version__
    assert found["text"]["sha256"] == CORPUS.sha256
    assert found["text"]["n_documents"] == 60
    assert found["intervals"]["resamples"] == 2_000
    assert found["intervals"]["method"].startswith("95% intervals over whole documents")
    assert tuple(found["gpt2_golden"].values()) == gpt2_golden_result()
    assert f"version {bpe.__version__} (2031)" in found["cite"]["text"]
    assert CORPUS.sha256 in found["cite"]["text"]
    assert f"version = {{{bpe.__version__}}}" in found["cite"]["bibtex"]
    for definition in (*FIGURES, *LANGUAGES):
        assert found["definitions"][definition.name] == definition.line


def test_each_difference_has_its_interval_by_part() -> None:
    comparison = bpe.compare(CORPUS, [member.encoder for member in MEMBERS])
    rows = record_of(CORPUS)["differences"]
    for place in (1, 2):
        gain = comparison.gain(0, place)
        parts = [(by, part) for by, parts in gain.divisions for part in parts]
        name = "third" if place == 2 else HOSTILE.replace("\ud800", "?")
        own = [row for row in rows if row["against"] == name]
        assert [(row["by"], row["part"]) for row in own] == [
            ("all", "all"),
            *((by, part.name) for by, part in parts),
        ]
        for row, part in zip(own, (gain.whole, *(part for _, part in parts)), strict=True):
            assert (row["n_tokens"], row["n_tokens_against"]) == (part.own, part.theirs)
            assert row["interval"] == ([part.low, part.high] if part.has_interval else [None] * 2)


def test_a_text_too_small_for_figures_has_null_in_their_place() -> None:
    found = record_of(bpe.Corpus.from_text("hug"))
    (whole, *_) = found["differences"]
    assert whole["interval"] == [None, None]


def test_languages_and_scripts_are_by_tokenizer() -> None:
    texts = parallel_texts()
    costs = compare_languages(texts, [member.encoder for member in MEMBERS], "English")
    found = languages_record((texts, costs), MEMBERS)
    assert found["reference"] == "English"
    assert [row["tokenizer"] for row in found["rows"]] == [member.name for member in MEMBERS]
    of_third = found["rows"][2]["languages"][6]
    assert of_third["language"] == texts[6].name
    assert of_third["parity"] == costs[2].parity[6]
    scripts = scripts_record(MEMBERS)
    assert scripts.keys() == {"Yours", HOSTILE}
    assert sum(scripts["Yours"].values()) == OWN.n_merges


def test_own_terms_have_their_cuts_and_the_sample_is_left_out() -> None:
    choice = TermChoice("hugging\nnaïve", "", "third")
    found = terms_record(choice, MEMBERS)
    assert found is not None
    assert (found["encoded"], found["loss_of"]) == (AFTER_A_SPACE, "third")
    (row,) = [row for row in found["rows"] if row["term"] == "hugging"]
    own, gpt2, _ = row["tokenizers"]
    assert gpt2["ids"] == bpe.gpt2().encode(" hugging")
    assert gpt2["cut"] == "␣hugging"
    assert own["n_tokens"] == len(OWN.encode(" hugging"))
    assert terms_record(choice._replace(text=FIRST_TERMS), MEMBERS) is None
    assert terms_record(choice._replace(text=""), MEMBERS) is None


def test_the_shares_of_a_stored_run_with_many_files_add_up_to_one() -> None:
    corpus = bpe.Corpus.from_documents(
        [f"hug {n}\n" for n in range(300)], [f"{n}.py" for n in range(300)]
    )
    compositions = compose_both(*corpus.split(0.4))
    assert compositions is not None
    (_, bars) = composition_groups(*compositions)[-1]
    for bar in bars:
        assert sum(share for _, share in bar.shares) == pytest.approx(1)
