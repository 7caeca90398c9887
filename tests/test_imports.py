"""What the packages may not import of each other beyond the layers: nothing of what imports them."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import grimp


def test_no_module_imports_what_imports_it() -> None:
    """Imports within functions count; those for types alone do not, since they never run."""
    graph = grimp.build_graph("app", "backends", "widgets", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # CycleError names a circle


def test_no_dataclass_is_made_by_the_standard_library_where_start_and_memory_count() -> None:
    root = Path(__file__).parents[1]
    files = [file for part in ("app", "backends") for file in (root / part).rglob("*.py") if file.name != "values.py"]
    assert len(files) > 300
    made = [
        f"{file.relative_to(root)}: from backends.values import dataclass"
        for file in files
        if "dataclasses" in (text := file.read_text(encoding="utf-8"))  # most need not be parsed
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(name.name == "dataclass" for name in node.names)
    ]
    assert not made
