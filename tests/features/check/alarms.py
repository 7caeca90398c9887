"""Faults that storage administrators are alarmed of, by who raises the alarm, and the rule that finds each or why none.

Written from the lists of events and states of the tools themselves. What the drives say of their own health has a table
of its own in docs/dev/vendor-settings.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.features.check.planted import C0_BBU, HBA, MD1, PLANTED, Plant


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """A fault, and what `check` makes of it."""

    source: str
    """The tool or daemon that raises it."""
    fault: str
    """What is wrong, in the words of the source."""
    rule: str = ""
    """Id of the rule that finds it; "" if it is missed."""
    where: str = ""
    """Where that rule reports it."""
    machine: str = ""
    """Where it is planted; "" if it cannot be."""
    plant: Plant = field(default_factory=Plant)
    missed: str = ""
    """Why no rule finds it, as a clause."""


def _planted(source: str, fault: str, rule: str) -> Alarm:
    """Return an alarm whose fault is the one that is planted for its rule anyway."""
    one = next(one for one in PLANTED if one.id == rule)
    return Alarm(source=source, fault=fault, rule=rule, where=one.where, machine=one.machine, plant=one.fault)


def _answered(source: str, fault: str, rule: str, where: str, machine: str, answer: tuple[str, str, str]) -> Alarm:
    plant = Plant(answers=(answer,))
    return Alarm(source=source, fault=fault, rule=rule, where=where, machine=machine, plant=plant)


def _read(source: str, fault: str, rule: str, where: str, machine: str, files: dict[str, str]) -> Alarm:
    return Alarm(source=source, fault=fault, rule=rule, where=where, machine=machine, plant=Plant(files=files))


def _missed(source: str, fault: str, why: str, machine: str = "", plant: Plant | None = None) -> Alarm:
    return Alarm(source=source, fault=fault, missed=why, machine=machine, plant=plant or Plant())


SAS = "/sys/devices/pci0000:00/0000:12:00.0/host1"
_LV = r'("lv_name":"NAME".*?"lv_health_status":")"'
_NVME_WARNINGS = {
    1: "available spare below threshold",
    2: "temperature beyond a threshold",
    4: "reliability degraded",
    8: "media read-only",
    16: "volatile memory backup failed",
    32: "persistent memory region unreliable",
}


def _volume(state: str) -> tuple[str, str, str]:
    return "/c0", r'("DG/VD": "[^"]*/1",\s*"TYPE": "[^"]*",\s*"State": )"Optl"', rf'\1"{state}"'


def _health(volume: str, word: str) -> tuple[str, str, str]:
    return "lvs", _LV.replace("NAME", volume), rf'\1{word}"'


ALARMS: tuple[Alarm, ...] = (
    # storcli, perccli: events of virtual drives, drives, the battery and the controller
    _answered("storcli", "VD partially degraded", "array-degraded", "megaraid:/c0/v1", "lsi", _volume("Pdgd")),
    _answered("storcli", "VD degraded", "array-degraded", "megaraid:/c0/v1", "lsi", _volume("Dgrd")),
    _answered("storcli", "VD offline", "array-degraded", "megaraid:/c0/v1", "lsi", _volume("OfLn")),
    _planted("storcli", "PD failed", "drive-failed"),
    _planted("storcli", "foreign configuration detected", "drive-foreign"),
    _planted("storcli", "battery failed", "battery-failed"),
    _planted("storcli", "battery needs replacement", "battery-replace"),
    _planted("storcli", "battery relearn in progress", "battery-learning"),
    _planted("storcli", "write-back switched to write-through", "policy-not-in-force"),
    _answered(
        "storcli",
        "battery temperature is high",
        "battery-hot",
        "megaraid:/c0",
        "lsi",
        (C0_BBU, r'("Temperature",\s*"Value": ")\d+', r"\g<1>63"),
    ),
    _answered(
        "storcli",
        "CacheVault at 78 °C",
        "battery-hot",
        "megaraid:/c1",
        "lsi",
        ("/c1/cv show all", r'("Temperature",\s*"Value": ")\d+', r"\g<1>78"),
    ),
    _answered(
        "storcli",
        "controller temperature threshold exceeded, 115 °C",
        "card-hot",
        "megaraid:/c1",
        "lsi",
        ("/c1 show all", r'("ROC temperature\(Degree Celsius\)": )\d+', r"\g<1>115"),
    ),
    _planted("storcli", "uncorrectable ECC error in controller memory", "card-memory-errors"),
    _missed(
        "storcli",
        "correctable ECC errors in controller memory",
        "the memory corrects them; the controller raises its own alarm for too many",
        "lsi",
        Plant(answers=(("/c0 show all", r'("Memory Correctable Errors": )0', r"\g<1>9"),)),
    ),
    _planted("storcli", "link speed of a drive dropped to 1.5 Gb/s", "drive-link-slow"),
    _answered(
        "storcli",
        "rebuild paused",
        "rebuild-paused",
        "megaraid:/c2/v0",
        "lsi",
        ("show rebuild", r'("Status": ?)"In progress"', r'\1"Paused"'),
    ),
    _planted("storcli", "rebuild rate takes more than half of the controller", "rebuild-rate-high"),
    _missed(
        "storcli", "enclosure fan, power supply or temperature sensor failed", "the check does not read enclosures"
    ),
    _missed(
        "storcli",
        "consistency check found inconsistent parity",
        "only the event log has it, and the check does not read that log",
    ),
    _missed(
        "storcli",
        "flash of the controller's firmware failed",
        "only the event log has it, and the check does not read that log",
    ),
    _missed(
        "storcli",
        "preserved cache, safe mode, reboot required",
        "they are shown as the state of the controller, not as findings",
    ),
    # MegaCli
    _answered(
        "MegaCli",
        "battery failed",
        "battery-failed",
        "megaraid:/c3",
        "lsi",
        ("-AdpBbuCmd", r"(Battery State *: *)Optimal", r"\1Failed"),
    ),
    _answered(
        "MegaCli",
        "VD degraded",
        "array-degraded",
        "megaraid:/c3/v0",
        "lsi",
        ("-L", r"(\nState *: )Optimal", r"\1Degraded"),
    ),
    _answered(
        "MegaCli",
        "uncorrectable ECC error in controller memory",
        "card-memory-errors",
        "megaraid:/c3",
        "lsi",
        (
            "-AdpAllInfo",
            r"(\n *Limitations *\n)",
            r"\n Error Counters\n ================\nMemory Uncorrectable Errors : 3 \n\1",
        ),
    ),
    _answered(
        "MegaCli",
        "link speed of a drive dropped to 1.5 Gb/s",
        "drive-link-slow",
        "megaraid:/c3/e28/s0",
        "lsi",
        ("-PDList", r"Device Speed: [^\n]+\nLink Speed: [^\n]+", "Device Speed: 3.0Gb/s\nLink Speed: 1.5Gb/s"),
    ),
    # ssacli, arcconf
    _answered(
        "ssacli",
        "logical drive in interim recovery mode",
        "array-degraded",
        "smartarray:/slot0/ld3",
        "hpe",
        ("show config detail", r"(Logical Drive: 3\n.*?\n +Status: )OK", r"\1Interim Recovery Mode"),
    ),
    _answered(
        "ssacli",
        "physical drive failed",
        "drive-failed",
        "smartarray:/slot0/1I:1:4",
        "hpe",
        ("show config detail", r"(physicaldrive 1I:1:4\n.*?Status: )OK", r"\1Failed"),
    ),
    _answered(
        "ssacli",
        "capacitor at 65 °C",
        "battery-hot",
        "smartarray:/slot0",
        "hpe",
        ("show config detail", r"(\n   Cache Status: OK\n)", r"\1   Capacitor Temperature  (C): 65\n"),
    ),
    _answered(
        "ssacli",
        "controller at 104 °C",
        "card-hot",
        "smartarray:/slot0",
        "hpe",
        ("show config detail", r"(\n   Cache Status: OK\n)", r"\1   Controller Temperature (C): 104\n"),
    ),
    _answered(
        "arcconf",
        "logical device degraded",
        "array-degraded",
        "smartarray:/aac1/ld0",
        "hpe",
        ("getconfig 1", r"(Status of Logical Device *: )Optimal", r"\1Degraded"),
    ),
    _answered(
        "arcconf",
        "controller over temperature",
        "card-hot",
        "smartarray:/aac1",
        "hpe",
        ("getconfig 1", r"(Temperature +: )\d+ C", r"\g<1>101 C"),
    ),
    # mdadm --monitor
    _planted("mdadm", "DegradedArray", "array-degraded"),
    _planted("mdadm", "Fail", "array-degraded"),
    _read("mdadm", "FailSpare", "md-member-errors", "md:md1", "linux", {f"{MD1}/dev-sdj/state": "faulty"}),
    _planted("mdadm", "RebuildStarted", "background-task"),
    _planted("mdadm", "RebuildFinished with mismatches", "array-mismatches"),
    _planted("mdadm", "rebuild frozen", "rebuild-paused"),
    _planted("mdadm", "array without a write-intent bitmap", "md-no-bitmap"),
    _planted("mdadm", "rebuild limited to 10 KB/s", "md-resync-slow"),
    _planted("mdadm", "bad blocks of a member", "md-member-errors"),
    _planted("mdadm", "array read-only", "array-read-only"),
    _read("mdadm", "array broken", "array-degraded", "md:md2", "linux", {"/sys/block/md2/md/array_state": "broken"}),
    _missed("mdadm", "DeviceDisappeared", "no list of expected arrays exists; `watch` reports missing arrays"),
    _missed("mdadm", "SparesMissing", "the number of spares is in mdadm.conf, which the check does not read"),
    # zed
    _answered(
        "zed",
        "pool degraded",
        "array-degraded",
        "zfs:tank",
        "linux",
        ("zpool status", r"(state: )ONLINE", r"\1DEGRADED"),
    ),
    _answered(
        "zed",
        "pool suspended",
        "array-degraded",
        "zfs:tank",
        "linux",
        ("zpool status", r"(state: )ONLINE", r"\1SUSPENDED"),
    ),
    _planted("zed", "checksum errors", "pool-errors"),
    _planted("zed", "permanent data errors", "pool-data-errors"),
    _planted("zed", "pool nearly full", "pool-filling"),
    _planted("zed", "sync=disabled", "sync-off"),
    _missed("zed", "scrub overdue", "the scrub interval is the administrator's choice"),
    _missed("zed", "I/O delayed (deadman)", "only the event log of ZFS has it, and the check does not read that log"),
    # dmeventd, lvm
    _planted("dmeventd", "physical volume missing", "group-incomplete"),
    _planted("dmeventd", "cache full of unwritten data", "cache-dirty"),
    _answered("dmeventd", "cache failed", "array-degraded", "lvm:vg0/mail", "linux", _health("mail", "failed")),
    _answered(
        "dmeventd",
        "cache metadata read-only",
        "array-degraded",
        "lvm:vg0/mail",
        "linux",
        _health("mail", "metadata_read_only"),
    ),
    _answered(
        "dmeventd",
        "cache failed, by the attributes of an older LVM",
        "array-degraded",
        "lvm:vg0/mail",
        "linux",
        ("lvs", r'("lv_name":"mail".*?"lv_attr":".{8}).', r"\1F"),
    ),
    _answered("dmeventd", "writecache error", "array-degraded", "lvm:vg0/db", "linux", _health("db", "error")),
    # multipathd
    _planted("multipathd", "path failed", "path-dead"),
    _planted("multipathd", "one path left", "one-path"),
    _read(
        "multipathd",
        "queue of four requests",
        "queue-tiny",
        "mpatha",
        "linux",
        {"/sys/block/dm-0/queue/nr_requests": "4"},
    ),
    _missed("multipathd", "path flaps", "only the log shows it; a single scan sees a path that is up or down"),
    # NVMe: critical warnings and states
    *(
        _answered(
            "nvme",
            words,
            "drive-warns",
            "nvme:nvme0n1",
            "nvme",
            ("smart-log", r"\A\{", f'{{"critical_warning": {bit}, '),
        )
        for bit, words in _NVME_WARNINGS.items()
    ),
    _planted("nvme", "controller dead", "nvme-down"),
    _planted("nvme", "queue of four requests", "queue-tiny"),
    _planted("nvme", "slower power state", "power-state"),
    # smartd and the kernel
    _read(
        "kernel",
        "SATA link limited to 1.5 Gb/s after errors",
        "drive-link-slow",
        "scsi:sdc",
        "linux",
        {
            "/sys/class/ata_link/link3/sata_spd": "1.5 Gbps",
            "/sys/class/ata_link/link3/hw_sata_spd_limit": "6.0 Gbps",
            "/sys/class/ata_link/link3/sata_spd_limit": "1.5 Gbps",
        },
    ),
    _read(
        "kernel",
        "SAS link slower than that of the same drive beside it",
        "drive-link-slow",
        "scsi:sdg",
        "linux",
        {
            f"{SAS}/port-1:0/phy-1:0/sas_phy/phy-1:0/negotiated_linkrate": "3.0 Gbit",
            f"{SAS}/port-1:0/phy-1:0/sas_phy/phy-1:0/maximum_linkrate_hw": "12.0 Gbit",
            f"{SAS}/port-1:1/phy-1:1/sas_phy/phy-1:1/negotiated_linkrate": "12.0 Gbit",
            f"{SAS}/port-1:1/phy-1:1/sas_phy/phy-1:1/maximum_linkrate_hw": "12.0 Gbit",
        },
    ),
    _planted("kernel", "ext4 has counted errors", "filesystem-errors"),
    _read(
        "kernel",
        "btrfs has counted errors",
        "filesystem-errors",
        "5d1e",
        "linux",
        {"/sys/fs/btrfs/5d1e/devinfo/1/error_stats": "write_errs 0\nread_errs 0\nflush_errs 0\ncorruption_errs 4\n"},
    ),
    _planted("kernel", "filesystem sends no flushes", "barriers-off"),
    _planted("kernel", "disk sends no flushes", "flushes-off"),
    _planted("kernel", "PCIe link narrowed", "pcie-link-slow"),
    _planted("kernel", "requests of 4 KiB", "requests-small"),
    _planted("kernel", "merging off on a hard disk", "merges-off"),
    _planted("kernel", "mixed firmware", "firmware-mixed"),
    _planted("kernel", "drive of 520 bytes a sector", "drive-unusable"),
    _missed("kernel", "I/O errors and resets in the log", "the check reads counters and states, not the log"),
    _missed(
        "kernel",
        "correctable PCIe errors (AER)",
        "a few are normal, and no source defines how many are too many",
        "linux",
        Plant(files={f"{HBA}/aer_dev_correctable": "TOTAL_ERR_COR 12"}),
    ),
    # fio-status
    _planted("fio-status", "write throttling", "write-throttled"),
)
"""All of them, by source."""
