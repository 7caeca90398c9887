"""What the packages may not import of each other beyond the layers: nothing of what imports them."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


def test_no_module_imports_what_imports_it() -> None:
    """Imports within functions count; those for types alone do not, since they never run."""
    graph = grimp.build_graph("app", "backends", "widgets", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # CycleError names a circle
