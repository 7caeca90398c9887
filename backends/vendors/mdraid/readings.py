"""State of an array at one moment, and the readings of its settings. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from backends.settings import NOT_UNDERSTOOD, Availability, Choice, Reading, Risk, Span, available_unless, offer
from backends.sizes import percent_text, size_words
from backends.text import clean
from backends.topology.tree import node_path, number
from backends.values import dataclass
from backends.vendors.mdraid import full_speed
from backends.vendors.mdraid.facts import IMSM, ArrayFacts, parse_limit
from backends.vendors.mdraid.layouts import layout_help, layout_label, layout_word
from backends.vendors.mdraid.reshape import ReshapeMethod, chunk_offers, fixed_reason, layout_offers, method_of
from backends.vendors.mdraid.settings import PARITY, SPEEDS, ArrayTraits, member_of, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayView:
    """The current state of an array, and the reasons why it cannot be changed."""

    array: ArrayFacts
    """Facts from the kernel."""
    outline: ArrayTraits
    """Traits that decide which settings it has."""
    refusals: Mapping[str, str | None] = field(default_factory=dict)
    """Reason why a file of its `md` folder cannot be written, by file name; None if a write may be tried."""
    container_metadata: str = ""
    """Metadata version of its container, `external:imsm`; "" without one."""
    mdadm: str | None = None
    """Path of mdadm; None if it is not installed."""
    mdadm_why_not: str | None = None
    """Reason why mdadm cannot be run for a change; None if it can be run."""
    memory_bytes: int | None = None
    """Memory of the host in bytes; None if unknown."""
    cpus: int | None = None
    """Number of online CPUs of the host; None if unknown."""
    speed_kib: int | None = None
    """System-wide speed limit of a resync in KiB/s on each member; None if unknown."""

    @property
    def device(self) -> str:
        """Return the path of the array's node."""
        return node_path(self.array.name)


# -- readings of the settings. No I/O ---------------------------------------------------------------------------------

STRIPE_CACHE_MIN, STRIPE_CACHE_MAX = 17, 32768
"""Limits of the stripe cache in pages per member (drivers/md/raid5.c, raid5_set_cache_size)."""

MEMORY_SHARE = 4
"""The stripe cache may use at most 1/`MEMORY_SHARE` of the memory."""

THREADS_MAX = 8192
"""Maximum number of parity threads (drivers/md/raid5.c, raid5_store_group_thread_cnt)."""

SAFE_MODE_MAX, SAFE_MODE_STEP = 60_000, 20
"""Maximum and step of the safe mode delay in milliseconds.
The kernel counts in ticks, and 20 ms are a whole number of ticks at 100, 250, 300 and 1000 Hz.
"""

SPEED_STEPS = (1000, 5000, 10_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000)
"""Speeds in KiB/s that are offered. Any other number is accepted too."""

SPEED_LIMIT = (1 << 31) - 1
"""Largest speed in KiB/s that fits the kernel's data type (an int in drivers/md/md.h)."""

_SECONDS = re.compile(r"([0-9]{1,7})\.([0-9]{3})")


def readings(view: ArrayView) -> dict[str, Reading]:
    """Return the readings of all settings of the array in display order."""
    return {setting.key: _reading(setting.key, view) for setting in settings_of(view.outline)}


def _reading(key: str, view: ArrayView) -> Reading:
    if (pair := member_of(key)) is not None:
        return _flag(view, *pair)
    if key in SPEEDS:
        return _speed(view, key)
    return _OWN[key](view)


def _number(view: ArrayView, key: str, span: Span, parse: Callable[[str | None], int | None] = number) -> Reading:
    raw = view.array.attributes.get(key)
    now = parse(raw)
    wide = Span(
        minimum=min(span.minimum, now if now is not None else span.minimum),
        maximum=max(span.maximum, now or 0),
        step=span.step,
        unit=span.unit,
    )
    return Reading(
        now=str(now) if now is not None else None if raw is None else "unknown",
        raw=_raw(raw),
        span=wide,
        availability=Availability(why_not=view.refusals.get(key)),
    )


def _stripe_cache(view: ArrayView) -> Reading:
    span = Span(minimum=STRIPE_CACHE_MIN, maximum=_stripe_cache_most(view), unit="pages a member")
    return _number(view, "stripe_cache_size", span)


