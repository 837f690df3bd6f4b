"""Read the components' styles and scripts, which lie next to the app's Python."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).absolute().parents[2]
INSTALLED: Final = CHECKOUT / "bpe_explorer"
"""In a wheel the app is a folder of its own; in a checkout it is next to the library."""

COMPONENTS: Final = (INSTALLED if INSTALLED.is_dir() else CHECKOUT) / "ui" / "components"

VIEW_STYLES: Final = ("pane", "view")
COMPARE_STYLES: Final = ("pane", "compare")
PLAYER_STYLES: Final = ("../shared/ribbon", "controls", "words", "race", "player", "end")


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

    >>> ".player" in component_css(COMPONENTS / "merge_player", *PLAYER_STYLES)
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
