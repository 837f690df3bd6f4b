"""The presets of settings on Train, all but the size."""

from __future__ import annotations

from typing import Final

from bpe_core.types import TrainingConfig

CUTS: Final = {"gpt2": "GPT-2", "cl100k": "GPT-4", "o200k": "GPT-4o", "llama3": "Llama 3"}
"""The pre-tokenizers that have a preset, with its name."""
CLASSROOM: Final = "Classroom"
CUSTOM: Final = "Custom"
"""The choice of every setting, next to the presets."""
CONFIGS: Final = {
    **{name: TrainingConfig(pretokenizer=cut) for cut, name in CUTS.items()},
    CLASSROOM: TrainingConfig(
        pretokenizer="whitespace",
        base="characters",
        alphabet="seen",
        end_of_word="</w>",
        special_tokens=(),
        tie_break="first-seen",
    ),
}
"""The settings of each preset but Custom."""
EXPLAINED: Final = (
    "GPT-2, GPT-4, GPT-4o and Llama 3: all 256 bytes, with the text cut as that model cuts it; "
    "ties go to the lower ids, as in Hugging Face’s trainer. Classroom: the characters of the "
    "text and an end-of-word marker, cut at white space; ties go to the pair seen first. Custom: "
    "every setting, including your own regular expression."
)
