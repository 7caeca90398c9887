"""Planned changes with steps complete enough to show, apply, verify and undo. Values only, no I/O."""

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
    """Line that was shown for a step from a log. Such a step can only be shown."""

    def shown(self) -> str:
        """Return the command line that does the same."""
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
        """Return the step without its program's folder and without quiet flags, for comparison."""
        if self.path is not None:
            return self.path, self.text or ""
        args = self.argv or ((self.line or ""),)
        return args[0].rsplit("/", 1)[-1], *(word for word in args[1:] if word.lower() not in _QUIET)


_QUIET = frozenset(("noprompt", "quiet", "nolog", "-nolog", "-silent", "nologs"))
"""Options by which tools ask nothing, or write no log of their own (storcli, MegaCli, arcconf, tw_cli)."""


_BY_NAME = "block-"


def disk_lock(*paths: Identity) -> str:
    """Return the locks that changes of a disk and runs on it take, one on each line. `paths`: all paths to it.

    Locks are named by lasting ids, so that a disk has the same ones under another name; by the kernel name if it has no
    lasting id. If only some paths report the WWN, the serial number of the others counts too, because a path may vanish
    and return.
    """
    lasting = {lasting_id for path in paths if (lasting_id := path.lasting) is not None}
    names = [f"disk-{lasting_id}" for lasting_id in sorted(lasting, reverse=True)]
    return "\n".join(names) or _BY_NAME + paths[0].name.replace("!", "-")


def with_disk(lock: str, disk: Identity) -> str:
    """Return the lock of a controller with those of its array's disk, which a job on that disk takes."""
    return f"{lock}\n{disk_lock(disk)}"


NOT_THERE = "missing"
"""Old value of something that was deleted and is re-created, or that did not exist when it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBefore:
    """Value of a setting before another one was changed."""

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
    """Requested value in the common vocabulary, which is expected to be read afterwards."""
    writes: tuple[ChangeStep, ...]
    """The exact steps."""
    undo: tuple[ChangeStep, ...]
    """Steps that would restore `before`, for the review; empty if nothing can. An undo is planned again with `back`."""
    companions: dict[str, str] = field(default_factory=dict)
    """Other values that an undo to `before` restores, by key: what the kernel resets, the policies of a volume."""
    risk: Risk = Risk.NONE
    """Worst possible consequence."""
    risk_text: str = ""
    """The same as a sentence."""
    effect: Effect = Effect.AT_ONCE
    """When it takes effect."""
    persistence: Persistence = Persistence.LOST_AT_REBOOT
    """Whether it survives a reboot."""
    identity: Identity | None = None
    """Device that it was planned for."""
    lock: str = ""
    """Locks that serialise changes: of the controller or the disk, one on each line. See `locks`."""
    moves: tuple[str, ...] = ()
    """Keys of other settings that it may change: a new scheduler resets the queue's size."""
    moves_disk: tuple[str, ...] = ()
    """Keys of settings that it may change on the kernel's disk of its target."""
    resets_to: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Values to which it may change a setting, by key; a key of `moves` without an entry may get any value."""
    beside: tuple[ValueBefore, ...] = ()
    """Values of the settings that it may change, as read just before it was applied."""
    at_start: str = ""
    """Value read just before it was applied, if an earlier change of the same set had changed it from `before`."""
    also: tuple[str, ...] = ()
    """Other targets whose value changes too because they inherit it."""
    shares: tuple[str, ...] = ()
    """Keys of other settings whose present values its steps contain: fields of one register."""
    found: tuple[Signature, ...] | None = None
    """Content of a device that was shown before its destruction: nothing else is destroyed. None if it was not read."""
    members: tuple[str, ...] = ()
    """Members of an array that is re-created, in the backend's spelling; the array is not touched if they differ."""
    unit: str = ""
    """Unit of numeric values."""
    words: dict[str, str] = field(default_factory=dict)
    """Labels of its values where they differ from the value: `same CPU` for `2`."""
    confirmed: bool = True
    """Whether its steps have been confirmed on hardware. See `Setting.confirmed`."""
    above: tuple[str, ...] = ()
    """Dependents of its target at the time of planning: `vg0/mail`, `mounted on /srv`."""
    asked: str = ""
    """Value as it was requested, if another one is read afterwards: -1 for a default."""

    @property
    def locks(self) -> tuple[str, ...]:
        """Return the names of the locks for making and undoing it; programs of its steps hold the first one too."""
        if self.lock.startswith(_BY_NAME) and self.identity is not None and self.identity.lasting is not None:
            return tuple(disk_lock(self.identity).splitlines())
        return tuple(self.lock.splitlines()) or (str(self.target),)

    def shares_lock(self, other: Change) -> bool:
        """Return whether the two changes cannot be made at the same time."""
        return not set(self.locks).isdisjoint(other.locks)

    @property
    def starts_from(self) -> str | None:
        """Return the expected value before it is applied: `before`, unless an earlier change of its set changed it."""
        return self.at_start or self.before

    @property
    def requested(self) -> str:
        """Return the value with which the same change is planned again."""
        return self.asked or self.after

    def as_in_set(self, shown: Change, *, moved: bool = False) -> Change:
        """Return the change, planned again, as part of a set that was shown completely.

        A re-created array is restored to its state before the whole set. `moved`: an earlier change of the set has
        changed this setting, so its undo restores the value before the set.
        """
        is_recreation = self.effect is Effect.RECREATED and self.before == shown.before
        first = shown if is_recreation or moved else self
        change = replace(self, above=shown.above, undo=first.undo, companions=first.companions)
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
