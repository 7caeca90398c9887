"""Move the modules of a tree into one archive of bytecode. Runs under the Python of the tree, whose bytecode it writes.

Usage: python3.14 -I -S -B -X no_debug_ranges pack.py LIBRARY

The archive is LIBRARY/modules.bin (see sitecustomize.py). Sources and bytecode of the modules in it are removed, and
folders that are then empty.
"""

from __future__ import annotations

import ast
import marshal
import sys
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from types import CodeType

BEFORE = ("os.py", "encodings/", "site-packages/sitecustomize.py")
"""Modules that Python imports before the archive. They remain files of bytecode; by os.pyc Python finds its library."""

REPLACEABLE = ("site-packages/ClusterShell/",)
"""Modules that remain sources with their bytecode: the LGPL lets users replace them."""

OWN = ("site-packages/app/", "site-packages/backends/", "site-packages/widgets/")
"""Modules of raidbench. Click shows the docstrings of their decorated functions as help."""

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def main(library: Path) -> None:
    """Write the archive of a library, such as lib/python3.14."""
    site = library / "site-packages"
    index: dict[str, tuple[int, int, bool, str]] = {}
    codes: list[bytes] = []
    offset = 0
    for root in (site, library):
        for source in sorted(root.rglob("*.py")):
            place = source.relative_to(library).as_posix()
            if place.startswith((*BEFORE, *REPLACEABLE)):
                _compile(source, place)
                continue
            parts = source.relative_to(root).with_suffix("").parts
            package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if package else parts)
            if not all(part.isidentifier() for part in parts):
                continue
            code = marshal.dumps(_without_docstrings(source.read_bytes(), place))
            index[name] = (offset, len(code), package, place)
            codes.append(code)
            offset += len(code)
            source.unlink()
    head = marshal.dumps(index)
    (library / "modules.bin").write_bytes(len(head).to_bytes(8, "little") + head + b"".join(codes))
    for folder in sorted((path for path in library.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _without_docstrings(text: bytes, place: str) -> CodeType:
    """Return the bytecode of a module without docstrings, a tenth of its size.

    Decorated classes keep theirs: dataclasses would otherwise compute one at each start. So do modules and classes of
    the standard library, which extends some of them when it is imported.
    """
    tree = ast.parse(text, place)
    for node in ast.walk(tree):
        if not isinstance(node, _DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
            continue
        decorated = not isinstance(node, ast.Module) and bool(node.decorator_list)
        if isinstance(node, ast.Module | ast.ClassDef):
            needed = decorated or not place.startswith("site-packages/")
        else:
            needed = decorated and place.startswith(OWN)
        if not needed:
            node.body[:1] = [] if node.body[1:] else [ast.copy_location(ast.Pass(), node.body[0])]
    return compile(tree, place, "exec", dont_inherit=True)


def _compile(source: Path, place: str) -> None:
    """Compile a module that remains a file. Its bytecode does not depend on the time of the file (PEP 552)."""
    text = source.read_bytes()
    code = marshal.dumps(compile(text, place, "exec", dont_inherit=True))
    bytecode = MAGIC_NUMBER + (0b01).to_bytes(4, "little") + source_hash(text) + code
    if place.startswith(REPLACEABLE):
        cache = source.parent / "__pycache__"
        cache.mkdir(exist_ok=True)
        (cache / f"{source.stem}.{sys.implementation.cache_tag}.pyc").write_bytes(bytecode)
    else:
        source.with_suffix(".pyc").write_bytes(bytecode)
        source.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
