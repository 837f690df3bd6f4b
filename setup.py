"""Which packages the wheel holds; all else about the project is in pyproject.toml.

The app is `app.py`, `pages/` and `ui/` at the top of the repository. In the wheel they
are one folder, `bpe_explorer/`: a `ui` in site-packages would clash with other packages.
"""

from pathlib import Path

from setuptools import Distribution, find_namespace_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

APP = "bpe_explorer"
# Where scripts/prebuilt_wheel.py puts the compiled kernels.
HAS_KERNELS = any(Path("bpe_core", "kernels").glob("kernels-*.so"))
MODULES_OF_APP = ("app",)
# Folders of data alone count as packages too, so that none has to be named here.
PARTS = find_namespace_packages(
    include=["bpe_core", "bpe_core.*", "bpe_scale", "pages", "ui", "ui.*"],
    exclude=["*.__pycache__"],
)
LIBRARY = ("bpe_core", "bpe_scale")
PACKAGES = [part if part.startswith(LIBRARY) else f"{APP}.{part}" for part in PARTS]


class BuildPy(build_py):
    """Takes the app's modules from the top of the repository, and no other that stands there."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if package != APP or each[1] in MODULES_OF_APP]


class Project(Distribution):
    """A project whose wheel is for one system if it holds compiled kernels."""

    def has_ext_modules(self) -> bool:
        return HAS_KERNELS


class BdistWheel(bdist_wheel):
    """Names only the system, because compiled kernels do not depend on Python's version."""

    def get_tag(self) -> tuple[str, str, str]:
        *_, system = super().get_tag()
        return "py3", "none", system


setup(
    packages=[*PACKAGES, APP],
    package_dir={APP: "."},
    package_data={**{package: ["*"] for package in PACKAGES}, APP: [".streamlit/config.toml"]},
    include_package_data=False,
    distclass=Project,
    cmdclass={"build_py": BuildPy, "bdist_wheel": BdistWheel},
)
