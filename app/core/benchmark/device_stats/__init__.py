"""The block devices below the device under test, and the metrics of each."""

from app.core.benchmark.device_stats.member_devices import Member
from app.core.benchmark.device_stats.sampler import MemberSampler, member_meter

__all__ = ["Member", "MemberSampler", "member_meter"]
