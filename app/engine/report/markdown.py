"""A report as GitHub-flavoured Markdown. Text of devices and tools stays text: nothing in it is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.engine.report.model import ChangeEntry, Grid, Report
from backends.text import clean

_SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
_LONGEST = 2000


def to_markdown(report: Report) -> str:
    """The whole document, ending in a newline."""
    return "\n".join(_blocks(report)).rstrip() + "\n"


def _blocks(report: Report) -> Iterator[str]:
    yield f"# {text(report.title)}"
    yield ""
    if report.simulated:
        yield "**SIMULATED: not measured on this hardware.**"
        yield ""
    yield from _section("Machine", _facts(report.machine))
    yield from _section("Devices", _grid(report.devices))
    yield from _section("Runs", _grid(report.runs))
    if report.common and report.runs.rows:
        kept = ", ".join(f"{text(key)} {text(value)}" for key, value in report.common)
        yield f"The same in all runs: {kept}."
        yield ""
    if report.latencies.rows:
        yield "### Completion latency"
        yield ""
        yield from _grid(report.latencies)
        yield ""
        yield "A single run says nothing about how far runs of the same settings lie apart."
        yield ""
    if report.findings:
        yield "### A/B"
        yield ""
        yield from _list(report.findings)
        yield ""
        yield from _grid(report.compared)
        yield ""
    if report.members.rows:
        yield "### Members"
        yield ""
        yield from _grid(report.members)
        yield ""
        yield "From the kernel's own counters over the measured time: what others did on a member is counted, too."
        yield ""
    if report.warnings:
        yield "### To be read with the figures"
        yield ""
        yield from _list(report.warnings)
        yield ""
    yield "## Changes"
    yield ""
    for change in report.changes:
        yield from _change(change)
    if not report.changes:
        yield "None."
        yield ""
    yield from _section("Still in force", _list(report.in_force))
    yield from _section("Notes", _list(f"{at}: {note}" for at, note in report.notes), always=False)
    yield from _section("Problems and kept settings", _list(report.problems), always=False)
    yield from _section("Everything that changed something", _grid(report.commands))


def _section(title: str, body: Iterable[str], *, always: bool = True) -> Iterator[str]:
    rows = list(body)
    if rows or always:
        yield f"## {title}"
        yield ""
        yield from rows or ["None."]
        yield ""


def _facts(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for label, value in pairs:
        yield f"- {text(label)}: {text(value)}"


def _list(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f"- {text(sentence)}"


def _grid(grid: Grid) -> Iterator[str]:
    used = [at for at in range(len(grid.columns)) if any(row[at] for row in grid.rows)]
    if not used:
        return
    yield _row(grid.columns[at] for at in used)
    yield _row("---" for _ in used)
    for row in grid.rows:
        yield _row(text(row[at]) for at in used)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _change(change: ChangeEntry) -> Iterator[str]:
    yield f"### {text(change.heading)}"
    yield ""
    yield from _facts(change.facts)
    yield ""
    yield from _code(change.commands)
    if change.undo:
        yield "Taken back by:"
        yield ""
        yield from _code(change.undo)


def _code(rows: Iterable[str]) -> Iterator[str]:
    """A fenced block; the fence is longer than any run of backticks inside."""
    cleaned = [clean(row, _LONGEST) for row in rows]
    longest = max((len(run) for row in cleaned for run in re.findall(r"`+", row)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence
    yield from cleaned
    yield fence
    yield ""


def text(raw: str) -> str:
    """Text that Markdown shows as it is: no emphasis, table cell, link, mention or HTML comes of it."""
    line = clean(raw, _LONGEST).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", line))
    if line.startswith(("-", "+", "=")):
        line = "\\" + line
    return line.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")
