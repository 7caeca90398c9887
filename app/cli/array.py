"""`array`: the arrays there are, the drives that one can be made of, and what making one would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.devices_text import terminal_width
from app.cli.opening import workbench
from app.cli.output import document, lines, say
from app.cli.render import fact_lines, fitted_lines
from app.cli.running import run
from app.cli.status import DONE
from app.engine.fio.sizes import parse_size
from app.engine.view import making as view
from app.engine.view import schema
from app.engine.view.table import filled
from backends.errors import InvalidValueError, RefusedError
from backends.making import LEVELS
from backends.model import Level, Problem
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.engine.workbench import Workbench
    from backends.making import ArrayPlan, Candidate

_POLICIES = {"write_cache", "read_ahead", "io_policy", "drive_cache"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What `create` is asked for."""

    level: Level
    drives: tuple[str, ...]
    strip: int | None
    spans: int | None
    name: str | None
    policies: dict[str, str]
    assume_clean: bool


@click.group("array")
def array_command() -> None:
    """The arrays there are, the drives that one can be made of, and what making one would do."""


@array_command.command("list")
@click.option("--free", is_flag=True, help="Only the drives that are free.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every reason.")
def list_command(free: bool, as_json: bool) -> int:
    """The arrays with their members by serial number, and which drives are free to make one of.

    Of every other drive it is said why it is not. Nothing is written.
    """
    with workbench(rights=True) as bench:
        return run(lambda _: _list(bench, free=free, as_json=as_json))


async def _list(bench: Workbench, *, free: bool, as_json: bool) -> int:
    found, problems = await _candidates(bench)
    shown = [one for one in found if one.free or not free]
    inventory = bench.session.inventory
    if as_json:
        serials = view.serials_of(inventory)
        arrays = [view.array(one, serials) for one in inventory.arrays]
        drives = [view.candidate(one) for one in shown]
        document(schema.document(host=bench.host.name, simulated=bench.simulated, arrays=arrays, drives=drives))
        return DONE
    width = terminal_width()
    if inventory.arrays and not free:
        lines(fitted_lines(filled(view.arrays_table(inventory)), width))
        lines([""])
    lines(fitted_lines(filled(view.drives_table(shown)), width))
    count = sum(one.free for one in found)
    say(f"{count} of {len(found)} drives {'is' if count == 1 else 'are'} free to make an array of.")
    for problem in (*problems, *inventory.problems):
        say(f"{clean(problem.where)}: {clean(problem.message, 500)} {clean(problem.hint, 500)}".rstrip())
    return DONE


async def _candidates(
    bench: Workbench, names: tuple[str, ...] | None = None
) -> tuple[tuple[Candidate, ...], tuple[Problem, ...]]:
    from app.engine.arrays.candidates import candidates_of

    inventory = await bench.hardware.probe()
    return await candidates_of(bench.hardware.machine, inventory, names)


@array_command.command("create")
@click.argument("level", type=click.Choice([one.value for one in LEVELS]), metavar="LEVEL")
@click.argument("drives", nargs=-1, required=True, metavar="DRIVE...")
@click.option("--strip", metavar="SIZE", help="Bytes on a drive before the next one follows: 64k, 256k, 1M.")
@click.option("--spans", type=click.IntRange(1, 8), help="Spans of raid10, raid50 and raid60; pairs, or two.")
@click.option("--name", metavar="NAME", help="Its name; else one by which it is known again.")
@click.option(
    "--set", "policies", metavar="KEY=VALUE", multiple=True, help="A policy of a card's array; may be repeated."
)
@click.option("--assume-clean", is_flag=True, help="md: compute no parity; right once every stripe was written.")
@click.option("--dry-run", is_flag=True, help="Only show what would be done; needs root to see what is on the drives.")
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON.")
def create_command(
    level: str,
    drives: tuple[str, ...],
    strip: str | None,
    spans: int | None,
    name: str | None,
    policies: tuple[str, ...],
    assume_clean: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Show what makes an array of LEVEL of DRIVE...: the exact commands, capacity, full stripe, cost and time.

    DRIVE is an address, a node, a place behind the card (252:3) or a serial number; their order decides the spans. All
    hang from one card, or are the kernel's: then md makes the array, of raid50 and raid60 the inner ones first.
    raidbench shows the commands and does not run them.
    """
    asked = _Asked(
        level=Level(level),
        drives=drives,
        strip=None if strip is None else parse_size(strip),
        spans=spans,
        name=name,
        policies=_pairs(policies),
        assume_clean=assume_clean,
    )
    with workbench(dry=True) as bench:
        plan = run(lambda _: _plan(bench, asked))
    if as_json:
        document(schema.document(dry_run=True, simulated=bench.simulated, array=view.plan(plan)))
    else:
        lines([*fact_lines(view.plan_facts(plan)), "", "What makes it:"])
        lines(f"  {clean(step.shown(), 2000)}" for step in plan.steps)
        for sentence in view.plan_sentences(plan):
            say(clean(sentence, 1000))
    if not dry_run:
        raise RefusedError("raidbench shows what makes an array, and does not make it.", hint="Add --dry-run.")
    if not as_json:
        say("Dry run: nothing was changed.")
    return DONE


def _pairs(words: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in _POLICIES:
            raise InvalidValueError(
                f"{clean(word, 60)!r} is no policy.",
                hint=f"{', '.join(sorted(_POLICIES))}, for example write_cache=write-back.",
            )
        found[key] = value
    return found


async def _plan(bench: Workbench, asked: _Asked) -> ArrayPlan:
    from app.engine.arrays.candidates import chosen, new_name, plan_array
    from backends.making import ArrayWish

    found, _ = await _candidates(bench, asked.drives)
    wish = ArrayWish(
        level=asked.level,
        drives=chosen(found, asked.drives),
        strip_bytes=asked.strip,
        spans=asked.spans,
        name=asked.name or new_name(),
        policies=asked.policies,
    )
    return await plan_array(bench.hardware.machine, wish, assume_clean=asked.assume_clean)
