"""Builds the record of a run on many hosts: its common interval, combined results and reasons to doubt them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from app.features.fleet.multihost.common_interval import CommonInterval, common_window, late_starts
from app.features.fleet.multihost.coordinator import Coordinator, HostSession
from app.features.fleet.multihost.figures import HostStats, sum_hosts
from app.features.fleet.multihost.record import (
    FAILED,
    IN_WINDOW,
    LOST,
    NEVER,
    OUTSIDE,
    HostRecord,
    JointFolder,
    JointRecord,
)
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.core.workbench import Workbench

_COVERED = 0.9
"""Minimum share of the common interval that a host must report. With less, its results are doubtful."""

_DOUBTFUL_CLOCK_S = 0.05


def joint_record(
    coordinator: Coordinator, folder: JointFolder, *, target: str, at: float, stagger_s: float, simulated: bool
) -> JointRecord:
    """Return the record of a finished run. `at`: start time in seconds since 1970. Raises StorageError.

    The common interval is that of the hosts that measured to the end. If the run was stopped, it is that of all hosts
    that were not lost. The combined results include only hosts in the common interval. For every other host, the
    record says why it is not included.
    """
    counted = [peer for peer in coordinator.peers if peer.is_complete or (coordinator.stopped and not peer.lost)]
    spans = {peer.host: span for peer in counted if (span := peer.measuring_span) is not None}
    window = common_window(spans)
    planned = {peer.host: peer.planned for peer in coordinator.peers if peer.planned is not None}
    behind = late_starts(spans, planned)
    figures: dict[str, HostStats] = {}
    if window is not None:
        figures = {host: folder.sum_within(host, window).figures() for host in window.hosts}
    start = coordinator.first_start
    return JointRecord(
        id=folder.id,
        at=at,
        target=target,
        job=next((peer.ready.job for peer in coordinator.peers if peer.ready is not None), {}),
        hosts=tuple(_host(peer, window, behind) for peer in coordinator.peers),
        begin=None if window is None or start is None else window.begin - start,
        seconds=0.0 if window is None else window.seconds,
        stagger_s=stagger_s,
        figures=sum_hosts(figures),
        notes=tuple(_notes(coordinator.peers, window, figures)),
        stopped=coordinator.stopped,
        simulated=simulated,
    )


def keep_record(
    bench: Workbench, coordinator: Coordinator, folder: JointFolder, *, target: str, at: float, stagger_s: float = 0.0
) -> JointRecord:
    """Save the record of a finished run in its folder, note the run in the open session, and return the record.

    Raises StorageError.
    """
    record = joint_record(coordinator, folder, target=target, at=at, stagger_s=stagger_s, simulated=bench.simulated)
    folder.keep(record)
    bench.note(f"Run {record.id} on {plural(len(record.hosts), 'host')}: {target}.")
    return record


def _host(peer: HostSession, window: CommonInterval | None, behind: Mapping[str, float]) -> HostRecord:
    state, reason = _state(peer, window)
    offset = peer.offset
    return HostRecord(
        host=peer.host,
        called="" if peer.hello is None else peer.hello.host,
        state=state,
        reason=reason,
        late_s=behind.get(peer.host),
        clock_error_s=None if offset is None else offset.error_s,
        run="" if peer.result is None else peer.result.run,
        session="" if peer.result is None else peer.result.session,
    )


def _state(peer: HostSession, window: CommonInterval | None) -> tuple[str, str]:
    if window is not None and peer.host in window.hosts:
        return IN_WINDOW, ""
    if peer.lost:
        span = peer.measuring_span
        if span is None or peer.planned is None:
            return LOST if peer.hello is not None else NEVER, peer.lost
        return LOST, f"{peer.lost}, {span[1] - peer.planned:.1f} s after its start"
    if window is not None and peer.host in window.outside:
        return OUTSIDE, window.outside[peer.host]
    if peer.result is not None and peer.result.status != "ok":
        return FAILED, peer.result.reason or "no reason given"
    return NEVER, (peer.end.message if peer.end is not None else "") or "no results"


def _notes(
    peers: Sequence[HostSession], window: CommonInterval | None, figures: Mapping[str, HostStats]
) -> Iterator[str]:
    if window is None:
        yield "There was no common interval in which all hosts measured."
        return
    for host, stats in figures.items():
        if window.seconds and stats.seconds < _COVERED * window.seconds:
            share = round(stats.seconds / window.seconds * 100)
            yield f"{host} reported {share} % of the common interval. Its results only cover that part."
    lost = [
        peer for peer in peers if peer.lost and (span := peer.measuring_span) is not None and span[1] > window.begin
    ]
    for peer in lost:
        yield f"{peer.host} was lost while all hosts were measured. Its load is missing from then on."
    jobs = {peer.host: peer.ready.job for peer in peers if peer.ready is not None}
    first = next(iter(jobs.values()), {})
    for host, job in jobs.items():
        if other := [f"{key} {job.get(key, 'none')}" for key in {**first, **job} if job.get(key) != first.get(key)]:
            yield f"{host} ran another job: {', '.join(other)}."
    for peer in peers:
        if peer.host in window.hosts and peer.account.untimed_directions:
            yield f"{peer.host} reports no latencies. The percentiles are those of the other hosts."
    versions = {peer.hello.version: peer.host for peer in reversed(peers) if peer.hello is not None}
    if len(versions) > 1:
        shown = ", ".join(f"{version or 'unknown'} on {host}" for version, host in reversed(versions.items()))
        yield f"The hosts have different versions of raidbench: {shown}."
    for peer in peers:
        if peer.host in window.hosts and (offset := peer.offset) and offset.error_s > _DOUBTFUL_CLOCK_S:
            yield (
                f"The clock offset of {peer.host} may be wrong by up to {offset.error_s * 1000:.0f} ms because of the"
                " network delay."
            )
