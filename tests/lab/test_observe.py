"""What `observe` tells of a known load on a real driver is what fio says that it did."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from app.features.observe.observer import Observer
from backends.system.local import LocalHost
from tests.lab.making import Made
from tests.lab.results import Results

pytestmark = pytest.mark.vendors("block")

_DELAY_MS = 50
"""So much longer than the emulated processor takes for an I/O that fio and the kernel measure the same."""


async def test_rate_size_and_latency_of_a_known_load_are_those_of_fio(
    scsi_debug: Callable[..., Made], table: Results
) -> None:
    made = scsi_debug(ndelay=_DELAY_MS * 1_000_000)
    observer = Observer(LocalHost(), made.kernel)
    await observer.open()
    job = ("--name=load", "--rw=randread", "--bs=16k", "--direct=1", "--ioengine=psync", "--runtime=15", "--time_based")
    fio = await asyncio.create_subprocess_exec(
        *("fio", *job, f"--filename={made.device}", "--output-format=json", "--eta=never"),
        stdout=asyncio.subprocess.PIPE,
    )
    output = asyncio.create_task(fio.communicate())
    seen = await observer.run(90, output.done)
    of_fio = json.loads((await output)[0])["jobs"][0]["read"]
    rates = seen.target.rates
    assert rates is not None
    assert rates.read_latency_ns is not None
    for what, observed, known, share in (
        ("reads", rates.done.reads, of_fio["total_ios"], 0.02),
        ("bytes of a read", rates.done.sectors_read * 512 / rates.done.reads, 16384, 0.02),
        ("mean latency", rates.read_latency_ns, of_fio["lat_ns"]["mean"], 0.03),
    ):
        limit = f"within {100 * share:.0f} % of fio's"
        assert table.add("Machine", "observe", what, limit, ok=observed == pytest.approx(known, rel=share)), (
            observed,
            known,
        )
