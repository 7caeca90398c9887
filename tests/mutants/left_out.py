"""A statement that is not there: no operator of cosmic-ray leaves one out, and a guard is often a call."""

from __future__ import annotations

import ast

OPERATOR = "StatementLeftOut"
_KINDS = (ast.Expr, ast.Raise, ast.Assert, ast.Continue, ast.Break, ast.Delete, ast.AugAssign)


def statements(source: str) -> list[int]:
    """The rows in which one begins that could be left out."""
    return sorted({each.lineno for each in _statements(source)})


def without(source: str, row: int) -> str:
    """The source with `pass` for the statement that begins in this row; all rows keep their numbers."""
    [statement] = [each for each in _statements(source) if each.lineno == row]
    assert statement.end_lineno is not None
    lines = source.splitlines(keepends=True)
    first = lines[row - 1]
    indent = first[: len(first) - len(first.lstrip())]
    rest = ["\n"] * (statement.end_lineno - row)
    return "".join([*lines[: row - 1], f"{indent}pass\n", *rest, *lines[statement.end_lineno :]])


def _statements(source: str) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, _KINDS) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if lines[node.lineno - 1].encode()[: node.col_offset].strip():
            continue  # behind something else in its row
        found.append(node)
    return found
