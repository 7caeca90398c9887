"""Requests to the root helper that only read: files, links, the output of programs, and controllers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from app.privsep.read_policy import command_of, may_follow, may_read
from app.privsep.request_schema import RequestDeniedError
from backends.firmware_queries import FirmwareQuery
from backends.host import Command
from backends.system.local import LocalHost


class ReadVerbs:
    """Executes requests for data that only root can read."""

    def __init__(self, host: LocalHost) -> None:
        self._host = host

    async def read(self, paths: list[str]) -> Mapping[str, Any]:
        """Return the contents of small files by path. Raises RequestDeniedError if a file is not permitted."""
        if not all(map(may_read, paths)):
            raise RequestDeniedError("read: a file is not on the list of permitted files.")
        return {"texts": await self._host.read_many(paths)}

    async def follow(self, path: str) -> Mapping[str, Any]:
        """Return the target of a symbolic link. Raises RequestDeniedError if the link is not permitted."""
        if not may_follow(path):
            raise RequestDeniedError("follow: the link is not on the list of permitted links.")
        return {"leads": await self._host.link(path)}

    async def run(self, argv: list[str], seconds: float, stall: float | None) -> Mapping[str, Any]:
        """Run a read-only program and return its output. Raises RequestDeniedError if it is not permitted.

        `seconds`, `stall`: time limits in seconds (`Command.timeout`, `Command.stall`).
        """
        command = command_of(argv)
        if command is None:
            raise RequestDeniedError(
                "run: the command is not on the list of read-only commands, or root must not run it."
            )
        done = await self._host.run(Command(argv=command, timeout=float(seconds), stall=stall))
        return {
            "returncode": done.returncode,
            "stdout": done.stdout,
            "stderr": done.stderr,
            "seconds": done.seconds,
            "truncated": done.truncated,
        }

    async def reachable(self) -> Mapping[str, Any]:
        """Return the reason why controllers cannot be queried; None if they can."""
        return {"why_not": await self._host.firmware_reachable()}

    async def ask(self, host: int, question: str, subject: int, size: int | None) -> Mapping[str, Any]:
        """Return the answer of a controller to a read-only query, encoded in base64.

        Raises RequestDeniedError if the arguments are not valid for the query.
        """
        query = FirmwareQuery[question]
        if size is not None and size > query.value.size:
            raise RequestDeniedError("ask: no answer is that long.")
        if subject and not query.value.subject:
            raise RequestDeniedError("ask: this query covers the whole controller.")
        answer = await self._host.ask_firmware(host, query, subject=subject, size=size)
        return {"answer": base64.b64encode(answer).decode("ascii")}
