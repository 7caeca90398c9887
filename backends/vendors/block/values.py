"""Conversion of queue attributes to a `Reading`, and of values to file contents. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.change_steps import RequestedValue
from backends.errors import InvalidValueError
from backends.settings import Availability, Choice, Reading, Span, available_unless, offer
from backends.text import clean, parse_choices
from backends.vendors.block.settings import BY_KEY, SENTENCES

READ_AHEAD_MAX = 1024 * 1024
"""Maximum read-ahead in KiB that raidbench offers. The kernel's own limit is 4 TiB."""

WBT_MAX = 10_000_000
"""Maximum writeback latency target in microseconds that raidbench offers."""

TIMEOUT_MIN, TIMEOUT_MAX, TIMEOUT_STEP = 1000, 4_294_967_200, 100
"""Offered I/O timeouts in milliseconds.

The kernel stores an unsigned 32-bit number (block/blk-sysfs.c, queue_io_timeout_store). It counts in ticks: 100 ms are
a whole number of ticks at 100, 250, 300 and 1000 Hz. With less than a second, the kernel would reset healthy drives.
"""

SCHEDULED_MAX = 2048
"""Maximum number of requests per queue with a scheduler (block/blk-mq-sched.h, MAX_SCHED_RQ = 16 * 128)."""

REQUESTS_MIN = 4
"""Minimum number of requests. The kernel raises smaller values to it (include/linux/blkdev.h, BLKDEV_MIN_RQ)."""

_CACHE_WORDS = {"write back": "write-back", "write through": "write-through"}

_NUMBER = re.compile(r"-?\d{1,19}", re.ASCII)


def reading(key: str, attributes: Mapping[str, str], why_not: str | None, page_kb: int) -> Reading:
    """Return the reading of one setting.

    `attributes`: contents of the files of `queue/` by name, and `nr_tags`. `why_not`: why the setting cannot be
    changed, or None.
    """
    raw = attributes.get(key)
    if key == "scheduler":
        return _scheduler(raw, why_not)
    if choices := BY_KEY[key].choices:
        return _choice(key, choices, raw, why_not)
    now = _number(raw)
    span = _span(key, attributes, page_kb, now)
    if key == "nr_requests" and why_not is None and _has_no_queue(attributes):
        why_not = "it forwards requests and has no queue of its own"
    if span is None and why_not is None:
        why_not = "the kernel does not report which values this device takes"
    return Reading(
        now=now if now is not None or raw is None else "unknown",
        raw=_raw(raw),
        span=span,
        availability=Availability(why_not=why_not),
    )


def _scheduler(raw: str | None, why_not: str | None) -> Reading:
    current, names = parse_choices(raw or "")
    if why_not is None and len(names) < 2:
        why_not = "the kernel has no other scheduler for this device"
    return Reading(
        now=current or (None if raw is None else "unknown"),
        raw=_raw(raw),
        choices=tuple(offer(name, SENTENCES.get(name, "")) for name in names),
        availability=Availability(why_not=why_not),
    )


def scheduler_file(now: Reading, wanted: str) -> str:
    """Return the content of the `scheduler` file after `wanted` was written."""
    return " ".join(f"[{choice.value}]" if choice.value == wanted else choice.value for choice in now.choices)


def _choice(key: str, choices: tuple[Choice, ...], raw: str | None, why_not: str | None) -> Reading:
    word = _CACHE_WORDS.get(raw or "", raw) if key == "write_cache" else raw
    understood = word is None or any(choice.value == word for choice in choices)
    unsettled = "the kernel does not report it" if raw is None else None
    return Reading(
        now=word if understood else "unknown",
        raw=_raw(raw),
        choices=choices,
        availability=available_unless(why_not, unsettled),
    )


def _span(key: str, attributes: Mapping[str, str], page_kb: int, now: str | None) -> Span | None:
    present = int(now) if now is not None else 0
    match key:
        case "read_ahead_kb":
            return Span(minimum=0, maximum=max(READ_AHEAD_MAX, present), step=page_kb, unit="KiB")
        case "wbt_lat_usec":
            return Span(minimum=-1, maximum=max(WBT_MAX, present), unit="us")
        case "io_timeout":
            return Span(
                minimum=min(TIMEOUT_MIN, present) if now is not None else TIMEOUT_MIN,
                maximum=max(TIMEOUT_MAX, present),
                step=TIMEOUT_STEP,
                unit="ms",
            )
        case "nr_requests":
            top = _requests_max(attributes)
            return Span(minimum=REQUESTS_MIN, maximum=max(top, present), unit="requests") if top else None
        case "max_sectors_kb":
            top = int(_number(attributes.get("max_hw_sectors_kb")) or 0)
            step = max(1, int(_number(attributes.get("logical_block_size")) or 512) // 1024)
            low = min(page_kb, present) if present else page_kb
            return Span(minimum=low, maximum=max(top, present), step=step, unit="KiB") if top >= low else None
        case _:
            return None


def _has_no_queue(attributes: Mapping[str, str]) -> bool:
    """Return whether the device has no request queue of its own, like md and dm devices.

    For such devices the kernel reports a queue size but accepts none (block/blk-sysfs.c, queue_requests_store,
    queue_is_mq).
    """
    _, names = parse_choices(attributes.get("scheduler", ""))
    return "nr_tags" not in attributes and tuple(names) == ("none",)


def require_size(request: RequestedValue, attributes: Mapping[str, str]) -> None:
    """Raise InvalidValueError if the requested queue size exceeds the maximum with the scheduler in `attributes`."""
    most = _requests_max({**attributes, "nr_requests": ""})
    if most and request.value.isdecimal() and int(request.value) > most:
        raise InvalidValueError(
            f"{request.setting.label} of {request.target} cannot be {request.value} with this scheduler.",
            hint=f"Valid values: from {REQUESTS_MIN} to {most} requests.",
        )


def _requests_max(attributes: Mapping[str, str]) -> int:
    """Return the maximum number of requests in a queue: 2048 with a scheduler, else the device's number of tags.

    If the tags are not reported, return the current number; 0 if that is unknown too.
    """
    current, _ = parse_choices(attributes.get("scheduler", ""))
    if current is not None and current != "none":
        return SCHEDULED_MAX
    return int(_number(attributes.get("nr_tags")) or _number(attributes.get("nr_requests")) or 0)


def fitting_companions(
    companions: Mapping[str, str], scheduler: str, attributes: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the values to restore along with a scheduler, without a queue size that the scheduler does not accept."""
    top = _requests_max({**attributes, "scheduler": f"[{scheduler}]", "nr_requests": ""})
    size = companions.get("nr_requests", "")
    too_many = bool(top) and size.isdigit() and int(size) > top
    return {key: value for key, value in companions.items() if key != "nr_requests" or not too_many}


def kernel_text(key: str, value: str) -> str:
    """Return the string by which the kernel knows raidbench's `value` of a setting: `write back` for `write-back`."""
    kernel_words = {common: kernel for kernel, common in _CACHE_WORDS.items()}
    return kernel_words.get(value, value) if key == "write_cache" else value


def value_afterwards(key: str, value: str, attributes: Mapping[str, str]) -> str:
    """Return the value that the kernel reports after `value` was written.

    A latency target of -1 selects the medium's default.
    """
    if key == "wbt_lat_usec" and value == "-1":
        return "75000" if attributes.get("rotational") == "1" else "2000"
    return value


def _number(raw: str | None) -> str | None:
    return str(int(raw)) if raw is not None and raw.isascii() and _NUMBER.fullmatch(raw) else None


def _raw(raw: str | None) -> str | None:
    return clean(raw) if raw is not None else None
