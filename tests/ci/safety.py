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
            *("backends.guard", "backends.exclusive_open", "backends.change_steps", "backends.subject"),
            *(
                "backends.topology.device_identity",
                "backends.topology.ranges",
                "backends.topology.loop_backing",
                "backends.topology.device_mapper",
                "backends.topology.open_files",
                "backends.topology.scan",
                "backends.topology.clones",
                "backends.topology.exports",
            ),
            *(
                "backends.topology.thin_capacity",
                "backends.topology.thin_capacity_scan",
                "backends.topology.quiet_users",
                "backends.topology.leftovers",
                "backends.topology.replicas",
            ),
            *("backends.topology.file_users", "backends.topology.footing"),
            *(
                "app.core.benchmark.scratch_xattr",
                "app.core.benchmark.scratch_descriptor",
                "app.core.benchmark.scratch_use",
            ),
            *("app.core.benchmark.abort_conditions", "app.core.benchmark.stack_watch"),
            *("app.core.changes.arrays", "backends.vendors.mdraid.creation", "tests.backends.guard_states"),
            *("backends.system.local.file_replacement", "backends.input_file", "backends.output_file"),
            *("tests.lab.writing", "tests.lab.uses"),
        ),
    ),
    Subject(
        "the journal",
        ("journal", "unfinished", "recover", "kill", "custody", "unreleased"),
        (
            "app.core.session.journal",
            "app.core.session.journals",
            "app.core.session.unreleased",
            "app.core.session.unreleased_sessions",
            "app.core.unreadable_state",
            "app.core.session.trusted_file",
            "app.core.session.locks",
        ),
    ),
    Subject("the trial", ("trial", "watchdog"), ("app.core.changes", "tests.watchdogs"), ("tests/core/changes/",)),
    Subject("the helper", ("helper", "priv", "sudo"), ("app.privsep", "tests.privsep"), ("tests/privsep/",)),
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
