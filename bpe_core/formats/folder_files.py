"""A tokenizer's files by their names: which to read of a folder or a zip, and what to write.

Next to a tokenizer's file may be a note on what it was trained on, which few formats can hold. It
belongs to one file, whose hash it has: after that file was replaced by another tokenizer, the note
counts for nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from bpe_core.corpus import TRAINED_ON_ENDING, is_zip
from bpe_core.errors import BpeError, ConfigError, FormatError, MissingFileError, explain
from bpe_core.files import ARCHIVE_DAMAGE
from bpe_core.formats.gguf.gguf_header import looks_like_gguf, mapped, without_tensors
from bpe_core.formats.published.hub_names import PAIR, SIDECARS, TEMPLATES, HubName, is_sidecar
from bpe_core.types import ENDINGS, Format

if TYPE_CHECKING:
    from bpe_core.corpus import TrainedOn

PAIRS: Final = (PAIR, ("encoder.json", "vocab.bpe"))
"""The two pairs of names in use for GPT-2's vocabulary and its merges."""
CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, MODEL_CONFIG, CHAT_TEMPLATE = SIDECARS
JSON_SIDECARS: Final = (CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, MODEL_CONFIG)
"""The files next to a vocabulary that add tokens to it."""
OLD_IDS, PARTS, ROWS = ROW_FILES = ("old_ids.npy", "parts.npy", "embedding_rows.json")
"""The files next to an adapted tokenizer with the old ids that its rows start from."""
_SETS: Final = (
    ("tokenizer.bpe.json",),
    ("tokenizer.json",),  # before GPT-2's two files, as in transformers: they contain less
    *PAIRS,
    ("tokenizer.tiktoken",),
    ("tokenizer.gguf",),
    ("tekken.json",),
    ("tokenizer.model",),
)
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
DEFAULT: Final[Format] = "huggingface"
TOKENIZER_FILES: Final = tuple(name for names in _SETS for name in names)
"""The names of files that are read as a folder's tokenizer."""
MAX_BYTES: Final = 128_000_000
"""The largest file read; the largest tokenizers in use are a third of it."""
_MAX_UNPACKED: Final = 256_000_000
"""The limit for the files taken from a zip, in all."""
_MAX_MEMBERS: Final = 10_000
NOTE_FORMAT: Final = "bpe-explorer-training"
_NOTE_VERSION: Final = 1
_NATIVE_START: Final = b'{"format": "bpe-explorer-tokenizer"'
_RECORD: Final = b', "training": {'


def choose_files(names: Sequence[str], where: str) -> list[str]:
    """Return the names of a tokenizer's files: the first complete set of the table above.

    If there is none, it is the only file with the ending of a format. Raises `FormatError` if
    there is no tokenizer or more than one.

    >>> choose_files(["merges.txt", "tokenizer.json", "vocab.json"], "The folder")
    ['tokenizer.json']
    """
    for wanted in _SETS:
        if all(name in names for name in wanted):
            if any(names.count(name) > 1 for name in wanted):
                raise FormatError(f"{where} has several {wanted[0]} files. Choose one tokenizer.")
            return [*wanted]
    for pair in PAIRS:
        missing = [name for name in pair if name not in names]
        if len(missing) == 1:
            (found,) = set(pair) - set(missing)
            raise FormatError(f"{where} has {found} but not {missing[0]}. Add it.")
    for ending in ENDINGS.values():
        found = [name for name in names if name.endswith(ending) and not _is_beside(name)]
        if len(found) > 1:
            raise FormatError(f"{where} has several {ending} files. Choose one tokenizer.")
        if found:
            return found
    raise FormatError(f"{where} has no tokenizer file, such as tokenizer.json.")


def _is_beside(name: str) -> bool:
    """Return True for a file next to a tokenizer's own."""
    return is_sidecar(name) or name == ROWS or name.endswith(TRAINED_ON_ENDING)


def locate(path_or_name: str | os.PathLike[str]) -> tuple[Path, HubName | None]:
    """Return a path as it is; for hf:org/model, the folder of its files, and its commit.

    A model that the cache of the hub's client does not have is fetched. Raises what `find_or_fetch`
    raises.

    >>> locate("mine/tokenizer.json")
    (PosixPath('mine/tokenizer.json'), None)
    """
    if not HubName.fits(path_or_name):
        return Path(path_or_name), None
    # Imported when needed: other names and files need no process that downloads.
    from bpe_core.formats.published.hub import find_or_fetch

    model = find_or_fetch(str(path_or_name))
    return model.folder(), model


def read_files_at(path: Path, name: str = "") -> dict[str, bytes]:
    """Return the files of the tokenizer at a path, as file name -> bytes.

    In a folder, and next to GPT-2's two files, they include those that `is_sidecar` knows. A
    GGUF file is read without its tensors. Of a file that is too large only the first bytes are
    read. Raises `FormatError` for a folder without a tokenizer and for what cannot be read, and
    `MissingFileError` for a path that does not exist; errors call it by its `name`, if it has one.
    """
    name = name or str(path)
    try:
        return {_name_in_folder(each): _read(each) for each in _list_files(path)}
    except BpeError:
        raise
    except ValueError:
        raise FormatError(
            f"{name!r} is not a path: it contains a NUL or a lone surrogate."
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"{name} does not exist. Check the path.") from None
    except OSError as error:
        raise FormatError(f"{name} cannot be read: {explain(error)}") from None


