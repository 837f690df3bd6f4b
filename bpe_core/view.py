"""A picture that shows itself in a notebook, and the files of the app's components that draw it.

`View` is what a tokenizer, a comparison or a run returns; `bpe_core.views` makes it. The
components' styles and scripts lie next to the app's Python; here they are read, and joined to one
script.
"""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from bpe_core.extras import needs_extra

CHECKOUT: Final = Path(__file__).absolute().parents[1]
INSTALLED: Final = CHECKOUT / "bpe_explorer"
"""In a wheel the app is a folder of its own; in a checkout it is next to the library."""

COMPONENTS: Final = (INSTALLED if INSTALLED.is_dir() else CHECKOUT) / "ui" / "components"

_IMPORT = re.compile(
    r"^import (?:(?P<default>\w+)|\{\s*(?P<names>\w+(?:,\s*\w+)*),?\s*\})"
    r' from "(?P<path>\.[^"\n]*\.js)";$',
    re.M,
)
_EXPORT = re.compile(
    r"^export (?P<default>default )?(?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.M
)
# Statements start a line; a dynamic import can be anywhere in it. One of an address that is made at
# run time names no file, and stays.
_OTHER_FORM = re.compile(r"^(?:import|export)\b.*|.*\bimport(?:\.meta|\s*\((?!\w+\))).*", re.M)

_FOLDER: Final = COMPONENTS / "notebook"
_Component = Literal["token_view", "token_compare", "merge_player"]
_PACKAGE_OF: Final[dict[_Component, str]] = {
    "token_view": "token_view",
    "token_compare": "token_view",
    "merge_player": "merge_player",
}


@dataclass(frozen=True, slots=True, repr=False)
class View:
    """A picture for a notebook; as the last value of a cell, it shows itself.

    Jupyter, and other notebooks that show HTML, store all that is shown in the cell's output: it
    works in a saved notebook, without a kernel and without an extension. Where scripts are not
    allowed, as in a notebook from a stranger, `still` is shown. marimo shows the `widget`.

    >>> from bpe_core.tokenizer import gpt2
    >>> gpt2().view("The quick")
    <View of 2 tokens>
    """

    STYLES: ClassVar[Mapping[_Component, tuple[str, ...]]] = {
        "token_view": ("pane", "view"),
        "token_compare": ("pane", "compare"),
        "merge_player": ("../shared/ribbon", "controls", "words", "race", "player", "end"),
    }
    """The style sheets of each component."""

    component: _Component
    summary: str
    """What it shows, in a few words."""
    still: str
    """HTML without scripts, with all text escaped."""
    parts: Mapping[str, bytes]
    """What the component is drawn from, by name."""

    def __repr__(self) -> str:
        return f"<View of {self.summary}>"

    def _repr_html_(self) -> str:
        zipped = "".join(
            f'<script type="application/octet-stream" data-part="{name}">{zip_to_text(part)}'
            "</script>"
            for name, part in {"script": self._script().encode(), **self._all_parts()}.items()
        )
        drawing = join_modules(_FOLDER / "saved_output.js")
        return (
            f"<div data-bpe-view>{self.still}{zipped}</div>\n"
            f'<script type="module">{drawing}</script>'
        )

    def _display_(self) -> Any:
        """Return what marimo shows."""
        return self.widget()

    def widget(self) -> Any:
        """Return the view as an anywidget, to put it into a layout of widgets.

        Raises `MissingExtraError` without the extra "notebook".

        >>> from bpe_core.tokenizer import gpt2
        >>> sorted(gpt2().view("The quick").widget().parts)
        ['css', 'data']
        """
        return make_widget(self.component, self._script(), self._all_parts())

    def _script(self) -> str:
        return join_modules(_FOLDER / f"{self.component}.js")

    def _all_parts(self) -> dict[str, bytes]:
        folder = COMPONENTS / _PACKAGE_OF[self.component]
        css = component_css(folder, *self.STYLES[self.component], "../notebook/notebook")
        return {"css": css.encode(), **self.parts}


def make_widget(component: str, script: str, parts: Mapping[str, bytes]) -> Any:
    """Return an anywidget that draws a component; all its data is in its state.

    Raises `MissingExtraError` if anywidget is not installed.

    >>> make_widget("hug", "export default { render() {} }", {"data": b"hug"}).parts
    {'data': b'hug'}
    """
    return _widget_class(component, script)(parts=dict(parts))


@cache
def _widget_class(component: str, script: str) -> Any:
    with needs_extra("notebook", "A widget"):
        anywidget: Any = import_module("anywidget")
        traitlets: Any = import_module("traitlets")

    members = {"_esm": script, "parts": traitlets.Dict().tag(sync=True)}
    return type(component, (anywidget.AnyWidget,), members)


