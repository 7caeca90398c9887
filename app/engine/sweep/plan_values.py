"""The values that a sweep's plan may hold: each is read strictly, errors name the line, the key and what is legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.engine.fio.fields import FIELDS, parse_seconds
from app.engine.fio.profiles import PROFILES
from app.engine.session.sweep_steps import Rank
from app.engine.sweep.plan import MOST_VALUES, PlanError
from app.engine.sweep.toml_lines import TomlLines
from backends.errors import InvalidValueError
from backends.text import clean

T = TypeVar("T")

JOB_FIELDS = {one.key: one for one in FIELDS}
"""Fields of a job by name."""


class PlanValues:
    """Reads values of one file; knows its name and lines. All methods raise PlanError."""

    def __init__(self, shown: str, text: str) -> None:
        self._shown = shown
        self.source = text
        self._lines = TomlLines(text)

    def error(self, table: str, key: str, sentence: str, hint: str = "") -> PlanError:
        """What is wrong there: file, line and sentence."""
        return PlanError(f"{self._shown}, line {self._lines.of(table, key)}: {sentence}", hint=hint)

    def only(self, table: str, given: Mapping[str, Any], legal: tuple[str, ...]) -> None:
        """Refuses keys that are not legal there."""
        for key in given:
            if key not in legal:
                where = f" in [{table.partition('.')[0]}]" if table else ""
                sentence = f"there is no key {clean(key, 40)!r}{where}."
                raise self.error(table, key, sentence, f"The keys are: {', '.join(legal)}.")

    def get(self, table: str, given: Mapping[str, Any], key: str, parse: Callable[[str, str, Any], T], default: T) -> T:
        """A key as `parse` reads it; the default where it is not given."""
        return parse(table, key, given[key]) if key in given else default

    def table(self, given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """A table of the file; empty where it is not given."""
        found = given.get(key, {})
        if not isinstance(found, dict):
            raise self.error("", key, f"{key} wants a table: [{key}].")
        return found

    def tables(self, given: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        """An array of tables; empty where it is not given."""
        found = given.get(key, [])
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise self.error("", key, f"{key} wants tables: [[{key}]].")
        return found

    def text(self, table: str, key: str, value: Any) -> str:
        """A text in quotes."""
        if not isinstance(value, str):
            raise self.error(table, key, f"{clean(key, 40)} wants a text in quotes.")
        return value.strip()

    def value(self, table: str, key: str, value: Any) -> str:
        """A value of a setting or field, as text."""
        match value:
            case bool():
                return "yes" if value else "no"
            case int() | str():
                return str(value).strip()
            case _:
                raise self.error(table, key, f"{clean(key, 40)} wants a text in quotes or a whole number.")

    def values(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        """A list of different values."""
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_VALUES:
            raise self.error(table, key, f"{key} wants a list of 1 to {MOST_VALUES} values.")
        texts = tuple(self.value(table, key, one) for one in value)
        if len(set(texts)) != len(texts):
            raise self.error(table, key, f"{key} names a value twice.")
        return texts

    def names(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        """One name, or several."""
        many = value if isinstance(value, list) else [value]
        return tuple(self.text(table, key, one) for one in many)

    def whole(self, minimum: int, maximum: int) -> Callable[[str, str, Any], int]:
        """Reads a whole number between these."""

        def parse(table: str, key: str, value: Any) -> int:
            if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
                raise self.error(table, key, f"{key} wants a whole number from {minimum} to {maximum}.")
            return value

        return parse

    def seconds(self, table: str, key: str, value: Any) -> int:
        """A time in seconds."""
        try:
            return parse_seconds(self.value(table, key, value))
        except InvalidValueError as error:
            raise self.error(table, key, f"{key}: {error.message}.", error.hint) from None

    def rank(self, table: str, key: str, value: Any) -> Rank:
        """What cells are ranked by."""
        try:
            return Rank(self.text(table, key, value))
        except ValueError:
            raise self.error(table, key, f"{key} is one of {', '.join(Rank)}.") from None

    def profile(self, table: str, key: str, value: Any) -> str | None:
        """A workload by name."""
        name = self.text(table, key, value)
        if name not in PROFILES:
            raise self.error(
                table, key, f"there is no workload {clean(name, 40)!r}.", f"There are: {', '.join(PROFILES)}."
            )
        return name

    def check_fields(self, table: str, texts: Mapping[str, str], key: str = "") -> None:
        """Refuses fields of the job with values that they do not take."""
        for name, text in texts.items():
            try:
                if text or not JOB_FIELDS[name].optional:
                    JOB_FIELDS[name].parse(text)
            except InvalidValueError as error:
                raise self.error(table, key or name, f"{name}: {error.message}.", error.hint) from None

    def latency(self, table: str, key: str, value: Any) -> int:
        """A time with its unit, in nanoseconds."""
        text = self.text(table, key, value).replace(" ", "")
        for unit, factor in (("ns", 1), ("us", 1000), ("µs", 1000), ("ms", 10**6), ("s", 10**9)):
            number = text.removesuffix(unit)
            if number != text:
                try:
                    nanoseconds = round(float(number) * factor)
                except (ValueError, OverflowError):
                    break
                if nanoseconds > 0:
                    return nanoseconds
                break
        raise self.error(table, key, f'{key} wants a time with its unit: "500us", "2ms".')
