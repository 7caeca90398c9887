"""Panel that shows exactly which commands will run, and their risks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from textual.reactive import reactive
from textual.selection import Selection

from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import break_hard, clean, shorten, width_of, wrap


class CommandPreview(TextPanel):
    """Shows the risks, and below them the complete commands, quoted for a shell."""

    commands: reactive[tuple[tuple[str, ...] | str, ...]] = reactive((), repaint=False)
    """Commands in the order in which they run. Each is a list of arguments, or a line such as `echo 1 > /sys/...`."""
    risks: reactive[tuple[str, ...]] = reactive((), repaint=False)
    """One sentence per risk."""
    note: reactive[str] = reactive("", repaint=False)
    """Note after the heading, such as which key copies the commands."""

    def __init__(
        self,
        commands: tuple[tuple[str, ...] | str, ...] = (),
        risks: tuple[str, ...] = (),
        *,
        note: str = "",
    ) -> None:
        super().__init__()
        self.set_reactive(CommandPreview.commands, commands)
        self.set_reactive(CommandPreview.risks, risks)
        self.set_reactive(CommandPreview.note, note)

    def watch_commands(self) -> None:
        """Lay out the lines again."""
        self.update_lines()

    watch_risks = watch_note = watch_commands

    def shown_text(self) -> str:
        """Return the commands as they would be typed, one per line, so that a copy can be run."""
        return "\n".join(
            clean(command if isinstance(command, str) else " ".join(map(shlex.quote, command)))
            for command in self.commands
        )

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return all commands whatever is selected, because a part of a command would be a different command."""
        return self.shown_text(), "\n"

    def lay_out(self, width: int) -> list[Line]:
        """Return the risks, then the commands."""
        lines = _command_section(self.commands, width, self.note)
        risks = bullet_lines("Risk" if len(self.risks) == 1 else "Risks", self.risks, width, tone="warning", sign="!")
        return [*risks, (), *lines] if lines and risks else risks + lines


def _command_section(commands: Sequence[Sequence[str] | str], width: int, note: str) -> list[Line]:
    if not commands:
        return []
    heading = "Command" if len(commands) == 1 else f"{len(commands)} commands, in this order"
    note_text = shorten(f"  {note}" if note else "", max(0, width - width_of(heading)))
    lines: list[Line] = [(("heading", heading), *([("muted", note_text)] if note_text else []))]
    for argv in commands:
        lines.extend((("value", line),) for line in command_lines(argv, width))
    return lines


def bullet_lines(
    heading: str, sentences: Sequence[str], width: int, *, tone: str = "value", sign: str = "-"
) -> list[Line]:
    """Return the lines of a bullet list under a heading; an empty list if there are no sentences."""
    if not sentences:
        return []
    lines: list[Line] = [(("heading", heading),)]
    for sentence in sentences:
        lines.extend(((tone, line),) for line in wrap(f"{sign} {sentence}", width, indent=2))
    return lines


def command_lines(argv: Sequence[str] | str, width: int) -> list[str]:
    """Return a command as it would be typed, wrapped with backslashes between arguments.

    Arguments that are longer than a line are split.
    """
    width = max(8, width)
    lines: list[str] = []
    line = "$"
    arguments = argv.split(" ") if isinstance(argv, str) else [shlex.quote(word) for word in argv]
    for word in map(clean, arguments):
        if width_of(line) + 1 + width_of(word) <= width - 2:
            line = f"{line} {word}"
            continue
        lines.append(f"{line} \\")
        pieces = break_hard(word, width - 6)
        lines.extend(f"    {piece}" for piece in pieces[:-1])
        line = f"    {pieces[-1]}"
    return [*lines, line]
