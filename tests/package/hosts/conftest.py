"""The table is written when all hosts are through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.package import page
from tests.package.hosts import table


@pytest.fixture(scope="session", autouse=True)
def kept_table() -> Iterator[None]:
    yield
    page.keep("hosts", table.rows())
