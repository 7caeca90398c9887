"""Decides by `make bench` whether this version costs more than docs/dev/performance.md says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tools.release.checks import NotReleasableError

NOT_MEASURED = "The cost of this version was not measured (`make bench`).\n"
"""The last line of the notes of a release that was made without the measurement."""


def require_cost_of_page(root: Path) -> None:
    """Measure the checkout `root` for a quarter of an hour.

    Raises NotReleasableError if a figure is too much worse than on the page. The last lines of the output name it.
    """
    # Make would hand down the ARGS of `make release`.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    argv = ("make", "--no-print-directory", "bench", "ARGS=--strict")
    if subprocess.run(argv, cwd=root, env=environment, stdin=subprocess.DEVNULL).returncode:
        raise NotReleasableError(
            "`make bench` refuses this version; its last lines say why and what to do. Nothing was built. "
            "Move the tag to the new commit, and run `make release` again."
        )
