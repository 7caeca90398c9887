"""The device table with inventory, state and main settings, for screens, command line and report. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from app.core.presentation.device import (
    capacity_text,
    device_facts,
    kind_text,
    node_text,
    paths_text,
    protection_cell,
    state_cell,
    state_of,
)
from app.core.presentation.device_tree import (
    TROUBLE,
    DeviceTreeNode,
    build_device_tree,
    members_by_array,
    role_of,
    severity_rank,
    task_text,
)
from app.core.presentation.setting import UNREAD, TuningCells
from app.core.presentation.table import Align, Cell, Column, ExpandState, Row, StatusSymbol, Table, Tone, text_of
from backends import raid, sizes
from backends.display_names import name_of
from backends.health import faults_of, worst_fault
from backends.identity import Use
from backends.model import Array, Controller, Device, Drive, Inventory, Level, Problem, Target
from backends.values import dataclass
from widgets.text_utils import units

COLUMNS = (
    Column(key="name", title="Name", room=12, most=18),
    Column(key="size", title="Size", align=Align.RIGHT, priority=3, room=8),
    Column(key="level", title="Level", room=6, least=6, most=10),
    Column(key="state", title="State", room=14, least=10, most=20),
    Column(key="write-cache", title="Write cache", short="Cache", room=13),
    Column(key="read-ahead", title="Read-ahead", short="Ahead", priority=1, room=10),
    Column(key="strip", title="Strip", align=Align.RIGHT, priority=2, room=5),
    Column(key="kind", title="Kind", priority=5, room=9),
    Column(key="device", title="Device", priority=6, room=7),
    Column(key="use", title="Used by", priority=7, room=12, shrinks=True),
    Column(key="settings", title="Settings", priority=8, room=20, shrinks=True),
    Column(key="model", title="Model", priority=9, room=30, shrinks=True),
    Column(key="address", title="Address", priority=10, room=21),
    Column(key="serial", title="Serial number", priority=11),
    Column(key="firmware", title="Firmware", priority=12),
    Column(key="more", title="More", priority=13, shrinks=True),
)
"""Columns from left to right. If the width is too small, those with the highest `priority` are left out first.

The columns without a `priority`, for identity, level, state and write cache, are shown at every width. Columns are left
out before a name is cut. The size is left out before the settings, because it is also in the title of the selected
device.
"""

ADDRESS_PRIORITY = 4
"""Priority of the address for a command line, where it names targets: just less important than the main columns."""

KEYS = tuple(column.key for column in COLUMNS)
"""Keys of the columns, by which the user chooses columns."""

USUAL = KEYS[: KEYS.index("address")]
"""Keys of the columns that screens show by default."""

OTHERS = "/others"
"""Suffix of a row's key, for the row that summarises the healthy members of an array that have no row of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceListOptions:
    """Which rows of the device list are shown, and in which order."""

    opened: frozenset[str] = frozenset()
    """Keys of the arrays of which all members are shown."""
    closed: frozenset[str] = frozenset()
    """Keys of the controllers and degraded arrays that the user collapsed."""
    expanded: bool = False
    """Whether all controllers and arrays are expanded, except those in `closed`."""
    order: str = "address"
    """Sort order, one of the keys of `ORDERS`."""
    matching: frozenset[str] | None = None
    """Keys of the devices that match a filter; None without a filter."""
    named: frozenset[str] = frozenset()
    """Keys of the devices whose name matches the filter. They have their own row even if others are summarised."""


WHOLE = DeviceListOptions(expanded=True)
"""Options to show every member of every array."""


def devices_table(
    inventory: Inventory, listing: DeviceListOptions = WHOLE, tuned: Mapping[Target, TuningCells] | None = None
) -> Table:
    """Return the table of all devices, each once. The key of a row is the device's address."""
    return Table(columns=COLUMNS, rows=tuple(_Listing(inventory, listing, tuned or {}).rows()))


def search_texts(inventory: Inventory, tuned: Mapping[Target, TuningCells]) -> dict[str, str]:
    """Return the searchable text of each device, by its key."""
    twins = inventory.twins
    devices = (device for device in inventory.devices if device.target not in twins)
    return {str(device.target): _search_text(inventory, device, tuned) for device in devices}


