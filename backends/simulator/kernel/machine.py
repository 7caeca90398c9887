"""Kernel view of a simulated host: sysfs, procfs and the udev database."""

from __future__ import annotations

from backends.simulator.calibration import CORES
from backends.simulator.kernel.disks import mdstat, put_disks
from backends.simulator.kernel.functions import CHASSIS, put_functions
from backends.simulator.kernel.tree import SimulatedSysfs
from backends.simulator.md_array import SYSTEM
from backends.simulator.rack import Rack

_CPU = """processor\t: {number}
vendor_id\t: GenuineIntel
model name\t: {name} (simulated)
cpu MHz\t\t: {mhz}.000
"""


def build_sysfs(rack: Rack) -> SimulatedSysfs:
    """Return the kernel's files for the current state of the host."""
    sysfs = SimulatedSysfs()
    put_disks(sysfs, rack)
    put_functions(sysfs, rack)
    chassis = CHASSIS[rack.name]
    table = "\n".join(sysfs.mounts)
    sysfs.files |= {
        "/proc/self/mountinfo": table,
        "/proc/1/mountinfo": table,
        "/proc/1/comm": "systemd",
        "/proc/1/task/1/fd/0": "",
        "/proc/mdstat": mdstat(rack),
        "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority",
        "/proc/cpuinfo": "\n".join(
            _CPU.format(number=number, name=chassis.processor, mhz=chassis.mhz) for number in range(CORES)
        ),
        "/proc/meminfo": "MemTotal:       98955508 kB\nMemFree:        91238744 kB",
        "/proc/self/smaps": "KernelPageSize:        4 kB",
        "/proc/sys/kernel/osrelease": "6.1.0-18-amd64",
        "/proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 ro quiet",
        "/sys/devices/system/cpu/cpufreq/boost": "1",
        "/sys/devices/system/cpu/vulnerabilities/meltdown": "Mitigation: PTI",
        "/proc/sys/dev/raid/speed_limit_min": str(SYSTEM["sync_speed_min"]),
        "/proc/sys/dev/raid/speed_limit_max": str(SYSTEM["sync_speed_max"]),
        "/sys/devices/system/cpu/online": f"0-{CORES - 1}",
        "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm), simulated"',
    }
    sysfs.files |= rack.installed
    return sysfs


COUNTER_FOLDERS = ("/proc/spl/kstat/zfs/", "/sys/block/bcache")
"""Path prefixes of files with counters, which change while jobs run."""


def counter_files(rack: Rack) -> dict[str, str]:
    """Return the current texts of the files with counters."""
    files = {} if rack.zfs is None else rack.zfs.files(rack.arc_counts())
    for name, device in rack.bcache.items():
        texts = device.files(rack.cache_counts(name))
        files |= {f"/sys/block/{name}/bcache/{key}": text for key, text in texts.items()}
    return files
