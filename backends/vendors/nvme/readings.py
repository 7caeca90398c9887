"""Conversion of a drive's features to readings of the settings. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from backends.change_steps import is_restorable_value
from backends.settings import Choice, Reading, Risk, Setting, Span, available_unless, offer
from backends.vendors.nvme.facts import ControllerView, NamespaceView, PowerState
from backends.vendors.nvme.formats import format_reading
from backends.vendors.nvme.settings import CONTROLLER_SETTINGS, FIELDS, NAMESPACE_SETTINGS, UNLIMITED, value_of_number

_CACHE = (
    offer("on", "Writes are acknowledged when they are in the drive's memory.", risk=Risk.POWER_LOSS),
    offer("off", "Writes are acknowledged when they are on the flash: slower."),
)
_BURSTS = (
    *(offer(str(1 << power), "Commands that are fetched from one queue before the next queue.") for power in range(7)),
    offer(UNLIMITED, "Each queue is emptied before the next queue.", label="unlimited", risk=Risk.PERFORMANCE),
)
_SPANS = {
    "irq_coalescing_threshold": Span(minimum=1, maximum=256, unit="completions"),
    "irq_coalescing_time": Span(minimum=0, maximum=25_500, step=100, unit="us"),
}


def controller_readings(view: ControllerView) -> Mapping[str, Reading]:
    """Return the readings of all settings of a controller."""
    return {setting.key: _feature(view, setting) for setting in CONTROLLER_SETTINGS}


def namespace_readings(view: NamespaceView) -> Mapping[str, Reading]:
    """Return the readings of all settings of a namespace."""
    return {
        setting.key: _feature(view, setting) if setting.key in FIELDS else format_reading(view)
        for setting in NAMESPACE_SETTINGS
    }


def value_before(view: ControllerView, setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it. It may be a non-operational power state.

    Raises InvalidValueError.
    """
    states = view.about.power_states if view.about is not None and setting.key == "power_state" else ()
    return value if any(value == str(state.number) for state in states) else is_restorable_value(setting, now, value)


def _feature(view: ControllerView, setting: Setting) -> Reading:
    key = setting.key
    field = FIELDS[key]
    choices, span = _choices(view, key), _SPANS.get(key)
    value, unsettled, why_not = None, None, view.blind
    if why_not is None and key == "drive_cache" and view.about is not None and view.about.has_cache is False:
        why_not = "the drive reports no volatile write cache"
    elif why_not is None:
        state = view.feature(field.feature)
        value = state.value
        why_not, unsettled = (state.why_not, None) if state.refused else (None, state.why_not)
        if why_not is None and state.changeable is False:
            why_not = "the drive does not allow changing it"
    why_not = why_not or _shared_reason(view) or view.frozen
    now = None if value is None else value_of_number(key, field.of(value))
    if now is not None and span is None and all(choice.value != now for choice in choices):
        now = "unknown"
    if why_not is None and unsettled is None and span is None and len(choices) < 2:
        why_not = "the drive supports only one value"
    effective, why = _in_force(view, key, now)
    return Reading(
        now=now,
        raw=None if value is None else f"0x{value:08x}",
        effective=effective,
        why_effective=why,
        choices=() if span is not None else choices,
        span=span,
        availability=available_unless(None, unsettled, why_not),
    )


def _shared_reason(view: ControllerView) -> str | None:
    """Return the reason why a setting of the controller cannot be changed through this namespace: it would affect
    others. None otherwise.
    """
    if not isinstance(view, NamespaceView):
        return None
    name = view.controller.name
    if len(view.namespace.controllers) > 1:
        names = ", ".join(f"nvme:{controller.name}" for controller in view.namespace.controllers)
        return f"several controllers provide it, each with its own value. Set it on {names}"
    if view.only is None:
        names = ", ".join(namespace.name for namespace in view.namespaces)
        return f"it is shared by {names}. Set it on nvme:{name}"
    return None


def _choices(view: ControllerView, key: str) -> tuple[Choice, ...]:
    match key:
        case "drive_cache":
            return _CACHE
        case "arbitration_burst":
            return _BURSTS
        case "power_state":
            states = view.about.power_states if view.about is not None else ()
            value = view.feature(FIELDS[key].feature).value
            now = None if value is None else FIELDS[key].of(value)
            return tuple(_power(state) for state in states if state.operational is not False or state.number == now)
        case _:
            return ()


def _power(state: PowerState) -> Choice:
    """Return the choice of a power state. A non-operational state is offered only if it is the current one."""
    label = f"{state.number}" if state.watts is None else f"{state.number}, up to {state.watts:.4g} W"
    parts = ["Full speed." if state.number == 0 else "Less power and less speed."]
    if state.operational is False:
        parts = ["Non-operational: the drive does no I/O until it wakes up."]
    if state.entry_us:
        parts.append(f"Entry takes up to {state.entry_us} us.")
    if state.exit_us:
        parts.append(f"Exit takes up to {state.exit_us} us.")
    risk = Risk.NONE if state.number == 0 else Risk.PERFORMANCE
    return offer(str(state.number), " ".join(parts), label=label, risk=risk)


def _in_force(view: ControllerView, key: str, now: str | None) -> tuple[str | None, str | None]:
    """Return the cache mode in effect and the reason, if the kernel assumes a different mode from the drive's; else
    (None, None).
    """
    beliefs = {namespace.write_cache for namespace in view.namespaces}
    if key != "drive_cache" or len(beliefs) != 1:
        return None, None
    match now, beliefs.pop():
        case "off", "write back":
            why = "the kernel still assumes a cache, so it continues to send flushes, which now cost little"
            return "off, still flushed", why
        case "on", "write through":
            why = "the kernel assumes no write cache and sends no flushes, so a power failure loses even synced data"
            return "on, never flushed", why
        case _:
            return None, None
