"""Checks, executes and counts requests. No request can raise an error out of it."""

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
"""Verbs that a read-only conversation does not have. It has `hold`, but only for reading."""

FINISHED = frozenset({"apply", "persist", "remake", "unit"})
"""Verbs that complete even if the connection is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFrame:
    """A reply."""

    message: Mapping[str, Any]
    """The reply as it is sent."""
    descriptors: tuple[int, ...] = ()
    """Descriptors that are sent with it and closed afterwards."""

    @property
    def accepted(self) -> bool:
        """Whether the request was executed."""
        return "ok" in self.message


class RequestDispatcher:
    """One conversation."""

    def __init__(self, *, paths: Paths, uid: int, gid: int) -> None:
        """`paths`: root's own paths. `uid` and `gid`: the user of the conversation."""
        self._paths = paths
        self._uid, self._gid = uid, gid
        self._verbs: dict[str, Callable[..., Any]] = {}
        self._read_only = True
        self._holding: DeviceClaims | None = None
        self._measuring: GuardedRuns | None = None
        self._changing: HelperChanges | None = None
        self.refused = 0
        """Requests that were malformed, unknown, out of order, or refused by a guard."""
        self.failed = 0
        """Requests that met a defect of the helper."""

    async def answer(self, body: bytes) -> ReplyFrame:
        """Return the reply to a request. Never raises."""
        number = None
        try:
            message = unpack(body)
            request_id = message.get("id")
            number = request_id if type(request_id) is int else None
            number, verb, args = parse_request(message)
            result = await self._do(verb, args)
            reply, descriptors = result if isinstance(result, tuple) else (result, ())
        except (MalformedError, RequestDeniedError) as error:
            return self._refuse(number, RefusedError(f"The root helper does not do that. {error}"))
        except RaidbenchError as error:
            return self._refuse(number, error)
        except Exception as error:  # A defect must neither end the conversation nor count as success.
            self.failed += 1
            return self._refuse(number, RefusedError(f"The root helper failed: {type(error).__name__}: {error}"))
        return ReplyFrame(message={"id": number, "ok": reply, "descriptors": len(descriptors)}, descriptors=descriptors)

    async def _do(self, verb: str, args: Mapping[str, Any]) -> Any:
        if verb == "hello":
            return self._begin(**args)
        if verb not in self._verbs:
            raise RequestDeniedError("It has not been greeted.")
        if self._read_only and (verb in CHANGES or (verb == "hold" and args["writing"])):
            raise RequestDeniedError(f"{verb}: this conversation is for reading only.")
        result = self._verbs[verb](**args)
        if not inspect.iscoroutine(result):
            return result
        return await (shield_to_completion(asyncio.ensure_future(result)) if verb in FINISHED else result)

    def _begin(self, version: int, read_only: bool, firmware: bool) -> Mapping[str, Any]:
        """Execute the first request, which declares the scope of the conversation."""
        if self._verbs:
            raise RequestDeniedError("hello: it has been said.")
        host = LocalHost(firmware_queries=firmware)
        looking = ReadVerbs(host)
        holding = self._holding = DeviceClaims(host, self._gid, self._paths.config)
        measuring = self._measuring = GuardedRuns(host, holding)
        changing = self._changing = HelperChanges(host, MachineBackends.of(host), self._paths, self._uid)
        self._read_only = read_only
        self._verbs = {
            "read": looking.read,
            "follow": looking.follow,
            "run": looking.run,
            "reachable": looking.reachable,
            "ask": looking.ask,
            "facts": holding.facts,
            "free": holding.free,
            "hold": holding.hold,
            "release": holding.release,
            "measure": measuring.measure,
            "signal": measuring.signal,
            "ended": measuring.ended,
            "lock": changing.lock,
            "unlock": changing.unlock,
            "plan": changing.plan,
            "intend": changing.intend,
            "apply": changing.apply,
            "outcome": changing.outcome,
            "arm": changing.arm,
            "journal": changing.journal,
            "remake": changing.remake,
            "together": changing.together,
            "persist": changing.persist,
            "unit": changing.unit,
            "rehearse": changing.rehearse,
            "given": changing.given,
            "companion": self.companion,
        }
        return {"version": version}

    def companion(self) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """Start a second helper for the same user, for a process that outlives this one. It ends with that process."""
        with start_beside(self_exec_argv("app.privsep"), COMPANION, user=(self._uid, self._gid)) as sock:
            return {}, (sock.detach(),)

    def refuse_bytes(self, error: MalformedError) -> ReplyFrame:
        """Return the reply to bytes that are no message."""
        return self._refuse(None, RefusedError(f"The root helper does not do that. {error}"))

    def _refuse(self, number: int | None, error: RaidbenchError) -> ReplyFrame:
        self.refused += 1
        return ReplyFrame(message={"id": number, "error": encode_error(error)})

    async def close(self) -> None:
        """End all runs, close all devices and release all locks."""
        if self._measuring is not None:
            await self._measuring.close()
        if self._holding is not None:
            await self._holding.close()
        if self._changing is not None:
            self._changing.close()
