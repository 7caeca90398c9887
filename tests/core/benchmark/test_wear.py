"""What a writing job costs a drive is said before it is agreed to; what is not known is said to be unknown."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from app.core.benchmark.abort_conditions import WriteLimit, write_limit_of
from app.core.benchmark.device_access import DeviceGuardResult
from app.core.benchmark.endurance import wear_texts
from app.core.benchmark.run_plan import BenchmarkRequest, ResolvedTarget, RunPlan
from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.profiles import PROFILES, Profile
from app.core.session.event_types import SteadyPlan, with_ratings
from app.core.session.events import RunEnded, RunStarted, RunTarget
from app.core.session.results import DirectionSample, Phase, RunResult, RunStatus, Sample, TargetStats
from app.core.session.state import Session, replay
from backends.device_label import device_label
from backends.guard import GuardResult, Intent
from backends.identity import Identity
from backends.model import Array, Drive, Fact, Inventory, Media, Target
from tests.case_loop import loop_over
from tests.core import sessions

DISK = Identity(name="sda", serial="AB12345678")
VERDICT = GuardResult(device="/dev/sda", ok=True, label=device_label(DISK))
JUDGED = DeviceGuardResult(
    device="/dev/sda",
    disk="/dev/sda",
    size=100 << 30,
    logical_block_size=512,
    identity=DISK,
    intent=Intent.WRITE,
    verdict=VERDICT,
)
WRITING = Job.from_fields({"rw": "randwrite", "runtime": "50", "ramp": "10"})


def ready(job: Job = WRITING, fills: int = 0, steady: SteadyPlan | None = None) -> RunPlan:
    request = BenchmarkRequest(where="/dev/sda", name="block:sda", job=job, fills=fills, steady=steady)
    target = JobTarget(path="/dev/sda", name="block:sda", kind=TargetKind.BLOCK, size=JUDGED.size)
    site = ResolvedTarget(requested=request.targets[0], target=target, judgement=JUDGED, device="/dev/sda")
    return RunPlan(request=request, job=job, fio_version="3.33", sites=(site,))


def wrote(device: str, mib_s: float) -> Session:
    """A session with a run that wrote to a device so fast."""
    begun, ended = sessions.run("r1")
    assert isinstance(begun, RunStarted)
    assert isinstance(ended, RunEnded)
    direction = ended.figures.read or ended.figures.write
    assert direction is not None
    figures = replace(ended.figures, read=None, write=replace(direction, bytes_per_second=mib_s * (1 << 20)))
    return replay([sessions.started(), replace(begun, device=device), replace(ended, figures=figures)])


def told(session: Session, wanted: RunPlan | None = None, times: int = 1) -> tuple[str, ...]:
    return wear_texts(wanted or ready(), session.runs, session.inventory, times=times)


def known(media: Media, *facts: Fact, model: str | None = None) -> Inventory:
    """The disk, as a vendor's tool knows it."""
    target = Target(backend="scsi", address="sda")
    drive = Drive(target=target, device="/dev/sda", media=media, facts=facts, model=model)
    return Inventory(drives=(drive,))


def test_it_is_what_the_device_took_before_for_all_the_time_of_the_job() -> None:
    assert told(wrote("/dev/sda", 512))[0] == "Written: at most 30 GiB: 60 s at the rate of r1"


@pytest.mark.parametrize("rw", ["trim", "randtrim"])
def test_trims_write_nothing(rw: str) -> None:
    trims = Job.from_fields({"rw": rw})
    assert told(wrote("/dev/sda", 512), ready(trims)) == ()
    assert told(wrote("/dev/sda", 512), ready(trims, fills=1))
    assert told(wrote("/dev/sda", 512), ready(Job.from_fields({"rw": "trimwrite"})))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rw": "randtrim"}, "all 100 GiB of block:sda (bytes 0 to 107374182399)"),
        ({"rw": "trimwrite", "size": "1G"}, "the first 1 GiB of block:sda (bytes 0 to 1073741823)"),
        ({"rw": "trim", "size": "1G", "offset": "2G"}, "1 GiB of block:sda (bytes 2147483648 to 3221225471)"),
        ({"rw": "trim", "offset_percent": "50"}, "50 GiB of block:sda (bytes 53687091200 to 107374182399)"),
    ],
)
def test_the_range_that_a_job_trims_is_named(fields: dict[str, str], words: str) -> None:
    wanted = ready(Job.from_fields(fields))
    assert words in wanted.loss_of(wanted.sites[0])


def test_a_job_that_only_writes_trims_nothing() -> None:
    assert ready().loss_of(ready().sites[0]) == ""


