"""What the laboratory's tests are given. All of it runs in the guest, as root, on disks that can be spoilt."""

from __future__ import annotations

import faulthandler
import gc
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import pytest

from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.system.local import LocalHost
from tests.ci.recorder import Recorder
from tests.lab import making, record, results, running
from tests.lab.disks import Disk, Disks
from tests.lab.making import Dm, Made, Md
from tests.lab.turns import Turns
from tests.lab.writing import Writer

OUT = Path("/run/lab/out")
TURNS = Path("/run/lab/turns")
SECONDS = 180
"""What a test may take unless it says `@pytest.mark.seconds(N)`; a busy machine makes everything three times slower."""

_rows = results.Results()
_record = record.Writer(OUT)


class TookTooLongError(Exception):
    """A test took longer than it may."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Nothing hangs the laboratory: a test is interrupted, and if that does not help the whole run ends."""
    marker = item.get_closest_marker("seconds")
    seconds = int(marker.args[0]) if marker is not None else SECONDS

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        faulthandler.dump_traceback()
        raise TookTooLongError(f"{item.nodeid} took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(seconds + 60, exit=True)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave word of what there is to be run.

    Look for garbage less often, and never among the modules: each look takes the emulated processor long.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    if not session.config.option.collectonly:
        _record.there(item.nodeid for item in session.items)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Leave word as the tests go: should the guest die, that is all there is."""
    _record.report(report.nodeid, report.when, failed=report.failed, rows=_rows.rows)
    with open(OUT / "log", "a") as log:
        log.write(f"{report.duration:.1f} {report.when} {report.outcome} {report.nodeid}\n")
        if report.failed:
            log.write(f"{report.longreprtext}\n")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was proved."""
    terminalreporter.write_line("")
    terminalreporter.write_line(results.markdown(_rows.rows))


@pytest.fixture(scope="session")
def table() -> results.Results:
    """Where a test writes down what it proved: `table.setting(...)`, `table.add("Faults", ...)`."""
    return _rows


@pytest.fixture(scope="session")
def disks() -> Disks:
    """The disks by their names in the laboratory: `disks["nvme0"].device`."""
    return Disks()


@pytest.fixture
def blank(disks: Disks) -> Iterator[Callable[..., tuple[Disk, ...]]]:
    """`one, two = blank("nvme0", "nvme1")`: these disks, blank now and wiped after the test."""
    taken: list[str] = []

    def take(*names: str) -> tuple[Disk, ...]:
        taken.extend(names)
        for name in names:
            disks[name].wipe()
        return tuple(disks[name] for name in names)

    yield take
    for name in taken:
        if not disks.has(name):
            disks.replug(name)
        disks[name].wipe()


@pytest.fixture
def unplug(disks: Disks) -> Iterator[Callable[[str], None]]:
    """`unplug("nvme3")` takes a disk out; it is put back after the test, or by `disks.replug("nvme3")`."""
    taken: list[str] = []

    def take_out(name: str) -> None:
        taken.append(name)
        disks.unplug(name)

    yield take_out
    for name in taken:
        if not disks.has(name):
            disks.replug(name)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    """Every way to write, tried for as long as a module's tests take: fio is asked once what it can do."""
    made = Writer(tmp_path_factory.mktemp("state"))
    yield made
    made.close()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Context managers for the length of a test."""
    with ExitStack() as inner:
        yield inner


@pytest.fixture
def array(blank: Callable[..., tuple[Disk, ...]], stack: ExitStack) -> Callable[..., Md]:
    """`array("raid5", ["nvme0", "nvme1", "nvme2"], "--chunk=64", size="64M")`; stopped and forgotten after the test."""

    def make(level: str, members: Sequence[str | Made], *options: str, size: str = "32M") -> Md:
        taken = [blank(member)[0] if isinstance(member, str) else member for member in members]
        return stack.enter_context(making.md_array(level, taken, *options, size=size))

    return make


@pytest.fixture
def dm(stack: ExitStack) -> Callable[[str], Dm]:
    """`dm(f"0 65536 delay {disk.device} 0 20")`: see `making.dm_target`."""
    return lambda text: stack.enter_context(making.dm_target(text))


@pytest.fixture
def null_blk(stack: ExitStack) -> Callable[..., Made]:
    """`null_blk(completion_nsec=1000000, irqmode=2)`: see `making.null_blk_device`."""
    return lambda **attributes: stack.enter_context(making.null_blk_device(**attributes))


@pytest.fixture
def scsi_debug(stack: ExitStack) -> Callable[..., Made]:
    """`scsi_debug(ndelay=5000000)`: see `making.scsi_debug_disk`."""
    return lambda **parameters: stack.enter_context(making.scsi_debug_disk(**parameters))


@pytest.fixture
def udev() -> Iterator[None]:
    """A running udev for the length of a test, and nothing left of it."""
    running.run("/lib/systemd/systemd-udevd", "--daemon")
    yield
    running.run("udevadm", "control", "--exit")  # waits until it has
    shutil.rmtree("/run/udev")


@pytest.fixture(autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `@pytest.mark.vendors` says of a test."""
    marker = request.node.get_closest_marker("vendors")
    if marker is not None:
        running.ask_only(monkeypatch, *marker.args)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of sessions, journal and locks, here and for what is started."""
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
async def workbench(state: Path) -> AsyncIterator[Workbench]:
    """The engine on this very machine, recording a session."""
    bench = Workbench(LocalHost(), paths=Paths.of(""))
    await bench.open()
    yield bench
    bench.close()


@pytest.fixture
def raidbench(state: Path) -> Callable[..., running.Outcome]:
    """`raidbench("devices", "--json").json`: the command line, with the folders of this test."""
    return running.raidbench


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run anywhere but in the guest: here disks are wiped by name."""
    config.addinivalue_line("markers", "seconds(n): the test may take n seconds")
    config.addinivalue_line("markers", "vendors(name, ...): no others are asked")
    in_guest = os.environ.get("RAIDBENCH_LAB") == "1" and OUT.is_dir()
    if not in_guest and not config.option.collectonly:
        pytest.exit("tests/lab runs in the laboratory's guest only: make lab", returncode=4)
    config.pluginmanager.register(Turns(TURNS))
    if in_guest:
        config.pluginmanager.register(Recorder(OUT / record.OUTCOMES))
