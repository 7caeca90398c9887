"""DRBD: disks that other hosts have a copy of. Shown with the disk below and the state of the copies, nothing is set.

DRBD 8.4 tells its states in /proc/drbd, DRBD 9 by `drbdsetup status --json`; the names of resources come from
`drbdsetup show`, the disk below from there or from sysfs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from backends.errors import RaidbenchError
from backends.host import STALL, Command
from backends.json_text import document, rows, whole_number, word
from backends.model import Array, Fact, Inventory, Level, Problem, Scope, State, Target, Task
from backends.protocol import Vendor, present_if_found
from backends.text import clean
from backends.topology import Node, Topology, scan_topology
from backends.topology.device_identity import identity
from backends.topology.replicas import MAJOR, Replica, is_replica, read_replicas
from backends.values import dataclass
from backends.vendors._read_only import ListingBackend

NAME = "drbd"
"""The prefix of this backend's targets."""

STATUS = ("drbdsetup", "status", "--json")
"""States of DRBD 9."""

_PROC = "/proc/drbd"
"""States of DRBD 8.4; of DRBD 9 its version alone."""

_ROW = re.compile(
    r" {0,3}(\d{1,7}): cs:(\S{1,40})(?: ro:([^/\s]{1,40})/(\S{1,40}) ds:([^/\s]{1,40})/(\S{1,40}))?(.*)", re.ASCII
)
_DONE = re.compile(r"sync'ed: {0,3}(\d{1,3}\.\d)%|(?:verified|done): {0,3}(\d{1,3}\.\d)%", re.ASCII)

_TASKS = {
    "SyncSource": "resync",
    "SyncTarget": "resync",
    "Ahead": "resync",
    "Behind": "resync",
    "VerifyS": "consistency-check",
    "VerifyT": "consistency-check",
}
"""By state of the replication (drbdsetup(8), Replication states): what is under way."""

