"""The `plot` command: a picture of results on a plain terminal, in a pipe or in a file."""

from __future__ import annotations

import dataclasses
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import current, draws_signs, gather_options, is_terminal
from app.cli.output import lines, print_json, say, terminal_width
from app.cli.run_filters import all_runs, select_runs
from app.cli.runs import find_run
from app.cli.session_context import loaded_session, picked_session
from app.cli.shared_options import force_option, json_option, output_option
from app.core.session import folders
from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError, NotFoundError
from backends.text import clean
from backends.values import dataclass
from widgets.plot_render.plot_data import StaticPlot, StaticPlotKind, Unit
from widgets.plot_render.style import PALETTE, PlotStyle, too_small

if TYPE_CHECKING:
    from app.core.analysis.past_runs.earlier_runs import PastRun
    from app.core.session.results import Sample
    from app.core.session.state import RunRecord, Session
    from app.features.plots.selection import PlacedRun, PlotSelection

_PIPE = (80, 20)
"""Columns and rows of a picture if the output is not a terminal."""

_WIDEST, _HEIGHT = 120, 20
"""Size of a picture below the results of a command: maximum number of columns, and number of rows."""

_PROMPT = 3
"""Terminal rows that are left free for the command line, the name of the session and the next prompt."""

_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")
_NAME = re.compile(r"(?:(?P<session>.+)/)?(?P<id>[re]\d+)")
_FIGURES = {"iops": Unit.IOPS, "rate": Unit.RATE, "p99": Unit.LATENCY}


class Size(click.ParamType[tuple[int, int]]):
    """A size such as `100x30`."""

    name = "size"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return the size as (columns, rows). Raises click.BadParameter when the text is not a size."""
        if isinstance(value, tuple):
            return value
        match = _SIZE.fullmatch(value.strip().lower())
        if match is None:
            self.fail(f"Invalid size {value!r}. Use columns and rows, such as 100x30.", param, ctx)
        return int(match[1]), int(match[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlotOptions:
    """The options of `plot`."""

    names: tuple[str, ...]
    kind: str | None
    workload: str | None
    figure: str | None
    log: bool
    zero: bool
    size: tuple[int, int] | None
    output: Path | None
    force: bool
    as_json: bool


@command("plot", "raidbench plot r1 r2", "raidbench plot e1 --kind box", "raidbench plot md:md0 --kind history")
@click.argument("names", metavar="RUN|AB|SWEEP|TARGET", nargs=-1, required=True)
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in StaticPlotKind]),
    help="Kind of plot (default: by the kind of object).",
)
@click.option("--workload", metavar="NAME", help="Workload of a sweep to draw (default: the first).")
@click.option(
    "--figure", type=click.Choice(list(_FIGURES)), help="Metric of box plots, curves and timelines (default: iops)."
)
@click.option(
    "--log", is_flag=True, help="Use a logarithmic axis for counts, which shows the rarest I/Os of a histogram."
)
@click.option("--zero", is_flag=True, help="Start the axes at 0.")
@click.option(
    "--size", type=Size(), metavar="COLUMNSxROWS", help="Size of the plot (default: that of the terminal, else 80x20)."
)
@output_option()
@force_option
@json_option
@gather_options(_PlotOptions)
def plot_command(options: _PlotOptions) -> int:
    """Draw runs, an A/B, a sweep or the history of a target.

    Name a run (r3), an A/B (e1), a run of another session (SESSION/r3), a sweep by its session ("sweep" for the last
    one), or a target as `raidbench devices` lists it. Several runs share one plot. The default is the timeline of one
    run, the percentiles of several runs or an A/B, the curve of a sweep, and the history of a target.
    """
    from app.features.plots.builder import default_kind, picture
    from app.features.plots.request import PlotOptions

    subject = select(options.names, options.workload)
    kind = StaticPlotKind(options.kind) if options.kind is not None else default_kind(subject)
    if kind is StaticPlotKind.HISTORY and not subject.all_sessions:
        subject = _in_all_sessions(subject.runs[-1]) or subject
    plot_options = PlotOptions(unit=_FIGURES[options.figure or "iops"], log=options.log or None, zero=options.zero)
    plot = picture(subject, kind, plot_options, _intervals)
    if plot.data is None:
        raise InvalidValueError(plot.why)
    if options.as_json:
        data = dataclasses.asdict(plot.data)
        body = {"kind": kind.value, "title": plot.title, "simulated": plot.simulated, "note": plot.why, "data": data}
        print_json(picture=body)
        return DONE
    rows = _draw(plot, options.size, plain=options.output is not None)
    if options.output is not None:
        from app.core.session.documents import write_file

        write_file(options.output, "\n".join(rows) + "\n", force=options.force)
        say(f"Written to {clean(str(options.output), 300)}")
    else:
        lines(rows)
    if plot.why:
        say(clean(plot.why, 600))
    return DONE


def _draw(plot: StaticPlot, size: tuple[int, int] | None, *, plain: bool) -> list[str]:
    """Return the rows of the picture as strings. Raises InvalidValueError when `size` is too small."""
    from widgets.plot_render.painter import paint

    look = plot_style(size or _size(), plain=plain)
    if why := too_small(look):
        raise InvalidValueError(why, hint="Specify a size, such as `--size 80x20`.")
    return paint(plot, look)


def plot_style(size: tuple[int, int], *, plain: bool = False) -> PlotStyle:
    """Return the style in which to draw a picture on standard output.

    `size` is the number of columns and rows. With `plain`, the style is for a file: it has no colours, and all
    characters are allowed.
    """
    return PlotStyle(
        width=size[0],
        height=size[1],
        palette=PALETTE if current().coloured and not plain else (),
        ascii=current().ascii or (not plain and not draws_signs(sys.stdout)),
    )


def run_lines(run: RunRecord, folder: Path, samples: tuple[Sample, ...]) -> list[str]:
    """Return the text lines of a run's picture. `samples` are its intervals, so that they are not read again."""
    from app.features.plots.selection import PlacedRun, select_runs_to_plot

    return picture_lines(select_runs_to_plot([PlacedRun(run=run, folder=folder)]), samples)


