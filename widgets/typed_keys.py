"""App that handles typed keys one after the other, so that each acts on what the key before it has opened."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any, Final, TypeVar

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

Result = TypeVar("Result")

_ROUNDS: Final = 3
"""Times that the widgets from the focused one up to the app handle what waits for them. A key, the message of the
widget that handles it, and the message of a pane that handles that one each need one."""

_MAX_SECONDS: Final = 1.0
"""Maximum seconds that a key waits for the key before it, for example while the app is busy."""

_REMOVED_SECONDS: Final = 0.02
"""Seconds after which a widget that has not answered is asked whether it has been removed."""


class OrderedKeysApp(App[Result]):
    """App that holds a key until the effects of the key before it are complete.

    Textual 8.2 sends all keys that arrive together to the widget that has the focus at that moment. If the first key
    opens a dialog, the next ones act on the screen below it. Here they act on the dialog. Repetitions of a key that
    opens or closes a screen are dropped, because a key that is held down must not answer what it opens. Escape answers
    nothing: typed twice, it closes two screens.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[events.Key | events.Paste] = deque()
        self._settling: asyncio.Task[None] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Pass on an event. Hold a key or a paste while the key before it has effects."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._settling is None:
            await self._pass_on(event)
        else:
            self._held.append(event)

    async def _pass_on(self, event: events.Key | events.Paste) -> None:
        self._settling = asyncio.create_task(self._settle(event, self._layers(), self.focused or self))
        await super().on_event(event)

    async def _settle(self, event: events.Key | events.Paste, layers: tuple[Any, ...], focused: MessagePump) -> None:
        """Wait for the effects of an event on the focused widget and on the screen it opens; pass on the next one."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_SECONDS):
                await _handle_waiting(focused)
                opened = self._layers()
                if opened and opened != layers:
                    screen: Any = self.screen  # The type of its event is lost in Textual.
                    await screen._mounted_event.wait()
                    await _handle_waiting(screen)  # It gives one of its widgets the focus.
                    await _handle_waiting(self.focused or self)
        if self._layers() != layers:
            while self._held and _is_repetition(self._held[0], event):
                self._held.popleft()
        if self._held:
            self.call_next(self._pass_on, self._held.popleft())
        else:
            self._settling = None

    def _layers(self) -> tuple[Any, ...]:
        """Return the screens that are open; none during shutdown."""
        return tuple(self.screen_stack) if self.is_running and self._screen_stacks.get(self._current_mode) else ()


def _is_repetition(event: events.Event, before: events.Event) -> bool:
    if not isinstance(event, events.Key) or not isinstance(before, events.Key):
        return False
    return event.key == before.key != "escape"


async def _handle_waiting(node: MessagePump) -> None:
    """Wait until a widget and all widgets around it have handled the messages in their queues."""
    for _ in range(_ROUNDS):
        pump: MessagePump | None = node
        while pump is not None:
            handled = asyncio.Event()
            if pump.call_later(handled.set):
                while not handled.is_set() and pump.is_running:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(handled.wait(), _REMOVED_SECONDS)
            pump = pump._parent
