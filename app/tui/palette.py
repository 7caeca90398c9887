"""Every command in the palette, from the same table as the keys."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from app.commands import COMMANDS, SCREENS, SHEETS, CommandSpec


class CommandsProvider(Provider):
    """Commands of all screens; one of another screen goes there first."""

    async def discover(self) -> Hits:
        """All, the screen's own first."""
        for command in self._ordered():
            yield DiscoveryHit(self._title(command), partial(self._run, command), help=command.help)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for command in self._ordered():
            title = self._title(command)
            score = matcher.match(f"{title} {command.help}")
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, command), help=command.help)

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
