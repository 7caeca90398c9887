"""Creates a settings file from the present settings of the machine, with a comment that explains each value."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.core.session.documents import write_file
from app.core.workbench import Workbench
from app.features.apply.drift import DESTRUCTIVE_EFFECTS
from app.features.apply.selectors import Thing, matching_devices, model_selector, unique_selector
from app.features.apply.settings_file import FORMAT, LARGEST, SELECTS, DesiredError
from backends.device_label import device_label_of
from backends.errors import InvalidValueError, NotFoundError, RaidbenchError, RefusedError
from backends.input_file import read_input
from backends.model import Array, Controller, Drive, Inventory, Level
from backends.settings import Reading, Risk, Setting, check_value
from backends.sizes import size_words
from backends.system.local.file_replacement import replace_whole
from backends.text import clean
from backends.values import dataclass

HEAD = (
    "Settings of a host. Show differences with `raidbench apply FILE --check`, and apply them with `raidbench apply"
    " FILE`.",
    "The format is described in docs/apply.md. Values in [target.expect] are compared, but never set.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedValue:
    """One setting of a device."""

    key: str
    """Key of the setting."""
    value: str
    """Present value of the setting."""
    comment: str
    """The name of the setting and the meaning of the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTarget:
    """A device, or all devices of a model, with the settings for the file."""

    select: Mapping[str, str]
    """The selector that matches the device, by key."""
    comment: str
    """A description of the device for readers of the file."""
    values: tuple[ExportedValue, ...] = ()
    """Values that `apply` may set."""
    expect: tuple[ExportedValue, ...] = ()
    """Values that `apply` compares with the machine but never sets."""
    word: str | None = None
    """The confirmation token of the device, which the file needs as `confirm` for a risky value; None without one."""


async def export_targets(
    bench: Workbench, things: Iterable[Thing], *, by_model: bool = False
) -> tuple[tuple[ExportedTarget, ...], tuple[str, ...]]:
    """Return the devices with all their settings, and sentences about devices that could not be read.

    With `by_model`, return one entry per model instead, for use on other machines. It contains the values that all
    devices of the model have in common.
    """
    inventory = bench.session.inventory
    targets: list[ExportedTarget] = []
    by_selector: dict[tuple[tuple[str, str], ...], list[ExportedTarget]] = {}
    troubles: list[str] = []
    for device in things:
        try:
            readings = await bench.hardware.machine.read_cached(device.target)
        except RaidbenchError as error:
            troubles.append(f"{device.target} was skipped: {error.message}")
            continue
        target = _target(inventory, device, bench.hardware.settings(device.target), readings)
        if target.values or target.expect:
            targets.append(target)
            if (select := model_selector(device)) is not None:
                by_selector.setdefault(tuple(select.items()), []).append(target)
    if by_model:
        targets = [
            target for select, peers in by_selector.items() for target in _export_model(inventory, dict(select), peers)
        ]
    return tuple(targets), tuple(troubles)


def _export_model(
    inventory: Inventory, select: Mapping[str, str], peers: Sequence[ExportedTarget]
) -> Iterator[ExportedTarget]:
    """Yield one entry for the selector, with the values that all its devices (`peers`) have in common. Yield nothing if
    they have none in common.
    """
    count = len(matching_devices(inventory, select))
    values = _common_values([target.values for target in peers], count)
    if not values:
        return
    (name,) = (select[key] for key in select if key not in ("vendor", "kind"))
    comment = f"{select['vendor']}: {name}" if count == 1 else f"{select['vendor']}: {count} × {name}"
    expect = _common_values([target.expect for target in peers], count)
    yield ExportedTarget(select=select, comment=clean(comment, 160), values=values, expect=expect)


def _common_values(parts: Sequence[tuple[ExportedValue, ...]], count: int) -> tuple[ExportedValue, ...]:
    """Return the values that are equal in all `parts`, each of which has the values of one device. `count`: number of
    devices; return () if there are fewer parts, because the values of the others are unknown.

    Keys that contain the name of a member are left out, because the names differ between machines.
    """
    if len(parts) != count:
        return ()
    exports = [{value.key: value.value for value in part} for part in parts]
    return tuple(
        value
        for value in parts[0]
        if "." not in value.key and all(export.get(value.key) == value.value for export in exports)
    )


def _target(
    inventory: Inventory, device: Thing, declared: tuple[Setting, ...], readings: Mapping[str, Reading]
) -> ExportedTarget:
    values, expect, risky = [], [], False
    if isinstance(device, Array) and device.level is not Level.UNKNOWN and device.strip_bytes is not None:
        expect.append(ExportedValue(key="level", value=device.level.value, comment="RAID level"))
    for setting in declared:
        reading = readings.get(setting.key)
        if reading is None or reading.now in (None, "unknown") or setting.secret or setting.stands_for:
            continue
        value = ExportedValue(key=setting.key, value=reading.now or "", comment=_value_comment(setting, reading))
        if setting.effect in DESTRUCTIVE_EFFECTS or setting.risk is Risk.DESTROYS_DATA:
            expect.append(value)
        elif reading.availability.available and _may_be_set(setting, reading):
            values.append(value)
            risks = {choice.risk for choice in reading.choices} | {setting.risk}
            risky = risky or not risks <= {Risk.NONE, Risk.PERFORMANCE}
    return ExportedTarget(
        select=unique_selector(inventory, device),
        comment=_device_comment(device),
        values=tuple(values),
        expect=tuple(expect),
        word=device_label_of(inventory, device.target).token if risky else None,
    )


