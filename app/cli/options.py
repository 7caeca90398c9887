"""The global options (before the command) as one value, and helpers for options that several commands share."""

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
    """Return a decorator that passes a command's options as its first argument, an instance of a dataclass.

    The instance gets the options that have the names of the dataclass's fields.
    """

    def decorate(command: Callable[Concatenate[T, ...], int]) -> Callable[..., int]:
        names = {field.name for field in fields(record)}  # type: ignore[arg-type]

        @wraps(command)
        def gathered(**options: Any) -> int:
            values = {name: options.pop(name) for name in names & options.keys()}
            return command(record(**values), **options)

        return gathered

    return decorate


class FiniteRange(click.FloatRange):
    """Option type: a number within bounds. NaN is rejected explicitly: click's comparisons with it are always false."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises click.BadParameter if it is not a finite number within the bounds."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{clean(str(value), 40)!r} is not a finite number.", param, ctx)
        return number


class Percent(click.ParamType[float]):
    """Option type: a percentage above 0 and below 50, written `1%` or `1`."""

    name = "percent"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. Raises click.BadParameter if it is not such a percentage."""
        from app.core.presentation.percent import parse_threshold

        try:
            return parse_threshold(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


PERCENT = Percent()


class Duration(click.ParamType[int]):
    """Option type: a time from 1 second to 7 days, written `60`, `60s`, `5m` or `2h`."""

    name = "duration"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the seconds. Raises click.BadParameter if it is no such time."""
        from app.core.fio.job_values import parse_seconds

        try:
            seconds = parse_seconds(str(value))
        except InvalidValueError as error:
            self.fail(f"{error.message}. {error.hint}".rstrip(), param, ctx)
        if not 1 <= seconds <= 7 * 86400:
            self.fail("The time must be 1 second to 7 days.", param, ctx)
        return seconds


DURATION = Duration()


Function = Callable[..., int]


def over_hosts(*alone: str) -> Callable[[Function], Function]:
    """Return a decorator that lets a command that has `--json` run on many hosts.

    Without the feature `fleet`, it changes nothing. `alone`: parameters that make sense only for a single host.
    """
    offered = action("fleet.over_hosts")
    return (lambda function: function) if offered is None else offered(*alone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The global options, which precede the command."""

    demo: str = ""
    """Name of the simulated host; "" for none."""
    demo_speed: float | None = None
    """Simulated seconds per real second; None: the command decides (most use 1)."""
    demo_reset: bool = False
    """Whether to reset the simulated host first."""
    demo_state: tuple[str, ...] = ()
    """States to put the simulated host into, such as a failed drive; () leaves its state unchanged."""
    demo_reboot: bool = False
    """Whether to reboot the simulated host first."""
    machine: Path | None = None
    """Folder of a recorded machine, which is used instead of this machine."""
    read_only: bool = False
    """Whether read-only mode is on, in which nothing is changed."""
    no_helper: bool = False
    """Whether to start no root helper and, as root, to keep root privileges."""
    session: Path | None = None
    """Session folder to continue or to create; None for the default."""
    config: Path | None = None
    """Configuration file; None for the default path."""
    ascii: bool = False
    """Whether to draw with ASCII characters only."""
    no_color: bool = False
    """Whether colours are off."""
    theme: str | None = None
    """Name of a theme (`THEMES`); None for the theme in the configuration."""

    @property
    def simulated(self) -> bool:
        """Whether the command uses a simulated or recorded machine instead of this machine."""
        return bool(self.demo) or self.machine is not None

    @property
    def state_name(self) -> str:
        """Name under which the state of the selected simulated or recorded machine is stored; "" for this machine."""
        if self.machine is None:
            return self.demo
        from backends.system.recorded import apart_of

        return apart_of(self.machine)

    @property
    def command_prefix(self) -> str:
        """Options that select the same machine in another command, such as `--demo hpe `; "" for this machine."""
        if self.machine is not None:
            return f"--machine {shlex.quote(str(self.machine))} "
        return f"{demo_text(self.demo)} " if self.demo else ""

    def argv_of(self, *names: str) -> list[str]:
        """Return the options in `names` that were given, as command-line arguments for another raidbench process."""
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
        """State folders of the selected machine."""
        return Paths.of(self.state_name)

    @property
    def coloured(self) -> bool:
        """Whether colours may be written to standard output (https://no-color.org)."""
        if self.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        return is_terminal(sys.stdout)

    def load_config(self) -> Config:
        """Return the configuration. Raises ConfigError if it is invalid, NotFoundError if --config names no file."""
        from app.core.config import load_config

        return load_config(self.config or self.paths.config, required=self.config is not None)

    def require_config(self) -> None:
        """Check the configuration file. Raises ConfigError or NotFoundError if it cannot be used."""
        if self.config is None and is_absent(self.paths.config):  # Most machines have no configuration file.
            return
        self.load_config()

    def with_https_hosts(self, host: Host) -> Host:
        """Return the host together with the storage systems that the configuration names, queried over HTTPS."""
        from app.core.https_hosts import with_configured_systems

        return with_configured_systems(host, self.config or self.paths.config)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions:
    """The options that are common to all commands that ask for confirmation."""

    dry_run: bool
    yes: bool
    typed: str | None
    """The value of `--confirm`; None if it was not given."""
    as_json: bool


_last = [Options()]


def remember(options: Options) -> None:
    """Store the options that `current` returns while click has no context, as for output after the end of a command."""
    _last[0] = options


def current() -> Options:
    """Return the global options of the running command, or of the last one if none is running."""
    context = click.get_current_context(silent=True)
    options = None if context is None else context.find_object(Options)
    return options if options is not None else _last[0]


def is_terminal(stream: object) -> bool:
    """Return whether a stream is a terminal; False if it is closed."""
    try:
        return bool(stream.isatty())  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        return False


def is_utf8(stream: object) -> bool:
    """Return whether a stream accepts every character and, if it is a terminal, can also show them.

    Python writes UTF-8 even in the C locale (PEP 538, PEP 540). So for a terminal, the locale decides: with a locale
    other than UTF-8, the terminal shows only ASCII. If no locale is set, it is assumed to show UTF-8.
    """
    encoding = str(getattr(stream, "encoding", None) or "ascii")
    if encoding.lower().replace("-", "").replace("_", "") != "utf8":
        return False
    return not is_terminal(stream) or _locale_is_utf8(os.environ)


def draws_signs(stream: object) -> bool:
    """Return whether a stream shows all signs that raidbench uses. The Linux console does not (console_codes(4))."""
    return is_utf8(stream) and not (is_terminal(stream) and os.environ.get("TERM") == "linux")


def _locale_is_utf8(environment: Mapping[str, str]) -> bool:
    names = ("LC_ALL", "LANG") if environment.get("LC_CTYPE") == "C.UTF-8" else ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((value for name in names if (value := environment.get(name))), None)
    return locale is None or "utf" in locale.lower()


def policies_of(assignments: Sequence[str]) -> dict[str, str]:
    """Return the settings of a new array by key, from `KEY=VALUE` arguments. Raises InvalidValueError for others."""
    policies: dict[str, str] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key or not value:
            raise InvalidValueError(
                f"{clean(assignment, 60)!r} is not KEY=VALUE.", hint="For example: write_cache=write-back"
            )
        policies[key] = value
    return policies


def typed_argv(context: click.Context, excluded: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the options and the arguments of the command line, without the parameters in `excluded`."""
    options: list[str] = []
    arguments: list[str] = []
    for param in context.command.params:
        if param.name in excluded or not is_typed(context, param.name):
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
