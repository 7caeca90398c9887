"""Storage that the guest serves to itself: kernel targets, and the disks that come of importing what they export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.lab.disks import BLOCK, wait_until
from tests.lab.running import run

NVMET = Path("/sys/kernel/config/nvmet")
TARGET = Path("/sys/kernel/config/target")
PORT = 4420
"""TCP port of the NVMe target."""


@contextmanager
def nvme_export(path: str, *, enabled: bool = True, name: str = "lab") -> Iterator[Path]:
    """A subsystem of the NVMe target with one namespace on a device or file."""
    run("modprobe", "nvmet")
    subsystem = NVMET / "subsystems" / name
    namespace = subsystem / "namespaces/1"
    subsystem.mkdir()
    namespace.mkdir()
    try:
        (subsystem / "attr_allow_any_host").write_text("1")
        (namespace / "device_path").write_text(path)
        if enabled:
            (namespace / "enable").write_text("1")
        yield subsystem
    finally:
        namespace.rmdir()
        subsystem.rmdir()


@contextmanager
def nvme_import(subsystem: Path) -> Iterator[str]:
    """The disk that the guest has of an exported subsystem, over TCP to itself."""
    run("modprobe", "-a", "nvmet-tcp", "nvme-tcp")
    port = NVMET / "ports/1"
    port.mkdir()
    link = port / "subsystems" / subsystem.name
    words = {"addr_trtype": "tcp", "addr_adrfam": "ipv4", "addr_traddr": "127.0.0.1", "addr_trsvcid": str(PORT)}
    try:
        for key, word in words.items():
            (port / key).write_text(word)
        link.symlink_to(subsystem)
        with new_disk("nvme[0-9]*n[0-9]*") as come:
            Path("/dev/nvme-fabrics").write_text(f"transport=tcp,traddr=127.0.0.1,trsvcid={PORT},nqn={subsystem.name}")
            yield come()
    finally:
        for controller in Path("/sys/class/nvme").glob("nvme*"):
            if (controller / "subsysnqn").read_text().strip() == subsystem.name:
                (controller / "delete_controller").write_text("1")
        with suppress(FileNotFoundError):
            link.unlink()
        port.rmdir()


@contextmanager
def scsi_backstore(kind: str, control: str, *, serial: str = "", name: str = "lab") -> Iterator[Path]:
    """A backstore of the SCSI target: `fileio`, `iblock`, `rd_mcp`."""
    run("modprobe", "-a", "target_core_mod", "target_core_file", "target_core_iblock")
    core = TARGET / "core" / f"{kind}_7"
    backstore = core / name
    backstore.mkdir(parents=True)
    try:
        (backstore / "control").write_text(control)
        if serial:
            (backstore / "wwn/vpd_unit_serial").write_text(serial)
        (backstore / "enable").write_text("1")
        yield backstore
    finally:
        backstore.rmdir()
        core.rmdir()


@contextmanager
def scsi_import(backstore: Path) -> Iterator[str]:
    """The disk that the guest has of a backstore, by the target's loopback adapter."""
    run("modprobe", "tcm_loop")
    target = TARGET / "loopback/naa.6001405000000001"
    group = target / "tpgt_1"
    group.mkdir(parents=True)
    unit = group / "lun/lun_0"
    link = unit / "lab"
    try:
        (group / "nexus").write_text("naa.6001405000000002")
        with new_disk("sd*") as come:
            unit.mkdir()
            link.symlink_to(backstore)
            yield come()
    finally:
        with suppress(FileNotFoundError):
            link.unlink()
        with suppress(FileNotFoundError):
            unit.rmdir()
        group.rmdir()
        target.rmdir()


class NewDisk:
    """A disk that was not there before."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._before = {path.name for path in BLOCK.iterdir()}

    def __call__(self) -> str:
        """Its node, once it is ready."""
        wait_until(lambda: bool(self.ready()), "the imported disk is there")
        return self.ready()[0]

    def ready(self) -> list[str]:
        """Nodes of all that came and have a size."""
        names = [path.name for path in BLOCK.glob(self._pattern) if path.name not in self._before]
        visible = [name for name in names if Path("/dev", name).is_block_device()]
        return [f"/dev/{name}" for name in visible if int((BLOCK / name / "size").read_text())]


@contextmanager
def new_disk(pattern: str) -> Iterator[NewDisk]:
    """What becomes of a disk that is about to come; afterwards it is gone or stays, as its maker likes."""
    yield NewDisk(pattern)
