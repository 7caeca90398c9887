"""What holds for every test of the load that fio makes."""

from tests.starting import whole_starts

__all__ = ["whole_starts"]
