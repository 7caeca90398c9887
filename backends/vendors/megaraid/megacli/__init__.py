"""Dialect for the legacy MegaCli (MegaCli64, CmdTool2), for controllers that no newer tool manages. It prints text."""

from backends.vendors.megaraid.megacli.dialect import MegaCli

__all__ = ["MegaCli"]
