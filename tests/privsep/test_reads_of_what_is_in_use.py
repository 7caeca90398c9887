"""What is in use is read by the helper's own fio, for figures alone: no descriptor of it comes to a user."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.job_values import Pattern
from app.core.fio.load import FioLoad
from app.core.fio.sections import JobSection, join_sections
from app.core.session.event_types import SampleTaken, WorkloadFinished
from app.core.session.results import RunResult, RunStatus
from app.privsep import __main__ as starting
from app.privsep import device_claims
from app.privsep.client import split_host
from backends.errors import RaidbenchError, RefusedError
from backends.guard import GuardResult, Intent, judge_device
from backends.helper_device import HelperDevice
from backends.host import Host
from backends.system.local import LocalHost
from backends.system.local.process import LocalProcess
from backends.system.local.unprivileged import UNUSED_IDS
from backends.system.privsep.program import HelperProcess
from backends.topology.facts import DeviceFacts
from tests.backends.loops import Loop, ext4, loop, mounted, needs_loops, program, wait_for
from tests.packages import needs
from tests.privsep.helping import NOBODY, Helper, helper, needs_root, running

pytestmark = [needs_root, needs_loops(), needs("fio", "setpriv")]

LONG = Job(rw=Pattern.RANDREAD, runtime=600, ramp=0, size=16 << 20, rate_iops=500)
SHORT = Job(rw=Pattern.RANDREAD, runtime=1, ramp=0, size=16 << 20, rate_iops=500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("in-use")


@pytest.fixture(scope="module")
def root(folder: Path) -> Iterator[Helper]:
    """One for all, but those that end it."""
    with helper(folder / "root") as one:
        yield one


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Helper]:
    """One that may be ended."""
    with helper(tmp_path / "root") as one:
        yield one


@pytest.fixture(scope="module")
def in_use(folder: Path) -> Iterator[Loop]:
    """A device with a mounted filesystem."""
    with loop(folder / "disk") as device:
        ext4(device.sure())
        with mounted(device.device, folder / "point"):
            yield device


def asking(device: str, *, writing: bool = False) -> dict[str, object]:
    return {"device": device, "writing": writing, "typed": None, "meant": None, "shown": None}


async def lent(root: Helper, device: str) -> tuple[bool, int]:
    """What comes of holding it for reading: whether it is lent, and how many descriptors came."""
    said, descriptors = await root.side.fetch("hold", **asking(device))
    for descriptor in descriptors:
        os.close(descriptor)
    await root.side.ask("release", hold=said["hold"])
    return said["lent"], len(descriptors)


# --- what is handed over


async def test_no_descriptor_of_a_mounted_device_is_handed_over(root: Helper, in_use: Loop) -> None:
    assert await lent(root, in_use.device) == (False, 0)


async def test_no_descriptor_of_a_disk_with_a_mounted_partition_or_of_that_is_handed_over(
    root: Helper, tmp_path: Path, stack: ExitStack
) -> None:
    disk = stack.enter_context(loop(tmp_path / "parted", "--partscan"))
    first, second = disk.partition((2048, 40960), (43008, 40960))
    ext4(first)
    with mounted(first, tmp_path / "point"):
        found = [await lent(root, node) for node in (disk.device, first, second)]

    assert found == [(False, 0)] * 3


async def test_no_descriptor_of_another_device_over_what_is_mounted_is_handed_over(
    root: Helper, in_use: Loop, stack: ExitStack
) -> None:
    over = stack.enter_context(loop(Path(in_use.device), "--read-only"))
    beside = stack.enter_context(loop(in_use.backing, "--read-only"))

    assert [await lent(root, one.device) for one in (over, beside)] == [(False, 0)] * 2


async def test_no_descriptor_of_what_a_program_has_open_is_handed_over(
    root: Helper, device: Loop, stack: ExitStack
) -> None:
    hold = "import sys, time; held = open(sys.argv[1], 'rb'); print('ready', flush=True); time.sleep(600)"
    stack.enter_context(program("python3", "-c", hold, device.device))

    assert await lent(root, device.device) == (False, 0)


async def test_no_descriptor_of_the_running_systems_disk_is_handed_over(root: Helper) -> None:
    number = os.stat("/").st_dev
    name = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not name.exists():
        pytest.skip("the system lies on no block device of this machine")
    with suppress(RefusedError):  # in a container it cannot be opened at all
        assert await lent(root, f"/dev/{name.resolve().name}") == (False, 0)


async def test_a_descriptor_of_what_nothing_uses_is_handed_over(root: Helper, device: Loop) -> None:
    assert await lent(root, device.device) == (True, 1)


# --- what root's configuration allows


@pytest.fixture
def config(folder: Path) -> Iterator[Path]:
    """Root's configuration, which has it handed over."""
    place = folder / "root"
    place.mkdir(mode=0o755, exist_ok=True)
    file = place / "config.toml"
    file.write_text("lend_in_use = true\n")
    file.chmod(0o644)
    yield file
    os.chown(place, 0, 0)
    for left in (file, place / "elsewhere", place / "second"):
        left.unlink(missing_ok=True)


