"""How SentencePiece's family writes spaces before it merges across words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bpe_core.errors import FormatError
from bpe_core.formats.json_files import flat_steps
from bpe_core.unicode.byte_alphabet import META

Prefix = Literal["always", "first", "never"]


@dataclass(frozen=True, slots=True)
class Spaces:
    """Where a space is put in front of a text, and of each part between added tokens.

    >>> Spaces("always").written("a▁b"), Spaces("first").written("b", at_start=False)
    (' a b', 'b')
    """

    prefix: Prefix = "never"
    """"first" if only of what begins the whole text."""
    if_missing: bool = False
    """True if only of what does not begin with one; this is done after all added tokens are found,
    and otherwise before those that are looked for in the normalized text."""

    def written(self, text: str, *, at_start: bool = True) -> str:
        """Return a text with its spaces; ▁ is one too, because tokens do not tell them apart."""
        text = text.replace(META, " ")
        wanted = self.prefix == "always" or (self.prefix == "first" and at_start)
        return f" {text}" if text and wanted and not (self.if_missing and text[0] == " ") else text


def read_spaces(described: Mapping[str, Any]) -> Spaces:
    """Return how a tokenizer.json writes spaces as ▁.

    Raises `FormatError` if its normalizer or pre-tokenizer does anything else.

    >>> read_spaces({"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}})
    Spaces(prefix='never', if_missing=False)
    """
    normalizers = list(flat_steps(described.get("normalizer"), "normalizers"))
    cuts = list(flat_steps(described.get("pre_tokenizer"), "pretokenizers"))
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": META}
    prepend = {"type": "Prepend", "prepend": META}
    if replace in normalizers:
        # Without spaces, there is nothing that a split at spaces could cut.
        cuts = [each for each in cuts if not _is_split_at_spaces(each)]
        if not cuts and normalizers == [replace]:
            return Spaces()
        if not cuts and normalizers in ([prepend, replace], [replace, prepend]):
            return Spaces("always")
    elif not normalizers and len(cuts) == 1:
        (cut,) = cuts
        scheme = cut.get("prepend_scheme", "always")
        is_whole = cut.get("type") == "Metaspace" and cut.get("split") is False
        if is_whole and cut.get("replacement") == META and scheme in ("always", "first", "never"):
            return Spaces(scheme, if_missing=True)
    kinds = ", ".join(str(each.get("type")) for each in [*normalizers, *cuts])
    raise FormatError(f"Its text is changed or cut in a way that is not run here ({kinds:.100}).")


def _is_split_at_spaces(cut: Mapping[str, Any]) -> bool:
    return cut.get("type") == "Split" and cut.get("pattern") == {"String": " "}
