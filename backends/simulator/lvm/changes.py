"""Simulated lvchange and lvconvert. Like the real ones, they report `changed` before the kernel refuses a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from backends.simulator.lvm.volumes import FLUSH_BYTES, STRIPED, LvmGroup, LvmVolume
from backends.simulator.rack import Rack
from backends.simulator.tool_output import SimulatedOutput

_MODES = ("writethrough", "writeback", "passthrough")
_POLICIES = ("smq", "mq", "cleaner")
_OF_WRITECACHE = {
    "high_watermark": 100,
    "low_watermark": 100,
    "writeback_jobs": 1 << 31,
    "autocommit_blocks": 1 << 31,
    "autocommit_time": 3_600_000,
    "cleaner": 1,
}
"""Settings of dm-writecache and their maximum values (drivers/md/dm-writecache.c)."""

_CHANGED = "  Logical volume {name} changed.\n"
_REFUSED = (
    "  device-mapper: reload ioctl on  (254:{number}) failed: Invalid argument\n"
    "  Failed to suspend logical volume {name}.\n"
)
_WRITE_BACK = (
    "  WARNING: repairing a damaged cachevol is not yet possible.\n"
    "  WARNING: cache mode writethrough is suggested for safe operation.\n"
)

SECONDS = 1.0
"""Duration of a change in seconds, without a flush."""


def lvchange_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run lvchange with one option on one volume."""
    return _change(rack, args, _VERBS)


def lvconvert_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run lvconvert, which here only changes the stripe size of a volume."""
    return _change(rack, args, {"--stripesize": _set_stripe_size})


_Verb = Callable[[Rack, LvmVolume, str, bool], SimulatedOutput | str]
"""Function that sets an option of a volume to a value. It returns the output, or the message of a refusal."""


def _change(rack: Rack, args: Sequence[str], verbs: Mapping[str, _Verb]) -> SimulatedOutput:
    """Run a command that has one of the options in `verbs`, which maps options to functions."""
    name = args[-1] if args else ""
    pair = _find_volume(rack, name)
    option = next((word for word in args if word in verbs), None)
    # In LVM, a test run (-t) of a change from write-back to another mode never ends. Here, no test run ends for a day.
    if "-t" in args or "--test" in args:
        return SimulatedOutput(text="", code=5, seconds=86_400.0)
    if option is None:
        return SimulatedOutput(text="  No command with matching syntax recognised.\n", code=3)
    if pair is None:
        return SimulatedOutput(text=f'  Failed to find logical volume "{name}"\n', code=5)
    volume = pair[1]
    if volume.flush_to:
        group = pair[0].name
        return SimulatedOutput(text=f"  Can't get lock for {group}\n  Cannot process volume group {group}\n", code=5)
    value = args[args.index(option) + 1]
    outcome = verbs[option](rack, volume, value, "--yes" in args or "-y" in args)
    if isinstance(outcome, str):
        return SimulatedOutput(text=outcome.format(name=name, number=volume.number), code=5)
    text = outcome.text.format(name=name, number=volume.number)
    return replace(outcome, text=text, seconds=outcome.seconds or SECONDS)


def _find_volume(rack: Rack, name: str) -> tuple[LvmGroup, LvmVolume] | None:
    group, _, volume = name.partition("/")
    if group not in rack.lvm:
        return None
    return next(
        ((rack.lvm[group], candidate) for candidate in rack.lvm[group].volumes if candidate.name == volume),
        None,
    )


_NOT_PERMITTED = "  Command not permitted on LV {name}.\n"


def _set_mode(rack: Rack, volume: LvmVolume, value: str, yes: bool) -> SimulatedOutput | str:
    if value not in _MODES:
        text = f"  Unknown cache mode: {value}.\n  Invalid argument for --cachemode: {value}\n"
        return SimulatedOutput(text=f"{text}  Error during parsing of command line.\n", code=3)
    if volume.kind == "writecache":
        return _clear_settings(volume, yes)
    if volume.kind != "cache":
        return _NOT_PERMITTED
    if value == "writeback":
        if not yes:
            return f"{_WRITE_BACK}Continue using writeback without repair?[n]: [n]\n  Logical volume not changed.\n"
        volume.mode = value
        return SimulatedOutput(text=_WRITE_BACK + _CHANGED)
    if volume.mode == "writeback":
        return _after_flush(rack, volume, "mode", value)
    volume.mode = value
    return SimulatedOutput(text=_CHANGED)


def _after_flush(rack: Rack, volume: LvmVolume, key: str, value: str) -> SimulatedOutput:
    """Start a flush, after which the cache setting `key` changes. LVM's output does not show how long it takes."""
    dirty = volume.dirty_now(rack.now())
    volume.flush_to, volume.flush_since = f"{key}={value}", rack.now()
    volume.settle(rack.now())
    text = f"  Flushing {dirty // volume.chunk_bytes} blocks for cache {{name}}.\n{_CHANGED}"
    return SimulatedOutput(text=text, seconds=SECONDS + dirty / FLUSH_BYTES)


def _set_policy(rack: Rack, volume: LvmVolume, value: str, _yes: bool) -> SimulatedOutput | str:
    if volume.kind != "cache":
        return _NOT_PERMITTED
    if value not in _POLICIES:
        return f"{_CHANGED}{_REFUSED}"
    return _after_flush(rack, volume, "policy", value)


