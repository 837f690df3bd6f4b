"""The tools that check browser code have one version, wherever they are downloaded from."""

from __future__ import annotations

import json
import re

from tests.new_process import ROOT


def test_each_tool_has_one_version() -> None:
    wanted = json.loads((ROOT / "package.json").read_text("utf-8"))
    locked = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    assert "dependencies" not in wanted
    for name, version in wanted["devDependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
        assert locked[f"node_modules/{name}"]["version"] == version


def test_the_lock_file_has_hashes_and_no_download_addresses() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert len(fetched) > 50
    for name, package in fetched.items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
