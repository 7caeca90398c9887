"""Changes that the helper makes: planned by it anew, locked, in its journal, and nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.journal import Journal, boot_clock
from app.core.session.json_codec import unstructure
from app.core.session.locks import lock_name
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from app.privsep.client import split_host
from backends.change import Change, ChangeStep
from backends.errors import RefusedError
from backends.model import Target
from backends.system.local import LocalHost
from tests.backends.loops import Loop, needs_loops, wait_for
from tests.core.doubles import planned
from tests.privsep.helping import NOBODY, Helper, helper, needs_root

pytestmark = [needs_root, needs_loops()]


@pytest.fixture
def bench(tmp_path: Path, root: Helper) -> Iterator[Workbench]:
    """A workbench that can do nothing by itself but ask."""
    paths = Paths(
        sessions=tmp_path / "own" / "sessions",
        journal=tmp_path / "own" / "journal",
        locks=tmp_path / "own" / "locks",
        config=tmp_path / "config.toml",
    )
    one = Workbench(split_host(LocalHost(), root.side), paths=paths)
    yield one
    one.close("test")


def target(device: Loop) -> Target:
    return Target(backend="block", address=device.name)


def queue(device: Loop, key: str) -> str:
    return Path(f"/sys/block/{device.name}/queue/{key}").read_text().strip()


def read_ahead(device: Loop) -> str:
    return queue(device, "read_ahead_kb")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_a_change_is_made_by_the_helper_and_is_in_its_journal(
    bench: Workbench, device: Loop, tmp_path: Path
) -> None:
    await bench.open()
    ended = await bench.changes.apply(await bench.hardware.plan(target(device), "read_ahead_kb", "512"))

    made = Journal(tmp_path / "root" / "journal").intent_of(ended.id, bench.require_recording())
    assert (ended.result, read_ahead(device)) == ("verified", "512")
    assert made is not None
    assert made.change.after == "512"
    assert names(tmp_path / "own" / "journal") == names(tmp_path / "own" / "locks") == []


async def test_an_id_that_another_user_gave_in_this_session_is_passed_over(
    bench: Workbench, device: Loop, tmp_path: Path
) -> None:
    await bench.open()
    Journal(tmp_path / "root" / "journal", uid=4712).write_intent(
        "c1", bench.require_recording(), planned("128", "256")
    )

    ended = await bench.changes.apply(await bench.hardware.plan(target(device), "read_ahead_kb", "512"))

    assert (ended.id, ended.result, read_ahead(device)) == ("c2", "verified", "512")


async def test_a_user_keeps_their_own_trials_and_sees_no_others_as_theirs(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.open()
    journal, folder, until = tmp_path / "root" / "journal", bench.require_recording(), boot_clock() + 600
    for id, uid in (("c1", 4712), ("c2", NOBODY), ("c3", 4712)):
        Journal(journal, uid=uid).write_intent(id, folder, planned("128", "256"), until=until)
    for asked in ("getuid", "geteuid"):
        monkeypatch.setattr(os, asked, lambda: NOBODY)
    undecided = await asyncio.to_thread(bench.changes.undecided.refresh_now)

    assert [trial.id for trial in bench.changes.trials()] == ["c2"]
    kept = await bench.changes.keep_trials([one for one in undecided if one.is_decidable])

    assert [trial.id for trial, _ in kept] == ["c2"]
    assert [trial.id for trial in Journal(journal).trials()] == ["c3", "c1"]


async def test_an_undo_goes_the_same_way(bench: Workbench, device: Loop) -> None:
    before = read_ahead(device)
    await bench.open()
    ended = await bench.changes.apply(await bench.hardware.plan(target(device), "read_ahead_kb", "512"))

    await bench.changes.undo(ended.id)

    assert read_ahead(device) == before


@pytest.mark.long
async def test_a_set_in_an_order_that_would_reset_a_value_is_made_and_taken_back(
    bench: Workbench, device: Loop, tmp_path: Path
) -> None:
    keys = ("read_ahead_kb", "max_sectors_kb", "scheduler", "nr_requests", "iostats")
    Path(f"/sys/block/{device.name}/queue/read_ahead_kb").write_text("64")
    before = {key: queue(device, key) for key in keys}
    wanted = {"read_ahead_kb": "128", "nr_requests": "16", "iostats": "0", "max_sectors_kb": "256"}
    await bench.open()
    await bench.hardware.probe()
    planned = await bench.hardware.plan_all(target(device), {**wanted, "scheduler": "mq-deadline"})

    ends = [ended async for _, ended in bench.changes.apply_all(planned)]

    assert [ended.result for ended in ends] == ["verified"] * 5
    assert {key: queue(device, key) for key in wanted} == wanted
    largest = next(record for record in bench.session.changes if record.change.key == "max_sectors_kb")
    kept = Journal(tmp_path / "root" / "journal").intent_of(largest.id, bench.require_recording())
    assert kept is not None
    assert kept.change.beside == largest.change.beside
    assert [one.key for one in kept.change.beside] == ["read_ahead_kb"]
    for ended in reversed(ends):
        assert (await bench.changes.undo(ended.id)).is_reverted
    assert {key: queue(device, key) for key in keys} == before


@pytest.mark.long
async def test_a_value_is_put_back_by_itself_too_without_what_moved_along(bench: Workbench, device: Loop) -> None:
    await bench.open()
    made = await bench.changes.apply(await bench.hardware.plan(target(device), "scheduler", "mq-deadline"))

    ended = await bench.changes.apply(await bench.hardware.plan(target(device), "scheduler", "none"), undoes=made.id)

    assert (ended.result, "[none]" in queue(device, "scheduler")) == ("verified", True)


@pytest.mark.long
async def test_a_default_is_asked_for_by_its_sign_and_read_back_as_its_value(bench: Workbench, device: Loop) -> None:
    await bench.open()
    await bench.changes.apply(await bench.hardware.plan(target(device), "wbt_lat_usec", "5"))

    ended = await bench.changes.apply(await bench.hardware.plan(target(device), "wbt_lat_usec", "-1"))

    assert (ended.result, ended.now) == ("verified", queue(device, "wbt_lat_usec"))


TAMPERED = {
    "another file": lambda change: replace(change, writes=(ChangeStep(path="/sys/power/state", text="mem"),)),
    "another text": lambda change: replace(change, writes=(replace(change.writes[0], text="1"),)),
    "a program": lambda change: replace(change, writes=(ChangeStep(argv=("/bin/sh", "-c", "reboot")),)),
    "one step more": lambda change: replace(change, writes=(*change.writes, ChangeStep(argv=("/sbin/reboot",)))),
    "another value": lambda change: replace(change, after="4"),
    "another device": lambda change: replace(change, identity=replace(change.identity, diskseq="1")),
    "a value that it never had": lambda change: replace(change, before="7"),
}


@pytest.mark.long
@pytest.mark.parametrize("how", TAMPERED)
async def test_a_change_with_anything_else_in_it_is_refused(
    bench: Workbench, root: Helper, device: Loop, how: str
) -> None:
    change: Change = TAMPERED[how](await bench.hardware.plan(target(device), "read_ahead_kb", "512"))
    before = read_ahead(device)
    await root.side.ask("lock", name=lock_name(change.locks[0]), what="changing")

    with pytest.raises(RefusedError):
        await root.side.ask("plan", change=unstructure(change), back=None)

    assert read_ahead(device) == before


@pytest.mark.long
async def test_a_change_without_its_lock_is_refused(bench: Workbench, root: Helper, device: Loop) -> None:
    change = await bench.hardware.plan(target(device), "read_ahead_kb", "512")

    with pytest.raises(RefusedError, match="not locked"):
        await root.side.ask("plan", change=unstructure(change), back=None)


@pytest.mark.long
async def test_a_change_that_is_in_no_journal_is_not_made(bench: Workbench, root: Helper, device: Loop) -> None:
    change = await bench.hardware.plan(target(device), "read_ahead_kb", "512")
    await root.side.ask("lock", name=lock_name(change.locks[0]), what="changing")
    await root.side.ask("plan", change=unstructure(change), back=None)

    with pytest.raises(RefusedError, match="not announced"):
        await root.side.ask("apply", session="/nowhere", id="c1")

    assert read_ahead(device) != "512"


async def test_a_change_is_made_once(bench: Workbench, root: Helper, device: Loop) -> None:
    change = await bench.hardware.plan(target(device), "read_ahead_kb", "512")
    await root.side.ask("lock", name=lock_name(change.locks[0]), what="changing")
    await root.side.ask("plan", change=unstructure(change), back=None)
    words = {"target": str(change.target), "key": change.key, "after": change.after, "until": None}
    await root.side.ask("intend", session="/nowhere", id="c1", **words)
    await root.side.ask("apply", session="/nowhere", id="c1")

    with pytest.raises(RefusedError, match="not announced"):
        await root.side.ask("apply", session="/nowhere", id="c1")


@pytest.mark.long
async def test_two_helpers_do_not_lock_the_same_device(root: Helper, tmp_path: Path, stack: ExitStack) -> None:
    other = stack.enter_context(helper(tmp_path / "root"))
    await root.side.ask("lock", name="block-sda", what="measuring")

    with pytest.raises(RefusedError, match="is locked by raidbench"):
        await other.side.ask("lock", name="block-sda", what="changing")


@pytest.mark.long
async def test_what_a_killed_helper_left_in_the_middle_is_named_by_the_next_and_recovered(
    bench: Workbench, root: Helper, device: Loop, tmp_path: Path, stack: ExitStack
) -> None:
    before = read_ahead(device)
    await bench.open()
    change = await bench.hardware.plan(target(device), "read_ahead_kb", "512")
    await root.side.ask("lock", name=lock_name(change.locks[0]), what="changing")
    await root.side.ask("plan", change=unstructure(change), back=None)
    words = {"target": str(change.target), "key": change.key, "after": change.after, "until": None}
    await root.side.ask("intend", session=str(bench.require_recording()), id="c1", **words)
    await root.side.ask("apply", session=str(bench.require_recording()), id="c1")
    root.process.kill()
    root.process.wait()

    other = Workbench(split_host(LocalHost(), stack.enter_context(helper(tmp_path / "root")).side), paths=bench.paths)
    await other.open()
    (left,) = other.changes.journal.unresolved()

    assert (left.id, await other.changes.recover(left), read_ahead(device)) == ("c1", "restored", before)
    other.close("test")


@pytest.mark.long
async def test_a_trial_is_taken_back_although_the_helper_is_gone(bench: Workbench, root: Helper, device: Loop) -> None:
    before = read_ahead(device)
    await bench.open()
    change = await bench.hardware.plan(target(device), "read_ahead_kb", "512")
    async for _, ended in bench.changes.apply_all((change,), trial=10):
        assert ended.result == "verified"

    root.side.close()
    root.process.wait(10)

    await asyncio.to_thread(wait_for, lambda: read_ahead(device) == before, 40)
