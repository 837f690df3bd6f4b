"""The rules on which module may import which, checked against the source.

`python -m tests.unit.test_imports` prints the rooms, floors and arrows of the two houses.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

from tests.new_process import ROOT, run_python

CORE = ROOT / "bpe_core"
UI = ROOT / "ui"
SCALE = ROOT / "bpe_scale"

# From the top down: a room imports only rooms on later lines, and none on its own line.
FLOORS = {
    "bpe_core": (
        ("__main__",),
        ("cli",),
        ("__init__",),
        ("experiments",),
        ("lab",),
        ("diagnosis",),
        ("views",),
        ("models",),
        ("formats",),
        ("adapting",),
        ("vocabulary",),
        ("trainers",),
        ("comparison",),
        ("tokenizer",),
        ("chat",),
        ("corpus",),
        ("pretokenizers",),
        ("types",),
        ("view",),
        ("kernels",),
        ("unicode",),
        ("files",),
        ("processes",),
        ("extras",),
        ("lazy",),
        ("checks",),
        ("errors",),
    ),
    "ui": (
        ("serving",),
        # One room for each page: pages don't import from each other's rooms.
        (
            "adapt",
            "compare",
            "detective",
            "experiments",
            "lab",
            "lessons",
            "merge_loop",
            "pair_frequencies",
            "token_boundaries",
            "train",
            "vocabulary",
        ),
        ("corpus",),
        ("tokenizers",),
        ("run",),
        ("shell",),
        ("work",),
        ("components",),
        ("storage",),
        ("host",),
        ("look",),
        ("__init__",),
    ),
}
NOT_IN_CORE = {"streamlit", "plotly", "pandas", "ui", "pages", "tests"}


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def imported_names(path: Path) -> frozenset[tuple[str, str]]:
    """Return each module that a file imports, with the imported name, or "" for the whole module.

    Includes imports within functions and those for type checkers only.
    """
    found: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import"
            found |= {(node.module, alias.name) for alias in node.names}
    return frozenset(found)


def imported_modules(path: Path) -> set[str]:
    pairs = imported_names(path)
    return {module for module, _ in pairs} | {f"{module}.{name}" for module, name in pairs}


@dataclass(frozen=True)
class House:
    """A package; its rooms are the packages and modules directly in it."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def modules(self) -> dict[str, Path]:
        """The files by dotted name; an `__init__.py` has the name of its package."""
        paths = python_files(self.folder)
        parts = {path: path.relative_to(self.folder.parent).with_suffix("").parts for path in paths}
        return {".".join(parts[path]).removesuffix(".__init__"): path for path in paths}

    @cached_property
    def rooms(self) -> set[str]:
        return {self.find_room(path) for path in self.modules.values()}

    def find_room(self, path: Path) -> str:
        return path.relative_to(self.folder).parts[0].removesuffix(".py")

    @cached_property
    def faces(self) -> dict[str, Path]:
        """The files of the rooms' faces, by the rooms' dotted names."""
        return {
            f"{self.name}.{path.parent.name}": path for path in self.folder.glob("*/__init__.py")
        }

    def resolve(self, module: str, name: str) -> str:
        """Return the module that an import takes a name from: behind a face, what it lists."""
        if f"{module}.{name}" in self.modules:
            return f"{module}.{name}"  # the module, not a name in its package
        if module in self.faces:
            listed = {each: source for source, each in imported_names(self.faces[module])}
            return listed.get(name, module)
        return module

    def imports(self, path: Path) -> set[Path]:
        """Return the files of this house that a file imports; a face lists and imports nothing."""
        if path in self.faces.values():
            return set()
        names = (self.resolve(module, name) for module, name in imported_names(path))
        return {self.modules[name] for name in names if name in self.modules} - {path}

    @cached_property
    def arrows(self) -> set[tuple[str, str]]:
        """All pairs of rooms whose first imports the second."""
        files = self.modules.values()
        pairs = {(self.find_room(a), self.find_room(b)) for a in files for b in self.imports(a)}
        return {(above, below) for above, below in pairs if above != below}

    def heights(self) -> dict[str, int]:
        """Return the floor of each room: 1 if it imports no other room."""
        return heights({room: {b for a, b in self.arrows if a == room} for room in self.rooms})

    def drawn(self) -> str:
        """Return a line with totals, and a line for each room with its floor and its imports."""
        floors = self.heights()
        lines = [
            f"{self.name}: {len(floors)} rooms, {max(floors.values())} floors, "
            f"{len(self.arrows)} arrows"
        ]
        for room in sorted(floors, key=lambda room: (-floors[room], room)):
            below = sorted(b for a, b in self.arrows if a == room)
            lines.append(f"{floors[room]:4}  {room:17} -> {', '.join(below) or 'nothing'}")
        return "\n".join(lines)


