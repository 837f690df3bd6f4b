"""Build the static site: `python -m static_site.build`, which `make site` runs.

Everything is written as plain files, which any host serves, and which work from a folder.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

import click
import streamlit
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rjsmin import jsmin

from bpe_core.kernels import build_wasm
from bpe_core.types import TrainingConfig
from bpe_core.views import join_modules, zip_to_text
from static_site.browser_patterns import browser_pattern
from static_site.engine_data import engine_data, packed_tokenizer
from static_site.recorded_lessons import DrawnLesson, DrawnPart, drawn_lessons
from static_site.recorded_runs import RECORDED, stored_run, train_recorded
from static_site.vocabularies import VOCABULARIES
from ui.components import (  # they fill PARTS
    MAX_SENTENCE_LENGTH,
    PARTS,
    Door,
    draw_rivals,  # noqa: F401
    game_data,
    live_text,  # noqa: F401
    merge_player,  # noqa: F401
    paste_limits,
    story_data,
    token_view,  # noqa: F401
    verdict,  # noqa: F401
)
from ui.corpus import MAX_TEXT_LENGTH_IN_ADDRESS
from ui.lessons import GAME
from ui.token_boundaries import EXAMPLES, FIRST_TEXT
from ui.train import CUTS, DIVISIONS, FIRST_SIZE, MAX_SIZE, MIN_FREQUENCY

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent
BROWSER: Final = HERE / "browser"
MAX_TEXT_LENGTH: Final = 1_000_000
"""UTF-16 units of a text whose tokens are shown."""
MAX_BYTES_PASTED: Final = 20_000_000
SPECIAL_TOKENS: Final = TrainingConfig().special_tokens
MIN_SIZE: Final = 256 + len(SPECIAL_TOKENS)
FONTS: Final = {
    "source-sans": "SourceSansVF-Upright",
    "source-serif": "SourceSerifVariable-Roman",
    "source-code": "SourceCodeVF-Upright",
}
SENTENCE: Final = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"
DOORS: Final = (
    Door(
        "Watch a whole text",
        "A story, a language: hundreds of merges, and why each pair won.",
        "merge-loop.html",
    ),
    Door(
        "What does GPT-2 do to it?",
        "Your sentence, cut with 50,000 merges.",
        "token-boundaries.html",
    ),
    Door("Lessons", "Short lessons that ask before they tell.", "lessons.html"),
)
LAST_DOORS: Final = (
    Door(
        "Watch a whole text",
        "Begin with one in your sentence’s language.",
        "merge-loop.html",
    ),
    Door(
        "Train on a text of yours",
        "Paste it or choose files: a tokenizer in seconds, in this tab.",
        "train.html",
    ),
    Door("Lessons", "They ask before they tell.", "lessons.html"),
)
_FULL_SCREEN: Final = DrawnPart(
    component="bpe.full_screen",
    data={
        "forward": ".step:not([hidden]) .next .primary",
        "back": ".step:not([hidden]) .next .button:not(.primary)",
        "scroller": "html",
    },
)
"""The last component of a lesson's page."""
WORKER: Final = "service-worker.js"
_STORED: Final = "self.STORED = "
_FOR_ALL: Final = ("script", "title", "lead", "kind", "heading")
"""What every template is given of its page."""
LATER: Final = (*(f"data/{each.id}.js" for each in VOCABULARIES if each.size), "docs/")
"""What is stored for use offline when it is first opened, not with the first page."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page: its file, what its template needs, and the script in `browser/` that it runs."""

    file: str
    template: str
    script: str
    title: str
    lead: str
    kind: str = "wide"
    heading: str = ""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site"),
    show_default=True,
)
@click.option("--app", default="", help="The address of an app to link to.")
def main(out: Path, app: str) -> None:
    """Build the static site into a folder, and keep the built documentation in its folder docs."""
    build(out, app=app)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    click.echo(f"{out}: {size / 1e6:.1f} MB, {first_use_size(out) / 1e6:.1f} MB of it at first")


def build(out: Path, *, app: str = "") -> None:
    """Build the site into a folder; an earlier site there is replaced once the new one is whole.

    The documentation, if it was built into the folder's `docs`, is kept and linked to.
    Raises `click.UsageError` if the folder holds anything else than a site, or if the app's
    address is not http or https.
    """
    parts = urlsplit(app)
    if app and not (parts.scheme in ("http", "https") and parts.netloc):
        raise click.UsageError(f"Expected the app's address with http or https, got {app!r}.")
    app = app.rstrip("/")
    found = {path.name for path in out.iterdir()} if out.exists() else set[str]()
    others = sorted(found - _names_in_site(out))
    if others:
        raise click.UsageError(
            f"{out} holds {others[0]!r}, which is not a part of the site. Name an empty folder."
        )
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.absolute().parent) as folder:
        site = Path(folder) / "site"
        _write_site(site, docs=out / "docs" if "docs" in found else None, app=app)
        if out.exists():
            shutil.rmtree(out)
        site.rename(out)


