"""One-line field that handles keys in the order in which they were typed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from textual import events
from textual.binding import NoBinding
from textual.widgets import Input

_EDITS = ("cursor_", "delete_", "home", "end")
"""Prefixes of the actions with which an `Input` changes its text or cursor. Only these are run at once."""


class TextField(Input):
    """Input that never handles a letter before a key that was typed earlier.

    Textual inserts a letter at once, but runs the binding of another key only after the key has bubbled up to the app.
    So if keys arrive together, as from a paste or over a slow link, a letter after a backspace would be inserted first
    and then deleted.
    """

    leave: Callable[[], None] | None = None
    """Function that is called on enter and moves the focus at once, so that the next key goes to the new widget."""

    async def _on_key(self, event: events.Key) -> None:
        if self.leave is not None and (event.key == "enter" or self.screen.focused is not self):
            event.stop()
            event.prevent_default()
            if self.screen.focused is self:
                self.leave()
            else:  # the key arrived together with an enter before it, so pass it to the widget with the focus
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
