"""`python -m tests.bench [--quick] [--only NAME] [--json] [--keep]`: measures, prints a table, names what is worse."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
import traceback
from datetime import date
from pathlib import Path

from app.startup import raise_gc_threshold
from tests.bench import (
    activity,
    completion,
    disturbance,
    fleet,
    headless,
    history,
    inventory,
    kept,
    live,
    members,
    observe,
    questions,
    rack,
    screens,
    start,
)
from tests.bench.figures import Figure, table
from tests.bench.place import place

PARTS = {
    "start": start.measure,
    "completion": completion.measure,
    "headless": headless.measure,
    "rack": rack.measure,
    "screens": screens.measure,
    "inventory": inventory.measure,
    "questions": questions.measure,
    "fleet": fleet.measure,
    "history": history.measure,
    "live": live.measure,
    "members": members.measure,
    "activity": activity.measure,
    "observe": observe.measure,
    "disturbance": disturbance.measure,
}
"""In the order of their length."""

PAGE = Path(__file__).parents[2] / "docs" / "dev" / "performance.md"


def main() -> int:
    """Measure what was asked for; a part that fails is said and left out."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="What raidbench itself costs.")
    parser.add_argument("--quick", action="store_true", help="fewer pairs, shorter runs: an impression, no result")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given several times")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--keep", action="store_true", help="write the figures of a whole measurement into the page")
    options = parser.parse_args()
    if options.keep and (options.quick or options.only):
        parser.error("only a whole measurement is kept: neither --quick nor --only")
    raise_gc_threshold()  # what is measured without a process of its own is to cost what it costs in the program
    figures: list[Figure] = []
    whole = True
    with place(quick=options.quick) as here:
        for name in options.only or PARTS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            try:
                figures.extend(PARTS[name](here))
            except Exception:
                whole = False
                print(f"{name} could not be measured:\n{traceback.format_exc()}", file=sys.stderr)
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) | {"verdict": figure.verdict} for figure in figures], indent=1))
    else:
        print(table(figures))
    page = PAGE.read_text()
    print(f"\n{kept.told(figures, page)}", file=sys.stderr if options.json else sys.stdout)
    if options.keep and whole:
        PAGE.write_text(kept.with_figures(page, figures, circumstances()))
    elif options.keep:
        print("The page stays as it was: only a whole measurement is kept.", file=sys.stderr)
    return 0


def circumstances() -> str:
    """When and with what it was measured."""
    fio = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return (
        f"Measured on {date.today().isoformat()} in one run, with {os.cpu_count()} cores, "
        f"Python {platform.python_version()} and {fio}."
    )


if __name__ == "__main__":
    sys.exit(main())
