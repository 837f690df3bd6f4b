"""After warming up, a server has imported everything that its first visitor needs."""

from __future__ import annotations

from streamlit.web.server.app_discovery import discover_asgi_app

from tests.new_process import ROOT, run_python

_FIRST_VISITS = """
import sys
from streamlit.testing.v1 import AppTest
from ui.run.corpus_summary import pretoken_figures
from ui.serving.warm_up import warm_up_rest, warm_up_start

warm_up_start()
warm_up_rest()
before = set(sys.modules)
for page in ("train", "merge_loop"):
    app = AppTest.from_file("ROOT/app.py", default_timeout=120).run()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
ours = ("ui.", "bpe_core.", "plotly.graph_objects", "pandas.core", "numba.core")
print(sorted(name for name in set(sys.modules) - before if name.startswith(ours)))
"""


def test_first_visits_import_no_module_after_warming_up() -> None:
    code = _FIRST_VISITS.replace("ROOT", str(ROOT))
    assert run_python(code).splitlines()[-1] == "[]"


def test_streamlit_finds_the_server() -> None:
    assert discover_asgi_app(ROOT / "serve.py").import_string == "serve:app"
