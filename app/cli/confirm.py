"""Asking before anything is changed: on the terminal, or by options where there is nobody to ask."""

from __future__ import annotations

from app.cli.output import ask, can_ask, say
from app.engine.view.effects import Tier, tier
from backends.errors import RefusedError
from backends.settings import Risk
from backends.text import clean


def confirmed(risk: Risk, name: str, *, yes: bool, typed: str | None, what: str) -> None:
    """Return if it may be done.

    Harmless: `y`, or --yes. Dangerous: `yes`, or --yes with --confirm NAME. Destroys data: the name, typed or given
    with --confirm. `typed` is what --confirm says, `what` the thing asked for ("Apply").
    Raises RefusedError saying what to add; EOFError when the answer never comes.
    """
    if typed is not None and typed != name:
        raise RefusedError(f"--confirm says {clean(typed, 60)}, but this is {name}.", hint="Nothing was done.")
    match tier(risk):
        case Tier.HARMLESS:
            _harmless(what, yes=yes)
        case Tier.RISKY:
            _dangerous(name, what, yes=yes, named=typed is not None)
        case Tier.DESTRUCTIVE:
            _destroying(name, what, named=typed is not None)


def _harmless(what: str, *, yes: bool) -> None:
    if yes:
        return
    if not can_ask():
        raise _nobody("--yes")
    if ask(f"{what}? [y/N] ").lower() not in ("y", "yes"):
        raise _declined()


def _dangerous(name: str, what: str, *, yes: bool, named: bool) -> None:
    if yes and named:
        return
    if not can_ask():
        raise _nobody(f"--yes --confirm {name}")
    if ask(f"{what}, with the risk above? Type yes: ") != "yes":
        raise _declined()


def _destroying(name: str, what: str, *, named: bool) -> None:
    if named:
        return
    if not can_ask():
        raise _nobody(f"--confirm {name}")
    if ask(f"{what}, and lose what is there? Type {name}: ") != name:
        raise _declined()


def _nobody(options: str) -> RefusedError:
    return RefusedError(
        "Nothing was done: there is no terminal to confirm it on.", hint=f"Add {options} to do it without being asked."
    )


def _declined() -> RefusedError:
    say()
    return RefusedError("Nothing was done.")
