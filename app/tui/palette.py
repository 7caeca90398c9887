"""Every command in the palette, from the same table as the keys."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from app.commands import COMMANDS, SCREENS, CommandSpec


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
        commands = [command for command in COMMANDS if command.id not in skipped]
        return sorted(commands, key=lambda command: here not in command.screens)

    def _title(self, command: CommandSpec) -> str:
        where = "" if "all" in command.screens else f"{' and '.join(SCREENS[name] for name in command.screens)}: "
        return f"{where}{command.label}  ({command.shown_keys})"

    async def _run(self, command: CommandSpec) -> None:
        app = self.app
        here = getattr(self.screen, "NAME", "")
        if "all" in command.screens:
            await app.run_action(command.action, app)
            return
        if here not in command.screens:
            await app.switch_mode(command.screens[0])
        await app.run_action(command.action, app.screen)
