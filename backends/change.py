"""Planned changes, with all facts needed to show, apply, verify and undo them. Values only, no I/O."""

from __future__ import annotations

from dataclasses import field, replace

from backends.identity import Identity, Signature
from backends.model import Target
from backends.settings import Effect, Persistence, Risk
from backends.text import quote
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeStep:
    """One step of a change: a file to write or a command to run."""

    path: str | None = None
    """File to write, for sysfs settings."""
    text: str | None = None
    """Text that is written to `path`."""
    argv: tuple[str, ...] = ()
    """Command to run if `path` is None."""
    line: str | None = None
    """Command line of a step that was read from a log. Such a step can only be shown, not run."""

    def shown(self) -> str:
        """Return the step as a shell command line."""
        if self.line is not None:
            return self.line
        if self.path is not None:
            return f"echo {quote(self.text or '')} > {self.path}"
        return " ".join(quote(word) for word in self.argv)

    def as_recorded(self) -> ChangeStep:
        """Return the step as a log stores it: for reading, not for running."""
        return ChangeStep(line=self.shown())

    @property
    def meaning(self) -> tuple[str, ...]:
        """Return the step in a form to compare it with others: without the program's folder and its silencing flags."""
        if self.path is not None:
            return self.path, self.text or ""
        args = self.argv or ((self.line or ""),)
        return args[0].rsplit("/", 1)[-1], *(word for word in args[1:] if word.lower() not in _QUIET)


_QUIET = frozenset(("noprompt", "quiet", "nolog", "-nolog", "-silent", "nologs"))
"""Options that suppress a tool's questions or its own log (storcli, MegaCli, arcconf, tw_cli)."""


_BY_NAME = "block-"


def disk_lock(*paths: Identity) -> str:
    """Return the names of the locks that changes of a disk and runs on it take, one on each line.

    `paths`: all paths to the disk. The names contain lasting ids, so that they stay the same if the disk gets another
    kernel name. A disk without a lasting id is locked by its kernel name. If only some paths report the WWN, the serial
    number that the other paths report is locked too, because a path may vanish and return.
    """
    lasting = {lasting_id for path in paths if (lasting_id := path.lasting) is not None}
    names = [f"disk-{lasting_id}" for lasting_id in sorted(lasting, reverse=True)]
    return "\n".join(names) or _BY_NAME + paths[0].name.replace("!", "-")


def with_disk(lock: str, disk: Identity) -> str:
    """Return the lock of a controller, followed by the locks that a job takes on the disk of its array."""
    return f"{lock}\n{disk_lock(disk)}"


NOT_THERE = "missing"
"""Value of `Change.before` if the object does not exist, such as a deleted array that is re-created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBefore:
    """Value of a setting before a change of another setting, which may have changed it too."""

    target: Target
    """Target of the setting."""
    key: str
    """Key of the setting."""
    value: str
    """Its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A planned change of one setting, complete enough to show, apply, verify and undo."""

    target: Target
    """Target of the setting."""
    key: str
    """Key of the setting."""
    label: str
    """Label of the setting."""
    before: str | None
    """Value read when planning; checked again before applying."""
    after: str
    """Requested value by its name in raidbench. The setting is expected to have this value afterwards."""
    writes: tuple[ChangeStep, ...]
    """The exact steps."""
    undo: tuple[ChangeStep, ...]
    """Steps that would restore `before`, shown in the review; empty if no step can.

    The undo itself is planned anew (`back`).
    """
    companions: dict[str, str] = field(default_factory=dict)
    """Values of other settings that an undo also restores, by key: values the kernel resets, policies of a volume."""
    risk: Risk = Risk.NONE
    """Worst possible consequence."""
    risk_text: str = ""
    """The worst possible consequence as a sentence."""
    effect: Effect = Effect.AT_ONCE
    """When the change takes effect."""
    persistence: Persistence = Persistence.LOST_AT_REBOOT
    """Whether the change survives a reboot."""
    identity: Identity | None = None
    """Device for which the change was planned."""
    lock: str = ""
    """Locks that serialise changes: of the controller or the disk, one on each line. See `locks`."""
    moves: tuple[str, ...] = ()
    """Keys of other settings of the target that it may change too: a new scheduler resets the queue size."""
    moves_disk: tuple[str, ...] = ()
    """Keys of settings of the kernel's disk (`sda`) of the target that it may change too."""
    resets_to: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Possible new values of the settings in `moves`, by key. A setting without an entry may get any value."""
    beside: tuple[ValueBefore, ...] = ()
    """Values of the other settings that this change may change too, as read just before it was applied."""
    at_start: str = ""
    """Value read just before it was applied, if an earlier change of its set had changed `before`; else ""."""
    also: tuple[str, ...] = ()
    """Other targets whose value changes too because they inherit it."""
    shares: tuple[str, ...] = ()
    """Keys of other settings whose current values its steps contain, because they are fields of the same register."""
    found: tuple[Signature, ...] | None = None
    """Content of the device as shown to the user, who agreed to lose it.

    Other content is never destroyed. None if not read.
    """
    members: tuple[str, ...] = ()
    """Members of an array that is re-created, in the backend's spelling; the array is not touched if they differ."""
    unit: str = ""
    """Unit of numeric values."""
    words: dict[str, str] = field(default_factory=dict)
    """Labels of values, for values whose label differs: `same CPU` for `2`."""
    confirmed: bool = True
    """Whether its steps have been tested on real hardware; see `Setting.confirmed`."""
    above: tuple[str, ...] = ()
    """Dependents of its target at the time of planning: `vg0/mail`, `mounted on /srv`."""
    asked: str = ""
    """Value that was requested, if the device will report a different one: `-1` requests the default. "" for others."""

    @property
    def locks(self) -> tuple[str, ...]:
        """Return the names of the locks that are taken to apply or undo the change.

        The programs that its steps run also hold the first lock until they end.
        """
        if self.lock.startswith(_BY_NAME) and self.identity is not None and self.identity.lasting is not None:
            return tuple(disk_lock(self.identity).splitlines())
        return tuple(self.lock.splitlines()) or (str(self.target),)

    def shares_lock(self, other: Change) -> bool:
        """Return whether the two changes need the same lock, so that they cannot be applied at the same time."""
        return not set(self.locks).isdisjoint(other.locks)

    @property
    def starts_from(self) -> str | None:
        """Return the value expected before applying: `before`, unless an earlier change of the set has changed it."""
        return self.at_start or self.before

    @property
    def requested(self) -> str:
        """Return the value to request when this change is planned again."""
        return self.asked or self.after

    def as_in_set(self, shown: Change, *, moved: bool = False) -> Change:
        """Return this change, which was planned again, as a part of the set that the user saw.

        `shown`: the change as it was shown. If the change re-creates an array, its undo restores the array's state
        before the whole set. `moved`: an earlier change of the set has changed this setting, so that the undo restores
        the value from before the set. The device stays the one that the user saw; if the set re-creates its array, the
        new array is the same one.
        """
        is_recreation = self.effect is Effect.RECREATED and self.before == shown.before
        first = shown if is_recreation or moved else self
        change = replace(self, identity=shown.identity, above=shown.above, undo=first.undo, companions=first.companions)
        if not moved or self.before is None or self.before == shown.before:
            return change
        return replace(change, before=shown.before, at_start=self.before)

    def as_recorded(self) -> Change:
        """Return the change as a log stores it: steps can be read but not run."""
        return replace(
            self,
            writes=tuple(step.as_recorded() for step in self.writes),
            undo=tuple(step.as_recorded() for step in self.undo),
        )
