"""`python -m tests.prose [KIND]`: compare each kind of prose with its ceiling, or list the phrases of one kind."""

from __future__ import annotations

import argparse
import sys

from tests.prose.count import CEILINGS, ceilings, count_project, excesses
from tests.prose.pieces import KINDS, ROOT


def main() -> int:
    """Return 0 if every kind is at or below its ceiling, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.prose", description="Count unclear phrases in the project's prose."
    )
    parser.add_argument("kind", nargs="?", choices=KINDS, help="list the phrases of this kind")
    kind = parser.parse_args().kind
    counts = count_project()
    limits = ceilings()
    if kind:
        print("\n".join(counts[kind].hits))
    for name in KINDS:
        print(
            f"{name:<10}  {counts[name].words:>7} words  {len(counts[name].hits):>4} unclear phrases"
            f"  {counts[name].rate:4.1f} per 1,000 (ceiling {limits[name]:.1f})"
        )
    exceeded = excesses(counts, limits)
    for sentence in exceeded:
        print(sentence, file=sys.stderr)
    if exceeded:
        print(
            "List the phrases with `python -m tests.prose KIND` and rewrite them. "
            f"To raise a ceiling, edit {CEILINGS.relative_to(ROOT)} and give the reason in the commit.",
            file=sys.stderr,
        )
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
