"""Checks, executes and counts the requests to the root helper. Every error becomes a reply."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from app.core.session.paths import Paths
from app.privsep.benchmark_verbs import GuardedRuns
from app.privsep.change_verbs import HelperChanges
from app.privsep.device_claims import DeviceClaims
from app.privsep.read_verbs import ReadVerbs
from app.privsep.request_schema import RequestDeniedError, parse_request
from backends.errors import RaidbenchError, RefusedError
from backends.helper_interface import encode_error
from backends.host import shield_to_completion
from backends.registry import MachineBackends
from backends.self_exec import self_exec_argv
from backends.system.local import LocalHost
from backends.system.local.elevated import COMPANION, start_beside
from backends.system.privsep.connection import MalformedError, unpack
from backends.values import dataclass

CHANGES = frozenset({"together", "plan", "intend", "apply", "arm", "persist", "remake", "unit", "companion"})
"""Requests that are refused on a read-only connection. `hold` is permitted there, but only for reading."""

FINISHED = frozenset({"apply", "persist", "remake", "unit"})
"""Requests that are completed even if the connection is closed while they are executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFrame:
    """A reply to a request."""

    message: Mapping[str, Any]
    """The fields of the reply: the number of the request, and its result or error."""
    descriptors: tuple[int, ...] = ()
    """Descriptors that are sent with the reply and closed afterwards."""

    @property
    def accepted(self) -> bool:
        """Whether the request was executed."""
        return "ok" in self.message


class RequestDispatcher:
    """Executes the requests of one connection."""

    def __init__(self, *, paths: Paths, uid: int, gid: int) -> None:
        """`paths`: root's own paths. `uid` and `gid`: user and group at the other end of the connection."""
        self._paths = paths
        self._uid, self._gid = uid, gid
        self._verbs: dict[str, Callable[..., Any]] = {}
        self._read_only = True
        self._claims: DeviceClaims | None = None
        self._runs: GuardedRuns | None = None
        self._changes: HelperChanges | None = None
        self.refused = 0
        """Number of requests that were answered with an error: denied, refused or failed ones."""
        self.failed = 0
        """Number of those requests that failed because of a defect in the helper."""

    async def answer(self, body: bytes) -> ReplyFrame:
        """Execute a request and return the reply. Never raises."""
        number = None
        try:
            message = unpack(body)
            request_id = message.get("id")
            number = request_id if type(request_id) is int else None
            number, verb, args = parse_request(message)
            result = await self._execute(verb, args)
            reply, descriptors = result if isinstance(result, tuple) else (result, ())
        except (MalformedError, RequestDeniedError) as error:
            return self._refuse(number, RefusedError(f"Request denied by the root helper: {error}"))
        except RaidbenchError as error:
            return self._refuse(number, error)
        except Exception as error:  # A defect of the helper must neither close the connection nor count as success.
            self.failed += 1
            return self._refuse(number, RefusedError(f"The root helper failed: {type(error).__name__}: {error}"))
        return ReplyFrame(message={"id": number, "ok": reply, "descriptors": len(descriptors)}, descriptors=descriptors)

    async def _execute(self, verb: str, args: Mapping[str, Any]) -> Any:
        if verb == "hello":
            return self._begin(**args)
        if verb not in self._verbs:
            raise RequestDeniedError("Protocol error: hello expected first.")
        if self._read_only and (verb in CHANGES or (verb == "hold" and args["writing"])):
            raise RequestDeniedError(f"{verb}: this connection is read-only.")
        result = self._verbs[verb](**args)
        if not inspect.iscoroutine(result):
            return result
        return await (shield_to_completion(asyncio.ensure_future(result)) if verb in FINISHED else result)

    def _begin(self, version: int, read_only: bool, firmware: bool) -> Mapping[str, Any]:
        """Execute the first request, with which the user's process sets the permissions of later requests."""
        if self._verbs:
            raise RequestDeniedError("hello: already received.")
        host = LocalHost(firmware_queries=firmware)
        reads = ReadVerbs(host)
        claims = self._claims = DeviceClaims(host, self._gid, self._paths.config)
        runs = self._runs = GuardedRuns(host, claims)
        changes = self._changes = HelperChanges(host, MachineBackends.of(host), self._paths, self._uid)
        self._read_only = read_only
        self._verbs = {
            "read": reads.read,
            "follow": reads.follow,
            "run": reads.run,
            "reachable": reads.reachable,
            "ask": reads.ask,
            "facts": claims.facts,
            "free": claims.free,
            "hold": claims.hold,
            "release": claims.release,
            "measure": runs.measure,
            "signal": runs.signal,
            "ended": runs.ended,
            "lock": changes.lock,
            "unlock": changes.unlock,
            "plan": changes.plan,
            "intend": changes.intend,
            "apply": changes.apply,
            "outcome": changes.outcome,
            "arm": changes.arm,
            "journal": changes.journal,
            "remake": changes.remake,
            "together": changes.together,
            "persist": changes.persist,
            "unit": changes.unit,
            "rehearse": changes.rehearse,
            "given": changes.given,
            "companion": self.companion,
        }
        return {"version": version}

    def companion(self) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """Start a second helper for the same user, and return the connection to it.

        The user's process passes the connection to a process that outlives it. The second helper ends with that one.
        """
        with start_beside(self_exec_argv("app.privsep"), COMPANION, user=(self._uid, self._gid)) as sock:
            return {}, (sock.detach(),)

    def refuse_bytes(self, error: MalformedError) -> ReplyFrame:
        """Return the reply to received bytes that are not a valid message."""
        return self._refuse(None, RefusedError(f"Request denied by the root helper: {error}"))

    def _refuse(self, number: int | None, error: RaidbenchError) -> ReplyFrame:
        self.refused += 1
        return ReplyFrame(message={"id": number, "error": encode_error(error)})

    async def close(self) -> None:
        """End all runs, close all devices and release all locks."""
        if self._runs is not None:
            await self._runs.close()
        if self._claims is not None:
            await self._claims.close()
        if self._changes is not None:
            self._changes.close()
