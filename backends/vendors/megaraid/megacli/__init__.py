"""The legacy MegaCli (MegaCli64, CmdTool2): text answers, for cards and machines that have nothing newer."""

from backends.vendors.megaraid.megacli.dialect import MegaCli

__all__ = ["MegaCli"]
