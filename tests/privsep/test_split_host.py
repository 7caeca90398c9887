"""What a host with a helper does itself, and what it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from app.privsep.client import split_host
from backends.errors import RefusedError
from backends.host import Command
from backends.system.local import LocalHost
from backends.system.privsep.connection import Connection


class Asked(Connection):
    """A helper that answers the same to everything, and notes what it was asked."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer = answer
        self.questions: list[tuple[str, dict[str, object]]] = []

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        self.questions.append((verb, args))
        return self.answer


class Blind(LocalHost):
    """A user who may read nothing."""

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        return {}


async def test_a_file_that_only_root_may_read_is_asked_of_the_helper() -> None:
    side = Asked({"texts": {"/proc/1/mountinfo": "the mounts"}})

    assert await split_host(Blind(), side).read("/proc/1/mountinfo") == "the mounts"


async def test_a_file_of_the_users_own_is_nobody_elses_business() -> None:
    side = Asked({"texts": {}})

    await split_host(Blind(), side).read_many(["/etc/shadow", "/proc/1/environ"])

    assert side.questions == []


async def test_a_program_that_needs_no_root_runs_as_the_user() -> None:
    side = Asked({})

    done = await split_host(LocalHost(), side).run(Command(argv=("/bin/echo", "mine")))

    assert (done.stdout.strip(), side.questions) == ("mine", [])


async def test_a_single_step_of_a_change_is_never_taken() -> None:
    side = Asked({})
    host = split_host(LocalHost(), side)

    for step in (
        host.run(Command(argv=("/bin/true",), mutates=True)),
        host.write("/sys/block/sda/queue/scheduler", "none"),
        host.install("/etc/udev/rules.d/x.rules", b"x", before=None),
    ):
        with pytest.raises(RefusedError, match="only complete changes"):
            await step
    assert side.questions == []
