"""The results next to a picture: a table with one row per part of the selection, and the differences between the parts.
No I/O.
"""

from __future__ import annotations

from app.core.analysis.comparison import varying_keys
from app.core.presentation.labels import field_name
from app.core.presentation.table import Align, Column, Row, Table, text_of
from app.features.plots.latencies import merge_bins
from app.features.plots.request import parts_to_draw, values_of
from app.features.plots.selection import PlotSelection, completed_runs
from widgets.plot_render.latencies import BEYOND, quantile, total_of
from widgets.plot_render.plot_data import StaticPlot, Unit
from widgets.plot_render.style import PlotStyle
from widgets.text_utils import units
from widgets.text_utils.text import clean, pad, width_of, wrap

_SHARES = ((0.5, "p50"), (0.99, "p99"), (0.999, "p99.9"))


def figures_table(subject: PlotSelection, *, ascii: bool = False) -> Table:
    """Return a table with the mean IOPS and MiB/s of each part of a selection, and the latencies of the direction that
    is slower.
    """
    look = PlotStyle(ascii=ascii)
    columns = (
        Column(title="", key="sign"),
        Column(title="", key="name", shrinks=True),
        Column(title="n", key="n", align=Align.RIGHT, priority=5),
        *(Column(title=unit.value, key=unit.value, align=Align.RIGHT) for unit in (Unit.IOPS, Unit.RATE)),
        *(Column(title=name, key=name, align=Align.RIGHT) for _, name in _SHARES),
        Column(title="max", key="max", align=Align.RIGHT),
    )
    rows = []
    for at, part in enumerate(parts_to_draw(subject)):
        runs = completed_runs(part.runs)
        bins, side = merge_bins(runs, subject)
        total = total_of(bins)
        means = [values_of(runs, unit) for unit in (Unit.IOPS, Unit.RATE)]
        worst = [figures.latency_ns.max for run in runs if (figures := run.run.figures.side(side)) is not None]
        carried = (quantile(bins, share) if total * (1 - share) >= BEYOND else None for share, _ in _SHARES)
        rows.append(
            Row(
                key=str(at),
                cells=(
                    look.sign(at),
                    part.name,
                    str(len(runs)),
                    *(
                        unit.text(sum(values) / len(values)) if values else units.NOTHING
                        for unit, values in zip((Unit.IOPS, Unit.RATE), means, strict=True)
                    ),
                    *(units.latency(value) for value in carried),
                    units.latency(max((value for value in worst if value is not None), default=None)),
                ),
            )
        )
    return Table(columns=columns, rows=tuple(rows))


def differing_text(subject: PlotSelection) -> str:
    """Return a sentence with the settings and job fields that differ between the parts, such as `Differs: read-ahead,
    FastPath.`.
    """
    starts = [part.runs[0].run.start for part in subject.parts]
    keys = [*varying_keys([start.settings for start in starts]), *varying_keys([start.job_texts for start in starts])]
    return f"Differs: {', '.join(field_name(key) for key in keys)}." if keys else ""


def picture_text(subject: PlotSelection, plot: StaticPlot, look: PlotStyle) -> str:
    """Return a picture with its verdict and results as plain text for files and mails. It ends with a newline."""
    from widgets.plot_render.painter import paint

    rows = [*paint(plot, look), ""]
    for text in (subject.verdict, plot.why if plot.data is not None else ""):
        rows += wrap(text, look.width) if text else []
    shown = figures_table(subject, ascii=look.ascii)
    table = [[column.title for column in shown.columns], *([text_of(cell) for cell in row.cells] for row in shown.rows)]
    widths = [max(width_of(clean(row[at])) for row in table) for at in range(len(table[0]))]
    rows.append("")
    rows += ["  ".join(pad(clean(cell), width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(row.rstrip() for row in look.terminal_rows(rows)) + "\n"