def heights(below: dict[str, set[str]]) -> dict[str, int]:
    """Return the height of each name above the lowest; raises `RecursionError` for a cycle.

    >>> heights({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    {'a': 3, 'b': 2, 'c': 1}
    """

    @cache
    def height(name: str) -> int:
        return 1 + max((height(other) for other in below[name]), default=0)

    return {name: height(name) for name in below}


def names_with_a_cycle(below: dict[str, set[str]]) -> list[str]:
    """Return the names in an import cycle, and those that lead to one.

    >>> names_with_a_cycle({"a": {"b"}, "b": {"a"}, "c": set()})
    ['a', 'b']
    """
    left = dict(below)
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


HOUSES = [House(CORE), House(UI)]
each_house = pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.name)


@each_house
def test_every_room_has_a_floor(house: House) -> None:
    rooms = [room for floor in FLOORS[house.name] for room in floor]
    assert sorted(rooms) == sorted(house.rooms)


@each_house
def test_imports_only_point_down(house: House) -> None:
    floor_of = {room: n for n, rooms in enumerate(FLOORS[house.name]) for room in rooms}
    wrong = [(a, b) for a, b in sorted(house.arrows) if floor_of[a] >= floor_of[b]]
    assert not wrong, f"these run up or sideways: {wrong}"


@pytest.mark.parametrize("house", [*HOUSES, House(SCALE)], ids=lambda house: house.name)
def test_there_are_no_import_cycles(house: House) -> None:
    name_of = {path: name for name, path in house.modules.items()}
    below = {
        name: {name_of[other] for other in house.imports(path)}
        for name, path in house.modules.items()
    }
    assert not names_with_a_cycle(below)


