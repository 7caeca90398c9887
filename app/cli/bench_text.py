"""A finished run for people: its figures, and how it went over time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from app.cli.devices_text import terminal_width
from app.cli.output import SIGNS, lines, say
from app.cli.render import fitted_lines, table_lines
from app.doors import action
from app.engine.session.figures import Advice, Sample
from app.engine.session.state import RunRecord
from app.engine.view.caches import cache_line
from app.engine.view.members import member_table
from app.engine.view.run import cpu_line, figures_table, means_lines, outcome_words
from backends.text import clean

_SUMMED_UP = ("iops", "latency_p50_ns", "latency_p99_ns")


def summary(
    records: Sequence[RunRecord],
    samples: Sequence[Sample],
    *,
    session: Path | None,
    said: Collection[str] = (),
) -> None:
    """The table of figures, how it went over time where that can be shown, what has to be known with them.

    `said`: keys of advice that was given before the run.
    """
    lines(table_lines(figures_table(records)))
    lines(means_lines(records, lambda figure: figure.key in _SUMMED_UP))
    last = records[-1]
    below = f"Members of {clean(last.start.place, 100)}"
    lines(fitted_lines(member_table(last.figures.members, below), terminal_width()))
    cpu = last.figures.cpu
    beside = (cache_line(last.figures.caches), cpu_line(cpu.fio_percent_of_core, cpu.host_percent))
    lines(clean(line, 600) for line in beside if line)
    if last.figures.steady is not None:
        lines([f"Steady state: {outcome_words(last.figures.steady)}"])
    if last.start.settings:
        told = ", ".join(f"{key}={text}" for key, text in last.start.settings.items())
        lines([f"Settings of {last.start.place}: {clean(told, 1000)}"])
    if last.start.simulated:
        lines(["SIMULATED"])
    if session is not None:
        draw = action("plots.run_lines")
        lines([] if draw is None else draw(last, session, tuple(samples)))
    for each in {each.key: each for record in records for each in record.figures.advice}.values():
        if each.key not in said:
            advice(each)
    for warning in dict.fromkeys(warning for record in records for warning in record.figures.warnings):
        say(f"Note: {clean(warning, 600)}")
    say(f"Kept as {', '.join(record.id for record in records)} in {clean(str(session), 300)}")


def advice(each: Advice) -> None:
    """What spoils figures and what to do about it."""
    say(f"{SIGNS['warn'][0]} {clean(each.message, 600)}")
    if each.do:
        say(f"  {clean(each.do, 600)}")
