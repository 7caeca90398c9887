"""Advice on what makes a benchmark worthless, given while it can still be fixed. docs/advice.md says why."""

from app.engine.advisor.rules import advise

__all__ = ["advise"]
