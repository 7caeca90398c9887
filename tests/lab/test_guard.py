"""No way to write reaches a disk that is in use, whatever is confirmed; and the blank one is written."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.engine.fio.job import Job
from app.engine.fio.profiles import profile
from app.engine.measure.measurer import Request
from app.engine.session.events import ChangeEnded
from app.engine.session.paths import Paths
from app.engine.workbench import Workbench
from backends.change import Change
from backends.errors import RaidbenchError
from backends.hosts.local import LocalHost
from backends.model import Scope, Target
from backends.nameplate import nameplate_of
from backends.settings import Effect
from tests.lab.disks import Disk, Disks
from tests.lab.making import Md, md_array
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import ALLOWED, NAMED, NEEDS_SCSI, ON_AN_ARRAY, REFUSED

Blank = Callable[..., tuple[Disk, ...]]

WORDS = ("--profile", "randwrite-4k", "--runtime", "1", "--ramp", "0")
REFUSES = (2, 3)
"""Exit statuses for what is wrongly asked for and for what is refused."""


FORMATTED = (
    "mounted",
    "mounted in another mount namespace only",
    "a partition of it is mounted",
    "external journal of a mounted filesystem",
    "active swap",
    "below a device-mapper target",
    "member of a running array",
    "member of a stopped array",
    "exported by the NVMe target",
    "a program has it open",
    "read-only",
)
"""States in which formatting is tried, too, one for each kind of reason: it asks for the same facts, but is slow."""

COMMANDED = ("mounted", "below a device-mapper target", "member of a stopped array", "a program has it open")
"""States tried on the command line as well, which takes the engine's way, but slowly."""


class Writer:
    """Every way to write, tried for as long as a module's tests take: fio is asked once what it can do."""

    def __init__(self, folder: Path) -> None:
        paths = Paths(sessions=folder / "s", journal=folder / "j", locks=folder / "l", config=folder / "none")
        self._bench = Workbench(LocalHost(), paths=paths)
        self._loop = asyncio.Runner()
        self._loop.run(self._bench.open())

    def close(self) -> None:
        self._bench.close()
        self._loop.close()

    def raw(self, device: str, typed: str | None) -> tuple[str, str]:
        """What came of a run that writes to the device, and what was said."""
        job = Job.from_fields({"runtime": "1", "ramp": "0"}, profile("randwrite-4k").job)

        async def measure() -> bool:
            ready = await self._bench.prepare(Request(where=device, name=device, job=job))
            record = await self._bench.measure(ready, confirm=typed)
            return record.figures.write is not None and record.figures.write.total_ios > 0

        runs = len(self._bench.session.runs)
        try:
            return ("written" if self._loop.run(measure()) else "nothing written", "")
        except RaidbenchError as error:
            untouched = len(self._bench.session.runs) == runs
            return ("refused" if untouched else "begun", error.message)

    def word(self, device: str) -> str:
        """What means the device, whatever lies on it."""
        drives = self._loop.run(self._bench.probe()).drives
        targets = [drive.target for drive in drives if drive.device == device]
        return nameplate_of(self._bench.session.inventory, targets[0]).word if targets else Path(device).name

    def plan(self, target: Target, key: str, value: str) -> Change:
        """A change that destroys data, planned while nothing stands against it."""

        return self._loop.run(self._bench.plan(target, key, value))

    def apply(self, change: Change) -> str:
        """What came of it: `verified`, or something else."""
        try:
            ended: ChangeEnded = self._loop.run(self._bench.apply(change))
        except RaidbenchError:
            return "refused"
        return ended.result


def command_line(device: str, typed: str, folder: Path) -> str:
    """What came of `raidbench bench DEVICE ... --confirm NAME`, with a link to the device: nothing is looked up."""
    link = folder / "device"
    link.symlink_to(device)
    done = CliRunner().invoke(cli, ["bench", str(link), *WORDS, "--confirm", typed], prog_name="raidbench")
    if done.exit_code in REFUSES:
        return "refused"
    return "written" if done.exit_code == 0 else f"status {done.exit_code}: {done.stderr}"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    made = Writer(tmp_path_factory.mktemp("state"))
    yield made
    made.close()