def _names_in_site(out: Path) -> set[str]:
    """Return what belongs to the site in this folder; without a site, the documentation only."""
    worker = out / WORKER
    line = worker.read_text("utf-8").partition("\n")[0] if worker.is_file() else ""
    if not line.startswith(_STORED):
        return {"docs"}
    files: list[str] = json.loads(line.removeprefix(_STORED).removesuffix(";"))["files"]
    return {"docs", WORKER, *(file.partition("/")[0] for file in files)}


def _write_site(out: Path, *, docs: Path | None, app: str) -> None:
    (out / "data").mkdir(parents=True)
    _write_data(out / "data")
    _copy_files(out)
    if docs is not None:
        shutil.copytree(docs, out / "docs")
    pages = _pages(drawn_lessons())
    for page in pages:
        (out / page.file).write_text(_html(page, app=app, has_docs=docs is not None), "utf-8")
    for script in {page.script for page in pages} | {"early", "story"}:
        (out / f"{script}.js").write_text(_script(BROWSER / f"{script}.js"), "utf-8")
    _write_worker(out)


def first_use_size(out: Path) -> int:
    """Return the bytes of everything that is stored at the first visit."""
    return sum((out / file).stat().st_size for file in _stored_at_first(out))


def data_script(name: str, messages: Sequence[bytes]) -> str:
    """Return a script that holds messages for `browser/stored_data.js`.

    >>> data_script("run", [b""])[:40]
    '(globalThis.storedData ??= {})["run"] = '
    """
    packed = json.dumps([zip_to_text(message) for message in messages])
    return f"(globalThis.storedData ??= {{}})[{json.dumps(name)}] = {packed};\n"


def _write_data(folder: Path) -> None:
    data = {each.id: [packed_tokenizer(each.open())] for each in VOCABULARIES}
    data["story"] = [json.dumps(story_data()).encode()]
    worker = _script(BROWSER / "engine_worker.js").encode()
    data["engine"] = [worker, build_wasm(), engine_data().encode()]
    data["gpt2-pattern"] = [browser_pattern("gpt2").encode()]
    for recorded in RECORDED:
        data[f"run-{recorded.id}"] = stored_run(recorded, train_recorded(recorded))
    for name, messages in data.items():
        (folder / f"{name}.js").write_text(data_script(name, messages), "utf-8")


def _copy_files(out: Path) -> None:
    tokens = (ROOT / "ui/components/shared/tokens.css").read_text("utf-8")
    palette = tokens[tokens.index(":host {") : tokens.index("\n}\n") + 3]
    sheet = palette.replace(":host", ":root", 1) + (HERE / "site.css").read_text("utf-8")
    (out / "site.css").write_text(sheet, "utf-8")
    shutil.copy(HERE / "fonts.css", out)
    shutil.copy(HERE / "train.css", out)
    shutil.copy(ROOT / "ui/data/favicon.png", out)
    shutil.copy(ROOT / "NOTICE.md", out / "NOTICE.txt")
    (out / "fonts").mkdir()
    media = Path(streamlit.__file__).parent / "static" / "static" / "media"
    for name, file in FONTS.items():
        (font,) = media.glob(f"{file}.*.woff2")
        shutil.copy(font, out / "fonts" / f"{name}.woff2")


