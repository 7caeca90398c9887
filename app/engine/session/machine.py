"""The facts of a machine that belong into every header and report."""

from __future__ import annotations

from app.engine.session.events import MachineFacts
from backends.host import Host
from backends.text import clean

_CPUINFO = "/proc/cpuinfo"
_MEMINFO = "/proc/meminfo"
_RELEASE = "/proc/sys/kernel/osrelease"
_SYSTEM = "/etc/os-release"


async def machine_facts(host: Host) -> MachineFacts:
    """Read them; what a host does not tell is empty, 0 or None."""
    files = await host.read_many((_CPUINFO, _MEMINFO, _RELEASE, _SYSTEM))
    cpu, cores = _cpu(files.get(_CPUINFO, ""))
    return MachineFacts(
        host=host.name,
        cpu=cpu,
        cores=cores,
        memory_bytes=_memory(files.get(_MEMINFO, "")),
        kernel=clean(files.get(_RELEASE, ""), 64),
        system=_system(files.get(_SYSTEM, "")),
        root=host.is_root,
    )


def _cpu(text: str) -> tuple[str, int]:
    """Model name (`Hardware` or `CPU part` on ARM may be all there is) and the number of logical CPUs."""
    model = ""
    cores = 0
    for line in text.splitlines():
        key, _, value = line.partition(":")
        match key.strip():
            case "processor":
                cores += 1
            case "model name" | "Hardware" | "cpu model" if not model:
                model = clean(value, 64)
    return model or "unknown CPU", cores


def _memory(text: str) -> int | None:
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["MemTotal:"] and len(words) >= 2 and words[1].isdigit():
            return int(words[1]) * 1024
    return None


def _system(text: str) -> str:
    for line in text.splitlines():
        if line.startswith("PRETTY_NAME="):
            return clean(line.partition("=")[2].strip('"'), 64)
    return ""
