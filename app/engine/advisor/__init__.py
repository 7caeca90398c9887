"""What makes a benchmark worthless, said while it can still be mended. docs/advice.md says why."""

from app.engine.advisor.rules import KEYS, advise

__all__ = ["KEYS", "advise"]
