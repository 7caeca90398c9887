"""Dialect for the legacy MegaCli (MegaCli64, CmdTool2): text answers, for controllers that nothing newer manages."""

from backends.vendors.megaraid.megacli.dialect import MegaCli

__all__ = ["MegaCli"]
