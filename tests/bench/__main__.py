"""`python -m tests.bench [--quick] [--only NAME] [--json] [--keep] [--strict]`: measure, and compare with the page."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
import traceback
from collections.abc import Iterable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from app.startup import raise_gc_threshold
from tests.bench import kept
from tests.bench.figures import Figure, table
from tests.bench.place import place

PARTS = (
    "start",
    "completion",
    "headless",
    "rack",
    "screens",
    "inventory",
    "questions",
    "fleet",
    "history",
    "live",
    "members",
    "activity",
    "observe",
    "disturbance",
)
"""Modules of the parts, in the order of their length."""

PAGE = Path(__file__).parents[2] / "docs" / "dev" / "performance.md"


def main() -> int:
    """Measure what was asked for; a part that fails is said and left out. Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="What raidbench itself costs.")
    parser.add_argument("--quick", action="store_true", help="fewer pairs, shorter runs: an impression, no result")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given several times")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--keep", action="store_true", help="write the figures of a whole measurement into the page")
    parser.add_argument("--strict", action="store_true", help="end with status 1 if a release is to be refused")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="measure nothing; read what --json printed")
    options = parser.parse_args()
    if (options.keep or options.strict) and (options.quick or options.only):
        parser.error("only a whole measurement is kept or decides on a release: neither --quick nor --only")
    if options.keep and options.figures:
        parser.error("--keep writes when it was measured: not with --figures")
    if options.figures:
        figures, whole = _read(options.figures), True
    else:
        figures, whole = _measure(options.only or PARTS, quick=options.quick)
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) | {"verdict": figure.verdict} for figure in figures], indent=1))
    else:
        print(table(figures))
    page = PAGE.read_text()
    beside = sys.stderr if options.json else sys.stdout
    print(f"\n{kept.comparison_text(figures, page)}", file=beside)
    if options.keep and whole:
        PAGE.write_text(kept.with_figures(page, figures, circumstances()))
    elif options.keep:
        print("The page stays as it was: only a whole measurement is kept.", file=sys.stderr)
    if options.strict and (refusal := kept.refusal_text(figures, page)):
        print(f"\n{refusal}", file=beside, flush=True)
        return 1
    return 0


def _measure(names: Iterable[str], *, quick: bool) -> tuple[list[Figure], bool]:
    """Return the figures of these parts, and whether all parts could be measured."""
    raise_gc_threshold()  # what is measured without a process of its own is to cost what it costs in the program
    figures: list[Figure] = []
    whole = True
    with place(quick=quick) as here:
        for name in names:
            print(f"{name} ...", file=sys.stderr, flush=True)
            try:
                figures.extend(import_module(f"tests.bench.{name}").measure(here))
            except Exception:
                whole = False
                print(f"{name} could not be measured:\n{traceback.format_exc()}", file=sys.stderr)
    return figures, whole


def _read(file: Path) -> list[Figure]:
    """Return the figures that `--json` printed."""
    rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [Figure(**{name: value for name, value in row.items() if name != "verdict"}) for row in rows]


def circumstances() -> str:
    """When and with what it was measured."""
    fio = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return (
        f"Measured on {date.today().isoformat()} in one run, with {os.cpu_count()} cores, "
        f"Python {platform.python_version()} and {fio}."
    )


if __name__ == "__main__":
    sys.exit(main())
