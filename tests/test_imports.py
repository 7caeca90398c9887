"""What the packages may not import of each other beyond the layers: nothing of what imports them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.case_loop import loop_over
from tests.runtime import PACKAGES, PROJECT, TESTING
from tools.package import tree

ROOT = Path(__file__).parents[1]

NOT_EVERYWHERE = {
    *("_curses", "curses", "dbm", "lzma", "readline", "test", "tkinter", "turtle", "venv", "ensurepip", "idlelib"),
    *("aifc", "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt", "distutils", "imghdr", "imp"),
    *("lib2to3", "mailcap", "nis", "nntplib", "ossaudiodev", "pipes", "pydoc_data", "smtpd", "sndhdr", "spwd", "sunau"),
    *("telnetlib", "uu", "xdrlib"),
}
"""Modules of the standard library that distributions package apart or that a Python after 3.11 has no more."""


def imports(package: str) -> Iterator[tuple[str, str, bool]]:
    """Each import of a package that runs: the module, what it imports, and whether it does so before it is called."""
    for file in sorted((ROOT / package).rglob("*.py")):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module != TESTING and not module.startswith(f"{TESTING}."):
            yield from ((module, name, at_once) for name, at_once in imported(ast.parse(file.read_text("utf-8"))))


def imported(node: ast.AST, at_once: bool = True) -> Iterator[tuple[str, bool]]:
    """What a part of a module imports, without what is for types alone."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from ((alias.name, at_once) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield str(node.module), at_once
    at_once = at_once and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Try)
    for part in ast.iter_child_nodes(node):
        yield from imported(part, at_once)


def distributions(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(one).name) for one in requirements}


NEEDED = distributions(PROJECT["dependencies"])
OPTIONAL = distributions(PROJECT["optional-dependencies"]["hosts"])
OF_MODULE = {name: set(map(canonicalize_name, of)) for name, of in packages_distributions().items()}


def why_not(module: str, name: str, at_once: bool) -> str:
    """Why a module cannot rely on what it imports in every form that is shipped; "" where it can."""
    top = name.partition(".")[0]
    if top in PACKAGES:
        return f"{name} is for tests" if name == TESTING or name.startswith(f"{TESTING}.") else ""
    if top in sys.stdlib_module_names:
        library = f"lib/python{tree.MINOR}/{top}"
        if top in NOT_EVERYWHERE or not (tree.wanted(f"{library}/") and tree.wanted(f"{library}.py")):
            return f"not every Python has {name}"
        return ""
    if OF_MODULE.get(top, set()) & NEEDED:
        return ""
    if OF_MODULE.get(top, set()) & OPTIONAL:
        return f"{name} comes with an extra" if at_once and module != "app.features.fleet.hosts.fanout" else ""
    return f"no package that is asked for has {name}"


@pytest.mark.long
def test_whatever_the_program_imports_comes_with_every_form_that_is_shipped() -> None:
    """Imports within functions count: they fail when somebody needs them."""
    found = [one for package in PACKAGES for one in imports(package)]
    assert len(found) > 9000
    assert [f"{module}: {why}" for module, name, at_once in found if (why := why_not(module, name, at_once))] == []


@loop_over(
    ("text", "reason"),
    [
        ("import pytest", "no package that is asked for has pytest"),
        ("def late():\n    from hypothesis import given", "no package that is asked for has hypothesis"),
        ("class A:\n    async def late(self):\n        import attrs.x", "no package that is asked for has attrs.x"),
        ("from backends.testing.conformance import candidates", "backends.testing.conformance is for tests"),
        ("from ClusterShell import NodeSet", "ClusterShell comes with an extra"),
        ("def late():\n    from ClusterShell import NodeSet", ""),
        ("import unittest.mock", "not every Python has unittest.mock"),
        ("def late():\n    import tkinter", "not every Python has tkinter"),
        ("import turtle", "not every Python has turtle"),
        ("import crypt", "not every Python has crypt"),
        ("try:\n    from ClusterShell import NodeSet\nexcept ImportError:\n    pass", ""),
        ("if TYPE_CHECKING:\n    import pytest", ""),
        ("import json, backends.guard, textual.app", ""),
    ],
)
def test_an_import_that_some_form_lacks_is_found(text: str, reason: str) -> None:
    found = [why_not("app.mine", name, at_once) for name, at_once in imported(ast.parse(text))]
    assert [why for why in found if why] == [reason] * bool(reason)


def test_no_module_imports_what_imports_it() -> None:
    """Imports within functions count; those for types alone do not, since they never run."""
    graph = grimp.build_graph("app", "backends", "widgets", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # CycleError names a circle


MAY_IMPORT_DATACLASS = re.compile(r"from\s+dataclasses\s+import[^\n]*(?:\(|\\|\bdataclass\b)")
"""An import that names `dataclass` in its line or goes on in the next."""


def test_no_dataclass_is_made_by_the_standard_library_where_start_and_memory_count() -> None:
    files = [file for part in ("app", "backends") for file in (ROOT / part).rglob("*.py") if file.name != "values.py"]
    assert len(files) > 300
    made = [
        f"{file.relative_to(ROOT)}: from backends.values import dataclass"
        for file in files
        if MAY_IMPORT_DATACLASS.search(text := file.read_text(encoding="utf-8"))  # most need not be parsed
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(name.name == "dataclass" for name in node.names)
    ]
    assert not made
