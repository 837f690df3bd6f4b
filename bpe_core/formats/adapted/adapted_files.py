"""Write an adapted tokenizer into its base's own files, with nothing else in them changed.

In a tokenizer.json, the vocabulary, the merges and the ids of added tokens are replaced; the
normalizer, the pre-tokenizer, the template and every other byte stay. So does everything but the
pieces of a SentencePiece model. A GGUF file is written without tensors. Before it is returned, each
file is read again as the base's was, with the files next to it, and must give the adapted
tokenizer.

A SentencePiece model has no merges: whatever two neighbours spell a piece is joined, the highest
score first. So each new token is one piece, whose score is lower than all before it. A Tekken file
lists more ranks than its model uses, which are left out: the new tokens take their places.
"""

from __future__ import annotations

import io
import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting import Adapted, extendable
from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats import gpt2_files, huggingface, native, tiktoken_file
from bpe_core.formats.across_words import reads_as
from bpe_core.formats.adapted.adapted_vocabulary import (
    adapted_gguf,
    build_vocabulary,
    check_same,
    continue_scores,
    kept_merges,
    new_merges,
    renumbered,
    token_text,
    unlisted,
    vocabulary_alone,
)
from bpe_core.formats.folder_files import (
    ADDED_TOKENS,
    CONFIG,
    MODEL_CONFIG,
    OLD_IDS,
    PAIRS,
    PARTS,
    ROWS,
    locate,
    naming,
    read_files_at,
    unpacked,
)
from bpe_core.formats.gguf.gguf_header import looks_like_gguf, mapped
from bpe_core.formats.huggingface import role_files
from bpe_core.formats.json_files import (
    checked_ids,
    is_token_id,
    looks_like_json,
    parse_json,
    parse_text,
)
from bpe_core.formats.load_save import dumps, loads, read_merges
from bpe_core.formats.opening.open_encoder import open_encoder, open_published
from bpe_core.formats.published.catalogue import CATALOGUE, Published
from bpe_core.formats.published.hub_names import is_sidecar
from bpe_core.formats.sentencepiece_model import (
    NORMAL,
    Piece,
    looks_like_sentencepiece,
    read_model,
    replace_pieces,
)
from bpe_core.formats.tiktoken_file import looks_like_tekken, read_tekken
from bpe_core.tokenizer import Tokenizer, find_own, gpt2
from bpe_core.types import Format


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """A tokenizer to adapt, and the files that it came in."""

    tokenizer: Tokenizer
    files: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def open(
        cls,
        path_or_name: str | os.PathLike[str],
        pretokenizer: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> BaseFiles:
        """Open a tokenizer to adapt: a path, the name of a published one, or a model on the hub.

        For a folder, `files` also has tokenizer_config.json, special_tokens_map.json,
        added_tokens.json, config.json and the chat template. A folder with a tokenizer.json is
        read from that file, and `files` also has its vocab.json and merges.txt, which contain
        less. Added tokens that match ordinary text, such as DeepSeek's, do not matter here:
        training reads a corpus as text without special tokens. The same holds for those of Gemma,
        which are found before characters are merged across words. For a GGUF file, however large,
        `files` has the keys without the tensors. Raises `FormatError` for a tokenizer that
        bpe_core cannot run or adapt, and what `load` and `open_encoder` raise.

        >>> base = BaseFiles.open("gpt2")
        >>> base.tokenizer.vocab_size, list(base.files)
        (50257, ['vocab.json', 'merges.txt'])
        """
        path, _ = locate(path_or_name)
        if not path.exists() and (known := Published.known_name(str(path_or_name))) is not None:
            with naming(path_or_name):
                return cls._published(known)
        described = read_files_at(path)
        with naming(path_or_name):
            merges = extendable(read_merges(described, pretokenizer, special_tokens))
        files = {name: data for name, data in described.items() if not is_sidecar(name)}
        if path.is_file() and looks_like_gguf(described[path.name]):
            with mapped(path) as view:
                name, keys = vocabulary_alone(view, path.name)
            return cls(merges, {name: keys})
        if path.is_dir():
            files |= {name: data for name, data in described.items() if is_sidecar(name)}
            for pair in PAIRS if huggingface.FILE_NAME in files else ():
                if all((path / name).is_file() for name in pair):
                    found = read_files_at(path / pair[0])
                    files |= {name: found[name] for name in pair}
        return cls(merges, files)

    @classmethod
    def _published(cls, name: str) -> BaseFiles:
        found = Published.named(name)
        if name not in CATALOGUE or found.encoding is not None:
            # The file lacks some of its tokens.
            own = find_own(open_encoder(name))
            assert own is not None
            return cls(own, dumps(own, "huggingface"))
        if found.package is None:
            return cls(gpt2(), dumps(gpt2(), "gpt2"))
        files = {found.file_name: found.read()}
        if found.file_name.endswith(".json"):
            return cls(read_merges(files), files)
        return cls(extendable(open_published(found)), files)

    def format_for(self, wanted: Format | None = None) -> Format | None:
        """Return the format to write an adapted tokenizer in; None for that of the base's files.

        A file of ranks holds no special tokens: a program numbers them after its last rank, and
        after extending, these are the ids of new tokens. So it becomes a folder for transformers,
        unless another format is `wanted`.

        >>> import bpe_core as bpe
        >>> from bpe_core.formats import dumps
        >>> BaseFiles(bpe.gpt2(), dumps(bpe.gpt2(), "tiktoken")).format_for()
        'transformers'
        >>> BaseFiles(bpe.gpt2(), dumps(bpe.gpt2(), "gpt2")).format_for()
        """
        if wanted is None and self.tokenizer.special_tokens and is_ranks(self.files):
            return "transformers"
        return wanted

    def rewritten(self, adapted: Adapted, wanted: Format | None = None) -> dict[str, bytes]:
        """Return the files of an adapted tokenizer, in the base's own format if none is wanted.

        Raises what `adapted_files` and `dumps` raise.

        >>> base = BaseFiles.open("gpt2")
        >>> list(base.rewritten(Adapted.of(base.tokenizer, base.tokenizer), "native"))
        ['tokenizer.bpe.json']
        """
        format = self.format_for(wanted)
        if format is None:
            return adapted_files(adapted, self.files)
        if format in ("huggingface", "transformers") and huggingface.FILE_NAME in self.files:
            # The base's own files hold more, such as a chat template or another normalizer.
            own = adapted_files(adapted, self.files)
            if format == "transformers":
                return {**role_files(adapted.tokenizer), **own}
            return {huggingface.FILE_NAME: own[huggingface.FILE_NAME]}
        return dumps(adapted.tokenizer, format)


_ENDINGS: Final = tuple(zip(*PAIRS, strict=True))


def adapted_files(adapted: Adapted, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the base's files, as file name -> bytes, with the adapted tokenizer in them.

    `files` are the base's: a tokenizer.json, GPT-2's two files, a .tiktoken file, a Tekken file, a
    SentencePiece model, a GGUF file or a native one, and any files next to them; or a zip of these,
    which is unpacked.
    Among these files, the ids in tokenizer_config.json and added_tokens.json are renumbered, and
    all others kept, except config.json, the model's own, which is only read. A GGUF file with
    tensors loses them, and gets a name that ends with -vocab.gguf. Raises `FormatError` for other
    formats, and `ConfigError` if the format cannot express the adapted tokenizer.

    >>> import bpe_core as bpe
    >>> from bpe_core.formats import dumps, loads
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> files = adapted_files(shrunk, dumps(bpe.gpt2(), "gpt2"))
    >>> list(files), loads(files) == shrunk.tokenizer
    (['vocab.json', 'merges.txt'], True)
    """
    files = unpacked(files)
    beside = {name: data for name, data in files.items() if is_sidecar(name)}
    if CONFIG in beside:
        beside[CONFIG] = tokenizer_config(adapted, beside[CONFIG])
    if ADDED_TOKENS in beside:
        beside[ADDED_TOKENS] = added_tokens_file(adapted, beside[ADDED_TOKENS])
    # The model's config.json has the size of its embedding, which has yet to be resized.
    written = {name: beside.get(name, data) for name, data in files.items() if name != MODEL_CONFIG}
    done = False
    for name, data in files.items():
        if is_sidecar(name):
            continue
        if looks_like_gguf(data):
            alone, keys = vocabulary_alone(data, name)
            del written[name]
            written[alone] = adapted_gguf(adapted, keys, name)
            done = True
        elif looks_like_sentencepiece(data):
            written[name] = model_file(adapted, data, name, beside)
            done = True
        elif name.endswith(".json"):
            described = parse_json(data, name)
            if isinstance(described.get("model"), dict):  # in a vocab.json it may be a token
                written[name] = tokenizer_json(adapted, data, beside)
                done = True
            elif looks_like_tekken(described):
                written[name] = tekken_json(adapted, data, name)
                done = True
            elif described.get("format") == native.FORMAT:
                written[name] = native.to_json(adapted.tokenizer)
                read = native.tokenizer_from_dict(parse_json(written[name], name))
                check_same(name, is_equal=read == adapted.tokenizer)
                done = True
        elif not done and _is_tiktoken(name, data):
            written[name] = _tiktoken(adapted, name)
            done = True
    # An uploaded pair may have longer names, such as my-vocab.json and my-merges.txt.
    vocabularies, merges = ([name for name in files if name.endswith(ends)] for ends in _ENDINGS)
    for ids_name, merges_name in zip(vocabularies, merges, strict=False):
        # Next to a tokenizer.json they need not hold everything that it does.
        written[ids_name], written[merges_name] = _gpt2_files(
            adapted, files[ids_name], files[merges_name], beside, alone=not done
        )
        done = True
    if not done:
        raise FormatError(
            f"{', '.join(files) or 'No file'} cannot be written with another vocabulary: only "
            f"tokenizer.json, vocab.json with merges.txt, .tiktoken, Tekken, SentencePiece, GGUF "
            f"and native files can. Save the adapted tokenizer in the "
            f"{'native' if adapted.tokenizer.table.byte_ids else 'huggingface'} format instead."
        )
    return written


def is_ranks(files: Mapping[str, bytes]) -> bool:
    """Return whether a tokenizer's files are one file of ranks, as tiktoken reads.

    >>> is_ranks({"tokenizer.model": b"IQ== 0"}), is_ranks({"tokenizer.json": b"{}"})
    (True, False)
    """
    names = files.keys() - {MODEL_CONFIG}
    return len(names) == 1 and all(_is_tiktoken(name, files[name]) for name in names)


def row_files(adapted: Adapted) -> dict[str, bytes]:
    """Return the files that say which old embedding rows each new row starts from.

    old_ids.npy is int32[n_ids]: the base's id of each id, -1 for a new token. parts.npy is
    int32[n_ids, n]: the base's ids whose mean is the usual start of each row, filled up with -1.
    embedding_rows.json holds both, with the parts of new tokens only.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> np.load(io.BytesIO(row_files(shrunk)["parts.npy"]))[-2:].tolist()
    [[1018], [50256]]
    """
    old_ids = adapted.old_ids
    return {
        OLD_IDS: _npy(old_ids),
        PARTS: _npy(parts_table(adapted)),
        ROWS: json.dumps(
            {
                "old_ids": old_ids.tolist(),
                "parts": {str(id): list(parts) for id, parts in adapted.parts.items()},
            }
        ).encode(),
    }


def parts_table(adapted: Adapted) -> NDArray[np.int32]:
    """Return int32[n_ids, n]: the old ids that each id starts from, filled up with -1.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> parts_table(shrunk).shape
    (300, 1)
    """
    longest = max(map(len, adapted.parts.values()), default=1)
    table = np.full((len(adapted.old_ids), longest), Adapted.NO_OLD_ID, np.int32)
    table[:, 0] = adapted.old_ids
    for id, parts in adapted.parts.items():
        table[id, : len(parts)] = parts
    return table


def _npy(array: NDArray[np.int32]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _gpt2_files(
    adapted: Adapted, ids_file: bytes, merges: bytes, beside: Mapping[str, bytes], *, alone: bool
) -> tuple[bytes, bytes]:
    if alone and not beside:
        gpt2_files.write_gpt2_files(adapted.tokenizer)  # raises if they cannot express it
    ids, mark, text = parse_text(ids_file, "vocab.json")
    vocabulary = build_vocabulary(adapted, ids)
    if alone:  # else the tokenizer.json lists them
        vocabulary |= unlisted(vocabulary, adapted.tokenizer.special_tokens)
    written = write_like(vocabulary, text)
    # A line that is not a merge, such as the header, is kept.
    lines = merges.decode().split("\n")
    pairs: dict[int, tuple[str, str]] = {}
    for number, line in enumerate(lines):
        first, space, second = line.removesuffix("\r").partition(" ")
        if space and not (number == 0 and line.startswith("#version")):
            pairs[number] = (first, second)
    kept = kept_merges(adapted, ids, list(pairs.values()))
    numbers = list(pairs)
    gone = set(numbers) - {numbers[place] for place in kept}
    left = [line for number, line in enumerate(lines) if number not in gone]
    added = [" ".join(pair) for pair in new_merges(adapted)]
    at = len(left) - (left[-1] == "")
    ending = "\r" if left and left[0].endswith("\r") else ""
    left[at:at] = [line + ending for line in added]
    new_vocabulary, new_merges_file = (mark + written).encode(), "\n".join(left).encode()
    tokenizer = adapted.tokenizer
    read = loads(
        {
            gpt2_files.VOCABULARY: new_vocabulary,
            gpt2_files.MERGES: new_merges_file,
            **(beside if alone else {}),
        },
        pretokenizer=tokenizer.pretokenizer.name,
        special_tokens=tokenizer.special_tokens,
    )
    # These files don't say whether whole words are looked up first.
    read = read.with_changes(whole_words_first=tokenizer.table.whole_words_first)
    check_same("vocab.json with merges.txt", is_equal=reads_as(read, tokenizer))
    return new_vocabulary, new_merges_file


def _tiktoken(adapted: Adapted, name: str) -> bytes:
    tokenizer = adapted.tokenizer
    written = tiktoken_file.write_tiktoken(tokenizer)  # raises if ranks don't imply the merges
    ordinary = tokenizer.vocab.keys() - set(tokenizer.special_tokens.values())
    check_same(
        name,
        is_equal=tiktoken_file.read_ranks(written) == {tokenizer.vocab[id]: id for id in ordinary},
    )
    return written


def _is_tiktoken(name: str, data: bytes) -> bool:
    if looks_like_json(data, name) or name.endswith(".txt"):
        return False
    try:
        return bool(tiktoken_file.read_ranks(data.lstrip().partition(b"\n")[0]))
    except FormatError:
        return False


def model_file(
    adapted: Adapted, data: bytes, name: str, beside: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    """Return a SentencePiece model with the adapted vocabulary; errors give its `name`.

    `beside` are the adapted files next to it.

    Pieces that stay keep their bytes, and a new one has the type NORMAL. Raises `ConfigError` if an
    id has no token, or if the file would encode differently.
    """
    tokenizer, old_ids = adapted.tokenizer, adapted.old_ids.tolist()
    if len(old_ids) > tokenizer.vocab_size:
        raise ConfigError(
            f"{name} lists a piece for every id, and the adapted tokenizer leaves some out. Save "
            f"it in the native format."
        )
    scores = continue_scores(adapted, [piece.score for piece in read_model(data).pieces])
    again = set(adapted.removed)
    written = replace_pieces(
        data,
        [
            Piece(token_text(tokenizer, id), scores[id], NORMAL)
            if old == Adapted.NO_OLD_ID or old in again
            else old
            for id, old in enumerate(old_ids)
        ],
    )
    read = read_merges({name: written, **beside})
    check_same(name, is_equal=reads_as(read, tokenizer))
    return written


def tekken_json(adapted: Adapted, data: bytes, name: str) -> bytes:
    """Return a Tekken file with the adapted vocabulary; `name` names it in errors.

    Raises `ConfigError` if the ranks would not imply the merges, or if a special token is missing.
    """
    described, mark, text = parse_text(data, name)
    before, tokenizer = read_tekken(described), adapted.tokenizer
    n_special = len(before.special_tokens)
    if dict(tokenizer.special_tokens) != dict(before.special_tokens):
        raise ConfigError(f"{name} needs every special token under its id. Pin them all.")
    ids = range(n_special, max(tokenizer.vocab) + 1)
    if len(ids) + n_special != tokenizer.vocab_size:
        raise ConfigError(
            f"{name} lists a token for every id, and the adapted tokenizer leaves some out. Save "
            f"it in the huggingface or native format."
        )
    tiktoken_file.write_tiktoken(tokenizer)  # raises if ranks don't imply the merges
    listed = cast("list[dict[str, Any]]", described["vocab"])
    old_ids = adapted.old_ids
    described["vocab"] = [
        _new_entry(id - n_special, tokenizer.vocab[id])
        if old_ids[id] == Adapted.NO_OLD_ID
        else {**listed[int(old_ids[id]) - n_special], "rank": id - n_special}
        for id in ids
    ]
    sizes = {"num_vocab_tokens": len(ids), "default_vocab_size": tokenizer.vocab_size}
    config = cast("dict[str, Any]", described["config"])
    config |= {key: size for key, size in sizes.items() if key in config}
    written = (mark + write_like(described, text)).encode()
    again = read_tekken(parse_json(written, name))
    expected = {tokenizer.vocab[id]: id for id in ids}
    check_same(name, is_equal=again.ids == expected and again.pattern == before.pattern)
    return written


def _new_entry(rank: int, token: bytes) -> dict[str, Any]:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": text}


_DECODER: Final = json.JSONDecoder()
_OPENING: Final = re.compile(r"\s*\{(\s*)")
_COLON: Final = re.compile(r"\s*:\s*")
_COMMA: Final = re.compile(r"\s*,\s*")


def write_like(value: object, text: str) -> str:
    """Return a value as JSON in the style of a text, which is a JSON object.

    The style is the indentation, the white space after colons and commas and at the end, and
    whether characters beyond ASCII are escaped.

    >>> write_like({"a": 0, "é": [1, 2]}, '{"é":0,"b":1}')
    '{"a":0,"é":[1,2]}'
    >>> write_like({"a": 0}, '{\\n "b": 1\\n}\\n')
    '{\\n "a": 0\\n}\\n'
    """
    escaped = text.isascii() and "\\u" in text
    ending = text[len(text.rstrip()) :]
    indent, item, colon = None, ",", ":"
    opening = _OPENING.match(text)
    if opening is not None and text[opening.end()] == '"':
        after_key = _COLON.match(text, _DECODER.raw_decode(text, opening.end())[1])
        assert after_key is not None, "the text is a valid JSON object"
        colon = after_key[0]
        comma = _COMMA.match(text, _DECODER.raw_decode(text, after_key.end())[1])
        if "\n" in opening[1]:
            indent = opening[1].rpartition("\n")[2]
        elif comma is not None:
            item = comma[0]
    written = json.dumps(value, ensure_ascii=escaped, indent=indent, separators=(item, colon))
    return written + ending


def tokenizer_json(
    adapted: Adapted, data: bytes, beside: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    """Return a tokenizer.json with the adapted vocabulary; `beside` are the adapted files with it.

    Raises `ConfigError` if it would encode differently.

    >>> import bpe_core as bpe
    >>> from bpe_core.formats import write_huggingface
    >>> from bpe_core.formats import loads
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> written = tokenizer_json(shrunk, write_huggingface(bpe.gpt2()))
    >>> loads({"tokenizer.json": written}) == shrunk.tokenizer
    True
    """
    described, mark, text = parse_text(data, "tokenizer.json")
    model = cast("dict[str, Any]", described["model"])
    ids = model["vocab"]
    model["vocab"] = build_vocabulary(adapted, ids)
    model["vocab"] |= unlisted(model["vocab"], adapted.tokenizer.special_tokens)
    if "merges" in model:
        listed = cast("list[Any]", model["merges"])
        pairs = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in listed]
        as_text = not listed or isinstance(listed[0], str)
        model["merges"] = [listed[place] for place in kept_merges(adapted, ids, cast("Any", pairs))]
        model["merges"] += [
            " ".join(pair) if as_text else list(pair) for pair in new_merges(adapted)
        ]
    new_id = renumbered(adapted, "tokenizer.json")
    for name, renumber in (
        ("added_tokens", _renumber_added),
        ("post_processor", _renumber_template),
        ("padding", _renumber_padding),
    ):
        if described.get(name) is None:
            continue
        try:
            renumber(described[name], new_id)
        except (TypeError, AttributeError, LookupError):  # a number, say, instead of an object
            raise FormatError(
                f"{name} in tokenizer.json does not have the form that Hugging Face's tokenizers "
                "write."
            ) from None
    written = write_like(described, text)
    read = read_merges({"tokenizer.json": written.encode(), **beside})
    check_same("tokenizer.json", is_equal=reads_as(read, adapted.tokenizer))
    return (mark + written).encode()


def _renumber_added(added: list[dict[str, Any]], new_id: Callable[[int], int]) -> None:
    for token in added:
        token["id"] = new_id(_checked(token["id"]))


def _renumber_padding(padding: dict[str, Any], new_id: Callable[[int], int]) -> None:
    if "pad_id" in padding:
        padding["pad_id"] = new_id(_checked(padding["pad_id"]))


def _renumber_template(processor: dict[str, Any], new_id: Callable[[int], int]) -> None:
    """Renumber the ids in a post-processor, and in those of a sequence."""
    for each in processor.get("processors", ()):
        _renumber_template(each, new_id)
    for name in ("sep", "cls"):
        if name in processor:
            processor[name][1] = new_id(_checked(processor[name][1]))
    # ByteLevel and others have none; a sequence may list them as null.
    special = cast("dict[str, dict[str, Any]]", processor.get("special_tokens") or {})
    for token in special.values():
        token["ids"] = [new_id(_checked(id)) for id in token["ids"]]


def _checked(id: object) -> int:
    """Return an id unchanged; raises TypeError for anything else."""
    if not is_token_id(id):
        raise TypeError
    return id


def tokenizer_config(adapted: Adapted, data: bytes) -> bytes:
    """Return a tokenizer_config.json with the keys of `added_tokens_decoder` renumbered.

    Raises `ConfigError` if it uses a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> tokenizer_config(shrunk, b'{"added_tokens_decoder": {"50256": {}}}')
    b'{"added_tokens_decoder": {"299": {}}}'
    """
    parsed, mark, text = parse_text(data, CONFIG)
    if "added_tokens_decoder" not in parsed:
        return data
    listed: object = parsed["added_tokens_decoder"]
    if not isinstance(listed, dict):
        raise FormatError(
            f"Expected an object of ids and added tokens as added_tokens_decoder in "
            f"{CONFIG}, got {type(listed).__name__}."
        )
    new_id = renumbered(adapted, CONFIG)
    decoder: dict[str, Any] = {}
    for key, token in cast("dict[str, Any]", listed).items():
        if not re.fullmatch("[0-9]{1,10}", key):
            raise FormatError(
                f"Expected ids as keys of added_tokens_decoder in {CONFIG}, got {key!r:.60}."
            )
        decoder[str(new_id(int(key)))] = token
    parsed["added_tokens_decoder"] = decoder
    return (mark + write_like(parsed, text)).encode()


def added_tokens_file(adapted: Adapted, data: bytes) -> bytes:
    """Return an added_tokens.json with its ids renumbered.

    Raises `ConfigError` if it uses a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> added_tokens_file(shrunk, b'{"<|endoftext|>": 50256}')
    b'{"<|endoftext|>": 299}'
    """
    parsed, mark, text = parse_text(data, ADDED_TOKENS)
    new_id = renumbered(adapted, ADDED_TOKENS)
    ids = {token: new_id(id) for token, id in checked_ids(parsed, ADDED_TOKENS).items()}
    return (mark + write_like(ids, text)).encode()
