"""Fetch the published tokenizers into .venv/tokenizers, for the tests.

Also takes from llama.cpp's archive its other vocabularies, with the texts and ids that each model's
own tokenizer gives (`.inp` and `.out`). Only packages are asked, never the hub. Does nothing if all
are there: `python -m scripts.get_tokenizers`.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from pathlib import Path

from bpe_core.files.whole_files import make_folder, write_whole
from bpe_core.published.cache import VARIABLE, cached_state
from bpe_core.published.catalogue import CATALOGUE
from bpe_core.published.fetch import keep_from, packages_for
from bpe_core.published.package_download import download
from bpe_core.published.packages import LLAMA_CPP

FOLDER = Path(__file__).parents[1] / ".venv" / "tokenizers"
VOCABULARIES = FOLDER / "llama.cpp"
FINISHED = VOCABULARIES / LLAMA_CPP.version
"""Exists once all vocabularies of this version are there."""


def main() -> None:
    """Download what is missing."""
    os.environ[VARIABLE] = str(FOLDER)
    to_fetch = packages_for(each for each in CATALOGUE.values() if cached_state(each) == "missing")
    if not FINISHED.exists():
        to_fetch.setdefault(LLAMA_CPP, [])
    for package, carried in to_fetch.items():
        print(f"Getting {package.name} {package.version}, {package.n_bytes / 1e6:.0f} MB")
        with tempfile.TemporaryDirectory() as folder:
            archive = download(package, Path(folder))
            keep_from(archive, carried)
            if package == LLAMA_CPP:
                _take_vocabularies(archive)


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
