"""Properties of characters and bytes.

In: a text, or bytes of UTF-8. Out: the class of each character, pinned to Unicode 16, its script,
or the state of a UTF-8 decoder.

Open `classes` first, then `characters`: kinds, scripts and lengths. `byte_tables` decodes UTF-8
byte by byte, and has GPT-2's printable bytes.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.unicode.byte_tables import (
        AFTER_WORD,
        BETWEEN_CHARACTERS,
        BYTE_ORDER,
        BYTE_TO_CHARACTER,
        CHARACTER_TO_BYTE,
        META,
        are_whole_characters,
        from_printable,
        from_printables,
        list_entries,
        to_printable,
    )
    from bpe_core.unicode.characters import (
        CUT_CHARACTERS,
        NO_LETTER,
        NO_LETTERS,
        OTHER_LETTER,
        SCRIPT_GROUPS,
        SHARED_LETTER,
        TOKEN_SCRIPTS,
        CodePoints,
        find_group,
        find_script,
        forget_characters,
        is_letter,
        token_script,
    )
    from bpe_core.unicode.classes import (
        CLASSES,
        DATA_FILE,
        LETTER_CLASSES,
        class_runs,
        unicode_class,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
