"""Parsers for the controller itself. No I/O; they never raise."""

from __future__ import annotations

from collections.abc import Mapping

from backends.sizes import read_size
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue, reported_only, reported_word
from backends.vendors.megaraid import sizes
from backends.vendors.megaraid.facts import IMPORT, PERSONALITY, PRESERVED, PRESERVED_BOOT, SSD_CACHE, Card, Option
from backends.vendors.megaraid.storcli import battery
from backends.vendors.megaraid.storcli.fields import (
    Fields,
    celsius,
    flag,
    nested_dicts,
    normalise_key,
    number_value,
    tables,
)

_SUPPORTED = {
    "write_cache": ("write policy", "support changing write policy"),
    "read_ahead": ("read policy", "support changing read policy"),
    "io_policy": ("io policy",),
    "drive_cache": ("disk cache policy", "support changing disk cache policy"),
    "access_policy": ("access policy",),
    "fastpath": ("support fastpath",),
    "ssd_cache": ("support ssc writeback",),
    "perf_tuning": ("support perf tuning",),
    "jbod": ("support jbod",),
    "drive_cache_on_ssd": ("support ssd ld disk cache change",),
    "rebuild_rate": ("rebuild rate",),
    "bgi_rate": ("bgi rate",),
    "cc_rate": ("cc rate",),
    "migrate_rate": ("reconstruct rate",),
    "patrol_read_rate": ("patrol read rate",),
    "patrol_read": ("support patrolread",),
    "consistency_check": ("support cc schedule",),
    "ncq": ("ncq",),
    "patrol_read_ssds": ("support ssd patrolread",),
    "cache_bypass_mode": ("support vd cachebypass",),
}
"""Names of the tool's lines under `Supported ... Operations`, by setting key."""

_SUPPORT_HEADINGS = (
    "supported vd operations",
    "supported adapter operations",
    "supported controller operations",
    "supported pd operations",
    "supported drive operations",
)

_POLICIES = {
    "rebuild rate": "rebuild_rate",
    "pr rate": "patrol_read_rate",
    "bgi rate": "bgi_rate",
    "check consistency rate": "cc_rate",
    "reconstruction rate": "migrate_rate",
    "cache flush interval": "cache_flush_interval",
}
"""Setting keys by row name of `Policies Table` (version 7)."""

_PROPERTIES = {
    "patrol read rate(%)": "patrol_read_rate",
    "bgi rate(%)": "bgi_rate",
    "consistency check rate(%)": "cc_rate",
    "oce rate(%)": "migrate_rate",
    "rebuild rate(%)": "rebuild_rate",
}
"""Setting keys by line name of `Properties` (version 8)."""

_MODES = {
    "patrol_read": {
        "auto": "auto",
        "manual": "manual",
        "disable": "off",
        "disabled": "off",
        "off": "off",
    },
    "consistency_check": {
        "disable": "off",
        "disabled": "off",
        "off": "off",
        "sequential": "sequential",
        "seq": "sequential",
        "concurrent": "concurrent",
        "conc": "concurrent",
    },
}
"""Modes of patrol read and consistency check, by the tool's name in lower case."""


def card(number: int, data: Mapping[str, object]) -> Card:
    """Return the controller from `/cN show all`, or from `/cN show`, which prints the values without headings."""
    fields = Fields(data)
    basics, version, hardware = fields.fields("basics"), fields.fields("version"), fields.fields("hwcfg")
    limits, status = fields.fields("capabilities"), fields.fields("status")
    protection, has_answer = battery.parse_listed(data)
    driver = _joined(version.text("driver name"), version.text("driver version")) or _joined(
        fields.text("driver name"), fields.text("driver version")
    )
    raid = _makes_arrays(driver, limits)
    return Card(
        number=number,
        model=basics.text("model", "product name") or fields.text("product name"),
        serial=basics.text("serial number", "board tracer number") or fields.text("serial number"),
        firmware=version.text("firmware version") or fields.text("fw version", "firmware version"),
        package=version.text("firmware package build", "package version")
        or fields.text("fw package build", "package version"),
        driver=driver,
        pci=basics.text("pci address")
        or fields.fields("hostinterface").text("pci address")
        or fields.text("pci address"),
        cache_bytes=_memory(hardware),
        temperature_c=celsius(
            hardware.text("roc temperature(degree celsius)", "roc temperature(degree celcius)", "chip temperature(c)")
        ),
        memory_errors=status.whole("memory uncorrectable errors"),
        backup=protection,
        backup_known=has_answer,
        options=options(data),
        safe_id=fields.text("safe id"),
        supports=_supports(fields),
        makes_arrays=raid,
        strip_minimum=sizes.strip(limits.text("min strip size")),
        strip_maximum=sizes.strip(limits.text("max strip size")),
        values={} if raid is False else _values(fields, limits),
        shown=_shown(fields, hardware),
        problems=tuple(_notices(status)),
    )


