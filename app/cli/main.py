"""The `raidbench` command group with the global options. Each command is imported when it is called."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.cli.command import option_records
from app.cli.command_index import COMMANDS
from app.cli.error_exit import run_guarded
from app.cli.exit_status import DONE, USAGE, summary_sentence
from app.cli.options import FiniteRange, Options, draws_signs, gather_options, is_terminal, remember
from app.cli.output import BrokenPipeOutputError, say
from app.core.themes import THEMES
from app.doors import HelpGroup, action, import_object, require_action
from app.startup import import_asyncio, import_textual
from backends.did_you_mean import suggestion_hint
from backends.simulator.profiles import FIRST, HOSTS, STATES

ASKS_HELP = "app.cli.asks_help"
"""Key in the `meta` of click's context: whether help was requested. Help works even with a broken configuration."""


class CommandGroup(click.Group):
    """Imports a command when it is called. Turns every error into a message and an exit status."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, except that a word after `--demo` is the command unless it names a simulated host."""
        with_value = {name for param in self.params if not getattr(param, "is_flag", True) for name in param.opts}
        front, rest = [], list(args)
        while rest and rest[0].startswith("-") and rest[0] != "--":
            word = rest.pop(0)
            if word == "--demo":
                self._require_known(ctx, rest)
                word += f"={rest.pop(0) if rest and rest[0] in HOSTS else FIRST}"
            elif word in with_value and rest:
                front.append(word)
                word = rest.pop(0)
            front.append(word)
        ctx.meta[ASKS_HELP] = rest[:1] == ["help"] or not {"-h", "--help"}.isdisjoint(rest)
        return super().parse_args(ctx, front + rest)

    @staticmethod
    def _require_known(ctx: click.Context, rest: list[str]) -> None:
        """Check the word after `--demo`. Raises UsageError if it is neither a simulated host nor a command."""
        word = rest[0] if rest else "-"
        if word.startswith("-") or word in HOSTS or word in COMMANDS or ctx.resilient_parsing:
            return
        hint = suggestion_hint(word, (*HOSTS, *COMMANDS), f"Simulated hosts: {', '.join(HOSTS)}.")
        raise click.UsageError(f"No such simulated host or command {word!r}. {hint}", ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command as click does, and suggest a command for a mistyped one."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing and args[0][:1].isalnum():
            hint = suggestion_hint(args[0], COMMANDS, f"`{ctx.command_path} --help` lists the commands.")
            raise click.UsageError(f"No such command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order in which a user typically needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of that name, or None."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        import_asyncio()
        command = import_object(entry.path)
        assert isinstance(command, click.Command)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the global options, then the commands."""
        with formatter.section("Options"):
            formatter.write_dl([record for _, record in option_records(self, ctx)])
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of their groups. A group has none if its features are missing."""
        width = max(map(len, COMMANDS))
        for group in HelpGroup:
            if rows := [(name.ljust(width), entry.help) for name, entry in COMMANDS.items() if entry.group is group]:
                with formatter.section(group):
                    formatter.write_dl(rows)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and return the exit status. In standalone mode, exit with that status."""
        _prepare_streams()

        def command() -> object:
            try:
                return super(CommandGroup, self).main(
                    args, prog_name or "raidbench", complete_var, standalone_mode=False, **extra
                )
            except SystemExit:  # click raises it if the reader of the help text is gone.
                raise BrokenPipeOutputError from None

        try:
            status = run_guarded(command, as_json="--json" in (sys.argv[1:] if args is None else args))
        finally:
            remember(Options())
        if standalone_mode:
            sys.exit(status)
        return status


def _prepare_streams() -> None:
    """Make sure that every character can be printed, and that no file opened later gets descriptor 0, 1 or 2."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # open() uses the lowest free number, which is `number`.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"Without a command, the workbench opens. {summary_sentence()} "
    'Completion for bash: eval "$(_RAIDBENCH_COMPLETE=bash_source raidbench)"; also zsh_source and fish_source.',
)
@click.option("--demo", type=click.Choice(tuple(HOSTS)), help=f"Use a simulated host (default: {FIRST}).")
@click.option(
    "--demo-speed", type=FiniteRange(0.1, 1000), metavar="N", help="Run the time of the simulated host N times as fast."
)
@click.option("--demo-reset", is_flag=True, help="Reset the simulated host first.")
@click.option(
    "--demo-state",
    type=click.Choice(tuple(STATES)),
    multiple=True,
    help="Put the simulated host into a state. May be repeated. "
    + "; ".join(f"{name}: {effect}" for name, effect in STATES.items())
    + ".",
)
@click.option(
    "--demo-reboot",
    is_flag=True,
    help="Reboot the simulated host first, which activates settings that wait for a reboot.",
)
@click.option("--machine", type=click.Path(path_type=Path), metavar="DIR", help="Use a recorded machine.")
@click.option("--read-only", is_flag=True, help="Change nothing.")
@click.option("--no-helper", is_flag=True, help="Do not start the root helper. As root, everything runs as root.")
@click.option(
    "--session",
    type=click.Path(path_type=Path),
    metavar="SESSION",
    help="Session to continue or to start: a name from `raidbench log --list`, or a folder.",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Configuration file to read.")
@click.option("--ascii", is_flag=True, help="Draw with ASCII characters only.")
@click.option("--no-color", is_flag=True, help="Use no colours, like the variable NO_COLOR.")
@click.option(
    "--theme", type=click.Choice(list(THEMES)), help="Colours of the workbench (also in the configuration: theme)."
)
@click.option(
    "--hosts",
    metavar="NODESET",
    help="Open the workbench with these hosts over SSH, such as node[1-40] or a group @raid. "
    "Commands have their own --hosts.",
)
@click.option(
    "--host-timeout",
    type=FiniteRange(min=1),
    metavar="SECONDS",
    help="With --hosts: time limit for each host.",
)
@click.option("--host-program", metavar="PATH", help="With --hosts: command that starts raidbench on the hosts.")
@click.option(
    "--version",
    is_flag=True,
    help="Show the version. With --json, also Python, the kind of installation and the file formats.",
)
@click.option("--json", "as_json", is_flag=True, hidden=True)
@gather_options(Options)
def cli(
    options: Options,
    *,
    hosts: str | None,
    host_timeout: float | None,
    host_program: str | None,
    version: bool,
    as_json: bool,
) -> int:
    """Tune storage: stage a setting, see its risk, measure it with fio, undo it."""
    ctx = click.get_current_context()
    if version:
        from app.cli.version_help import print_version

        print_version(as_json)
        ctx.exit()
    if as_json:
        raise click.UsageError("Put --json after a command, or use it with --version.")
    of_rack = options.demo_speed is not None or options.demo_reset or options.demo_reboot or options.demo_state
    if of_rack and not options.demo:
        raise click.UsageError("--demo-speed, --demo-reset, --demo-state and --demo-reboot need --demo.")
    options = replace(
        options,
        demo=options.demo or "",
        machine=options.machine and options.machine.absolute(),
    )
    if options.session is not None:
        from app.core.session.folders import session_named

        # normalised, because the path identifies the session
        folder = os.path.abspath(session_named(options.paths, options.session))
        options = replace(options, session=Path(folder))
    ctx.obj = options
    remember(options)
    if not ctx.meta[ASKS_HELP]:
        options.require_config()
    if os.environ.get("SUDO_UID") and not options.simulated and not options.no_helper:
        from app.cli.privileges import drop_privileges

        drop_privileges()
    if not ctx.meta[ASKS_HELP] and ctx.invoked_subcommand not in _WITHOUT_STATE:
        options.paths.require_readable()
    if ctx.invoked_subcommand is not None:
        if hosts is not None or host_timeout is not None or host_program is not None:
            command = f"raidbench {ctx.invoked_subcommand} --hosts ..."
            raise click.UsageError(f"Put --hosts and its options after the command: {command}")
        return DONE
    if hosts is None and (host_timeout is not None or host_program is not None):
        raise click.UsageError("--host-timeout and --host-program need --hosts.")
    if hosts is not None and options.machine is not None:
        raise click.UsageError(
            "--machine cannot be combined with --hosts: a recorded machine cannot reach other hosts."
        )
    return _open_workbench(options, hosts, host_timeout, host_program)


_WITHOUT_STATE = frozenset(("doctor", "glossary", "help", "keys", "version"))
"""Commands that run even if the state folder is unreadable: they do not need it, or report what is wrong with it."""


def _open_workbench(options: Options, hosts: str | None, host_timeout: float | None, host_program: str | None) -> int:
    """Run the workbench's screens and return the exit status.

    Report an unsuitable terminal and return USAGE. Raises RaidbenchError for a wrong option or configuration.
    """
    reason = _no_screen(os.environ)
    if reason is not None:
        say(f"raidbench: {reason}")
        say("`raidbench --help` lists the commands that work without such a terminal.")
        return USAGE
    from app.cli.privileges import helper_of
    from app.cli.splash import show_splash

    fleet = None
    if hosts is not None:
        import_asyncio()
        fleet = require_action("fleet.named")(hosts, seconds=host_timeout, program=host_program)
    # sudo may ask for a password. It could not do so once the screens are open.
    helper_of(options, wanted=True, read_only=options.read_only)
    with show_splash("" if options.demo or options.machine else os.uname().nodename):
        import_asyncio()
        from app.cli.session_context import host_of, remember_scan, require_its_machine, workbench_on
        from app.cli.steady_options import steady_plan
        from app.core.benchmark.niceness import lower_priority
        from app.core.session.store import latest_session

        config = options.load_config()
        if options.no_color:
            os.environ["NO_COLOR"] = "1"  # Textual reads this variable
        for name in ("COLUMNS", "LINES"):  # If a shell exports them, Textual never updates the size.
            os.environ.pop(name, None)
        import_textual()
        from app.tui.options import ScreenOptions  # Textual reads these variables when it is imported
        from app.tui.runner import run

        if options.session is not None:
            require_its_machine(options.session)
        nice = lower_priority()
        bench = workbench_on(host_of(options, child_nice=nice))
        bench.endurance_ratings = config.endurance_tbw
        screen_options = action("sweep.screen_options")
        swept = {} if screen_options is None else screen_options(options, nice)
    status = run(
        bench,
        ScreenOptions(
            session=options.session,
            ascii=options.ascii or config.ascii or not draws_signs(sys.stderr),
            fps=config.fps,
            theme=options.theme or config.theme,
            recorded=options.machine is not None,
            first_start=latest_session(bench.paths) is None,
            keymap=config.keymap,
            scratch=config.scratch_dir or ".",
            scratch_size=config.scratch_size,
            profile=config.profile,
            devices_columns=config.devices_columns,
            devices_order=config.devices_order,
            state_file=None if config.state_file is None else Path(config.state_file),
            config=options.config or bench.paths.config,
            steady=steady_plan(config, cap=None, round_s=None),
            fleet=fleet,
            **swept,
        ),
    )
    remember_scan(bench.hardware.machine, bench.session.inventory)
    return int(status)


def _no_screen(environment: MutableMapping[str, str]) -> str | None:
    """Return why the screens cannot open on this terminal, or None if they can."""
    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):  # Textual draws on standard error
        return "The workbench needs a terminal for input, output and error output."
    if environment.get("TERM", "") in ("", "dumb"):
        return "The workbench needs a terminal that can move its cursor (TERM is dumb or not set)."
    return None
