"""Every command in the palette, from the same table as the keys."""

from __future__ import annotations

import re
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from app.commands import COMMANDS, SCREENS, SHEETS, CommandSpec


class CommandsProvider(Provider):
    """Commands of all screens; one of another screen goes there first."""

    async def discover(self) -> Hits:
        """All, the screen's own first."""
        for command in self._ordered():
            yield DiscoveryHit(self._line(command), partial(self._run, command), text=self._title(command))

    async def search(self, query: str) -> Hits:
        """Those that match, the nearest first."""
        for command in self._ordered():
            score = nearness(query, self._title(command), command.help)
            if score > 0:
                yield Hit(score, self._line(command), partial(self._run, command), text=self._title(command))

    def _line(self, command: CommandSpec) -> Content:
        """One line: what it is called, its key, and as much of what it does as there is room for."""
        return Content.assemble(f"{self._title(command):<34}", (command.help, "$text-muted not bold"))

    def _ordered(self) -> list[CommandSpec]:
        here = getattr(self.screen, "NAME", "")
        skipped = ("app.palette", "devices.choose", "runs.figures")
        reached = {"all", here, *SCREENS}
        commands = [each for each in COMMANDS if each.id not in skipped and reached.intersection(each.screens)]
        return sorted(commands, key=lambda command: here not in command.screens)

    def _title(self, command: CommandSpec) -> str:
        screens = " and ".join((SCREENS | SHEETS).get(name, "") for name in command.screens)
        return f"{f'{screens}: ' if screens else ''}{command.label}  ({command.shown_keys})"

    async def _run(self, command: CommandSpec) -> None:
        app = self.app
        here = getattr(self.screen, "NAME", "")
        if "all" in command.screens:
            await app.run_action(command.action, app)
            return
        if here not in command.screens:
            await app.switch_mode(command.screens[0])
        await app.run_action(command.action, app.screen)


def nearness(query: str, title: str, help: str) -> float:
    """How well a command fits what was typed, from 0, not at all, to 1: each word has to begin a word of it.

    Words of its name count before words of what it does: who types `under` looks for nothing that is taken back.
    """
    wanted = query.casefold().split()
    named, told = (re.findall(r"[^\W_]+", text.casefold()) for text in (title, help))
    if not wanted:
        return 0.0
    if all(any(word.startswith(each) for word in named) for each in wanted):
        return 1.0 if " ".join(wanted) in " ".join(named) else 0.9
    if all(any(word.startswith(each) for word in (*named, *told)) for each in wanted):
        return 0.5
    return 0.0
