"""Base class of screens that close only once and stop their workers before their widgets are removed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual._callback import invoke
from textual._styles_cache import StylesCache
from textual.await_complete import AwaitComplete
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.messages import Prune
from textual.screen import Screen

if TYPE_CHECKING:
    from textual.types import CallbackType

Result = TypeVar("Result")


class SafeScreen(Screen[Result]):
    """Screen that can be closed while its background tasks are running.

    It works around four faults of Textual 8.2. A second answer to a dialog closes another screen. The workers of a
    screen end only after its widgets are removed. Callbacks after a refresh run even if the widget is removed. A cache
    of colours keeps the drawn lines of a thousand removed widgets.
    """

    _left = False

    @property
    def has_widgets(self) -> bool:
        """Whether all widgets are mounted, and none has been removed yet."""
        return self.is_mounted and not self._pruning

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the screen with an answer. Do nothing if the screen is not in front."""
        if not self.is_active:
            return AwaitComplete()
        self._left = True
        return super().dismiss(result)

    async def _on_message(self, message: Message) -> None:
        if not (self._left and message.control is not None):  # ignore key presses that arrive after `dismiss`
            await super()._on_message(message)

    async def on_prune(self, event: Prune) -> None:
        """Cancel the workers of the screen before its widgets are removed."""
        for worker in self.workers:
            if self in worker.node.ancestors_with_self:
                worker.cancel()

    def on_unmount(self) -> None:
        """Drop the drawn lines of removed widgets."""
        StylesCache.get_inner_outer.cache_clear()  # Its keys contain the `StylesCache` of each widget.

    def _invoke_later(self, callback: CallbackType, sender: MessagePump) -> None:
        super()._invoke_later(partial(_invoke_unless_removed, callback, sender), sender)


async def _invoke_unless_removed(callback: CallbackType, sender: MessagePump) -> None:
    if not (isinstance(sender, DOMNode) and sender._pruning):
        await invoke(callback)
