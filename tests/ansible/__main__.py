"""`python -m tests.ansible`: the collection in real plays; ends with 77 where ansible-core cannot be had."""

from __future__ import annotations

import subprocess
import sys

from tests import sshd
from tests.ansible.environment import ROOT, NoAnsibleError, get

SKIPPED = 77
"""The exit status that test drivers take for it (automake, Meson)."""


def main(words: list[str]) -> int:
    """Run the tests."""
    try:
        get()
        if why := sshd.get():
            print(f"without sshd: {why}", file=sys.stderr)
    except NoAnsibleError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return SKIPPED
    return subprocess.run([sys.executable, "-m", "pytest", "-q", *(words or ["tests/ansible"])], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
