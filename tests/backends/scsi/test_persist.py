"""A drive's own settings kept by a udev rule, beside the rules of queues and of people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import BlockedError, InvalidValueError, NotFoundError
from backends.model import Target
from backends.vendors.scsi.backend import ScsiBackend
from backends.vendors.scsi.running import RULES
from tests.backends.scsi.drives import Ata, DriveHost, Kind, Scsi, Volume

SDA = Target(backend="scsi", address="sda")
FRONT = 'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ATTRS{wwid}=="naa.5000c50000000000"'


def kept(text: str) -> str:
    """What the one line of the file does."""
    (line,) = [line for line in text.splitlines() if not line.startswith("#")]
    assert line.startswith(FRONT + ", ")
    return line.removeprefix(FRONT + ", ")


async def ruled(drive: Kind, **values: str) -> str:
    return kept((await ScsiBackend(DriveHost({"sda": drive})).persist(SDA, values)).text)


@pytest.mark.parametrize("drive", [Ata(), Scsi()], ids=["sata", "sas"])
async def test_a_write_cache_is_kept_through_the_kernel_so_that_both_agree(drive: Kind) -> None:
    assert await ruled(drive, drive_cache="off") == 'ATTR{device/scsi_disk/*/cache_type}="write through"'


async def test_a_queue_depth_is_an_attribute() -> None:
    assert await ruled(Ata(), queue_depth="4") == 'ATTR{device/queue_depth}="4"'


async def test_what_only_a_program_sets_is_run() -> None:
    assert await ruled(Ata(), read_look_ahead="off", apm="254") == (
        'RUN+="/sbin/hdparm -q -A0 $devnode", RUN+="/sbin/hdparm -q -B254 $devnode"'
    )
    assert await ruled(Scsi(), read_look_ahead="off") == 'RUN+="/sbin/sdparm --quiet --set=DRA=1 $devnode"'


async def test_a_drives_line_is_replaced_and_taken_out_and_a_persons_line_stays() -> None:
    host = DriveHost({"sda": Ata()})
    backend = ScsiBackend(host)
    own = 'SUBSYSTEM=="block", KERNEL=="sdx", ATTR{queue/nomerges}="2"'
    host.files[RULES.path] = (await backend.persist(SDA, {"queue_depth": "4"})).text + own + "\n"
    again = (await backend.persist(SDA, {"queue_depth": "8"})).text
    assert again.splitlines()[:2] == [RULES.header, own]
    host.files[RULES.path] = again
    assert (await backend.persist(SDA, {})).text.splitlines()[-1] == own


def test_the_last_line_taken_out_takes_the_file_with_it() -> None:
    text = RULES.merge(b"", ('ATTRS{wwid}=="naa.1"',), ('ATTR{device/queue_depth}="4"',))
    assert RULES.merge(text, ('ATTRS{wwid}=="naa.1"',), ()) == b""


@given(
    st.text(max_size=200) | st.lists(st.text(max_size=40) | st.just(FRONT), max_size=5).map("\n".join), st.booleans()
)
def test_a_rules_file_never_loses_a_persons_line(text: str, empty: bool) -> None:
    actions = () if empty else ('ATTR{device/queue_depth}="4"',)
    try:
        merged = RULES.merge(text.encode("utf-8", "surrogatepass"), ('ATTRS{wwid}=="x"',), actions)
    except BlockedError:
        return
    theirs = [line for line in text.encode("utf-8", "surrogatepass").split(b"\n") if line]
    assert [line for line in merged.split(b"\n") if line in theirs] == theirs


async def test_a_value_that_is_not_legal_is_not_kept() -> None:
    with pytest.raises(InvalidValueError):
        await ruled(Ata(), queue_depth="64")
    with pytest.raises(NotFoundError):
        await ruled(Ata(), scheduler="none")


async def test_a_virtual_drives_cache_is_not_kept_here() -> None:
    with pytest.raises(BlockedError):
        await ScsiBackend(DriveHost({"sda": Volume()}, tools=())).persist(SDA, {"drive_cache": "off"})