def test_a_device_that_was_written_beside_others_tells_its_own_speed() -> None:
    begun, ended = wrote("/dev/sda", 512).events[1:]
    assert isinstance(begun, RunStarted)
    assert isinstance(ended, RunEnded)
    each = TargetStats(target="block:sda", write=ended.figures.write)
    both = replace(begun, device=None, targets=(RunTarget(target="block:sda", device="/dev/sda"),))
    figures = replace(ended.figures, write=None, targets=(each,))
    session = replay([sessions.started(), both, replace(ended, figures=figures)])
    assert told(session)[0] == "Written: at most 30 GiB: 60 s at the rate of r1"


@pytest.mark.parametrize(
    ("texts", "amount"),
    [
        ({"passes": "1"}, "100 GiB"),
        ({"passes": "3", "size": "2G"}, "6 GiB"),
        ({"passes": "1", "io_size": "5G", "numjobs": "2"}, "10 GiB"),
        ({"number_ios": "1048576", "bs": "4k"}, "4 GiB"),
    ],
)
def test_a_job_without_a_run_time_writes_what_ends_it(texts: dict[str, str], amount: str) -> None:
    job = Job.from_fields({"rw": "randwrite", "runtime": "0", "ramp": "0", **texts})
    assert told(wrote("/dev/sda", 512), ready(job))[0] == f"Written: at most {amount}"


@pytest.mark.parametrize(
    ("steady", "minutes"), [(SteadyPlan(until=True), "31 min"), (SteadyPlan(end_early=True), "60 s")]
)
def test_only_a_run_that_waits_for_the_steady_state_writes_longer(steady: SteadyPlan, minutes: str) -> None:
    assert f"an unknown amount in {minutes}:" in told(Session(), ready(steady=steady))[0]


def test_every_run_of_an_experiment_counts() -> None:
    assert "at most 300 GiB" in told(wrote("/dev/sda", 512), times=10)[0]


@pytest.mark.parametrize("session", [Session(), wrote("/dev/sdb", 512)], ids=["nothing", "another disk"])
def test_a_device_that_was_not_written_to_takes_an_unknown_amount(session: Session) -> None:
    assert told(session)[0] == "Written: an unknown amount in 60 s: no run of this session wrote to /dev/sda"


def test_a_fill_is_known_whatever_the_workload_writes() -> None:
    assert told(Session(), ready(fills=2))[0].startswith("Written: 200 GiB sequentially, then an unknown amount")


def test_what_the_drive_tells_of_its_endurance_is_said() -> None:
    drives = known(Media.SSD, Fact(label="Endurance used", value="37 %"))
    assert wear_texts(ready(), (), drives)[1] == "Endurance used of scsi:sda: 37 %"


def test_a_drive_that_two_backends_list_is_told_of_once_and_each_of_two_drives_by_itself() -> None:
    (drive,) = known(Media.SSD, Fact(label="Endurance used", value="37 %")).drives
    again = replace(drive, target=Target(backend="block", address="sda"))
    assert wear_texts(ready(), (), Inventory(drives=(drive, again)))[1:-1] == ("Endurance used of scsi:sda: 37 %",)
    pair = tuple(replace(one, device=f"/dev/{number}") for number, one in enumerate((drive, again)))
    array = Array(
        target=Target(backend="md", address="md0"), device="/dev/sda", members=tuple(one.target for one in pair)
    )
    told = wear_texts(ready(), (), Inventory(arrays=(array,), drives=pair))[1:-1]
    assert told == ("Endurance used of scsi:sda: 37 %", "Endurance used of block:sda: 37 %")


def test_a_drive_that_tells_nothing_of_it_is_said_not_to() -> None:
    assert told(Session())[1] == "Endurance used: unknown, the drives do not report it"


def test_the_rated_endurance_is_said_to_be_unknown() -> None:
    assert told(Session())[2] == "Rated endurance: unknown, no drive reports it"


def test_the_rated_endurance_that_somebody_told_is_said_beside_what_is_written() -> None:
    drives = with_ratings(known(Media.SSD, model="Samsung  mzqlb960"), {"SAMSUNG MZQLB960": 1400, "another": 7})
    assert wear_texts(ready(), (), drives)[2] == "Rated endurance of scsi:sda: 1400 TB, from the configuration"


def test_another_model_is_not_rated_by_it() -> None:
    drives = with_ratings(known(Media.SSD, model="SAMSUNG MZQLB960HAJR"), {"SAMSUNG MZQLB960": 1400})
    assert wear_texts(ready(), (), drives)[2].startswith("Rated endurance: unknown")


