"""Whether what is about to be read was ever written, as far as the session knows. Pure."""

from __future__ import annotations

from collections.abc import Collection

from app.engine.fio.sizes import parse_size
from app.engine.session.events import ChangeEnded, PreconditionEnded, RunEnded
from app.engine.session.figures import RunStatus
from app.engine.session.state import Session
from backends.errors import InvalidValueError
from backends.model import Target
from backends.settings import Risk

_SEQUENTIAL_WRITE = "write"
_TRIMS = ("trim", "randtrim")
"""Patterns that leave blocks unwritten; those of trimwrite write each block again."""


def written(session: Session, device: str, targets: Collection[Target], area: int) -> bool | None:
    """True after a sequential write over all of the first `area` bytes, False after a trim or a re-created array.

    `targets`: what the device is. A format counts as created again. None where the session knows of neither: others may
    have written.
    """
    known: bool | None = None
    for event in session.events:
        match event:
            case RunEnded(id=run_id):
                if _trimmed(session, run_id, device):
                    known = False
                elif _covers(session, run_id, device, area):
                    known = True
            case PreconditionEnded(written=done):
                if done.device == device and done.filled_bytes >= area:
                    known = True
            case ChangeEnded(id=change_id, result="verified"):
                record = session.change(change_id)
                if record is None or record.change.risk is not Risk.DESTROYS_DATA:
                    continue
                if record.change.target in targets:
                    known = False
            case _:
                pass
    return known


def _trimmed(session: Session, run_id: str, device: str) -> bool:
    """Whether the run discarded blocks of the device and left them unwritten."""
    run = session.run(run_id)
    return run is not None and run.overwrote(device) and run.start.job.get("rw") in _TRIMS


def _covers(session: Session, run_id: str, device: str, area: int) -> bool:
    """Whether the run wrote every block of the first `area` bytes of the device."""
    run = session.run(run_id)
    if run is None or not run.overwrote(device):
        return False
    if run.start.device == device and run.figures.filled_bytes >= area > 0:
        return True
    done = run.write_to(device)
    if done is None:
        return False
    size = run.start.job.get("size", "")
    try:
        within = parse_size(size) if size else area
    except InvalidValueError:
        return False
    in_order = run.start.job.get("rw") == _SEQUENTIAL_WRITE
    whole = run.figures.status is RunStatus.OK and done.total_bytes >= max(area, within)
    return in_order and whole and within >= area
