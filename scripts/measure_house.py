"""Count what a reader of the code must know: `python -m scripts.measure_house [FOLDER]`.

Prints the size of the packages, what crosses the walls between them, words that ask which kind of
tokenizer or corpus something is, and how many functions three tasks pass through. The trend counts,
not the number.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType

from tests.unit.test_imports import House, names_with_a_cycle

PACKAGES = ("bpe_core", "bpe_scale", "ui", "pages")
LIBRARY = ("bpe_core", "bpe_scale")
WHICH_TOKENIZER = re.compile(
    r"\b(adds_space|drops_text|spells_text|end_of_word|byte_fallback|merges_tokenizer|made_by_merges"
    r"|equivalent_tokenizer|adaptable\w*|changes_text|is_a_tokenizer)\b"
    r"|isinstance\([^)]*\b(Tokenizer|NativeTokenizer|AcrossWordsTokenizer|NamedEncoder|OwnEncoder"
    r"|ForeignTokenizer|BatchEncoder)\b"
)
WHICH_CORPUS = re.compile(
    r"isinstance\([^)]*\b(Corpus|FiledCorpus|StreamedCorpus|CountsCorpus|CountedCorpus|WordCounts"
    r"|UploadedCorpus|TextFigures|FileTexts|FiledTexts)\b"
)


@dataclass(frozen=True)
class Module:
    path: Path
    package: str
    room: str
    """The package's folder or module that it is in, such as `bpe_core.corpus`."""

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.source)))

    @property
    def is_face(self) -> bool:
        return self.path.name == "__init__.py"

    def count_statements(self) -> int:
        """Return the number of statements, docstrings aside."""
        return sum(isinstance(node, ast.stmt) and not _is_docstring(node) for node in self.nodes)

    def imported(self) -> set[tuple[str, str]]:
        """Return the modules and names that it imports from other rooms of these packages."""
        if self.is_face:
            return set()
        return {
            (node.module, alias.name)
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node.module
            if node.module.split(".")[0] in PACKAGES and _room(node.module) != self.room
            for alias in node.names
        }


def main() -> None:
    """Print the figures of a checkout: of this one, or of the folder that is named."""
    root = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[1]
    modules = read_modules(root)
    sizes: Counter[str] = Counter()
    for module in modules:
        sizes[module.package] += module.count_statements()
    imports = sum(
        isinstance(node, (ast.Import, ast.ImportFrom))
        for module in modules
        for node in module.nodes
    )
    total = sum(sizes.values())
    parts = ", ".join(f"{name} {n:,}" for name, n in sizes.items())
    print(f"statements: {total:,} ({parts}); {imports / total:.1%} are imports")
    files = [module for module in modules if not module.is_face]
    names = Counter((module.package, module.path.name) for module in files)
    print(f"modules: {len(files)}; names that stand twice: {sum(n > 1 for n in names.values())}")
    crossing = [(module, *pair) for module in modules for pair in module.imported()]
    past = sum(source != _room(source) for _, source, _ in crossing)
    print(f"imports past a face: {past:,}")
    for user, packages in (("the library", LIBRARY), ("the app", ("ui", "pages"))):
        taken = {
            (source, name)
            for module, source, name in crossing
            if module.package in packages and source.startswith(LIBRARY)
        }
        print(f"names that cross the library's walls, imported by {user}: {len(taken)}")
    print(f"modules in a circle of imports: {len(circle(root))}")
    for noun, pattern in (("tokenizer", WHICH_TOKENIZER), ("corpus", WHICH_CORPUS)):
        asking = [n for module in modules if (n := len(pattern.findall(module.source)))]
        print(f"words that ask which {noun}: {sum(asking)} in {len(asking)} modules")
    if not sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            for task, walk in walks(Path(folder)).items():
                functions, places = count_functions(walk)
                print(f"{task}: {functions} functions in {places} modules")


def circle(root: Path) -> list[str]:
    """Return the modules in a circle of imports, or that lead to one."""
    found: list[str] = []
    for package in PACKAGES:
        house = House(root / package)
        name_of = {path: name for name, path in house.modules.items()}
        below = {
            name: {name_of[path] for path in house.imports(source)}
            for name, source in house.modules.items()
        }
        found += names_with_a_cycle(below)
    return found


def read_modules(root: Path) -> list[Module]:
    """Return the Python files of the packages below a folder."""
    return [
        Module(path, package, _room(".".join(path.relative_to(root).with_suffix("").parts)))
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
    ]


def count_functions(walk: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions of the packages a call passes through, and in how many modules."""
    passed: set[tuple[str, str]] = set()

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            if not code.co_qualname.startswith("<"):
                passed.add((code.co_filename, code.co_qualname))

    sys.setprofile(look)
    try:
        walk()
    finally:
        sys.setprofile(None)
    root = str(Path(__file__).parents[1])
    own = {
        each
        for each in passed
        if each[0].startswith(tuple(f"{root}/{package}/" for package in PACKAGES))
    }
    return len(own), len({path for path, _ in own})


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """Return tasks whose way through the code is counted."""
    import bpe_core as bpe

    path = folder / "tokenizer.json"
    run = bpe.train(["hug hugs hugging", "pug hugs"], vocab_size=262)
    run.tokenizer.save(path)
    return {
        "training": lambda: bpe.train(["hug hugs hugging", "pug hugs"], vocab_size=262),
        "opening a tokenizer.json and encoding": lambda: bpe.open_encoder(path).encode("hug"),
        "comparing with GPT-2": lambda: bpe.compare("hug hugs", [run.tokenizer, bpe.gpt2()]),
    }


def _room(dotted: str) -> str:
    n_parts = 1 if dotted.startswith("bpe_scale") else 2  # which is one room
    return ".".join(dotted.removesuffix(".__init__").split(".")[:n_parts])


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


if __name__ == "__main__":
    main()
