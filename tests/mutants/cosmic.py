"""cosmic-ray: which changes it knows for a module, and making them."""

from __future__ import annotations

import json
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.copied import environment, pytest_words

KEPT = (
    "ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is|In_NotIn|NotIn_In)",
    "AddNot",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceContinueWithBreak",
    "ReplaceBreakWithContinue",
    "ReplaceUnaryOperator_Delete_Not",
    "NumberReplacer",
    "ExceptionReplacer",
    "ZeroIterationForLoop",
)
"""Mutations that stand for a real slip. The others replace `|` of a type or `+` of two strings, which cannot run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change, and what became of it."""

    place: str
    """`backends/guard.py:93 judge`."""
    operator: str
    """`ReplaceComparisonOperator_Eq_NotEq`."""
    outcome: str
    """`killed`, `survived`, `incompetent`."""


def run_all(copy: Path, modules: Sequence[str], tests: Sequence[str], timeout: float) -> Iterator[Mutant]:
    """Every mutation of these modules in the copy; `timeout` in seconds for the tests of each."""
    _begin(copy, modules, shlex.join(pytest_words(tests)), timeout)
    _cosmic_ray(copy, "exec", "mutants.toml", "mutants.sqlite", seconds=2 * timeout)
    yield from read_dump(_cosmic_ray(copy, "dump", "mutants.sqlite"))


def possible(copy: Path, modules: Sequence[str]) -> Iterator[tuple[str, int, str, int]]:
    """Every mutation of these modules: file, row, operator, and which of the operator's places in the file it is."""
    _begin(copy, modules, "true", 1.0)
    for line in _cosmic_ray(copy, "dump", "mutants.sqlite").splitlines():
        item, result = json.loads(line)
        if result is None:
            [mutation] = item["mutations"]
            yield (mutation["module_path"], mutation["start_pos"][0], mutation["operator_name"], mutation["occurrence"])


def apply(copy: Path, module: str, operator: str, occurrence: int) -> None:
    """Make one of them."""
    _cosmic_ray(copy, "apply", module, operator, str(occurrence))


def read_dump(text: str) -> Iterator[Mutant]:
    """What `cosmic-ray dump` says, a line a mutant; those that were filtered out are left out."""
    for line in text.splitlines():
        item, result = json.loads(line)
        if result is None or result["worker_outcome"] == "skipped":
            continue
        [mutation] = item["mutations"]
        row = mutation["start_pos"][0]
        yield Mutant(
            place=f"{mutation['module_path']}:{row} {mutation.get('definition_name') or ''}".rstrip(),
            operator=mutation["operator_name"].removeprefix("core/"),
            outcome=result["test_outcome"] or "incompetent",
        )


def _begin(copy: Path, modules: Sequence[str], command: str, timeout: float) -> None:
    excluded = f"^core/(?!({'|'.join(KEPT)})$)"
    copy.joinpath("mutants.toml").write_text(
        "\n".join(
            (
                "[cosmic-ray]",
                f"module-path = {json.dumps(list(modules))}",
                f"timeout = {timeout}",
                "excluded-modules = []",
                f"test-command = {json.dumps(command)}",
                "[cosmic-ray.distributor]",
                'name = "local"',
                "[cosmic-ray.filters.operators-filter]",
                f"exclude-operators = [{json.dumps(excluded)}]",
            )
        ),
        encoding="utf-8",
    )
    copy.joinpath("mutants.sqlite").unlink(missing_ok=True)
    _cosmic_ray(copy, "init", "mutants.toml", "mutants.sqlite")
    _cosmic_ray(copy, "filter", "mutants.sqlite", "mutants.toml")


def _cosmic_ray(copy: Path, verb: str, *words: str, seconds: float = 0.0) -> str:
    """`seconds`: of CPU for each of its processes; a mutant that loops for ever may outlive its time-out."""

    def limited() -> None:
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (round(seconds), round(seconds)))

    program = ["cr-filter-operators"] if verb == "filter" else ["cosmic-ray", verb]
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program[0])), *program[1:], *words],
        cwd=copy,
        env=environment(copy) | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    if done.returncode:
        raise SystemExit(f"cosmic-ray {verb} failed: {done.stderr[-2000:]}")
    return done.stdout
