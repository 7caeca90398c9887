"""`python -m tests.bench [--quick] [--only NAME] [--json]`: measures and prints a table."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import traceback

from tests.bench import disturbance, headless, inventory, live, members, rack, start
from tests.bench.figures import Figure, table
from tests.bench.place import place

PARTS = {
    "start": start.measure,
    "headless": headless.measure,
    "rack": rack.measure,
    "inventory": inventory.measure,
    "live": live.measure,
    "members": members.measure,
    "disturbance": disturbance.measure,
}
"""In the order of their length."""


def main() -> int:
    """Measure what was asked for; a part that fails is said and left out."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="What raidbench itself costs.")
    parser.add_argument("--quick", action="store_true", help="fewer pairs, shorter runs: an impression, no result")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part; may be given several times")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    figures: list[Figure] = []
    with place(quick=options.quick) as here:
        for name in options.only or PARTS:
            print(f"{name} ...", file=sys.stderr, flush=True)
            try:
                figures.extend(PARTS[name](here))
            except Exception:
                print(f"{name} could not be measured:\n{traceback.format_exc()}", file=sys.stderr)
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) | {"verdict": figure.verdict} for figure in figures], indent=1))
    else:
        print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