@contextmanager
def naming(path: str | os.PathLike[str]) -> Generator[None]:
    """Put a path in front of an error about its files that does not begin with a name.

    >>> with naming("mine/tokenizer.json"):
    ...     raise FormatError("The model has no list of merges.")
    Traceback (most recent call last):
    bpe_core.errors.FormatError: mine/tokenizer.json: The model has no list of merges.
    """
    try:
        yield
    except FormatError as error:
        if str(error).lstrip("'").startswith((os.fspath(path), Path(path).name)):
            raise
        raise type(error)(f"{os.fspath(path)}: {error}") from error


def _list_files(path: Path) -> list[Path]:
    folder, names = path.parent, [path.name]
    if path.is_dir():
        folder = path
        listed = sorted(file.name for file in path.iterdir() if file.is_file())
        names = choose_files(listed, f"The folder {path}")
    for pair in PAIRS:
        if path.name in pair and all((folder / name).is_file() for name in pair):
            names = [*pair]
    if path.is_dir() or len(names) > 1:
        further = sorted((folder / TEMPLATES).glob("*.jinja"))
        names += [name for name in SIDECARS if (folder / name).is_file()]
        names += [_name_in_folder(file) for file in further if file.is_file()]
    return [folder / name for name in names]


def _name_in_folder(path: Path) -> str:
    further = TEMPLATES + path.name
    return (
        further if path.parent.name == TEMPLATES.strip("/") and is_sidecar(further) else path.name
    )


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        first = file.read(4)
        if not looks_like_gguf(first):  # it may be a pipe, which cannot be read again
            return first + file.read(MAX_BYTES + 1 - len(first))
    with mapped(path) as view:
        return without_tensors(view)


def unpacked(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the files of the tokenizer in a zip, if that is the only file, or else the files.

    The files that transformers keeps next to it are included if they are in its folder. Other names
    keep no folders, so none becomes a path. Raises `FormatError` for a damaged or encrypted zip,
    for one without a tokenizer or with several, and for files that are too large unpacked.

    >>> buffer = io.BytesIO()
    >>> with zipfile.ZipFile(buffer, "w") as archive:
    ...     archive.writestr("mine/tokenizer.json", "{}")
    ...     archive.writestr("mine/config.json", "{}")
    >>> unpacked({"mine.zip": buffer.getvalue()})
    {'tokenizer.json': b'{}', 'config.json': b'{}'}
    """
    if len(files) != 1 or not all(map(is_zip, files.values())):
        return files
    ((name, data),) = files.items()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > _MAX_MEMBERS:
                raise FormatError(f"{name} has {len(members):,} files. Add one tokenizer only.")
            names = choose_files([_base(each) for each in members], name)
            chosen = [each for each in members if _base(each) in names]
            folder = chosen[0].filename.removesuffix(_base(chosen[0]))
            found = {_base(each): each for each in chosen}
            for each in members:
                inside = each.filename.removeprefix(folder)
                if each.filename.startswith(folder) and is_sidecar(inside) and each not in chosen:
                    found[inside] = each
            return _read_all(archive, found)
    except FormatError:
        raise
    except ARCHIVE_DAMAGE:
        raise FormatError(f"{name} is a zip that is damaged, incomplete or encrypted.") from None


def _read_all(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = _MAX_UNPACKED
    for name, member in members.items():
        with archive.open(member) as file:
            # The size that a zip announces may lie.
            data = files[name] = file.read(left + 1)
        left -= len(data)
        if left < 0:
            raise FormatError(
                f"With {_base(member)} the tokenizer has more than {_MAX_UNPACKED:,} bytes "
                "unpacked, too many."
            )
    return files


def _base(member: zipfile.ZipInfo) -> str:
    return member.filename.replace("\\", "/").rpartition("/")[2]


class Choice(NamedTuple):
    """The format to write."""

    format: Format
    note: str | None
    """What to tell the user if the format does not fit the name."""


def choose_format(path: str | os.PathLike[str], format: Format | None = None) -> Choice:
    """Return `format`, or else the format that the path's name says, or else Hugging Face's.

    Raises `ConfigError` for an unknown format, and for the name of one of GPT-2's two files.

    >>> choose_format("mine.tiktoken").format, choose_format("mine").format
    ('tiktoken', 'huggingface')
    >>> choose_format("mine.tiktoken", "gguf").note
    'mine.tiktoken is written in the format gguf, although its name says tiktoken.'
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"Unknown format {format!r}. Use one of {', '.join(FORMATS)}.")
    name, named = Path(path).name, format_by_name(path)
    if any(name in pair for pair in PAIRS) and named != "transformers" and format in (None, "gpt2"):
        raise ConfigError(
            f"{name} is one of two files of the format gpt2. Name their folder, and the format."
        )
    if format is None:
        ending = Path(path).suffix
        note = None
        if named is None and ending[1:2].isalpha():
            note = f"No format is written as {ending}: {name} is written in the format {DEFAULT}."
        return Choice(named or DEFAULT, note)
    is_other_json = format == "native" and named == "huggingface" and name != "tokenizer.json"
    if is_other_json or named in (None, "transformers", format):
        return Choice(format, None)
    return Choice(
        format, f"{name} is written in the format {format}, although its name says {named}."
    )


