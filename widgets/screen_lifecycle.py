"""A screen that ends once, and that nothing touches any more when its widgets go."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from textual._callback import invoke
from textual.await_complete import AwaitComplete
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.messages import Prune
from textual.screen import Screen
from textual.types import CallbackType

Result = TypeVar("Result")


class SafeScreen(Screen[Result]):
    """A screen that whatever was begun for it may outlive.

    Textual (8.2) takes another screen away for the second of two answers to a dialog, ends the workers of a screen when
    its widgets are gone already, and calls after a refresh what a widget wanted that is gone by then.
    """

    _left = False

    @property
    def has_widgets(self) -> bool:
        """Whether its widgets are mounted: not before all are, nor from when the first is removed."""
        return self.is_mounted and not self._pruning

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Leave with an answer; what is not in front has been left, or is asked later: nothing happens."""
        if not self.is_active:
            return AwaitComplete()
        self._left = True
        return super().dismiss(result)

    async def _on_message(self, message: Message) -> None:
        if not (self._left and message.control is not None):  # what was pressed before anybody saw that it is left
            await super()._on_message(message)

    async def on_prune(self, event: Prune) -> None:
        """Ends what was begun for it, before the widgets go that this shows something in."""
        for worker in self.workers:
            if self in worker.node.ancestors_with_self:
                worker.cancel()

    def _invoke_later(self, callback: CallbackType, sender: MessagePump) -> None:
        super()._invoke_later(partial(_invoke_if_there, callback, sender), sender)


async def _invoke_if_there(callback: CallbackType, sender: MessagePump) -> None:
    if not (isinstance(sender, DOMNode) and sender._pruning):
        await invoke(callback)
