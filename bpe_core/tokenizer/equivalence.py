"""Find the merges behind an encoder that runs here."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bpe_core.tokenizer.protocol import Encoder, NamedEncoder
from bpe_core.tokenizer.tokenizer import Tokenizer


@runtime_checkable
class _Wrapping(Protocol):
    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def normalizer_name(self) -> str: ...


@runtime_checkable
class _Adaptable(Protocol):
    @property
    def adaptable(self) -> Tokenizer: ...


def equivalent_tokenizer(encoder: Encoder) -> Tokenizer | None:
    """Return the Tokenizer that encodes like this encoder, ignoring added tokens, or None.

    Added tokens that the encoder finds in any text, such as DeepSeek's, are special tokens of this
    tokenizer. No tokenizer does for an encoder that another library runs, or that normalizes text.

    >>> from bpe_core.tokenizer import gpt2
    >>> equivalent_tokenizer(NamedEncoder("GPT-2", gpt2())) == gpt2()
    True
    """
    return None if changes_text(encoder) else made_by_merges(encoder)


def adaptable_tokenizer(encoder: Encoder) -> Tokenizer | None:
    """Return the Tokenizer whose merges can be changed in an encoder's own file, or None.

    Unlike `equivalent_tokenizer`, it also returns one that normalizes text first, and one of
    SentencePiece's family, where nothing but how spaces are written is changed.

    >>> from bpe_core.tokenizer import gpt2
    >>> adaptable_tokenizer(gpt2()) == gpt2()
    True
    """
    inner = _inner(encoder)
    return inner.adaptable if isinstance(inner, _Adaptable) else made_by_merges(inner)


def made_by_merges(encoder: Encoder) -> Tokenizer | None:
    """Return the tokenizer whose merges made an encoder's tokens; None if another library runs it.

    Unlike `equivalent_tokenizer`, it also returns one if the text is normalized first.

    >>> from bpe_core.tokenizer import gpt2
    >>> made_by_merges(NamedEncoder("GPT-2", gpt2())) == gpt2()
    True
    """
    encoder = _inner(encoder)
    if isinstance(encoder, Tokenizer):
        return encoder
    return encoder.tokenizer if isinstance(encoder, _Wrapping) else None


def changes_text(encoder: Encoder) -> bool:
    """Return True if an encoder that runs here normalizes a text before it merges.

    >>> from bpe_core.tokenizer import gpt2
    >>> changes_text(gpt2())
    False
    """
    encoder = _inner(encoder)
    if isinstance(encoder, Tokenizer):
        return encoder.pretokenizer.normalizer is not None
    return isinstance(encoder, _Wrapping) and bool(encoder.normalizer_name)


def _inner(encoder: Encoder) -> Encoder:
    return encoder.encoder if isinstance(encoder, NamedEncoder) else encoder
