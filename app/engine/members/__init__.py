"""The block devices below the one under test: which they are, and what each of them did."""

from app.engine.members.finding import Member, find_members
from app.engine.members.meter import MemberMeter, member_meter

__all__ = ["Member", "MemberMeter", "find_members", "member_meter"]
