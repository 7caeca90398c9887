"""`make method ARGS=--planted`: one decision of the judge is made wrongly at a time; a table has to miss its mark."""

from __future__ import annotations
import __future__

import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from tests.method.marks import first_miss
from tests.method.tables import MethodTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A wrong decision."""

    what: str
    """In words."""
    where: str
    """Module and name of a function, class or constant."""
    old: str = ""
    """What its source says; "" of a constant."""
    new: str
    """What it is to say instead; of a constant its value."""
    noticed_by: tuple[str, ...]
    """Names of tables of which one has to miss."""
    draws: int = 1000
    """Experiments of a row that are enough to notice it."""


_JUDGE = "app.core.analysis."

BREAKS: Sequence[Break] = (
    Break(
        what="Student's t judges however many pairs there are",
        where=f"{_JUDGE}signed_rank:uses_ranks",
        old="pairs >= RANKS_FROM and",
        new="False and",
        noticed_by=("hidden",),
    ),
    Break(
        what="of t and ranks whichever shows more judges",
        where=f"{_JUDGE}signed_rank:pair_interval",
        old="return signed_ranks(ratios, level=level)",
        new="return min(signed_ranks(ratios, level=level), ratio_interval(ratios, level=level), key=lambda one: one.p)",
        noticed_by=("tails", "false"),
    ),
    Break(
        what="no far pair is named",
        where=f"{_JUDGE}verdict:_outlier_pairs",
        old="outliers(ratios)",
        new="()",
        noticed_by=("named",),
    ),
    Break(
        what="only the farthest pair is searched",
        where=f"{_JUDGE}stats:outliers",
        old="range(len(values) // 4)",
        new="range(1)",
        noticed_by=("named",),
    ),
    Break(
        what="the order is ABBA, repeated",
        where=f"{_JUDGE}pair_design:draw_order",
        old="[random.random() < 0.5 for _ in range(last)]",
        new="[at % 2 == 0 for at in range(last)]",
        noticed_by=("periods", "false"),
    ),
    Break(
        what="all pauses are of one length",
        where="app.core.benchmark.idle_wait:random_pause",
        old="least + random.random() * RANDOM_SHARE * run_seconds",
        new="least",
        noticed_by=("periods",),
    ),
    Break(
        what="each look has the whole level",
        where=f"{_JUDGE}pair_design:STANDARD",
        new="tuple(InterimAnalysis(pairs=pairs, level=LEVEL) for pairs in (6, 8, 10, 12, 16, 20))",
        noticed_by=("looked",),
    ),
    Break(
        what="a look is judged at the level of the one after it",
        where=f"{_JUDGE}comparison:_judge_values",
        old="look or ahead",
        new="look and ahead",
        noticed_by=("looked",),
    ),
    Break(
        what="pairs are judged between two looks, too",
        where=f"{_JUDGE}comparison:_judge_values",
        old="if reached_look is not None or ahead is None:",
        new="if True:",
        noticed_by=("looked",),
    ),
    Break(
        what="one run without I/O is a verdict",
        where=f"{_JUDGE}comparison:_has_stopped",
        old="<= level",
        new="<= 1.0",
        noticed_by=("faults",),
    ),
    Break(
        what="intervals know nothing of the steps of a percentile",
        where=f"{_JUDGE}metric_kinds:half_step",
        old="return (high - low) / 2 / value",
        new="return 0.0",
        noticed_by=("faults",),
    ),
    Break(
        what="slow runs on one side do not count against no difference",
        where=f"{_JUDGE}verdict:FEWEST_SLOW",
        new="99",
        noticed_by=("faults",),
    ),
    Break(
        what="a carry-over is reported where chance explains it",
        where=f"{_JUDGE}drift:SURE",
        new="0.2",
        noticed_by=("faults",),
    ),
    Break(
        what="no carry-over is reported",
        where=f"{_JUDGE}drift:carry_over",
        old="difference = fmean(without) - fmean(with_switch)",
        new="difference = 0.0",
        noticed_by=("faults",),
    ),
    Break(
        what="no difference is allowed to be wrong four times as often",
        where=f"{_JUDGE}pair_design:STANDARD",
        new="tuple(InterimAnalysis(pairs=look.pairs, level=look.level, no_difference=4 * look.inside_level) "
        "for look in STANDARD)",
        noticed_by=("faults",),
    ),
    Break(
        what="a forecast takes effect and scatter as seen for the truth",
        where=f"{_JUDGE}noise:FORECAST_CAUTION",
        new="0.5",
        noticed_by=("forecasts",),
    ),
    Break(
        what="pairs are named by the scatter as seen",
        where=f"{_JUDGE}noise:sd_upper_bound",
        old="sure: float = CAUTION",
        new="sure: float = 0.4",
        noticed_by=("detect",),
    ),
    Break(
        what="what was asked before is asked again at twice the level",
        where=f"{_JUDGE}pair_design:repeated_looks",
        old="look.level * share",
        new="look.level * 2",
        noticed_by=("again",),
        draws=1000,
    ),
    Break(
        what="of many figures each is judged as if it were alone",
        where=f"{_JUDGE}verdict:_correct",
        old="if p <= level:",
        new="if True:",
        noticed_by=("figures",),
    ),
    Break(
        what="what drifted between two measurements of A is left out",
        where=f"{_JUDGE}verdict:judge_between",
        old="drift = abs(means[1] - means[0])",
        new="drift = 0.0",
        noticed_by=("between",),
    ),
    Break(
        what="the places at which a level may have changed are not counted",
        where=f"{_JUDGE}drift:_most_significant_part",
        old="p * len(parts) <= allowed",
        new="p <= allowed",
        noticed_by=("levels",),
    ),
    Break(
        what="a change of level has to be a hundred times surer",
        where=f"{_JUDGE}drift:level_of",
        old="LEVEL / 3",
        new="LEVEL / 300",
        noticed_by=("changes",),
    ),
    Break(
        what="nights add up to an alarm at 3",
        where=f"{_JUDGE}control_chart:LIMIT",
        new="3.0",
        noticed_by=("year",),
    ),
    Break(
        what="lower nights become the reference at once",
        where=f"{_JUDGE}control_chart:_Chart",
        old="        self._waiting.append(level)\n",
        new="        self._waiting.append(level)\n        self._reference.append(level)\n",
        noticed_by=("losses",),
    ),
    Break(
        what="nights of an alarm never join the reference",
        where=f"{_JUDGE}control_chart:_Chart",
        old="len(self._waiting) <= SHORT",
        new="False",
        noticed_by=("year",),
    ),
    Break(
        what="nights of a single alarm join the reference",
        where=f"{_JUDGE}control_chart:_Chart",
        old="if not recurs:",
        new="if False:",
        noticed_by=("rhythms",),
    ),
    Break(
        what="nights count as independent of each other",
        where=f"{_JUDGE}control_chart:_inflation",
        old="if last <= 1 / sqrt(number) or last <= weekly:",
        new="if True:",
        noticed_by=("year",),
    ),
    Break(
        what="a weekly rhythm counts as a correlation",
        where=f"{_JUDGE}control_chart:_inflation",
        old=" or last <= weekly:",
        new=":",
        noticed_by=("rhythms",),
    ),
    Break(
        what="matrix and confirmation have 10 % each",
        where="app.features.sweep.engine.verdicts:alpha_budget",
        old="AlphaBudget(each=each, confirmation=LEVEL - SCREENING)",
        new="AlphaBudget(each=2 * LEVEL / count, confirmation=2 * LEVEL)",
        noticed_by=("matrix",),
        draws=1200,
    ),
    Break(
        what="values of a matrix are held nowhere",
        where=f"{_JUDGE}permutation_test:CLIP",
        new="1e9",
        noticed_by=("cells",),
    ),
)


@contextmanager
def broken(one: Break) -> Iterator[None]:
    """With the wrong decision wherever its name was imported. Raises ValueError where the source does not say it."""
    module_name, _, name = one.where.partition(":")
    there = vars(import_module(module_name))
    right = there[name]
    if one.old:
        source = inspect.getsource(right)
        if source.count(one.old) != 1:
            raise ValueError(f"{one.where} does not say once: {one.old}")
        code = compile(source.replace(one.old, one.new), name, "exec", __future__.annotations.compiler_flag)
        exec(code, there)
        wrong = there[name]
    else:
        wrong = eval(one.new, there)
    holders = [vars(module) for module in list(sys.modules.values()) if vars(module).get(name) is right]
    for names in (there, *holders):
        names[name] = wrong
    try:
        yield
    finally:
        for names in (there, *holders):
            names[name] = right


def notices(one: Break, table: MethodTable, count: int) -> str:
    """The first row of the table that misses its mark while it is broken; "" where all are kept."""
    with broken(one):
        return first_miss(table, count)
