"""NVMe controllers and namespaces in sysfs, and their addresses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from backends.host import Host
from backends.model import Scope, Target
from backends.text import clean
from backends.topology import Node
from backends.topology.tree import natural, number, read_node
from backends.values import dataclass

# -- addresses of this backend: `nvme0` is a controller, `nvme0n1` a namespace ----------------------------------------

NAME = "nvme"
"""Prefix of this backend's targets."""

_CONTROLLER = re.compile(r"nvme\d{1,6}", re.ASCII)
_NAMESPACE = re.compile(r"nvme\d{1,6}n\d{1,10}", re.ASCII)
_PATH = re.compile(r"(nvme\d{1,6})c\d{1,6}(n\d{1,10})", re.ASCII)


def is_controller(address: str) -> bool:
    """Return whether the address is a controller's name, which is safe as part of a path."""
    return _CONTROLLER.fullmatch(address) is not None


def is_namespace(address: str) -> bool:
    """Return whether the address is the name of a namespace with a block device."""
    return _NAMESPACE.fullmatch(address) is not None


def head_of(entry: str) -> str | None:
    """Return the namespace to which an entry in a controller's folder belongs; None for other entries.

    `nvme0c1n1` is the hidden path of `nvme0n1` through one controller of a multipath subsystem
    (drivers/nvme/host/core.c, nvme_alloc_ns).
    """
    if is_namespace(entry):
        return entry
    path = _PATH.fullmatch(entry)
    return path[1] + path[2] if path is not None else None


def controller_target(name: str) -> Target:
    """Return the `Target` of the controller with this kernel name."""
    return Target(backend=NAME, address=name, scope=Scope.CONTROLLER)


def namespace_target(name: str) -> Target:
    """Return the `Target` of the namespace with this kernel name."""
    return Target(backend=NAME, address=name, scope=Scope.DRIVE)


# -- reader of sysfs, which needs neither a tool nor root -------------------------------------------------------------

_CLASS = "/sys/class/nvme"
_ATTRIBUTES = ("model", "serial", "firmware_rev", "transport", "state", "address", "cntlid", "subsysnqn", "dev")
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE | re.ASCII)

LIVE = "live"
"""State of a controller that responds (drivers/nvme/host/sysfs.c, nvme_sysfs_show_state)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelController:
    """One controller.

    The names of its namespaces may contain another number, because the kernel numbers them by subsystem.
    """

    name: str
    """`nvme0`; its node is `/dev/nvme0`."""
    model: str | None = None
    """Model name."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware revision."""
    transport: str | None = None
    """`pcie`, `tcp`, `rdma`, `fc`, `loop`."""
    state: str | None = None
    """`live`, `resetting`, `connecting`, `dead` ..."""
    pci: str | None = None
    """PCI address; None for another transport."""
    place: str | None = None
    """PCI or network address."""
    subsystem: str | None = None
    """NQN of its subsystem, whose controllers share namespaces."""
    devno: str | None = None
    """MAJ:MIN of its node."""
    heads: tuple[str, ...] = ()
    """Block device names of its namespaces."""

    @property
    def device(self) -> str:
        """Return its character device."""
        return f"/dev/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelNamespace:
    """One namespace with a block device."""

    node: Node
    """The block device."""
    nsid: int | None
    """Namespace ID in the subsystem."""
    logical_block: int | None
    """Logical block size in bytes that the kernel uses; None if unknown."""
    physical_block: int | None
    """Physical block size in bytes."""
    write_cache: str | None
    """Cache mode that the kernel assumes: `write back`, `write through`."""
    controllers: tuple[KernelController, ...]
    """Controllers through which the namespace can be reached, sorted by number."""

    @property
    def name(self) -> str:
        """Return the kernel name, `nvme0n1`."""
        return self.node.name

    @property
    def device(self) -> str:
        """Return the node, `/dev/nvme0n1`."""
        return self.node.device

    @property
    def controller(self) -> KernelController:
        """Return the controller to query: the first live one, or else the first."""
        return next((controller for controller in self.controllers if controller.state == LIVE), self.controllers[0])


