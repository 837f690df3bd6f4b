"""The app's own components, drawn in the browser.

In: packed data from Python. Out: HTML, CSS and JavaScript on the page, and the visitor's clicks.

Open `symbol_rows` first: a typed wrapper in `__init__`, with its css and js next to it.
`shared` holds the colours and helpers they share; `merge_player` and `token_view` are the largest.
`notebook` draws some of them in notebooks, for `bpe_core.views`, which also packs what they draw.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.components import live_text, merge_player, token_view
    from ui.components.chart_pictures import ChartPicture, draw_chart_pictures
    from ui.components.figures import (
        Figure,
        FigureRow,
        figure_row,
        figure_table,
        format_figures,
        verdict,
    )
    from ui.components.game import draw_game, game_data
    from ui.components.lesson import (
        Bar,
        Claim,
        Option,
        Piece,
        Question,
        ShownCode,
        claims,
        full_screen,
        lesson_code,
        pair_bars,
        question,
    )
    from ui.components.live_text import draw_live_text, paste_catcher, paste_limits, read_paste
    from ui.components.merge_player import draw_merge_player, send_block, send_own_words
    from ui.components.page import end_in_view, page_fixes, run_memory, theme_watch
    from ui.components.ribbons import draw_ribbons
    from ui.components.rivals import Rival, draw_rivals
    from ui.components.share_bars import ShareBar, draw_share_bars
    from ui.components.shared import PARTS
    from ui.components.start_loop import MAX_SENTENCE_LENGTH, Door, draw_start_loop
    from ui.components.story import draw_story, send_reading, story_data
    from ui.components.strips import corpus_strip, normalized_text, pretoken_strip
    from ui.components.symbol_rows import SymbolRow, Tile, Tiles, draw_symbol_rows, find_pair
    from ui.components.term_table import TermCell, TermRow, draw_term_table
    from ui.components.token_origin import (
        OriginLine,
        OriginWord,
        TokenOriginData,
        draw_token_origin,
    )
    from ui.components.token_view import Reading, draw_token_view, token_compare, word_trees
    from ui.components.vocabulary import (
        Finding,
        Sent,
        finding_list,
        learned_rows,
        prefix_walk,
        token_card,
        token_table,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
