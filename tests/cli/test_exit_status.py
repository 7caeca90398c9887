"""The exit status says whether something failed, was meant wrongly, or was refused."""

from __future__ import annotations

import pytest

from app.cli.failures import exit_status
from backends.errors import (
    AnotherDeviceError,
    DeviceGoneError,
    HeldError,
    InvalidValueError,
    NotFoundError,
    RaidbenchError,
    RefusedError,
    ToolFailedError,
)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RefusedError, 3),
        (HeldError, 3),
        (AnotherDeviceError, 3),
        (DeviceGoneError, 1),
        (ToolFailedError, 1),
        (NotFoundError, 2),
        (InvalidValueError, 2),
    ],
)
def test_an_error_ends_with_the_status_of_its_kind(error: type[RaidbenchError], status: int) -> None:
    assert exit_status(error("")) == status
