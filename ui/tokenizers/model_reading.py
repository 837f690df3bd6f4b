"""What a published model is given of a text: its tokens, with their ids."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core import Tokenizer
from bpe_core.errors import UnavailableError
from bpe_core.tokenizer import NamedEncoder, gpt2
from bpe_core.views import token_for_browser
from ui.tokenizers.by_name import open_by_name


@dataclass(frozen=True, slots=True)
class ModelReading:
    """A text as a model reads it: each token's id, and its text or else its bytes."""

    text: str
    model: str
    ids: tuple[int, ...]
    tokens: tuple[str | list[int], ...]


def read_as(model: str, encoder: Tokenizer | NamedEncoder, text: str) -> ModelReading:
    """Return a text as the model of this name reads it."""
    ids = tuple(encoder.encode(text))
    return ModelReading(text, model, ids, tuple(token_for_browser(encoder.vocab[id]) for id in ids))


def read_as_model(text: str) -> ModelReading:
    """Return a text as GPT-4o reads it, or as GPT-2 where GPT-4o's tokens are not on this server.

    >>> read_as_model("hugs").text
    'hugs'
    """
    try:
        return read_as("GPT-4o", open_by_name("gpt4o"), text)
    except UnavailableError:
        return read_as("GPT-2", gpt2(), text)
