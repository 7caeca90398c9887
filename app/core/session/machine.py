"""Facts about a machine, for headers and reports."""

from __future__ import annotations

from collections.abc import Mapping

from app.core.session.events import MachineFacts
from backends.host import Host
from backends.text import clean

_CPUINFO = "/proc/cpuinfo"
_MEMINFO = "/proc/meminfo"
_RELEASE = "/proc/sys/kernel/osrelease"
_SYSTEM = "/etc/os-release"
_BOOT = "/proc/sys/kernel/random/boot_id"
_COMMAND_LINE = "/proc/cmdline"
_MITIGATIONS = "/sys/devices/system/cpu/vulnerabilities/*"
"""Files about CPU vulnerabilities (Documentation/ABI/testing/sysfs-devices-system-cpu)."""


async def machine_facts(host: Host) -> MachineFacts:
    """Return the facts of a host. A fact that is not known is empty, 0 or None."""
    weaknesses = await host.list(_MITIGATIONS)
    files = await host.read_many((_CPUINFO, _MEMINFO, _RELEASE, _SYSTEM, _BOOT, _COMMAND_LINE, *weaknesses))
    cpu, cores = _cpu(files.get(_CPUINFO, ""))
    return MachineFacts(
        host=host.name,
        cpu=cpu,
        cores=cores,
        memory_bytes=_memory(files.get(_MEMINFO, "")),
        kernel=clean(files.get(_RELEASE, ""), 64),
        system=_system(files.get(_SYSTEM, "")),
        root=host.is_root,
        boot_id=clean(files.get(_BOOT, ""), 64) or None,
        command_line=clean(files.get(_COMMAND_LINE, ""), 2048) or None,
        mitigations={path.rpartition("/")[2]: clean(files[path], 256) for path in weaknesses if path in files},
    )


def provenance_of(machine: MachineFacts) -> Mapping[str, str]:
    """Return the known facts about a machine, by their keys in the provenance of a run."""
    texts = {
        "host": machine.host,
        "system": machine.system,
        "kernel": machine.kernel,
        "boot_id": machine.boot_id,
        "kernel_command_line": machine.command_line,
        "cpu": machine.cpu,
        "cores": str(machine.cores or ""),
        "memory_bytes": str(machine.memory_bytes or ""),
        **{f"mitigation_{name}": text for name, text in machine.mitigations.items()},
    }
    return {key: text for key, text in texts.items() if text}


def _cpu(text: str) -> tuple[str, int]:
    """Return the model name and the number of logical CPUs from /proc/cpuinfo.

    On ARM, only the line `Hardware` may name the model; on MIPS, only the line `cpu model`.
    """
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
        tokens = line.split()
        if tokens[:1] == ["MemTotal:"] and len(tokens) >= 2 and tokens[1].isdigit():
            return int(tokens[1]) * 1024
    return None


def _system(text: str) -> str:
    names = (line.partition("=")[2] for line in text.splitlines() if line.startswith("PRETTY_NAME="))
    return clean(next(names, "").strip('"'), 64)
