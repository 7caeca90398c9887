"""Every command in the palette, found by a few letters, and the settings of the device that is selected."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from app.tui.commands import COMMANDS, SCREENS, SHEETS, CommandSpec
from backends.values import dataclass
from widgets.screen_lifecycle import SafeScreen
from widgets.text_utils.text import clean as plain

if TYPE_CHECKING:
    from app.tui.devices.screen import DevicesScreen

# -- how well a few letters fit a name: in their order, the beginnings of its words first -----------------------------

_LETTER, _FOLLOWS, _BEGINS, _NAMED = 1.0, 1.5, 2.0, 0.5
"""What a letter is worth, and more where it follows the one before, begins a word, stands in the name itself."""

_ENOUGH = 0.6
"""Of the best there could be; less is a chance meeting of letters."""


_Paths = dict[int, tuple[float, tuple[int, ...]]]
"""Ways through the text by where they have come to: what each is worth, and its places."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Letters that were found in a text."""

    nearness: float
    """0 is not at all, 1 the best there can be."""
    places: tuple[int, ...] = ()
    """Where in the text they stand."""


NONE = Fit(0.0)
"""They are not in it."""


def fit(letters: str, text: str, named_at: int = 0) -> Fit:
    """The best way to find the letters in the text, in their order; the first has to begin a word.

    `named_at`: where the name itself begins, behind what it belongs to.
    """
    wanted, folded = "".join(letters.split()).lower(), text.lower()
    if not wanted or len(folded) != len(text):
        return NONE
    paths: _Paths = {}
    for at in _places(folded, wanted[0]):
        if _begins(folded, at):
            paths[at] = _worth(folded, at, None, named_at), (at,)
    for letter in wanted[1:]:
        longer: _Paths = {}
        for at in _places(folded, letter):
            before = [(last, *paths[last]) for last in paths if last < at]
            longer_paths = [
                (worth_before + _worth(folded, at, last, named_at), path) for last, worth_before, path in before
            ]
            if longer_paths:
                worth, path = max(longer_paths)
                longer[at] = worth, (*path, at)
        paths = longer
    if not paths:
        return NONE
    worth, places = max(paths.values())
    nearness = worth / (len(wanted) * (_LETTER + _BEGINS + _NAMED))
    return Fit(nearness, places) if nearness >= _ENOUGH else NONE


def _places(text: str, letter: str) -> list[int]:
    return [at for at, character in enumerate(text) if character == letter]


def _begins(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()


def _worth(text: str, at: int, last: int | None, named_at: int) -> float:
    near = _BEGINS if _begins(text, at) else _FOLLOWS if last == at - 1 else 0.0
    return _LETTER + near + (_NAMED if at >= named_at else 0.0)


# -- every command in the palette, from the same table as the keys, and the settings of the device that is selected ---

_TITLE = 34
"""Cells for what a command is called."""

_TOLD = 0.3
"""How near a command is that only says the words in what it does; any name that fits is nearer."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A line of the palette."""

    place: str
    """What it belongs to: a screen, the settings; "" for all screens."""
    name: str
    """What it is called."""
    keys: str
    """Its keys; "" for none."""
    help: str
    """What it does."""
    run: Callable[[], Awaitable[None]]
    """Does it."""

    @property
    def title(self) -> str:
        """All that its letters are looked for in."""
        return f"{self.place}: {self.name}" if self.place else self.name


class Palette(CommandPalette, SafeScreen[None]):
    """Textual's, which a second Enter takes away once."""


class CommandsProvider(Provider):
    """Commands of all screens, one of another screen goes there first; settings of the device in front."""

    async def discover(self) -> Hits:
        """All, the screen's own first."""
        for entry in self._entries():
            yield DiscoveryHit(self._line(entry), entry.run, text=entry.title)

    async def search(self, query: str) -> Hits:
        """Those that match, the nearest first."""
        for entry in self._entries():
            match = match_entry(query, entry)
            if match.nearness > 0:
                yield Hit(match.nearness, self._line(entry, match.places), entry.run, text=entry.title)

    def _line(self, entry: PaletteEntry, places: tuple[int, ...] = ()) -> Content:
        """One line: what it is called, its key, and as much of what it does as there is room for."""
        title = Content(entry.title)
        for at in places:
            title = title.stylize(self.match_style or "$text-accent underline", at, at + 1)
        shown = f"{entry.title}  ({entry.keys})" if entry.keys else entry.title
        padding = f"{shown:<{_TITLE}}"[len(entry.title) :]
        return Content.assemble(title, padding, (f" {plain(entry.help)}", "$text-muted not bold"))

    def _entries(self) -> list[PaletteEntry]:
        screen_name = getattr(self.screen, "NAME", "")
        reached = {"all", screen_name, *SCREENS}
        commands = [
            command for command in COMMANDS if command.id not in _SKIPPED and reached.intersection(command.screens)
        ]
        ordered = sorted(commands, key=lambda command: screen_name not in command.screens)
        return [*map(self._command, ordered), *self._settings()]

    def _command(self, command: CommandSpec) -> PaletteEntry:
        screens = " and ".join((SCREENS | SHEETS).get(name, "") for name in command.screens[:_MOST_SCREENS])
        screens = "" if len(command.screens) > _MOST_SCREENS else screens
        return PaletteEntry(screens, command.label, command.shown_keys, command.help, partial(self._run, command))

    def _settings(self) -> Iterator[PaletteEntry]:
        """What may be set of the device that is selected in the list."""
        from app.tui.devices.screen import DevicesScreen

        screen = self.screen
        if isinstance(screen, DevicesScreen):
            for key, setting in screen.panel.changeable():
                yield PaletteEntry(
                    "Setting", plain(setting.label), "", setting.help, partial(self._choose, screen, key)
                )

    @staticmethod
    async def _choose(screen: DevicesScreen, key: str) -> None:
        screen.choose_setting(key)

    async def _run(self, command: CommandSpec) -> None:
        app = self.app
        screen_name = getattr(self.screen, "NAME", "")
        if "all" in command.screens:
            await app.run_action(command.action, app)
            return
        if screen_name not in command.screens:
            await app.switch_mode(command.screens[0])
        await app.run_action(command.action, app.screen)


_SKIPPED = ("app.palette", "app.back", "devices.choose", "devices.back", "runs.figures")
"""Commands that only a key makes sense of."""

_MOST_SCREENS = 2
"""Screens that a line names; what more have is of all."""


def match_entry(query: str, entry: PaletteEntry) -> Fit:
    """Return how well an entry matches the query: its name by letters, else its help by beginnings of words."""
    named = fit(query, entry.title, len(entry.title) - len(entry.name))
    if named.nearness > 0:
        return replace(named, nearness=named.nearness - len(entry.title) / 10_000)  # of the same, the shorter one
    help_words = re.findall(r"[^\W_]+", entry.help.casefold())
    wanted = query.casefold().split()
    if wanted and all(any(word.startswith(beginning) for word in help_words) for beginning in wanted):
        return Fit(_TOLD)
    return NONE
