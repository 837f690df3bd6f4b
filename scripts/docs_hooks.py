"""Build the project's own documents into the documentation, and let links lead to their pages."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from bpe_core.cli import main
from scripts.docs_commands import describe

ROOT: Final = Path(__file__).parents[1]
# Files outside docs/, and what they become.
ADDED: Final = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "licence.md",
    "NOTICE.md": "notice.md",
    "PRIVACY.md": "privacy.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "ui/data/favicon.png": "favicon.png",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents outside docs/, and the icon, to the files to build."""
    for source, name in ADDED.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Describe the commands, and turn links between files into links between pages."""
    markdown = markdown.replace("<!-- commands -->", describe(main))
    return relink(markdown, page.file.src_uri)


def relink(markdown: str, page: str) -> str:
    """Return the text of a page with links that lead to other pages.

    >>> relink("[kept](../PRIVACY.md#kept), [speed](engine.md)", "hub.md")
    '[kept](privacy.md#kept), [speed](engine.md)'
    >>> relink("[settings](docs/operations.md#settings)", "security.md")
    '[settings](operations.md#settings)'
    >>> relink("[next](b.md), [up](../start.md), [kept](../../PRIVACY.md)", "notebooks/a.md")
    '[next](b.md), [up](../start.md), [kept](../privacy.md)'
    """
    sources = {name: source for source, name in ADDED.items()}
    folder = posixpath.dirname(sources.get(page, f"docs/{page}"))

    def lead_to_page(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        name = ADDED.get(path, path.removeprefix("docs/"))
        return f"]({posixpath.relpath(name, posixpath.dirname(page) or '.')}{link[2]}"

    return re.sub(r"\]\(([\w./-]+\.\w+|LICENSE)((?:#[\w-]*)?\))", lead_to_page, markdown)
