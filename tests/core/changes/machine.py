"""What may befall a setting, in any order: set, try, keep, undo, recover, kill, reboot, replug, other hands, clocks.

Beside the program runs a model of a few lines that says what has to come out. The kernel's block settings are used, on
files in memory, so the identity of a device is judged as it is on a real one.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.core.changes import executor as changer_module
from app.core.changes import watchdog
from app.core.changes.executor import ChangeExecutor
from app.core.session import journal as journal_module
from app.core.session.events import AnyEvent, ChangeEnded
from app.core.session.journal import OVERDUE, Journal, UnresolvedChange
from app.core.session.paths import Paths
from app.core.session.state import Session, fold
from backends.errors import RaidbenchError
from backends.model import Target
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import FakeHost, disk, machine
from tests.tally import Tally

KEY = "read_ahead_kb"
PATH = f"/sys/block/sda/queue/{KEY}"
AT_BOOT = "128"
VALUES = ("64", "128", "256", "512", "1024")
TARGET = Target(backend="block", address="sda")
DAY = 86_400.0
WALK = 50

T = TypeVar("T")


class Killed(BaseException):
    """The program ends here, without a word more."""


@dataclass
class Disk:
    """A disk, there or not, and what the model says of its setting."""

    serial: str
    confirmed: str = AT_BOOT
    """What somebody wanted last: set and verified, kept, taken back, or set by another hand."""


@dataclass
class Hanging:
    """A change that has no end yet: on trial, or cut off by a kill."""

    disk: Disk
    plugged: int
    """Which plugging-in of the disk it was made on: a setting of the kernel goes with its device."""
    before: str
    after: str
    session: Path
    until: float | None


@dataclass
class World:
    """What is outside of the program."""

    folder: Path
    clock: float = 1000.0
    """CLOCK_BOOTTIME."""
    wall: float = 1_700_000_000.0
    boot: int = 1
    process: int = 1
    host: FakeHost = field(default_factory=lambda: FakeHost(machine()))
    kill: str = ""
    """`before` or `after` the write."""
    hands: set[tuple[str, str]] = field(default_factory=set)

    def plug(self, disk_: Disk, number: int, value: str) -> None:
        """A disk appears as sda."""
        self.unplug()
        files = disk(
            "sda", device__wwid=f"naa.{disk_.serial}", serial=disk_.serial, device__model="M", device__vendor="V"
        )
        self.host.files |= files | {"/sys/block/sda/diskseq": str(number), PATH: value}

    def unplug(self) -> None:
        """The disk goes, and its files with it."""
        for path in [path for path in self.host.files if path.startswith("/sys/block/sda/")]:
            del self.host.files[path]

    def write(self, host: FakeHost, path: str, text: str) -> None:
        """What the kernel does with a write, unless the program is killed at that moment."""
        kill, self.kill = self.kill, ""
        if kill == "before":
            raise Killed
        host.files[path] = text
        if kill == "after":
            raise Killed


class Settings(RuleBasedStateMachine):
    """One disk's place, its setting, and all that may befall it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.patch = pytest.MonkeyPatch()
        self.temporary = tempfile.TemporaryDirectory(prefix="raidbench-machine-")
        self.world = World(Path(self.temporary.name))
        self.world.host.kernel = self.world.write
        self._outside()
        self.disks = [Disk("A1"), Disk("B2")]
        self.here: Disk | None = None
        self.plugged = 0
        self.hanging: list[Hanging] = []
        self.conflicts = 0
        self.backend = BlockBackend(self.world.host)
        self.journal = Journal(self.world.folder / "journal")
        self._begin()

    # -- the outside, as the modules under trial see it ------------------------------------------------------------

    def _outside(self) -> None:
        world = self.world
        clock = SimpleNamespace(time=lambda: world.wall, monotonic=time.monotonic)
        for module, name, instead in (
            (journal_module, "boot_clock", lambda: world.clock),
            (watchdog, "boot_clock", lambda: world.clock),
            (journal_module, "boot_id", lambda: f"boot-{world.boot}"),
            (changer_module, "boot_id", lambda: f"boot-{world.boot}"),
            (journal_module, "process_start", lambda _pid: str(world.process)),
            (watchdog, "LONGEST_WAIT", 0.0),  # what cannot be taken back now is left to `recover`
            (journal_module, "time", clock),
            (changer_module, "time", clock),
        ):
            self.patch.setattr(module, name, instead)

    def teardown(self) -> None:
        try:
            self.everything_comes_to_its_end()
        finally:
            self.patch.undo()
            self.loop.close()
            self.temporary.cleanup()

    def _begin(self) -> None:
        """A new session of a new process."""
        self.session = Session()
        self.folder = self.world.folder / f"session-{self.world.process}"
        self.changer = ChangeExecutor(
            backends={"block": self.backend},
            journal=self.journal,
            locks=self.world.folder / "locks",
            folder=self.folder,
            emit=self._emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
            arm=self._arm,
        )

    def _emit(self, event: AnyEvent) -> None:
        self.session = fold(self.session, event)

    async def _arm(self, until: float) -> None:
        """The watchdog is played by `time_goes_on`."""

    def _run(self, work: Coroutine[Any, Any, T]) -> T | RaidbenchError | Killed:
        """What it returns or refuses; a kill ends the process."""
        try:
            return self.loop.run_until_complete(work)
        except RaidbenchError as error:
            return error
        except Killed as killed:
            self.world.process += 1
            self._begin()
            return killed

    @property
    def value(self) -> str | None:
        """What the kernel says."""
        return self.world.host.files.get(PATH)

    # -- what may befall it ----------------------------------------------------------------------------------------

    @initialize()
    def plug_in(self) -> None:
        self._plug(self.disks[0])

    @rule(after=st.sampled_from(VALUES), kill=st.sampled_from(("", "", "before", "after")), trial=st.booleans())
    def set_it(self, after: str, kill: str, trial: bool) -> None:
        before, here, folder = self.value, self.here, self.folder
        if before == after:
            return
        until = self.world.clock + 60 if trial else None
        set_ = (self.folder, until)
        others = [each for each in self.hanging if self._watched(each) and (each.session, each.until) != set_]
        self.world.kill = kill
        done = self._run(self._set(after, until))
        self.world.kill = ""
        if here is None or before is None:
            assert isinstance(done, RaidbenchError), "a disk that is not there was set"
            return
        if others:
            assert isinstance(done, RaidbenchError), "a second change beside one on trial was not refused"
            assert self.value == before
            return
        mine = Hanging(here, self.plugged, before, after, folder, until)
        if isinstance(done, Killed):
            assert self.value == (before if kill == "before" else after)
            self.hanging.append(mine)
        else:
            assert isinstance(done, ChangeEnded), done
            assert (done.result, self.value) == ("verified", after)
            if trial:
                self.hanging.append(mine)
            else:
                here.confirmed = after

    async def _set(self, after: str, until: float | None) -> Any:
        change = await self.backend.plan(TARGET, KEY, after)
        return await self.changer.apply(change, until=until)

    @rule()
    def keep(self) -> None:
        """As the workbench does it: every trial that is open stays."""
        for trial in self.journal.trials():
            self.journal.write_outcome(trial.id, Path(trial.session), "kept")
        for each in [each for each in self.hanging if each.until is not None and self._watched(each)]:
            self.hanging.remove(each)
            if self._same_plugging(each) and self.value == each.after:
                each.disk.confirmed = each.after

    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        """A change of this session is taken back, unless another hand was there."""
        if not self.session.in_force:
            return
        record = data.draw(st.sampled_from(self.session.in_force))
        value, here = self.value, self.here
        done = self._run(self.changer.undo(record))
        mine = [each for each in self.hanging if each.until is not None and self._is(each, record.change)]
        same = here is not None and record.change.identity is not None and record.change.identity.serial == here.serial
        diskseq = None if record.change.identity is None else record.change.identity.diskseq
        if isinstance(done, RaidbenchError):
            assert self.value == value, "an undo that was refused wrote"
            return
        assert isinstance(done, ChangeEnded)
        if not same or diskseq != str(self.plugged):
            assert (self.value, done.result) == (value, "gone"), "what was set on another disk is said to be undone"
            self.hanging = [each for each in self.hanging if each not in mine]
            return
        assert here is not None
        assert self.value == record.change.before
        for each in mine:
            if self._same_plugging(each):
                self.hanging.remove(each)
        here.confirmed = self._wanted(str(record.change.before))

    @rule()
    def recover(self) -> None:
        """What a crash left is put back, newest first."""
        for left in self.journal.unresolved():
            self._put_back(left)

    def _put_back(self, left: UnresolvedChange) -> None:
        value = self.value
        mine = next(each for each in self.hanging if self._is(each, left.change))
        said = self._run(self.changer.recover(left))
        if not self._same_plugging(mine):
            assert self.value == value, "what was set on one disk was taken back on another"
            assert said != "restored", "what was set on a disk that is gone is said to be restored"
            return
        if value == mine.after:
            assert (said, self.value) == ("restored", mine.before)
            mine.disk.confirmed = mine.before  # somebody asked for it
        else:
            assert self.value == value, "another hand's value was overwritten"
            assert said == ("restored" if value == mine.before else "conflict")
        if said == "restored":
            self.hanging.remove(mine)
        else:
            self.conflicts += 1

    @rule()
    def kill_between(self) -> None:
        """The program dies while it does nothing."""
        self.world.process += 1
        self._begin()

    @rule(value=st.sampled_from(VALUES))
    def somebody_else_sets_it(self, value: str) -> None:
        if self.here is not None and self.value != value:
            self.world.host.files[PATH] = value
            self.here.confirmed = self._wanted(value)

    @rule(number=st.sampled_from((None, 0, 1)))
    def replug(self, number: int | None) -> None:
        """The disk vanishes, comes back, or another one comes under its name."""
        self.world.unplug()
        self.here = None
        if number is not None:
            self._plug(self.disks[number])

    def _plug(self, one: Disk) -> None:
        self.plugged += 1
        self.here = one
        one.confirmed = AT_BOOT
        self.world.plug(one, self.plugged, AT_BOOT)

    @rule()
    def reboot(self) -> None:
        """All that the kernel held is as at boot, and nothing hangs any more."""
        self.world.boot += 1
        self.world.process += 1
        self.world.clock = 10.0
        self.hanging = []
        if self.here is not None:
            self._plug(self.here)
        self._begin()

    @rule(seconds=st.sampled_from((-DAY, DAY, -3600.0, 7.0)))
    def wall_clock_jumps(self, seconds: float) -> None:
        self.world.wall += seconds

    @rule(seconds=st.sampled_from((1.0, 30.0, 61.0)), watched=st.booleans())
    def time_goes_on(self, seconds: float, watched: bool) -> None:
        """Deadlines come: the watchdog takes back what nobody kept, unless it died as well."""
        self.world.clock += seconds
        self.world.wall += seconds
        overdue = {(trial.session, trial.until) for trial in self.journal.trials() if trial.until <= self.world.clock}  # type: ignore[operator]
        for session, until in sorted(overdue) if watched else ():
            value = self.value
            mine = [each for each in self.hanging if (str(each.session), each.until) == (session, until)]
            said = self._run(watchdog.watch(self._paths(), session, float(until or 0), {"block": self.backend}))
            if self._same_plugging(mine[0]):
                self._taken_back(mine, value, said)
            else:
                assert self.value == value, "a trial was taken back on another disk"
                assert said != "restored", "a trial on a disk that is gone is said to be taken back"
                trials = self.journal.trials()
                gone = [each for each in mine if not any(self._is(each, trial.change) for trial in trials)]
                self.conflicts += len(gone)
                self.hanging = [each for each in self.hanging if each not in gone]

    def _taken_back(self, mine: list[Hanging], value: str | None, said: object) -> None:
        """The trials of one set, the newest first: each leads to the value that the one before it had."""
        word = ""
        for each in reversed(mine):
            word = "restored" if value in (each.before, each.after) else "conflict"
            value = each.before if value == each.after else value
            self.conflicts += word == "conflict"
            self.hanging.remove(each)
        assert self.value == value, "the watchdog left another value than the one of before"
        assert said == word

    # -- what must hold --------------------------------------------------------------------------------------------

    @invariant()
    def nothing_hangs_unnamed(self) -> None:
        """Whatever has no end is in the journal: as a trial or as left by a crash."""
        named = {
            (each.change.before, each.change.after) for each in (*self.journal.trials(), *self.journal.unresolved())
        }
        assert all((each.before, each.after) in named for each in self.hanging)

    def everything_comes_to_its_end(self) -> None:
        """The last word: what somebody wanted last, or a conflict that is on record."""
        self.time_goes_on(61.0, True)
        self.world.clock += OVERDUE + 61
        self.world.process += 1
        self._begin()
        self.recover()
        if self.here is not None:
            assert self.value == self.here.confirmed or self.conflicts or self.hanging, "not what was wanted last"
        self.nothing_hangs_unnamed()

    def _wanted(self, value: str) -> str:
        """A value that is also one of what still hangs cannot be told from it: what that leads back to."""
        for each in reversed(self.hanging):
            value = each.before if self._same_plugging(each) and each.after == value else value
        return value

    def _watched(self, each: Hanging) -> bool:
        return each.until is not None and self.world.clock < each.until + OVERDUE

    def _same_plugging(self, each: Hanging) -> bool:
        return self.here is each.disk and self.plugged == each.plugged

    def _is(self, each: Hanging, change: Any) -> bool:
        identity = change.identity
        return (each.before, each.after, each.disk.serial, str(each.plugged)) == (
            change.before,
            change.after,
            identity.serial,
            identity.diskseq,
        )

    def _paths(self) -> Paths:
        base = self.world.folder
        return Paths(sessions=base, journal=base / "journal", locks=base / "locks", config=base / "config.toml")


def run(folder: Path, tries: int, seed: int) -> Tally:
    """At least so many steps, in walks of fifty, until one of them does not hold."""
    tally = Tally()
    while tally.tried < tries and not tally.failed:
        tally.add(_walk(max(1, (tries - tally.tried) // WALK), seed + tally.tried))
    return tally


def _walk(walks: int, seed: int) -> Tally:
    tally = Tally()
    how = settings(
        max_examples=walks,
        stateful_step_count=WALK,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    steps = [0]

    class Counted(Settings):
        """Counts every rule that was taken."""

        def check_invariants(self, *args: Any, **kwargs: Any) -> None:
            steps[0] += 1
            super().check_invariants(*args, **kwargs)

    try:
        run_state_machine_as_test(hypothesis.seed(seed)(Counted), settings=how)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        for note in (f"{error or where.line}", *getattr(error, "__notes__", ())):
            tally.fail(note)
    tally.tried = steps[0]
    return tally
