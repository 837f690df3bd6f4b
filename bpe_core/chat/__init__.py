"""Chat templates: what a model is given when somebody writes messages.

`chat_template` renders messages as the tokenizer's own template says, and `rendering` is what runs
in another process, because a template is a program of a stranger. How a rendered conversation
becomes tokens is `bpe_core.tokenizer.conversation`; `bpe_core.formats.sidecars` finds a template
among a tokenizer's files.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.chat.chat_template import (
        ChatTemplate,
        Message,
        with_texts,
    )
    from bpe_core.chat.rendered import Growth, Reads, Rendered, TooMuchError
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
