"""The output of a run: while it runs, a progress line or JSON samples; then its results."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.output import (
    BrokenPipeOutputError,
    can_redraw,
    document,
    lines,
    message_width,
    say,
    say_lines,
)
from app.cli.render import table_lines
from app.core.presentation import json_schema
from app.core.presentation.labels import headed_values, with_value
from app.core.presentation.members import cache_line, member_table
from app.core.presentation.run import cpu_line, figures_table, means_lines, outcome_text, steady_text
from app.core.session.event_types import PhaseChanged, SampleTaken
from app.core.session.events import AnyEvent, LiveEvent
from app.core.session.results import DIRECTIONS, Advice, Phase, Sample, SectionSample
from app.core.session.state import RunRecord
from app.doors import action
from backends.text import clean
from widgets.text_utils import units
from widgets.text_utils.symbols import ATTENTION
from widgets.text_utils.text import shorten, wrap_words

if TYPE_CHECKING:
    from app.core.session.state import ActiveRun, Session
    from app.core.workbench import Workbench

REDRAW_S = 0.2
_PLAIN_S = 5.0
_CLEAR = "\r\x1b[K"
_MAX_NAME = 20
"""Maximum number of characters of a section name in the progress line."""
_MEAN_METRICS = ("iops", "latency_p50_ns", "latency_p99_ns")
"""Keys of the metrics whose mean over several runs is shown."""


class LiveLine:
    """A line on standard error that is redrawn in place, if the terminal supports that."""

    def __init__(self) -> None:
        self.able = can_redraw()
        """Whether the line is drawn; False if the terminal cannot erase a line or is gone."""
        self._drawn = False

    def draw(self, text: str) -> None:
        """Replace the text of the line, shortened to the width of the terminal."""
        width = shutil.get_terminal_size().columns
        self._write(_CLEAR + shorten(text, max(20, width - 1), ".."))
        self._drawn = self.able

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._write(_CLEAR)
        self._drawn = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):  # the terminal is gone, but the run continues
            self.able = False


class RunProgressPrinter:
    """Prints the progress of a run, which it gets from the events of a workbench."""

    def __init__(self, bench: Workbench, *, stream: bool, silent: bool = False) -> None:
        """`stream`: also print samples as JSON. `silent`: print nothing, because another host reports the run."""
        self.samples: list[Sample] = []
        """Samples of the last run, one for each measured interval."""
        self.is_stdout_closed = False
        """Whether standard output was closed while samples were printed."""
        self._bench = bench
        self._stream = stream and not silent
        self._silent = silent
        self._line = LiveLine()
        self._name = ""
        self._last = 0.0
        self._forget = bench.subscribe(self._handle_event)

    def begin(self, name: str = "") -> None:
        """Prepare for the next run. `name`: prefix of its progress line, such as the number of the run."""
        self.samples = []
        self._name = name
        self._last = 0.0

    def end(self) -> None:
        """Remove the progress line when a run is over."""
        self._line.clear()

    def close(self) -> None:
        """Unsubscribe from the workbench."""
        self.end()
        self._forget()

    def _handle_event(self, session: Session, event: AnyEvent) -> None:
        match event.progress if isinstance(event, LiveEvent) else None:
            case SampleTaken(sample=sample):
                if sample.phase is Phase.MEASURING:
                    self.samples.append(sample)
                    self._print(sample, session.active)
                self._show_progress(session.active)
            case PhaseChanged(phase=phase) if phase is not Phase.DONE:
                self._last = 0.0
                self._show_progress(session.active)
            case _:
                pass

    def _print(self, sample: Sample, active: ActiveRun | None) -> None:
        if not self._stream or self.is_stdout_closed:
            return
        try:
            document(json_schema.sample(sample, active.members if active is not None else ()), compact=True)
        except BrokenPipeOutputError:
            self.is_stdout_closed = True
            self._bench.jobs.stop()

    def _show_progress(self, active: ActiveRun | None) -> None:
        now = time.monotonic()
        if self._silent or active is None or now - self._last < (REDRAW_S if self._line.able else _PLAIN_S):
            return
        self._last = now
        (self._line.draw if self._line.able else say)(self._name + progress_text(active, time.time()))


def progress_text(active: ActiveRun, now: float) -> str:
    """Return the text of the progress line: phase, percentage done, metrics of the last interval, time left."""
    parts = [active.phase.value]
    ramp = active.phase is Phase.RAMP
    seconds = float(active.start.job.get("ramp", 0) or 0) if ramp else active.phase_seconds
    passed = active.passed(now)
    if active.total_bytes:
        parts[0] += f" {min(100, int(active.moved_bytes / active.total_bytes * 100))} %"
    elif seconds and active.phase is Phase.SETTLING:
        parts[0] += f" {units.duration(int(passed))}, {units.duration(seconds)} at most"
    elif seconds:
        parts[0] += f" {min(100, int(passed / seconds * 100))} %"
    sample = active.samples[-1] if active.samples else None
    if sample is not None and active.phase is not Phase.PREPARING:
        parts += _figures(sample)
    if active.steady is not None and active.phase in (Phase.SETTLING, Phase.MEASURING):
        parts.append(steady_text(active.steady))
    if active.message:
        parts.append(active.message)
    left = _seconds_left(active, now)
    if left is not None:
        parts.append(f"{units.duration(max(0, round(left)))} left")
    return " · ".join(parts)


def _figures(sample: Sample) -> list[str]:
    both = sample.transfers
    if not both:
        return []
    main = both[0]
    if sample.phase in (Phase.LAYOUT, Phase.FILLING):
        return [units.rate(sum(direction.bytes_per_second for direction in both))]
    running = [row for row in sample.sections if row.transfers]
    texts = [f"{shorten(row.name, _MAX_NAME, '..')} {', '.join(_rates(row))}" for row in running] or _rates(sample)
    texts += [units.rate(sum(direction.bytes_per_second for direction in both))]
    if main.p99_ns is not None:
        texts.append(f"p99 {units.latency(main.p99_ns)}")
    if sample.sync is not None and sample.sync.p99_ns is not None:
        texts.append(f"p99 of flushes {units.latency(sample.sync.p99_ns)}")
    return texts


def _rates(part: Sample | SectionSample) -> list[str]:
    return [f"{units.iops(side.iops)} IOPS {name}" for name in DIRECTIONS if (side := part.side(name)) is not None]


def _seconds_left(active: ActiveRun, now: float) -> float | None:
    """Return the seconds until the planned end of the run, or of filling its file; None if no end is planned."""
    passed = active.passed(now)
    match active.phase:
        case Phase.RAMP:
            waits = active.start.steady is not None and active.start.steady.until
            return None if waits or not active.start.planned_seconds else active.start.planned_seconds - passed
        case Phase.FILLING:
            return active.amount_left(now)
        case Phase.MEASURING:
            return None if active.phase_seconds is None else active.phase_seconds - passed
        case _:
            return None


# -- results of finished runs -----------------------------------------------------------------------------------------


def print_summary(
    records: Sequence[RunRecord], samples: Sequence[Sample], *, session: Path | None, advice_keys: Collection[str] = ()
) -> None:
    """Print the results of runs, graphs if the terminal can show them, advice and notes.

    `advice_keys`: keys of the advice that was already shown before the run.
    """
    lines(table_lines(figures_table(records)))
    lines(means_lines(records, lambda figure: figure.key in _MEAN_METRICS))
    last = records[-1]
    below = f"Members of {clean(last.start.location, 100)}"
    lines(table_lines(member_table(last.figures.members, below)))
    cpu = last.figures.cpu
    beside = (cache_line(last.figures.caches), cpu_line(cpu.fio_percent_of_core, cpu.host_percent))
    lines(clean(line, 600) for line in beside if line)
    if last.figures.steady is not None:
        lines([f"Steady state: {outcome_text(last.figures.steady)}"])
    if last.start.settings:
        settings = ", ".join(with_value(*pair) for pair in headed_values(last.start.settings))
        lines([f"Settings of {last.start.location}: {clean(settings, 1000)}"])
    if last.start.simulated:
        lines(["SIMULATED"])
    if session is not None:
        draw = action("plots.run_lines")
        lines([] if draw is None else draw(last, session, tuple(samples)))
    for item in {item.key: item for record in records for item in record.figures.advice}.values():
        if item.key not in advice_keys:
            say_advice(item)
    for warning in dict.fromkeys(warning for record in records for warning in record.figures.warnings):
        say(f"Note: {clean(warning, 600)}")
    say(f"Saved as {', '.join(record.id for record in records)} in {clean(str(session), 300)}")


def say_advice(item: Advice) -> None:
    """Print a piece of advice on standard error: the condition and the next step."""
    say_lines(wrap_words(clean(item.message, 600), message_width(), f"{ATTENTION.char} "))
    if item.do:
        say(f"  {clean(item.do, 600)}")