def matching_keys(texts: Mapping[str, str], query: str) -> frozenset[str]:
    """Return the keys of the texts that contain every word of `query`; upper and lower case are the same."""
    wanted = query.lower().split()
    return frozenset(key for key, text in texts.items() if all(word in text for word in wanted))


def keys_by_name(inventory: Inventory, keys: Collection[str], text: str) -> frozenset[str]:
    """Return the keys in `keys` of devices whose name contains `text`."""
    names = {str(device.target): name_of(device).lower() for device in inventory.block_devices}
    return frozenset(key for key in keys if text.strip().lower() in names.get(key, ""))


def _search_text(inventory: Inventory, device: Device, tuned: Mapping[Target, TuningCells]) -> str:
    """Return one searchable text with all facts about a device, its other view and its settings.

    The device's members are not included.
    """
    twin = inventory.twin(device)
    views: tuple[Device, ...] = (device,) if twin is None else (device, twin)
    facts_text = (
        f"{fact.label} {fact.value}"
        for view in views
        for group in device_facts(view, excluded=("Members",))
        for fact in group.facts
    )
    tuning = tuned.get(device.target, UNREAD)
    row = (
        name_of(device),
        kind_text(device),
        tuning.write_cache.text,
        tuning.read_ahead.text,
        tuning.strip.text,
        tuning.others,
    )
    faults = (fault.value for view in views if isinstance(view, Drive) for fault in faults_of(view))
    return " ".join((*(str(view.target) for view in views), *row, *facts_text, *faults)).lower()


def _urgency(device: Array | Drive) -> tuple[int, bool]:
    """Return a sort key for an array or drive by severity; the most severe state has the lowest key."""
    return severity_rank(device.state), isinstance(device, Array) or worst_fault(device) is None


_LEVELS = tuple(Level)

ORDERS: Mapping[str, tuple[str, Callable[[Array | Drive], Any] | None]] = {
    "address": ("address", None),
    "name": ("name", lambda device: name_of(device).lower()),
    "size": ("size, largest first", lambda device: -(device.size_bytes or 0)),
    "state": ("state, worst first", _urgency),
    "level": ("level", lambda device: _LEVELS.index(device.level) if isinstance(device, Array) else len(_LEVELS)),
    "kind": ("kind", lambda device: kind_text(device)),
    "use": ("used devices first", lambda device: not device.uses),
}
"""Sort orders for the arrays and drives on one level of the tree: description, and sort key (None: address)."""


