"""`bench --hosts`: starts the same run on many hosts at once, over ssh or, with `--demo`, on simulated hosts."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zlib import crc32

import click

from app.cli.async_runner import Interruption
from app.cli.exit_status import DONE, FAILED, INTERRUPTED, MISSING
from app.cli.options import Options, current
from app.cli.output import lines, print_json, say
from app.cli.render import table_lines
from app.cli.session_context import on_workbench
from app.core.session.multihost_names import LEASE_S
from app.core.workbench import Workbench
from app.features.fleet.cli.bench_progress import MultiHostProgress
from app.features.fleet.multihost.coordinator import Coordinator
from app.features.fleet.multihost.presentation import joint_json, joint_sentences, joint_table
from app.features.fleet.multihost.protocol import AHEAD_S
from app.features.fleet.multihost.record import JointFolder, JointRecord
from app.features.fleet.multihost.result import keep_record
from app.features.fleet.multihost.transport import Transport
from app.features.fleet.ssh.command import PROGRAM, ssh_argv, ssh_options
from app.features.fleet.ssh.nodesets import parse_hosts
from backends.errors import InvalidValueError
from backends.self_exec import self_exec_argv
from backends.system.local import LocalHost
from backends.system.local.interactive import InteractiveProcess
from backends.text import clean
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.cli.bench import BenchOptions

MOST_HOSTS = 256
"""Maximum number of hosts measured together; with more, the speed of the controlling host affects the results."""


class SshTransport:
    """Opens connections to hosts with the user's ssh program and configuration."""

    def __init__(self, command: Sequence[str], ssh: Sequence[str], program: str = PROGRAM) -> None:
        """`program`: name of raidbench on the hosts; `command`: its arguments; `ssh`: options for ssh."""
        self._command, self._ssh = (program, *command), tuple(ssh)

    def line(self, host: str) -> InteractiveProcess:
        """Return a context manager that connects to a host and starts the run there; see `Transport.line`."""
        return InteractiveProcess(ssh_argv(host, self._command, self._ssh))


class SimulatedTransport:
    """Opens connections to simulated hosts: local processes, each with its own simulated machine.

    If there are several hosts, the last one crashes during the run.
    """

    def __init__(self, command: Sequence[str], options: Options, hosts: Sequence[str], folder: Path) -> None:
        """`folder`: the folder for the state of all hosts. Raises StorageError."""
        self._command = tuple(command)
        self._dies = hosts[-1] if len(hosts) > 1 else ""
        self._folders = {host: _prepare_rack(options, host, folder / str(number)) for number, host in enumerate(hosts)}

    def line(self, host: str) -> InteractiveProcess:
        """Return a context manager that connects to a host and starts the run there; see `Transport.line`."""
        kind = CrashingProgram if host == self._dies else InteractiveProcess
        environment = {"RAIDBENCH_STATE_DIR": str(self._folders[host])}
        return kind((*self_exec_argv("app", with_pythonpath=True), *self._command), environment=environment)


class CrashingProgram(InteractiveProcess):
    """A simulated host whose process is killed after a few intervals, without a last message."""

    _LIVES = 8
    _TICK = b'"kind":"tick"'
    _ticks = 0

    async def read(self) -> bytes:
        """Return the next chunk of output. Kill the process once it has sent `_LIVES` intervals."""
        chunk = await super().read()
        self._ticks += chunk.count(self._TICK)
        if self._ticks >= self._LIVES:
            self.kill()
        return chunk


def _prepare_rack(options: Options, host: str, folder: Path) -> Path:
    """Create a simulated host's state folder and return its path. Its own seed gives the host its own results."""
    from app.core.session.paths import Paths
    from backends.simulator.profiles import STATE_FILE
    from backends.simulator.profiles.table import MACHINES
    from backends.simulator.state_file import RackFile

    folder.mkdir(mode=0o700)
    file = Paths.below(folder, options.demo).state / STATE_FILE
    with RackFile(file, make=MACHINES[options.demo]).edit() as rack:
        rack.seed = crc32(host.encode())
    return folder


