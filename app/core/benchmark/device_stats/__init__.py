"""The block devices below the one under test: which they are, and what each of them did."""

from app.core.benchmark.device_stats.member_devices import Member
from app.core.benchmark.device_stats.sampler import MemberSampler, member_meter

__all__ = ["Member", "MemberSampler", "member_meter"]