def _set_settings(_rack: Rack, volume: LvmVolume, value: str, yes: bool) -> SimulatedOutput | str:
    if volume.kind not in ("cache", "writecache"):
        return _NOT_PERMITTED
    if not value and volume.kind == "writecache":
        return _clear_settings(volume, yes)
    settings = dict(volume.settings)
    for pair in value.split():
        key, _, word = pair.partition("=")
        if volume.kind == "writecache":
            if key not in _OF_WRITECACHE:
                return _UNKNOWN.format(key=key)
            if not word.isdigit() or ("mark" in key and int(word) > 100):
                return f"  Invalid setting: {key}\n"
        elif word == "default":
            settings.pop(key, None)
            continue
        elif key != "migration_threshold" or not word.isdigit():
            return f"{_CHANGED}{_REFUSED}"
        settings[key] = int(word)
        if (key, settings[key]) == ("cleaner", 0):
            del settings[key]
    if volume.kind == "writecache" and not _is_accepted_by_kernel(settings):
        return f"{_CHANGED}{_REFUSED}"
    volume.settings = settings
    return SimulatedOutput(text=_CHANGED)


_UNKNOWN = (
    '  Unrecognized writecache setting "{key}" may cause activation failure.\n'
    "Use unrecognized writecache setting? [y/n]: [n]\n  Aborting writecache conversion.\n"
)


def _clear_settings(volume: LvmVolume, yes: bool) -> SimulatedOutput:
    """Clear the settings of a writecache. Without --yes, LVM keeps them but reports `changed` with exit status 0."""
    if yes:
        volume.settings.clear()
        return SimulatedOutput(text=_CHANGED)
    return SimulatedOutput(text=f"Clear all writecache settings? [n]\n  No settings changed.\n{_CHANGED}")


def _is_accepted_by_kernel(settings: Mapping[str, int]) -> bool:
    """Return True if the low watermark is not above the high one and all values are within the kernel's limits."""
    in_order = settings.get("low_watermark", 45) <= settings.get("high_watermark", 50)
    return in_order and all(value <= _OF_WRITECACHE[key] for key, value in settings.items())


def _set_read_ahead(_rack: Rack, volume: LvmVolume, value: str, _yes: bool) -> SimulatedOutput | str:
    if value not in ("auto", "none") and not re.fullmatch(r"\d{1,9}", value):
        return SimulatedOutput(text=f"  Invalid argument for --readahead: {value}\n", code=3)
    if value == volume.read_ahead:
        return f"  Read ahead is already {value} for {{name}}.\n"
    automatic = {"auto": max(256, volume.queue_sectors), "none": 0}  # with `auto`, LVM only raises the queue's value
    volume.read_ahead, volume.queue_sectors = value, automatic[value] if value in automatic else int(value)
    return SimulatedOutput(text=_CHANGED)


def _set_write_mostly(_rack: Rack, volume: LvmVolume, value: str, _yes: bool) -> SimulatedOutput | str:
    path, _, flag = value.rpartition(":")
    member = path.removeprefix("/dev/")
    if volume.kind != "raid1":
        return "  --writemostly can only be used with 'raid1' segment type.\n"
    if flag == "y" and {*volume.write_mostly, member} >= set(volume.places):
        return "  Can't set all images of raid1 LV {name} to writemostly.\n"
    if member not in volume.places:
        return f"  Physical volume {path} does not exist in volume group.\n"
    others = [name for name in volume.write_mostly if name != member]
    volume.write_mostly = [*others, member] if flag == "y" else others
    return SimulatedOutput(text=_CHANGED)


def _set_write_behind(_rack: Rack, volume: LvmVolume, value: str, _yes: bool) -> SimulatedOutput | str:
    if volume.kind != "raid1":
        return "  --writebehind can only be used with 'raid1' segment type.\n"
    if int(value) > 32766:
        return f"{_CHANGED}{_REFUSED}"
    volume.write_behind = int(value)
    return SimulatedOutput(text=_CHANGED)


def _set_rate(side: str, _rack: Rack, volume: LvmVolume, value: str, _yes: bool) -> SimulatedOutput | str:
    """Change the minimum or maximum recovery rate. `side`: `min` or `max`."""
    if not volume.kind.startswith("raid"):
        return _NOT_PERMITTED
    rates = {key: number for key, number in volume.rates.items() if key != side}
    if int(value):
        rates[side] = int(value)
    if rates.get("min", 0) > rates.get("max", 1 << 31):
        return "  Minimum recovery rate cannot be higher than maximum.\n"
    volume.rates = rates
    return SimulatedOutput(text=_CHANGED)


def _set_stripe_size(rack: Rack, volume: LvmVolume, value: str, yes: bool) -> SimulatedOutput | str:
    """Start a reshape to another stripe size."""
    if volume.kind not in STRIPED or not yes or volume.reshape_since:
        return "  Unable to convert LV {name}.\n"
    volume.stripe_bytes = int(value.removesuffix("k")) * 1024
    volume.reshape_since = rack.now()
    return SimulatedOutput(text="  Logical volume {name} successfully converted.\n")


_VERBS: Mapping[str, _Verb] = {
    "--cachemode": _set_mode,
    "--cachepolicy": _set_policy,
    "--cachesettings": _set_settings,
    "--readahead": _set_read_ahead,
    "--writemostly": _set_write_mostly,
    "--writebehind": _set_write_behind,
    "--minrecoveryrate": partial(_set_rate, "min"),
    "--maxrecoveryrate": partial(_set_rate, "max"),
}
