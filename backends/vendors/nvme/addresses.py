"""Addresses of this backend: `nvme0` a controller, `nvme0n1` a namespace. Pure."""

from __future__ import annotations

import re

from backends.model import Scope, Target

NAME = "nvme"
"""The prefix of this backend's targets."""

_CONTROLLER = re.compile(r"nvme\d{1,6}", re.ASCII)
_NAMESPACE = re.compile(r"nvme\d{1,6}n\d{1,10}", re.ASCII)
_PATH = re.compile(r"(nvme\d{1,6})c\d{1,6}(n\d{1,10})", re.ASCII)


def is_controller(address: str) -> bool:
    """Whether this is a controller's name, which becomes part of paths: nothing else may."""
    return _CONTROLLER.fullmatch(address) is not None


def is_namespace(address: str) -> bool:
    """Whether this is the name of a namespace that has a block device."""
    return _NAMESPACE.fullmatch(address) is not None


def head_of(entry: str) -> str | None:
    """The namespace that an entry in a controller's folder belongs to.

    `nvme0c1n1` is the hidden path of `nvme0n1` through one controller of a multipath subsystem
    (drivers/nvme/host/core.c, nvme_alloc_ns); None for anything else.
    """
    if is_namespace(entry):
        return entry
    path = _PATH.fullmatch(entry)
    return path[1] + path[2] if path is not None else None


def controller_target(name: str) -> Target:
    """The target of a controller."""
    return Target(backend=NAME, address=name, scope=Scope.CONTROLLER)


def namespace_target(name: str) -> Target:
    """The target of a namespace."""
    return Target(backend=NAME, address=name, scope=Scope.DRIVE)
