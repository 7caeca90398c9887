"""The strings in the source code that a person may read, found in the syntax tree.

A string counts by what it contains and by where it is, never by the name of a module, a function or a variable of this
project: moving and renaming must not change the result.
"""

from __future__ import annotations

import ast
import gc
import inspect
import re
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = ("app", "backends", "widgets")

TEXT_KEYWORDS = frozenset(("description", "epilog", "help", "hint", "label", "placeholder", "title", "tooltip"))
"""Arguments whose value is a text even if it is a single lower-case word."""

CODE_KEYWORDS = frozenset(
    ("classes", "cls", "encoding", "errors", "id", "key", "mode", "newline", "pattern", "selector", "sep", "type")
)
"""Arguments whose value is never a text."""

PARSING_METHODS = frozenset(
    (
        *("count", "decode", "encode", "endswith", "find", "fromisoformat", "index", "lstrip", "partition"),
        *("removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "startswith"),
        *("strftime", "strip", "strptime", "query", "query_one"),
    )
)
"""Methods whose arguments are matched against something."""

KEY_METHODS = frozenset(("get", "pop", "setdefault"))
"""Methods whose first argument is a key."""

CODE_FUNCTIONS = frozenset(
    (
        "NewType",
        "ParamSpec",
        "TypeVar",
        "TypeVarTuple",
        "cast",
        "delattr",
        "getattr",
        "getenv",
        "hasattr",
        "import_module",
        "setattr",
    )
)
"""Functions whose direct arguments are names or patterns."""

REGEX = re.compile(r"\\[bBdDsSwW]|\(\?|\[\^|\]\+|\]\*|\.\*|\.\+|^\^|\\\.")
DOTTED = re.compile(r"(?:app|backends|widgets)(?:\.\w+)+(?::\w+)?")
"""The name of a module, or of an action of the workbench, which the configuration file names."""
PLACEHOLDER = re.compile(r"\{(?:![rsa])?(?::((?:[^{}]|\{\})*))?\}")
NUMBER = re.compile(r"\{:[^{}]*[.,][^{}]*\} ?[A-Za-z/]+")
"""A number as it is shown, with its unit."""
LETTERS = re.compile(r"[^\W\d_]{2,}")
LABEL = re.compile(r"[A-Z][a-z]+(?:[-/][A-Za-z]+)*[.:!?]?|[A-Z]{2,}s?|[A-Z]/[A-Z]|[(\[][^\W\d_]{2,}[)\]]")
SENTENCE_END = re.compile(r"[^\W\d_]{2,}[.!?:,;]")
WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
ARGUMENTS = re.compile(r"(?:[a-z][\w.-]*)?(?: ?--?[a-z][\w-]*(?:[= ][\w.{}/,-]+)?)+")
"""A command line, or a part of one: a program with options, no words between them."""
CSS = re.compile(r"^[^\n]*\{\s*\n\s*[\w$-]+: [^\n]*;|\A(?:[a-z-]+: [$\w %-]+;\s*)+\Z", re.MULTILINE)
"""Rules of a stylesheet, or the declarations of one."""


class Found(NamedTuple):
    """A string of the source."""

    text: str
    line: int
    is_read: bool
    """Whether a person may read it; else it is a key, a pattern or a name."""


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Return the dotted name and the file of every module below `root`, sorted by name."""
    found = []
    for package in PACKAGES:
        for file in (root / package).rglob("*.py"):
            found.append((".".join(file.relative_to(root).with_suffix("").parts), file))
    return iter(sorted(found))


def strings_of_tree(root: Path) -> dict[str, list[Found]]:
    """Return the strings by module. Raises ValueError where a file is no Python."""
    collecting = gc.isenabled()
    gc.disable()  # a syntax tree has no cycles: the collector would walk through all of it in vain, for seconds
    try:
        files = dict(modules(root))
        names = {name.removesuffix(".__init__") for name in files} - {*PACKAGES}  # which are plain words as well
        found = {}
        for name, file in files.items():
            try:
                found[name] = strings_of(file.read_text(encoding="utf-8"), names)
            except SyntaxError as error:
                raise ValueError(f"{file}:{error.lineno}: {error.msg}") from None
        return found
    finally:
        if collecting:
            gc.enable()


def strings_of(source: str, names: Set[str] = frozenset()) -> list[Found]:
    """Return all strings of one module but docstrings, annotations and the `names` of modules.

    A name of a module that is not there counts as read, so that a string which was not moved along is noticed.
    """
    collector = _Collector(source, names)
    collector.visit(ast.parse(source))
    return collector.found


def is_text(text: str, *, is_labelled: bool = False) -> bool:
    """Return whether a person may read `text`. `is_labelled`: it is where a single word is a text, too."""
    bare = PLACEHOLDER.sub(" ", text.replace("{{", "").replace("}}", "")) if "{" in text else text
    if any(ord(sign) > 126 for sign in bare) or ("%" in bare and bare.strip() == "%"):
        return True
    stripped = text.strip()
    if NUMBER.fullmatch(stripped) or DOTTED.fullmatch(stripped) or LABEL.fullmatch(stripped):
        return True
    if not LETTERS.search(bare):
        return False
    if REGEX.search(stripped) or ARGUMENTS.fullmatch(stripped) or CSS.search(stripped):
        return False
    if stripped != text and WORD.search(bare) and not stripped.startswith(("/", "-")):
        return True
    if " " in stripped or "\n" in stripped:
        return True
    if SENTENCE_END.fullmatch(stripped):
        return True
    return is_labelled and WORD.fullmatch(stripped) is not None


class _Collector:
    """Walks through a syntax tree by hand: `ast.NodeVisitor` takes three times as long."""

    def __init__(self, source: str, names: Set[str]) -> None:
        self._names = names
        self._lines = source.split("\n")
        self._depth = 0  # of f-strings
        self.found: list[Found] = []

    def visit(self, node: ast.AST) -> None:
        """Collect the strings of `node` and of all below it."""
        special = _SPECIAL.get(node.__class__)
        if special is not None:
            special(self, node)
            return
        for name in node._fields:
            value = getattr(node, name)
            if value.__class__ is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def _ignore(self, node: ast.AST) -> None:
        pass

    def _constant(self, node: ast.Constant, *, is_labelled: bool = False) -> None:
        if isinstance(node.value, str):
            is_read = is_text(node.value, is_labelled=is_labelled) and not self._is_raw(node)
            self._add(node.value, node, is_read)

    def _add(self, text: str, node: ast.expr | ast.stmt, is_read: bool) -> None:
        module, colon, name = text.partition(":")
        if module in self._names:  # `module:name`, as entry points are written: the name remains
            text, is_read = colon + name, False
        if text:
            self.found.append(Found(text, node.lineno, is_read))

    def _is_raw(self, node: ast.expr) -> bool:
        """Return whether it begins as a raw string: a regular expression."""
        if self._depth:  # Python 3.11 does not know where the strings inside an f-string are
            return False
        line = self._lines[node.lineno - 1]
        start = line[node.col_offset :] if line.isascii() else line.encode()[node.col_offset :].decode()
        return start[:1] in "rR" or start[:2].lower() == "fr"

    def _joined(self, node: ast.JoinedStr) -> None:
        text = _template(node)
        self._add(text, node, is_text(text) and not self._is_raw(node))
        self._depth += 1
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self._text_or_visit(part.value)
        self._depth -= 1

    def _text_or_visit(self, node: ast.expr) -> None:
        """Collect where a single lower-case word is a text."""
        if isinstance(node, ast.Constant):
            self._constant(node, is_labelled=True)
        else:
            self.visit(node)

    def _code_or_visit(self, node: ast.expr) -> None:
        """Collect where a string, or a tuple of strings, is a key or a pattern."""
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            self._visit_code(node)
        elif isinstance(node, (ast.Tuple, ast.Set, ast.List)):
            for item in node.elts:
                self._code_or_visit(item)
        else:
            self.visit(node)

    def _visit_code(self, node: ast.AST) -> None:
        """Collect where nobody reads what is there."""
        number = len(self.found)
        self.visit(node)
        self.found[number:] = [each._replace(is_read=False) for each in self.found[number:]]

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # else a docstring
            self.visit(node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        if any(map(_makes_command, node.decorator_list)) and (doc := ast.get_docstring(node, clean=False)):
            self._add(inspect.cleandoc(doc), node.body[0], True)  # click prints it
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def _assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if not (isinstance(target, ast.Name) and target.id in ("__all__", "__slots__")):
            self.visit(node.value)
            for each in node.targets:
                self.visit(each)

    def _dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and " " in key.value.strip():
                self.visit(key)  # a heading, or what a tool says
            elif key is not None:
                self._code_or_visit(key)
            self.visit(value)

    def _subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        self._code_or_visit(node.slice)

    def _compare(self, node: ast.Compare) -> None:
        for side in (node.left, *node.comparators):
            self._code_or_visit(side)

    def _either(self, node: ast.IfExp) -> None:
        self._text_or_visit(node.body)
        self.visit(node.test)
        self._text_or_visit(node.orelse)

    def _case(self, node: ast.match_case) -> None:
        self._visit_code(node.pattern)
        if node.guard is not None:
            self.visit(node.guard)
        for statement in node.body:
            self.visit(statement)

    def _call(self, node: ast.Call) -> None:
        function = node.func
        codes = 0  # arguments that are no text
        if isinstance(function, ast.Attribute):
            if function.attr in KEY_METHODS:
                codes = 1
            elif (
                function.attr in PARSING_METHODS
                or function.attr in CODE_FUNCTIONS
                or (isinstance(function.value, ast.Name) and function.value.id == "re")
            ):
                codes = len(node.args)
            if function.attr == "split":
                self._code_or_visit(function.value)  # a list of words
            else:
                self.visit(function.value)
        else:
            self.visit(function)
            if isinstance(function, ast.Name) and function.id in CODE_FUNCTIONS:
                codes = len(node.args)
        for number, argument in enumerate(node.args):
            if number < codes:
                self._code_or_visit(argument)
            else:
                self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg in TEXT_KEYWORDS:
                self._text_or_visit(keyword.value)
            elif keyword.arg in CODE_KEYWORDS:
                self._code_or_visit(keyword.value)
            else:
                self.visit(keyword.value)


_SPECIAL: dict[type[ast.AST], Callable[[_Collector, Any], None]] = {
    ast.Constant: _Collector._constant,
    ast.JoinedStr: _Collector._joined,
    ast.Expr: _Collector._expression,
    ast.FunctionDef: _Collector._function,
    ast.AsyncFunctionDef: _Collector._function,
    ast.Assign: _Collector._assign,
    ast.AnnAssign: _Collector._annotated,
    ast.Dict: _Collector._dict,
    ast.Subscript: _Collector._subscript,
    ast.Compare: _Collector._compare,
    ast.IfExp: _Collector._either,
    ast.match_case: _Collector._case,
    ast.Call: _Collector._call,
    ast.Name: _Collector._ignore,
    ast.Import: _Collector._ignore,
    ast.ImportFrom: _Collector._ignore,
    ast.Load: _Collector._ignore,
    ast.Store: _Collector._ignore,
}


def _template(node: ast.JoinedStr) -> str:
    """Return the f-string with `{}` for every value: conversion and format stay, names and expressions do not."""
    parts = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
            spec = f":{_template(part.format_spec)}" if isinstance(part.format_spec, ast.JoinedStr) else ""
            parts.append(f"{{{conversion}{spec}}}")
        elif isinstance(part, ast.Constant):
            parts.append(str(part.value).replace("{", "{{").replace("}", "}}"))
    return "".join(parts)


def _makes_command(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(function, ast.Attribute) and function.attr in ("command", "group")