class _Listing:
    def __init__(self, inventory: Inventory, listing: DeviceListOptions, tuned: Mapping[Target, TuningCells]) -> None:
        self._inventory = inventory
        self._members = members_by_array(inventory)
        self._listing = listing
        self._tuned = tuned

    def rows(self) -> Iterator[Row]:
        for branch in build_device_tree(self._inventory, ORDERS[self._listing.order][1]):
            yield from self._branch(branch, 0, None, wanted=False)
        devices = self._inventory.devices if self._inventory.problems else ()
        known_addresses = {str(device.target) for device in devices}
        problems = {problem.where: problem for problem in reversed(self._inventory.problems)}
        yield from (_problem_row(problems[where]) for where in sorted(problems) if where not in known_addresses)

    def _branch(
        self, branch: DeviceTreeNode, depth: int, above: DeviceTreeNode | None, *, wanted: bool
    ) -> Iterator[Row]:
        """Yield the rows of a device and its children.

        `wanted`: whether the parent of the device matches the filter; if so, the device and its children are shown too.
        """
        key, names = str(branch.device.target), self._listing.matching
        wanted = wanted or names is None or key in names
        if not wanted and not self._leads(branch):
            return
        shown, others = self._below(branch, key, led=not wanted)
        fold = ExpandState.NOTHING if not branch.below else ExpandState.OPEN if shown else ExpandState.CLOSED
        yield self._row(branch, key, depth, above, fold)
        for below in shown:
            yield from self._branch(below, depth + 1, branch, wanted=wanted)
        if others:
            yield self._others_row(key, others, depth + 1)

    def _leads(self, branch: DeviceTreeNode) -> bool:
        return any(self._is_found(below) for below in branch.below)

    def _below(
        self, branch: DeviceTreeNode, key: str, *, led: bool
    ) -> tuple[tuple[DeviceTreeNode, ...], tuple[DeviceTreeNode, ...]]:
        """Return the children that have rows of their own, and the children that one row summarises.

        `led`: whether the device is shown only because one of its children matches the filter.
        """
        listing = self._listing
        if led:
            return branch.below, ()
        if key in listing.closed:
            return (), ()
        if listing.expanded or key in listing.opened or isinstance(branch.device, Controller):
            return branch.below, ()
        stands_out = [_needs_attention(below) or self._is_named(below) for below in branch.below]
        shown = tuple(below for below, out in zip(branch.below, stands_out, strict=True) if out)
        others = tuple(below for below, out in zip(branch.below, stands_out, strict=True) if not out)
        return (shown, others) if shown else ((), ())

    def _is_found(self, branch: DeviceTreeNode) -> bool:
        """Return whether the device or one of its children matches the filter."""
        return str(branch.device.target) in (self._listing.matching or ()) or self._leads(branch)

    def _is_named(self, branch: DeviceTreeNode) -> bool:
        """Return whether the name of the device or of one of its children matches the filter."""
        return str(branch.device.target) in self._listing.named or any(map(self._is_named, branch.below))

    def _row(
        self, branch: DeviceTreeNode, key: str, depth: int, above: DeviceTreeNode | None, fold: ExpandState
    ) -> Row:
        device = branch.device
        tuning = self._tuned.get(device.target, UNREAD)
        member = above is not None and isinstance(above.device, Array)
        tone = Tone.DIM if member else Tone.PLAIN
        return Row(
            key=key,
            depth=depth,
            fold=fold,
            banner=tuple(_banner_cells(device)) if isinstance(device, Controller) else (),
            cells=(
                Cell(name_of(device), tone),
                capacity_text(device),
                Cell(device.level.value, tone) if isinstance(device, Array) else "",
                state_cell(branch),
                tuning.write_cache,
                tuning.read_ahead,
                tuning.strip if tuning.strip.text else _strip_cell(device, is_read=tuning is not UNREAD),
                Cell("" if isinstance(device, Array) else kind_text(device), tone),
                "" if isinstance(device, Controller) else paths_text(device) or node_text(device),
                "" if isinstance(device, Controller) else use_text(device.uses),
                tuning.others,
                members_text(device, self._members.get(device.target, ()))
                if isinstance(device, Array)
                else _model_text(device),
                key,
                "" if isinstance(device, Array) else device.serial or "",
                "" if isinstance(device, Array) else device.firmware or "",
                ", ".join(filter(None, _detail_texts(device))),
            ),
        )

    def _others_row(self, key: str, others: tuple[DeviceTreeNode, ...], depth: int) -> Row:
        """Return the row that summarises the healthy members of an array."""
        states = Counter(state_cell(other).text for other in others)
        state = state_cell(others[0]) if len(states) == 1 else Cell(_counts_text(states))
        cells: dict[str, str | Cell] = {"name": Cell(units.plural(len(others), "other"), Tone.DIM), "state": state}
        row = tuple(cells.get(column, "") for column in KEYS)
        return Row(key=key + OTHERS, depth=depth, cells=row, fold=ExpandState.CLOSED)


def _strip_cell(device: Device, *, is_read: bool) -> Cell:
    """Return the strip of an array that has no such setting: its size, or that its level has no strip.

    `is_read`: whether the settings of the array are known, so that none of them is a strip.
    """
    if not isinstance(device, Array):
        return Cell("")
    if device.strip_bytes:
        return Cell(sizes.brief_text(device.strip_bytes))
    return Cell("none" if is_read and device.level in raid.STRIPLESS else "", Tone.DIM)


def _needs_attention(branch: DeviceTreeNode) -> bool:
    device = branch.device
    if isinstance(device, Controller):
        return False
    if isinstance(device, Array):
        return device.state in TROUBLE
    return state_of(device, branch.role) in TROUBLE or worst_fault(device) is not None