def test_a_job_that_only_reads_costs_nothing() -> None:
    assert told(Session(), ready(Job.from_fields({"rw": "randread"}))) == ()


DEFAULT = Job.from_fields({"rw": "randwrite"})


def _limits(plan: RunPlan, inventory: Inventory) -> tuple[int | None, ...]:
    return tuple(write_limit_of(plan, site, inventory) for site in plan.sites)


@pytest.mark.parametrize("media", [Media.SSD, Media.NVME, Media.UNKNOWN])
def test_a_job_of_no_length_of_its_own_writes_a_tenth_of_what_may_wear(media: Media) -> None:
    assert _limits(ready(DEFAULT), known(media)) == (10 << 30,)


def test_a_drive_that_nobody_knows_may_wear() -> None:
    assert _limits(ready(DEFAULT), Inventory()) == (10 << 30,)


@pytest.mark.parametrize("media", [Media.HDD, Media.VIRTUAL, Media.RAM])
def test_what_does_not_wear_is_written_to_at_will(media: Media) -> None:
    assert _limits(ready(DEFAULT), known(media)) == (None,)


def test_the_members_of_an_array_are_what_wears() -> None:
    disks = known(Media.SSD).drives[0], replace(known(Media.HDD).drives[0], device="/dev/sdb")
    array = Array(target=Target(backend="md", address="md0"), device="/dev/sda", members=(disks[1].target,))
    below = Inventory(arrays=(array,), drives=(replace(disks[1], target=disks[1].target),))
    assert _limits(ready(DEFAULT), below) == (None,)


AGREED = {
    "a run time of its own": ready(Job.from_fields({"rw": "randwrite", "runtime": "300"})),
    "a size of its own": ready(Job.from_fields({"rw": "randwrite", "size": "1g"})),
    "until it is steady": replace(
        ready(DEFAULT), request=replace(ready(DEFAULT).request, steady=SteadyPlan(end_early=True))
    ),
    "told with a plan": replace(ready(DEFAULT), request=replace(ready(DEFAULT).request, length_agreed=True)),
    "a preconditioning": ready(DEFAULT, fills=2),
    "a job that only reads": ready(Job.from_fields({"rw": "randread"})),
}


@pytest.mark.parametrize("how", AGREED)
def test_what_was_asked_for_is_not_cut_short(how: str) -> None:
    assert _limits(AGREED[how], known(Media.SSD)) == (None,)


@loop_over("profile", PROFILES.values(), ids=tuple(PROFILES))
def test_no_workload_writes_for_more_than_ten_minutes_by_itself(profile: Profile) -> None:
    assert profile.job.ramp + profile.job.runtime <= 600


def test_where_the_run_ends_is_said_before_it() -> None:
    said = wear_texts(ready(DEFAULT), (), known(Media.SSD))[0]
    assert said == "Written: at most 10 GiB, a tenth of the drive (no limit if you set a run time or a size)"


def test_a_slow_drive_does_not_come_so_far() -> None:
    assert "at the rate of r1" in wear_texts(ready(DEFAULT), wrote("/dev/sda", 10).runs, known(Media.SSD))[0]


def interval(mib: int) -> Sample:
    """An interval in which so much was written."""
    direction = DirectionSample(iops=1, bytes_per_second=mib * (1 << 21), ios=1)
    return Sample(at=0.5, seconds=0.5, phase=Phase.MEASURING, write=direction)


@pytest.mark.parametrize(("mib", "ended"), [((5, 4), False), ((5, 5), True)])
def test_a_run_is_ended_when_it_has_written_its_share(mib: tuple[int, ...], ended: bool) -> None:
    stop = asyncio.Event()
    cap = WriteLimit([10 << 20], stop)
    for one in mib:
        cap.count(interval(one))
    assert stop.is_set() is ended


def test_a_run_that_was_ended_for_it_says_so() -> None:
    cap = WriteLimit([1], asyncio.Event())
    cap.count(interval(5))
    assert (
        cap.explain(RunResult(status=RunStatus.STOPPED)).reason == "Stopped: the run wrote 5 MiB, a tenth of the drive."
    )


@pytest.mark.parametrize("status", [RunStatus.OK, RunStatus.FAILED])
def test_a_run_that_ended_otherwise_keeps_its_own_words(status: RunStatus) -> None:
    cap = WriteLimit([1], asyncio.Event())
    cap.count(interval(5))
    assert cap.explain(RunResult(status=status, reason="its own")).reason == "its own"


def test_a_run_that_somebody_stopped_before_is_not_said_to_be_ended_for_it() -> None:
    assert WriteLimit([1 << 40], asyncio.Event()).explain(RunResult(status=RunStatus.STOPPED)).reason is None
