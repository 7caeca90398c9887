"""Firmware queries for a controller, its virtual drives and its drives. Each is sent once, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from backends.errors import RaidbenchError, ToolFailedError, ToolTimeoutError
from backends.firmware_queries import FirmwareQuery, FirmwareQueryHost
from backends.vendors._cards import ReportedValue
from backends.vendors.hba.firmware import layouts
from backends.vendors.hba.firmware.codes import drive_state
from backends.vendors.hba.firmware.layouts import Configuration, FirmwareDrive
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive

T = TypeVar("T")

DISK = 0
"""SCSI device type of a drive; the list also contains enclosures."""


async def query_card(asking: FirmwareQueryHost, host_number: int, pci: str) -> CardSnapshot:
    """Return all facts that the controller of a SCSI host reports. A refused query becomes a problem.

    Raises RaidbenchError if the query about the controller itself fails, or if the controller stops answering.
    """
    questions = _Questions(asking, host_number)
    about = await asking.ask_firmware(host_number, FirmwareQuery.CONTROLLER)
    card = questions.read(layouts.card, about, host_number)
    if card is None:
        raise ToolFailedError(f"The response of the controller of host{host_number} cannot be read.")
    card = await _with_rates_and_battery(questions, replace(card, pci=pci), about)
    configuration = await _configuration(questions)
    places = await questions.ask(layouts.places, FirmwareQuery.DRIVES) or ()
    disks = sorted((address for address in places if address.kind == DISK), key=lambda address: address.order)
    drives = [await _drive(questions, address, configuration) for address in disks]
    numbers = await questions.ask(layouts.volume_numbers, FirmwareQuery.VOLUMES) or ()
    volumes = [await _volume(questions, number, configuration, drives) for number in sorted(numbers)]
    answered = tuple(volume for volume in volumes if volume is not None)
    return CardSnapshot(
        card=card, volumes=answered, drives=_with_volume_numbers(drives, answered), problems=tuple(questions.problems)
    )


class _Questions:
    """Sends queries to one controller, and collects a problem for each refused one."""

    def __init__(self, asking: FirmwareQueryHost, host_number: int) -> None:
        self._asking = asking
        self._host_number = host_number
        self.problems: list[str] = []

    async def ask(
        self, parse: Callable[[bytes], T], question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> T | None:
        """Return the parsed answer; None if the query is refused or the answer is malformed.

        Raises ToolTimeoutError if there is no answer.
        """
        try:
            data = await self._asking.ask_firmware(self._host_number, question, subject=subject, size=size)
        except ToolTimeoutError:
            raise
        except RaidbenchError as error:
            self.problems.append(error.message)
            return None
        return self.read(parse, data)

    def read(self, parse: Callable[..., T], data: bytes, *more: object) -> T | None:
        """Return the parsed answer, or None if it is malformed."""
        try:
            return parse(data, *more)
        except ValueError as error:
            self.problems.append(f"The response of the controller of host{self._host_number} is invalid: {error}.")
            return None


async def _with_rates_and_battery(questions: _Questions, card: Card, about: bytes) -> Card:
    rates = await questions.ask(layouts.rates, FirmwareQuery.PROPERTIES) or {}
    card = replace(card, values={key: ReportedValue(value=number, raw=number) for key, number in rates.items()})
    if layouts.has_battery(about):
        backup = await questions.ask(layouts.battery, FirmwareQuery.BATTERY)
        card = replace(card, backup=backup, backup_known=backup is not None)
    return card


async def _configuration(questions: _Questions) -> Configuration:
    size = await questions.ask(layouts.configuration_size, FirmwareQuery.CONFIGURATION_SIZE)
    if size is None or not 32 <= size <= FirmwareQuery.CONFIGURATION.value.size:
        return Configuration()
    configuration = await questions.ask(layouts.configuration, FirmwareQuery.CONFIGURATION, size=size)
    return configuration if configuration is not None else Configuration()


async def _drive(questions: _Questions, address: FirmwareDrive, configuration: Configuration) -> PhysicalDrive:
    """Return a drive. If it reports nothing about itself, its state is the one in its drive group."""
    bare = PhysicalDrive(card=0, enclosure=address.enclosure, slot=address.slot, device_id=address.device_id)
    drive = await questions.ask(
        lambda data: layouts.drive(data, address), FirmwareQuery.DRIVE, subject=address.device_id
    )
    reading = drive if drive is not None else bare
    code = configuration.state(address.device_id) if not reading.state_raw else None
    return reading if code is None else replace(reading, state=drive_state(code)[0], state_raw=drive_state(code)[1])


async def _volume(
    questions: _Questions, number: int, configuration: Configuration, drives: list[PhysicalDrive]
) -> VirtualDrive | None:
    """Return a virtual drive with its members; None if the answer is about a different virtual drive."""
    answer = await questions.ask(layouts.volume, FirmwareQuery.VOLUME, subject=number)
    if answer is None or answer.number != number:
        return None
    places = {drive.device_id: drive.place for drive in drives}
    members = tuple(places[device] for device in configuration.members(number) if device in places)
    return replace(answer, drives=members)


def _with_volume_numbers(drives: list[PhysicalDrive], volumes: tuple[VirtualDrive, ...]) -> tuple[PhysicalDrive, ...]:
    """Return the drives, each with the numbers of the virtual drives that use it."""
    return tuple(
        replace(drive, volumes=tuple(volume.number for volume in volumes if drive.place in volume.drives))
        for drive in drives
    )
