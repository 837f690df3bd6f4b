"""Write the table of docs/adapt.md: published tokenizers extended for four kinds of text.

`python -m scripts.adapt_table` needs the tokenizers of `scripts.get_tokenizers`, and `apt-get` and
`dpkg-deb` of a Debian whose package lists have `libreoffice-help-de` and `-hi`; the log is the
machine's own /var/log/dpkg.log. Only the held-out tenth of each text is measured: whole pages and
source files, and the two ends of the log.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from bpe_core.adapting import extend
from bpe_core.corpus import Corpus
from bpe_core.formats import VARIABLE, BaseFiles
from scripts.get_tokenizers import FOLDER

DOCUMENT = Path(__file__).parents[1] / "docs" / "adapt.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"
BASES = {"gpt2": "GPT-2", "llama3": "Llama 3", "qwen2": "Qwen 2"}
N_TOKENS = (1_000, 5_000)
MAX_CHARACTERS = 4_000_000
HELD_OUT = 0.1


def main() -> None:
    """Measure and write."""
    os.environ[VARIABLE] = str(FOLDER)
    texts = {
        "German": read_libreoffice_help("de"),
        "Hindi": read_libreoffice_help("hi", re.compile("[\u0900-\u097f]")),
        "Python": standard_library(),
        "A log": {"dpkg.log": Path("/var/log/dpkg.log").read_text()},
    }
    heads = [f"{BASES[base]} +{n:,}" for base in BASES for n in N_TOKENS]
    lines = [
        f"| Text | Size | {' | '.join(heads)} |",
        f"|---|--:|{'--:|' * len(heads)}",
    ]
    for name, given in texts.items():
        kept = beginning(given)
        corpus = Corpus.from_documents(kept.values(), list(kept))
        training, held_out = corpus.split(HELD_OUT)
        cells = [name, f"{corpus.n_bytes / 1e6:.1f} MB"]
        for base in BASES:
            run = extend(BaseFiles.open(base).tokenizer, training, max(N_TOKENS))
            curve = run.tokens_after_on(held_out)
            for n in N_TOKENS:
                learned = min(n, len(curve) - 1)
                saved = 100 * (1 - curve[learned] / curve[0])
                note = "" if learned == n else f" (at {learned:,})"
                cells.append(f"−{saved:.1f} %{note}")
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    table = "\n".join(lines) + "\n"
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def beginning(texts: dict[str, str]) -> dict[str, str]:
    """Return the first texts, of 4 million characters in all."""
    kept: dict[str, str] = {}
    n_left = MAX_CHARACTERS
    for name, text in texts.items():
        if text[:n_left]:
            kept[name] = text[:n_left]
            n_left -= len(kept[name])
    return kept


def read_libreoffice_help(language: str, wanted: re.Pattern[str] | None = None) -> dict[str, str]:
    """Return the paragraphs of LibreOffice's help in a language, by page, each paragraph once."""
    package = f"libreoffice-help-{language}"
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["apt-get", "download", package], cwd=folder, check=True, capture_output=True
        )
        (archive,) = Path(folder).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
        pages: dict[str, str] = {}
        for page in sorted(Path(folder).rglob("*.html")):
            found = dict.fromkeys(paragraphs(page.read_text(encoding="utf-8")))
            new = [each for each in found if each not in seen]
            seen.update(new)
            name = str(page.relative_to(folder))
            pages[name] = "".join(each for each in new if not wanted or wanted.search(each))
        return pages


def paragraphs(page: str) -> list[str]:
    """Return the paragraphs and headings of an HTML page, as lines of text."""
    found = re.findall(r"(?s)<(?:p|h[1-6])\b[^>]*>(.*?)</(?:p|h[1-6])>", page)
    lines = [" ".join(html.unescape(re.sub("<[^>]*>", "", each)).split()) for each in found]
    return [f"{line}\n" for line in lines if line]


def standard_library() -> dict[str, str]:
    """Return the source files of Python's standard library, without its tests."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(folder.rglob("*.py"))
    skipped = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3"}
    kept = [file for file in files if not skipped & set(file.relative_to(folder).parts)]
    return {str(file): file.read_text(encoding="utf-8", errors="replace") for file in kept}


if __name__ == "__main__":
    main()
