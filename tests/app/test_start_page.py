"""The start page without a browser: what it draws, which links it follows, what it imports."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import sent
from tests.app_pages import START
from tests.new_process import ROOT, run_python
from ui.components.start_loop import MAX_SENTENCE_LENGTH

# Plotly is not in `heavy`, because Streamlit itself imports it.
_IMPORTS = """
import sys
import ui.components.start_loop, ui.shell.frame, ui.shell.recent_runs
import ui.corpus.own_text_field, ui.serving.warm_up
heavy = ("pandas", "numba", "tokenizers", "tiktoken")
print([name for name in heavy if name in sys.modules])
"""


def opened(**query: str) -> AppTest:
    """Open the bare address as a new visitor."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def titles(app: AppTest) -> list[str]:
    return [title.value for title in app.title]


def test_the_bare_address_shows_the_loop_and_three_doors() -> None:
    app = opened(sentence="Ada Ada")
    assert titles(app) == [START]
    assert app.query_params["sentence"] == "Ada Ada"
    given = sent(app, "longest")
    assert given["longest"] == MAX_SENTENCE_LENGTH
    assert 0 < len(given["sentence"]) <= MAX_SENTENCE_LENGTH
    assert [door["path"] for door in given["doors"]] == ["train", "token_boundaries", "lessons"]
    assert all((ROOT / "pages" / f"{door['path']}.py").is_file() for door in given["doors"])
    # A run left in the address by Back leads nowhere, and other pages remove the sentence.
    app.query_params["run"] = "sample"
    app.run()
    assert titles(app) == [START]
    assert "run" not in app.query_params
    app.switch_page("pages/lessons.py").run()
    assert "sentence" not in app.query_params


@pytest.mark.parametrize("name", ["run", "job", "goto"])
def test_a_link_to_a_run_at_the_bare_address_leads_to_train(name: str) -> None:
    app = opened(**{name: "sample"})
    assert titles(app) == ["Train"]
    assert "goto" not in app.query_params


def test_the_page_imports_nothing_heavy() -> None:
    assert run_python(_IMPORTS) == "[]\n"
