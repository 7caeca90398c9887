"""`python -m tests.lab`: boot the laboratory, run its tests, compare what they proved with docs/lab.md.

python -m tests.lab                         all of it
python -m tests.lab tests/lab/test_x.py -x  some of it, in pytest's words; then nothing is compared
python -m tests.lab --keep                  all of it, and write what was proved into docs/lab.md
python -m tests.lab --program WORD...       any program in the guest, as root
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tests.lab import results
from tests.lab.machine.guest import run_in_guest
from tests.lab.machine.kernel import Kernel, kernel
from tests.lab.machine.missing import LabError, LabUnavailableError, check

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "lab.md"
RESULTS = "results.json"

SECONDS = 40 * 60
"""How long a guest may run."""
FOR_A_PERSON = 8 * 3600
"""The same, when somebody tries things out in it."""


def main(words: Sequence[str]) -> int:
    """The exit status; 0 where the laboratory cannot be had, and that is said."""
    signal.signal(signal.SIGTERM, _ended)
    try:
        check()
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raidbench" / "lab"
        ready = kernel(cache)
        if words and words[0] == "--program":
            return run_in_guest(ready, words[1:], Path.cwd(), None, seconds=FOR_A_PERSON)
        keep = "--keep" in words
        return _tests(ready, [word for word in words if word != "--keep"], keep=keep)
    except LabUnavailableError as error:
        print(f"lab: SKIPPED: {error}.", flush=True)
        return 0
    except LabError as error:
        print(f"lab: FAILED: {error}.", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130


def _tests(ready: Kernel, words: Sequence[str], *, keep: bool) -> int:
    """Run the tests in the guest; whole runs are compared with the page, or written into it."""
    started = time.monotonic()
    print(f"lab: booting Linux {ready.version} in QEMU, software emulation ...", flush=True)
    named = [word for word in words if word.startswith("tests/")]
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_asyncio.plugin", "-q"]
    argv += ["--confcutdir=tests/lab", *words]  # what is above is for the host
    argv += [] if named else ["tests/lab"]
    # importing every plugin takes the emulated processor ten seconds
    environment = ("env", "RAIDBENCH_LAB=1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", f"PYTHONPATH={ROOT}")
    with tempfile.TemporaryDirectory(prefix="raidbench-lab-results-") as temporary:
        folder = Path(temporary)
        try:
            status = run_in_guest(ready, (*environment, *argv), ROOT, folder, seconds=SECONDS)
        except LabError:
            print(f"\nlab: how far it came:\n{_log(folder)}", flush=True)
            raise
        print(f"lab: pytest ended with status {status} after {time.monotonic() - started:.0f} s", flush=True)
        if words or status:
            return status
        rows = results.load(folder / RESULTS)
    if keep:
        PAGE.write_text(results.with_claims(PAGE.read_text(), rows))
        return 0
    broken = results.broken_claims(results.claims(PAGE.read_text()), rows)
    for sentence in broken:
        print(f"lab: {sentence}", file=sys.stderr, flush=True)
    unclaimed = len(rows) - len(results.claims(PAGE.read_text()))
    if not broken and unclaimed > 0:
        print(f"lab: docs/lab.md lacks {unclaimed} rows; make lab ARGS=--keep writes them", flush=True)
    return 1 if broken else 0


def _log(folder: Path) -> str:
    """What the tests left word of, before the guest was ended."""
    try:
        return (folder / "log").read_text(errors="replace")
    except OSError:
        return "nowhere"


def _ended(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends the guest and clears up as Ctrl-C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
