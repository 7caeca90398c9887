"""The legacy MegaCli (MegaCli64, CmdTool2): text answers, for cards and machines that have nothing newer."""

from backends.vendors.megaraid.megacli.dialect import MegaCli
from backends.vendors.megaraid.presence import MEGACLI as NAMES

__all__ = ["NAMES", "MegaCli"]