def _makes_arrays(driver: str | None, limits: Fields) -> bool | None:
    """Return whether the controller can create arrays (a host bus adapter cannot); None if unknown.

    For a host bus adapter, the tool prints the same tables, but with rates of 0 and one strip size, 512 bytes. The
    drivers mpt2sas, mpt3sas and (on Windows) ItSas are for IT firmware only; MegaRAID firmware needs other drivers.
    """
    if limits.text("raid level supported") is not None:
        return True
    longest = sizes.strip(limits.text("max strip size"))
    normalise_key = (driver or "").lower().startswith(("mpt2sas", "mpt3sas", "itsas"))
    return False if normalise_key or longest == 512 else None


def _joined(name: str | None, version: str | None) -> str | None:
    return " ".join(filter(None, (name, version))) or None


def _memory(hardware: Fields) -> int | None:
    number = read_size(hardware.text("on board memory size"))
    if number is not None:
        return number or None
    mib = hardware.whole("ddr memory size(mib)")
    return mib << 20 if mib else None


def _supports(fields: Fields) -> dict[str, bool]:
    supported: dict[str, bool] = {}
    for heading in _SUPPORT_HEADINGS:
        lines = fields.fields(heading)
        for key, names in _SUPPORTED.items():
            value = lines.flag(*names)
            if value is not None:
                supported.setdefault(key, value)
        blocked = lines.flag("block ssd write disk cache change")
        if blocked is not None:
            supported.setdefault("drive_cache_on_ssd", not blocked)
    return supported


def _values(fields: Fields, limits: Fields) -> dict[str, ReportedValue]:
    values: dict[str, ReportedValue] = {}
    for row in fields.fields("policies").rows("policies table") or fields.rows("policies table"):
        key = _POLICIES.get((row.text("policy") or "").lower(), "")
        values |= reported_only({key: number_value(row.text("current"))}) if key else {}
    properties = fields.fields("properties")
    values |= reported_only({key: number_value(properties.text(name)) for name, key in _PROPERTIES.items()})
    jbod = limits.text("enable jbod")
    if jbod is not None:
        on = flag(jbod)
        values["jbod"] = ReportedValue(value=UNKNOWN if on is None else "on" if on else "off", raw=jbod)
    return values


def _shown(fields: Fields, hardware: Fields) -> dict[str, str]:
    """Return the values that raidbench shows but never sets, from several sections (version 8: from two)."""
    status, boot, properties8 = fields.fields("status"), fields.fields("boot"), fields.fields("properties")
    size = hardware.whole("current size of cachecade (gb)")
    shown_values = {
        PERSONALITY: status.text("current personality", "controller personality") or fields.text("current personality"),
        IMPORT: fields.fields("defaults").text("auto enhanced import"),
        PRESERVED_BOOT: boot.text("allow boot with preserved cache") or properties8.text("boot with preserved cache"),
        SSD_CACHE: f"{size} GB" if size else None,
    }
    return {label: text for label, text in shown_values.items() if text is not None}


def _notices(status: Fields) -> list[str]:
    """Return the warnings that the controller reports about itself."""
    messages: list[str] = []
    state = status.text("controller status")
    if state is not None and state.lower() not in ("optimal", "ok"):
        messages.append(f'The controller reports "{state}": check its battery, arrays and drives')
    for name, text in {
        "controller has booted into safe mode": "The controller is in safe mode",
        "any offline vd cache preserved": PRESERVED,
        "preserved cache present": PRESERVED,
        "system reboot required": "The controller waits for a reboot",
        "controller reset required": "The controller waits for a controller reset",
        "controller shutdown required": "The controller requests a shutdown",
    }.items():
        if status.flag(name):
            messages.append(text)
    return messages


