"""The golden files: one a package with its strings by module, one a command with its help, one a list it prints."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.catalogue.strings import Found

FOLDER = Path(__file__).parent
STRINGS = FOLDER / "strings"
HELP = FOLDER / "help"
LISTS = FOLDER / "lists"

REGENERATE = """If the change is meant: `.venv/bin/python -m tests.catalogue --write`, then `git diff tests/catalogue`.
If code was moved: `.venv/bin/python -m tests.catalogue --compare HEAD` lists what was lost or added in all modules."""
SHOWN = 60
"""Lines of a difference that a failed test prints."""

_ESCAPED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\\]")


def string_files(strings: Mapping[str, Iterable[Found]]) -> dict[str, str]:
    """Return the golden files by name: what a person may read in each package, sorted, below its module."""
    packages: dict[str, list[str]] = defaultdict(list)
    for module, found in sorted(strings.items()):
        if texts := sorted(each.text for each in found if each.is_read):
            package = module.rpartition(".")[0]
            packages[package].append("\n".join([module, *map(quoted, texts)]))
    return {f"{package}.txt": "\n\n".join(parts) + "\n" for package, parts in packages.items()}


def quoted(text: str) -> str:
    """Return `text` as a line, or as a block where it has several, indented and between quotation marks."""
    escaped = _ESCAPED.sub(lambda sign: sign.group().encode("unicode_escape").decode(), text)
    return '    "' + escaped.replace("\n", "\n    |") + '"'


def write(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Make `folder` hold these files alone; return the names of those that were changed, made or deleted."""
    folder.mkdir(exist_ok=True)
    changed = []
    for name in sorted({*files, *(file.name for file in folder.glob("*.txt"))}):
        file = folder / name
        if name not in files:
            file.unlink()
        elif not file.exists() or file.read_text(encoding="utf-8") != files[name]:
            file.write_text(files[name], encoding="utf-8")
        else:
            continue
        changed.append(name)
    return changed


def differences(folder: Path, files: Mapping[str, str]) -> str:
    """Return how the golden files in `folder` differ from `files`, and how to write them; "" if they do not."""
    golden = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.txt")}
    lines = [
        line
        for name in sorted({*golden, *files})
        if golden.get(name) != files.get(name)
        for line in difflib.unified_diff(
            golden.get(name, "").split("\n"),
            files.get(name, "").split("\n"),
            f"golden/{name}",
            f"program/{name}",
            n=0,
            lineterm="",
        )
    ]
    if not lines:
        return ""
    left = [f"... and {len(lines) - SHOWN} lines more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *left, REGENERATE])
