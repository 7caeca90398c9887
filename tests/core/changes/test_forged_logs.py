"""A log says what was changed. Whatever it says of how, of a risk or of another object decides nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.changes.executor import ChangeExecutor
from app.core.session import event_codec
from app.core.session.events import AnyEvent, ChangeEnded, ChangeIntended
from app.core.session.journal import Journal
from app.core.session.state import ChangeRecord, Session, fold
from backends.change import ChangeStep
from backends.errors import RefusedError, UnknownSettingError
from backends.model import Target
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import FakeHost, disk, machine

SDA = Target(backend="block", address="sda")
QUEUE = "/sys/block/sda/queue"
SCHEDULER = {
    f"{QUEUE}/scheduler": "none [mq-deadline] kyber",
    f"{QUEUE}/nr_requests": "64",
    f"{QUEUE}/wbt_lat_usec": "75000",
    f"{QUEUE}/iosched/read_expire": "500",
}


class Stage:
    """A disk, a changer on it, and the log that a command of another day reads."""

    def __init__(self, folder: Path, more: dict[str, str] | None = None) -> None:
        files = disk("sda", serial="S1", device__model="M", device__vendor="V") | {f"{QUEUE}/read_ahead_kb": "128"}
        self.host = FakeHost(machine(files | (more or {})))
        self.backend = BlockBackend(self.host)
        self.lines: list[str] = []
        self.session = Session()
        self.changer = ChangeExecutor(
            backends={"block": self.backend},
            journal=Journal(folder / "journal"),
            locks=folder / "locks",
            folder=folder / "session",
            emit=self._emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
        )

    def _emit(self, event: AnyEvent) -> None:
        self.session = fold(self.session, event)
        if isinstance(event, ChangeIntended | ChangeEnded):
            self.lines.append(event_codec.encode(event))

    async def set(self, key: str, value: str) -> None:
        ended = await self.changer.apply(await self.backend.plan(SDA, key, value))
        assert ended.result == "verified", ended
        self.host.written.clear()

    def log(self) -> dict[str, Any]:
        """The line of the change, as an object."""
        line: dict[str, Any] = json.loads(self.lines[0])
        return line

    def read(self, **forged: Any) -> ChangeRecord:
        """The change as another raidbench reads it out of a log with these fields in it."""
        intent = event_codec.decode(json.dumps(self.log() | forged))
        end = event_codec.decode(self.lines[1])
        assert isinstance(intent, ChangeIntended)
        assert isinstance(end, ChangeEnded)
        return ChangeRecord(intent=intent, end=end)


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    one = Stage(tmp_path)
    await one.set("read_ahead_kb", "4096")
    return one


OWN = {"path": f"{QUEUE}/read_ahead_kb", "text": "128"}

FORGED: dict[str, list[dict[str, Any]]] = {
    "another file first": [{"path": "/etc/crontab", "text": "* * * * * root x\n"}, OWN],
    "a device's node": [{"path": "/dev/loop7", "text": "x"}, OWN],
    "another disk's setting": [{"path": "/sys/block/sdb/queue/read_ahead_kb", "text": "128"}],
    "a way out of the folder": [{"path": f"{QUEUE}/../../sdb/queue/read_ahead_kb", "text": "128"}, OWN],
    "another setting of it": [OWN, {"path": f"{QUEUE}/nr_requests", "text": "1"}],
    "another value than it says": [{"path": f"{QUEUE}/read_ahead_kb", "text": "0"}],
    "a program": [{"argv": ["/bin/sh", "-c", "reboot"]}, OWN],
}


@pytest.mark.parametrize("steps", FORGED.values(), ids=FORGED)
async def test_steps_that_a_log_tells_are_never_taken(stage: Stage, steps: list[dict[str, Any]]) -> None:
    await stage.changer.undo(stage.read(undo=steps))
    assert stage.host.written == [(f"{QUEUE}/read_ahead_kb", "128")]


async def test_a_log_names_no_path_and_no_program_that_could_be_used(stage: Stage) -> None:
    line = stage.log()
    assert [sorted(step) for step in (*line["writes"], *line["undo"])] == [["line"], ["line"]]
    assert not {"lock", "found", "members"} & set(line)


async def test_a_lock_of_the_logs_choosing_is_not_what_is_held(stage: Stage) -> None:
    record = stage.read(lock="elsewhere", members=["sdb"], found=[])
    assert (record.change.lock, record.change.members, record.change.found) == ("", (), None)


async def test_what_was_set_on_another_device_is_not_set_on_this_one(stage: Stage) -> None:
    other = {**stage.log()["identity"], "serial": "another"}
    assert (await stage.changer.undo(stage.read(identity=other))).result == "gone"
    assert stage.host.written == []


async def test_a_target_that_leads_out_of_its_folder_is_no_device(stage: Stage) -> None:
    target = {**stage.log()["target"], "address": "../../etc"}
    ended = await stage.changer.undo(stage.read(target=target))
    assert (ended.result, stage.host.written) == ("gone", [])


async def test_words_of_a_log_are_shown_and_never_done(stage: Stage) -> None:
    ended = await stage.changer.undo(stage.read(undo=[{"line": "rm -rf /"}]))
    assert (ended.result, stage.host.written) == ("verified", [(f"{QUEUE}/read_ahead_kb", "128")])


# -- what comes back along with a value -----------------------------------------------------------------------------


@pytest.fixture
async def scheduled(tmp_path: Path) -> Stage:
    one = Stage(tmp_path, SCHEDULER)
    one.host.kernel = lambda host, path, text: host.files.update(
        {path: "[none] mq-deadline kyber" if text == "none" else "none [mq-deadline] kyber"}
        if path.endswith("scheduler")
        else {path: text}
    )
    await one.set("scheduler", "none")
    return one


async def test_what_the_kernel_resets_comes_back_with_its_scheduler(scheduled: Stage) -> None:
    await scheduled.changer.undo(scheduled.read())
    assert scheduled.host.written == [
        (f"{QUEUE}/scheduler", "mq-deadline"),
        (f"{QUEUE}/nr_requests", "64"),
        (f"{QUEUE}/wbt_lat_usec", "75000"),
        (f"{QUEUE}/iosched/read_expire", "500"),
    ]


@pytest.mark.parametrize(
    "companions",
    [
        {"nr_requests": "64; reboot"},
        {"read_ahead_kb": "0"},
        {"iosched/../../../../etc/passwd": "1"},
        {"../sdb/queue/nr_requests": "1"},
        {"iosched/read_expire": "../x"},
    ],
    ids=str,
)
async def test_a_companion_that_is_none_of_it_is_refused(scheduled: Stage, companions: dict[str, str]) -> None:
    with pytest.raises(RefusedError, match="cannot be restored together with scheduler"):
        await scheduled.changer.undo(scheduled.read(companions=companions))
    assert scheduled.host.written == []


async def test_a_tunable_that_the_kernel_does_not_list_is_not_written(scheduled: Stage) -> None:
    ended = await scheduled.changer.undo(scheduled.read(companions={"iosched/no_such": "1"}))
    assert (ended.result, [path for path, _ in scheduled.host.written]) == ("failed", [f"{QUEUE}/scheduler"])


# -- how a step is spelled ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            ("/opt/storcli64", "/c0/v1", "set", "rdcache=ra"),
            ("/usr/sbin/storcli64", "/c0/v1", "set", "rdcache=ra"),
            True,
        ),
        (("arcconf", "setcache", "1", "noprompt"), ("arcconf", "setcache", "1"), True),
        (("tw_cli", "/c0/u0", "set", "rdcache=on", "quiet"), ("tw_cli", "/c0/u0", "set", "rdcache=on"), True),
        (("storcli64", "/c0/v1", "del", "force"), ("storcli64", "/c0/v1", "del"), False),
        (("storcli64", "/c0/v1", "set", "rdcache=ra"), ("storcli64", "/c0/v2", "set", "rdcache=ra"), False),
        (("storcli64", "/c0/v1"), ("perccli64", "/c0/v1"), False),
    ],
)
def test_spelling_is_no_difference_and_everything_else_is(
    one: tuple[str, ...], other: tuple[str, ...], same: bool
) -> None:
    assert (ChangeStep(argv=one).meaning == ChangeStep(argv=other).meaning) is same


def test_a_step_that_is_only_told_of_is_not_the_step() -> None:
    step = ChangeStep(path=f"{QUEUE}/read_ahead_kb", text="128")
    assert step.as_recorded() == replace(ChangeStep(), line=f"echo 128 > {QUEUE}/read_ahead_kb")


async def test_a_setting_that_this_version_does_not_know_is_no_device_that_is_gone(stage: Stage) -> None:
    with pytest.raises(
        UnknownSettingError, match="this version of raidbench does not know its setting read_behind_kb"
    ) as told:
        await stage.changer.undo(stage.read(key="read_behind_kb"))
    assert "Undo the change with the version of raidbench that made it" in told.value.hint
    assert stage.host.written == []
