"""App that handles typed keys one after the other, so that each acts on what the key before it has opened."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from typing import Any, Final, TypeVar
from weakref import WeakSet

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

Result = TypeVar("Result")

_ROUNDS: Final = 3
"""Times that the widgets from the focused one up to the app handle what waits for them. A key, the message of the
widget that handles it, and the message of a pane that handles that one each need one."""

_MAX_SECONDS: Final = 1.0
"""Maximum seconds that a key waits for the key before it, for example while the app is busy."""

MAX_OPENING_SECONDS: Final = 2.0
"""Maximum seconds that keys wait for a worker to open a screen (`OrderedKeysApp.hold_keys`)."""

_AT_ONCE: Final = frozenset({"ctrl+c", "ctrl+q"})
"""Keys that act at once while a worker is about to open a screen."""

_POLL_SECONDS: Final = 0.01
"""Seconds between two checks whether a worker has opened its screen."""

_REMOVED_SECONDS: Final = 0.02
"""Seconds after which a widget that has not answered is asked whether it has been removed."""


class OrderedKeysApp(App[Result]):
    """App that holds a key until the effects of the key before it are complete.

    Textual 8.2 sends all keys that arrive together to the widget that has the focus at that moment. If the first key
    opens a dialog, the next ones act on the screen below it. Here they act on the dialog. Repetitions of a key that
    opens or closes a screen are dropped, because a key that is held down must not answer what it opens. Escape answers
    nothing: typed twice, it closes two screens.

    A key may start a worker that opens a dialog later, for example when a plan is complete (`hold_keys`). Until then:

    - Escape cancels the worker and drops the keys before it. The keys in `_AT_ONCE` act at once.
    - Other keys wait, for at most `MAX_OPENING_SECONDS`. Then they are dropped, and later keys act on the screen in
      front. A dialog that opens after that takes no answer in the first half second, because it is not expected.

    A confirmation (`drops_typed_ahead`) takes none of the keys that were typed before it was on the screen, except
    escape: the user cannot have read it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[events.Key | events.Paste] = deque()
        self._settling: asyncio.Task[None] | None = None
        self._openers: set[Worker[Any]] = set()
        self._late: WeakSet[Worker[Any]] = WeakSet()
        self._asked: dict[Worker[Any], Screen[Any]] = {}

    def hold_keys(self, worker: Worker[Any]) -> None:
        """Hold keys until `worker` has opened a screen, until it has ended, or until it calls `release_keys`.

        If it asks several questions, keys are also held between them.
        """
        self._openers.add(worker)
        if self._settling is None:  # It was started with the mouse.
            self._settling = asyncio.create_task(self._settle(None, self._layers(), self.focused or self))

    def release_keys(self) -> None:
        """Pass on keys, because the worker that calls this opens nothing more. Escape no longer cancels it."""
        self._openers.discard(get_current_worker())

    def report_dropped_keys(self) -> None:
        """Report that keys were dropped because a dialog took too long to open. Does nothing by default."""

    async def push_screen_wait(self, screen: Any, *, mode: str | None = None) -> Any:
        """Open a screen, and wait for its result, in a worker."""
        from widgets.guarded_dialog import GuardedDialog

        worker: Worker[Any] = get_current_worker()
        if worker in self._late and isinstance(screen, GuardedDialog):
            screen.require_grace()
        self._asked[worker] = screen
        try:
            return await super().push_screen_wait(screen, mode=mode)
        finally:
            del self._asked[worker]

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

    async def _settle(
        self, event: events.Key | events.Paste | None, layers: tuple[Any, ...], focused: MessagePump
    ) -> None:
        """Wait for the effects of an event on the focused widget and on the screen it opens; pass on the next one."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_SECONDS):
                await _handle_waiting(focused)
                await self._wait_until_shown(layers)
        if self._is_opening:
            before = self._layers()
            await self._wait_until_opened()
            with suppress(TimeoutError):
                async with asyncio.timeout(_MAX_SECONDS):
                    await self._wait_until_shown(before)
        if self._layers() != layers:
            while self._held and _is_repetition(self._held[0], event):
                self._held.popleft()
            if getattr(self._layers()[-1:] and self.screen, "drops_typed_ahead", False):
                self._drop_until_escape()
        if self._held:
            self.call_next(self._pass_on, self._held.popleft())
        else:
            self._settling = None

    async def _wait_until_shown(self, layers: tuple[Any, ...]) -> None:
        """If other screens than `layers` are open now, wait until the one in front is complete and has the focus."""
        opened = self._layers()
        if opened and opened != layers:
            screen: Any = self.screen  # The type of its event is lost in Textual.
            await screen._mounted_event.wait()
            await _handle_waiting(screen)  # It gives one of its widgets the focus.
            await _handle_waiting(self.focused or self)

    @property
    def _is_opening(self) -> bool:
        """Whether a worker is about to open a screen. It is not while its screen is open."""
        self._openers = {worker for worker in self._openers if not worker.is_finished}
        layers = self._layers()
        return bool(layers) and any(self._asked.get(worker) not in layers for worker in self._openers)

    async def _wait_until_opened(self) -> None:
        """Wait until the workers have opened their screens, with the exceptions in the docstring of the class."""
        end = time.monotonic() + MAX_OPENING_SECONDS
        while self._is_opening:
            for event in [event for event in self._held if _key_of(event) in _AT_ONCE]:
                self._held.remove(event)
                self.call_next(super().on_event, event)
            if any(_key_of(event) == "escape" for event in self._held):
                self._drop_until_escape()
                self._held.popleft()
                for worker in self._openers:
                    worker.cancel()
                self._openers.clear()
            elif time.monotonic() >= end:
                self._late |= self._openers
                self._openers.clear()
                if self._held:
                    self._held.clear()
                    self.report_dropped_keys()
            else:
                await asyncio.sleep(_POLL_SECONDS)

    def _drop_until_escape(self) -> None:
        while self._held and _key_of(self._held[0]) != "escape":
            self._held.popleft()

    def _layers(self) -> tuple[Any, ...]:
        """Return the screens that are open; none during shutdown."""
        return tuple(self.screen_stack) if self.is_running and self._screen_stacks.get(self._current_mode) else ()


def _key_of(event: events.Event) -> str:
    return event.key if isinstance(event, events.Key) else ""


def _is_repetition(event: events.Event, before: events.Event | None) -> bool:
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