def _may_be_set(setting: Setting, reading: Reading) -> bool:
    """Return whether the command `set` accepts the present value of the setting."""
    try:
        return check_value(setting, reading, reading.now or "") == reading.now
    except InvalidValueError:
        return False


def _value_comment(setting: Setting, reading: Reading) -> str:
    choice = next((choice for choice in reading.choices if choice.value == reading.now), None)
    label = choice.label if choice is not None and choice.label != choice.value else ""
    unit = reading.span.unit if reading.span is not None else setting.unit
    text = ": ".join(filter(None, (setting.label, label)))
    return clean(f"{text}, in {unit}" if unit and unit not in text else text, 100)


def _device_comment(device: Thing) -> str:
    parts: tuple[str | None, ...]
    match device:
        case Controller():
            parts = (device.model, device.firmware and f"firmware {device.firmware}")
        case Array():
            level = device.level.value if device.level is not Level.UNKNOWN else None
            parts = (level, device.name, size_words(device.size_bytes) if device.size_bytes else None)
        case Drive():
            parts = (device.model, size_words(device.size_bytes) if device.size_bytes else None, device.interface)
    text = ", ".join(clean(word, 80) for word in parts if word)
    return f"{device.target}: {text}" if text else str(device.target)


def render_document(targets: Iterable[ExportedTarget], older: str | None = None) -> str:
    """Return the content of the settings file.

    With `older`, keep the comments, the order and all other entries of that text: a table with the same selector gets
    the present values for its keys, and new devices are appended. Raises DesiredError when `older` is not a settings
    file.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if older is None:
        document = tomlkit.document()
        for line in HEAD:
            document.add(tomlkit.comment(line))
        document.add("format", tomlkit.item(FORMAT))
        rows = tomlkit.aot()
        for target in targets:
            rows.append(_table(target))
        if rows:
            document.append("target", rows)
        return _with_newline(tomlkit.dumps(document))
    try:
        document = tomlkit.parse(older)
    except TOMLKitError as error:
        raise DesiredError(f"The existing file is not valid TOML: {clean(str(error), 200)}.") from None
    tables = document.get("target")
    if document.get("format") != FORMAT or (tables is not None and not isinstance(tables, list)):
        raise DesiredError("The existing file is not a settings file.", hint="Specify another file.")
    if tables is None:
        tables = tomlkit.aot()
        document.append("target", tables)
    for target in targets:
        table = next((table for table in tables if dict(table.get("select", {})) == dict(target.select)), None)
        if table is None:
            tables.append(_table(target))
            continue
        for part, values in (("set", target.values), ("expect", target.expect)):
            for value in values if part in table else ():
                if value.key in table[part]:
                    table[part][value.key] = _plain_value(value.value)
    return _with_newline(tomlkit.dumps(document))


def _with_newline(text: str) -> str:
    return text.rstrip("\n") + "\n"


def _table(target: ExportedTarget) -> Any:
    import tomlkit

    table = tomlkit.table()
    table.add(tomlkit.comment(target.comment))
    select = tomlkit.inline_table()
    for key in SELECTS:
        if key in target.select:
            select.append(key, target.select[key])
    table.append("select", select)
    if target.word is not None:
        table.add(
            tomlkit.comment(f'confirm = "{clean(target.word, 60)}" # required for settings that risk data or service')
        )
    for part, values in (("set", target.values), ("expect", target.expect)):
        if values:
            table.append(part, _part_table(values))
    return table


def _part_table(values: Iterable[ExportedValue]) -> Any:
    import tomlkit

    rows = tomlkit.table()
    for value in values:
        item = tomlkit.item(_plain_value(value.value))
        if value.comment:
            item.comment(value.comment)
        rows.append(tomlkit.key(value.key), item)
    return rows


def _plain_value(value: str) -> int | str:
    return int(value) if value.isascii() and value.isdigit() and str(int(value)) == value and len(value) < 19 else value


# -- the file on disk: a new one, or an update of an existing one that keeps its comments -----------------------------


def write_settings(file: Path, targets: Sequence[ExportedTarget]) -> None:
    """Write settings to a file atomically. An existing settings file is updated, and keeps its comments and order.

    Raises DesiredError when the existing file is not TOML or not a settings file, RefusedError when it is too large or
    not text, NotFoundError when it cannot be read, StorageError or ToolFailedError when it cannot be written.
    """
    shown = clean(str(file), 300)
    try:
        older = read_input(file, LARGEST)
        document = render_document(targets, older.decode("utf-8"))
    except FileNotFoundError:
        write_file(file, render_document(targets), force=False)
        return
    except UnicodeDecodeError:
        raise RefusedError(f"{shown} is not a text file.", hint="Specify another file.") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            why = f"{shown} is larger than {LARGEST >> 10} KiB. It is not a settings file."
            raise RefusedError(why, hint="Specify another file.") from None
        raise NotFoundError(f"Cannot read {shown}: {error.strerror}.") from None
    replace_whole(str(file.absolute()), document.encode(), older)
