"""The options before the command as one value, and what the options of all commands have in common."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar

import click
from click.core import ParameterSource

from app.core.session.paths import Paths
from app.core.session.trusted_file import is_absent
from app.doors import action
from backends.errors import InvalidValueError
from backends.simulator.profiles import demo_text
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.config import Config
    from backends.host import Host

T = TypeVar("T")


def gather_options(record: type[T]) -> Callable[[Callable[Concatenate[T, ...], int]], Callable[..., int]]:
    """Return a decorator: the command gets the options that are fields of a dataclass as one value of it, first.

    It gets all others by their names.
    """

    def decorate(command: Callable[Concatenate[T, ...], int]) -> Callable[..., int]:
        names = {field.name for field in fields(record)}  # type: ignore[arg-type]

        @wraps(command)
        def gathered(**options: Any) -> int:
            own = {name: options.pop(name) for name in names & options.keys()}
            return command(record(**own), **options)

        return gathered

    return decorate


class FiniteRange(click.FloatRange):
    """A number within bounds. Not a number, which compares with nothing, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises click.BadParameter."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{clean(str(value), 40)!r} is not a finite number.", param, ctx)
        return number


class Percent(click.ParamType[float]):
    """`1%` or `1`: above 0, below 50."""

    name = "percent"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails as click does."""
        from app.core.presentation.percent import parse_threshold

        try:
            return parse_threshold(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


PERCENT = Percent()


Function = Callable[..., int]


def over_hosts(*alone: str, schema: int = 1) -> Callable[[Function], Function]:
    """Let a command with `--json` ask many hosts, where there is the feature that does.

    `alone`: parameters that are for one host; `schema`: the form of the document.
    """
    offered = action("fleet.over_hosts")
    return (lambda function: function) if offered is None else offered(*alone, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was said before the command."""

    demo: str = ""
    """Use this simulated rack; "" is none."""
    demo_speed: float | None = None
    """Simulated seconds in a real one; None leaves it to the command, which is 1 for most."""
    demo_reset: bool = False
    """Begin with the rack as new."""
    demo_state: tuple[str, ...] = ()
    """What the rack is to suffer from; () leaves it as it is."""
    demo_reboot: bool = False
    """Reboot the rack's host first."""
    machine: Path | None = None
    """Answer from a recorded machine."""
    read_only: bool = False
    """Change nothing."""
    no_helper: bool = False
    """Start no helper for what takes root, and leave root what it is."""
    session: Path | None = None
    """Folder of the session to go on with or to begin."""
    config: Path | None = None
    """Configuration file; None is the usual place."""
    ascii: bool = False
    """Draw with ASCII only."""
    no_color: bool = False
    """No colours."""
    theme: str | None = None
    """One of `THEMES`; None is that of the configuration."""

    @property
    def simulated(self) -> bool:
        """Whether it is about a simulated or recorded machine, not the one that raidbench runs on."""
        return bool(self.demo) or self.machine is not None

    @property
    def state_name(self) -> str:
        """The name of the state of the simulated or recorded machine that is meant; "" for this machine."""
        if self.machine is None:
            return self.demo
        from backends.system.recorded import apart_of

        return apart_of(self.machine)

    @property
    def command_prefix(self) -> str:
        """What a command begins with to mean the same machine: `--demo hpe `; "" for this machine."""
        if self.machine is not None:
            return f"--machine {shlex.quote(str(self.machine))} "
        return f"{demo_text(self.demo)} " if self.demo else ""

    def argv_of(self, *names: str) -> list[str]:
        """Return these options as words before the command of another process; nothing of one that was not given."""
        argv: list[str] = []
        for name in names:
            option, value = f"--{name.replace('_', '-')}", getattr(self, name)
            if value is True:
                argv.append(option)
            elif value:
                argv += [f"{option}={item}" for item in (value if isinstance(value, tuple) else (value,))]
        return argv

    @property
    def paths(self) -> Paths:
        """The folders of the machine that is meant."""
        return Paths.of(self.state_name)

    @property
    def coloured(self) -> bool:
        """Whether colours may be written to standard output (https://no-color.org)."""
        if self.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return is_terminal(sys.stdout)

    def load_config(self) -> Config:
        """The configuration file's values. Raises ConfigError, NotFoundError."""
        from app.core.config import load_config

        return load_config(self.config or self.paths.config, required=self.config is not None)

    def require_config(self) -> None:
        """Raises ConfigError, NotFoundError where the configuration cannot be used, whatever is done with it."""
        if self.config is None and is_absent(self.paths.config):  # most machines have none
            return
        self.load_config()

    def with_https_hosts(self, host: Host) -> Host:
        """This machine with what the configuration names beside it."""
        from app.core.https_hosts import with_configured_systems

        return with_configured_systems(host, self.config or self.paths.config)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions:
    """The options of every command that asks before it does something."""

    dry_run: bool
    yes: bool
    typed: str | None
    """What `--confirm` says."""
    as_json: bool


_last = [Options()]


def remember(options: Options) -> None:
    """Take these for what is said when the command has ended."""
    _last[0] = options


def current() -> Options:
    """The options of the command that is running, or of the one that ended."""
    context = click.get_current_context(silent=True)
    options = None if context is None else context.find_object(Options)
    return options if options is not None else _last[0]


def is_terminal(stream: object) -> bool:
    """Whether a stream leads to a terminal; a closed one does not."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False


def is_utf8(stream: object) -> bool:
    """Whether a stream can carry every character, and its terminal shows them.

    Python writes UTF-8 even in the C locale (PEP 538, PEP 540), so a terminal is asked through the locale: one that
    names no UTF-8 means ASCII; none at all says nothing.
    """
    encoding = str(getattr(stream, "encoding", None) or "ascii")
    if encoding.lower().replace("-", "").replace("_", "") != "utf8":
        return False
    return not is_terminal(stream) or _locale_is_utf8(os.environ)


def draws_signs(stream: object) -> bool:
    """Whether all signs arrive: the font of the Linux console has few of them, and no braille (console_codes(4))."""
    return is_utf8(stream) and not (is_terminal(stream) and os.environ.get("TERM") == "linux")


def _locale_is_utf8(environment: Mapping[str, str]) -> bool:
    names = ("LC_ALL", "LANG") if environment.get("LC_CTYPE") == "C.UTF-8" else ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((value for name in names if (value := environment.get(name))), None)
    return locale is None or "utf" in locale.lower()


def policies_of(assignments: Sequence[str]) -> dict[str, str]:
    """`KEY=VALUE` of policies at birth, each; which there are the maker of the array says. Raises InvalidValueError."""
    policies: dict[str, str] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key or not value:
            raise InvalidValueError(
                f"{clean(assignment, 60)!r} is no policy.", hint="KEY=VALUE, for example write_cache=write-back."
            )
        policies[key] = value
    return policies


def typed_argv(context: click.Context, besides: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the options and the arguments that were typed, as words, without those of these parameters."""
    options: list[str] = []
    arguments: list[str] = []
    for param in context.command.params:
        if param.name in besides or not is_typed(context, param.name):
            continue
        value = context.params[param.name]
        values = list(map(str, value if isinstance(value, tuple | list) else (value,)))
        if isinstance(param, click.Argument):
            arguments += values
        elif isinstance(param, click.Option) and param.is_flag:
            options.append(param.opts[-1])
        else:
            options += [f"{param.opts[-1]}={value}" for value in values]
    return options, arguments


def is_typed(context: click.Context, name: str) -> bool:
    """Return whether a parameter was given on the command line."""
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE
