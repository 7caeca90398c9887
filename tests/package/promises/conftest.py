"""The outcome of each promise is noted, and the table is written after the last form."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from tests.package import page
from tests.package.promises import table


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the outcome: a skipped test was not tried, whatever the reason."""
    report = yield
    name, callspec = getattr(item, "originalname", ""), getattr(item, "callspec", None)
    if name in table.PROMISES and callspec is not None and (report.when == "call" or not report.passed):
        outcome = "no" if report.failed else str(dict(item.user_properties).get(table.OUTCOME, "yes"))
        if report.skipped and isinstance(report.longrepr, tuple):
            outcome = f"not tried: {report.longrepr[2].removeprefix('Skipped: ')}"
        table.note(callspec.params["form"].title, name, outcome)
    return report


@pytest.fixture(scope="session", autouse=True)
def kept_table() -> Iterator[None]:
    """Write the table at the end."""
    yield
    page.keep("forms", table.rows())
