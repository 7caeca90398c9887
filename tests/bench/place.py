"""Where a benchmark works: a folder of its own, compiled code, the programs it starts."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What all measurements share."""

    folder: Path
    """For sessions, compiled code, results."""
    memory: Path
    """A folder in memory for scratch files: no device is as fast, none is disturbed sooner."""
    quick: bool
    """Fewer pairs and shorter runs."""

    def environment(self, **more: str) -> dict[str, str]:
        """Everything below the folder; compiled code is kept, as it is for an installed program."""
        own = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(self.folder / "compiled"),
            "RAIDBENCH_STATE_DIR": str(self.folder / "state"),
        }
        return own | more

    def python(self, *words: str) -> tuple[str, ...]:
        """Words that start Python."""
        return (sys.executable, *words)

    def raidbench(self, *words: str) -> tuple[str, ...]:
        """Words that start raidbench as the installed script does."""
        return self.python("-c", "import sys; from app.__main__ import main; sys.exit(main())", *words)

    def workbench(self, *words: str) -> tuple[str, ...]:
        """Words that start `tests.bench.workbench`, as light as the installed script makes it."""
        code = "import runpy; from app.startup import import_asyncio, import_textual, raise_gc_threshold; "
        code += "raise_gc_threshold(); import_asyncio(); import_textual(); "
        code += "runpy.run_module('tests.bench.workbench', run_name='__main__')"
        return self.python("-c", code, *words)


@contextmanager
def place(*, quick: bool) -> Iterator[Place]:
    """A place for one run, removed afterwards."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="raidbench-bench-") as folder,
        tempfile.TemporaryDirectory(prefix="raidbench-bench-", dir=memory) as fast,
    ):
        here = Place(folder=Path(folder), memory=Path(fast), quick=quick)
        modules = ("app.cli.main", "app.cli.devices", "app.tui.bench.screen", "tests.bench.workbench")
        code = f"import {', '.join((*modules, 'tests.bench.minimal'))}"
        subprocess.run(here.python("-c", code), env=here.environment(), check=True)  # compiled once for all
        yield here
