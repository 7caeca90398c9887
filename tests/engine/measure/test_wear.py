"""What a writing job costs a drive is said before it is agreed to; what is not known is said to be unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.fio.job import Job
from app.engine.measure.device_access import DeviceJudgement
from app.engine.measure.preparation import Preparation, Request
from app.engine.measure.wear import wear_words
from app.engine.session.events import RunEnded, RunStarted
from app.engine.session.state import Session, replay
from backends.guard import GuardAnswer, Intent
from backends.identity import Identity
from backends.model import Drive, Fact, Inventory, Target
from backends.nameplate import nameplate
from tests.engine import sessions

DISK = Identity(name="sda", serial="AB12345678")
VERDICT = GuardAnswer(device="/dev/sda", ok=True, plate=nameplate(DISK))
JUDGED = DeviceJudgement(
    device="/dev/sda",
    disk="/dev/sda",
    size=100 << 30,
    logical_block_size=512,
    identity=DISK,
    intent=Intent.WRITE,
    verdict=VERDICT,
)
WRITING = Job.from_fields({"rw": "randwrite", "runtime": "50", "ramp": "10"})


def ready(job: Job = WRITING, fills: int = 0) -> Preparation:
    request = Request(where="/dev/sda", name="block:sda", job=job, fills=fills)
    return Preparation(request=request, job=job, fio_version="3.33", judgement=JUDGED, device="/dev/sda")


def wrote(device: str, mib_s: float) -> Session:
    """A session with a run that wrote to a device so fast."""
    begun, ended = sessions.run("r1")
    assert isinstance(begun, RunStarted)
    assert isinstance(ended, RunEnded)
    direction = ended.figures.read or ended.figures.write
    assert direction is not None
    figures = replace(ended.figures, read=None, write=replace(direction, bytes_per_second=mib_s * (1 << 20)))
    return replay([sessions.started(), replace(begun, device=device), replace(ended, figures=figures)])


def told(session: Session, wanted: Preparation | None = None, times: int = 1) -> tuple[str, ...]:
    return wear_words(wanted or ready(), session.runs, session.inventory, times=times)


def test_it_is_what_the_device_took_before_for_all_the_time_of_the_job() -> None:
    assert told(wrote("/dev/sda", 512))[0] == "Written: 30 GiB at most, 60 s as fast as r1 wrote"


def test_every_run_of_an_experiment_counts() -> None:
    assert "300 GiB at most" in told(wrote("/dev/sda", 512), times=10)[0]


@pytest.mark.parametrize("session", [Session(), wrote("/dev/sdb", 512)], ids=["nothing", "another disk"])
def test_a_device_that_was_not_written_to_takes_an_unknown_amount(session: Session) -> None:
    assert told(session)[0] == "Written: an unknown amount, no run of this session wrote to /dev/sda"


def test_a_fill_is_known_whatever_the_workload_writes() -> None:
    assert told(Session(), ready(fills=2))[0].startswith("Written: 200 GiB in order, then an unknown amount")


def test_what_the_drive_tells_of_its_endurance_is_said() -> None:
    fact = Fact(label="Endurance used", value="37 %")
    drive = Drive(target=Target(backend="scsi", address="sda"), device="/dev/sda", facts=(fact,))
    assert wear_words(ready(), (), Inventory(drives=(drive,)))[1:] == ("Endurance used of scsi:sda: 37 %",)


def test_a_drive_that_tells_nothing_of_it_is_said_not_to() -> None:
    assert told(Session())[1:] == ("Endurance used: unknown, its drives do not tell it",)


def test_a_job_that_only_reads_costs_nothing() -> None:
    assert told(Session(), ready(Job.from_fields({"rw": "randread"}))) == ()
