"""Tables of many small cases as one test that names every case that fails.

A collected test costs a few milliseconds in every worker. That is much more than a comparison of two values.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

Test = Callable[..., Any]
"""A test function or a coroutine function."""

_OUTCOMES = (pytest.fail.Exception, pytest.skip.Exception)
"""A skipped case is a failure too: it would end the loop, and nobody would see that the other cases did not run."""

_LONGEST = 600
"""Of each message, so many characters are shown."""


def loop_over(
    names: str | Sequence[str], cases: Iterable[object], ids: Callable[[Any], object] | Iterable[str] | None = None
) -> Callable[[Test], Test]:
    """Return a decorator that runs a test for all cases. It takes what `pytest.mark.parametrize` takes, without marks.

    All cases share the fixtures of the test: use it where a case leaves nothing behind.

    Raises ValueError if there is no case or a case has a mark.
    """
    order = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_named_case(order, case, position, ids) for position, case in enumerate(cases)]
    if not table:
        raise ValueError(f"no case for {', '.join(order)}")

    def decorate(test: Test) -> Test:
        def errors(run: list[tuple[str, BaseException]]) -> None:
            if run:
                lines = [f"{case}: {_shown_error(error)}" for case, error in run]
                raise AssertionError(f"{len(run)} of {len(table)} cases failed:\n" + "\n".join(lines))

        if inspect.iscoroutinefunction(test):

            @functools.wraps(test)
            async def looped(*place: Any, **fixtures: Any) -> None:
                failed: list[tuple[str, BaseException]] = []
                for case, values in table:
                    try:
                        await test(*place, **fixtures, **values)
                    except (Exception, *_OUTCOMES) as error:
                        failed.append((case, error))
                errors(failed)
        else:

            @functools.wraps(test)
            def looped(*place: Any, **fixtures: Any) -> None:
                failed: list[tuple[str, BaseException]] = []
                for case, values in table:
                    try:
                        test(*place, **fixtures, **values)
                    except (Exception, *_OUTCOMES) as error:
                        failed.append((case, error))
                errors(failed)

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in order]
        looped.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined] # what pytest asks
        return looped

    return decorate


def _named_case(
    names: Sequence[str], case: object, position: int, ids: Callable[[Any], object] | Iterable[str] | None
) -> tuple[str, Mapping[str, object]]:
    """Return the name of a case, and its values by parameter."""
    given = case if isinstance(case, ParameterSet) else None
    if given is not None and given.marks:
        raise ValueError(f"a case with a mark needs a test of its own: {given}")
    values: Sequence[Any] = given.values if given is not None else (case,) if len(names) == 1 else tuple(_items(case))
    if given is not None and isinstance(given.id, str):
        name = given.id
    elif callable(ids):
        name = "-".join(str(ids(value)) for value in values)
    elif ids is not None:
        name = list(ids)[position]
    else:
        name = ", ".join(f"{key}={str(value)[:80]!r}" for key, value in zip(names, values, strict=True))
    return name, dict(zip(names, values, strict=True))


def _items(case: object) -> Iterator[object]:
    if not isinstance(case, Iterable):
        raise ValueError(f"not one value for each parameter: {case!r}")
    yield from case


def _shown_error(error: BaseException) -> str:
    text = str(error)[:_LONGEST]
    return text if isinstance(error, AssertionError) else f"{type(error).__name__}: {text}"
