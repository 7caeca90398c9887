"""`make mutants`: changes a guarding line, runs its tests, and lists the changes that no test noticed.

All changes of the named targets, or with `--random` so many lines drawn from a list of modules. Works on a copy of the
checkout: a mutant that is left behind by a kill is not in anybody's way.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence

from tests.mutants import cosmic
from tests.mutants.breaks import missed
from tests.mutants.copied import copied, try_unchanged
from tests.mutants.drawn import modules, run_drawn
from tests.mutants.targets import DRAWN, TARGETS


def main() -> int:
    """Exit status 1 where a mutant survived."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="which targets; with --random files, folders or patterns; all if none")
    parser.add_argument(
        "--random", type=int, metavar="N", help="N lines, drawn, against the tests that import the module"
    )
    parser.add_argument("--seed", type=int, help="of the drawing; said if it is not given")
    parser.add_argument(
        "--breaks", action="store_true", help="guarding lines that tests and rows of trust have to hold"
    )
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for the tests of one mutant")
    wish = parser.parse_args()
    if wish.breaks:
        return 1 if _broken() else 0
    if wish.random is not None:
        seed = wish.seed if wish.seed is not None else random.randrange(1_000_000)
        return 1 if _drawn(wish.names or DRAWN, wish.random, seed, wish.timeout) else 0
    if unknown := set(wish.names) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    return 1 if sum(_all_of(name, wish.timeout) for name in wish.names or TARGETS) else 0


def _all_of(name: str, timeout: float) -> int:
    target = TARGETS[name]
    with copied() as copy:
        try_unchanged(copy, target.modules, target.tests)
        mutants = list(cosmic.run_all(copy, target.modules, target.tests, timeout))
    left = [mutant for mutant in mutants if mutant.outcome == "survived"]
    print(f"{name}: {len(mutants)} mutants, {len(left)} survived", flush=True)
    for mutant in left:
        print(f"  {mutant.place}  {mutant.operator}", flush=True)
    return len(left)


def _broken() -> int:
    lost = 0
    for each, blind in missed():
        lost += bool(blind)
        told = f"not noticed by {blind}" if blind else "noticed by make test and make trust"
        print(f"{told}: {each.name} ({each.module})", flush=True)
    return lost


def _drawn(names: Sequence[str], number: int, seed: int, timeout: float) -> int:
    paths = modules(names)
    print(f"{number} lines of {len(paths)} modules, --seed {seed}", flush=True)
    tried = 0
    left = 0
    for mutant in run_drawn(paths, number, seed, timeout):
        tried += 1
        if mutant.outcome == "killed":
            continue
        left += 1
        slip = mutant.slip
        print(f"{slip.path}:{slip.row} {mutant.outcome}  {slip.operator.removeprefix('core/')}", flush=True)
        for line in mutant.change.splitlines():
            print(f"    {line}", flush=True)
    print(f"{tried} mutants, {left} survived", flush=True)
    return left


if __name__ == "__main__":
    sys.exit(main())
