"""`python -m tests.trust [--only T5,A1] [--quick] [--write] [--compare]`: tries every promise, one printed row each."""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.trust import table
from tests.trust.row import Result, Standing
from tests.trust.rows import ROWS
from tests.trust.running import run_all

PAGE = Path(__file__).parents[2] / "docs" / "dev" / "trust.md"
SIGNS = {Standing.HELD: "ok", Standing.PARTLY: "in part", Standing.UNTRIED: "not tried", Standing.BELOW: "FAIL"}


def main() -> int:
    """Exit status 0 where all rows are at their marks, 1 where one is below, 3 where one was not tried as a whole.

    1 too where the table has become wrong, with --compare.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description="Tries every promise about data.")
    parser.add_argument("--only", metavar="T5,A1", help="these rows")
    parser.add_argument("--quick", action="store_true", help="small numbers: whether the rows still run, no mark")
    parser.add_argument("--write", action="store_true", help="write what was tried into the table of docs/dev/trust.md")
    parser.add_argument("--compare", action="store_true", help="fail where docs/dev/trust.md says something else")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else [row.number for row in ROWS]
    unknown = set(wanted) - {row.number for row in ROWS}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    if (options.quick and (options.write or options.compare)) or (options.compare and options.only):
        parser.error("a table is compared with a whole run, and never made of small numbers")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # rows that still run are ended with it
    before = PAGE.read_text()
    began = time.monotonic()
    results = []
    for result in run_all([row for row in ROWS if row.number in wanted], quick=options.quick):
        results.append(result)
        _tell(result)
        if options.write:  # at once: a long run that is cut off keeps what it tried
            PAGE.write_text(table.with_table(PAGE.read_text(), [result], datetime.now(UTC).date().isoformat()))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # tells a slow run from a busy machine
    cost = f"{time.monotonic() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU"
    for line in summary(results):
        print(line)
    print(cost)
    differs = [] if options.quick or options.only else table.differences(before, results)
    for line in differs:
        print(f"differs: {line}")
    return 1 if options.compare and differs else status(results)


def summary(results: Sequence[Result]) -> list[str]:
    """How many rows are at their marks, and which are not, for which reason."""
    lists = {kind: [each for each in table.in_order(results) if each.standing is kind] for kind in (*Standing,)}
    lines = [f"{len(lists[Standing.HELD])} of {len(results)} rows at their marks"]
    if below := lists[Standing.BELOW]:
        lines.append(f"below: {', '.join(each.row.number for each in below)}")
    for kind in (Standing.PARTLY, Standing.UNTRIED):
        if lists[kind]:
            lines.append(f"{kind}: {', '.join(each.row.number for each in lists[kind])}")
    return lines


def status(results: Sequence[Result]) -> int:
    """The exit status: that nothing failed is not yet a mark that was reached."""
    if any(each.standing is Standing.BELOW for each in results):
        return 1
    return 0 if all(each.standing is Standing.HELD for each in results) else 3


def _tell(result: Result) -> None:
    number, what, tried, failed, mark, _, seconds = table.row_of(result)
    sign = SIGNS[result.standing]
    print(f"{sign:<9} {number:<4} {what} | tried {tried}, failed {failed} | {mark} | {seconds}", flush=True)
    if result.standing in (Standing.PARTLY, Standing.UNTRIED):
        print(f"{'':<15}not tried: {result.why}", flush=True)
    for note in result.tally.notes:
        print(f"{'':<15}{note}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
