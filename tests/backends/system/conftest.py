"""What holds for every test of hosts that run programs."""

from tests.starting import whole_starts

__all__ = ["whole_starts"]
