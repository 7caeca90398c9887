"""The judge gives numbers and codes: what they are called is said in one place, and that is the view."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import app.core.analysis
from tests.case_loop import loop_over

FILES = sorted(Path(app.core.analysis.__file__).parent.glob("*.py"))


def texts(tree: ast.Module) -> Iterator[str]:
    """Every text of a module but those for programmers: docstrings, and what an error says that no user can cause."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        if isinstance(node, ast.Raise):
            passed |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.value


@loop_over("file", FILES, ids=lambda file: file.stem)
def test_the_judge_has_no_words(file: Path) -> None:
    """A code has no space in it, and no sign of a unit."""
    found = [text for text in texts(ast.parse(file.read_text())) if " " in text.strip() or "%" in text]
    assert found == []


@loop_over("file", FILES, ids=lambda file: file.stem)
def test_the_judge_takes_no_words_from_elsewhere(file: Path) -> None:
    imported = [node.module or "" for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    worded = ("app.core.presentation", "widgets", "app.core.session.unit_labels", "backends.text")
    assert [module for module in imported if module.startswith(worded)] == []


def test_a_sentence_would_be_seen() -> None:
    assert [*texts(ast.parse('"""A docstring."""\n\ndef f():\n    return f"{1} is slower"\n'))] == [" is slower"]
