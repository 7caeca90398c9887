"""Running what changes a card: one command after the other, each judged by the tool's word on the object."""

from __future__ import annotations

from collections.abc import Sequence

from backends.change import Change, Write
from backends.changing import evidence_of, take_steps
from backends.errors import RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.text import clean
from backends.vendors.megaraid.dialect import Answer, CanTryAgain
from backends.vendors.megaraid.units import Unit

SET_SECONDS = 300.0
"""After this a change is slow; it is waited for all the same, and never killed."""

MASK = "***"
"""What stands in a shown command for a secret."""


class Runner:
    """Runs changes on one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, change: Change, unit: Unit, writes: Sequence[Write], secret: str | None = None) -> str:
        """Run these steps in order, up to the first that fails; what has to happen before it is in force, or "".

        Raises ToolFailedError in the tool's own words, RefusedError for a program that is not the card's tool.
        """
        commands = {write: self._command(unit, write, secret) for write in writes}
        pending = ""

        async def take(step: Write) -> None:
            nonlocal pending
            command = commands[step]
            answer, done = await self._one(unit, command)
            if not answer.ok:
                words = command.masked(answer.message) or "it failed and the tool did not say why"
                raise ToolFailedError(words, evidence=evidence_of(command, done))
            pending = answer.pending or pending

        async with unit.lock:
            unit.changed = True
            await take_steps(change, take, writes=writes, apart="deleted" if change.key == "strip_size" else "")
        return pending

    async def preview(self, unit: Unit, commands: Sequence[Command]) -> str:
        """What the tool says of an activation key before it is applied, as a sentence.

        Only where looking changes nothing. Raises ToolFailedError when the tool refuses the key.
        """
        if any(command.mutates for command in commands):
            return "This tool cannot show beforehand what the key activates."
        said: list[str] = []
        async with unit.lock:
            for command in commands:
                answer, done = await self._one(unit, command)
                if not answer.ok:
                    raise ToolFailedError(
                        f"The tool refuses the activation key: {answer.message.rstrip('.')}.",
                        hint="A key is bound to one card by its safe id.",
                        evidence=command.masked(done.stdout),
                    )
                said.append(answer.message)
        words = clean(" ".join(filter(None, said)), 300)
        return f"The tool says of the key: {words.rstrip('.')}." if words else "The tool accepts the key."

    async def require_same_number(self, change: Change, unit: Unit, number: int | None, drives: Sequence[str]) -> None:
        """Reads the card anew. Raises ToolFailedError unless the drive made of these drives has its old number."""
        contents = await unit.read()
        made = next((one.number for one in contents.volumes if sorted(one.drives) == sorted(drives)), None)
        if made == number:
            return
        where = "is not to be found" if made is None else f"has the number {made}, not {number}"
        raise ToolFailedError(
            f"{change.target} was deleted and made again, but {where}.", hint="Look at the devices again."
        )

    def _command(self, unit: Unit, write: Write, secret: str | None) -> Command:
        """The step as a command. What is in a journal is not trusted to name any program but the card's own tool."""
        if not write.argv or write.argv[0] != unit.dialect.tool:
            named = clean(write.argv[0]) if write.argv else "a file"
            raise RefusedError(f"A step wants to run {named}, which is not the tool of this card.")
        if not any(MASK in word for word in write.argv):
            return Command(argv=write.argv, timeout=SET_SECONDS, mutates=True)
        if secret is None:
            raise RefusedError("The activation key is not known any more: it is kept nowhere.", hint="Give it again.")
        argv = tuple(word.replace(MASK, secret) for word in write.argv)
        hidden = tuple(word for word, shown in zip(argv, write.argv, strict=True) if word != shown)
        return Command(argv=argv, timeout=SET_SECONDS, mutates=True, secret=(*hidden, secret))

    async def _one(self, unit: Unit, command: Command) -> tuple[Answer, Completed]:
        done = await self._host.run(command)
        if isinstance(unit.dialect, CanTryAgain):
            other = unit.dialect.again(command, done)
            if other is not None:
                done = await self._host.run(other)
        return unit.dialect.judge(command, done), done