def _pages(lessons: list[DrawnLesson]) -> list[SitePage]:
    return [
        SitePage(
            "index.html",
            "start.html",
            "start_page",
            "Start",
            "A token is a piece of text with a number. One rule learns them all: join the two "
            "neighbours that occur together most often, and repeat.",
            kind="narrow",
            heading="A language model reads tokens, not words",
            more={
                "data": {
                    "sentence": SENTENCE,
                    "longest": MAX_SENTENCE_LENGTH,
                    "doors": [asdict(door) for door in DOORS],
                    "last_doors": [asdict(door) for door in LAST_DOORS],
                }
            },
        ),
        SitePage(
            "train.html",
            "train.html",
            "train_page",
            "Train",
            "Join the most frequent pair of neighbours, and repeat. It all happens in this tab: "
            "nothing is sent.",
            more={
                "data": {
                    "amounts": [("Few pieces", 512), ("Balanced", 4_096), ("Long pieces", 16_384)],
                    "cuts": [(cut, DIVISIONS[name]) for cut, name in CUTS.items()],
                    "first": {
                        "vocabSize": FIRST_SIZE,
                        "cut": next(iter(CUTS)),
                        "minFrequency": MIN_FREQUENCY,
                    },
                    "least": MIN_SIZE,
                    "most": MAX_SIZE,
                    "special": SPECIAL_TOKENS,
                    "published": [
                        {"id": each.id, "name": each.name, "size": each.size}
                        for each in VOCABULARIES
                    ],
                }
            },
        ),
        SitePage(
            "merge-loop.html",
            "merge_loop.html",
            "merge_loop_page",
            "Merge loop",
            "Each merge fuses the two neighbouring symbols that occur together most often. "
            "Watch one happen, then let it run.",
            more={"runs": RECORDED},
        ),
        SitePage(
            "token-boundaries.html",
            "token_boundaries.html",
            "token_page",
            "Token boundaries",
            "Where is your text cut? Type it, then point at a piece.",
            more={
                "examples": EXAMPLES,
                "data": {
                    "text": FIRST_TEXT,
                    "max_length": MAX_TEXT_LENGTH,
                    "limits": paste_limits(max_bytes=MAX_BYTES_PASTED, max_sent=MAX_TEXT_LENGTH),
                    "max_in_address": MAX_TEXT_LENGTH_IN_ADDRESS,
                    "choices": [
                        {"id": each.id, "name": each.name, "code": each.code}
                        for each in VOCABULARIES
                    ],
                },
            },
        ),
        SitePage(
            "lessons.html",
            "lessons.html",
            "plain_page",
            "Lessons",
            "Guess first, then see it.",
            kind="reading",
            more={"lessons": lessons, "game": _GAME},
        ),
        _GAME,
        *_lesson_pages(lessons),
        SitePage(
            "app.html",
            "app.html",
            "app_page",
            "The app",
            "These pages are a part of BPE Explorer. The whole of it runs on your computer.",
            kind="reading",
        ),
    ]


_GAME: Final = SitePage(
    "you-against-bpe.html",
    "game.html",
    "game_page",
    GAME,
    "Whose list of merges leaves fewer tokens?",
    more={"data": {"lesson": GAME, **game_data()}},
)


def _lesson_pages(lessons: list[DrawnLesson]) -> Iterator[SitePage]:
    for number, lesson in enumerate(lessons, 1):
        drawn = [*(part for part in lesson.parts() if part.component), _FULL_SCREEN]
        yield SitePage(
            f"{lesson.slug}.html",
            "lesson.html",
            "lesson_page",
            lesson.title,
            lesson.lead,
            kind="reading",
            more={
                "lesson": lesson,
                "following": next(iter(lessons[number:]), None),
                "names": sorted({part.component for part in drawn}),
                "data": {
                    "lesson": lesson.title,
                    "number": number,
                    "steps": [step.name for step in lesson.steps],
                    "data": [part.data for part in drawn],
                },
            },
        )


def _html(page: SitePage, *, app: str, has_docs: bool) -> str:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined
    )
    navigation = [
        ("index.html", "Start"),
        ("lessons.html", "Lessons"),
        ("train.html", "Train"),
        ("merge-loop.html", "Merge loop"),
        ("token-boundaries.html", "Token boundaries"),
    ]
    if has_docs:
        navigation.append(("docs/index.html", "Documentation"))
    navigation.append(("app.html", "The app"))
    return environment.get_template(page.template).render(
        app=app,
        navigation=navigation,
        current="lessons.html" if page.template in ("lesson.html", "game.html") else page.file,
        parts=PARTS,
        **{name: getattr(page, name) for name in _FOR_ALL},
        **page.more,
    )


def _script(entry: Path) -> str:
    """Return a module with all that it imports as one script, which needs no server to load.

    Comments and indentation are removed: they are half of what a phone would have to fetch.
    """
    return jsmin(f'(() => {{\n"use strict";\n{join_modules(entry)}}})();\n')


def _stored_at_first(out: Path) -> list[str]:
    files = (path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return sorted(file for file in files if not file.startswith(LATER) and file != WORKER)


def _write_worker(out: Path) -> None:
    """Write the service worker last: its version depends on every other file."""
    files = _stored_at_first(out)
    version = hashlib.sha256()
    for path in sorted(out.rglob("*")):
        if path.is_file():
            version.update(path.relative_to(out).as_posix().encode() + path.read_bytes())
    stored = json.dumps({"version": version.hexdigest()[:16], "files": ["./", *files]})
    script = _script(BROWSER / "service_worker.js")
    (out / WORKER).write_text(f"{_STORED}{stored};\n{script}", "utf-8")


if __name__ == "__main__":
    main()
