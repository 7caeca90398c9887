"""Resolves TARGET of `bench`: an address, a device, a file or a folder."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from backends.display_names import is_behind_controller
from backends.errors import BlockedError, NotFoundError
from backends.model import Array, Controller
from backends.text import clean

if TYPE_CHECKING:
    from app.core.workbench import Workbench


async def resolve_target(bench: Workbench, text: str) -> tuple[str, str]:
    """Return the path and the display name of TARGET (`text`).

    A name without a slash is a device if one has that name, otherwise an existing file or folder. A new file must be
    written with a slash, so that a mistyped device name does not create a file. Raises NotFoundError if no device or
    file has that name, BlockedError for a target without a block device.
    """
    prefix = text.partition(":")[0]
    if ":" in text and "/" not in prefix and prefix in bench.hardware.machine.backends:
        return await _device(bench, text)
    if text.startswith("/dev/"):
        stat = await bench.host.stat(text)
        if stat is None or stat.kind != "block":
            return (text, text) if stat is not None else await _device(bench, text)
        with contextlib.suppress(NotFoundError):
            return await _device(bench, text)
        return text, text  # a partition or logical volume that is not in the inventory
    if is_behind_controller(text) and await bench.host.stat(text) is None:
        return await _device(bench, text)
    if "/" in text and not text.startswith(("/", ".", "~")) and await bench.host.stat(text) is None:
        with contextlib.suppress(NotFoundError):  # a logical volume as `devices` lists it: `vg0/mail`
            return await _device(bench, text)
    if "/" in text or text in (".", ".."):
        return _path(text)
    try:
        return await _device(bench, text)
    except NotFoundError as error:
        if await bench.host.stat(text) is not None:
            return _path(text)
        raise NotFoundError(
            f"{clean(text, 100)!r} is neither a device nor a file on this host.",
            hint=f"For a new scratch file, use ./{clean(text, 100)}. {error.hint}",
        ) from None


def _path(text: str) -> tuple[str, str]:
    path = os.path.abspath(os.path.expanduser(text))
    return path, path


async def _device(bench: Workbench, address: str) -> tuple[str, str]:
    device = await bench.hardware.find(address)
    if isinstance(device, Array) and device.device is None and device.folder is not None:
        return _path(device.folder)
    if isinstance(device, Controller) or device.device is None:
        raise BlockedError(
            f"{device.target} has no block device to measure.", hint="Choose an array or a drive that has one."
        )
    return device.device, str(device.target)
