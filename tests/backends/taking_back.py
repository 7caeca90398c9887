"""Taking a change back, as whoever reads it in a log does: by what was changed, with steps of the backend's own."""

from __future__ import annotations

from backends.change import Change
from backends.protocol import SettingsBackend


async def way_back(backend: SettingsBackend, change: Change) -> Change:
    """What takes it back as things are now."""
    return await backend.back(change.target, change.key, change.before or "", change.companions)


async def take_back(backend: SettingsBackend, change: Change) -> None:
    """Take it back."""
    await backend.apply(await way_back(backend, change))
