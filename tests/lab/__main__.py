"""`python -m tests.lab`: boot the laboratory, run its tests, compare what they proved with docs/dev/lab.md.

python -m tests.lab                         all of it, in two guests side by side
python -m tests.lab tests/lab/test_x.py -x  some of it, in pytest's words; then nothing is compared
python -m tests.lab --keep                  all of it, and write what was proved into docs/dev/lab.md
python -m tests.lab --resume                what the last one of all did not reach or prove (--keep may follow)
python -m tests.lab --again TEST            one test alone; its outcome replaces that in the last run of all
python -m tests.lab --compare               compare what the last run of all proved with docs/dev/lab.md; no guest
python -m tests.lab --program WORD...       any program in the guest, as root
python -m tests.lab --zfs                   build ZFS for the guest's kernel, which takes ten minutes, and keep it

It ends with 1 where anything failed or was not reached, and with 77 where the laboratory cannot be had.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.ci.recorder import VARIABLE, new_file
from tests.lab import record, results
from tests.lab.machine import zfs_module
from tests.lab.machine.guest import run_in_guest
from tests.lab.machine.kernel import Kernel, kernel
from tests.lab.machine.missing import LabError, LabUnavailableError, check

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "dev" / "lab.md"
RUN = ROOT / ".lab"
"""What the last run of all came to."""
GUESTS = ("one", "other")
AGAIN = "again"
"""Beside those of the guests, the folder of tests that were repeated."""
PARTS = (*GUESTS, AGAIN)
SKIPPED = 77
"""The exit status that test drivers take for it (automake, Meson)."""

_ONE = ("building", "boot", "terminal", "controllers", "sweep", "bcache", "guard", "inventory", "layers", "scratch")
_OTHER = ("arrays", "faults", "lvm", "lying", "members", "reshape", "scsi", "unit", "nvme")
"""What each of two guests begins with, in this order. Files not named here come last, and whoever is ready first takes
them; then what the other has not begun yet."""

PYTEST = (
    *("env", "-u", "PYTHONDONTWRITEBYTECODE", "RAIDBENCH_LAB=1", f"PYTHONPATH={ROOT}"),
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1",  # importing every plugin takes the emulated processor ten seconds
    *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_asyncio.plugin", "-q"),
    "--confcutdir=tests/lab",  # what is above is for the host
)
"""pytest for the files of this folder."""

SECONDS = 45 * 60
"""Processor time of a guest."""
FOR_A_PERSON = 8 * 3600
"""The same, when somebody tries things out in it."""


def main(words: Sequence[str]) -> int:
    """The exit status."""
    signal.signal(signal.SIGTERM, _ended)
    try:
        if list(words) == ["--compare"]:
            return _compare(_files(), keep=False)
        check()
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raidbench" / "lab"
        ready = kernel(cache)
        if list(words) == ["--zfs"]:
            print(f"lab: ZFS for Linux {ready.version} is in {zfs_module.build(ready)}", flush=True)
            return 0
        if words and words[0] == "--program":
            return run_in_guest(ready, words[1:], Path.cwd(), None, seconds=FOR_A_PERSON)
        if words and words[0] == "--into":
            return _some(ready, words[3:], Path(words[1]), Path(words[2]))
        _compile()
        if words and words[0] == "--again":
            return _again(ready, words[1])
        if set(words) <= {"--keep", "--resume"}:
            return _all(ready, keep="--keep" in words, resumed="--resume" in words)
        with tempfile.TemporaryDirectory(prefix="raidbench-lab-results-") as temporary:
            return _some(ready, words, Path(temporary) / "out")
    except LabUnavailableError as error:
        print(f"lab: SKIPPED: {error}.", flush=True)
        return SKIPPED
    except LabError as error:
        print(f"lab: FAILED: {error}.", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130


def _some(ready: Kernel, words: Sequence[str], into: Path, turns: Path | None = None) -> int:
    """Run tests in a guest, in pytest's words; its status. What they came to is in the folder `into`, as they go.

    Of files that several guests are given each runs in one of them, if the guests have the folder `turns` in common.
    """
    started = time.monotonic()
    print(f"lab: booting Linux {ready.version} in QEMU, software emulation ...", flush=True)
    zfs = zfs_module.folder(ready)
    argv = ["env", f"RAIDBENCH_LAB_ZFS={zfs or ''}", *PYTEST, "--durations=15", *words]
    argv += [] if any(word.startswith("tests/") for word in words) else ["tests/lab"]
    with _outcomes(into):
        try:
            status = run_in_guest(ready, argv, ROOT, into, turns, seconds=SECONDS)
        except LabError:
            print(f"\nlab: how far it came:\n{_log(into)}", flush=True)
            raise
    print(f"lab: pytest ended with status {status} after {time.monotonic() - started:.0f} s", flush=True)
    return status


@contextmanager
def _outcomes(into: Path) -> Iterator[None]:
    """Hand the failures of a guest on to `.ci/run`. A guest that dies leaves a record without an end."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        yield
        return
    file = new_file(Path(folder))
    file.touch()
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(into / record.OUTCOMES, file)


