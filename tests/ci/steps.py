"""The steps of `.ci/run`: what became of each, and how one of its tests is repeated alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SKIPPED = 77
"""The exit status of a step that cannot be had on this machine."""

_PYTHON = ".venv/bin/python"
_PYTEST = (_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider")
_WORKER = (*_PYTEST, "-n", "1")
"""One worker, as these steps have several: a worker of root has mounts and locks of its own."""

REPEAT: dict[str, tuple[str, ...]] = {
    "make test": _WORKER,
    ".ci/as-user make test-user": (".ci/as-user", *_WORKER),
    "make test-exhaustive": _WORKER,
    "make test-simulator": _WORKER,
    "make build": _PYTEST,
    "make browser": _PYTEST,
    "metrics": (_PYTHON, "-m", "tests.prometheus"),
    "ansible": (_PYTHON, "-m", "tests.ansible"),
    "package": (_PYTHON, "-m", "tests.package"),
    "lab": (_PYTHON, "-m", "tests.lab", "--again"),
}
"""By step, the command that runs one of its tests; the node id follows."""

CONFIRM: dict[str, tuple[str, ...]] = {"lab": (_PYTHON, "-m", "tests.lab", "--compare")}
"""By step, the command that checks what all its tests came to, once each of them has passed."""


@dataclass(frozen=True)
class Step:
    """One step that was run."""

    name: str
    """Its command, as `.ci/run` has it."""
    status: int
    """Its exit status."""
    seconds: int
    folder: Path
    """The records of its pytest sessions."""


def read_steps(folder: Path) -> tuple[Step, ...]:
    """Return the steps that `.ci/run` noted in `folder`.

    Raises ValueError if there are none, or a line is malformed.
    """
    lines = (folder / "steps").read_text(encoding="utf-8").splitlines()
    if not lines:
        raise ValueError("no step was run")
    steps = []
    for number, line in enumerate(lines, 1):
        status, seconds, name = line.split("\t")
        steps.append(Step(name, int(status), int(seconds), folder / str(number)))
    return tuple(steps)
