"""The parts of the static site that need no browser."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from bpe_core.errors import PatternError
from static_site.browser_patterns import browser_pattern
from static_site.build import build


def test_case_is_ignored_as_unicode_folds_it() -> None:
    # A long s is an s regardless of case.
    assert r"'[Ss\u{17f}]|'[Tt]|'[Rr][Ee]" in browser_pattern("o200k")


# Possessive, and a class that no browser pattern needs.
@pytest.mark.parametrize("name", ["cl100k", "deepseek-v3"])
def test_a_pattern_without_a_form_for_browsers_is_refused(name: str) -> None:
    with pytest.raises(PatternError, match="no form for browsers here"):
        browser_pattern(name)


@pytest.mark.parametrize(
    "worker",
    [
        pytest.param(None, id="no-site"),
        pytest.param("self.addEventListener('fetch', answer);\n", id="another-site"),
        pytest.param(
            'self.STORED = {"version": "0", "files": ["./", "data/a.js"]};\n', id="a-site"
        ),
    ],
)
def test_a_folder_of_other_files_is_not_touched(tmp_path: Path, worker: str | None) -> None:
    kept = tmp_path / "CNAME"
    kept.write_text("mine", "utf-8")
    if worker is not None:
        (tmp_path / "service-worker.js").write_text(worker, "utf-8")
    with pytest.raises(click.UsageError, match="'CNAME', which is not a part of the site"):
        build(tmp_path)
    assert kept.read_text("utf-8") == "mine"


@pytest.mark.parametrize("app", ["javascript:alert(1)", "https://", "bpe.example"])
def test_only_a_web_address_is_linked_as_the_app(tmp_path: Path, app: str) -> None:
    with pytest.raises(click.UsageError, match="with http or https, got"):
        build(tmp_path / "site", app=app)
    assert not (tmp_path / "site").exists()
