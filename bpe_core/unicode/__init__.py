"""Properties of characters and bytes.

In: a text, or bytes of UTF-8. Out: the class of each character, pinned to Unicode 16, its script,
or the state of a UTF-8 decoder.

Open `classes` first. `kinds` adds scripts and lengths, `utf8_states` decodes UTF-8 byte by byte,
and `byte_alphabet` is GPT-2's table of printable bytes.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.unicode.byte_alphabet import (
        BYTE_ORDER,
        BYTE_TO_CHARACTER,
        CHARACTER_TO_BYTE,
        META,
        from_printable,
        from_printables,
        to_printable,
    )
    from bpe_core.unicode.classes import (
        CLASSES,
        DATA_FILE,
        LETTER_CLASSES,
        class_runs,
        unicode_class,
    )
    from bpe_core.unicode.kinds import (
        CUT_CHARACTERS,
        NO_LETTER,
        NO_LETTERS,
        OTHER_LETTER,
        PUNCTUATION,
        SCRIPT_GROUPS,
        SHARED_LETTER,
        TOKEN_SCRIPTS,
        WHITE_SPACE,
        WORD,
        are_numbers,
        byte_offsets,
        classify,
        code_points,
        find_group,
        find_script,
        forget_characters,
        is_letter,
        script_codes,
        token_script,
    )
    from bpe_core.unicode.utf8_states import (
        AFTER_WORD,
        BETWEEN_CHARACTERS,
        are_whole_characters,
        list_entries,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
