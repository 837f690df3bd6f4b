"""Prepare the encoding of a corpus: open the tokenizer, and divide the text among workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Final, NamedTuple

from bpe_core.corpus.text_decoding import DecodingErrors
from bpe_core.errors import ConfigError, EmptyCorpusError
from bpe_core.formats.running.base_encoders import OwnEncoder
from bpe_core.formats.transformers_folder import special_roles
from bpe_core.kernels.threads import n_threads
from bpe_core.scale.engines import Engine, ThisProcess
from bpe_core.scale.steps import DividedSources, divide_sources
from bpe_core.scale.stretches import Stretch
from bpe_core.scale.work_folder import WorkFolder
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.training_data.kept_columns import check_files
from bpe_core.training_data.manifest import EosFacts
from bpe_core.training_data.shard_formats import Dtype, Format, dtype_for
from bpe_core.training_data.shared_tokenizer import (
    SharedTokenizer,
    cutting_pretokenizer,
    open_given,
    share_tokenizer,
)
from bpe_core.training_data.stretch_ids import StretchToEncode

AUTO: Final = "auto"


class OpenedTokenizer(NamedTuple):
    """A tokenizer, and how it encodes a corpus."""

    encoder: Encoder
    path: str
    """Its path or name; empty if it was given as itself."""
    ending: EosFacts | None
    """What follows each document."""
    dtype: Dtype
    """The type of its ids in the files."""

    @property
    def engine(self) -> ThisProcess:
        """The engine for this process: several stretches at a time if that is faster."""
        merges = self.encoder if isinstance(self.encoder, Tokenizer) else None
        if isinstance(self.encoder, OwnEncoder):
            merges = self.encoder.tokenizer
        # The regex package makes objects of all matches, so threads would only wait for each other,
        # and their time would count against the limit for a pattern.
        is_cut_by_regex = merges is not None and merges.pretokenizer.name.startswith("regex:")
        return ThisProcess(1 if is_cut_by_regex else n_threads())

    def divide(
        self,
        sources: Iterable[str | PathLike[str]],
        engine: Engine,
        *,
        text_column: str | None,
        errors: DecodingErrors,
        skip_damaged: bool,
        stretch_bytes: int | None = None,
        written_to: Iterable[str] = (),
        columns: Sequence[str] = (),
    ) -> DividedSources:
        """Divide sources where it can encode the parts, and check that `columns` can be kept.

        Raises what `divide_sources` and `check_files` raise, and EmptyCorpusError for files without
        text.
        """
        divided = divide_sources(
            sources,
            engine,
            pretokenizer=cutting_pretokenizer(self.encoder),
            text_column=text_column,
            errors=errors,
            stretch_bytes=stretch_bytes,
            skip_damaged=skip_damaged,
            written_to=written_to,
            lists_columns=bool(columns),
        )
        check_files(columns, divided.files)
        if not divided.stretches:
            raise EmptyCorpusError("The corpus is empty: give at least one character.")
        return divided

    def share(self, folder: WorkFolder) -> SharedTokenizer:
        """Put it where all workers find it."""
        return share_tokenizer(self.encoder, self.path, folder)

    def task(
        self,
        stretch: Stretch,
        shared: SharedTokenizer,
        val_share: float = 0.0,
        columns: tuple[str, ...] = (),
    ) -> StretchToEncode:
        """Return the task of encoding a stretch."""
        eos_id = self.ending.id if self.ending is not None else None
        return StretchToEncode(stretch, shared, eos_id, val_share, self.dtype, columns)


def open_tokenizer(
    tokenizer: Tokenizer | str | PathLike[str], format: Format, eos: str | None
) -> OpenedTokenizer:
    """Open a tokenizer to encode a corpus; raises what `open_given` and `find_eos` raise.

    >>> open_tokenizer("gpt2", "bin", None).dtype
    '<u2'
    """
    encoder, path = open_given(tokenizer)
    dtype = dtype_for(format, max(encoder.vocab) + 1)
    return OpenedTokenizer(encoder, path, find_eos(encoder, eos), dtype)


def find_eos(encoder: Encoder, eos: str | None) -> EosFacts | None:
    """Return the special token that ends documents: the named one, by default the tokenizer's.

    Raises ConfigError if there is none.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> find_eos(gpt2(), "auto")
    EosFacts(token='<|endoftext|>', id=50256)
    """
    if eos is None:
        return None
    known = encoder.special_tokens
    token = special_roles(known).get("eos_token") if eos == AUTO else eos
    if isinstance(token, str) and token in known:
        return EosFacts(token, known[token])
    names = ", ".join(sorted(known, key=known.__getitem__)[:8]) or "none"
    problem = "no known end-of-text token" if eos == AUTO else f"no special token {eos!r:.60}"
    raise ConfigError(
        f"The tokenizer has {problem}; its special tokens: {names}. Name one with --eos (eos=), or "
        "'none' (None) to put nothing between documents."
    )
