"""Turn docstrings into Markdown: an extension of griffe, which reads them for the documentation."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object


class PlainDocstrings(Extension):
    """Turn docstrings as `help()` shows them into Markdown."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)


def to_markdown(docstring: str) -> str:
    r"""Return a docstring with examples as blocks of code, fields as a list, and no markup.

    >>> to_markdown("end: such as\n    </w>.\n\n>>> 1 + 1\n2")
    '- `end`: such as\n    &lt;/w>.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    docstring = re.sub(r"(?m)^(\w+): (?=.)", r"- `\1`: ", docstring)
    docstring = re.sub(r"(?m)^(>>> .*(?:\n.+)*)", r"```pycon\n\1\n```", docstring)
    code_or_text = re.split(r"(```(?s:.*?)```|`[^`\n]*`)", docstring)
    return "".join(
        part if number % 2 else part.replace("<", "&lt;")
        for number, part in enumerate(code_or_text)
    )
