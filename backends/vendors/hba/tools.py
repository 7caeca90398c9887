"""Tables of vendor tools by kernel driver, and problems for `doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backends.host import Host
from backends.model import Problem
from backends.values import dataclass
from backends.vendors.hba.functions import Function
from backends.vendors.hba.names import FunctionNames, model
from backends.vendors.megaraid.presence import STORCLI_7, STORCLI_7_PLACES, STORCLI_8, STORCLI_8_PLACES
from backends.vendors.smartarray.presence import ARCCONF, ARCCONF_PLACES, SSACLI, SSACLI_PLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A vendor's command line tool."""

    name: str
    """Name of the tool to install."""
    programs: tuple[str, ...]
    """Names of its program that are searched on PATH."""
    places: tuple[str, ...] = ()
    """Paths at which packages install it."""
    backend: str | None = None
    """Backend that uses the tool and so reports more than this one; None if raidbench has no such backend."""

    def find_program(self, host: Host) -> str | None:
        """Return the path of the program, or None if it is not installed."""
        return host.which((*self.places, *self.programs))

    @property
    def places_text(self) -> str:
        """Return the searched paths and names as a phrase for messages."""
        folders = f"{', '.join(self.places)}, and " if self.places else ""
        return f"{folders}{', '.join(self.programs)} on PATH"


_STORCLI = Tool(name="storcli64 or perccli64", programs=STORCLI_7, places=STORCLI_7_PLACES, backend="megaraid")
_STORCLI_8 = Tool(name="storcli2 or perccli2", programs=STORCLI_8, places=STORCLI_8_PLACES, backend="megaraid")
_SAS3 = Tool(
    name="storcli64, sas3flash or sas3ircu", programs=(*STORCLI_7, "sas3ircu", "sas3flash"), places=STORCLI_7_PLACES
)
_SAS2 = Tool(name="sas2ircu or sas2flash", programs=("sas2ircu", "sas2flash", *STORCLI_7), places=STORCLI_7_PLACES)
_SSACLI = Tool(name="ssacli", programs=SSACLI, places=SSACLI_PLACES, backend="smartarray")
_ARCCONF = Tool(name="arcconf", programs=ARCCONF, places=ARCCONF_PLACES, backend="smartarray")
_TW_CLI = Tool(name="tw_cli", programs=("tw_cli", "tw-cli"), places=("/opt/3ware/CLI/tw_cli",))
_FIO_STATUS = Tool(name="fio-status", programs=("fio-status",), backend="fusionio")

TOOLS: Mapping[str, Tool] = {
    "megaraid_sas": _STORCLI,
    "mpi3mr": _STORCLI_8,
    "mpt3sas": _SAS3,
    "mpt2sas": _SAS2,
    "hpsa": _SSACLI,
    "cciss": _SSACLI,
    "smartpqi": _SSACLI,
    "aacraid": _ARCCONF,
    "3w-9xxx": _TW_CLI,
    "3w-sas": _TW_CLI,
    "arcmsr": Tool(name="cli64", programs=("cli64", "areca-cli"), places=("/usr/local/sbin/cli64", "/root/cli64")),
    "iomemory-vsl": _FIO_STATUS,
    "iomemory-vsl4": _FIO_STATUS,
    "lpfc": Tool(name="hbacmd", programs=("hbacmd",), places=("/usr/sbin/ocmanager/hbacmd",)),
    "qla2xxx": Tool(
        name="qaucli", programs=("qaucli", "qacli"), places=("/opt/QLogic_Corporation/QConvergeConsoleCLI/qaucli",)
    ),
}
"""Tools by kernel driver. Controllers of drivers without an entry (AHCI, virtio) have nothing to manage."""

_MICROCHIP = "9005"


def tool_of(function: Function) -> Tool | None:
    """Return the tool for a controller, or None. Adaptec's own controllers need arcconf, even with HPE's driver."""
    if function.driver == "smartpqi" and function.subsystem_vendor == _MICROCHIP:
        return _ARCCONF
    return TOOLS.get(function.driver or "")


Cards = Iterable[tuple[Function, FunctionNames]]


def unmanaged_problems(host: Host, cards: Cards) -> Iterable[Problem]:
    """Yield a problem for each controller whose tool is missing, unless another backend reports on it."""
    for function, named in cards:
        tool = tool_of(function)
        if tool is None or tool.backend is not None or tool.find_program(host) is not None:
            continue
        yield Problem(
            where=_where(function),
            message=f"{model(function, named)} ({function.driver}) is managed by {tool.name}, which is not installed.",
            hint=f"Searched: {tool.places_text}. Without the tool, only the kernel's view of the controller and its "
            "disks is available.",
        )


def narrow_link_problems(cards: Cards) -> Iterable[Problem]:
    """Yield a problem for each controller whose PCI Express link is below its maximum."""
    for function, named in cards:
        if function.link.link_degraded:
            now = f"{function.link.speed} x{function.link.width}"
            yield Problem(
                where=_where(function),
                message=f"The PCIe link of {model(function, named)} is {now}, but the device supports "
                f"{function.link.best}.",
                hint="All its disks share the link. Try another slot, or check the width and speed of the slot.",
            )


def unanswered_problems(cards: Cards, why_not: str | None) -> Iterable[Problem]:
    """Yield a problem for each MegaRAID controller without a tool. It states whether raidbench queries the firmware.

    `why_not`: why the firmware cannot be queried; None if it can.
    """
    for function, named in cards:
        name = model(function, named)
        if why_not is None:
            message = f"{name} has no tool, so raidbench queries its firmware (read-only)."
            hint = "To disable the queries, set `firmware_queries = false` in the configuration."
        else:
            message = f"{name} has no tool, and its firmware cannot be queried: {why_not.rstrip('.')}."
            hint = "Install storcli64 to see and change its settings."
        yield Problem(where=_where(function), message=message, hint=hint)


def _where(function: Function) -> str:
    return f"hba:{function.address}"