def told(said: str, disk: Disk, other: Disk, folder: Path) -> str:
    """The words without what differs from boot to boot."""
    for one in (disk, other):
        said = said.replace(one.kernel, one.name)
    said = said.replace(str(folder), "/point").replace(disk.serial, "SERIAL")
    said = re.sub(r"process \d+", "process N", said)
    said = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", said)
    return re.sub(r"\b(md|dm-|loop|lab)\d+", r"\1N", said)


def attempt(writer: Writer, change: Change, look: Callable[[], str]) -> str:
    """What came of a change that destroys data, by what `look` sees of the device as well."""
    before = look()
    result = writer.apply(change)
    return "refused" if result != "verified" and look() == before else f"{result}, changed"


def nvme_format(disk: Disk) -> str:
    """The LBA format in use, as the drive tells it."""
    return str(json.loads(run("nvme", "id-ns", disk.device, "--output-format=json"))["flbas"])


@pytest.fixture(scope="module")
def formatting(writer: Writer, disks: Disks) -> Change:
    """Formatting nvme0 with sectors of another size, planned while it was blank."""
    disk = disks["nvme0"]
    disk.wipe()
    return writer.plan(Target(backend="nvme", address=disk.kernel), "lba_format", "4096")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_in_use_is_never_written(
    writer: Writer, formatting: Change, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("scsi0", "scsi1") if name in NEEDS_SCSI else blank("nvme0", "nvme1")
    point = tmp_path / "point"
    point.mkdir()
    with REFUSED[name](disk, other, point) as device:
        result, said = writer.raw(device, writer.word(device))
        typed = command_line(device, writer.word(device), tmp_path) if name in COMMANDED else "-"
        formatted = attempt(writer, formatting, lambda: nvme_format(disk)) if name in FORMATTED else "-"
    ok = result == "refused" and {typed, formatted} <= {"refused", "-"}
    assert table.add("Guard", name, result, typed, formatted, told(said, disk, other, point), ok=ok)


@pytest.mark.parametrize("name", NAMED)
def test_what_holds_something_needs_its_name(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("nvme0", "nvme1")
    with NAMED[name](disk, other, tmp_path) as device:
        result, said = writer.raw(device, None)
        wrongly = writer.raw(device, writer.word(other.device))[0]
        typed = command_line(device, writer.word(other.device), tmp_path) if name == "unmounted ext4" else "-"
    ok = result == wrongly == "refused" and typed in ("refused", "-")
    result = "refused without the name" if ok else f"{result}, {wrongly}"
    assert table.add("Guard", name, result, typed, "-", told(said, disk, other, tmp_path), ok=ok)


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_blank_is_written(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("nvme0", "nvme1")
    with ALLOWED[name](disk, other, tmp_path) as device:
        result, said = writer.raw(device, None)
        typed = command_line(device, writer.word(device), tmp_path) if name == "blank" else "-"
    ok = result == "written" and typed in ("written", "-")
    assert table.add("Guard", name, result, typed, "-", told(said, disk, other, tmp_path), ok=ok)


@pytest.mark.parametrize("name", ON_AN_ARRAY)
def test_an_array_in_use_is_never_made_anew(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, stack: ExitStack, name: str
) -> None:
    disk, other = blank("nvme0", "nvme1")
    made: Md = stack.enter_context(md_array("raid10", [disk, other], "--layout=n2"))
    change = writer.plan(Target(backend="md", address=made.kernel, scope=Scope.ARRAY), "layout", "f2")
    assert change.effect is Effect.RECREATED
    with ON_AN_ARRAY[name](made, tmp_path):
        anew = attempt(writer, change, lambda: made.detail()["MD_UUID"])
    assert table.add("Guard", f"raid10, {name}", "-", "-", anew, "", ok=anew == "refused")