def _stripe_cache_most(view: ArrayView) -> int:
    most = STRIPE_CACHE_MAX
    if view.memory_bytes and view.outline.disks:
        most = min(most, view.memory_bytes // MEMORY_SHARE // (view.outline.page_bytes * view.outline.disks))
    return max(most, STRIPE_CACHE_MIN)


def resync_parts(view: ArrayView, value: str) -> dict[str, str]:
    """Return the value of each setting that the preset `resync_speed` combines, by key, for a `value` of the preset;
    empty if `value` is illegal.
    """
    parity = view.outline.level in PARITY
    if value != full_speed.FULL:
        return full_speed.parts_in(value, parity)
    now = number(view.array.attributes.get("stripe_cache_size")) if parity else None
    return full_speed.full_parts(now, _stripe_cache_most(view))


def _resync(view: ArrayView) -> Reading:
    """Return the reading of the preset: `full`, or the combination of the current values."""
    parts = {key: _reading(key, view) for key in full_speed.parts_of(view.outline.level in PARITY)}
    texts = {key: reading.now for key, reading in parts.items() if reading.now is not None and reading.now != "unknown"}
    complete = texts.keys() == parts.keys()
    now = full_speed.value_of(texts, resync_parts(view, full_speed.FULL)) if complete else "unknown"
    present = () if now in (full_speed.FULL, "unknown") else (offer(now, "The current values."),)
    full = offer(full_speed.FULL, "As fast as the members allow.", risk=Risk.PERFORMANCE)
    reasons = (reading.availability.why_not for reading in parts.values())
    return Reading(
        now=now,
        raw=", ".join(f"{key} {reading.raw}" for key, reading in parts.items() if reading.raw is not None) or None,
        choices=(full, *present),
        availability=Availability(why_not=next(filter(None, reasons), None)),
    )


def _preread(view: ArrayView) -> Reading:
    most = number(view.array.attributes.get("stripe_cache_size")) or 0
    return _number(view, "preread_bypass_threshold", Span(minimum=0, maximum=most, unit="stripes"))


def _threads(view: ArrayView) -> Reading:
    most = min(view.cpus or 64, THREADS_MAX)
    return _number(view, "group_thread_cnt", Span(minimum=0, maximum=most, unit="threads"))


def _skip_copy(view: ArrayView) -> Reading:
    raw = view.array.attributes.get("skip_copy")
    return Reading(
        now={"0": "off", "1": "on", None: None}.get(raw, "unknown"),
        raw=_raw(raw),
        choices=(
            offer("off", "Every write is copied into the stripe cache."),
            offer("on", "Full-stripe writes are not copied."),
        ),
        availability=Availability(why_not=view.refusals.get("skip_copy")),
    )


_MODE = re.compile(r"\[(write-through|write-back)\]")


def _journal_mode(view: ArrayView) -> Reading:
    """Return the reading of the journal mode. The file has the current mode in brackets: `[write-through]
    write-back`.
    """
    raw = view.array.attributes.get("journal_mode")
    match = _MODE.search(raw or "")
    why_not = view.array.foreign or view.refusals.get("journal_mode")
    return Reading(
        now=None if raw is None else "unknown" if match is None else match[1],
        raw=_raw(raw),
        choices=(
            offer("write-through", "A write is acknowledged once it is on the members."),
            offer("write-back", "A write is acknowledged once it is in the journal.", risk=Risk.POWER_LOSS),
        ),
        availability=Availability(why_not=why_not or ("the array has no working journal" if not match else None)),
    )


def _speed(view: ArrayView, key: str) -> Reading:
    raw = view.array.attributes.get(key)
    limit = parse_limit(raw)
    now = None if raw is None else "unknown"
    system = "system"
    numbers = set(SPEED_STEPS)
    if limit is not None:
        kib, is_own = limit
        now = str(kib) if is_own else "system"
        numbers |= {kib} if is_own else set()
        system = "system" if is_own else f"system, now {kib}"
    steps = (offer(str(number), "The array's own limit.", label=f"{number} KiB/s") for number in sorted(numbers))
    return Reading(
        now=now,
        raw=_raw(raw),
        choices=(offer("system", "Follows the machine's limit.", label=system), *steps),
        availability=Availability(why_not=view.refusals.get(key)),
    )


LOCKLESS = "lockless"
"""Kind of bitmap in Linux 6.18 and later: mdadm's name of the kernel's `llbitmap`.

Only a new array can have it: `mdadm --grow --bitmap=lockless` is refused (mdadm's test 05r1-grow-lockless).
"""

_TYPE = re.compile(r"\[(\w{1,32})\]")
_WITHOUT = ("resync", "ppl", "journal")
"""Consistency policies of an array without a bitmap (drivers/md/md.c, consistency_policy_show)."""


def bitmap_word(attributes: Mapping[str, str]) -> str | None:
    """Return the kind of bitmap: `none`, `internal`, `lockless`, `file`, `clustered`; None if it is not reported.

    Since Linux 6.18 the file `bitmap_type` has the kind in brackets, and an array without a bitmap may have no `bitmap`
    folder.
    """
    chosen = _TYPE.search(attributes.get("bitmap_type", ""))
    if chosen is not None and chosen[1] == "llbitmap":
        return LOCKLESS
    location = attributes.get("bitmap/location")
    if location is None and chosen is not None and attributes.get("consistency_policy") in _WITHOUT:
        return "none"
    if location is None or (location != "none" and "bitmap/metadata" not in attributes):
        return None
    if attributes.get("bitmap/metadata") == "clustered":
        return "clustered"
    if location == "none":
        return "none"
    if re.fullmatch(r"[+-]\d{1,19}", location, re.ASCII):
        return "internal"
    return "file" if location == "file" else NOT_UNDERSTOOD


def _bitmap(view: ArrayView) -> Reading:
    attributes = view.array.attributes
    now = bitmap_word(attributes)
    why_not = _grow_blocked_reason(view)
    policy = attributes.get("consistency_policy")
    if why_not is None and now in ("file", "clustered"):
        why_not = f"its bitmap is {'in a file' if now == 'file' else 'that of a cluster'}"
    if why_not is None and policy in ("ppl", "journal"):
        why_not = f"its consistency policy is {policy}, which excludes a bitmap"
    understood = now in (None, "none", "internal", LOCKLESS)
    return Reading(
        now=now if understood else "unknown",
        raw=_raw(attributes["bitmap_type"]) if now == LOCKLESS else _raw(attributes.get("bitmap/location")),
        choices=(
            offer("none", "After a crash everything is resynchronised.", risk=Risk.PERFORMANCE),
            _LOCKLESS if now == LOCKLESS else _INTERNAL,
        ),
        availability=Availability(why_not=why_not),
    )


_INTERNAL = offer("internal", "Stored next to the metadata on every member.")
_LOCKLESS = offer(LOCKLESS, "Stored next to the metadata and written without a lock. Only a new array can have it.")


def _consistency(view: ArrayView) -> Reading:
    raw = view.array.attributes.get("consistency_policy")
    why_not = _grow_blocked_reason(view, imsm=True)
    if why_not is None and view.array.level_word != "raid5":
        why_not = "a partial parity log is for RAID 5 only"
    elif why_not is None and raw == "bitmap":
        why_not = "it has a bitmap; set bitmap to none first"
    elif why_not is None and raw == "journal":
        why_not = "the policy journal cannot be changed"
    unsettled = None
    if raw not in ("resync", "ppl", "bitmap", "journal"):
        unsettled = f"the policy {clean(raw or 'unknown', 32)} cannot be changed"
    legal = [
        offer(
            "resync",
            "The whole array is resynchronised.",
            risk=Risk.POWER_LOSS if raw == "ppl" else Risk.NONE,
        ),
        offer("ppl", "Only regions that were being written are resynchronised.", label="partial parity log"),
    ]
    kept_policies = {
        "bitmap": "Only regions marked in the bitmap are resynchronised.",
        "journal": "The journal is written back.",
    }
    if raw in kept_policies:
        legal.append(offer(raw, kept_policies[raw]))
    understood = any(choice.value == raw for choice in legal)
    return Reading(
        now=raw if understood else None if raw is None else "unknown",
        raw=_raw(raw),
        choices=tuple(legal),
        availability=available_unless(why_not, unsettled),
    )


def milliseconds(raw: str | None) -> int | None:
    """Return the milliseconds in a string of seconds: 204 for `0.204`; None for any other string."""
    match = _SECONDS.fullmatch(raw or "")
    return None if match is None else int(match[1]) * 1000 + int(match[2])


def _safe_mode(view: ArrayView) -> Reading:
    span = Span(minimum=0, maximum=SAFE_MODE_MAX, step=SAFE_MODE_STEP, unit="ms")
    return _number(view, "safe_mode_delay", span, milliseconds)


def _chunk(view: ArrayView) -> Reading:
    chunk = view.array.chunk
    choices = tuple(
        _geometry_choice(view, "chunk_size", str(size), size_words(size)) for size in chunk_offers(view.array)
    )
    return Reading(
        now=None if chunk is None else str(chunk.now),
        raw=_raw(view.array.attributes.get("chunk_size")),
        effective=None if chunk is None or chunk.old is None else str(chunk.old),
        why_effective=None if chunk is None or chunk.old is None else _interrupted_reason(view),
        choices=choices,
        availability=Availability(why_not=_shape_blocked_reason(view)),
    )


def _layout(view: ArrayView) -> Reading:
    layout = view.array.layout
    choices = tuple(
        _geometry_choice(view, "layout", word, layout_label(word), layout_help(word))
        for word in layout_offers(view.array)
    )
    return Reading(
        now=view.array.layout_word,
        raw=_raw(view.array.attributes.get("layout")),
        effective=None if layout is None or layout.old is None else layout_word(view.array.level_word, layout.old),
        why_effective=None if layout is None or layout.old is None else _interrupted_reason(view),
        choices=choices,
        availability=Availability(why_not=_shape_blocked_reason(view)),
    )


def _interrupted_reason(view: ArrayView) -> str:
    sync = view.array.sync
    done = "" if sync is None or sync.progress is None else f", {percent_text(sync.progress, 1)} of it is done"
    return f"the reshape is running{done}"


def _geometry_choice(view: ArrayView, key: str, value: str, label: str, text: str = "") -> Choice:
    """Return a choice for chunk or layout, with its risk: if the array must be re-created, its data is destroyed."""
    if method_of(view.array, key) is ReshapeMethod.RECREATE:
        how, risk = "The array must be re-created: all data is lost.", Risk.DESTROYS_DATA
    else:
        how, risk = "All data is moved while the array is in use.", Risk.OUTAGE
    return offer(value, f"{text} {how}".strip(), label=label, risk=risk)


def _shape_blocked_reason(view: ArrayView) -> str | None:
    return fixed_reason(view.array) or view.mdadm_why_not


def _grow_blocked_reason(view: ArrayView, *, imsm: bool = False) -> str | None:
    """Return the reason why `mdadm --grow` cannot change a setting other than chunk and layout; None if there is none.

    `imsm`: whether the setting can also be changed with Intel's metadata.
    """
    array = view.array
    if array.foreign is not None and not (imsm and view.container_metadata == IMSM):
        return array.foreign
    if array.cut:
        return array.cut
    if array.metadata.startswith("external:-"):  # mdadm has frozen the volumes of its container
        return f"the volumes of {array.container} are frozen, probably for a reshape of one of them. Wait until it ends"
    if array.sync is not None:
        return f"a {array.sync.action} {('waits' if array.sync.waiting else 'is running')}. Wait until it ends"
    if array.array_state not in ("clean", "active", "active-idle", "write-pending"):
        return f"the array is {array.array_state or 'not running'}"
    return view.mdadm_why_not


def _flag(view: ArrayView, kind: str, name: str) -> Reading:
    unread = f"dev-{name}/state" in view.array.untold
    member = next((device for device in view.array.members if device.name == name and not unread), None)
    texts = {
        "write_mostly": ("Read like any other member.", "Read only if no other member is available."),
        "failfast": ("Requests are retried.", "Requests fail at the first transport error."),
    }[kind]
    return Reading(
        now=None if member is None else "on" if kind in member.flags else "off",
        raw=None if member is None else ",".join(member.flags),
        choices=(
            offer("off", texts[0]),
            offer("on", texts[1], risk=Risk.PERFORMANCE if kind == "failfast" else Risk.NONE),
        ),
        availability=Availability(why_not=view.array.foreign or view.refusals.get(f"dev-{name}/state")),
    )


def _raw(raw: str | None) -> str | None:
    return clean(raw) if raw is not None else None


_OWN: Mapping[str, Callable[[ArrayView], Reading]] = {
    full_speed.KEY: _resync,
    "stripe_cache_size": _stripe_cache,
    "preread_bypass_threshold": _preread,
    "group_thread_cnt": _threads,
    "skip_copy": _skip_copy,
    "journal_mode": _journal_mode,
    "bitmap": _bitmap,
    "consistency_policy": _consistency,
    "safe_mode_delay": _safe_mode,
    "chunk_size": _chunk,
    "layout": _layout,
}