class ModuleError(Exception):
    """A module cannot be joined: names the module, what was found, and what to write instead."""


@dataclass(frozen=True, slots=True)
class _Module:
    path: Path
    body: str
    imports: dict[Path, dict[str, str]]
    """For each imported module, the imported names and their local names."""
    exports: dict[str, str]
    """The exported names and their local names."""


def component_css(folder: Path, *names: str) -> str:
    """Return the shared style sheet, followed by each `name.css` of a component's folder.

    >>> ".player" in component_css(COMPONENTS / "merge_player", *View.STYLES["merge_player"])
    True
    """
    shared = COMPONENTS / "shared" / "tokens.css"
    paths = (shared, *(folder / f"{name}.css" for name in names))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def zip_to_text(message: bytes) -> str:
    """Compress a message for a page, in base64.

    >>> gzip.decompress(base64.b64decode(zip_to_text(b"hug" * 99))) == b"hug" * 99
    True
    """
    # Without a time stamp, so that the same run gives the same file. Level 9 takes four times as
    # long as 6 and saves 1 %.
    return base64.b64encode(gzip.compress(message, 6, mtime=0)).decode()


@cache
def join_modules(entry: Path) -> str:
    """Return the entry module and everything it imports as one module with its default export.

    Each module follows those it imports, wrapped in a function, so that names are private unless
    exported and imported:

        const m0 = (() => {
        function grouped(number) { ... }
        return { "grouped": grouped };
        })();
        const m1 = (({ grouped }) => { ... })(m0);
        export default m1.default;

    Only a few forms of `import` and `export` are supported. Any other raises `ModuleError`, instead
    of breaking the script in the browser.
    """
    modules: dict[Path, _Module] = {}
    _add(entry.resolve(), modules, ())
    numbers = {path: f"m{number}" for number, path in enumerate(modules)}
    parts = [_wrapped(module, numbers) for module in modules.values()]
    if "default" in modules[entry.resolve()].exports:
        parts.append(f"export default {numbers[entry.resolve()]}.default;\n")
    return "".join(parts)


def _add(path: Path, modules: dict[Path, _Module], above: tuple[Path, ...]) -> None:
    """Add a module after everything it imports; `above` is the chain of imports leading to it."""
    if path in above:
        circle = " -> ".join(one.name for one in (*above[above.index(path) :], path))
        raise ModuleError(f"Modules import each other in a circle: {circle}.")
    if path in modules:
        return
    module = _read(path)
    for imported, names in module.imports.items():
        _add(imported, modules, (*above, path))
        missing = names.keys() - modules[imported].exports.keys()
        if missing:
            wanted = ", ".join(sorted(missing))
            raise ModuleError(f"{path.name} imports {wanted}: {imported.name} does not export it.")
    modules[path] = module


def _read(path: Path) -> _Module:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ModuleError(f"There is no module {path}.") from None
    imports: dict[Path, dict[str, str]] = {}
    for found in _IMPORT.finditer(text):
        names = {name: name for name in re.findall(r"\w+", found["names"] or "")}
        if found["default"]:
            names = {"default": found["default"]}
        imports.setdefault((path.parent / found["path"]).resolve(), {}).update(names)
    exports = {"default" if e["default"] else e["name"]: e["name"] for e in _EXPORT.finditer(text)}
    # Imports become blank lines, so that errors report the line of the source file.
    body = _EXPORT.sub("", _IMPORT.sub(lambda found: "\n" * found[0].count("\n"), text))
    other = _OTHER_FORM.search(body)
    if other:
        raise ModuleError(
            f'{path.name}: "{other[0].strip()}" is not supported. Write'
            ' import { name } from "./module.js"; and export before a function, class or const.'
        )
    return _Module(path, body, imports, exports)


def _wrapped(module: _Module, numbers: dict[Path, str]) -> str:
    taken = ", ".join(_braces(names) for names in module.imports.values())
    given = ", ".join(numbers[path] for path in module.imports)
    return (
        f"// {module.path.parent.name}/{module.path.name}\n"
        f"const {numbers[module.path]} = (({taken}) => {{\n"
        f"{module.body}\n"
        f"return {_braces(module.exports)};\n"
        f"}})({given});\n"
    )


def _braces(names: dict[str, str]) -> str:
    """Return names in the syntax of an object literal or pattern: { default: mountTable }."""
    pairs = (name if name == local else f"{name}: {local}" for name, local in names.items())
    return f"{{ {', '.join(pairs)} }}"
