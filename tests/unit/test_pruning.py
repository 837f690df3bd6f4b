"""Export pruned tokenizers in every format, and compare the stated cost with encoding."""

import numpy as np
import pytest
import tokenizers

import bpe_core as bpe
from bpe_core.corpus import count_pretokens, load_sample
from bpe_core.formats import dumps, loads
from bpe_core.formats.folder_files import FORMATS
from bpe_core.types import Format
from bpe_core.vocabulary import Pruned, count_uses
from ui.storage import SAMPLE_RUN_ID, load_run

TEXT = "The quick brown fox, it's 2024: naïve 日本語 🙂\n\treturn None  # \x00 <|endoftext|>"


@pytest.mark.parametrize("format", [each for each in FORMATS if each != "sentencepiece"])
@pytest.mark.parametrize("min_uses", [1, 100])
def test_a_pruned_run_encodes_the_same_after_a_round_trip_in_each_format(format, min_uses) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    pruned = Pruned.of(run.tokenizer, run.count_uses(), min_uses).tokenizer
    loaded = loads(
        dumps(pruned, format),
        pretokenizer="gpt2" if format == "tiktoken" else None,
        special_tokens=dict(pruned.special_tokens) if format in ("tiktoken", "gpt2") else None,
    )
    assert loaded.encode(TEXT) == pruned.encode(TEXT)
    assert loaded.decode(loaded.encode(TEXT)) == TEXT


@pytest.mark.parametrize("format", ["huggingface", "transformers", "sentencepiece", "native"])
def test_pruned_characters_with_bytes_for_the_rest_survive(format: Format) -> None:
    run = bpe.train(
        load_sample("multilingual"),
        vocab_size=1_500,
        base="characters",
        byte_fallback=True,
        pretokenizer="metaspace",
    )
    pruned = Pruned.of(run.tokenizer, run.count_uses(), 5).tokenizer
    assert pruned.vocab_size < run.tokenizer.vocab_size
    assert loads(dumps(pruned, format)) == pruned
    assert pruned.decode(pruned.encode(TEXT)) == TEXT


def test_hugging_face_encodes_the_same_with_a_pruned_gpt2() -> None:
    run = load_run(SAMPLE_RUN_ID).run
    pruned = Pruned.of(bpe.gpt2(), count_uses(bpe.gpt2(), run.pretokens)).tokenizer
    assert pruned.vocab_size < 9_000
    (data,) = dumps(pruned, "huggingface").values()
    theirs = tokenizers.Tokenizer.from_str(data.decode())
    text = TEXT.replace("<|endoftext|>", "")
    assert theirs.encode(text).ids == pruned.encode(text)


def test_pruning_on_the_training_text_removes_no_token() -> None:
    run = load_run(SAMPLE_RUN_ID).run
    pruned = Pruned.of(run.tokenizer, run.count_uses())
    # Each merge was applied, so its token is used in the corpus or is part of a used one.
    assert pruned.removed == ()
    assert pruned.tokenizer == run.tokenizer


def test_pruning_gpt2_costs_nothing_on_the_text_that_was_counted() -> None:
    pretokens = load_run(SAMPLE_RUN_ID).run.pretokens
    uses = count_uses(bpe.gpt2(), pretokens)
    pruned = Pruned.of(bpe.gpt2(), uses)
    assert len(pruned.removed) > 40_000
    assert count_uses(pruned.tokenizer, pretokens).sum() == uses.sum()


def test_the_cost_of_pruning_on_other_text_equals_that_of_encoding_it() -> None:
    stored = load_run(SAMPLE_RUN_ID)
    run = stored.run
    uses = run.count_uses()
    pruned = Pruned.of(run.tokenizer, uses, 20)
    assert pruned.removed
    assert count_uses(pruned.tokenizer, run.pretokens).sum() > uses.sum()
    held_out = count_pretokens(stored.held_out, run.tokenizer.pretokenizer)
    encoded = sum(len(pruned.tokenizer.encode(text)) for text in stored.held_out.documents)
    assert count_uses(pruned.tokenizer, held_out).sum() == encoded


@pytest.mark.parametrize("min_uses", [2, 20, 500])
def test_tokens_added_to_the_training_text_match_encoding_all_of_it(min_uses: int) -> None:
    run = load_run(SAMPLE_RUN_ID).run
    uses = run.count_uses()
    pruned = Pruned.of(run.tokenizer, uses, min_uses)
    after = count_uses(pruned.tokenizer, run.pretokens).sum()
    assert pruned.added_in(run) == after - uses.sum()


def test_counts_for_too_few_ids_are_refused() -> None:
    with pytest.raises(bpe.ConfigError, match="for each id up to 50,256, got 3"):
        Pruned.of(bpe.gpt2(), np.zeros(3, np.int64))
