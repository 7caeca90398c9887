"""DRBD: disks with replicas on other hosts, listed with the local disk below and the replicas' states; no settings.

DRBD 8.4 reports its states in /proc/drbd, DRBD 9 in `drbdsetup status --json`. Resource names come from `drbdsetup
show`. The local disk comes from there or from sysfs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from backends.errors import RaidbenchError
from backends.host import STALL, Command
from backends.json_text import document, rows, whole_number, word
from backends.model import IO_SUSPENDED, Array, Fact, Inventory, Level, Problem, Scope, State, Target, Task
from backends.protocol import Vendor, present_if_found
from backends.reported_words import plain_words, reported_text, word_text
from backends.text import clean
from backends.topology import Node, Topology, node_path, scan_topology
from backends.topology.device_identity import identity
from backends.topology.replicas import MAJOR, Replica, is_replica, read_replicas
from backends.values import dataclass
from backends.vendors._read_only import ListingBackend

NAME = "drbd"
"""Prefix of this backend's targets."""

STATUS = ("drbdsetup", "status", "--json")
"""Command that reports the states of DRBD 9."""

_PROC = "/proc/drbd"
"""File with the states of DRBD 8.4. With DRBD 9 it only contains the version."""

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
"""Kind of task by replication state (drbdsetup(8), Replication states)."""

_CONNECTED = ("Connected", "Established", "Off", *_TASKS, "PausedSyncS", "PausedSyncT", "WFBitMapS", "WFBitMapT")
"""Connection and replication states in which the other host is connected."""


def _copy_text(disk: str) -> str:
    return reported_text("" if disk == "DUnknown" else plain_words(disk), disk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The replica on another host."""

    name: str = ""
    """Host name; "" if it is not reported."""
    connection: str = ""
    """Connection state: `Connected`, `StandAlone`, ..."""
    disk: str = ""
    """State of its replica: `UpToDate`, `Outdated`, ..."""
    replication: str = ""
    """Replication state: `Established`, `SyncSource`, ..."""
    progress: float | None = None
    """Progress of the task, 0..1; None if it is not reported."""
    diskless: bool = False
    """Whether that host intentionally has no replica."""

    @property
    def summary(self) -> str:
        """Return a string such as `bob: Connected, UpToDate`."""
        states = dict.fromkeys(filter(None, (self.connection, self.replication, self.disk)))
        return f"{self.name}: {', '.join(states)}".removeprefix(": ")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """State of a DRBD device."""

    role: str = ""
    """`Primary`, `Secondary`."""
    disk: str = ""
    """State of the local replica."""
    diskless: bool = False
    """Whether this host intentionally has no replica."""
    suspended: bool = False
    """Whether I/O is suspended."""
    quorum: bool = True
    """Whether enough hosts are connected to serve I/O."""
    peers: tuple[Peer, ...] = ()
    """Replicas on other hosts."""

    @property
    def state(self) -> tuple[State, str]:
        """Return the state of the device, and the reason if it is failed, degraded or rebuilding, or ""."""
        if self.suspended or not self.quorum:
            return State.FAILED, IO_SUSPENDED if self.suspended else "too few hosts are connected (no quorum)"
        if self.disk in ("Failed", "Detaching"):
            return State.FAILED, "the local disk has failed"
        if self.disk == "Diskless" and not self.diskless:
            return State.DEGRADED, "it has lost its local disk, so all I/O goes to another host"
        if self.disk in ("Inconsistent", "Outdated", "Consistent"):
            syncing = any(peer.replication == "SyncTarget" for peer in self.peers)
            return (State.REBUILDING if syncing else State.DEGRADED), f"the local replica is {self.disk.lower()}"
        away = [peer for peer in self.peers if peer.connection not in _CONNECTED]
        if away:
            return State.DEGRADED, ", ".join(
                f"{peer.name or 'the other host'} is {word_text(peer.connection)}" for peer in away
            )
        stale = [peer for peer in self.peers if not peer.diskless and peer.disk not in ("UpToDate", "")]
        if stale:
            syncing = all(peer.replication == "SyncSource" for peer in stale)
            return (State.REBUILDING if syncing else State.DEGRADED), ", ".join(
                f"the replica on {peer.name or 'the other host'} is {_copy_text(peer.disk)}" for peer in stale
            )
        return (State.OPTIMAL if self.disk in ("UpToDate", "Diskless") else State.UNKNOWN), ""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks in progress with other hosts."""
        return tuple(
            Task(kind=_TASKS[peer.replication], progress=peer.progress)
            for peer in self.peers
            if peer.replication in _TASKS
        )


def parse_proc(text: str) -> dict[int, ReplicaState]:
    """Return the states that /proc/drbd of DRBD 8.4 reports, by minor number."""
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
    suspended = bool(flags) and flags[-1].startswith("s")  # in `C r-----`, the first I/O flag is `s` if suspended
    return ReplicaState(role=lines[1], disk=lines[3], suspended=suspended, peers=(peer,))


def parse_status(text: str) -> dict[int, ReplicaState]:
    """Return the states that `drbdsetup status --json` reports, by minor number."""
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
    """Return the replicas on the other host of a connection, by volume number."""
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
    """All DRBD devices of a host."""

    async def inventory(self) -> Inventory:
        """Return the devices, addressed by kernel name. A device of size 0 is not configured and is left out."""
        picture = await scan_topology(self._host)
        nodes = [node for node in picture.tree.nodes.values() if is_replica(node) and node.size_bytes]
        if not nodes:
            return Inventory()
        listed, states = await asyncio.gather(read_replicas(self._host), self._states())
        replicas = {replica.minor: replica for replica in listed or ()}
        nodes.sort(key=_minor)
        arrays = [_array(node, replicas.get(_minor(node)), states.get(_minor(node)), picture) for node in nodes]
        return Inventory(arrays=tuple(arrays), problems=_problems(nodes, states))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem if drbdsetup is missing: only drbdsetup reports the states of DRBD 9."""
        if not await self._host.list("/sys/block/drbd*") or self._host.which(STATUS[:1]) is not None:
            return ()
        return (
            Problem(
                where=NAME,
                message="drbdsetup is not installed, so DRBD resources and the state of their copies are unknown.",
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
    message = f"The state of the copies of {', '.join(silent)} is unknown: DRBD does not report it."
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
        members=tuple(
            Target(backend="block", address=name) for name in dict.fromkeys(map(picture.tree.disk_of, node.slaves))
        ),
        identity=identity(node),
        uses=picture.uses(node.name),
        above=picture.above(node.name),
        tasks=replica_state.tasks if replica_state is not None else (),
        facts=tuple(Fact(label=label, value=clean(value, 200)) for label, value in lines if value),
    )


def _lines(node: Node, replica: Replica | None, replica_state: ReplicaState | None) -> Iterator[tuple[str, str]]:
    if replica is not None:
        yield "Resource", f"{replica.resource}, volume {replica.volume}"
        yield "Metadata on", replica.meta or ("" if replica.disk is None else "the same disk")
    yield (
        "On",
        ", ".join(map(node_path, node.slaves)) or _absence_text(replica, replica_state),
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
"""Registry entry."""
