"""The presets of settings on Train, all but the size."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bpe_core.pretokenizers import SPACE_ADDING
from bpe_core.types import Characters, TrainingConfig

CUTS: Final = {"gpt2": "GPT-2", "cl100k": "GPT-4", "o200k": "GPT-4o", "llama3": "Llama 3"}
"""The pre-tokenizers that have a preset, with its name."""
LLAMA: Final = "Llama 2 style"
CLASSROOM: Final = "Classroom"
CUSTOM: Final = "Custom"
"""The choice of every setting, next to the presets."""
MIN_FREQUENCY: Final = 2
"""A pair that occurred only once spells one word of the text by heart. On a few pages these are
half of the merges; without them new text takes about a tenth more tokens: see docs/decide.md."""
CONFIGS: Final = {
    **{
        name: TrainingConfig(pretokenizer=cut, min_frequency=MIN_FREQUENCY)
        for cut, name in CUTS.items()
    },
    LLAMA: TrainingConfig(
        min_frequency=MIN_FREQUENCY,
        pretokenizer="metaspace",
        alphabet=Characters(coverage=0.9995),
        special_tokens=("<unk>", "<s>", "</s>"),
    ),
    CLASSROOM: TrainingConfig(
        pretokenizer="whitespace",
        alphabet="characters",
        end_of_word="</w>",
        special_tokens=(),
    ),
}
"""The settings of each preset but Custom."""
DIVISIONS: Final = {
    "GPT-2": "words, numbers and signs apart (GPT-2)",
    "GPT-4": "digits in threes (GPT-4)",
    "GPT-4o": "vowel signs stay in words (GPT-4o)",
    "Llama 3": "digits in threes (Llama 3)",
    LLAMA: "a space begins each word (Llama 2)",
    CLASSROOM: "at spaces, with an end mark (classroom)",
    CUSTOM: "my own settings",
}
"""What the cut of each preset does, with the model that it is from."""
EXPLAINED: Final = (
    "GPT-2, GPT-4, GPT-4o and Llama 3: all 256 bytes, with the text cut as that model cuts it. "
    "Llama 2 style: the characters that make up 99.95% of the text, and bytes for all others; a "
    "space begins each word. Classroom: the characters of the text and an end-of-word marker, cut "
    "at white space. In all of them ties go to the lower ids, as on Start and in Hugging Face’s "
    "trainer. In all but Classroom a pair must occur twice, because a merge of a pair that "
    "occurred only once learns the text by heart. Custom: every setting, including your own "
    "regular expression."
)


def with_cut(config: TrainingConfig, cut: str) -> TrainingConfig:
    """Return settings with another pre-tokenizer, and the base that it needs.

    >>> with_cut(CONFIGS["Llama 2 style"], "gpt2").alphabet
    'characters'
    """
    if cut in SPACE_ADDING:
        base = replace(CONFIGS[LLAMA], pretokenizer=cut)
        return replace(
            base,
            vocab_size=config.vocab_size,
            special_tokens=config.special_tokens,
            min_frequency=config.min_frequency,
        )
    alphabet = "characters" if config.base == "characters" else config.alphabet
    return replace(config, pretokenizer=cut, alphabet=alphabet)
