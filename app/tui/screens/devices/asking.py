"""What is opened to choose another value of a setting."""

from __future__ import annotations

from textual.screen import Screen

from app.engine.view.effects import risk_cell
from backends.settings import Reading, Risk, Setting
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.field_dialog import NumberDialog, NumberSpan, TextDialog


def dialog(setting: Setting, reading: Reading, value: str | None) -> Screen[str | None]:
    """The list of legal values, or a field for a number or a text; in it the value that is staged or in force."""
    if reading.choices:
        return ChoiceDialog(setting.label, _items(setting, reading), value)
    help = setting.with_help(setting.help)
    if reading.span is None:
        return TextDialog(setting.label, help=help, secret=setting.secret)
    span = reading.span
    numbers = NumberSpan(minimum=span.minimum, maximum=span.maximum, step=span.step, unit=span.unit or setting.unit)
    return NumberDialog(setting.label, numbers, value or "", help=help)


def _items(setting: Setting, reading: Reading) -> tuple[ChoiceItem, ...]:
    return tuple(
        ChoiceItem(
            value=choice.value,
            label=choice.label,
            help=setting.with_help(choice.help or setting.help),
            risk="" if choice.risk is Risk.NONE else risk_cell(choice.risk).text,
        )
        for choice in reading.choices
    )
