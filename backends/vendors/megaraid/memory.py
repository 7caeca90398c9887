"""What a backend remembers while it runs: changes that wait for a reboot, and activation keys, kept nowhere else."""

from __future__ import annotations

import re
from dataclasses import replace

from backends.change import Change
from backends.errors import InvalidValueError
from backends.model import Target
from backends.settings import Reading

_KEY = re.compile(r"[A-Za-z0-9+/=_-]{8,256}", re.ASCII)
"""What activation keys are made of."""

_TOKEN = re.compile(r"key number (\d{1,4})", re.ASCII)


class Memory:
    """Of one backend. Nothing of it is ever written down."""

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], tuple[str, str]] = {}
        self._applied: dict[str, str] = {}
        self._keys: list[str] = []

    def shown(self, target: Target, key: str, reading: Reading) -> Reading:
        """The reading with what is remembered: a value that waits is shown as waiting, until the card has it."""
        if key == "activation_key" and target.address in self._applied:
            reading = replace(reading, now=self._applied[target.address])
        waiting = self._pending.get((target.address, key))
        if waiting is None:
            return reading
        value, until = waiting
        if reading.now == value:
            del self._pending[target.address, key]
            return reading
        return replace(
            reading,
            now=f"pending {until}",
            effective=reading.effective or reading.now or "as before",
            why_effective=f"{value} was accepted and takes effect after a {until}",
        )

    def accepted(self, change: Change, pending: str) -> None:
        """Note that the tool accepted a change, for after a reboot when `pending` says so."""
        place = (change.target.address, change.key)
        if pending:
            self._pending[place] = (change.after, pending)
            return
        self._pending.pop(place, None)
        if change.key == "activation_key":
            self._applied[change.target.address] = change.after

    def token(self, value: str) -> str:
        """What stands for an activation key wherever it is shown, logged or kept; a token stands for itself.

        Raises InvalidValueError for what cannot be a key.
        """
        if self._known(value) is not None:
            return value
        if not _KEY.fullmatch(value):
            raise InvalidValueError(
                "That is no activation key.",
                hint="It is one word of letters, digits and dashes, as the vendor gave it.",
            )
        if value not in self._keys:
            self._keys.append(value)
        return f"key number {self._keys.index(value) + 1}"

    def key(self, token: str) -> str | None:
        """The activation key that a token stands for; None if it was given to another process."""
        return self._known(token)

    def _known(self, token: str) -> str | None:
        found = _TOKEN.fullmatch(token)
        number = int(found[1]) if found is not None else 0
        return self._keys[number - 1] if 0 < number <= len(self._keys) else None