def sweep_lines(session: Session, folder: Path) -> list[str]:
    """Return the text lines of the pictures of a session's sweep: one for each workload with a scale of its own."""
    from app.features.plots.selection import select_sweep_parts

    pictures = (picture_lines(subject) for subject in select_sweep_parts(session, folder))
    return [line for picture in pictures if picture for line in (*picture, "")][:-1]


def picture_lines(subject: PlotSelection | None, samples: tuple[Sample, ...] = ()) -> list[str]:
    """Return the text lines of the default picture of a selection. The list is empty in a pipe, without data, or if the
    picture does not fit.

    `samples` are the intervals of the selection's only run, so that they need not be read again.
    """
    width = terminal_width()
    if subject is None or width is None:
        return []
    from app.features.plots.builder import picture
    from widgets.plot_render.painter import paint

    look = plot_style((min(width, _WIDEST), _HEIGHT))
    plot = picture(subject, intervals=lambda _: samples)
    return [] if plot.data is None or too_small(look) else paint(plot, look)


def _size() -> tuple[int, int]:
    """Return the terminal size without the rows for the command line."""
    if not is_terminal(sys.stdout):
        return _PIPE
    columns, rows = shutil.get_terminal_size()
    return columns, rows - _PROMPT


# -- selection by name ------------------------------------------------------------------------------------------------


def select(names: Sequence[str], workload: str | None = None) -> PlotSelection:
    """Return the selection to plot for the names that the user gave; `workload` is one of a sweep.

    Raises NotFoundError, StorageError, InvalidValueError.
    """
    from app.features.plots.selection import PlacedRun, select_runs_to_plot

    if workload is not None:
        if len(names) > 1 or not _is_sweep(names[0]):
            raise InvalidValueError("--workload needs a sweep.", hint="For example: `raidbench plot sweep`.")
        return _sweep(names[0], workload)
    if len(names) == 1 and not _is_run(names[0]):
        return _subject_named(names[0])
    others = [name for name in names if not _is_run(name)]
    if others:
        raise InvalidValueError(
            f"{clean(others[0], 60)} is not a run.",
            hint="Specify runs, or one A/B experiment, sweep or target.",
        )
    pairs = [find_run(name) for name in dict.fromkeys(names)]
    return select_runs_to_plot([PlacedRun(run=run, folder=loaded.folder) for loaded, run in pairs])


def _is_run(name: str) -> bool:
    return _parse_name(name, "r") is not None


def _parse_name(name: str, letter: str) -> tuple[str | None, str] | None:
    """Return the session (None for the current one) and the id if a name refers to a run (`letter` is r) or an A/B (e);
    otherwise None.

    A name such as `/c0/e252` is a device, not an A/B.
    """
    match = _NAME.fullmatch(name)
    if match is None or not match["id"].startswith(letter):
        return None
    session = match["session"]
    return (session, match["id"]) if session is None or _is_session(session) else None


