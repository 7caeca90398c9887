"""One-line field that handles keys in the order of typing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from textual import events
from textual.binding import NoBinding
from textual.widgets import Input

_EDITS = ("cursor_", "delete_", "home", "end")
"""Actions of an `Input` on its text and cursor. Other actions also exist on the screen, and wait their turn."""


class TextField(Input):
    """Input in which no letter overtakes an earlier key.

    Textual looks for a key's binding after the key has bubbled up to the app, but inserts a letter at once. If keys
    arrive together, pasted or over a slow link, a letter after a backspace was inserted first and then deleted.
    """

    leave: Callable[[], None] | None = None
    """Called on enter to move the focus at once, so that the next key goes to the new widget."""

    async def _on_key(self, event: events.Key) -> None:
        if self.leave is not None and (event.key == "enter" or self.screen.focused is not self):
            event.stop()
            event.prevent_default()
            if self.screen.focused is self:
                self.leave()
            else:  # it arrived together with the enter before it
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
