"""Which tests import a module: those that can notice that it has changed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grimp import ImportGraph

PACKAGES = ("app", "backends", "widgets", "tests")
APART = (
    "tests.lab.",
    "tests.journeys.",
    "tests.package.",
    "tests.trust.",
    "tests.bench.",
    "tests.method.",
    "tests.test_",
)
"""Tests that need a guest, pictures of whole screens, a build, or hours."""
MOST = 16
"""So many files are run, the nearest ones: all that import the guard somehow would be half of the suite."""


@cache
def _graph() -> ImportGraph:
    import grimp  # import-linter brings it

    return grimp.build_graph(*PACKAGES, cache_dir=None)


def importing_tests(path: str) -> tuple[str, ...]:
    """The files of the tests that import this module: by themselves, through its package or through a helper.

    A vendor's modules are one package. Nearest first: few imports between, then those that mirror the module's folder.
    Where there is none, those of whoever imports the package.
    """
    module = _name(path)
    package = _package(module)
    far = _importers(module, package) or _importers(module, "")
    mirrored = f"tests.{package.removeprefix('app.').replace('backends.vendors.', 'backends.')}."
    tests = sorted(far, key=lambda name: (far[name], not name.startswith(mirrored), name))
    return tuple(f"{name.replace('.', '/')}.py" for name in tests[:MOST])


def _importers(module: str, package: str) -> dict[str, int]:
    """Tests, and how many imports lie between; the way leads through this package and through helpers of tests."""
    far = {module: 0}
    waiting = [module]
    for here in waiting:
        for importer in sorted(_graph().find_modules_that_directly_import(here)):
            inside = package in ("", importer, _package(importer))  # the package itself passes on what is in it
            if importer not in far and (importer.startswith("tests.") or inside):
                far[importer] = far[here] + 1
                waiting.append(importer)
    return {name: count for name, count in far.items() if _is_test(name)}


def _is_test(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_") and not name.startswith(APART)


def _name(path: str) -> str:
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def _package(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:3] if parts[:2] == ["backends", "vendors"] else parts[:-1])
