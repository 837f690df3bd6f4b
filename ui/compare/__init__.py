"""The parts of the Compare page.

In: the tokenizers on the shelf, the held-out text and the visitor's own. Out: a verdict, a passage
with its differences marked, figures, terms and costs, languages, and all figures as JSON.

Open `evaluation` first, which chooses the text, and `compared`, which compares on a sample or on
the whole of it. Each part of the page has a module: `verdict`, `passage`, `figures`,
`terms` with `costs`, and `languages`. `record` writes all of them as one JSON file.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.compare.compared import ComparedText, compare_on, whole_text_card
    from ui.compare.costs import costs_part
    from ui.compare.evaluation import Evaluation, choose_evaluation
    from ui.compare.figures import figures_part
    from ui.compare.languages import languages_part
    from ui.compare.passage import passage_part
    from ui.compare.record import record_button
    from ui.compare.terms import terms_part
    from ui.compare.verdict import method_line, parts_part, verdict_part
    from ui.compare.verdict_words import SAMPLE_OF
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
