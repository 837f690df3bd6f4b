"""Draw rows of a corpus's figures, of pre-tokens, and of a text next to its normalised form."""

from __future__ import annotations

from collections.abc import Sequence

from ui.components.shared import make_component

_corpus = make_component(__file__, "corpus_strip", html="<div class='corpus'></div>")
_pretokens = make_component(
    __file__, "pretoken_strip", html="<div class='strip' role='list'></div>"
)
_normalized = make_component(__file__, "normalized_text", html="<div class='normalized'></div>")


def corpus_strip(
    *,
    key: str,
    figures: Sequence[tuple[str, str, Sequence[tuple[str, str]]]],
    is_line: bool = False,
) -> None:
    """Draw figures: each a number, what it counts, and terms to explain with definitions.

    In a line, what a number counts is next to it, not below it.
    """
    _corpus(
        key=key,
        data={
            "is_line": is_line,
            "figures": [
                {"value": value, "name": name, "terms": list(terms)}
                for value, name, terms in figures
            ],
        },
    )


def pretoken_strip(*, key: str, pretokens: Sequence[str]) -> None:
    """Draw pre-tokens in a row; no merge crosses the gaps between them."""
    _pretokens(key=key, data={"pretokens": list(pretokens)})


def normalized_text(pieces: Sequence[tuple[str, str]], *, sentence: str, key: str) -> None:
    """Draw pieces of a text, each with its normalised form; `sentence` says what is shown."""
    _normalized(key=key, data={"pieces": list(pieces), "sentence": sentence})