def members_text(array: Array, array_members: Collection[Array | Drive]) -> str:
    """Return models and states of an array's members: `3 x CTFDDAC256MAG-1G1, all online`.

    Members that also belong to another array are included. Return "" if the members are unknown.
    """
    if not array_members:
        return ""
    models = Counter(
        name_of(member) if isinstance(member, Array) else _model_text(member) or kind_text(member)
        for member in array_members
    )
    states = [state_cell(DeviceTreeNode(device=member, role=role_of(member, array))) for member in array_members]
    counts = Counter(cell.text for cell in states)
    made_of = ", ".join(f"{count} x {model}" for model, count in models.items())
    alike = (
        next(iter(counts))
        if len(counts) == 1
        else "well"
        if {cell.mark for cell in states} == {StatusSymbol.WELL}
        else ""
    )
    return f"{made_of}, {f'all {alike}' if alike else _counts_text(counts)}"


def _counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in reversed(counts.most_common()))


def _banner_cells(controller: Controller) -> Iterator[str | Cell]:
    """Yield the cells of the row of a controller, which spans the table: name, model, cache, battery and tasks."""
    yield Cell(name_of(controller), Tone.ACCENT)
    yield Cell(controller.model or controller.vendor, Tone.ACCENT)
    if controller.cache_bytes:
        yield sizes.size_words(controller.cache_bytes)
    if controller.protection is not None:
        yield protection_cell(controller.protection)
    yield from map(task_text, controller.tasks)


def _problem_row(problem: Problem) -> Row:
    """Return a row for a problem; it replaces the rows of devices that could not be read."""
    banner = Cell(f"{problem.where}: {problem.message}", Tone.BAD, StatusSymbol.FAILED)
    state = Cell("not read", Tone.BAD, StatusSymbol.FAILED)
    cells: dict[str, str | Cell] = {"name": problem.where, "state": state, "more": problem.message}
    return Row(key=problem.where, banner=(banner,), cells=tuple(cells.get(column, "") for column in KEYS))


def _model_text(device: Device) -> str:
    match device:
        case Array():
            return device.name or ""
        case Drive():
            return device.model or device.backing or ""
        case Controller():
            return device.model or ""


def use_text(uses: tuple[Use, ...]) -> str:
    """Return the uses of a device in short form: mount points first, then other uses."""
    mounts = [use.detail.removeprefix("mounted on ") for use in uses if use.kind == "mount"]
    others = [use.detail for use in uses if use.kind != "mount" and not (use.kind == "root" and mounts)]
    return ", ".join(dict.fromkeys((*sorted(mounts), *others)))


def _detail_texts(device: Device) -> Iterator[str]:
    """Yield further details of a device, each in a few words."""
    match device:
        case Controller():
            yield f"driver {device.driver}" if device.driver else ""
            yield f"{sizes.size_words(device.cache_bytes)} cache" if device.cache_bytes else ""
            yield from (f"{feature.name} {feature.state}" for feature in device.features)
        case Array():
            yield f"{sizes.size_words(device.strip_bytes)} strip" if device.strip_bytes else ""
            yield units.plural(len(device.members), "member") if device.members else ""
            yield from map(task_text, device.tasks)
        case Drive():
            sectors = "/".join(str(size) for size in (device.logical_block, device.physical_block) if size)
            yield f"{sectors} B sectors" if sectors else ""


def hidden_cells_text(table: Table, key: str, shown: frozenset[str]) -> str:
    """Return the texts of a row's cells in columns that are not shown; "" if all are shown.

    `shown`: keys of the columns that are shown. For a row that spans the columns, return its address.
    """
    row = next((row for row in table.rows if row.key == key), None)
    if row is None or row.banner:
        return "" if row is None else key
    pairs = zip(table.columns, row.cells, strict=True)
    texts: Iterator[str] = (
        f"{column.title.lower()} {text_of(cell)}"
        if column.key in ("strip", "read-ahead", "write-cache")
        else text_of(cell)
        for column, cell in pairs
        if column.key not in shown and text_of(cell)
    )
    return " · ".join(texts)
