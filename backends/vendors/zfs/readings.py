"""Readings of pools, filesystems and volumes from the output of zfs and zpool. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.settings import AVAILABLE, Availability, Choice, Reading, Setting, available_unless, check_value, offer
from backends.sizes import size_words
from backends.text import clean
from backends.topology.tree import number
from backends.values import dataclass
from backends.vendors.zfs.facts import OWN, ZfsKind, ZfsValue
from backends.vendors.zfs.settings import CHOICES, FIXED, INHERIT, INHERITED, RECEIVED, settings_of

_LARGE = 128 << 10
"""Record size in bytes above which the pool needs the feature large_blocks (zpool-features(7))."""

_LARGEST = 1 << 20
"""Largest record size in bytes that OpenZFS 2.1 allows by default (zfs(4), zfs_max_recordsize)."""

_LEVELS = re.compile(r"gzip-[1-9]|zstd-(?:[1-9]|1[0-9])|zstd-fast-(?:[1-9]|[1-9]0|100|500|1000)|lzjb")
"""Compression methods that are valid but not offered."""

_WORDS = {
    ("xattr", "on"): "dir",
    ("compression", "gzip-6"): "gzip",
    ("compression", "zstd-fast-1"): "zstd-fast",
}
"""Value of raidbench, by setting and by the value that zfs prints, where the two differ.

Up to 2.2, zfs reports extended attributes in directories as `on` (module/zcommon/zfs_prop.c).
"""

_SOURCES = {"default": "it was not set", "received": "it was received with a stream"}
_OVERRIDDEN = "a mount option overrides it until the filesystem is remounted"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetView:
    """Current state of a pool, filesystem or volume."""

    name: str
    """Name of the pool, filesystem or volume."""
    kind: ZfsKind
    """Pool, filesystem or volume."""
    values: Mapping[str, ZfsValue]
    """Properties of the dataset."""
    pool: Mapping[str, ZfsValue]
    """Properties of its pool."""
    largest: int = _LARGEST
    """Largest record size in bytes that the module allows."""
    why_not: str | None = None
    """Reason why no setting can be changed; None if there is none."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Return the settings of this pool, filesystem or volume."""
        return settings_of(self.kind, special=self._feature("allocation_classes") == "active")

    def offers(self, key: str, value: str) -> bool:
        """Return whether its pool and this version accept a value."""
        if key == "compression" and value.startswith("zstd"):
            return self._feature("zstd_compress") in ("enabled", "active")
        if key in ("recordsize", "special_small_blocks"):
            large = self._feature("large_blocks") in ("enabled", "active")
            return int(value) <= (self.largest if large else _LARGE)
        return True

    def _feature(self, name: str) -> str:
        feature = self.pool.get(f"feature@{name}")
        return feature.text if feature is not None else ""


def dataset_readings(view: DatasetView) -> dict[str, Reading]:
    """Return the reading of every setting, in display order."""
    return {setting.key: _reading(view, setting.key) for setting in view.settings}


def common_value(key: str, text: str) -> str:
    """Return raidbench's value of the setting `key` for `text`, the value that zfs prints."""
    return _WORDS.get((key, text), clean(text, 64))


def _reading(view: DatasetView, key: str) -> Reading:
    value = view.values.get(key) if key in INHERITED or key == "volblocksize" else view.pool.get(key)
    if value is None or value.text == "-":
        return Reading(now=None, availability=available_unless(None, "zfs does not report it", view.why_not))
    force = common_value(key, value.text)
    raw = clean(f"{value.text} ({value.source})" if value.source != "-" else value.text, 300)
    if key in FIXED:
        return Reading(
            now=force, raw=raw, choices=(_choice(key, force),), availability=Availability(why_not=FIXED[key])
        )
    choices = [choice for choice in CHOICES[key] if view.offers(key, choice.value)]
    if key in INHERITED:
        if value.received is not None:
            text = f"The received value: {clean(value.received, 64)}."
            choices.insert(0, offer(RECEIVED, text))
        above = "the value of the parent filesystem" if view.kind is not ZfsKind.POOL else "the default"
        choices.insert(0, offer(INHERIT, f"Inherited: {above}."))
    if key not in INHERITED or (value.source in OWN and value.source != "received"):
        return Reading(
            now=force, raw=raw, choices=_with_value(choices, key, force), availability=_availability(view, value)
        )
    understood = value.source in _SOURCES or value.source.startswith("inherited from ")
    return Reading(
        now=(RECEIVED if value.source == "received" else INHERIT) if understood else "unknown",
        raw=raw,
        effective=force,
        why_effective=clean(_SOURCES.get(value.source, value.source), 300),
        follows=True,
        choices=_with_value(choices, key, force),
        availability=_availability(view, value),
    )


def _availability(view: DatasetView, value: ZfsValue) -> Availability:
    why_not = view.why_not or (_OVERRIDDEN if value.source == "temporary" else None)
    return Availability(why_not=why_not) if why_not else AVAILABLE


def _with_value(choices: list[Choice], key: str, now: str) -> tuple[Choice, ...]:
    """Return the choices, with the current value added if it is missing."""
    return tuple(choices) if any(choice.value == now for choice in choices) else (*choices, _choice(key, now))


def _choice(key: str, value: str) -> Choice:
    size = number(value) if key not in ("ashift",) else None
    return offer(value, "The current value.", label=size_words(size) if size else value)


def legal_value(view: DatasetView, setting: Setting, now: Reading, value: str) -> str:
    """Return the value in canonical form. Any compression level that the pool supports is valid.

    Raises InvalidValueError.
    """
    word = common_value(setting.key, value)
    if setting.key == "compression" and _LEVELS.fullmatch(word) and view.offers(setting.key, word):
        return word
    return check_value(setting, now, word)


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it. The pool need not accept it now.

    Raises InvalidValueError.
    """
    is_choice = any(choice.value == value for choice in CHOICES.get(setting.key, ()))
    level = setting.key == "compression" and _LEVELS.fullmatch(value) is not None
    return value if is_choice or level else check_value(setting, now, value)