_CONNECTED = ("Connected", "Established", "Off", *_TASKS, "PausedSyncS", "PausedSyncT", "WFBitMapS", "WFBitMapT")
"""States of a connection, or of what goes over it, in which the other host is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What another host has."""

    name: str = ""
    """Its name; "" where that is not told."""
    connection: str = ""
    """State of the connection to it: `Connected`, `StandAlone`, ..."""
    disk: str = ""
    """State of its copy: `UpToDate`, `Outdated`, ..."""
    replication: str = ""
    """What goes over the connection: `Established`, `SyncSource`, ..."""
    progress: float | None = None
    """How much of that is done, 0..1; None where it is not told."""
    diskless: bool = False
    """It has no copy, as was meant."""

    @property
    def is_away(self) -> bool:
        """Return whether nothing reaches it."""
        return self.connection not in _CONNECTED

    @property
    def summary(self) -> str:
        """`bob: Connected, UpToDate`."""
        states = dict.fromkeys(filter(None, (self.connection, self.replication, self.disk)))
        return f"{self.name}: {', '.join(states)}".removeprefix(": ")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """How a device is."""

    role: str = ""
    """`Primary`, `Secondary`."""
    disk: str = ""
    """State of the copy here."""
    diskless: bool = False
    """It has no copy here, as was meant."""
    suspended: bool = False
    """All I/O waits."""
    quorum: bool = True
    """Whether enough of the hosts are there."""
    peers: tuple[Peer, ...] = ()
    """The other hosts."""

    @property
    def state(self) -> tuple[State, str]:
        """Return the state of the device, and why it is not in order."""
        if self.suspended or not self.quorum:
            return State.FAILED, "all I/O waits" if self.suspended else "too few of the hosts are there (quorum)"
        if self.disk in ("Failed", "Detaching"):
            return State.FAILED, "the disk below has failed"
        if self.disk == "Diskless" and not self.diskless:
            return State.DEGRADED, "it has lost the disk below: all I/O goes to another host"
        if self.disk in ("Inconsistent", "Outdated", "Consistent"):
            syncing = any(peer.replication == "SyncTarget" for peer in self.peers)
            return (State.REBUILDING if syncing else State.DEGRADED), f"the copy here is {self.disk.lower()}"
        away = [peer for peer in self.peers if peer.is_away]
        if away:
            return State.DEGRADED, ", ".join(f"{peer.name or 'the other host'} is {peer.connection}" for peer in away)
        stale = [peer for peer in self.peers if not peer.diskless and peer.disk not in ("UpToDate", "")]
        if stale:
            syncing = all(peer.replication == "SyncSource" for peer in stale)
            return (State.REBUILDING if syncing else State.DEGRADED), ", ".join(
                f"the copy of {peer.name or 'the other host'} is {peer.disk}" for peer in stale
            )
        return (State.OPTIMAL if self.disk in ("UpToDate", "Diskless") else State.UNKNOWN), ""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return what is under way with each of the other hosts."""
        return tuple(
            Task(kind=_TASKS[peer.replication], progress=peer.progress)
            for peer in self.peers
            if peer.replication in _TASKS
        )


def parse_proc(text: str) -> dict[int, ReplicaState]:
    """Return the states that /proc/drbd of DRBD 8.4 tells, by minor number."""
    by_minor: dict[int, ReplicaState] = {}
    minor = -1
    for line in text.split("\n")[:20_000]:
        if row := _ROW.fullmatch(line[:400]):
            minor = int(row[1])
            if row[2] != "Unconfigured":
                by_minor[minor] = _old_state(row)
        elif minor in by_minor and (done := _DONE.search(line[:400])):
            share = min(round(float(done[1] or done[2]) / 100, 6), 1.0)
            peers = tuple(replace(peer, progress=share) for peer in by_minor[minor].peers)
            by_minor[minor] = replace(by_minor[minor], peers=peers)
    return by_minor


def _old_state(row: re.Match[str]) -> ReplicaState:
    lines = [clean(row[at] or "", 40) for at in range(2, 7)]
    flags = (row[7] or "").split()
    peer = Peer(connection=lines[0], replication=lines[0] if lines[0] in _TASKS else "", disk=lines[4])
    suspended = bool(flags) and flags[-1].startswith("s")  # `C r-----`: protocol and flags of I/O, `s` where it waits
    return ReplicaState(role=lines[1], disk=lines[3], suspended=suspended, peers=(peer,))


def parse_status(text: str) -> dict[int, ReplicaState]:
    """Return the states that `drbdsetup status --json` tells, by minor number."""
    by_minor: dict[int, ReplicaState] = {}
    for resource in rows(document(text, "[")):
        links = [_peers(link) for link in rows(resource.get("connections"))]
        for device in rows(resource.get("devices")):
            minor, volume = whole_number(device.get("minor")), whole_number(device.get("volume"))
            if minor is None or volume is None:
                continue
            by_minor[minor] = ReplicaState(
                role=word(resource.get("role"), 40) or "",
                disk=word(device.get("disk-state"), 40) or "",
                diskless=device.get("client") is True,
                suspended=resource.get("suspended") is True,
                quorum=device.get("quorum") is not False,
                peers=tuple(link[volume] for link in links if volume in link),
            )
    return by_minor


def _peers(link: Mapping[str, object]) -> dict[int, Peer]:
    """Return what a connection tells, by volume."""
    peers: dict[int, Peer] = {}
    for device in rows(link.get("peer_devices")):
        percent = device.get("percent-in-sync", device.get("done"))
        volume = whole_number(device.get("volume"))
        is_number = isinstance(percent, int | float) and not isinstance(percent, bool) and 0 <= percent <= 100
        if volume is not None:
            peers[volume] = Peer(
                name=word(link.get("name"), 80) or "",
                connection=word(link.get("connection-state"), 40) or "",
                disk=word(device.get("peer-disk-state"), 40) or "",
                replication=word(device.get("replication-state"), 40) or "",
                progress=round(float(percent) / 100, 6) if is_number and isinstance(percent, int | float) else None,
                diskless=device.get("peer-client") is True,
            )
    return peers


class Drbd(ListingBackend):
    """Every device of DRBD of one host."""

    async def inventory(self) -> Inventory:
        """Return the devices by their kernel names; one that is not configured has no size and is left out."""
        picture = await scan_topology(self._host)
        nodes = [node for node in picture.tree.nodes.values() if is_replica(node) and node.size_bytes]
        if not nodes:
            return Inventory()
        listed, states = await asyncio.gather(read_replicas(self._host), self._states())
        replicas = {replica.minor: replica for replica in listed or ()}
        nodes.sort(key=lambda node: _minor(node))
        arrays = [_array(node, replicas.get(_minor(node)), states.get(_minor(node)), picture) for node in nodes]
        return Inventory(arrays=tuple(arrays), problems=_problems(nodes, states))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return what is missing: without drbdsetup no state of DRBD 9 is known."""
        if not await self._host.list("/sys/block/drbd*") or self._host.which(STATUS[:1]) is not None:
            return ()
        return (
            Problem(
                where=NAME,
                message="Without drbdsetup the resources of DRBD and the state of their copies are not known.",
                hint="Install drbd-utils.",
            ),
        )

    async def _states(self) -> Mapping[int, ReplicaState]:
        old = parse_proc(await self._host.read(_PROC) or "")
        tool = self._host.which(STATUS[:1])
        if old or tool is None:
            return old
        try:
            done = await self._host.run(Command(argv=(tool, *STATUS[1:]), timeout=5, stall=STALL))
        except RaidbenchError:
            return {}
        return parse_status(done.stdout) if done.returncode == 0 and not done.truncated else {}


