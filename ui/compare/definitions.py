"""Define each figure of a comparison in a line, with the paper it comes from."""

from __future__ import annotations

from typing import Final, NamedTuple

from bpe_core.comparison import MIN_POINTS, MIN_TOKENS, N_RESAMPLES, POINTS_APART, SEED
from bpe_core.corpus import MIN_UNITS


class Definition(NamedTuple):
    """A figure's name in the tables, its meaning, and where it was first defined."""

    name: str
    meaning: str
    source: str = ""

    @property
    def line(self) -> str:
        """The meaning and the source, as shown under the figure's name."""
        return f"{self.meaning} Source: {self.source}." if self.source else self.meaning


_RENYI: Final = Definition(
    "Rényi efficiency",
    "How evenly the vocabulary is used, from 0 to 1, at order 2.5. Rare and very frequent tokens "
    "lower it; so does a vocabulary larger than the text can use.",
    "Zouhar et al. 2023, “Tokenization and the noiseless channel”",
)
INTERVAL: Final = Definition(
    "95% interval",
    "How far a difference may be off on new text of this kind. Whole documents, or folders if "
    "those were held out, are drawn at random, with replacement and one fewer than there are, for "
    f"each file type and script, {N_RESAMPLES:,} times (seed {SEED}). Each time the difference is "
    "computed from the tokens in what was drawn, and the interval leaves out the lowest and the "
    "highest 2.5%. If it includes 0, there is no clear difference. A part that is in fewer than "
    f"{MIN_UNITS} documents has no interval.",
    "Efron and Tibshirani 1993, “An introduction to the bootstrap”",
)
PARTS: Final = Definition(
    "Parts",
    "Each token counts once in each division. Its kind: words if it has a letter, else numbers if "
    "it has a number, else punctuation, else white space. Its script: that of most of its letters. "
    "The verdict names a part that goes the other way, or differs from the whole by "
    f"{POINTS_APART:.0f} percentage points, or by half of the whole’s figure if that is less and "
    f"at least {MIN_POINTS:.0f} points. A verdict needs {MIN_TOKENS} tokens.",
)
COVERED_BYTES: Final = "Covered bytes per token"
COVERED_CHARACTERS: Final = "Covered characters per token"
FIGURES: Final = (
    Definition("Tokens", "The number of tokens in the text; special tokens are treated as text."),
    Definition("Bytes per token", "Bytes of UTF-8 divided by tokens; higher is better."),
    Definition("Characters per token", "Code points divided by tokens."),
    Definition(
        COVERED_BYTES,
        "Bytes in tokens divided by tokens: shown if a tokenizer leaves text out, "
        "because all bytes divided by its tokens would reward that.",
    ),
    Definition(COVERED_CHARACTERS, "The same in code points."),
    Definition(
        "Tokens per word",
        "Fertility: the average number of tokens in a word (a run of letters, marks and numbers). "
        "1 is the minimum.",
        "Ács 2019, “Exploring BERT’s vocabulary”; Rust et al. 2021, “How good is your tokenizer?”",
    ),
    Definition(
        "Words kept whole",
        "The share of words that are not split by a token boundary.",
        "Rust et al. 2021, who count the rest as “continued words”",
    ),
    INTERVAL,
    PARTS,
    _RENYI,
    Definition("Vocabulary", "The number of tokens, including special ones."),
    Definition("Only in this vocabulary", "Tokens, by their bytes, that none of the others has."),
    Definition(
        "Uses of those tokens", "How many tokens of the text are found only in this vocabulary."
    ),
    Definition(
        "Bytes in no token",
        "Text that the vocabulary cannot spell, or white space that is dropped. Dropping text "
        "saves tokens, so no figure is marked as the best then.",
    ),
)
_PETROV: Final = (
    "Petrov et al. 2023, “Language model tokenizers introduce unfairness between languages”, "
    "who call it the premium"
)
FAIRNESS: Final = (
    Definition(
        "Tokens in all languages",
        "Tokens for the same sentences in all languages together. Ratios mark no best figure: a "
        "tokenizer that needs many tokens in every language is even, too.",
    ),
    Definition(
        "Languages with the fewest tokens",
        "In how many languages no other tokenizer here needs fewer tokens; ties count for each.",
    ),
    Definition(
        "Mean parity",
        "Parity is a language’s number of tokens for the same sentences, divided by that of the "
        "reference language; this is the mean over all others. At 2 a language pays twice.",
        _PETROV,
    ),
    Definition("Highest parity", "The parity of the language that pays the most.", _PETROV),
    Definition(
        "Gini coefficient",
        "How unequally tokens are spread over the languages: 0 if all need the same number, near 1 "
        "if one needs almost all of them.",
        "Foroutan et al. 2025, “Parity-aware byte-pair encoding”; the coefficient itself is "
        "Gini’s, 1912",
    ),
    _RENYI._replace(meaning=f"Over all languages together. {_RENYI.meaning}"),
    Definition(
        "Languages it cannot spell",
        "Languages with a character that is in no token, or only in one that means “unknown”.",
    ),
)
SCRIPTS: Final = Definition(
    "Merges of a script",
    "A merge counts for the script of most letters of its token, or the first of several that "
    "tie. Letters that scripts share, such as ー, count with the other letters of their token. "
    "Tokens made only of parts of characters count separately: scripts with three bytes per "
    "letter spend their first merges there. Vocabulary sorts its tokens the same way.",
)
LANGUAGES: Final = (
    Definition(
        "Parity",
        "The number of tokens for the same sentences, divided by that of the reference language. "
        "At 2 a language pays twice.",
        _PETROV,
    ),
    FAIRNESS[4],
    SCRIPTS,
)
