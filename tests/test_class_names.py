"""A class name means one thing in the whole product."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_no_class_name_means_two_things() -> None:
    files = [file for package in ("app", "backends", "widgets") for file in (ROOT / package).rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    counted = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name for name, count in counted.items() if count > 1} == set()