def _minor(node: Node) -> int:
    major, _, minor = (node.devno or "").partition(":")
    return int(minor) if major == MAJOR and minor.isdigit() else int(node.name.removeprefix("drbd"))


def _problems(nodes: Sequence[Node], states: Mapping[int, ReplicaState]) -> tuple[Problem, ...]:
    silent = [node.device for node in nodes if _minor(node) not in states]
    if not silent:
        return ()
    message = f"Whether the copies of {', '.join(silent)} are well is not known: DRBD does not tell."
    return (Problem(where=NAME, message=message, hint="Run `drbdsetup status --json` as root."),)


def _array(node: Node, replica: Replica | None, replica_state: ReplicaState | None, picture: Topology) -> Array:
    state, why = replica_state.state if replica_state is not None else (State.UNKNOWN, "")
    lines = _lines(node, replica, replica_state)
    return Array(
        target=Target(backend=NAME, address=node.name, scope=Scope.ARRAY),
        name=None if replica is None else clean(f"{replica.resource}/{replica.volume}", 140),
        level=Level.REPLICATED,
        state=state,
        why=why,
        size_bytes=node.size_bytes,
        device=node.device,
        members=tuple(dict.fromkeys(_members(node, picture))),
        identity=identity(node),
        uses=picture.uses(node.name),
        above=picture.above(node.name),
        tasks=replica_state.tasks if replica_state is not None else (),
        facts=tuple(Fact(label=label, value=clean(value, 200)) for label, value in lines if value),
    )


def _members(node: Node, picture: Topology) -> Iterator[Target]:
    for name in node.slaves:
        yield Target(backend="block", address=picture.tree.disk_of(name))


def _lines(node: Node, replica: Replica | None, replica_state: ReplicaState | None) -> Iterator[tuple[str, str]]:
    if replica is not None:
        yield "Resource", f"{replica.resource}, volume {replica.volume}"
        yield "Metadata on", replica.meta or ("" if replica.disk is None else "the same disk")
    yield (
        "On",
        ", ".join(f"/dev/{name.replace('!', '/')}" for name in node.slaves) or _absence_text(replica, replica_state),
    )
    if replica_state is not None:
        yield "Role", replica_state.role
        yield "Copy here", replica_state.disk
        for peer in replica_state.peers:
            yield "Copy elsewhere", peer.summary


def _absence_text(replica: Replica | None, replica_state: ReplicaState | None) -> str:
    diskless = (replica is not None and replica.disk is None) or (
        replica_state is not None and replica_state.disk == "Diskless"
    )
    return "no disk of this host" if diskless else "not known"


VENDOR = Vendor(name=NAME, backend=Drbd, present=present_if_found("/sys/block/drbd*"))
"""Found by the registry."""
