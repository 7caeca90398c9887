"""A field of one line that takes keys in the order in which they were typed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from textual import events
from textual.binding import NoBinding
from textual.widgets import Input

_EDITS = ("cursor_", "delete_", "home", "end")
"""Actions of an `Input` on its text and cursor; the others are the screen's as well, and wait their turn."""


class TextField(Input):
    """An `Input` in which no letter overtakes the key before it.

    Textual looks for the binding of a key when the key has bubbled up to the app; a letter is taken at once. Of keys
    that come in one go, pasted or over a slow link, a letter after a backspace was put in first and then deleted.
    """

    leave: Callable[[], None] | None = None
    """What enter does where it gives the keys to something else: at once, so that the next key is for that."""

    async def _on_key(self, event: events.Key) -> None:
        if self.leave is not None and (event.key == "enter" or self.screen.focused is not self):
            event.stop()
            event.prevent_default()
            if self.screen.focused is self:
                self.leave()
            else:  # it came in one go with the enter before it
                self.app.post_message(events.Key(event.key, event.character))
            return
        if not event.is_printable:
            with suppress(NoBinding):
                for binding in self._bindings.get_bindings_for_key(event.key):
                    if binding.action.startswith(_EDITS):
                        event.stop()
                        event.prevent_default()
                        await self.app.run_action(binding.action, self)
                        return
        await super()._on_key(event)
