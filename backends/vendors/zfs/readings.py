"""From what zfs and zpool tell of a thing to the readings of its settings. Pure."""

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
"""Bytes above which a record needs the pool's feature large_blocks (zpool-features(7))."""

_LARGEST = 1 << 20
"""The largest record that 2.1 allows (zfs(4), zfs_max_recordsize)."""

_LEVELS = re.compile(r"gzip-[1-9]|zstd-(?:[1-9]|1[0-9])|zstd-fast-(?:[1-9]|[1-9]0|100|500|1000)|lzjb")
"""Compressions that are not offered and taken all the same."""

_WORDS = {
    ("xattr", "on"): "dir",
    ("compression", "gzip-6"): "gzip",
    ("compression", "zstd-fast-1"): "zstd-fast",
}
"""Names of one value: up to 2.2 zfs calls extended attributes in directories `on` (module/zcommon/zfs_prop.c)."""

_OVERRIDDEN = "a mount option overrides it until the filesystem is mounted anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetView:
    """A pool, filesystem or volume as it is now."""

    name: str
    """Its name."""
    kind: ZfsKind
    """What it is."""
    values: Mapping[str, ZfsValue]
    """Properties of the dataset."""
    pool: Mapping[str, ZfsValue]
    """Properties of its pool."""
    largest: int = _LARGEST
    """Bytes of the largest record that the module allows."""
    why_not: str | None = None
    """What stands against any change."""

    @property
    def special(self) -> bool:
        """Whether its pool has special devices (zpool-features(7), allocation_classes)."""
        return self._feature("allocation_classes") == "active"

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What it has."""
        return settings_of(self.kind, special=self.special)

    def offers(self, key: str, value: str) -> bool:
        """Whether its pool and this version take a value."""
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
    """Every setting that it has, in the order they are shown."""
    return {setting.key: _reading(view, setting.key) for setting in view.settings}


def in_force(key: str, text: str) -> str:
    """A value in the common vocabulary."""
    return _WORDS.get((key, text), clean(text, 64))


def _reading(view: DatasetView, key: str) -> Reading:
    value = view.values.get(key) if key in INHERITED or key == "volblocksize" else view.pool.get(key)
    if value is None or value.text == "-":
        return Reading(now=None, availability=available_unless(None, "zfs does not tell it", view.why_not))
    force = in_force(key, value.text)
    raw = clean(f"{value.text} ({value.source})" if value.source != "-" else value.text, 300)
    if key in FIXED:
        return Reading(
            now=force, raw=raw, choices=(_choice(key, force),), availability=Availability(why_not=FIXED[key])
        )
    choices = [choice for choice in CHOICES[key] if view.offers(key, choice.value)]
    if key in INHERITED:
        if value.received is not None:
            text = f"What came with the stream: {clean(value.received, 64)}."
            choices.insert(0, offer(RECEIVED, text))
        above = "what the filesystem above has" if view.kind is not ZfsKind.POOL else "the default"
        choices.insert(0, offer(INHERIT, f"Nothing of its own: {above}."))
    if key not in INHERITED or (value.source in OWN and value.source != "received"):
        return Reading(
            now=force, raw=raw, choices=_with_value(choices, key, force), availability=_availability(view, value)
        )
    understood = value.source in ("default", "received") or value.source.startswith("inherited from ")
    return Reading(
        now=(RECEIVED if value.source == "received" else INHERIT) if understood else "unknown",
        raw=raw,
        effective=force,
        why_effective=clean(_why(value.source), 300),
        follows=True,
        choices=_with_value(choices, key, force),
        availability=_availability(view, value),
    )


def _why(source: str) -> str:
    return {"default": "nobody set it", "received": "it came with a stream"}.get(source, source)


def _availability(view: DatasetView, value: ZfsValue) -> Availability:
    why_not = view.why_not or (_OVERRIDDEN if value.source == "temporary" else None)
    return Availability(why_not=why_not) if why_not else AVAILABLE


def _with_value(choices: list[Choice], key: str, now: str) -> tuple[Choice, ...]:
    """The choices, the present value among them whatever it is."""
    return tuple(choices) if any(choice.value == now for choice in choices) else (*choices, _choice(key, now))


def _choice(key: str, value: str) -> Choice:
    size = number(value) if key not in ("ashift",) else None
    return offer(value, "The present value.", label=size_words(size) if size else value)


def legal_value(view: DatasetView, setting: Setting, now: Reading, value: str) -> str:
    """The value in canonical form; a compression may be any level that its pool takes. Raises InvalidValueError."""
    word = in_force(setting.key, value)
    if setting.key == "compression" and _LEVELS.fullmatch(word) and view.offers(setting.key, word):
        return word
    return check_value(setting, now, word)


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """A value that it had before, whether its pool takes it now or not. Raises InvalidValueError."""
    is_choice = any(choice.value == value for choice in CHOICES.get(setting.key, ()))
    level = setting.key == "compression" and _LEVELS.fullmatch(value) is not None
    return value if is_choice or level else check_value(setting, now, value)
