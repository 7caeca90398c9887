"""No way to write reaches a disk that is in use, whatever is confirmed; and the blank one is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from backends.change import Change
from backends.model import Scope, Target
from backends.settings import Effect
from tests.lab.disks import Disk, Disks
from tests.lab.making import Md, md_array
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import ALLOWED, NAMED, NEEDS_SCSI, ON_AN_ARRAY, REFUSED
from tests.lab.writing import Writer, command_line, told

Blank = Callable[..., tuple[Disk, ...]]

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


pytestmark = pytest.mark.vendors("block", "md")


def names(disk: Disk, other: Disk) -> dict[str, str]:
    """What is said for what differs from boot to boot."""
    return {disk.kernel: disk.name, other.kernel: other.name, disk.serial: "SERIAL"}


def confirm_token(device: str, disk: Disk) -> str:
    """What has to be typed: of what is built on a disk its name."""
    name = Path(device).name
    given = Path(f"/sys/block/{name}/dm/name")
    return disk.word if device == disk.device else given.read_text().strip() if given.exists() else name


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
        word = confirm_token(device, disk)
        result, said = writer.raw(device, word)
        typed = command_line(device, word, tmp_path) if name in COMMANDED else "-"
        formatted = attempt(writer, formatting, lambda: nvme_format(disk)) if name in FORMATTED else "-"
    ok = result == "refused" and {typed, formatted} <= {"refused", "-"}
    assert table.add("Guard", name, result, typed, formatted, told(said, names(disk, other), point), ok=ok)


@pytest.mark.parametrize("name", NAMED)
def test_what_holds_something_needs_its_name(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("nvme0", "nvme1")
    with NAMED[name](disk, other, tmp_path) as device:
        result, said = writer.raw(device, None)
        wrongly = writer.raw(device, other.word)[0]
        typed = command_line(device, other.word, tmp_path) if name == "unmounted ext4" else "-"
    ok = result == wrongly == "refused" and typed in ("refused", "-")
    result = "refused without the name" if ok else f"{result}, {wrongly}"
    assert table.add("Guard", name, result, typed, "-", told(said, names(disk, other), tmp_path), ok=ok)


@pytest.mark.seconds(400)
@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_blank_is_written(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("nvme0", "nvme1")
    with ALLOWED[name](disk, other, tmp_path) as device:
        result, said = writer.raw(device, None)
        typed = command_line(device, confirm_token(device, disk), tmp_path) if name == "blank" else "-"
    ok = result == "written" and typed in ("written", "-")
    assert table.add("Guard", name, result, typed, "-", told(said, names(disk, other), tmp_path), ok=ok)


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
