"""The rules of every backend, on a RAID 5, a mirror and a RAID 10 of copies side by side."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.testing.conformance import Conformance
from backends.vendors.mdraid.backend import MdRaid
from tests.backends.conformance import Destroying, DestroyingConformance
from tests.backends.mdraid.machines import MD0, MdHost, array

LONG = pytest.mark.long
LEVELS = ["raid0", "raid1", pytest.param("raid4", marks=LONG), "raid5", pytest.param("raid6", marks=LONG), "raid10"]


@pytest.mark.parametrize("level", LEVELS, indirect=True)
class TestMd(Conformance):
    @pytest.fixture
    def level(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    async def backend(self, level: str) -> MdRaid:
        found = MdRaid(MdHost(array(level)))
        await found.inventory()  # what settings there are depends on the array
        return found

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (MD0,)


@pytest.mark.parametrize("layout", ["513", pytest.param("66049", marks=LONG)])
class TestFarCopies(Conformance):
    @pytest.fixture
    async def backend(self, layout: str) -> MdRaid:
        found = MdRaid(MdHost(array("raid10", layout=layout)))
        await found.inventory()
        return found

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (MD0,)


class TestMadeAnew(DestroyingConformance):
    @pytest.fixture
    def change(self) -> Destroying:
        host = MdHost(array("raid10"))
        return Destroying(
            host=host,
            backend=MdRaid(host),
            target=MD0,
            key="layout",
            value="f2",
            node="md0",
            sets=lambda: host.ran,
        )
