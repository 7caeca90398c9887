"""Checks of fio: is it installed and new enough, and does the kernel support its engines?

Each host and engine is checked once.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Mapping
from dataclasses import field, replace

from app.core.distro_packages import install_hint
from app.core.fio.error_messages import Diagnosis, diagnose, engine_refusal
from app.core.fio.job import Job
from app.core.fio.job_problems import RING_OPTIONS
from app.core.fio.job_values import Engine, SyncMode
from app.core.fio.jobfile_options import FIO_ALIASES
from app.core.fio.option_table import SHIPPED, OptionTable, listed_names
from app.core.fio.stream import FioJsonDocument, NonJsonLine, StreamParser
from backends.errors import RefusedError, ToolFailedError, ToolMissingError
from backends.host import Command, Host
from backends.text import clean, clean_lines
from backends.values import dataclass

MINIMUM = (3, 18)
"""Since 3.18 fio reports how many latencies it timed (`N`), which distinguishes failed I/Os from completed ones."""

_ELSEWHERE = (
    "If your distribution's fio is too old as well, build a static fio with `make package-fio` and "
    "install it in /usr/local/bin."
)
_FALLBACK = (Engine.IO_URING, Engine.LIBAIO, Engine.PSYNC)
_TRIED = (Engine.IO_URING, Engine.LIBAIO)
"""Engines that a kernel may refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """Capabilities of the fio on a host."""

    path: str
    """Absolute path of fio."""
    version: str
    """Version as fio prints it: `fio-3.33`."""
    engines: frozenset[str]
    """Engines that `--enghelp` lists."""
    refused: Mapping[Engine, Diagnosis] = field(default_factory=dict)
    """Engines that failed a test run, each with the reason and the engine to use instead."""
    tried: frozenset[Engine] = frozenset()
    """Engines that raidbench tried in a test run."""

    def substitute(self, job: Job) -> tuple[Job, tuple[str, ...]]:
        """Return the job with an engine that works here, and a sentence if the engine was replaced.

        io_uring falls back to libaio, and libaio to psync; with psync a queue depth has no effect. Raises RefusedError
        if the job has options that only the missing engine supports.
        """
        engine = job.ioengine
        if self._works(engine):
            return job, ()
        why = self.refused[engine].reason if engine in self.refused else f"This fio has no engine {engine}"
        if wanted := [key for key in (*RING_OPTIONS, "hipri") if getattr(job, key) is not None]:
            raise RefusedError(
                f"{why}, and {', '.join(wanted)} need it.",
                hint=("To measure with another engine, leave these options out."),
            )
        later = _FALLBACK[_FALLBACK.index(engine) + 1 :] if engine in _FALLBACK else _FALLBACK[1:]
        instead = next((other for other in later if self._works(other)), Engine.PSYNC)
        sentence = f"{why}; {instead} is used instead"
        if not instead.keeps_a_queue and job.iodepth > 1:
            sentence += f", with one I/O in flight per job, so queue depth {job.iodepth} has no effect"
        return replace(job, ioengine=instead), (sentence,)

    def untried(self, job: Job | None) -> Engine | None:
        """Return the next engine to try for `job`, or for any job if `job` is None; return None if all were tried."""
        wanted = _TRIED if job is None else (self.substitute(job)[0].ioengine,)
        return next(
            (engine for engine in wanted if engine in _TRIED and engine in self.engines and engine not in self.tried),
            None,
        )

    def _works(self, engine: Engine) -> bool:
        return engine not in self.refused and (not self.engines or engine in self.engines)


_preflights: weakref.WeakKeyDictionary[Host, Preflight] = weakref.WeakKeyDictionary()


def find_fio(host: Host) -> str:
    """Return the absolute path of fio. Raises ToolMissingError, which says what to install, if there is none."""
    path = host.which(("fio",))
    if path is None:
        raise ToolMissingError(
            "fio is not installed, but raidbench needs it to measure", hint=install_hint(host, "fio")
        )
    return path


async def preflight(host: Host, job: Job | None = None) -> Preflight:
    """Return the capabilities of the fio on this host.

    Tries every engine, or only the engine of `job` and its replacements. Each engine is tried once, which takes a
    quarter of a second. Raises ToolMissingError if fio is missing or too old, and ToolFailedError if it does not report
    its version.
    """
    ready = await identify_fio(host)
    if job is not None and job.sync is SyncMode.DSYNC:
        await _require_dsync(host, ready)
    while (engine := ready.untried(job)) is not None:
        refusal = await _try(host, ready.path, engine)
        refused = ready.refused if refusal is None else {**ready.refused, engine: refusal}
        ready = replace(ready, refused=refused, tried=ready.tried | {engine})
    with contextlib.suppress(TypeError):
        _preflights[host] = ready
    return ready


