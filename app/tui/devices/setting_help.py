"""What the setting under the cursor does: when it takes effect, its legal values, why it cannot be changed."""

from __future__ import annotations

from app.core.presentation.risk_text import effect_words, kept_text
from app.core.presentation.setting import legal_labels, why_in_force
from backends.model import Scope
from backends.settings import Reading, Setting
from backends.values import dataclass
from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, width_of, wrap


@dataclass(frozen=True, slots=True)
class SettingExplanation:
    """A setting of a target."""

    setting: Setting
    """What it is."""
    reading: Reading
    """What it says."""
    scope: Scope
    """What kind of thing has it."""
    staged: str | None
    """The value chosen, None where none is staged."""
    file: str = ""
    """What the state file wants of it, a sentence; "" for nothing else."""


class SettingHelp(TextPanel):
    """Name and effect, why it cannot be changed or is not in force, what it does, and its values on one line."""

    def __init__(self) -> None:
        super().__init__(id="setting-help")
        self._spot: SettingExplanation | None = None

    def show(self, spot: SettingExplanation | None) -> None:
        """Show another one; None for none."""
        if spot != self._spot:
            self._spot = spot
            self.changed()

    def lay_out(self, width: int) -> list[Line]:
        """The values come before the sentences: where it is low, these are cut."""
        spot = self._spot
        if spot is None:
            return []
        setting, reading = spot.setting, spot.reading
        when = f"  {effect_words(setting.effect, spot.scope)}, {kept_text(setting.persistence)}"
        lines: list[Line] = [(("title", clean(setting.label)), ("label", clean(when)))]
        if reading.availability.why_not is not None:
            lines += _wrapped(f"Cannot be changed: {reading.availability.why_not}.", "warning", width)
        if (why := why_in_force(setting, reading)) is not None:
            lines += _wrapped(why, "warning" if reading.overruled else "label", width)
        lines += _wrapped(spot.file, "warning", width) if spot.file else []
        lines += _values(spot, width)
        return [*lines, *_wrapped(setting.explained, "label", width)]


def _wrapped(text: str, tone: str, width: int) -> list[Line]:
    return [((tone, line),) for line in wrap(text, width)]


def _values(spot: SettingExplanation, width: int) -> list[Line]:
    """The legal values; the present one and the staged one stand out, and they alone where there are too many."""
    named = legal_labels(spot.setting, spot.reading)
    tones = {spot.reading.now: "title", spot.staged: "accent"}
    if sum(width_of(label) + 3 for _, label in named) > 2 * width:
        marked = [pair for pair in named if pair[0] in tones]
        named = [*marked, (None, f"{len(named) - len(marked)} others, Enter lists them")]
    lines: list[Line] = []
    line: list[tuple[str, str]] = [("label", "values ")]
    for index, (value, label) in enumerate(named):
        joint = " · " if index else ""
        if sum(width_of(text) for _, text in line) + width_of(joint + label) > width:
            lines.append(tuple(line))
            line, joint = [], "       "
        line += [("label", joint), (tones.get(value, "label") if value is not None else "label", clean(label))]
    return [*lines, tuple(line)] if named else []
