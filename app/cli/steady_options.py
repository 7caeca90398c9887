"""The steady-state options, which are common to all commands that measure."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from app.cli.options import current

if TYPE_CHECKING:
    from app.core.config import Config
    from app.core.session.event_types import SteadyPlan

steady_cap_option = click.option(
    "--steady-cap",
    type=click.IntRange(1, 7 * 86400),
    metavar="SECONDS",
    help="Longest wait for the steady state (default: 1800, or as configured).",
)
steady_round_option = click.option(
    "--steady-round",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="Length of a round. Five rounds are judged together (default: 10, or as configured).",
)
_UNTIL = click.option(
    "--until-steady",
    is_flag=True,
    help="Start measuring when IOPS are steady by the SNIA rule, at the latest after --steady-cap.",
)
_EARLY = click.option("--end-when-steady", is_flag=True, help="End the run as soon as the measured values are steady.")


def steady_options(*, early: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the steady-state options.

    The command gets their values as the parameter `steady`: a SteadyPlan, or None if no such option was given. `early`:
    whether to add --end-when-steady, with which runs may differ in length.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapped(*args: Any, **options: Any) -> Any:
            until, end = options.pop("until_steady"), options.pop("end_when_steady", False)
            cap, length = options.pop("steady_cap"), options.pop("steady_round")
            if cap is not None and not until:
                raise click.UsageError("--steady-cap needs --until-steady.")
            wanted = until or end or length is not None
            plan = steady_plan(current().load_config(), cap=cap, round_s=length, until=until, end_early=end)
            return command(*args, steady=plan.checked() if wanted else None, **options)

        decorated: Callable[..., Any] = steady_round_option(wrapped)
        decorated = _EARLY(decorated) if early else decorated
        return _UNTIL(steady_cap_option(decorated))

    return decorate


def steady_plan(
    config: Config, *, cap: int | None, round_s: int | None, until: bool = False, end_early: bool = False
) -> SteadyPlan:
    """Return the steady-state plan that the options describe, with defaults from the configuration."""
    from app.core.session.event_types import SteadyPlan

    return SteadyPlan(
        until=until,
        cap_s=config.steady_cap if cap is None else cap,
        end_early=end_early,
        round_s=config.steady_round if round_s is None else round_s,
        window=config.steady_rounds,
    )
