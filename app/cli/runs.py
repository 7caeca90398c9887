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
    from app.engine.judge.comparison import Comparison
    from app.engine.session.state import RunRecord
    from app.engine.session.store import Loaded


@click.command("runs")
@click.option("--all", "everything", is_flag=True, help="Earlier sessions, too.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def runs_command(everything: bool, as_json: bool) -> int:
    """The runs of the session, with the settings that differ between them as columns."""
    sessions = list(_sessions()) if everything else _session()
    pairs = [(loaded, run) for loaded in sessions for run in loaded.session.runs]
    if as_json:
        from app.engine.judge.comparison import compare_experiment
        from app.engine.view import schema, schema_compare

        document(
            schema.document(
                runs=[schema.run(run, session=str(loaded.folder)) for loaded, run in pairs],
                experiments=[
                    schema_compare.experiment(
                        record,
                        loaded.session,
                        compare_experiment(loaded.session, record.id),
                        session=str(loaded.folder),
                    )
                    for loaded in sessions
                    for record in loaded.session.experiments
                ],
            )
        )
        return DONE
    if not pairs:
        say("No runs yet. `raidbench bench TARGET` makes one.")
        return DONE
    if not everything:
        say(f"Session {sessions[0].folder.name}")
    lines(_table(pairs, named=everything))
    for loaded in sessions:
        _experiments(loaded, named=everything)
    return DONE


def _experiments(loaded: Loaded, *, named: bool) -> None:
    """What each experiment of a session has shown."""
    from app.engine.judge.comparison import compare_experiment

    for record in loaded.session.experiments:
        comparison = compare_experiment(loaded.session, record.id)
        name = f"{loaded.folder.name}/{record.id}" if named else record.id
        lines([f"{name}  {clean(comparison.sentence if comparison else 'no whole pair was measured', 1000)}"])


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
    from app.engine.session import store
    from app.engine.session.paths import Paths
    from backends.errors import RaidbenchError

    for folder in reversed(store.folders(Paths.default().sessions)):
        try:
            yield store.load(folder)
        except RaidbenchError as error:
            say(f"{folder.name}: {error.message}")


def _table(pairs: list[tuple[Loaded, RunRecord]], *, named: bool) -> list[str]:
    from app.engine.judge.comparison import FIGURES, varying
    from app.engine.judge.repeats import Repeats, mean_text, spread_of
    from app.engine.view.events import minded_mark
    from widgets.plain import units

    keys = varying([run.start.settings for _, run in pairs])
    by_session = {loaded.folder: Repeats(loaded.session.runs) for loaded, _ in pairs}
    repeated = any(each.any for each in by_session.values())
    marked = any(run.start.mark is not None for _, run in pairs)
    columns = [
        Column(title="Run"),
        *((Column(title="A/B"),) if marked else ()),
        Column(title="When"),
        Column(title="Target", shrinks=True),
        *(Column(title=clean(key)) for key in keys),
        Column(title="Job", shrinks=True),
        Column(title="Read IOPS", align=Align.POINT),
        Column(title="Write IOPS", align=Align.POINT),
        *((Column(title="Mean of repeats"),) if repeated else ()),
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
        alike = by_session[loaded.folder].of(run)
        seen = spread_of(alike, "read" if read else "write", FIGURES[0]) if len(alike) > 1 else None
        mark = run.start.mark
        rows.append(
            (
                f"{loaded.folder.name}/{run.id}" if named else run.id,
                *(("" if mark is None else f"{mark.experiment} {mark.pair}{mark.letter}",) if marked else ()),
                units.moment(run.start.at)[:16],
                clean(run.start.target),
                *(clean(run.start.settings.get(key, "")) for key in keys),
                clean(run.start.title),
                "" if read is None else units.iops(read.iops),
                "" if write is None else units.iops(write.iops),
                *(("" if seen is None else f"{mean_text(seen, units.iops)} ({seen.n})",) if repeated else ()),
                units.mib_per_s(sum(direction.bytes_per_second for direction in both)) if both else "",
                "" if main is None else units.latency(main.latency_ns.p50),
                "" if main is None else units.latency(main.latency_ns.p99),
                run.figures.status.value + minded_mark(run.figures) + (" SIMULATED" if run.start.simulated else ""),
            )
        )
    head, *body = table(columns, rows, terminal_width())
    return [paint(head, "bold"), *body]


@click.command("compare")
@click.argument("a")
@click.argument("b", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def compare_command(a: str, b: str | None, as_json: bool) -> int:
    """Runs A and B side by side, each with its repeats; B's difference in percent of A, and what it shows.

    A run is named r3, or SESSION/r3 for one of another session. An experiment of `raidbench ab` is named e1, and
    stands alone.
    """
    from app.engine.judge.comparison import compare

    if b is None:
        return _experiment(a, as_json)
    (where_a, run_a), (where_b, run_b) = _find(a), _find(b)
    comparison = compare(run_a, run_b, where_a.session.runs, where_b.session.runs)
    if as_json:
        from app.engine.view import schema, schema_compare

        document(
            schema.document(
                a=schema.run(run_a, session=str(where_a.folder)),
                b=schema.run(run_b, session=str(where_b.folder)),
                sentence=comparison.sentence,
                interleaved=comparison.sides.interleaved,
                runs_a=[run.id for run in comparison.sides.a],
                runs_b=[run.id for run in comparison.sides.b],
                figures=[schema_compare.figure(row) for row in comparison.rows],
                settings=[{"key": key, "a": one, "b": other} for key, one, other in comparison.settings],
                job=[{"key": key, "a": one, "b": other} for key, one, other in comparison.job],
                caveats=list(comparison.caveats),
            )
        )
        return DONE
    lines([paint(clean(comparison.sentence, 1000), "bold"), ""])
    lines(_side_by_side(comparison, a, b))
    for sentence in comparison.caveats:
        say(clean(sentence, 600))
    return DONE


def _experiment(name: str, as_json: bool) -> int:
    """One experiment, by the name that `raidbench ab` gave it."""
    from app.engine.judge.comparison import compare_experiment

    session, slash, experiment_id = name.rpartition("/")
    loaded = loaded_session(session if slash else None)
    record = loaded.session.experiment(experiment_id)
    if record is None:
        known = ", ".join(each.id for each in loaded.session.experiments) or "none"
        raise NotFoundError(
            f"The session {loaded.folder.name} has no experiment {clean(experiment_id, 40)}.",
            hint=f"It has: {known}. Two runs are compared with `raidbench compare r1 r2`.",
        )
    comparison = compare_experiment(loaded.session, record.id)
    if as_json:
        from app.engine.view import schema, schema_compare

        document(
            schema.document(
                experiment=schema_compare.experiment(record, loaded.session, comparison, session=str(loaded.folder))
            )
        )
        return DONE
    if comparison is None:
        say(f"No pair of {record.id} was measured to its end, so there is nothing to compare.")
        return DONE
    lines([paint(clean(comparison.sentence, 1000), "bold"), ""])
    lines(_side_by_side(comparison, f"A {record.start.a}", f"B {record.start.b}"))
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
    from app.cli.comparing import verdict_table

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
    return [paint(head, "bold"), *top, "", *verdict_table(comparison, a, b)]
