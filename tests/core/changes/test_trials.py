"""A change on trial comes back by itself, whatever becomes of program and terminal, unless somebody keeps it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.changes import trial as trial_module
from app.core.changes import watchdog
from app.core.changes.executor import ChangeExecutor
from app.core.changes.trial import arm, check_seconds
from app.core.session.journal import OVERDUE, Journal, boot_clock
from app.core.session.locks import hold_lock
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.errors import RefusedError
from backends.model import Target
from backends.system.local import LocalHost
from tests.backends.loops import loop, needs_loops
from tests.core.doubles import TARGET, Bench, FakeBackend, planned

ROOT = Path(__file__).parents[3]


def paths(folder: Path) -> Paths:
    return Paths(
        sessions=folder / "sessions",
        journal=folder / "journal",
        locks=folder / "locks",
        config=folder / "config.toml",
    )


class Trial(Bench):
    """A bench whose watchdog is only noted."""

    def __init__(
        self,
        folder: Path,
        backend: FakeBackend | None = None,
        controller_of: Callable[[Target], Target | None] = lambda _target: None,
    ) -> None:
        super().__init__(folder, backend)
        self.armed: list[float] = []
        self.refusal: RefusedError | None = None

        async def note(until: float) -> None:
            if self.refusal is not None:
                raise self.refusal
            self.armed.append(until)

        self.changer = ChangeExecutor(
            backends={"fake": self.backend},
            journal=self.journal,
            locks=self.locks,
            folder=self.folder,
            emit=self.emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
            arm=note,
            controller_of=controller_of,
        )


@pytest.mark.parametrize("seconds", [0, 9.9, 601, -1])
def test_a_trial_of_an_odd_length_is_refused(seconds: float) -> None:
    with pytest.raises(RefusedError, match="10 to 600"):
        check_seconds(seconds)


async def test_the_watchdog_is_armed_before_anything_is_set(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    bench.refusal = RefusedError("no watchdog")
    with pytest.raises(RefusedError):
        await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    assert bench.backend.applied == []


async def test_a_change_whose_watchdog_is_not_armed_has_failed_and_blocks_nothing(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    bench.refusal = RefusedError("no watchdog")
    with pytest.raises(RefusedError):
        await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    assert bench.journal.trials() == ()


async def test_a_verified_trial_stays_open(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    assert [trial.id for trial in bench.journal.trials()] == ["c1"]


async def test_an_open_trial_is_no_crash(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    assert bench.journal.unresolved() == ()


async def test_a_trial_nobody_took_back_counts_as_left_by_a_crash(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() - 60)
    assert [intent.id for intent in bench.journal.unresolved()] == ["c1"]


async def test_another_change_of_a_device_on_trial_is_refused(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    with pytest.raises(RefusedError, match="not decided yet"):
        await bench.set("512", before="256")


async def test_another_setting_under_the_same_lock_waits_for_the_trial(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256", lock="card-0"), until=boot_clock() + 60)
    other = replace(planned("256", "512", lock="card-0"), target=Target(backend="fake", address="disk1"))
    with pytest.raises(RefusedError, match="The trial of Read-ahead of fake:disk0 is not decided"):
        await bench.changer.apply(other)


@pytest.mark.parametrize(("on_trial", "refused"), [(True, True), (False, False)], ids=["trial", "for good"])
async def test_one_controller_has_one_trial_at_a_time(tmp_path: Path, on_trial: bool, refused: bool) -> None:
    bench = Trial(tmp_path, controller_of=lambda target: Target(backend="hba", address="host0"))
    await bench.changer.apply(planned("128", "256", lock="disk0"), until=boot_clock() + 60)
    other = replace(planned("256", "512", lock="disk1"), target=Target(backend="fake", address="disk1"))
    with pytest.raises(RefusedError, match="not decided yet") if refused else nullcontext():
        await bench.changer.apply(other, until=boot_clock() + 61 if on_trial else None)


async def test_controllers_have_their_trials_apart(tmp_path: Path) -> None:
    bench = Trial(tmp_path, controller_of=lambda target: target)
    await bench.changer.apply(planned("128", "256", lock="disk0"), until=boot_clock() + 60)
    other = replace(planned("256", "512", lock="disk1"), target=Target(backend="fake", address="disk1"))
    assert (await bench.changer.apply(other, until=boot_clock() + 61)).result == "verified"


async def test_a_kept_trial_is_over(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    bench.journal.write_outcome("c1", bench.folder, "kept")
    assert bench.journal.trials() == ()


async def test_undoing_a_trial_ends_it(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    await bench.changer.undo(bench.record())
    assert (bench.backend.value, bench.journal.trials()) == ("128", ())


async def test_the_watchdog_takes_back_what_nobody_kept(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() + 0.05
    await bench.changer.apply(planned("128", "256"), until=until)
    assert (await watch(bench, tmp_path, until), bench.backend.value) == ("restored", "128")


async def test_the_watchdog_leaves_what_was_kept(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() + 0.05
    await bench.changer.apply(planned("128", "256"), until=until)
    bench.journal.write_outcome("c1", bench.folder, "kept")
    assert (await watch(bench, tmp_path, until), bench.backend.value) == ("kept", "256")


async def test_the_watchdog_never_touches_somebody_elses_value(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() + 0.05
    await bench.changer.apply(planned("128", "256"), until=until)
    bench.backend.value = "512"
    assert (await watch(bench, tmp_path, until), bench.backend.value) == ("conflict", "512")


async def test_after_a_conflict_the_device_can_be_changed_again(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() + 0.05
    await bench.changer.apply(planned("128", "256"), until=until)
    bench.backend.value = "512"
    await watch(bench, tmp_path, until)
    assert (await bench.set("128", before="512")).result == "verified"


async def test_what_is_kept_while_the_watchdog_waits_for_the_device_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() - 1
    await bench.changer.apply(planned("128", "256"), until=until)
    tried = asyncio.Event()

    async def waits(_seconds: float) -> None:
        tried.set()
        await keeping
        bench.journal.write_outcome("c1", bench.folder, "kept")

    keeping = asyncio.get_running_loop().create_future()
    monkeypatch.setattr(watchdog, "asyncio", SimpleNamespace(sleep=waits))
    with hold_lock(bench.locks, str(TARGET), "measuring"):
        watching = asyncio.create_task(watch(bench, tmp_path, until))
        await tried.wait()
    keeping.set_result(None)
    assert (await watching, bench.backend.value) == ("kept", "256")


async def test_a_device_that_was_held_long_does_not_keep_the_rest_of_the_set(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() - 2 * OVERDUE
    await bench.changer.apply(planned("128", "256"), until=until)
    assert (await watch(bench, tmp_path, until), bench.backend.value) == ("restored", "128")


async def test_a_watchdog_that_does_not_answer_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def mute(_module: str, _order: str, _seconds: float, **_how: object) -> str:
        return ""

    monkeypatch.setattr(trial_module, "start_detached", mute)
    with pytest.raises(RefusedError, match="could not be started"):
        await arm(paths(tmp_path), tmp_path, boot_clock() + 60)


async def watch(bench: Bench, folder: Path, until: float) -> str:
    """The watchdog of a bench, to its end."""
    return await watchdog.watch(paths(folder), str(bench.folder), until, {"fake": bench.backend})


PROGRAM = """
import asyncio, json, os, sys
from contextlib import aclosing
from pathlib import Path
from app.core.workbench import Workbench
from backends.system.local import LocalHost