def _is_session(name: str) -> bool:
    stored = current().paths.sessions / name
    return Path(name).is_file() or any((folder / folders.LOG).is_file() for folder in (Path(name), stored))


def _subject_named(name: str) -> PlotSelection:
    if (pair := _parse_name(name, "e")) is not None:
        return _experiment(*pair)
    return _sweep(name) if _is_sweep(name) else _target(name)


def _is_sweep(name: str) -> bool:
    """Return whether a name refers to a sweep: `sweep` for the last one, or its session."""
    return name == "sweep" or _is_session(name)


def _experiment(session: str | None, experiment_id: str) -> PlotSelection:
    from app.cli.runs import find_experiment
    from app.core.presentation.comparison import NO_PAIR
    from app.features.plots.selection import select_experiment

    loaded, record = find_experiment(session, experiment_id)
    subject = select_experiment(loaded.session, loaded.folder, record)
    if subject is None:
        raise InvalidValueError(f"{record.id}: {NO_PAIR}")
    return subject


def _sweep(name: str, workload: str | None = None) -> PlotSelection:
    from app.core.presentation.labels import with_labels
    from app.features.plots.selection import select_sweep
    from app.features.sweep.engine.load_curve import separate_workloads

    loaded = picked_session(None if name == "sweep" else name, whole=True)
    if loaded.session.sweep is None:
        ids = ", ".join(run.id for run in loaded.session.runs[:6]) or "none"
        raise NotFoundError(
            f"The session {loaded.folder.name} has no sweep.",
            hint=f"Runs of the session: {ids}. List all sessions with `raidbench log --list`.",
        )
    workloads = separate_workloads(with_labels(loaded.session.sweep))
    if workload is not None and workload not in workloads:
        hint = suggestion_hint(workload, workloads, f"Workloads: {', '.join(workloads) or 'one'}.")
        raise InvalidValueError(f"The sweep has no workload {clean(workload, 60)}.", hint=hint)
    subject = select_sweep(loaded.session, loaded.folder, workload)
    if subject is None:
        raise InvalidValueError(f"The sweep of {loaded.folder.name} has no results yet.")
    return subject


def _in_all_sessions(placed: PlacedRun) -> PlotSelection | None:
    """Return a selection of the runs in all sessions that have the job and target of `placed`; None if the index does
    not have that run.
    """
    runs, _ = all_runs()
    last = next((run for run in runs if run.name == f"{placed.folder.name}/{placed.run.id}"), None)
    return None if last is None else select_all_sessions(last, runs)


def select_all_sessions(last: PastRun, runs: Sequence[PastRun]) -> PlotSelection | None:
    """Return a selection of those `runs`, in all sessions, that have the job and target of `last`; None if none
    succeeded.
    """
    from app.features.plots.selection import all_sessions

    also = () if current().session is None else (loaded_session(),)
    return all_sessions(last, runs, current().paths.sessions, also)


HISTORY_WIDTH, HISTORY_HEIGHT = 100, 20
"""Size of the picture below the output of `history`: default number of columns, and number of rows."""


def history_lines(last: PastRun, runs: Sequence[PastRun]) -> list[str] | None:
    """Return the text lines of a picture of the `runs` with the job and target of `last`; None if none succeeded.

    If some runs are missing from the picture, print the reason.
    """
    from app.features.plots.builder import picture
    from widgets.plot_render.painter import paint

    subject = select_all_sessions(last, runs)
    if subject is None:
        return None
    plot = picture(subject, StaticPlotKind.HISTORY)
    if plot.data is not None and plot.why:
        say(clean(plot.why, 300))
    return paint(plot, plot_style((terminal_width() or HISTORY_WIDTH, HISTORY_HEIGHT)))


def _target(name: str) -> PlotSelection:
    runs = select_runs(all_runs()[0], name)
    counting = [run for run in runs if run.counts] or [run for run in runs if run.status == "ok"] or list(runs)
    if not counting:
        raise NotFoundError(
            f"The history contains no run on {clean(name, 100)}.", hint="List all runs with `raidbench history`."
        )
    subject = select_all_sessions(counting[-1], runs)
    if subject is None:
        raise InvalidValueError(f"Nothing to draw: no run on {clean(name, 100)} was successful.")
    return subject


def _intervals(placed: PlacedRun) -> Sequence[Sample]:
    from app.core.presentation.raw_data import intervals

    return intervals(placed.run, placed.folder)
