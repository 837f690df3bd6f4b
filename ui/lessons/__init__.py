"""The lessons: their texts, the order of their steps, and what they compute.

In: what a visitor types into a lesson's fields, and answers. Out: questions, text, tiles, and the
code that just ran.

Open `navigation` first: it lists the lessons, one module each, leads through their steps, and draws
a lesson for print. `parts` defines a lesson and a step, and what a step asks before it shows
anything, and formats values and the source of functions. `walk` is a finished training that can be
inspected before each merge, and what goes wrong with a shortcut. `showing` draws a training run as
tiles, and describes it in sentences that hold for any words.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.lessons import navigation
    from ui.lessons.navigation import GAME, LESSONS
    from ui.lessons.parts import PRINT, Lesson, ask, is_printing, show_ran
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
