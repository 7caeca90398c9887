"""Preconditioning: writing a device in full before it is measured, and remembering that it was.

Reads of blocks that were never written do not reach the flash, and a drive with all its blocks free writes faster than
it ever will again. So it is filled in order, twice, and then put under the workload until that is steady (SNIA's SSS
PTS).
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

from app.core.benchmark.run_plan import BenchmarkRequest, RunPlan
from app.core.fio.job import Job
from app.core.session.event_types import PreconditionWritten, SteadyPlan
from app.core.session.json_codec import structure, unstructure
from app.core.session.paths import private_folder
from app.core.session.state import RunRecord
from app.core.session.trusted_file import is_absent
from backends.errors import StorageError
from backends.formats import FORMATS, FileFormat, is_newer
from backends.identity import Identity

LOOPS = 2
"""How often the whole device is filled."""

WORKLOAD = "randwrite-4k"
"""The workload when none is named: the one whose figures a fresh drive flatters most."""


def precondition_request(where: str, name: str, job: Job, plan: SteadyPlan, *, profile: str | None) -> BenchmarkRequest:
    """What to measure, so that the target is filled and then put under the job until that is steady or at the cap.

    `where` and `name` as of a Request; a scratch file stays. Raises InvalidValueError for a plan that makes no sense.
    """
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


def written_by(record: RunRecord, ready: RunPlan, *, session: str) -> PreconditionWritten:
    """What a run wrote that filled its target first."""
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
    """The name under which a device is remembered; None for one that cannot be distinguished from another of its kind.

    By what survives a reboot and another name: WWN and serial number, or the backing file of a loop device.
    """
    lasting_ids = (identity.wwn, identity.serial, identity.backing)
    if not any(lasting_ids):
        return None
    import hashlib  # with 3 MiB of libcrypto, which few runs need

    text = "\n".join(str(fact or "") for fact in (*lasting_ids, identity.size_bytes))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class PreconditionHistory:
    """Append-only, one file a device."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def remember(self, identity: Identity, written: PreconditionWritten) -> bool:
        """Whether it could be remembered, which takes something to know the device by. Raises StorageError."""
        key = device_key(identity)
        if key is None:
            return False
        path = self._folder / f"{key}.jsonl"
        try:
            private_folder(self._folder)
            path.touch(mode=0o600)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**unstructure(written), "format": FORMATS[FileFormat.DEVICE]}) + "\n")
        except OSError as error:
            raise StorageError(
                f"It cannot be remembered that {written.device} was written: {error.strerror}.",
                hint=f"Check {self._folder}.",
                evidence=str(error),
            ) from error
        return True

    def last_written(self, identity: Identity) -> PreconditionWritten | None:
        """The last preconditioning of the device that filled any of it; None if none is known, or a newer
        program knows of one.
        """
        if is_absent(self._folder):  # nothing was ever filled here, as on most machines: no key, and no libcrypto
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
            except Exception:  # a line torn by a crash, or of another version
                continue
        return None