def _again(ready: Kernel, test: str) -> int:
    """Run one test in a guest of its own; its status. Its outcome replaces that of the last run of all."""
    with tempfile.TemporaryDirectory(prefix="raidbench-lab-results-") as temporary:
        into = Path(temporary) / "out"
        status = _some(ready, [test], into)
        record.add_again(RUN / AGAIN, into)
        return status


def _files() -> list[str]:
    return in_order(path.stem.removeprefix("test_") for path in (ROOT / "tests/lab").glob("test_*.py"))


def _all(ready: Kernel, *, keep: bool, resumed: bool) -> int:
    """Run all tests in two guests side by side, compare what they proved with the page, or write it into the page."""
    files = _files()
    with record.begun(RUN, PARTS, record.tree_of(ROOT), resumed=resumed) as done:
        left = [file for file in files if file not in done]
        if done:
            print(f"lab: {len(done)} of {len(files)} files were proved by the last run", flush=True)
        try:
            statuses = _in_two(ready, left) if left else [0]
        finally:
            reached = _say_what_is_left(record.merged(RUN, PARTS), files)
    return max(*statuses, 1) if any(statuses) or not reached else _compare(files, keep=keep)


def _compare(files: Sequence[str], *, keep: bool) -> int:
    """Compare what the last run proved with the page, or write it into the page; the exit status."""
    came_to = record.merged(RUN, PARTS)
    if not all(came_to.ended.values()) or came_to.not_reached(files):
        _say_what_is_left(came_to, files)
        return 1
    rows = came_to.all_rows
    page = PAGE.read_text()
    if keep:
        PAGE.write_text(results.with_claims(page, rows))
        return 0
    broken = results.broken_claims(results.claims(page), rows)
    for sentence in broken:
        print(f"lab: {sentence}", file=sys.stderr, flush=True)
    unclaimed = len(rows) - len(results.claims(page))
    if not broken and unclaimed > 0:
        print(f"lab: docs/dev/lab.md lacks {unclaimed} rows; make lab ARGS=--keep writes them", flush=True)
    if not broken:
        print(f"lab: all {len(rows)} rows of docs/dev/lab.md were proved", flush=True)
    return 1 if broken else 0


def _in_two(ready: Kernel, files: Sequence[str]) -> list[int]:
    """Run files in two guests; where one dies the other goes on. The status of each."""
    one, other = (RUN / name for name in GUESTS)
    with (
        tempfile.TemporaryDirectory(prefix="raidbench-lab-turns-") as turns,
        _beside(files[::-1], other, Path(turns)) as ended,
    ):
        try:
            status = _some(ready, files, one, Path(turns))
        except LabError as error:
            print(f"lab: FAILED: {error}.", file=sys.stderr, flush=True)
            status = 1
        return [status, ended()]


def _say_what_is_left(came_to: record.Record, files: Sequence[str]) -> bool:
    """Name the tests that failed and those that were not reached; whether all of them were."""
    for test, ok in came_to.ended.items():
        if not ok:
            print(f"lab: failed: {test}", file=sys.stderr, flush=True)
    missed = came_to.not_reached(files)
    for line in missed:
        print(f"lab: not reached: {line}", file=sys.stderr, flush=True)
    if missed:
        print(
            "lab: make lab ARGS=--resume goes on from here, as long as no line is changed", file=sys.stderr, flush=True
        )
    return not missed


def in_order(found: Iterable[str]) -> list[str]:
    """The files of tests: one guest takes them from the beginning of this list, the other from its end."""
    names = set(found)
    between = sorted(names.difference(_ONE, _OTHER))
    order = (*_ONE, *between, *reversed(_OTHER))
    return [f"tests/lab/test_{name}.py" for name in order if name in names]


@contextmanager
def _beside(words: Sequence[str], into: Path, turns: Path) -> Iterator[Callable[[], int]]:
    """Another guest in a process of its own, which emulates on another core; its words come when it has ended."""
    argv = (sys.executable, "-m", "tests.lab", "--into", str(into), str(turns), *words)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)

        def ended() -> int:
            status = process.wait()
            said.seek(0)
            sys.stdout.buffer.write(said.read())
            sys.stdout.flush()
            return status

        try:
            yield ended
        finally:
            process.terminate()
            process.wait()


def _compile() -> None:
    """Compile here what is imported there, where that takes twenty times as long."""
    packages = sysconfig.get_path("purelib")
    argv = (sys.executable, "-m", "compileall", "-q", "-j0", "-x", "/(scipy|numpy|mypy|hypothesis|[a-z_]*tests?)/")
    subprocess.run((*argv, "app", "backends", "widgets", packages), cwd=ROOT, capture_output=True)
    # The tests are compiled in a way of pytest's own.
    subprocess.run((*PYTEST, "--collect-only", "tests/lab"), cwd=ROOT, capture_output=True)


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