async def main():
    bench = Workbench(LocalHost())
    await bench.open(None)
    target = (await bench.hardware.find(sys.argv[1])).target
    change = await bench.hardware.plan(target, "read_ahead_kb", sys.argv[2])
    async with aclosing(bench.changes.apply_all((change,), trial=15)) as steps:
        async for _, ended in steps:
            print(json.dumps(ended.result), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@needs_loops()
@pytest.mark.long
@pytest.mark.slow
def test_a_killed_program_does_not_keep_its_trial(tmp_path: Path) -> None:
    with loop(tmp_path / "disk.img") as disk:
        device = disk.device
        setting = Path(f"/sys/block/{device.removeprefix('/dev/')}/queue/read_ahead_kb")
        before = setting.read_text().strip()
        wanted = "1024" if before != "1024" else "2048"
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, device, wanted],
            stdout=subprocess.PIPE,
            env={**os.environ, "RAIDBENCH_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": os.getcwd()},
            start_new_session=True,
        )
        assert child.stdout is not None
        told = json.loads(child.stdout.readline())
        during = setting.read_text().strip()
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        deadline = time.monotonic() + 120
        while setting.read_text().strip() != before and time.monotonic() < deadline:
            time.sleep(0.1)
        wait_for_the_watchdog(tmp_path / "state", deadline)
        assert (told, during, setting.read_text().strip()) == ("verified", wanted, before)


