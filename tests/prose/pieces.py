"""The pieces of prose in the project: paragraphs of pages, docstrings, comments and messages."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = ("docs", "docstrings", "comments", "strings")
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("app", "backends", "docs", "tools", "widgets")
PAGES = ("CONTRIBUTING.md", "README.md")

_DIRECTIVE = re.compile(r"#(!| ?(type|noqa|ruff|pragma|fmt)\b)")
"""Comments that address a program."""
_FEWEST_WORDS = 3
"""A string of fewer words is a label or a key, and no sentence."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of prose: its kind, the file and line where it starts, and its text."""

    kind: str
    path: str
    line: int
    text: str


def tracked_files() -> list[str]:
    """Return the pages and Python files whose prose is counted, as paths relative to the root, sorted."""
    listed = subprocess.run(
        ("git", "ls-files", "--cached", "--others", "--exclude-standard"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return sorted(
        name
        for name in set(listed)
        if (name in PAGES or (name.endswith((".md", ".py")) and name.split("/")[0] in FOLDERS))
        and (ROOT / name).is_file()
    )


def pieces_of(path: str, source: str) -> Iterator[Piece]:
    """Yield the pieces of a file: lines of a Markdown page outside code blocks, or the other kinds of Python code."""
    if path.endswith(".md"):
        yield from _of_page(path, source)
    else:
        yield from _strings_and_docstrings(path, source)
        yield from _comments(path, source)


def _of_page(path: str, source: str) -> Iterator[Piece]:
    is_code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield Piece("docs", path, number, line)


def _strings_and_docstrings(path: str, source: str) -> Iterator[Piece]:
    tree = ast.parse(source)
    inner: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        match node:
            case ast.Expr(value=ast.Constant(value=str() as text) as constant):
                inner.add(id(constant))
                yield Piece("docstrings", path, node.lineno, text)
            case ast.JoinedStr(values=values):
                inner |= {id(value) for value in values}
                text = "".join(str(value.value) if isinstance(value, ast.Constant) else " X " for value in values)
                yield from _message(path, node.lineno, text)
            case ast.Constant(value=str() as text):
                yield from _message(path, node.lineno, text)
            case _:
                pass


def _message(path: str, line: int, text: str) -> Iterator[Piece]:
    if len(re.findall(r"[A-Za-z][a-z']+", text)) >= _FEWEST_WORDS:
        yield Piece("strings", path, line, text)


def _comments(path: str, source: str) -> Iterator[Piece]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            yield Piece("comments", path, token.start[0], token.string[1:])
