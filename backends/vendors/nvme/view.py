"""What a controller or a namespace is at one moment: all that readings and plans are made of."""

from __future__ import annotations

from dataclasses import field

from backends.values import dataclass
from backends.vendors.nvme.facts import ControllerId, Features, NamespaceId
from backends.vendors.nvme.sysfs import KernelController, KernelNamespace


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerView:
    """A controller as the kernel and the drive tell it."""

    controller: KernelController
    """What the kernel knows."""
    namespaces: tuple[KernelNamespace, ...]
    """All namespaces of its subsystem that the kernel shows."""
    program: str | None = None
    """nvme-cli, None if it is not installed."""
    blind: str | None = None
    """Why the drive could not be asked, in words; None if it was."""
    frozen: str | None = None
    """Why nothing may be changed (needs root, read-only mode), in words."""
    about: ControllerId | None = None
    """Identify Controller."""
    features: Features = field(default_factory=Features)
    """What was read of the features that settings need."""

    @property
    def only(self) -> KernelNamespace | None:
        """The only namespace, which its controller's settings concern alone."""
        return self.namespaces[0] if len(self.namespaces) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceView(ControllerView):
    """A namespace with its controller."""

    namespace: KernelNamespace
    """What the kernel knows."""
    ident: NamespaceId | None = None
    """Identify Namespace."""
    allocated: tuple[int, ...] | None = None
    """Numbers of all namespaces of the subsystem, seen by the kernel or not; None where it was not asked or said."""
    uses: tuple[str, ...] = ()
    """What uses it, in words, as far as can be seen without opening it."""