def measure_on_hosts(bench_options: BenchOptions, parts: Sequence[str]) -> int:
    """Run `bench` on all hosts that the options name, and return the exit status. `parts`: the arguments of `bench`.

    Raises whatever parsing the host names and saving the record raise.
    """
    options = current()
    if options.machine is not None:
        raise click.UsageError("--machine cannot be combined with --hosts: a recorded machine has no other hosts.")
    if options.demo_speed is not None:
        raise click.UsageError("--demo-speed cannot be combined with --hosts: simulated hosts run in real time.")
    hosts = parse_hosts(bench_options.nodes or "", most=MOST_HOSTS)
    stagger_s, lease_s = bench_options.stagger or 0.0, bench_options.lease or LEASE_S
    if stagger_s * (len(hosts) - 1) > AHEAD_S - 10:
        raise InvalidValueError(
            f"Starting {len(hosts)} hosts {stagger_s:g} s apart would take more than {AHEAD_S - 10:.0f} s.",
            hint="Choose a shorter --stagger.",
        )
    command = _command(options, parts, lease_s)
    if bench_options.dry_run:
        argv = (PROGRAM, *command)
        commands = [shlex.join(argv if options.demo else ssh_argv(host, argv)) for host in hosts]
        lines(clean(line, 4000) for line in commands)
        say("Dry run: no host was contacted and nothing was measured.")
        return DONE

    async def work(bench: Workbench, interruption: Interruption) -> int:
        await bench.open(options.session, fresh=True)
        assert bench.folder is not None
        async with _open_transport(options, command, hosts) as transport:
            at = time.time()
            with contextlib.closing(JointFolder(bench.folder, hosts)) as folder:
                coordinator = Coordinator(
                    transport,
                    folder,
                    hosts,
                    stagger_s=stagger_s,
                    say=lambda sentence: live.say(sentence),
                    lease_s=lease_s,
                )
                live = MultiHostProgress(coordinator)
                await _run_all(coordinator, live, interruption)
                target = ", ".join(bench_options.targets)
                record = keep_record(bench, coordinator, folder, target=target, at=at, stagger_s=stagger_s)
        _print_record(record, bench.folder, as_json=bench_options.as_json)
        return _status(record)

    return on_workbench(work)


def _command(options: Options, parts: Sequence[str], lease_s: int) -> tuple[str, ...]:
    before = options.argv_of("read_only", "no_helper", "demo", "demo_state")
    return (*before, "bench", "--stream", "--go-on-stdin", f"--lease={lease_s}", *parts)


def open_transport(
    hosts: Sequence[str], parts: Sequence[str], program: str | None
) -> AbstractAsyncContextManager[Transport]:
    """Return connections for the TUI. `parts`: the arguments after `bench` on each host. Raises RaidbenchError."""
    if len(hosts) > MOST_HOSTS:
        raise InvalidValueError(f"{len(hosts)} hosts are too many. At most {MOST_HOSTS} can be measured together.")
    options = current()
    return _open_transport(options, _command(options, parts, LEASE_S), hosts, program or PROGRAM)


@contextlib.asynccontextmanager
async def _open_transport(
    options: Options, command: Sequence[str], hosts: Sequence[str], program: str = PROGRAM
) -> AsyncIterator[Transport]:
    if not options.demo:
        yield SshTransport(command, await ssh_options(LocalHost()), program)
        return
    with TemporaryDirectory(prefix="raidbench-hosts-", ignore_cleanup_errors=True) as folder:
        yield SimulatedTransport(command, options, hosts, Path(folder))


async def _run_all(coordinator: Coordinator, live: MultiHostProgress, interruption: Interruption) -> None:
    """Run the coordinator, and report its progress until it ends."""
    progress = asyncio.create_task(live.report())
    say(f"Measuring on {plural(len(coordinator.peers), 'host')} ...")
    try:
        with interruption.stop_on_signal(coordinator.stop):
            await coordinator.run()
    finally:
        progress.cancel()
        live.clear()


def _print_record(record: JointRecord, session: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(joint={**joint_json(record), "session": str(session)}, simulated=record.simulated)
    else:
        lines(table_lines(joint_table(record)))
    for sentence in joint_sentences(record):
        say(clean(sentence, 600))
    say(f"Saved as {record.id} in {clean(str(session), 300)}")


def _status(record: JointRecord) -> int:
    if record.stopped:
        return INTERRUPTED
    if record.is_complete:
        return DONE
    return MISSING if any(host.counts for host in record.hosts) else FAILED
