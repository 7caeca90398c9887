"""The Sweep screen during and after a sweep: matrix, progress and state. No I/O."""

from __future__ import annotations

from app.core.session.state import Session
from app.core.session.sweep_record import SweepRecord
from app.features.sweep.engine.estimate import seconds_left
from app.features.sweep.presentation.findings import ending_text
from app.features.sweep.presentation.sweep import MatrixView
from app.tui.render import TONES
from widgets.bars import Progress
from widgets.matrix import MatrixCell, MatrixGrid
from widgets.table_layout import Tone
from widgets.text_utils import units


def grid(shown: MatrixView) -> MatrixGrid:
    """Return the matrix in the form that its widget needs."""
    return MatrixGrid(
        corner=shown.corner,
        columns=shown.across,
        rows=shown.down,
        cells=tuple(
            tuple(
                MatrixCell(
                    text=cell.text,
                    level=cell.level,
                    sign=cell.sign,
                    tone=TONES[cell.tone],
                    framed=cell.leads,
                    running=cell.running,
                )
                for cell in places
            )
            for places in shown.places
        ),
    )


def sweep_progress(record: SweepRecord, now: float, speed: float = 1.0) -> Progress:
    """Return the progress of a sweep with the remaining time; `speed` is the speed-up of a simulation."""
    at = record.current.step.number if record.current is not None else record.done
    return Progress(
        phase=f"step {at} of {len(record.steps)}",
        fraction=record.done / len(record.steps) if record.steps else None,
        eta=seconds_left(record, now, speed),
    )


def header_text(record: SweepRecord, now: float, speed: float = 1.0) -> str:
    """Return the progress of a running sweep for the header of every screen: `sweep 12/48 ETA 20 min`."""
    at = record.current.step.number if record.current is not None else record.done
    return f"sweep {at}/{len(record.steps)} ETA {units.duration(round(seconds_left(record, now, speed)))}"


def state_text(record: SweepRecord, *, running: bool, stopping: bool = False) -> tuple[str, Tone]:
    """Return a sentence about the state of a sweep, and the tone in which to display it."""
    if not running:
        text, tone = ending_text(record)
        return f"{text}{' Press <sweep.run> to continue.' if record.todo else ''}", TONES[tone]
    done = f"{record.done} of {units.plural(len(record.steps), 'step')}"
    if stopping:
        return f"STOPPING after {done}: restoring the settings", "warning"
    step = record.current
    if step is None:
        return f"RUNNING, {done} done: restoring settings or planning more steps", "accent"
    cell = record.cell(step.step.cell)
    return f"RUNNING step {step.step.number}: {cell.row}; {cell.column}, {step.step.purpose}", "accent"


def title_text(session: Session, record: SweepRecord) -> str:
    """Return a title line with the sweep's title, its target and the name of the session."""
    targets = ", ".join(dict.fromkeys(record.design.targets.values()))
    title = record.design.title
    on = "" if all(target in title for target in record.design.targets.values()) else f" on {targets}"
    return f"{title}{on} ({session.id})"
