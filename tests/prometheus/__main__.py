"""`python -m tests.prometheus`: metrics and rules in a real Prometheus; ends with 77 where none can be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.prometheus.programs import ROOT, NotToBeHadError, get

SKIPPED = 77
"""The exit status that test drivers take for it (automake, Meson)."""


def main(words: list[str]) -> int:
    """Run the tests."""
    try:
        programs = get()
    except NotToBeHadError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return SKIPPED
    path = f"{Path(programs['promtool']).parent}:{os.environ.get('PATH', '')}"
    tests = ("tests/prometheus", "tests/features/metrics/test_promtool.py")
    command = [sys.executable, "-m", "pytest", "-q", *(words or tests)]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
