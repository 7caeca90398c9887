"""`runs` and `compare`: what was measured, and two of them side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from app.cli.devices_text import terminal_width
from app.cli.failures import DONE
from app.cli.opening import loaded_session
from app.cli.options import current
from app.cli.output import document, lines, paint, say
from app.cli.tables import Align, Column, table
from backends.errors import NotFoundError
from backends.text import clean

if TYPE_CHECKING:
    from app.engine.compare import Comparison, Row
    from app.engine.session import RunRecord
    from app.engine.store import Loaded


@click.command("runs")
@click.option("--all", "everything", is_flag=True, help="Earlier sessions, too.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def runs_command(everything: bool, as_json: bool) -> int:
    """The runs of the session, with the settings that differ between them as columns."""
    sessions = list(_sessions()) if everything else _session()
    pairs = [(loaded, run) for loaded in sessions for run in loaded.session.runs]
    if as_json:
        from app.engine import schema

        document(schema.document(runs=[schema.run(run, session=str(loaded.folder)) for loaded, run in pairs]))
        return DONE
    if not pairs:
        say("No runs yet. `raidbench bench TARGET` makes one.")
        return DONE
    if not everything:
        say(f"Session {sessions[0].folder.name}")
    lines(_table(pairs, named=everything))
    return DONE


def _session() -> list[Loaded]:
    """The session of the options or the last one; none is no error where nothing was measured yet."""
    try:
        return [loaded_session()]
    except NotFoundError:
        if current().session is not None:
            raise
        return []


def _sessions() -> Iterator[Loaded]:
    """Every session, oldest first; one that cannot be read is passed over with a word."""
    from app.engine import store
    from app.engine.paths import Paths
    from backends.errors import RaidbenchError

    for folder in reversed(store.folders(Paths.default().sessions)):
        try:
            yield store.load(folder)
        except RaidbenchError as error:
            say(f"{folder.name}: {error.message}")


def _table(pairs: list[tuple[Loaded, RunRecord]], *, named: bool) -> list[str]:
    from app.engine import units
    from app.engine.compare import varying

    keys = varying([run.start.settings for _, run in pairs])
    columns = [
        Column(title="Run"),
        Column(title="When"),
        Column(title="Target", shrinks=True),
        *(Column(title=clean(key)) for key in keys),
        Column(title="Job", shrinks=True),
        Column(title="Read IOPS", align=Align.POINT),
        Column(title="Write IOPS", align=Align.POINT),
        Column(title="MiB/s", align=Align.POINT),
        Column(title="p50"),
        Column(title="p99"),
        Column(title="Ended"),
    ]
    rows = []
    for loaded, run in pairs:
        read, write = run.figures.read, run.figures.write
        both = [direction for direction in (read, write) if direction is not None]
        main = read or write
        rows.append(
            (
                f"{loaded.folder.name}/{run.id}" if named else run.id,
                units.moment(run.start.at)[:16],
                clean(run.start.target),
                *(clean(run.start.settings.get(key, "")) for key in keys),
                clean(run.start.title),
                "" if read is None else units.iops(read.iops),
                "" if write is None else units.iops(write.iops),
                units.mib_per_s(sum(direction.bytes_per_second for direction in both)) if both else "",
                "" if main is None else units.latency(main.latency_ns.p50),
                "" if main is None else units.latency(main.latency_ns.p99),
                run.figures.status.value + (" SIMULATED" if run.start.simulated else ""),
            )
        )
    head, *body = table(columns, rows, terminal_width())
    return [paint(head, "bold"), *body]


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def compare_command(a: str, b: str, as_json: bool) -> int:
    """Runs A and B side by side; B's difference in percent of A.

    A run is named r3, or SESSION/r3 for one of another session.
    """
    from app.engine.compare import compare

    (where_a, run_a), (where_b, run_b) = _find(a), _find(b)
    comparison = compare(run_a, run_b)
    if as_json:
        from app.engine import schema

        document(
            schema.document(
                a=schema.run(run_a, session=str(where_a.folder)),
                b=schema.run(run_b, session=str(where_b.folder)),
                figures=[
                    {
                        "direction": row.direction,
                        "figure": row.figure.key,
                        "a": row.a,
                        "b": row.b,
                        "percent": row.percent,
                    }
                    for row in comparison.rows
                ],
                settings=[{"key": key, "a": one, "b": other} for key, one, other in comparison.settings],
                job=[{"key": key, "a": one, "b": other} for key, one, other in comparison.job],
                caveats=list(comparison.caveats),
            )
        )
        return DONE
    lines(_side_by_side(comparison, a, b))
    for sentence in comparison.caveats:
        say(clean(sentence, 600))
    return DONE


def _find(name: str) -> tuple[Loaded, RunRecord]:
    session, slash, run_id = name.rpartition("/")
    loaded = loaded_session(session if slash else None)
    run = loaded.session.run(run_id)
    if run is None:
        known = ", ".join(run.id for run in loaded.session.runs) or "none"
        raise NotFoundError(
            f"The session {loaded.folder.name} has no run {clean(run_id, 40)}.",
            hint=f"It has: {known}. `raidbench runs --all` lists those of earlier sessions.",
        )
    return loaded, run


def _side_by_side(comparison: Comparison, a: str, b: str) -> list[str]:
    a, b = clean(a, 60), clean(b, 60)
    facts = [
        ("", "Target", clean(comparison.a.start.target), clean(comparison.b.start.target), ""),
        ("", "Job", clean(comparison.a.start.title), clean(comparison.b.start.title), ""),
    ]
    differing = [
        ("", clean(key), clean(one or "-"), clean(other or "-"), "")
        for key, one, other in (*comparison.settings, *comparison.job)
    ]
    columns = (Column(title=""), Column(title=""), Column(title=a), Column(title=b), Column(title=""))
    head, *top = table(columns, [*facts, *differing])
    columns = (
        Column(title=""),
        Column(title="Figure"),
        Column(title=a, align=Align.POINT),
        Column(title=b, align=Align.POINT),
        Column(title="Difference", align=Align.POINT),
    )
    title, *body = table(columns, [_row(row) for row in comparison.rows])
    return [paint(head, "bold"), *top, "", paint(title, "bold"), *body]


def _row(row: Row) -> tuple[str, str, str, str, str]:
    from app.engine import units

    show = row.figure.show
    return row.direction, row.figure.label, show(row.a), show(row.b), units.difference(row.a, row.b)
