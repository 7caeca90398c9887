"""Screen that closes once, and is not used after its widgets are removed."""

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
    """Screen that background tasks may outlive.

    Textual 8.2 closes another screen for the second of two answers to a dialog. It ends a screen's workers only after
    its widgets are removed, and runs callbacks after a refresh for removed widgets.
    """

    _left = False

    @property
    def has_widgets(self) -> bool:
        """True while all widgets are mounted, and until the first one is removed."""
        return self.is_mounted and not self._pruning

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with an answer. It does nothing if the screen is not in front."""
        if not self.is_active:
            return AwaitComplete()
        self._left = True
        return super().dismiss(result)

    async def _on_message(self, message: Message) -> None:
        if not (self._left and message.control is not None):  # drop key presses that arrive after dismiss()
            await super()._on_message(message)

    async def on_prune(self, event: Prune) -> None:
        """Cancel the screen's workers before its widgets are removed."""
        for worker in self.workers:
            if self in worker.node.ancestors_with_self:
                worker.cancel()

    def _invoke_later(self, callback: CallbackType, sender: MessagePump) -> None:
        super()._invoke_later(partial(_invoke_unless_removed, callback, sender), sender)


async def _invoke_unless_removed(callback: CallbackType, sender: MessagePump) -> None:
    if not (isinstance(sender, DOMNode) and sender._pruning):
        await invoke(callback)