def options(data: Mapping[str, object]) -> tuple[Option, ...]:
    """Return the advanced software options: `Unlimited` means active, and a remaining time means a trial."""
    by_name: dict[str, Option] = {}
    for column in ("adv s/w opt", "software option"):
        for _, row in tables(data, column):
            name, time = row.text(column), row.text("time remaining")
            if name is not None:
                by_name.setdefault(name, Option(name=name, state=_option(time)))
    return tuple(by_name.values())


def _option(time: str | None) -> ReportedValue:
    normalise_key = (time or "").lower()
    if "unsupported" in normalise_key:
        return ReportedValue(value="not-activated", raw=time or "")
    if normalise_key.startswith("unlimited"):
        return ReportedValue(value="active", raw=time or "")
    if any(char.isdigit() for char in normalise_key):
        return ReportedValue(value="trial", raw=time or "")
    return ReportedValue(value=UNKNOWN, raw=time or "")


def overview(data: Mapping[str, object]) -> dict[int, str]:
    """Return the models of the controllers in `show`, by number. Controllers in IT mode have a separate table."""
    models: dict[int, str] = {}
    for column in ("ctl", "ctrl"):
        for heading, row in tables(data, column):
            number = row.whole(column)
            if number is not None and "overview" in heading.lower():
                models.setdefault(number, row.text("model", "product name", "adaptertype") or "")
    return models


def safe_id(data: Mapping[str, object]) -> str | None:
    """Return the safe id from `show aso` of version 8."""
    for _, row in tables(data, "prop"):
        if (row.text("prop") or "").lower() == "safeid":
            return row.text("description")
    return Fields(data).text("safe id")


def properties(data: Mapping[str, object]) -> dict[str, str]:
    """Return the rows of `Ctrl_Prop` tables (`show patrolread`, `show cc`, `show perfmode`) by normalised key."""
    by_key: dict[str, str] = {}
    for _, row in tables(data, "ctrl_prop"):
        key, value = row.text("ctrl_prop"), row.text("value")
        if key is not None and value is not None:
            by_key.setdefault(normalise_key(key), value)
    if not by_key:
        lines = [data, *(entries for _, entries in nested_dicts(data))]
        by_key = {
            normalise_key(key): value for entries in lines for key, value in entries.items() if isinstance(value, str)
        }
    return by_key


def patrol(data: Mapping[str, object]) -> tuple[ReportedValue | None, tuple[BackgroundOperation, ...]]:
    """Return mode and running operations from `show patrolread`."""
    fields = properties(data)
    return reported_word(fields.get("pr mode"), _MODES["patrol_read"]), _active(
        "patrol-read", fields.get("pr current state")
    )


def check(data: Mapping[str, object]) -> tuple[ReportedValue | None, tuple[BackgroundOperation, ...]]:
    """Return mode and running operations from `show cc`. The label of the mode depends on the version."""
    fields = properties(data)
    mode = fields.get("cc operation mode", fields.get("cc mode"))
    return reported_word(mode, _MODES["consistency_check"]), _active(
        "consistency-check", fields.get("cc current state")
    )


def _active(kind: str, text: str | None) -> tuple[BackgroundOperation, ...]:
    """Return the operation if it is running (`Active 2`) or paused; () for `Stopped`."""
    if text is None or not text.lower().startswith(("active", "paused", "in progress")):
        return ()
    return (BackgroundOperation(kind=kind, state=text),)


def perf_mode(data: Mapping[str, object]) -> ReportedValue | None:
    """Return the mode from `show perfmode`: `0` or `0 - ...`."""
    fields = properties(data)
    text = next((value for key, value in fields.items() if key.replace(" ", "").startswith("perfmode")), None)
    if text is None:
        return None
    number = text.split()[0].strip("-:") if text.split() else ""
    return ReportedValue(value=number if number in ("0", "1") else UNKNOWN, raw=text)
