"""What a change is: steps complete enough to show, apply, verify and take back. Values only, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
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
    """What is written to `path`."""
    argv: tuple[str, ...] = ()
    """Command to run when `path` is None."""
    line: str | None = None
    """Of a step that a log tells of: what a person read. Nothing can be done with it but to show it."""

    def shown(self) -> str:
        """The line a person would type to do the same."""
        if self.line is not None:
            return self.line
        if self.path is not None:
            return f"echo {quote(self.text or '')} > {self.path}"
        return " ".join(quote(word) for word in self.argv)

    def as_recorded(self) -> ChangeStep:
        """Return the step as a log has it: to be read, not to be done."""
        return ChangeStep(line=self.shown())

    @property
    def meaning(self) -> tuple[str, ...]:
        """What it does, however spelled: without its program's folder and words that only keep that quiet."""
        if self.path is not None:
            return self.path, self.text or ""
        args = self.argv or ((self.line or ""),)
        return args[0].rsplit("/", 1)[-1], *(word for word in args[1:] if word.lower() not in _QUIET)


_QUIET = frozenset(("noprompt", "quiet", "nolog", "-nolog", "-silent", "nologs"))
"""Words by which tools ask nothing, or write no log of their own (storcli, MegaCli, arcconf, tw_cli)."""


def same_steps(these: Sequence[ChangeStep], those: Sequence[ChangeStep]) -> bool:
    """Whether two ways do the same, whatever the spelling."""
    return [step.meaning for step in these] == [step.meaning for step in those]


_BY_NAME = "block-"


def disk_lock(*paths: Identity) -> str:
    """The locks that changes of a disk and runs on it take, by all the paths that there are to it; one a line.

    They are those of the thing, so that a disk under another name has them too; that of the kernel name where nothing
    lasts. Where only some paths tell the WWN the other paths' serial number counts as well: a path may come and go.
    """
    lasting = {lasting_id for path in paths if (lasting_id := path.lasting) is not None}
    names = [f"disk-{lasting_id}" for lasting_id in sorted(lasting, reverse=True)]
    return "\n".join(names) or _BY_NAME + paths[0].name.replace("!", "-")


def with_disk(lock: str, disk: Identity) -> str:
    """The lock of a card with those of the disk that one of its volumes is: a job on that disk holds the latter."""
    return f"{lock}\n{disk_lock(disk)}"


NOT_THERE = "missing"
"""The value before of what a change makes again that had been deleted, and of what is not there when it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBefore:
    """A value that a setting had before another one was changed."""

    target: Target
    """What has the setting."""
    key: str
    """Which."""
    value: str
    """The value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A planned change of one setting, complete enough to show, apply, verify and undo."""

    target: Target
    """What is changed."""
    key: str
    """The setting's key."""
    label: str
    """The setting's label."""
    before: str | None
    """Value read when planning; checked again before applying."""
    after: str
    """Wanted value, in the common vocabulary: what is to be read afterwards."""
    writes: tuple[ChangeStep, ...]
    """The very steps that will be taken."""
    undo: tuple[ChangeStep, ...]
    """The steps that would bring `before` back, for the review; empty if nothing can. `Sets.back` plans them anew."""
    companions: dict[str, str] = field(default_factory=dict)
    """What a way back to `before` needs besides it, by key: what the kernel resets, the policies of a volume."""
    risk: Risk = Risk.NONE
    """The worst that may happen."""
    risk_text: str = ""
    """The same in one sentence."""
    effect: Effect = Effect.AT_ONCE
    """When it takes effect."""
    persistence: Persistence = Persistence.LOST_AT_REBOOT
    """Whether it survives a reboot."""
    identity: Identity | None = None
    """The device it was planned for."""
    lock: str = ""
    """What serialises changes: the controller or the disk, one a line. See `locks`."""
    moves: tuple[str, ...] = ()
    """Keys of other settings that it may move: a new scheduler resets the queue's size."""
    moves_disk: tuple[str, ...] = ()
    """Keys of settings that it may move on the kernel's disk that its target is."""
    resets_to: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Values to which it may move a setting, by key; a key of `moves` without an entry may get any value."""
    beside: tuple[ValueBefore, ...] = ()
    """Values before of the settings that it may move, as found when its turn came."""
    at_start: str = ""
    """The value found when its turn came, where an earlier change of the same set had moved it from `before`."""
    also: tuple[str, ...] = ()
    """Other things on which the value changes along with it: what inherits it."""
    shares: tuple[str, ...] = ()
    """Keys of other settings whose present values its steps carry: fields of one register."""
    found: tuple[Signature, ...] | None = None
    """What was shown to lie on a device that it destroys: nothing else is destroyed. None where nobody looked."""
    members: tuple[str, ...] = ()
    """What an array that is re-created was made of, in the backend's words; it is not touched if that is different."""
    unit: str = ""
    """Unit of numeric values."""
    words: dict[str, str] = field(default_factory=dict)
    """What people call its values, where that is something else: `same CPU` for `2`."""
    confirmed: bool = True
    """Whether hardware has confirmed that its steps do it. See `Setting.confirmed`."""
    above: tuple[str, ...] = ()
    """What stood on its target when it was planned, in words: `vg0/mail`, `mounted on /srv`."""
    asked: str = ""
    """The value as it was asked for, where another is read afterwards: -1 for a default."""

    @property
    def locks(self) -> tuple[str, ...]:
        """Return the names of the locks that it is made and undone under; programs of its steps hold the first, too."""
        if self.lock.startswith(_BY_NAME) and self.identity is not None and self.identity.lasting is not None:
            return tuple(disk_lock(self.identity).splitlines())
        return tuple(self.lock.splitlines()) or (str(self.target),)

    def shares_lock(self, other: Change) -> bool:
        """Whether the two cannot be made at the same time."""
        return not set(self.locks).isdisjoint(other.locks)

    @property
    def starts_from(self) -> str | None:
        """The value that is found when its turn comes: `before`, unless an earlier change of its set moved that."""
        return self.at_start or self.before

    @property
    def wish(self) -> str:
        """The value with which the same change is planned again."""
        return self.asked or self.after

    def as_in_set(self, shown: Change, *, moved: bool = False) -> Change:
        """Return the change, planned again, of a set that was shown whole.

        What is made anew comes back as it was before the whole set. `moved`: an earlier change of the set has moved
        this setting, so its undo leads to the value before the set.
        """
        anew = self.effect is Effect.RECREATED and self.before == shown.before
        first = shown if anew or moved else self
        change = replace(self, above=shown.above, undo=first.undo, companions=first.companions)
        if not moved or self.before is None or self.before == shown.before:
            return change
        return replace(change, before=shown.before, at_start=self.before)

    def recorded(self) -> Change:
        """The change as a log has it: what was changed, and how in words for people; nothing that could be done."""
        return replace(
            self,
            writes=tuple(step.as_recorded() for step in self.writes),
            undo=tuple(step.as_recorded() for step in self.undo),
        )
