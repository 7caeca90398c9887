"""The help: the keys of a screen by task, and a search in the keys of all screens, the symbols and the terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from app.core.presentation.glossary import terms_of
from app.tui.commands import MOVING, SCREENS, SHEETS, CommandSpec, commands_of, shown_key, shown_keys
from app.tui.overlay_screen import OverlayScreen
from app.tui.tasks import KeyTask, by_task
from backends.values import dataclass
from widgets.details import Detail, DetailColumns, Details, FactGroup
from widgets.text_field import TextField
from widgets.text_utils.symbols import SIGNS

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

SENTENCES = 110
"""Minimum width of the terminal at which each key of the screen has its sentence, if all of them fit on the screen."""

_MIN_LETTERS = 2
"""Minimum letters of a word that is also searched in sentences. One letter would match nearly all of them."""


@dataclass(frozen=True, slots=True)
class HelpEntry:
    """An entry of the help that a search can find."""

    group: str
    """Heading: a screen, `Everywhere`, `Moving`, `Symbols` or `Terms`."""
    keys: str
    """Keys of a command; the symbol or the term."""
    label: str
    """Name of the command; "" for a symbol or a term."""
    help: str
    """Sentence that explains the entry."""


def matching(query: str, entries: Iterable[HelpEntry]) -> list[HelpEntry]:
    """Return the entries that match every word of the query; those with such a key first, then those with such a name.

    A word matches a key that it equals, and a name or a sentence with a word that it begins.
    """
    words = query.split()

    def rank(entry: HelpEntry) -> int | None:
        keys, names = entry.keys.split(), f"{entry.label} {entry.keys} {entry.group}".casefold().split()
        sentence = entry.help.casefold().split()
        ranks = []
        for word in words:
            folded = word.casefold()
            if word in keys:
                ranks.append(0)
            elif any(name.startswith(folded) for name in names):
                ranks.append(1)
            elif len(word) >= _MIN_LETTERS and any(part.strip("(`").startswith(folded) for part in sentence):
                ranks.append(2)
            else:
                return None
        return max(ranks, default=0)

    ranked = [(found, entry) for entry in entries if (found := rank(entry)) is not None]
    return [entry for _, entry in sorted(ranked, key=lambda pair: pair[0])]


class SearchField(TextField):
    """Field of the search. The key that opened the help is no text, so that it also closes it."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether the key is typed into the field."""
        return key != "question_mark" and super().check_consume_key(key, character)


class HelpScreen(OverlayScreen, inherit_bindings=False):
    """The keys of a screen, its symbols and terms. Typing searches them and the keys of the other screens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="help.leave"),
        Binding("enter,question_mark", "dismiss", show=False, priority=True, id="help.close"),
        *OverlayScreen.SCROLLING,
    ]
    TITLE = "Keys (esc closes)"

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._screen = screen

    def above(self) -> ComposeResult:
        """Compose the search field."""
        yield SearchField(
            placeholder="Type to search keys, symbols and terms of all screens.", id="help-search", compact=True
        )

    def body(self) -> ComposeResult:
        """Compose the keys in columns, and the list below them."""
        groups = tuple(
            FactGroup(heading=task, facts=tuple(Detail(label=key, value=label) for key, label, _ in rows))
            for task, rows in self._tasks()
        )
        yield DetailColumns(groups, id="help-keys")
        yield Details(id="help-list")

    def on_mount(self) -> None:
        """Let the user type at once."""
        self.query_one(SearchField).focus()

    def on_resize(self, event: events.Resize) -> None:
        """Use sentences if there is room for those of all keys."""
        super().on_resize(event)
        self._show()

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        self._show()
        self.action_scroll_to(0)

    def action_leave(self) -> None:
        """End the search; without one, close the help."""
        field = self.query_one(SearchField)
        if field.value:
            field.value = ""
        else:
            self.dismiss()

    def _show(self) -> None:
        query = self.query_one(SearchField).value.strip()
        has_room = self.size.width >= SENTENCES and self._sentence_lines() <= self.room
        self.query_one(DetailColumns).display = not query and not has_room
        self.query_one("#help-list", Details).groups = (
            self._found(query) if query else (*(self._sentences() if has_room else ()), *self._symbols_and_terms())
        )

    # -- the keys of the screen, by task -------------------------------------------------------------------------------

    def _tasks(self) -> Iterator[tuple[KeyTask, list[tuple[str, str, str]]]]:
        """Yield each task with key, name and sentence of its commands. Commands without a key are in the palette."""
        keymap = cast("AppInterface", self.app).custom_keys
        own = [command for command in commands_of(self._screen) if command.keys or command.id in keymap]
        listed = {shown_key(command, keymap) for command in own}
        for task, commands in by_task(own).items():
            rows = [(shown_key(command, keymap), command.label, command.help) for command in commands]
            if task is KeyTask.MOVE:
                moving = ((keys.split()[0], label, help) for keys, label, help in MOVING)
                rows += [row for row in moving if row[0] not in listed]
            yield task, rows

    def _sentences(self) -> tuple[FactGroup, ...]:
        return tuple(
            FactGroup(heading=task, facts=tuple(Detail(label=key, value=help) for key, _, help in rows))
            for task, rows in self._tasks()
        )

    def _sentence_lines(self) -> int:
        """Return the number of lines of all sentences, with a heading and a blank line for each task."""
        return sum(len(rows) + 2 for _, rows in self._tasks()) - 1

    # -- symbols, terms and the search ---------------------------------------------------------------------------------

    def _symbols_and_terms(self) -> tuple[FactGroup, ...]:
        return _groups(entry for entry in self._entries() if not entry.label)

    def _found(self, query: str) -> tuple[FactGroup, ...]:
        """Return the entries that match the query."""
        found = matching(query, self._entries())
        text = f"Nothing matches {query}. Backspace deletes a letter, esc shows all keys."
        return _groups(found) if found else (FactGroup(facts=(Detail(label="", value=text),)),)

    def _entries(self) -> Iterator[HelpEntry]:
        """Yield everything that can be found, each command once: first those of this screen."""
        keymap, titles = cast("AppInterface", self.app).custom_keys, SCREENS | SHEETS

        def entry(group: str, command: CommandSpec) -> HelpEntry:
            return HelpEntry(group, shown_keys(command, keymap), command.label, command.help)

        own = commands_of(self._screen, shared=False)
        shared = tuple(command for command in commands_of(self._screen) if command not in own)
        seen = {command.id for command in (*own, *shared)}
        yield from (entry(titles[self._screen], command) for command in own)
        yield from (entry("Everywhere", command) for command in shared)
        yield from (HelpEntry("Moving", keys, label, help) for keys, label, help in MOVING)
        for name, title in titles.items():
            for command in commands_of(name, shared=False):
                if command.id not in seen:
                    seen.add(command.id)
                    yield entry(title, command)
        yield from (HelpEntry("Symbols", sign.char, "", sign.meaning) for sign in SIGNS)
        yield from (HelpEntry("Terms", term.word, "", term.meaning) for term in terms_of(self._screen))


def _groups(entries: Iterable[HelpEntry]) -> tuple[FactGroup, ...]:
    """Return the entries by heading. The group of the first entry is the first one."""
    groups: dict[str, list[Detail]] = {}
    for entry in entries:
        text = f"{entry.label}: {entry.help}" if entry.label else entry.help
        groups.setdefault(entry.group, []).append(Detail(label=entry.keys, value=text))
    return tuple(FactGroup(heading=heading, facts=tuple(facts)) for heading, facts in groups.items())
