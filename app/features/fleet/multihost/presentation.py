"""Texts and tables for a run on many hosts: each host, all hosts together, and the missing hosts. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from app.core.analysis.metric_kinds import SYNC
from app.core.presentation.json_schema import Json, pick
from app.core.presentation.json_schema import side as direction_json
from app.core.presentation.table import Align, Cell, Column, Row, StatusSymbol, Table, Tone
from app.core.session.results import SIDES, DirectionStats
from app.features.fleet.multihost.coordinator import Coordinator, HostSession
from app.features.fleet.multihost.record import FAILED, LOST, NEVER, HostRecord, JointRecord
from widgets.text_utils import units
from widgets.text_utils.text import shorten

_RATE = "MiB/s"

_FIGURES: tuple[tuple[str, Callable[[DirectionStats], str]], ...] = (
    ("IOPS", lambda side: units.iops(side.iops)),
    (_RATE, lambda side: units.mib_per_s(side.bytes_per_second)),
    ("p50", lambda side: units.latency(side.latency_ns.p50)),
    ("p99", lambda side: units.latency(side.latency_ns.p99)),
    ("p99.9", lambda side: units.latency(side.latency_ns.p99_9)),
)

_BAD = (LOST, FAILED, NEVER)


FRESH_S = 3.0
"""Seconds after its arrival for which an interval counts as current."""


def is_fresh(peer: HostSession, now: float) -> bool:
    """Return whether a host is measuring: its last interval arrived shortly before `now` (`time.monotonic`)."""
    return not peer.over and bool(peer.rate[0]) and now - peer.rate[0] < FRESH_S


def rates_now(peers: Sequence[HostSession], now: float) -> tuple[int, float, float]:
    """Return how many hosts are measuring, and their combined IOPS and bytes per second."""
    measuring = [peer for peer in peers if is_fresh(peer, now)]
    return len(measuring), sum(peer.rate[1] for peer in measuring), sum(peer.rate[2] for peer in measuring)


def progress_text(coordinator: Coordinator, now: float) -> str:
    """Return one line about all hosts: how many measure, their IOPS and throughput, and the lost and pending hosts."""
    peers = coordinator.peers
    measuring, iops, size = rates_now(peers, now)
    parts = [f"{measuring} of {units.plural(len(peers), 'host')} measuring"]
    if measuring:
        parts += [f"{units.iops(iops)} IOPS", units.rate(size)]
    if lost := [peer.host for peer in peers if peer.lost]:
        parts.append(shorten(f"lost: {', '.join(lost)}", 100, ".."))
    if pending := coordinator.pending_hosts():
        parts.append(shorten(f"waiting for {', '.join(pending)}", 100, ".."))
    return " · ".join(parts)


LIVE = (
    Column(key="host", title="Host"),
    Column(key="state", title="State", shrinks=True),
    Column(key="iops", title="IOPS", align=Align.RIGHT),
    Column(key="rate", title="Rate", align=Align.RIGHT, priority=1),
    Column(key="clock", title="Clock", align=Align.RIGHT, priority=2),
)
"""Columns of the table during the run."""


def live_table(peers: Sequence[HostSession], now: float) -> Table:
    """Return a table with a row per host: its state, its last interval and the uncertainty of its clock offset."""
    return Table(columns=LIVE, rows=tuple(_live_row(peer, now) for peer in peers))


def _live_row(peer: HostSession, now: float) -> Row:
    state = Cell(f"{peer.doing}: {peer.lost}", Tone.BAD, StatusSymbol.FAILED) if peer.lost else Cell(peer.doing)
    figures = (units.iops(peer.rate[1]), units.rate(peer.rate[2])) if is_fresh(peer, now) else ("", "")
    offset = peer.offset
    clock = "" if offset is None else f"± {offset.error_s * 1000:.1f} ms"
    return Row(key=peer.host, cells=(peer.host, state, *figures, clock))


def joint_table(record: JointRecord) -> Table:
    """Return a table with a row for each requested host, and one for all hosts together."""
    sides = [name for name in SIDES if name in record.figures.sides]
    titles = [_title(name, title) for name in sides for title, _ in _figures_of(name)]
    columns = (
        Column(title="Host"),
        *(Column(title=title, align=Align.RIGHT) for title in titles),
        Column(title="State"),
    )
    rows = []
    for host in record.hosts:
        stats = record.figures.hosts.get(host.host)
        cells = list(_cells(sides, {} if stats is None else stats.sides))
        rows.append(Row(key=host.host, cells=(host.host, *cells, Cell(_state(host), _tone(host)))))
    counted = sum(host.counts for host in record.hosts)
    cells = list(_cells(sides, record.figures.sides))
    total = f"{counted} of {units.plural(len(record.hosts), 'host')}"
    rows.append(Row(cells=("together", *cells, Cell(total, Tone.GOOD if record.is_complete else Tone.BAD))))
    return Table(columns=columns, rows=tuple(rows))


def _figures_of(name: str) -> tuple[tuple[str, Callable[[DirectionStats], str]], ...]:
    """Return the figures of one direction. Flushes move no bytes."""
    return tuple(figure for figure in _FIGURES if name != SYNC or figure[0] != _RATE)


def _title(name: str, title: str) -> str:
    if name == SYNC:
        return "Flushes/s" if title == "IOPS" else f"Flush {title}"
    return f"{name.capitalize()} {title}"


def _cells(names: Sequence[str], sides: Mapping[str, DirectionStats]) -> Iterator[str]:
    for name in names:
        side = sides.get(name)
        yield from ("" if side is None else show(side) for _, show in _figures_of(name))


def _state(host: HostRecord) -> str:
    if host.late_s is not None:
        return f"{host.state}, {host.late_s:.1f} s late"
    return host.state


def _tone(host: HostRecord) -> Tone:
    if host.state in _BAD:
        return Tone.BAD
    return Tone.GOOD if host.counts and host.late_s is None else Tone.ATTENTION


def joint_sentences(record: JointRecord) -> Iterator[str]:
    """Yield sentences about the total, missing and late hosts, the variation between hosts, and doubtful results."""
    counted = sum(host.counts for host in record.hosts)
    hosts = units.plural(len(record.hosts), "host")
    if counted:
        yield (
            f"Total: {counted} of {hosts}, over the {record.seconds:.1f} s in which"
            f" {'it' if counted == 1 else 'all of them'} measured. Percentiles are over all I/Os."
        )
    for host in record.hosts:
        if not host.counts:
            yield f"{host.host} is not in the total ({host.state}): {host.reason.rstrip('.')}."
    for host in record.hosts:
        if host.late_s is not None:
            yield f"{host.host} started {host.late_s:.1f} s late, compared with the first host."
    spread = record.figures.spread
    if spread is not None:
        yield (
            f"IOPS of the hosts vary by {units.fraction(spread.variation)} (coefficient of variation): slowest"
            f" {spread.slowest}, fastest {spread.fastest}."
        )
    if record.stagger_s:
        yield f"The hosts were started {record.stagger_s:g} s apart."
    if record.stopped:
        yield "The run was stopped early."
    yield from record.notes


def joint_json(record: JointRecord) -> Json:
    """Return the record as JSON."""
    hosts = []
    for host in record.hosts:
        stats = record.figures.hosts.get(host.host)
        sides = {} if stats is None else stats.sides
        hosts.append(
            {
                **pick(host, "host", "called", "state", "late_s", "clock_error_s", "run", "session"),
                "reason": host.reason or None,
                "seconds": None if stats is None else stats.seconds,
                **{name: direction_json(sides.get(name)) for name in SIDES},
            }
        )
    spread = record.figures.spread
    return {
        **pick(record, "id", "at", "target", "simulated", "stopped", "stagger_s"),
        "job": dict(record.job),
        "window": {
            "begin": record.begin,
            "seconds": record.seconds,
            "hosts": sum(host.counts for host in record.hosts),
            "of": len(record.hosts),
        },
        "hosts": hosts,
        **{name: direction_json(record.figures.sides.get(name)) for name in SIDES},
        "spread": None if spread is None else pick(spread, "variation", "slowest", "fastest"),
        "notes": list(record.notes),
    }
