"""The tokenizer class: the result of training, of loading a file, and of `gpt2()`."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from bpe_core.checks import check_choice, check_whole, counted, describe, is_a, is_whole, several
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    OutOfRangeError,
    TokenizationError,
)
from bpe_core.lazy import from_above
from bpe_core.pretokenizers import Pretokenizer, Spaces, align, cut_text, get_pretokenizer
from bpe_core.tokenizer.decoding import DecodeStream, OnInvalid, decode_utf8, join_bytes
from bpe_core.tokenizer.encoding import Kernels, OnUnknown, TextEncoder
from bpe_core.tokenizer.rank_merging import Explanation, explain_pieces
from bpe_core.tokenizer.segments import (
    TokenColumns,
    align_segments,
    columns_to_segments,
    segment_columns,
    to_segments,
    token_widths,
)
from bpe_core.tokenizer.steps import (
    AddedToken,
    AllowedSpecial,
    NormalText,
    OrdinaryText,
    SpecialToken,
    Steps,
    allowed_tokens,
    check_text,
    find_plain_cut,
)
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.types import Base, Format, Immutable, Merge, Segment, read_only
from bpe_core.unicode import META

if TYPE_CHECKING:  # importing NumPy takes longer than encoding a short text does
    import numpy as np
    from numpy.typing import NDArray

    from bpe_core.view import View


_MAX_ID: Final = 1 << 22
"""The largest id of a table with an entry an id: 32 MB."""


class Tokenizer(Immutable):
    """A Byte-Pair-Encoding tokenizer; immutable, and equal to another that encodes the same way.

    `vocab` maps ids to bytes: a special token to its UTF-8, and a token that ends a word to bytes
    that end with the end-of-word marker. `merges` are (left, right, new id) in rank order; `counts`
    are how often each merge's pair occurred when it was learned. The alphabet is every token of one
    byte (or one character, depending on `base`) that is neither special, nor the marker, nor made
    by a merge. With `whole_words_first`, a pre-token that is a token becomes that token, even if no
    merges make it, as in tiktoken. `byte_fallback` are the ids of single bytes that spell
    characters outside the alphabet, as in SentencePiece. With the pre-tokenizers metaspace and
    llama2, which need it, a space is put in front of a text, and ▁ is read as one. Raises
    `ConfigError` if the arguments are inconsistent.

    A text goes through steps first; one that does nothing is None. A pre-tokenizer such as
    NFC+gpt2 has a normalizer. `added` are tokens that are found before a text is cut, in any text
    unless they are special. `spaces` are where spaces are put in front. With `leaves_out`, bytes
    that are not tokens are left out, as `tokenizers` does, rather than refused. `removals` are
    (merges done, id) of each token that training removed again, as PickyBPE does: a text then goes
    through merges and removals in the order of the training. Only the native format holds them.

    >>> tokenizer = Tokenizer(
    ...     vocab={0: b"a", 1: b"b", 2: b"ab", 3: b"aba"},
    ...     merges=[(0, 1, 2), (2, 0, 3)],
    ...     pretokenizer="none",
    ... )
    >>> tokenizer.encode("abaab")
    [3, 2]
    >>> tokenizer.decode([3, 2])
    'abaab'
    """

    __slots__ = (
        "_encoder",
        "_fingerprint",
        "_kernels",
        "_left_out",
        "_merges_alone",
        "_pretokenizer",
        "_table",
        "_widths",
    )

    def __init__(
        self,
        *,
        vocab: Mapping[int, bytes],
        merges: Iterable[tuple[int, int, int]],
        pretokenizer: str,
        base: Base = "bytes",
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        end_of_word: str | None = None,
        end_of_word_id: int | None = None,
        counts: Sequence[int] | None = None,
        whole_words_first: bool = False,
        byte_fallback: Iterable[int] = (),
        added: Sequence[AddedToken] = (),
        spaces: Spaces | None = None,
        leaves_out: bool = False,
        removals: Iterable[tuple[int, int]] = (),
    ) -> None:
        get_pretokenizer(pretokenizer)  # before the vocabulary is checked
        table = TokenTable(
            vocab=vocab,
            merges=merges,
            base=base,
            special_tokens=special_tokens,
            end_of_word=end_of_word,
            end_of_word_id=end_of_word_id,
            counts=counts,
            whole_words_first=whole_words_first,
            byte_fallback=byte_fallback,
            removals=removals,
        )
        self._start(table, get_pretokenizer(pretokenizer), added, spaces, leaves_out=leaves_out)

    @classmethod
    def from_table(
        cls,
        table: TokenTable,
        pretokenizer: str,
        added: Sequence[AddedToken] = (),
        spaces: Spaces | None = None,
        *,
        leaves_out: bool = False,
    ) -> Tokenizer:
        """Return the tokenizer of an existing table."""
        tokenizer = cls.__new__(cls)
        tokenizer._start(
            table, get_pretokenizer(pretokenizer), added, spaces, leaves_out=leaves_out
        )
        return tokenizer

    def _start(
        self,
        table: TokenTable,
        pretokenizer: Pretokenizer,
        added: Sequence[AddedToken],
        spaces: Spaces | None,
        *,
        leaves_out: bool,
    ) -> None:
        if pretokenizer.adds_space and not table.byte_ids:
            raise ConfigError(
                f"The pre-tokenizer {pretokenizer.name} is for tokenizers of characters that spell "
                f"rare ones in bytes, and this vocabulary has no such bytes. Use another "
                f"pre-tokenizer, or name those bytes with byte_fallback."
            )
        if leaves_out and table.base != "bytes":
            raise ConfigError("Only bytes are left out. Use leaves_out=False with characters.")
        if missing := table.missing_ids([each.id for each in added]):
            text = next(each.text for each in added if each.id == missing[0])
            raise ConfigError(
                f"The added token {text!r:.60} has the id {missing[0]}, which the vocabulary "
                f"lacks. Add it to the vocabulary."
            )
        self._table = table
        self._pretokenizer = pretokenizer
        # Computed on first use: for 50,000 merges, the hash takes 50 ms.
        self._fingerprint: str | None = None
        self._widths: NDArray[np.int64] | None = None
        self._merges_alone: Tokenizer | None = None
        self._left_out = table.missing_bytes() if leaves_out else b""
        steps = Steps(pretokenizer, table.special_tokens, added, spaces)
        self._kernels = Kernels(table, steps.cut)
        kernels = self._kernels
        if self._left_out:  # kernels need all 256
            kernels = Kernels(table.with_all_bytes(), steps.cut)
        self._encoder = TextEncoder(table, pretokenizer, kernels, steps, self._left_out)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        pretokenizer: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        """Read a tokenizer from a file or a folder, as `bpe_core.load` does."""
        return from_above("bpe_core", "load")(path, pretokenizer, special_tokens)

    def save(self, path: str | os.PathLike[str], format: Format | None = None) -> None:
        """Write the tokenizer in the format that the path's name says, as `bpe_core.save` does.

        >>> import tempfile
        >>> from bpe_core.tokenizer import gpt2
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     gpt2().save(f"{folder}/tokenizer.json")
        ...     Tokenizer.from_file(f"{folder}/tokenizer.json") == gpt2()
        True
        """
        from_above("bpe_core", "save")(self, path, format)

    def to_dict(self) -> dict[str, Any]:
        """Return what describes it as JSON values, without the vocabulary and the merges.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().to_dict()["n_merges"], gpt2().to_dict()["pretokenizer"]
        (50000, 'gpt2')
        """
        return {
            "vocab_size": self.vocab_size,
            "n_merges": self.n_merges,
            "base": self.base,
            "pretokenizer": self.pretokenizer.name,
            "special_tokens": dict(self.special_tokens),
            "end_of_word": self.end_of_word,
            "fingerprint": self.fingerprint,
        }

    # Contents

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id, with those of removed tokens; read-only."""
        return self._table.vocab

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special tokens, the alphabet and the marker.

        Tokens that were removed again are not counted.
        """
        return len(self._table.vocab) - len(self._table.removed)

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token, or None; a text stands for its UTF-8, or a special token.

        >>> from bpe_core.tokenizer import gpt2
        >>> [gpt2().token_to_id(token) for token in (" the", b" the", "<|endoftext|>", "no such")]
        [262, 262, 50256, None]
        """
        if not is_a(token, str, bytes):
            raise ArgumentTypeError(f"Expected a token as str or bytes, got {describe(token)}.")
        if isinstance(token, str):
            if token in self._table.special_tokens:
                return self._table.special_tokens[token]
            check_text(token)
            token = token.encode()
        return self._table.ids.get(token)

    def id_to_token(self, id: int) -> bytes | None:
        """Return the bytes of an id, or None; bytes, because a token may end inside a character.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().id_to_token(262), gpt2().id_to_token(50_257)
        (b' the', None)
        """
        if not is_whole(id):
            raise ArgumentTypeError(f"Expected an id as an int, got {describe(id)}.")
        return self.vocab.get(id)

    @property
    def table(self) -> TokenTable:
        """Its tables, for code that needs more than text and ids: ranks, parts, whole words."""
        return self._table

    @property
    def encoder(self) -> TextEncoder:
        """What encodes for it, for code that has words already: `encode_words` and others."""
        return self._encoder

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in rank order."""
        return self._table.merges

    @property
    def n_merges(self) -> int:
        """The number of merges."""
        return len(self._table.triples)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each special token, which is found only if it is allowed; read-only."""
        return MappingProxyType(self._encoder.steps.special_tokens)

    @property
    def added(self) -> tuple[AddedToken, ...]:
        """The tokens that are found before a text is cut; empty if those are its special ones."""
        return self._encoder.steps.added

    @property
    def spaces(self) -> Spaces | None:
        """Where spaces are put in front of a text, with ▁ as another space; None if they aren't."""
        return self._encoder.steps.spaces

    @property
    def own_spaces(self) -> Spaces | None:
        """The spaces that its pre-tokenizer does not put in front already, or None."""
        return None if self._pretokenizer.adds_space else self.spaces

    @property
    def left_out(self) -> bytes:
        """The bytes that are left out of a text, because they are not tokens."""
        return self._left_out

    @property
    def base_ids(self) -> Mapping[bytes, int]:
        """The id of each symbol of the alphabet; read-only."""
        return self._table.base_ids

    @property
    def base(self) -> Base:
        """The symbols that words consist of before any merge: bytes or characters."""
        return self._table.base

    @property
    def pretokenizer(self) -> Pretokenizer:
        """The pre-tokenizer, which splits a text into words that merges never cross."""
        return self._pretokenizer

    def normalized(self, text: str) -> str:
        """Return a text as its steps change it before it is cut, with ▁ for spaces they write."""
        written = self._encoder.steps.write(text)
        return written if self.spaces is None else written.replace(" ", META)

    def written(self, id: int) -> str | None:
        """Return a token as files write it, with ▁ for spaces and <0xE2> for a byte.

        None where files write bytes, or spaces as they are.
        """
        if self.spaces is None:
            return None
        token = self.vocab.get(id, b"")
        if self._table.byte_ids.get(token) == id:
            return f"<0x{token[0]:02X}>"
        return token.decode().replace(" ", META)

    @property
    def drops_text(self) -> bool:
        """True if the pre-tokenizer drops white space, or if bytes that no token has are."""
        return self._pretokenizer.drops_text or bool(self._left_out)

    @property
    def spells_text(self) -> bool:
        """True if the bytes of a text's tokens are those of the text; unknown symbols aside."""
        changes = self.drops_text or self._encoder.steps.changes_text
        return not changes and self._table.end_of_word is None

    @property
    def end_of_word(self) -> str | None:
        """The end-of-word marker as text, or None."""
        return self._table.end_of_word

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of everything that determines encoding and decoding."""
        if self._fingerprint is None:
            if self._has_steps:
                added, spaces = [list(each) for each in self.added], self.own_spaces
                listed = None if spaces is None else [spaces.prefix, spaces.if_missing]
                described = json.dumps([self.merged_by.fingerprint, added, listed])
            else:
                described = json.dumps([self._pretokenizer.name, *self._table.description()])
            self._fingerprint = hashlib.sha256(described.encode()).hexdigest()
        return self._fingerprint

    def with_changes(self, **changes: Any) -> Tokenizer:
        """Return a tokenizer with other arguments in place of some that this was made with.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().with_changes(pretokenizer="none").pretokenizer.name
        'none'
        """
        return Tokenizer(**self._arguments() | changes)

    def extended(
        self, merges: Iterable[tuple[int, int, int]], counts: Sequence[int] | None = None
    ) -> Tokenizer:
        """Return a tokenizer with more merges after its own; each makes a new id.

        The counts are kept if the tokenizer has counts too. Raises `ConfigError` for an id that
        exists, or merges that do not follow from the tokens.

        >>> from bpe_core.tokenizer import gpt2
        >>> longer = gpt2().extended([(262, 262, 50257)])
        >>> longer.vocab[50257], longer.truncated(gpt2().n_merges) == gpt2()
        (b' the the', True)
        """
        return Tokenizer.from_table(self.table.extended(merges, counts), self.pretokenizer.name)

    def truncated(self, n_merges: int) -> Tokenizer:
        """Return a tokenizer with the first `n_merges` merges only; ids are unchanged.

        Raises `OutOfRangeError` if there are not that many merges.

        >>> from bpe_core.tokenizer import gpt2
        >>> shorter = gpt2().truncated(3)
        >>> [shorter.vocab[id] for id in shorter.encode(" the")]
        [b' t', b'he']
        """
        table = self._table
        check_whole("n_merges", n_merges, 0, len(table.triples), OutOfRangeError)
        kept = table.triples[:n_merges]
        gone = {made for _, _, made in table.triples[n_merges:]}
        gone -= {made for _, _, made in kept} | set(table.special_tokens.values())
        return self.with_changes(
            vocab={id: token for id, token in table.vocab.items() if id not in gone},
            merges=kept,
            counts=None if table.counts is None else table.counts[:n_merges],
            removals=[each for each in table.removals if each[0] <= n_merges],
        )

    def keep_only(self, kept: Collection[int]) -> tuple[Tokenizer, NDArray[np.int32]]:
        """Return a tokenizer of some of the tokens, renumbered in the old order, and old ids.

        `kept` has the alphabet, the special tokens, and all parts of the tokens kept; new ids begin
        at 0, and the old ids are int32[n_kept], read-only. Merges stay in their order.

        >>> from bpe_core.tokenizer import gpt2
        >>> alphabet = {*gpt2().base_ids.values(), 50256}
        >>> smaller, old_ids = gpt2().keep_only(alphabet | {262, 256, 258})
        >>> smaller.vocab_size, old_ids[-3:].tolist(), smaller.vocab[258]
        (260, [258, 262, 50256], b' the')
        """
        import numpy as np

        vocab = self.vocab
        old_ids = sorted(kept)
        new_id = {old: new for new, old in enumerate(old_ids)}
        table = self._table
        merges = [triple for triple in table.triples if triple[2] in new_id]
        counts = table.counts and [
            n for n, id in zip(table.counts, table.made, strict=True) if id in new_id
        ]
        marker = table.end_of_word_id
        smaller = Tokenizer(
            vocab={new: vocab[old] for new, old in enumerate(old_ids)},
            merges=[(new_id[left], new_id[right], new_id[id]) for left, right, id in merges],
            pretokenizer=self.pretokenizer.name,
            base=self.base,
            special_tokens={token: new_id[id] for token, id in self.special_tokens.items()},
            end_of_word=self.end_of_word,
            end_of_word_id=None if marker is None else new_id[marker],
            counts=counts,
            whole_words_first=table.whole_words_first,
            byte_fallback=[new_id[id] for id in table.byte_ids.values()],
        )
        return smaller, read_only(np.array(old_ids, np.int32))

    # Properties of every `Encoder`

    model: str = "BPE"
    """The model."""
    engine: str = "bpe_core"
    """The library that encodes."""
    unknown_id: int | None = None
    """None, because no token represents symbols missing from the alphabet."""

    @property
    def merged_by(self) -> Tokenizer:
        """Its merges, with each added token as a special one: the tokenizer itself without any."""
        if not self._has_steps:
            return self
        if self._merges_alone is None:
            self._merges_alone = Tokenizer.from_table(self._table, self._pretokenizer.name)
        return self._merges_alone

    @property
    def plain(self) -> Tokenizer | None:
        """The tokenizer that encodes alike, added tokens aside; None if text is changed first."""
        is_changed = self.own_spaces is not None or self._pretokenizer.normalizer is not None
        return None if is_changed else self.merged_by

    @property
    def adaptable(self) -> Tokenizer:
        """Its merges, as a tokenizer that puts a space in front of a text itself if it can."""
        if self.own_spaces is None:
            return self.merged_by
        table = self._table
        rights = (table.vocab[right] for _, right, _ in table.triples)
        cut = find_plain_cut(self._pretokenizer.name, rights, self.added, self.own_spaces)
        return self.merged_by if cut is None else Tokenizer.from_table(table, cut)

    # Text to ids

    def encode(
        self, text: str, allowed_special: AllowedSpecial = (), errors: OnUnknown = "strict"
    ) -> list[int]:
        """Return the ids of a text.

        Special tokens are recognised only if `allowed_special` contains them or is "all"; otherwise
        they are ordinary text. For a symbol missing from the alphabet, `errors="strict"` raises
        `UnknownSymbolError` and "skip" leaves the symbol out; merges never cross the gap. Raises
        `InvalidTextError` for a lone surrogate, `ArgumentTypeError` if `text` is not a str, and
        `TokenizationError` for any other value of `errors`.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().encode("Hi<|endoftext|>", allowed_special="all")
        [17250, 50256]
        """
        check_text(text)
        allowed = self._checked(allowed_special, errors)
        return self._encoder.encode(text, allowed, errors)

    def encode_batch(
        self,
        texts: Iterable[str],
        allowed_special: AllowedSpecial = (),
        errors: OnUnknown = "strict",
    ) -> list[list[int]]:
        """Return the ids of each of several texts; raises what `encode` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().encode_batch(["The quick", " fox"])
        [[464, 2068], [21831]]
        """
        listed: list[str] = several(texts, "texts", "give a list of str, or call encode for one")
        for text in listed:
            check_text(text)
        allowed = self._checked(allowed_special, errors)
        return self._encoder.encode_batch(listed, allowed, errors)

    def encode_to_numpy(
        self, text: str, allowed_special: AllowedSpecial = (), errors: OnUnknown = "strict"
    ) -> NDArray[np.int32]:
        """Return the ids of a text as int32[n_tokens]; raises what `encode` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().encode_to_numpy("The quick")
        array([ 464, 2068], dtype=int32)
        """
        check_text(text)
        allowed = self._checked(allowed_special, errors)
        return self._encoder.encode_to_numpy(text, allowed, errors)

    def segments(self, text: str, allowed_special: AllowedSpecial = ()) -> list[Segment]:
        """Return the tokens with their positions; each byte of the text is in exactly one segment.

        Text that no token covers, because the pre-tokenizer drops it or the alphabet lacks it, is a
        segment with id None. A separate end-of-word marker has length 0. Raises `InvalidTextError`
        for a lone surrogate.

        >>> from bpe_core.tokenizer import gpt2
        >>> [(each.token, each.start, each.end) for each in gpt2().segments("to 漢")]
        [(b'to', 0, 2), (b' \xe6', 2, 4), (b'\xbc', 3, 4), (b'\xa2', 3, 4)]
        """
        check_text(text)
        allowed = allowed_tokens(self.special_tokens, allowed_special)
        normal = self._encoder.steps.normal_text(text, allowed)
        columns = self._cover(text, normal)
        if columns is not None:
            return columns_to_segments(text, columns, self._table.vocab)
        segments = to_segments(normal.text, self._encoder.placed_words(normal))
        return align_segments(text, segments, normal.changes) if normal.changes else segments

    def place_tokens(
        self, texts: Sequence[str], allowed_special: AllowedSpecial = ()
    ) -> list[TokenColumns]:
        """Return the segments of each text in columns; raises what `segments` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> (columns,) = gpt2().place_tokens(["The quick"])
        >>> columns.ids.tolist(), columns.byte_ends.tolist()
        ([464, 2068], [3, 9])
        """
        allowed = allowed_tokens(self.special_tokens, allowed_special)
        found: list[TokenColumns] = []
        for text in texts:
            check_text(text)
            columns = self._cover(text, self._encoder.steps.normal_text(text, allowed))
            found.append(columns or segment_columns(self.segments(text, allowed_special)))
        return found

    def parts(self, text: str, size: int) -> Iterator[str]:
        """Cut a text where its ids don't change; each part but the last has `size` characters.

        >>> from bpe_core.tokenizer import gpt2
        >>> list(gpt2().parts("one two three", 3))
        ['one', ' two', ' three']
        """
        cut, spaces = self._pretokenizer, self.spaces
        is_free = spaces is None or spaces.prefix == "never"
        # Every cut for texts with spaces as ▁ that cuts here cuts before each space of words.
        cuts = cut.ends_before_space or (spaces is not None and len(cut.split("a b")) > 1)
        crossed = any(
            character.isspace() or character == META
            for each in self.added
            for character in each.text
        )
        return cut_text(text, size if cuts and is_free and not crossed else len(text))

    def explain(self, text: str, errors: OnUnknown = "strict") -> list[Explanation]:
        """Return each pre-token's initial symbols and the merges applied to it, in order.

        Added tokens are left out, and a space that is put in front is part of its word.

        Meant for short texts: a pre-token of n symbols takes up to n steps of n symbols. For a
        symbol missing from the alphabet, "strict" raises `UnknownSymbolError`; "skip" explains the
        pieces on either side of it.

        >>> from bpe_core.tokenizer import gpt2
        >>> (word,) = gpt2().explain("The")
        >>> [[gpt2().vocab[id] for id in step.symbols] for step in word.steps]
        [[b'T', b'he'], [b'The']]
        """
        check_text(text)
        check_choice("errors", errors, OnUnknown, TokenizationError)
        explained: list[Explanation] = []
        for word, place, _ in self._words(text):
            # A character has no other byte that is ASCII.
            kept = word.translate({byte: None for byte in self._left_out if byte < 0x80})
            if self._left_out and not kept:
                continue
            for explanation in explain_pieces(kept, place, self._table):
                if explanation is not None:
                    explained.append(explanation)
                elif errors == "strict" and not self._left_out:
                    raise self._encoder.unknown_symbol(text, frozenset())
        return explained

    def word_around(self, text: str, place: int) -> str:
        """Return the word that the merges get around a character, or "" in an added token.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().word_around("The quick", 5)
        ' quick'
        """
        return next((word for word, a, b in self._words(text) if a <= place < b), "")

    def view(self, text: str, allowed_special: AllowedSpecial = ()) -> View:
        """Return a view of a text's tokens that shows itself in a notebook.

        Raises what `segments` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().view("The quick brown fox")
        <View of 4 tokens>
        """
        return from_above("bpe_core.views", "view_tokens")(text, self, allowed_special)

    # Ids to text

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """Return the bytes of ids; raises `InvalidTokenIdError` for an unknown id.

        Raises `TokenizationError` for anything but a flat sequence of ids. The end of a word
        becomes one space before another word, and nothing before a special token or at the end.
        One space at the start is left out if encoding puts one in front of a text.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().decode_bytes([2068, 10263])
        b' quick \xe5'
        """
        return bytes(self._joined(ids))

    def decode(
        self,
        ids: Iterable[int] | NDArray[np.integer],
        errors: OnInvalid = "replace",
    ) -> str:
        """Return the text of ids; raises what `decode_bytes` raises.

        Ids may cut a character in two. With "replace", bytes that are not valid UTF-8 become
        U+FFFD; with "strict", they raise `TokenizationError`.

        >>> from bpe_core.tokenizer import gpt2
        >>> gpt2().decode([464, 2068, 7586, 21831])
        'The quick brown fox'
        """
        check_choice("errors", errors, OnInvalid, TokenizationError)
        return decode_utf8(self._joined(ids), errors)

    # Internals

    def decode_stream(self) -> DecodeStream:
        """Return what decodes ids as they arrive, never half a character: see `DecodeStream`."""
        return DecodeStream(self)

    def _joined(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes | memoryview:
        joined = join_bytes(ids, self._table, self._kernels)
        if self.spaces is None:
            return joined
        if any(META in text for text in self._table.special_tokens):
            joined = bytes(joined).replace(META.encode(), b" ")
        return joined[1:] if self.spaces.prefix != "never" and joined[:1] == b" " else joined

    @property
    def _has_steps(self) -> bool:
        """True if there is more than the merges with a pre-tokenizer do."""
        return bool(self.added or self._left_out) or self.own_spaces is not None

    def _words(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each word as it is merged, and where it is in a text, without added tokens."""
        normal = self._encoder.steps.normal_text(text, frozenset())
        cut = self._encoder.steps.cut
        spans = [
            (piece.start + start, piece.start + end)
            for piece in normal.pieces
            if isinstance(piece, OrdinaryText)
            for start, end in cut.spans(normal.text[piece.start : piece.end])
        ]
        places = spans
        if normal.changes:
            in_characters, _ = align(text, normal.changes)
            places = in_characters(spans).tolist()
        for (start, end), (first, last) in zip(spans, places, strict=True):
            word = normal.text[start:end]
            if word not in cut.added:
                yield word, first, last

    def _cover(self, text: str, normal: NormalText) -> TokenColumns | None:
        """Return the segments of a text in columns if tokens cover all of it, else None."""
        if self._pretokenizer.drops_text or self._table.end_of_word is not None or not text:
            return None
        # To find the largest id takes longer than to encode a short text: once is enough.
        if self._widths is None and max(self._table.vocab) >= _MAX_ID:
            return None
        import numpy as np

        ids, piece_ends = self._encoder.encode_normal(normal)
        if not ids.size or (not self._table.complete and ids.min() < 0):
            return None
        if self._widths is None:
            self._widths = token_widths(self._table.vocab)
        widths = self._widths[ids]
        for piece, end in zip(normal.pieces, piece_ends.tolist(), strict=True):
            if isinstance(piece, SpecialToken):
                widths[end - 1] = len(normal.text[piece.start : piece.end].encode())
        byte_ends = np.cumsum(widths)
        n_bytes = len(normal.text) if normal.text.isascii() else len(normal.text.encode())
        if byte_ends[-1] != n_bytes:  # bytes were left out
            return None
        if normal.changes:
            byte_ends = align(text, normal.changes)[1](byte_ends)
        byte_starts = np.concatenate([np.zeros(1, np.int64), byte_ends[:-1]])
        return TokenColumns(ids.astype(np.int64), byte_starts, byte_ends)

    def _checked(self, allowed_special: AllowedSpecial, errors: OnUnknown) -> frozenset[str]:
        """Check the arguments other than the text; return the special tokens to recognise."""
        check_choice("errors", errors, OnUnknown, TokenizationError)
        return allowed_tokens(self._encoder.steps.special_tokens, allowed_special)

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle only the arguments; tables, caches and kernels are rebuilt.
        return partial(Tokenizer, **self._arguments()), ()

    def _arguments(self) -> dict[str, Any]:
        return self._table.arguments() | {
            "pretokenizer": self._pretokenizer.name,
            "added": self.added,
            "spaces": self.own_spaces,
            "leaves_out": bool(self._left_out),
        }

    def __eq__(self, other: object) -> bool:
        # What the fingerprint has, which takes far longer.
        return (
            isinstance(other, Tokenizer)
            and self._pretokenizer.name == other._pretokenizer.name
            and (self.added, self.spaces) == (other.added, other.spaces)
            and self._left_out == other._left_out
            and self._table.encodes_as(other._table)
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (
            f"<Tokenizer of {counted(self.vocab_size, 'token')}, "
            f"{counted(len(self._table.triples), 'merge')}, "
            f"{self.base}, pre-tokenizer {self._pretokenizer.name!r}>"
        )

    def _repr_html_(self) -> str:
        return from_above("bpe_core.views", "summarize_tokenizer")(self)