async def read_controllers(host: Host) -> tuple[KernelController, ...]:
    """Return all controllers, sorted by number."""
    folders, inner = await asyncio.gather(host.list(f"{_CLASS}/nvme*"), host.list(f"{_CLASS}/nvme*/nvme*n*"))
    names = [name for folder in folders if is_controller(name := folder.rsplit("/", 1)[1])]
    texts = await host.read_many([f"{_CLASS}/{name}/{attribute}" for name in names for attribute in _ATTRIBUTES])
    heads: dict[str, list[str]] = {}
    # The folder determines the controller, not the name: nvme1n1 may belong to another controller than nvme1, because
    # native multipath numbers namespaces by subsystem.
    for path in inner:
        owner, entry = path.split("/")[-2:]
        if head := head_of(entry):
            heads.setdefault(owner, []).append(head)
    controllers = (_controller(name, texts, heads.get(name, [])) for name in names)
    return tuple(sorted(controllers, key=lambda controller: natural(controller.name)))


async def read_namespaces(host: Host, controllers: tuple[KernelController, ...]) -> tuple[KernelNamespace, ...]:
    """Return all namespaces of these controllers that have a block device, each once."""
    names = sorted({head for controller in controllers for head in controller.heads}, key=natural)
    namespaces = await asyncio.gather(*(_namespace(host, name, controllers) for name in names))
    return tuple(namespace for namespace in namespaces if namespace is not None)


async def read_celsius(host: Host, controllers: tuple[KernelController, ...]) -> Mapping[str, int]:
    """Return temperatures in degrees Celsius by controller name, if the kernel reports them (hwmon, Linux >= 5.5)."""
    path_lists = await asyncio.gather(
        host.list(f"{_CLASS}/nvme*/hwmon*/temp1_input"), host.list(f"{_CLASS}/nvme*/device/hwmon/hwmon*/temp1_input")
    )
    # The files are below the controller or its PCI device, depending on the kernel version.
    owners = {path: path.split("/")[4] for paths_of_pattern in path_lists for path in paths_of_pattern}
    names = {controller.name for controller in controllers}
    texts = await host.read_many([path for path, owner in owners.items() if owner in names])
    thousandths = {owners[path]: number(text) for path, text in texts.items()}
    return {owner: round(count / 1000) for owner, count in thousandths.items() if count is not None}


async def _namespace(host: Host, name: str, controllers: tuple[KernelController, ...]) -> KernelNamespace | None:
    leading = tuple(controller for controller in controllers if name in controller.heads)
    base = f"/sys/block/{name}"
    files = ("nsid", "queue/logical_block_size", "queue/physical_block_size", "queue/write_cache")
    node, texts = await asyncio.gather(read_node(host, name), host.read_many([f"{base}/{file}" for file in files]))
    if node is None or not leading:
        return None
    return KernelNamespace(
        node=node,
        nsid=number(texts.get(f"{base}/nsid")),
        logical_block=number(texts.get(f"{base}/queue/logical_block_size")),
        physical_block=number(texts.get(f"{base}/queue/physical_block_size")),
        write_cache=texts.get(f"{base}/queue/write_cache"),
        controllers=leading,
    )


def _controller(name: str, texts: Mapping[str, str], heads: list[str]) -> KernelController:
    def attribute_text(attribute: str) -> str | None:
        return clean(texts.get(f"{_CLASS}/{name}/{attribute}", ""), 256) or None

    transport, address = attribute_text("transport"), attribute_text("address")
    on_bus = transport == "pcie" and address is not None and _PCI.fullmatch(address) is not None
    return KernelController(
        name=name,
        model=attribute_text("model"),
        serial=attribute_text("serial"),
        firmware=attribute_text("firmware_rev"),
        transport=transport,
        state=attribute_text("state"),
        pci=address if on_bus else None,
        place=address,
        subsystem=attribute_text("subsysnqn"),
        devno=attribute_text("dev"),
        heads=tuple(sorted(set(heads), key=natural)),
    )