def format_by_name(path: str | os.PathLike[str]) -> Format | None:
    """Return the format that a path's name says, or None; a folder is one for transformers.

    >>> format_by_name("a/tokenizer.json"), format_by_name("a/"), format_by_name("a/run.zip")
    ('huggingface', 'transformers', None)
    """
    if is_folder(path):
        return "transformers"
    name = Path(path).name.lower()
    return next((format for format, end in ENDINGS.items() if name.endswith(end)), None)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return True if there is a folder at a path, or the path ends as that of a folder does.

    >>> is_folder("missing/"), is_folder("missing")
    (True, False)
    """
    return os.fspath(path).endswith(os.sep) or Path(path).is_dir()


def places_for(names: Iterable[str], path: str | os.PathLike[str]) -> list[Path]:
    """Return where a tokenizer's files are written: `path` itself, or files in the folder `path`.

    >>> places_for(["vocab.json", "merges.txt"], "new")
    [PosixPath('new/vocab.json'), PosixPath('new/merges.txt')]
    """
    target, names = Path(path), [*names]
    if len(names) == 1 and not is_folder(path):
        return [target]
    return [target / name for name in names]


def left_behind(names: Collection[str], out: str) -> list[str]:
    """Return the files in the folder `out` that would belong to another tokenizer than new ones.

    `names` are those of the new files.

    >>> left_behind(["tokenizer.json"], "missing/")
    []
    """
    known = (*TOKENIZER_FILES, ADDED_TOKENS, *ROW_FILES)
    return [name for name in known if name not in names and Path(out, name).exists()]


def note_place(names: Iterable[str], out: str) -> Path:
    """Return where the note on a tokenizer is, once its files of these names are written to `out`.

    >>> note_place(["tokenizer_config.json", "tokenizer.json"], "mine").as_posix()
    'mine/tokenizer.training.json'
    """
    places = places_for(names, out)
    name = choose_files([place.name for place in places], out)[0] if len(places) > 1 else ""
    return _note_on(next((place for place in places if place.name == name), places[0]))


def _note_on(file: Path) -> Path:
    """Return where the note on a tokenizer's file is.

    >>> _note_on(Path("mine.bpe.json")).name
    'mine.bpe.training.json'
    """
    return file.with_name(f"{file.name.removesuffix('.json')}{TRAINED_ON_ENDING}")


def note_for(path: Path, trained_on: TrainedOn) -> tuple[Path, bytes]:
    """Return the place and the contents of the note for the tokenizer that was written to a path.

    Raises what `read_files_at` raises.
    """
    name, data = next(iter(read_files_at(path).items()))
    file = (path if path.is_dir() else path.parent) / name
    note = {
        "format": NOTE_FORMAT,
        "version": _NOTE_VERSION,
        "file_sha256": hashlib.sha256(data).hexdigest(),
        **trained_on.to_dict(),
    }
    return _note_on(file), json.dumps(note).encode()


def read_note(path: Path, files: Mapping[str, bytes]) -> TrainedOn | None:
    """Return what the tokenizer at a path was trained on, or None if that is not known.

    `files` are its files, as `read_files_at` returns them. This package's own format has a record
    of the training; the note of a file has more.
    """
    name, data = next(iter(files.items()))
    file = (path if path.is_dir() else path.parent) / name
    with suppress(FormatError, OSError, ValueError):
        match json.loads(_note_on(file).read_bytes()):
            case {"format": "bpe-explorer-training", "version": 1, "file_sha256": sha256, **record}:
                if sha256 == hashlib.sha256(data).hexdigest():
                    return _to_trained_on(record)
            case _:
                pass
    if not data.startswith(_NATIVE_START) or (at := data.rfind(_RECORD)) < 0:
        return None
    with suppress(FormatError, ValueError):
        # Only the record at the end, because parsing all of a large file takes long.
        record: Any = json.JSONDecoder().raw_decode(data[at + len(_RECORD) - 1 :].decode())[0]
        return _to_trained_on(record)
    return None


def _to_trained_on(record: Mapping[str, Any]) -> TrainedOn:
    # Most tokenizers have no record, and opening them does not need corpora.
    from bpe_core.corpus import TrainedOn

    return TrainedOn.from_dict(record)


def find_note(path: Path) -> TrainedOn | None:
    """Return what the tokenizer at a path was trained on, or None if that is not known."""
    with suppress(FormatError, MissingFileError):
        return read_note(path, read_files_at(path))
    return None
