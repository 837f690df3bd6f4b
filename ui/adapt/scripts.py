"""Keep the script of each token of a base: the same whatever is removed."""

from __future__ import annotations

from collections.abc import Mapping

from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.unicode.token_scripts import script_of_token
from ui.memory.sized_cache import cached


def scripts_of(tokenizer: Tokenizer) -> Mapping[int, str]:
    """Return the script of each token, by id."""
    return _scripts(tokenizer.fingerprint, tokenizer)


@cached()
def _scripts(fingerprint: str, _tokenizer: Tokenizer) -> Mapping[int, str]:
    return {id: script_of_token(token) for id, token in _tokenizer.vocab.items()}
