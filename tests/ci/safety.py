"""Tests that are never repeated: a failure of guard, journal, trial or helper is a failure, even once."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Subject:
    """One part of the program that keeps other people's data safe."""

    name: str
    """Its name in messages."""
    words: tuple[str, ...]
    """Beginnings of words in a test's path or name."""
    modules: tuple[str, ...]
    """Modules and packages. A file that imports one of them has tests of this subject."""
    folders: tuple[str, ...] = ()
    """Folders of tests, with a slash at the end."""


SUBJECTS = (
    Subject(
        "the guard",
        ("guard", "scratch", "swaps", "trust"),
        (
            *("backends.guard", "backends.exclusive", "backends.changing", "backends.subject"),
            *(
                f"backends.topology.{name}"
                for name in ("naming", "ranges", "sight", "backings", "mapped", "openers", "look", "clones", "exports")
            ),
            *(f"backends.topology.{name}" for name in ("room", "room_look", "quiet_users", "leftovers", "replicas")),
            *("backends.topology.file_users", "backends.topology.footing"),
            *(f"app.engine.measure.{name}" for name in ("scratch_mark", "scratch_hold", "scratch_use")),
            *("app.engine.measure.ending", "app.engine.measure.footing_watch"),
            *("app.engine.arrays", "backends.vendors.mdraid.making", "tests.backends.guard_states"),
            *("backends.hosts.local.replacing", "backends.input_file", "backends.output_file"),
            *("tests.lab.writing", "tests.lab.uses"),
        ),
    ),
    Subject(
        "the journal",
        ("journal", "unfinished", "recover", "kill", "custody"),
        tuple(f"app.engine.session.{name}" for name in ("journal", "journals", "own_file", "locks")),
    ),
    Subject("the trial", ("trial", "watchdog"), ("app.engine.change", "tests.watchdogs"), ("tests/engine/change/",)),
    Subject("the helper", ("helper", "priv", "sudo"), ("app.priv", "tests.priv"), ("tests/priv/",)),
)


def safety_subject(test: str, root: Path = ROOT) -> str:
    """Return the subject that forbids to repeat this test, or "" if there is none.

    The node id decides, and what the test's file imports: a new test of the guard is found by its imports, whatever
    its name. A file that cannot be read is taken for one of the guard.
    """
    words = re.split("[^a-z]+", test.lower())
    try:
        imports = _imports(root / test.partition("::")[0])
    except (OSError, SyntaxError, ValueError):
        return SUBJECTS[0].name
    for subject in SUBJECTS:
        named = test.startswith(subject.folders) or any(word.startswith(subject.words) for word in words)
        if named or any(f"{name}.".startswith(f"{module}.") for name in imports for module in subject.modules):
            return subject.name
    return ""


def _imports(path: Path) -> frozenset[str]:
    """Return what a Python file imports: modules, and `module.name` for each name that is taken from one."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)
