"""Preconditioning: writing a device in full before a measurement, and the record of these writes.

Reads of blocks that were never written do not reach the flash. A drive whose blocks are all free writes faster than it
ever does later. So the device is filled sequentially twice. Then it runs the workload until the results are steady
(SNIA SSS PTS).
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.session.event_types import PreconditionWritten, SteadyPlan
from app.core.session.json_codec import structure, unstructure
from app.core.session.paths import private_folder
from app.core.session.trusted_file import is_absent
from backends.errors import storage_errors
from backends.formats import FORMATS, FileFormat, is_newer
from backends.identity import Identity

if TYPE_CHECKING:
    from app.core.benchmark.run_plan import BenchmarkRequest, RunPlan
    from app.core.fio.job import Job
    from app.core.session.state import RunRecord

LOOPS = 2
"""Number of times that the device is filled."""

WORKLOAD = "randwrite-4k"
"""Default workload, because it is the one whose results are improved most by a fresh drive."""


def precondition_request(where: str, name: str, job: Job, plan: SteadyPlan, *, profile: str | None) -> BenchmarkRequest:
    """Return a request that fills the target, then runs the job until it is steady or the time limit is reached.

    `where` and `name`: as in `BenchmarkRequest`. A scratch file is kept. Raises InvalidValueError for an invalid plan.
    """
    from app.core.benchmark.run_plan import BenchmarkRequest  # the history of a device is read without it

    replace(plan, until=True).checked()
    return BenchmarkRequest(
        where=where,
        name=name,
        job=replace(job, ramp=0, runtime=plan.cap_s),
        profile=profile,
        keep=True,
        steady=replace(plan, until=False, end_early=True),
        fills=LOOPS,
    )


def precondition_record(record: RunRecord, ready: RunPlan, *, session: str) -> PreconditionWritten:
    """Return the record of all writes of a run that filled its target before it measured."""
    figures = record.figures
    has_workload = figures.read is not None or figures.write is not None
    return PreconditionWritten(
        at=time.time(),
        device=ready.only.device or record.start.target,
        size_bytes=ready.size,
        filled_bytes=figures.filled_bytes,
        workload=record.start.workload if has_workload else "",
        workload_bytes=figures.write.total_bytes if figures.write is not None else 0,
        steady=figures.steady.attained if figures.steady is not None else False if has_workload else None,
        session=session,
    )


def device_key(identity: Identity) -> str | None:
    """Return the key under which the history of a device is stored; None if the device has no unique identity.

    The key comes from facts that survive a reboot and a new name: WWN and serial number, the backing file of a loop
    device, and the size.
    """
    lasting_ids = (identity.wwn, identity.serial, identity.backing)
    if not any(lasting_ids):
        return None
    import hashlib  # loads 3 MiB of libcrypto, which few runs need

    text = "\n".join(str(fact or "") for fact in (*lasting_ids, identity.size_bytes))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class PreconditionHistory:
    """Append-only history of preconditioning, one file for each device."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def remember(self, identity: Identity, written: PreconditionWritten) -> bool:
        """Store a record; return False if the device has no unique identity. Raises StorageError if storing fails."""
        key = device_key(identity)
        if key is None:
            return False
        path = self._folder / f"{key}.jsonl"
        failure = f"The preconditioning of {written.device} cannot be recorded"
        with storage_errors(failure, hint=f"Check {self._folder}."):
            private_folder(self._folder)
            path.touch(mode=0o600)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**unstructure(written), "format": FORMATS[FileFormat.DEVICE]}) + "\n")
        return True

    def last_written(self, identity: Identity) -> PreconditionWritten | None:
        """Return the last record of a device; None if there is none, or if a newer raidbench wrote it."""
        if is_absent(self._folder):  # true on most machines; avoids computing the key, which loads libcrypto
            return None
        key = device_key(identity)
        if key is None:
            return None
        try:
            lines = (self._folder / f"{key}.jsonl").read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        for line in reversed(lines):
            try:
                data = json.loads(line)
                return None if is_newer(FileFormat.DEVICE, data.get("format")) else structure(data, PreconditionWritten)
            except Exception:  # a crash truncated the line, or another version wrote it
                continue
        return None
