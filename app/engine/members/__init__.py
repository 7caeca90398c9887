"""The block devices below the one under test: which they are, and what each of them did."""

from app.engine.members.finding import Member
from app.engine.members.meter import MemberMeter, member_meter

__all__ = ["Member", "MemberMeter", "member_meter"]
