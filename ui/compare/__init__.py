"""The parts of the Compare page.

In: the tokenizers on the shelf, the held-out text and the visitor's own. Out: a verdict, a passage
with its differences marked, figures, terms and costs, languages, and all figures as JSON.

Open `compared` first: it chooses the text, and compares on a sample or on the whole of it. Each
part of the page has a module: `verdict`, `passage`, `figures`, `terms` and
`language_costs`. `wording` and `comparison_charts` are shared by them, and `record` writes all
figures as one JSON file.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.compare.compared import (
        ComparedText,
        Evaluation,
        choose_evaluation,
        compare_on,
        whole_text_card,
    )
    from ui.compare.figures import costs_part, figures_part, structure_section
    from ui.compare.language_costs import languages_part
    from ui.compare.passage import differences_part, passage_part
    from ui.compare.record import record_button
    from ui.compare.terms import terms_part
    from ui.compare.verdict import method_line, parts_part, verdict_part
    from ui.compare.wording import SAMPLE_OF
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
