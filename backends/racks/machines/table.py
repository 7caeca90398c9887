"""The racks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backends.racks.machines.arrays import arrays_rack
from backends.racks.machines.hpe import hpe_rack
from backends.racks.machines.linux import linux_rack
from backends.racks.machines.lsi import demo_rack
from backends.racks.machines.ssds import ssds_rack
from backends.racks.rack import Rack

MACHINES: Mapping[str, Callable[..., Rack]] = {
    "lsi": demo_rack,
    "hpe": hpe_rack,
    "linux": linux_rack,
    "arrays": arrays_rack,
    "ssds": ssds_rack,
}
"""What makes each as new; it may be given a clock."""
