"""storcli and perccli, version 7 and version 8, as dialects."""

from backends.vendors.megaraid.storcli.dialect import StorCli7, StorCli8

__all__ = ["StorCli7", "StorCli8"]