async def identify_fio(host: Host) -> Preflight:
    """Return fio's path, version and engines, without trying an engine. Raises ToolMissingError, ToolFailedError."""
    try:
        return _preflights.get(host) or await _identify(host)
    except TypeError:  # this kind of host does not support weak references
        return await _identify(host)


async def option_table(host: Host) -> OptionTable:
    """Return the options of the installed fio, or those of all versions if none is installed or it lists none."""
    try:
        ready = await identify_fio(host)
    except (ToolMissingError, ToolFailedError):
        return SHIPPED
    table = _tables.get((ready.path, ready.version))
    if table is not None:
        return table
    help_options = ("--cmdhelp=all", *(f"--enghelp={engine}" for engine in Engine if engine in ready.engines))
    helps = [(await host.run(Command(argv=(ready.path, option), timeout=20))).stdout for option in help_options]
    # The help does not list aliases, but no version of fio has changed them.
    listed = listed_names(helps)
    names = listed | {alias for alias, name in FIO_ALIASES.items() if name in listed}
    if "rw" not in names:
        return SHIPPED
    table = OptionTable(version=ready.version, names=names | _HIDDEN, installed=True)
    _tables[ready.path, ready.version] = table
    return table


_tables: dict[tuple[str, str], OptionTable] = {}
"""Option tables by path and version of fio."""

_HIDDEN = frozenset(("iomem_align", "verify_async_cpus"))
"""Options that fio accepts but does not list in its help."""


async def _identify(host: Host) -> Preflight:
    path = find_fio(host)
    version = await _version(host, path)
    listed = await host.run(Command(argv=(path, "--enghelp"), timeout=20))
    engines = frozenset(re.findall(r"^\s+(\w+)\s*$", listed.stdout, re.MULTILINE))
    return Preflight(path=path, version=version, engines=engines)


async def _version(host: Host, path: str) -> str:
    result = await host.run(Command(argv=(path, "--version"), timeout=20))
    match = re.search(r"fio-(\d+)\.(\d+)\S*", result.stdout)
    if match is None:
        raise ToolFailedError(
            f"{clean(path)} is not fio (unexpected --version output)",
            hint="Another program of that name may come first in PATH.",
            evidence=clean_lines(result.stdout + result.stderr),
        )
    if (int(match[1]), int(match[2])) < MINIMUM:
        raise ToolMissingError(
            (
                f"{match[0]} is too old: raidbench needs fio {MINIMUM[0]}.{MINIMUM[1]} or newer, which reports "
                "failed I/Os separately"
            ),
            hint=f"{install_hint(host, 'fio')}. {_ELSEWHERE}",
        )
    return match[0]


async def _require_dsync(host: Host, ready: Preflight) -> None:
    """Raise ToolMissingError if fio's help lists only O_SYNC for synchronous writes, not O_DSYNC.

    Older versions list no values and are accepted.
    """
    answer = await host.run(Command(argv=(ready.path, "--cmdhelp=sync"), timeout=20))
    if "sync" in answer.stdout and "dsync" not in answer.stdout:
        raise ToolMissingError(
            f"{ready.version} does not support sync=dsync.",
            hint=(f"Use sync=sync, or install a newer fio. {install_hint(host, 'fio')}"),
        )


async def _try(host: Host, path: str, engine: Engine) -> Diagnosis | None:
    """Try an engine: read 64 KiB of a file that fio creates in a private folder. Return the failure, or None."""
    options = (
        f"--output-format=json --eta=never --thread --name=probe --filename=probe --ioengine={engine}"
        " --rw=read --bs=4k --size=64k --iodepth=4"
    )
    result = await host.run(Command(argv=(path, *options.split()), timeout=20))
    parser = StreamParser()
    events = [*parser.feed(result.stdout.encode()), *parser.close()]
    lines = [event.line for event in events if isinstance(event, NonJsonLine)] + result.stderr.splitlines()
    refusal = engine_refusal(lines)
    if refusal is not None:
        return refusal
    if result.returncode == 0 and any(isinstance(event, FioJsonDocument) for event in events):
        return None
    diagnosis = diagnose(lines)
    return Diagnosis(f"{engine} failed in a test run" + (f": {diagnosis.reason}" if diagnosis else ""))
