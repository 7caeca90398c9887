"""Dialects for storcli and perccli, versions 7 and 8."""

from backends.vendors.megaraid.storcli.dialect import StorCli7, StorCli8

__all__ = ["StorCli7", "StorCli8"]
