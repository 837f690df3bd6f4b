"""What each figure of a comparison means, in a line, and which paper it is from."""

from __future__ import annotations

from typing import Final, NamedTuple


class Definition(NamedTuple):
    """A figure's name as the tables write it, what it is, and where it was first defined."""

    name: str
    meaning: str
    source: str = ""

    @property
    def line(self) -> str:
        """What it is and where from, as a table says it under the figure's name."""
        return f"{self.meaning} Source: {self.source}." if self.source else self.meaning


_RENYI: Final = Definition(
    "Rényi efficiency",
    "How evenly the vocabulary is used, from 0 to 1, at order 2.5. Rare tokens and very frequent "
    "ones lower it; so does a vocabulary larger than the text can use.",
    "Zouhar et al. 2023, “Tokenization and the noiseless channel”",
)
FIGURES: Final = (
    Definition("Tokens", "How many tokens the text takes; special tokens are read as text."),
    Definition("Bytes per token", "Bytes of UTF-8 over tokens: more is shorter."),
    Definition("Characters per token", "Code points over tokens."),
    Definition(
        "Tokens per word",
        "Fertility: into how many tokens a word, a run of letters, marks and numbers, is cut on "
        "average. 1 is the least.",
        "Ács 2019, “Exploring BERT’s vocabulary”; Rust et al. 2021, “How good is your tokenizer?”",
    ),
    Definition(
        "Words kept whole",
        "The share of words that no token border cuts.",
        "Rust et al. 2021, who count the rest as “continued words”",
    ),
    _RENYI,
    Definition("Vocabulary", "How many tokens there are, special ones included."),
    Definition("Only this vocabulary has", "Tokens that none of the others has, by their bytes."),
    Definition("Tokens here that only it has", "Tokens of the text that are among those."),
    Definition(
        "Bytes in no token",
        "Text that the vocabulary can’t spell, or white space that is left out. Who leaves text "
        "out needs fewer tokens for it, so no figure is marked as the best then.",
    ),
)
_PETROV: Final = (
    "Petrov et al. 2023, “Language model tokenizers introduce unfairness between languages”, "
    "who call it the premium"
)
FAIRNESS: Final = (
    Definition(
        "Mean parity",
        "Parity is a language’s tokens for the same sentences over those of the language compared "
        "with; this is its mean over all the others. 1 is parity; at 2 a language pays twice.",
        _PETROV,
    ),
    Definition("Highest parity", "The parity of the language that pays most.", _PETROV),
    Definition(
        "Gini coefficient",
        "How unequally the tokens are spread over the languages: 0 where all need as many, "
        "towards 1 where one needs them all.",
        "Foroutan et al. 2025, “Parity-aware byte-pair encoding”; the coefficient itself is "
        "Gini’s, 1912",
    ),
    _RENYI._replace(meaning=f"Over all languages together. {_RENYI.meaning}"),
    Definition(
        "Languages it cannot spell",
        "Those with a character that is in no token, or in one that means “unknown”.",
    ),
)
SCRIPTS: Final = Definition(
    "Merges of a script",
    "A merge counts for the script that most letters of its token belong to, the first of those "
    "that tie. Letters that scripts share, such as ー, count with the others of their token. A "
    "token of nothing but cut characters counts apart: in scripts of three bytes a letter the "
    "first merges go there. Vocabulary sorts its tokens the same way.",
)
LANGUAGES: Final = (
    Definition(
        "Parity",
        "Tokens for the same sentences over those of the language compared with. 1 is parity; at "
        "2 a language pays twice.",
        _PETROV,
    ),
    FAIRNESS[2],
    SCRIPTS,
)
