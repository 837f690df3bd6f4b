"""Collect real text to measure on: from any Python installation, or from your own folder."""

from __future__ import annotations

import os
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bpe_core.corpus import Corpus

_CJK = ("zh", "ja", "ko")
_SHARES = (("english", 0.15), ("catalogues", 0.25), ("code", 0.6))


class Sample(NamedTuple):
    """Documents, and where they come from."""

    documents: list[str]
    taken: str

    @property
    def text(self) -> str:
        """All documents joined."""
        return "".join(self.documents)

    @property
    def n_bytes(self) -> int:
        """The size in UTF-8."""
        return sum(len(document.encode()) for document in self.documents)


def mixed(n_bytes: int, folder: Path | None = None) -> Sample:
    """Return about `n_bytes` of English, message catalogues in all languages, and code, or less.

    With a folder, return its files in order of name.
    """
    if folder is not None:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        documents = _up_to(n_bytes, _texts(files))
        return Sample(documents, f"{len(documents):,} files of the folder {folder.name}")
    kinds = {"english": english, "catalogues": catalogues, "code": code}
    documents: list[str] = []
    parts: list[str] = []
    for kind, share in _SHARES:
        # Code makes up for what the other kinds lack.
        room = n_bytes - sum(len(d.encode()) for d in documents)
        sample = kinds[kind](room if kind == "code" else int(share * n_bytes))
        documents += sample.documents
        parts.append(f"{sample.n_bytes / 1e6:.1f} MB of {sample.taken}")
    return Sample(documents, "; ".join(parts))


def english(n_bytes: int) -> Sample:
    """Return Python's language reference and the documentation of installed packages."""
    from pydoc_data.topics import topics  # pyright: ignore[reportAttributeAccessIssue]

    def texts() -> Iterator[str]:
        yield from topics.values()
        yield from _texts(_files(".rst", ".md", ".txt", "METADATA"))

    taken = "English (pydoc_data, and the documentation of installed packages)"
    return Sample(_up_to(n_bytes, texts()), taken)


def code(n_bytes: int) -> Sample:
    """Return the source of Python's library and of installed packages."""

    def texts() -> Iterator[str]:
        yield from _texts(_files(".py"))
        yield from _texts(_files(".pyi", ".js", ".h"))  # for the largest samples

    taken = "code (Python's library and installed packages)"
    return Sample(_up_to(n_bytes, texts()), taken)


def catalogues(n_bytes: int, languages: tuple[str, ...] | None = None) -> Sample:
    """Return translated messages of installed programs, in some languages or in all in turn."""
    by_language = _catalogues_by_language(languages)
    in_turn = (
        paths[i]
        for i in range(max(map(len, by_language.values()), default=0))
        for paths in by_language.values()
        if i < len(paths)
    )
    documents = _up_to(n_bytes, filter(None, map(_messages, in_turn)))
    names = f"{len(by_language)} languages" if languages is None else ", ".join(languages)
    return Sample(documents, f"message catalogues of installed programs ({names})")


def languages(n_bytes: int) -> dict[str, Corpus]:
    """Return messages in twelve languages, at most `n_bytes` of each."""
    wanted = ("ar", "de", "es", "fr", "ja", "ko", "pl", "ru", "tr", "uk", "vi", "zh")
    return {
        language: Corpus.from_documents(_up_to(n_bytes, filter(None, map(_messages, paths))))
        for language, paths in sorted(_catalogues_by_language(wanted).items())
    }


def cjk(n_bytes: int) -> Sample:
    """Return Chinese, Japanese and Korean messages of installed programs."""
    return catalogues(n_bytes, _CJK)


def degenerate(n_bytes: int) -> dict[str, str]:
    """Return texts of `n_bytes` on which some algorithms are very slow."""
    noise = bytes((i * i * 2654435761 >> 13) & 0xFF for i in range(n_bytes))
    return {
        "a": "a" * n_bytes,
        "spaces": " " * n_bytes,
        "digits": "1234567890" * (n_bytes // 10),
        "one emoji": "🧩" * (n_bytes // 4),
        "ab": "ab" * (n_bytes // 2),
        "random bytes as text": noise.decode("latin-1")[: n_bytes * 2 // 3],
    }


def one_line(sample: Sample) -> str:
    """Return a sample as a single line, with spaces for line breaks and tabs."""
    return sample.text.replace("\r", " ").replace("\n", " ").replace("\t", " ")


def _up_to(n_bytes: int, texts: Iterable[str]) -> list[str]:
    documents: list[str] = []
    left = n_bytes
    for text in texts:
        data = text.encode()
        documents.append(text if len(data) <= left else data[:left].decode(errors="ignore"))
        left -= len(data)
        if left <= 0:
            break
    return documents


def _texts(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        try:
            text = path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
        if text and "\0" not in text:
            yield text


@cache
def _all_files() -> tuple[Path, ...]:
    roots = {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")}
    found: list[Path] = []
    for root in sorted(roots, key=lambda root: (not root.startswith(sys.base_prefix), root)):
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            found += [Path(folder, name) for name in sorted(names)]
    return tuple(found)


def _files(*endings: str) -> Iterator[Path]:
    return (path for path in _all_files() if path.name.endswith(endings))


def _catalogues_by_language(languages: tuple[str, ...] | None) -> dict[str, list[Path]]:
    by_language: dict[str, list[Path]] = {}
    for path in _catalogue_files():
        language = path.parent.parent.name.split("_")[0].split(".")[0].split("@")[0]
        if language not in ("en", "C") and (languages is None or language in languages):
            by_language.setdefault(language, []).append(path)
    return by_language


@cache
def _catalogue_files() -> tuple[Path, ...]:
    roots = [Path("/usr/share"), Path("/usr/local/share"), Path(sys.prefix)]
    return tuple(sorted(path for root in roots if root.exists() for path in root.rglob("*.mo")))


def _messages(path: Path) -> str:
    """Return the translations in a .mo file (format: the gettext manual)."""
    data = path.read_bytes()
    if len(data) < 28:
        return ""
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    n, _, offset = struct.unpack_from(f"{order}3I", data, 8)
    lines: list[str] = []
    for i in range(1, n):  # the first is a header
        length, start = struct.unpack_from(f"{order}2I", data, offset + 8 * i)
        try:
            lines += data[start : start + length].decode().split("\0")
        except UnicodeDecodeError:
            return ""
    return "\n".join(lines)
