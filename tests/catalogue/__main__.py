"""`python -m tests.catalogue --write | --compare BEFORE [AFTER] [--all]`: golden files, or two trees by strings."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from tests.catalogue.comparison import compare, report, tree
from tests.catalogue.golden import HELP, LISTS, STRINGS, string_files, write
from tests.catalogue.strings import strings_of_tree

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Return 0, or 1 where the compared trees differ."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.catalogue", description="Write the golden files, or compare two trees by their strings."
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the golden files")
    action.add_argument(
        "--compare",
        nargs="+",
        metavar=("BEFORE", "AFTER"),
        help="compare the strings of two trees: of the folder or commit BEFORE with those of AFTER, else of this tree",
    )
    parser.add_argument(
        "--all", action="store_true", help="with --compare: also keys, patterns and names, but no docstrings"
    )
    options = parser.parse_args()
    if options.write:
        from tests.catalogue.commands import help_files, list_files  # a comparison needs neither click nor the program

        contents = ((STRINGS, string_files(strings_of_tree(ROOT))), (HELP, help_files()), (LISTS, list_files()))
        changed = [f"{folder.name}/{name}" for folder, files in contents for name in write(folder, files)]
        print("\n".join([*changed, f"{len(changed)} files changed"]))
        return 0
    if len(options.compare) > 2:
        parser.error("--compare takes one or two trees")
    with ExitStack() as stack:
        try:
            before, *rest = [stack.enter_context(tree(name, ROOT)) for name in options.compare]
            changes = compare(before, rest[0] if rest else ROOT)
        except ValueError as error:
            parser.error(str(error))
    if not options.all:
        changes = [change for change in changes if change.is_read]
    for line in report(changes):
        print(line)
    return 1 if changes else 0


if __name__ == "__main__":
    raise SystemExit(main())
