"""`make mutants`: changes a guarding line, runs its tests, and lists the changes that no test noticed.

Works on a copy of the checkout: a mutant that is left behind by a kill is not in anybody's way.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parents[2]

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


def main() -> int:
    """Exit status 1 where a mutant survived."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TARGETS, []], help="which targets; all when none is named")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for the tests of one mutant")
    wish = parser.parse_args()
    survived = 0
    for name in wish.names or TARGETS:
        mutants = list(_mutants(TARGETS[name], wish.timeout))
        left = [mutant for mutant in mutants if mutant.outcome == "survived"]
        survived += len(left)
        print(f"{name}: {len(mutants)} mutants, {len(left)} survived", flush=True)
        for mutant in left:
            print(f"  {mutant.place}  {mutant.operator}", flush=True)
    return 1 if survived else 0


def _mutants(target: Target, timeout: float) -> Iterator[Mutant]:
    with tempfile.TemporaryDirectory(prefix="raidbench-mutants-") as folder:
        copy = Path(folder)
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, files.decode().split("\0")):
            source = ROOT / name
            if source.is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (copy / name).write_bytes(source.read_bytes())
        _write_config(copy, target, timeout)
        _try_unchanged(copy, target)
        _cosmic_ray(copy, "init", "mutants.toml", "mutants.sqlite")
        _cosmic_ray(copy, "filter", "mutants.sqlite", "mutants.toml")
        _cosmic_ray(copy, "exec", "mutants.toml", "mutants.sqlite", seconds=2 * timeout)
        yield from read_dump(_cosmic_ray(copy, "dump", "mutants.sqlite"))


def _tests(target: Target) -> list[str]:
    """Those that are quick: hundreds of mutants meet them."""
    words = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not (exhaustive or slow)"]
    return [sys.executable, "-m", "pytest", *words, *target.tests]


def _try_unchanged(copy: Path, target: Target) -> None:
    """Tests that fail anyway would kill every mutant. They leave bytecode behind, for all but what is mutated.

    A mutant of the same length, written within the same second, would run as the one before.
    """
    done = subprocess.run(
        _tests(target), cwd=copy, env=_environment(copy), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(target.tests)} fail without a mutant:\n{done.stdout[-2000:]}")
    for module in map(Path, target.modules):
        for bytecode in (copy / module.parent / "__pycache__").glob(f"{module.stem}.*"):
            bytecode.unlink()


def _environment(copy: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPATH": str(copy)
    }


def _write_config(copy: Path, target: Target, timeout: float) -> None:
    command = shlex.join(_tests(target))
    excluded = f"^core/(?!({'|'.join(KEPT)})$)"
    copy.joinpath("mutants.toml").write_text(
        "\n".join(
            (
                "[cosmic-ray]",
                f"module-path = {json.dumps(list(target.modules))}",
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


def _cosmic_ray(copy: Path, verb: str, *words: str, seconds: float = 0.0) -> str:
    """`seconds`: of CPU for each of its processes; a mutant that loops for ever may outlive its time-out."""

    def limited() -> None:
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (round(seconds), round(seconds)))

    program = ["cr-filter-operators"] if verb == "filter" else ["cosmic-ray", verb]
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program[0])), *program[1:], *words],
        cwd=copy,
        env=_environment(copy) | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    if done.returncode:
        raise SystemExit(f"cosmic-ray {verb} failed: {done.stderr[-2000:]}")
    return done.stdout


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


if __name__ == "__main__":
    sys.exit(main())
