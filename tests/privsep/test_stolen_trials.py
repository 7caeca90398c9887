"""A trial of one user comes back at its deadline, whatever another user of the helper asks for meanwhile."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from app.core.session.journal import Journal, boot_clock
from app.core.session.json_codec import unstructure
from app.core.session.locks import lock_name
from app.core.session.paths import Paths
from app.privsep.dispatcher import RequestDispatcher
from app.privsep.request_schema import RESULTS
from backends.change import Change
from backends.model import Target
from backends.registry import MachineBackends
from backends.system.local import LocalHost
from tests.backends.loops import Loop, loop, needs_loops, wait_for
from tests.privsep.helping import needs_root

pytestmark = [needs_root, needs_loops()]

JANE, JOE = 4711, 4712
SESSION = "/home/jane/.local/state/raidbench/sessions/2026-11-28_0900"


class User:
    """One user's conversation with a helper of their own, in this process; all helpers share root's folders."""

    def __init__(self, paths: Paths, uid: int) -> None:
        self.requests = RequestDispatcher(paths=paths, uid=uid, gid=uid)
        self._asked = 0

    async def ask(self, verb: str, **args: object) -> bool:
        """Whether it was done."""
        self._asked += 1
        body = json.dumps({"id": self._asked, "verb": verb, "args": args}).encode()
        return (await self.requests.answer(body)).accepted

    async def must(self, verb: str, **args: object) -> None:
        assert await self.ask(verb, **args), verb

    async def locks_and_plans(self, change: Change) -> None:
        await self.must("lock", name=lock_name(change.locks[0]), what="changing")
        await self.must("plan", change=unstructure(change), back=None)


def intent(change: Change, id: str, until: float | None) -> dict[str, Any]:
    what = {"target": str(change.target), "key": change.key, "after": change.after}
    return {"session": SESSION, "id": id, **what, "until": until}


@pytest.fixture
def other(tmp_path: Path, stack: ExitStack) -> Loop:
    """Joe's own disk."""
    return stack.enter_context(loop(tmp_path / "other"))


async def change_of(device: Loop, value: str) -> Change:
    target = Target(backend="block", address=device.name)
    return await MachineBackends.of(LocalHost()).setter(target).plan(target, "read_ahead_kb", value)


def read_ahead(device: Loop) -> str:
    return Path(f"/sys/block/{device.name}/queue/read_ahead_kb").read_text().strip()


@pytest.mark.long
async def test_another_user_silences_no_trial(tmp_path: Path, device: Loop, other: Loop) -> None:
    paths = Paths.at(tmp_path / "root")
    jane, joe = User(paths, JANE), User(paths, JOE)
    for user in (jane, joe):
        await user.must("hello", version=1, read_only=False, firmware=False)
    before = read_ahead(device)
    change, until = await change_of(device, "64"), boot_clock() + 15
    await jane.locks_and_plans(change)
    await jane.must("intend", **intent(change, "c1", until))
    await jane.must("arm", session=SESSION, until=until)
    await jane.must("apply", session=SESSION, id="c1")
    await jane.must("unlock", name=lock_name(change.locks[0]))
    assert read_ahead(device) == "64"

    done = [await joe.ask("lock", name=lock_name(change.locks[0]), what="changing")]
    own = await change_of(other, "512")
    await joe.locks_and_plans(own)
    for end in (None, until, until - 5):
        done.append(await joe.ask("intend", **intent(own, "c1", end)))
    done.append(await joe.ask("intend", **intent(own, "c2", until)))
    done.append(await joe.ask("arm", session=SESSION, until=until))
    for result in RESULTS:
        done.append(await joe.ask("outcome", session=SESSION, id="c1", result=result))
    for spelling in (f"{SESSION}/", f"/{SESSION}", SESSION.replace("/home", "/home/../home")):
        done.append(await joe.ask("intend", **intent(own, "c1", None) | {"session": spelling}))
        done.append(await joe.ask("outcome", session=spelling, id="c1", result="kept"))
    done.append(await joe.ask("unlock", name=lock_name(change.locks[0])))
    done.append(await joe.ask("apply", session=SESSION, id="c1"))
    done.append(await joe.ask("remake", session=SESSION, id="c1"))

    assert not any(done)
    assert [trial.id for trial in Journal(paths.journal).trials()] == ["c1"]
    await asyncio.to_thread(wait_for, lambda: read_ahead(device) == before, 60.0)
    await asyncio.to_thread(wait_for, lambda: not Journal(paths.journal).trials(), 60.0)
    await jane.requests.close()
    await joe.requests.close()
