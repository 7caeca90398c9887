"""`python -m tests.package`: a quick build of two forms and their main promises; ends with 77 without a build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.package import golang, onefile, tree

SKIPPED = 77
"""The exit status that test drivers take for it (automake, Meson)."""

DIST = tree.ROOT / "build" / "quick"
"""The build, apart from that of `make package`."""

TESTS = tuple(
    f"tests/package/promises/test_promises.py::{test}[{form}]"
    for form in ("standalone binary", ".deb")
    for test in (
        "test_it_starts_and_says_what_it_is",
        "test_the_workbench_is_used_by_keys_over_ssh",
        "test_a_trial_reverts",
        "test_a_user_sets_and_undoes_through_the_helper",
    )
)


class NoBuildError(Exception):
    """Error for a machine on which nothing can be built, with the reason."""


def fetch() -> None:
    """Get what a build takes from registries. Raises NoBuildError where that is not possible."""
    try:
        golang.go()
    except golang.GoMissingError as error:
        done = subprocess.run(("sh", "tools/bootstrap", "package"), cwd=tree.ROOT, capture_output=True, text=True)
        if done.returncode:
            raise NoBuildError(f"{error} {done.stderr.strip()[-300:]}") from None
    DIST.mkdir(parents=True, exist_ok=True)
    nfpm = Path(golang.__file__).parent / "nfpm"
    try:
        golang.download(golang.PYTHON, DIST)
        for folder in (onefile.SOURCES, nfpm):
            golang.run("mod", "download", folder=folder)
    except subprocess.CalledProcessError as error:
        if "mismatch" in error.stderr:  # of a checksum: no fault of the network
            raise
        raise NoBuildError(f"the sources of a build cannot be had: {error.stderr.strip()[-300:]}") from None


def build() -> int:
    """Build the forms. Return the exit status."""
    words = ("--quick", "--here", "--forms", "deb", "--out", DIST, "--work", DIST / "work")
    return subprocess.run((sys.executable, "-m", "tools.package", *words), cwd=tree.ROOT).returncode


def main(words: list[str]) -> int:
    """Run the tests, and before that the build; named tests take the build that is there."""
    if not words:
        try:
            fetch()
        except NoBuildError as error:
            print(f"skipped: {error}", file=sys.stderr)
            return SKIPPED
        if status := build():
            return status
    environment = {**os.environ, "RAIDBENCH_DIST": str(DIST)}
    command = (sys.executable, "-m", "pytest", "-q", *(words or TESTS))
    return subprocess.run(command, cwd=tree.ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