async def test_root_may_have_it_handed_over(root: Helper, in_use: Loop, config: Path) -> None:
    assert await lent(root, in_use.device) == (True, 1)


def _linked(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


SPOILED: dict[str, Callable[[Path], object]] = {
    "the group may write to it": lambda file: file.chmod(0o664),
    "everybody may write to it": lambda file: file.chmod(0o646),
    "it is another's": lambda file: os.chown(file, NOBODY, NOBODY),
    "its folder is another's": lambda file: os.chown(file.parent, NOBODY, NOBODY),
    "it is a link": _linked,
    "it has a second name": lambda file: os.link(file, file.with_name("second")),
    "it is no file": _pipe,
    "it says no": lambda file: file.write_text("lend_in_use = false\n"),
    "it is not understood": lambda file: file.write_text("lend_in_use = true\nno such key = 1\n"),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
async def test_it_is_not_handed_over_where_root_did_not_clearly_say_so(
    root: Helper, in_use: Loop, config: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(config)

    assert await lent(root, in_use.device) == (False, 0)


def test_roots_configuration_does_not_go_by_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAIDBENCH_STATE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert starting._paths().config == Path("/etc/raidbench/config.toml")


@pytest.mark.long
async def test_what_was_judged_free_is_what_is_handed_over(
    tmp_path: Path, device: Loop, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
) -> None:
    other = stack.enter_context(loop(tmp_path / "other"))

    async def elsewhere(host: Host, name: str, intent: Intent) -> tuple[DeviceFacts, GuardResult]:
        return await judge_device(host, other.device, intent)

    monkeypatch.setattr(device_claims, "judge_device", elsewhere)
    one = device_claims.DeviceClaims(LocalHost(), NOBODY, tmp_path / "none")

    said, descriptors = await one.hold(**asking(device.device))  # type: ignore[arg-type]
    await one.close()

    assert (said["lent"], descriptors) == (False, ())


# --- the helper's own fio


def measuring(*holds: int, job: Job = LONG, **other: object) -> dict[str, object]:
    fio = LocalHost().which(("fio",))
    said = {"holds": list(holds), "job": job.texts(), "more": None, "cap": None, "interval": 100, "fio": fio}
    return said | other


@asynccontextmanager
async def reading(root: Helper, *devices: Loop, job: Job = LONG) -> AsyncIterator[LocalProcess]:
    """The helper's fio, from its first byte on."""
    holds = [(await root.side.ask("hold", **asking(one.device)))["hold"] for one in devices]
    async with HelperProcess(root.side, measuring(*holds, job=job)) as process:
        await anext(process.chunks())
        yield process
    with suppress(RefusedError):  # it has ended meanwhile
        for hold in holds:
            await root.side.ask("release", hold=hold)


def status(pid: int) -> dict[str, list[str]]:
    pairs = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {key: words.split() for key, _, words in pairs}


async def test_the_helpers_fio_is_nobody_and_has_no_right(root: Helper, in_use: Loop) -> None:
    async with reading(root, in_use) as process:
        said = status(process.pid)

    assert len({*said["Uid"], *said["Gid"]}) == 1
    assert int(said["Uid"][0]) in UNUSED_IDS
    assert said["Groups"] == []
    assert [int(said[key][0], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == [0, 0, 0, 0]
    assert said["NoNewPrivs"] == ["1"]


async def test_the_helpers_fio_leaves_no_memory_behind(root: Helper, in_use: Loop) -> None:
    async with reading(root, in_use) as process:
        limits = Path(f"/proc/{process.pid}/limits").read_text()

    assert [line.split()[4:6] for line in limits.splitlines() if line.startswith("Max core")] == [["0", "0"]]


async def test_the_helpers_fio_has_nothing_open_but_the_device_for_reading_and_its_pipes(
    root: Helper, in_use: Loop
) -> None:
    async with reading(root, in_use) as process:
        folder = Path(f"/proc/{process.pid}")
        opened = {int(link.name): os.stat(link) for link in (folder / "fd").iterdir()}
        flags = {
            number: int((folder / "fdinfo" / str(number)).read_text().split()[3], 8)
            for number, info in opened.items()
            if info.st_rdev == os.stat(in_use.device).st_rdev
        }

    assert flags
    assert {one & os.O_ACCMODE for one in flags.values()} == {os.O_RDONLY}
    assert {info.st_rdev for info in opened.values()} <= {0, os.stat(in_use.device).st_rdev}


async def test_the_helpers_fio_is_told_that_it_only_reads(root: Helper, in_use: Loop) -> None:
    async with reading(root, in_use) as process:
        words = Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")

    assert "--readonly" in words
    assert in_use.device not in words


async def test_the_helpers_fio_stands_in_a_folder_that_it_may_not_enter(root: Helper, in_use: Loop) -> None:
    async with reading(root, in_use) as process:
        place = os.readlink(f"/proc/{process.pid}/cwd")
        info = os.stat(place)

    assert (stat.S_IMODE(info.st_mode), info.st_uid, os.path.exists(place)) == (0o700, 0, False)


async def test_two_runs_of_one_helper_are_two_nobodies(root: Helper, in_use: Loop) -> None:
    async with reading(root, in_use) as one, reading(root, in_use) as other:
        assert status(one.pid)["Uid"] != status(other.pid)["Uid"]


@pytest.mark.long
async def test_the_helper_starts_no_more_than_it_can_answer_for(mortal: Helper, in_use: Loop) -> None:
    hold = (await mortal.side.ask("hold", **asking(in_use.device)))["hold"]
    for _ in range(4):
        for descriptor in (await mortal.side.fetch("measure", **measuring(hold)))[1]:
            os.set_inheritable(descriptor, False)

    with pytest.raises(RefusedError, match="too many programs"):
        await mortal.side.fetch("measure", **measuring(hold))


@pytest.mark.parametrize("rw", [one for one in Pattern if one not in (Pattern.READ, Pattern.RANDREAD)])
async def test_a_job_that_writes_is_refused(root: Helper, in_use: Loop, rw: Pattern) -> None:
    hold = (await root.side.ask("hold", **asking(in_use.device)))["hold"]

    with pytest.raises(RefusedError, match="only jobs that read"):
        await root.side.fetch("measure", **measuring(hold, job=Job(rw=rw)))


@pytest.mark.parametrize("rw", [Pattern.WRITE, Pattern.RANDRW])
async def test_a_job_of_which_a_later_section_writes_is_refused(root: Helper, in_use: Loop, rw: Pattern) -> None:
    hold = (await root.side.ask("hold", **asking(in_use.device)))["hold"]
    more = [{"job": LONG.texts(), "waits": False}, {"job": Job(rw=rw).texts(), "waits": True}]

    with pytest.raises(RefusedError, match="only jobs that read"):
        await root.side.fetch("measure", **measuring(hold) | {"more": more})


@pytest.mark.parametrize(
    "field",
    [
        ("filename", "/etc/shadow"), ("exec_prerun", "id"), ("verify", "md5"), ("write_bw_log", "x"),
        ("read_iolog", "x"), ("rw", "trim"), ("rw", "verify"), ("ioengine", "exec"), ("ioengine", "mmap"),
        ("numa_mem_policy", "bind:0;x=1"), ("bs", "4k\nfilename=/etc/shadow"), ("bs", ""), ("iodepth", "9" * 30),
        ("random_distribution", "zipf:1.1;filename=x"), ("cpus_allowed", "0\x00"),
    ],
)  # fmt: skip
async def test_a_field_that_raidbench_does_not_know_or_take_starts_nothing(
    root: Helper, in_use: Loop, field: tuple[str, str]
) -> None:
    hold = (await root.side.ask("hold", **asking(in_use.device)))["hold"]
    job = {**LONG.texts(), **dict([field])}

    with pytest.raises(RaidbenchError):
        await root.side.fetch("measure", **measuring(hold) | {"job": job})


@pytest.mark.parametrize("job", [{"iodepth": 1}, {"iodepth": None}, {"Bs": "4k"}, {"bs": "4k\n"}, [], None, "rw=read"])
async def test_what_is_no_texts_of_fields_is_not_even_looked_at(root: Helper, job: object) -> None:
    with pytest.raises(RefusedError, match="measure: job is not allowed"):
        await root.side.fetch("measure", **measuring(1) | {"job": job})


async def test_only_what_is_held_for_reading_is_read(root: Helper, in_use: Loop, tmp_path: Path) -> None:
    with loop(tmp_path / "blank") as blank:
        written = (await root.side.ask("hold", **asking(blank.device, writing=True)))["hold"]
        gone = (await root.side.ask("hold", **asking(in_use.device)))["hold"]
        await root.side.ask("release", hold=gone)

        for hold in (written, gone, 99):
            with pytest.raises(RefusedError, match="not open for reading"):
                await root.side.fetch("measure", **measuring(hold))
        await root.side.ask("release", hold=written)


async def test_another_fio_than_the_callers_own_is_told(root: Helper, in_use: Loop) -> None:
    hold = (await root.side.ask("hold", **asking(in_use.device)))["hold"]

    with pytest.raises(RefusedError, match="your fio is /home/me/fio"):
        await root.side.fetch("measure", **measuring(hold, fio="/home/me/fio"))


@pytest.mark.long
async def test_a_conversation_for_reading_only_measures(tmp_path: Path, in_use: Loop, stack: ExitStack) -> None:
    root = stack.enter_context(helper(tmp_path / "reading", read_only=True))

    async with reading(root, in_use) as process:
        assert running(process.pid)


# --- its end


async def _kills_the_helper(root: Helper, process: LocalProcess) -> None:
    root.process.kill()


async def _hangs_up(root: Helper, process: LocalProcess) -> None:
    root.side.close()


async def _interrupts(root: Helper, process: LocalProcess) -> None:
    process.interrupt()


async def _terminates(root: Helper, process: LocalProcess) -> None:
    process.terminate()


async def _leaves(root: Helper, process: LocalProcess) -> None:
    process._child.close()


ENDS: tuple[Callable[[Helper, LocalProcess], Awaitable[None]], ...] = (
    _kills_the_helper, _hangs_up, _interrupts, _terminates, _leaves,
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("end", ENDS)
async def test_the_helpers_fio_ends_with_whoever_wanted_it(
    mortal: Helper, in_use: Loop, end: Callable[[Helper, LocalProcess], Awaitable[None]]
) -> None:
    async with reading(mortal, in_use) as process:
        await end(mortal, process)
        await asyncio.to_thread(wait_for, lambda: not running(process.pid), 10.0)


@pytest.mark.long
async def test_a_frozen_fio_ends_with_the_conversation(mortal: Helper, in_use: Loop) -> None:
    async with reading(mortal, in_use) as process:
        os.kill(process.pid, signal.SIGSTOP)
        mortal.side.close()
        await asyncio.to_thread(wait_for, lambda: not running(process.pid), 10.0)


@pytest.mark.long
async def test_an_ended_run_is_no_more(mortal: Helper, in_use: Loop) -> None:
    async with reading(mortal, in_use) as process:
        process.interrupt()
        await process.wait()

    with pytest.raises(RefusedError, match="no such run"):
        await mortal.side.ask("signal", run=1, how="kill")


# --- as the user sees it


def load_of(root: Helper) -> FioLoad:
    return FioLoad(split_host(LocalHost(), root.side), interval_ms=100)


@asynccontextmanager
async def targets(root: Helper, *devices: Loop) -> AsyncIterator[list[JobTarget]]:
    """Devices as they are given to fio, each held by the helper."""
    held = [
        HelperDevice(root.side, one.device, writing=False, typed=None, meant=None, shown=None).__aenter__()
        for one in devices
    ]
    found = [await one for one in held]
    yield [
        JobTarget(path=one.path, name=device.device, kind=TargetKind.BLOCK, size=64 << 20, root=one.root)
        for one, device in zip(found, devices, strict=True)
    ]
    for one in found:
        with suppress(RefusedError):  # the helper has ended
            await one.__aexit__(None, None, None)


async def test_what_is_in_use_is_measured_with_live_samples_and_figures(
    root: Helper, in_use: Loop, tmp_path: Path
) -> None:
    async with targets(root, in_use) as [target]:
        events = [event async for event in load_of(root).run(SHORT, [target], tmp_path, asyncio.Event())]

    assert isinstance(events[-1], WorkloadFinished)
    figures = events[-1].figures
    assert (figures.status, figures.read is not None and figures.read.iops > 0) == (RunStatus.OK, True), figures
    assert sum(isinstance(event, SampleTaken) for event in events) >= 3
    assert (tmp_path / "fio.out").stat().st_size


async def test_sections_of_a_job_read_what_is_in_use_one_after_another(
    root: Helper, in_use: Loop, tmp_path: Path
) -> None:
    job = join_sections([JobSection(name="a", job=SHORT), JobSection(name="b", job=SHORT, waits=True)])
    async with targets(root, in_use) as [target]:
        events = [event async for event in load_of(root).run(job, [target], tmp_path, asyncio.Event())]

    assert isinstance(events[-1], WorkloadFinished)
    figures = events[-1].figures
    assert figures.status is RunStatus.OK, figures
    assert [one.read is not None and one.read.iops > 0 for one in figures.sections] == [True, True]
    assert figures.seconds == pytest.approx(2 * SHORT.runtime, abs=0.5)


async def test_one_in_use_and_one_that_is_free_are_read_by_one_fio(
    root: Helper, in_use: Loop, tmp_path: Path, stack: ExitStack
) -> None:
    free = stack.enter_context(loop(tmp_path / "free"))
    async with targets(root, in_use, free) as both:
        assert [target.root is not None and target.root.lent for target in both] == [False, True]
        events = [event async for event in load_of(root).run(SHORT, both, tmp_path, asyncio.Event())]

    assert isinstance(events[-1], WorkloadFinished)
    assert events[-1].figures.status is RunStatus.OK
    assert [one.read is not None and one.read.iops > 0 for one in events[-1].figures.targets] == [True, True]


async def test_a_scratch_file_beside_what_is_in_use_is_refused_with_a_reason(
    root: Helper, in_use: Loop, tmp_path: Path
) -> None:
    file = JobTarget(path=str(tmp_path / "disk"), name="the file", kind=TargetKind.FILE, size=16 << 20)
    async with targets(root, in_use) as [target]:
        with pytest.raises(RefusedError, match="only the root helper can read it, but the helper cannot open the file"):
            await anext(load_of(root).run(SHORT, [target, file], tmp_path, asyncio.Event()))


async def run_until_sampled(
    root: Helper, device: Loop, folder: Path, then: Callable[[asyncio.Event], object]
) -> RunResult:
    """The figures of a long run of which the first sample had something done."""
    stop = asyncio.Event()
    async with targets(root, device) as [target], aclosing(load_of(root).run(LONG, [target], folder, stop)) as events:
        async for event in events:
            if isinstance(event, SampleTaken):
                then(stop)
    assert isinstance(event, WorkloadFinished)
    return event.figures


async def test_a_stopped_run_keeps_its_figures(root: Helper, in_use: Loop, tmp_path: Path) -> None:
    figures = await run_until_sampled(root, in_use, tmp_path, asyncio.Event.set)

    assert (figures.status, figures.read is not None) == (RunStatus.STOPPED, True)


@pytest.mark.long
async def test_a_run_whose_helper_was_ended_is_a_failure(mortal: Helper, in_use: Loop, tmp_path: Path) -> None:
    figures = await run_until_sampled(mortal, in_use, tmp_path, lambda _: mortal.process.kill())

    assert figures.status is RunStatus.FAILED


@pytest.mark.long
async def test_a_run_whose_fio_was_ended_from_elsewhere_is_a_failure(
    mortal: Helper, in_use: Loop, tmp_path: Path
) -> None:
    def end(_: asyncio.Event) -> None:
        for child in psutil.Process(mortal.process.pid).children():
            child.kill()

    figures = await run_until_sampled(mortal, in_use, tmp_path, end)

    assert figures.status is RunStatus.FAILED
