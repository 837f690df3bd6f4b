"""Write the table of docs/held-out.md: what held-out text says, and what is true of new folders.

`python -m scripts.measure_held_out` needs Llama 3's tokenizer (`bpe fetch llama3`) and measures on
text of this machine: C headers, Python's packages and library, and message catalogues. A seventh
of each is set aside first, in whole folders; no training sees it, and it tells the truth.
"""

from __future__ import annotations

import gettext
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from bpe_core.comparison import Newness, TextPart, compare
from bpe_core.corpus import Corpus, rest, sample_spans
from bpe_core.formats import open_encoder
from bpe_core.tokenizer import NamedEncoder
from bpe_core.trainers import train
from bpe_core.types import TrainingConfig

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "held-out.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"
MAX_CHARACTERS: Final = 40_000_000
SET_ASIDE: Final = 1 / 7
SHARE: Final = 0.08
SEEDS: Final = range(3)
CONFIG: Final = TrainingConfig(32_000, pretokenizer="cl100k")
WAYS: Final = ("lines", "document", "folder", None)
Texts = Iterator[tuple[str, str]]


def main() -> None:
    """Measure and write."""
    llama = open_encoder("llama3")
    corpora = {
        "C headers": files(Path("/usr/include"), ".h"),
        "Python packages": files(Path(sysconfig.get_path("purelib")), ".py"),
        "Python's library": files(Path(sysconfig.get_path("stdlib")), ".py", "site-packages"),
        "Message catalogues": catalogues(Path("/usr/share/locale")),
    }
    lines = [
        "| Text | Held out | Said, three splits | True of new folders | New words |",
        "|---|---|---|---|--:|",
    ]
    for title, texts in corpora.items():
        corpus, new = limited(texts).split(SET_ASIDE, 99)
        for way in WAYS:
            said: list[str] = []
            true: list[str] = []
            shares: list[float] = []
            for seed in SEEDS:
                training, held_out = (
                    lines_apart(corpus, seed) if way == "lines" else corpus.split(SHARE, seed, way)
                )
                part, truth, unseen = judge(training, held_out, new, llama)
                said.append(f"{signed(part.percent_fewer)} {interval(part)}".rstrip())
                true.append(signed(truth))
                shares.append(unseen)
            name = f"{title}, {corpus.n_bytes / 1e6:.0f} MB, {corpus.n_sources:,} documents"
            told = "by default" if way is None else f"by {way}".replace("by lines", "lines")
            cells = [name if way == WAYS[0] else "", told]
            cells += ["; ".join(said), "; ".join(true), f"{sum(shares) / len(shares):.1%}"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    before, _, after = DOCUMENT.read_text("utf-8").partition(BEGIN)
    table = "\n".join(lines) + "\n"
    DOCUMENT.write_text(f"{before}{BEGIN}{table}{END}{after.partition(END)[2]}", "utf-8")


def judge(
    training: Corpus, held_out: Corpus, new: Corpus, other: NamedEncoder
) -> tuple[TextPart, float, float]:
    """Return the figure on held-out text, the true one, and the share of held-out words unseen."""
    run = train(training, CONFIG)
    part = compare(held_out, [run.tokenizer, other]).gain().whole
    truth = compare(new, [run.tokenizer, other]).verdict().percent_fewer_tokens
    newness = Newness.measure(run.pretokens, held_out, CONFIG.pretokenizer)
    return part, truth, newness.unseen


def lines_apart(corpus: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """Hold out blocks of lines all over the documents, each of which training sees the rest of."""
    spans = sample_spans(corpus.documents, corpus.names, SHARE, seed)
    sides = [
        [rest(len(text), cut) for text, cut in zip(corpus.documents, spans, strict=True)],
        spans,
    ]
    training, held_out = (
        Corpus.from_documents(
            [text[a:b] for text, cut in zip(corpus.documents, side, strict=True) for a, b in cut]
        )
        for side in sides
    )
    return training, held_out


def files(folder: Path, ending: str, left_out: str = " ") -> Texts:
    """Yield the names and texts of all files with an ending."""
    for path in sorted(folder.rglob(f"*{ending}")):
        if left_out not in path.parts and path.is_file():
            yield str(path.relative_to(folder)), path.read_text("utf-8", "replace")


def catalogues(folder: Path) -> Texts:
    """Yield the translations of each package and language."""
    for path in sorted(folder.rglob("*.mo")):
        # Some are not well-formed, or in an encoding that they do not name.
        with path.open("rb") as file, suppress(ValueError, LookupError):
            yield f"{path.stem}/{path.parts[-3]}.po", translations(file)


def translations(file: BinaryIO) -> str:
    """Return the translated messages of a catalogue, a line each."""
    messages = getattr(gettext.GNUTranslations(file), "_catalog")  # noqa: B009 - private
    return "\n".join(text for key, text in messages.items() if key and isinstance(text, str))


def limited(texts: Texts) -> Corpus:
    """Return the texts up to `MAX_CHARACTERS`, evenly from all folders."""
    found = list(texts)
    step = max(1, -(-sum(len(text) for _, text in found) // MAX_CHARACTERS))
    folders = sorted({name.rpartition("/")[0] for name, _ in found})[::step]
    chosen = [(name, text) for name, text in found if name.rpartition("/")[0] in set(folders)]
    names, documents = zip(*chosen, strict=True)
    return Corpus.from_documents(documents, names)


def interval(part: TextPart) -> str:
    """Return an interval in parentheses; empty if there is none."""
    ends = sorted((part.low, part.high))
    return f"({signed(ends[0])} to {signed(ends[1])})" if part.has_interval else ""


def signed(percent_fewer: float) -> str:
    """Return a percentage of fewer tokens, negative for more."""
    return f"{percent_fewer:.1f}".replace("-", "−")


if __name__ == "__main__":
    main()