def wait_for_the_watchdog(state: Path, deadline: float) -> None:
    """Its last record must be on disk before the folder goes."""
    while Journal(state / "journal").trials() and time.monotonic() < deadline:
        time.sleep(0.1)


async def test_a_real_watchdog_that_finds_nothing_on_trial_is_not_armed(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"could not be started: The watchdog found no trial in .*journal\.log\. No"):
        await asyncio.wait_for(arm(paths(tmp_path), tmp_path / "session", boot_clock() + 60), timeout=120)


# -- a program that is removed meanwhile: tests/test_forms.py removes it ----------------------------------------------

COMPLETE = """
import ast, importlib.util, sys
from app.core.changes import watchdog

def asked(module):  # at its head or anywhere in it
    found = ast.parse(open(module.__file__).read())
    types = {id(one) for node in ast.walk(found) if isinstance(node, ast.If) for one in ast.walk(node)
             if ast.unparse(node.test) == "TYPE_CHECKING"}
    for node in ast.walk(found):  # a codec is a module, too
        if isinstance(node, ast.Import) and id(node) not in types:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and id(node) not in types:
            yield node.module
            yield from (name for alias in node.names if is_module(name := f"{node.module}.{alias.name}"))

        elif isinstance(node, ast.keyword) and node.arg == "encoding" and isinstance(node.value, ast.Constant):
            yield "encodings." + node.value.value.replace("-", "_")

def is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False

watchdog.load_all()
there = dict(sys.modules)
for name, module in there.items():
    if name.split(".")[0] in ("app", "backends"):
        print(*(f"{name} asks for {one}\\n" for one in asked(module) if one not in there), end="")
"""


@pytest.mark.long
def test_whatever_the_watchdog_may_ask_for_is_there_before_it_says_that_it_is_armed() -> None:
    done = subprocess.run([sys.executable, "-c", COMPLETE], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")


ARMED = """
import asyncio, os, sys
from pathlib import Path
from app.core.changes import watchdog
from app.core.session.journal import Journal, boot_clock
from tests.core.changes.test_trials import paths

async def main():
    folder = Path(sys.argv[1])
    (trial,) = Journal(folder / "journal").trials()
    watchdog.load_all()
    found = await watchdog.rehearse(paths(folder), trial.session, trial.until)
    asked, program = [], (sys.prefix, os.path.dirname(os.__file__), os.getcwd())

    def hears(event, words):
        if event == "import" or (event == "open" and str(words[0]).startswith(program)):
            asked.append(f"{event} {words[0]}")

    sys.addaudithook(hears)
    print(await watchdog.watch(paths(folder), trial.session, trial.until, found))
    print(*asked)

asyncio.run(main())
"""


@pytest.mark.long
@needs_loops()
@pytest.mark.slow
async def test_when_the_deadline_comes_nothing_is_read_from_where_the_program_lay(tmp_path: Path) -> None:
    with loop(tmp_path / "disk.img") as disk:
        bench = Workbench(LocalHost(), paths=paths(tmp_path))
        await bench.open(None)
        change = await bench.hardware.plan((await bench.hardware.find(disk.sure())).target, "read_ahead_kb", "1024")
        bench.changes.journal.write_intent("c1", bench.require_recording(), change, until=boot_clock() + 5)
        await bench.host.write(f"/sys/block/{disk.name}/queue/read_ahead_kb", "1024")
        bench.close()
        argv = [sys.executable, "-c", ARMED, str(tmp_path)]
        done = subprocess.run(
            argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )
        assert done.stdout.split("\n") == ["restored", "", ""], done.stderr
