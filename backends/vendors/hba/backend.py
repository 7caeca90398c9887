"""Backend for controllers on the PCI bus, with or without a vendor tool. It sets nothing."""

from __future__ import annotations

from collections.abc import Mapping

from backends.errors import RaidbenchError
from backends.firmware_queries import FirmwareQueryHost
from backends.host import Host
from backends.model import Controller, Inventory, Problem
from backends.topology import Topology, read_tree
from backends.vendors.hba.functions import Function, functions
from backends.vendors.hba.inventory import NAME, add_firmware_facts, controller, place_drives
from backends.vendors.hba.names import FunctionNames, names
from backends.vendors.hba.tools import narrow_link_problems, tool_of, unanswered_problems, unmanaged_problems

QUERIED_DRIVER = "megaraid_sas"
"""Kernel driver whose controllers answer firmware queries."""


class HbaBackend:
    """Backend for all storage controllers of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._functions: tuple[Function, ...] = ()

    async def inventory(self) -> Inventory:
        """Return every storage controller on the PCI bus, sorted by address."""
        self._functions = await functions(self._host)
        if not self._functions:
            return Inventory()
        names_by_address, problems = await names(self._host, [function.address for function in self._functions])
        controllers = (
            controller(function, names_by_address.get(function.address, FunctionNames()), self._tool(function))
            for function in self._functions
        )
        return Inventory(controllers=tuple(controllers), problems=problems)

    async def complete(self, inventory: Inventory) -> Inventory:
        """Return the inventory with each drive assigned to its controller, and with data from firmware queries.

        A controller's firmware is queried only once, and only if no vendor backend reports the controller.
        """
        if not self._functions:
            return inventory
        asking = await self._query_host()
        for function in self._functions:
            if asking is not None and self._is_unmanaged(inventory, function):
                inventory = await self._with_firmware_answers(inventory, function, asking)
        return place_drives(inventory, self._functions, await self._paths(inventory))

    async def _paths(self, inventory: Inventory) -> Mapping[str, str]:
        """Return the sysfs paths of the drives that have no controller yet, by device node."""
        nodes = [drive.device for drive in inventory.drives if drive.controller is None and drive.device is not None]
        links = {node: await self._host.link(f"/sys/block/{node.removeprefix('/dev/')}") for node in nodes}
        return {node: path for node, path in links.items() if path is not None}

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return problems of controllers: a missing tool, a slow PCIe link, or firmware queries instead of a tool."""
        all_functions = await functions(self._host)
        names_by_address, _ = await names(self._host, ())
        named = [(function, names_by_address.get(function.address, FunctionNames())) for function in all_functions]
        problems = [*unmanaged_problems(self._host, named), *narrow_link_problems(named)]
        asking = self._host.firmware
        cards = [pair for pair in named if pair[0].driver == QUERIED_DRIVER and self._tool(pair[0]) is None]
        if cards and asking is not None:
            problems += unanswered_problems(cards, await asking.firmware_reachable())
        return tuple(problems)

    async def _query_host(self) -> FirmwareQueryHost | None:
        """Return the interface for firmware queries on this host; None if they are disabled or impossible."""
        asking = self._host.firmware
        cards = any(function.driver == QUERIED_DRIVER for function in self._functions)
        if asking is None or not cards or not asking.firmware_queries:
            return None
        return asking if await asking.firmware_reachable() is None else None

    async def _with_firmware_answers(
        self, inventory: Inventory, function: Function, asking: FirmwareQueryHost
    ) -> Inventory:
        from backends.vendors.hba.firmware.query import query_card as ask

        try:
            contents = await ask(asking, function.hosts[0].number, function.address)
        except RaidbenchError as error:
            problem = Problem(where=f"{NAME}:{function.address}", message=error.message, hint=error.hint)
            return inventory.merge(Inventory(problems=(problem,)))
        tool = tool_of(function)
        why = f"none: {tool.name} is not found" if tool is not None and self._tool(function) is None else "none"
        return add_firmware_facts(inventory, function, contents, why, Topology(tree=await read_tree(self._host)))

    def _is_unmanaged(self, inventory: Inventory, function: Function) -> bool:
        """Return whether no vendor backend reports the controller, so that its firmware is queried instead."""
        listed_controller: Controller | None = next(
            (controller for controller in inventory.controllers if controller.pci == function.address), None
        )
        return (
            function.driver == QUERIED_DRIVER
            and bool(function.hosts)
            and listed_controller is not None
            and listed_controller.target.backend == NAME
        )

    def _tool(self, function: Function) -> str | None:
        tool = tool_of(function)
        return tool.find_program(self._host) if tool is not None else None
