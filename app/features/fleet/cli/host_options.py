"""`--hosts`: the options that let a read-only command query many hosts, and the command line for each host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from app.cli.options import FiniteRange, is_typed, typed_argv
from app.cli.output import with_text
from app.cli.shared_options import HOSTS_HELP
from app.features.fleet.ssh.command import PROGRAM, SECONDS

_OWN = ("hosts", "host_timeout", "host_program", "host_stream", "with_text_width", "as_json")
"""Parameters that are not passed on to hosts."""

Function = Callable[..., int]


def over_hosts(*alone: str) -> Callable[[Function], Function]:
    """Return a decorator that lets a command with `--json` query many hosts.

    `alone`: parameters that cannot be combined with `--hosts`.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def command(
            *,
            hosts: str | None,
            host_timeout: float | None,
            host_program: str | None,
            host_stream: bool,
            with_text_width: int | None,
            **parameters: Any,
        ) -> int:
            if hosts is None:
                if host_timeout is not None or host_program is not None or host_stream:
                    raise click.UsageError("--host-timeout, --host-program and --stream need --hosts.")
                if with_text_width is None:
                    return function(**parameters)
                if not parameters["as_json"]:
                    raise click.UsageError("--with-text needs --json.")
                with with_text(with_text_width or None):
                    return function(**parameters)
            context = click.get_current_context()
            for name in alone:
                if is_typed(context, name):
                    raise click.UsageError(f"{_option(context, name)} cannot be combined with --hosts.")
            from app.features.fleet.cli.query import query_hosts

            return query_hosts(
                hosts,
                argv_without_hosts(context),
                as_json=parameters["as_json"],
                stream=host_stream,
                seconds=host_timeout,
                program=host_program,
            )

        wrapped: Function = command
        for option in reversed((*host_options(required=False), _STREAM, _WITH_TEXT)):
            wrapped = option(wrapped)
        return wrapped

    return decorate


_STREAM: Callable[[Function], Function] = click.option(
    "--stream", "host_stream", is_flag=True, help="With --hosts: print one JSON line for each host as it answers."
)

_WITH_TEXT: Callable[[Function], Function] = click.option(
    "--with-text",
    "with_text_width",
    type=click.IntRange(min=0),
    metavar="COLUMNS",
    hidden=True,
    help="With --json: also include the plain output as `text`, for a terminal of this width; 0 does not truncate.",
)


def host_options(*, required: bool) -> tuple[Callable[[Function], Function], ...]:
    """Return the options that name the hosts and limit the query. With `required`, an argument names the hosts."""
    named: Callable[[Function], Function]
    if required:
        named = click.argument("hosts", metavar="NODESET")
    else:
        named = click.option(
            "--hosts",
            metavar="NODESET",
            help=HOSTS_HELP,
        )
    return (
        named,
        click.option(
            "--host-timeout",
            type=FiniteRange(min=1),
            metavar="SECONDS",
            help=f"Time limit for each host (default: {SECONDS:g}).",
        ),
        click.option(
            "--host-program", metavar="PATH", help=f"Command that starts raidbench on the hosts (default: {PROGRAM})."
        ),
    )


def argv_without_hosts(context: click.Context) -> tuple[str, ...]:
    """Return the current command line as typed, but without the options in `_OWN`."""
    options, arguments = typed_argv(context, _OWN)
    after = ("--", *arguments) if arguments else ()
    return (str(context.info_name), *options, *after)


def _option(context: click.Context, name: str) -> str:
    return next(param.opts[-1] for param in context.command.params if param.name == name)