def test_what_methods_look_up_above_them_is_listed_there() -> None:
    """`Tokenizer.from_file` and what shows itself in a notebook call functions of a face above."""
    called = {
        (path.relative_to(CORE).parts[0], *(ast.literal_eval(each) for each in node.args))
        for path in python_files(CORE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "from_above"
    }
    faces = {"bpe_core": CORE / "__init__.py", **House(CORE).faces}
    for room, face, name in called:
        assert name in {each for _, each in imported_names(faces[face])}, (room, name)
    rooms = {room for room, _, _ in called}
    assert rooms == {"corpus", "tokenizer", "trainers", "comparison"}


def test_a_module_imports_only_public_names_from_another() -> None:
    for path in python_files(CORE, SCALE, UI, ROOT / "pages"):
        houses = (*FLOORS, SCALE.name)
        names = {name for module, name in imported_names(path) if module.split(".")[0] in houses}
        assert not {name for name in names if name.startswith("_")} - {"__version__"}, path


def test_only_faces_are_imported_from_outside() -> None:
    """A room's `__init__` lists what others may import; nothing deeper is imported from outside."""
    faces = {face: path for house in HOUSES for face, path in house.faces.items()}
    faces[SCALE.name] = SCALE / "__init__.py"  # one room
    listed = {face: {name for _, name in imported_names(path)} for face, path in faces.items()}
    past: list[tuple[str, str, str]] = []
    others = [ROOT / name for name in ("app.py", "setup.py")]
    folders = [ROOT / name for name in ("pages", "scripts", "static_site", "benchmarks")]
    for path in [*others, *python_files(CORE, SCALE, UI, *folders)]:
        for module, name in sorted(imported_names(path)):
            room = ".".join(module.split(".")[: 1 if module.startswith(SCALE.name) else 2])
            own = path.is_relative_to(ROOT / room.replace(".", "/"))
            if room in faces and not own and (module != room or name not in listed[room]):
                past.append((path.relative_to(ROOT).as_posix(), module, name))
    assert not past


@each_house
def test_a_face_describes_its_modules_and_only_lists(house: House) -> None:
    packages = sorted(house.folder.glob("*/__init__.py"))
    assert len(packages) > 10
    for path in packages:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        description = ast.get_docstring(tree) or ""
        code = [type(node).__name__ for node in tree.body[1:]]
        assert code in ([], ["ImportFrom", "ImportFrom", "If"]), f"{path} has code: move it"
        assert len(description.splitlines()) >= 4, (
            f"{path} needs a longer description of its modules"
        )
        inside = {part.stem for part in path.parent.iterdir() if part.suffix in (".py", "")}
        assert set(re.findall(r"`(\w+)`", description)) & inside, (
            f"{path} names none of its modules"
        )


def test_only_the_command_line_imports_the_package_for_scale() -> None:
    """`bpe_core`'s own face is the exception: it loads two public functions on first use."""
    importing = [
        path.relative_to(ROOT)
        for path in [ROOT / "app.py", *python_files(CORE, UI, ROOT / "pages")]
        if SCALE.name in {module.split(".")[0] for module in imported_modules(path)}
    ]
    rooms = {path.relative_to("bpe_core").parts[0] for path in importing}
    assert rooms == {"cli", "__init__.py"}
    face = {each for each in imported_names(CORE / "__init__.py") if each[0] == SCALE.name}
    assert face == {(SCALE.name, "count_files"), (SCALE.name, "encode_corpus")}


def test_the_core_does_not_import_the_app() -> None:
    for path in python_files(CORE, SCALE):
        assert not {m.split(".")[0] for m in imported_modules(path)} & NOT_IN_CORE, path


def test_the_reference_imports_nothing_that_it_checks() -> None:
    house = House(CORE)
    reached = {CORE / "trainers" / "reference.py"}
    while more := {other for path in reached for other in house.imports(path)} - reached:
        reached |= more
    names = {path.relative_to(CORE).with_suffix("").as_posix() for path in reached}
    assert names == {
        "trainers/reference",
        "trainers/base_vocabulary",
        "types",
        "unicode/byte_tables",
        "checks",
        "errors",
    }


def test_no_module_imports_a_page_or_pickle() -> None:
    refused = {"pages", "app", "pickle", "shelve", "marshal"}
    for path in [ROOT / "app.py", *python_files(CORE, UI, ROOT / "pages")]:
        assert not {m.split(".")[0] for m in imported_modules(path)} & refused, path


def test_components_import_no_sessions_jobs_or_store() -> None:
    house = House(UI)
    paths = python_files(UI / "components")
    assert len(paths) > 5
    for path in paths:
        rooms = {house.find_room(other) for other in house.imports(path)}
        assert rooms <= {"components", "look", "__init__"}, path


def test_session_state_is_used_in_one_module() -> None:
    touching = [
        path.relative_to(ROOT).as_posix()
        for path in [ROOT / "app.py", *python_files(UI, ROOT / "pages")]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "session_state"
    ]
    assert set(touching) == {"ui/shell/workspace.py"}


def test_importing_the_core_imports_no_heavy_modules() -> None:
    heavy = (
        "numpy",
        "regex",
        "streamlit",
        "plotly",
        "pandas",
        "numba",
        "pyarrow",
        "tokenizers",
        "tiktoken",
        "dask",
    )
    code = f"import sys, bpe_core; print([m for m in {heavy!r} if m in sys.modules])"
    assert run_python(code) == "[]\n"


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(house.drawn() for house in HOUSES) + "\n")
