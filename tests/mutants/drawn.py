"""Random mutants: lines drawn by a seed, each changed once, against the tests that import its module."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants import left_out
from tests.mutants.copied import ROOT, copied, forget, notices, passing
from tests.mutants.cosmic import apply, possible
from tests.mutants.importers import importing_tests


@dataclass(frozen=True, slots=True, order=True)
class Slip:
    """One way to change one line."""

    path: str
    row: int
    operator: str
    occurrence: int
    """Which of the operator's places in the file; the row itself where a statement is left out."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One change, and what became of it."""

    slip: Slip
    change: str
    """The line before and after, as a difference shows them."""
    outcome: str
    """`killed`, `survived`, `untested`."""


def modules(names: Sequence[str]) -> tuple[str, ...]:
    """The files that these paths, folders and patterns name. Raises SystemExit where there is none."""
    found: set[str] = set()
    for name in names:
        files = {path for path in ROOT.glob(name) if path.suffix == ".py"} or set((ROOT / name).glob("**/*.py"))
        if not files:
            raise SystemExit(f"no module is called {name}")
        found |= {path.relative_to(ROOT).as_posix() for path in files if path.name != "__init__.py"}
    return tuple(sorted(found))


def draw(slips: Sequence[Slip], number: int, seed: int) -> list[Slip]:
    """So many lines, and a change for each; the same ones for the same seed and the same source."""
    lines: dict[tuple[str, int], list[Slip]] = {}
    for slip in sorted(slips):
        lines.setdefault((slip.path, slip.row), []).append(slip)
    chance = random.Random(seed)
    return [chance.choice(lines[line]) for line in chance.sample(sorted(lines), min(number, len(lines)))]


def slips_of(copy: Path, paths: Sequence[str]) -> list[Slip]:
    """Every way to change these modules. What decorates a class keeps us from slips, and is no line that decides."""
    found = [Slip(path, row, operator, number) for path, row, operator, number in possible(copy, paths)]
    for path in paths:
        source = (copy / path).read_text(encoding="utf-8")
        found += [Slip(path, row, left_out.OPERATOR, row) for row in left_out.statements(source)]
    texts = {path: (copy / path).read_text(encoding="utf-8").splitlines() for path in paths}
    return [slip for slip in found if not texts[slip.path][slip.row - 1].lstrip().startswith("@")]


def run_drawn(paths: Sequence[str], number: int, seed: int, seconds: float) -> Iterator[Tried]:
    """Each of them in turn, on a copy of the checkout. Modules that lie side by side follow each other."""
    with copied() as copy:
        passes: dict[str, bool] = {}
        """Whether a file of tests passes in the copy; each is tried once, although many modules share it."""
        for slip in sorted(draw(slips_of(copy, paths), number, seed)):
            importing = importing_tests(slip.path)
            if untried := [test for test in importing if test not in passes]:
                passed = passing(copy, untried)
                passes |= {test: test in passed for test in untried}
            forget(copy, [slip.path])
            yield _tried(copy, slip, [test for test in importing if passes[test]], seconds)


def _tried(copy: Path, slip: Slip, tests: Sequence[str], seconds: float) -> Tried:
    file = copy / slip.path
    before = file.read_text(encoding="utf-8")
    try:
        if slip.operator == left_out.OPERATOR:
            file.write_text(left_out.without(before, slip.row), encoding="utf-8")
        else:
            apply(copy, slip.path, slip.operator, slip.occurrence)
        change = _change(before, file.read_text(encoding="utf-8"))
        if not tests:
            return Tried(slip, change, "untested")
        return Tried(slip, change, "killed" if notices(copy, tests, seconds) else "survived")
    finally:
        file.write_text(before, encoding="utf-8")


def _change(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(
        line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---") and line.strip("+- ")
    )
