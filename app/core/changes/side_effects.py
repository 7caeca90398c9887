"""Side effects of a change: other settings that it altered, and the values that an undo restores.

A difference counts as a side effect of a change under two conditions. The backend declares that the change may alter
this setting (`Change.moves`, `Change.moves_disk`), and the value is one to which the change resets it
(`Change.resets_to`). Any other difference was made by another program: it is reported, and left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.changes.verification import read_around
from app.core.session.event_types import MovedSetting
from app.core.session.state import ChangeRecord
from app.core.session.unit_labels import value_text
from backends.change import Change, ValueBefore
from backends.errors import DeviceGoneError, NotFoundError
from backends.model import KERNEL, Scope, Target
from backends.protocol import InventoryBackend, SettingsBackend
from backends.settings import Effect
from backends.values import dataclass

Values = Mapping[tuple[Target, str], str | None]
"""Values of settings as read, by target and key."""

Wanted = Mapping[tuple[Target, str], str]
"""Values that settings should have, by target and key."""


async def read_beside(
    backends: Mapping[str, InventoryBackend | SettingsBackend], change: Change, disk: Target | None
) -> Values:
    """Return the values of all settings of a change's target, and of the target's kernel disk (`disk`).

    Unreadable settings are omitted: the change itself reports the error. If a vendor's tool takes seconds, only the
    settings are read on which the changed setting depends. Raises DeviceGoneError or NotFoundError if the target is
    gone.
    """
    values: dict[tuple[Target, str], str | None] = {}
    for target in (change.target, disk):
        backend = None if target is None else backends.get(target.backend)
        if target is None or not isinstance(backend, SettingsBackend):
            continue
        try:
            readings = await read_around(backend, target, change)
        except (DeviceGoneError, NotFoundError):
            if target == change.target:
                raise
        except Exception:  # an error of a reading that is only reported must not stop the change
            continue
        else:
            values |= {(target, key): reading.now for key, reading in readings.items()}
    return values


def disk_beside(change: Change) -> Target | None:
    """Return the kernel disk whose settings a change may alter or has recorded; None if there is none."""
    for before in change.beside:
        if before.target.backend == KERNEL != change.target.backend:
            return before.target
    if not change.moves_disk or change.identity is None:
        return None
    return Target(backend=KERNEL, address=change.identity.name, scope=Scope.DRIVE)


def with_values_before(change: Change, before: Values) -> Change:
    """Return the change, supplemented by the old values (`before`) of all settings that it may alter as side effects.

    These values are in the journal before anything is set, so that the change can be undone after a crash at any
    moment. A change that re-creates an array has companion settings with the values before its whole set. Those that
    earlier changes of the set gave them are added, so that undoing this change alone keeps them.
    """
    if change.effect is Effect.RECREATED:
        own = ((key, before.get((change.target, key))) for key in change.companions)
        set_before = (
            ValueBefore(target=change.target, key=key, value=value)
            for key, value in own
            if value not in (None, "unknown", change.companions[key])
        )
        return replace(change, beside=tuple(set_before))
    values_before = {setting: value for setting, value in _may_move(change, before) if value != "unknown"}
    beside = (ValueBefore(target=target, key=key, value=value) for (target, key), value in values_before.items())
    return replace(with_companions(change, values_before), beside=tuple(beside))


def _may_move(change: Change, values: Values) -> Iterator[tuple[tuple[Target, str], str]]:
    """Yield ((target, key), value) of each setting that a change may alter, according to its backend."""
    for (target, key), value in values.items():
        declared = change.moves if target == change.target else change.moves_disk
        if value is not None and key in declared and (target, key) != (change.target, change.key):
            yield (target, key), value


def side_effects_of(change: Change, before: Values, after: Values, restored: Wanted) -> tuple[MovedSetting, ...]:
    """Return the settings, except the changed one, whose readings `before` and `after` the change differ.

    `restored`: the values that an undo was meant to restore.
    """
    declared = {setting for setting, _ in _may_move(change, after)}
    return tuple(
        MovedSetting(
            target=target,
            key=key,
            before=before[target, key],
            now=now,
            explained=(target, key) in declared and _is_led_to(change, key, now),
            restored=restored.get((target, key)) == now,
        )
        for (target, key), now in after.items()
        if (target, key) in before and before[target, key] != now and (target, key) != (change.target, change.key)
    )


def _is_led_to(change: Change, key: str, value: str | None) -> bool:
    """Return whether `value` is one that the setting `key` can get as a side effect of the change."""
    return key not in change.resets_to or value in change.resets_to[key]


@dataclass(frozen=True, slots=True)
class Debts:
    """Values of other settings that an undo must restore: the change altered them, or the undo may alter them."""

    restored: Wanted
    """Old values of settings that the change altered and that no other program has set since."""
    kept: Wanted
    """Current values of settings that another program has set since, and that the undo may alter."""

    @property
    def all(self) -> Wanted:
        """Return all values to restore."""
        return {**self.restored, **self.kept}

    def kept_text(self, change: Change, after: Values) -> str:
        """Return a sentence, without its full stop, about kept values of other programs; "" if there are none."""
        lines = []
        for (target, key), value in self.kept.items():
            now = after.get((target, key))
            of = "" if target == change.target else f" of {target}"
            end = (
                "was left unchanged"
                if now == value
                else f"could not be preserved: it is now {value_text(key, now or 'not readable')}"
            )
            lines.append(f"{key}{of} was set to {value_text(key, value)} by another program and {end}")
        return "; ".join(lines)


NO_DEBTS = Debts(restored={}, kept={})
"""No values to restore: for a change that is not an undo."""


def debts_of_revert(change: Change, moved: Sequence[MovedSetting] | None, now: Values) -> Debts:
    """Return the values of other settings that undoing a change must restore. `now`: the current readings.

    `moved`: the side effects recorded when the change ended; None if they are not known (after a crash). If a setting
    still has the value that it got as a side effect, its old value is restored. Any other value was set by another
    program; if the undo may reset it, it is set again.
    """
    recorded = {(moved_setting.target, moved_setting.key): moved_setting for moved_setting in moved or ()}
    restored: dict[tuple[Target, str], str] = {}
    kept: dict[tuple[Target, str], str] = {}
    for (target, key), present in now.items():
        before = _value_before(change, target, key)
        if before is None or present is None or (target, key) == (change.target, change.key):
            continue
        if moved is None:
            ours = _is_led_to(change, key, present)
        else:
            setting = recorded.get((target, key))
            ours = setting is not None and setting.explained and setting.now == present
        if ours or present == before:
            restored[target, key] = before
        elif target != change.target or key in change.companions:  # the undo itself resets no other settings
            kept[target, key] = present
    return Debts(restored=restored, kept=kept)


def _value_before(change: Change, target: Target, key: str) -> str | None:
    """Return the old value of a setting that the change may alter as a side effect; None if it may not."""
    companion = change.companions.get(key) if target == change.target and key in _moved_keys(change) else None
    return next((before.value for before in change.beside if (before.target, before.key) == (target, key)), companion)


def _moved_keys(change: Change) -> tuple[str, ...]:
    """Return the other settings of the target that a change may alter. One that re-creates it sets its companions."""
    return (*change.moves, *change.companions) if change.effect is Effect.RECREATED else change.moves


def with_companions(change: Change, values: Wanted) -> Change:
    """Return the change with `values` as the new values of its companion settings. No companion setting is added."""
    present = {key: value for (target, key), value in values.items() if target == change.target}
    companions = {key: present.get(key, value) for key, value in change.companions.items()}
    return replace(change, companions=companions)


def unrestored_settings(wanted: Wanted, now: Values) -> tuple[tuple[Target, str], ...]:
    """Return the settings (target, key) whose values in `now` are not the wanted ones."""
    return tuple(setting for setting, value in wanted.items() if now.get(setting) != value)


def moved_settings_of(records: Iterable[ChangeRecord]) -> dict[tuple[Target, str], tuple[str, frozenset[str | None]]]:
    """Return, for each setting altered as a side effect, its value before the first change and all values it got."""
    moved_settings: dict[tuple[Target, str], tuple[str, frozenset[str | None]]] = {}
    for record in records:
        for setting in () if record.end is None else record.end.moved or ():
            before, led_to = moved_settings.get((setting.target, setting.key), (setting.before, frozenset()))
            if before is not None and (setting.explained or setting.restored):
                moved_settings[setting.target, setting.key] = before, led_to | {setting.now}
    return moved_settings


def without_earlier(record: ChangeRecord, made: Sequence[ChangeRecord]) -> Change:
    """Return a recorded change as it would be if earlier changes that are now undone had never been made.

    `made`: all changes of the session. If an old value came from an undone change, it is replaced by the value before
    that change.
    """
    at = made.index(record)
    since = {other.id for other in made[at:]}
    # A reverted trial names itself as its undo. It counts as undone if it was reverted after this change had begun.
    undone_values = [
        place_and_values
        for other in made[:at]
        if other.end is not None
        and (other.undone_by in since or (other.undone_by == other.id and other.begun_before_end > at))
        for place_and_values in _value_changes(other)
    ]

    def at_first(target: Target, key: str, value: str) -> str:
        for setting, before, now in reversed(undone_values):
            if setting == (target, key) and now == value:
                value = before
        return value

    change = record.change
    values_before = {setting: at_first(*setting, value) for setting, value in _values_before(change).items()}
    before = None if change.before is None else at_first(change.target, change.key, change.before)
    beside = (
        replace(before, value=values_before.get((before.target, before.key), before.value)) for before in change.beside
    )
    return replace(with_companions(change, values_before), before=before, beside=tuple(beside))


def _value_changes(record: ChangeRecord) -> Iterator[tuple[tuple[Target, str], str, str | None]]:
    """Yield ((target, key), old value, new value) of each setting that a change set, or altered as a side effect."""
    change, end = record.change, record.end
    if end is None:
        return
    if change.before is not None:
        yield (change.target, change.key), change.before, change.after
    for setting in end.moved or ():
        if setting.explained and setting.before is not None:
            yield (setting.target, setting.key), setting.before, setting.now


def _values_before(change: Change) -> dict[tuple[Target, str], str]:
    """Return the old values of the settings that a change may alter as side effects, by target and key."""
    disk = disk_beside(change)
    settings = [(change.target, key) for key in _moved_keys(change)]
    settings += [(before.target, before.key) for before in change.beside]
    settings += [(disk, key) for key in change.moves_disk] if disk is not None else []
    return {setting: before for setting in settings if (before := _value_before(change, *setting)) is not None}
