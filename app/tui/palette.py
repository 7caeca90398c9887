"""The command palette: all commands, found by a few letters, and the settings of the selected device."""

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

# -- matching letters with a name -------------------------------------------------------------------------------------

_LETTER, _FOLLOWS, _BEGINS, _NAMED = 1.0, 1.5, 2.0, 0.5
"""Score of a matched letter; bonuses if it follows the previous match, begins a word, or is in the name itself."""

_MIN_SCORE = 0.6
"""Minimum share of the best possible score. A match with a lower score is a coincidence."""


_Paths = dict[int, tuple[float, tuple[int, ...]]]
"""Score and positions of each partial match, keyed by its last position."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A match of the typed letters in a name."""

    nearness: float
    """Score from 0 (no match) to 1 (best)."""
    places: tuple[int, ...] = ()
    """Positions of the letters in the name."""


NONE = Fit(0.0)
"""No match."""


def fit(letters: str, text: str, named_at: int = 0) -> Fit:
    """Return the best match of the letters in the text, in their order. The first one must begin a word.

    `named_at`: position in `text` at which the name begins, after its group.
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
    return Fit(nearness, places) if nearness >= _MIN_SCORE else NONE


def _places(text: str, letter: str) -> list[int]:
    return [at for at, character in enumerate(text) if character == letter]


def _begins(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()


def _worth(text: str, at: int, last: int | None, named_at: int) -> float:
    near = _BEGINS if _begins(text, at) else _FOLLOWS if last == at - 1 else 0.0
    return _LETTER + near + (_NAMED if at >= named_at else 0.0)


# -- entries: all commands, and the settings of the selected device ---------------------------------------------------

_TITLE = 34
"""Cells for the name of a command."""

_HELP_SCORE = 0.3
"""Score of a command that matches only by its help text. Any match of a name scores higher."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A line of the palette."""

    group: str
    """Group of the entry: a screen, or the settings; "" for all screens."""
    name: str
    """Name of the command or setting."""
    keys: str
    """Keys of the command; "" for none."""
    help: str
    """Help text of the command or setting."""
    run: Callable[[], Awaitable[None]]
    """Runs the entry."""

    @property
    def title(self) -> str:
        """The text in which letters are searched."""
        return f"{self.group}: {self.name}" if self.group else self.name


class Palette(CommandPalette, SafeScreen[None]):
    """Textual's palette. A second Enter that arrives while it closes has no effect."""


class CommandsProvider(Provider):
    """Provides the commands of all screens, and settings of the selected device. Commands first show their screen."""

    async def discover(self) -> Hits:
        """Yield all entries, those of the current screen first."""
        for entry in self._entries():
            yield DiscoveryHit(self._line(entry), entry.run, text=entry.title)

    async def search(self, query: str) -> Hits:
        """Yield the matching entries with their scores. Textual shows the best one first."""
        for entry in self._entries():
            match = match_entry(query, entry)
            if match.nearness > 0:
                yield Hit(match.nearness, self._line(entry, match.places), entry.run, text=entry.title)

    def _line(self, entry: PaletteEntry, places: tuple[int, ...] = ()) -> Content:
        """Return a line with the name, its key, and as much of the help as fits."""
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
        screens = " and ".join((SCREENS | SHEETS).get(name, "") for name in command.screens[:_MAX_SCREENS])
        screens = "" if len(command.screens) > _MAX_SCREENS else screens
        return PaletteEntry(screens, command.label, command.shown_keys, command.help, partial(self._run, command))

    def _settings(self) -> Iterator[PaletteEntry]:
        """Yield the settings of the selected device that can be changed."""
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
"""Commands that are useful only as keys, so the palette omits them."""

_MAX_SCREENS = 2
"""Maximum number of screens that an entry names. A command of more screens is shown like one of all screens."""


def match_entry(query: str, entry: PaletteEntry) -> Fit:
    """Return how well an entry matches the query: its name by letters, or its help by beginnings of words."""
    named = fit(query, entry.title, len(entry.title) - len(entry.name))
    if named.nearness > 0:
        # Of equally good matches, prefer the shorter one.
        return replace(named, nearness=named.nearness - len(entry.title) / 10_000)
    help_words = re.findall(r"[^\W_]+", entry.help.casefold())
    wanted = query.casefold().split()
    if wanted and all(any(word.startswith(beginning) for word in help_words) for beginning in wanted):
        return Fit(_HELP_SCORE)
    return NONE
